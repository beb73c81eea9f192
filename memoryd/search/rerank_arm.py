"""Ranked → reranked: the first candidates in the order of a cross-encoder, which reads each beside the question."""

import time
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

from memoryd.domain.media import modality_of
from memoryd.rerank.reranking import RankingOutcome, Reranking
from memoryd.search.backend import Arm, ArmState, Query
from memoryd.search.ranked import PairReading, Ranked, reordered
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow

TEXT_CHARACTERS: Final = 1500
"""Of a candidate, its headings included; a chunk has some 1,400."""
_STATES: Final = {
    RankingOutcome.OK: ArmState.OK,
    RankingOutcome.WAITING: ArmState.WAITING,
    RankingOutcome.TIMEOUT: ArmState.TIMEOUT,
    RankingOutcome.FAILED: ArmState.FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankArm:
    """Reads the first `candidates` within `seconds`; late or failing, the order stands."""

    reranking: Reranking
    candidates: int
    seconds: float
    database: Database
    withdrawn: Container[str] = field(repr=False)
    """The notes that nobody may be told of."""

    async def reranked(self, query: Query, ranking: Ranked, end: float) -> tuple[Arm, Ranked]:
        """Return how it went until `end` (monotonic clock) and, if it went well, the same in another order.

        What tells something stays before noise. Raises StoreError.
        """
        first = [*ranking.telling, *ranking.noise][: self.candidates]
        rows = await self.database.documents.chunks(first)
        read = [chunk for chunk in first if chunk in rows and self._is_read(rows[chunk], query)]
        if len(read) < 2 or not query.question.text:
            return Arm(ArmState.OK), ranking
        texts = {chunk: _text(rows[chunk]) for chunk in read}
        # copies are read once
        distinct = list(dict.fromkeys(texts.values()))
        seconds = max(0.0, min(self.seconds, end - time.monotonic()))
        found = await self.reranking.rank(query.question.text, distinct, seconds)
        if found.outcome is not RankingOutcome.OK:
            return Arm(_STATES[found.outcome], found.reason), ranking
        place = {distinct[position]: place for place, position in enumerate(found.order, start=1)}
        relevance = dict(zip(distinct, found.relevance, strict=True))
        readings = {chunk: PairReading(place[text], relevance[text]) for chunk, text in texts.items()}
        return Arm(ArmState.OK), reordered(ranking, readings)

    def _is_read(self, row: ChunkRow, query: Query) -> bool:
        if row.path in self.withdrawn or query.untold.holds(row):
            return False
        # the text of a picture or sound is its name, which does not tell what it shows
        return modality_of(row.path) is None


def _text(row: ChunkRow) -> str:
    return f"{row.heading}\n{row.text}".strip()[:TEXT_CHARACTERS]
