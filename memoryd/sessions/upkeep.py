"""Keep the main file of a store at most two seconds behind its sessions, and move old sessions to the archive."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import structlog

from memoryd.errors import MemorydError
from memoryd.sessions.qa_store import QaStore

log = structlog.get_logger(__name__)

UPDATE_SECONDS: Final = 1.0
ARCHIVE_SECONDS: Final = 6 * 3600.0
RETRY_SECONDS: Final = 30.0

Steps = Mapping[str, Callable[[], object]]


class QaUpkeep:
    """The loop of one store that may be written; `note_change` is what the store's `on_change` is to call."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        update_seconds: float = UPDATE_SECONDS,
        archive_seconds: float = ARCHIVE_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._troubles: dict[str, str] = {}
        self._now = now
        self._retry_seconds = retry_seconds
        self._update_seconds = update_seconds
        self._archive_seconds = archive_seconds
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def trouble(self) -> str:
        """Why the files stay behind; empty if they do not."""
        return "; ".join(dict.fromkeys(self._troubles.values()))

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
        steps: Steps = {
            "sweep": store.forgetting.sweep,
            "measure": store.archive.make_room,
            "archive": lambda: store.archive.put_away(self._now()),
            "flush": store.sessions.flush,
        }
        await self._take(steps, "sweep", "measure")
        archived_at = self._loop.time() - self._archive_seconds
        while True:
            if self._loop.time() - archived_at >= self._archive_seconds:
                archived_at = self._loop.time()
                await self._take(steps, "archive")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(archived_at + self._archive_seconds - self._loop.time()):
                    await self._changed.wait()
            if self._changed.is_set():
                # turns come in pairs and more: one flush is enough for all of them
                await asyncio.sleep(self._update_seconds)
                self._changed.clear()
                await self._take(steps, *self._troubles, "flush", "measure")

    async def _take(self, steps: Steps, *names: str) -> None:
        """Take steps one after the other; those that fail are taken again with the next flush, which comes soon."""
        for name in dict.fromkeys(names):
            try:
                await asyncio.to_thread(steps[name])
            except MemorydError as exc:
                if name not in self._troubles:
                    log.warning("the question-and-answer files are behind", step=name, reason=str(exc))
                self._troubles[name] = str(exc)
                # nobody may ever add another turn, which would be the next occasion
                asyncio.get_running_loop().call_later(self._retry_seconds, self._changed.set)
            else:
                self._troubles.pop(name, None)
