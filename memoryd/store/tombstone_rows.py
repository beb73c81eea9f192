"""What is forgotten in a workspace: rows of keyed hashes in the ledger, and nothing that was said."""

from collections.abc import Iterable
from typing import Final

import apsw

from memoryd.store.ledger import Ledger

_PUT: Final = "INSERT OR REPLACE INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, ?)"
_ALL: Final = "SELECT hash, is_pending FROM tombstones WHERE workspace = ?"
_DROP: Final = "DELETE FROM tombstones WHERE workspace = ? AND hash = ?"


class TombstoneRows:
    """The rows of one workspace (its real path). Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def all(self) -> dict[bytes, bool]:
        """Return the hashes, and whether the forgetting of each is still to be finished."""
        none = dict[bytes, bool]()
        return await self._ledger.read(lambda db: {row[0]: bool(row[1]) for row in self._rows(db)}, none)

    async def put(self, hashes: Iterable[bytes], at: float, *, is_pending: bool) -> None:
        """Note hashes at a time, in seconds since 1970."""
        rows = [(self._workspace, one, at, is_pending) for one in hashes]
        await self._ledger.write(lambda db: db.executemany(_PUT, rows) and None, None)

    async def drop(self, hashes: Iterable[bytes]) -> None:
        """Drop hashes: what they name may be remembered again."""
        rows = [(self._workspace, one) for one in hashes]
        await self._ledger.erase(lambda db: db.executemany(_DROP, rows) and None, None)

    def _rows(self, db: apsw.Connection) -> list[tuple[bytes, int]]:
        return list(db.execute(_ALL, (self._workspace,)))
