"""Keep the main file of a store at most two seconds behind its sessions, and move old sessions to the archive."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog

from memoryd.errors import MemorydError
from memoryd.sessions.qa_store import QaStore

log = structlog.get_logger(__name__)

UPDATE_SECONDS: Final = 1.0
ARCHIVE_SECONDS: Final = 6 * 3600.0


class QaUpkeep:
    """The loop of one store that may be written; `note_change` is what the store's `on_change` is to call."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        update_seconds: float = UPDATE_SECONDS,
        archive_seconds: float = ARCHIVE_SECONDS,
    ) -> None:
        self._now = now
        self._update_seconds = update_seconds
        self._archive_seconds = archive_seconds
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def note_change(self) -> None:
        """Say that the main file is behind; from any thread, also before the loop runs."""
        if self._loop is None:
            self._changed.set()
        else:
            with contextlib.suppress(RuntimeError):
                # the loop is closed: the next start finds what has changed
                self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self, store: QaStore) -> None:
        """Flush after changes and archive now and then, until cancelled."""
        self._loop = asyncio.get_running_loop()
        await self._tried("sweep", store.sweep)
        await self._tried("measure", store.make_room)
        archived_at = self._loop.time() - self._archive_seconds
        while True:
            if self._loop.time() - archived_at >= self._archive_seconds:
                archived_at = self._loop.time()
                await self._tried("archive", lambda: store.archive(self._now()))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(archived_at + self._archive_seconds - self._loop.time()):
                    await self._changed.wait()
            if self._changed.is_set():
                # turns come in pairs and more: one flush is enough for all of them
                await asyncio.sleep(self._update_seconds)
                self._changed.clear()
                await self._tried("flush", store.flush)
                await self._tried("measure", store.make_room)

    async def _tried(self, what: str, step: Callable[[], object]) -> None:
        try:
            await asyncio.to_thread(step)
        except MemorydError as exc:
            log.warning("the question-and-answer files are behind", step=what, reason=str(exc))
