"""Snippets: the part of a chunk that shows why it was found, exact text with true line numbers, and its focus.

The part is the run of whole lines that tells most about a question, by words and by meaning. Of a conversation, silent
lines are left out first, and the numbers of the others are kept: between two messages of a transcript there may be a
hundred lines of tool output, which as blank lines would fill a snippet. Runs of lines are ranges of their numbers,
counted from 0.
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
    """A passage near to the question: where it stands, in characters of its chunk, and how far its cosine stands out.

    `stop` is excluded; `standout` is 0 to 1.
    """

    start: int
    stop: int
    standout: float


class LineTable(Struct, frozen=True):
    """What is known of each line of a text, by its number."""

    starts: Sequence[int]
    """Where each begins, in characters, and where the last one ends."""
    weights: Sequence[Mapping[str, float]]
    """What each term weighs in it."""
    nearness: Sequence[float]
    """What the parts of near passages in it weigh; empty if none does."""
    headings: Set[int]
    blanks: Set[int]

    def size(self, run: range) -> int:
        """Return how many characters a run of lines has."""
        return self.starts[run.stop] - self.starts[run.start]


class Room(Struct, frozen=True):
    """How much a run may hold; one line may be longer."""

    characters: int
    lines: int


FOCUS = Room(characters=700, lines=6)
"""What a focus holds at most."""


class Focus(Struct, frozen=True):
    """The lines of a snippet that answer best, counted from the first line of the chunk (0), and why these."""

    first_line: int
    last_line: int
    terms: tuple[str, ...] = ()
    """Those of the question that stand in it."""
    near: MatchingPassage | None = None
    """The nearest of the passages whose meaning had it chosen; None: words alone."""


class Snippet(Struct, frozen=True):
    """An exact slice of a chunk and the lines it stands on, counted from the first line of the chunk (0)."""

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
    """Return at most `limit` characters of `text`, whole lines where they fit, around those that tell most.

    `weights` say how telling each term is. The lines are those that hold the most telling terms and what is near in
    meaning together; a line after and a line before are added in turn while they fit. What follows a heading comes
    first, in part if need be. `focus` is what its focus may hold. `language` is the code of the language by whose stems
    a term is looked for that does not stand in the text itself; none for English and where there are none. The first
    `front` lines are shown only where nothing is behind them.
    """
    table = line_table(text, weights, near, language)
    every = range(len(table.weights))
    behind = every[front:]
    within = every if all(at in table.blanks for at in behind) else behind
    shown = _run(table, within, Room(limit, len(every)))
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
    """Return the lines that tell most, with those around them that fit; one line, or one below a heading, may not."""
    if len(within) <= room.lines and table.size(within) <= room.characters:
        return without_blank_edges(table, within)
    run = richest(table, within, room)
    if run.start in table.headings:
        # with all the lines below it that fit
        most = table.starts[run.start] + room.characters
        last = bisect_right(table.starts, most, run.start + 1, min(within.stop, run.start + room.lines) + 1) - 1
        run = range(run.start, max(run.stop, last))
        if run.stop < within.stop and all(at in table.headings or at in table.blanks for at in run):
            return range(run.start, run.stop + 1)
    return without_blank_edges(table, widened(table, run, within, room))


def _focus(table: LineTable, shown: range, terms: Iterable[str], near: Sequence[MatchingPassage], room: Room) -> Focus:
    run = _run(table, shown, room)
    held = set[str]().union(*table.weights[run.start : run.stop])
    return Focus(
        first_line=run.start,
        last_line=run.stop - 1,
        terms=tuple([term for term in terms if term in held]),
        near=_nearest(table, run, near),
    )


def _nearest(table: LineTable, run: range, near: Sequence[MatchingPassage]) -> MatchingPassage | None:
    """Return the passage that stands out most of those that count in a run."""
    if not any(table.nearness[run.start : run.stop]):
        return None
    start, stop = table.starts[run.start], table.starts[run.stop]
    inside = (one for one in near if one.start < stop and start < one.stop)
    return max(inside, key=lambda one: one.standout, default=None)


def _middle(line: str, terms: Sequence[str], near: Sequence[MatchingPassage], before: int) -> int:
    """Return the middle of the matches in one over-long line, about: folding moves its characters by a few.

    Without any it is that of the passage that stands out most; `before` characters of the chunk stand before the line.
    """
    plain = folded(line)
    places = [place for term in terms if (place := plain.find(term)) >= 0]
    if places:
        return round(sum(places) / len(places) * len(line) / len(plain))
    best = max(near, key=lambda one: one.standout, default=None)
    return 0 if best is None else (best.start + best.stop) // 2 - before


LINE_SHARE = 0.25
"""Of a term's weight counts for each line that holds it; once in the whole run it counts in full."""
HEADING_SHARE = 0.75
"""Of a term's weight counts in a heading: what tells is the text below."""
NUMBER_WEIGHT = 2.0
"""Times its own is the weight of a number of three digits or more: years and codes tell alike lines apart."""
MIN_WEIGHT = 0.1
"""Counts a term that stands in most chunks, so that it is shown where nothing else is."""
NEAR_SHARE = 0.6
"""Of what all terms weigh is the weight of a passage whose meaning stands out in full."""
_DIGITS = 9
_NUMBER = expression(r"[0-9]{3,}\Z")
_HEADING = expression(r" {0,3}#{1,6}[ \t]")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; the last one has none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines


@lru_cache(32)
def folded(text: str) -> str:
    """Return the text in the spelling of terms, line by line the same; remembered for what else the answer does."""
    return normalised(text).lower()


def line_table(
    text: str, weights: Mapping[str, float], near: Sequence[MatchingPassage], language: str = ""
) -> LineTable:
    """Return what is known of each line of a text; `weights` say how telling each term is.

    `language` is the one by whose stems they are looked for, too. Passages count nothing where a number of the question
    stands below a heading: meaning does not tell a year from another.
    """
    whole = folded(text)
    lines, plain = text.split("\n"), whole.split("\n")
    starts = [0, *accumulate([len(line) + 1 for line in lines])]
    # the last line has no end
    starts[-1] -= 1
    headings = {at for at, line in enumerate(lines) if _is_heading(line)} if "#" in text else set[int]()
    blanks = {at for at, line in enumerate(lines) if not line or line.isspace()}
    numbers = {term for term in weights if _NUMBER.match(term)}
    stems = [
        (term, _stem(term, whole, language), max(weight, MIN_WEIGHT) * (NUMBER_WEIGHT if term in numbers else 1.0))
        for term, weight in weights.items()
    ]
    total = sum([weight for _, _, weight in stems]) or 1.0
    has_number = any(number in words for number in numbers for words in plain if not _is_heading(words))
    held: list[dict[str, float]] = [{} for _ in lines]
    for term, stem, weight in stems:
        if stem in whole:
            for words, terms in zip(plain, held, strict=True):
                if stem in words:
                    terms[term] = weight
    for at in headings:
        share = HEADING_SHARE * sum(held[at].values()) / total
        held[at] = {term: share * weight for term, weight in held[at].items()}
    silent = headings | blanks
    standouts = enumerate(_standouts(starts, near) if near and not has_number else ())
    return LineTable(
        starts=starts,
        weights=held,
        nearness=[0.0 if at in silent else NEAR_SHARE * total * standout for at, standout in standouts],
        headings=headings,
        blanks=blanks,
    )


def _is_heading(line: str) -> bool:
    return "#" in line[:4] and _HEADING.match(line) is not None


def _stem(term: str, text: str, language: str) -> str:
    """Return the beginning of a term that its other forms share; if that does not stand in the text, its stem there."""
    beginning = term[:-1] if len(term) > 4 and term.isascii() else term
    if language not in STEMMERS or beginning in text:
        return beginning
    return next((stem for stem in stems_of(term, language) if stem in text), beginning)


def _standouts(starts: Sequence[int], near: Sequence[MatchingPassage]) -> Iterator[float]:
    """Yield for each line what stands out in it: of each passage the share that stands there."""
    for start, end in pairwise(starts):
        yield sum(
            one.standout * (min(end, one.stop) - max(start, one.start)) / (one.stop - one.start)
            for one in near
            if one.start < end and start < one.stop
        )


def richest(table: LineTable, within: range, room: Room) -> range:
    """Return the run of lines in `room` that tells most, the shorter one at a tie, then the first.

    A longer run never tells less than what it holds; so for each end the longest that fits is looked at, without the
    lines at its edges that tell nothing.
    """
    starts, weights = table.starts, table.weights
    near = table.nearness or [0.0] * len(weights)
    nearness = [0.0, *accumulate(near)]
    telling = [at for at in within if weights[at] or near[at]]
    held: dict[tuple[str, float], int] = {}
    best, best_rank = range(within.start, within.start + 1), (0.0, 0)
    first = 0
    for last in telling:
        for term in weights[last].items():
            held[term] = held.get(term, 0) + 1
        while telling[first] < last and (
            starts[last + 1] - starts[telling[first]] > room.characters or last - telling[first] >= room.lines
        ):
            for term in weights[telling[first]].items():
                held[term] -= 1
            first += 1
        start = telling[first]
        told = _weight_of_run(held) + nearness[last + 1] - nearness[start]
        rank = (round(told, _DIGITS), starts[start] - starts[last + 1])
        if rank > best_rank:
            best, best_rank = range(start, last + 1), rank
    return best


def _weight_of_run(held: Mapping[tuple[str, float], int]) -> float:
    """Return what a run tells, by the lines for each term and weight: each term once, and a share for each line."""
    once: dict[str, float] = {}
    for (term, weight), lines in held.items():
        if lines:
            once[term] = max(weight, once.get(term, 0.0))
    return sum(once.values()) + LINE_SHARE * sum([weight * lines for (_, weight), lines in held.items()])


def widened(table: LineTable, run: range, within: range, room: Room) -> range:
    """Return the run with the line after it and the line before it in turn, while they fit."""
    starts, start, stop = table.starts, run.start, run.stop
    before = None
    while before != (start, stop):
        before = start, stop
        if stop < within.stop and starts[stop + 1] - starts[start] <= room.characters and stop - start < room.lines:
            stop += 1
        if start > within.start and starts[stop] - starts[start - 1] <= room.characters and stop - start < room.lines:
            start -= 1
    return range(start, stop)


def without_blank_edges(table: LineTable, run: range) -> range:
    """Return the run without the blank lines at its edges, at least one line."""
    filled = [at for at in run if at not in table.blanks]
    return range(filled[0], filled[-1] + 1) if filled else run[-1:]


MESSAGE = Room(characters=700, lines=1)
"""What the focus on a conversation holds, before what it answers, or what answers it, is added."""
ASKED = f"{Speaker.USER}: "


class SqueezedText(Struct, frozen=True):
    """A text without blank lines; `lines` are those that it has, as they were counted before, from 0."""

    text: str
    lines: Sequence[int]
    near: Sequence[MatchingPassage] = ()
    """The passages by their new places."""


def squeezed(text: str, near: Sequence[MatchingPassage] = ()) -> SqueezedText:
    """Return a text without its blank lines; one of blank lines alone stays as it is."""
    lines = split_lines(text)
    kept = tuple(at for at, line in enumerate(lines) if line.strip())
    if len(kept) in (0, len(lines)):
        return SqueezedText(text, range(len(lines)), near)
    starts = list(accumulate(map(len, lines), initial=0))
    moved = list(accumulate((len(line) if line.strip() else 0 for line in lines), initial=0))

    def place(offset: int) -> int:
        at = min(bisect_right(starts, offset) - 1, len(lines) - 1)
        # inside of a line that goes, it is where the next one begins
        return min(moved[at] + offset - starts[at], moved[at + 1])

    return SqueezedText(
        "".join(lines[at] for at in kept).removesuffix("\n"),
        kept,
        tuple(MatchingPassage(place(one.start), place(one.stop), one.standout) for one in near),
    )


def exchange(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Return the first and last line of what belongs to a message: the question with the message that answers it.

    `lines` are those of a squeezed text, counted from 0.
    """
    if lines[at].startswith(ASKED):
        behind = lines[at + 1 : at + 2]
        return at, at + 1 if behind and not behind[0].startswith(ASKED) else at
    return at - 1 if at and lines[at - 1].startswith(ASKED) else at, at
