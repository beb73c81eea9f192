"""Forward-only migrations: a database that cannot be made anew is brought from version to version, never back.

Each is one transaction together with the version that it leads to, so that a kill leaves the old tables or the new.
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
    """What a database has been and is now: all migrations from an empty file on, version 1 first.

    Each is SQL without BEGIN and COMMIT.
    """

    name: str
    """What errors call it."""
    application: int
    migrations: tuple[str, ...]

    @property
    def version(self) -> int:
        """Return the version that the last migration leads to."""
        return len(self.migrations)


def read_migrations(folder: str) -> tuple[str, ...]:
    """Return the migrations `NNNN_what.sql` of a folder of `store/schema` in order; raises ValueError at a gap."""
    found = [one for one in (files("memoryd.store") / "schema" / folder).iterdir() if one.name.endswith(".sql")]
    found.sort(key=lambda one: one.name)
    if [int(one.name[:4]) for one in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations of {folder} are not numbered 1, 2, 3 …")
    return tuple(one.read_text() for one in found)


def migrate(connection: apsw.Connection, history: History, copy: Callable[[int], None]) -> int:
    """Bring the tables up to date and compare them; return how many migrations that took.

    `copy` is called with the version that a file has before it changes, not for a new one. Raises ForeignDatabase for
    a newer version, of which nothing is written, DamagedDatabase when tables are lacking, StoreUnavailable when a
    migration fails: then the file is as it was before that one.
    """
    before = version_of(connection.pragma("user_version"))
    require_known(history, before)
    if 0 < before < history.version:
        copy(before)
    _apply(connection, history, before)
    _check_tables(connection, history)
    return history.version - before


def require_known(history: History, version: int, name: str = "") -> None:
    """Raise ForeignDatabase for a version that is newer than all that are known."""
    if version > history.version:
        raise ForeignDatabase(
            f"{name or history.name} has version {version}, of a newer memoryd; this one knows {history.version}",
            hint="run the memoryd that wrote it, or a newer one",
        )


def check_current(connection: apsw.Connection, history: History) -> None:
    """Compare version and tables with the newest ones; raises as `migrate` does, StoreUnavailable for an older one."""
    version = version_of(connection.pragma("user_version"))
    require_known(history, version)
    if version < history.version:
        why = "nothing may be written to bring it up to date"
        raise StoreUnavailable(f"{history.name} has version {version} of {history.version}, and {why}")
    _check_tables(connection, history)


def require_own_objects(connection: apsw.Connection, history: History) -> None:
    """Raise ForeignDatabase unless all tables, indexes, triggers and views are those of the file's own version.

    A trigger that somebody added would run with what we write.
    """
    version = version_of(connection.pragma("user_version"))
    require_known(history, version)
    own = _tables_of(History(history.name, history.application, history.migrations[:version]))
    # ANALYZE keeps its figures in tables
    found = {row for row in connection.execute(_TABLES) if not str(row[1]).startswith("sqlite_stat")}
    if other := found ^ own:
        names = ", ".join(sorted({f"{row[0]} {row[1]}" for row in other}))
        raise ForeignDatabase(f"{history.name} has other tables than ours: {names}", hint="nothing was changed")


def new_database(history: History, *, page_bytes: int) -> bytes:
    """Return the bytes of a database that has all its tables and no row."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.pragma("page_size", page_bytes)
        _apply(connection, history)
        return connection.serialize("main")


def _apply(connection: apsw.Connection, history: History, before: int = 0) -> None:
    for version, sql in enumerate(history.migrations[before:], before + 1):
        try:
            with transaction(connection):
                number = connection.pragma("user_version")
                # else another process was here first
                if version_of(number) < version:
                    connection.execute(sql).fetchall()
                    connection.pragma("application_id", history.application)
                    # the seal of the write-ahead log stands in the same number
                    connection.pragma("user_version", number - version_of(number) + version)
        except (apsw.SQLError, apsw.ConstraintError) as exc:
            where = f"the tables of {history.name} cannot be brought to version {version}"
            raise StoreUnavailable(f"{where}: {exc}") from exc


def _check_tables(connection: apsw.Connection, history: History) -> None:
    """Raise DamagedDatabase if a table or an index is lacking; what a person added does no harm."""
    if lacking := _tables_of(history) - frozenset(connection.execute(_TABLES)):
        names = ", ".join(sorted(row[1] for row in lacking))
        raise DamagedDatabase(f"{history.name} lacks its tables, or has others: {names}")


@cache
def _tables_of(history: History) -> frozenset[tuple[str, str, str | None]]:
    with closing(apsw.Connection("")) as connection:
        _apply(connection, history)
        return frozenset(connection.execute(_TABLES))
