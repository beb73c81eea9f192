"""One connection to a database file, set up as we want it: page checksums, pragmas, sqlite-vec."""

from pathlib import Path

import apsw
import sqlite_vec

from memoryd.store.checksums import checksum_vfs, reserve_checksums

BUSY_TIMEOUT_MS = 5_000
PAGE_BYTES = 8_192
"""Five vectors of 384 numbers fit into such a page, two into one of half the size."""
PAGE_CACHE_KIB = 16_384
WAL_LIMIT_BYTES = 64 * 2**20

_WRITER_PRAGMAS = f"""
PRAGMA page_size = {PAGE_BYTES};
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -{PAGE_CACHE_KIB};
PRAGMA journal_size_limit = {WAL_LIMIT_BYTES};
"""
_READER_PRAGMAS = "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -4096;"


class Connector:
    """Connects to one file. All of it blocks, and raises the driver's errors.

    `is_history`: what it holds cannot be made anew. Each commit then outlasts a loss of power; and pages have no
    checksums, since after a crash the pages of the log, moved by a person's SQLite, would count as damaged.
    """

    def __init__(
        self,
        path: Path,
        *,
        vector_extension: Path | None = None,
        loads_vectors: bool = False,
        is_history: bool = False,
    ) -> None:
        self.path = path
        self.vector_error: str | None = None if loads_vectors else "store.vector.enabled is false"
        """Why the connections have no sqlite-vec."""
        self._vector_extension = vector_extension
        self._is_history = is_history

    def writer(self) -> apsw.Connection:
        """Connect for writing; the file is made if there is none."""
        pragmas = _WRITER_PRAGMAS + ("PRAGMA synchronous = FULL;" if self._is_history else "")
        return self._connect(str(self.path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, pragmas)

    def reader(self, uri: str = "") -> apsw.Connection:
        """Connect for reading; a `uri` of the file may say more of how."""
        flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if uri else 0)
        return self._connect(uri or str(self.path), flags, _READER_PRAGMAS)

    def _connect(self, name: str, flags: int, pragmas: str) -> apsw.Connection:
        connection = apsw.Connection(name, flags=flags, vfs=None if self._is_history else checksum_vfs())
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            # no statement, planted ones in a file from elsewhere included, writes the schema or what lies behind FTS5
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            if not self._is_history:
                # a file has room for checksums from its first page on, or never
                reserve_checksums(connection)
            # A script stops at each row it returns, and some pragmas return one: all must be fetched.
            connection.execute(pragmas).fetchall()
        except BaseException:
            connection.close()
            raise
        if self.vector_error is None:
            self._load_vector_extension(connection)
        return connection

    def _load_vector_extension(self, connection: apsw.Connection) -> None:
        try:
            connection.enable_load_extension(True)
            connection.load_extension(str(self._vector_extension or sqlite_vec.loadable_path()))
        except (apsw.Error, OSError, AttributeError) as exc:
            self.vector_error = f"cannot load sqlite-vec: {exc}"
        finally:
            # also after a failure: as long as it is on, SQL may load code, too
            connection.enable_load_extension(False)
