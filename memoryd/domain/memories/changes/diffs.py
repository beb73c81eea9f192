"""Unified diffs of one file: made for a person to read, applied and reverted where their lines still fit unambiguously.

Texts have plain line ends, as `note_text` reads them. Lines are what is between line breaks, so a text that ends in a
break has an empty last line. When a memory is forgotten, a stored change loses the lines of it and keeps the rest, so
that the rest can still be reverted.
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import TextMatch, expression

CONTEXT = 3
"""Lines around a change."""
_NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = expression(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")


class DiffPlace(Struct, frozen=True):
    """One place of a diff: from line `start`, counted from 0, the lines `before` become `after`, ends included."""

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]


def unified_diff(path: str, before: str, after: str) -> str:
    """Return how a file changes, as `diff -u` and git write it; empty if it does not."""
    old, new, path = _lines(before), _lines(after), path.replace("\n", " ")
    found = difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}", n=CONTEXT)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in found)


def changed_lines(diff: str) -> str:
    """Return the lines that a diff takes out and puts in, without their places and surroundings."""
    body = _lines(diff)[2:]
    return "".join(line for line in body if line[:1] in "+-")


def applied(text: str, diff: str) -> str | None:
    """Return a text with a diff applied; None where it no longer says where its lines go.

    A place is where it was, or the only one that has the same lines: of two, nobody knows which is meant.
    """
    lines, moved = _lines(text), 0
    for place in _places(diff):
        position = _diff_position(lines, place, place.start + moved)
        if position is None:
            return None
        lines[position : position + len(place.before)] = _fit(lines, position, place)
        moved = position - place.start + len(place.after) - len(place.before)
    return "".join(lines)


def carried(before: str, after: str, diff: str) -> str | None:
    """Return a diff of one text as one of what became of it, None where both changed the same lines.

    What comes in where the other change put something goes behind that.
    """
    wanted = applied(before, diff)
    if wanted is None:
        return None
    old, new, made = _lines(before), _lines(after), _lines(wanted)
    kept, changed = list(matched(old, new)), list(_gaps(old, new))
    # from below, so that the places above stay what they are
    for first, end, start, stop in reversed(list(_gaps(old, made))):
        begin = _map_position(kept, changed, first, end)
        if begin is None:
            return None
        new[begin : begin + end - first] = made[start:stop]
    return unified_diff(_lines(diff)[1].removeprefix("+++ b/").removesuffix("\n"), after, "".join(new))


def is_applied(text: str, diff: str) -> bool:
    """Tell whether a text has become what a diff leads to: its lines stand there with what is around them."""
    lines, moved = _lines(text), 0
    for place in _places(diff):
        position = _diff_position(lines, DiffPlace(place.start, place.after, place.before), place.start + moved)
        if position is None:
            return False
        moved = position - place.start + len(place.after) - len(place.before)
    return True


def _map_position(
    kept: Sequence[tuple[int, int, int]], changed: Sequence[tuple[int, int, int, int]], first: int, end: int
) -> int | None:
    """Return where lines stand that another change did not touch; for none of them, the place behind that change."""
    if first == end:
        for begin, stop, _, last in changed:
            if begin <= first <= stop:
                return last if first == stop else None
    return next((to + first - begin for begin, to, count in kept if begin <= first and end <= begin + count), None)


def _places(diff: str) -> Iterator[DiffPlace]:
    """Yield the places of a diff in order; raises ValueError for what is none."""
    lines, at = _lines(diff), 2
    if len(lines) < 3 or not lines[0].startswith("--- ") or not lines[1].startswith("+++ "):
        raise ValueError("not a unified diff")
    while at < len(lines):
        head = _HUNK.match(lines[at])
        if head is None:
            raise ValueError(f"not the head of a place: {lines[at]!r}")
        end = next((it for it in range(at + 1, len(lines)) if lines[it].startswith("@@")), len(lines))
        yield _parse_place(head, lines[at + 1 : end])
        at = end


def _parse_place(head: TextMatch, body: Sequence[str]) -> DiffPlace:
    before: list[str] = []
    after: list[str] = []
    sides: tuple[list[str], ...] = ()
    for line in body:
        if line == _NO_NEWLINE:
            for side in sides:
                side[-1] = side[-1].removesuffix("\n")
            continue
        sides = {" ": (before, after), "-": (before,), "+": (after,)}.get(line[:1], ())
        if not sides:
            raise ValueError(f"not a line of a diff: {line!r}")
        for side in sides:
            side.append(line[1:])
    # without lines before, the head names the line behind which it goes
    start = int(head[1]) - (1 if before else 0)
    return DiffPlace(max(start, 0), tuple(before), tuple(after))


def _diff_position(lines: Sequence[str], place: DiffPlace, expected: int) -> int | None:
    if not place.before:
        return 0 if not lines else None
    length = len(place.before)
    wanted = [_bare(line) for line in place.before]
    bare = [_bare(line) for line in lines]
    if bare[expected : expected + length] == wanted and expected >= 0:
        return expected
    firsts = [at for at, line in enumerate(bare) if line == wanted[0]]
    matches = [at for at in firsts if bare[at : at + length] == wanted]
    return matches[0] if len(matches) == 1 else None


def _fit(lines: Sequence[str], at: int, place: DiffPlace) -> list[str]:
    """Return the lines that come in; the last line of a file may have no end."""
    is_last = at + len(place.before) >= len(lines)
    fitted = [_bare(line) + "\n" for line in place.after]
    ends_bare = bool(place.after) and not place.after[-1].endswith("\n")
    if fitted and is_last and ends_bare:
        fitted[-1] = _bare(fitted[-1])
    return fitted


def _bare(line: str) -> str:
    return line.removesuffix("\n")


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: a form feed or a Unicode separator stands inside a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


_MATCHED_PAIRS = 250_000
"""Of lines that are compared one by one; where there are more, all between the first and last difference is one."""
_HEADING = expression(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
_HUNKS = 64
"""More of them are one."""


class MovedOnError(Exception):
    """What a change wrote does not stand unmistakably in the text as it is now."""


class Hunk(Struct, frozen=True):
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


def both_versions(original: str, copy: str) -> str:
    """Return the lines of two versions of a text; where they differ, those of the original stand last.

    Of two versions of one fact in a log the last line holds.
    """
    old, new = lines_of(original), lines_of(copy)
    lines, at, to = list[str](), 0, 0
    for begin, other, count in matched(old, new):
        lines += [*new[to:other], *old[at:begin], *old[begin : begin + count]]
        at, to = begin + count, other + count
    return "\n".join(lines)


def hunks_between(before: str, after: str) -> tuple[Hunk, ...]:
    """Return what differs, in order."""
    old, new = lines_of(before), lines_of(after)
    found = list(_gaps(old, new))
    gaps = [_slide(new, gap, floor) for gap, floor in zip(found, [0, *(gap[3] for gap in found)], strict=False)]
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


def _slide(new: Sequence[str], gap: tuple[int, int, int, int], floor: int) -> tuple[int, int, int, int]:
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
    places = [(at, at + len(hunk.added)) for hunk in hunks for at in [_hunk_position(lines, hunk)]]
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
        places = [(begin + _heading_to_keep(lines[end:], hunks[0]), end)]
    # from below, so that the places above stay what they are
    for (begin, end), hunk in reversed(list(zip(places, hunks, strict=True))):
        lines[begin:end] = hunk.removed
    return "\n".join(lines)


def _heading_to_keep(below: Sequence[str], hunk: Hunk) -> int:
    """Return how many of the first lines of a hunk are to stay: up to a heading below which stands what came later."""
    next_line = next((line for line in below if line.strip()), "")
    was_there = next((line for line in hunk.below if line.strip()), "")
    headings = [at for at, line in enumerate(hunk.added) if _HEADING.match(line)]
    is_unknown = not was_there and len(hunk.below) == CONTEXT
    if hunk.removed or not headings or not next_line or next_line == was_there or is_unknown:
        return 0
    level, next_one = _level(hunk.added[headings[-1]]), _level(next_line)
    return headings[-1] + 1 if not next_one or next_one > level else 0


def _level(line: str) -> int:
    """Return the level of a heading, 0 for a line that is none."""
    found = _HEADING.match(line)
    return len(found[1]) if found else 0


def _hunk_position(lines: Sequence[str], hunk: Hunk) -> int:
    """Return where the lines stand that a hunk wrote; raises MovedOnError if nobody can say."""
    everywhere = list(_occurrences(lines, hunk.added))
    for around in range(CONTEXT, 0, -1):
        places = [at for at in everywhere if _fits(lines, hunk, at, around)]
        if places:
            break
    else:
        # the neighbours were edited; lines that never had a twin are what was written
        places = _beside_one_neighbour(lines, hunk) if not hunk.added else everywhere if hunk.is_unique else []
    if len(places) == 1:
        return places[0]
    if hunk.added:
        if not places:
            raise MovedOnError(f"what it wrote at line {hunk.line} does not stand there as it was written")
        raise MovedOnError(f"what it wrote at line {hunk.line} may be meant in {len(places)} places")
    if not places:
        raise MovedOnError(f"the lines around what it took out at line {hunk.line} are others now")
    raise MovedOnError(f"what it took out at line {hunk.line} may belong in {len(places)} places")


def _beside_one_neighbour(lines: Sequence[str], hunk: Hunk) -> list[int]:
    """Return where lines that were taken out may go back, where those above and below stand no longer together.

    The side of which more is left says where; a side that stands in several places says nothing if the other knows.
    """
    several: list[int] = []
    for around in range(CONTEXT, 0, -1):
        above, below = hunk.above[-around:], hunk.below[:around]
        for near, offset in ((above, len(above)), (below, 0)):
            if any(map(str.strip, near)):
                places = [at + offset for at in _occurrences(lines, near)]
                if len(places) == 1:
                    return places
                several = several or places
    return several


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
    has_context = around == CONTEXT or any(map(str.strip, (*hunk.above[-around:], *hunk.below[:around], *hunk.added)))
    return wanted == found and has_context


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the lines that both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


_SAYS_NOTHING = expression(r"\s*(?:#{1,6}(?:[ \t].*)?)?")
"""A blank line, or a heading, which may hold what came later."""


class Forgotten(Struct, frozen=True):
    """What is forgotten: `is_in` finds it in a text; `cut` returns a line as forgetting leaves it, if it stays.

    `is_near` finds it also where some of the words are others, for texts that nobody misses.
    """

    is_in: Callable[[str], bool]
    cut: Callable[[str], str] = lambda line: line
    is_near: Callable[[str], bool] = lambda _text: False


def without_forgotten(hunks: Sequence[Hunk], gone: Forgotten) -> tuple[Hunk, ...] | None:
    """Return hunks without the lines of what is forgotten; None where nothing is left that could be taken back."""
    left = [_without_traces(hunk, gone) for hunk in hunks]
    if None in left:
        return None
    return tuple(one for one in left if one is not None and (one.added or one.removed)) or None


def _without_traces(hunk: Hunk, gone: Forgotten) -> Hunk | None:
    """Return a hunk without such lines, an empty one where it said nothing else; None if it cannot be taken back."""
    if not any(map(gone.is_in, _texts(hunk))):
        return hunk
    added, removed = _remaining_lines(hunk.added, gone), _remaining_lines(hunk.removed, gone)
    left = replace(
        hunk,
        added=added,
        removed=removed,
        above=_remaining_lines(hunk.above, gone),
        below=_remaining_lines(hunk.below, gone),
    )
    if any(map(gone.is_in, _texts(left))):
        # it runs over the lines of the change and those around it
        left = replace(left, above=(), below=())
    if any(map(gone.is_in, _texts(left))):
        return None
    if (added, removed) == (hunk.added, hunk.removed):
        return left
    if all(map(_SAYS_NOTHING.fullmatch, (*added, *removed))):
        return replace(left, added=(), removed=())
    # what stands in the place of something would go, and nothing come back
    return None if hunk.removed and not removed else left


def _remaining_lines(lines: Sequence[str], gone: Forgotten) -> tuple[str, ...]:
    return tuple(line for line in map(gone.cut, lines) if not gone.is_in(line))


def _texts(hunk: Hunk) -> list[str]:
    """Return the texts of a change as they stood in the file, so that a memory of several lines is found."""
    return ["\n".join((*hunk.above, *lines, *hunk.below)) for lines in (hunk.removed, hunk.added)]
