"""One ledger file, usable from asyncio, each call one transaction; and the damaged ledgers set aside beside it.

It tells of damaged ledgers whose tombstones were taken over, and which cannot be read.
"""

import asyncio
import contextlib
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import apsw

from memoryd.errors import DamagedDatabase, StoreError, StoreUnavailable
from memoryd.store.connection import Connector, Wording, broken_parts
from memoryd.store.database_file import DatabaseFile
from memoryd.store.ledger.conversations import read_marks, take_over, taken_over
from memoryd.store.ledger.file import LEDGER, aside, delete_copies, keep_copy, make_way, refuse_foreign, require_no_log
from memoryd.store.migrations import History, check_current, migrate
from memoryd.store.pool import Returned, Transaction

WORDING = Wording("the ledger", "it is set aside, and a new one is begun")

SHORT_BUSY_MS = 200
"""How long the lock of another process is waited for where somebody's turn waits, or may wait behind it."""


class LedgerDatabase(DatabaseFile):
    """A ledger that is open; `open` and `close` frame each of its lives.

    The verbs raise StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when
    the file is broken. Times are seconds since 1970. `is_private`: nobody but us writes into its folder.
    """

    def __init__(self, path: Path, executor: Executor, *, is_private: bool, history: History = LEDGER) -> None:
        super().__init__(Connector(path, is_history=True), executor, WORDING)
        self._is_private = is_private
        self._history = history

    async def open(self) -> None:
        """Open the file, or make it, and migrate it; raises ForeignDatabase for what must stay as it is."""
        # before SQLite opens it: to open a file of somebody else may already write to it
        await self._runner.run(partial(make_way, self.path, self._history, is_private=self._is_private))
        await self._open_to_write(self._prepare)

    async def open_to_read(self) -> None:
        """Open the file without any change to it or its folder; raises StoreUnavailable where it takes one."""
        await self._runner.run(partial(refuse_foreign, self.path, self._history, is_private=False))
        await self._runner.run(require_no_log, self.path)
        check = partial(check_current, history=self._history)
        await self._open_to_read(check, why="memory.readOnly is true", leaves_folder=True)

    async def erase(
        self, step: Transaction[Returned], *, keeps_copies: bool = False, busy_ms: int | None = None
    ) -> Returned:
        """Do a step that deletes; no byte of it is left in file and log, nor in copies unless these stay."""
        erased = await self.write(step, busy_ms=busy_ms)
        await self.checkpoint()
        if not keeps_copies:
            await self._runner.run(delete_copies, self.path)
        return erased

    def _prepare(self, connection: apsw.Connection) -> None:
        # small, so that all of it can be looked at; a migration of broken pages would break more. The indexes too: a
        # name of which a byte is another one is found only by them
        if found := broken_parts(connection):
            raise DamagedDatabase(f"the ledger is damaged: {'; '.join(found)}", hint=WORDING.when_damaged)
        if migrate(connection, self._history, partial(keep_copy, connection, self.path)):
            # an older memoryd goes by the header, which says so only now
            if connection.pragma("journal_mode") == "wal":
                # whoever reads the log keeps it from being moved, and later is early enough
                with contextlib.suppress(apsw.BusyError):
                    self._log.run(connection)
            delete_copies(self.path, but_last=True)


class SetAsideLedgers:
    """What lies beside the ledger at a path, as of the last look.

    Until the marks of each are in the ledger, or its owner took it away, nobody knows what is not to be remembered.
    What was done outlasts a kill at any moment: the ledger names those whose marks it has.
    """

    def __init__(self, path: Path) -> None:
        self.paths: list[Path] = []
        self._path = path
        self._unread: dict[Path, str] = {}
        self._settled_for = -1
        """The opening of the ledger for which that is known."""

    @property
    def has_unread(self) -> bool:
        """Whether there is one whose marks are not in the ledger."""
        return bool(self._unread)

    @property
    def trouble(self) -> str | None:
        """What somebody should do about them; None where there are none."""
        if self._unread:
            return self._unread_message()
        if self.paths:
            names = ", ".join(str(path) for path in self.paths)
            return f"a damaged ledger was set aside, and a new one begun; look at it, then delete it: {names}"
        return None

    async def look(self) -> None:
        """See which there are; raises OSError."""
        self.paths = await asyncio.to_thread(aside, self._path)
        self._unread = {path: why for path, why in self._unread.items() if path in self.paths}

    def is_settled(self, ledger: LedgerDatabase) -> bool:
        """Tell whether the ledger, as it is open now, has the marks of all."""
        return self._settled_for == ledger.epoch and not self._unread

    async def settle(self, ledger: LedgerDatabase, *, is_read_only: bool) -> None:
        """Bring the marks of all into the ledger, unless it has them; raises StoreError of the ledger, OSError."""
        epoch = ledger.epoch
        await self.look()
        # most of the time there are none: nothing need be asked
        known = await ledger.read(taken_over) if self.paths and ledger.is_open else frozenset[str]()
        unread = dict[Path, str]()
        for path in self.paths:
            if path.name not in known and (why := await _take_over_marks(path, ledger, is_read_only=is_read_only)):
                unread[path] = why
        self._unread, self._settled_for = unread, epoch

    def require_read(self) -> None:
        """Raise StoreUnavailable where there is one whose marks are not in the ledger."""
        if self._unread:
            raise StoreUnavailable(self._unread_message(), hint="delete the damaged ledger, or move it away")

    def _unread_message(self) -> str:
        names = "; ".join(f"{path} ({why})" for path, why in self._unread.items())
        return (
            "a damaged ledger was set aside, and which conversations it said are not to be remembered cannot be read; "
            "until you delete it or move it away, no conversation is read, and turns with a session key are refused: "
            f"{names}"
        )


async def _take_over_marks(path: Path, ledger: LedgerDatabase, *, is_read_only: bool) -> str:
    """Bring the marks of one into the ledger; return why that cannot be, empty if it was done."""
    try:
        # not by the ledger's threads, which take a damage for the ledger's own
        marks = await asyncio.to_thread(read_marks, path)
    except (StoreError, OSError) as exc:
        return str(exc)
    if is_read_only:
        return "memory.readOnly is true: start memoryd once without" if marks.rows else ""
    try:
        await ledger.write(lambda db: take_over(db, path.name, marks))
    except StoreUnavailable as exc:
        return str(exc)
    return ""
