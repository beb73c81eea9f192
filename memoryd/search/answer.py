"""Answers: snippets and citations of hits, states of the arms, and reasons of an empty or weak answer."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Source, citation_text, with_footer
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import originals_first
from memoryd.domain.ranking.snippets import (
    FOCUS,
    MESSAGE,
    Focus,
    SqueezedText,
    exchange_lines,
    remove_blank_lines,
    snippet,
)
from memoryd.domain.text.markdown import front_matter
from memoryd.domain.text.sanitizing import path_flags, text_flags
from memoryd.search.combined import ConversationArm, merge_results
from memoryd.search.hits import Hit, HitFocus, HitLines, HitSnippet, best_verdict, citation_of
from memoryd.search.protocol import (
    CONVERSATIONS,
    LEADING,
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    DiskFollower,
    Freshness,
    Query,
    SearchBackend,
    SearchResult,
    empty_result,
    why_empty,
    why_excluded,
    why_no_better,
    with_pending,
    with_verdicts,
)
from memoryd.store.index.passages import ChunkRow

AnswerMode = Literal["hybrid", "lexical", "vector", "none"]
"""The arms that took part."""


class Answer(Struct, frozen=True, kw_only=True):
    """A search result as returned to the client, with verdict and reason."""

    result: SearchResult = SearchResult((), (), {}, ())
    freshness: Freshness = Freshness()
    verdict: Verdict = Verdict.NONE
    reason: str | None = None
    took_ms: float = 0.0
    has_citations: bool = True
    is_explained: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every arm that is switched on took part in full, and no file was pending."""
        return not self.lacks

    @property
    def lacks(self) -> list[str]:
        """What the answer lacks, as text: arms that took no part or only in part, and files not yet indexed."""
        arms = self.result.arms.items()
        lacks = [f"{name}: {arm.reason or arm.state.value}" for name, arm in arms if not arm.is_as_configured]
        if unread := self.freshness.pending_files:
            lacks.append(f"{unread} file{'s' * (unread > 1)} not yet indexed")
        return lacks


class SearchAnswer(Answer, frozen=True, kw_only=True):
    """The answer of one search; `result` has its hits."""

    mode: AnswerMode
    question: Question
    provider: str = "none"
    """The provider that embedded the question; `none` if there is none."""
    model: str | None = None


class SearchService(Struct, frozen=True, kw_only=True):
    """Answers queries of one agent from notes and conversations; a source that is not requested is not searched.

    `weights` are the shares of words and meaning when hits of both sources are compared.
    """

    notes: SearchBackend
    conversations: ConversationArm
    weights: Weights
    disk: DiskFollower

    async def answer(self, query: Query, *, has_citations: bool) -> SearchAnswer:
        """Answer within the query's deadline; `has_citations` adds `Source: …` to each snippet.

        The nearest misses are returned only if the query is explained.
        """
        start = time.monotonic()
        fresh = self.disk.seconds_of(query)
        # skip the disk if notes are not requested
        asks_notes, pending = query.asks(Source.MEMORY), 0
        if asks_notes:
            self.disk.on_search()
            pending = await self.disk.catch_up(fresh)
        left = query.deadline - (time.monotonic() - start)
        result = await self.search(replace(query, deadline=left, fresh_until=start + fresh))
        freshness = _with_pending_work(self.disk.freshness(), result, pending) if asks_notes else Freshness()
        hits = with_snippets_within(result, with_verdicts(result.hits, leading=LEADING), has_footer=has_citations)
        misses = with_verdicts(result.misses if query.is_explained else (), leading=0)
        why = why_excluded(result) or _why_no_better(hits, result) or freshness.hold or None
        return SearchAnswer(
            result=replace(
                result,
                hits=hits,
                misses=with_snippets(misses, result, has_footer=has_citations),
                arms=with_pending(result.arms, freshness),
            ),
            mode=_mode(result),
            verdict=best_verdict(hits) or Verdict.NONE,
            reason=why if hits else why_empty(result, freshness, query),
            freshness=freshness,
            took_ms=(time.monotonic() - start) * 1000,
            question=query.question,
            has_citations=has_citations,
            is_explained=query.is_explained,
        )

    async def search(self, query: Query) -> SearchResult:
        """Return the best hits of both sources within the query's deadline; originals come before conflict copies."""
        result = await self._search_sources(query)
        return replace(result, hits=tuple(originals_first(result.hits, lambda hit: hit.chunk.path)))

    async def _search_sources(self, query: Query) -> SearchResult:
        # each index has a single source, so a filter by source would only cost time
        inner = query.of_any_source()
        asks_notes, asks_conversations = query.asks(Source.MEMORY), query.asks(Source.SESSIONS)
        if not asks_conversations:
            if asks_notes:
                return await self.notes.search(inner)
            # the request and the question name different sources
            return empty_result(query.question.terms, Arm(ArmState.OK))
        if not asks_notes:
            arm, exchanges = await self.conversations.ask(inner)
            return replace(exchanges, arms={**exchanges.arms, CONVERSATIONS: arm}, floors=None, conversations=exchanges)
        notes, (arm, exchanges) = await asyncio.gather(self.notes.search(inner), self.conversations.ask(inner))
        return merge_results(query, notes, exchanges, arm, self.weights)


def _why_no_better(hits: Sequence[Hit], result: SearchResult) -> str:
    """Return why hits have no better verdict, by the thresholds for the first of the best hits."""
    best = best_verdict(hits)
    leading = next((hit for hit in hits if hit.verdict is best), None)
    return "" if leading is None else why_no_better(hits, result.thresholds_of(leading.chunk.source))


def _with_pending_work(freshness: Freshness, result: SearchResult, pending_files: int) -> Freshness:
    """Return the freshness with the pending vectors of the engine that answered, and all files that differ.

    Files count as before the search: a file indexed during it may have been too late for the search, and one saved
    during it is for the next query.
    """
    # the maximum, not the sum: the pending files may include those that differ
    freshness = replace(freshness, pending_files=max(pending_files, len(result.stale)))
    if result.engine.pending_embeddings is None:
        return freshness
    return replace(freshness, pending_embeddings=result.engine.pending_embeddings)


def _mode(result: SearchResult) -> AnswerMode:
    groups = [result.arms] if result.conversations is None else [result.arms, result.conversations.arms]
    lexical, vector = (any(arms[name].took_part for arms in groups) for name in (LEXICAL, VECTOR))
    if lexical and vector:
        return "hybrid"
    return "lexical" if lexical else "vector" if vector else "none"


def with_snippets(hits: Sequence[Hit], result: SearchResult, *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the hits with their snippets; `has_footer` adds `Source: …` to each."""
    limit = result.engine.snippet_chars
    return tuple(_with_snippet(hit, result, limit, has_footer=has_footer) for hit in hits)


def with_snippets_within(result: SearchResult, hits: Sequence[Hit], *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the first hits whose snippets fit into the engine's total; the hit that overflows is cut, and the last."""
    candidates = with_snippets(hits, result, has_footer=has_footer)
    left = result.engine.total_chars
    if left is None:
        return candidates
    fitting: list[Hit] = []
    for hit in candidates:
        if len(hit.snippet.text) > left:
            return (*fitting, *_cut(hit, result, left, has_footer=has_footer, is_first=not fitting))
        fitting.append(hit)
        left -= len(hit.snippet.text)
    return tuple(fitting)


def _cut(hit: Hit, result: SearchResult, room: int, *, has_footer: bool, is_first: bool) -> Iterator[Hit]:
    """Yield a hit cut to `room` characters with footer. If no text fits, yield it only if first, without footer."""
    # cutting may move the focus: leave room for the longest citation of two lines, or of two turns
    last = hit.chunk.end_line
    longest = citation_text(hit.chunk.path, last, last + (2 if hit.chunk.source is Source.SESSIONS else 1))
    footer = len(with_footer("", longest)) if has_footer else 0
    if room > footer:
        yield _with_snippet(hit, result, room - footer, has_footer=has_footer)
    elif is_first:
        yield _with_snippet(hit, result, room, has_footer=False)


def _with_snippet(hit: Hit, result: SearchResult, limit: int, *, has_footer: bool) -> Hit:
    """Return the hit with its best part as snippet, in `limit` characters plus footer."""
    chunk = hit.chunk
    full = _text_of(hit)
    is_spoken = chunk.source is Source.SESSIONS
    room, floors = MESSAGE if is_spoken else FOCUS, result.thresholds_of(chunk.source)
    # all terms weigh the same if their weights in this source are unknown
    weights = dict.fromkeys(result.terms, 1.0) if floors is None else floors.idf.weights
    front = _front_lines(chunk)
    part = snippet(full.text, weights, limit, full.near, focus=room, language=result.language, front=front)
    focus = part.focus
    if is_spoken:
        # in a conversation, add the message that it answers, or that answers it
        first, last = exchange_lines(part.text.split("\n"), focus.first_line - part.first_line)
        focus = replace(focus, first_line=part.first_line + first, last_line=part.first_line + last)
    lines, start = full.lines[part.first_line : part.last_line + 1], chunk.start_line
    marked = None if modality_of(chunk.path) else _focus(hit, focus, full)
    footer = citation_of(chunk, None if marked is None else marked.lines) if has_footer else None
    return replace(
        hit,
        snippet=HitSnippet(
            text=part.text if footer is None else with_footer(part.text, footer),
            start_line=start + lines[0],
            end_line=start + lines[-1],
            # flags of the note's text alone: the footer is ours
            flags=(*text_flags(part.text), *path_flags(chunk.path), *hit.decay.status_flags),
            focus=marked,
            lines=tuple([start + line for line in lines]) if lines[-1] - lines[0] >= len(lines) else (),
        ),
    )


def _front_lines(chunk: ChunkRow) -> int:
    """Return the number of lines of front matter at the head of a note: they are metadata, not content."""
    if chunk.start_line != 1 or chunk.source is Source.SESSIONS or not chunk.text.startswith(("---", "\ufeff---")):
        return 0
    return chunk.text.count("\n", 0, front_matter(chunk.text).end)


def _text_of(hit: Hit) -> SqueezedText:
    """Return the text of a hit to choose the snippet from: a conversation without its empty lines, a note in full."""
    text, near = hit.chunk.text, hit.near
    if hit.chunk.source is Source.SESSIONS:
        return remove_blank_lines(text, near)
    return SqueezedText(text, range(text.count("\n") + 1), near)


def _focus(hit: Hit, focus: Focus, full: SqueezedText) -> HitFocus:
    """Return the focus with line numbers of the document."""
    first, text, near = hit.chunk.start_line, full.text, None
    if focus.near is not None:
        begin = text.count("\n", 0, focus.near.start)
        end = begin + text[focus.near.start : focus.near.stop].rstrip().count("\n")
        near = HitLines(first + full.lines[begin], first + full.lines[end])
    lines = HitLines(first + full.lines[focus.first_line], first + full.lines[focus.last_line])
    return HitFocus(lines, focus.terms, near)
