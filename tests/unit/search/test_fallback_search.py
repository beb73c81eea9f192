"""What the builtin index knows of the latest changes, among the hits of an engine that learns of them late."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.calibration import Verdict
from memoryd.search.combined import FallbackSearch
from memoryd.search.hits import Hit
from memoryd.search.protocol import LEXICAL, VECTOR, Arm, ArmState, Query, SearchResult
from memoryd.store.index.passages import ChunkRow

ARMS = {LEXICAL: Arm(ArmState.OK), VECTOR: Arm(ArmState.OK)}


def hit(path: str, verdict: Verdict | None = None) -> Hit:
    row = ChunkRow(1, RelativePath(path), Source.MEMORY, 1, 2, "", path)
    return Hit(chunk=row, base_score=0.5, score=0.5, verdict=verdict)


@dataclass(frozen=True)
class Shelf:
    """An engine that knows its hits by heart, and which documents are new to it."""

    hits: tuple[Hit, ...]
    new: frozenset[str] = frozenset()

    async def search(self, query: Query) -> SearchResult:
        return SearchResult(self.hits[: query.limit], (), ARMS, (), as_of=1.0)

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        return set(self.new) & set(paths)


async def told(known: Sequence[Hit], recent: Sequence[Hit], new: Sequence[str], limit: int = 6) -> list[str]:
    first, second = Shelf(tuple(known), frozenset(new)), Shelf(tuple(recent))
    found = await FallbackSearch(first=first, second=second, recent=second, name="qmd").search(Query("x", limit))
    return [one.chunk.path for one in found.hits]


async def test_changed_note_stands_where_the_other_engine_ranks_it() -> None:
    recent = [hit("new.md", Verdict.WEAK), hit("a.md", Verdict.WEAK)]
    assert await told([hit("a.md"), hit("b.md")], recent, ["new.md"]) == ["new.md", "a.md", "b.md"]


async def test_noise_of_a_changed_note_stands_behind_all_that_was_found() -> None:
    known = [hit("a.md"), hit("b.md")]
    recent = [hit("new.md", Verdict.NONE), hit("newer.md", Verdict.NONE)]
    assert await told(known, recent, ["new.md", "newer.md"]) == ["a.md", "b.md", "new.md", "newer.md"]
    assert await told(known, recent, ["new.md", "newer.md"], limit=2) == ["a.md", "b.md"]
    assert await told([], recent, ["new.md", "newer.md"]) == ["new.md", "newer.md"]


async def test_note_that_was_known_and_is_noise_now_loses_its_old_place() -> None:
    assert await told([hit("a.md"), hit("b.md")], [hit("a.md", Verdict.NONE)], ["a.md"]) == ["b.md", "a.md"]
