"""Snippets: the part of a chunk that shows why it was found, exact text with true line numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memoryd.domain.text.words import normalised

SNIPPET_CHARS = 700
LINE_SHARE = 0.25
"""Of a term's weight counts for each line that holds it; once in the whole window it counts in full."""
HEADING_SHARE = 0.75
"""Of a term's weight counts in a heading: what tells is the text below."""
LEAST_WEIGHT = 0.1
"""Counts a term that stands in most chunks, so that it is shown where nothing else is."""
_DIGITS = 9
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """An exact slice of a chunk and the lines it stands on, counted from the first line of the chunk (0)."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class _Line:
    """How long a line is, and what each term weighs in it."""

    size: int
    weights: Mapping[str, float]
    is_heading: bool
    is_text: bool


def snippet(text: str, weights: Mapping[str, float], limit: int = SNIPPET_CHARS) -> Snippet:
    """Return at most `limit` characters of `text`, whole lines where they fit, around those that tell most.

    `weights` say how telling each term is. The lines are those that hold the most telling terms together; a line
    after and a line before are added in turn while they fit. What follows a heading comes first, in part if need be.
    """
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    table = list(_table(lines, _folded(text).split("\n"), weights))
    start, stop = _richest(table, limit)
    if table[start].is_heading:
        stop = _down(table, start, stop, limit)
    if stop < len(table) and not any(line.is_text for line in table[start:stop]):
        body = "".join(lines[start : stop + 1])[:limit].rstrip()
        return Snippet(body, start, start + body.count("\n"))
    start, stop = _widened(table, start, stop, limit)
    body = "".join(lines[start:stop])
    if len(body) > limit:
        return Snippet(_cut(body, list(weights), limit), start, start)
    while stop - start > 1 and not lines[start].strip():
        start += 1
    while stop - start > 1 and not lines[stop - 1].strip():
        stop -= 1
    return Snippet("".join(lines[start:stop]).rstrip("\r\n"), start, stop - 1)


def _folded(text: str) -> str:
    """Return the text in the spelling of terms, line by line the same."""
    return normalised(text).lower()


def _table(lines: Sequence[str], folded: Sequence[str], weights: Mapping[str, float]) -> Iterator[_Line]:
    looked_for = [(_stem(term), max(weight, LEAST_WEIGHT)) for term, weight in weights.items()]
    for line, plain in zip(lines, folded, strict=True):
        is_heading = bool(_HEADING.match(line))
        share = HEADING_SHARE if is_heading else 1.0
        held = {stem: share * weight for stem, weight in looked_for if stem in plain}
        yield _Line(len(line), held, is_heading, not is_heading and bool(line.strip()))


def _stem(term: str) -> str:
    """Return the beginning of a term that its other forms share."""
    return term[:-1] if len(term) > 4 and term.isascii() else term


def _richest(table: Sequence[_Line], limit: int) -> tuple[int, int]:
    """Return the run of lines within `limit` that tells most, the shorter one at a tie, then the first.

    A longer run never tells less than what it holds; so for each end the longest that fits is looked at, without the
    lines at its edges that tell nothing.
    """
    sums = [0, *accumulate(line.size for line in table)]
    telling = [at for at, line in enumerate(table) if line.weights]
    held: Counter[tuple[str, float]] = Counter()
    best, best_rank = (0, 1), (0.0, 0)
    first = 0
    for last in telling:
        held.update(dict.fromkeys(table[last].weights.items(), 1))
        while telling[first] < last and sums[last + 1] - sums[telling[first]] > limit:
            held.subtract(dict.fromkeys(table[telling[first]].weights.items(), 1))
            first += 1
        rank = (_told(held), sums[telling[first]] - sums[last + 1])
        if rank > best_rank:
            best, best_rank = (telling[first], last + 1), rank
    return best


def _told(held: Mapping[tuple[str, float], int]) -> float:
    """Return what a run tells, by the lines for each term and weight: each term once, and a share for each line."""
    once: dict[str, float] = {}
    for (term, weight), lines in held.items():
        if lines:
            once[term] = max(weight, once.get(term, 0.0))
    repeated = sum(weight * lines for (_, weight), lines in held.items())
    return round(sum(once.values()) + LINE_SHARE * repeated, _DIGITS)


def _down(table: Sequence[_Line], start: int, stop: int, limit: int) -> int:
    """Return where a run ends with all the lines below it that fit."""
    sizes = accumulate(line.size for line in table[start:])
    return max(stop, start + sum(size <= limit for size in sizes))


def _widened(table: Sequence[_Line], start: int, stop: int, limit: int) -> tuple[int, int]:
    room = limit - sum(line.size for line in table[start:stop])
    before = -1
    while before != room:
        before = room
        if stop < len(table) and table[stop].size <= room:
            room -= table[stop].size
            stop += 1
        if start > 0 and table[start - 1].size <= room:
            start -= 1
            room -= table[start].size
    return start, stop


def _cut(line: str, terms: Sequence[str], limit: int) -> str:
    """Cut one over-long line around the middle of its matches."""
    places = [place for term in terms if (place := _place(line, term)) is not None]
    centre = sum(places) // len(places) if places else 0
    start = max(0, min(centre - limit // 2, len(line) - limit))
    return line[start : start + limit].rstrip("\r\n")


def _place(line: str, term: str) -> int | None:
    """Return about where a term stands; folding a line moves its characters by a few."""
    folded = _folded(line)
    found = folded.find(term)
    return None if found < 0 else round(found * len(line) / len(folded))
