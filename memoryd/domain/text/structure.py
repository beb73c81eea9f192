"""The structure of a Markdown text as far as it matters for cutting it: headings, and a rank for every line that
says how good a place its start is for a cut.

One linear pass with whole columns of lines; no recursion, and no pattern that could backtrack.
Rules: CommonMark 0.31, simplified where a cut would not notice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.text.lines import IndexArray, Lines, Mask

RankArray = NDArray[np.uint8]


class Rank(IntEnum):
    """How good a place for a cut is, worst first."""

    GLUED = 0
    """Directly behind a heading, which stays with what it heads."""
    CHARACTER = 1
    WORD = 2
    CLAUSE = 3
    SENTENCE = 4
    INSIDE = 5
    """A line in a fence, a table, the front matter, or one that continues a list item."""
    NESTED = 6
    """A nested list item, or a line behind a blank one in a list item or a fence."""
    LINE = 7
    ITEM = 8
    PARAGRAPH = 9
    HEADING_6 = 10
    HEADING_1 = 15


@dataclass(frozen=True, slots=True)
class Structure:
    """Per line of `lines`: its rank, its heading level (1 to 6, else 0), and whether it is no text at all."""

    lines: Lines
    ranks: RankArray
    levels: RankArray
    code: Mask
    """The lines of fenced code, fences included, and of the front matter."""

    def headings(self) -> IndexArray:
        return np.flatnonzero(self.levels)


def analyse(lines: Lines, front_matter_end: int = 0) -> Structure:
    """Rank every line. `front_matter_end` is a byte offset; lines before it are no Markdown."""
    in_front = lines.starts < front_matter_end
    in_fence, opens_fence = _fences(lines, in_front)
    hidden = in_front | in_fence
    after_blank = np.diff(lines.numbers, prepend=-2) > 1
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
    return Structure(lines, ranks, levels, hidden | opens_fence)


def _fences(lines: Lines, ignored: Mask) -> tuple[Mask, Mask]:
    """Mark the lines inside fenced code (its closing line too), and the opening lines."""
    lead = lines.lead()
    candidates = (lead == lines.lead(1)) & (lead == lines.lead(2)) & ~ignored
    candidates &= (lead == ord("`")) | (lead == ord("~"))
    inside, opens = np.zeros(len(lead), np.bool_), np.zeros(len(lead), np.bool_)
    for opening, closing in _fence_pairs(lines, np.flatnonzero(candidates).tolist()):
        opens[opening] = True
        inside[opening + 1 : closing + 1] = True
    return inside, opens


def _fence_pairs(lines: Lines, candidates: list[int]) -> Iterator[tuple[int, int]]:
    """Pair opening and closing lines; a fence that nothing closes runs to the end of the text."""
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
        yield opening, len(lines.starts) - 1


def _table(members: bytes) -> Mask:
    """Return a mask by byte value: a look-up costs a tenth of a set test."""
    table = np.zeros(256, np.bool_)
    table[list(members)] = True
    return table


_BLANKS = _table(b"\t\n\r ")
_MARKS = _table(b"#-+*>|`~=")
_BULLETS = _table(b"-*+")
_NUMBER_ENDS = _table(b".)")


def _heading_levels(lines: Lines, after_blank: Mask, ignored: Mask) -> RankArray:
    levels = np.zeros(len(lines.starts), np.uint8)
    hashes = (lines.lead() == ord("#")) & (lines.indents < 4) & ~ignored
    run = hashes.copy()
    for ahead in range(1, 7):
        levels[run] = ahead
        run &= lines.lead(ahead) == ord("#")
    ends = lines.bytes_at[lines.text + levels]
    levels[run | ~_BLANKS[ends]] = 0
    for line in _underlines(lines, after_blank, ignored | hashes):
        levels[line - 1] = 1 if lines.data[lines.text[line]] == ord("=") else 2
    return levels


_UNDERLINE_BYTES = 128


def _underlines(lines: Lines, after_blank: Mask, ignored: Mask) -> Iterator[int]:
    """Find the underlines of headings of one line (setext)."""
    lead = lines.lead()
    titles = ~_MARKS[lead] & (lines.indents < 4) & ~ignored & after_blank
    bars = ((lead == ord("=")) | (lead == ord("-"))) & (lines.lead(1) == lead) & (lines.indents < 4)
    follows = np.append(False, titles[:-1]) & bars & ~after_blank & ~ignored
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
    digits = _is_digit(lead)
    for ahead in range(1, 10):
        closes = digits & _NUMBER_ENDS[lines.lead(ahead)]
        marker |= closes
        ends[closes] = ahead + 1
        digits &= _is_digit(lines.lead(ahead))
    marker &= _BLANKS[lines.bytes_at[lines.text + ends]]
    return marker


def _is_digit(column: NDArray[np.uint8]) -> Mask:
    digits: Mask = (column >= ord("0")) & (column <= ord("9"))
    return digits


def _table_rows(lines: Lines, after_blank: Mask) -> Mask:
    """Mark the rows of a table but its first."""
    row: Mask = lines.lead() == ord("|")
    row[1:] &= row[:-1] & ~after_blank[1:]
    row[:1] = False
    return row


def _follows_colon(lines: Lines) -> Mask:
    """Mark the lines whose previous non-blank line announces them with a colon at its end."""
    content = lines.bytes_at
    ends = np.maximum(lines.starts - 1, 0)
    for _ in range(_LINE_END_BYTES):
        ends -= (ends > 0) & np.isin(content[ends], (10, 13, 32))
    wide = (content[ends - 2] == 0xEF) & (content[ends - 1] == 0xBC) & (content[ends] == 0x9A)
    colon: Mask = (content[ends] == ord(":")) | (wide & (ends > 1))
    return colon


_LINE_END_BYTES = 4
"""Enough for a blank line between, with two-byte line ends."""
