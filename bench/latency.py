"""How long a question takes over 5,000 chunks, idle and while the daemon is at work."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.corpus import Writer, write_notes
from bench.measurement import Bench, Row
from bench.questions import ask
from bench.stage import agent, running, settle
from bench.vectors import NOTE, fill, model_identity
from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

CHUNK_BYTES = 1_030
"""About what one chunk adds to a long note."""
CHECK_EVERY = 10


def rows(bench: Bench) -> Iterator[Row]:
    """Measure words only, then the same index with vectors and the model."""
    chunks = bench.pick(5_000, 1_000)
    writer = Writer(3)
    questions = [writer.question() for _ in range(bench.pick(120, 60))]
    with running(bench, "latency") as daemon:
        write_notes(daemon.workspace / "memory", count=chunks // 10, size=chunks * CHUNK_BYTES)
        client = daemon.client()
        settle(client)
        status = agent(client)
        note = f"{status['chunks']} chunks"
        yield from ask(daemon, questions).rows("words, idle", note=note)
        client.reindex(force=True)
        yield from ask(daemon, questions, goes_on=_while(client, _is_indexing)).rows("words, while indexing", note=note)
        settle(client)
    yield from _hybrid(bench, daemon, Path(status["database"]["path"]), questions)


def _hybrid(bench: Bench, daemon: RunningDaemon, index: Path, questions: list[str]) -> Iterator[Row]:
    vectors = fill(index, model_identity(bench.model))
    write_config(daemon.home, daemon.workspace, bench.model)
    note = f"{vectors} {NOTE}"
    with daemon:
        client = daemon.client()
        settle(client, embedded=True)
        yield from ask(daemon, questions).rows("hybrid, idle", note=note)
        client.reindex(force=True)
        yield from ask(daemon, questions, goes_on=_while(client, _is_indexing)).rows("hybrid, while indexing")
        settle(client)
        write_notes(daemon.workspace / "memory" / "new", count=100, size=300_000, seed=9)
        client.sync(wait="indexed")
        eventually(lambda: _is_embedding(client))
        yield from ask(daemon, questions, goes_on=_while(client, _is_embedding)).rows("hybrid, while embedding")


def _while(client: Client, is_busy: Callable[[Client], bool]) -> Callable[[], bool]:
    """Return whether the daemon is still busy, asked at every tenth question so that asking costs little."""
    calls = 0

    def goes_on() -> bool:
        nonlocal calls
        calls += 1
        return calls % CHECK_EVERY != 0 or is_busy(client)

    eventually(lambda: is_busy(client))
    return goes_on


def _is_indexing(client: Client) -> bool:
    return agent(client)["pendingFiles"] > 0


def _is_embedding(client: Client) -> bool:
    return agent(client)["pendingEmbeddings"] > 0
