"""Merging the arms of a search into one score a chunk.

`relative` measures each arm against itself, per question: words against their own best, complete matches above all
others; cosines against the noise of this question over the whole corpus, in standard deviations. An embedder that
cannot tell an answer from a stranger has no cosine far above its noise and so moves little; a keyword ranking is kept
where it is sure.
`weighted` is the raw weighted sum of the OpenClaw configuration reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Scores = Mapping[int, float]
"""Raw scores of one arm by chunk id; a chunk that the arm did not find is absent."""

FIRST_STANDOUT = 1.5
"""Standard deviations above the noise from which a cosine counts: one stranger in fifteen gets there."""
FULL_STANDOUT = 6.0
"""Standard deviations above the noise at which a cosine counts in full: what a near-verbatim passage reaches."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the cosines of a question with passages taken at random look like."""

    mean: float = 0.0
    deviation: float = 0.1


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the arms say. Words are BM25 (0 and up), cosines stand for a chunk's best passage (−1 to 1)."""

    words: Scores = field(default_factory=dict)
    cosines: Scores = field(default_factory=dict)
    noise: Noise = field(default_factory=Noise)
    levels: Mapping[int, int] = field(default_factory=dict)
    """How completely a chunk matches, above 0: it holds all words of the question, or all of them whole."""

    def level(self, chunk: int) -> int:
        return self.levels.get(chunk, 0)

    def by_level(self) -> list[dict[int, float]]:
        """Return the words of each level that there is, the lowest first."""
        levels = sorted({self.level(chunk) for chunk in self.words})
        return [{chunk: score for chunk, score in self.words.items() if self.level(chunk) == one} for one in levels]

    def by_words(self) -> list[int]:
        """Return the chunks that words found, best first."""
        return sorted(self.words, key=lambda chunk: (-self.level(chunk), -self.words[chunk], chunk))


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the arms; they sum to 1."""

    vector: float = 0.3
    text: float = 0.7


def relative(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return fused scores, 0 to 1: share × words against their best + share × standout of the cosine."""
    words = word_shares(evidence)
    return {
        chunk: weights.text * words.get(chunk, 0.0)
        + weights.vector * (standout(evidence.cosines[chunk], evidence.noise) if chunk in evidence.cosines else 0.0)
        for chunk in evidence.words.keys() | evidence.cosines.keys()
    }


def word_shares(evidence: Evidence) -> dict[int, float]:
    """Return BM25 against the best of the same level, 0 to 1, of which each higher level has the upper half.

    So with usual weights no cosine lifts a chunk with some of the words above the best of those with all.
    """
    shares: dict[int, float] = {}
    for scores in evidence.by_level():
        best = max(scores.values())
        base = 0.5 if shares else 0.0
        shares = {chunk: share * 0.5 for chunk, share in shares.items()}
        shares |= {chunk: base + (1 - base) * (score / best if best > 0 else 0.0) for chunk, score in scores.items()}
    return shares


def weighted(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return vector share × cosine + text share × r/(1+r), r being the BM25 magnitude.

    r/(1+r) of a complete match starts above the others: the reference finds by words nothing else.
    """
    words: dict[int, float] = {}
    for scores in evidence.by_level():
        base = max(words.values(), default=0.0)
        words |= {chunk: base + (1 - base) * text_score(score) for chunk, score in scores.items()}
    return {
        chunk: weights.vector * max(0.0, evidence.cosines.get(chunk, 0.0)) + weights.text * words.get(chunk, 0.0)
        for chunk in evidence.words.keys() | evidence.cosines.keys()
    }


def standout(cosine: float, noise: Noise) -> float:
    """Return how far a cosine rises above the noise: 0 up to FIRST_STANDOUT deviations, 1 from FULL_STANDOUT on."""
    if noise.deviation <= 0:
        return 0.0
    rise = (cosine - noise.mean) / noise.deviation
    return min(1.0, max(0.0, (rise - FIRST_STANDOUT) / (FULL_STANDOUT - FIRST_STANDOUT)))


def text_score(magnitude: float) -> float:
    """Map a BM25 magnitude to 0..1: r/(1+r)."""
    return magnitude / (1.0 + magnitude) if magnitude > 0 else 0.0
