"""Conversations found by an index and by qmd are merged in one order, each once."""

import asyncio
from pathlib import Path
from typing import Any

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.sessions.conversation_parts import HEADING_LINES, MARK
from memoryd.errors import SidecarError
from memoryd.qmd.engine import MergedConversations, transcript_window
from memoryd.search.hits import Hit
from memoryd.search.protocol import LEXICAL, VECTOR, Arm, ArmState, Query, SearchResult
from memoryd.store.index.passages import ChunkRow

ARMS = {LEXICAL: Arm(ArmState.OK), VECTOR: Arm(ArmState.OFF)}


def hit(name: str, score: float, *terms: str, bm25: float | None = None) -> Hit:
    row = ChunkRow(0, RelativePath(f"sessions/main/{name}.jsonl"), Source.SESSIONS, 1, 2, "", f"User: {name}")
    return Hit(chunk=row, base_score=score, score=score, bm25=bm25, terms=terms)


class Engine:
    """An engine that always finds the same, or fails."""

    def __init__(self, *hits: Hit, fails: bool = False, has_collection: bool = True) -> None:
        self.hits, self.fails, self.has_collection, self.asked = hits, fails, has_collection, 0

    async def search(self, query: Query) -> SearchResult:
        self.asked += 1
        if self.fails:
            raise SidecarError("it is out")
        return SearchResult(self.hits, (), ARMS, query.question.terms)


def names_found(index: Engine | None, exports: Any, limit: int = 6) -> list[str]:
    merged = MergedConversations(index=index, exports=exports, weights=Weights(0.5, 0.5))
    found = asyncio.run(merged.search(Query("heron weir", limit=limit)))
    return [hit.chunk.path.removeprefix("sessions/main/").removesuffix(".jsonl") for hit in found.hits]


def test_conversation_found_by_both_is_listed_once() -> None:
    index = Engine(hit("a", 0.9, "heron", "weir", bm25=9.0), hit("b", 0.2, "heron", bm25=2.0))
    exports = Engine(hit("b", 1.0, "heron"), hit("a", 0.5, "heron"), hit("c", 0.33, "heron", "weir"))
    assert sorted(names_found(index, exports)) == ["a", "b", "c"]
    assert names_found(index, exports)[0] == "a"
    assert len(names_found(index, exports, limit=2)) == 2


def test_failing_qmd_is_left_out_and_unused_qmd_is_not_asked() -> None:
    index = Engine(hit("a", 0.9, "heron", bm25=9.0))
    assert names_found(index, Engine(hit("c", 1.0, "heron"), fails=True)) == ["a"]
    idle = Engine(hit("c", 1.0, "heron"), has_collection=False)
    assert names_found(index, idle) == ["a"]
    assert not idle.asked
    assert names_found(None, Engine(hit("c", 1.0, "heron"))) == ["c"]


def test_window_of_an_export_has_one_line_per_line(tmp_path: Path) -> None:
    export = tmp_path / "s1.session.md"
    messages = ["User: " + "x" * 70_000, MARK, "Assistant: tea", "User: cake"]
    export.write_text("\n".join([*["heading"] * HEADING_LINES, *messages]) + "\n")
    first, text = transcript_window(export, HEADING_LINES + 2)
    lines = text.split("\n")
    at = lines.index("User: cake")
    assert (first + at, len(lines[0])) == (HEADING_LINES + 3, 1 << 16)
    assert lines[at - 2 : at] == ["", "Assistant: tea"]
