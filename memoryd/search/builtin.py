"""The builtin search of one workspace: words and vectors side by side under one deadline, merged by `domain.fusion`."""

import asyncio
import contextlib
import time
from collections.abc import Container
from concurrent.futures import Executor
from dataclasses import dataclass, field

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.floors import TermStatistics
from memoryd.domain.ranking.fusion import Evidence, Weights, relative, weighted
from memoryd.domain.ranking.questions import Question
from memoryd.embed.slot import EmbedderSlot
from memoryd.errors import StoreError
from memoryd.index.spaces import Spaces
from memoryd.search.arms import DEEPER, LEXICAL, VECTOR, Arms, Embedded, Near, Spoken, guarded
from memoryd.search.judging import floors, judge, ranks, scored
from memoryd.search.query import Arm, ArmState, Fallback, Floors, Found, Query
from memoryd.search.selection import Bar, Selected, Steps, select
from memoryd.search.vector_index import VectorIndex
from memoryd.store.database import Database
from memoryd.store.word_rows import CandidateFilter

_RESERVE = 0.2
"""Share of the deadline kept for merging and reading the rows."""
FIRST_LOOK = 24
"""Rows that are read before copies are known to fill them."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the arms are asked and merged; `depth` is how many candidates each arm gives.

    `weighted` asks for as many as its reference; `relative` is best with no fewer than `min_depth`. Without
    `is_hybrid` words answer only where vectors cannot. A half-life and a λ of None turn decay and MMR off.
    `vector_bytes` is what the vectors of a space may take in memory.
    """

    is_hybrid: bool = True
    fusion: str = "relative"
    weights: Weights = field(default_factory=Weights)
    multiplier: int = 4
    min_depth: int = 100
    max_depth: int = 400
    deepest: int = 6400
    half_life_days: float | None = None
    mmr_lambda: float | None = None
    vector_bytes: int = 256 * 2**20

    def depth(self, limit: int) -> int:
        least = 1 if self.fusion == "weighted" else self.min_depth
        return min(self.max_depth, max(least, limit * self.multiplier))

    def steps(self, limit: int) -> Steps:
        return Steps(self.half_life_days, self.mmr_lambda, limit * self.multiplier)


MAX_TRIES = 3
"""How often a question is asked while a sync replaces what it finds."""


class _ReplacedError(Exception):
    """A chunk that an arm found was gone when its row was to be read."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question on its way: its vector, and when its arms must be done (monotonic clock)."""

    query: Query
    question: Question
    admitted: CandidateFilter
    embedding: tuple[Arm, Embedded | None]
    end: float
    is_last: bool
    """Whether to answer without a chunk that a sync has just replaced, rather than to ask again."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What both arms said."""

    arms: dict[str, Arm]
    evidence: Evidence
    vectors: int
    is_full: bool
    """Whether an arm had more to say."""


@dataclass(frozen=True, slots=True)
class _Merged:
    """The evidence, one score a chunk, and what the scores are held against."""

    evidence: Evidence
    fused: dict[int, float]
    statistics: TermStatistics | None
    held: Floors | None

    def admits(self, chunk: int, bar: Bar) -> bool:
        """Tell whether a chunk may stand in the answer, before it is read."""
        is_literal = chunk in self.evidence.words or (self.statistics is not None and chunk in self.statistics.terms)
        return is_literal or bar.admits(self.fused[chunk], self.evidence.cosines.get(chunk))


class BuiltinSearch:
    """Answers from the index of one workspace."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        executor: Executor,
        slot: EmbedderSlot,
        settings: SearchSettings,
        withdrawn: Container[str] = frozenset(),
    ) -> None:
        self._database = database
        self._withdrawn = withdrawn
        """The notes that nobody may be told of."""
        self._slot = slot
        self._settings = settings
        self._arms = Arms(
            database=database, spaces=spaces, executor=executor, slot=slot, vector_bytes=settings.vector_bytes
        )

    @property
    def vector_index(self) -> VectorIndex | None:
        """The vectors that the last question was asked of."""
        return self._arms.vector_index

    def forget_vectors(self) -> None:
        """Say that vectors were removed from the store."""
        self._arms.forget_vectors()

    async def search(self, query: Query) -> Found:
        """Return the best chunks; an arm that fails or is late costs its part, never the answer."""
        try:
            return await self._steadily(query)
        except StoreError as exc:
            arm = Arm(ArmState.FAILED, str(exc))
            return Found((), (), {LEXICAL: arm, VECTOR: arm}, query.question.terms)

    async def _steadily(self, query: Query) -> Found:
        """Ask again while a sync replaces what was just found, so that no save hides a document for a moment."""
        for _ in range(MAX_TRIES - 1):
            with contextlib.suppress(_ReplacedError):
                return await self._search(query, is_last=False)
        return await self._search(query, is_last=True)

    async def _search(self, query: Query, *, is_last: bool) -> Found:
        end = time.monotonic() + query.deadline * (1 - _RESERVE)
        question = query.question
        arm, admitted = await guarded(self._arms.admitted(question), end)
        if admitted is None:
            return Found((), (), {LEXICAL: arm, VECTOR: arm}, question.terms)
        depth = self._settings.depth(query.limit)
        lexical, embedding = await asyncio.gather(
            guarded(self._arms.lexical(question, depth, admitted), end), guarded(self._arms.embedded(question), end)
        )
        asked = _Asked(query, question, admitted, embedding, end, is_last)
        crowd: RelativePath | None = None
        while True:
            heard = await self._heard(asked, lexical, depth)
            found, selected = await self._found(asked, heard)
            if not heard.is_full or time.monotonic() > end:
                return found
            if selected.crowd is not None and crowd is None:
                crowd = selected.crowd
                lexical = await self._joined(asked, lexical, crowd)
            elif selected.has_room and depth < self._settings.deepest:
                depth *= DEEPER
                lexical = await guarded(self._arms.lexical(question, depth, admitted), end)
            else:
                return found

    async def _joined(
        self, asked: _Asked, lexical: tuple[Arm, Spoken | None], crowd: RelativePath
    ) -> tuple[Arm, Spoken | None]:
        """Add the best words of other documents to those of one that has all the candidates."""
        arm, words = lexical
        wanted = self._settings.multiplier * asked.query.limit
        _, others = await guarded(self._arms.lexical(asked.question, wanted, asked.admitted, crowd), asked.end)
        return arm, (words or Spoken()).joined(others or Spoken())

    async def _heard(self, asked: _Asked, lexical: tuple[Arm, Spoken | None], depth: int) -> _Heard:
        vector, embedded = asked.embedding
        near: Near | None = None
        if embedded is not None:
            vector, near = await guarded(self._arms.near(embedded, asked.question, depth, asked.admitted), asked.end)
        near = near or Near()
        arm, words = lexical
        if not self._settings.is_hybrid and vector.took_part:
            arm, words = Arm(ArmState.OFF, "query.hybrid.enabled is false"), Spoken()
        words = words or Spoken()
        evidence = Evidence(words.scores, near.cosines, near.noise, words.levels)
        is_full = len(evidence.words) >= depth or len(evidence.cosines) >= depth
        return _Heard({LEXICAL: arm, VECTOR: vector}, evidence, near.vectors, is_full)

    async def _found(self, asked: _Asked, heard: _Heard) -> tuple[Found, Selected]:
        merge = weighted if self._settings.fusion == "weighted" else relative
        fused = merge(heard.evidence, self._settings.weights)
        statistics = await self._statistics(asked, list(fused))
        held = None if statistics is None else floors(heard.evidence, heard.vectors, statistics)
        selected = await self._selected(asked, _Merged(heard.evidence, fused, statistics, held))
        verdict, reason = (None, "") if held is None else judge(selected.hits, selected.misses, held)
        stand_in = self._slot.stand_in
        found = Found(
            hits=selected.hits,
            misses=selected.misses,
            arms=heard.arms,
            terms=asked.question.terms,
            fallback=None if stand_in is None else Fallback(stand_in.left, stand_in.reason, stand_in.since),
            verdict=verdict,
            reason=reason,
            floors=held,
        )
        return found, selected

    async def _statistics(self, asked: _Asked, chunks: list[int]) -> TermStatistics | None:
        """Find which terms stand where; None if that takes too long or fails."""
        try:
            async with asyncio.timeout(max(0.0, asked.end - time.monotonic())):
                return await self._arms.statistics(asked.question, chunks)
        except (TimeoutError, StoreError):
            return None

    async def _selected(self, asked: _Asked, merged: _Merged) -> Selected:
        """Read rows until enough are no copies, nor alike, nor of one document; every one where decay may reorder."""
        limit, held = asked.query.limit, merged.held
        steps = self._settings.steps(limit)
        bar = Bar(asked.query.min_score, held.vector_floor if held else float("-inf"), merged.evidence.noise)
        # the latest of equals comes first, so that of many copies the newest is among those that are looked at
        order = sorted(merged.fused, key=lambda chunk: (-merged.fused[chunk], -chunk))
        places = ranks(merged.evidence, order)
        admitted = [chunk for chunk in order if merged.admits(chunk, bar)]
        refused = [chunk for chunk in order if not merged.admits(chunk, bar)][:limit]
        reach = len(admitted) if steps.half_life_days is not None else max(FIRST_LOOK, 2 * limit, steps.pool)
        while True:
            wanted = admitted[:reach] + refused
            rows = await self._database.documents.chunks(wanted)
            if len(rows) < len(set(wanted)) and not asked.is_last:
                raise _ReplacedError
            known = [rows[chunk] for chunk in wanted if chunk in rows and rows[chunk].path not in self._withdrawn]
            candidates = [
                scored(row, merged.fused[row.id], merged.evidence, places, merged.statistics) for row in known
            ]
            selected = select(candidates, limit, steps=steps, bar=bar, now=asked.query.now)
            is_enough = len(selected.hits) >= limit and selected.crowd is None and not selected.has_room
            if is_enough or reach >= len(admitted):
                return selected
            reach *= DEEPER
