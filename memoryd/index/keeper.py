"""The keeper of an index file: opens it, notices when it is lost or damaged, and starts it anew from the notes.

The index is a cache, so nothing in it is worth a repair by hand. A file that is not ours is never touched.
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
"""How often the parts of the file are checked and the words of deleted notes are dropped, the start included."""


class Keeper(Struct, kw_only=True):
    """Keeps a database open and sound while `run` runs; `on_new` is called after each opening.

    `is_private` says that the path was chosen by us, so that whatever lies there is a damaged index of ours.
    `is_rebuilt` says that the index holds all notes; then what was set aside, which may hold notes that have become
    private since, is deleted.
    """

    database: Database
    is_private: bool
    on_new: Callable[[], None]
    is_rebuilt: Callable[[], bool]
    trouble: str | None = None
    _checked_at: float = float("-inf")

    async def open(self) -> None:
        """Open the file, if need be only to read it, or note why that fails for now; raises ForeignDatabase."""
        path = self.database.path
        try:
            # before SQLite opens it: to open a file of somebody else may already write to it
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
        """Look after the file until cancelled; what the disk refuses is noted and tried again."""
        while True:
            try:
                await self._look()
            except (StoreError, OSError) as exc:
                self._note(f"the index cannot be used: {exc}")
            await asyncio.sleep(POLL_SECONDS)

    async def _look(self) -> None:
        if not self.database.is_open:
            await self.open()
        elif self.database.damage is not None:
            # before other trouble: a damaged file would only be opened again, and be as damaged
            await self._start_anew(self.database.damage)
        elif self.database.trouble is not None or await asyncio.to_thread(self.database.is_replaced):
            self._note(self.database.trouble or "the index file was removed or replaced")
            # questions that are asked meanwhile wait for the new file instead of failing
            async with self.database.reopening():
                await self.open()
        elif self.database.why_read_only is not None:
            if await asyncio.to_thread(is_writable, self.database.path):
                async with self.database.reopening():
                    await self.open()
        elif time.monotonic() - self._checked_at >= CHECK_SECONDS:
            # before the check: one that the disk refuses is for the next day, not for the next second
            self._checked_at = time.monotonic()
            await self._check()
        elif self.is_rebuilt():
            # last, and only now: as long as notes are missing from the new index, the old one may be all there is
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
            found = await self.database.problems()
            await self.database.words.check()
            await self.database.words.drop_deleted()
            await self.database.checkpoint()
        except DamagedDatabase as exc:
            found = [str(exc)]
        except StoreError:
            return
        if found:
            await self._start_anew("; ".join(found))

    async def _start_anew(self, reason: str) -> None:
        # closed first: SQLite would go on writing to the file under its new name
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
