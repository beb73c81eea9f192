"""Under which headings a place in a document stands, its front matter taken for a part of what follows."""

import numpy as np

from memoryd.domain.text.lines import PADDING, tabulate
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, Outline, front_matter
from memoryd.domain.text.structure import Structure, analyse


class Headings:
    """The paths of headings in one document, whose front matter ends at the byte `front_matter_end`."""

    def __init__(self, structure: Structure, front_matter_end: int) -> None:
        behind = int(np.searchsorted(structure.lines.starts, front_matter_end))
        self._first_line = next(iter(structure.lines.starts[behind : behind + 1].tolist()), None)
        self._front_matter_end = front_matter_end
        self._structure = structure
        self._outline = Outline(structure)

    def path(self, offset: int) -> str:
        """Return the titles that enclose a byte offset, as `Outline.path` joins them."""
        if self._first_line is not None and (not offset or offset < self._front_matter_end):
            offset = self._first_line
        return self._outline.path(offset)

    def tells(self, start: int, stop: int) -> bool:
        """Tell whether from one byte offset to another stand only headings, all told by the path at the second."""
        first, last = np.searchsorted(self._structure.lines.starts, (start, stop)).tolist()
        is_bare = bool(self._structure.levels[first:last].all())
        return is_bare and self._outline.are_within(start, stop, self.path(stop))


def headings_of(data: bytes) -> Headings:
    """Return the headings of a document, UTF-8 that ends in `PADDING`."""
    end = front_matter_bytes(data)
    return Headings(analyse(tabulate(data), end), end)


def front_matter_bytes(data: bytes) -> int:
    """Return where the front matter of a document, UTF-8 that ends in `PADDING`, ends."""
    # a character has four bytes at the most, and is not to be cut in two
    end = min(4 * FRONT_MATTER_CHARS + 4, len(data) - len(PADDING))
    while data[end] & 0xC0 == 0x80:
        end -= 1
    head = data[:end].decode("utf-8", "surrogatepass")
    return len(head[: front_matter(head).end].encode("utf-8", "surrogatepass"))
