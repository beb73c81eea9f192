"""Read-only inspection of database files for `memoryctl doctor`, with or without a running daemon.

All functions block. A file that no daemon uses is read without a lock and without creating files, unless its log has
content.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.errors import DamagedDatabase, ForeignDatabase
from memoryd.store.connection import Connector, broken_parts, make_private_file, mapped_errors
from memoryd.store.index.documents import known_files
from memoryd.store.index.schema import FileKind, check_tables, problems, recognise, set_aside
from memoryd.store.ledger.database import LEDGER, aside
from memoryd.store.opening import Check, WriteAheadLog, close_all, log_of, open_to_read, read_header, version_of

__all__ = ["ExaminedLedger", "FileKind", "IndexFile", "copy_index", "ledger_state", "set_aside"]

Returned = TypeVar("Returned")


class ExaminedLedger(Struct, frozen=True):
    """State of a ledger: the version of its tables, the newest known version, its size, and problems in it."""

    version: int
    newest: int
    bytes: int
    problems: tuple[str, ...]
    set_aside: tuple[Path, ...]
    """Damaged ledgers beside it."""


class IndexFile(Struct, frozen=True):
    """The file of an index; `is_used` means that a daemon has it open."""

    path: Path
    is_used: bool

    @property
    def kind(self) -> FileKind:
        """The kind of file, by its header."""
        return recognise(self.path)

    def problems(self, *, is_whole: bool = False) -> list[str]:
        """Return the problems in the file; `is_whole` compares all entries of all indexes. Raises StoreError."""
        try:
            return self._read(lambda connection: problems(connection, is_whole=is_whole))
        except DamagedDatabase as exc:
            return [str(exc)]

    def digests(self) -> dict[RelativePath, bytes]:
        """Return the SHA-256 of each document as indexed; raises StoreError."""
        return self._read(
            lambda connection: {path: known.digest for path, known in known_files(connection, "").items()}
        )

    def _read(self, step: Callable[[apsw.Connection], Returned]) -> Returned:
        with _opened(Connector(self.path), check_tables, is_used=self.is_used) as connection:
            return step(connection)


def copy_index(source: Path, target: Path) -> None:
    """Copy a snapshot of an index into a new private file, without its log.

    The index may be in use; nothing is written into it. Raises DamagedDatabase for a file that is no index of this
    version, StoreUnavailable, FileExistsError.
    """
    make_private_file(target)
    with mapped_errors(), closing(Connector(source).reader()) as reader, closing(apsw.Connection(str(target))) as copy:
        check_tables(reader)
        with copy.backup("main", reader, "main") as backup:
            backup.step(-1)


def ledger_state(path: Path, *, is_used: bool) -> ExaminedLedger:
    """Inspect an existing ledger; raises ForeignDatabase for another database, StoreError."""

    with mapped_errors():
        newer = _newer(path)
    if newer is not None:
        return newer

    def check(connection: apsw.Connection) -> None:
        if connection.pragma("application_id") != LEDGER.application:
            raise ForeignDatabase(f"{path} is not a ledger of memoryd", hint="move it away; nothing was changed")

    with _opened(Connector(path, is_history=True), check, is_used=is_used) as connection:
        version = version_of(connection.pragma("user_version"))
        wrong = tuple(broken_parts(connection))
    return ExaminedLedger(version, LEDGER.version, path.stat().st_size, wrong, tuple(aside(path)))


def _newer(path: Path) -> ExaminedLedger | None:
    """Return the state of a ledger with an unknown newer version, whose content and seal cannot be interpreted."""
    try:
        header = read_header(path)
    except ValueError as exc:
        raise DamagedDatabase(f"{path} is no database") from exc
    if header is None or header.application != LEDGER.application or header.version <= LEDGER.version:
        return None
    return ExaminedLedger(header.version, LEDGER.version, path.stat().st_size, (), tuple(aside(path)))


@contextmanager
def _opened(connector: Connector, check: Check, *, is_used: bool) -> Iterator[apsw.Connection]:
    with mapped_errors():
        if is_used:
            readers = [connector.reader()]
            check(readers[0])
        else:
            log = log_of(connector.path)
            has_log = log.exists() and log.stat().st_size > 0
            opening = WriteAheadLog(connector.path)
            readers = list(open_to_read(connector, opening, check, leaves_folder=not has_log).readers)
        try:
            yield readers[0]
        finally:
            close_all(readers)


CUT_BUSY_MS = 5_000
"""How long to wait for another connection."""


def cut_log(path: Path) -> bool:
    """Checkpoint and truncate the write-ahead log of a database, which removes deleted text.

    Return whether it succeeded: not while another connection reads, nor for a file that is no database. Blocks.
    """
    try:
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return False
    try:
        database.set_busy_timeout(CUT_BUSY_MS)
        # a connection that has read nothing does not see the log
        database.pragma("schema_version")
        database.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    finally:
        database.close()
    return True
