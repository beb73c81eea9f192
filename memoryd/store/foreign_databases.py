"""Databases of other programs that lie in our folders."""

from pathlib import Path

import apsw


def cut_log(path: Path, *, busy_seconds: float) -> bool:
    """Move the write-ahead log of a database into its file and cut it to nothing, with all that was deleted since.

    Return whether that is done: not while another connection reads, nor in what is no database. Blocks.
    """
    try:
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return False
    try:
        database.set_busy_timeout(int(busy_seconds * 1000))
        # a connection that has read nothing knows of no log
        database.pragma("schema_version")
        database.wal_checkpoint(None, apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    finally:
        database.close()
    return True
