"""Unified diffs of one file: written for a person to read, applied and reverted where their lines fit unambiguously.

Texts have plain line ends, as read by `note_text`. Lines are the parts between line breaks, so a text that ends in a
break has an empty last line. When a memory is forgotten, its lines are removed from a stored change; the rest can
still be reverted.
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import TextMatch, expression

CONTEXT = 3
"""Lines of context around a change."""
_NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = expression(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")


class DiffPlace(Struct, frozen=True):
    """One hunk of a diff: from line `start`, counted from 0, the lines `before` become `after`, line ends included."""

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the change of a file, in the format of `diff -u` and git; empty if it does not change."""
    old, new, path = _lines(before), _lines(after), path.replace("\n", " ")
    lines = difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}", n=CONTEXT)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def changed_lines(diff: str) -> str:
    """Return the removed and added lines of a diff, without headers and context."""
    body = _lines(diff)[2:]
    return "".join(line for line in body if line[:1] in "+-")


def apply_diff(text: str, diff: str) -> str | None:
    """Return a text with a diff applied; None if the place of its lines is no longer certain.

    A hunk applies at its place, or at the only other place with the same lines; if there are several, none is chosen.
    """
    lines, moved = _lines(text), 0
    for place in _places(diff):
        position = _diff_position(lines, place, place.start + moved)
        if position is None:
            return None
        lines[position : position + len(place.before)] = _fit(lines, position, place)
        moved = position - place.start + len(place.after) - len(place.before)
    return "".join(lines)


def rebase_diff(before: str, after: str, diff: str) -> str | None:
    """Return a diff of one text rebased onto a changed version; None if both changed the same lines.

    Lines inserted at the same place go after those of the other change.
    """
    patched = apply_diff(before, diff)
    if patched is None:
        return None
    old, new, made = _lines(before), _lines(after), _lines(patched)
    unchanged, changed = list(equal_runs(old, new)), list(_gaps(old, new))
    # from below, so that earlier positions stay valid
    for first, end, start, stop in reversed(list(_gaps(old, made))):
        begin = _map_position(unchanged, changed, first, end)
        if begin is None:
            return None
        new[begin : begin + end - first] = made[start:stop]
    return unified_diff(_lines(diff)[1].removeprefix("+++ b/").removesuffix("\n"), after, "".join(new))


def is_applied(text: str, diff: str) -> bool:
    """Return whether a diff is applied to a text: its new lines are there with their context."""
    lines, moved = _lines(text), 0
    for place in _places(diff):
        position = _diff_position(lines, DiffPlace(place.start, place.after, place.before), place.start + moved)
        if position is None:
            return False
        moved = position - place.start + len(place.after) - len(place.before)
    return True


def _map_position(
    unchanged: Sequence[tuple[int, int, int]], changed: Sequence[tuple[int, int, int, int]], first: int, end: int
) -> int | None:
    """Return the new position of lines that another change left alone; for no lines, the position after that change."""
    if first == end:
        for begin, stop, _, last in changed:
            if begin <= first <= stop:
                return last if first == stop else None
    return next((to + first - begin for begin, to, count in unchanged if begin <= first and end <= begin + count), None)


def _places(diff: str) -> Iterator[DiffPlace]:
    """Yield the hunks of a diff in order; raise ValueError if it is no unified diff."""
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
    # without lines before, the header names the line after which the new ones go
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
    matches = list(occurrences(bare, wanted))
    return matches[0] if len(matches) == 1 else None


def _fit(lines: Sequence[str], at: int, place: DiffPlace) -> list[str]:
    """Return the new lines; only the last line of a file may lack its line end."""
    is_last = at + len(place.before) >= len(lines)
    fitted = [_bare(line) + "\n" for line in place.after]
    ends_bare = bool(place.after) and not place.after[-1].endswith("\n")
    if fitted and is_last and ends_bare:
        fitted[-1] = _bare(fitted[-1])
    return fitted


def _bare(line: str) -> str:
    return line.removesuffix("\n")


def _lines(text: str) -> list[str]:
    """Split at line feeds only: a form feed or a Unicode separator is part of a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


_MATCHED_PAIRS = 250_000
"""Most pairs of lines to compare; beyond that everything between the first and last difference is one change."""
_HEADING = expression(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
_HUNKS = 64
"""More hunks than this are combined into one."""


class UncertainPlaceError(Exception):
    """What a change wrote cannot be located unambiguously in the current text."""


class Hunk(Struct, frozen=True):
    """Lines that were removed from a text, and those added in their place, at `line` (from 1) of the new text.

    `above` and `below` are the context in the new text, fewer than `CONTEXT` lines at its ends. `is_unique`: the added
    lines are not all blank, and occurred only there.
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


def equal_runs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of equal lines in order: their starts in both texts, and their length."""
    top = _common(before, after)
    bottom = _common(before[top:][::-1], after[top:][::-1])
    yield 0, 0, top
    inner, other = before[top : len(before) - bottom], after[top : len(after) - bottom]
    if len(inner) * len(other) <= _MATCHED_PAIRS:
        for block in SequenceMatcher(None, inner, other, autojunk=False).get_matching_blocks():
            yield top + block.a, top + block.b, block.size
    yield len(before) - bottom, len(after) - bottom, bottom


def merge_versions(original: str, copy: str) -> str:
    """Return the lines of two versions of a text; where they differ, those of the original are last.

    In a log, the last line about a fact is the valid one.
    """
    old, new = lines_of(original), lines_of(copy)
    lines, at, to = list[str](), 0, 0
    for begin, other, count in equal_runs(old, new):
        lines += [*new[to:other], *old[at:begin], *old[begin : begin + count]]
        at, to = begin + count, other + count
    return "\n".join(lines)


def hunks_between(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the differences of two texts in order."""
    old, new = lines_of(before), lines_of(after)
    differences = list(_gaps(old, new))
    gaps = [
        _slide(new, gap, floor) for gap, floor in zip(differences, [0, *(gap[3] for gap in differences)], strict=False)
    ]
    if len(gaps) > _HUNKS:
        (at, _, to, _), (_, begin, _, other) = gaps[0], gaps[-1]
        gaps = [(at, begin, to, other)]
    return tuple(_hunk(new, tuple(old[at:begin]), to, other) for at, begin, to, other in gaps)


def _gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the differing stretches: start and end in the old lines, and in the new lines."""
    at, to = 0, 0
    for begin, other, count in equal_runs(old, new):
        if at < begin or to < other:
            yield at, begin, to, other
        at, to = begin + count, other + count


def _slide(new: Sequence[str], gap: tuple[int, int, int, int], floor: int) -> tuple[int, int, int, int]:
    """Return a gap of added lines that ends with a blank line shifted up by as much as the text stays the same.

    Otherwise lines added below it later would be between the lines of this change.
    """
    at, begin, to, other = gap
    while at == begin and to > floor and not new[other - 1].strip() and new[other - 1] == new[to - 1]:
        at, begin, to, other = at - 1, begin - 1, to - 1, other - 1
    return at, begin, to, other


def _hunk(new: Sequence[str], removed: tuple[str, ...], begin: int, end: int) -> Hunk:
    added = tuple(new[begin:end])
    is_unique = any(map(str.strip, added)) and len(list(occurrences(new, added))) == 1
    above, below = new[max(0, begin - CONTEXT) : begin], new[end : end + CONTEXT]
    return Hunk(begin + 1, removed, added, tuple(above), tuple(below), is_unique)


def hunk_places(text: str, hunks: Sequence[Hunk]) -> list[tuple[int, int]]:
    """Return the places of hunks in a text: the first line, from 0, and the line after the last.

    Raises MovedOnError if they cannot be determined.
    """
    lines = lines_of(text)
    places = [(at, at + len(hunk.added)) for hunk in hunks for at in [_hunk_position(lines, hunk)]]
    if any(end > after for (_, end), (after, _) in pairwise(places)):
        raise UncertainPlaceError("its lines are in another order now")
    return places


def revert_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """Return a text without the lines a change added, and with those it removed; raises MovedOnError.

    A heading that the change added stays if other lines were added below it since.
    """
    lines, places = lines_of(text), hunk_places(text, hunks)
    if len(hunks) == 1:
        # with several hunks, the text below a heading of one may belong to another hunk
        begin, end = places[0]
        places = [(begin + _heading_to_keep(lines[end:], hunks[0]), end)]
    # from below, so that earlier positions stay valid
    for (begin, end), hunk in reversed(list(zip(places, hunks, strict=True))):
        lines[begin:end] = hunk.removed
    return "\n".join(lines)


def _heading_to_keep(below: Sequence[str], hunk: Hunk) -> int:
    """Return the number of first lines of a hunk to keep: up to a heading with later lines below it."""
    next_line = next((line for line in below if line.strip()), "")
    old_line = next((line for line in hunk.below if line.strip()), "")
    headings = [at for at, line in enumerate(hunk.added) if _HEADING.match(line)]
    is_unknown = not old_line and len(hunk.below) == CONTEXT
    if hunk.removed or not headings or not next_line or next_line == old_line or is_unknown:
        return 0
    level, next_level = _level(hunk.added[headings[-1]]), _level(next_line)
    return headings[-1] + 1 if not next_level or next_level > level else 0


def _level(line: str) -> int:
    """Return the level of a heading, 0 for any other line."""
    match = _HEADING.match(line)
    return len(match[1]) if match else 0


def _hunk_position(lines: Sequence[str], hunk: Hunk) -> int:
    """Return the position of the lines that a hunk added; raise MovedOnError if it is not certain."""
    everywhere = list(occurrences(lines, hunk.added))
    for around in range(CONTEXT, 0, -1):
        places = [at for at in everywhere if _fits(lines, hunk, at, around)]
        if places:
            break
    else:
        # the neighbours were edited; lines that were unique are still the ones that were written
        places = _positions_by_neighbour(lines, hunk) if not hunk.added else everywhere if hunk.is_unique else []
    if len(places) == 1:
        return places[0]
    if hunk.added:
        if not places:
            raise UncertainPlaceError(f"what it wrote at line {hunk.line} is no longer there as it was written")
        raise UncertainPlaceError(f"what it wrote at line {hunk.line} may be meant in {len(places)} places")
    if not places:
        raise UncertainPlaceError(f"the lines around what it took out at line {hunk.line} are others now")
    raise UncertainPlaceError(f"what it took out at line {hunk.line} may belong in {len(places)} places")


def _positions_by_neighbour(lines: Sequence[str], hunk: Hunk) -> list[int]:
    """Return the possible positions for removed lines whose neighbours above and below are no longer adjacent.

    The side with more lines left decides; a side that occurs several times is ignored if the other side is unique.
    """
    several: list[int] = []
    for around in range(CONTEXT, 0, -1):
        above, below = hunk.above[-around:], hunk.below[:around]
        for near, offset in ((above, len(above)), (below, 0)):
            if any(map(str.strip, near)):
                places = [at + offset for at in occurrences(lines, near)]
                if len(places) == 1:
                    return places
                several = several or places
    return several


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yield the positions of consecutive lines among others; of no lines, every position."""
    count = len(wanted)
    for at in range(len(lines) - count + 1):
        if (not count or lines[at] == wanted[0]) and tuple(lines[at : at + count]) == tuple(wanted):
            yield at


def _fits(lines: Sequence[str], hunk: Hunk, at: int, around: int) -> bool:
    """Return whether `around` lines on each side of a place equal the context of the change."""
    below = at + len(hunk.added)
    wanted = hunk.above[-around:], hunk.below[:around]
    actual = tuple(lines[max(0, at - around) : at]), tuple(lines[below : below + around])
    # a gap between two blank lines could be anywhere
    has_context = around == CONTEXT or any(map(str.strip, (*hunk.above[-around:], *hunk.below[:around], *hunk.added)))
    return wanted == actual and has_context


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the equal lines at the start of both."""
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


_WITHOUT_CONTENT = expression(r"\s*(?:#{1,6}(?:[ \t].*)?)?")
"""A blank line, or a heading, which may belong to later lines."""


class Forgotten(Struct, frozen=True):
    """Predicates for forgotten text. `is_in` finds it in a text; `cut` returns a line without it, if the line may stay.

    `is_near` also finds it with some words changed, for texts that can be dropped without harm.
    """

    is_in: Callable[[str], bool]
    cut: Callable[[str], str] = lambda line: line
    is_near: Callable[[str], bool] = lambda _text: False


def without_forgotten(hunks: Sequence[Hunk], forgotten: Forgotten) -> tuple[Hunk, ...] | None:
    """Return hunks without forgotten lines; None if nothing is left that could be reverted."""
    left = [_without_traces(hunk, forgotten) for hunk in hunks]
    if None in left:
        return None
    return tuple(hunk for hunk in left if hunk is not None and (hunk.added or hunk.removed)) or None


def _without_traces(hunk: Hunk, forgotten: Forgotten) -> Hunk | None:
    """Return a hunk without forgotten lines, an empty one if it had no other; None if it cannot be reverted then."""
    if not any(map(forgotten.is_in, _texts(hunk))):
        return hunk
    added, removed = _remaining_lines(hunk.added, forgotten), _remaining_lines(hunk.removed, forgotten)
    left = replace(
        hunk,
        added=added,
        removed=removed,
        above=_remaining_lines(hunk.above, forgotten),
        below=_remaining_lines(hunk.below, forgotten),
    )
    if any(map(forgotten.is_in, _texts(left))):
        # the text spans the lines of the change and their context
        left = replace(left, above=(), below=())
    if any(map(forgotten.is_in, _texts(left))):
        return None
    if (added, removed) == (hunk.added, hunk.removed):
        return left
    if all(map(_WITHOUT_CONTENT.fullmatch, (*added, *removed))):
        return replace(left, added=(), removed=())
    # reverting would remove the replacement and restore nothing
    return None if hunk.removed and not removed else left


def _remaining_lines(lines: Sequence[str], forgotten: Forgotten) -> tuple[str, ...]:
    return tuple(line for line in map(forgotten.cut, lines) if not forgotten.is_in(line))


def _texts(hunk: Hunk) -> list[str]:
    """Return both sides of a hunk with its context, so that a memory of several lines is found."""
    return ["\n".join((*hunk.above, *lines, *hunk.below)) for lines in (hunk.removed, hunk.added)]
