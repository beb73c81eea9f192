"""Which lines a message outdates, in whatever words: a logistic regression over the message as each line sees it.

*Finally sold the nikon* and *rent's gone up again, seven eighty from june* have no form that a rule could know. So the
words of a message are read beside a line: what the line says, too, becomes one sign, a value of the same type another,
what the agent said just before a third; the rest stays as it was typed. Such words, and pairs of them that follow each
other, are weighed beside how much the two have in common, and how much more than other lines.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.lines import Candidate, memory_values, says_home
from memoryd.domain.memories.capture.outdating_weights import TABLE
from memoryd.domain.memories.capture.values import Rarity, TypedValue, content, values_in
from memoryd.domain.memories.facts.values import HAN
from memoryd.domain.memories.unasked.form import ALWAYS, weights_in

CHARS_MAX = 240
"""Of a message that is weighed: a longer one is a story, and what of it is meant nobody can tell."""
_LINE, _HEARD, _OTHER, _SAME, _AMOUNT, _NAME, _DIGITS = "=", "~", "≠", "≡", "≈", "N", "#"
"""What the line says; what the agent said; a value of the line's type, another one or its own; a number of another
type; a name that is not the line's; a number that has no type."""
_SIGNS = frozenset((_LINE, _HEARD, _OTHER, _SAME, _NAME, _DIGITS))
_PIECE = expression(
    rf"(?P<han>[{HAN}]+)|(?P<word>[^\W\d_{HAN}]+(?:['’][^\W\d_{HAN}]+)*)|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<asks>[?？])|(?P<calls>[!！])|(?P<parts>[.,;。，；、])"
)
_MARKS = {"number": _DIGITS, "asks": "?", "calls": "!", "parts": ","}
_AUTHOR = caseless(r"\b(?:i|my|me|we|our|us|ich|mich|mir|wir|uns|mein\w{0,2}|unser\w{0,2})\b|[我咱俺]")
_NAMED = expression(r"\b[A-Z][a-z]+")
_LENGTHS = (3, 6, 10, 16, 26)
"""Pieces from which on a message is longer."""
_COUNTED = ("amount", "number", "money")


class Weighed(Struct, frozen=True):
    """A line, and the log-odds that a message says that it holds no longer."""

    candidate: Candidate
    weight: float


def weighed(message: str, heard: str, lines: Sequence[Candidate], rarity: Rarity) -> list[Weighed]:
    """Return all of these lines, those that a message most likely outdates first; `heard` was said just before."""
    weights = weights_in(TABLE)
    found = [
        Weighed(line, sum(weights.get(name, 0.0) * value for name, value in row.items()))
        for line, row in zip(lines, rows_of(message, heard, lines, rarity), strict=True)
    ]
    return sorted(found, key=lambda one: (one.weight, one.candidate.memory.id), reverse=True)


def rows_of(message: str, heard: str, lines: Sequence[Candidate], rarity: Rarity) -> list[dict[str, float]]:
    """Return the features of each line beside a message: their names, and how much it has of each."""
    read = _Message(message, heard)
    shared = [rarity.weight(read.said & line.words) for line in lines]
    told = [rarity.share(read.told & line.words, line.words) for line in lines]
    total, most, most_told = rarity.weight(read.said) or 1.0, max(shared, default=0.0), max(told, default=0.0)
    rows = list[dict[str, float]]()
    for at, line in enumerate(lines):
        common = len(read.said & line.words)
        marks = {
            "one": common > 0,
            "several": common > 1,
            "most": common > 0 and shared[at] == most,
            "nothing": not most,
            "unheard": not read.told,
            "heard most": 0 < told[at] == most_told,
            "heard alone": not most and 0 < told[at] == most_told,
        }
        amounts = {
            ALWAYS: 1.0,
            "share": rarity.share(read.said & line.words, line.words),
            "of message": min(1.0, shared[at] / total),
            "lead": _lead(shared, at),
            "heard": told[at],
            "heard lead": _lead(told, at),
        }
        seen = list(read.words(line))
        # a word says more of a line of which something is said, and who moves lives elsewhere
        near = "+" if marks["one"] or marks["heard most"] else "home " if says_home(line) else ""
        again = [f"{near}{one}" for one in seen if " " not in one and not one.startswith(">")] if near else []
        names = (*(name for name, holds in marks.items() if holds), *read.marks(line, lines), *seen, *again)
        rows.append(amounts | dict.fromkeys(names, 1.0))
    return rows


def _lead(weights: Sequence[float], at: int) -> float:
    """Return how far one of some weights is ahead of the best of the others, or behind it: -1 to 1."""
    other = max((*weights[:at], *weights[at + 1 :]), default=0.0)
    return (weights[at] - other) / (max(weights[at], other) or 1.0)


class _Piece(Struct, frozen=True):
    """A word, a run of signs, a number or a mark of a message, with the words that it is for a line."""

    group: str
    text: str
    words: frozenset[str]


class _Message:
    """A message taken apart once, to be read beside many lines."""

    def __init__(self, text: str, heard: str) -> None:
        self.said, self.told = content(text), content(heard)
        self._values = sorted(
            (one for one in values_in(text) if not one.kind.startswith(("name", "low"))), key=lambda one: one.start
        )
        self._pieces = list(self._taken_apart(text))
        self._is_authors, self._names = _is_authors(text), _names_in(text)

    def _taken_apart(self, text: str) -> Iterator[_Piece | TypedValue]:
        start = 0
        for value in (*self._values, None):
            end = len(text) if value is None else value.start
            for found in _PIECE.finditer(text, start, max(start, end)):
                yield _Piece(found.lastgroup or "", found[0], content(found[0]))
            if value is not None and value.start >= start:
                yield value
                start = value.end

    def marks(self, line: Candidate, lines: Sequence[Candidate]) -> Iterator[str]:
        """Yield what tells whose line it is, and whether the message has another value of its type."""
        if self._is_authors:
            yield "author"
        if _is_authors(line.text):
            yield "line's author"
            yield f"both authors {self._is_authors}"
        names = _names_in(line.text)
        if self._names - names:
            yield "other name"
        if self._names & names:
            yield "same name"
        mine = memory_values(line.text)
        alike = [one for one in self._values if one.kind in mine]
        others = [one for one in alike if one.key not in mine[one.kind]]
        if len(others) < len(alike):
            yield "same value"
        if others:
            yield "other value"
            yield f"other {others[0].kind.split(' ')[0]}"
            rest = [other for other in lines if other is not line]
            if not any(one.kind in memory_values(other.text) for one in others for other in rest):
                yield "other value of this line alone"
        if mine:
            yield "has value"

    def words(self, line: Candidate) -> Iterator[str]:
        """Yield the words of the message as a line sees them, and the pairs of them."""
        seen = list[str]()
        for sign in self._signs(line):
            if not (seen and seen[-1] == sign and sign in _SIGNS):
                seen.append(sign)
        yield from seen
        yield from map(" ".join, pairwise(("^", *seen, "$")))
        yield from (f">{least}" for least in _LENGTHS if len(seen) >= least)

    def _signs(self, line: Candidate) -> Iterator[str]:
        mine, small = memory_values(line.text), line.text.lower()
        has_count = any(kind.startswith(_COUNTED) for kind in mine)
        for piece in self._pieces:
            if isinstance(piece, TypedValue):
                if piece.kind in mine:
                    yield _SAME if piece.key in mine[piece.kind] else _OTHER
                else:
                    is_count = has_count and piece.kind.startswith(_COUNTED)
                    yield _AMOUNT if is_count else f"#{piece.kind.split(' ')[0]}"
            elif piece.group == "han":
                yield from self._han_signs(piece.text, line.words)
            elif piece.group != "word":
                yield _MARKS[piece.group]
            elif piece.words and piece.words <= line.words:
                yield _LINE
            elif piece.words and piece.words <= self.told:
                yield _HEARD
            elif piece.text[1:].islower() and piece.text[0].isupper() and piece.text.lower() not in small:
                yield _NAME
            else:
                yield piece.text.lower().replace("'", "").replace("’", "")

    def _han_signs(self, run: str, words: frozenset[str]) -> Iterator[str]:
        """Yield the signs of a run, those of pairs that the line, or the agent, has as what they are."""
        signs = list(run)
        for source, mark in ((self.told, _HEARD), (words, _LINE)):
            for at, pair in enumerate(map("".join, pairwise(run))):
                if pair in source:
                    signs[at : at + 2] = mark, mark
        yield from signs


def _is_authors(text: str) -> bool:
    return _AUTHOR.search(text) is not None


def _names_in(text: str) -> frozenset[str]:
    return frozenset(_NAMED.findall(text))
