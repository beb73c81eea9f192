"""Verdicts on hits: how far the evidence of a hit rises above what unrelated texts in the same notes reach.

Words: the share of the question's weight in one chunk, and how much that exceeds what a chunk of that size contains by
chance. The fewer chunks contain a word, the more it weighs. Chunks are counted in the notes and in a background:
imaginary chunks with the word frequencies of the language. The background counts less as the notes grow; without it,
every word would be rare in a few notes. The background table is packed, one row per term in byte order: half a
megabyte, where a dict takes four.

Vectors: the best cosine, in standard deviations of the question's noise, compared with the best of that many unrelated
texts. The noise has two sources: the cosines of unrelated texts under this model (the only source on the first day),
and the question's cosines with the notes, which weigh more with each note. Both are combined as mean and variance of a
normal distribution with its conjugate prior (normal and scaled inverse χ²; Gelman et al., Bayesian Data Analysis, 3rd
edition, section 3.3).

The constants were set on six retrieval sets, by workspace size, with the answer present, with it absent, and with
unrelated questions. docs/explanation/ranking.md has the figures.
"""

import math
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.ranking.fusion import (
    CLEAR_CHANCE,
    FULL_SHARE,
    FULL_Z_SCORE,
    NOISE_CHANCE,
    Evidence,
    Noise,
    VectorMatches,
    best_unrelated,
)
from memoryd.domain.ranking.vector_space import CLEAR_REACH
from memoryd.domain.text.words import is_unspaced

CHUNK_WORDS = 150
"""Words, or character pairs, in a typical chunk."""
_FIRST, _STEP = 33, 0.1
"""The last byte of a row is `_FIRST` plus the term's negative natural logarithm of frequency, in steps of `_STEP`."""


class Background:
    """Frequencies of terms among all words of their language; raises ValueError if `data` is not a packed table."""

    def __init__(self, data: bytes) -> None:
        try:
            self._rows = zlib.decompress(data)
        except zlib.error as exc:
            raise ValueError(f"this is no table of words: {exc}") from exc
        starts = accumulate((len(row) + 1 for row in self._rows.split(b"\n")[:-1]), initial=0)
        self._starts = array("I", starts)

    def commonness(self, term: str) -> float:
        """Return the probability, 0 to 1, that a typical chunk of the language contains `term`.

        `term` is in lower case and without accents, as in the index. A term missing from the table, such as a number or
        a code, is rare: 0.
        """
        wanted = term.encode("utf-8", "surrogatepass")
        at = bisect_left(self._starts, wanted, key=self._term)
        if at == len(self._starts) or self._term(self._starts[at]) != wanted:
            return 0.0
        share = math.exp(-(self._rows[self._starts[at] + len(wanted)] - _FIRST) * _STEP)
        # Poisson: the probability of at least one occurrence
        return -math.expm1(-CHUNK_WORDS * share)

    def _term(self, start: int) -> bytes:
        end = self._rows.find(b"\n", start)
        return self._rows[start : end - 1 if end > 0 else -1]


def pack_background(shares: Mapping[str, float]) -> bytes:
    """Return the packed table of terms, with each term's share of all words: above 0, at most 1."""
    rows = ((term.encode(), min(255, _FIRST + round(-math.log(share) / _STEP))) for term, share in shares.items())
    return zlib.compress(b"\n".join(term + bytes([byte]) for term, byte in sorted(rows)), 9)


FAIR_SHARE, FAIR_SURPLUS = 0.35, 5.0
"""Share that answers if it exceeds chance by the surplus, in natural logarithms of probability."""
FAINT_SHARE = 0.3
"""Unrelated texts reach less than this share, too."""
BACKGROUND_CHUNKS = 1_000
"""Number of chunks of notes that weigh as much as the background."""
SKEPTICS = 20
"""Assumed further chunks without a term, so that a few chunks with it do not make it common."""
UNKNOWN_PAIR = 0.5
"""Share of its weight that an unknown character pair keeps: without spaces, most unknown pairs cross two words."""
RICH = 1_000
"""Number of passages that contain every common word; among fewer, an unknown word says little."""


class Verdict(StrEnum):
    """Whether a hit answers the question, may answer it, or shows no sign of it, best first.

    An answer has the verdict of its best hit.
    """

    ANSWERABLE = "answerable"
    WEAK = "weak"
    NONE = "none"


class Idf(Struct, frozen=True, dict=True):
    """Weight of each term of a question in `chunks` chunks; a term that most of them contain weighs nothing."""

    chunks: int = 0
    weights: Mapping[str, float] = {}
    known: frozenset[str] = frozenset()
    """Terms that at least one chunk contains."""

    def weight_of(self, terms: Collection[str]) -> float:
        """Return the total weight of these terms."""
        key = frozenset(terms)
        if (weight := self._covered.get(key)) is None:
            # In the order of the question: a set's order, and so the last digit of the sum, differs by process. An
            # answer at the edge of FULL_SHARE would get another verdict after a restart.
            weight = self._covered[key] = sum(weight for term, weight in self.weights.items() if term in key)
        return weight

    @cached_property
    def _covered(self) -> dict[frozenset[str], float]:
        """Cached weights of sets of terms: most candidates of a question contain the same few."""
        return {}

    @cached_property
    def _total(self) -> float:
        return sum(self.weights.values())

    def share(self, terms: Collection[str]) -> float:
        """Return the share of the question's weight that these terms have, 0 to 1."""
        return self.weight_of(terms) / self._total if self._total > 0 else float(bool(terms))

    def has_share(self, terms: Collection[str], least: float = FAINT_SHARE) -> bool:
        """Return whether these terms have at least the share `least`; by default, more than unrelated texts reach."""
        return self.weight_of(terms) > 0 and self.share(terms) >= least

    def answers(self, terms: Collection[str]) -> bool:
        """Return whether a chunk with these terms answers the question by its words."""
        share = self.share(terms)
        surplus = self.weight_of(terms) - math.log(max(1, self.chunks))
        return bool(terms) and (share >= FULL_SHARE or (share >= FAIR_SHARE and surplus >= FAIR_SURPLUS))


def idf(chunks: int, counts: Mapping[str, int], commonness: Callable[[str], float] = lambda _term: 0.0) -> Idf:
    """Return the weight of each term by the number of chunks that contain it, as in BM25.

    The weight is ln((N − n + ½)/(n + ½)), at least 0. N and n include the background; `commonness` returns the
    probability, 0 to 1, that a background chunk contains a term. The background says which terms are rare, the notes
    which are common: no term weighs more than ln((1 − p)/p), where p is its share of the other chunks and of SKEPTICS
    chunks without it.
    """
    weights = {term: _weight(chunks, n, term, commonness(term)) for term, n in counts.items()}
    return Idf(chunks, weights, frozenset(term for term, n in counts.items() if n))


def _weight(chunks: int, holding: int, term: str, common: float) -> float:
    all_chunks, with_term = chunks + BACKGROUND_CHUNKS, holding + BACKGROUND_CHUNKS * common
    rarity = max(0.0, math.log((max(0.0, all_chunks - with_term) + 0.5) / (with_term + 0.5)))
    if holding > 1:
        others = holding - 1
        return max(0.0, min(rarity, math.log((max(0, chunks - others) + SKEPTICS) / others)))
    is_stray = not holding and not common and len(term) > 1 and is_unspaced(term)
    return UNKNOWN_PAIR * rarity if is_stray else rarity


class TermStatistics(Struct, frozen=True, dict=True):
    """Weight of each term of a question, and the terms in each candidate, by chunk id."""

    idf: Idf
    terms: Mapping[int, frozenset[str]]

    @cached_property
    def share(self) -> float:
        """Largest share of the question's weight that a candidate has, 0 to 1."""
        # most candidates contain the same few terms
        return max(map(self.idf.share, set(self.terms.values())), default=0.0)

    def terms_of(self, chunk: int) -> tuple[str, ...]:
        """Return the terms that a candidate contains, in the order of the question."""
        terms = self.terms.get(chunk, frozenset())
        if (in_order := self._in_order.get(terms)) is None:
            in_order = self._in_order[terms] = tuple([term for term in self.idf.weights if term in terms])
        return in_order

    @cached_property
    def _in_order(self) -> dict[frozenset[str], tuple[str, ...]]:
        """Cached sets of terms, in the order of the question."""
        return {}


def terms_by_holder(holders: Mapping[str, Iterable[int]]) -> dict[int, frozenset[str]]:
    """Return the terms in each chunk, from the chunks that contain each term; chunks with equal terms share a set."""
    bits: dict[int, int] = {}
    for at, chunks in enumerate(holders.values()):
        for chunk in chunks:
            bits[chunk] = bits.get(chunk, 0) | 1 << at
    sets = {mask: frozenset([term for at, term in enumerate(holders) if mask >> at & 1]) for mask in set(bits.values())}
    return {chunk: sets[mask] for chunk, mask in bits.items()}


def with_term_share(evidence: Evidence, statistics: TermStatistics) -> Evidence:
    """Return the evidence with the best chunk's share of the question's weight.

    Without keyword matches, `vector.foreign` is emptied: then a chunk without the question's words is not explained by
    its other language.
    """
    if not evidence.lexical.bm25:
        evidence = replace(evidence, vector=replace(evidence.vector, foreign=frozenset()))
    return replace(evidence, lexical=replace(evidence.lexical, share=statistics.share))


def vector_floor(vectors: int, *, knows_a_word: bool) -> float:
    """Return the deviations below which a hit without any word of the question is noise.

    A model gives nonsense a vector, too. So the more passages there are without a word of the question, the further a
    hit must rise.
    """
    strangeness = 0.0 if knows_a_word else min(1.0, vectors / RICH)
    noise = best_unrelated(vectors, NOISE_CHANCE)
    return noise + strangeness * (clear_floor(vectors) - noise)


def clear_floor(vectors: int) -> float:
    """Return the deviations from which a hit answers by its meaning alone."""
    return best_unrelated(vectors, CLEAR_CHANCE)


class Thresholds(Struct, frozen=True, dict=True):
    """Thresholds of a question: the weights of its terms in these notes, and the noise of its cosines."""

    idf: Idf
    noise: Noise
    vectors: int
    share: float
    """Share of the question's weight in the best chunk."""
    deviations: float | None
    """The best cosine above the noise; None without vectors."""
    vector_floor: float
    """Deviations below which a hit without a word of the question is noise."""
    clear_floor: float

    def restricted_to(self, chunks: Collection[tuple[Collection[str], float | None]]) -> "Thresholds":
        """Return the same floors, with share and deviations of these chunks alone, each given as terms and cosine."""
        best = max((cosine for _, cosine in chunks if cosine is not None), default=None)
        return replace(
            self,
            share=max((self.idf.share(terms) for terms, _ in chunks), default=0.0),
            deviations=None if best is None else self.noise.deviations(best),
        )

    def answers(self, terms: Collection[str], cosine: float | None) -> bool:
        """Return whether a chunk with these terms and this cosine answers the question, by words or by meaning."""
        if self.idf.answers(terms):
            return True
        if cosine is None or not self.noise.is_clear:
            return False
        return self.vectors > 0 and self.noise.deviations(cosine) >= self.clear_floor

    def is_noise(self, cosine: float | None) -> bool:
        """Return whether a cosine is no higher than those of unrelated texts."""
        return cosine is None or self.noise.deviations(cosine) < self.vector_floor

    def verdict(self, terms: Collection[str], cosine: float | None, *, is_literal: bool) -> Verdict:
        """Return the verdict on a chunk with these terms and this cosine.

        `is_literal`: the chunk contains a word of the question, or the beginning of a name in it.
        """
        if cosine is not None:
            return self._judge(terms, cosine, is_literal=is_literal)
        key = frozenset(terms), is_literal
        if (verdict := self._by_words.get(key)) is None:
            verdict = self._by_words[key] = self._judge(terms, cosine, is_literal=is_literal)
        return verdict

    @cached_property
    def _by_words(self) -> dict[tuple[frozenset[str], bool], Verdict]:
        """Cached verdicts by words alone: most candidates of a question contain the same few."""
        return {}

    def _judge(self, terms: Collection[str], cosine: float | None, *, is_literal: bool) -> Verdict:
        if self.answers(terms, cosine):
            return Verdict.ANSWERABLE
        # Without vectors there is no sign that a few words are too few. And a hit on the beginning of a name has no
        # complete word to weigh.
        least = 0.0 if self.deviations is None else FAINT_SHARE
        has_significant_word = self.idf.has_share(terms, least) if terms else is_literal
        return Verdict.WEAK if has_significant_word or not self.is_noise(cosine) else Verdict.NONE

    def why_none(self, terms: Collection[str], cosine: float | None) -> str:
        """Return the reason why a chunk with these terms and this cosine has the verdict NONE."""
        deviations = None if cosine is None else self.noise.deviations(cosine)
        words = _too_few("it", self.idf.share(terms)) or "it contains no distinctive word of the question"
        return words + self._within("its meaning", deviations)

    @property
    def why_empty(self) -> str:
        """Reason for the verdict NONE on an answer."""
        words = _too_few("the best hit", self.share) or "no hit holds a telling word of the question"
        return words + self._within("the nearest meaning", self.deviations)

    def _within(self, meaning: str, deviations: float | None) -> str:
        if deviations is None:
            return ""
        return (
            f", and {meaning} is within the noise: {deviations:.1f} deviations above the mean, where the best of "
            f"unrelated notes reaches {self.vector_floor:.1f}"
        )

    @property
    def why_weak(self) -> str:
        """Reason for the verdict WEAK on an answer."""
        words = f"the best hit holds {self.share:.0%} of what the question's words weigh (enough: {FULL_SHARE:.0%})"
        if self.deviations is None:
            return words
        if not self.noise.is_clear:
            return f"{words}, and the model separates no answers by meaning in the question's language"
        return (
            f"{words}, and the nearest meaning is {self.deviations:.1f} deviations above the noise "
            f"(unrelated notes reach {self.vector_floor:.1f}, clear is {self.clear_floor:.1f})"
        )


def _too_few(holder: str, share: float) -> str:
    """Return a clause saying that the words have too small a share; empty if the share is 0 or not too small."""
    # A share shown as 0% counts as 0. If no word of the question has weight, any word gives the share 1.
    if not 0.005 <= share < FAINT_SHARE:
        return ""
    return f"{holder} holds only {share:.0%} of what the question's words weigh (enough is {FAINT_SHARE:.0%})"


def thresholds_of(matches: VectorMatches, statistics: TermStatistics) -> Thresholds:
    """Return the thresholds of a question, with the share and deviations of its best chunk."""
    best = max(matches.cosines.values(), default=None)
    return Thresholds(
        idf=statistics.idf,
        noise=matches.noise,
        vectors=matches.compared,
        share=statistics.share,
        deviations=None if best is None else matches.noise.deviations(best),
        vector_floor=vector_floor(matches.compared, knows_a_word=bool(statistics.idf.known)),
        clear_floor=clear_floor(matches.compared),
    )


PRIOR_COUNT = 100
"""Number of passages of the notes that weigh as much as the model's unrelated texts."""
USUAL_COUNT, USUAL_DEVIATION = 20, 0.1
"""The same for the default deviation of cosines, used until the model's unrelated texts are known."""
FULL_REACH, LEAST_FULL = 1.35, 2.5
"""A cosine counts in full at this factor times the deviations that answers reach, and at least this many deviations."""


class CosineSample(Struct, frozen=True):
    """Number, mean and variance (mean squared difference from the mean) of some cosines."""

    count: int
    mean: float
    variance: float


def noise_of(sample: CosineSample, strangers: CosineSample | None, reach: float | None = None) -> Noise:
    """Return the noise of a question from its cosines with a sample of notes, and with unrelated texts if known.

    Without unrelated texts the default deviation takes their place. `reach` is how many deviations above unrelated
    texts the model's answers rise in the question's language; None if unknown.
    """
    if strangers is None:
        prior, weight, pull = CosineSample(0, sample.mean, USUAL_DEVIATION**2), USUAL_COUNT, 0.0
    else:
        prior, weight = strangers, PRIOR_COUNT
        pull = weight * sample.count / (weight + sample.count) * (sample.mean - prior.mean) ** 2
    total = weight + sample.count
    mean = (weight * prior.mean + sample.count * sample.mean) / total
    variance = (weight * prior.variance + sample.count * sample.variance + pull) / total
    if reach is None:
        return Noise(mean, variance**0.5)
    is_clear = reach >= CLEAR_REACH
    full = min(FULL_Z_SCORE, max(LEAST_FULL, FULL_REACH * reach)) if is_clear else FULL_Z_SCORE
    return Noise(mean, variance**0.5, full, is_clear)
