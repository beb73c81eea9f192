"""Ranking of the builtin search: evidence → one base score each → thresholds → decay → folding → MMR → shares → top K.

How common words are in English and Chinese is a table, for workspaces whose few notes cannot tell. It was made by
`bench/commonness.py`, which says where its figures come from; NOTICE names their owners.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.config.memory_search import HybridSection
from memoryd.domain.documents import RelativePath, Source, is_conflict_copy
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.calibration import Background, TermStatistics, Thresholds, Verdict, floors
from memoryd.domain.ranking.fusion import Evidence, Weights, relative, weighted
from memoryd.domain.ranking.selection import (
    COPY_BEHIND,
    DEEPER,
    Contender,
    Decay,
    decay_of,
    family_share,
    file_share,
    is_alike,
    mmr,
    shared,
    tokens,
    with_literal,
)
from memoryd.domain.sessions.conversation_parts import answered_share
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.standing import STANDINGS, standing_of
from memoryd.search.hits import ChunkEvidence, Hit, Ranks, folded, holds_a_word
from memoryd.store.index.passages import ChunkRow


class PairReading(Struct, frozen=True):
    """What reading a chunk beside the question gave: its place among those that were read, and how well it answers.

    `score` is what stands for its base score then.
    """

    place: int
    relevance: float
    score: float = 0.0


Readings = Mapping[int, PairReading]
"""By chunk id."""


class Ranked(Struct, frozen=True):
    """Candidates by chunk id, best first: what tells something, what is noise, and what is left out."""

    telling: Sequence[int]
    noise: Sequence[int]
    """They stand in the answer where nothing better fills it."""
    refused: Sequence[int]
    """They score below the least score and hold no word of the question."""
    base_scores: Mapping[int, float]
    evidence: Evidence
    places: Mapping[int, int]
    """All by their place, from 1; `by_words` and `by_meaning` likewise, those that an arm found."""
    by_words: Mapping[int, int]
    by_meaning: Mapping[int, int]
    statistics: TermStatistics | None
    """None: they could not be had in time."""
    floors: Thresholds | None
    readings: Readings = {}
    """Of the chunks that a reranker read."""
    beside_foreign: frozenset[int] = frozenset()
    """Those that come as near as one in another language."""

    def unread(self, count: int, *, is_filled: bool) -> int:
        """Return how many behind the first `count` might stand in the answer; noise does not in one that is filled."""
        might = len(self.telling) if is_filled else len(self.telling) + len(self.noise)
        return max(0, might - count)

    def judged(self, chunk: int) -> ChunkEvidence:
        """Return what words and meaning say of a chunk; nothing of one that neither found."""
        if chunk not in self.base_scores:
            return ChunkEvidence()
        bm25, cosine = self.evidence.lexical.bm25.get(chunk), self.evidence.vector.cosines.get(chunk)
        terms = self.statistics.terms_of(chunk) if self.statistics else ()
        verdict = None
        if self.floors is not None and self.statistics is not None:
            held = self.statistics.terms.get(chunk, frozenset())
            verdict = self.floors.verdict(held, cosine, is_literal=holds_a_word(bm25, terms))
        is_near = chunk in self.beside_foreign
        ranks = Ranks(self.by_words.get(chunk), self.by_meaning.get(chunk), self.places[chunk])
        return ChunkEvidence(self.base_scores[chunk], ranks, bm25, cosine, terms, verdict, is_near)

    def hit(self, row: ChunkRow) -> Hit:
        """Return a chunk with all that is known of it."""
        said, reading = self.judged(row.id), self.readings.get(row.id)
        same = said.base_score, said.ranks, said.bm25, said.cosine, said.terms, said.is_near
        hit = Hit(*same, verdict=said.verdict, chunk=row, score=said.base_score, near=self.evidence.vector.near(row.id))
        if reading is None:
            return hit
        ranks = replace(said.ranks, reading=reading.place)
        return replace(hit, score=reading.score, ranks=ranks, relevance=reading.relevance)


def ranked(
    evidence: Evidence, base_scores: Mapping[int, float], statistics: TermStatistics | None, *, min_score: float
) -> Ranked:
    """Put the candidates in order, and tell by their evidence alone which of them may stand in the answer, and where.

    Equal scores are in the order of their cosines.
    """
    held = None if statistics is None else floors(evidence.vector, statistics)
    cosines = evidence.vector.cosines
    literal = evidence.lexical.bm25.keys() | (statistics.terms.keys() if statistics else frozenset())
    # where the scores say no more, since no meaning stands out or several do in full, the cosines still do; the latest
    # of equals comes first, so that of many copies the newest is among those that are looked at: one sort
    # after the other, the last of which counts most
    order = sorted(base_scores, reverse=True)
    if cosines:
        order.sort(key=lambda chunk: -cosines.get(chunk, -1.0))
    order.sort(key=base_scores.__getitem__, reverse=True)
    # decay must not count here: an old note without words would fall below the least score by its age alone
    others = base_scores.keys() - literal
    refused = {chunk for chunk in others if base_scores[chunk] < min_score}
    near = {chunk for chunk, cosine in cosines.items() if held is None or not held.is_noise(cosine)}
    beside_foreign = evidence.vector.beside_foreign
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
        floors=held,
        beside_foreign=beside_foreign,
    )


def reordered(ranking: Ranked, readings: Readings) -> Ranked:
    """Return the candidates with the scores of those that were read dealt anew, each group in that order.

    A cross-encoder's numbers do not compare with the scores of the arms. So those that it read keep their scores as a
    set, its first getting the best of them: scores stay 0 to 1 and sorted, what it did not read stays where it is, and
    age weighs as much as ever.
    """
    telling, scored = _reassign(ranking.telling, ranking, readings)
    noise, scored_noise = _reassign(ranking.noise, ranking, readings)
    return replace(ranking, telling=telling, noise=noise, readings=scored | scored_noise)


def _reassign(group: Sequence[int], ranking: Ranked, readings: Readings) -> tuple[list[int], dict[int, PairReading]]:
    """Return a group with those that were read in their new order, on the places that they have, and their scores."""
    read = sorted((chunk for chunk in group if chunk in readings), key=lambda chunk: readings[chunk].place)
    scores = sorted((ranking.base_scores[chunk] for chunk in read), reverse=True)
    scored = {chunk: replace(readings[chunk], score=score) for chunk, score in zip(read, scores, strict=True)}
    in_order = iter(read)
    return [next(in_order) if chunk in scored else chunk for chunk in group], scored


def _ranks_of(chunks: Sequence[int]) -> dict[int, int]:
    return {chunk: rank for rank, chunk in enumerate(chunks, start=1)}


class Recipe(Struct, frozen=True, kw_only=True):
    """How one use of an index asks its arms, and how what they find becomes one score a chunk.

    `words` and `vectors` are how many candidates each arm is asked for.
    """

    words: int
    vectors: int
    base_scores: Callable[[Evidence], dict[int, float]]
    prefers_vectors: bool = False
    """Whether words count only where meaning gives no answer."""
    beside: tuple[str, ...] = ()
    """Terms that find as those of the question do, and weigh nothing."""

    @property
    def deeper(self) -> "Recipe":
        """The same for more candidates."""
        return replace(self, words=self.words * DEEPER, vectors=self.vectors * DEEPER)


MIN_DEPTH, MAX_DEPTH, DEEPEST = 100, 400, 6400
"""Candidates of each arm: the first time at least and at most, and in the end."""


class SearchSettings(Struct, frozen=True):
    """How the arms are asked and merged, and hits chosen; the weights of `hybrid` add up to 1.

    `weighted` asks for as many candidates as its reference; `relative` is best with no fewer than `MIN_DEPTH`.
    `vector_bytes` is what the vectors of a space may take in memory.
    """

    hybrid: HybridSection = field(default_factory=HybridSection)
    vector_bytes: int = 24 * 2**20

    def recipe(self, limit: int) -> Recipe:
        """Return how a search for `limit` hits begins."""
        is_weighted = self.hybrid.fusion == "weighted"
        depth = min(MAX_DEPTH, max(1 if is_weighted else MIN_DEPTH, self.pool(limit)))
        merge, weights = weighted if is_weighted else relative, self.weights
        return Recipe(
            words=depth,
            vectors=depth,
            base_scores=lambda evidence: merge(evidence, weights),
            prefers_vectors=not self.hybrid.enabled,
        )

    def pool(self, limit: int) -> int:
        """Return of how many hits MMR chooses `limit`."""
        return limit * self.hybrid.candidate_multiplier

    @property
    def weights(self) -> Weights:
        """The shares of words and meaning."""
        return Weights(vector=self.hybrid.vector_weight, text=self.hybrid.text_weight)

    @property
    def may_reorder(self) -> bool:
        """Whether a rule may put the last candidate of the arms first, so that all of these are looked at."""
        return self.half_life_days is not None

    @property
    def half_life_days(self) -> float | None:
        """The half-life of dated notes, None where decay is off."""
        decay = self.hybrid.temporal_decay
        return decay.half_life_days if decay.enabled else None

    @property
    def mmr_lambda(self) -> float | None:
        """The λ of MMR, 0 to 1, None where it is off."""
        return self.hybrid.mmr.lambda_ if self.hybrid.mmr.enabled else None


class Selected(Struct, frozen=True):
    """The hits, best first; what came near and is none; whether others may have places of copies or like notes."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    telling: int
    """How many of the hits are no noise; only they can be owed a place by what was not looked at."""
    has_room: bool
    dominant: RelativePath | None
    """The document that has more than its share of the places."""


def select(
    candidates: Sequence[Hit],
    limit: int,
    *,
    settings: SearchSettings,
    min_score: float = 0.0,
    floors: Thresholds | None = None,
    now: datetime,
) -> Selected:
    """Choose the hits of an answer from candidates that have base scores; `now` has the zone of its days.

    Noise takes the places that are left, and never part in what happens to the others: a hit that tells something is
    moved by no stranger.
    """
    weights = floors.idf.weights if floors else {}
    # noise last, the best first; what is alike stays as it was read, or ranked
    aged = sorted(
        (_apply_decay(hit, settings, now, weights) for hit in candidates),
        key=lambda hit: (hit.is_noise, -hit.score, hit.ranks.reading or math.inf, -hit.base_score),
    )
    too_low = SkipReason.BELOW_MIN_SCORE.format(min_score)
    refused = [replace(hit, because=too_low) for hit in aged if _is_refused(hit, min_score)]
    eligible = folded([hit for hit in aged if not _is_refused(hit, min_score)] if refused else aged, now.tzinfo or UTC)
    noise = [hit for hit in eligible if hit.is_noise]
    leaders = _Leaders(limit)
    rest = leaders.choose([hit for hit in eligible if not hit.is_noise] if noise else eligible, settings)
    places = leaders.order(settings)
    has_room, telling = leaders.has_room(places), len(places)
    dominant = _dominant([leaders.hits[at] for at in places], limit)
    if telling < limit:
        rest += leaders.take(noise, limit)
        # behind the others, whose documents and families keep their shares
        contenders = leaders.contenders()
        order = shared(contenders[telling:], limit, taken=contenders[:telling])
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
    standing = standing_of(chunk.flags, now.date())
    if half_life is None and chunk.source is not Source.SESSIONS and not is_copy and not standing:
        return hit
    decay = Decay()
    if half_life is not None:
        decay = decay_of(chunk.path, chunk.source, chunk.mtime_ns, half_life_days=half_life, now=now)
    if chunk.source == Source.SESSIONS:
        decay = replace(decay, told=answered_share(chunk.text, weights))
    decay = replace(decay, is_copy=is_copy, standing=standing)
    verdict = hit.verdict
    if verdict is Verdict.ANSWERABLE and hit.is_literal and decay.told == 0:
        # who asked before answers nothing, least of all by the same question
        verdict = Verdict.NONE if weights.keys() <= set(hit.terms) else Verdict.WEAK
    return replace(hit, score=hit.score * decay.factor, decay=decay, verdict=verdict)


def _is_refused(hit: Hit, min_score: float) -> bool:
    """Tell whether a hit is left out; a literal match never is."""
    # decay must not count here: an old note without words would fall below the least score by its age alone
    return hit.base_score < min_score and not hit.is_literal


class _Leaders:
    """Hits that lead their copies, of which `limit` get places, with what counts of them where these are shared."""

    def __init__(self, limit: int) -> None:
        self.hits: list[Hit] = []
        self._limit = limit
        self._words, self._families = list[Set[str]](), list[int]()
        """Of the first hits, as far as anybody asked: their words, and the number of the first that each is like."""

    def choose(self, hits: Sequence[Hit], settings: SearchSettings) -> list[Hit]:
        """Take hits until there are enough of different kinds to choose from; return the others.

        Where a rule reorders, literal hits that were among the best before it are looked at too.
        """
        limit = self._limit
        rest = self.take(hits, limit if settings.mmr_lambda is None else max(limit, settings.pool(limit)))
        if not rest or not (settings.may_reorder or any(hit.ranks.reading for hit in hits)):
            return rest
        best = sorted(hits, key=lambda hit: -hit.base_score)[:limit]
        owed = [hit for hit in best if hit.is_literal and hit in rest]
        self.hits += owed
        return [hit for hit in rest if hit not in owed]

    def take(self, hits: Sequence[Hit], wanted: int) -> list[Hit]:
        """Take hits behind what there is until `wanted` have places; return the others."""
        for looked, hit in enumerate(hits):
            if len(self.hits) >= wanted and self._places() >= wanted:
                return list(hits[looked:])
            self.hits.append(hit)
        return []

    def order(self, settings: SearchSettings) -> list[int]:
        """Return the first `limit` of the hits, by their positions, as the rules put them."""
        order = list(range(len(self.hits)))
        if settings.mmr_lambda is not None:
            order = mmr(self.contenders(has_words=True), settings.mmr_lambda)
        contenders = self.contenders()
        order = [order[at] for at in shared([contenders[at] for at in order], self._limit)]
        before = sorted(range(len(self.hits)), key=lambda at: -self.hits[at].base_score)
        literal = frozenset(at for at, hit in enumerate(self.hits) if hit.is_literal)
        return with_literal(order, before, literal, self._limit)

    def has_room(self, places: Sequence[int]) -> bool:
        """Tell whether others may have the places of copies, or of hits that are alike."""
        if len(places) < self._limit:
            return any(hit.copies for hit in self.hits)
        families = Counter(map(self._all_families().__getitem__, places))
        return max(families.values()) > family_share(self._limit)

    def contenders(self, *, has_words: bool = False) -> list[Contender]:
        """Return the hits as the rules see them; their words, if asked for."""
        families = self._all_families()
        return [
            Contender(hit.score, self._words_of(at) if has_words else frozenset(), hit.chunk.path, families[at])
            for at, hit in enumerate(self.hits)
        ]

    def _places(self) -> int:
        """Count the hits that the shares of documents and of notes that are alike leave."""
        paths, families = Counter([hit.chunk.path for hit in self.hits]), Counter(self._all_families())
        return min(
            sum([min(count, file_share(self._limit)) for count in paths.values()]),
            sum([min(count, family_share(self._limit)) for count in families.values()]),
        )

    def _all_families(self) -> list[int]:
        """Return the family of each hit, as far as one may have more than its share: below that none counts."""
        known, count, most = self._families, len(self.hits), max(Counter(self._families).values(), default=0)
        while len(known) < count and most + count - len(known) > family_share(self._limit):
            words = self._words_of(len(known))
            # compared with the first of each family only: notes that drift by a word at a time would else be one family
            firsts = (at for at, family in enumerate(known) if family == at)
            known.append(next((at for at in firsts if is_alike(self._words[at], words)), len(known)))
            most = max(most, known.count(known[-1]))
        return [*known, *range(len(known), count)]

    def _words_of(self, at: int) -> Set[str]:
        while len(self._words) <= at:
            chunk = self.hits[len(self._words)].chunk
            # the text of a picture or sound is its name, which says nothing of how alike two are
            self._words.append(frozenset() if modality_of(chunk.path) else tokens(chunk.text))
        return self._words[at]


def _dominant(hits: Sequence[Hit], limit: int) -> RelativePath | None:
    most = Counter([hit.chunk.path for hit in hits]).most_common(1)
    return most[0][0] if most and most[0][1] > file_share(limit) else None


def _explain_place(hit: Hit, place: int, sorted_place: int, floors: Thresholds | None) -> Hit:
    """Return the hit with the reasons of its place."""
    reasons = []
    if hit.ranks.words:
        reasons.append(f"{hit.ranks.words}. by words ({', '.join(hit.terms)})")
    if hit.ranks.vector:
        reasons.append(f"{hit.ranks.vector}. by meaning")
    if hit.ranks.reading:
        reasons.append(f"{hit.ranks.reading}. by reading it beside the question, from place {hit.ranks.merged}")
    if hit.verdict is Verdict.NONE and floors is not None and hit.decay.told:
        reasons.append(floors.nothing_in(hit.terms, hit.cosine))
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
    if decay.told < 1:
        yield f"{1 - decay.told:.0%} of what it holds of the question was asked there and not answered"
    if decay.is_copy:
        yield COPY_BEHIND
    yield from (STANDINGS[flag].because for flag in decay.standing)


TABLE = Path(__file__).with_name("word_background.zlib")
_PACKED = TABLE.read_bytes()
"""Read with the module: when somebody first asks, the program may have been replaced by another version."""


@lru_cache(4_096)
def commonness(term: str) -> float:
    """Return the chance that a usual chunk of the language holds a term of the index, 0 to 1; 0 for what is rare."""
    return _background().commonness(term)


@cache
def _background() -> Background:
    """Return the table, unpacked when it is first asked: a daemon that nobody asks does without it."""
    return Background(_PACKED)
