"""Golden questions: what a person asks of his notes, and where the answer stands, one JSON object a line.

A place is named by a text that stands there, so that it is found again after other lines of the note were edited.

What they say of a ranking are the scores of the field: recall@k over any of the places that answer, the reciprocal rank
of the first hit that holds one (Voorhees 1999), both over the first ten hits.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from memoryd.domain.documents import parse
from memoryd.domain.expressions import expression

DEPTH = 10
"""How many hits are looked at."""
FOUND = 5
"""A place that is not among so many hits is not found: a person reads no further."""


class LineSpan(Struct, frozen=True):
    """A place in a document; lines are 1-based and inclusive."""

    path: str
    start: int
    end: int

    def overlaps(self, other: "LineSpan") -> bool:
        """Tell whether both share a line."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end

    @property
    def count(self) -> int:
        """The number of lines."""
        return self.end - self.start + 1


def first_rank(hits: Sequence[LineSpan], places: Sequence[LineSpan]) -> int | None:
    """Return the rank, from 1, of the first hit that holds a line of any of the places; None if none does."""
    return next((rank for rank, hit in enumerate(hits, 1) if any(map(hit.overlaps, places))), None)


def reciprocal_rank(rank: int | None) -> float:
    """Return 1 / rank, 0 beyond the first ten."""
    return 1 / rank if rank is not None and rank <= DEPTH else 0.0


class QuestionResult(Struct, frozen=True):
    """How a question was answered: the rank of the first hit that answers, None if none of ten does, and the verdict.

    Of a `stranger`, which nothing answers, the verdict alone counts.
    """

    rank: int | None
    verdict: str
    stranger: bool = False

    @property
    def has_right_verdict(self) -> bool:
        """Whether what has an answer is not given up, and what has none is not said to be answered."""
        return self.verdict != ("answerable" if self.stranger else "none")

    @property
    def worth(self) -> tuple[int, bool]:
        """What results are compared by: 2 first, 1 found, 0 not found; then whether the verdict is right."""
        found = 0 if self.rank is None or self.rank > FOUND else 1 if self.rank > 1 else 2
        return (0 if self.stranger else found), self.has_right_verdict


class RankingScores(Struct, frozen=True, rename="camel"):
    """Means over some questions, 0 to 1; the first three over those that have an answer, None where none has."""

    questions: int
    recall_at1: float | None
    recall_at5: float | None
    mrr: float | None
    verdict_accuracy: float | None

    def falls_below(self, before: "RankingScores") -> bool:
        """Tell whether the ranking got worse: fewer first, fewer found, or fewer right verdicts."""
        pairs = (
            (self.recall_at1, before.recall_at1),
            (self.recall_at5, before.recall_at5),
            (self.verdict_accuracy, before.verdict_accuracy),
        )
        return any((now or 0.0) < (then or 0.0) for now, then in pairs)


def scores(results: Iterable[QuestionResult]) -> RankingScores:
    """Return what these results come to."""
    rows = list(results)
    ranks = [row.rank for row in rows if not row.stranger]
    return RankingScores(
        questions=len(rows),
        recall_at1=_mean(rank == 1 for rank in ranks),
        recall_at5=_mean(rank is not None and rank <= FOUND for rank in ranks),
        mrr=_mean(reciprocal_rank(rank) for rank in ranks),
        verdict_accuracy=_mean(row.has_right_verdict for row in rows),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


class RankChange(Struct, frozen=True, rename="camel"):
    """A question that is answered better or worse than before."""

    question: str
    before: QuestionResult
    after: QuestionResult
    is_worse: bool


def changes(before: Mapping[str, QuestionResult], after: Mapping[str, QuestionResult]) -> list[RankChange]:
    """Return the questions of both that came to be first, found or rightly judged, or ceased to be; the worse first."""
    moved = [
        RankChange(question, before[question], result, result.worth < before[question].worth)
        for question, result in after.items()
        if question in before and result.worth != before[question].worth
    ]
    return sorted(moved, key=lambda change: not change.is_worse)


QUESTION_CHARS = 1000
QUOTE_CHARS = 80
"""Of a quote that is made; one by hand may be longer."""
BOM = "\ufeff"

NonBlank = Annotated[str, Meta(pattern=r"\S", max_length=QUESTION_CHARS)]


class GoldenPlace(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where an answer stands: a document, a text in it or lines of it (`L7`, `L7-L9`); or a memory by its id.

    With both, the lines say which of several places with that text is meant.
    """

    path: str = ""
    quote: str = ""
    lines: str = ""
    memory: str = ""

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.memory):
            raise ValueError("a place has a `path` or a `memory`")
        if self.quote and not self.quote.strip():
            raise ValueError("a `quote` is a text that stands there")
        if self.lines:
            parse(f"{self.path}#{self.lines}")

    def __str__(self) -> str:
        if self.memory:
            return f"memory {self.memory[:8]}"
        return f"{self.path}#{self.lines}" if self.lines else self.path


class GoldenQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    """A question and the places any of which answers it; none: nothing in the notes does."""

    question: NonBlank
    expect: tuple[GoldenPlace | str, ...]
    """A text is a citation: `memory/house.md#L7-L9`."""
    status: Literal["accepted", "guess"] = "accepted"

    @property
    def places(self) -> tuple[GoldenPlace, ...]:
        """The places, those that are cited among them; raises ValueError for what is no citation."""
        return tuple(_cited(place) if isinstance(place, str) else place for place in self.expect)


def _cited(text: str) -> GoldenPlace:
    citation = parse(text)
    if citation.mark:
        return GoldenPlace(memory=citation.mark)
    return GoldenPlace(path=citation.path, lines=citation.place)


class GoldenLine(Struct, frozen=True):
    """A question with the number of its line, from 1."""

    number: int
    golden: GoldenQuestion


class GoldenSet(Struct, frozen=True):
    """The questions of a file, and in words what is wrong with its other lines, `line N: …`."""

    lines: tuple[GoldenLine, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def accepted(self) -> tuple[GoldenLine, ...]:
        """Those that count."""
        return tuple(line for line in self.lines if line.golden.status == "accepted")


def parse_golden(text: str) -> GoldenSet:
    """Read the lines of a file; a line that cannot be used, or asks what one before asks, is told and left out."""
    found: dict[str, GoldenLine] = {}
    problems: list[str] = []
    decode = msgspec.json.Decoder(GoldenQuestion).decode
    for number, line in enumerate(text.removeprefix(BOM).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            golden = decode(line)
            golden.places  # noqa: B018  (raises what is wrong with a citation)
        except (ValueError, msgspec.MsgspecError) as exc:
            problems.append(f"line {number} is no golden question: {exc}")
            continue
        key = folded(golden.question)
        if key in found:
            problems.append(f"line {number}: asks the same as line {found[key].number}")
        else:
            found[key] = GoldenLine(number, golden)
    return GoldenSet(tuple(found.values()), tuple(problems))


def golden_line(golden: GoldenQuestion) -> str:
    """Write a question as its line, without the end of it."""
    return msgspec.json.encode(golden).decode()


def with_accepted(text: str, numbers: Iterable[int]) -> str:
    """Return the text of a file with the guesses in these lines accepted; all other lines stay byte for byte."""
    lines = text.split("\n")
    for number in numbers:
        golden = msgspec.json.decode(lines[number - 1].removeprefix(BOM), type=GoldenQuestion)
        lines[number - 1] = golden_line(msgspec.structs.replace(golden, status="accepted"))
    return "\n".join(lines)


def folded(text: str) -> str:
    """Return a text as it is compared: without the differences of case and blanks."""
    return " ".join(text.casefold().split())


_BULLET = expression(r"^\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+")


def quote_of(lines: Sequence[str]) -> str:
    """Return a text that names the first of the lines that says something; empty if none does."""
    for line in lines:
        bare = _BULLET.sub("", line).strip()
        if any(sign.isalnum() for sign in bare):
            return bare if len(bare) <= QUOTE_CHARS else bare[:QUOTE_CHARS].rpartition(" ")[0] or bare[:QUOTE_CHARS]
    return ""


def located(place: GoldenPlace, text: str) -> LineSpan | None:
    """Return the lines that a place means in the text of its document as it is now; None if they are not there."""
    lines = text.split("\n")
    cited = parse(f"{place.path}#{place.lines}") if place.lines else None
    first = cited.start_line if cited else None
    if place.quote:
        found = list(_with_quote(place, lines))
        return min(found, key=lambda span: abs(span.start - (first or 1))) if found else None
    if cited is None or first is None:
        return LineSpan(place.path, 1, len(lines))
    return LineSpan(place.path, first, cited.end_line or first) if first <= len(lines) else None


def _with_quote(place: GoldenPlace, lines: Sequence[str]) -> Iterator[LineSpan]:
    """Yield each place where the quote stands, over the ends of lines too."""
    whole, starts = "", list[int]()
    for line in lines:
        part = folded(line)
        gap = " " if whole and part else ""
        starts.append(len(whole) + len(gap))
        whole += gap + part
    quote, at = folded(place.quote), -1
    while (at := whole.find(quote, at + 1)) >= 0:
        yield LineSpan(place.path, bisect_right(starts, at), bisect_left(starts, at + len(quote)))
