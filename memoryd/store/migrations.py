"""Forward-only migrations of databases that cannot be rebuilt.

Each runs in one transaction with its version number, so that a kill leaves the old tables or the new.
"""

from collections.abc import Callable
from contextlib import closing
from functools import cache
from importlib.resources import files

import apsw
from msgspec import Struct

from memoryd.errors import DamagedDatabase, ForeignDatabase, StoreUnavailable
from memoryd.store.connection import transaction
from memoryd.store.opening import version_of

_TABLES = "SELECT type, name, sql FROM sqlite_schema"


class History(Struct, frozen=True):
    """A database's migrations from an empty file to the newest version, version 1 first.

    Each is SQL without BEGIN and COMMIT.
    """

    name: str
    """Its name in errors."""
    application: int
    migrations: tuple[str, ...]

    @property
    def version(self) -> int:
        """The version after the last migration."""
        return len(self.migrations)


def read_migrations(folder: str) -> tuple[str, ...]:
    """Return the migrations `NNNN_what.sql` of a folder of `store/schema` in order; raises ValueError at a gap."""
    folder_files = (files("memoryd.store") / "schema" / folder).iterdir()
    scripts = sorted((file for file in folder_files if file.name.endswith(".sql")), key=lambda file: file.name)
    if [int(file.name[:4]) for file in scripts] != list(range(1, len(scripts) + 1)):
        raise ValueError(f"the migrations of {folder} are not numbered 1, 2, 3 …")
    return tuple(file.read_text() for file in scripts)


def migrate(connection: apsw.Connection, history: History, copy: Callable[[int], None]) -> int:
    """Migrate the tables and check them; return the number of migrations.

    `copy` is called with the old version before an existing file is changed. Raises ForeignDatabase for a newer
    version, without writing, DamagedDatabase if tables are missing, and StoreUnavailable if a migration fails: the file
    is then as before that migration.
    """
    before = version_of(connection.pragma("user_version"))
    require_known(history, before)
    if 0 < before < history.version:
        copy(before)
    _apply(connection, history, before)
    _check_tables(connection, history)
    return history.version - before


def require_known(history: History, version: int, name: str = "") -> None:
    """Raise ForeignDatabase for a version newer than all known ones."""
    if version > history.version:
        raise ForeignDatabase(
            f"{name or history.name} has version {version}, of a newer memoryd; this one knows {history.version}",
            hint="run the memoryd that wrote it, or a newer one",
        )


def check_current(connection: apsw.Connection, history: History) -> None:
    """Check that version and tables are the newest; raises as `migrate`, and StoreUnavailable for an older version."""
    version = version_of(connection.pragma("user_version"))
    require_known(history, version)
    if version < history.version:
        why = "nothing may be written to bring it up to date"
        raise StoreUnavailable(f"{history.name} has version {version} of {history.version}, and {why}")
    _check_tables(connection, history)


def require_own_objects(connection: apsw.Connection, history: History) -> None:
    """Raise ForeignDatabase unless all tables, indexes, triggers and views are those of the file's own version.

    An added trigger would run when memoryd writes.
    """
    version = version_of(connection.pragma("user_version"))
    require_known(history, version)
    own = _tables_of(History(history.name, history.application, history.migrations[:version]))
    # ANALYZE stores its statistics in tables
    objects = {row for row in connection.execute(_TABLES) if not str(row[1]).startswith("sqlite_stat")}
    if other := objects ^ own:
        names = ", ".join(sorted({f"{row[0]} {row[1]}" for row in other}))
        raise ForeignDatabase(f"{history.name} has other tables than ours: {names}", hint="nothing was changed")


def new_database(history: History, *, page_bytes: int) -> bytes:
    """Return the bytes of a database with all tables and no rows."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.pragma("page_size", page_bytes)
        _apply(connection, history)
        return connection.serialize("main")


def _apply(connection: apsw.Connection, history: History, before: int = 0) -> None:
    for version, sql in enumerate(history.migrations[before:], before + 1):
        try:
            with transaction(connection):
                number = connection.pragma("user_version")
                # skip if another process was faster
                if version_of(number) < version:
                    connection.execute(sql).fetchall()
                    connection.pragma("application_id", history.application)
                    # `user_version` also has the seal of the write-ahead log
                    connection.pragma("user_version", number - version_of(number) + version)
        except (apsw.SQLError, apsw.ConstraintError) as exc:
            where = f"the tables of {history.name} cannot be brought to version {version}"
            raise StoreUnavailable(f"{where}: {exc}") from exc


def _check_tables(connection: apsw.Connection, history: History) -> None:
    """Raise DamagedDatabase if a table or an index is missing; additional objects are accepted."""
    if missing := _tables_of(history) - frozenset(connection.execute(_TABLES)):
        names = ", ".join(sorted(row[1] for row in missing))
        raise DamagedDatabase(f"{history.name} lacks its tables, or has others: {names}")


@cache
def _tables_of(history: History) -> frozenset[tuple[str, str, str | None]]:
    with closing(apsw.Connection("")) as connection:
        _apply(connection, history)
        return frozenset(connection.execute(_TABLES))
