"""The contract of every remote provider as an embedder, with the real client over a real connection."""

import asyncio
import base64
import contextlib
import gc
import tracemalloc
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memoryd.config.providers import ModelsSection
from memoryd.config.section import parse_secret
from memoryd.domain.embedding import BY_KEY, PROVIDERS
from memoryd.embed.protocol import Attachment, Passage, Unembeddable
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.embedder import RemoteEmbedder
from memoryd.embed.remote.providers import WIRES, PromptOverride
from memoryd.embed.remote.settings import (
    AddressOwner,
    CallTimeouts,
    EndpointAccess,
    KeySources,
    RemoteSettings,
    credentials_of,
)
from memoryd.errors import EmbedderUnavailable, EmbeddingError, ModelError
from memoryd.retry import BreakerRule, Retry
from tests.contract.embedding_server import (
    DIALECTS,
    DIMENSIONS,
    Asked,
    EmbeddingServer,
    Reply,
    are_right,
    numbers_for,
    opened_at,
    same,
    unit,
)
from tests.sweeps import swept

KEY = "sk-test-9f8e7d6c5b4a3f2e1d0c"
QUICK = CallTimeouts(
    query=timedelta(seconds=1), bulk=timedelta(seconds=1), connect=timedelta(seconds=1), hold=timedelta(seconds=2)
)
RULE = BreakerRule(first_delay=0.01, longest_delay=0.05, jitter=0.0, failures_to_open=50)
NOTES = ["The boiler was mended.", "The gateway runs on alder.", "今天修好了屋顶。"]
PASSAGES = [Passage(text) for text in NOTES]


def serving(provider: str) -> contextlib.AbstractAsyncContextManager[EmbeddingServer]:
    return EmbeddingServer(DIALECTS[provider]).running()


@pytest.fixture(params=sorted(DIALECTS))
async def server(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddingServer]:
    async with serving(request.param) as running:
        yield running


def settings_for(server: EmbeddingServer, **changes: Any) -> dict[str, Any]:
    dialect = server.dialect
    fields: dict[str, Any] = {
        "provider": dialect.provider,
        "model": dialect.model,
        "base_url": server.url,
        "api_key": KEY,
    }
    rule = changes.pop("rule", RULE)
    for purpose in ("query", "document"):
        words = (changes.pop(f"{purpose}_instruction", None), changes.pop(f"{purpose}_input_type", None))
        fields[purpose] = PromptOverride(*words)
    return fields | {"timeouts": QUICK, "breaker": EndpointBreaker(Retry(rule))} | changes


@contextlib.asynccontextmanager
async def opened(server: EmbeddingServer, **changes: Any) -> AsyncIterator[RemoteEmbedder]:
    embedder = await opened_at(**settings_for(server, **changes))
    server.asked.clear()
    try:
        yield embedder
    finally:
        await embedder.aclose()


async def until_busy(server: EmbeddingServer, requests: int) -> None:
    async with asyncio.timeout(60):
        while server.busy < requests:  # noqa: ASYNC110  the condition is the server's
            await asyncio.sleep(0.01)


def when_sent(server: EmbeddingServer, text: str, reply: Reply) -> Callable[[Asked], Reply | None]:
    """Return a behaviour with this reply to every request that contains the text."""
    return lambda request: reply if text in server.dialect.texts(request.body) else None


async def test_documents_and_questions_get_unit_vectors_in_order(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        got = await embedder.embed_documents(PASSAGES)
        question = await embedder.embed_query("who mended the boiler")
    assert are_right(got, NOTES)
    assert same(question, unit("who mended the boiler"))


async def test_question_to_a_closed_provider_is_an_embedding_error(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        await embedder.aclose()
        with pytest.raises(EmbeddingError, match="opened anew"):
            await embedder.embed_query("who mended the boiler")


async def test_identity_names_model_and_endpoint_without_secrets(server: EmbeddingServer) -> None:
    async with opened(server, headers={"X-Team": "geheim-4711"}) as embedder:
        identity = embedder.identity
    assert (identity.provider, identity.model) == (server.dialect.provider, server.dialect.model)
    assert (identity.endpoint, identity.dimensions) == (server.url, DIMENSIONS)
    assert KEY not in repr(identity)
    assert "geheim" not in repr(identity)


async def test_space_depends_on_the_endpoint_and_not_on_key_or_headers(server: EmbeddingServer) -> None:
    async with opened(server) as first, opened(server, api_key="other-key", headers={"X-A": "b"}) as second:
        assert first.identity.fingerprint == second.identity.fingerprint
    async with serving(server.dialect.provider) as elsewhere, opened(elsewhere) as other:
        assert other.identity.fingerprint != first.identity.fingerprint


async def test_opening_sends_no_user_text_and_the_key_in_its_header(server: EmbeddingServer) -> None:
    embedder = await opened_at(**settings_for(server, headers={"x-team": "blue"}))
    await embedder.aclose()
    (asked,) = server.asked
    assert server.dialect.texts(asked.body) == ["memory"]
    assert KEY in asked.headers[server.dialect.key_header]
    assert asked.headers["x-team"] == "blue"
    assert KEY not in asked.path


async def test_empty_texts_are_rejected_and_not_sent(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        empty, full = await embedder.embed_documents([Passage(" \n"), PASSAGES[0]])
        with pytest.raises(EmbeddingError):
            await embedder.embed_query("  ")
    assert isinstance(empty, Unembeddable)
    assert same(full, unit(NOTES[0]))
    assert server.texts == [NOTES[0]]


async def test_repeated_text_is_sent_once(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        got = await embedder.embed_documents([PASSAGES[0], PASSAGES[1], PASSAGES[0]])
    assert are_right(got, [NOTES[0], NOTES[1], NOTES[0]])
    assert sorted(server.texts) == sorted(NOTES[:2])


async def test_connections_are_reused(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        for _ in range(5):
            await embedder.embed_documents(PASSAGES)
    assert server.connections == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_key_is_reported_with_a_hint_and_not_shown(server: EmbeddingServer, status: int) -> None:
    server.behaviour = lambda _: server.refusal(status, f"Incorrect API key provided: {KEY}.")
    with pytest.raises(EmbedderUnavailable) as caught:
        await opened_at(**settings_for(server))
    assert "key" in caught.value.hint
    assert KEY not in str(caught.value)
    assert len(server.asked) == 1


async def test_unknown_model_is_reported_with_a_hint(server: EmbeddingServer) -> None:
    server.behaviour = lambda _: server.refusal(404, 'model "x" not found, try pulling it first')
    with pytest.raises(EmbedderUnavailable, match="not found") as caught:
        await opened_at(**settings_for(server))
    assert "model" in caught.value.hint


async def test_busy_endpoint_is_asked_again_after_its_retry_time(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.script = [server.refusal(429, "Rate limit reached", **{"Retry-After": "1"})]
        started = asyncio.get_running_loop().time()
        (got,) = await embedder.embed_documents(PASSAGES[:1])
    assert same(got, unit(NOTES[0]))
    assert asyncio.get_running_loop().time() - started >= 1.0


async def test_long_retry_date_is_an_error_with_the_time(server: EmbeddingServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    async with opened(server) as embedder:
        server.behaviour = lambda _: server.refusal(429, "Rate limit reached", **{"Retry-After": later})
        with pytest.raises(EmbedderUnavailable, match=r"Rate limit reached; next try by .*\d\d:\d\d UTC"):
            await embedder.embed_documents(PASSAGES)
        asked = len(server.asked)
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
    assert len(server.asked) == asked == 1


async def test_question_passes_during_a_rate_limit_of_documents(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.script = [server.refusal(429, "Token rate limit", **{"Retry-After": "90"})]
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
        assert same(await embedder.embed_query("boiler"), unit("boiler"))


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_server_error_is_retried(server: EmbeddingServer, status: int) -> None:
    async with opened(server) as embedder:
        server.script = [Reply(status, b"<html>upstream</html>")] * 2
        got = await embedder.embed_documents(PASSAGES)
    assert are_right(got, NOTES)


BROKEN = {
    "truncated JSON": lambda server, full: Reply(200, full[: len(full) // 2]),
    "cut connection": lambda server, full: Reply(200, full, cut_after=len(full) // 2),
    "reset": lambda server, full: Reply(reset=True),
    "a web page": lambda server, full: Reply(200, b"<html>Log in</html>", {"Content-Type": "text/html"}),
    "an empty object": lambda server, full: Reply(200, b"{}"),
    "no object": lambda server, full: Reply(200, b"[1, 2]"),
    "deep nesting": lambda server, full: Reply(200, b"[" * 100_000),
    "not UTF-8": lambda server, full: Reply(200, b'{"data": "\xff\xfe"}'),
    "one vector too few": lambda server, full: Reply(200, server.dialect.answer([numbers_for("a")] * 2)),
    "one vector too many": lambda server, full: Reply(200, server.dialect.answer([numbers_for("a")] * 4)),
    "an empty vector": lambda server, full: Reply(200, server.dialect.answer([[], [], []])),
}


@swept("name", [*sorted(BROKEN)], 6)
async def test_broken_answer_is_retried_and_then_an_error(server: EmbeddingServer, name: str) -> None:
    full = Reply(200, server.dialect.answer([numbers_for(text) for text in NOTES])).content()
    broken = BROKEN[name](server, full)
    async with opened(server) as embedder:
        server.script = [broken]
        got = await embedder.embed_documents(PASSAGES)
        assert are_right(got, NOTES)
        server.behaviour = lambda _: broken
        with pytest.raises(EmbedderUnavailable) as caught:
            await embedder.embed_documents([Passage("Another note.")])
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("boiler")
    assert "127.0.0.1" in str(caught.value)
    assert len(str(caught.value)) < 400
    if name == "a web page":
        assert "it is not JSON; perhaps a login page" in str(caught.value)


async def test_dripping_answer_times_out(server: EmbeddingServer) -> None:
    timeouts = CallTimeouts(query=timedelta(seconds=0.3), bulk=timedelta(seconds=0.3), hold=timedelta(seconds=1))
    async with opened(server, timeouts=timeouts) as embedder:
        server.behaviour = lambda _: Reply(200, b"{", drip=True)
        async with asyncio.timeout(60):
            with pytest.raises(EmbedderUnavailable, match="no answer within"):
                await embedder.embed_query("boiler")
            with pytest.raises(EmbedderUnavailable):
                await embedder.embed_documents(PASSAGES)


async def test_endless_answer_is_limited(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.embed.remote.http.ANSWER_BYTES", 4 << 20)
    async with opened(server, timeouts=CallTimeouts(attempts=1)) as embedder:
        server.behaviour = lambda _: Reply(200, b"", huge=True)
        async with asyncio.timeout(60):
            with pytest.raises(EmbedderUnavailable, match="more than 4 MiB"):
                await embedder.embed_documents(PASSAGES)


async def test_endless_error_body_is_limited(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.behaviour = lambda _: Reply(403, b"", huge=True)
        async with asyncio.timeout(60):
            with pytest.raises(EmbedderUnavailable, match="403"):
                await embedder.embed_documents(PASSAGES)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), None, "1.0", True, 10**400])
async def test_invalid_number_rejects_one_passage(server: EmbeddingServer, odd: object) -> None:
    async with opened(server) as embedder:
        row: list[object] = [*numbers_for("x")[:-1], odd]
        server.script = [Reply(200, server.dialect.answer([numbers_for(NOTES[0]), row, numbers_for(NOTES[2])]))]
        first, second, third = await embedder.embed_documents(PASSAGES)
    assert same(first, unit(NOTES[0]))
    assert isinstance(second, Unembeddable)
    assert same(third, unit(NOTES[2]))


async def test_zero_vector_rejects_one_passage(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        nothing = [0.0] * DIMENSIONS
        server.script = [Reply(200, server.dialect.answer([nothing, numbers_for(NOTES[1]), numbers_for(NOTES[2])]))]
        first, second, _ = await embedder.embed_documents(PASSAGES)
    assert first == Unembeddable("the endpoint answered with zeros only")
    assert same(second, unit(NOTES[1]))


async def test_endpoint_with_zero_vectors_only_is_unavailable(server: EmbeddingServer) -> None:
    def zeros(request: Asked) -> Reply:
        return Reply(200, server.dialect.answer([[0.0] * DIMENSIONS] * len(server.dialect.texts(request.body))))

    async with opened(server) as embedder:
        server.behaviour = zeros
        for ask in (embedder.embed_documents(PASSAGES), embedder.embed_query("boiler")):
            with pytest.raises(EmbedderUnavailable, match="zeros"):
                await ask
    with pytest.raises(EmbedderUnavailable, match="zeros"):
        async with opened(server):
            pass


async def test_changed_dimensions_are_an_error(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.dimensions = DIMENSIONS * 2
        with pytest.raises(EmbedderUnavailable, match="16 dimensions, and 8 are wanted"):
            await embedder.embed_documents(PASSAGES)
        with pytest.raises(EmbedderUnavailable, match="16 dimensions"):
            await embedder.embed_query("boiler")


async def test_unsupported_dimensions_are_reported_on_opening(server: EmbeddingServer) -> None:
    with pytest.raises(ModelError, match=r"768 dimensions were asked for, and .* answers with 8"):
        await opened_at(**settings_for(server, dimensions=768))


async def test_redirect_to_another_origin_gets_neither_key_nor_text(server: EmbeddingServer) -> None:
    async with serving(server.dialect.provider) as other, opened(server) as embedder:
        for status in (301, 302, 303, 307, 308):
            server.script = [Reply(status, b"", {"Location": f"{other.url}/embeddings"})]
            with pytest.raises(EmbedderUnavailable, match="redirects to") as caught:
                await embedder.embed_documents(PASSAGES)
            assert "baseUrl" in caught.value.hint
            await asyncio.sleep(0.06)  # the back-off of RULE
    assert other.asked == []


async def test_redirect_within_the_origin_is_followed(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.script = [Reply(308, b"", {"Location": server.dialect.paths[0]})]
        (got,) = await embedder.embed_documents(PASSAGES[:1])
        assert same(got, unit(NOTES[0]))
        assert KEY in server.asked[-1].headers[server.dialect.key_header]
        server.behaviour = lambda request: Reply(308, b"", {"Location": request.path})
        with pytest.raises(EmbedderUnavailable, match="without end"):
            await embedder.embed_documents(PASSAGES)


async def test_rejected_text_is_isolated_and_the_others_are_embedded(server: EmbeddingServer) -> None:
    passages = [Passage(f"note {number}") for number in range(16)]
    async with opened(server) as embedder:
        server.behaviour = when_sent(server, "note 11", server.refusal(400, "Invalid input"))
        got = await embedder.embed_documents(passages)
    assert [place for place, answer in enumerate(got) if isinstance(answer, Unembeddable)] == [11]
    assert all(same(answer, unit(f"note {place}")) for place, answer in enumerate(got) if place != 11)


async def test_text_that_crashes_the_server_is_isolated(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.behaviour = when_sent(server, NOTES[1], server.refusal(500, "failed to encode: unsupported value: NaN"))
        first, second, third = await embedder.embed_documents(PASSAGES)
    assert isinstance(second, Unembeddable)
    assert same(first, unit(NOTES[0]))
    assert same(third, unit(NOTES[2]))


async def test_refusal_of_everything_rejects_no_text(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.behaviour = lambda _: server.refusal(400, "User location is not supported for the API use.")
        with pytest.raises(EmbedderUnavailable, match="User location"):
            await embedder.embed_documents(PASSAGES)
    assert len(server.asked) <= 2


async def test_too_large_request_is_split_and_the_size_remembered(server: EmbeddingServer) -> None:
    refusal = server.refusal(*server.dialect.too_many)
    passages = [Passage(f"note {number}") for number in range(16)]
    async with opened(server) as embedder:
        server.behaviour = lambda request: refusal if len(server.dialect.texts(request.body)) > 4 else None
        got = await embedder.embed_documents(passages)
        assert are_right(got, [passage.text for passage in passages])
        server.asked.clear()
        await embedder.embed_documents([Passage(f"later {number}") for number in range(16)])
    assert [len(server.dialect.texts(asked.body)) for asked in server.asked] == [4, 4, 4, 4]


async def test_text_that_is_too_long_is_cut_until_it_fits(server: EmbeddingServer) -> None:
    message = "This model's maximum context length is 8192 tokens, however you requested 9001 tokens"
    long = "word " * 400
    async with opened(server) as embedder:
        server.behaviour = lambda request: (
            server.refusal(400, message)
            if any(len(text) > 600 for text in server.dialect.texts(request.body))
            else None
        )
        short, cut = await embedder.embed_documents([PASSAGES[0], Passage(long)])
        got = await embedder.embed_documents([Passage(f"note {number}") for number in range(16)])
    assert same(short, unit(NOTES[0]))
    assert same(cut, unit(long[:500]))
    assert len(server.asked[-1:]) == 1
    assert len(server.dialect.texts(server.asked[-1].body)) == 16
    assert not any(isinstance(answer, Unembeddable) for answer in got)


async def test_vectors_received_before_an_outage_are_not_requested_again(server: EmbeddingServer) -> None:
    passages = [Passage(f"note {number}") for number in range(200)]
    async with opened(server, timeouts=CallTimeouts(attempts=1), concurrency=1) as embedder:
        server.behaviour = when_sent(server, "note 199", Reply(503, b""))
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(passages)
        server.behaviour = lambda _: None
        before = len(server.texts)
        got = await embedder.embed_documents(passages)
    assert are_right(got, [passage.text for passage in passages])
    repeated = server.texts[before:]
    assert "note 199" in repeated
    assert "note 0" not in repeated


async def test_restarted_endpoint_is_used_again(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        await server.stop()
        with pytest.raises(EmbedderUnavailable, match=r"no connection|broke off"):
            await embedder.embed_documents(PASSAGES)
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("boiler")
        await server.start()
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(EmbedderUnavailable):
                    got = await embedder.embed_documents(PASSAGES)
                    break
    assert are_right(got, NOTES)


async def test_open_breaker_sends_nothing(server: EmbeddingServer) -> None:
    rule = BreakerRule(first_delay=0.01, longest_delay=30.0, jitter=0.0, failures_to_open=3)
    async with opened(server, rule=rule) as embedder:
        server.behaviour = lambda _: Reply(503, b"")
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_documents(PASSAGES)
        asked = len(server.asked)
        for _ in range(3):
            with pytest.raises(EmbedderUnavailable, match="next try within a minute"):
                await embedder.embed_query("boiler")
    assert len(server.asked) == asked == 3


async def test_concurrency_is_limited_and_a_question_overtakes(server: EmbeddingServer) -> None:
    passages = [Passage(f"note {number}") for number in range(600)]
    async with opened(server, concurrency=2, timeouts=CallTimeouts()) as embedder:
        server.gate.clear()
        bulk = asyncio.gather(embedder.embed_documents(passages))
        await until_busy(server, 2)
        server.gate.set()
        assert same(await embedder.embed_query("boiler"), unit("boiler"))
        (got,) = await bulk
    assert are_right(got, [passage.text for passage in passages])
    assert server.most_busy <= 3


async def test_message_that_quotes_the_text_is_not_shown(server: EmbeddingServer) -> None:
    secret = "The spare key for the bicycle shed hangs behind the fuse box."
    async with opened(server) as embedder:
        server.behaviour = when_sent(server, secret, server.refusal(400, f"cannot embed: {secret}"))
        (got,) = await embedder.embed_documents([Passage(secret)])
    assert isinstance(got, Unembeddable)
    assert "bicycle" not in got.reason


async def test_cancelled_call_leaves_a_working_embedder(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        server.gate.clear()
        call = asyncio.gather(embedder.embed_documents(PASSAGES))
        await until_busy(server, 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        server.gate.set()
        got = await embedder.embed_documents(PASSAGES)
    assert are_right(got, NOTES)


async def test_text_with_a_lone_surrogate_is_sent(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        (got,) = await embedder.embed_documents([Passage("half a \ud83d face")])
    assert not isinstance(got, Unembeddable)


# one provider each


async def test_openai_answer_may_be_base64_in_any_order() -> None:
    async with serving("openai") as server, opened(server) as embedder:
        rows = [base64.b64encode(np.asarray(numbers_for(text), "<f4").tobytes()).decode() for text in NOTES]
        server.script = [Reply(200, {"data": [{"index": at, "embedding": rows[at]} for at in (2, 0, 1)]})]
        got = await embedder.embed_documents(PASSAGES)
    assert are_right(got, NOTES)


async def test_openai_sends_dimensions_and_input_types_if_configured() -> None:
    async with serving("openai") as server:
        types = {"query_input_type": "search_query", "document_input_type": "search_document"}
        async with opened(server, dimensions=DIMENSIONS, **types) as embedder:
            await embedder.embed_query("boiler")
            await embedder.embed_documents(PASSAGES[:1])
        assert [asked.body.get("input_type") for asked in server.asked] == ["search_query", "search_document"]
        assert {asked.body.get("dimensions") for asked in server.asked} == {DIMENSIONS}
        async with opened(server) as embedder:
            await embedder.embed_query("boiler")
        assert not server.asked[-1].body.keys() & {"input_type", "dimensions"}


async def test_exhausted_quota_is_not_retried() -> None:
    body = {
        "error": {"message": "You exceeded your current quota, please check your plan", "code": "insufficient_quota"}
    }
    async with serving("openai") as server, opened(server) as embedder:
        server.behaviour = lambda _: Reply(429, body)
        with pytest.raises(EmbedderUnavailable, match="quota") as caught:
            await embedder.embed_documents(PASSAGES)
    assert "account" in caught.value.hint
    assert len(server.asked) == 1


async def test_open_models_get_their_prompts_unless_overridden() -> None:
    async with serving("openai") as server:
        async with opened(server, model="intfloat/multilingual-e5-large") as embedder:
            await embedder.embed_query("boiler")
            await embedder.embed_documents(PASSAGES[:1])
            by_family = embedder.identity
        assert server.texts == ["query: boiler", f"passage: {NOTES[0]}"]
        own = {"query_instruction": "find: ", "document_instruction": "[{title}] {text}"}
        async with opened(server, model="intfloat/multilingual-e5-large", **own) as embedder:
            await embedder.embed_query("boiler {x}")
            await embedder.embed_documents([Passage("{title} braces", "Home")])
        assert server.texts == ["find: boiler {x}", "[Home] {title} braces"]
        assert embedder.identity.fingerprint != by_family.fingerprint


def puts_heading_before_text(provider: str) -> bool:
    """Tell whether a heading is put before the text, not into its own field."""
    wire, model = WIRES[provider], DIALECTS[provider].model
    return not wire.takes_title(model, wire.own_prompts(model).document)


async def test_heading_is_embedded_before_the_text(server: EmbeddingServer) -> None:
    wanted = f"Home > Boiler\n{NOTES[0]}" if puts_heading_before_text(server.dialect.provider) else NOTES[0]
    async with opened(server) as embedder:
        got = await embedder.embed_documents([Passage(NOTES[0], " Home > Boiler "), Passage(NOTES[1])])
        question = await embedder.embed_query("boiler")
    assert server.texts == [wanted, NOTES[1], "boiler"]
    assert are_right(got, [wanted, NOTES[1]])
    assert same(question, unit("boiler"))


async def test_vectors_without_headings_have_another_fingerprint(server: EmbeddingServer) -> None:
    async with opened(server) as embedder:
        identity = embedder.identity
    without = replace(identity, document_prompt=identity.document_prompt.replace("{title_line}", ""))
    assert (without.fingerprint != identity.fingerprint) is puts_heading_before_text(server.dialect.provider)


@pytest.mark.parametrize(
    ("provider", "changes", "sent"),
    [
        ("openai", {"model": "intfloat/e5-base"}, "passage: Home\ntext"),
        ("openai", {"document_instruction": "note: "}, "note: Home\ntext"),
        ("openai", {"document_instruction": "[{title}] {text}"}, "[Home] text"),
        ("openai", {"document_input_type": "passage", "model": "intfloat/e5-base"}, "Home\ntext"),
        ("ollama", {"model": "nomic-embed-text"}, "search_document: Home\ntext"),
        ("ollama", {"model": "embeddinggemma"}, "title: Home | text: text"),
        ("gemini", {"document_input_type": "SEMANTIC_SIMILARITY"}, "Home\ntext"),
    ],
)
async def test_heading_is_at_the_placeholder_of_the_prompt(provider: str, changes: dict[str, str], sent: str) -> None:
    async with serving(provider) as server, opened(server, **changes) as embedder:
        await embedder.embed_documents([Passage("text", "Home")])
    assert server.texts == [sent]


@pytest.mark.parametrize("provider", [row.name for row in PROVIDERS.values() if not row.has_input_types])
async def test_unsupported_input_type_does_not_replace_the_prompt(provider: str) -> None:
    types = {"query_input_type": "search", "document_input_type": "note", "model": "nomic-embed-text"}
    async with serving(provider) as server:
        async with opened(server, **types) as embedder:
            await embedder.embed_query("boiler")
            with_types, texts = embedder.identity.fingerprint, list(server.texts)
        async with opened(server, model="nomic-embed-text") as embedder:
            await embedder.embed_query("boiler")
            assert embedder.identity.fingerprint == with_types
            assert server.texts == texts
    assert texts == [WIRES[provider].own_prompts("nomic-embed-text").query.apply("boiler")]


async def test_full_url_of_the_embeddings_call_is_accepted() -> None:
    async with serving("openai") as server, opened(server, base_url=f"{server.url}/embeddings") as embedder:
        assert embedder.identity.endpoint == server.url
        assert same(await embedder.embed_query("boiler"), unit("boiler"))


async def test_voyage_and_gemini_distinguish_questions_from_documents() -> None:
    async with serving("voyage") as server, opened(server) as embedder:
        await embedder.embed_query("boiler")
        await embedder.embed_documents(PASSAGES[:1])
    assert [asked.body["input_type"] for asked in server.asked] == ["query", "document"]
    async with serving("gemini") as server, opened(server) as embedder:
        await embedder.embed_query("boiler")
        await embedder.embed_documents([Passage(NOTES[0], "Home")])
    (question,), (document,) = (asked.body["requests"] for asked in server.asked)
    assert (question["taskType"], document["taskType"]) == ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")
    assert document["title"] == "Home"
    assert "title" not in question


@pytest.mark.parametrize("dimensions", [768, 1536, 3072])
async def test_gemini_2_has_three_sizes_and_the_task_in_the_prompt(dimensions: int) -> None:
    async with serving("gemini") as server:
        server.dimensions = dimensions
        async with opened(server, model="gemini-embedding-2-preview", dimensions=dimensions) as embedder:
            await embedder.embed_query("boiler")
            await embedder.embed_documents([Passage(NOTES[0], "Home")])
            assert embedder.identity.dimensions == dimensions
    assert server.texts == ["task: search result | query: boiler", f"title: Home | text: {NOTES[0]}"]
    assert {asked.body["requests"][0]["outputDimensionality"] for asked in server.asked} == {dimensions}


async def test_gemini_2_refuses_another_size() -> None:
    async with serving("gemini") as server:
        with pytest.raises(ModelError) as caught:
            await opened_at(**settings_for(server, model="gemini-embedding-2-preview", dimensions=1000))
    assert "768, 1536, 3072" in caught.value.hint
    assert server.asked == []


async def test_gemini_retry_time_is_read_from_the_error_body() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}]
    error = {"error": {"code": 429, "message": "You exceeded your current quota", "details": details}}
    async with serving("gemini") as server, opened(server) as embedder:
        server.script = [Reply(429, error)]
        started = asyncio.get_running_loop().time()
        await embedder.embed_documents(PASSAGES)
    assert asyncio.get_running_loop().time() - started >= 1.0


def attached(data: bytes, mime: str = "image/png") -> Passage:
    return Passage("Image file: holiday.png", attachment=Attachment(mime, sha256(data).digest(), data))


async def test_gemini_embeds_pictures_beside_texts() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
    async with serving("gemini") as server:
        async with opened(server, model="gemini-embedding-2-preview") as embedder:
            (got,) = await embedder.embed_documents([attached(picture)])
        (request,) = server.asked[0].body["requests"]
        text, inline = request["content"]["parts"]
        assert text == {"text": "Image file: holiday.png"}
        assert inline["inlineData"]["mimeType"] == "image/png"
        assert base64.b64decode(inline["inlineData"]["data"]) == picture
        assert same(got, unit("Image file: holiday.png"))
        async with opened(server) as embedder:
            (got,) = await embedder.embed_documents([attached(picture)])
            assert isinstance(got, Unembeddable)
            assert "text only" in got.reason
            assert server.asked == []


async def test_pictures_and_texts_of_one_batch_are_answered_in_order() -> None:
    async with serving("gemini") as server, opened(server, model="gemini-embedding-2-preview") as embedder:
        got = await embedder.embed_documents([attached(b"one"), PASSAGES[0], attached(b"two"), attached(b"one")])
    assert same(got[0], unit("Image file: holiday.png"))
    assert same(got[1], unit(f"title: none | text: {NOTES[0]}"))
    assert len(server.asked) == 3, "equal bytes are sent once"


async def test_picture_that_gemini_rejects_does_not_affect_the_others() -> None:
    async with serving("gemini") as server, opened(server, model="gemini-embedding-2-preview") as embedder:
        server.behaviour = lambda request: (
            server.refusal(400, "Unsupported MIME type: image/heic") if b"image/heic" in request.raw else None
        )
        got = await embedder.embed_documents([attached(b"one"), attached(b"two", "image/heic"), attached(b"three")])
    refused = got[1]
    assert isinstance(refused, Unembeddable)
    assert "Unsupported" in refused.reason
    assert not isinstance(got[0], Unembeddable)
    assert not isinstance(got[2], Unembeddable)


async def test_pictures_received_before_a_failure_are_not_sent_again() -> None:
    async with serving("gemini") as server, opened(server, model="gemini-embedding-2-preview") as embedder:
        batch = [attached(b"one"), attached(b"two", "image/gif")]
        server.behaviour = lambda request: server.refusal(503, "overloaded") if b"image/gif" in request.raw else None
        with pytest.raises(EmbedderUnavailable, match="overloaded"):
            await embedder.embed_documents(batch)
        server.behaviour = lambda _request: None
        await embedder.embed_documents(batch)
    assert sum(b"image/png" in asked.raw for asked in server.asked) == 1


async def test_memory_of_a_sent_picture_is_freed() -> None:
    async with serving("gemini") as server, opened(server, model="gemini-embedding-2-preview") as embedder:
        await embedder.embed_documents([attached(bytes(2_000_000))])
        server.asked.clear()
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            for _ in range(3):
                await embedder.embed_documents([attached(bytes(2_000_000))])
                server.asked.clear()
            traced, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
    assert traced < 1_500_000


async def test_older_ollama_gets_one_text_per_request() -> None:
    async with serving("ollama") as server:

        def older(request: Asked) -> Reply:
            if request.path != "/api/embeddings":
                return Reply(404, b"404 page not found", {"Content-Type": "text/plain"})
            return Reply(200, {"embedding": numbers_for(request.body["prompt"])})

        server.behaviour = older
        async with opened(server) as embedder:
            got = await embedder.embed_documents(PASSAGES)
            question = await embedder.embed_query("boiler")
    assert are_right(got, NOTES)
    assert same(question, unit("boiler"))
    assert {asked.path for asked in server.asked} == {"/api/embeddings"}


async def test_ollama_needs_no_key() -> None:
    async with serving("ollama") as server, opened(server, api_key="", base_url=f"{server.origin}/v1") as embedder:
        await embedder.embed_query("boiler")
    assert "authorization" not in server.asked[-1].headers


@pytest.mark.parametrize("provider", BY_KEY)
async def test_missing_key_is_reported_without_a_request(provider: str) -> None:
    with pytest.raises(EmbedderUnavailable, match="no API key") as caught:
        await opened_at(provider)
    assert "apiKey" in caught.value.hint


@pytest.mark.parametrize("key", ["sk-\nX-Evil: 1", "schlüssel", "“quoted”"])
async def test_key_invalid_in_a_header_is_refused_and_not_shown(server: EmbeddingServer, key: str) -> None:
    with pytest.raises(ModelError) as caught:
        await opened_at(**settings_for(server, api_key=key))
    assert key not in str(caught.value)
    assert server.asked == []


def test_settings_and_credentials_do_not_show_their_secrets() -> None:
    key, header = parse_secret(KEY), parse_secret("geheim")
    settings = RemoteSettings("openai", access=EndpointAccess("", AddressOwner.PROVIDER, key, (("X-A", header),)))
    for shown in (repr(settings), repr(credentials_of(settings, KeySources(ModelsSection(), {})))):
        assert KEY not in shown
        assert "geheim" not in shown


async def test_configured_header_replaces_that_of_the_key(server: EmbeddingServer) -> None:
    name = server.dialect.key_header
    async with opened(server, headers={name.title(): "Bearer other", "USER-AGENT": "mine"}) as embedder:
        await embedder.embed_query("boiler")
    (asked,) = server.asked
    assert asked.headers[name] == "Bearer other"
    assert asked.headers["user-agent"] == "mine"
    assert not any(KEY in value for value in asked.headers.values())
