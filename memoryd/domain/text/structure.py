"""The structure of a Markdown text as needed for cutting: headings, ranks of lines, and pieces.

The rank of a line says how good its start is as a place for a cut.

The analysis is one linear pass over columns of lines, without recursion or patterns that could backtrack.
Rules: CommonMark 0.31, simplified where it makes no difference for cuts.

The pieces are lines; long lines are divided into sentences, clauses, words and characters. Each piece has a cost in
tokens and a key. The keys order the starts of the pieces as places for a cut: rank first, then a hash of the text
there, so that the order does not depend on where in the file the text is.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import partial
from itertools import pairwise
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.expressions import expression
from memoryd.domain.text.lines import PADDING, IndexArray, Lines, Mask
from memoryd.domain.text.tokens import weigh

RankArray = NDArray[np.uint8]


class Rank(IntEnum):
    """Quality of a place for a cut, worst first."""

    GLUED = 0
    """A line directly after a heading, which stays with its heading."""
    CHARACTER = 1
    WORD = 2
    CLAUSE = 3
    SENTENCE = 4
    INSIDE = 5
    """A line in a fence, a table, the front matter, or one that continues a list item."""
    NESTED = 6
    """A nested list item, or a line after a blank one in a list item or a fence."""
    LINE = 7
    ITEM = 8
    PARAGRAPH = 9
    HEADING_6 = 10
    HEADING_1 = 15


class Structure(Struct, frozen=True):
    """Per line of `lines`: its rank, its heading level (1 to 6, else 0), and whether it is code."""

    lines: Lines
    ranks: RankArray
    levels: RankArray
    code: Mask
    """The lines of fenced code, fences included, and of the front matter."""
    fences: IndexArray
    """For each line the line that opened the fence still open after it, or -1."""


def analyse(lines: Lines, front_matter_end: int = 0) -> Structure:
    """Rank every line. `front_matter_end` is a byte offset; lines before it are not Markdown."""
    in_front = lines.starts < front_matter_end
    fences = _fences(lines, in_front)
    opens_fence = fences == np.arange(len(fences))
    in_fence = _behind(fences >= 0)
    hidden = in_front | in_fence
    after_blank = np.ones(len(fences), np.bool_)
    after_blank[1:] = lines.numbers[1:] - lines.numbers[:-1] > 1
    levels = _heading_levels(lines, after_blank, hidden)
    inside_item, is_item = _list_items(lines, after_blank, hidden | opens_fence, levels > 0)
    in_table = _table_rows(lines, after_blank) & ~hidden

    ranks = np.full(len(lines.starts), Rank.LINE, np.uint8)
    ranks[is_item] = Rank.ITEM
    ranks[after_blank] = Rank.PARAGRAPH
    ranks[is_item & _follows_colon(lines)] = Rank.NESTED
    ranks[inside_item] = Rank.INSIDE
    ranks[inside_item & (is_item | after_blank)] = Rank.NESTED
    ranks[in_table | hidden] = Rank.INSIDE
    ranks[in_fence & after_blank] = Rank.NESTED
    is_heading = levels > 0
    ranks[is_heading] = Rank.HEADING_1 + 1 - levels[is_heading]
    ranks[1:][_ends_heading(lines, levels)[:-1]] = Rank.GLUED
    return Structure(lines, ranks, levels, hidden | opens_fence, fences)


def _behind(mask: Mask) -> Mask:
    """Mark the lines that follow a marked line."""
    behind = np.zeros_like(mask)
    behind[1:] = mask[:-1]
    return behind


def _fences(lines: Lines, ignored: Mask) -> IndexArray:
    """Return for each line the line that opened the fence still open after it, or -1."""
    lead = lines.lead()
    candidates = (lead == lines.lead(1)) & (lead == lines.lead(2)) & ~ignored
    candidates &= (lead == ord("`")) | (lead == ord("~"))
    fences = np.full(len(lead), -1, np.int64)
    for opening, closing in _fence_pairs(lines, np.flatnonzero(candidates).tolist()):
        fences[opening:closing] = opening
    return fences


def _fence_pairs(lines: Lines, candidates: list[int]) -> Iterator[tuple[int, int]]:
    """Pair opening and closing lines; a fence that is not closed runs to the end of the text."""
    opening, mark, run, indent = -1, b"", 0, 0
    for index in candidates:
        line, column = lines.line(index), int(lines.indents[index])
        length = len(line) - len(line.lstrip(line[:1]))
        if opening < 0:
            if line[:1] == b"~" or b"`" not in line[length:]:
                opening, mark, run, indent = index, line[:1], length, column
        elif line[:1] == mark and length == len(line) >= run and column < indent + 4:
            yield opening, index
            opening = -1
    if opening >= 0:
        yield opening, len(lines.starts)


def _table(members: bytes) -> Mask:
    """Return a mask by byte value: a look-up takes a tenth of the time of a set test."""
    table = np.zeros(256, np.bool_)
    table[list(members)] = True
    return table


_BLANKS = _table(b"\t\n\r ")
_MARKS = _table(b"#-+*>|`~=")
_BULLETS = _table(b"-*+")
_DIGITS = _table(b"0123456789")
_LINE_ENDS = _table(b"\r\n ").astype(np.int64)
_NUMBER_ENDS = _table(b".)")


def _heading_levels(lines: Lines, after_blank: Mask, ignored: Mask) -> RankArray:
    levels = np.zeros(len(lines.starts), np.uint8)
    hashes = (lines.lead() == ord("#")) & (lines.indents < 4) & ~ignored
    run = hashes.copy()
    for ahead in range(1, 7):
        if not run.any():
            break
        levels[run] = ahead
        run &= lines.lead(ahead) == ord("#")
    ends = lines.bytes_at[lines.text + levels]
    levels[run | ~_BLANKS[ends]] = 0
    for line in _underlines(lines, after_blank, ignored | hashes):
        levels[line - 1] = 1 if lines.data[lines.text[line]] == ord("=") else 2
    return levels


_UNDERLINE_BYTES = 128


def _underlines(lines: Lines, after_blank: Mask, ignored: Mask) -> Iterator[int]:
    """Yield the underlines of one-line headings (setext)."""
    lead = lines.lead()
    titles = ~_MARKS[lead] & (lines.indents < 4) & ~ignored & after_blank
    bars = ((lead == ord("=")) | (lead == ord("-"))) & (lines.lead(1) == lead) & (lines.indents < 4)
    follows = _behind(titles) & bars & ~after_blank & ~ignored
    for line in np.flatnonzero(follows).tolist():
        begin = int(lines.text[line])
        bar = lines.data[begin : begin + _UNDERLINE_BYTES].split(b"\n", 1)[0].rstrip()
        if not bar.strip(bar[:1]):
            yield line


def _ends_heading(lines: Lines, levels: RankArray) -> Mask:
    """Mark the last line of each heading: the underline, if it has one."""
    is_heading = levels > 0
    underlined = is_heading & (lines.lead() != ord("#"))
    ends: Mask = is_heading
    ends[1:] |= underlined[:-1]
    return ends


def _list_items(lines: Lines, after_blank: Mask, hidden: Mask, heading: Mask) -> tuple[Mask, Mask]:
    """Mark the lines that lie within a top-level list item, and the lines that start an item of any depth."""
    is_item = _list_markers(lines) & ~hidden & ~heading
    position = np.arange(len(is_item))
    at_margin = lines.indents < 2
    top = is_item & at_margin
    breaks = at_margin & ~top & (after_blank | heading | hidden)
    last_top = np.maximum.accumulate(np.where(top, position, -1))
    last_break = np.maximum.accumulate(np.where(breaks, position, -1))
    return (last_top > last_break) & ~top, is_item


def _list_markers(lines: Lines) -> Mask:
    lead = lines.lead()
    marker: Mask = _BULLETS[lead]
    ends = np.where(marker, 1, 0)
    digits = _DIGITS[lead]
    for ahead in range(1, 10):
        if not digits.any():
            break
        closes = digits & _NUMBER_ENDS[lines.lead(ahead)]
        marker |= closes
        ends[closes] = ahead + 1
        digits &= _DIGITS[lines.lead(ahead)]
    marker &= _BLANKS[lines.bytes_at[lines.text + ends]]
    return marker


def _table_rows(lines: Lines, after_blank: Mask) -> Mask:
    """Mark the rows of a table except the first."""
    row: Mask = lines.lead() == ord("|")
    row[1:] &= row[:-1] & ~after_blank[1:]
    row[:1] = False
    return row


def _follows_colon(lines: Lines) -> Mask:
    """Mark the lines whose previous non-blank line ends with a colon."""
    # before the first line, offsets wrap around to the padding at the end
    content, ends = lines.bytes_at, lines.starts - 1
    for _ in range(_LINE_END_BYTES):
        ends -= _LINE_ENDS[content[ends]]
    last = content[ends]
    colon: Mask = last == ord(":")
    if (wide := last == 0x9A).any():
        colon |= wide & (content[ends - 2] == 0xEF) & (content[ends - 1] == 0xBC)
    return colon


_LINE_END_BYTES = 4
"""Enough for a blank line in between, with two-byte line ends."""


KeyArray = NDArray[np.uint64]

RANK_SHIFT = 59
"""Bits of a key below its rank: 30 for a hash of the near context, 29 for one of the wide context."""

_NEAR_BITS, _WIDE_BITS = 30, 29
_WIDE_REACH = 8
"""Pieces on each side in the wide context, which distinguishes places with the same near context."""

_BLOCK = 1 << 20
_STEP = 8

# Every repetition is bounded, to limit backtracking. Each pattern begins with a set of bytes and verifies it by a
# lookbehind, so that the search skips most of a text.
_SENTENCE = expression(
    rb"""[.!?\xe3\xef](?:(?<=[.!?])["')\]*_]{0,3}[ \t]"""
    rb"|(?:(?<=\xe3)\x80\x82|(?<=\xef)\xbc[\x81\x9f])"
    rb"(?:\xe2\x80[\x99\x9d]|\xe3\x80[\x8d\x8f]|\xef\xbc\x89){0,3})"
)
_CLAUSE = expression(
    rb"""[,;:\xe3\xef](?:(?<=[,;:])["')\]*_]{0,3}[ \t]|(?<=\xef)\xbc[\x8c\x9a\x9b]|(?<=\xe3)\x80\x81)"""
)
_WORD = expression(rb"[ \t\r\n]{1,256}")

Cuts = Callable[[bytes, int, int], Iterable[int]]
"""Return the places for a cut in a piece, from the text and the piece's start and end."""


class Pieces(Struct, frozen=True):
    """Columns over the pieces of a text, in order and without gaps.

    `starts` are byte offsets, followed by the end of the text; `costs` are the cumulative weights before them,
    in units of 1/64 token. `keys` has one entry per piece.
    """

    starts: IndexArray
    costs: IndexArray
    keys: KeyArray


def pieces(structure: Structure, limit: int, begin: int = 0) -> Pieces:
    """Cut a text from an offset on into pieces that weigh at most `limit` (units of 1/64 token) if possible.

    The offset must be before the end of the text.
    """
    data = structure.lines.data
    size = len(data) - len(PADDING)
    first_line = int(np.searchsorted(structure.lines.starts, begin))
    starts, ranks = structure.lines.starts[first_line:], structure.ranks[first_line:]
    if not len(starts) or starts[0] > begin:
        starts, ranks = np.insert(starts, 0, begin), np.insert(ranks, 0, Rank.LINE)
    weights = _weights(data, starts)
    for rank, cuts in _LEVELS:
        long = np.flatnonzero(weights > limit)
        if not len(long):
            break
        bounds = [*starts.tolist(), size]
        cuts_at = [at for i in long.tolist() for at in cuts(data, bounds[i], bounds[i + 1])]
        starts, ranks = _insert(data, starts, ranks, np.array(cuts_at, np.int64), rank)
        weights = _weights(data, starts)
    costs = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(weights, out=costs[1:])
    starts = np.append(starts, size)
    return Pieces(starts, costs, _keys(data, starts, ranks))


def _weights(data: bytes, starts: IndexArray) -> IndexArray:
    """Return the weight of each piece, block by block, since the weights of all bytes are as large as the text."""
    ends = np.append(starts[1:], len(data) - len(PADDING))
    result = np.empty(len(starts), np.int64)
    base = 0
    while base < len(starts):
        end = max(int(np.searchsorted(starts, starts[base] + _BLOCK)), base + 1)
        block = np.frombuffer(weigh(data[int(starts[base]) : int(ends[end - 1])]), np.uint8)
        result[base:end] = np.add.reduceat(block, starts[base:end] - starts[base], dtype=np.int64)
        base = end
    return result


def _insert(
    data: bytes, starts: IndexArray, ranks: RankArray, places: IndexArray, rank: Rank
) -> tuple[IndexArray, RankArray]:
    """Insert places for a cut, in order; an existing place keeps its rank."""
    places = places[places < len(data) - len(PADDING)]
    content = np.frombuffer(data, np.uint8)
    places = places[(content[places] != 10) | (content[places - 1] != 13)]
    places = places[starts[np.searchsorted(starts, places, "right") - 1] != places]
    all_places = np.concatenate([starts, places])
    order = all_places.argsort()
    return all_places[order], np.append(ranks, np.full(len(places), rank, np.uint8))[order]


def _matches(pattern: re.Pattern[bytes], data: bytes, start: int, end: int) -> Iterable[int]:
    return [match.end() for match in pattern.finditer(data, start, end)]


def _hashed_characters(data: bytes, start: int, end: int) -> Iterable[int]:
    """Yield about every fourth character boundary, chosen by the eight bytes around it."""
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
    """Yield every n-th character boundary: the last resort for repetitive text."""
    for base in range(start, end, _BLOCK):
        yield from _boundaries(data, base, min(base + _BLOCK, end))[step::step].tolist()


def _boundaries(data: bytes, start: int, end: int) -> IndexArray:
    """Return the places that split no surrogate pair, and no accent, joiner or variant from its character."""
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
    blocks = (starts[base : base + (_BLOCK >> 4) + 1].tolist() for base in range(0, len(starts) - 1, _BLOCK >> 4))
    parts = (data[begin:end] for bounds in blocks for begin, end in pairwise(bounds))
    content = np.fromiter(map(crc32, parts), np.uint64, len(ranks))
    near = _mixed(content, 0, 0) >> np.uint64(64 - _NEAR_BITS)
    wide = _mixed(content, -_WIDE_REACH, _WIDE_REACH) >> np.uint64(64 - _WIDE_BITS)
    rank = ranks.astype(np.uint64) << np.uint64(RANK_SHIFT)
    keys: KeyArray = rank | near << np.uint64(_WIDE_BITS) | wide
    return keys


_MULTIPLIER, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(31)


def _mixed(content: KeyArray, first: int, last: int) -> KeyArray:
    """Hash for each piece the checksums of the pieces at distance `first` to `last` from it (splitmix64)."""
    padded = np.zeros(len(content) + last - first, np.uint64)
    padded[-first : len(content) - first] = content
    mixed, shifted = np.zeros((2, len(content)), np.uint64)
    for ahead in range(last - first + 1):
        mixed ^= padded[ahead : ahead + len(content)]
        mixed *= _MULTIPLIER
        mixed ^= np.right_shift(mixed, _SHIFT, out=shifted)
    return mixed * np.uint64(0xBF58476D1CE4E5B9)
