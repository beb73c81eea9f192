"""Capture in the ledger, for a week and without a word of text: places of queued messages, hashes of shown spans."""

from collections.abc import Collection, Iterable, Sequence

import apsw
from msgspec import Struct

from memoryd.domain.memories.capture.firewall import HASH_BYTES, SpanPrint
from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.ledger import WorkspaceRows

RETENTION_SECONDS = 7 * 24 * 3600.0
AWAITED_MAX = 5_000
"""Of a workspace."""
TRIES_MAX = 10
"""So often a message is put in line again: one that ends the daemon each time must not do so for ever."""

_PUT_AWAITED = """
INSERT OR IGNORE INTO awaited_messages
(workspace, agent, session, seq, scope, channel, is_direct, is_owners, tries, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
"""
_COUNT = "SELECT count(*) FROM awaited_messages WHERE workspace = ?"
_EXPIRE_AWAITED = "DELETE FROM awaited_messages WHERE workspace = ? AND (at < ? OR tries >= ?)"
_DROP = "DELETE FROM awaited_messages WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?"
_TRIED = """
UPDATE awaited_messages SET tries = tries + 1 WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?
"""
_ALL = """
SELECT agent, session, seq, scope, channel, is_direct, is_owners FROM awaited_messages
WHERE workspace = ? ORDER BY at, agent, session, seq
"""


class MessagePlace(Struct, frozen=True):
    """Where a message stands: the turn of a session of an agent that asks it."""

    agent: str
    session: str
    seq: int


class QueuedMessage(Struct, frozen=True, kw_only=True):
    """A message of which memories are still to be made, and what its session does not say of it."""

    place: MessagePlace
    scope: str = ""
    channel: str | None = None
    is_direct: bool = True
    is_owners: bool = True


class QueuedMessages(WorkspaceRows):
    """The messages of which memories are still to be made."""

    @writes
    def put(self, db: apsw.Connection, one: QueuedMessage, now: float) -> bool:
        """Note a message at a time in seconds since 1970; return False where too many are noted."""
        if db.execute(_COUNT, (self._workspace,)).get >= AWAITED_MAX:
            return False
        head = (*self._key(one.place), one.scope, one.channel)
        db.execute(_PUT_AWAITED, (*head, int(one.is_direct), int(one.is_owners), now))
        return True

    async def drop(self, places: Collection[MessagePlace]) -> None:
        """Drop messages: their memories are made, or there are none."""
        if places:
            await self._write_each(_DROP, [self._key(place) for place in places])

    async def take_up(self, places: Collection[MessagePlace]) -> None:
        """Count one try more of messages that are put in line again."""
        if places:
            await self._write_each(_TRIED, [self._key(place) for place in places])

    async def all(self, now: float) -> list[QueuedMessage]:
        """Return what is awaited, the oldest first, and drop what is too old or was tried too often."""
        return await self._left(now) if await self._ledger.read(self._found) else []

    @writes
    def _left(self, db: apsw.Connection, now: float) -> list[QueuedMessage]:
        db.execute(_EXPIRE_AWAITED, (self._workspace, now - RETENTION_SECONDS, TRIES_MAX))
        return self._found(db)

    def _found(self, db: apsw.Connection) -> list[QueuedMessage]:
        return [
            QueuedMessage(
                place=MessagePlace(*place),
                scope=scope,
                channel=channel,
                is_direct=bool(is_direct),
                is_owners=bool(is_owners),
            )
            for *place, scope, channel, is_direct, is_owners in db.execute(_ALL, (self._workspace,))
        ]

    def _key(self, place: MessagePlace) -> tuple[str, str, str, int]:
        return (self._workspace, place.agent, place.session, place.seq)


SHOWN_MAX = 20_000
"""Of a workspace; the latest stay."""

_PUT_DELIVERED = """
INSERT OR REPLACE INTO delivered_spans (workspace, agent, session, whole, words, runs, is_negated, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_EXPIRE_DELIVERED = "DELETE FROM delivered_spans WHERE workspace = ? AND at < ?"
_BOUND = """
DELETE FROM delivered_spans WHERE workspace = ?1 AND at < (
    SELECT at FROM delivered_spans WHERE workspace = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)
"""
_OF = """
SELECT whole, words, runs, is_negated FROM delivered_spans
WHERE workspace = ? AND agent = ? AND session = ? ORDER BY at DESC LIMIT ?
"""
_MAKE_KEY = "INSERT OR IGNORE INTO delivered_key (workspace, key) VALUES (?, ?)"
_KEY = "SELECT key FROM delivered_key WHERE workspace = ?"


class ShownSpan(Struct, frozen=True):
    """A span as it was delivered to a session (its keyed hash) at a time, in seconds since 1970."""

    agent: str
    session: str
    span: SpanPrint
    at: float


class ShownSpanRows(WorkspaceRows):
    """The spans that sessions were shown."""

    @writes
    def key(self, db: apsw.Connection, proposed: bytes) -> bytes:
        """Return what the hashes are keyed with: the first that was proposed."""
        db.execute(_MAKE_KEY, (self._workspace, proposed))
        return bytes(db.execute(_KEY, (self._workspace,)).get)

    @reads
    def key_so_far(self, db: apsw.Connection, _proposed: bytes) -> bytes:
        """Return the same, no bytes where none was proposed, and propose none."""
        return bytes(db.execute(_KEY, (self._workspace,)).get or b"")

    @writes
    def put(self, db: apsw.Connection, rows: Sequence[ShownSpan], now: float) -> None:
        """Note spans, and drop those that are too old or too many."""
        for row in rows:
            span = row.span
            packed = (span.whole, _packed(span.words), _packed(span.runs), int(span.is_negated))
            db.execute(_PUT_DELIVERED, (self._workspace, row.agent, row.session, *packed, row.at))
        db.execute(_EXPIRE_DELIVERED, (self._workspace, now - RETENTION_SECONDS))
        db.execute(_BOUND, (self._workspace, SHOWN_MAX))

    @reads
    def of(self, db: apsw.Connection, agent: str, session: str, limit: int) -> list[SpanPrint]:
        """Return the latest spans of a session, the oldest of them first."""
        return [
            SpanPrint(whole, _unpacked(words), _unpacked(runs), bool(is_negated))
            for whole, words, runs, is_negated in db.execute(_OF, (self._workspace, agent, session, limit))
        ][::-1]


def _packed(hashes: Iterable[bytes]) -> bytes:
    return b"".join(sorted(hashes))


def _unpacked(data: bytes) -> frozenset[bytes]:
    return frozenset(data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES))
