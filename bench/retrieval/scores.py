"""Measures of a ranking: recall@k over the evidence groups, MRR@10, nDCG@10, and how much a reader must read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.retrieval.sets import Evidence, Lines, Question

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one question, or the mean of many; `chars_at_5` counts each line of the top five once."""

    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr_at_10: float
    ndcg_at_10: float
    chars_at_5: float


def score(question: Question, hits: Sequence[Lines], sizes: Mapping[str, Sequence[int]]) -> Scores:
    """Score one ranking; `sizes` holds the characters of each line of each document."""
    ranks = [rank for evidence in question.evidence if (rank := _first_rank(evidence, hits)) is not None]
    count = len(question.evidence)
    best = min(ranks, default=DEPTH + 1)
    return Scores(
        recall_at_1=sum(rank <= 1 for rank in ranks) / count,
        recall_at_5=sum(rank <= 5 for rank in ranks) / count,
        recall_at_10=sum(rank <= DEPTH for rank in ranks) / count,
        mrr_at_10=1 / best if best <= DEPTH else 0.0,
        ndcg_at_10=_ndcg(question, hits),
        chars_at_5=_characters(hits[:5], sizes),
    )


def mean(scores: Sequence[Scores]) -> Scores:
    """Return the mean of each measure."""
    return Scores(*(fmean(getattr(row, name) for row in scores) for name in Scores.__dataclass_fields__))


def _first_rank(evidence: Evidence, hits: Sequence[Lines]) -> int | None:
    for rank, hit in enumerate(hits, 1):
        if any(hit.overlaps(place) for place in evidence.places):
            return rank
    return None


def _ndcg(question: Question, hits: Sequence[Lines]) -> float:
    """Discounted gain of each group at its first rank, over the gain of a ranking that has them all on top."""
    gains = [
        evidence.weight / math.log2(1 + rank)
        for evidence in question.evidence
        if (rank := _first_rank(evidence, hits)) is not None and rank <= DEPTH
    ]
    weights = sorted((evidence.weight for evidence in question.evidence), reverse=True)[:DEPTH]
    ideal = sum(weight / math.log2(1 + rank) for rank, weight in enumerate(weights, 1))
    return min(1.0, sum(gains) / ideal) if ideal else 0.0


def _characters(hits: Sequence[Lines], sizes: Mapping[str, Sequence[int]]) -> float:
    lines = {(hit.path, line) for hit in hits for line in range(hit.start, hit.end + 1)}
    return float(sum(sizes[path][line - 1] for path, line in lines if line <= len(sizes[path])))
