"""Cutting a document into chunks, which are cited and returned, and passages, which are embedded.

Chunks are exact slices of the text. Each has a part of its own, and before it a few lines from the end of the
previous one; the own parts tile the document. Passages tile the own part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memoryd.domain.anchors import divide
from memoryd.domain.lines import IndexArray, split
from memoryd.domain.markdown import Outline, front_matter
from memoryd.domain.segments import RANK_SHIFT, pieces, sums
from memoryd.domain.structure import Rank, analyse
from memoryd.domain.tokens import UNIT

CHUNKER_VERSION = 1
"""Part of a chunk's identity: goes up whenever the same text would be cut differently."""

PIECE_SHARE = 0.4
"""Longest piece that is not cut further, as a share of the smallest budget."""

_HEADING, _LINE, _GLUED = int(Rank.HEADING_6), int(Rank.INSIDE), int(Rank.GLUED)


@dataclass(frozen=True, slots=True)
class Span:
    """Character offsets into the document, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document: offsets in characters, end exclusive; lines from 1, both inclusive."""

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
    """Return all that `each_chunk` yields."""
    return list(each_chunk(text, tokens=tokens, overlap=overlap, passage_tokens=passage_tokens))


def each_chunk(text: str, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100) -> Iterator[Chunk]:
    """Cut a document into chunks of at most `tokens` estimated tokens.

    A chunk's own part has at most `tokens - overlap` of them (a document that fits is one chunk) and its passages
    at most `passage_tokens` each; only a single character may exceed a limit. `overlap` is clamped to half of
    `tokens`. Chunks that would hold nothing but white space are left out.
    """
    if not text or text.isspace():
        return
    overlap = min(max(overlap, 0), tokens // 2)
    document = _Document(text, max(min(tokens - overlap, passage_tokens), 1))
    whole = document.cost() <= tokens * UNIT
    parts = [0] if whole else document.divide(0, document.size, max(tokens - overlap, 1))
    yield from _chunks(document, parts, overlap * UNIT, max(passage_tokens, 1))


class _Document:
    """A text with its structure and its pieces; places in it are numbers of pieces."""

    def __init__(self, text: str, finest_budget: int) -> None:
        self.text = text
        self._front_matter = len(text[: front_matter(text).end].encode("utf-8", "surrogatepass"))
        self._lines = split(text)
        structure = analyse(self._lines, self._front_matter)
        self._outline = Outline(structure)
        self._pieces = pieces(structure, max(int(PIECE_SHARE * finest_budget * UNIT), 1))
        self._characters = _character_offsets(self._lines.data, self._pieces.starts)
        self._ranks = (self._pieces.keys >> np.uint64(RANK_SHIFT)).astype(np.uint8).tobytes()
        self.size = len(self._ranks)

    def cost(self, first: int = 0, last: int = -1) -> int:
        return int(self._pieces.costs[last] - self._pieces.costs[first])

    def divide(self, first: int, last: int, tokens: int) -> list[int]:
        costs, keys = self._pieces.costs[first : last + 1], self._pieces.keys[first:last]
        return [first + at for at in divide(costs, keys, tokens * UNIT)]

    def character(self, at: int) -> int:
        return int(self._characters[at])

    def line_ends(self, first: int, last: int) -> int:
        return self._lines.data.count(b"\n", int(self._pieces.starts[first]), int(self._pieces.starts[last]))

    def is_blank(self, first: int, last: int) -> bool:
        return self.text[self.character(first) : self.character(last)].isspace()

    def ends_line(self, at: int) -> bool:
        return self.text[self.character(at) - 1] == "\n"

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
        """Give the path of headings at a place; the front matter counts as part of what follows it."""
        offset = int(self._pieces.starts[at])
        if not offset or offset < self._front_matter:
            line = int(np.searchsorted(self._lines.starts, self._front_matter))
            offset = int(self._lines.starts[line]) if line < len(self._lines.starts) else offset
        return self._outline.path(offset)


def _character_offsets(data: bytes, starts: IndexArray) -> IndexArray:
    """Turn byte offsets into character offsets; the first is 0."""
    if data.isascii():
        return starts
    begins = (np.frombuffer(data, np.uint8)[: starts[-1]] & 0xC0 != 0x80).view(np.uint8)
    return np.insert(np.cumsum(sums(begins, starts[:-1])), 0, 0)


def _chunks(document: _Document, parts: list[int], overlap: int, passage_tokens: int) -> Iterator[Chunk]:
    previous, line = 0, 1
    for own, end in pairwise([*parts, document.size]):
        start = document.overlap_start(previous, own, overlap) if own else own
        next_line = line + document.line_ends(own, end)
        if not document.is_blank(own, end):
            passages = [*document.divide(own, end, passage_tokens), end]
            yield Chunk(
                start=document.character(start),
                end=document.character(end),
                start_line=line - document.line_ends(start, own),
                end_line=next_line - document.ends_line(end),
                heading=document.heading(own),
                passages=tuple(Span(*map(document.character, span)) for span in pairwise(passages)),
                own_start=document.character(own),
            )
        previous, line = own, next_line
