"""Unified diffs of one file: made for a person to read, and applied where their lines still stand unmistakably.

Texts have plain line ends, as `note_text` reads them.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

CONTEXT: Final = 3
"""Lines around a change."""
_NO_NEWLINE: Final = "\\ No newline at end of file\n"
_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")


@dataclass(frozen=True, slots=True)
class DiffPlace:
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


def places(diff: str) -> tuple[DiffPlace, ...]:
    """Return the places of a diff in order; raises ValueError for what is none."""
    return tuple(_places(_lines(diff)))


def applied(text: str, diff: str) -> str | None:
    """Return a text with a diff applied; None where it no longer says where its lines go.

    A place is where it was, or the only one that has the same lines: of two, nobody knows which is meant.
    """
    lines, moved = _lines(text), 0
    for place in places(diff):
        found = _place(lines, place, place.start + moved)
        if found is None:
            return None
        lines[found : found + len(place.before)] = _fitted(lines, found, place)
        moved = found - place.start + len(place.after) - len(place.before)
    return "".join(lines)


def carried(before: str, after: str, diff: str) -> str | None:
    """Return a diff of one text as one of what became of it, None where both changed the same lines.

    What comes in where the other change put something goes behind that.
    """
    wanted = applied(before, diff)
    if wanted is None:
        return None
    old, new = _lines(before), _lines(after)
    moves = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    edits = difflib.SequenceMatcher(None, old, _lines(wanted), autojunk=False).get_opcodes()
    # from below, so that the places above stay what they are
    for kind, first, end, start, stop in reversed(edits):
        if kind == "equal":
            continue
        begin = _carried(moves, first, end)
        if begin is None:
            return None
        new[begin : begin + end - first] = _lines(wanted)[start:stop]
    return unified_diff(_path(diff), after, "".join(new))


def is_applied(text: str, diff: str) -> bool:
    """Tell whether a text has become what a diff leads to: its lines stand there with what is around them."""
    lines, moved = _lines(text), 0
    for place in places(diff):
        found = _place(lines, DiffPlace(place.start, place.after, place.before), place.start + moved)
        if found is None:
            return False
        moved = found - place.start + len(place.after) - len(place.before)
    return True


def _carried(moves: Sequence[tuple[str, int, int, int, int]], first: int, end: int) -> int | None:
    """Return where lines stand that another change did not touch; for none of them, the place behind that change."""
    for kind, begin, stop, to, last in reversed(moves):
        if first == end and kind != "equal" and begin <= first <= stop:
            return last if first == stop else None
        if kind == "equal" and begin <= first and end <= stop:
            return to + first - begin
    return 0 if first == end == 0 else None


def _path(diff: str) -> str:
    return _lines(diff)[1].removeprefix("+++ b/").removesuffix("\n")


def _places(lines: Sequence[str]) -> Iterator[DiffPlace]:
    at = 2
    if len(lines) < 3 or not lines[0].startswith("--- ") or not lines[1].startswith("+++ "):
        raise ValueError("not a unified diff")
    while at < len(lines):
        head = _HUNK.match(lines[at])
        if head is None:
            raise ValueError(f"not the head of a place: {lines[at]!r}")
        end = next((it for it in range(at + 1, len(lines)) if lines[it].startswith("@@")), len(lines))
        yield _parsed(head, lines[at + 1 : end])
        at = end


def _parsed(head: re.Match[str], body: Sequence[str]) -> DiffPlace:
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


def _place(lines: Sequence[str], place: DiffPlace, expected: int) -> int | None:
    if not place.before:
        return 0 if not lines else None
    length = len(place.before)
    wanted = [_bare(line) for line in place.before]
    bare = [_bare(line) for line in lines]
    if bare[expected : expected + length] == wanted and expected >= 0:
        return expected
    firsts = [at for at, line in enumerate(bare) if line == wanted[0]]
    found = [at for at in firsts if bare[at : at + length] == wanted]
    return found[0] if len(found) == 1 else None


def _fitted(lines: Sequence[str], at: int, place: DiffPlace) -> list[str]:
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
