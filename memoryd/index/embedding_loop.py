"""The embedding loop of one workspace: computes the vectors of passages, without delaying the keyword index.

The pending work is a query of the store, so work interrupted by a kill resumes at the next start.
"""

import asyncio
import contextlib
import time

import structlog
from msgspec.structs import replace

from memoryd.domain.counters import CacheUses
from memoryd.domain.embedding import PAUSED, PausePolicy
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.protocol import Embedder
from memoryd.errors import BudgetSpent, EmbedderUnavailable, StoreError
from memoryd.index.pending import (
    FILE_BYTES,
    Backlog,
    EmbeddingLoopLinks,
    EmbeddingLoopSettings,
    PendingQueue,
    Spaces,
)
from memoryd.retry import wait_within
from memoryd.store.index.database import Database
from memoryd.wire import Event

log = structlog.get_logger(__name__)

POLL_SECONDS = 1.0
"""How often a caller that waits for vectors checks whether any will come."""


class EmbeddingLoop:
    """Embeds the passages without a vector in the space of the current embedder; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        slot: CurrentEmbedder,
        settings: EmbeddingLoopSettings,
        links: EmbeddingLoopLinks,
    ) -> None:
        self.trouble: str | None = None
        self._spent: str | None = None
        """Why the rest must wait for another day: the provider's budget is spent."""
        self._slot = slot
        self._settings = settings
        self._links = links
        self._pause = PausePolicy(is_configured=settings.is_paused)
        self._queue = PendingQueue(file_bytes=FILE_BYTES, files_at_once=settings.batch)
        self._backlog = Backlog(
            database=database,
            spaces=spaces,
            slot=slot,
            queue=self._queue,
            settings=settings,
            links=links,
        )
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()
        slot.subscribe(self.wake)

    @property
    def missing_vectors(self) -> int:
        """Passages without a vector at the last count; all if no embedder is known, 0 if embedding is off."""
        return self._backlog.lacking

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all passages have a vector, at the pace of the last minute; None while that is unknown."""
        return self._backlog.pace.seconds_left(time.monotonic(), self.pending)

    @property
    def uses(self) -> CacheUses:
        """How many passages had a vector in another index (hits), and how many had to be embedded (misses)."""
        return self._backlog.uses

    @property
    def is_paused(self) -> bool:
        """Whether another engine makes vectors unnecessary unless they are asked for."""
        return self._pause.is_needless

    @property
    def is_at_work(self) -> bool:
        """Whether there are passages to embed next, or may be: another loop over the same embedder then waits."""
        return bool(self._queue) or (self._wake.is_set() and not self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether missing vectors are not needed: embedding is off, or another engine answers."""
        return self._is_off or self._pause.is_unwanted

    @property
    def _is_off(self) -> bool:
        return self._slot.state.phase is ModelPhase.OFF

    @property
    def pending(self) -> int:
        """Passages to embed, at the last count."""
        return 0 if self.is_idle else self.missing_vectors

    def wake(self) -> None:
        """Report that passages may have been added or removed."""
        self._backlog.rescan()
        self._wake.set()

    def cancel_batch(self) -> None:
        """Report that texts were purged: cancel the current batch, which may contain them."""
        # the woken loop reads all pending passages again before it takes any, so passages that the cancelled batch puts
        # back into the queue while it ends are never sent
        self._wake.set()
        self._backlog.forget()
        self._backlog.break_off()

    def pause(self, is_paused: bool) -> None:
        """Pause or resume the embedding of passages whose vectors are not asked for."""
        if is_paused != self._pause.is_needless:
            self._pause = replace(self._pause, is_needless=is_paused)
            self._wake.set()

    def start_over(self) -> None:
        """Delete the vectors of the current space and compute them again; do nothing if embedding is off."""
        if self._is_off:
            return
        self._backlog.must_start_over = True
        self._pause = replace(self._pause, is_requested=True)
        self._wake.set()

    def take_over(self, before: "EmbeddingLoop") -> None:
        """Continue the work of an earlier loop over the same passages, which no longer runs."""
        if before._backlog.must_start_over:
            self.start_over()
        self._pause = replace(self._pause, is_requested=self._pause.is_requested or before._pause.is_requested)

    async def wait_until_embedded(self, *, is_asking: bool = True) -> str | None:
        """Wait until no passage lacks its vector and return None; return the reason at once if none will come for now.

        `is_asking`: embed even while the loop is paused.
        """
        self._pause = replace(self._pause, is_requested=self._pause.is_requested or is_asking)
        # the stored reason may be of yesterday: let the loop try again
        self._spent = None
        self._backlog.is_known = False
        self._wake.set()
        async with self._progress:
            # while the queue has texts, the store need not be queried
            while self._backlog.must_start_over or self._queue or await self._backlog.count():
                self._backlog.database.require_writable()
                if reason := self._pause.why or self._links.hold() or self._spent or self._links.obstacle():
                    return reason
                # poll: the loop is not notified when a provider is given up
                await wait_within(self._progress.wait(), POLL_SECONDS)
        return None

    async def count(self) -> int:
        """Count the passages without a vector in the store; all of them if no embedder is known.

        Returns 0 if embedding is off, without the pass over all passages that a count takes.
        """
        return 0 if self._is_off else await self._backlog.count()

    async def count_pending(self) -> int:
        """Count the passages to embed in the store; the last known number if the store cannot be queried."""
        with contextlib.suppress(StoreError):
            return 0 if self.is_idle else await self.count()
        return self.pending

    async def run(self) -> None:
        """Embed pending passages, newest first; pause after a failure, sleep when there is nothing to do."""
        while True:
            seconds = await self._embed_next()
            async with self._progress:
                self._progress.notify_all()
            if seconds != 0.0:
                await self._backlog.bound_unused()
                await wait_within(self._wake.wait(), seconds)

    async def _embed_next(self) -> float | None:
        """Embed one batch; return how many seconds to sleep after it, None: until woken."""
        embedder = self._slot.embedder
        try:
            if embedder is None:
                # before the count: an embedder that appears during it wakes the loop again
                self._wake.clear()
                self._backlog.forget()
                if not self._is_off:
                    await self._backlog.spaces.prepare()
                self._backlog.lacking = await self.count()
                seconds = None
            else:
                seconds = 0.0 if await self._step(embedder) else self._queue.hold_ends_in(time.monotonic())
        except EmbedderUnavailable as exc:
            self.trouble = str(exc)
            self._spent = str(exc) if isinstance(exc, BudgetSpent) else None
            # each retry of a file reads megabytes; the embedder wakes the loop when it is back
            return self._settings.hold if self._queue.begins_with_file else self._settings.retry
        except StoreError as exc:
            self._backlog.forget()
            # a wake-up that could not be served must not end the pause early, or it would never end
            self._wake.clear()
            self.trouble = str(exc)
            if not self.missing_vectors:
                # the store may have failed before the first count
                self._backlog.lacking = await self.count_pending()
            return self._settings.retry
        self.trouble = PAUSED if self._settings.is_paused and self.pending else self._queue.why_waiting
        self._spent = None
        return seconds

    async def _step(self, embedder: Embedder) -> bool:
        """Embed one batch; return whether there may be more."""
        space = await self._backlog.space_of(embedder)
        if self._wake.is_set() or not self._queue or space != self._backlog.space:
            # before the query: a commit during it wakes the loop again
            self._wake.clear()
            await self._backlog.refill(space)
            if self._pause.is_paused:
                self._queue.clear()
                return False
        if self._slot.strangers and not embedder.identity.endpoint:
            # before the first vectors, also at a start with nothing to embed or with notes to read first, so that they
            # exist for the first query; not for a model behind an endpoint, which is slow, and would delay the notes
            await self._slot.strangers.measure(embedder)
        if self._links.hold():
            self._queue.clear()
            return False
        batch = self._queue.take(self._settings.remote_batch if embedder.identity.endpoint else self._settings.batch)
        if not batch:
            self._finish()
            return False
        await self._backlog.embed(embedder, space, batch)
        self._links.publish(Event.EMBEDDING, {"pending": self.pending, "done": self._backlog.done})
        return True

    def _finish(self) -> None:
        if self._backlog.done:
            log.info("embedding done", passages=self._backlog.done)
        self._backlog.done = 0
        # a request for vectors is met, unless new passages came in between, or files wait
        if not self._wake.is_set() and not self._queue.has_waiting:
            self._pause = replace(self._pause, is_requested=False)
