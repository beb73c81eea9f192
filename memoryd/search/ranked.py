"""Candidates → ranked: one base score each, in one order, held against the floors before any of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoryd.domain.ranking.floors import Floors, TermStatistics, Threshold, floors
from memoryd.domain.ranking.fusion import Evidence
from memoryd.search.hit import Hit, Ranks
from memoryd.store.chunks import ChunkRow


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates by chunk id, best first: those that may stand in the answer, and those that may not."""

    eligible: Sequence[int]
    refused: Sequence[int]
    base_scores: Mapping[int, float]
    evidence: Evidence
    ranks: Mapping[int, Ranks]
    statistics: TermStatistics | None
    """None: they could not be had in time."""
    floors: Floors | None
    threshold: Threshold

    def hit(self, row: ChunkRow) -> Hit:
        """Return a chunk with all that is known of it."""
        base_score = self.base_scores[row.id]
        return Hit(
            row,
            base_score,
            base_score,
            bm25=self.evidence.lexical.bm25.get(row.id),
            cosine=self.evidence.vector.cosines.get(row.id),
            standout=self.evidence.vector.standout(row.id),
            ranks=self.ranks[row.id],
            terms=self.statistics.terms_of(row.id) if self.statistics else (),
        )


def ranked(
    evidence: Evidence, base_scores: Mapping[int, float], statistics: TermStatistics | None, *, min_score: float
) -> Ranked:
    """Put the candidates in order, and tell by their evidence alone which of them may stand in the answer."""
    held = None if statistics is None else floors(evidence.vector, statistics)
    noise = evidence.vector.noise
    threshold = Threshold(min_score, held.vector_floor if held else float("-inf"), noise)
    literal = evidence.lexical.bm25.keys() | (statistics.terms.keys() if statistics else frozenset())
    # the latest of equals comes first, so that of many copies the newest is among those that are looked at
    order = sorted(base_scores, key=lambda chunk: (-base_scores[chunk], -chunk))
    words, vector = _numbered(evidence.lexical.order()), _numbered(evidence.vector.order())
    cosines = evidence.vector.cosines
    admitted = {
        chunk for chunk in order if chunk in literal or threshold.admits(base_scores[chunk], cosines.get(chunk))
    }
    return Ranked(
        eligible=[chunk for chunk in order if chunk in admitted],
        refused=[chunk for chunk in order if chunk not in admitted],
        base_scores=base_scores,
        evidence=evidence,
        ranks={chunk: Ranks(words.get(chunk), vector.get(chunk), place) for place, chunk in enumerate(order, start=1)},
        statistics=statistics,
        floors=held,
        threshold=threshold,
    )


def _numbered(chunks: Sequence[int]) -> dict[int, int]:
    return {chunk: rank for rank, chunk in enumerate(chunks, start=1)}
