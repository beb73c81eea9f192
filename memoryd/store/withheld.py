"""Conversations that are not to be remembered, by agent: all rows, and no clock."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import apsw

from memoryd.errors import StoreUnavailable

MOST_KEYS: Final = 10_000
"""Session keys of one agent that its owner may have marked at once."""
MOST_AGENTS_KEYS: Final = 100
"""Session keys that the agent itself may have marked; they take no room of the owner's."""


class WithheldKind(StrEnum):
    """What a row names."""

    TRANSCRIPT = "transcript"
    KEY = "key"
    """A session key, by its keyed hash."""
    AGENTS_KEY = "agents-key"
    """A session key that the agent marked, and not its owner."""
    PENDING = "pending"
    """A conversation whose forgetting is not finished."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A conversation that is not to be remembered; `since` is in seconds since 1970.

    `is_forgotten`: somebody wanted it forgotten; else it is marked. A transcript is known under another name by the
    keyed hash of its first `head_bytes` bytes.
    """

    kind: WithheldKind
    name: str
    since: float
    is_forgotten: bool = False
    head_bytes: int = 0
    head_hash: bytes = b""

    @property
    def is_hashed(self) -> bool:
        """Whether it holds a hash, which the key of its ledger belongs to."""
        return self.kind in _KEYS or self.head_bytes > 0


_PUT = """
INSERT INTO withheld (agent, kind, name, is_forgotten, head_bytes, head_hash, since) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, kind, name) DO UPDATE SET
    is_forgotten = max(is_forgotten, excluded.is_forgotten), since = excluded.since,
    head_bytes = iif(excluded.head_bytes, excluded.head_bytes, head_bytes),
    head_hash = iif(excluded.head_bytes, excluded.head_hash, head_hash)
"""
_ALL = "SELECT kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld WHERE agent = ?"
_KEYS: Final = (WithheldKind.KEY, WithheldKind.AGENTS_KEY)
_DROP = "DELETE FROM withheld WHERE agent = ? AND kind = ? AND name = ?"


def withhold(db: apsw.Connection, agent: str, one: Withheld, key: bytes) -> bool:
    """Note a conversation, hashed with a key; return False where as many keys are marked as may be.

    Raises StoreUnavailable where there are hashes that are keyed otherwise.
    """
    most = {WithheldKind.KEY: MOST_KEYS, WithheldKind.AGENTS_KEY: MOST_AGENTS_KEYS}.get(one.kind)
    if most is not None and _count(db, agent, one) >= most:
        return False
    if hash_key(db) != key:
        # the file was deleted, or begun anew, since the key was read from it
        if has_hashes(db):
            raise StoreUnavailable("the ledger was replaced by another one", hint="restart memoryd")
        set_hash_key(db, key)
    put(db, agent, one)
    return True


def put(db: apsw.Connection, agent: str, one: Withheld) -> None:
    """Put a row; a mark does not make what was forgotten a mere mark."""
    given = (agent, one.kind, one.name, int(one.is_forgotten), one.head_bytes, one.head_hash, one.since)
    db.execute(_PUT, given)


def release(db: apsw.Connection, agent: str, kind: WithheldKind, name: str) -> bool:
    """Drop a row, and return whether there was one."""
    db.execute(_DROP, (agent, kind, name))
    return db.changes() > 0


def all_withheld(db: apsw.Connection, agent: str) -> list[Withheld]:
    """Return all of an agent."""
    rows = db.execute(_ALL, (agent,))
    return [Withheld(WithheldKind(kind), name, since, bool(gone), *head) for kind, name, since, gone, *head in rows]


def hash_key(db: apsw.Connection) -> bytes:
    """Return what the hashes are keyed with."""
    key: bytes = db.execute("SELECT bytes FROM hash_key").get
    return key


def set_hash_key(db: apsw.Connection, key: bytes) -> None:
    """Have the hashes be keyed with this; only where there are none."""
    db.execute("UPDATE hash_key SET bytes = ?", (key,))


def has_hashes(db: apsw.Connection) -> bool:
    """Tell whether there is a row of any agent with a hash in it."""
    found: int = db.execute("SELECT EXISTS (SELECT 1 FROM withheld WHERE kind IN (?, ?) OR head_bytes)", _KEYS).get
    return bool(found)


def _count(db: apsw.Connection, agent: str, but: Withheld) -> int:
    counted: int = db.execute(
        "SELECT count(*) FROM withheld WHERE agent = ? AND kind = ? AND name <> ?", (agent, but.kind, but.name)
    ).get
    return counted
