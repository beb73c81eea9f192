"""Snippets: the part of a chunk that shows why it was found, exact text with true line numbers, and its focus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memoryd.domain.ranking.windows import (
    Line,
    NearPassage,
    Room,
    Window,
    folded,
    line_table,
    richest,
    split_lines,
    widened,
    without_blank_edges,
)

SNIPPET_CHARS = 700
FOCUS = Room(characters=700, lines=6)
"""What a focus holds at most."""


@dataclass(frozen=True, slots=True)
class Focus:
    """The lines of a snippet that answer best, counted from the first line of the chunk (0), and why these."""

    first_line: int
    last_line: int
    terms: tuple[str, ...] = ()
    """Those of the question that stand in it."""
    near: NearPassage | None = None
    """The nearest of the passages whose meaning had it chosen; None: words alone."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """An exact slice of a chunk and the lines it stands on, counted from the first line of the chunk (0)."""

    text: str
    first_line: int
    last_line: int
    focus: Focus


def snippet(
    text: str, weights: Mapping[str, float], limit: int = SNIPPET_CHARS, near: Sequence[NearPassage] = ()
) -> Snippet:
    """Return at most `limit` characters of `text`, whole lines where they fit, around those that tell most.

    `weights` say how telling each term is. The lines are those that hold the most telling terms and what is near in
    meaning together; a line after and a line before are added in turn while they fit. What follows a heading comes
    first, in part if need be.
    """
    lines = split_lines(text)
    table = line_table(lines, weights, near)
    shown = _window(table, Window(0, len(table)), Room(limit, len(table)))
    body = "".join(lines[shown.start : shown.stop]).rstrip("\r\n")
    if len(body) > limit:
        is_one_line = shown.stop - shown.start == 1
        body = _cut(body, list(weights), limit) if is_one_line else body[:limit].rstrip()
    last = shown.start + body.count("\n")
    return Snippet(body, shown.start, last, _focus(table, Window(shown.start, last + 1), tuple(weights), near))


def _window(table: Sequence[Line], within: Window, room: Room) -> Window:
    """Return the lines that tell most, with those around them that fit; one line, or one below a heading, may not."""
    lines = table[within.start : within.stop]
    if len(lines) <= room.lines and sum(line.size for line in lines) <= room.characters:
        return without_blank_edges(table, within)
    window = richest(table, within, room)
    if table[window.start].is_heading:
        window = _with_text(table, window, within, room)
        if not any(line.is_text for line in table[window.start : window.stop]) and window.stop < within.stop:
            return Window(window.start, window.stop + 1)
    return without_blank_edges(table, widened(table, window, within, room))


def _with_text(table: Sequence[Line], window: Window, within: Window, room: Room) -> Window:
    """Return the window with all the lines below it that fit."""
    last = min(within.stop, window.start + room.lines)
    sizes = accumulate(line.size for line in table[window.start : last])
    return Window(window.start, max(window.stop, window.start + sum(size <= room.characters for size in sizes)))


def _focus(table: Sequence[Line], shown: Window, terms: Sequence[str], near: Sequence[NearPassage]) -> Focus:
    window = _window(table, shown, FOCUS)
    inside = table[window.start : window.stop]
    return Focus(
        first_line=window.start,
        last_line=window.stop - 1,
        terms=tuple(term for term in terms if any(term in line.weights for line in inside)),
        near=_nearest(table, window, near),
    )


def _nearest(table: Sequence[Line], window: Window, near: Sequence[NearPassage]) -> NearPassage | None:
    """Return the passage that stands out most of those that count in a window."""
    if not any(line.nearness for line in table[window.start : window.stop]):
        return None
    start = sum(line.size for line in table[: window.start])
    stop = start + sum(line.size for line in table[window.start : window.stop])
    inside = (one for one in near if one.start < stop and start < one.stop)
    return max(inside, key=lambda one: one.standout, default=None)


def _cut(line: str, terms: Sequence[str], limit: int) -> str:
    """Cut one over-long line around the middle of its matches."""
    places = [place for term in terms if (place := _place(line, term)) is not None]
    centre = sum(places) // len(places) if places else 0
    start = max(0, min(centre - limit // 2, len(line) - limit))
    return line[start : start + limit].rstrip("\r\n")


def _place(line: str, term: str) -> int | None:
    """Return about where a term stands; folding a line moves its characters by a few."""
    plain = folded(line)
    found = plain.find(term)
    return None if found < 0 else round(found * len(line) / len(plain))
