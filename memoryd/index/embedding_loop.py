"""The embedding lane of one workspace: gives every passage its vector, behind the keyword index and never in its way.

Pending work is a query over the store, so a kill resumes by itself.
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
from memoryd.retry import happens
from memoryd.store.index.database import Database
from memoryd.wire import Event

log = structlog.get_logger(__name__)

POLL_SECONDS = 1.0
"""How often whoever waits for vectors looks whether any will come."""


class EmbeddingLoop:
    """Drains the passages that have no vector in the space of the present embedder; `run` loops until cancelled."""

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
        """Why the rest must wait for another day."""
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
    def lacking(self) -> int:
        """Passages without a vector as of the last look; all while no embedder is known, none where none is wanted."""
        return self._backlog.lacking

    @property
    def seconds_left(self) -> float | None:
        """How long until all passages have a vector, at the pace of the last minute; None while that is not known."""
        return self._backlog.pace.seconds_left(time.monotonic(), self.pending)

    @property
    def uses(self) -> CacheUses:
        """How many passages had a vector in another index, and how many were to be embedded."""
        return self._backlog.uses

    @property
    def is_paused(self) -> bool:
        """Whether another engine makes the vectors needless that nobody asks for."""
        return self._pause.is_needless

    @property
    def is_at_work(self) -> bool:
        """Whether it has passages to embed next, or looks for some: another lane over the same embedder waits."""
        return bool(self._queue) or (self._wake.is_set() and not self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether nobody wants the vectors that are missing: their owner chose none, or another engine answers."""
        return self._is_off or self._pause.is_unwanted

    @property
    def _is_off(self) -> bool:
        return self._slot.state.phase is ModelPhase.OFF

    @property
    def pending(self) -> int:
        """Passages that are to get a vector, as of the last look."""
        return 0 if self.is_idle else self.lacking

    def wake(self) -> None:
        """Say that there may be new passages, or fewer."""
        self._backlog.rescan()
        self._wake.set()

    def break_off(self) -> None:
        """Say that texts were purged: what is on its way is broken off, since it may be theirs."""
        # woken, the lane looks at all before it takes anything: also what the broken-off batch puts back into the queue
        # while it ends is never sent
        self._wake.set()
        self._backlog.forget()
        self._backlog.break_off()

    def pause(self, is_paused: bool) -> None:
        """Stop making vectors that nobody asks for, or go on with it."""
        if is_paused != self._pause.is_needless:
            self._pause = replace(self._pause, is_needless=is_paused)
            self._wake.set()

    def start_over(self) -> None:
        """Forget the vectors of the present space and make them anew; there are none while no model is wanted."""
        if self._is_off:
            return
        self._backlog.must_start_over = True
        self._pause = replace(self._pause, is_asked=True)
        self._wake.set()

    def take_over(self, before: "EmbeddingLoop") -> None:
        """Go on where a lane over the same passages, which runs no more, has left off."""
        if before._backlog.must_start_over:
            self.start_over()
        self._pause = replace(self._pause, is_asked=self._pause.is_asked or before._pause.is_asked)

    async def drained(self, *, is_asking: bool = True) -> str | None:
        """Wait until no passage lacks its vector; return None then, or at once why none will come as things are.

        `is_asking` for vectors even while the lane is paused.
        """
        self._pause = replace(self._pause, is_asked=self._pause.is_asked or is_asking)
        # an answer of yesterday: the lane is to try before it is believed
        self._spent = None
        self._backlog.is_known = False
        self._wake.set()
        async with self._progress:
            # while texts wait here, nobody need ask the store
            while self._backlog.must_start_over or self._queue or await self._backlog.count():
                self._backlog.database.require_writable()
                if reason := self._pause.why or self._links.hold() or self._spent or self._links.obstacle():
                    return reason
                # a provider is given up without a word to the lane
                await happens(self._progress.wait(), POLL_SECONDS)
        return None

    async def count(self) -> int:
        """Ask the store how many passages have no vector, all of them while no embedder is known.

        Where no model is wanted that is 0: to count them reads all passages, and nobody asks.
        """
        return 0 if self._is_off else await self._backlog.count()

    async def owed(self) -> int:
        """Ask the store how many passages are to get a vector; what was known last while the store cannot be asked."""
        with contextlib.suppress(StoreError):
            return 0 if self.is_idle else await self.count()
        return self.pending

    async def run(self) -> None:
        """Embed what is pending, newest first; pause after a failure, sleep when there is nothing to do."""
        while True:
            seconds = await self._embed_next()
            async with self._progress:
                self._progress.notify_all()
            if seconds != 0.0:
                await self._backlog.bound_unused()
                await happens(self._wake.wait(), seconds)

    async def _embed_next(self) -> float | None:
        """Embed one batch; return how many seconds to sleep then, None: until somebody wakes the lane."""
        embedder = self._slot.embedder
        try:
            if embedder is None:
                # before the count: an embedder that comes while it is made wakes the lane again
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
            # each try of a file reads megabytes again; when the embedder is back, it wakes the lane
            return self._settings.hold if self._queue.begins_with_file else self._settings.retry
        except StoreError as exc:
            self._backlog.forget()
            # a wake-up that nothing could be done about must not cut the pause short, or it never ends
            self._wake.clear()
            self.trouble = str(exc)
            if not self.lacking:
                # it may have been refused before the first look
                self._backlog.lacking = await self.owed()
            return self._settings.retry
        self.trouble = PAUSED if self._settings.is_paused and self.pending else self._queue.why_waiting
        self._spent = None
        return seconds

    async def _step(self, embedder: Embedder) -> bool:
        """Embed one batch; return whether there may be more."""
        space = await self._backlog.space_of(embedder)
        if self._wake.is_set() or not self._queue or space != self._backlog.space:
            # before the question to the store: what is committed while it is asked wakes the lane again
            self._wake.clear()
            await self._backlog.refill(space)
            if self._pause.is_at_rest:
                self._queue.clear()
                return False
        if self._slot.strangers and not embedder.identity.endpoint:
            # before the first vectors, and at a start that has nothing to embed, or notes to read first: so even the
            # first question finds them; a model behind an endpoint takes its time, and notes do not wait for it
            await self._slot.strangers.learn(embedder)
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
        # who asked for vectors is served, unless some came meanwhile or wait
        if not self._wake.is_set() and not self._queue.has_waiting:
            self._pause = replace(self._pause, is_asked=False)
