"""A text endpoint on loopback that refuses, fails, hangs or lies: each means an error with its reason."""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from memoryd.config.providers import LlmSection, ModelsSection
from memoryd.embed.current import ModelPhase
from memoryd.embed.remote.breaker import TokenBudget
from memoryd.embed.remote.settings import EndpointAccess, KeySources, open_credentials
from memoryd.errors import TextModelUnavailable
from memoryd.llm.protocol import Prompt
from memoryd.llm.writing import MISFITS_MAX, OWN_KEY, PROVIDER, RemoteWriting, RemoteWritingSettings, access_of
from memoryd.memory.llm import LabelAnswer, MemoryModel
from tests.contract.background import eventually_answers, in_background
from tests.contract.chat_server import PATH, ChatServer
from tests.contract.embedding_server import Asked, Reply
from tests.waiting import eventually_async

KEY = "sk-verysecret0123456789"
NOTE = "Peter told me in confidence that he sold the boat for less than it was worth"


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with ChatServer().running() as running_server:
        assert isinstance(running_server, ChatServer)
        yield running_server


@asynccontextmanager
async def running(
    server: ChatServer,
    folder: Path,
    *,
    seconds: float = 20,
    per_day: int | None = None,
    today: Callable[[], datetime] = lambda: datetime.now(UTC),
    **section: Any,
) -> AsyncIterator[RemoteWriting]:
    values = {"provider": "openai", "model": "m-1", "baseUrl": server.url, "apiKey": KEY} | section
    settings = RemoteWritingSettings(
        model="m-1",
        access=access_of(LlmSection.model_validate(values), ModelsSection()),
        max_tokens=500,
        calls_per_day=per_day,
        answer=timedelta(seconds=seconds),
    )
    budget = TokenBudget(folder / "calls.json", clock=today)
    model = RemoteWriting(settings=settings, keys=KeySources(ModelsSection(), {}), budget=budget)
    async with in_background(model.run()):
        await eventually_async(lambda: model.state()["state"] != ModelPhase.WARMING)
        yield model


async def ask(model: RemoteWriting, *, seconds: float = 20) -> LabelAnswer:
    prompt, deadline = Prompt("Label it.", NOTE), time.monotonic() + seconds
    return await model.complete(prompt, shape=LabelAnswer, max_tokens=32, deadline=deadline)


async def test_request_has_the_form_of_the_reference(server: ChatServer, tmp_path: Path) -> None:
    async with running(server, tmp_path) as model:
        assert (await ask(model)).label == "reinforce"
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", PATH)
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    body = asked.body
    assert body["messages"] == [{"role": "system", "content": "Label it."}, {"role": "user", "content": NOTE}]
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("m-1", 0, 7, 32)
    form = body["response_format"]["json_schema"]
    assert form["strict"]
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["required"] == ["label"]


async def test_endpoint_without_schemas_is_asked_for_json_from_then_on(server: ChatServer, tmp_path: Path) -> None:
    def behaviour(request: Asked) -> Reply | None:
        is_schema = request.body["response_format"]["type"] == "json_schema"
        return server.refusal(400, "response_format json_schema is unavailable") if is_schema else None

    server.behaviour = behaviour
    async with running(server, tmp_path) as model:
        await ask(model)
        await ask(model)
        assert model.state()["state"] == ModelPhase.READY
    kinds = [asked.body["response_format"]["type"] for asked in server.asked]
    assert kinds == ["json_schema", "json_object", "json_object"]
    assert "JSON schema: {" in server.asked[-1].body["messages"][0]["content"]


async def test_model_with_other_parameters_gets_them(server: ChatServer, tmp_path: Path) -> None:
    def behaviour(request: Asked) -> Reply | None:
        message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return server.refusal(400, message) if "max_tokens" in request.body else None

    server.behaviour = behaviour
    async with running(server, tmp_path) as model:
        await ask(model)
    assert server.asked[-1].body["max_completion_tokens"] == 32
    assert "temperature" not in server.asked[-1].body
    assert server.asked[-1].body["response_format"]["type"] == "json_schema"


async def test_endpoint_that_refuses_everything_is_asked_a_few_times(server: ChatServer, tmp_path: Path) -> None:
    server.behaviour = lambda _request: server.refusal(400, "no max_tokens, no temperature, no json_schema")
    async with running(server, tmp_path) as model:
        with pytest.raises(TextModelUnavailable, match="400"):
            await ask(model)
        assert len(server.asked) == 3
        assert model.state()["state"] == ModelPhase.FAILED


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (401, f"Incorrect API key provided: {KEY}", "memory.llm.apiKey"),
        (404, "The model `m-1` does not exist", "memory.llm.model"),
    ],
)
async def test_refused_key_or_model_is_reported_with_a_hint(
    server: ChatServer, tmp_path: Path, status: int, message: str, hint: str
) -> None:
    server.behaviour = lambda _request: server.refusal(status, message)
    async with running(server, tmp_path) as model:
        with capture_logs() as logs, pytest.raises(TextModelUnavailable) as caught:
            await ask(model)
        state = model.state()
        assert hint in caught.value.hint
        assert hint in str(state["reason"])
        assert state["state"] == ModelPhase.FAILED
        assert KEY not in f"{caught.value}{state}{logs}"
        server.behaviour = lambda _request: None


async def test_repaired_endpoint_is_ready_again(server: ChatServer, tmp_path: Path) -> None:
    server.script = [server.refusal(401, "no")]
    async with running(server, tmp_path) as model:
        with pytest.raises(TextModelUnavailable):
            await ask(model)
        await eventually_answers(lambda: ask(model), TextModelUnavailable)
        assert model.state()["state"] == ModelPhase.READY
        assert model.state()["reason"] is None


async def test_busy_endpoint_is_asked_again_after_its_retry_time(server: ChatServer, tmp_path: Path) -> None:
    server.script = [server.refusal(429, "slow down", **{"Retry-After": "1"})]
    async with running(server, tmp_path) as model:
        started = time.monotonic()
        await ask(model)
        assert time.monotonic() - started >= 1
    assert len(server.asked) == 2


async def test_long_retry_time_is_respected(server: ChatServer, tmp_path: Path) -> None:
    server.script = [server.refusal(429, "slow down", **{"Retry-After": "3600"})]
    async with running(server, tmp_path) as model:
        for _ in range(3):
            with pytest.raises(TextModelUnavailable):
                await ask(model)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_failing_endpoint_is_asked_twice_and_then_backs_off(
    server: ChatServer, tmp_path: Path, status: int
) -> None:
    server.behaviour = lambda _request: server.refusal(status, f"failed at: {NOTE}")
    async with running(server, tmp_path) as model:
        with pytest.raises(TextModelUnavailable, match=str(status)) as caught:
            await ask(model)
        assert len(server.asked) == 2
        assert NOTE not in f"{caught.value}{model.state()}"
        # during the back-off nothing is sent
        with pytest.raises(TextModelUnavailable):
            await ask(model)
        assert len(server.asked) == 2


async def test_hanging_endpoint_delays_only_the_first_caller(server: ChatServer, tmp_path: Path) -> None:
    server.gate.clear()
    async with running(server, tmp_path) as model:
        with pytest.raises(TextModelUnavailable):
            await ask(model, seconds=0.5)
        # the next calls fail at once
        for _ in range(5):
            with pytest.raises(TextModelUnavailable):
                await ask(model)
        assert model.state()["state"] == ModelPhase.FAILED
        assert len(server.asked) <= 2
        server.gate.set()
        await eventually_answers(lambda: ask(model), TextModelUnavailable)


async def test_dripping_answer_times_out(server: ChatServer, tmp_path: Path) -> None:
    server.script = [Reply(200, b"", drip=True)]
    async with running(server, tmp_path, seconds=1) as model:
        with pytest.raises(TextModelUnavailable):
            await ask(model)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>hello</html>"),
        Reply(200, b""),
        Reply(200, b"[" * 100_000),
        Reply(200, {"choices": []}),
        Reply(200, {"choices": [{"message": {"content": None}}]}),
        Reply(200, {"choices": [{"message": {"content": ["reinforce"]}}]}),
        Reply(200, {"choices": [{"message": {"content": '{"label": "reinforce"}'}, "finish_reason": "length"}]}),
        Reply(200, {"choices": [{"message": {"content": "", "refusal": "I will not say it"}}]}),
        Reply(200, b'{"choices": [', cut_after=5),
        Reply(200, b"", reset=True),
        Reply(200, b"", huge=True),
    ],
    ids=["html", "empty", "deep", "none", "null", "list", "cut", "refusal", "short", "reset", "huge"],
)
async def test_invalid_response_is_an_error(server: ChatServer, tmp_path: Path, reply: Reply) -> None:
    server.behaviour = lambda _request: reply
    async with running(server, tmp_path) as model:
        with pytest.raises(TextModelUnavailable):
            await ask(model)
        assert model.state()["state"] == ModelPhase.FAILED
        with pytest.raises(TextModelUnavailable):
            await MemoryModel(model).label("a", "b")


@pytest.mark.parametrize(
    "content",
    [
        '{"label": "delete"}',
        '{"label": "neutral", "run": "rm -rf /"}',
        '["neutral"]',
        "neutral",
        "",
        '```json\n{"label": "neutral"}\n```',
        '{"label": "neutral"} and more',
        '{"label": "neut',
        '{"label": ' + '"a' * 100_000,
        '{"label": {"label": "neutral"}}',
    ],
)
async def test_answer_of_another_shape_is_an_error_and_not_quoted(
    server: ChatServer, tmp_path: Path, content: str
) -> None:
    server.content = content
    async with running(server, tmp_path) as model:
        with capture_logs() as logs:
            for count in range(1, MISFITS_MAX + 1):
                with pytest.raises(TextModelUnavailable, match=r"shape|characters") as caught:
                    await ask(model)
                # a single one is no failure of the endpoint, and none is repeated
                assert (model.state()["state"] == ModelPhase.FAILED) == (count == MISFITS_MAX)
        assert len(server.asked) == MISFITS_MAX
        assert "rm -rf" not in f"{caught.value}{model.state()}{logs}"
        server.content = None
        await ask(model)
        assert model.state()["state"] == ModelPhase.READY


async def test_text_is_not_sent_to_a_redirect(server: ChatServer, tmp_path: Path) -> None:
    async with ChatServer().running() as other:
        server.behaviour = lambda _request: Reply(307, b"", {"Location": f"{other.url}/chat/completions"})
        async with running(server, tmp_path) as model:
            with pytest.raises(TextModelUnavailable, match="redirects") as caught:
                await ask(model)
            assert "memory.llm.baseUrl" in caught.value.hint
        assert other.asked == []


async def test_calls_per_day_are_limited_over_restarts(server: ChatServer, tmp_path: Path) -> None:
    day = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    for expected in (1, 2):
        async with running(server, tmp_path, per_day=2, today=lambda: day[0]) as model:
            await ask(model)
            state = model.state()
            assert (state["callsToday"], state["callsPerDay"]) == (expected, 2)
    async with running(server, tmp_path, per_day=2, today=lambda: day[0]) as model:
        with pytest.raises(TextModelUnavailable, match=r"memory\.llm\.maxCallsPerDay is 2"):
            await ask(model)
        assert len(server.asked) == 2
        assert model.state()["state"] == ModelPhase.FAILED
        day[0] += timedelta(days=1)
        await ask(model)
        assert model.state()["state"] == ModelPhase.READY


async def test_retries_count_as_calls_of_the_day_and_unsent_ones_do_not(server: ChatServer, tmp_path: Path) -> None:
    server.behaviour = lambda _request: server.refusal(500, "out of order")
    async with running(server, tmp_path, per_day=3) as model:
        # during the back-off after the first, nothing is sent
        for _ in range(2):
            with pytest.raises(TextModelUnavailable):
                await ask(model)
        state = model.state()
        assert state["callsToday"] == len(server.asked) == 2
    async with running(server, tmp_path, per_day=3) as model:
        with pytest.raises(TextModelUnavailable, match=r"memory\.llm\.maxCallsPerDay is 3"):
            await ask(model)
        assert len(server.asked) == 3


async def test_changed_key_is_used_without_a_restart(server: ChatServer, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-first\n")
    async with running(server, tmp_path, apiKey={"file": str(file)}) as model:
        await ask(model)
        file.write_text("sk-second\n")
        await ask(model)
        file.unlink()
        with pytest.raises(TextModelUnavailable) as caught:
            await ask(model)
        # only the owner may see paths
        assert str(file) not in str(caught.value)
        assert str(file) in str(model.state()["reason"])
    assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer sk-first", "Bearer sk-second"]


async def test_missing_key_is_reported_before_any_call(server: ChatServer, tmp_path: Path) -> None:
    async with running(server, tmp_path, apiKey={"env": "NO_SUCH_VARIABLE_HERE"}) as model:
        assert model.state()["state"] == ModelPhase.FAILED
        assert "memory.llm.apiKey: no secret in env NO_SUCH_VARIABLE_HERE" in str(model.state()["reason"])
    assert server.asked == []


def opened_key(access: EndpointAccess, keys: KeySources) -> str:
    return open_credentials(PROVIDER, access, keys, OWN_KEY).api_key


def test_key_is_used_only_for_its_address() -> None:
    models = ModelsSection.model_validate({"providers": {"openai": {"apiKey": "sk-entry"}}})
    keys = KeySources(models, {"OPENAI_API_KEY": "sk-variable"})
    own = LlmSection(provider="openai", model="m")
    assert access_of(own, models).base_url == "https://api.openai.com/v1"
    assert opened_key(access_of(own, models), keys) == "sk-entry"
    assert opened_key(access_of(own, ModelsSection()), KeySources(ModelsSection(), keys.environment)) == "sk-variable"
    elsewhere = LlmSection(provider="openai", model="m", base_url="http://127.0.0.1:11434/v1")
    assert opened_key(access_of(elsewhere, models), keys) == ""
    entry = ModelsSection.model_validate({"providers": {"openai": {"baseUrl": "https://proxy.example.com/v1"}}})
    assert access_of(own, entry).destination == "proxy.example.com"
    assert opened_key(access_of(own, entry), KeySources(entry, keys.environment)) == ""


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://api.openai.com/v1", "sk-variable"),
        ("https://API.OpenAI.com:443/v1/", "sk-variable"),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com:8443/v1", ""),
    ],
)
def test_providers_own_address_gets_the_key_over_https_only(address: str, key: str) -> None:
    section = LlmSection.model_validate({"provider": "openai", "model": "m", "baseUrl": address})
    keys = KeySources(ModelsSection(), {"OPENAI_API_KEY": "sk-variable"})
    assert opened_key(access_of(section, ModelsSection()), keys) == key


def test_key_and_headers_of_a_proxy_are_not_sent_to_the_provider() -> None:
    entry = {"baseUrl": "https://proxy.example.com/v1", "apiKey": "sk-proxy", "headers": {"X-Org": "proxy"}}
    models = ModelsSection.model_validate({"providers": {"openai": entry}})
    section = LlmSection.model_validate({"provider": "openai", "model": "m", "baseUrl": "https://api.openai.com/v1"})
    access = access_of(section, models)
    assert (opened_key(access, KeySources(models, {"OPENAI_API_KEY": "sk-own"})), access.headers) == ("sk-own", ())
    by_proxy = access_of(LlmSection(provider="openai", model="m"), models)
    assert opened_key(by_proxy, KeySources(models, {})) == "sk-proxy"
    assert dict(by_proxy.headers).keys() == {"X-Org"}


def test_settings_do_not_show_the_key() -> None:
    section = LlmSection.model_validate({"provider": "openai", "model": "m", "apiKey": KEY})
    assert KEY not in repr(access_of(section, ModelsSection()))
    assert KEY not in json.dumps(section.model_dump(mode="json"))
