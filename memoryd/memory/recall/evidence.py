"""Question → evidence and its passages: words and meaning over all eligible chunks, under one deadline."""

import asyncio
import contextlib
import time
from collections.abc import Collection, Container, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.recall_filters import AskedFor
from memoryd.domain.memories.recall_order import SPAN_LIFT, Lifts, Placed, verdict_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.calibration import TermStatistics, Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches
from memoryd.domain.text.words import query_terms
from memoryd.errors import StoreError
from memoryd.memory.recall.query import RecalledPassage, RecallQuery, RecallSettings
from memoryd.search.arms import EMBEDDING, ArmTimes, VectorArm, lexical_matches
from memoryd.search.hits import Hit
from memoryd.search.protocol import LEXICAL, VECTOR, Arm
from memoryd.search.ranking import Ranked, commonness, ranked
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter


class FoundEvidence(Struct, frozen=True):
    """What words and meaning found, ranked, and how each took part."""

    arms: dict[str, Arm]
    ranking: Ranked


class EvidenceSearch:
    """Asks both arms of one workspace; `withdrawn` are the notes that nobody may be told of."""

    def __init__(
        self,
        *,
        database: Database,
        vector_arm: VectorArm,
        settings: RecallSettings,
        withdrawn: Container[str],
        times: ArmTimes,
    ) -> None:
        self._database = database
        self._vector_arm = vector_arm
        self._settings = settings
        self._withdrawn = withdrawn
        self._times = times

    async def found(
        self,
        query: RecallQuery,
        admitted: CandidateFilter,
        end: float,
        *,
        uncounted: Collection[int] = (),
        beside: Collection[str] = (),
    ) -> FoundEvidence:
        """Return what both arms find until `end` (monotonic clock); one that fails or is late costs its part.

        Chunks that are `uncounted` say nothing of how common a word is. Words that are `beside` the question find, too.
        """
        (lexical, words), (vector, near) = await asyncio.gather(
            self._times.guarded(LEXICAL, lambda: self._by_words(query, admitted, beside), end),
            self._by_meaning(query, admitted, end),
        )
        evidence = Evidence(words or LexicalMatches(), near or VectorMatches())
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                evidence = await self._tellable(query, evidence)
                statistics = await self._statistics(query, evidence, uncounted)
                return FoundEvidence({LEXICAL: lexical, VECTOR: vector}, self._ranked(evidence, statistics))
        # what cannot be told from what is withdrawn is not told
        return FoundEvidence({LEXICAL: lexical, VECTOR: vector}, self._ranked(Evidence(), None))

    async def _by_words(
        self, query: RecallQuery, admitted: CandidateFilter, beside: Collection[str]
    ) -> tuple[Arm, LexicalMatches]:
        depth, question = self._settings.lexical_depth(query.limit), query.question
        if beside:
            terms = dict.fromkeys([*question.terms, *query_terms(" ".join(beside))])
            question = replace(question, terms=tuple(terms))
        return await lexical_matches(self._database, question, depth, admitted)

    async def _by_meaning(
        self, query: RecallQuery, admitted: CandidateFilter, end: float
    ) -> tuple[Arm, VectorMatches | None]:
        arm, asked = await self._times.guarded(EMBEDDING, lambda: self._vector_arm.embedded(query.question), end)
        if asked is None:
            return arm, None
        depth = self._settings.vector_depth(query.limit)
        return await self._times.guarded(
            VECTOR, lambda: self._vector_arm.matches(asked, query.question, depth, admitted), end
        )

    async def _tellable(self, query: RecallQuery, evidence: Evidence) -> Evidence:
        """Leave out what an answer is not to tell: it would else move the scores of others."""
        untold = query.untold
        if untold.is_empty and not self._withdrawn:
            return evidence
        paths = await self._database.documents.paths(list(evidence.chunks))
        hidden = {chunk for chunk, path in paths.items() if path in self._withdrawn or path in untold.paths}
        return evidence.only(evidence.chunks - hidden - untold.chunks)

    async def _statistics(self, query: RecallQuery, evidence: Evidence, uncounted: Collection[int]) -> TermStatistics:
        asked = query.question
        return await self._database.words.statistics(
            asked.terms, list(evidence.chunks), asked.dates, commonness=commonness, uncounted=uncounted
        )

    def _ranked(self, evidence: Evidence, statistics: TermStatistics | None) -> Ranked:
        return ranked(evidence, self._settings.base_scores(evidence), statistics, min_score=0.0)


def placed_passage(hit: Hit, asking: AskedFor) -> RecalledPassage:
    """Return a passage with what it is worth; the day of its document may lift it."""
    day = date_in_name(hit.chunk.path)
    lifts = {Lifts.TEMPORAL: SPAN_LIFT} if _is_inside(day, asking.span) else {}
    verdict = hit.verdict or Verdict.WEAK
    return RecalledPassage(
        hit,
        Placed(
            base_score=hit.score,
            lifts=lifts,
            verdict=verdict_of(verdict, lifts, asking),
            is_noise=hit.is_noise,
            day=day,
        ),
    )


def says_something(hit: Hit) -> bool:
    """Tell whether a passage has more than headings: of a page that reflect wrote they alone are text."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in hit.chunk.text.split("\n"))


def is_on(hit: Hit, places: Sequence[tuple[str, int, int]]) -> bool:
    """Tell whether what answers best of a passage lies on one of these lines (path, first, last) of memories."""
    focus = hit.snippet.focus
    first = focus.lines.start_line if focus else hit.chunk.start_line
    last = focus.lines.end_line if focus else hit.chunk.end_line
    return any(path == hit.chunk.path and first <= end and start <= last for path, start, end in places)


def _is_inside(day: date | None, span: DaySpan | None) -> bool:
    return day is not None and span is not None and span.first <= day <= span.last
