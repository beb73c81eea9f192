"""A transcript and the session of its turns are one conversation, listed once."""

import asyncio
from collections.abc import Sequence

import pytest

from memoryd.domain.documents import RelativePath, Source, part_path, transcript_path, turns_path
from memoryd.domain.sessions.making_turns import transcript_session
from memoryd.domain.skips import SkipReason
from memoryd.search.combined import search_once
from memoryd.search.hits import Hit
from memoryd.search.protocol import LEXICAL, VECTOR, Arm, ArmState, Query, SearchResult
from memoryd.store.index.passages import ChunkRow

LOG, OTHER = transcript_path("main", "a b.jsonl"), transcript_path("main", "b.jsonl")
TURNS = turns_path(transcript_session("main", "a b.jsonl"))
STRANGER = turns_path(transcript_session("work", "a b.jsonl"))
LIVE = turns_path("discord-wen-20261018")


class Engine:
    """An engine that always finds the same, up to the limit."""

    def __init__(self, *paths: RelativePath) -> None:
        chunks = (ChunkRow(at, path, Source.SESSIONS, 1, 2, "", "User: x") for at, path in enumerate(paths))
        self.hits = tuple(Hit(chunk=chunk, base_score=1.0 - chunk.id / 100, score=1.0) for chunk in chunks)

    async def search(self, query: Query) -> SearchResult:
        arms = {LEXICAL: Arm(ArmState.OK), VECTOR: Arm(ArmState.OFF)}
        misses = self.hits[query.limit : 2 * query.limit]
        return SearchResult(self.hits[: query.limit], misses, arms, query.question.terms)


def asked(paths: Sequence[RelativePath], limit: int = 6) -> SearchResult:
    return asyncio.run(search_once(Engine(*paths), Query("heron weir", limit=limit)))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([LOG, TURNS], [LOG]),
        ([TURNS, LOG, TURNS], [TURNS, TURNS]),
        ([part_path(LOG, 1), OTHER, part_path(TURNS, 99), part_path(LOG, 7)], [LOG, OTHER, LOG]),
        ([LOG, STRANGER, LIVE], [LOG, STRANGER, LIVE]),
        ([], []),
    ],
)
def test_better_form_of_a_conversation_is_listed(
    found: Sequence[RelativePath], expected: Sequence[RelativePath]
) -> None:
    names = [hit.chunk.path.partition("@")[0] for hit in asked(found).hits]
    assert names == list(expected)


def test_freed_places_go_to_others() -> None:
    found = asked([LOG, TURNS, OTHER, LIVE], limit=2)
    assert [hit.chunk.path for hit in found.hits] == [LOG, OTHER]
    assert [(hit.chunk.path, hit.because) for hit in found.misses] == [(LIVE, SkipReason.BEYOND_MAX_RESULTS)]


def test_misses_do_not_repeat_a_conversation() -> None:
    found = asked([LOG, OTHER, TURNS, LIVE], limit=2)
    assert [hit.chunk.path for hit in (*found.hits, *found.misses)] == [LOG, OTHER, LIVE]
