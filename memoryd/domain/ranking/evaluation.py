"""What questions whose answers are known say of a ranking: recall@k, mean reciprocal rank, verdicts, and what changed.

The scores are those of the field: recall@k over any of the places that answer, the reciprocal rank of the first hit
that holds one (Voorhees 1999), both over the first ten hits.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final

from msgspec import Struct

DEPTH: Final = 10
"""How many hits are looked at."""
FOUND: Final = 5
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
