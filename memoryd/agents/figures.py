"""How much an index holds and what it lacks, for status."""

import contextlib
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from memoryd.domain.documents import SkippedFile
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.index.lane import EmbeddingLane
from memoryd.store.chunks import Counts
from memoryd.store.database import Database
from memoryd.store.pending_passages import PendingCost, RejectedPassage

FLAGGED_SHOWN = 50

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted in one index."""

    counts: Counts = field(default_factory=lambda: Counts(0, 0, 0, 0, 0))
    lacking: int = 0
    """Passages without a vector."""
    cost: PendingCost | None = None
    """What is still to be sent to a remote provider; None if nothing is sent anywhere."""
    flagged: Sequence[tuple[str, str]] = ()
    """Path and flags of the first documents that were not read as they are, or are copies of a conflict."""
    unseen: tuple[SkippedFile, ...] = ()
    """Pictures and sounds that are found by their names only, and why."""


class Census:
    """Counts one index; what cannot be counted now stays as it was counted last."""

    def __init__(self, *, database: Database, lane: EmbeddingLane, embedding: Embedding) -> None:
        self._database = database
        self._lane = lane
        self._embedding = embedding
        self._figures = Figures()

    async def take(self) -> Figures:
        """Count now; each figure by itself, so that a store in trouble costs only what it cannot tell."""
        last, documents = self._figures, self._database.documents
        self._figures = Figures(
            counts=await _or_last(documents.counts(), last.counts),
            lacking=await _or_last(self._lane.count(), last.lacking),
            cost=await self._cost(),
            flagged=await _or_last(documents.flagged(FLAGGED_SHOWN), last.flagged),
            unseen=await self._unseen(),
        )
        return self._figures

    async def _cost(self) -> PendingCost | None:
        if not self._embedding.sends:
            return None
        return await _or_last(self._database.vectors.pending_cost(self._fingerprint or ""), self._figures.cost)

    async def _unseen(self) -> tuple[SkippedFile, ...]:
        fingerprint = self._fingerprint
        if fingerprint is None:
            return ()
        with contextlib.suppress(StoreError):
            return tuple(_skipped(one) for one in await self._database.vectors.rejected(fingerprint))
        return self._figures.unseen

    @property
    def _fingerprint(self) -> str | None:
        embedder = self._embedding.slot.embedder
        return None if embedder is None else embedder.identity.fingerprint


async def _or_last(asked: Awaitable[Result], last: Result) -> Result:
    with contextlib.suppress(StoreError):
        return await asked
    return last


def _skipped(refused: RejectedPassage) -> SkippedFile:
    if refused.is_file:
        return SkippedFile(refused.path, f"found by its name only: {refused.reason}")
    lines = f"lines {refused.start_line} to {refused.end_line}"
    return SkippedFile(refused.path, f"a passage in {lines} is found by its words only: {refused.reason}")
