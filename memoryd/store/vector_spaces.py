"""Vector spaces: one for each fingerprint of an embedder, and what of their vectors nothing uses any more."""

import json
from collections.abc import Collection

import apsw

NO_SPACE = 0
"""A space that holds nothing: SQLite counts rows from 1."""

_INSERT_SPACE = """
INSERT INTO spaces (fingerprint, provider, model, dimensions, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET created_at = excluded.created_at RETURNING id
"""
_SPACES_OF = """
SELECT id FROM spaces s WHERE provider IN (SELECT value FROM json_each(?))
  AND created_at = (SELECT max(created_at) FROM spaces WHERE provider = s.provider)
"""
_UNUSED = """
FROM vectors v WHERE v.space_id NOT IN (SELECT value FROM json_each(:spaces))
  OR NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = v.hash)
"""
_COUNT_UNUSED = f"SELECT count(*) {_UNUSED}"
_DROP_UNUSED = """
DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = {table}.hash)
"""
_EVICT = f"""
DELETE FROM vectors WHERE id IN (SELECT v.id {_UNUSED} ORDER BY v.used_at DESC, v.id DESC LIMIT -1 OFFSET :keep)
"""


def find_space(db: apsw.Connection, fingerprint: str) -> int | None:
    """Return the id of the vector space of this fingerprint, None if there is none."""
    row = db.execute("SELECT id FROM spaces WHERE fingerprint = ?", (fingerprint,)).fetchone()
    return None if row is None else int(row[0])


def open_space(db: apsw.Connection, *, fingerprint: str, provider: str, model: str, dimensions: int, now: float) -> int:
    """Return the id of the vector space of this fingerprint, made if it is new, and note that it is in use.

    `now` is Unix time.
    """
    space: int = db.execute(_INSERT_SPACE, (fingerprint, provider, model, dimensions, now)).get
    return space


def drop_space(db: apsw.Connection, space: int) -> None:
    """Forget every vector and every rejection of the space; the texts become pending again."""
    db.execute("DELETE FROM vectors WHERE space_id = ?", (space,))
    db.execute("DELETE FROM rejected WHERE space_id = ?", (space,))


def spaces_of(db: apsw.Connection, providers: Collection[str]) -> set[int]:
    """Return the space that each of these providers was last at work in, whether or not it can be asked now."""
    return {row[0] for row in db.execute(_SPACES_OF, (json.dumps(list(providers)),))}


def count_unused(db: apsw.Connection, spaces: Collection[int]) -> int:
    """Count the vectors that no passage uses in these spaces."""
    count: int = db.execute(_COUNT_UNUSED, {"spaces": json.dumps(list(spaces))}).get
    return count


def drop_unused(db: apsw.Connection) -> None:
    """Drop every vector, and every refusal of a model, of a text that no document holds any more."""
    db.execute(_DROP_UNUSED.format(table="vectors"))
    db.execute(_DROP_UNUSED.format(table="rejected"))


def evict_unused(db: apsw.Connection, spaces: Collection[int], keep: int) -> int:
    """Drop all but the `keep` last used vectors that no passage uses in these spaces; return how many went."""
    db.execute(_EVICT, {"spaces": json.dumps(list(spaces)), "keep": keep})
    return db.changes()
