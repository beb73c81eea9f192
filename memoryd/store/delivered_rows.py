"""Spans that were delivered to sessions, in the ledger: keyed hashes, for a week, and no word of what was said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import apsw

from memoryd.domain.memories.capture.firewall import HASH_BYTES, SpanPrint
from memoryd.store.ledger import Ledger

KEPT_SECONDS: Final = 7 * 24 * 3600.0
"""How long an echo of what was delivered is known for one."""
ROWS_MAX: Final = 20_000
"""Of a workspace; the latest stay."""

_PUT = """
INSERT OR REPLACE INTO delivered_spans (workspace, agent, session, whole, words, runs, is_negated, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_EXPIRE = "DELETE FROM delivered_spans WHERE workspace = ? AND at < ?"
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


@dataclass(frozen=True, slots=True)
class DeliveredRow:
    """A span as it was delivered to a session (its keyed hash) at a time, in seconds since 1970."""

    agent: str
    session: str
    span: SpanPrint
    at: float


class DeliveredRows:
    """The rows of one workspace (its real path). Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def key(self, proposed: bytes) -> bytes:
        """Return what the hashes are keyed with: the first that was proposed."""

        def step(db: apsw.Connection) -> bytes:
            db.execute(_MAKE_KEY, (self._workspace, proposed))
            return bytes(db.execute(_KEY, (self._workspace,)).get)

        return await self._ledger.write(step, proposed)

    async def put(self, rows: Sequence[DeliveredRow], now: float) -> None:
        """Note spans, and drop those that are too old or too many."""
        values = [self._values(row) for row in rows]

        def step(db: apsw.Connection) -> None:
            db.executemany(_PUT, values)
            db.execute(_EXPIRE, (self._workspace, now - KEPT_SECONDS))
            db.execute(_BOUND, (self._workspace, ROWS_MAX))

        await self._ledger.write(step, None)

    async def of(self, agent: str, session: str, limit: int) -> list[SpanPrint]:
        """Return the latest spans of a session, the oldest of them first."""
        given = (self._workspace, agent, session, limit)
        none = list[SpanPrint]()
        return await self._ledger.read(lambda db: [_span(*row) for row in db.execute(_OF, given)][::-1], none)

    def _values(self, row: DeliveredRow) -> tuple[object, ...]:
        span = row.span
        packed = (span.whole, _packed(span.words), _packed(span.runs), int(span.is_negated))
        return (self._workspace, row.agent, row.session, *packed, row.at)


def _packed(hashes: Iterable[bytes]) -> bytes:
    return b"".join(sorted(hashes))


def _span(whole: bytes, words: bytes, runs: bytes, is_negated: int) -> SpanPrint:
    return SpanPrint(whole, _unpacked(words), _unpacked(runs), bool(is_negated))


def _unpacked(data: bytes) -> frozenset[bytes]:
    return frozenset(data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES))
