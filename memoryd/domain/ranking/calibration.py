"""What an answer is worth: how far its evidence rises above what unrelated texts reach in the same notes.

Words: the share of the question's weight that is in one chunk, and how much that exceeds what a chunk of that size
holds by chance. A word weighs by how few chunks hold it, of these notes and of a background: imaginary chunks with the
word frequencies of the language, which count less and less as the notes grow, since in a few notes every word is rare.
The table of the background is packed, a row for each term in the order of its bytes: half a megabyte, where a dict
takes four.

Vectors: the best cosine in deviations of the question's noise, compared with what the best of that many unrelated
texts reaches. The noise has two sources: how near unrelated texts come under this model at all, all there is on the
first day, and the question's cosines with the notes themselves, which weigh more with each note. Both are combined as
mean and variance of a normal distribution with its conjugate prior (normal and scaled inverse χ²; Gelman et al.,
Bayesian Data Analysis, 3rd edition, section 3.3).

Set on six retrieval sets, by the size of the workspace, with the answer, without it, and with unrelated questions;
docs/explanation/ranking.md has the figures.
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
    best_stranger,
)
from memoryd.domain.ranking.vector_space import CLEAR_REACH
from memoryd.domain.text.words import is_unspaced

CHUNK_WORDS = 150
"""Words, or pairs of characters, of a usual chunk."""
_FIRST, _STEP = 33, 0.1
"""The last byte of a row is this and more: one for each tenth of a natural logarithm that the term is rarer."""
_LAST = 255


class Background:
    """How often terms are among all words of their language; raises ValueError if `data` is no packed table."""

    def __init__(self, data: bytes) -> None:
        try:
            self._rows = zlib.decompress(data)
        except zlib.error as exc:
            raise ValueError(f"this is no table of words: {exc}") from exc
        starts = accumulate((len(row) + 1 for row in self._rows.split(b"\n")[:-1]), initial=0)
        self._starts = array("I", starts)

    def commonness(self, term: str) -> float:
        """Return the chance that a usual chunk of the language holds a term of the index, 0 to 1; 0 for what is rare.

        A term is in lower case and without accents. What is not in the table is rare; so are numbers and codes.
        """
        wanted = term.encode("utf-8", "surrogatepass")
        at = bisect_left(self._starts, wanted, key=self._term)
        if at == len(self._starts) or self._term(self._starts[at]) != wanted:
            return 0.0
        share = math.exp(-(self._rows[self._starts[at] + len(wanted)] - _FIRST) * _STEP)
        # of words that come by chance (Poisson), at least one
        return -math.expm1(-CHUNK_WORDS * share)

    def _term(self, start: int) -> bytes:
        end = self._rows.find(b"\n", start)
        return self._rows[start : end - 1 if end > 0 else -1]


def packed(shares: Mapping[str, float]) -> bytes:
    """Return the table of terms and how often each is among all, above 0 and at most 1."""
    rows = ((term.encode(), min(_LAST, _FIRST + round(-math.log(share) / _STEP))) for term, share in shares.items())
    return zlib.compress(b"\n".join(term + bytes([byte]) for term, byte in sorted(rows)), 9)


FAIR_SHARE, FAIR_SURPLUS = 0.35, 5.0
"""So much does when it is this much more than chance gives, in natural logarithms of probability."""
FAINT_SHARE = 0.3
"""Less than this is what strangers hold, too."""
BACKGROUND_CHUNKS = 1_000
"""So many chunks of the notes weigh as much as what is known of the language."""
SKEPTICS = 20
"""So many chunks more that do not hold a term are reckoned with, before a few that do make it usual."""
UNKNOWN_PAIR = 0.5
"""Of its weight counts a pair of signs that stands nowhere: in a script without spaces most such cross two words."""
RICH = 1_000
"""Passages among which every usual word stands; in fewer, an unknown word says little."""


class Verdict(StrEnum):
    """What a hit is worth, best first: it holds what was asked, it may, or nothing says so; an answer has the best."""

    ANSWERABLE = "answerable"
    WEAK = "weak"
    NONE = "none"


class Idf(Struct, frozen=True, dict=True):
    """How telling each term of a question is in `chunks` chunks; a term that stands in most of them tells nothing."""

    chunks: int = 0
    weights: Mapping[str, float] = {}
    known: frozenset[str] = frozenset()
    """Terms that stand anywhere at all."""

    def covered(self, terms: Collection[str]) -> float:
        """Return what these terms weigh together."""
        held = frozenset(terms)
        if (known := self._covered.get(held)) is None:
            # in the order of the question: a set is ordered anew by every process, and the last digit of a sum with it,
            # so that an answer at the edge of FULL_SHARE would be judged otherwise after a restart
            known = self._covered[held] = sum(weight for term, weight in self.weights.items() if term in held)
        return known

    @cached_property
    def _covered(self) -> dict[frozenset[str], float]:
        """What sets of terms weigh: most candidates of a question hold the same few."""
        return {}

    @cached_property
    def _total(self) -> float:
        return sum(self.weights.values())

    def share(self, terms: Collection[str]) -> float:
        """Return how much of the question's weight these terms are, 0 to 1."""
        return self.covered(terms) / self._total if self._total > 0 else float(bool(terms))

    def tells(self, terms: Collection[str], least: float = FAINT_SHARE) -> bool:
        """Tell whether these terms are more of the question than strangers hold, too: at least this share."""
        return self.covered(terms) > 0 and self.share(terms) >= least

    def answers(self, terms: Collection[str]) -> bool:
        """Tell whether a chunk with these terms answers the question by its words."""
        share = self.share(terms)
        surplus = self.covered(terms) - math.log(max(1, self.chunks))
        return bool(terms) and (share >= FULL_SHARE or (share >= FAIR_SHARE and surplus >= FAIR_SURPLUS))


def idf(chunks: int, counts: Mapping[str, int], commonness: Callable[[str], float] = lambda _term: 0.0) -> Idf:
    """Weigh terms by how many of the chunks hold each: ln((N − n + ½)/(n + ½)), at least 0, as BM25 has it.

    N and n count the background, too; `commonness` is the chance that one of its chunks holds a term, 0 to 1. It says
    what is rare. What is usual these notes say themselves: no term weighs more than ln((1 − p)/p), p being the share of
    the chunks beside its own that hold it, and of SKEPTICS that do not.
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


_NO_TERMS = frozenset[str]()


class TermStatistics(Struct, frozen=True, dict=True):
    """How telling each term of a question is, and which terms stand in each candidate, by chunk id."""

    idf: Idf
    terms: Mapping[int, frozenset[str]]

    @cached_property
    def share(self) -> float:
        """How much of the question's weight the best of the candidates holds, 0 to 1."""
        # most candidates hold the same few terms
        return max(map(self.idf.share, set(self.terms.values())), default=0.0)

    def terms_of(self, chunk: int) -> tuple[str, ...]:
        """Return the terms that stand in a candidate, in the order of the question."""
        held = self.terms.get(chunk, _NO_TERMS)
        if (known := self._in_order.get(held)) is None:
            known = self._in_order[held] = tuple([term for term in self.idf.weights if term in held])
        return known

    @cached_property
    def _in_order(self) -> dict[frozenset[str], tuple[str, ...]]:
        """Sets of terms in the order of the question."""
        return {}


def terms_by_holder(holders: Mapping[str, Iterable[int]]) -> dict[int, frozenset[str]]:
    """Return which terms stand in each chunk, by the chunks that hold each; most hold the same few, and share a set."""
    bits: dict[int, int] = {}
    for at, chunks in enumerate(holders.values()):
        for chunk in chunks:
            bits[chunk] = bits.get(chunk, 0) | 1 << at
    sets = {one: frozenset([term for at, term in enumerate(holders) if one >> at & 1]) for one in set(bits.values())}
    return {chunk: sets[one] for chunk, one in bits.items()}


def weighed(evidence: Evidence, statistics: TermStatistics) -> Evidence:
    """Return the evidence with how much of the question's weight the best of its chunks holds.

    Where none holds a word, to hold none says nothing, in another language either.
    """
    if not evidence.lexical.bm25:
        evidence = replace(evidence, vector=replace(evidence.vector, foreign=frozenset()))
    return replace(evidence, lexical=replace(evidence.lexical, share=statistics.share))


def vector_floor(vectors: int, *, knows_a_word: bool) -> float:
    """Return the deviations below which a hit that holds no word of the question is noise.

    A model puts nonsense somewhere too. So the more passages there are that hold none of a question's words, the more
    a hit must stand out.
    """
    strangeness = 0.0 if knows_a_word else min(1.0, vectors / RICH)
    noise = best_stranger(vectors, NOISE_CHANCE)
    return noise + strangeness * (clear_floor(vectors) - noise)


def clear_floor(vectors: int) -> float:
    """Return the deviations above which a hit answers by its meaning alone."""
    return best_stranger(vectors, CLEAR_CHANCE)


class Thresholds(Struct, frozen=True, dict=True):
    """What the evidence was held against: the words of the question in these notes, and the noise of its cosines."""

    idf: Idf
    noise: Noise
    vectors: int
    share: float
    """Of the question's weight, in the best chunk."""
    deviations: float | None
    """The best cosine above the noise; None without vectors."""
    vector_floor: float
    """Deviations below which a hit without a word of the question is noise."""
    clear_floor: float

    def of(self, told: Collection[tuple[Collection[str], float | None]]) -> "Thresholds":
        """Return the same floors with the best of these alone: the terms and the cosine of each chunk."""
        best = max((cosine for _, cosine in told if cosine is not None), default=None)
        return replace(
            self,
            share=max((self.idf.share(terms) for terms, _ in told), default=0.0),
            deviations=None if best is None else self.noise.deviations(best),
        )

    def answers(self, terms: Collection[str], cosine: float | None) -> bool:
        """Tell whether a chunk with these terms and this cosine answers the question, by its words or its meaning."""
        if self.idf.answers(terms):
            return True
        if cosine is None or not self.noise.is_clear:
            return False
        return self.vectors > 0 and self.noise.deviations(cosine) >= self.clear_floor

    def is_noise(self, cosine: float | None) -> bool:
        """Tell whether a meaning comes no nearer than that of strangers does."""
        return cosine is None or self.noise.deviations(cosine) < self.vector_floor

    def verdict(self, terms: Collection[str], cosine: float | None, *, is_literal: bool) -> Verdict:
        """Return what a chunk with these terms and this cosine is worth."""
        if cosine is not None:
            return self._judged(terms, cosine, is_literal=is_literal)
        key = frozenset(terms), is_literal
        if (known := self._by_words.get(key)) is None:
            known = self._by_words[key] = self._judged(terms, cosine, is_literal=is_literal)
        return known

    @cached_property
    def _by_words(self) -> dict[tuple[frozenset[str], bool], Verdict]:
        """What words alone are worth: most candidates of a question hold the same few."""
        return {}

    def _judged(self, terms: Collection[str], cosine: float | None, *, is_literal: bool) -> Verdict:
        if self.answers(terms, cosine):
            return Verdict.ANSWERABLE
        # where no vectors were compared, nobody can say that a few words are all there is; and what was found by the
        # beginning of a name holds no whole word that could be weighed
        least = 0.0 if self.deviations is None else FAINT_SHARE
        has_significant_word = self.idf.tells(terms, least) if terms else is_literal
        return Verdict.WEAK if has_significant_word or not self.is_noise(cosine) else Verdict.NONE

    def nothing_in(self, terms: Collection[str], cosine: float | None) -> str:
        """Say why a chunk with these terms and this cosine is worth nothing."""
        deviations = None if cosine is None else self.noise.deviations(cosine)
        words = _too_few("it", self.idf.share(terms)) or "it holds no telling word of the question"
        return words + self._within("its meaning", deviations)

    @property
    def emptiness(self) -> str:
        """Why hits of which none is worth anything are worth nothing."""
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
    def weakness(self) -> str:
        """Why hits of which none answers are only weak."""
        words = f"the best hit holds {self.share:.0%} of what the question's words weigh (enough: {FULL_SHARE:.0%})"
        if self.deviations is None:
            return words
        if not self.noise.is_clear:
            return f"{words}, and the model tells no answer by its meaning in the question's language"
        return (
            f"{words}, and the nearest meaning stands {self.deviations:.1f} deviations above the noise "
            f"(unrelated notes reach {self.vector_floor:.1f}, clear is {self.clear_floor:.1f})"
        )


def _too_few(holder: str, share: float) -> str:
    """Say that words of this share tell too little, nothing if none of them tells anything."""
    # what would be shown as 0 % is nothing; and where no word of a question tells, any of them is all of it
    if not 0.005 <= share < FAINT_SHARE:
        return ""
    return f"{holder} holds only {share:.0%} of what the question's words weigh (telling from {FAINT_SHARE:.0%} on)"


def floors(found: VectorMatches, statistics: TermStatistics) -> Thresholds:
    """Measure the best of the evidence, and what it must rise above."""
    best = max(found.cosines.values(), default=None)
    return Thresholds(
        idf=statistics.idf,
        noise=found.noise,
        vectors=found.compared,
        share=statistics.share,
        deviations=None if best is None else found.noise.deviations(best),
        vector_floor=vector_floor(found.compared, knows_a_word=bool(statistics.idf.known)),
        clear_floor=clear_floor(found.compared),
    )


PRIOR_COUNT = 100
"""So many passages of the notes weigh as much as what is known of strangers."""
USUAL_COUNT, USUAL_DEVIATION = 20, 0.1
"""The same for the usual deviation of cosines, all that is known before a model's strangers are."""
FULL_REACH, LEAST_FULL = 1.35, 2.5
"""So many times what answers reach is near verbatim; never less than so many deviations."""


class CosineSample(Struct, frozen=True):
    """How many cosines were looked at, their mean, and their variance (the mean square of what they are off it)."""

    count: int
    mean: float
    variance: float


def noise_of(sample: CosineSample, strangers: CosineSample | None, reach: float | None = None) -> Noise:
    """Return the noise of a question from its cosines with a sample of the notes, and with strangers if they are known.

    Without either there is nothing to go by but the usual noise. `reach` is how many deviations above strangers the
    model's answers stand in the question's language, as far as anybody knows.
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
