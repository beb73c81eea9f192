"""One ledger file, usable from asyncio, each call one transaction; and the damaged ledgers set aside beside it.

It tells of damaged ledgers whose tombstones were taken over, and which cannot be read. The functions block, and raise
StoreError: they recognise a file, make it, keep copies of it, and set it aside. Unlike an index a ledger cannot be made
anew, so nothing here deletes one; only copies of it are deleted.
"""

import asyncio
import contextlib
import glob
import os
import time
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path

import apsw

from memoryd.errors import DamagedDatabase, ForeignDatabase, StoreError, StoreUnavailable
from memoryd.files.writing import FileChangedError, make_private_folder, replace_file, sync_file
from memoryd.store.connection import (
    PAGE_BYTES,
    PRIVATE,
    Connector,
    Wording,
    broken_parts,
    make_private,
    make_private_file,
)
from memoryd.store.database_file import DatabaseFile
from memoryd.store.ledger.conversations import read_marks, take_over, taken_over
from memoryd.store.migrations import History, check_current, migrate, new_database, read_migrations, require_known
from memoryd.store.opening import read_header
from memoryd.store.pool import Returned, Transaction

LEDGER = History("the ledger", 0x6D656D6C, read_migrations("ledger"))
"""`meml`, in the SQLite header of every ledger."""
SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite keeps for one database."""
MAX_SET_ASIDE = 5
"""So many damaged ledgers may lie beside each other before no new one is begun."""
WORDING = Wording("the ledger", "it is set aside, and a new one is begun")

SHORT_BUSY_MS = 200
"""How long the lock of another process is waited for where somebody's turn waits, or may wait behind it."""


def is_there(path: Path) -> bool:
    """Tell whether there is something where the ledger belongs."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        # a file where its folder should be: making a ledger says so
        return False
    return True


def make_way(path: Path, history: History, *, is_private: bool) -> None:
    """See to it that what lies there is a ledger for its owner alone. Before a connection is open.

    Raises ForeignDatabase for what is not ours, or is of a newer version: it stays as it is. `is_private` says that
    nobody but us writes into the folder, so that what is no database there is a damaged ledger.
    """
    make_private_folder(path.parent)
    refuse_foreign(path, history, is_private=is_private)
    if is_there(path) and not path.stat().st_size:
        # a ledger is whole from its first moment on: this one has lost all that it held
        set_aside(path)
    if not is_there(path):
        _make(path, history)
    for suffix in SUFFIXES:
        make_private(path.with_name(path.name + suffix))


def _make(path: Path, history: History) -> None:
    for suffix in SUFFIXES:
        # SQLite would take a log for the new file's that belongs to one that is gone
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    # whole from the first moment on: half a database would be nobody's, and could not be told from a stranger's
    with contextlib.suppress(FileChangedError):
        replace_file(path, new_database(history, page_bytes=PAGE_BYTES), expected="absent", is_durable=True)
        # an umask may have taken what the owner needs
        path.chmod(PRIVATE)


def require_no_log(path: Path) -> None:
    """Raise StoreUnavailable for a ledger that was not closed in order: SQLite must write before it can read that."""
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    if any(one.stat().st_size for one in beside if is_there(one)):
        raise StoreUnavailable(
            f"{path} was not closed in order, and nothing may be written to read it",
            hint="start memoryd once without memory.readOnly",
        )


def refuse_foreign(path: Path, history: History, *, is_private: bool) -> None:
    """Raise ForeignDatabase for what is no ledger, or a newer one; if `is_private`, set aside what is no database."""
    hint = "move it away, or set agents.defaults.memorySearch.store.path to another folder"
    if path.is_symlink():
        raise ForeignDatabase(f"{path} is a symlink, which the ledger must not be", hint=hint)
    try:
        header = read_header(path)
    except FileNotFoundError:
        return
    except ValueError as exc:
        if not is_private:
            raise ForeignDatabase(f"{path} is not a ledger of memoryd", hint=hint) from exc
        set_aside(path)
        return
    if header is not None:
        if header.application != history.application:
            raise ForeignDatabase(f"{path} is another database than a ledger of memoryd", hint=hint)
        # what only the log knows yet is seen when it is open
        require_known(history, header.version)


def keep_copy(connection: apsw.Connection, path: Path, version: int) -> None:
    """Copy an open ledger of a version beside itself, for its owner alone; raises the driver's errors and OSError."""
    copy = path.with_name(f"{path.name}.before-{version + 1}")
    # one that a kill left half made
    copy.unlink(missing_ok=True)
    make_private_file(copy)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),)).fetchall()
        sync_file(copy)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def copies(path: Path) -> list[Path]:
    """Return the copies that were made before migrations, the newest last."""
    found = path.parent.glob(f"{glob.escape(path.name)}.before-*")
    numbered = ((one.name.rpartition("-")[2], one) for one in found)
    return [one for _, one in sorted((int(number), one) for number, one in numbered if number.isdigit())]


def delete_copies(path: Path, *, but_last: bool = False, older_than: float = float("inf")) -> None:
    """Delete copies made before a time (seconds since 1970), on demand all but the last; raises OSError."""
    for copy in copies(path)[: -1 if but_last else None]:
        if copy.stat().st_mtime < older_than:
            copy.unlink()


def set_aside(path: Path) -> Path:
    """Rename a damaged ledger, with its log, to `NAME.damaged-…` and return that.

    Raises StoreUnavailable when too many lie there already, OSError.
    """
    if len(aside(path)) >= MAX_SET_ASIDE:
        raise StoreUnavailable(
            f"{MAX_SET_ASIDE} damaged ledgers lie in {path.parent} already", hint="move them away, or delete them"
        )
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = next(n for n in range(1, MAX_SET_ASIDE + 2) if not os.path.lexists(_aside_name(path, stamp, n)))
    target = _aside_name(path, stamp, number)
    # the log first: after a kill in between, the log of a file that is gone would be deleted as one without a file
    for suffix in reversed(SUFFIXES):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
            make_private(target.with_name(target.name + suffix))
    return target


def aside(path: Path) -> list[Path]:
    """Return the damaged ledgers that were set aside and are still there."""
    found = path.parent.glob(f"{glob.escape(path.name)}.damaged-*")
    return sorted(one for one in found if not one.name.endswith(SUFFIXES[1:]))


def _aside_name(path: Path, stamp: str, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{stamp}" + (f".{number}" if number > 1 else ""))


def empty_ledger() -> bytes:
    """Return the file of a ledger with nothing in it."""
    return new_database(LEDGER, page_bytes=PAGE_BYTES)


@cache
def _nothing() -> apsw.Connection:
    database = apsw.Connection(":memory:")
    database.deserialize("main", empty_ledger())
    database.execute("UPDATE hash_key SET bytes = x''")
    return database


def on_nothing(step: Transaction[Returned]) -> Returned:
    """Run a step on a ledger in memory in which nothing stands, and nothing stays: that takes microseconds."""
    _nothing().execute("BEGIN IMMEDIATE")
    try:
        return step(_nothing())
    finally:
        _nothing().execute("ROLLBACK")


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
