"""The keeper of an index file: opens it, detects its loss or damage, and starts a new one from the notes.

The index is a cache, so a damaged one is replaced, not repaired. A file that is not ours is never touched.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.errors import DamagedDatabase, ForeignDatabase, StoreError, StoreUnavailable
from memoryd.files.writing import make_private_folder
from memoryd.store.index.database import Database
from memoryd.store.index.schema import FileKind, delete_set_aside, is_writable, recognise, set_aside

log = structlog.get_logger(__name__)

POLL_SECONDS = 1.0
CHECK_SECONDS = 24 * 3600.0
"""How often the file is checked and the words of deleted notes are dropped; also done at the start."""


class Keeper(Struct, kw_only=True):
    """Keeps a database open and sound while `run` runs; `on_new` is called after each opening.

    `is_private`: the path was chosen by us, so any unknown file there is a damaged index of ours.
    `is_rebuilt`: returns whether the index contains all notes; then the damaged index that was set aside is deleted,
    since it may contain notes that have become private.
    """

    database: Database
    is_private: bool
    on_new: Callable[[], None]
    is_rebuilt: Callable[[], bool]
    trouble: str | None = None
    _checked_at: float = float("-inf")

    async def open(self) -> None:
        """Open the file, read-only if need be, or record why it cannot be opened now; raises ForeignDatabase."""
        path = self.database.path
        try:
            # before SQLite opens it: opening may write to the file, which may not be ours
            await asyncio.to_thread(self._make_way, path)
            await self.database.open()
        except ForeignDatabase:
            raise
        except DamagedDatabase as exc:
            await self._set_aside(str(exc))
        except (StoreError, OSError) as exc:
            await self._open_to_read(str(exc))
        else:
            self.trouble = None
            self._note_open()

    async def _open_to_read(self, why: str) -> None:
        try:
            if await asyncio.to_thread(recognise, self.database.path) is not FileKind.OURS:
                raise StoreUnavailable(why)
            await self.database.open_to_read(why=why)
        except StoreError:
            self._note(f"the index cannot be opened: {why}")
        else:
            self._note(f"the index is only read, not written: {why}")
            self._note_open()

    def _note_open(self) -> None:
        self._checked_at = float("-inf")
        self.on_new()

    async def run(self) -> None:
        """Maintain the file until cancelled; errors of the disk are recorded, and the step is retried."""
        while True:
            try:
                await self._maintain()
            except (StoreError, OSError) as exc:
                self._note(f"the index cannot be used: {exc}")
            await asyncio.sleep(POLL_SECONDS)

    async def _maintain(self) -> None:
        if not self.database.is_open:
            await self.open()
        elif self.database.damage is not None:
            # before other trouble: reopening a damaged file would not help
            await self._start_anew(self.database.damage)
        elif self.database.trouble is not None or await asyncio.to_thread(self.database.is_replaced):
            self._note(self.database.trouble or "the index file was removed or replaced")
            # queries made during this wait for the new file instead of failing
            async with self.database.reopening():
                await self.open()
        elif self.database.why_read_only is not None:
            if await asyncio.to_thread(is_writable, self.database.path):
                async with self.database.reopening():
                    await self.open()
        elif time.monotonic() - self._checked_at >= CHECK_SECONDS:
            # before the check: a check that the disk refuses is retried the next day, not the next second
            self._checked_at = time.monotonic()
            await self._check()
        elif self.is_rebuilt():
            # last, and not earlier: while notes are missing from the new index, only the old one may have them
            await self._tidy()

    async def _tidy(self) -> None:
        try:
            await asyncio.to_thread(delete_set_aside, self.database.path)
        except OSError as exc:
            self._note(f"the damaged index that was set aside cannot be deleted: {exc}")
        else:
            self.trouble = None

    async def _check(self) -> None:
        try:
            problems = await self.database.problems()
            await self.database.words.check()
            await self.database.words.drop_deleted()
            await self.database.checkpoint()
        except DamagedDatabase as exc:
            problems = [str(exc)]
        except StoreError:
            return
        if problems:
            await self._start_anew("; ".join(problems))

    async def _start_anew(self, reason: str) -> None:
        # close first: SQLite would go on writing to the renamed file
        await self.database.close()
        await self._set_aside(f"the index was damaged and is being rebuilt: {reason}")
        await self.open()

    async def _set_aside(self, reason: str) -> None:
        try:
            await asyncio.to_thread(set_aside, self.database.path)
        except OSError as exc:
            reason = f"{reason}; it cannot be set aside: {exc}"
        self._note(reason)

    def _make_way(self, path: Path) -> None:
        make_private_folder(path.parent)
        kind = recognise(path)
        if kind in (FileKind.FOREIGN, FileKind.DAMAGED) and not self.is_private:
            raise ForeignDatabase(
                f"{path} is not an index of memoryd", hint="set agents.defaults.memorySearch.store.path to another file"
            )
        if kind in (FileKind.FOREIGN, FileKind.DAMAGED, FileKind.OTHER_VERSION):
            set_aside(path)
            log.warning("the index is built anew from the notes, and what lay there is set aside", reason=str(kind))

    def _note(self, reason: str) -> None:
        if reason != self.trouble:
            log.warning("index file", reason=reason, path=str(self.database.path))
        self.trouble = reason
