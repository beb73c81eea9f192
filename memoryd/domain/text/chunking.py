"""Cutting a document into chunks, which are cited and returned, and passages, which are embedded.

Chunks are exact slices of the text. Each has a part of its own, and before it a few lines from the end of the
previous one; the own parts tile the document. Passages tile the own part. Lines that are set apart are chunks of their
own, which share nothing with others, or no chunks at all; what lies between them is cut as if it were alone.

An edit moves the cuts around it and no others. The rule is that of a treap (Seidel and Aragon, 1996): the best place
within a stretch divides it, and both parts are divided alike until they fit. What is best depends on the text at that
place, never on its distance from the start of the file. Small parts are then joined with a neighbour, the worst cut
first.

A document of many megabytes is divided in that way from its beginning, where about a megabyte has a best place.
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

CHUNKER_VERSION = 2
"""Part of a chunk's identity: goes up whenever the same text would be cut differently."""

WINDOW_BYTES = 2**20
"""A longer document is cut window by window, so that what is held of it beside its text is that of one window."""

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
    """Where the part begins that no other chunk has; before it stands the overlap."""


class Apart(Struct, frozen=True):
    """Whole lines that stand apart, in bytes, end exclusive: one chunk with one passage; `is_left_out`: none."""

    start: int
    end: int
    is_left_out: bool = False


def each_chunk(
    data: bytes, *, tokens: int = 400, overlap: int = 80, passage_tokens: int = 100, apart: Sequence[Apart] = ()
) -> Iterator[Chunk]:
    """Cut a document, UTF-8 that ends in `PADDING`, into chunks of at most `tokens` estimated tokens; offsets in bytes.

    A chunk's own part has at most `tokens - overlap` of them (a document that fits is one chunk) and its passages
    at most `passage_tokens` each; only a single character may exceed a limit. `overlap` is clamped to half of
    `tokens`. Chunks that would hold nothing but white space are left out.

    What is `apart` (in order, without overlap among them) is not cut, however long it is; it has one passage, unless
    that would be larger than a chunk. Headings directly before it are no chunk if its path of headings says all that
    they say.
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
        begun = bisect_left(apart, start, key=lambda one: one.start)
        inside = [
            Apart(one.start - moved, one.end - moved, one.is_left_out)
            for one in apart[begun : bisect_left(apart, stop, key=lambda one: one.start)]
        ]
        last = document.size if stop == size else document.best_end(inside)
        yield from (_moved(cut, moved) for cut in _between(document, last, line, inside))
        if stop == size:
            return
        line += document.line_ends(0, last)
        above = document.headings.lines_above(document.offset(last))
        start = moved + document.offset(last)


def _window_stop(data: bytes, start: int, apart: Sequence[Apart]) -> int:
    """Return up to where a window is looked at: to the end of a character, and of what stands apart."""
    size, stop = len(data) - len(PADDING), start + WINDOW_BYTES
    if stop >= size:
        return size
    while data[stop] & 0xC0 == 0x80:
        stop -= 1
    at = bisect_left(apart, stop, key=lambda one: one.start) - 1
    return max(stop, apart[at].end) if at >= 0 else stop


def _moved(cut: Chunk, by: int) -> Chunk:
    if not by:
        return cut
    passages = tuple(Span(span.start + by, span.end + by) for span in cut.passages)
    return replace(cut, start=cut.start + by, end=cut.end + by, own_start=cut.own_start + by, passages=passages)


def _between(document: "_Document", last: int, line: int, apart: Sequence[Apart]) -> Iterator[Chunk]:
    """Cut the pieces up to `last`, of which some stand apart; the first one begins on this line."""
    first = 0
    for one in apart:
        start = document.piece(one.start)
        if start >= last:
            break
        if first < start and (one.is_left_out or not document.is_heading_path_only(first, start)):
            yield from _chunks(document, first, start, line)
        line += document.line_ends(first, start)
        first = document.piece(one.end)
        if not one.is_left_out:
            yield document.whole(one, start, first, line)
        line += document.line_ends(start, first)
    yield from _chunks(document, first, last, line)


class _Document:
    """A text with its structure, and its pieces from an offset on; places in it are numbers of pieces.

    A chunk has at most `tokens`, estimated, and repeats `overlap` of them; its passages have `passage_tokens`.
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
        # a plain list: each line that stands apart asks for a place or two
        self._starts: list[int] = self._pieces.starts.tolist()
        self._costs: list[int] = self._pieces.costs.tolist()
        self._ranks = (self._pieces.keys >> np.uint64(RANK_SHIFT)).astype(np.uint8).tobytes()
        self.size = len(self._ranks)

    def cost(self, first: int, last: int) -> int:
        return self._costs[last] - self._costs[first]

    def piece(self, offset: int) -> int:
        """Find the piece that begins at a byte offset, or next after it."""
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
        """Find where the end of the previous part begins that fits into `room`, best at a line or a heading.

        A part that starts with a heading gets none: the section before is another matter.
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

    def best_end(self, apart: Sequence[Apart]) -> int:
        """Find the best place to end a window: not near its ends, nor in what stands apart."""
        begin = self.piece(self.offset(0) + WINDOW_BYTES // 2)
        keys = self._pieces.keys[begin : self.piece(self.offset(self.size) - WINDOW_BYTES // 8)]
        place = self.offset(begin + int(keys.argmax())) if len(keys) else self.offset(self.size)
        return self.piece(next((one.end for one in apart if one.start < place < one.end), place))

    def is_heading_path_only(self, first: int, last: int) -> bool:
        """Tell whether a stretch has only headings, which the path of headings at its end tells, too."""
        return last < self.size and self.headings.tells(self.offset(first), self.offset(last))

    def whole(self, one: Apart, at: int, behind: int, line: int) -> Chunk:
        """Return lines that stand apart as a chunk, from piece `at` to before another, without the last line's end.

        Of what is larger than any other chunk, one passage would leave out what no model takes.
        """
        end = one.start + len(self.data[one.start : one.end].rstrip(b"\r\n"))
        last_line = line + self.data.count(b"\n", one.start, end)
        is_large = self.cost(at, behind) > self.tokens * UNIT
        starts = list(map(self.offset, self.divide(at, behind, self.passage_tokens))) if is_large else [one.start]
        passages = tuple(Span(*span) for span in pairwise([*(start for start in starts if start < end), end]))
        return Chunk(one.start, end, line, last_line, self.headings.path(self.offset(at)), passages, one.start)


def _chunks(document: _Document, first: int, last: int, line: int) -> Iterator[Chunk]:
    """Cut the stretch of pieces from `first` to `last`, which begins on this line."""
    if first == last:
        return
    is_whole = document.cost(first, last) <= document.tokens * UNIT
    parts = [first] if is_whole else document.divide(first, last, max(document.tokens - document.overlap, 1))
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
"""Least size of a part at first, as a share of the budget. More would fill the parts better, but then a new cut
forbids its neighbours, which moves theirs."""

SMALL_PART = 0.4
"""Size below which a part is joined with a neighbour if both fit into one, as a share of the budget."""

_EVEN_PART = 0.8
"""Size of a part in text that repeats itself, as a share of the budget."""

_FREE_KEY = (Rank.GLUED + 1) << RANK_SHIFT
"""Least key of a place that does not tear a heading from what it heads."""

_BLOCK = 256
_MANY = 64
"""Blocks with the same greatest key from which scanning the whole range is faster."""

_SHORT = 128
"""Pieces up to which plain lists are faster than arrays."""

Costs = Sequence[int] | IndexArray


class _BlockKeys:
    """Keys with the greatest of each block: a range is searched in time that hardly grows with its length.

    Without it, lines sorted by their hash would take quadratic time.
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
    """Choose among places that look alike: near the middle, but so that parts get one size.

    In text that repeats itself all parts but the last are then the same text, wherever an edit stands.
    """
    at = np.array([costs[tie] for tie in ties], np.int64)
    gap = float(np.median(np.diff(at)))
    per_part = max(int(_EVEN_PART * budget / gap), 1)
    uneven = np.rint((at - costs[first]) / gap) % per_part
    off_middle = np.abs(2 * at - costs[first] - costs[last])
    return ties[int(np.lexsort((off_middle, uneven))[0])]


def _join(costs: Costs, keys: Sequence[int] | _BlockKeys, starts: list[int], budget: int) -> list[int]:
    """Undo cuts beside a small part while both parts fit into one, the cut with the least key first."""
    edges = [int(costs[at]) for at in [*starts, len(keys)]]
    left, right = list(range(-1, len(starts))), list(range(1, len(starts) + 1))
    kept = [True] * len(starts)
    small = SMALL_PART * budget
    for _, cut in sorted((keys[at], cut) for cut, at in enumerate(starts) if cut):
        before, after = left[cut], right[cut]
        start, middle, end = edges[before], edges[cut], edges[after]
        if end - start <= budget and (middle - start < small or end - middle < small):
            kept[cut] = False
            right[before], left[after] = after, before
    return [at for at, is_kept in zip(starts, kept, strict=True) if is_kept]
