"""Snippets: the part of a chunk that shows why it was found, exact text with true line numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoryd.domain.words import normalised

SNIPPET_CHARS = 700


@dataclass(frozen=True, slots=True)
class Snippet:
    """An exact slice of a chunk and the lines it stands on, counted from the first line of the chunk (0)."""

    text: str
    first_line: int
    last_line: int


def snippet(text: str, terms: Sequence[str], limit: int = SNIPPET_CHARS) -> Snippet:
    """Return at most `limit` characters of `text`, whole lines where they fit, around the lines richest in terms."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    looked_for = [(term, _stem(term)) for term in terms]
    weights = [_weight(line, looked_for) for line in _folded(text).split("\n")]
    start, stop = _best_window([len(line) for line in lines], weights, limit)
    body = "".join(lines[start:stop])
    if len(body) > limit:
        return Snippet(_cut(body, terms, limit), start, start)
    while stop - start > 1 and not lines[start].strip():
        start += 1
    while stop - start > 1 and not lines[stop - 1].strip():
        stop -= 1
    return Snippet("".join(lines[start:stop]).rstrip("\r\n"), start, stop - 1)


def _folded(text: str) -> str:
    """Return the text in the spelling of terms, line by line the same."""
    return normalised(text).lower()


def _weight(line: str, terms: Sequence[tuple[str, str]]) -> float:
    return float(sum(len(term) for term, stem in terms if stem in line))


def _stem(term: str) -> str:
    """Return the beginning of a term that its other forms share."""
    return term[:-1] if len(term) > 4 and term.isascii() else term


def _best_window(sizes: Sequence[int], weights: Sequence[float], limit: int) -> tuple[int, int]:
    """Return the run of lines within `limit` characters that holds most weight, the first at a tie."""
    best, best_weight = (0, 1), -1.0
    start, size, weight = 0, 0, 0.0
    for stop in range(1, len(sizes) + 1):
        size += sizes[stop - 1]
        weight += weights[stop - 1]
        while size > limit and start < stop - 1:
            size -= sizes[start]
            weight -= weights[start]
            start += 1
        if weight > best_weight:
            best, best_weight = (start, stop), weight
    return _widened(best, sizes, limit)


def _widened(window: tuple[int, int], sizes: Sequence[int], limit: int) -> tuple[int, int]:
    start, stop = window
    size = sum(sizes[start:stop])
    while stop < len(sizes) and size + sizes[stop] <= limit:
        size += sizes[stop]
        stop += 1
    while start > 0 and size + sizes[start - 1] <= limit:
        start -= 1
        size += sizes[start]
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
