"""Golden questions: questions with the places of their answers, one JSON object per line.

A place is named by a quote, so that it is found again after other lines of the note were edited.

A ranking is scored by recall@k over any of the places that answer, and by the reciprocal rank of the first hit that
contains one (Voorhees 1999), both over the first ten hits.
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
"""Number of hits that are evaluated."""
FOUND_RANK = 5
"""Rank up to which an answer counts as found: a person reads no further."""


class LineSpan(Struct, frozen=True):
    """A place in a document; lines are 1-based and inclusive."""

    path: str
    start: int
    end: int

    def overlaps(self, other: "LineSpan") -> bool:
        """Return whether both share a line."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end

    @property
    def count(self) -> int:
        """Number of lines."""
        return self.end - self.start + 1


def first_rank(hits: Sequence[LineSpan], places: Sequence[LineSpan]) -> int | None:
    """Return the rank, from 1, of the first hit that overlaps one of the places; None if none does."""
    return next((rank for rank, hit in enumerate(hits, 1) if any(map(hit.overlaps, places))), None)


def reciprocal_rank(rank: int | None) -> float:
    """Return 1 / rank; 0 for None and for ranks after the first ten."""
    return 1 / rank if rank is not None and rank <= DEPTH else 0.0


class QuestionResult(Struct, frozen=True):
    """Result of a question: the rank of the first hit that answers (None if none of ten does), and the verdict.

    `stranger`: nothing in the notes answers the question, so that only the verdict counts.
    """

    rank: int | None
    verdict: str
    stranger: bool = False

    @property
    def has_right_verdict(self) -> bool:
        """Whether a question with an answer did not get `none`, and one without an answer did not get `answerable`."""
        return self.verdict != ("answerable" if self.stranger else "none")

    @property
    def worth(self) -> tuple[int, bool]:
        """Sort key of results: 2 for first, 1 for found, 0 for not found; then whether the verdict is right."""
        if self.stranger or self.rank is None or self.rank > FOUND_RANK:
            return 0, self.has_right_verdict
        return 1 if self.rank > 1 else 2, self.has_right_verdict


class RankingScores(Struct, frozen=True, rename="camel"):
    """Means over questions, 0 to 1; recall and MRR over those with an answer, None if none has one."""

    questions: int
    recall_at1: float | None
    recall_at5: float | None
    mrr: float | None
    verdict_accuracy: float | None

    def falls_below(self, before: "RankingScores") -> bool:
        """Return whether the ranking got worse: fewer first, fewer found, or fewer right verdicts."""
        pairs = (
            (self.recall_at1, before.recall_at1),
            (self.recall_at5, before.recall_at5),
            (self.verdict_accuracy, before.verdict_accuracy),
        )
        return any((now or 0.0) < (then or 0.0) for now, then in pairs)


def scores(results: Iterable[QuestionResult]) -> RankingScores:
    """Return the scores of these results."""
    rows = list(results)
    ranks = [row.rank for row in rows if not row.stranger]
    return RankingScores(
        questions=len(rows),
        recall_at1=_mean(rank == 1 for rank in ranks),
        recall_at5=_mean(rank is not None and rank <= FOUND_RANK for rank in ranks),
        mrr=_mean(reciprocal_rank(rank) for rank in ranks),
        verdict_accuracy=_mean(row.has_right_verdict for row in rows),
    )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None


class RankChange(Struct, frozen=True, rename="camel"):
    """A question that is answered better or worse than before."""

    question: str
    before: QuestionResult
    after: QuestionResult
    is_worse: bool


def changes(before: Mapping[str, QuestionResult], after: Mapping[str, QuestionResult]) -> list[RankChange]:
    """Return the questions in both whose `worth` changed, the worse first."""
    changed = [
        RankChange(question, before[question], result, result.worth < before[question].worth)
        for question, result in after.items()
        if question in before and result.worth != before[question].worth
    ]
    return sorted(changed, key=lambda change: not change.is_worse)


QUESTION_CHARS = 1000
QUOTE_CHARS = 80
"""Length limit of a generated quote; one written by hand may be longer."""
BOM = "\ufeff"


class GoldenPlace(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Place of an answer: a document with a quote or lines (`L7`, `L7-L9`), or a memory by its id.

    With both a quote and lines, the occurrence of the quote nearest to the lines counts.
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
    """A question and its places, each of which answers it; without places, nothing in the notes answers it."""

    question: Annotated[str, Meta(pattern=r"\S", max_length=QUESTION_CHARS)]
    expect: tuple[GoldenPlace | str, ...]
    """Places; a string is a citation such as `memory/house.md#L7-L9`."""
    status: Literal["accepted", "guess"] = "accepted"

    @property
    def places(self) -> tuple[GoldenPlace, ...]:
        """Places, with citations parsed; raises ValueError for a string that is not a citation."""
        return tuple(_cited(place) if isinstance(place, str) else place for place in self.expect)


def _cited(text: str) -> GoldenPlace:
    citation = parse(text)
    if citation.mark:
        return GoldenPlace(memory=citation.mark)
    return GoldenPlace(path=citation.path, lines=citation.place)


class GoldenLine(Struct, frozen=True):
    """A question and the number of its line, from 1."""

    number: int
    golden: GoldenQuestion


class GoldenSet(Struct, frozen=True):
    """Questions of a file, and messages about its faulty lines, `line N: …`."""

    lines: tuple[GoldenLine, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def accepted(self) -> tuple[GoldenLine, ...]:
        """Lines with accepted questions, the only ones that are scored."""
        return tuple(line for line in self.lines if line.golden.status == "accepted")


def parse_golden(text: str) -> GoldenSet:
    """Parse the text of a file; invalid lines and repeated questions are left out and reported in `problems`."""
    questions: dict[str, GoldenLine] = {}
    problems: list[str] = []
    decode = msgspec.json.Decoder(GoldenQuestion).decode
    for number, line in enumerate(text.removeprefix(BOM).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            golden = decode(line)
            golden.places  # noqa: B018  (raises for an invalid citation)
        except (ValueError, msgspec.MsgspecError) as exc:
            problems.append(f"line {number} is no golden question: {exc}")
            continue
        key = fold(golden.question)
        if key in questions:
            problems.append(f"line {number}: asks the same as line {questions[key].number}")
        else:
            questions[key] = GoldenLine(number, golden)
    return GoldenSet(tuple(questions.values()), tuple(problems))


def golden_line(golden: GoldenQuestion) -> str:
    """Return a question as a line of a file, without a line end."""
    return msgspec.json.encode(golden).decode()


def accept_lines(text: str, numbers: Iterable[int]) -> str:
    """Return the text of a file with the questions in these lines, from 1, accepted; other lines stay unchanged."""
    lines = text.split("\n")
    for number in numbers:
        golden = msgspec.json.decode(lines[number - 1].removeprefix(BOM), type=GoldenQuestion)
        lines[number - 1] = golden_line(msgspec.structs.replace(golden, status="accepted"))
    return "\n".join(lines)


def fold(text: str) -> str:
    """Return a text for comparison: case folded, runs of white space as single spaces."""
    return " ".join(text.casefold().split())


_BULLET = expression(r"^\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+")


def quote_of(lines: Sequence[str]) -> str:
    """Return a quote of the first line with a letter or digit, without list or heading marks; empty if none has one."""
    for line in lines:
        bare = _BULLET.sub("", line).strip()
        if any(sign.isalnum() for sign in bare):
            return bare if len(bare) <= QUOTE_CHARS else bare[:QUOTE_CHARS].rpartition(" ")[0] or bare[:QUOTE_CHARS]
    return ""


def locate_answer(place: GoldenPlace, text: str) -> LineSpan | None:
    """Return the lines of a place in the current text of its document; None if they are missing."""
    lines = text.split("\n")
    cited = parse(f"{place.path}#{place.lines}") if place.lines else None
    first = cited.start_line if cited else None
    if place.quote:
        return min(_with_quote(place, lines), key=lambda span: abs(span.start - (first or 1)), default=None)
    if cited is None or first is None:
        return LineSpan(place.path, 1, len(lines))
    return LineSpan(place.path, first, cited.end_line or first) if first <= len(lines) else None


def _with_quote(place: GoldenPlace, lines: Sequence[str]) -> Iterator[LineSpan]:
    """Yield each occurrence of the quote, also across line ends."""
    joined, starts = "", list[int]()
    for line in lines:
        part = fold(line)
        gap = " " if joined and part else ""
        starts.append(len(joined) + len(gap))
        joined += gap + part
    quote, at = fold(place.quote), -1
    while (at := joined.find(quote, at + 1)) >= 0:
        yield LineSpan(place.path, bisect_right(starts, at), bisect_left(starts, at + len(quote)))
