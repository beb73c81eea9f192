"""Answers: the snippets and citations of hits, the state of the arms, and why an answer is empty or weak."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Source, cited, with_footer
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import originals_first
from memoryd.domain.ranking.snippets import FOCUS, MESSAGE, Focus, SqueezedText, exchange, snippet, squeezed
from memoryd.domain.text.markdown import front_matter
from memoryd.domain.text.sanitizing import path_flags, text_flags
from memoryd.search.combined import ConversationArm, joined
from memoryd.search.hits import Hit, HitFocus, HitLines, HitSnippet, best_verdict, citation_of
from memoryd.search.protocol import (
    CONVERSATIONS,
    LEADING,
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    DiskFollower,
    Found,
    Freshness,
    Query,
    SearchBackend,
    judged,
    nothing_found,
    why_empty,
    why_excluded,
    why_no_better,
    with_pending,
)
from memoryd.store.index.passages import ChunkRow

AnswerMode = Literal["hybrid", "lexical", "vector", "none"]
"""Which arms took part."""


class Answer(Struct, frozen=True, kw_only=True):
    """What was found, as it is told, and what to think of it."""

    found: Found = Found((), (), {}, ())
    freshness: Freshness = Freshness()
    verdict: Verdict = Verdict.NONE
    reason: str | None = None
    took_ms: float = 0.0
    has_citations: bool = True
    is_explained: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every arm that is switched on took part in full and nothing was pending."""
        return not self.lacks

    @property
    def lacks(self) -> list[str]:
        """What it lacks, in words: of each arm that was not all there, and of what is not read yet."""
        arms = [(name, arm) for name, arm in self.found.arms.items() if not arm.is_as_configured]
        lacks = [f"{name}: {arm.reason or arm.state.value}" for name, arm in arms]
        unread = self.freshness.pending_files
        return lacks if not unread else [*lacks, f"{unread} file{'s' * (unread > 1)} not yet indexed"]


class SearchAnswer(Answer, frozen=True, kw_only=True):
    """The answer of one search, whose hits are those of `found`."""

    mode: AnswerMode
    question: Question
    provider: str = "none"
    """Who embeds questions for the engine that answered; `none`: nobody."""
    model: str | None = None


class SearchService(Struct, frozen=True, kw_only=True):
    """Answers for one agent, from notes and conversations; one that is not asked for costs nothing.

    `weights` are the shares of words and meaning where hits of both are compared.
    """

    notes: SearchBackend
    conversations: ConversationArm
    weights: Weights
    disk: DiskFollower

    async def answer(self, query: Query, *, has_citations: bool) -> SearchAnswer:
        """Answer within the query's deadline; `has_citations` puts `Source: …` under each snippet.

        The nearest misses are told only if the query is explained.
        """
        start = time.monotonic()
        fresh = self.disk.seconds_of(query)
        # notes that are not asked for are not looked at
        asks_notes, pending = query.asks(Source.MEMORY), 0
        if asks_notes:
            self.disk.on_search()
            pending = await self.disk.catch_up(fresh)
        left = query.deadline - (time.monotonic() - start)
        found = await self.found(replace(query, deadline=left, fresh_until=start + fresh))
        freshness = _with_pending_work(self.disk.freshness(), found, pending) if asks_notes else Freshness()
        hits = with_snippets_within(found, judged(found.hits, leading=LEADING), has_footer=has_citations)
        misses = judged(found.misses if query.is_explained else (), leading=0)
        why = why_excluded(found) or _why_no_better(hits, found) or freshness.hold or None
        return SearchAnswer(
            found=replace(
                found,
                hits=hits,
                misses=with_snippets(misses, found, has_footer=has_citations),
                arms=with_pending(found.arms, freshness),
            ),
            mode=_mode(found),
            verdict=best_verdict(hits) or Verdict.NONE,
            reason=why if hits else why_empty(found, freshness, query),
            freshness=freshness,
            took_ms=(time.monotonic() - start) * 1000,
            question=query.question,
            has_citations=has_citations,
            is_explained=query.is_explained,
        )

    async def found(self, query: Query) -> Found:
        """Return the best of both within the query's deadline; `Found.conversations` is what is of these."""
        found = await self._found(query)
        return replace(found, hits=tuple(originals_first(found.hits, lambda hit: hit.chunk.path)))

    async def _found(self, query: Query) -> Found:
        # each index holds one source: to filter by it would only cost
        inner = query.of_any_source()
        asks_notes, asks_conversations = query.asks(Source.MEMORY), query.asks(Source.SESSIONS)
        if not asks_conversations:
            if asks_notes:
                return await self.notes.search(inner)
            # the request and the question name different sources
            return nothing_found(query.question.terms, Arm(ArmState.OK))
        if not asks_notes:
            arm, exchanges = await self.conversations.found(inner)
            return replace(exchanges, arms={**exchanges.arms, CONVERSATIONS: arm}, floors=None, conversations=exchanges)
        notes, (arm, exchanges) = await asyncio.gather(self.notes.search(inner), self.conversations.found(inner))
        return joined(query, notes, exchanges, arm, self.weights)


def _why_no_better(hits: Sequence[Hit], found: Found) -> str:
    """Say why hits are worth no more than they are, by what the first of the best was held against."""
    best = best_verdict(hits)
    leading = next((hit for hit in hits if hit.verdict is best), None)
    return "" if leading is None else why_no_better(hits, found.thresholds_of(leading.chunk.source))


def _with_pending_work(freshness: Freshness, found: Found, pending_files: int) -> Freshness:
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


def with_snippets(hits: Sequence[Hit], found: Found, *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the hits with their snippets; `has_footer` puts `Source: …` under each."""
    limit = found.engine.snippet_chars
    return tuple(_with_snippet(hit, found, limit, has_footer=has_footer) for hit in hits)


def with_snippets_within(found: Found, hits: Sequence[Hit], *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the leading hits whose snippets fit together; the one that overflows is cut, and is the last."""
    shown = with_snippets(hits, found, has_footer=has_footer)
    left = found.engine.total_chars
    if left is None:
        return shown
    fitting: list[Hit] = []
    for hit in shown:
        if len(hit.snippet.text) > left:
            return (*fitting, *_cut(hit, found, left, has_footer=has_footer, is_first=not fitting))
        fitting.append(hit)
        left -= len(hit.snippet.text)
    return tuple(fitting)


def _weights(found: Found, hit: Hit) -> Mapping[str, float]:
    """Return how telling each term is among documents of the hit's source; all the same where nobody knows."""
    floors = found.thresholds_of(hit.chunk.source)
    return dict.fromkeys(found.terms, 1.0) if floors is None else floors.idf.weights


def _cut(hit: Hit, found: Found, room: int, *, has_footer: bool, is_first: bool) -> Iterator[Hit]:
    """Yield a hit within `room` characters with its footer; where that leaves none for text, only the first, bare."""
    # what is cut may have its focus elsewhere: room for the longest citation of two lines, or turns, that the chunk has
    last = hit.chunk.end_line
    widest = cited(hit.chunk.path, last, last + (2 if hit.chunk.source is Source.SESSIONS else 1))
    footer = len(with_footer("", widest)) if has_footer else 0
    if room > footer:
        yield _with_snippet(hit, found, room - footer, has_footer=has_footer)
    elif is_first:
        yield _with_snippet(hit, found, room, has_footer=False)


def _with_snippet(hit: Hit, found: Found, limit: int, *, has_footer: bool) -> Hit:
    """Return the hit with the part of it that tells most, in `limit` characters and its footer."""
    chunk = hit.chunk
    whole = _text_of(hit)
    is_spoken = chunk.source is Source.SESSIONS
    room, weights = MESSAGE if is_spoken else FOCUS, _weights(found, hit)
    front = _front_lines(chunk)
    part = snippet(whole.text, weights, limit, whole.near, focus=room, language=found.language, front=front)
    focus = part.focus
    if is_spoken:
        # of a conversation, the message with the one that it answers or is answered by
        first, last = exchange(part.text.split("\n"), focus.first_line - part.first_line)
        focus = replace(focus, first_line=part.first_line + first, last_line=part.first_line + last)
    lines, start = whole.lines[part.first_line : part.last_line + 1], chunk.start_line
    marked = None if modality_of(chunk.path) else _focus(hit, focus, whole)
    footer = citation_of(chunk, None if marked is None else marked.lines) if has_footer else None
    return replace(
        hit,
        snippet=HitSnippet(
            text=part.text if footer is None else with_footer(part.text, footer),
            start_line=start + lines[0],
            end_line=start + lines[-1],
            # of the note's text alone: a footer of ours is no line that only looks like one
            flags=(*text_flags(part.text), *path_flags(chunk.path), *hit.decay.standing),
            focus=marked,
            lines=tuple([start + line for line in lines]) if lines[-1] - lines[0] >= len(lines) else (),
        ),
    )


def _front_lines(chunk: ChunkRow) -> int:
    """Count the lines of the front matter at the head of a note, which tell about it and not what it says."""
    if chunk.start_line != 1 or chunk.source is Source.SESSIONS or not chunk.text.startswith(("---", "\ufeff---")):
        return 0
    return chunk.text.count("\n", 0, front_matter(chunk.text).end)


def _text_of(hit: Hit) -> SqueezedText:
    """Return what may be shown of a hit: of a conversation the lines that say something, of a note all."""
    text, near = hit.chunk.text, hit.near
    if hit.chunk.source is Source.SESSIONS:
        return squeezed(text, near)
    return SqueezedText(text, range(text.count("\n") + 1), near)


def _focus(hit: Hit, focus: Focus, whole: SqueezedText) -> HitFocus:
    """Return the focus by the lines of the document."""
    first, text, near = hit.chunk.start_line, whole.text, None
    if focus.near is not None:
        begin = text.count("\n", 0, focus.near.start)
        end = begin + text[focus.near.start : focus.near.stop].rstrip().count("\n")
        near = HitLines(first + whole.lines[begin], first + whole.lines[end])
    lines = HitLines(first + whole.lines[focus.first_line], first + whole.lines[focus.last_line])
    return HitFocus(lines, focus.terms, near)
