"""Snippets: the part of a chunk that shows why it was found, exact text with true line numbers, and its focus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memoryd.domain.ranking.line_runs import (
    Line,
    LineRun,
    NearPassage,
    Room,
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
    text: str,
    weights: Mapping[str, float],
    limit: int = SNIPPET_CHARS,
    near: Sequence[NearPassage] = (),
    *,
    focus: Room = FOCUS,
) -> Snippet:
    """Return at most `limit` characters of `text`, whole lines where they fit, around those that tell most.

    `weights` say how telling each term is. The lines are those that hold the most telling terms and what is near in
    meaning together; a line after and a line before are added in turn while they fit. What follows a heading comes
    first, in part if need be. `focus` is what its focus may hold.
    """
    lines = split_lines(text)
    table = line_table(lines, weights, near)
    shown = _run(table, LineRun(0, len(table)), Room(limit, len(table)))
    body = "".join(lines[shown.start : shown.stop]).rstrip("\r\n")
    if len(body) > limit:
        is_below_heading = shown.stop - shown.start > 1
        before = sum(len(line) for line in lines[: shown.start])
        first = 0 if is_below_heading else _middle(body, tuple(weights), near, before) - limit // 2
        first = max(0, min(first, len(body) - limit))
        body = body[first : first + limit].rstrip()
    last = shown.start + body.count("\n")
    return Snippet(body, shown.start, last, _focus(table, LineRun(shown.start, last + 1), tuple(weights), near, focus))


def _run(table: Sequence[Line], within: LineRun, room: Room) -> LineRun:
    """Return the lines that tell most, with those around them that fit; one line, or one below a heading, may not."""
    lines = table[within.start : within.stop]
    if len(lines) <= room.lines and sum(line.size for line in lines) <= room.characters:
        return without_blank_edges(table, within)
    run = richest(table, within, room)
    if table[run.start].is_heading:
        run = _with_text(table, run, within, room)
        if not any(line.is_text for line in table[run.start : run.stop]) and run.stop < within.stop:
            return LineRun(run.start, run.stop + 1)
    return without_blank_edges(table, widened(table, run, within, room))


def _with_text(table: Sequence[Line], run: LineRun, within: LineRun, room: Room) -> LineRun:
    """Return the run with all the lines below it that fit."""
    last = min(within.stop, run.start + room.lines)
    sizes = accumulate(line.size for line in table[run.start : last])
    return LineRun(run.start, max(run.stop, run.start + sum(size <= room.characters for size in sizes)))


def _focus(
    table: Sequence[Line], shown: LineRun, terms: Sequence[str], near: Sequence[NearPassage], room: Room
) -> Focus:
    run = _run(table, shown, room)
    inside = table[run.start : run.stop]
    return Focus(
        first_line=run.start,
        last_line=run.stop - 1,
        terms=tuple(term for term in terms if any(term in line.weights for line in inside)),
        near=_nearest(table, run, near),
    )


def _nearest(table: Sequence[Line], run: LineRun, near: Sequence[NearPassage]) -> NearPassage | None:
    """Return the passage that stands out most of those that count in a run."""
    if not any(line.nearness for line in table[run.start : run.stop]):
        return None
    start = sum(line.size for line in table[: run.start])
    stop = start + sum(line.size for line in table[run.start : run.stop])
    inside = (one for one in near if one.start < stop and start < one.stop)
    return max(inside, key=lambda one: one.standout, default=None)


def _middle(line: str, terms: Sequence[str], near: Sequence[NearPassage], before: int) -> int:
    """Return the middle of the matches in one over-long line, about: folding moves its characters by a few.

    Without any it is that of the passage that stands out most; `before` characters of the chunk stand before the line.
    """
    plain = folded(line)
    places = [place for term in terms if (place := plain.find(term)) >= 0]
    if places:
        return round(sum(places) / len(places) * len(line) / len(plain))
    best = max(near, key=lambda one: one.standout, default=None)
    return 0 if best is None else (best.start + best.stop) // 2 - before
