"""Where the text of a chunk stands in its document now: nowhere, at its lines, or at others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from memoryd.domain.text.headings import Headings, headings_of
from memoryd.domain.text.lines import PADDING

_LINE_END = ord("\n")


@dataclass(frozen=True)
class PresentText:
    """A document as it is now: `data` is UTF-8 that ends in `PADDING`. Its headings are looked for once, if at all."""

    data: bytes

    def line_of(self, text: str, heading: str, line: int) -> int | None:
        """Return on which line (from 1) a chunk begins that began on `line`, None if it is not in the document.

        It is there where all its lines stand, whole and in a row, below the headings that it is told under. Of
        several places the nearest counts, of two that are as near the one above.
        """
        chunk = text.encode("utf-8", "surrogatepass")
        best: int | None = None
        for found, offset in self._places(chunk):
            is_nearer = best is None or abs(found - line) < abs(best - line)
            if is_nearer and self._is_below(heading, offset, offset + len(chunk)):
                best = found
            if found >= line and best is not None:
                break
        return best

    @property
    def _size(self) -> int:
        return len(self.data) - len(PADDING)

    @cached_property
    def _headings(self) -> Headings:
        return headings_of(self.data)

    def _places(self, chunk: bytes) -> Iterator[tuple[int, int]]:
        """Yield line (from 1) and offset of each place where the bytes are whole lines."""
        line, counted, at = 1, 0, self.data.find(chunk, 0, self._size)
        while at >= 0:
            if self._begins_line(at) and self._ends_line(at + len(chunk)):
                line += self.data.count(b"\n", counted, at)
                counted = at
                yield line, at
            # nothing can begin before the next line does
            following = self.data.find(b"\n", at, self._size) + 1
            at = self.data.find(chunk, following, self._size) if following else -1

    def _begins_line(self, at: int) -> bool:
        return at == 0 or self.data[at - 1] == _LINE_END

    def _ends_line(self, at: int) -> bool:
        # the padding ends the last line
        return self.data[at - 1] == _LINE_END or self.data[at : at + 2] == b"\r\n" or self.data[at] == _LINE_END

    def _is_below(self, heading: str, start: int, stop: int) -> bool:
        """Tell whether a line of the place stands below this path of headings: its first lines may repeat others."""
        at = start
        while at < stop:
            if self._headings.path(at) == heading:
                return True
            at = self.data.index(b"\n", at) + 1
        return False
