"""One ledger file for asyncio, each call one transaction; and damaged ledgers that were set aside beside it.

It also tracks damaged ledgers whose marks were taken over or cannot be read. The functions block, and raise StoreError:
they recognise a file, create it, copy it, and set it aside. A ledger cannot be rebuilt like an index, so nothing here
deletes one; only copies are deleted.
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
"""`meml`, the application id of every ledger."""
SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite stores for one database."""
MAX_SET_ASIDE = 5
"""Maximum number of damaged ledgers beside each other; above it, no new one is started."""
WORDING = Wording("the ledger", "it is set aside, and a new one is begun")

SHORT_BUSY_MS = 200
"""How long to wait for the lock of another process while a user's turn waits, or may wait behind it."""


def is_there(path: Path) -> bool:
    """Return whether anything exists at the path of the ledger."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        # a file in place of the folder: creating a ledger reports it
        return False
    return True


def prepare_file(path: Path, history: History, *, is_private: bool) -> None:
    """Make sure that the path has a private ledger file. Call it before a connection is open.

    Raises ForeignDatabase for a file that is not ours, or of a newer version, which is left unchanged. `is_private`: no
    one else writes into the folder, so a file that is no database is a damaged ledger.
    """
    make_private_folder(path.parent)
    refuse_foreign(path, history, is_private=is_private)
    if is_there(path) and not path.stat().st_size:
        # a ledger is never created empty: this one has lost its content
        set_aside(path)
    if not is_there(path):
        _make(path, history)
    for suffix in SUFFIXES:
        make_private(path.with_name(path.name + suffix))


def _make(path: Path, history: History) -> None:
    for suffix in SUFFIXES:
        # SQLite would apply the leftover log of a deleted ledger to the new file
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    # created complete: a half-written database could not be distinguished from a foreign one
    with contextlib.suppress(FileChangedError):
        replace_file(path, new_database(history, page_bytes=PAGE_BYTES), expected="absent", is_durable=True)
        # a umask may have removed bits that the owner needs
        path.chmod(PRIVATE)


def require_no_log(path: Path) -> None:
    """Raise StoreUnavailable for a ledger that was not closed cleanly: SQLite must write before it can read it."""
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    if any(file.stat().st_size for file in beside if is_there(file)):
        raise StoreUnavailable(
            f"{path} was not closed in order, and nothing may be written to read it",
            hint="start memoryd once without memory.readOnly",
        )


def refuse_foreign(path: Path, history: History, *, is_private: bool) -> None:
    """Raise ForeignDatabase for another file or a newer ledger; with `is_private`, set aside what is no database."""
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
        # a version that is only in the log is checked after opening
        require_known(history, header.version)


def copy_version(connection: apsw.Connection, path: Path, version: int) -> None:
    """Copy an open ledger of a version into a private file beside it; raises the driver's errors and OSError."""
    copy = path.with_name(f"{path.name}.before-{version + 1}")
    # a kill may have left an incomplete copy
    copy.unlink(missing_ok=True)
    make_private_file(copy)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),)).fetchall()
        sync_file(copy)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def copies(path: Path) -> list[Path]:
    """Return the copies from before migrations, the newest last."""
    files = path.parent.glob(f"{glob.escape(path.name)}.before-*")
    numbered = ((file.name.rpartition("-")[2], file) for file in files)
    return [file for _, file in sorted((int(number), file) for number, file in numbered if number.isdigit())]


def delete_copies(path: Path, *, but_last: bool = False, older_than: float = float("inf")) -> None:
    """Delete copies older than a time (seconds since 1970), optionally all but the last; raises OSError."""
    for copy in copies(path)[: -1 if but_last else None]:
        if copy.stat().st_mtime < older_than:
            copy.unlink()


def set_aside(path: Path) -> Path:
    """Rename a damaged ledger, with its log, to `NAME.damaged-…` and return the new path.

    Raises StoreUnavailable if there are too many already, OSError.
    """
    if len(aside(path)) >= MAX_SET_ASIDE:
        raise StoreUnavailable(
            f"{MAX_SET_ASIDE} damaged ledgers lie in {path.parent} already", hint="move them away, or delete them"
        )
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = next(n for n in range(1, MAX_SET_ASIDE + 2) if not os.path.lexists(_aside_name(path, stamp, n)))
    target = _aside_name(path, stamp, number)
    # the log first: after a kill in between, the log of a missing file would be deleted as a leftover
    for suffix in reversed(SUFFIXES):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
            make_private(target.with_name(target.name + suffix))
    return target


def aside(path: Path) -> list[Path]:
    """Return the damaged ledgers that were set aside and still exist."""
    files = path.parent.glob(f"{glob.escape(path.name)}.damaged-*")
    return sorted(file for file in files if not file.name.endswith(SUFFIXES[1:]))


def _aside_name(path: Path, stamp: str, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{stamp}" + (f".{number}" if number > 1 else ""))


def empty_ledger() -> bytes:
    """Return the file content of an empty ledger."""
    return new_database(LEDGER, page_bytes=PAGE_BYTES)


@cache
def _empty_database() -> apsw.Connection:
    database = apsw.Connection(":memory:")
    database.deserialize("main", empty_ledger())
    database.execute("UPDATE hash_key SET bytes = x''")
    return database


def on_empty(step: Transaction[Returned]) -> Returned:
    """Run a step on an empty ledger in memory, and roll it back; this takes microseconds."""
    _empty_database().execute("BEGIN IMMEDIATE")
    try:
        return step(_empty_database())
    finally:
        _empty_database().execute("ROLLBACK")


class LedgerDatabase(DatabaseFile):
    """An open ledger; it can be opened and closed repeatedly.

    Methods raise StoreUnavailable if the disk, a lock or the closed state prevents them, and DamagedDatabase if the
    file is broken. Times are seconds since 1970. `is_private`: no one else writes into its folder.
    """

    def __init__(self, path: Path, executor: Executor, *, is_private: bool, history: History = LEDGER) -> None:
        super().__init__(Connector(path, is_history=True), executor, WORDING)
        self._is_private = is_private
        self._history = history

    async def open(self) -> None:
        """Open the file, or create it, and migrate it; raises ForeignDatabase for a file that must not be changed."""
        # before SQLite opens it, because opening a foreign file may already write to it
        await self._runner.run(partial(prepare_file, self.path, self._history, is_private=self._is_private))
        await self._open_to_write(self._prepare)

    async def open_to_read(self) -> None:
        """Open the file without changing it or its folder; raises StoreUnavailable if that is impossible."""
        await self._runner.run(partial(refuse_foreign, self.path, self._history, is_private=False))
        await self._runner.run(require_no_log, self.path)
        check = partial(check_current, history=self._history)
        await self._open_to_read(check, why="memory.readOnly is true", leaves_folder=True)

    async def erase(
        self, step: Transaction[Returned], *, keeps_copies: bool = False, busy_ms: int | None = None
    ) -> Returned:
        """Run a step that deletes; no bytes remain in file and log, nor in copies unless `keeps_copies`."""
        erased = await self.write(step, busy_ms=busy_ms)
        await self.checkpoint()
        if not keeps_copies:
            await self._runner.run(delete_copies, self.path)
        return erased

    def _prepare(self, connection: apsw.Connection) -> None:
        # the file is small enough to check completely, and migrating broken pages would break more. Indexes are
        # checked, too: only they reveal a changed byte in a name
        if problems := broken_parts(connection):
            raise DamagedDatabase(f"the ledger is damaged: {'; '.join(problems)}", hint=WORDING.when_damaged)
        if migrate(connection, self._history, partial(copy_version, connection, self.path)):
            # an older memoryd reads the version from the header, so checkpoint it now
            if connection.pragma("journal_mode") == "wal":
                # a reader prevents the checkpoint; a later one is early enough
                with contextlib.suppress(apsw.BusyError):
                    self._log.run(connection)
            delete_copies(self.path, but_last=True)


class SetAsideLedgers:
    """The damaged ledgers beside a ledger, as of the last scan.

    Until the marks of each are in the ledger, or its owner removed it, it is unknown which conversations must not be
    remembered. The ledger lists the files whose marks it has, so progress survives a kill.
    """

    def __init__(self, path: Path) -> None:
        self.paths: list[Path] = []
        self._path = path
        self._unread: dict[Path, str] = {}
        self._settled_for = -1
        """The epoch of the ledger for which the marks are known."""

    @property
    def has_unread(self) -> bool:
        """True if the marks of a ledger that was set aside are not in the ledger."""
        return bool(self._unread)

    @property
    def trouble(self) -> str | None:
        """What the owner should do about them; None if there are none."""
        if self._unread:
            return self._unread_message()
        if self.paths:
            names = ", ".join(str(path) for path in self.paths)
            return f"a damaged ledger was set aside, and a new one begun; look at it, then delete it: {names}"
        return None

    async def scan(self) -> None:
        """List the files; raises OSError."""
        self.paths = await asyncio.to_thread(aside, self._path)
        self._unread = {path: why for path, why in self._unread.items() if path in self.paths}

    def has_all_marks(self, ledger: LedgerDatabase) -> bool:
        """Return whether the open ledger has the marks of all."""
        return self._settled_for == ledger.epoch and not self._unread

    async def copy_marks(self, ledger: LedgerDatabase, *, is_read_only: bool) -> None:
        """Copy the marks of all into the ledger, unless it has them; raises StoreError of the ledger, OSError."""
        epoch = ledger.epoch
        await self.scan()
        # usually there are none, and nothing needs to be read
        known = await ledger.read(taken_over) if self.paths and ledger.is_open else frozenset[str]()
        unread = dict[Path, str]()
        for path in self.paths:
            if path.name not in known and (why := await _take_over_marks(path, ledger, is_read_only=is_read_only)):
                unread[path] = why
        self._unread, self._settled_for = unread, epoch

    def require_read(self) -> None:
        """Raise StoreUnavailable if there is a ledger whose marks are not in this one."""
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
    """Copy the marks of one file into the ledger; return why that failed, or an empty string."""
    try:
        # not on the ledger's threads, which would attribute the damage to the ledger itself
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
