"""What a change keeps of its lines when a memory is forgotten: all but those of the memory.

The lines go as they went from the file, so that what stayed there can be taken back as before.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.memories.hunks import Hunk

_SAYS_NOTHING: Final = re.compile(r"\s*(?:#{1,6}(?:[ \t].*)?)?")
"""A blank line, or a heading, which may hold what came later."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is forgotten: `is_in` finds it in a text; `cut` returns a line as forgetting leaves it, if it stays."""

    is_in: Callable[[str], bool]
    cut: Callable[[str], str] = lambda line: line


def without_forgotten(hunks: Sequence[Hunk], gone: Forgotten) -> tuple[Hunk, ...] | None:
    """Return hunks without the lines of what is forgotten; None where nothing is left that could be taken back."""
    left = [_left(hunk, gone) for hunk in hunks]
    if None in left:
        return None
    return tuple(one for one in left if one is not None and not _is_empty(one)) or None


def _left(hunk: Hunk, gone: Forgotten) -> Hunk | None:
    """Return a hunk without such lines, an empty one where it said nothing else; None if it cannot be taken back."""
    if not any(map(gone.is_in, _texts(hunk))):
        return hunk
    added, removed = _kept(hunk.added, gone), _kept(hunk.removed, gone)
    left = replace(hunk, added=added, removed=removed, above=_kept(hunk.above, gone), below=_kept(hunk.below, gone))
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


def _kept(lines: Sequence[str], gone: Forgotten) -> tuple[str, ...]:
    return tuple(line for line in map(gone.cut, lines) if not gone.is_in(line))


def _texts(hunk: Hunk) -> list[str]:
    """Return the texts of a change as they stood in the file, so that a memory of several lines is found."""
    return ["\n".join((*hunk.above, *lines, *hunk.below)) for lines in (hunk.removed, hunk.added)]


def _is_empty(hunk: Hunk) -> bool:
    return not hunk.added and not hunk.removed
