"""The loop behind the usage of a workspace: batches within seconds, and once a day a look at all memories."""

import asyncio
import contextlib
from collections.abc import Collection
from datetime import date
from typing import Final

import structlog

from memoryd.domain.memories.book import Book, Memory
from memoryd.errors import Denied, MemorydError
from memoryd.memory.lifecycle.usage_book import RETRY_SECONDS, UsageBook

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 3600.0
"""How often the day of the owner is looked at, and the mean is taken anew."""
LAST_SECONDS: Final = 3.0
"""For the last batch, when the daemon stops."""


class UsageUpkeep:
    """Writes the usage of one workspace, and judges tiers where lines or days changed."""

    def __init__(self, usage: UsageBook) -> None:
        self._usage = usage
        self._judged = Book()
        self._looked_at = float("-inf")
        self._day: date | None = None

    async def run(self) -> None:
        """Keep what is touched, until cancelled; then write once more."""
        usage = self._usage
        try:
            while True:
                seconds = await self._step()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await usage.has_news.wait()
                # touches come in bundles: one batch is enough for all of them
                await asyncio.sleep(usage.usages.settings.flush_seconds)
                usage.has_news.clear()
        finally:
            with contextlib.suppress(MemorydError, TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await usage.flush()

    async def _step(self) -> float:
        """Do what is due; return in how many seconds to look again if nothing happens."""
        try:
            await self._do()
        except Denied:
            return LOOK_SECONDS
        except MemorydError as exc:
            log.debug("the usage of memories cannot be kept", reason=str(exc))
            return RETRY_SECONDS
        return LOOK_SECONDS

    async def _do(self) -> None:
        usage = self._usage
        await usage.load()
        book, now = await usage.book(), usage.usages.when.clock()
        if book is not self._judged:
            known = self._judged.memories
            await self._judge(book, [one for key, one in book.memories.items() if known.get(key) is not one], now)
        await usage.flush()
        if abs(now - self._looked_at) >= LOOK_SECONDS:
            self._looked_at = now
            usage.scale.keep(book, await asyncio.to_thread(usage.scale.weighed, book, now))
            await self._look_daily(book, now)

    async def _judge(self, book: Book, memories: Collection[Memory], now: float) -> None:
        (await asyncio.to_thread(self._usage.usages.judged, memories, now))()
        self._usage.usages.book = self._judged = book

    async def _look_daily(self, book: Book, now: float) -> None:
        today = self._usage.usages.when.local_day(now)
        if today != self._day:
            await self._judge(book, list(book.memories.values()), now)
            await self._usage.prune(now)
            self._day = today
