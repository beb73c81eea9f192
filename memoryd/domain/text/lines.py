"""A table of the lines of a text: start, indentation and first byte of each non-blank line.

Lines end at "\\n" only; a "\\r" stays at the end of its line. Columns are computed as arrays, so a large file costs
a few passes over its bytes and no Python object per line.
"""

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

ByteArray = NDArray[np.uint8]
IndexArray = NDArray[np.int64]
Mask = NDArray[np.bool_]

PADDING = b"\n" * 16
"""Follows the text, so that reading a few bytes past a line start needs no bounds check."""

MAX_INDENT = 32
"""Greatest number of leading blanks examined; a line indented deeper counts as non-blank."""

_BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"
_SPACE, _TAB, _LINE_END, _RETURN = 32, 9, 10, 13


class Lines(Struct, frozen=True):
    """Columns over the non-blank lines of `data`: byte offsets, 0-based line numbers, indentation in columns."""

    data: bytes
    """UTF-8 of the text and `PADDING`."""
    bytes_at: ByteArray
    """The same as an array."""
    starts: IndexArray
    text: IndexArray
    """Offset of the first byte that is no blank."""
    numbers: IndexArray
    indents: IndexArray

    def lead(self, ahead: int = 0) -> ByteArray:
        """Return for each line the byte at distance `ahead` (at most 12) from the first byte of its text."""
        return self.bytes_at[self.text + ahead]

    def ends(self) -> IndexArray:
        """Return the end of each line: after its line end, or the end of the text for the last line."""
        size = len(self.data) - len(PADDING)
        line_ends = np.flatnonzero(self.bytes_at[: size + 1] == _LINE_END) + 1
        return np.minimum(line_ends[np.searchsorted(line_ends, self.text, "right")], size)

    def line(self, index: int) -> bytes:
        """Return one line from its first non-blank byte, without its end and trailing blanks."""
        begin = int(self.text[index])
        return self.data[begin : self.data.index(b"\n", begin)].rstrip()


def encode_padded(text: str) -> bytes:
    """Return a text as UTF-8 with `PADDING`. Any `str` is accepted, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass") + PADDING


def splice(text: str, places: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with slices replaced: (start, end, new text) each, in bytes of UTF-8, end exclusive."""
    data, at, pieces = encode_padded(text), 0, list[bytes]()
    for start, end, new in sorted(places):
        pieces += [data[at:start], new.encode("utf-8", "surrogatepass")]
        at = end
    return b"".join([*pieces, data[at : -len(PADDING)]]).decode("utf-8", "surrogatepass")


def tabulate(data: bytes) -> Lines:
    """Return the table of the non-blank lines of UTF-8 that ends in `PADDING`."""
    content = np.frombuffer(data, np.uint8)
    starts, numbers = _non_empty_lines(content)
    texts, indents = _skip_blanks(data, content, starts)
    first = content[texts]
    # not `isin`, which imports numpy's masked arrays if there is no line at all
    is_text = (first != _LINE_END) & (first != _RETURN)
    return Lines(data, content, starts[is_text], texts[is_text], numbers[is_text], indents[is_text])


def _non_empty_lines(content: ByteArray) -> tuple[IndexArray, IndexArray]:
    """Return starts and numbers of the lines that are not empty, block by block to bound the scratch memory."""
    size = len(content) - len(PADDING)
    starts, numbers = [np.zeros(min(size, 1), np.int64)], [np.zeros(min(size, 1), np.int64)]
    seen = 1
    for base in range(0, size, _BLOCK):
        candidates = np.flatnonzero(content[base : min(base + _BLOCK, size)] == 10) + (base + 1)
        chosen = np.flatnonzero((content[candidates] != 10) & (candidates < size))
        starts.append(candidates[chosen])
        numbers.append(chosen + seen)
        seen += len(candidates)
    return np.concatenate(starts), np.concatenate(numbers)


def _skip_blanks(data: bytes, content: ByteArray, starts: IndexArray) -> tuple[IndexArray, IndexArray]:
    texts, columns = starts.copy(), np.zeros(len(starts), np.int64)
    if data.startswith(_BOM):
        texts[:1] += len(_BOM)
    active = np.arange(len(starts))
    for _ in range(MAX_INDENT):
        lead = content[texts[active]]
        active = active[(lead == _SPACE) | (lead == _TAB)]
        if not len(active):
            break
        is_tab = content[texts[active]] == _TAB
        columns[active] += np.where(is_tab, 4 - columns[active] % 4, 1)
        texts[active] += 1
    return texts, columns
