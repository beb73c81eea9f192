"""How the memories of one workspace are used: touches in memory, written in batches, and the tier of each as it is now.

A ledger that cannot be used costs the touches since, never an answer. A kill costs those of the last seconds.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final

import structlog

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import DAY_SECONDS, RelevanceTerms, Tier, Usage
from memoryd.errors import Denied, MemorydError
from memoryd.memory.lifecycle.relevance_scale import RelevanceScale
from memoryd.memory.lifecycle.usages import LifecycleSettings, LifecycleTime, Usages
from memoryd.store.ledger.usage import UsageRows

log = structlog.get_logger(__name__)

RETRY_SECONDS: Final = 15.0
READY_SECONDS: Final = 0.5
KEEP_SECONDS: Final = 30 * DAY_SECONDS
"""For so long a memory that no line states keeps its usage: a note may come back."""
MOST_EARLY: Final = 10_000
"""Touches that wait for the ledger to be read."""


class UsageBook:
    """The usage of one workspace, which its agents share. `UsageUpkeep` writes it and looks after it."""

    def __init__(
        self, rows: UsageRows, book: Callable[[], Awaitable[Book]], settings: LifecycleSettings, when: LifecycleTime
    ) -> None:
        self.rows = rows
        self.book = book
        self.usages = Usages(settings, when)
        self.has_news = asyncio.Event()
        self.scale = RelevanceScale(self.usages.weight)
        self._early: list[tuple[MemoryId, float]] | None = []
        self._read_again_at = float("-inf")
        self._writing = asyncio.Lock()

    def usage(self, memory: MemoryId) -> Usage:
        """Return how a memory was used, as it was noted last."""
        return self.usages.of(memory)

    def tier(self, memory: Memory, now: float | None = None) -> Tier:
        """Return the tier of a memory as it is at a time in seconds since 1970, by default now."""
        return self.usages.tier(memory, self._at(now))

    def terms(self, memory: Memory, now: float | None = None) -> RelevanceTerms:
        """Return every term of a memory's relevance at a time, by default now."""
        return self.usages.terms(memory, self._at(now))

    def preview(self, memory: Memory, days: float, now: float | None = None) -> RelevanceTerms:
        """Return the terms in so many days, if nobody touches it until then."""
        return self.usages.terms(memory, self._at(now) + days * DAY_SECONDS)

    def relevance(self, book: Book, now: float) -> Callable[[Memory], float]:
        """Return what gives the relevance of the memories of a book in the order of recall, scaled to a mean of 1."""
        self.usages.book = book
        if not self.usages.settings.strength:
            return lambda _memory: 1.0
        mean = self.scale.mean(book, now)
        return lambda memory: self.usages.weight(memory, now) / mean

    def touch(self, memories: Iterable[MemoryId], at: float | None = None) -> None:
        """Note that these memories were used at a time, by default now; it is written within seconds."""
        at = self._at(at)
        for one in dict.fromkeys(memories):
            if self._early is None:
                self.usages.touch(one, at)
            elif len(self._early) < MOST_EARLY:
                self._early.append((one, at))
        self.has_news.set()

    async def drop(self, memories: Collection[MemoryId]) -> None:
        """Forget how these were used, in memory and in the ledger; raises StoreError, Denied."""
        # behind a batch that is being written, which may hold them
        async with self._writing:
            self.usages.discard(memories)
            await self.rows.drop(memories)

    async def ready(self) -> None:
        """Wait a moment until it is known what the ledger has; one that cannot be read is not waited for again."""
        if self._early is None or time.monotonic() < self._read_again_at:
            return
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.load()
        except (MemorydError, TimeoutError) as exc:
            log.debug("the usage of memories cannot be read", reason=str(exc))
            self._read_again_at = time.monotonic() + RETRY_SECONDS

    async def load(self) -> None:
        """Read what the ledger has, once, and count what was touched before; raises StoreError."""
        async with self._writing:
            if self._early is None:
                return
            self.usages.begin(await self.rows.all(), await self.book())
            early, self._early = self._early, None
            for one, at in early:
                self.usages.touch(one, at)

    async def flush(self) -> None:
        """Write what changed; raises StoreError, and then it is written with the next."""
        async with self._writing:
            changed = self.usages.taken()
            try:
                await self.rows.put(changed)
            except Denied:
                # what may not be written is known until the daemon ends
                return
            except BaseException:
                self.usages.dirty |= changed.keys()
                raise

    async def prune(self, now: float) -> None:
        """Write what a ledger that was begun anew lacks, and drop what no line has stated for long."""
        self.usages.dirty |= self.usages.lacking((await self.rows.all()).keys())
        await self.flush()
        standing = self.usages.book.memories.keys()
        async with self._writing:
            self.usages.discard(await self.rows.note_standing(standing, now, KEEP_SECONDS))

    def note_change(self) -> None:
        """Take the news that notes changed: tiers may have, too."""
        self.has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private, or are forgotten."""
        self.has_news.set()

    def _at(self, now: float | None) -> float:
        return self.usages.when.clock() if now is None else now
