"""What was stated in a workspace: rows of keyed hashes in the ledger, and nothing that was said."""

from collections.abc import Iterable
from typing import Final

import apsw

from memoryd.store.ledger import Ledger

ROWS_MAX: Final = 50_000
"""Of a workspace; the latest stay."""

_PUT: Final = "INSERT OR REPLACE INTO stated_lines (workspace, hash, at) VALUES (?, ?, ?)"
_BOUND: Final = """
DELETE FROM stated_lines WHERE workspace = ?1 AND at < (
    SELECT at FROM stated_lines WHERE workspace = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)
"""
_HAS: Final = "SELECT 1 FROM stated_lines WHERE workspace = ? AND hash = ?"
_DROP: Final = "DELETE FROM stated_lines WHERE workspace = ? AND hash = ?"


class StatedRows:
    """The rows of one workspace (its real path). Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def put(self, hashes: Iterable[bytes], at: float) -> None:
        """Note hashes at a time, in seconds since 1970, and drop the oldest beyond what is kept."""
        rows = [(self._workspace, one, at) for one in hashes]

        def step(db: apsw.Connection) -> None:
            db.executemany(_PUT, rows)
            db.execute(_BOUND, (self._workspace, ROWS_MAX))

        await self._ledger.write(step, None)

    async def among(self, hashes: Iterable[bytes]) -> frozenset[bytes]:
        """Return those of the hashes that are noted."""
        wanted, none = list(hashes), frozenset[bytes]()

        def step(db: apsw.Connection) -> frozenset[bytes]:
            return frozenset(one for one in wanted if db.execute(_HAS, (self._workspace, one)).get)

        return await self._ledger.read(step, none)

    async def drop(self, hashes: Iterable[bytes]) -> None:
        """Drop hashes, of which no byte is left."""
        rows = [(self._workspace, one) for one in hashes]
        await self._ledger.erase(lambda db: db.executemany(_DROP, rows) and None, None)
