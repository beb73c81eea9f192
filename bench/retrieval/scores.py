"""Measures of one answer: recall@k over the evidence groups, MRR@10, nDCG@10, how much a reader must read, and whether
the lines that a hit puts forward (its `focus`) hold the answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.retrieval.sets import Question, Sizes
from memoryd.domain.ranking.golden import DEPTH, LineSpan, first_rank, reciprocal_rank


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as its reader sees it: the lines of its chunk, and those that it puts forward."""

    chunk: LineSpan
    focus: LineSpan


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one question, or the mean of many.

    `first` and `in_three`: evidence lies within the focus of the first hit, or of one of the first three. `chars_at_5`
    counts each line of the top five chunks once. `any_at_5` and `any_at_10`: one of so many documents that were found
    first, each counted once, holds evidence somewhere: recall_any of LongMemEval, where a document is a session.
    """

    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr_at_10: float
    ndcg_at_10: float
    first: float
    in_three: float
    chars_at_5: float
    any_at_5: float
    any_at_10: float


@dataclass(frozen=True, slots=True)
class Focused:
    """The hits among the first ten whose chunk holds evidence.

    `covered` of them have evidence that their chunk holds in their focus too; `lines` is what all of these are long.
    """

    hits: int = 0
    covered: int = 0
    lines: int = 0

    def __add__(self, other: "Focused") -> "Focused":
        return Focused(self.hits + other.hits, self.covered + other.covered, self.lines + other.lines)

    @property
    def coverage(self) -> float | None:
        """The share that is covered; None where no hit holds evidence."""
        return self.covered / self.hits if self.hits else None

    @property
    def mean_lines(self) -> float | None:
        """The lines of a focus; None where no hit holds evidence."""
        return self.lines / self.hits if self.hits else None


def score(question: Question, hits: Sequence[Shown], sizes: Sizes) -> Scores:
    """Score one ranking of a question that has evidence."""
    chunks = [hit.chunk for hit in hits]
    ranks = [rank for evidence in question.evidence if (rank := first_rank(chunks, evidence.places)) is not None]
    count = len(question.evidence)
    focused = [_holds(question, hit.focus) for hit in hits]
    return Scores(
        recall_at_1=sum(rank <= 1 for rank in ranks) / count,
        recall_at_5=sum(rank <= 5 for rank in ranks) / count,
        recall_at_10=sum(rank <= DEPTH for rank in ranks) / count,
        mrr_at_10=reciprocal_rank(min(ranks, default=None)),
        ndcg_at_10=_ndcg(question, chunks),
        first=float(any(focused[:1])),
        in_three=float(any(focused[:3])),
        chars_at_5=_characters(chunks[:5], sizes),
        any_at_5=recall_any(question, chunks, 5),
        any_at_10=recall_any(question, chunks, DEPTH),
    )


def recall_any(question: Question, hits: Sequence[LineSpan], count: int) -> float:
    """Return 1 if one of the first `count` documents among the hits holds evidence, else 0."""
    documents = list(dict.fromkeys(hit.path for hit in hits))[:count]
    return float(any(place.path in documents for evidence in question.evidence for place in evidence.places))


def focused(question: Question, hits: Sequence[Shown]) -> Focused:
    """Count the hits that hold evidence, and those whose focus does."""
    found = Focused()
    for hit in hits[:DEPTH]:
        held = [place for evidence in question.evidence for place in evidence.places if hit.chunk.overlaps(place)]
        if held:
            found += Focused(1, int(any(map(hit.focus.overlaps, held))), hit.focus.count)
    return found


def mean(scores: Sequence[Scores]) -> Scores:
    """Return the mean of each measure."""
    return Scores(*(fmean(getattr(row, name) for row in scores) for name in Scores.__dataclass_fields__))


def _holds(question: Question, lines: LineSpan) -> bool:
    return any(lines.overlaps(place) for evidence in question.evidence for place in evidence.places)


def _ndcg(question: Question, hits: Sequence[LineSpan]) -> float:
    """Discounted gain of each group at its first rank, over the gain of a ranking that has them all on top."""
    gains = [
        evidence.weight / math.log2(1 + rank)
        for evidence in question.evidence
        if (rank := first_rank(hits, evidence.places)) is not None and rank <= DEPTH
    ]
    weights = sorted((evidence.weight for evidence in question.evidence), reverse=True)[:DEPTH]
    ideal = sum(weight / math.log2(1 + rank) for rank, weight in enumerate(weights, 1))
    return min(1.0, sum(gains) / ideal) if ideal else 0.0


def _characters(hits: Sequence[LineSpan], sizes: Sizes) -> float:
    lines = {(hit.path, line) for hit in hits for line in range(hit.start, hit.end + 1)}
    return float(sum(sizes[path][line - 1] for path, line in lines if line <= len(sizes[path])))
