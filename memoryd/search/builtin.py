"""The builtin search of one workspace: question → candidates → ranked → hits.

Both arms run side by side under one deadline, and again where the answer needs more candidates.
"""

import asyncio
import contextlib
import time
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import Executor

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import TermStatistics
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches
from memoryd.domain.ranking.selection import DEEPER, NextStep, next_step
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import StoreError
from memoryd.index.pending import Spaces
from memoryd.search.arms import (
    EMBEDDING,
    ArmTimes,
    QuestionVector,
    RerankArm,
    VectorArm,
    candidate_filter,
    guarded,
    lexical_matches,
    weighed_question,
)
from memoryd.search.protocol import LEXICAL, RERANK, VECTOR, Arm, ArmState, Fallback, Found, Query, nothing_found
from memoryd.search.ranking import Ranked, Recipe, SearchSettings, Selected, commonness, ranked, select
from memoryd.search.vectors import VectorIndex
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

_RESERVE = 0.2
"""Share of the deadline kept for merging and reading the rows."""
FIRST_ROWS = 24
"""Rows that are read before copies are known to fill them."""
MAX_TRIES = 3
"""How often a question is asked while a sync replaces what it finds."""


NOT_ASKED = Arm(ArmState.WAITING), None


class Candidates(Struct, frozen=True):
    """What the arms found, ranked, and how each took part."""

    arms: Mapping[str, Arm]
    ranking: Ranked
    is_full: bool
    """Whether an arm had more to give."""


class CandidateSearch(Struct):
    """Puts one question to both arms of an index, which have until `end` (monotonic clock). `first` comes first."""

    index: "BuiltinSearch"
    query: Query
    recipe: Recipe
    admitted: CandidateFilter
    end: float
    has_asked_others: bool = False
    _lexical: tuple[Arm, LexicalMatches | None] = NOT_ASKED
    _embedded: tuple[Arm, QuestionVector | None] = NOT_ASKED

    async def first(self) -> Candidates:
        """Return what both arms find; one that fails or is late costs its part. Raises StoreError."""
        question, index = self.query.question, self.index
        self._lexical, self._embedded = await asyncio.gather(
            self._by_words(self.recipe.words, self.admitted),
            index.times.guarded(EMBEDDING, lambda: index.vector_arm.embedded(question), self.end),
        )
        return await self._candidates()

    async def with_others(self, dominant: RelativePath, wanted: int) -> Candidates:
        """Add the `wanted` best words of other documents to those of one that has too many places."""
        self.has_asked_others = True
        arm, found = self._lexical
        _, others = await self._by_words(wanted, replace(self.admitted, without=dominant))
        self._lexical = arm, (found or LexicalMatches()).joined(others or LexicalMatches())
        return await self._candidates()

    async def deeper(self) -> Candidates:
        """Return what both arms find when they are asked for more."""
        self.recipe = self.recipe.deeper
        self._lexical = await self._by_words(self.recipe.words, self.admitted)
        return await self._candidates()

    async def _by_words(self, depth: int, admitted: CandidateFilter) -> tuple[Arm, LexicalMatches | None]:
        question, database = self.query.question, self.index.database
        if self.recipe.beside:
            question = replace(question, terms=tuple(dict.fromkeys([*question.terms, *self.recipe.beside])))
        return await self.index.times.guarded(
            LEXICAL, lambda: lexical_matches(database, question, depth, admitted), self.end
        )

    async def _candidates(self) -> Candidates:
        """Ask the vector arm, whose vector of the question is made once, and put both together."""
        vector, embedded = self._embedded
        near: VectorMatches | None = None
        if embedded is not None:
            asked, question, arm = embedded, self.query.question, self.index.vector_arm
            vector, near = await self.index.times.guarded(
                VECTOR, lambda: arm.matches(asked, question, self.recipe.vectors, self.admitted), self.end
            )
        lexical, found = self._lexical
        if self.recipe.prefers_vectors and vector.took_part:
            lexical, found = Arm(ArmState.OFF, "query.hybrid.enabled is false"), None
        words, meaning = found or LexicalMatches(), near or VectorMatches()
        is_full = len(words.bm25) >= self.recipe.words or len(meaning.cosines) >= self.recipe.vectors
        ranking = await self._ranked(await self._tellable(Evidence(words, meaning)))
        return Candidates({LEXICAL: lexical, VECTOR: vector}, ranking, is_full)

    async def _tellable(self, evidence: Evidence) -> Evidence:
        """Leave out what an answer is not to tell.

        It would else move the scores of others and be what the answer is judged by: a note that is gone or private
        would tell that it matches.
        """
        exclusions, withdrawn = self.query.exclusions, self.index.withdrawn
        if exclusions.is_empty and not withdrawn:
            return evidence
        paths = await self.index.database.documents.paths(list(evidence.chunks))
        # what was replaced meanwhile has no path, and stays: whoever misses its row asks again
        hidden = {chunk for chunk, path in paths.items() if path in withdrawn or path in exclusions.paths}
        return evidence.only(evidence.chunks - hidden - exclusions.chunks)

    async def _ranked(self, evidence: Evidence) -> Ranked:
        base_scores, question = self.recipe.base_scores(evidence), self.query.question
        statistics: TermStatistics | None = None
        # without them there is an answer all the same, which nobody judges
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(max(0.0, self.end - time.monotonic())):
                statistics = await self.index.database.words.statistics(
                    question.terms,
                    list(base_scores),
                    question.dates,
                    commonness=commonness,
                    uncounted=self.query.exclusions.chunks,
                )
        return ranked(evidence, base_scores, statistics, min_score=self.query.min_score)


class _ReplacedError(Exception):
    """A chunk that an arm found was gone when its row was to be read."""


class BuiltinSearch:
    """Answers from the index of one workspace; `withdrawn` are the notes that nobody may be told of."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        executor: Executor,
        slot: CurrentEmbedder,
        settings: SearchSettings,
        withdrawn: Container[str] = frozenset(),
        rerank: RerankArm | None = None,
    ) -> None:
        self.times = ArmTimes()
        self.database = database
        self.withdrawn = withdrawn
        self.settings = settings
        self.vector_arm = VectorArm(
            database=database, spaces=spaces, executor=executor, slot=slot, vector_bytes=settings.vector_bytes
        )
        """Whoever asks more of the same workspace shares its vectors in memory."""
        self._rerank = rerank
        self._slot = slot

    @property
    def vector_index(self) -> VectorIndex | None:
        """The vectors that the last question was asked of."""
        return self.vector_arm.latest

    def forget_vectors(self) -> None:
        """Say that vectors were removed from the store."""
        self.vector_arm.forget()

    async def candidates(self, query: Query, recipe: Recipe, admitted: CandidateFilter, end: float) -> Candidates:
        """Return what both arms find until `end` (monotonic clock) among the chunks admitted; raises StoreError."""
        return await CandidateSearch(self, query, recipe, admitted, end).first()

    async def search(self, query: Query) -> Found:
        """Return the best chunks; an arm that fails or is late costs its part, never the answer."""
        try:
            # a sync may replace a chunk between the arms and the reading of its row: asked again, so that no save
            # hides a document for a moment
            for _ in range(MAX_TRIES - 1):
                with contextlib.suppress(_ReplacedError):
                    return await self._search(query, is_last=False)
            return await self._search(query, is_last=True)
        except StoreError as exc:
            return nothing_found(query.question.terms, Arm(ArmState.FAILED, str(exc)))

    async def _search(self, query: Query, *, is_last: bool) -> Found:
        """Search once; `is_last` answers without a chunk that was replaced meanwhile, rather than to ask again."""
        end = time.monotonic() + query.deadline * (1 - _RESERVE)
        _, weighed = await guarded(lambda: weighed_question(self.database, query), end)
        query = query if weighed is None else replace(query, asked=weighed)
        arm, admitted = await guarded(lambda: candidate_filter(self.database, query.question), end)
        if admitted is None:
            return nothing_found(query.question.terms, arm)
        search = CandidateSearch(self, query, self.settings.recipe(query.limit), admitted, end)
        return await self._filled(query, search, end, is_last=is_last)

    async def _filled(self, query: Query, search: CandidateSearch, end: float, *, is_last: bool) -> Found:
        """Look at what the arms give, and ask them again, until the answer is filled or nothing more is to be had."""
        candidates = await search.first()
        count = self._rows_read_first(candidates.ranking, query.limit)
        while True:
            ranking = candidates.ranking
            selected = await self._selected(query, ranking, count, is_last=is_last)
            step = next_step(
                query.limit,
                hits=selected.telling,
                has_room=selected.has_room,
                has_dominant=selected.dominant is not None,
                unread=ranking.unread(count, is_filled=len(selected.hits) >= query.limit),
                is_full=candidates.is_full,
                has_asked_others=search.has_asked_others,
                is_deepest=search.recipe.words >= self.settings.deepest,
                is_late=time.monotonic() > end,
            )
            if step is NextStep.ANSWER:
                break
            if step is NextStep.READ_MORE:
                count *= DEEPER
                continue
            if step is NextStep.ASK_OTHERS and selected.dominant is not None:
                candidates = await search.with_others(selected.dominant, self.settings.pool(query.limit))
            else:
                candidates = await search.deeper()
            count = self._rows_read_first(candidates.ranking, query.limit)
        arms = candidates.arms
        if self._rerank is not None:
            begun = time.monotonic()
            rows = await self._rows(query, [*ranking.telling, *ranking.noise][: self._rerank.candidates], is_last=True)
            arm, ranking = await self._rerank.reranked(query.question, ranking, rows, end)
            self.times.note(RERANK, begun, arm.state)
            arms = {**arms, RERANK: arm}
            if ranking.readings:
                selected = await self._selected(query, ranking, max(count, self._rerank.candidates), is_last=is_last)
        fallback_in_use = self._slot.fallback_in_use
        return Found(
            hits=selected.hits,
            misses=selected.misses,
            arms=arms,
            terms=query.question.terms,
            fallback=None
            if fallback_in_use is None
            else Fallback(fallback_in_use.failed, fallback_in_use.reason, fallback_in_use.since),
            floors=ranking.floors,
        )

    def _rows_read_first(self, ranking: Ranked, limit: int) -> int:
        """Return how many rows are read first: all that tell something where a rule may put the last one first."""
        default = max(FIRST_ROWS, 2 * limit, self.settings.pool(limit))
        return max(default, len(ranking.telling)) if self.settings.may_reorder else default

    async def _selected(self, query: Query, ranking: Ranked, count: int, *, is_last: bool) -> Selected:
        """Read the best `count` that may stand in the answer, and the best that may not, and choose from them."""
        wanted = [*[*ranking.telling, *ranking.noise][:count], *ranking.refused[: query.limit]]
        rows = await self._rows(query, wanted, is_last=is_last)
        return select(
            [ranking.hit(row) for row in rows.values()],
            query.limit,
            settings=self.settings,
            min_score=query.min_score,
            floors=ranking.floors,
            now=query.now,
        )

    async def _rows(self, query: Query, wanted: Sequence[int], *, is_last: bool) -> dict[int, ChunkRow]:
        """Return these chunks in their order, as far as an answer may tell of them."""
        rows = await self.database.documents.chunks(wanted)
        if len(rows) < len(wanted) and not is_last:
            raise _ReplacedError
        found = ((chunk, rows[chunk]) for chunk in wanted if chunk in rows)
        # some may have been withdrawn since the arms found them
        return {
            chunk: row for chunk, row in found if row.path not in self.withdrawn and not query.exclusions.holds(row)
        }
