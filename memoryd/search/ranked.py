"""Candidates → ranked: one base score each, in one order, held against the floors before any of them is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memoryd.domain.ranking.calibration import Floors, TermStatistics, floors
from memoryd.domain.ranking.fusion import Evidence, dealt
from memoryd.search.hit import Hit, Ranks, holds_a_word
from memoryd.store.index.passages import ChunkRow


@dataclass(frozen=True, slots=True)
class PairReading:
    """What reading a chunk beside the question gave: its place among those that were read, and how well it answers.

    `score` is what stands for its base score then.
    """

    place: int
    relevance: float
    score: float = 0.0


Readings = Mapping[int, PairReading]
"""By chunk id."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates by chunk id, best first: what tells something, what is noise, and what is left out."""

    telling: Sequence[int]
    noise: Sequence[int]
    """They stand in the answer where nothing better fills it."""
    refused: Sequence[int]
    """They score below the least score and hold no word of the question."""
    base_scores: Mapping[int, float]
    evidence: Evidence
    ranks: Mapping[int, Ranks]
    statistics: TermStatistics | None
    """None: they could not be had in time."""
    floors: Floors | None
    readings: Readings = field(default_factory=dict)
    """Of the chunks that a reranker read."""

    def unread(self, count: int, *, is_filled: bool) -> int:
        """Return how many behind the first `count` might stand in the answer; noise does not in one that is filled."""
        might = len(self.telling) if is_filled else len(self.telling) + len(self.noise)
        return max(0, might - count)

    def hit(self, row: ChunkRow) -> Hit:
        """Return a chunk with all that is known of it."""
        base_score, reading = self.base_scores[row.id], self.readings.get(row.id)
        bm25, cosine = self.evidence.lexical.bm25.get(row.id), self.evidence.vector.cosines.get(row.id)
        terms = self.statistics.terms_of(row.id) if self.statistics else ()
        is_literal = holds_a_word(bm25, terms)
        return Hit(
            row,
            base_score,
            base_score if reading is None else reading.score,
            bm25=bm25,
            cosine=cosine,
            near=self.evidence.vector.near(row.id),
            ranks=self.ranks[row.id] if reading is None else replace(self.ranks[row.id], reading=reading.place),
            relevance=None if reading is None else reading.relevance,
            terms=terms,
            verdict=None if self.floors is None else self.floors.verdict(terms, cosine, is_literal=is_literal),
        )


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
    # of equals comes first, so that of many copies the newest is among those that are looked at: their cosines differ
    # in the last digits alone, by where a vector stands in the matrix
    nearness = {chunk: round(cosines.get(chunk, -1.0), 5) for chunk in base_scores}
    order = sorted(base_scores, key=lambda chunk: (-base_scores[chunk], -nearness[chunk], -chunk))
    words, vector = _numbered(evidence.lexical.order()), _numbered(evidence.vector.order())
    # decay must not count here: an old note without words would fall below the least score by its age alone
    refused = {chunk for chunk in order if chunk not in literal and base_scores[chunk] < min_score}
    near = {chunk for chunk in order if held is None or not held.is_noise(cosines.get(chunk))}
    telling = (literal | near) - refused
    return Ranked(
        telling=[chunk for chunk in order if chunk in telling],
        noise=[chunk for chunk in order if chunk not in telling and chunk not in refused],
        refused=[chunk for chunk in order if chunk in refused],
        base_scores=base_scores,
        evidence=evidence,
        ranks={chunk: Ranks(words.get(chunk), vector.get(chunk), place) for place, chunk in enumerate(order, start=1)},
        statistics=statistics,
        floors=held,
    )


def reordered(ranking: Ranked, readings: Readings) -> Ranked:
    """Return the candidates with the scores of those that were read dealt anew, each group in that order."""
    scored = dict(_dealt(ranking, ranking.telling, readings)) | dict(_dealt(ranking, ranking.noise, readings))
    return replace(
        ranking,
        telling=_sorted(ranking.telling, scored),
        noise=_sorted(ranking.noise, scored),
        readings=scored,
    )


def _dealt(ranking: Ranked, group: Sequence[int], readings: Readings) -> Iterator[tuple[int, PairReading]]:
    read = [chunk for chunk in group if chunk in readings]
    order = sorted(range(len(read)), key=lambda at: readings[read[at]].place)
    for chunk, score in zip(read, dealt([ranking.base_scores[chunk] for chunk in read], order), strict=True):
        yield chunk, replace(readings[chunk], score=score)


def _sorted(group: Sequence[int], readings: Readings) -> list[int]:
    """Return a group with those that were read in their new order, on the places that they have together."""
    in_order = iter(sorted((chunk for chunk in group if chunk in readings), key=lambda chunk: readings[chunk].place))
    return [next(in_order) if chunk in readings else chunk for chunk in group]


def _numbered(chunks: Sequence[int]) -> dict[int, int]:
    return {chunk: rank for rank, chunk in enumerate(chunks, start=1)}
