"""Merging the arms of a search into one score a chunk.

`relative`: each arm's scores are scaled per query so that its best is 1 and its noise is 0, then averaged. A weak
arm that cannot tell its best from its noise adds little that way. `weighted` is the raw weighted sum of the
OpenClaw configuration reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Scores = Mapping[int, float]
"""Raw scores of one arm by chunk id; a chunk that the arm did not find is absent."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the arms say. Words are BM25 (0 and up), vectors are cosines (−1 to 1)."""

    chunk_words: Scores = field(default_factory=dict)
    passage_words: Scores = field(default_factory=dict)
    passage_vectors: Scores = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the arms; they sum to 1."""

    vector: float = 0.5
    text: float = 0.5


def relative(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return fused scores, 0 to 1, each list scaled per query to its own range."""
    words = _mean(scaled(evidence.chunk_words), scaled(evidence.passage_words))
    vectors = scaled(evidence.passage_vectors)
    if not vectors:
        return dict(words)
    if not words:
        return dict(vectors)
    return {
        chunk: weights.text * words.get(chunk, 0.0) + weights.vector * vectors.get(chunk, 0.0)
        for chunk in words.keys() | vectors.keys()
    }


def weighted(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return vector share × cosine + text share × r/(1+r), r being the BM25 magnitude."""
    return {
        chunk: weights.vector * max(0.0, evidence.passage_vectors.get(chunk, 0.0))
        + weights.text * text_score(evidence.chunk_words.get(chunk, 0.0))
        for chunk in evidence.chunk_words.keys() | evidence.passage_vectors.keys()
    }


def text_score(magnitude: float) -> float:
    """Map a BM25 magnitude to 0..1: r/(1+r)."""
    return magnitude / (1.0 + magnitude) if magnitude > 0 else 0.0


def scaled(scores: Scores) -> dict[int, float]:
    """Scale to 0..1 by the list's own range; a list of one score, or of equal ones, is all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    span = high - low
    return {chunk: (score - low) / span if span > 0 else 1.0 for chunk, score in scores.items()}


def _mean(first: Scores, second: Scores) -> dict[int, float]:
    if not first or not second:
        return dict(first or second)
    return {chunk: (first.get(chunk, 0.0) + second.get(chunk, 0.0)) / 2 for chunk in first.keys() | second.keys()}
