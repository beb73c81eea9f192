"""Merging what the two arms of a search found into one base score a chunk.

`relative` measures each arm against itself, per question: words against their own best, complete matches above all
others; cosines against the noise of this question over the whole corpus, in standard deviations. An embedder that
cannot tell an answer from an unrelated text has no cosine far above its noise and so moves little; a keyword ranking
is kept where it is sure. `weighted` is the raw weighted sum of the OpenClaw configuration reference. `reciprocal`
knows ranks alone.
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
"""Raw scores of one arm by chunk id; a chunk that the arm did not find is absent."""

MIN_Z_SCORE = 1.0
"""Standard deviations above the noise from which a cosine counts: one stranger in six gets there."""
FULL_Z_SCORE = 5.5
"""Standard deviations above the noise at which a cosine counts in full: what a near-verbatim passage reaches."""

RECIPROCAL_K = 60
"""Of reciprocal rank fusion: how little the first ranks differ."""
MIN_LONE_Z_SCORE = 0.05
"""Of a chunk's best passage: where no word tells, it is still the first to be shown."""

FULL_SHARE = 0.5
"""So much of a question's weight in one chunk answers it."""
NOISE_CHANCE = 0.1
"""Of so many unrelated questions the best stranger is taken for more than noise."""
USUAL_CHANCE = 0.9
"""The same for less than what the best stranger reaches nearly always."""
CLEAR_CHANCE = 0.001
"""That of an answer. Cosines with notes on like things have longer tails than a normal distribution."""
_NORMAL = NormalDist()


def best_stranger(vectors: int, chance: float) -> float:
    """Return the deviations that the best of so many unrelated vectors exceeds with this chance, 0 without any.

    Of independent normal deviates (Šidák 1967); right for one as for a million, where √(2 ln n) is a bound for many.
    """
    return _NORMAL.inv_cdf((1 - chance) ** (1 / vectors)) if vectors else 0.0


class Noise(Struct, frozen=True):
    """What the cosines of a question with passages taken at random look like."""

    mean: float = 0.0
    deviation: float = 0.1
    full: float = FULL_Z_SCORE
    """Deviations above the noise at which a cosine counts in full."""
    is_clear: bool = True
    """Whether the model tells an answer from unrelated texts in the question's language."""
    usual: tuple[float, float] | None = None
    """Mean and deviation of the cosines of any question with unrelated texts under this model, where they are known."""

    def rise(self, cosine: float) -> float:
        """Return how many deviations a cosine stands above what any question has with unrelated texts.

        It tells a message that is about the notes from one that is not, which `deviations` cannot: some text is always
        far above the others.
        """
        if self.usual is None or self.usual[1] <= 0 or not self.is_clear:
            return self.deviations(cosine)
        mean, deviation = self.usual
        return (cosine - mean) / deviation

    def deviations(self, cosine: float) -> float:
        """Return how many standard deviations a cosine stands above the mean; 0 where there is no spread."""
        return (cosine - self.mean) / self.deviation if self.deviation > 0 else 0.0


class LexicalMatches(Struct, frozen=True):
    """What the keyword arm found, best first: BM25 by chunk id (0 and up)."""

    bm25: Scores = {}
    levels: Mapping[int, int] = {}
    """How completely a chunk matches, above 0: it holds all words of the question, or all of them whole."""
    share: float = 1.0
    """How much of the question's weight the best chunk holds, 0 to 1."""

    def by_level(self) -> list[dict[int, float]]:
        """Return the BM25 of the chunks of each level that there is, the lowest first."""
        if not self.levels:
            return [dict(self.bm25)] if self.bm25 else []
        levels: dict[int, dict[int, float]] = {}
        for chunk, score in self.bm25.items():
            levels.setdefault(self.levels.get(chunk, 0), {})[chunk] = score
        return [levels[level] for level in sorted(levels)]

    def order(self) -> list[int]:
        """Return the chunks, best first: BM25 counts among those of one level only."""
        levels, bm25 = self.levels, self.bm25
        # one sort after the other, the first of which parts equals: what it compares by is looked up in C
        order = sorted(bm25)
        order.sort(key=bm25.__getitem__, reverse=True)
        if not levels:
            return order
        found = sorted([chunk for chunk in order if chunk in levels], key=levels.__getitem__, reverse=True)
        return found + [chunk for chunk in order if chunk not in levels]

    def only(self, chunks: Iterable[int]) -> "LexicalMatches":
        """Return what was found of these chunks, in their order."""
        kept = {chunk: self.bm25[chunk] for chunk in chunks}
        return LexicalMatches(kept, {chunk: self.levels[chunk] for chunk in kept if chunk in self.levels}, self.share)

    def joined(self, other: "LexicalMatches") -> "LexicalMatches":
        """Return what both found."""
        return LexicalMatches({**self.bm25, **other.bm25}, {**self.levels, **other.levels})


class PassageMatch(NamedTuple):
    """A passage that the vector arm found: characters of its chunk, `stop` excluded, and its cosine, −1 to 1."""

    start: int
    stop: int
    cosine: float
    is_foreign: bool = False
    """Whether it is in another language than the question."""


class VectorMatches(Struct, frozen=True, dict=True):
    """What the vector arm found: the cosine (−1 to 1) of each chunk's best passage by chunk id."""

    cosines: Scores = {}
    noise: Noise = Noise()
    compared: int = 0
    """How many vectors the question was compared with."""
    passages: Mapping[int, Sequence[PassageMatch]] = {}
    """The passages of each chunk that are among the nearest."""
    foreign: frozenset[int] = frozenset()
    """The chunks in another language than the question that come as near as the best stranger nearly always does."""

    def __post_init__(self) -> None:
        # vectors are stored in 12 bits a number: further digits of a cosine are chance, and decide nothing
        force_setattr(self, "cosines", {chunk: round(cosine, 4) for chunk, cosine in self.cosines.items()})

    def order(self) -> list[int]:
        """Return the chunks, best first."""
        return sorted(self.cosines, key=lambda chunk: (-self.cosines[chunk], chunk))

    @cached_property
    def clarity(self) -> float:
        """How clear the best meaning is, 0 to 1: within what the best of unrelated texts reaches, or beyond it."""
        if not self.cosines or not self.compared or not self.noise.is_clear:
            return 0.0
        noise, clear = best_stranger(self.compared, NOISE_CHANCE), best_stranger(self.compared, CLEAR_CHANCE)
        best = self.noise.deviations(max(self.cosines.values()))
        return min(1.0, max(0.0, (best - noise) / (clear - noise)))

    @property
    def beside_foreign(self) -> frozenset[int]:
        """Return the chunks that come as near as one in another language, which counts without a word."""
        least = min((self.cosines[chunk] for chunk in self.foreign), default=math.inf)
        return frozenset(chunk for chunk, cosine in self.cosines.items() if cosine >= least)

    def near(self, chunk: int) -> tuple[MatchingPassage, ...]:
        """Return the passages of a chunk whose cosines rise above the noise, and its best one even if it does not."""
        passages = self.passages.get(chunk)
        if not passages:
            return ()
        best = max(passages, key=lambda one: one.cosine)
        rises = (max(standout(one.cosine, self.noise), MIN_LONE_Z_SCORE * (one is best)) for one in passages)
        return tuple(
            MatchingPassage(one.start, one.stop, rise) for one, rise in zip(passages, rises, strict=True) if rise
        )


class Evidence(Struct, frozen=True):
    """What both arms found."""

    lexical: LexicalMatches = LexicalMatches()
    vector: VectorMatches = VectorMatches()

    @property
    def chunks(self) -> Set[int]:
        """All that either arm found."""
        return self.lexical.bm25.keys() | self.vector.cosines.keys()

    def only(self, chunks: Set[int]) -> "Evidence":
        """Return what was found of these chunks; the noise is that of all."""
        cosines, passages = self.vector.cosines, self.vector.passages
        vector = replace(
            self.vector,
            cosines={chunk: cosine for chunk, cosine in cosines.items() if chunk in chunks},
            passages={chunk: near for chunk, near in passages.items() if chunk in chunks},
            foreign=self.vector.foreign & chunks,
        )
        return Evidence(self.lexical.only(chunk for chunk in self.lexical.bm25 if chunk in chunks), vector)


class Weights(Struct, frozen=True):
    """Shares of the arms; they sum to 1."""

    vector: float = 0.3
    text: float = 0.7


def relative(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return base scores, 0 to 1: share × words against their best + share × standout of the cosine.

    Words are BM25 against the best of the same level, 0 to 1, of which each higher level has the upper half. So with
    usual weights no cosine lifts a chunk with some of the words above the best of those with all. Where a meaning is
    clear, words count by the share of the question that they are.
    """
    words: dict[int, float] = {}
    for scores in evidence.lexical.by_level():
        best = max(scores.values())
        base = 0.5 if words else 0.0
        words = {chunk: share * 0.5 for chunk, share in words.items()}
        words |= {chunk: base + (1 - base) * (score / best if best > 0 else 0.0) for chunk, score in scores.items()}
    vector = evidence.vector
    standouts = {chunk: standout(cosine, vector.noise) for chunk, cosine in vector.cosines.items()}
    # in another language it can hold no word of the question: its meaning stands for both, as for some of the words
    most = 0.5 if evidence.lexical.levels else 1.0
    words |= {chunk: max(words.get(chunk, 0.0), most * standouts[chunk]) for chunk in vector.foreign & standouts.keys()}
    given = weights.text * (1 - min(1.0, evidence.lexical.share / FULL_SHARE)) * vector.clarity
    text, meaning = weights.text - given, weights.vector + given
    if not standouts:
        return {chunk: text * share for chunk, share in words.items()}
    return {chunk: text * words.get(chunk, 0.0) + meaning * standouts.get(chunk, 0.0) for chunk in evidence.chunks}


def weighted(evidence: Evidence, weights: Weights) -> dict[int, float]:
    """Return base scores: vector share × cosine + text share × r/(1+r), r being the BM25 magnitude.

    r/(1+r) of a complete match starts above the others: the reference finds by words nothing else.
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


def reciprocal(evidence: Evidence) -> dict[int, float]:
    """Return base scores, 0 to 1, by ranks alone: Σ 1/(k + rank) over the arms, k = 60, against what two firsts have.

    Reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009.
    """
    scores: dict[int, float] = {}
    for order in (evidence.lexical.order(), evidence.vector.order()):
        for rank, chunk in enumerate(order, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + 1 / (RECIPROCAL_K + rank)
    return {chunk: score * (RECIPROCAL_K + 1) / 2 for chunk, score in scores.items()}


def standout(cosine: float, noise: Noise) -> float:
    """Return how far a cosine rises above the noise: 0 up to MIN_Z_SCORE deviations, 1 where it counts in full."""
    rise = noise.deviations(cosine)
    return min(1.0, max(0.0, (rise - MIN_Z_SCORE) / (noise.full - MIN_Z_SCORE)))


def text_score(bm25: float) -> float:
    """Map a BM25 magnitude to 0..1: r/(1+r), the text score of the OpenClaw configuration reference."""
    return bm25 / (1.0 + bm25) if bm25 > 0 else 0.0
