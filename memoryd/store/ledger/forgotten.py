"""Forgetting in the ledger: delete a memory's rows everywhere in one transaction, and keep keyed hashes of it.

No byte of the deleted rows is left, and no hash reveals what was said.
"""

from collections.abc import Iterable, Iterator, Set
from typing import Final

import apsw
from msgspec import Struct

from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.changes.forgetting import ENTITY_PAGES
from memoryd.domain.memories.kinds import MemoryId
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.reflect import forget_steps

_OF_MEMORIES: Final = (
    ("first_seen", "memory"),
    ("opinion_steps", "opinion"),
    ("opinion_steps", "evidence"),
    ("usage", "memory"),
)
"""Tables and columns that name memories: an id is a hash of what was said, and is not keyed."""
_EXPIRED: Final = """
SELECT id FROM changes WHERE workspace = ? AND writer = 'forget' AND hunks IS NOT NULL AND at < ?
"""


class PurgedRows(Struct, frozen=True):
    """How many rows went, or lost their text; `changes` are those that cannot be undone any more."""

    changes: int = 0
    proposals: int = 0
    held_answers: int = 0
    steps: int = 0


class ForgottenRows:
    """The rows of one workspace. Verbs raise StoreError and Denied."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace
        self._changes = ChangeLog(ledger, workspace)

    async def purge(self, memories: Set[MemoryId], gone: Forgotten) -> PurgedRows:
        """Delete what names these memories, or tells what is forgotten; no byte of it is left in file, log or copies.

        Changes keep their other lines.
        """
        changes = await self._changes.purge(gone)
        rows = await self._ledger.erase(lambda db: self._purge(db, memories, gone), PurgedRows())
        return PurgedRows(changes, rows.proposals, rows.held_answers, rows.steps)

    async def named(self) -> frozenset[MemoryId]:
        """Return the memories that rows name, whether or not a line states them."""
        none: frozenset[MemoryId] = frozenset()
        return await self._ledger.read(lambda db: frozenset(self._named(db)), none)

    async def expire(self, before: float) -> int:
        """Take the lines out of forgettings that could be undone until then, in seconds since 1970; return how many."""
        none: list[tuple[int]] = []
        expired = await self._ledger.read(lambda db: _numbers(db, self._workspace, before), none)
        if expired:
            await self._ledger.erase(
                lambda db: db.executemany("UPDATE changes SET hunks = NULL WHERE id = ?", expired) and None, None
            )
        await self.blank()
        return len(expired)

    async def blank(self) -> None:
        """Blank the hashes of files from before something was forgotten in them, as far as it is settled.

        The page of an entity that went as a whole takes the rows with it that name it.
        """
        await self._changes.blank()
        await self._changes.drop_pages(ENTITY_PAGES)

    def _purge(self, db: apsw.Connection, memories: Set[MemoryId], gone: Forgotten) -> PurgedRows:
        # what is left of an opinion's steps must still come out of each other
        steps = forget_steps(db, self._workspace, sorted(memories))
        steps += sum(self._drop(db, table, column, memories) for table, column in _OF_MEMORIES)
        proposals = [
            number
            for number, *texts in db.execute(
                "SELECT id, why, diff FROM proposals WHERE workspace = ?", (self._workspace,)
            )
            if any(map(gone.is_in, texts))
        ]
        db.executemany("DELETE FROM proposals WHERE id = ?", [(one,) for one in proposals])
        answers = [
            number
            for number, text in db.execute("SELECT id, answer FROM held_answers")
            if gone.is_in(text) or gone.is_near(text)
        ]
        db.executemany("DELETE FROM held_answers WHERE id = ?", [(one,) for one in answers])
        return PurgedRows(proposals=len(proposals), held_answers=len(answers), steps=steps)

    def _drop(self, db: apsw.Connection, table: str, column: str, memories: Set[MemoryId]) -> int:
        dropped = 0
        for memory in memories:
            db.execute(f"DELETE FROM {table} WHERE workspace = ? AND {column} = ?", (self._workspace, memory))
            dropped += db.changes()
        return dropped

    def _named(self, db: apsw.Connection) -> Iterator[MemoryId]:
        for table, column in _OF_MEMORIES:
            rows = db.execute(f"SELECT DISTINCT {column} FROM {table} WHERE workspace = ?", (self._workspace,))
            yield from (MemoryId(row[0]) for row in rows)


def _numbers(db: apsw.Connection, workspace: str, before: float) -> list[tuple[int]]:
    return [(int(row[0]),) for row in db.execute(_EXPIRED, (workspace, before))]


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
        none, given = dict[bytes, bool](), (self._workspace,)
        return await self._ledger.read(lambda db: {row[0]: bool(row[1]) for row in db.execute(_ALL, given)}, none)

    async def put(self, hashes: Iterable[bytes], at: float, *, is_pending: bool) -> None:
        """Note hashes at a time, in seconds since 1970."""
        rows = [(self._workspace, one, at, is_pending) for one in hashes]
        await self._ledger.write(lambda db: db.executemany(_PUT, rows) and None, None)

    async def drop(self, hashes: Iterable[bytes]) -> None:
        """Drop hashes: what they name may be remembered again."""
        rows = [(self._workspace, one) for one in hashes]
        await self._ledger.erase(lambda db: db.executemany(_DROP, rows) and None, None)
