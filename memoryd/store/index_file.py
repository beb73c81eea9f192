"""An index file without a connection to it: recognise it, see whether it may be written, set it aside."""

import glob
import os
import shutil
import tempfile
import time
from enum import StrEnum
from pathlib import Path

from memoryd.store.file_header import read_header
from memoryd.store.index_schema import APPLICATION_ID, INDEX_VERSION

NEEDED_BYTES = 256 * 1024
"""What must fit beside the file before it is opened for writing."""


class FileKind(StrEnum):
    """What lies at the path of an index."""

    ABSENT = "absent"
    OURS = "ours"
    OTHER_VERSION = "other version"
    FOREIGN = "foreign"
    DAMAGED = "damaged"


def recognise(path: Path) -> FileKind:
    """Look at the header of the file, and at nothing else. Only while no connection to it is open.

    Something that is no SQLite file counts as DAMAGED; whether it may be set aside is the caller's to know.
    """
    try:
        header = read_header(path)
    except FileNotFoundError:
        return FileKind.ABSENT
    except (OSError, ValueError):
        return FileKind.DAMAGED
    if header is None:
        return FileKind.ABSENT
    if header.application != APPLICATION_ID:
        return FileKind.FOREIGN
    return FileKind.OURS if header.version == INDEX_VERSION else FileKind.OTHER_VERSION


def is_writable(path: Path) -> bool:
    """Try what opening the file for writing takes: the file, and room for others beside it."""
    try:
        with tempfile.TemporaryFile(dir=path.parent) as trial:
            trial.write(bytes(NEEDED_BYTES))
    except OSError:
        return False
    return os.access(path, os.W_OK)


def delete_set_aside(path: Path) -> None:
    """Delete what `set_aside` has moved out of the way; raises OSError."""
    for old in path.parent.glob(f"{glob.escape(path.name)}.corrupt-*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Delete an index of ours that nobody wants any more, with its log and what was set aside of it; raises OSError."""
    if recognise(path) in (FileKind.OURS, FileKind.OTHER_VERSION):
        delete_set_aside(path)
        # the file first: SQLite takes a log without a file for nothing
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def set_aside(path: Path) -> None:
    """Move a file, with its log, out of the way as `NAME.corrupt-…`, for as long as there is nothing better.

    Raises OSError.
    """
    # one at most: each may hold what has become private since
    delete_set_aside(path)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # The file before its log: after a kill in between, SQLite deletes a log that has no file beside it, but would take
    # a file without its log for an index, an older one that lacks the last removals.
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(path.with_name(f"{path.name}.corrupt-{stamp}{suffix}"))
