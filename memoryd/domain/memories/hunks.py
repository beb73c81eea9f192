"""What differs between two texts, line by line, and taking it back where it still stands unmistakably.

Lines are what stands between line breaks, so that a text which ends in one has an empty line at its end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

CONTEXT: Final = 3
"""Lines around what differs that tell where it stood."""
_MATCHED_PAIRS: Final = 250_000
"""Of lines that are compared one by one; where there are more, all between the first and last difference is one."""
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
_HUNKS: Final = 64
"""More of them are one."""


class MovedOnError(Exception):
    """What a change wrote does not stand unmistakably in the text as it is now."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that stood in a text, and what stands in their place; `line` is where, from 1, in the text after.

    `above` and `below` are the lines around them in the text after, fewer than `CONTEXT` at its ends. `is_unique`: what
    was added says something, and stood nowhere else in that text.
    """

    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]
    is_unique: bool


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends."""
    return text.split("\n")


def matched(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of lines that both have, in order: where they begin in each, and how many they are."""
    top = _common(before, after)
    bottom = _common(before[top:][::-1], after[top:][::-1])
    yield 0, 0, top
    inner, other = before[top : len(before) - bottom], after[top : len(after) - bottom]
    if len(inner) * len(other) <= _MATCHED_PAIRS:
        for one in SequenceMatcher(None, inner, other, autojunk=False).get_matching_blocks():
            yield top + one.a, top + one.b, one.size
    yield len(before) - bottom, len(after) - bottom, bottom


def hunks_between(before: str, after: str) -> tuple[Hunk, ...]:
    """Return what differs, in order."""
    old, new = lines_of(before), lines_of(after)
    found = list(_gaps(old, new))
    gaps = [_slid(new, gap, floor) for gap, floor in zip(found, [0, *(gap[3] for gap in found)], strict=False)]
    if len(gaps) > _HUNKS:
        (at, _, to, _), (_, begin, _, other) = gaps[0], gaps[-1]
        gaps = [(at, begin, to, other)]
    return tuple(_hunk(new, tuple(old[at:begin]), to, other) for at, begin, to, other in gaps)


def _gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the lines of both that differ: from where to where in the one, and in the other."""
    at, to = 0, 0
    for begin, other, count in matched(old, new):
        if at < begin or to < other:
            yield at, begin, to, other
        at, to = begin + count, other + count


def _slid(new: Sequence[str], gap: tuple[int, int, int, int], floor: int) -> tuple[int, int, int, int]:
    """Return a gap of added lines that ends in a blank one as that of as many lines, one above, which say the same.

    What comes below later would else stand between the lines of the one change.
    """
    at, begin, to, other = gap
    while at == begin and to > floor and not new[other - 1].strip() and new[other - 1] == new[to - 1]:
        at, begin, to, other = at - 1, begin - 1, to - 1, other - 1
    return at, begin, to, other


def _hunk(new: Sequence[str], removed: tuple[str, ...], begin: int, end: int) -> Hunk:
    added = tuple(new[begin:end])
    is_unique = any(map(str.strip, added)) and len(list(_occurrences(new, added))) == 1
    above, below = new[max(0, begin - CONTEXT) : begin], new[end : end + CONTEXT]
    return Hunk(begin + 1, removed, added, tuple(above), tuple(below), is_unique)


def places_of(text: str, hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """Return where the lines of hunks stand in a text: the first of each, from 0, and the one behind the last.

    Raises MovedOnError where nobody can say.
    """
    lines = lines_of(text)
    places = [(at, at + len(hunk.added)) for hunk in hunks for at in [_place(lines, hunk)]]
    if any(end > after for (_, end), (after, _) in pairwise(places)):
        raise MovedOnError("its lines stand in another order now")
    return places


def taken_back(text: str, hunks: Sequence[Hunk]) -> str:
    """Return a text without what a change wrote, and with what it took out; raises MovedOnError.

    A heading that it added, and nothing elsewhere, stays where lines came below it since.
    """
    lines, places = lines_of(text), places_of(text, hunks)
    if len(hunks) == 1:
        # of several, one may have written, or bring back, what stands below the heading of another
        begin, end = places[0]
        places = [(begin + _kept_heading(lines[end:], hunks[0]), end)]
    # from below, so that the places above stay what they are
    for (begin, end), hunk in reversed(list(zip(places, hunks, strict=True))):
        lines[begin:end] = hunk.removed
    return "\n".join(lines)


def _kept_heading(below: Sequence[str], hunk: Hunk) -> int:
    """Return how many of the first lines of a hunk are to stay: up to a heading below which stands what came later."""
    told = next((line for line in below if line.strip()), "")
    was_there = next((line for line in hunk.below if line.strip()), "")
    headings = [at for at, line in enumerate(hunk.added) if _HEADING.match(line)]
    is_unknown = not was_there and len(hunk.below) == CONTEXT
    if hunk.removed or not headings or not told or told == was_there or is_unknown:
        return 0
    level, next_one = _level(hunk.added[headings[-1]]), _level(told)
    return headings[-1] + 1 if not next_one or next_one > level else 0


def _level(line: str) -> int:
    """Return the level of a heading, 0 for a line that is none."""
    found = _HEADING.match(line)
    return len(found[1]) if found else 0


def _place(lines: Sequence[str], hunk: Hunk) -> int:
    """Return where the lines stand that a hunk wrote; raises MovedOnError if nobody can say."""
    everywhere = list(_occurrences(lines, hunk.added))
    for around in range(CONTEXT, 0, -1):
        places = [at for at in everywhere if _fits(lines, hunk, at, around)]
        if places:
            break
    else:
        # the neighbours were edited; lines that never had a twin are what was written
        places = everywhere if hunk.is_unique else []
    if len(places) == 1:
        return places[0]
    if not places:
        raise MovedOnError(f"what it wrote at line {hunk.line} does not stand there as it was written")
    raise MovedOnError(f"what it wrote at line {hunk.line} may be meant in {len(places)} places")


def _occurrences(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    count = len(wanted)
    for at in range(len(lines) - count + 1):
        if (not count or lines[at] == wanted[0]) and tuple(lines[at : at + count]) == tuple(wanted):
            yield at


def _fits(lines: Sequence[str], hunk: Hunk, at: int, around: int) -> bool:
    """Tell whether as many lines around a place as `around` are those that were around the change."""
    below = at + len(hunk.added)
    wanted = hunk.above[-around:], hunk.below[:around]
    found = tuple(lines[max(0, at - around) : at]), tuple(lines[below : below + around])
    # a gap between two blank lines is anywhere
    is_telling = around == CONTEXT or any(map(str.strip, (*hunk.above[-around:], *hunk.below[:around], *hunk.added)))
    return wanted == found and is_telling


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the lines that both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
