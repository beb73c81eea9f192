"""Lines that a message outdates, in any wording, by a logistic regression over the message relative to each line.

*Finally sold the nikon* and *rent's gone up again, seven eighty from june* have no form that a rule could match. So the
words of a message are rewritten relative to a line: words that the line has become one sign, values of the same type
another, words from the agent's answer just before a third; all other words stay. The features are these words and signs
and pairs of neighbours, together with how much message and line have in common, and how much more than other lines.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.lines import Candidate, memory_values, says_home
from memoryd.domain.memories.capture.outdating_weights import TABLE
from memoryd.domain.memories.capture.values import ContentWords, Rarity, TypedValue, content, values_in
from memoryd.domain.memories.facts.values import HAN
from memoryd.domain.memories.unasked.form import ALWAYS, weights_in

CHARS_MAX = 240
"""Length limit of a message; a longer message is a story without a clear statement."""
_LINE, _ANSWER, _OTHER, _SAME, _AMOUNT, _NAME, _DIGITS = "=", "~", "≠", "≡", "≈", "N", "#"
"""Signs for: a word of the line; a word of the agent's answer; another value of a type of the line; the same value; a
number of another type; a name that the line lacks; a number without a type."""
_SIGNS = frozenset((_LINE, _ANSWER, _OTHER, _SAME, _NAME, _DIGITS))
_PIECE = expression(
    rf"(?P<han>[{HAN}]+)|(?P<word>[^\W\d_{HAN}]+(?:['’][^\W\d_{HAN}]+)*)|(?P<number>\d+(?:[.,:]\d+)*)"
    r"|(?P<asks>[?？])|(?P<calls>[!！])|(?P<parts>[.,;。，；、])"
)
_MARKS = {"number": _DIGITS, "asks": "?", "calls": "!", "parts": ","}
_AUTHOR = caseless(r"\b(?:i|my|me|we|our|us|ich|mich|mir|wir|uns|mein\w{0,2}|unser\w{0,2})\b|[我咱俺]")
_NAMED = expression(r"\b[A-Z][a-z]+")
_LENGTHS = (3, 6, 10, 16, 26)
"""Numbers of pieces; a message gets a feature for each number that it reaches."""
_COUNTED = ("amount", "number", "money")


class RankedLine(Struct, frozen=True):
    """A line, and the log-odds that a message outdates it.

    `is_answered`: of all lines, the agent's answer just before has most in common with this one.
    """

    candidate: Candidate
    weight: float
    is_answered: bool


def rank_outdated(message: str, answer: str, lines: Sequence[Candidate], rarity: Rarity) -> list[RankedLine]:
    """Return the lines, those that a message most likely outdates first; `answer` is the agent's answer before it."""
    weights = weights_in(TABLE)
    ranked = [
        RankedLine(line, sum(weights.get(name, 0.0) * value for name, value in row.items()), "heard most" in row)
        for line, row in zip(lines, rows_of(message, answer, lines, rarity), strict=True)
    ]
    return sorted(ranked, key=lambda line: (line.weight, line.candidate.memory.id), reverse=True)


def rows_of(message: str, answer: str, lines: Sequence[Candidate], rarity: Rarity) -> list[dict[str, float]]:
    """Return the features of a message for each line, with their values by name."""
    # an answer about something else shows nothing of what the message is about
    is_heard = any(map(content(answer).intersection, (line.words for line in lines)))
    parsed = _Message(message, answer if is_heard else "")
    shared = [rarity.weight(parsed.spoken & line.words) for line in lines]
    answered = [rarity.share(parsed.answered & line.words, line.words) for line in lines]
    total = rarity.weight(parsed.spoken) or 1.0
    most, most_answered = max(shared, default=0.0), max(answered, default=0.0)
    rows = list[dict[str, float]]()
    for at, line in enumerate(lines):
        common = len(parsed.spoken & line.words)
        marks = {
            "one": common > 0,
            "several": common > 1,
            "most": common > 0 and shared[at] == most,
            "nothing": not most,
            "unheard": not parsed.answered,
            "heard most": 0 < answered[at] == most_answered,
            "heard alone": not most and 0 < answered[at] == most_answered,
        }
        amounts = {
            ALWAYS: 1.0,
            "share": rarity.share(parsed.spoken & line.words, line.words),
            "of message": min(1.0, shared[at] / total),
            "lead": _lead(shared, at),
            "heard": answered[at],
            "heard lead": _lead(answered, at),
        }
        words = list(parsed.words(line))
        # separate features for the words if the line shares one with message or answer, or states a home: a person who
        # moves lives elsewhere
        prefix = "+" if marks["one"] or marks["heard most"] else "home " if says_home(line) else ""
        prefixed = [f"{prefix}{word}" for word in words if prefix and " " not in word and not word.startswith(">")]
        names = (*(name for name, is_set in marks.items() if is_set), *parsed.marks(line, lines), *words, *prefixed)
        rows.append(amounts | dict.fromkeys(names, 1.0))
    return rows


def _lead(weights: Sequence[float], at: int) -> float:
    """Return how far a weight is above or below the best of the others, relative to the higher: -1 to 1."""
    other = max((*weights[:at], *weights[at + 1 :]), default=0.0)
    return (weights[at] - other) / (max(weights[at], other) or 1.0)


class _Piece(Struct, frozen=True):
    """A word, a run of Chinese characters, a number or a mark of a message, with its content words."""

    group: str
    text: str
    words: ContentWords


class _Message:
    """A message, parsed once for many lines; `spoken` and `answered` are its content words and those of the answer."""

    def __init__(self, text: str, answer: str) -> None:
        self.spoken, self.answered = content(text), content(answer)
        self._values = sorted(
            (value for value in values_in(text) if not value.kind.startswith(("name", "low"))),
            key=lambda value: value.start,
        )
        self._pieces = list(self._split(text))
        self._is_authors, self._names = _is_authors(text), _names_in(text)

    def _split(self, text: str) -> Iterator[_Piece | TypedValue]:
        start = 0
        for value in (*self._values, None):
            end = len(text) if value is None else value.start
            for match in _PIECE.finditer(text, start, max(start, end)):
                yield _Piece(match.lastgroup or "", match[0], content(match[0]))
            if value is not None and value.start >= start:
                yield value
                start = value.end

    def marks(self, line: Candidate, lines: Sequence[Candidate]) -> Iterator[str]:
        """Yield features about the author, names and values that the message has in common with a line, or not."""
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
        alike = [value for value in self._values if value.kind in mine]
        others = [value for value in alike if value.key not in mine[value.kind]]
        if len(others) < len(alike):
            yield "same value"
        if others:
            yield "other value"
            yield f"other {others[0].kind.split(' ')[0]}"
            rest = [other for other in lines if other is not line]
            if not any(value.kind in memory_values(other.text) for value in others for other in rest):
                yield "other value of this line alone"
        if mine:
            yield "has value"

    def words(self, line: Candidate) -> Iterator[str]:
        """Yield the words and signs of the message relative to a line, the pairs of neighbours, and its lengths."""
        words = list[str]()
        for sign in self._signs(line):
            if not (words and words[-1] == sign and sign in _SIGNS):
                words.append(sign)
        yield from words
        yield from map(" ".join, pairwise(("^", *words, "$")))
        yield from (f">{least}" for least in _LENGTHS if len(words) >= least)

    def _signs(self, line: Candidate) -> Iterator[str]:
        mine, lower = memory_values(line.text), line.text.lower()
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
            elif piece.words and piece.words <= self.answered:
                yield _ANSWER
            elif piece.text[1:].islower() and piece.text[0].isupper() and piece.text.lower() not in lower:
                yield _NAME
            else:
                yield piece.text.lower().replace("'", "").replace("’", "")

    def _han_signs(self, run: str, words: ContentWords) -> Iterator[str]:
        """Yield the characters of a run, with marks for pairs of characters that the line or the answer contains."""
        signs = list(run)
        for source, mark in ((self.answered, _ANSWER), (words, _LINE)):
            for at, pair in enumerate(map("".join, pairwise(run))):
                if pair in source:
                    signs[at : at + 2] = mark, mark
        yield from signs


def _is_authors(text: str) -> bool:
    return _AUTHOR.search(text) is not None


def _names_in(text: str) -> frozenset[str]:
    return frozenset(_NAMED.findall(text))
