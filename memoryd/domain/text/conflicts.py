"""Two versions of a text in one, as git leaves them between its marks when both sides changed the same lines.

What is above `=======` is this side, what is below it the other one. With `merge.conflictStyle` diff3 what both were
made of stands between them, and belongs to neither.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import expression


class KeepVersion(StrEnum):
    """What a person keeps of two versions."""

    ORIGINAL = "original"
    """The note as it is called, or above the line between git's marks."""
    COPY = "copy"
    BOTH = "both"
    """The lines of both, those of the original first where they differ."""


class MarkedConflict(Struct, frozen=True):
    """One place where git left two versions, in bytes: from `start` to before `end` with its marks, and each side."""

    start: int
    end: int
    original: tuple[int, int]
    copy: tuple[int, int]


_BEGINS: Final = b"<<<<<<<"
_MARK: Final = expression(rb"^(<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?$\n?", re.MULTILINE)
_BYTE: Final = expression(rb"[^\r\n]")


def marked_conflicts(data: bytes) -> Iterator[MarkedConflict]:
    """Yield the places in order; what lacks one of its marks is none. Linear in the length of the text."""
    if _BEGINS not in data:
        return
    marks: dict[bytes, re.Match[bytes]] = {}
    for mark in _MARK.finditer(data):
        sign = mark[1][:1]
        if sign == b"<":
            marks = {}
        if sign != b"<" and b"<" not in marks:
            continue
        marks.setdefault(sign, mark)
        if sign == b">" and b"=" in marks:
            first, middle = marks[b"<"], marks[b"="]
            above = min(middle.start(), marks.get(b"|", middle).start())
            yield MarkedConflict(first.start(), mark.end(), (first.end(), above), (middle.end(), mark.start()))
            marks = {}


def without_copies(data: bytes) -> bytes:
    """Return a text with blanks for what the other side says between git's marks; lines and offsets stay."""
    pieces, at = list[bytes](), 0
    for one in marked_conflicts(data):
        begin, end = one.copy
        pieces += [data[at:begin], _BYTE.sub(b" ", data[begin:end])]
        at = end
    return b"".join([*pieces, data[at:]]) if pieces else data


def settled_marks(text: str, keep: KeepVersion) -> str:
    """Return a text without git's marks, and of each of its places with what is kept."""
    data = text.encode()
    pieces, at = list[bytes](), 0
    for one in marked_conflicts(data):
        kept = {KeepVersion.ORIGINAL: [one.original], KeepVersion.COPY: [one.copy]}.get(keep, [one.original, one.copy])
        pieces += [data[at : one.start], *(data[begin:end] for begin, end in kept)]
        at = one.end
    return b"".join([*pieces, data[at:]]).decode()
