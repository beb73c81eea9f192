"""Holding what was found against the floors of `domain.floors`."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoryd.domain.ranking.floors import (
    CLEAR_MARGIN,
    FULL_SHARE,
    TermStatistics,
    Verdict,
    clear_floor,
    deviations,
    vector_floor,
)
from memoryd.domain.ranking.fusion import Evidence, Scores, standout
from memoryd.search.query import Floors, Scored, Why
from memoryd.store.chunks import ChunkRow


@dataclass(frozen=True, slots=True)
class Ranks:
    """Places of the chunks in each arm and in the merged order, from 1."""

    words: dict[int, int]
    vector: dict[int, int]
    fused: dict[int, int]


def ranks(evidence: Evidence, order: Sequence[int]) -> Ranks:
    """Number the chunks of each arm and of the merged order."""
    return Ranks(*(_numbered(ids) for ids in (evidence.by_words(), _best_first(evidence.cosines), order)))


def scored(
    row: ChunkRow, merged: float, evidence: Evidence, places: Ranks, statistics: TermStatistics | None
) -> Scored:
    """Put together all that is known of a chunk."""
    cosine = evidence.cosines.get(row.id)
    why = Why(
        base=merged,
        words_rank=places.words.get(row.id),
        vector_rank=places.vector.get(row.id),
        fused_rank=places.fused.get(row.id),
        standout=None if cosine is None else standout(cosine, evidence.noise),
        terms=statistics.terms_of(row.id) if statistics else (),
    )
    return Scored(row, merged, evidence.words.get(row.id), cosine, why)


def floors(evidence: Evidence, vectors: int, statistics: TermStatistics) -> Floors:
    """Measure the best of the evidence, and what it must rise above."""
    best = max(evidence.cosines.values(), default=None)
    return Floors(
        idf=statistics.idf,
        noise=evidence.noise,
        vectors=vectors,
        share=max((statistics.idf.share(terms) for terms in statistics.terms.values()), default=0.0),
        deviations=None if best is None else deviations(best, evidence.noise),
        vector_floor=vector_floor(vectors, knows_a_word=bool(statistics.idf.known)),
        clear_floor=clear_floor(vectors),
    )


def judge(hits: Sequence[Scored], misses: Sequence[Scored], held: Floors) -> tuple[Verdict, str]:
    """Say what the hits are worth, and why if that is less than all."""
    if any(_answers(hit, held) for hit in hits):
        return Verdict.ANSWERABLE, ""
    if hits:
        return Verdict.WEAK, _weakness(held)
    return Verdict.NONE, misses[0].why.because if misses and misses[0].why else ""


def _answers(hit: Scored, held: Floors) -> bool:
    if hit.why is not None and held.idf.answers(hit.why.terms):
        return True
    return hit.cosine is not None and held.vectors > 0 and deviations(hit.cosine, held.noise) >= held.clear_floor


def _weakness(held: Floors) -> str:
    words = f"the best hit holds {held.share:.0%} of what the question's words weigh (enough: {FULL_SHARE:.0%})"
    if held.deviations is None:
        return words
    floor = held.clear_floor - CLEAR_MARGIN
    return (
        f"{words}, and the nearest meaning stands {held.deviations:.1f} deviations above the noise "
        f"(unrelated notes reach {floor:.1f}, clear is {held.clear_floor:.1f})"
    )


def _numbered(ids: Sequence[int]) -> dict[int, int]:
    return {chunk: rank for rank, chunk in enumerate(ids, start=1)}


def _best_first(scores: Scores) -> list[int]:
    return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
