"""Cut a document into chunks, which are cited and returned, and passages, which are embedded.

A chunk is an exact slice of the text. It consists of its own part, preceded by an overlap: a few lines from the end
of the previous chunk. The own parts tile the document, and the passages of a chunk tile its own part. Lines that are
set apart become chunks of their own without overlap, or no chunks; the text between them is cut as if it were alone.

An edit moves only the cuts around it. The rule is that of a treap (Seidel and Aragon, 1996): the best place within a
stretch divides it, and both parts are divided in the same way until they fit. The best place depends on the text
there, never on its distance from the start of the file. Small parts are then joined with a neighbour, the worst cut
first.

A document of many megabytes is divided in that way from its beginning, at the best place in about every megabyte.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.text.lines import PADDING, IndexArray, tabulate
from memoryd.domain.text.markdown import Headings, front_matter_bytes
from memoryd.domain.text.structure import RANK_SHIFT, KeyArray, Rank, analyse, pieces
from memoryd.domain.text.tokens import UNIT

CHUNKER_VERSION = 4
"""Part of a chunk's identity: increased whenever the same text would be cut differently."""

WINDOW_BYTES = 2**20
"""A longer document is cut window by window, which bounds the memory used beside the text."""

PIECE_SHARE = 0.4
"""Longest piece that is not cut further, as a share of the smallest budget."""

_HEADING, _LINE, _GLUED = int(Rank.HEADING_6), int(Rank.INSIDE), int(Rank.GLUED)


class Span(Struct, frozen=True):
    """Offsets into the document, end exclusive."""

    start: int
    end: int


class Chunk(Struct, frozen=True):
    """A slice of a document: offsets in bytes, end-exclusive; lines from 1, both inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int
    heading: str
    """Titles of the headings that enclose the own part, outermost first, joined with " > "."""
    passages: tuple[Span, ...]
    own_start: int
    """Offset of the part that no other chunk contains; the overlap ends here."""


class SeparateLines(Struct, frozen=True):
    """Complete lines set apart: byte offsets, end exclusive. One chunk with one passage; no chunk if `is_left_out`."""

    start: int
    end: int
    is_left_out: bool = False


def each_chunk(
    data: bytes, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100, apart: Sequence[SeparateLines] = ()
) -> Iterator[Chunk]:
    """Cut a document, UTF-8 that ends in `PADDING`, into chunks of at most `tokens` estimated tokens; offsets in bytes.

    A chunk's own part has at most `tokens - overlap` tokens (a document that fits is one chunk) and its passages
    at most `passage_tokens` each; only a single character may exceed a limit. `overlap` is clamped to half of
    `tokens`. Chunks that would contain only white space are left out.

    The entries of `apart` are sorted and do not overlap. They are not cut, however long; each has one passage, unless
    that passage would be larger than a chunk. Headings directly before an entry form no chunk if the entry's heading
    path includes them: alone they would answer what the entry says, or what is left out.
    """
    overlap = min(max(overlap, 0), tokens // 2)
    front_matter, size = front_matter_bytes(data), len(data) - len(PADDING)
    start, line, above = 0, 1, b""
    while start < size:
        stop = _window_stop(data, start, apart)
        text = data if not start and stop == size else b"".join([above, data[start:stop], PADDING])
        document = _Document(
            text,
            len(above),
            0 if start else front_matter,
            tokens=tokens,
            overlap=overlap,
            passage_tokens=max(passage_tokens, 1),
        )
        moved = start - len(above)
        following = bisect_left(apart, start, key=lambda part: part.start)
        inside = [
            SeparateLines(part.start - moved, part.end - moved, part.is_left_out)
            for part in apart[following : bisect_left(apart, stop, key=lambda part: part.start)]
        ]
        last = document.size if stop == size else document.best_end(inside)
        yield from (_moved(cut, moved) for cut in _between(document, last, line, inside))
        if stop == size:
            return
        line += document.line_ends(0, last)
        above = document.headings.lines_above(document.offset(last))
        start = moved + document.offset(last)


def _window_stop(data: bytes, start: int, apart: Sequence[SeparateLines]) -> int:
    """Return the end of a window: at a character boundary, and not within lines set apart."""
    size, stop = len(data) - len(PADDING), start + WINDOW_BYTES
    if stop >= size:
        return size
    while data[stop] & 0xC0 == 0x80:
        stop -= 1
    at = bisect_left(apart, stop, key=lambda part: part.start) - 1
    return max(stop, apart[at].end) if at >= 0 else stop


def _moved(cut: Chunk, by: int) -> Chunk:
    if not by:
        return cut
    passages = tuple(Span(span.start + by, span.end + by) for span in cut.passages)
    return replace(cut, start=cut.start + by, end=cut.end + by, own_start=cut.own_start + by, passages=passages)


def _between(document: "_Document", last: int, line: int, apart: Sequence[SeparateLines]) -> Iterator[Chunk]:
    """Cut the pieces up to `last`, except those set apart; `line` is the number of the first line."""
    first = 0
    for part in apart:
        start = document.piece(part.start)
        if start >= last:
            break
        if first < start and not document.is_heading_path_only(first, start):
            yield from _chunks(document, first, start, line)
        line += document.line_ends(first, start)
        first = document.piece(part.end)
        if not part.is_left_out:
            yield document.chunk_of(part, start, first, line)
        line += document.line_ends(start, first)
    yield from _chunks(document, first, last, line)


class _Document:
    """A text with its structure, and its pieces from an offset on; places in it are numbers of pieces.

    A chunk has at most `tokens`, estimated, and repeats `overlap` of them; a passage has at most `passage_tokens`.
    """

    def __init__(
        self, data: bytes, begin: int, front_matter: int, *, tokens: int, overlap: int, passage_tokens: int
    ) -> None:
        self.data = data
        self.tokens, self.overlap, self.passage_tokens = tokens, overlap, passage_tokens
        finest_budget = max(min(tokens - overlap, passage_tokens), 1)
        structure = analyse(tabulate(data), front_matter)
        self.headings = Headings(structure, front_matter)
        self._pieces = pieces(structure, max(int(PIECE_SHARE * finest_budget * UNIT), 1), begin)
        # a plain list: every part set apart looks up one or two places
        self._starts: list[int] = self._pieces.starts.tolist()
        self._costs: list[int] = self._pieces.costs.tolist()
        self._ranks = (self._pieces.keys >> np.uint64(RANK_SHIFT)).astype(np.uint8).tobytes()
        self.size = len(self._ranks)

    def cost(self, first: int, last: int) -> int:
        return self._costs[last] - self._costs[first]

    def piece(self, offset: int) -> int:
        """Find the piece that begins at a byte offset, or the next one after it."""
        return bisect_left(self._starts, min(offset, self._starts[-1]))

    def divide(self, first: int, last: int, tokens: int) -> list[int]:
        keys = self._pieces.keys[first:last]
        if last - first <= _SHORT:
            parts = _divide(self._costs[first : last + 1], keys.tolist(), tokens * UNIT)
        else:
            parts = _divide(self._pieces.costs[first : last + 1], _BlockKeys(keys), tokens * UNIT)
        return [first + at for at in parts]

    def offset(self, at: int) -> int:
        return self._starts[at]

    def line_ends(self, first: int, last: int) -> int:
        return self.data.count(b"\n", self.offset(first), self.offset(last))

    def overlap_start(self, previous: int, start: int, room: int) -> int:
        """Find the start of the overlap: at most `room` of the previous part's end, best from a line or a heading.

        A part that starts with a heading gets no overlap: the previous section has another subject.
        """
        ranks, costs = self._ranks, self._costs
        if ranks[start] >= _HEADING:
            return start
        first = bisect_left(costs, costs[start] - room, previous, start)
        for at in range(start - 1, first - 1, -1):
            if ranks[at] >= _HEADING:
                return at
        line = next((at for at in range(first, start) if ranks[at] >= _LINE or ranks[at] == _GLUED), start)
        return line if 2 * self.cost(line, start) >= room else first

    def best_end(self, apart: Sequence[SeparateLines]) -> int:
        """Find the best place to end a window: not near its ends, and not within lines set apart."""
        begin = self.piece(self.offset(0) + WINDOW_BYTES // 2)
        keys = self._pieces.keys[begin : self.piece(self.offset(self.size) - WINDOW_BYTES // 8)]
        place = self.offset(begin + int(keys.argmax())) if len(keys) else self.offset(self.size)
        return self.piece(next((part.end for part in apart if part.start < place < part.end), place))

    def is_heading_path_only(self, first: int, last: int) -> bool:
        """Return whether a stretch has only headings that are in the heading path at its end."""
        return last < self.size and self.headings.path_includes(self.offset(first), self.offset(last))

    def chunk_of(self, part: SeparateLines, at: int, stop: int, line: int) -> Chunk:
        """Return lines set apart as a chunk, from piece `at` to before piece `stop`, without the last line end.

        A part larger than a chunk gets several passages: an embedding model would truncate a single one.
        """
        end = part.start + len(self.data[part.start : part.end].rstrip(b"\r\n"))
        last_line = line + self.data.count(b"\n", part.start, end)
        is_large = self.cost(at, stop) > self.tokens * UNIT
        starts = list(map(self.offset, self.divide(at, stop, self.passage_tokens))) if is_large else [part.start]
        passages = tuple(Span(*span) for span in pairwise([*(start for start in starts if start < end), end]))
        return Chunk(part.start, end, line, last_line, self.headings.path(self.offset(at)), passages, part.start)


def _chunks(document: _Document, first: int, last: int, line: int) -> Iterator[Chunk]:
    """Cut the stretch of pieces from `first` to `last`; `line` is the number of its first line."""
    if first == last:
        return
    fits = document.cost(first, last) <= document.tokens * UNIT
    parts = [first] if fits else document.divide(first, last, max(document.tokens - document.overlap, 1))
    previous = first
    for own, end in pairwise([*parts, last]):
        start = document.overlap_start(previous, own, document.overlap * UNIT) if own > first else own
        next_line = line + document.line_ends(own, end)
        own_part = document.data[document.offset(own) : document.offset(end)]
        if not own_part.decode("utf-8", "surrogatepass").isspace():
            passages = [*map(document.offset, document.divide(own, end, document.passage_tokens)), document.offset(end)]
            yield Chunk(
                start=document.offset(start),
                end=document.offset(end),
                start_line=line - document.line_ends(start, own),
                end_line=next_line - (document.data[document.offset(end) - 1] == ord("\n")),
                heading=document.headings.path(document.offset(own)),
                passages=tuple(map(Span, passages, passages[1:])),
                own_start=document.offset(own),
            )
        previous, line = own, next_line


MARGIN = 0.2
"""Least size of a part at first, as a share of the budget. A larger value would fill the parts better, but then a
new cut rules out cuts near it, which moves those as well."""

SMALL_PART = 0.4
"""Size below which a part is joined with a neighbour if both fit into the budget, as a share of the budget."""

_EVEN_PART = 0.8
"""Size of a part in repetitive text, as a share of the budget."""

_FREE_KEY = (Rank.GLUED + 1) << RANK_SHIFT
"""Least key of a place that does not separate a heading from its text."""

_BLOCK = 256
_MANY = 64
"""Blocks with the same greatest key from which scanning the whole range is faster."""

_SHORT = 128
"""Pieces up to which plain lists are faster than arrays."""

Costs = Sequence[int] | IndexArray


class _BlockKeys:
    """Keys, with the greatest key of each block: searching a range takes time that hardly grows with its length.

    Without the blocks, lines sorted by their hash would take quadratic time.
    """

    def __init__(self, keys: KeyArray) -> None:
        self.keys = keys
        self._tops = np.maximum.reduceat(keys, np.arange(0, len(keys), _BLOCK))

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: int) -> int:
        return int(self.keys[at])

    def best(self, begin: int, end: int) -> list[int]:
        """Find the places of a range that have its greatest key."""
        first, last = -(-begin // _BLOCK), end // _BLOCK
        if last - first < 2:
            return self._scan(begin, end, self.keys[begin:end].max())
        tops = self._tops[first:last]
        edges = ((begin, first * _BLOCK), (last * _BLOCK, end))
        top = max([tops.max(), *(self.keys[slice(*edge)].max() for edge in edges if edge[0] < edge[1])])
        blocks = np.flatnonzero(tops == top) + first
        if len(blocks) > _MANY:
            return self._scan(begin, end, top)
        ranges = [edges[0], *((at * _BLOCK, (at + 1) * _BLOCK) for at in blocks.tolist()), edges[1]]
        return [at for part in ranges for at in self._scan(*part, top)]

    def _scan(self, begin: int, end: int, top: np.uint64) -> list[int]:
        return (np.flatnonzero(self.keys[begin:end] == top) + begin).tolist()


def _divide(costs: Costs, keys: Sequence[int] | _BlockKeys, budget: int) -> list[int]:
    """Choose the pieces that start a part, so that no part costs more than the budget unless it is one piece.

    `costs` are cumulative and have one entry more than `keys`. The first piece always starts a part; the result
    ascends.
    """
    return _join(costs, keys, _cut(costs, keys, budget), budget)


def _cut(costs: Costs, keys: Sequence[int] | _BlockKeys, budget: int) -> list[int]:
    starts = []
    stack = [(0, len(keys))]
    while stack:
        first, last = stack.pop()
        if last - first < 2 or costs[last] - costs[first] <= budget:
            starts.append(first)
        elif last - first <= _SHORT and isinstance(keys, _BlockKeys) and isinstance(costs, np.ndarray):
            part = _cut(costs[first : last + 1].tolist(), keys.keys[first:last].tolist(), budget)
            starts += [first + at for at in part]
        else:
            middle = _choose(costs, keys, first, last, budget)
            stack += [(middle, last), (first, middle)]
    return starts


def _choose(costs: Costs, keys: Sequence[int] | _BlockKeys, first: int, last: int, budget: int) -> int:
    """Choose the piece that starts the second part of a stretch of at least two pieces."""
    margin = int(MARGIN * budget)
    begin = max(bisect_left(costs, costs[first] + margin, first, last), first + 1)
    end = bisect_right(costs, costs[last] - margin, first, last)
    ties = _best(keys, begin, end)
    if not ties or keys[ties[0]] < _FREE_KEY:
        anywhere = _best(keys, first + 1, last)
        if not ties or keys[anywhere[0]] >= _FREE_KEY:
            ties = anywhere
    return ties[0] if len(ties) == 1 else _even(costs, ties, first, last, budget)


def _best(keys: Sequence[int] | _BlockKeys, begin: int, end: int) -> list[int]:
    """Find the pieces of a range that have its greatest key."""
    if begin >= end:
        return []
    if isinstance(keys, _BlockKeys):
        return keys.best(begin, end)
    part = keys[begin:end]
    top = max(part)
    if part.count(top) == 1:
        return [begin + part.index(top)]
    return [at for at, key in enumerate(part, begin) if key == top]


def _even(costs: Costs, ties: list[int], first: int, last: int, budget: int) -> int:
    """Choose among places with equal keys: near the middle, but so that parts get the same size.

    In repetitive text all parts but the last are then the same text, wherever an edit is.
    """
    at = np.array([costs[tie] for tie in ties], np.int64)
    gap = float(np.median(np.diff(at)))
    per_part = max(int(_EVEN_PART * budget / gap), 1)
    uneven = np.rint((at - costs[first]) / gap) % per_part
    off_middle = np.abs(2 * at - costs[first] - costs[last])
    return ties[int(np.lexsort((off_middle, uneven))[0])]


def _join(costs: Costs, keys: Sequence[int] | _BlockKeys, starts: list[int], budget: int) -> list[int]:
    """Undo cuts beside a small part while both parts fit into the budget, the cut with the least key first."""
    edges = [int(costs[at]) for at in [*starts, len(keys)]]
    left, right = list(range(-1, len(starts))), list(range(1, len(starts) + 1))
    remains = [True] * len(starts)
    small = SMALL_PART * budget
    for _, cut in sorted((keys[at], cut) for cut, at in enumerate(starts) if cut):
        before, after = left[cut], right[cut]
        start, middle, end = edges[before], edges[cut], edges[after]
        if end - start <= budget and (middle - start < small or end - middle < small):
            remains[cut] = False
            right[before], left[after] = after, before
    return [at for at, does_remain in zip(starts, remains, strict=True) if does_remain]
