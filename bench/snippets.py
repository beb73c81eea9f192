"""What it costs to choose the snippet of a hit and its focus."""

import time
from collections.abc import Iterator

from bench.corpus import notes
from bench.measurement import Aim, Bench, Row
from bench.timing import median
from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings, chunk_entries
from memoryd.domain.ranking.snippets import MatchingPassage, snippet

NOTES, BYTES, ROUNDS, TERMS = 40, 400_000, 5, 6
STANDOUT = 0.5
AIM = Aim(0.15)

Asked = tuple[str, dict[str, float], tuple[MatchingPassage, ...]]
"""A text, the weights of the words that are asked for, and what is near in it."""


def rows(bench: Bench) -> Iterator[Row]:
    """Cut each chunk of some notes for a question of its longest words, in this process; time is the processor's."""
    texts = (text for _, text in notes(bench.folder, count=NOTES, size=BYTES))
    asked = [_asked(chunk) for text in texts for chunk in chunk_entries(text, ChunkSettings(400, 80))]
    took = median([_milliseconds(asked) for _ in range(bench.pick(ROUNDS, 1))])
    yield Row("a snippet with its focus", took / len(asked), "ms", AIM, f"{len(asked)} chunks, {TERMS} words")


def _asked(chunk: ChunkEntry) -> Asked:
    words = sorted(set(chunk.text.lower().split()), key=len)[-TERMS:]
    near = tuple(MatchingPassage(passage.start, passage.stop, STANDOUT) for passage in chunk.passages)
    return chunk.text, dict.fromkeys(words, 1.0), near


def _milliseconds(asked: list[Asked]) -> float:
    start = time.process_time()
    for text, weights, near in asked:
        snippet(text, weights, near=near)
    return 1000 * (time.process_time() - start)
