"""Snippets: the part of a chunk that shows why it matched, as exact text with true line numbers, and its focus.

The part is the run of complete lines with the highest weight for a question, by words and by meaning. In a
conversation, blank lines are removed first, and the other lines keep their numbers: between two messages of a
transcript there may be a hundred lines of tool output, which as blank lines would fill a snippet. Runs of lines are
ranges of line numbers, counted from 0.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import accumulate, pairwise

from msgspec import Struct

from memoryd.domain.documents import Speaker
from memoryd.domain.expressions import expression
from memoryd.domain.text.words import STEMMERS, normalised, stems_of

SNIPPET_CHARS = 700


class MatchingPassage(Struct, frozen=True):
    """A passage near to the question: its characters in the chunk, `stop` excluded, and its standout, 0 to 1."""

    start: int
    stop: int
    standout: float


class LineTable(Struct, frozen=True):
    """Properties of each line of a text, by its number."""

    starts: Sequence[int]
    """Offset of each line, in characters, and of the end of the last."""
    weights: Sequence[Mapping[str, float]]
    """Weight of each term in each line."""
    nearness: Sequence[float]
    """Weight of the parts of near passages in each line; empty if passages do not count."""
    headings: Set[int]
    blanks: Set[int]

    def size(self, run: range) -> int:
        """Return how many characters a run of lines has."""
        return self.starts[run.stop] - self.starts[run.start]


class Room(Struct, frozen=True):
    """Size limit of a run; a single line may be longer."""

    characters: int
    lines: int


FOCUS = Room(characters=700, lines=6)
"""Size limit of a focus."""


class Focus(Struct, frozen=True):
    """The lines of a snippet that answer best, counted from the first line of the chunk (0), and the reasons."""

    first_line: int
    last_line: int
    terms: tuple[str, ...] = ()
    """Terms of the question in these lines."""
    near: MatchingPassage | None = None
    """Nearest of the passages in these lines; None if the lines were chosen by words alone."""


class Snippet(Struct, frozen=True):
    """An exact slice of a chunk and its lines, counted from the first line of the chunk (0)."""

    text: str
    first_line: int
    last_line: int
    focus: Focus


def snippet(
    text: str,
    weights: Mapping[str, float],
    limit: int = SNIPPET_CHARS,
    near: Sequence[MatchingPassage] = (),
    *,
    focus: Room = FOCUS,
    language: str = "",
    front: int = 0,
) -> Snippet:
    """Return at most `limit` characters of `text`, complete lines if they fit, around the lines with most weight.

    `weights` are the weights of the terms. The run with the highest weight of terms and near passages is chosen, then a
    line after and a line before it are added in turn while they fit. The text below a heading comes first, cut off if
    necessary. `focus` is the size limit of the focus. `language` is the code of the language whose stems are searched
    for a term that is not in the text itself; empty for English and for languages without a stemmer. The first `front`
    lines are shown only if all lines after them are blank.
    """
    table = line_table(text, weights, near, language)
    all_lines = range(len(table.weights))
    behind = all_lines[front:]
    within = all_lines if all(at in table.blanks for at in behind) else behind
    shown = _run(table, within, Room(limit, len(all_lines)))
    before = table.starts[shown.start]
    body = text[before : table.starts[shown.stop]].rstrip("\r\n")
    if len(body) > limit:
        is_below_heading = len(shown) > 1
        first = 0 if is_below_heading else _middle(body, tuple(weights), near, before) - limit // 2
        first = max(0, min(first, len(body) - limit))
        body = body[first : first + limit].rstrip()
    last = shown.start + body.count("\n")
    return Snippet(body, shown.start, last, _focus(table, range(shown.start, last + 1), weights, near, focus))


def _run(table: LineTable, within: range, room: Room) -> range:
    """Return the lines with most weight, and those around them that fit.

    A single line, or a heading with the line below it, may exceed `room`.
    """
    if len(within) <= room.lines and table.size(within) <= room.characters:
        return trim_blank_lines(table, within)
    run = heaviest_run(table, within, room)
    if run.start in table.headings:
        # add all lines below the heading that fit
        most = table.starts[run.start] + room.characters
        last = bisect_right(table.starts, most, run.start + 1, min(within.stop, run.start + room.lines) + 1) - 1
        run = range(run.start, max(run.stop, last))
        if run.stop < within.stop and all(at in table.headings or at in table.blanks for at in run):
            return range(run.start, run.stop + 1)
    return trim_blank_lines(table, extend_run(table, run, within, room))


def _focus(table: LineTable, shown: range, terms: Iterable[str], near: Sequence[MatchingPassage], room: Room) -> Focus:
    run = _run(table, shown, room)
    contained = set[str]().union(*table.weights[run.start : run.stop])
    return Focus(
        first_line=run.start,
        last_line=run.stop - 1,
        terms=tuple([term for term in terms if term in contained]),
        near=_nearest(table, run, near),
    )


def _nearest(table: LineTable, run: range, near: Sequence[MatchingPassage]) -> MatchingPassage | None:
    """Return the passage in a run with the highest standout; None if no passage counts there."""
    if not any(table.nearness[run.start : run.stop]):
        return None
    start, stop = table.starts[run.start], table.starts[run.stop]
    inside = (passage for passage in near if passage.start < stop and start < passage.stop)
    return max(inside, key=lambda passage: passage.standout, default=None)


def _middle(line: str, terms: Sequence[str], near: Sequence[MatchingPassage], before: int) -> int:
    """Return the approximate middle of the matches in an over-long line; folding shifts characters by a few.

    Without matches it is the middle of the passage with the highest standout. `before` is the number of characters of
    the chunk before the line.
    """
    plain = fold(line)
    places = [place for term in terms if (place := plain.find(term)) >= 0]
    if places:
        return round(sum(places) / len(places) * len(line) / len(plain))
    best = max(near, key=lambda passage: passage.standout, default=None)
    return 0 if best is None else (best.start + best.stop) // 2 - before


LINE_SHARE = 0.25
"""Share of a term's weight added for each line that contains it; once per run the term counts in full."""
HEADING_SHARE = 0.75
"""Share of a term's weight in a heading, since the answer is in the text below."""
NUMBER_WEIGHT = 2.0
"""Factor for the weight of a number of three or more digits: years and codes distinguish similar lines."""
MIN_WEIGHT = 0.1
"""Least weight of a term, so that a term in most chunks is shown if no other occurs."""
NEAR_SHARE = 0.6
"""Weight of a passage with full standout, as a share of the weight of all terms."""

_NUMBER = expression(r"[0-9]{3,}\Z")
_HEADING = expression(r" {0,3}#{1,6}[ \t]")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their line ends; the last has none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines


@lru_cache(32)
def fold(text: str) -> str:
    """Return the text normalised like terms, with the same lines; cached, since one answer needs it several times."""
    return normalised(text).lower()


def line_table(
    text: str, weights: Mapping[str, float], near: Sequence[MatchingPassage], language: str = ""
) -> LineTable:
    """Return the properties of each line of a text; `weights` are the weights of the terms.

    `language` is the code of the language whose stems are searched, too. Passages do not count if a number of the
    question occurs outside headings: vectors do not distinguish one year from another.
    """
    plain_text = fold(text)
    lines, plain = text.split("\n"), plain_text.split("\n")
    starts = [0, *accumulate([len(line) + 1 for line in lines])]
    starts[-1] -= 1  # the last line has no line end
    headings = {at for at, line in enumerate(lines) if _is_heading(line)} if "#" in text else set[int]()
    blanks = {at for at, line in enumerate(lines) if not line or line.isspace()}
    numbers = {term for term in weights if _NUMBER.match(term)}
    stems = [
        (term, _stem(term, plain_text, language), max(weight, MIN_WEIGHT) * (NUMBER_WEIGHT if term in numbers else 1.0))
        for term, weight in weights.items()
    ]
    total = sum([weight for _, _, weight in stems]) or 1.0
    has_number = any(number in words for number in numbers for words in plain if not _is_heading(words))
    line_weights: list[dict[str, float]] = [{} for _ in lines]
    for term, stem, weight in stems:
        if stem in plain_text:
            for words, terms in zip(plain, line_weights, strict=True):
                if stem in words:
                    terms[term] = weight
    for at in headings:
        share = HEADING_SHARE * sum(line_weights[at].values()) / total
        line_weights[at] = {term: share * weight for term, weight in line_weights[at].items()}
    silent = headings | blanks
    standouts = enumerate(_standouts(starts, near) if near and not has_number else ())
    return LineTable(
        starts=starts,
        weights=line_weights,
        nearness=[0.0 if at in silent else NEAR_SHARE * total * standout for at, standout in standouts],
        headings=headings,
        blanks=blanks,
    )


def _is_heading(line: str) -> bool:
    return "#" in line[:4] and _HEADING.match(line) is not None


def _stem(term: str, text: str, language: str) -> str:
    """Return the beginning of a term that its other forms share; if the text lacks it, a stem that the text has."""
    beginning = term[:-1] if len(term) > 4 and term.isascii() else term
    if language not in STEMMERS or beginning in text:
        return beginning
    return next((stem for stem in stems_of(term, language) if stem in text), beginning)


def _standouts(starts: Sequence[int], near: Sequence[MatchingPassage]) -> Iterator[float]:
    """Yield the standout of each line: the sum over the passages, each by its share of characters in the line."""
    for start, end in pairwise(starts):
        yield sum(
            passage.standout * (min(end, passage.stop) - max(start, passage.start)) / (passage.stop - passage.start)
            for passage in near
            if passage.start < end and start < passage.stop
        )


def heaviest_run(table: LineTable, within: range, room: Room) -> range:
    """Return the run of lines within `room` with the highest weight; at a tie the shorter, then the first.

    A run never weighs less than a run inside it. So for each last line, only the longest run that fits is compared,
    without lines at its edges that weigh nothing.
    """
    starts, weights = table.starts, table.weights
    near = table.nearness or [0.0] * len(weights)
    nearness = [0.0, *accumulate(near)]
    weighty = [at for at in within if weights[at] or near[at]]
    counts: dict[tuple[str, float], int] = {}
    best, best_rank = range(within.start, within.start + 1), (0.0, 0)
    first = 0
    for last in weighty:
        for term in weights[last].items():
            counts[term] = counts.get(term, 0) + 1
        while weighty[first] < last and (
            starts[last + 1] - starts[weighty[first]] > room.characters or last - weighty[first] >= room.lines
        ):
            for term in weights[weighty[first]].items():
                counts[term] -= 1
            first += 1
        start = weighty[first]
        weight = _weight_of_run(counts) + nearness[last + 1] - nearness[start]
        rank = (round(weight, 9), starts[start] - starts[last + 1])
        if rank > best_rank:
            best, best_rank = range(start, last + 1), rank
    return best


def _weight_of_run(counts: Mapping[tuple[str, float], int]) -> float:
    """Return the weight of a run, from its number of lines by term and weight: each term once, and a share per line."""
    once: dict[str, float] = {}
    for (term, weight), lines in counts.items():
        if lines:
            once[term] = max(weight, once.get(term, 0.0))
    return sum(once.values()) + LINE_SHARE * sum([weight * lines for (_, weight), lines in counts.items()])


def extend_run(table: LineTable, run: range, within: range, room: Room) -> range:
    """Return the run extended by a line after it and a line before it in turn, while they fit."""
    starts, start, stop = table.starts, run.start, run.stop
    before = None
    while before != (start, stop):
        before = start, stop
        if stop < within.stop and starts[stop + 1] - starts[start] <= room.characters and stop - start < room.lines:
            stop += 1
        if start > within.start and starts[stop] - starts[start - 1] <= room.characters and stop - start < room.lines:
            start -= 1
    return range(start, stop)


def trim_blank_lines(table: LineTable, run: range) -> range:
    """Return the run without blank lines at its edges, but at least one line."""
    filled = [at for at in run if at not in table.blanks]
    return range(filled[0], filled[-1] + 1) if filled else run[-1:]


MESSAGE = Room(characters=700, lines=1)
"""Size limit of the focus on a conversation, before the question or the answer of the message is added."""
QUESTION_PREFIX = f"{Speaker.USER}: "


class SqueezedText(Struct, frozen=True):
    """A text without blank lines; `lines` are the former numbers of its lines, from 0."""

    text: str
    lines: Sequence[int]
    near: Sequence[MatchingPassage] = ()
    """Passages with their new offsets."""


def remove_blank_lines(text: str, near: Sequence[MatchingPassage] = ()) -> SqueezedText:
    """Return a text without its blank lines; a text of blank lines alone stays unchanged."""
    lines = split_lines(text)
    filled = tuple(at for at, line in enumerate(lines) if line.strip())
    if len(filled) in (0, len(lines)):
        return SqueezedText(text, range(len(lines)), near)
    starts = list(accumulate(map(len, lines), initial=0))
    moved = list(accumulate((len(line) if line.strip() else 0 for line in lines), initial=0))

    def place(offset: int) -> int:
        at = min(bisect_right(starts, offset) - 1, len(lines) - 1)
        # an offset in a removed line becomes the start of the next line
        return min(moved[at] + offset - starts[at], moved[at + 1])

    return SqueezedText(
        "".join(lines[at] for at in filled).removesuffix("\n"),
        filled,
        tuple(MatchingPassage(place(passage.start), place(passage.stop), passage.standout) for passage in near),
    )


def exchange_lines(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Return the first and last line of the exchange with a message: a question and the message that answers it.

    `lines` are the lines of a squeezed text, counted from 0.
    """
    if lines[at].startswith(QUESTION_PREFIX):
        behind = lines[at + 1 : at + 2]
        return at, at + 1 if behind and not behind[0].startswith(QUESTION_PREFIX) else at
    return at - 1 if at and lines[at - 1].startswith(QUESTION_PREFIX) else at, at
