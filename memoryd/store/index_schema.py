"""Opening an index file: recognise it, make its tables, or say that it is not ours or not of this version."""

from importlib.resources import files

import apsw

from memoryd.errors import DamagedDatabase, ForeignDatabase

APPLICATION_ID = 0x6D656D64
"""`memd`, in the SQLite header of every database of ours."""
INDEX_VERSION = 1


def prepare_index(connection: apsw.Connection) -> None:
    """Create the tables in an empty file; accept one of this version.

    Raises ForeignDatabase for another program's file and DamagedDatabase for another version of ours
    (the index is a cache: the caller sets the file aside and builds a new one).
    """
    application, version = _identity(connection)
    if application == 0 and version == 0 and _is_empty(connection):
        _create(connection)
    elif application != APPLICATION_ID:
        raise ForeignDatabase(
            f"{connection.filename} is not an index of memoryd",
            hint="set agents.defaults.memorySearch.store.path to another file",
        )
    elif version != INDEX_VERSION:
        raise DamagedDatabase(f"the index has version {version}, this program writes {INDEX_VERSION}")


def _identity(connection: apsw.Connection) -> tuple[int, int]:
    return connection.pragma("application_id"), connection.pragma("user_version")


def _is_empty(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_schema").get)


def _create(connection: apsw.Connection) -> None:
    with connection:
        connection.execute((files("memoryd.store") / "schema" / "index.sql").read_text())
        connection.execute("INSERT INTO chunk_words(chunk_words, rank) VALUES ('secure-delete', 1)")
        connection.execute("INSERT INTO passage_words(passage_words, rank) VALUES ('secure-delete', 1)")
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", INDEX_VERSION)
