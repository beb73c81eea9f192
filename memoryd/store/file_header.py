"""The header of a database file, read without SQLite: whose the file is, and whether it needs its log.

https://www.sqlite.org/fileformat.html#the_database_header. `user_version` is ours to use: its lower half is the
version of the tables, its upper half the seal of `write_ahead`.
"""

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_USER_VERSION_AT, _APPLICATION_ID_AT = 60, 68
_VERSIONS = 0x1_0000
SEALS = 0x8000
"""How many seals there are; after the last one comes 0. Half of what fits: SQLite reads a signed number."""


@dataclass(frozen=True, slots=True)
class FileHeader:
    """What the first bytes of a database say of it."""

    application: int
    version: int
    seal: int


def read_header(path: Path) -> FileHeader | None:
    """Return the header, None of an empty file; raises OSError, ValueError of what is no database.

    Only while no connection of this process is open to the file: closing it would drop SQLite's locks.
    """
    # opening a pipe would wait for somebody to write to it
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        header = os.read(descriptor, HEADER_BYTES)
    finally:
        os.close(descriptor)
    if not header:
        return None
    if len(header) < HEADER_BYTES or not header.startswith(_MAGIC):
        raise ValueError(f"{path} is no database")
    application, number = (struct.unpack_from(">I", header, at)[0] for at in (_APPLICATION_ID_AT, _USER_VERSION_AT))
    return FileHeader(application, version_of(number), seal_of(number))


def version_of(user_version: int) -> int:
    """Return the version of the tables."""
    return user_version % _VERSIONS


def seal_of(user_version: int) -> int:
    """Return the seal."""
    return user_version // _VERSIONS % SEALS


def sealed(user_version: int, seal: int) -> int:
    """Return the number with another seal."""
    return version_of(user_version) + seal % SEALS * _VERSIONS
