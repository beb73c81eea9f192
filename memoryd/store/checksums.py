"""Page checksums by SQLite's checksum VFS: a bit that flipped on the disk is found when its page is read.

See https://sqlite.org/cksumvfs.html. apsw brings it as a loadable extension; where it does not, files have none.
"""

from functools import cache

import apsw
from apsw import sqlite_extra

VFS_NAME = "cksmvfs"
RESERVED_BYTES = 8
"""At the end of each page; a file that reserves another number has no checksums."""


@cache
def checksum_vfs() -> str | None:
    """Return the name of the VFS, registered once for the process, or None where there is none."""
    connection = apsw.Connection(":memory:")
    try:
        sqlite_extra.load(connection, "cksumvfs")
    except (sqlite_extra.NotAvailable, LookupError, apsw.Error, AttributeError, OSError):
        return None
    finally:
        connection.close()
    return VFS_NAME


def reserve_checksums(connection: apsw.Connection) -> None:
    """Make room for checksums in a file that is new; it is too late for any other."""
    if checksum_vfs() is not None and connection.pragma("page_count") == 0:
        connection.reserve_bytes("main", RESERVED_BYTES)
