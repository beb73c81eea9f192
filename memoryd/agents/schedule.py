"""When to look at the disk though nothing was seen to change: by the clock, and when somebody asks."""

import asyncio
import time

from memoryd.config.memory_search import SyncSection
from memoryd.index.indexer import Indexer

ON_SEARCH_SECONDS = 5.0
"""A question schedules a scan at most this often."""


class ScanSchedule:
    """Asks one indexer for scans, as `memorySearch.sync` says."""

    def __init__(self, settings: SyncSection, indexer: Indexer) -> None:
        self._settings = settings
        self._indexer = indexer
        self._searched_at = 0.0

    async def run(self) -> None:
        """Ask for a scan every `sync.intervalMinutes`; return at once if that is 0."""
        seconds = self._settings.interval_minutes * 60
        while seconds:
            await asyncio.sleep(seconds)
            self._indexer.demand()

    def note_question(self) -> None:
        """Take the news that somebody asks."""
        now = time.monotonic()
        if self._settings.on_search and now - self._searched_at > ON_SEARCH_SECONDS:
            self._searched_at = now
            self._indexer.hint()
