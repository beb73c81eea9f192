"""What is found → answer: what to think of it, with cited snippets, and why it is empty if it is."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from memoryd.domain.citations import cited, with_footer
from memoryd.domain.documents import INDEX_ALL, OutsideCount
from memoryd.domain.flags import path_flags, text_flags
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.floors import Floors, Verdict
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.snippets import Focus, snippet
from memoryd.search.backend import LEXICAL, VECTOR, Arm, ArmState, Engine, Fallback, Found, Query, SearchBackend
from memoryd.search.hit import Hit, HitFocus, HitLines, HitSnippet, best_verdict
from memoryd.search.verdicts import LEADING, judged, why_no_better

AnswerMode = Literal["hybrid", "lexical", "vector", "none"]
"""Which arms took part."""


CatchUp = Callable[[float], Awaitable[int]]
"""Has the index follow what changed on disk, within so many seconds; returns how many files it may lack then."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What the index still owes the disk."""

    files: int
    pending_files: int
    pending_embeddings: int
    is_dirty: bool
    hold: str = ""
    """Why pending files are not read, since nobody can say what is private."""
    outside: OutsideCount = field(default_factory=OutsideCount)


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
        self._on_search()
        # half of the deadline is for the search, whatever changed
        fresh = min(self._fresh_seconds, query.deadline / 2)
        pending = await self._catch_up(fresh)
        left = query.deadline - (time.monotonic() - start)
        asked = replace(query, deadline=left, fresh_until=start + fresh, is_explained=is_explained)
        found = await self._search.search(asked)
        freshness = _owed(self._freshness(), found, pending)
        hits = _within(found, judged(found.hits, leading=LEADING), has_footer=has_footer)
        verdict = best_verdict(hits) or Verdict.NONE
        why = _untold(found) or why_no_better(hits, found.floors) or freshness.hold or None
        return Answer(
            hits=hits,
            misses=_told(judged(found.misses if is_explained else (), leading=0), found, has_footer=has_footer),
            mode=_mode(found),
            verdict=verdict,
            reason=why if hits else _why_empty(found, freshness, query),
            arms=_with_pending(found.arms, freshness),
            freshness=freshness,
            engine=found.engine,
            fallback=found.fallback,
            took_ms=(time.monotonic() - start) * 1000,
            question=query.question,
            floors=found.floors,
        )


def _told(hits: Sequence[Hit], found: Found, *, has_footer: bool) -> tuple[Hit, ...]:
    limit, weights = found.engine.snippet_chars, _weights(found)
    return tuple(_shown(hit, weights, limit, has_footer=has_footer) for hit in hits)


def _weights(found: Found) -> Mapping[str, float]:
    """Return how telling each term is; all the same where the engine does not know."""
    return dict.fromkeys(found.terms, 1.0) if found.floors is None else found.floors.idf.weights


def _within(found: Found, hits: Sequence[Hit], *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the leading hits whose snippets fit together; the one that overflows is cut, and is the last."""
    told = _told(hits, found, has_footer=has_footer)
    left = found.engine.total_chars
    if left is None:
        return told
    fitting: list[Hit] = []
    for hit in told:
        if len(hit.snippet.text) > left:
            return (*fitting, *_cut(hit, _weights(found), left, has_footer=has_footer, is_first=not fitting))
        fitting.append(hit)
        left -= len(hit.snippet.text)
    return tuple(fitting)


def _cut(hit: Hit, weights: Mapping[str, float], room: int, *, has_footer: bool, is_first: bool) -> Iterator[Hit]:
    """Yield a hit within `room` characters with its footer; where that leaves none for text, only the first, bare."""
    # what is cut may have its focus elsewhere: room for the longest citation of two lines that the chunk has
    widest = cited(hit.chunk.path, hit.chunk.end_line, hit.chunk.end_line + 1)
    footer = len(with_footer("", widest)) if has_footer else 0
    if room > footer:
        yield _shown(hit, weights, room - footer, has_footer=has_footer)
    elif is_first:
        yield _shown(hit, weights, room, has_footer=False)


def _shown(hit: Hit, weights: Mapping[str, float], limit: int, *, has_footer: bool) -> Hit:
    """Return the hit with the part of it that tells most, in `limit` characters and its footer."""
    chunk = hit.chunk
    part = snippet(chunk.text, weights, limit, hit.near)
    shown = replace(
        hit,
        snippet=HitSnippet(
            text=part.text,
            start_line=chunk.start_line + part.first_line,
            end_line=chunk.start_line + part.last_line,
            # of the note's text alone: a footer of ours is no line that only looks like one
            flags=(*text_flags(part.text), *path_flags(chunk.path)),
            focus=None if modality_of(chunk.path) else _focus(hit, part.focus),
        ),
    )
    if not has_footer:
        return shown
    return replace(shown, snippet=replace(shown.snippet, text=with_footer(part.text, shown.citation)))


def _focus(hit: Hit, focus: Focus) -> HitFocus:
    """Return the focus by the lines of the document."""
    first, text, near = hit.chunk.start_line, hit.chunk.text, None
    if focus.near is not None:
        begin = first + text.count("\n", 0, focus.near.start)
        near = HitLines(begin, begin + text[focus.near.start : focus.near.stop].rstrip().count("\n"))
    return HitFocus(HitLines(first + focus.first_line, first + focus.last_line), focus.terms, near)


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


def _untold(found: Found) -> str:
    """Say why documents that may answer are not told; without their names, for they may be private."""
    if not found.owed:
        return ""
    count, reasons = len(found.owed), "; ".join(dict.fromkeys(found.owed.values()))
    return f"{count} {'document is' if count == 1 else 'documents are'} not told as on disk: {reasons}"


def _mode(found: Found) -> AnswerMode:
    lexical, vector = found.arms[LEXICAL].took_part, found.arms[VECTOR].took_part
    if lexical and vector:
        return "hybrid"
    return "lexical" if lexical else "vector" if vector else "none"


def _why_empty(found: Found, freshness: Freshness, query: Query) -> str:
    arms = [found.arms[name] for name in (LEXICAL, VECTOR)]
    if not any(arm.took_part for arm in arms):
        reasons = dict.fromkeys(arm.reason for arm in arms)
        return "no arm of the search could answer: " + "; ".join(reasons)
    if found.owed:
        return _untold(found)
    if freshness.pending_files and freshness.hold:
        return f"{freshness.pending_files} files are held back: {freshness.hold}"
    if freshness.pending_files:
        return f"still indexing: {freshness.pending_files} files are not read yet"
    if not freshness.files:
        nothing = "nothing is indexed: the workspace holds no MEMORY.md, memory/ or bank/ notes"
        return f"{nothing}, but {freshness.outside} elsewhere: {INDEX_ALL}" if freshness.outside.files else nothing
    if found.misses:
        return f"the nearest hits score below minScore {query.min_score:g}"
    if query.question.is_narrowed or not query.question.filters.is_empty:
        return "nothing matches within the given sources, paths, dates, phrases and excluded words"
    if not found.terms:
        return "the question has no words to look for"
    nothing, outside = "nothing in the notes matches", freshness.outside
    return f"{nothing}; {outside} of the workspace {outside.verb} not among them" if outside.files else nothing


def _with_pending(arms: Mapping[str, Arm], freshness: Freshness) -> dict[str, Arm]:
    """Mark the vector arm as partial while passages wait for their vectors."""
    vector = arms[VECTOR]
    if vector.took_part and freshness.pending_embeddings:
        count = freshness.pending_embeddings
        reason = f"{count} {'passage has' if count == 1 else 'passages have'} no vector yet"
        vector = replace(vector, state=ArmState.PARTIAL, reason=reason)
    return {**arms, VECTOR: vector}
