"""Giving the passages of one batch their vectors, whatever one of them may do to the embedder."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from memoryd.domain.counters import CacheUses, Pace
from memoryd.domain.embedding import Vector
from memoryd.embed.protocol import Embedder, Passage, Unembeddable
from memoryd.errors import BudgetSpent, EmbedderUnavailable, WorkerDied
from memoryd.files.reading import NotReadableError
from memoryd.index.backlog import Backlog
from memoryd.index.cancelling import Cancellable
from memoryd.index.lane_settings import Attach, Lookup
from memoryd.index.pending_queue import PendingQueue
from memoryd.store.index.passages import PendingPassage

log = structlog.get_logger(__name__)

DEADLY_TRIES = 3
"""How often one text may end the worker before it is set aside."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What is to be embedded, and which passage of the index it is."""

    item: PendingPassage
    passage: Passage


class PassageEmbedder:
    """Embeds batches and has the vectors stored; what could not be sent goes back to the queue, or is held there."""

    def __init__(
        self, *, backlog: Backlog, queue: PendingQueue, lookup: Lookup, attach: Attach, hold_seconds: float
    ) -> None:
        self._backlog = backlog
        self._queue = queue
        self._lookup = lookup
        self._attach = attach
        self._hold_seconds = hold_seconds
        self._deaths: Counter[bytes] = Counter()
        self._sending = Cancellable()
        self.pace = Pace()
        self.uses = CacheUses()
        """Of vectors that another index holds already."""

    async def embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        """Give a batch its vectors, unless it is broken off; raises EmbedderUnavailable, BudgetSpent, StoreError."""
        await self._sending.run(self._embed(embedder, space, batch))

    def break_off(self) -> None:
        """Let go of the batch that is being embedded, if any is."""
        self._sending.cancel()

    async def _embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        found = await self._lookup(embedder.identity.fingerprint, [item.hash for item in batch])
        await self._backlog.store(space, list(found.items()))
        self.uses.note(is_hit=True, times=len(found))
        self.uses.note(is_hit=False, times=len(batch) - len(found))
        todo = [loaded for item in batch if item.hash not in found and (loaded := await self._loaded(item))]
        if todo:
            await self._embed_or_split(embedder, space, todo)

    async def _loaded(self, item: PendingPassage) -> _Loaded | None:
        """Return what is to be embedded; a file that cannot be read is held back, and the disk will say more."""
        if item.file is None:
            return _Loaded(item, Passage(item.text, item.title))
        try:
            return _Loaded(item, Passage(item.text, item.title, await self._attach(item.file)))
        except NotReadableError as exc:
            reason = f"{item.file.path} cannot be sent: {exc}"
            self._queue.hold(item.hash, reason, time.monotonic() + self._hold_seconds)
            return None

    async def _embed_or_split(self, embedder: Embedder, space: int, batch: Sequence[_Loaded]) -> None:
        """Embed a batch; if it ends the worker, halve it until the deadly text stands alone."""
        items = [one.item for one in batch]
        try:
            answers = await embedder.embed_documents([one.passage for one in batch])
        except WorkerDied as exc:
            if len(batch) == 1:
                await self._blame(space, items[0], str(exc))
                return
            middle = len(batch) // 2
            await self._embed_or_split(embedder, space, batch[:middle])
            await self._embed_or_split(embedder, space, batch[middle:])
            return
        except BudgetSpent as exc:
            self._queue.put_back(items[exc.fits :])
            if exc.fits:
                await self._embed_or_split(embedder, space, batch[: exc.fits])
            raise
        except EmbedderUnavailable:
            # no new question to the store, which costs a pass over the passages, until the embedder is back
            self._queue.put_back(items)
            raise
        await self._store(space, items, answers)

    async def _store(
        self, space: int, items: Sequence[PendingPassage], answers: Sequence[Vector | Unembeddable]
    ) -> None:
        self.pace.note(time.monotonic(), len(items))
        good: list[tuple[bytes, Vector]] = []
        bad: list[tuple[bytes, str]] = []
        for item, answer in zip(items, answers, strict=True):
            if isinstance(answer, Unembeddable):
                bad.append((item.hash, answer.reason))
            else:
                good.append((item.hash, answer))
        await self._backlog.store(space, good, bad)

    async def _blame(self, space: int, item: PendingPassage, reason: str) -> None:
        # not at once: the worker may have been killed for its memory, whatever it worked on
        self._deaths[item.hash] += 1
        if self._deaths[item.hash] >= DEADLY_TRIES:
            log.warning("text set aside: the embedding worker died of it", reason=reason, times=DEADLY_TRIES)
            await self._backlog.store(space, [], [(item.hash, reason)])
