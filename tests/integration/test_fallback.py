"""One embedding provider replaces another: real slots and a real endpoint, with short delays."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from memoryd.config.providers import ModelsSection
from memoryd.config.section import parse_secret
from memoryd.daemon.report import Supervisor
from memoryd.domain.embedding import Choice
from memoryd.domain.text.tokens import estimate
from memoryd.domain.vector import Vector
from memoryd.embed.choice import EmbedderPlan
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.embedding import Embedding, FallbackEmbedding, RemoteEmbedding
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Passage, Unembeddable
from memoryd.embed.remote.breaker import TokenBudget
from memoryd.embed.remote.settings import AddressOwner, CallTimeouts, EndpointAccess, KeySources, RemoteSettings
from memoryd.errors import BudgetSpent, EmbedderUnavailable
from memoryd.models.fetching import Progress
from memoryd.retry import BreakerRule, Retry
from tests.contract.embedding_server import DIALECTS, Asked, EmbeddingServer, Reply
from tests.embedding_endpoint import Endpoint
from tests.fakes import FakeClock, blow_up
from tests.waiting import eventually_async

QUICK = BreakerRule(first_delay=0.05, longest_delay=0.3, jitter=0.0, failures_to_open=4, window=30.0)
LOOK = 0.02
SPARE = EmbedderIdentity("spare", "plain", "", "", 2, "mean", "{text}", "{text}")


@dataclass
class PlainEmbedder:
    """An embedder that always answers."""

    identity: EmbedderIdentity = SPARE

    async def embed_query(self, text: str) -> Vector:
        return np.array([1, 0], np.float32)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        return [np.array([1, 0], np.float32) for _ in passages]


@dataclass
class Spare:
    """A provider that works while it runs, and counts its starts."""

    slot: CurrentEmbedder
    starts: int = 0
    embedder: Embedder = field(default_factory=PlainEmbedder)
    reason: str | None = None
    running: int = 0

    async def run(self) -> None:
        self.starts += 1
        self.running += 1
        try:
            await self.slot.set(ModelPhase.READY, embedder=self.embedder)
            await asyncio.Event().wait()
        finally:
            self.running -= 1

    def trouble(self) -> str | None:
        return self.reason


def settings_for(url: str, folder: Path) -> RemoteSettings:
    """Return the settings of a provider at this address, with its key and a header in files of a folder."""
    team = parse_secret({"file": str(folder / "team")})
    access = EndpointAccess(url, AddressOwner.REMOTE, parse_secret({"file": str(folder / "key")}), (("X-Team", team),))
    # so that a wait of a few seconds counts as long
    return RemoteSettings("openai", "test-model", access, timeouts=CallTimeouts(hold=timedelta(seconds=0.5)))


def write_secrets(folder: Path, key: str) -> None:
    (folder / "key").write_text(key)
    (folder / "team").write_text("red")


class ProviderPair:
    """A remote provider with a fallback."""

    def __init__(self, folder: Path, endpoint: Endpoint, key: str = "first-key", *, retry: Retry | None = None) -> None:
        news = asyncio.Event()
        self.changes: list[ModelPhase] = []
        self.slot = CurrentEmbedder(lambda state: self.changes.append(state.phase))
        write_secrets(folder, key)
        self.first = RemoteEmbedding(
            settings=settings_for(endpoint.url, folder),
            keys=KeySources(ModelsSection(), {}),
            slot=CurrentEmbedder(lambda _: news.set()),
            budget=TokenBudget(folder / "spending.json"),
            jobs=folder / "batches",
            retry=retry or Retry(QUICK),
            poll_seconds=LOOK,
        )
        self.spare = Spare(CurrentEmbedder(lambda _: news.set()))
        self.both = FallbackEmbedding(
            first=self.first,
            second=self.spare,
            slot=self.slot,
            names=("openai", "spare"),
            news=news,
            poll_seconds=LOOK,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.both.run(), name="fallback")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def provider(self) -> str | None:
        return None if self.slot.embedder is None else self.slot.embedder.identity.provider

    async def ask(self) -> None:
        assert self.slot.embedder is not None
        with contextlib.suppress(EmbedderUnavailable):
            await self.slot.embedder.embed_query("where is the key?")

    async def asked_until(self, provider: str) -> None:
        async def is_there() -> bool:
            # there is none for a moment during the switch
            if self.provider() is not None:
                await self.ask()
            return self.provider() == provider

        await eventually_async(is_there)


@pytest.fixture
def pair(tmp_path: Path) -> ProviderPair:
    return ProviderPair(tmp_path, Endpoint(tmp_path))


@contextlib.asynccontextmanager
async def running_provider(folder: Path, server: EmbeddingServer, **changes: object) -> AsyncIterator[RemoteEmbedding]:
    """Start a remote provider with its key in `folder`."""
    write_secrets(folder, "first-key")
    source = RemoteEmbedding(
        settings=replace(settings_for(server.url, folder), **changes),
        keys=KeySources(ModelsSection(), {}),
        slot=CurrentEmbedder(lambda _: None),
        budget=TokenBudget(folder / "spending.json"),
        jobs=folder / "batches",
        retry=Retry(QUICK),
        poll_seconds=LOOK,
    )
    task = asyncio.create_task(source.run(), name="opening")
    try:
        yield source
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_retry_after_is_obeyed_at_start(tmp_path: Path) -> None:
    limited, away = (EmbeddingServer(DIALECTS["openai"]) for _ in range(2))
    limited.behaviour = lambda asked: (
        limited.refusal(429, "Rate limit reached", **{"Retry-After": "3600"})
        if asked.headers["authorization"] == "Bearer first-key"
        else None
    )
    away.behaviour = lambda _: away.refusal(503, "overloaded")
    for folder in (tmp_path / "limited", tmp_path / "away"):
        folder.mkdir()
    async with (
        limited.running(),
        away.running(),
        running_provider(tmp_path / "limited", limited) as source,
        running_provider(tmp_path / "away", away),
    ):
        await eventually_async(lambda: len(away.asked) > 5)
        assert len(limited.asked) == 1
        assert source.slot.state.phase is ModelPhase.FAILED
        assert re.search(r"Rate limit reached; next try by .*\d\d:\d\d UTC$", source.slot.state.reason)
        assert source.trouble() is not None, "so long a wait is worth a fallback"
        (tmp_path / "limited" / "key").write_text("another-key")
        await eventually_async(lambda: source.slot.embedder is not None)
        assert [asked.headers["authorization"] for asked in limited.asked[:2]] == [
            "Bearer first-key",
            "Bearer another-key",
        ]


async def test_endpoint_that_keeps_silent_is_told_long_before_it_is_given_up(tmp_path: Path) -> None:
    server, is_silent = EmbeddingServer(DIALECTS["openai"]), True
    server.behaviour = lambda _: Reply(200, b"{", drip=True) if is_silent else None
    timeouts = CallTimeouts(query=timedelta(seconds=0.1), bulk=timedelta(seconds=20))
    async with server.running(), running_provider(tmp_path, server, timeouts=timeouts) as source:
        await eventually_async(lambda: source.slot.state.phase is ModelPhase.FAILED)
        assert "no answer for" in source.slot.state.reason
        assert source.slot.state.reason.endswith("it is still being asked")
        await eventually_async(lambda: len(server.asked) == 1)
        is_silent = False
        await eventually_async(lambda: source.slot.embedder is not None)
        assert source.slot.state.phase is ModelPhase.READY


async def test_another_model_behind_the_address_is_taken_up_without_a_restart(tmp_path: Path) -> None:
    """Vectors of another length are refused at first; if no others come any more, they are of a space of their own."""
    server = EmbeddingServer(DIALECTS["openai"])
    async with server.running(), running_provider(tmp_path, server) as source:
        await eventually_async(lambda: source.slot.embedder is not None)
        first = source.slot.embedder
        assert first is not None
        server.dimensions *= 2
        with pytest.raises(EmbedderUnavailable, match="dimensions"):
            await first.embed_query("where is the key?")
        await eventually_async(lambda: source.slot.state.phase is ModelPhase.FAILED)
        await eventually_async(lambda: source.slot.embedder not in (None, first))
        second = source.slot.embedder
        assert second is not None
        assert second.identity == replace(first.identity, dimensions=server.dimensions)
        assert len(await second.embed_query("where is the key?")) == server.dimensions


@pytest.mark.parametrize(("status", "changed"), [(429, "team"), (503, "team"), (503, "key")])
async def test_retry_after_survives_a_new_embedder(tmp_path: Path, status: int, changed: str) -> None:
    """A new header, or a new key after a general refusal, causes no earlier request."""
    server = EmbeddingServer(DIALECTS["openai"])
    loop, seconds = asyncio.get_running_loop(), 3
    times: list[float] = []

    def behave(asked: Asked) -> Reply | None:
        times.append(loop.time())
        if len(times) == 2:
            return server.refusal(status, "Come back later", **{"Retry-After": str(seconds)})
        return None

    server.behaviour = behave
    async with server.running(), running_provider(tmp_path, server) as source:
        await eventually_async(lambda: source.slot.state.phase is ModelPhase.READY)
        assert source.slot.embedder is not None
        with pytest.raises(EmbedderUnavailable, match="Come back later"):
            await source.slot.embedder.embed_query("where is the key?")
        assert source.trouble() is not None
        (tmp_path / changed).write_text("another")
        await eventually_async(lambda: "Come back later; next try within a minute" in source.slot.state.reason)
        assert len(times) == 2
        await eventually_async(lambda: source.slot.state.phase is ModelPhase.READY)
        assert times[2] - times[1] >= seconds, "no request before the time"
        last = server.asked[2].headers
        assert "another" in {last["x-team"], last["authorization"].removeprefix("Bearer ")}
        assert source.trouble() is None


async def test_unreachable_model_is_an_obstacle_unless_there_is_fallback(pair: ProviderPair) -> None:
    progress = Progress(0, None, "waiting", "cannot reach the hub")
    alone = CurrentEmbedder(lambda _: None)
    for slot in (alone, pair.slot):
        await slot.set(ModelPhase.DOWNLOADING, "fetching a model")
        slot.note_progress(progress, progress.trouble)
    plan = EmbedderPlan(Choice("local", "spare", ""), None, None)
    assert Embedding(plan, alone, pair.spare).obstacle() == "cannot reach the hub"
    assert Embedding(plan, pair.slot, pair.both).obstacle() is None


async def test_fallback_is_not_started_while_provider_works(tmp_path: Path) -> None:
    with Endpoint(tmp_path) as endpoint:
        pair = ProviderPair(tmp_path, endpoint)
        async with pair.running():
            await eventually_async(lambda: pair.provider() == "openai")
            for _ in range(5):
                await pair.ask()
            assert pair.spare.starts == 0
            assert pair.slot.fallback_in_use is None


async def test_fallback_takes_over_until_provider_returns(tmp_path: Path) -> None:
    with Endpoint(tmp_path) as endpoint:
        pair = ProviderPair(tmp_path, endpoint)
        async with pair.running():
            await eventually_async(lambda: pair.provider() == "openai")
            assert pair.slot.embedder is not None
            before = pair.slot.embedder.identity.fingerprint
            endpoint.kill()
            await pair.asked_until("spare")
            assert pair.slot.embedder.identity.fingerprint != before
            fallback_in_use = pair.slot.fallback_in_use
            assert fallback_in_use is not None
            assert (fallback_in_use.failed, fallback_in_use.substitute) == ("openai", "spare")
            assert str(endpoint.port) in fallback_in_use.reason
            endpoint.start()
            await eventually_async(lambda: pair.provider() == "openai")
            assert pair.slot.fallback_in_use is None
            assert pair.slot.embedder.identity.fingerprint == before
            endpoint.kill()
            await pair.asked_until("spare")
            assert pair.spare.starts == 1, "it kept running"


async def test_provider_is_used_again_within_75_seconds(tmp_path: Path) -> None:
    clock, rule = FakeClock(), BreakerRule()
    with Endpoint(tmp_path) as endpoint:
        pair = ProviderPair(tmp_path, endpoint, retry=Retry(clock=clock, chance=lambda: 1.0))

        async def is_left() -> bool:
            # the delays between the failures of an outage
            clock.advance(1)
            await pair.ask()
            return pair.provider() == "spare"

        async with pair.running():
            await eventually_async(lambda: pair.provider() == "openai")
            endpoint.kill()
            await eventually_async(is_left)
            # the worst case: an attempt has just failed
            clock.advance(rule.longest_delay)
            endpoint.start()
            for _ in range(5):
                await asyncio.sleep(LOOK)
                assert pair.slot.fallback_in_use is not None, "there is no attempt before the delay is over"
            clock.advance(rule.longest_delay * rule.jitter)
            await eventually_async(lambda: pair.provider() == "openai")
            assert pair.slot.fallback_in_use is None
            await pair.ask()
            assert pair.first.trouble() is None


async def test_one_failure_starts_no_fallback(tmp_path: Path) -> None:
    with Endpoint(tmp_path) as endpoint:
        pair = ProviderPair(tmp_path, endpoint)
        async with pair.running():
            await eventually_async(lambda: pair.provider() == "openai")
            endpoint.kill()
            await pair.ask()
            endpoint.start()
            await eventually_async(lambda: pair.first.trouble() is None)
            await pair.ask()
            assert pair.provider() == "openai"


async def test_provider_that_never_answered_is_replaced(tmp_path: Path, pair: ProviderPair) -> None:
    async with pair.running():
        await eventually_async(lambda: pair.provider() == "spare")
        assert pair.slot.fallback_in_use is not None
        assert ModelPhase.FAILED in pair.changes


async def test_failure_of_both_shows_reason_of_provider(tmp_path: Path, pair: ProviderPair) -> None:
    pair.spare.reason = "spare is broken"
    async with pair.running():
        await eventually_async(lambda: pair.both.trouble() is not None)
        assert pair.slot.fallback_in_use is None
        assert pair.slot.state.phase is ModelPhase.FAILED
        assert "127.0.0.1" in pair.slot.state.reason


async def test_replaced_key_is_used_after_a_failure(tmp_path: Path) -> None:
    with Endpoint(tmp_path) as endpoint:
        pair = ProviderPair(tmp_path, endpoint)
        async with pair.running():
            await eventually_async(lambda: pair.provider() == "openai")
            await pair.ask()
            assert endpoint.requests()[-1]["headers"]["authorization"] == "Bearer first-key"
            # before the failure, because an attempt with the old key may take some time
            (tmp_path / "key").write_text("second-key")
            endpoint.kill()
            await pair.asked_until("spare")
            endpoint.start()
            await eventually_async(lambda: pair.provider() == "openai")
            await pair.ask()
            assert endpoint.requests()[-1]["headers"]["authorization"] == "Bearer second-key"


@dataclass
class Failing(Spare):
    """A provider that fails as a bug would, once the other one runs for the first time."""

    other: Spare | None = None
    has_failed: bool = False

    async def run(self) -> None:
        await eventually_async(lambda: self.other is not None and self.other.running > 0)
        if not self.has_failed:
            self.has_failed = True
            blow_up()
        await asyncio.Event().wait()


async def test_crash_of_provider_stops_the_fallback(pair: ProviderPair) -> None:
    pair.both.first = Failing(CurrentEmbedder(lambda _: None), reason="away", other=pair.spare)
    supervisor = Supervisor()
    part = asyncio.create_task(supervisor.keep("embedding", pair.both.run))
    # poll often, because the next attempt follows soon
    await eventually_async(lambda: bool(supervisor.failing), step=0.01)
    assert supervisor.failing == {"embedding": "ZeroDivisionError: a bug, on purpose"}
    assert pair.spare.running == 0
    await eventually_async(lambda: pair.spare.starts == 2)
    assert pair.spare.running == 1
    part.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await part
    assert pair.spare.running == 0


@pytest.mark.parametrize("is_refused", [False, True])
async def test_unanswered_texts_count_as_sent_but_refused_do_not(tmp_path: Path, is_refused: bool) -> None:
    server, timeouts = EmbeddingServer(DIALECTS["openai"]), CallTimeouts(bulk=timedelta(seconds=0.5))
    text = "The gateway runs on alder."
    cost = 0 if is_refused else timeouts.attempts * estimate(text)
    async with (
        server.running(),
        running_provider(tmp_path, server, timeouts=timeouts, tokens_per_day=estimate(text) * 2) as source,
    ):
        await eventually_async(lambda: source.slot.embedder is not None)
        embedder = source.slot.embedder
        assert embedder is not None
        if is_refused:
            server.behaviour = lambda _: server.refusal(503, "overloaded")
        else:
            server.gate.clear()
        for expected in (EmbedderUnavailable, EmbedderUnavailable if is_refused else BudgetSpent):
            with pytest.raises(expected):
                await embedder.embed_documents([Passage(text)])
            assert source.spent() == cost
        server.gate.set()
