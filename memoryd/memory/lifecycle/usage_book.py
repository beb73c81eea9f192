"""How the memories of one workspace are used: touches in memory, written in batches, and the tier of each as it is now.

A ledger that cannot be used costs the touches since, never an answer. A kill costs those of the last seconds.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import structlog

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.tier_changes import Aged, relevance_now, settled, terms_now, tier_now, touched
from memoryd.domain.memories.tiers import DAY_SECONDS, RelevanceTerms, Tier, TierSettings, Usage
from memoryd.errors import Denied, MemorydError
from memoryd.index.yielding import with_pauses
from memoryd.memory.lifecycle.relevance_scale import RelevanceScale
from memoryd.store.usage_rows import MOST_KEPT, UsageRows

log = structlog.get_logger(__name__)

FLUSH_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 30.0
MAINTENANCE_SECONDS: Final = 3600.0
"""How often the owner's day is looked at, and the mean is taken anew."""
KEEP_SECONDS: Final = 30 * DAY_SECONDS
"""For so long a memory that no line states keeps its usage: a note may come back."""
MOST_EARLY: Final = 10_000
"""Touches that wait for the ledger to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleTime:
    """The time as the owner of a workspace has it. Times are in seconds since 1970."""

    clock: Callable[[], float] = time.time
    local_day: Callable[[float], date] = date.fromtimestamp
    end_of_day: Callable[[date], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """`strength` is how much relevance counts in the order of recall: 0 nothing, 1 all of it."""

    tiers: TierSettings = field(default=TierSettings())
    strength: float = 0.0
    flush_seconds: float = FLUSH_SECONDS


class UsageBook:
    """The usage of one workspace, which its agents share."""

    def __init__(
        self, rows: UsageRows, book: Callable[[], Awaitable[Book]], settings: LifecycleSettings, when: LifecycleTime
    ) -> None:
        self._rows = rows
        self._book = book
        self._settings = settings
        self._when = when
        self._usages: dict[MemoryId, Usage] = {}
        self._known = Book()
        self._dirty: set[MemoryId] = set()
        self._early: list[tuple[MemoryId, float]] | None = []
        self._has_news = asyncio.Event()
        self._scale = RelevanceScale(self._weight)
        self._settled = Book()
        self._looked_at = float("-inf")
        self._maintained: date | None = None

    def usage(self, memory: MemoryId) -> Usage:
        """Return how a memory was used, as it was noted last."""
        return self._usages.get(memory, Usage())

    def tier(self, memory: Memory, now: float | None = None) -> Tier:
        """Return the tier of a memory as it is at a time, by default now."""
        return tier_now(self.usage(memory.id), self._aged(memory, now), self._settings.tiers)[0]

    def terms(self, memory: Memory, now: float | None = None) -> RelevanceTerms:
        """Return every term of a memory's relevance at a time, by default now."""
        return terms_now(self.usage(memory.id), self._aged(memory, now), self._settings.tiers)

    def preview(self, memory: Memory, days: float, now: float | None = None) -> RelevanceTerms:
        """Return the terms in so many days, if nobody touches it until then."""
        return self.terms(memory, (self._when.clock() if now is None else now) + days * DAY_SECONDS)

    def relevance(self, book: Book, now: float) -> Callable[[Memory], float]:
        """Return what gives the relevance of the memories of a book, scaled to a mean of 1."""
        if not self._settings.strength:
            return lambda _memory: 1.0
        self._known = book
        mean = self._scale.mean(book, now)
        return lambda memory: self._weight(memory, now) / mean

    def touch(self, memories: Iterable[MemoryId], at: float | None = None) -> None:
        """Note that these memories were used at a time, by default now; it is written within seconds."""
        at = self._when.clock() if at is None else at
        for one in dict.fromkeys(memories):
            if self._early is None:
                self._touch(one, at)
            elif len(self._early) < MOST_EARLY:
                self._early.append((one, at))
        self._has_news.set()

    async def drop(self, memories: Collection[MemoryId]) -> None:
        """Forget how these were used, in memory and in the ledger; raises StoreError, Denied."""
        for one in memories:
            self._usages.pop(one, None)
            self._dirty.discard(one)
        await self._rows.drop(memories)

    def note_change(self) -> None:
        """Take the news that notes changed: tiers may have, too."""
        self._has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private, or are forgotten."""
        self._has_news.set()

    async def run(self) -> None:
        """Write what was touched, and look after all memories once a day, until cancelled; then write once more."""
        try:
            while True:
                seconds = MAINTENANCE_SECONDS
                try:
                    await self._step()
                except Denied:
                    # what may not be written is known until the daemon ends
                    self._dirty.clear()
                except MemorydError as exc:
                    log.debug("the usage of memories cannot be kept", reason=str(exc))
                    seconds = RETRY_SECONDS
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._has_news.wait()
                await asyncio.sleep(self._settings.flush_seconds)
                self._has_news.clear()
        finally:
            with contextlib.suppress(MemorydError, TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await self._flush()

    async def _step(self) -> None:
        await self._load()
        book = await self._book()
        now = self._when.clock()
        if book is not self._settled:
            await self._settle(book, [one for key, one in book.memories.items() if self._is_new(key, one)])
        await self._flush()
        if abs(now - self._looked_at) >= MAINTENANCE_SECONDS:
            self._scale.keep(book, await asyncio.to_thread(self._scale.weighed, book, now))
            await self._maintain(book, now)
            self._looked_at = now

    async def _load(self) -> None:
        if self._early is None:
            return
        usages = await self._rows.all()
        self._known = await self._book()
        self._usages = dict(usages)
        early, self._early = self._early, None
        for one, at in early:
            self._touch(one, at)

    def _touch(self, one: MemoryId, at: float) -> None:
        memory = self._known.memories.get(one)
        # what is gone, or forgotten, since it was told is not used
        if memory is None or (one not in self._usages and len(self._usages) >= MOST_KEPT):
            return
        self._usages[one] = touched(self.usage(one), self._aged(memory, at), self._settings.tiers)
        self._dirty.add(one)

    def _is_new(self, key: MemoryId, memory: Memory) -> bool:
        return self._settled.memories.get(key) is not memory

    async def _settle(self, book: Book, memories: Sequence[Memory]) -> None:
        """Take note of the tiers of these memories that changed, by their lines or by time."""
        now, usages = self._when.clock(), dict(self._usages)

        def work() -> list[tuple[MemoryId, Usage, Usage]]:
            pairs = ((one, usages.get(one.id, Usage())) for one in with_pauses(memories))
            found = ((one.id, was, settled(was, self._aged(one, now), self._settings.tiers)) for one, was in pairs)
            return [each for each in found if each[1] is not each[2]]

        for key, was, after in await asyncio.to_thread(work):
            # touched meanwhile: that judged it, too
            if self._usages.get(key) is usages.get(key) and self.usage(key) == was:
                self._usages[key] = after
                self._dirty.add(key)
        self._known = self._settled = book

    async def _flush(self) -> None:
        writing = {one: self._usages[one] for one in self._dirty if one in self._usages}
        self._dirty.clear()
        try:
            await self._rows.put(writing)
        except BaseException:
            self._dirty |= writing.keys()
            raise

    async def _maintain(self, book: Book, now: float) -> None:
        """Do what is due once a day of the owner."""
        today = self._when.local_day(now)
        if today == self._maintained:
            return
        await self._settle(book, list(book.memories.values()))
        await self._flush()
        for one in await self._rows.note_standing(book.memories.keys(), now, KEEP_SECONDS):
            self._usages.pop(one, None)
        self._maintained = today

    def _aged(self, memory: Memory, now: float | None) -> Aged:
        at = self._when.clock() if now is None else now
        return Aged(memory.line, self._when.end_of_day(memory.recorded), at)

    def _weight(self, memory: Memory, now: float) -> float:
        relevance = relevance_now(self.usage(memory.id), self._aged(memory, now), self._settings.tiers)
        return float(relevance**self._settings.strength)
