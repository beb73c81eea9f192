"""Ranking of the builtin search: evidence → base scores → thresholds → decay → folding → MMR → shares → top K.

A table gives the frequency of words in English and Chinese, for workspaces with too few notes to measure it. It was
made by `bench/commonness.py`, which names its sources; NOTICE names their owners.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from memoryd.config.memory_search import HybridSection
from memoryd.domain.documents import RelativePath, Source, is_conflict_copy
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Background, TermStatistics, Thresholds, Verdict, thresholds_of
from memoryd.domain.ranking.fusion import Evidence, Weights, score_relative, score_weighted
from memoryd.domain.ranking.selection import (
    COPY_REASON,
    DEPTH_FACTOR,
    Decay,
    RankedHit,
    are_similar,
    decay_of,
    family_share,
    file_share,
    keep_literal,
    limit_shares,
    mmr,
    tokens,
)
from memoryd.domain.sessions.conversation_parts import answered_share
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.note_status import STATUS_EFFECTS, current_flags
from memoryd.search.hits import ChunkEvidence, Hit, Ranks, fold_copies, holds_a_word
from memoryd.store.index.passages import ChunkRow


class PairReading(Struct, frozen=True):
    """The reranker's result for one chunk: its rank among the chunks read, and its relevance.

    `score` replaces the base score.
    """

    place: int
    relevance: float
    score: float = 0.0


Readings = Mapping[int, PairReading]
"""Results of a reranker by chunk id."""


class Ranked(Struct, frozen=True):
    """Candidates by chunk id, best first: those with evidence (`telling`), noise, and those left out (`refused`)."""

    telling: Sequence[int]
    noise: Sequence[int]
    """Used in an answer only if there are too few better candidates."""
    refused: Sequence[int]
    """Candidates below the minimum score without a word of the question."""
    base_scores: Mapping[int, float]
    evidence: Evidence
    places: Mapping[int, int]
    """The rank of each candidate, from 1; `by_words` and `by_meaning` are the ranks within each arm."""
    by_words: Mapping[int, int]
    by_meaning: Mapping[int, int]
    statistics: TermStatistics | None
    """None: not available in time."""
    floors: Thresholds | None
    readings: Readings = {}
    """Results for the chunks that a reranker read."""
    beside_foreign: frozenset[int] = frozenset()
    """Candidates that are as near as one in another language."""

    def unread(self, count: int, *, is_filled: bool) -> int:
        """Return how many candidates behind the first `count` may be in the answer; if it is filled, noise may not."""
        return max(0, len(self.telling) + (0 if is_filled else len(self.noise)) - count)

    def unbeaten(self, hits: Iterable[Hit], count: int) -> int:
        """Return how many hits no candidate behind the first `count` can outscore: reductions only lower scores."""
        bound = self.base_scores[self.telling[count]] if count < len(self.telling) else 0.0
        return sum(hit.score >= bound for hit in hits)

    def evidence_of(self, chunk: int) -> ChunkEvidence:
        """Return the evidence for a chunk; empty if no arm found it."""
        if chunk not in self.base_scores:
            return ChunkEvidence()
        bm25, cosine = self.evidence.lexical.bm25.get(chunk), self.evidence.vector.cosines.get(chunk)
        terms = self.statistics.terms_of(chunk) if self.statistics else ()
        verdict = None
        if self.floors is not None and self.statistics is not None:
            contained = self.statistics.terms.get(chunk, frozenset())
            verdict = self.floors.verdict(contained, cosine, is_literal=holds_a_word(bm25, terms))
        is_near = chunk in self.beside_foreign
        ranks = Ranks(self.by_words.get(chunk), self.by_meaning.get(chunk), self.places[chunk])
        return ChunkEvidence(self.base_scores[chunk], ranks, bm25, cosine, terms, verdict, is_near)

    def hit(self, row: ChunkRow) -> Hit:
        """Return the hit for a chunk, with its evidence."""
        evidence, reading = self.evidence_of(row.id), self.readings.get(row.id)
        hit = Hit(**asdict(evidence), chunk=row, score=evidence.base_score, near=self.evidence.vector.near(row.id))
        if reading is None:
            return hit
        ranks = replace(evidence.ranks, reading=reading.place)
        return replace(hit, score=reading.score, ranks=ranks, relevance=reading.relevance)


def rank_candidates(
    evidence: Evidence, base_scores: Mapping[int, float], statistics: TermStatistics | None, *, min_score: float
) -> Ranked:
    """Rank the candidates, and divide them by their evidence into `telling`, `noise` and `refused`.

    Equal scores are ordered by cosine, and after that the latest chunk comes first.
    """
    thresholds = None if statistics is None else thresholds_of(evidence.vector, statistics)
    cosines = evidence.vector.cosines
    literal = evidence.lexical.bm25.keys() | (statistics.terms.keys() if statistics else frozenset())
    # Scores are equal if no meaning is above the noise, or several count in full; the cosines still differ then. The
    # latest of equals comes first, so that of many copies the newest is read. Stable sorts, the most important last.
    order = sorted(base_scores, reverse=True)
    if cosines:
        order.sort(key=lambda chunk: -cosines.get(chunk, -1.0))
    order.sort(key=base_scores.__getitem__, reverse=True)
    # before decay: else an old note without words would fall below the minimum by its age alone
    others = base_scores.keys() - literal
    refused = {chunk for chunk in others if base_scores[chunk] < min_score}
    near = {chunk for chunk, cosine in cosines.items() if thresholds is None or not thresholds.is_noise(cosine)}
    beside_foreign = evidence.vector.near_foreign
    noise = others - near - beside_foreign - refused
    return Ranked(
        telling=[chunk for chunk in order if chunk not in noise and chunk not in refused] if others else order,
        noise=[chunk for chunk in order if chunk in noise] if noise else [],
        refused=[chunk for chunk in order if chunk in refused] if refused else [],
        base_scores=base_scores,
        evidence=evidence,
        places=_ranks_of(order),
        by_words=_ranks_of(evidence.lexical.order()),
        by_meaning=_ranks_of(evidence.vector.order()),
        statistics=statistics,
        floors=thresholds,
        beside_foreign=beside_foreign,
    )


def reorder(ranking: Ranked, readings: Readings) -> Ranked:
    """Reorder the candidates that the reranker read, within their group, and redistribute their scores.

    A cross-encoder's scores are not comparable with those of the arms. So the candidates that it read keep their set of
    scores, and its first gets the best one. Scores stay sorted and within 0 to 1, candidates that were not read keep
    their places, and the effect of age is unchanged.
    """
    telling, scored = _reassign(ranking.telling, ranking, readings)
    noise, scored_noise = _reassign(ranking.noise, ranking, readings)
    return replace(ranking, telling=telling, noise=noise, readings=scored | scored_noise)


def _reassign(group: Sequence[int], ranking: Ranked, readings: Readings) -> tuple[list[int], dict[int, PairReading]]:
    """Return a group with its read candidates in the new order, on the same places, and their new readings."""
    read = sorted((chunk for chunk in group if chunk in readings), key=lambda chunk: readings[chunk].place)
    scores = sorted((ranking.base_scores[chunk] for chunk in read), reverse=True)
    scored = {chunk: replace(readings[chunk], score=score) for chunk, score in zip(read, scores, strict=True)}
    in_order = iter(read)
    return [next(in_order) if chunk in scored else chunk for chunk in group], scored


def _ranks_of(chunks: Sequence[int]) -> dict[int, int]:
    return {chunk: rank for rank, chunk in enumerate(chunks, start=1)}


class Recipe(Struct, frozen=True, kw_only=True):
    """How a search asks the arms, and merges their evidence into one score for each chunk.

    `words` and `vectors` are the numbers of candidates to ask each arm for.
    """

    words: int
    vectors: int
    base_scores: Callable[[Evidence], dict[int, float]]
    prefers_vectors: bool = False
    """Whether words are used only if the vector arm takes no part."""
    beside: tuple[str, ...] = ()
    """Further terms to find chunks with, which have no weight."""

    @property
    def deeper(self) -> "Recipe":
        """The recipe for more candidates."""
        return replace(self, words=self.words * DEPTH_FACTOR, vectors=self.vectors * DEPTH_FACTOR)


MIN_DEPTH, MAX_DEPTH, DEEPEST = 100, 400, 6400
"""Number of candidates to ask each arm for: least and most at first, and most in the end."""


class SearchSettings(Struct, frozen=True):
    """Settings for asking and merging the arms and selecting hits; the weights of `hybrid` add up to 1.

    `score_weighted` asks for as many candidates as its reference; `score_relative` needs at least `MIN_DEPTH`.
    `vector_bytes` limits the memory for the vectors of a space.
    """

    hybrid: HybridSection = field(default_factory=HybridSection)
    vector_bytes: int = 24 * 2**20

    def recipe(self, limit: int) -> Recipe:
        """Return the first recipe of a search for `limit` hits."""
        is_weighted = self.hybrid.fusion == "weighted"
        depth = min(MAX_DEPTH, max(1 if is_weighted else MIN_DEPTH, self.pool(limit)))
        merge, weights = score_weighted if is_weighted else score_relative, self.weights
        return Recipe(
            words=depth,
            vectors=depth,
            base_scores=lambda evidence: merge(evidence, weights),
            prefers_vectors=not self.hybrid.enabled,
        )

    def pool(self, limit: int) -> int:
        """Return the number of hits from which MMR selects `limit`."""
        return limit * self.hybrid.candidate_multiplier

    @property
    def weights(self) -> Weights:
        """The shares of words and meaning."""
        return Weights(vector=self.hybrid.vector_weight, text=self.hybrid.text_weight)

    @property
    def may_reorder(self) -> bool:
        """Whether decay by age is on: it may reduce every candidate, so that all of them are read at once."""
        return self.half_life_days is not None

    @property
    def half_life_days(self) -> float | None:
        """Half-life of dated notes in days, None if decay is off."""
        decay = self.hybrid.temporal_decay
        return decay.half_life_days if decay.enabled else None

    @property
    def mmr_lambda(self) -> float | None:
        """The λ of MMR, 0 to 1, None if it is off."""
        return self.hybrid.mmr.lambda_ if self.hybrid.mmr.enabled else None


class Selected(Struct, frozen=True):
    """The selected hits, best first, and the nearest misses. `has_room`: copies or similar notes could be replaced."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    telling: int
    """Number of hits that are no noise; noise gives way to unread candidates."""
    has_room: bool
    dominant: RelativePath | None
    """The document with more than its share of the hits, if any."""


def select(
    candidates: Sequence[Hit],
    limit: int,
    *,
    settings: SearchSettings,
    min_score: float = 0.0,
    floors: Thresholds | None = None,
    now: datetime,
) -> Selected:
    """Select the hits of an answer from candidates with base scores; the time zone of `now` defines its days.

    Noise only fills free places, and does not affect the order of the other hits.
    """
    weights = floors.idf.weights if floors else {}
    # noise last, best scores first; equal ones by the reranker, then by base score
    aged = sorted(
        (_apply_decay(hit, settings, now, weights) for hit in candidates),
        key=lambda hit: (hit.is_noise, -hit.score, hit.ranks.reading or math.inf, -hit.base_score),
    )
    too_low = SkipReason.BELOW_MIN_SCORE.format(min_score)
    refused = [replace(hit, because=too_low) for hit in aged if _is_refused(hit, min_score)]
    eligible = fold_copies([hit for hit in aged if not _is_refused(hit, min_score)], now.tzinfo or UTC)
    noise = [hit for hit in eligible if hit.is_noise]
    leaders = _Leaders(limit)
    rest = leaders.choose([hit for hit in eligible if not hit.is_noise] if noise else eligible, settings)
    places = leaders.order(settings)
    has_room, telling = leaders.has_room(places), len(places)
    dominant = _dominant([leaders.hits[at] for at in places], limit)
    if telling < limit:
        rest += leaders.take(noise, limit)
        # noise comes after the others, and within what they leave of the shares of documents and families
        contenders = leaders.contenders()
        order = limit_shares(contenders[telling:], limit, taken=contenders[:telling])
        places += [telling + at for at in order[: limit - telling]]
    else:
        rest += noise
    hits = tuple(_explain_place(leaders.hits[at], place, at, floors) for place, at in enumerate(places))
    late = [hit for at, hit in enumerate(leaders.hits) if at not in places] + rest[:limit]
    nearest = sorted([*late, *refused[:limit]], key=lambda hit: (hit.is_noise, -hit.score))[:limit]
    misses = tuple(hit if hit.because else replace(hit, because=SkipReason.BEYOND_MAX_RESULTS) for hit in nearest)
    return Selected(hits, misses, telling, has_room, dominant)


def _apply_decay(hit: Hit, settings: SearchSettings, now: datetime, weights: Mapping[str, float]) -> Hit:
    chunk, half_life = hit.chunk, settings.half_life_days
    is_copy = is_conflict_copy(chunk.path)
    standing = current_flags(chunk.flags, now.date())
    if half_life is None and chunk.source is not Source.SESSIONS and not is_copy and not standing:
        return hit
    decay = Decay()
    if half_life is not None:
        decay = decay_of(chunk.path, chunk.source, chunk.mtime_ns, half_life_days=half_life, now=now)
    if chunk.source == Source.SESSIONS:
        decay = replace(decay, answered_share=answered_share(chunk.text, weights))
    decay = replace(decay, is_copy=is_copy, status_flags=standing)
    verdict = hit.verdict
    if verdict is Verdict.ANSWERABLE and hit.is_literal and decay.answered_share == 0:
        # an earlier question without an answer does not answer, least of all if it is the same question
        verdict = Verdict.NONE if weights.keys() <= set(hit.terms) else Verdict.WEAK
    return replace(hit, score=hit.score * decay.factor, decay=decay, verdict=verdict)


def _is_refused(hit: Hit, min_score: float) -> bool:
    """Return whether a hit is left out for its base score, before decay; a literal match never is."""
    return hit.base_score < min_score and not hit.is_literal


class _Leaders:
    """Hits without their copies, from which `limit` are selected by the shares of documents and families."""

    def __init__(self, limit: int) -> None:
        self.hits: list[Hit] = []
        self._limit = limit
        self._words, self._families = list[Set[str]](), list[int]()
        """Computed on demand for the first hits: their words, and the family: the number of the first similar hit."""

    def choose(self, hits: Sequence[Hit], settings: SearchSettings) -> list[Hit]:
        """Take hits until there are enough of different kinds to select from; return the others.

        If decay or a reranker changed the order, also take the literal hits that were among the best before.
        """
        limit = self._limit
        rest = self.take(hits, limit if settings.mmr_lambda is None else max(limit, settings.pool(limit)))
        if not rest or not (settings.may_reorder or any(hit.ranks.reading for hit in hits)):
            return rest
        best = sorted(hits, key=lambda hit: -hit.base_score)[:limit]
        literal = [hit for hit in best if hit.is_literal and hit in rest]
        self.hits += literal
        return [hit for hit in rest if hit not in literal]

    def take(self, hits: Sequence[Hit], count: int) -> list[Hit]:
        """Append hits until `count` of them have places; return the others."""
        for taken, hit in enumerate(hits):
            if len(self.hits) >= count and self._places() >= count:
                return list(hits[taken:])
            self.hits.append(hit)
        return []

    def order(self, settings: SearchSettings) -> list[int]:
        """Return the positions of the `limit` selected hits, in the order of the rules."""
        order = list(range(len(self.hits)))
        if settings.mmr_lambda is not None:
            order = mmr(self.contenders(has_words=True), settings.mmr_lambda)
        contenders = self.contenders()
        order = [order[at] for at in limit_shares([contenders[at] for at in order], self._limit)]
        before = sorted(range(len(self.hits)), key=lambda at: -self.hits[at].base_score)
        literal = frozenset(at for at, hit in enumerate(self.hits) if hit.is_literal)
        return keep_literal(order, before, literal, self._limit)

    def has_room(self, places: Sequence[int]) -> bool:
        """Return whether further candidates could replace copies or similar hits."""
        if len(places) < self._limit:
            return any(hit.copies for hit in self.hits)
        families = Counter(map(self._all_families().__getitem__, places))
        return max(families.values()) > family_share(self._limit)

    def contenders(self, *, has_words: bool = False) -> list[RankedHit]:
        """Return the hits as contenders for the rules; with their words if `has_words`."""
        families = self._all_families()
        return [
            RankedHit(hit.score, self._words_of(at) if has_words else frozenset(), hit.chunk.path, families[at])
            for at, hit in enumerate(self.hits)
        ]

    def _places(self) -> int:
        """Return how many hits the shares of documents and of families admit."""
        paths, families = Counter([hit.chunk.path for hit in self.hits]), Counter(self._all_families())
        return min(
            sum([min(count, file_share(self._limit)) for count in paths.values()]),
            sum([min(count, family_share(self._limit)) for count in families.values()]),
        )

    def _all_families(self) -> list[int]:
        """Return the family of each hit, computed only as far as any family may exceed its share."""
        known, count, largest = self._families, len(self.hits), max(Counter(self._families).values(), default=0)
        while len(known) < count and largest + count - len(known) > family_share(self._limit):
            words = self._words_of(len(known))
            # compare only with the first of each family: else notes that differ by a word each would form one family
            firsts = (at for at, family in enumerate(known) if family == at)
            known.append(next((at for at in firsts if are_similar(self._words[at], words)), len(known)))
            largest = max(largest, known.count(known[-1]))
        return [*known, *range(len(known), count)]

    def _words_of(self, at: int) -> Set[str]:
        while len(self._words) <= at:
            chunk = self.hits[len(self._words)].chunk
            # the text of a picture or sound is only its name, which does not show similarity
            self._words.append(frozenset() if modality_of(chunk.path) else tokens(chunk.text))
        return self._words[at]


def _dominant(hits: Sequence[Hit], limit: int) -> RelativePath | None:
    top = Counter([hit.chunk.path for hit in hits]).most_common(1)
    return top[0][0] if top and top[0][1] > file_share(limit) else None


def _explain_place(hit: Hit, place: int, sorted_place: int, thresholds: Thresholds | None) -> Hit:
    """Return the hit with the reasons of its place in `because`."""
    reasons = []
    if hit.ranks.words:
        reasons.append(f"{hit.ranks.words}. by words ({', '.join(hit.terms)})")
    if hit.ranks.vector:
        reasons.append(f"{hit.ranks.vector}. by meaning")
    if hit.ranks.reading:
        reasons.append(f"{hit.ranks.reading}. by reading it beside the question, from place {hit.ranks.merged}")
    if hit.verdict is Verdict.NONE and thresholds is not None and hit.decay.answered_share:
        reasons.append(thresholds.why_none(hit.terms, hit.cosine))
    reasons += _decay_reasons(hit.decay)
    if place < sorted_place:
        reasons.append(f"moved up from place {sorted_place + 1} for what is new in it or because it is a literal match")
    if place > sorted_place:
        reasons.append(f"moved down from place {sorted_place + 1} for a hit of another kind or document")
    if hit.copies:
        reasons.append(f"{len(hit.copies)} copies folded into it")
    return replace(hit, because="; ".join(reasons))


def _decay_reasons(decay: Decay) -> Iterator[str]:
    if decay.age_days is not None:
        yield f"decayed to {decay.by_age:.0%} after {decay.age_days} days"
    if decay.answered_share < 1:
        yield f"{1 - decay.answered_share:.0%} of what it holds of the question was asked there and not answered"
    if decay.is_copy:
        yield COPY_REASON
    yield from (STATUS_EFFECTS[flag].because for flag in decay.status_flags)


TABLE = Path(__file__).with_name("word_background.zlib")
_PACKED = TABLE.read_bytes()
"""Read at import: by the time of the first query, the files may be those of another version."""


@lru_cache(4_096)
def commonness(term: str) -> float:
    """Return the probability that a typical chunk in the language contains an index term, 0 to 1; 0 if rare."""
    return _background().commonness(term)


@cache
def _background() -> Background:
    """Return the table, unpacked at the first use."""
    return Background(_PACKED)
