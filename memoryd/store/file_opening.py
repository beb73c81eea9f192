"""Opening a database file: what is looked at, and made, in which order. All of it blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import apsw

from memoryd.errors import StoreUnavailable
from memoryd.store.connecting import Connector
from memoryd.store.write_ahead import WriteAheadLog

READERS = 3


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Connections to one file; without a writer it is only read."""

    inode: int
    readers: Sequence[apsw.Connection]
    writer: apsw.Connection | None = None


Check = Callable[[apsw.Connection], None]
"""Looks at the first connection, and raises DamagedDatabase if the file is not what it is to be."""


def open_to_write(connector: Connector, log: WriteAheadLog, prepare: Check) -> OpenFile:
    """Open for writing and reading; `prepare` brings the tables up to date before anybody reads."""
    # before a connection exists: to close the file that is read here would drop SQLite's locks on it
    log.look()
    opened = [connector.writer()]
    try:
        if opened[0].readonly("main"):
            # SQLite opens it all the same
            raise StoreUnavailable(f"{connector.path} may not be written", hint="check its owner and mode")
        # first of all: a file that lacks a part of its log must not be written to
        log.attach(opened[0])
        prepare(opened[0])
        # Only now: what a new file is must stand in its header, not in a log that a crash leaves beside it.
        opened[0].pragma("journal_mode", "wal")
        # last, for a reader can make neither the file nor its log
        for _ in range(READERS):
            opened.append(connector.reader())
        return OpenFile(connector.path.stat().st_ino, opened[1:], opened[0])
    except BaseException:
        # the writer last, as when all is well
        close_all(opened[::-1])
        raise


def open_to_read(connector: Connector, log: WriteAheadLog, check: Check, *, leaves_folder: bool = False) -> OpenFile:
    """Open for reading alone: with the log if it can be read, else the file as it was when it was last moved.

    `immutable` does without the files that SQLite otherwise needs beside the database, and without its locks:
    the daemon's lock keeps other writers away. `leaves_folder` begins with that: no file is made, nor changed.
    """
    log.look()
    alone = f"file:{quote(str(connector.path))}?immutable=1"
    if leaves_folder:
        return _checked_readers(connector, log, check, alone)
    try:
        return _checked_readers(connector, log, check, "")
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError):
        return _checked_readers(connector, log, check, alone)


def _checked_readers(connector: Connector, log: WriteAheadLog, check: Check, uri: str) -> OpenFile:
    opened: list[apsw.Connection] = []
    try:
        while len(opened) < READERS:
            opened.append(connector.reader(uri))
        log.check(opened[0])
        check(opened[0])
        return OpenFile(connector.path.stat().st_ino, opened)
    except BaseException:
        close_all(opened)
        raise


def close_all(connections: Sequence[apsw.Connection]) -> None:
    """Close connections in this order."""
    for connection in connections:
        connection.close()
