"""The pieces a text may be cut into: its lines, and where a line is long its sentences, clauses, words, characters.

Each piece has a cost in tokens and a key. The key orders the starts of the pieces as places for a cut: rank first,
then a hash of what stands there, so that the order does not depend on where in the file the text stands.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.text.lines import PADDING, IndexArray, Mask
from memoryd.domain.text.structure import Rank, RankArray, Structure
from memoryd.domain.text.tokens import ByteArray, weigh

KeyArray = NDArray[np.uint64]

RANK_SHIFT = 59
"""Bits of a key below its rank: 30 for a hash of the near context, 29 for one of the wide context."""

_NEAR_BITS, _WIDE_BITS = 30, 29
_WIDE_REACH = 8
"""Pieces before and behind that tell places apart whose near context is the same."""

_BLOCK = 1 << 20
_STEP = 8

# every repetition is bounded, so that no input makes a pattern go back far
_SENTENCE = re.compile(
    rb"""[.!?]["')\]*_]{0,3}[ \t]"""
    rb"|(?:\xe3\x80\x82|\xef\xbc[\x81\x9f])(?:\xe2\x80[\x99\x9d]|\xe3\x80[\x8d\x8f]|\xef\xbc\x89){0,3}"
)
_CLAUSE = re.compile(rb"""[,;:]["')\]*_]{0,3}[ \t]|\xef\xbc[\x8c\x9a\x9b]|\xe3\x80\x81""")
_WORD = re.compile(rb"[ \t\r\n]{1,256}")

Cuts = Callable[[bytes, int, int], Iterable[int]]
"""The places for a cut in a piece, given the text and the piece's start and end."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Columns over the pieces of a text, in order and without gaps.

    `starts` are byte offsets, closed by the end of the text; `costs` the weights of all that stands before them,
    in units of 1/64 token. `keys` has one entry per piece.
    """

    starts: IndexArray
    costs: IndexArray
    keys: KeyArray


def pieces(structure: Structure, limit: int) -> Pieces:
    """Cut a non-empty text into pieces that weigh at most `limit` (units of 1/64 token) where that can be had."""
    data = structure.lines.data
    size = len(data) - len(PADDING)
    weights = partial(weigh, data)
    starts, ranks = structure.lines.starts, structure.ranks
    if not len(starts) or starts[0] > 0:
        starts, ranks = np.insert(starts, 0, 0), np.insert(ranks, 0, Rank.LINE)
    for rank, cuts in _LEVELS:
        long = np.flatnonzero(sums(weights, starts, size) > limit)
        if not len(long):
            break
        ends = np.append(starts[1:], size)
        found = [at for i in long.tolist() for at in cuts(data, int(starts[i]), int(ends[i]))]
        starts, ranks = _insert(data, starts, ranks, np.array(found, np.int64), rank)
    costs = np.insert(np.cumsum(sums(weights, starts, size)), 0, 0)
    starts = np.append(starts, size)
    return Pieces(starts, costs, _keys(data, starts, ranks))


def sums(values: Callable[[int, int], ByteArray], starts: IndexArray, size: int) -> IndexArray:
    """Add up from each start to the next, the last one to `size`, what `values` gives for a stretch of bytes.

    In blocks, since that is as much as the text, and is widened.
    """
    result = np.empty(len(starts), np.int64)
    base = 0
    while base < len(starts):
        end = max(int(np.searchsorted(starts, starts[base] + _BLOCK)), base + 1)
        stop = int(starts[end]) if end < len(starts) else size
        block = values(int(starts[base]), stop)
        result[base:end] = np.add.reduceat(block, starts[base:end] - starts[base], dtype=np.int64)
        base = end
    return result


def _insert(
    data: bytes, starts: IndexArray, ranks: RankArray, found: IndexArray, rank: Rank
) -> tuple[IndexArray, RankArray]:
    """Add new places for a cut, in order; one that is there already keeps its rank."""
    found = found[found < len(data) - len(PADDING)]
    content = np.frombuffer(data, np.uint8)
    found = found[(content[found] != 10) | (content[found - 1] != 13)]
    found = found[starts[np.searchsorted(starts, found, "right") - 1] != found]
    where = np.searchsorted(starts, found)
    return np.insert(starts, where, found), np.insert(ranks, where, rank)


def _matches(pattern: re.Pattern[bytes], data: bytes, start: int, end: int) -> Iterable[int]:
    return [match.end() for match in pattern.finditer(data, start, end)]


def _hashed_characters(data: bytes, start: int, end: int) -> Iterable[int]:
    """Pick about every fourth character boundary, by the eight bytes around it."""
    for base in range(start, end, _BLOCK):
        at = _boundaries(data, base, min(base + _BLOCK, end))
        at = at[at >= max(start + 1, _STEP)]
        content = np.frombuffer(data, np.uint8)
        mixed = np.zeros(len(at), np.uint32)
        for offset in range(-4, 4):
            mixed = mixed * np.uint32(0x01000193) ^ content[at + offset]
        picked = at[(mixed >> np.uint32(13)) % np.uint32(4) == 0]
        if 2 * len(picked) < len(at):
            yield from picked.tolist()


def _stepped_characters(data: bytes, start: int, end: int, step: int) -> Iterable[int]:
    """Pick every n-th character boundary: the last resort for text that repeats itself."""
    for base in range(start, end, _BLOCK):
        yield from _boundaries(data, base, min(base + _BLOCK, end))[step::step].tolist()


def _boundaries(data: bytes, start: int, end: int) -> IndexArray:
    """Find the places that split no character, no surrogate pair, no accent, joiner or variant from its base."""
    content = np.frombuffer(data, np.uint8)[start : end + len(PADDING)].astype(np.int16)
    here, next_, third = (content[ahead : ahead + end - start] for ahead in range(3))
    begins: Mask = (here & 0xC0) != 0x80
    begins &= ~((here == 0xED) & (next_ >= 0xB0))
    begins &= ~((here == 0xCC) | ((here == 0xCD) & (next_ < 0xB0)))
    begins &= ~((here == 0xEF) & (next_ == 0xB8) & (third < 0x90))
    joiner = (here == 0xE2) & (next_ == 0x80) & (third == 0x8D)
    begins &= ~joiner
    begins[3:] &= ~joiner[:-3]
    return np.flatnonzero(begins) + start


_LEVELS: tuple[tuple[Rank, Cuts], ...] = (
    (Rank.SENTENCE, partial(_matches, _SENTENCE)),
    (Rank.CLAUSE, partial(_matches, _CLAUSE)),
    (Rank.WORD, partial(_matches, _WORD)),
    (Rank.CHARACTER, _hashed_characters),
    (Rank.CHARACTER, partial(_stepped_characters, step=_STEP)),
    (Rank.CHARACTER, partial(_stepped_characters, step=1)),
)


def _keys(data: bytes, starts: IndexArray, ranks: RankArray) -> KeyArray:
    content = np.fromiter(_checksums(data, starts), np.uint64, len(ranks))
    near = _mixed(content, 0, 0) >> np.uint64(64 - _NEAR_BITS)
    wide = _mixed(content, -_WIDE_REACH, _WIDE_REACH) >> np.uint64(64 - _WIDE_BITS)
    rank = ranks.astype(np.uint64) << np.uint64(RANK_SHIFT)
    keys: KeyArray = rank | near << np.uint64(_WIDE_BITS) | wide
    return keys


def _checksums(data: bytes, starts: IndexArray) -> Iterator[int]:
    for base in range(0, len(starts) - 1, _BLOCK >> 4):
        bounds = starts[base : base + (_BLOCK >> 4) + 1].tolist()
        yield from (crc32(data[begin:end]) for begin, end in pairwise(bounds))


def _mixed(content: KeyArray, first: int, last: int) -> KeyArray:
    """Hash for each piece the checksums of those from `first` to `last`, counted from it (splitmix64)."""
    padded = np.concatenate([np.zeros(-first, np.uint64), content, np.zeros(last, np.uint64)])
    mixed = np.zeros(len(content), np.uint64)
    for ahead in range(last - first + 1):
        mixed = (mixed ^ padded[ahead : ahead + len(content)]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(31)
    return mixed * np.uint64(0xBF58476D1CE4E5B9)
