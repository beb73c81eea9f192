"""What reflect wrote into a page: the lines between its markers, which are never read back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryd.domain.text.lines import PADDING

BEGIN: Final = "<!-- memoryd:begin -->"
END: Final = "<!-- memoryd:end -->"
_SIGN: Final = b"memoryd:"
_MARKER_OR_FENCE: Final = re.compile(
    rb"^(?P<indent>[ \t]{0,32}+)(?:<!--[ \t]{0,9}+memoryd:(?P<marker>begin|end)[ \t]{0,9}+-->[ \t\r]*+$"
    rb"|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$)",
    re.MULTILINE,
)
_NOT_A_LINE_END: Final = re.compile(rb"[^\n]")
_CODE_INDENT: Final = 4

_NOT_CLOSED: Final = f"{BEGIN} is not closed; put {END} behind what was generated, or take it out"
_NOT_OPENED: Final = f"{END} closes nothing; put {BEGIN} before what was generated, or take it out"


@dataclass(frozen=True, slots=True)
class Generated:
    """The byte ranges of whole lines between the markers, markers included; and those where a marker has no partner,
    with line (1-based) and reason of each: what stands there may be a person's or not."""

    ranges: tuple[tuple[int, int], ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()
    doubts: tuple[tuple[int, str], ...] = ()

    def blanked(self, data: bytes) -> bytes:
        """Return the document with blanks for what was generated; lines and offsets stay."""
        if not self.ranges:
            return data
        pieces, at = [], 0
        for start, end in self.ranges:
            pieces += [data[at:start], _NOT_A_LINE_END.sub(b" ", data[start:end])]
            at = end
        return b"".join([*pieces, data[at:]])


def generated_in(data: bytes, front_matter_end: int) -> Generated:
    """Find what was generated in a document, UTF-8 that ends in `PADDING`.

    A marker stands alone on its line, outside of front matter and of a person's fenced code. Fences between markers
    count for nothing there: what a memory quotes cannot hide the end.
    """
    if _SIGN not in data:
        return Generated()
    ranges, doubtful, doubts = [], [], []
    opened, behind = -1, front_matter_end
    size = len(data) - len(PADDING)
    for start, end, is_begin in _markers(data, front_matter_end):
        if is_begin or opened < 0:
            if opened >= 0 or not is_begin:
                place = (opened, start) if opened >= 0 else (behind, end)
                doubtful.append(place)
                doubts.append((opened, _NOT_CLOSED) if opened >= 0 else (start, _NOT_OPENED))
            opened = start if is_begin else -1
        else:
            ranges.append((opened, end))
            opened = -1
        behind = end
    if opened >= 0:
        doubtful.append((opened, size))
        doubts.append((opened, _NOT_CLOSED))
    return Generated(tuple(ranges), tuple(doubtful), tuple(_numbered(data, doubts)))


def _markers(data: bytes, front: int) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each line that is a marker, and whether it begins what was generated."""
    fence, width, is_open = b"", 0, False
    for match in _MARKER_OR_FENCE.finditer(data, front, len(data) - len(PADDING)):
        indent = len(match["indent"].expandtabs(4))
        if match["marker"]:
            if not fence and indent < _CODE_INDENT:
                is_open = match["marker"] == b"begin"
                yield match.start(), min(match.end() + 1, len(data) - len(PADDING)), is_open
        elif fence:
            closes = match["fence"].startswith(fence) and not match["info"].strip()
            fence = b"" if closes and indent < width + _CODE_INDENT else fence
        elif not is_open and (match["fence"][:1] == b"~" or b"`" not in match["info"]):
            fence, width = match["fence"], indent


def _numbered(data: bytes, doubts: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    line, at = 1, 0
    for offset, reason in doubts:
        line += data.count(b"\n", at, offset)
        at = offset
        yield line, reason
