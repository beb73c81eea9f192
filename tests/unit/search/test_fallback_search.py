"""Recent changes found by the builtin index are merged into the hits of a slower engine."""

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
class FixedEngine:
    """An engine with fixed hits and a fixed set of documents that are new to it."""

    hits: tuple[Hit, ...]
    new: frozenset[str] = frozenset()

    async def search(self, query: Query) -> SearchResult:
        return SearchResult(self.hits[: query.limit], (), ARMS, (), as_of=1.0)

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        return set(self.new) & set(paths)


async def paths_found(known: Sequence[Hit], recent: Sequence[Hit], new: Sequence[str], limit: int = 6) -> list[str]:
    first, second = FixedEngine(tuple(known), frozenset(new)), FixedEngine(tuple(recent))
    found = await FallbackSearch(first=first, second=second, recent=second, name="qmd").search(Query("x", limit))
    return [hit.chunk.path for hit in found.hits]


async def test_changed_note_keeps_the_rank_of_the_builtin_index() -> None:
    recent = [hit("new.md", Verdict.WEAK), hit("a.md", Verdict.WEAK)]
    assert await paths_found([hit("a.md"), hit("b.md")], recent, ["new.md"]) == ["new.md", "a.md", "b.md"]


async def test_changed_note_that_is_noise_comes_last() -> None:
    known = [hit("a.md"), hit("b.md")]
    recent = [hit("new.md", Verdict.NONE), hit("newer.md", Verdict.NONE)]
    assert await paths_found(known, recent, ["new.md", "newer.md"]) == ["a.md", "b.md", "new.md", "newer.md"]
    assert await paths_found(known, recent, ["new.md", "newer.md"], limit=2) == ["a.md", "b.md"]
    assert await paths_found([], recent, ["new.md", "newer.md"]) == ["new.md", "newer.md"]


async def test_known_note_that_became_noise_moves_to_the_end() -> None:
    assert await paths_found([hit("a.md"), hit("b.md")], [hit("a.md", Verdict.NONE)], ["a.md"]) == ["b.md", "a.md"]
