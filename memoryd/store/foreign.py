"""Databases of other programs, which are read and never written: whole tables, row by row.

What such a file holds is not trusted: no view and no trigger is followed, planted functions do not run, and a row that
is damaged ends the table with what was read until then.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from memoryd.errors import InvalidRequest
from memoryd.store.connection import Connector
from memoryd.store.opening import read_header

_HAS_TABLE = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)"


def rows_of_tables(path: Path, tables: tuple[str, ...], *, value_bytes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the columns of each row of some tables, those that are there, in the order of the rows.

    The names are ours, never of the file. No value is longer than `value_bytes`. Raises InvalidRequest for what is no
    database, or is damaged, or has a longer value.
    """
    try:
        read_header(path)
        # without checksums of ours, which no other program writes
        with closing(Connector(path, is_history=True).reader()) as db:
            db.limit(apsw.SQLITE_LIMIT_LENGTH, value_bytes)
            db.pragma("cell_size_check", True)
            for table in tables:
                if db.execute(_HAS_TABLE, (table,)).get:
                    for row in (rows := db.execute(f'SELECT * FROM "{table}" ORDER BY rowid')):
                        yield table, dict(zip((name for name, *_ in rows.get_description()), row, strict=True))
    except (apsw.Error, OSError, ValueError) as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc}", hint="give a database that its program can open") from exc
