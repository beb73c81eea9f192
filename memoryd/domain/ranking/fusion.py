"""Merging the matches of the two arms of a search, keywords and vectors, into one base score per chunk.

`score_relative` measures each arm against itself, per question: words against the best match, complete matches above
the others; cosines against the noise of this question over the complete corpus, in standard deviations. An embedder
that cannot separate an answer from an unrelated text has no cosine far above its noise, and so changes little: the
keyword ranking stays where it is sure. `score_weighted` is the raw weighted sum of the OpenClaw configuration
reference. `score_reciprocal` uses ranks alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from memoryd.domain.ranking.snippets import MatchingPassage

Scores = Mapping[int, float]
"""Raw scores of one arm by chunk id, without the chunks that the arm did not match."""

MIN_Z_SCORE = 1.0
"""Standard deviations above the noise from which a cosine counts: one unrelated text in six reaches it."""
FULL_Z_SCORE = 5.5
"""Standard deviations above the noise at which a cosine counts in full: a near-verbatim passage reaches it."""

RECIPROCAL_K = 60
"""Constant of reciprocal rank fusion; the higher, the less the first ranks differ."""
MIN_LONE_Z_SCORE = 0.05
"""Least standout of a chunk's best passage, so that it is shown first where no word of the question occurs."""

FULL_SHARE = 0.5
"""Share of a question's weight in one chunk that answers the question."""
NOISE_CHANCE = 0.1
"""Share of unrelated questions whose best unrelated text counts as more than noise."""
USUALLY_EXCEEDED = 0.9
"""Probability for the level that the best unrelated text nearly always exceeds."""
CLEAR_CHANCE = 0.001
"""Probability for the level of an answer. Cosines with notes on similar topics have longer tails than a normal."""
_NORMAL = NormalDist()


def best_unrelated(vectors: int, chance: float) -> float:
    """Return the deviations that the best of `vectors` unrelated vectors exceeds with probability `chance`.

    0 without vectors. The formula is exact for independent normal deviates (Šidák 1967), for one as for a million;
    √(2 ln n) is only a bound for many.
    """
    return _NORMAL.inv_cdf((1 - chance) ** (1 / vectors)) if vectors else 0.0


class Noise(Struct, frozen=True):
    """Distribution of the cosines of a question with random passages."""

    mean: float = 0.0
    deviation: float = 0.1
    full: float = FULL_Z_SCORE
    """Deviations above the noise at which a cosine counts in full."""
    is_clear: bool = True
    """Whether the model separates answers from unrelated texts in the question's language."""
    unrelated: tuple[float, float] | None = None
    """Mean and deviation of the cosines of any question with unrelated texts under this model; None if unknown."""

    def rise(self, cosine: float) -> float:
        """Return how many deviations a cosine is above the mean of any question with unrelated texts.

        This separates a message about the notes from any other message. `deviations` cannot: for every question some
        text is far above the others.
        """
        if self.unrelated is None or self.unrelated[1] <= 0 or not self.is_clear:
            return self.deviations(cosine)
        mean, deviation = self.unrelated
        return (cosine - mean) / deviation

    def deviations(self, cosine: float) -> float:
        """Return how many standard deviations a cosine is above the mean; 0 if the deviation is 0."""
        return (cosine - self.mean) / self.deviation if self.deviation > 0 else 0.0


class LexicalMatches(Struct, frozen=True):
    """Matches of the keyword arm, best first: BM25 (0 and up) by chunk id."""

    bm25: Scores = {}
    levels: Mapping[int, int] = {}
    """Completeness of a match, if above 0: the chunk contains all words of the question, or all as complete words."""
    share: float = 1.0
    """Share of the question's weight in the best chunk, 0 to 1."""

    def by_level(self) -> list[dict[int, float]]:
        """Return the BM25 scores of the chunks on each level, the lowest level first."""
        levels: dict[int, dict[int, float]] = {}
        for chunk, score in self.bm25.items():
            levels.setdefault(self.levels.get(chunk, 0), {})[chunk] = score
        return [levels[level] for level in sorted(levels)]

    def order(self) -> list[int]:
        """Return the chunks, best first: by level, then by BM25, then by id."""
        levels, bm25 = self.levels, self.bm25
        # Stable sorts one after another are faster than one sort by tuples: the keys are looked up in C.
        order = sorted(bm25)
        order.sort(key=bm25.__getitem__, reverse=True)
        raised = sorted([chunk for chunk in order if chunk in levels], key=levels.__getitem__, reverse=True)
        return raised + [chunk for chunk in order if chunk not in levels]

    def only(self, chunks: Iterable[int]) -> "LexicalMatches":
        """Return the matches among these chunks, in their order."""
        bm25 = {chunk: self.bm25[chunk] for chunk in chunks}
        return LexicalMatches(bm25, {chunk: self.levels[chunk] for chunk in bm25 if chunk in self.levels}, self.share)

    def merge(self, other: "LexicalMatches") -> "LexicalMatches":
        """Return the matches of both, with those of `other` where both have the same chunk; `share` is reset to 1."""
        return LexicalMatches({**self.bm25, **other.bm25}, {**self.levels, **other.levels})


class PassageMatch(NamedTuple):
    """A passage matched by the vector arm: its characters in the chunk, `stop` excluded, and its cosine, −1 to 1."""

    start: int
    stop: int
    cosine: float
    is_foreign: bool = False
    """Whether it is in another language than the question."""


class VectorMatches(Struct, frozen=True, dict=True):
    """Matches of the vector arm: the cosine (−1 to 1) of each chunk's best passage, by chunk id."""

    cosines: Scores = {}
    noise: Noise = Noise()
    compared: int = 0
    """Number of vectors that the question was compared with."""
    passages: Mapping[int, Sequence[PassageMatch]] = {}
    """The passages of each chunk that are among the nearest."""
    foreign: frozenset[int] = frozenset()
    """Chunks in another language than the question with a cosine that the best unrelated text nearly always reaches."""

    def __post_init__(self) -> None:
        # Vectors are stored in 12 bits per number: further digits of a cosine are random, and must not decide.
        force_setattr(self, "cosines", {chunk: round(cosine, 4) for chunk, cosine in self.cosines.items()})

    def order(self) -> list[int]:
        """Return the chunks, best first."""
        return sorted(self.cosines, key=lambda chunk: (-self.cosines[chunk], chunk))

    @cached_property
    def clarity(self) -> float:
        """Clarity of the best cosine: 0 at the level of the best unrelated text, 1 at the level of an answer."""
        if not self.cosines or not self.compared or not self.noise.is_clear:
            return 0.0
        noise, clear = best_unrelated(self.compared, NOISE_CHANCE), best_unrelated(self.compared, CLEAR_CHANCE)
        best = self.noise.deviations(max(self.cosines.values()))
        return min(1.0, max(0.0, (best - noise) / (clear - noise)))

    @property
    def near_foreign(self) -> frozenset[int]:
        """Chunks with at least the lowest cosine in `foreign`: a foreign chunk counts without sharing a word."""
        least = min((self.cosines[chunk] for chunk in self.foreign), default=math.inf)
        return frozenset(chunk for chunk, cosine in self.cosines.items() if cosine >= least)

    def near(self, chunk: int) -> tuple[MatchingPassage, ...]:
        """Return the passages of a chunk whose cosines rise above the noise, and its best passage in any case."""
        passages = self.passages.get(chunk, ())
        best = max(passages, key=lambda passage: passage.cosine, default=None)
        return tuple(
            MatchingPassage(passage.start, passage.stop, rise)
            for passage in passages
            if (rise := max(standout(passage.cosine, self.noise), MIN_LONE_Z_SCORE * (passage is best)))
        )


class Evidence(Struct, frozen=True):
    """Matches of both arms."""

    lexical: LexicalMatches = LexicalMatches()
    vector: VectorMatches = VectorMatches()

    @property
    def chunks(self) -> Set[int]:
        """Chunks that at least one arm matched."""
        return self.lexical.bm25.keys() | self.vector.cosines.keys()

    def only(self, chunks: Set[int]) -> "Evidence":
        """Return the matches among these chunks; the noise stays that of all chunks."""
        cosines, passages = self.vector.cosines, self.vector.passages
        vector = replace(
            self.vector,
            cosines={chunk: cosine for chunk, cosine in cosines.items() if chunk in chunks},
            passages={chunk: near for chunk, near in passages.items() if chunk in chunks},
            foreign=self.vector.foreign & chunks,
        )
        return Evidence(self.lexical.only(chunk for chunk in self.lexical.bm25 if chunk in chunks), vector)


class Weights(Struct, frozen=True):
    """Weights of the arms; they sum to 1."""

    vector: float = 0.3
    text: float = 0.7


def score_relative(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return base scores, 0 to 1: text weight × words + vector weight × standout of the cosine.

    Words are BM25 divided by the best of the same level, 0 to 1; each higher level takes the upper half of that range.
    So with default weights no cosine lifts a chunk with some of the words above the best chunk with all. The clearer
    the best meaning and the smaller the words' share of the question, the more of the text weight goes to the cosine.
    """
    words: dict[int, float] = {}
    for scores in evidence.lexical.by_level():
        best = max(scores.values())
        base = 0.5 if words else 0.0
        words = {chunk: share * 0.5 for chunk, share in words.items()}
        words |= {chunk: base + (1 - base) * (score / best if best > 0 else 0.0) for chunk, score in scores.items()}
    vector = evidence.vector
    standouts = {chunk: standout(cosine, vector.noise) for chunk, cosine in vector.cosines.items()}
    # A chunk in another language cannot contain a word of the question: its meaning counts as words, too, but for no
    # more than an incomplete match.
    most = 0.5 if evidence.lexical.levels else 1.0
    words |= {chunk: max(words.get(chunk, 0.0), most * standouts[chunk]) for chunk in vector.foreign & standouts.keys()}
    shifted = weights.text * (1 - min(1.0, evidence.lexical.share / FULL_SHARE)) * vector.clarity
    text, meaning = weights.text - shifted, weights.vector + shifted
    if not standouts:
        return {chunk: text * share for chunk, share in words.items()}
    return {chunk: text * words.get(chunk, 0.0) + meaning * standouts.get(chunk, 0.0) for chunk in evidence.chunks}


def score_weighted(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return base scores: vector weight × cosine + text weight × r/(1+r), where r is the BM25 magnitude.

    The text score of a higher level starts above all lower ones: the reference returns complete matches only.
    """
    words: dict[int, float] = {}
    for scores in evidence.lexical.by_level():
        base = max(words.values(), default=0.0)
        words |= {chunk: base + (1 - base) * text_score(bm25) for chunk, bm25 in scores.items()}
    cosines = evidence.vector.cosines
    return {
        chunk: weights.vector * max(0.0, cosines.get(chunk, 0.0)) + weights.text * words.get(chunk, 0.0)
        for chunk in evidence.chunks
    }


def score_reciprocal(evidence: Evidence) -> dict[int, float]:
    """Return base scores, 0 to 1, by ranks alone: Σ 1/(k + rank) over the arms, divided by the sum for two first ranks.

    k is 60. Reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009.
    """
    scores: dict[int, float] = {}
    for order in (evidence.lexical.order(), evidence.vector.order()):
        for rank, chunk in enumerate(order, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + 1 / (RECIPROCAL_K + rank)
    return {chunk: score * (RECIPROCAL_K + 1) / 2 for chunk, score in scores.items()}


def standout(cosine: float, noise: Noise) -> float:
    """Return how far a cosine rises above the noise: 0 up to MIN_Z_SCORE deviations, 1 from `noise.full` on."""
    rise = noise.deviations(cosine)
    return min(1.0, max(0.0, (rise - MIN_Z_SCORE) / (noise.full - MIN_Z_SCORE)))


def text_score(bm25: float) -> float:
    """Map a BM25 magnitude to 0..1: r/(1+r), the text score of the OpenClaw configuration reference."""
    return bm25 / (1.0 + bm25) if bm25 > 0 else 0.0
