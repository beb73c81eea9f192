"""What is found → answer: what to think of it, with cited snippets, and why it is empty if it is."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memoryd.domain.documents import Source
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.domain.ranking.questions import Question
from memoryd.search.backend import LEXICAL, VECTOR, Arm, Engine, Fallback, Found, Query, SearchBackend
from memoryd.search.emptiness import Freshness, why_empty, why_untold, with_pending
from memoryd.search.hit import Hit, best_verdict
from memoryd.search.telling import told, told_within
from memoryd.search.verdicts import LEADING, judged, why_no_better

AnswerMode = Literal["hybrid", "lexical", "vector", "none"]
"""Which arms took part."""


CatchUp = Callable[[float], Awaitable[int]]
"""Has the index follow what changed on disk, within so many seconds; returns how many files it may lack then."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, which arms took part, and what to think of it."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    mode: AnswerMode
    verdict: Verdict
    reason: str | None
    arms: Mapping[str, Arm]
    freshness: Freshness
    engine: Engine
    fallback: Fallback | None
    took_ms: float
    question: Question
    floors: Floors | None
    """What the evidence of notes was held against; None where nobody judges it, or notes were not asked."""
    conversation_floors: Floors | None = None
    """The same of conversations."""

    def floors_of(self, source: Source) -> Floors | None:
        """Return what the evidence of hits of a source was held against."""
        return self.conversation_floors if source is Source.SESSIONS else self.floors

    @property
    def is_complete(self) -> bool:
        """Whether every arm that is switched on took part in full and nothing was pending."""
        return not self.freshness.pending_files and all(arm.is_as_configured for arm in self.arms.values())


class SearchService:
    """Answers for one workspace; `on_search` is told of each question, so that a sync may be scheduled.

    `catch_up` is waited for first, `fresh_seconds` at the most.
    """

    def __init__(
        self,
        *,
        search: SearchBackend,
        freshness: Callable[[], Freshness],
        on_search: Callable[[], None],
        catch_up: CatchUp,
        fresh_seconds: float,
    ) -> None:
        self._search = search
        self._freshness = freshness
        self._on_search = on_search
        self._catch_up = catch_up
        self._fresh_seconds = fresh_seconds

    async def answer(self, query: Query, *, has_footer: bool, is_explained: bool = False) -> Answer:
        """Answer within the query's deadline; `has_footer` puts `Source: …` under each snippet.

        The nearest misses are told only if `is_explained`.
        """
        start = time.monotonic()
        # half of the deadline is for the search, whatever changed
        fresh = min(self._fresh_seconds, query.deadline / 2)
        # notes that are not asked for are not looked at
        asks_notes = query.asks(Source.MEMORY)
        pending = await self._caught_up(fresh) if asks_notes else 0
        left = query.deadline - (time.monotonic() - start)
        asked = replace(query, deadline=left, fresh_until=start + fresh, is_explained=is_explained)
        found = await self._search.search(asked)
        freshness = _owed(self._freshness(), found, pending) if asks_notes else Freshness()
        hits = told_within(found, judged(found.hits, leading=LEADING), has_footer=has_footer)
        verdict = best_verdict(hits) or Verdict.NONE
        why = why_untold(found) or _why_no_better(hits, found) or freshness.hold or None
        return Answer(
            hits=hits,
            misses=told(judged(found.misses if is_explained else (), leading=0), found, has_footer=has_footer),
            mode=_mode(found),
            verdict=verdict,
            reason=why if hits else why_empty(found, freshness, query),
            arms=with_pending(found.arms, freshness),
            freshness=freshness,
            engine=found.engine,
            fallback=found.fallback,
            took_ms=(time.monotonic() - start) * 1000,
            question=query.question,
            floors=found.floors,
            conversation_floors=found.floors_of(Source.SESSIONS) if found.conversations else None,
        )

    async def _caught_up(self, seconds: float) -> int:
        self._on_search()
        return await self._catch_up(seconds)


def _why_no_better(hits: Sequence[Hit], found: Found) -> str:
    """Say why hits are worth no more than they are, by what the first of the best was held against."""
    best = best_verdict(hits)
    leading = next((hit for hit in hits if hit.verdict is best), None)
    return "" if leading is None else why_no_better(hits, found.floors_of(leading.chunk.source))


def _owed(freshness: Freshness, found: Found, pending_files: int) -> Freshness:
    """Return what is still owed: vectors by the engine that answered alone, and what differs from the disk by all.

    Files count as they did before the search: one that is read beside it may come too late to be found, and one that is
    saved beside it is for the next question.
    """
    # not the sum: of what differs the index may know
    freshness = replace(freshness, pending_files=max(pending_files, len(found.owed)))
    if found.engine.pending_embeddings is None:
        return freshness
    return replace(freshness, pending_embeddings=found.engine.pending_embeddings)


def _mode(found: Found) -> AnswerMode:
    every = [found.arms] if found.conversations is None else [found.arms, found.conversations.arms]
    lexical, vector = (any(arms[name].took_part for arms in every) for name in (LEXICAL, VECTOR))
    if lexical and vector:
        return "hybrid"
    return "lexical" if lexical else "vector" if vector else "none"
