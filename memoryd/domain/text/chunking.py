"""Cutting a document into chunks, which are cited and returned, and passages, which are embedded.

Chunks are exact slices of the text. Each has a part of its own, and before it a few lines from the end of the
previous one; the own parts tile the document. Passages tile the own part.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from memoryd.domain.text.anchors import divide
from memoryd.domain.text.headings import Headings, front_matter_bytes
from memoryd.domain.text.lines import PADDING, padded, tabulate
from memoryd.domain.text.segments import RANK_SHIFT, pieces, sums
from memoryd.domain.text.structure import Rank, analyse
from memoryd.domain.text.tokens import UNIT, ByteArray

CHUNKER_VERSION = 1
"""Part of a chunk's identity: goes up whenever the same text would be cut differently."""

PIECE_SHARE = 0.4
"""Longest piece that is not cut further, as a share of the smallest budget."""

_HEADING, _LINE, _GLUED = int(Rank.HEADING_6), int(Rank.INSIDE), int(Rank.GLUED)


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets into the document, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document: offsets end-exclusive, in characters or bytes; lines from 1, both inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int
    heading: str
    """Titles of the headings that enclose the own part, outermost first, joined with " > "."""
    passages: tuple[Span, ...]
    own_start: int
    """Where the part begins that no other chunk has; before it stands the overlap."""


def chunk(text: str, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100) -> list[Chunk]:
    """Return the chunks of a document as `each_chunk` cuts them, with offsets in characters."""
    data = padded(text)
    cut = list(each_chunk(data, tokens=tokens, overlap=overlap, passage_tokens=passage_tokens))
    return cut if data.isascii() else _in_characters(cut, data)


def each_chunk(data: bytes, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100) -> Iterator[Chunk]:
    """Cut a document, UTF-8 that ends in `PADDING`, into chunks of at most `tokens` estimated tokens; offsets in bytes.

    A chunk's own part has at most `tokens - overlap` of them (a document that fits is one chunk) and its passages
    at most `passage_tokens` each; only a single character may exceed a limit. `overlap` is clamped to half of
    `tokens`. Chunks that would hold nothing but white space are left out.
    """
    if len(data) == len(PADDING):
        return
    overlap = min(max(overlap, 0), tokens // 2)
    document = _Document(data, max(min(tokens - overlap, passage_tokens), 1))
    whole = document.cost() <= tokens * UNIT
    parts = [0] if whole else document.divide(0, document.size, max(tokens - overlap, 1))
    yield from _chunks(document, parts, overlap * UNIT, max(passage_tokens, 1))


class _Document:
    """A text with its structure and its pieces; places in it are numbers of pieces."""

    def __init__(self, data: bytes, finest_budget: int) -> None:
        self._data = data
        front_matter = front_matter_bytes(data)
        structure = analyse(tabulate(data), front_matter)
        self._headings = Headings(structure, front_matter)
        self._pieces = pieces(structure, max(int(PIECE_SHARE * finest_budget * UNIT), 1))
        self._ranks = (self._pieces.keys >> np.uint64(RANK_SHIFT)).astype(np.uint8).tobytes()
        self.size = len(self._ranks)

    def cost(self, first: int = 0, last: int = -1) -> int:
        return int(self._pieces.costs[last] - self._pieces.costs[first])

    def divide(self, first: int, last: int, tokens: int) -> list[int]:
        costs, keys = self._pieces.costs[first : last + 1], self._pieces.keys[first:last]
        return [first + at for at in divide(costs, keys, tokens * UNIT)]

    def offset(self, at: int) -> int:
        return int(self._pieces.starts[at])

    def line_ends(self, first: int, last: int) -> int:
        return self._data.count(b"\n", self.offset(first), self.offset(last))

    def is_blank(self, first: int, last: int) -> bool:
        return self._data[self.offset(first) : self.offset(last)].decode("utf-8", "surrogatepass").isspace()

    def ends_line(self, at: int) -> bool:
        return self._data[self.offset(at) - 1] == ord("\n")

    def overlap_start(self, previous: int, start: int, room: int) -> int:
        """Find where the end of the previous part begins that fits into `room`, best at a line or a heading.

        A part that starts with a heading gets none: the section before is another matter.
        """
        ranks, costs = self._ranks, self._pieces.costs
        if ranks[start] >= _HEADING:
            return start
        first = previous + int(np.searchsorted(costs[previous:start], costs[start] - room))
        for at in range(start - 1, first - 1, -1):
            if ranks[at] >= _HEADING:
                return at
        line = next((at for at in range(first, start) if ranks[at] >= _LINE or ranks[at] == _GLUED), start)
        return line if 2 * self.cost(line, start) >= room else first

    def heading(self, at: int) -> str:
        """Give the path of headings at a place."""
        return self._headings.path(self.offset(at))


def _in_characters(cut: list[Chunk], data: bytes) -> list[Chunk]:
    """Turn byte offsets, which begin characters, into character offsets."""
    edges = np.unique(
        [at for part in cut for at in (part.start, *(it for span in part.passages for it in _ends(span)))]
    )
    counts = np.insert(np.cumsum(sums(partial(_begun, data), edges, len(data))), 0, 0)
    first = len(data[: int(edges[0])].decode("utf-8", "surrogatepass")) if len(edges) else 0
    at = dict(zip(edges.tolist(), (first + counts).tolist(), strict=False))
    return [
        replace(
            part,
            start=at[part.start],
            end=at[part.end],
            own_start=at[part.own_start],
            passages=tuple(Span(at[span.start], at[span.end]) for span in part.passages),
        )
        for part in cut
    ]


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _begun(data: bytes, start: int, stop: int) -> ByteArray:
    """Mark the bytes that begin a character."""
    begins: ByteArray = (np.frombuffer(data[start:stop], np.uint8) & 0xC0 != 0x80).view(np.uint8)
    return begins


def _chunks(document: _Document, parts: list[int], overlap: int, passage_tokens: int) -> Iterator[Chunk]:
    previous, line = 0, 1
    for own, end in pairwise([*parts, document.size]):
        start = document.overlap_start(previous, own, overlap) if own else own
        next_line = line + document.line_ends(own, end)
        if not document.is_blank(own, end):
            passages = [*document.divide(own, end, passage_tokens), end]
            yield Chunk(
                start=document.offset(start),
                end=document.offset(end),
                start_line=line - document.line_ends(start, own),
                end_line=next_line - document.ends_line(end),
                heading=document.heading(own),
                passages=tuple(Span(*map(document.offset, span)) for span in pairwise(passages)),
                own_start=document.offset(own),
            )
        previous, line = own, next_line
