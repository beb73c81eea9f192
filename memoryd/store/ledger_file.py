"""A ledger file without a connection to it: recognise it, make it private, copy it, set it aside. All of it blocks.

Unlike an index it cannot be made anew, so nothing here deletes one; only copies of it go.
"""

import contextlib
import glob
import os
import time
from pathlib import Path
from typing import Final

import apsw

from memoryd.errors import ForeignDatabase, StoreUnavailable
from memoryd.files.writing import FileChangedError, replace_file
from memoryd.store.connecting import PAGE_BYTES
from memoryd.store.file_header import read_header
from memoryd.store.migrations import History, new_database, read_migrations, require_known
from memoryd.store.private_files import PRIVATE, make_private, make_private_file

LEDGER: Final = History("the ledger", 0x6D656D6C, read_migrations("ledger"))
"""`meml`, in the SQLite header of every ledger."""
SUFFIXES: Final = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite keeps for one database."""
MOST_SET_ASIDE: Final = 5
"""So many damaged ledgers may lie beside each other before no new one is begun."""


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
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
        with copy.open("rb+") as file:
            os.fsync(file.fileno())
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def copies(path: Path) -> list[Path]:
    """Return the copies that were made before migrations, the newest last."""
    found = path.parent.glob(f"{glob.escape(path.name)}.before-*")
    return sorted((one for one in found if one.name.rpartition("-")[2].isdigit()), key=_number)


def delete_copies(path: Path, *, but_last: bool = False, older_than: float = float("inf")) -> None:
    """Delete copies made before a time (seconds since 1970), on demand all but the last; raises OSError."""
    for copy in copies(path)[: -1 if but_last else None]:
        if copy.stat().st_mtime < older_than:
            copy.unlink()


def set_aside(path: Path) -> Path:
    """Rename a damaged ledger, with its log, to `NAME.damaged-…` and return that.

    Raises StoreUnavailable when too many lie there already, OSError.
    """
    if len(aside(path)) >= MOST_SET_ASIDE:
        raise StoreUnavailable(
            f"{MOST_SET_ASIDE} damaged ledgers lie in {path.parent} already", hint="move them away, or delete them"
        )
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = next(n for n in range(1, MOST_SET_ASIDE + 2) if not os.path.lexists(_aside_name(path, stamp, n)))
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


def _number(copy: Path) -> int:
    return int(copy.name.rpartition("-")[2])
