"""Forgetting in the ledger: delete a memory's rows everywhere in one transaction, and keep keyed hashes of it.

Also what is kept of the machines on one folder: which of them this is, and what is forgotten on all of them. No byte of
the deleted rows is left, and no hash reveals what was said.
"""

from collections.abc import Collection, Container, Mapping, Sequence, Set
from pathlib import Path

import apsw
from msgspec import Struct
from msgspec.structs import astuple, replace

from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.entities import ENTITY_PAGES
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger, WorkspaceRows, erases
from memoryd.store.ledger.reflect import forget_steps
from memoryd.store.ledger.turns import DROP_TOLD, ToldRows

_OF_MEMORIES = (
    ("first_seen", "memory"),
    ("opinion_steps", "opinion"),
    ("opinion_steps", "evidence"),
    ("usage", "memory"),
)
"""Tables and columns that name memories: an id is a hash of what was said, and is not keyed."""
_EXPIRED = """
SELECT id FROM changes WHERE workspace = ? AND writer = 'forget' AND hunks IS NOT NULL AND at < ?
"""
_PROPOSALS = "SELECT id, memories, why, diff FROM proposals WHERE workspace = ?"
"""These name memories, too: all that one rests on, by words in one column."""


class PurgedRows(Struct, frozen=True):
    """How many rows went, or lost their text; `changes` are those that cannot be undone any more."""

    changes: int = 0
    proposals: int = 0
    held_answers: int = 0
    steps: int = 0


class ForgottenRows(WorkspaceRows):
    """What of the rows is to be forgotten, in the `others` of the workspace, too, which other agents have."""

    def __init__(self, ledger: Ledger, workspace: str | Path, others: Sequence["ForgottenRows"] = ()) -> None:
        super().__init__(ledger, workspace)
        self._changes = ChangeLog(ledger, workspace)
        self._told = ToldRows(ledger, workspace)
        self._others = others

    async def purge(self, memories: Set[MemoryId], gone: Forgotten) -> PurgedRows:
        """Delete what names these memories, or tells what is forgotten; no byte of it is left in file, log or copies.

        Changes keep their other lines.
        """
        changes = await self._changes.purge(gone)
        own = replace(await self._purge(memories, gone), changes=changes)
        purged = [own, *[await other.purge(memories, gone) for other in self._others]]
        return PurgedRows(*map(sum, zip(*map(astuple, purged), strict=True)))

    @reads
    def named(self, db: apsw.Connection) -> frozenset[MemoryId]:
        """Return the memories that rows name, whether or not a line states them."""
        statements = (f"SELECT {column} FROM {table} WHERE workspace = ?" for table, column in _OF_MEMORIES)
        ids = {row[0] for one in statements for row in db.execute(one, (self._workspace,))}
        for _, rests_on, *_ in db.execute(_PROPOSALS, (self._workspace,)):
            ids.update(rests_on.split())
        return frozenset(map(MemoryId, ids))

    async def expire(self, before: float) -> int:
        """Take the lines out of forgettings that could be undone until then, in seconds since 1970; return how many."""
        given = (self._workspace, before)
        expired = await self._ledger.read(lambda db: db.execute(_EXPIRED, given).fetchall())
        if expired:
            await self._erase_each("UPDATE changes SET hunks = NULL WHERE id = ?", expired)
        await self.blank()
        return len(expired)

    async def blank(self) -> None:
        """Blank the hashes of files from before something was forgotten in them, as far as it is settled.

        The page of an entity that went as a whole takes the rows with it that name it.
        """
        await self._changes.blank()
        await self._changes.drop_pages(ENTITY_PAGES)

    async def drop_pages(self, kept: Container[str]) -> None:
        """Name no page of an entity that is not there any more, under whatever name it was told."""
        await self._told.drop_pages(ENTITY_PAGES, kept)

    @erases
    def _purge(self, db: apsw.Connection, memories: Set[MemoryId], gone: Forgotten) -> PurgedRows:
        # what is left of an opinion's steps must still come out of each other
        steps = forget_steps(db, self._workspace, sorted(memories))
        named = [(self._workspace, memory) for memory in memories]
        before = db.total_changes()
        for table, column in _OF_MEMORIES:
            db.executemany(f"DELETE FROM {table} WHERE workspace = ? AND {column} = ?", named)
        db.executemany(DROP_TOLD, [(self._workspace, short_id(memory)) for memory in memories])
        steps += db.total_changes() - before
        proposals = [
            (number,)
            for number, rests_on, *texts in db.execute(_PROPOSALS, (self._workspace,))
            if not memories.isdisjoint(rests_on.split()) or any(map(gone.is_in, texts))
        ]
        db.executemany("DELETE FROM proposals WHERE id = ?", proposals)
        held = db.execute("SELECT id, answer FROM held_answers")
        answers = [(number,) for number, text in held if gone.is_in(text) or gone.is_near(text)]
        db.executemany("DELETE FROM held_answers WHERE id = ?", answers)
        return PurgedRows(proposals=len(proposals), held_answers=len(answers), steps=steps)


_PUT = "INSERT OR REPLACE INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, ?)"
_ALL = "SELECT hash, is_pending FROM tombstones WHERE workspace = ?"
_DROP = "DELETE FROM tombstones WHERE workspace = ? AND hash = ?"


class TombstoneRows(WorkspaceRows):
    """Keyed hashes of what was forgotten."""

    @reads
    def all(self, db: apsw.Connection) -> dict[bytes, bool]:
        """Return the hashes, and whether the forgetting of each is still to be finished."""
        return {row[0]: bool(row[1]) for row in db.execute(_ALL, (self._workspace,))}

    @writes
    def put(self, db: apsw.Connection, hashes: Collection[bytes], at: float, *, is_pending: bool) -> None:
        """Note hashes at a time, in seconds since 1970."""
        db.executemany(_PUT, [(self._workspace, one, at, is_pending) for one in hashes])

    @erases
    def drop(self, db: apsw.Connection, hashes: Collection[bytes]) -> None:
        """Drop hashes: what they name may be remembered again."""
        db.executemany(_DROP, [(self._workspace, one) for one in hashes])


MAX_ROWS = 200_000
"""Of what is forgotten, in one workspace; beyond it others tell in vain."""
_WHO = "SELECT id, number, line FROM machine WHERE workspace = ?"
_CLAIM = "INSERT OR REPLACE INTO machine (workspace, id, number, line) VALUES (?, ?, ?, ?)"
_OWN_NOTHING = "UPDATE usage SET elsewhere = access_count WHERE workspace = ?"
_ALL_STATES = "SELECT hash, at, is_forgotten FROM machine_tombstones WHERE workspace = ?"
_COUNT = "SELECT count(*) FROM machine_tombstones WHERE workspace = ?"
_PUT_STATE = "INSERT OR REPLACE INTO machine_tombstones (workspace, hash, at, is_forgotten) VALUES (?, ?, ?, ?)"


class WrittenLine(Struct, frozen=True):
    """The last line of one's own journal: the machine and the number in it, and its hash."""

    machine: str = ""
    number: int = 0
    hash: bytes = b""


class TombstoneState(Struct, frozen=True):
    """Whether something is forgotten, or remembered again, and since when, in seconds since 1970."""

    at: float
    is_forgotten: bool


class MachineRows(WorkspaceRows):
    """What is kept of the machines on one workspace."""

    @reads
    def last(self, db: apsw.Connection) -> WrittenLine:
        """Return the line that was written last; one of no machine where none was."""
        row = db.execute(_WHO, (self._workspace,)).fetchone()
        return WrittenLine() if row is None else WrittenLine(*row)

    @writes
    def claim(self, db: apsw.Connection, line: WrittenLine, *, is_new: bool) -> None:
        """Note a line that is about to be written; a machine that is new has counted nothing yet."""
        db.execute(_CLAIM, (self._workspace, line.machine, line.number, line.hash))
        if is_new:
            db.execute(_OWN_NOTHING, (self._workspace,))

    @reads
    def tombstones(self, db: apsw.Connection) -> Mapping[bytes, TombstoneState]:
        """Return what is known to be forgotten, or remembered again, by its hashes."""
        rows = db.execute(_ALL_STATES, (self._workspace,))
        return {bytes(key): TombstoneState(at, bool(is_forgotten)) for key, at, is_forgotten in rows}

    @writes
    def put(self, db: apsw.Connection, states: Mapping[bytes, TombstoneState]) -> None:
        """Note what is forgotten, or remembered again."""
        room = max(0, MAX_ROWS - db.execute(_COUNT, (self._workspace,)).get)
        rows = [(self._workspace, key, one.at, int(one.is_forgotten)) for key, one in states.items()]
        db.executemany(_PUT_STATE, rows[:room])
