"""What a turn of a conversation costs over 10,000 memories and as many chunks, and what recall adds to it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.measurement import Aim, Bench, Row
from bench.memories.corpus import questions, write_memories
from bench.stage import prepared, settle
from bench.standin import make_model
from memoryd.client import Client

ADDED = Aim(30)
"""What automatic recall may add to a turn beyond the embedding of the question, in ms."""
ASKED = 200
DIMENSIONS = 384


def rows(bench: Bench) -> Iterator[Row]:
    """Take the same messages with automatic recall and without, by words and with a model that computes nothing."""
    lines = bench.pick(10_000, 2_000)
    with prepared(bench, "turns") as daemon:
        write_memories(daemon.workspace, lines=lines, chunks=lines)
        settle(daemon.client())
        yield from _turns(daemon.client(), "words only")
    with prepared(bench, "turns-vectors", model=make_model(bench.folder, DIMENSIONS)) as daemon:
        write_memories(daemon.workspace, lines=lines, chunks=lines)
        settle(daemon.client(), embedded=True)
        yield from _turns(daemon.client(), "with vectors")
        yield from _spread("the question alone, embedded and searched", _searched(daemon.client()))


def _turns(client: Client, name: str) -> Iterator[Row]:
    recalling = _took(client, "recalling", {})
    bare = _took(client, "bare", {"channel": "heartbeat"})
    yield from _spread(f"a turn with automatic recall, {name}", recalling)
    yield from _spread(f"a turn without, {name}", bare)
    added = _at(recalling, 95) - _at(bare, 95)
    note = "the embedding of the question included, by a model that computes next to nothing"
    yield Row(f"what recall adds to a turn, {name}, p95", added, "ms", ADDED, note)


def _took(client: Client, peer: str, given: Mapping[str, Any]) -> list[float]:
    """Return how long each of the messages took, in ms; the first, which finds nothing worked out, is not counted."""
    key = f"agent:main:chat:direct:{peer}"
    client.turn("warm up", session_key=key, **given)
    return sorted(client.turn(text, session_key=key, **given)["tookMs"] for text in questions(ASKED))


def _searched(client: Client) -> list[float]:
    return sorted(client.search(text, max_results=1)["tookMs"] for text in questions(ASKED))


def _spread(name: str, took: Sequence[float]) -> Iterator[Row]:
    yield Row(f"{name}, median", _at(took, 50), "ms")
    yield Row(f"{name}, p95", _at(took, 95), "ms")


def _at(took: Sequence[float], percent: int) -> float:
    return took[len(took) * percent // 100]
