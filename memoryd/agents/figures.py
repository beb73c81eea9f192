"""How much an index holds and what it lacks, for status."""

import contextlib
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from memoryd.domain.documents import SkippedFile
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.index.embedding_loop import EmbeddingLane
from memoryd.store.index.database import Database
from memoryd.store.index.memories import MemoryCounts
from memoryd.store.index.passages import RejectedPassage

FLAGGED_SHOWN = 50

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How much an index holds; `bytes` is the size of its file."""

    files: int = 0
    chunks: int = 0
    passages: int = 0
    vectors: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentWork:
    """Files and distinct passages that are still to be sent to a provider, and their tokens (estimated).

    `media` of the passages are pictures and sounds, of `media_bytes` together.
    """

    files: int
    passages: int
    tokens: int
    media: int
    media_bytes: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted in one index."""

    held: Holdings = Holdings()
    lacking: int = 0
    """Passages without a vector."""
    unsent: UnsentWork | None = None
    """None if nothing is sent anywhere."""
    flagged: Sequence[tuple[str, str]] = ()
    """Path and flags of the first documents that were not read as they are, or are copies of a conflict."""
    unseen: tuple[SkippedFile, ...] = ()
    """Pictures and sounds that are found by their names only, and why."""
    memories: MemoryCounts = field(default_factory=MemoryCounts)


class Census:
    """Counts one index; what cannot be counted now stays as it was counted last."""

    def __init__(self, *, database: Database, lane: EmbeddingLane, embedding: Embedding) -> None:
        self._database = database
        self._lane = lane
        self._embedding = embedding
        self._figures = Figures()

    async def take(self) -> Figures:
        """Count now; each figure by itself, so that a store in trouble costs only what it cannot tell."""
        # each in a transaction of its own, beside the loops that write: the figures need not add up
        last, documents = self._figures, self._database.documents
        self._figures = Figures(
            held=await self._held(),
            lacking=await _or_last(self._lane.count(), last.lacking),
            unsent=await self._unsent(),
            flagged=await _or_last(documents.flagged(FLAGGED_SHOWN), last.flagged),
            unseen=await self._unseen(),
            memories=await _or_last(self._database.memories.counts(), last.memories),
        )
        return self._figures

    async def _held(self) -> Holdings:
        with contextlib.suppress(StoreError):
            counts = await self._database.documents.counts()
            return Holdings(
                files=counts.files,
                chunks=counts.chunks,
                passages=counts.passages,
                vectors=counts.vectors,
                bytes=counts.bytes,
            )
        return self._figures.held

    async def _unsent(self) -> UnsentWork | None:
        return await _or_last(unsent_work(self._database, self._embedding), self._figures.unsent)

    async def _unseen(self) -> tuple[SkippedFile, ...]:
        fingerprint = self._fingerprint
        if fingerprint is None:
            return ()
        with contextlib.suppress(StoreError):
            return tuple(_skipped(one) for one in await self._database.vectors.rejected(fingerprint))
        return self._figures.unseen

    @property
    def _fingerprint(self) -> str | None:
        return _fingerprint(self._embedding)


async def unsent_work(database: Database, embedding: Embedding) -> UnsentWork | None:
    """Count what of an index is still to be sent; None if nothing is sent anywhere. Raises StoreError."""
    if not embedding.sends:
        return None
    # no space has an empty fingerprint: before there is an embedder, all passages are still to be sent
    cost = await database.vectors.pending_cost(_fingerprint(embedding) or "")
    return UnsentWork(
        files=cost.files,
        passages=cost.passages,
        tokens=cost.tokens,
        media=cost.media,
        media_bytes=cost.media_bytes,
    )


def _fingerprint(embedding: Embedding) -> str | None:
    embedder = embedding.slot.embedder
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
