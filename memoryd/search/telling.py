"""Hits as they are told: each with the part that tells most, its focus, and the citation under it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memoryd.domain.citations import cited, with_footer
from memoryd.domain.documents import Source
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.snippets import FOCUS, MESSAGE, Focus, Snippet, SqueezedText, exchange, snippet, squeezed
from memoryd.domain.text.sanitizing import path_flags, text_flags
from memoryd.search.backend import Found
from memoryd.search.hit import Hit, HitFocus, HitLines, HitSnippet


def told(hits: Sequence[Hit], found: Found, *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the hits with their snippets; `has_footer` puts `Source: …` under each."""
    limit = found.engine.snippet_chars
    return tuple(_shown(hit, _weights(found, hit), limit, has_footer=has_footer) for hit in hits)


def told_within(found: Found, hits: Sequence[Hit], *, has_footer: bool) -> tuple[Hit, ...]:
    """Return the leading hits whose snippets fit together; the one that overflows is cut, and is the last."""
    shown = told(hits, found, has_footer=has_footer)
    left = found.engine.total_chars
    if left is None:
        return shown
    fitting: list[Hit] = []
    for hit in shown:
        if len(hit.snippet.text) > left:
            return (*fitting, *_cut(hit, _weights(found, hit), left, has_footer=has_footer, is_first=not fitting))
        fitting.append(hit)
        left -= len(hit.snippet.text)
    return tuple(fitting)


def _weights(found: Found, hit: Hit) -> Mapping[str, float]:
    """Return how telling each term is among documents of the hit's source; all the same where nobody knows."""
    floors = found.floors_of(hit.chunk.source)
    return dict.fromkeys(found.terms, 1.0) if floors is None else floors.idf.weights


def _cut(hit: Hit, weights: Mapping[str, float], room: int, *, has_footer: bool, is_first: bool) -> Iterator[Hit]:
    """Yield a hit within `room` characters with its footer; where that leaves none for text, only the first, bare."""
    # what is cut may have its focus elsewhere: room for the longest citation of two lines, or turns, that the chunk has
    last = hit.chunk.end_line
    widest = cited(hit.chunk.path, last, last + (2 if hit.chunk.source is Source.SESSIONS else 1))
    footer = len(with_footer("", widest)) if has_footer else 0
    if room > footer:
        yield _shown(hit, weights, room - footer, has_footer=has_footer)
    elif is_first:
        yield _shown(hit, weights, room, has_footer=False)


def _shown(hit: Hit, weights: Mapping[str, float], limit: int, *, has_footer: bool) -> Hit:
    """Return the hit with the part of it that tells most, in `limit` characters and its footer."""
    chunk = hit.chunk
    whole = _text_of(hit)
    is_spoken = chunk.source is Source.SESSIONS
    part = snippet(whole.text, weights, limit, whole.near, focus=MESSAGE if is_spoken else FOCUS)
    focus = _of_exchange(part) if is_spoken else part.focus
    numbers = [chunk.start_line + line for line in whole.lines[part.first_line : part.last_line + 1]]
    shown = replace(
        hit,
        snippet=HitSnippet(
            text=part.text,
            start_line=numbers[0],
            end_line=numbers[-1],
            # of the note's text alone: a footer of ours is no line that only looks like one
            flags=(*text_flags(part.text), *path_flags(chunk.path)),
            focus=None if modality_of(chunk.path) else _focus(hit, focus, whole),
            lines=tuple(numbers) if numbers[-1] - numbers[0] >= len(numbers) else (),
        ),
    )
    if not has_footer:
        return shown
    return replace(shown, snippet=replace(shown.snippet, text=with_footer(part.text, shown.citation)))


def _text_of(hit: Hit) -> SqueezedText:
    """Return what may be shown of a hit: of a conversation the lines that say something, of a note all."""
    text, near = hit.chunk.text, hit.near
    if hit.chunk.source is Source.SESSIONS:
        return squeezed(text, near)
    return SqueezedText(text, tuple(range(text.count("\n") + 1)), tuple(near))


def _of_exchange(part: Snippet) -> Focus:
    """Return the focus of a snippet of a conversation, a message, with the one that it answers or is answered by."""
    first, last = exchange(part.text.split("\n"), part.focus.first_line - part.first_line)
    return replace(part.focus, first_line=part.first_line + first, last_line=part.first_line + last)


def _focus(hit: Hit, focus: Focus, whole: SqueezedText) -> HitFocus:
    """Return the focus by the lines of the document."""
    first, text, near = hit.chunk.start_line, whole.text, None
    if focus.near is not None:
        begin = text.count("\n", 0, focus.near.start)
        end = begin + text[focus.near.start : focus.near.stop].rstrip().count("\n")
        near = HitLines(first + whole.lines[begin], first + whole.lines[end])
    lines = HitLines(first + whole.lines[focus.first_line], first + whole.lines[focus.last_line])
    return HitFocus(lines, focus.terms, near)
