"""The builtin search of one workspace: question → candidates → ranking → hits.

Both arms run concurrently under one deadline, and again if the answer needs more candidates.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Container, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import with_term_share
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches
from memoryd.domain.ranking.selection import DEPTH_FACTOR, NextStep, next_step
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import StoreError
from memoryd.index.pending import Spaces
from memoryd.search.arms import (
    EMBEDDING,
    ArmTimes,
    QuestionVector,
    RerankArm,
    VectorArm,
    candidate_files,
    lexical_matches,
    run_arm,
    shorten_question,
)
from memoryd.search.protocol import LEXICAL, RERANK, VECTOR, Arm, ArmState, Fallback, Query, SearchResult, empty_result
from memoryd.search.ranking import (
    DEEPEST,
    Ranked,
    Recipe,
    SearchSettings,
    Selected,
    commonness,
    rank_candidates,
    select,
)
from memoryd.search.vectors import VectorIndex
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

_RESERVE = 0.2
"""Share of the deadline reserved for merging and for reading rows."""
FIRST_ROWS = 24
"""Least number of rows to read at first; copies among them make further reads necessary."""
MAX_TRIES = 3
"""How often a query is repeated because a sync replaces the chunks that it finds."""

Matches = tuple[Arm, LexicalMatches | None]
"""State and matches of the lexical arm."""


class Candidates(Struct, frozen=True):
    """The ranked candidates and the states of the arms; `rows` are the rows read along with them."""

    arms: Mapping[str, Arm]
    ranking: Ranked
    may_have_more: bool
    """Whether an arm may have more candidates."""
    rows: Mapping[int, ChunkRow] = {}
    moment: tuple[int, int] = (0, 0)
    """The state of the index when they were read, as `BuiltinSearch.moment`."""


class _RankedRows(Struct, frozen=True):
    """The result of one read of the index."""

    ranking: Ranked
    rows: Mapping[int, ChunkRow] = {}


class CandidateSearch(Struct):
    """Asks both arms of an index one question, until `end` (monotonic clock). Call `first` before the other methods.

    `first_rows` returns the chunks whose rows are read along with the candidates.
    """

    index: "BuiltinSearch"
    query: Query
    recipe: Recipe
    admitted: CandidateFilter
    end: float
    first_rows: Callable[[Ranked], Sequence[int]] = lambda _ranking: ()
    has_added_others: bool = False
    _lexical: Matches = (Arm(ArmState.WAITING), None)
    _partial: _RankedRows | None = None
    """The ranking of a read that was late or failed after it."""
    _moment: tuple[int, int] = (0, 0)
    _embedded: tuple[Arm, QuestionVector | None] | None = None
    _near: tuple[Arm, VectorMatches | None] = (Arm(ArmState.WAITING), None)

    async def first(self) -> Candidates:
        """Return the candidates of both arms; without those of an arm that fails or is late. Raises StoreError."""
        index = self.index
        if (absence := index.vector_arm.absence) is not None:
            index.times.note(EMBEDDING, time.monotonic(), absence.state)
            self._embedded = self._near = absence, None
            # no vector to wait for: match and rank in a single read, since a switch to a thread costs as much as a read
            self._moment = index.moment
            arm, ranked_rows = await index.times.run_arm(LEXICAL, self._rank_by_words, self.end)
            if self._lexical[1] is None:
                self._lexical = arm, None
            return await self._candidates(ranked_rows or self._partial)
        await self._ask_both()
        return await self._candidates()

    async def with_others(self, dominant: RelativePath, count: int) -> Candidates:
        """Add the `count` best lexical matches outside the document that has too many places."""
        self.has_added_others = True
        arm, matches = self._lexical
        _, others = await self._by_words(count, replace(self.admitted, without_document=dominant))
        self._lexical = arm, (matches or LexicalMatches()).merge(others or LexicalMatches())
        return await self._candidates()

    async def deeper(self) -> Candidates:
        """Ask both arms for more candidates, and return all."""
        self.recipe = self.recipe.deeper
        await self._ask_both()
        return await self._candidates()

    async def _ask_both(self) -> None:
        # concurrently: both work without the interpreter lock most of the time
        self._lexical, self._near = await asyncio.gather(
            self._by_words(self.recipe.words, self.admitted), self._by_meaning()
        )

    async def _by_meaning(self) -> tuple[Arm, VectorMatches | None]:
        """Ask the vector arm; the question is embedded only once."""
        question, times, arm = self.query.question, self.index.times, self.index.vector_arm
        if self._embedded is None:
            self._embedded = await times.run_arm(EMBEDDING, lambda: arm.embed(question), self.end)
        state, vector = self._embedded
        if vector is None:
            return state, None
        return await times.run_arm(
            VECTOR, lambda: arm.matches(vector, question, self.recipe.vectors, self.admitted), self.end
        )

    async def _by_words(self, depth: int, admitted: CandidateFilter) -> Matches:
        async def ask() -> tuple[Arm, LexicalMatches]:
            return await self.index.database.read_snapshot(lambda reader: self._matches(reader, depth, admitted))

        return await self.index.times.run_arm(LEXICAL, ask, self.end)

    def _matches(self, reader: IndexReader, depth: int, admitted: CandidateFilter) -> tuple[Arm, LexicalMatches]:
        question, beside = self.query.question, self.recipe.beside
        if beside:
            question = replace(question, terms=tuple(dict.fromkeys([*question.terms, *beside])))
        return lexical_matches(reader, question, depth, admitted)

    async def _rank_by_words(self) -> tuple[Arm, _RankedRows]:
        def read(reader: IndexReader) -> tuple[Arm, _RankedRows]:
            # store the matches at once: the ranking may be late
            self._lexical = arm, matches = self._matches(reader, self.recipe.words, self.admitted)
            return arm, self._rank(reader, matches, VectorMatches())

        return await self.index.database.read_snapshot(read)

    async def _candidates(self, ranked_rows: _RankedRows | None = None) -> Candidates:
        """Merge and rank the matches of both arms, unless they are ranked already."""
        (lexical, matches), (vector, near) = self._lexical, self._near
        if self.recipe.prefers_vectors and vector.took_part:
            lexical, matches = Arm(ArmState.OFF, "query.hybrid.enabled is false"), None
        words, meaning = matches or LexicalMatches(), near or VectorMatches()
        may_have_more = len(words.bm25) >= self.recipe.words or len(meaning.cosines) >= self.recipe.vectors
        result = ranked_rows or await self._rank_in_time(words, meaning)
        return Candidates({LEXICAL: lexical, VECTOR: vector}, result.ranking, may_have_more, result.rows, self._moment)

    async def _rank_in_time(self, words: LexicalMatches, meaning: VectorMatches) -> _RankedRows:
        """Rank the matches of both arms; if the statistics fail or are late, without them, and so without verdicts."""
        database, evidence = self.index.database, Evidence(words, meaning)
        self._partial, self._moment = None, self.index.moment
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(max(0.0, self.end - time.monotonic())):
                return await database.read_snapshot(lambda reader: self._rank(reader, words, meaning))
        if self._partial is not None:
            return self._partial
        if self._has_exclusions:
            evidence = await database.read_snapshot(lambda reader: self._visible(reader, Evidence(words, meaning)))
        return _RankedRows(
            rank_candidates(evidence, self.recipe.base_scores(evidence), None, min_score=self.query.min_score)
        )

    def _rank(self, reader: IndexReader, words: LexicalMatches, meaning: VectorMatches) -> _RankedRows:
        evidence, question = self._visible(reader, Evidence(words, meaning)), self.query.question
        statistics = reader.statistics(
            question, list(evidence.chunks), commonness=commonness, uncounted=self.query.exclusions.chunks
        )
        evidence = with_term_share(evidence, statistics)
        ranking = rank_candidates(
            evidence, self.recipe.base_scores(evidence), statistics, min_score=self.query.min_score
        )
        self._partial = _RankedRows(ranking)
        return _RankedRows(ranking, reader.rows(wanted) if (wanted := self.first_rows(ranking)) else {})

    @property
    def _has_exclusions(self) -> bool:
        return bool(self.index.withdrawn) or not self.query.exclusions.is_empty

    def _visible(self, reader: IndexReader, evidence: Evidence) -> Evidence:
        """Leave out withdrawn and excluded chunks.

        Else they would affect the scores and verdicts of others, which would reveal that a deleted or private note
        matches.
        """
        exclusions, withdrawn = self.query.exclusions, self.index.withdrawn
        if not self._has_exclusions or not evidence.chunks:
            return evidence
        # a chunk replaced since has no path, and stays: when its row is missing, the search is repeated
        paths = reader.paths(evidence.chunks)
        hidden = {chunk for chunk, path in paths.items() if path in withdrawn or path in exclusions.paths}
        return evidence.only(evidence.chunks - hidden - exclusions.chunks)


class _ReplacedError(Exception):
    """A chunk that an arm found was replaced before its row was read."""


class BuiltinSearch:
    """Answers from the index of one workspace, without the `withdrawn` notes."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        slot: CurrentEmbedder,
        settings: SearchSettings,
        withdrawn: Container[str] = frozenset(),
        rerank: RerankArm | None = None,
    ) -> None:
        self.times = ArmTimes()
        self.database = database
        self.withdrawn = withdrawn
        self.settings = settings
        self.vector_arm = VectorArm(database=database, spaces=spaces, slot=slot, vector_bytes=settings.vector_bytes)
        """Shared by other searches of the same workspace, so that its vectors are in memory only once."""
        self._rerank = rerank
        self._slot = slot

    @property
    def vector_index(self) -> VectorIndex | None:
        """The vectors that the last question was compared with."""
        return self.vector_arm.latest

    @property
    def moment(self) -> tuple[int, int]:
        """The opening of the index file and its number of writes; while both are equal, its rows are unchanged."""
        return self.database.epoch, self.database.writes

    def forget_vectors(self) -> None:
        """Report that vectors were removed from the store."""
        self.vector_arm.forget()

    async def candidates(self, query: Query, recipe: Recipe, admitted: CandidateFilter, end: float) -> Candidates:
        """Return what both arms find until `end` (monotonic clock) among the admitted chunks; raises StoreError."""
        return await CandidateSearch(self, query, recipe, admitted, end).first()

    async def search(self, query: Query) -> SearchResult:
        """Return the best chunks; an arm that fails or is late is left out."""
        try:
            # repeat if a sync replaces a chunk before its row is read, so that no save hides a document for a moment
            for _ in range(MAX_TRIES - 1):
                with contextlib.suppress(_ReplacedError):
                    return await self._search(query, is_last=False)
            return await self._search(query, is_last=True)
        except StoreError as exc:
            return empty_result(query.question.terms, Arm(ArmState.FAILED, str(exc)))

    async def _search(self, query: Query, *, is_last: bool) -> SearchResult:
        """Search once. If a chunk was replaced since, raise _ReplacedError; with `is_last`, answer without it."""
        end = time.monotonic() + query.deadline * (1 - _RESERVE)
        if query.question.long is not None:
            _, reduced = await run_arm(lambda: shorten_question(self.database, query), end)
            query = query if reduced is None else replace(query, parsed=reduced)
        question, files = query.question, None
        if not question.filters.is_empty:
            arm, files = await run_arm(lambda: candidate_files(self.database, question), end)
            if files is None:
                return empty_result(question.terms, arm)
        # phrases are first matched by their words
        admitted = CandidateFilter(files, question.required, question.forbidden)
        recipe = self.settings.recipe(query.limit)
        search = CandidateSearch(
            self, query, recipe, admitted, end, lambda ranking: self._chunks_to_read(ranking, query.limit)
        )
        return await self._filled(query, search, end, is_last=is_last)

    async def _filled(self, query: Query, search: CandidateSearch, end: float, *, is_last: bool) -> SearchResult:
        """Select hits from the candidates, asking the arms for more until the answer is full or they are exhausted."""
        candidates = await search.first()
        count = self._rows_read_first(candidates.ranking, query.limit)
        while True:
            ranking = candidates.ranking
            selected = await self._selected(query, candidates, count, is_last=is_last)
            step = next_step(
                query.limit,
                hits=ranking.unbeaten(selected.hits[: selected.telling], count),
                has_room=selected.has_room,
                has_dominant=selected.dominant is not None,
                unread=ranking.unread(count, is_filled=len(selected.hits) >= query.limit),
                may_have_more=candidates.may_have_more,
                has_asked_others=search.has_added_others,
                is_deepest=search.recipe.words >= DEEPEST,
                is_late=time.monotonic() > end,
            )
            if step is NextStep.ANSWER:
                break
            if step is NextStep.READ_MORE:
                count *= DEPTH_FACTOR
                continue
            if step is NextStep.ASK_OTHERS and selected.dominant is not None:
                more = await search.with_others(selected.dominant, self.settings.pool(query.limit))
            else:
                more = await search.deeper()
            if time.monotonic() > end:
                # `more` may lack a late arm or the verdicts; the earlier candidates are complete
                break
            candidates = more
            count = self._rows_read_first(candidates.ranking, query.limit)
        arms = candidates.arms
        if self._rerank is not None:
            began = time.monotonic()
            first = [*ranking.telling, *ranking.noise][: self._rerank.candidates]
            rows = await self._rows(query, first, candidates, is_last=True)
            arm, ranking = await self._rerank.rerank(query.question, ranking, rows, end)
            self.times.note(RERANK, began, arm.state)
            arms = {**arms, RERANK: arm}
            if ranking.readings:
                candidates = replace(candidates, ranking=ranking)
                selected = await self._selected(query, candidates, max(count, self._rerank.candidates), is_last=is_last)
        fallback_in_use = self._slot.fallback_in_use
        return SearchResult(
            hits=selected.hits,
            misses=selected.misses,
            arms=arms,
            terms=query.question.terms,
            fallback=None
            if fallback_in_use is None
            else Fallback(fallback_in_use.failed, fallback_in_use.reason, fallback_in_use.since),
            floors=ranking.floors,
            language=query.question.language,
        )

    def _rows_read_first(self, ranking: Ranked, limit: int) -> int:
        """Return how many rows to read first; all candidates but noise if a rule may move the last one to the top."""
        default = max(FIRST_ROWS, 2 * limit, self.settings.pool(limit))
        return max(default, len(ranking.telling)) if self.settings.may_reorder else default

    def _chunks_to_read(self, ranking: Ranked, limit: int, count: int | None = None) -> list[int]:
        """Return the chunks to read: the best `count` candidates (None: the first ones), and the best refused ones."""
        count = self._rows_read_first(ranking, limit) if count is None else count
        return [*[*ranking.telling, *ranking.noise][:count], *ranking.refused[:limit]]

    async def _selected(self, query: Query, candidates: Candidates, count: int, *, is_last: bool) -> Selected:
        """Read the best `count` candidates and the best refused ones, and select hits from them."""
        ranking = candidates.ranking
        rows = await self._rows(query, self._chunks_to_read(ranking, query.limit, count), candidates, is_last=is_last)
        return select(
            [ranking.hit(row) for row in rows.values()],
            query.limit,
            settings=self.settings,
            min_score=query.min_score,
            floors=ranking.floors,
            now=query.now,
        )

    async def _rows(
        self, query: Query, chunks: Sequence[int], candidates: Candidates, *, is_last: bool
    ) -> dict[int, ChunkRow]:
        """Return the rows of these chunks in order, without withdrawn and excluded ones."""
        # rows read with the candidates are valid only if nothing was written since: a row may have been deleted
        known = candidates.rows if candidates.moment == self.moment else {}
        unread = [chunk for chunk in chunks if chunk not in known]
        rows = {**known, **await self.database.documents.chunks(unread)} if unread else known
        present = {chunk: rows[chunk] for chunk in chunks if chunk in rows}
        if len(present) < len(chunks) and not is_last:
            raise _ReplacedError
        # some may have been withdrawn since the arms found them
        withdrawn, exclusions = self.withdrawn, query.exclusions
        return {chunk: row for chunk, row in present.items() if row.path not in withdrawn and not exclusions.holds(row)}
