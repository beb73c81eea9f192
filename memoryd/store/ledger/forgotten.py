"""Forgetting in the ledger: erase a memory's rows everywhere in one transaction, and store keyed hashes of it.

Also the data about machines that share a folder: the id of this one, and what is forgotten on all of them. No bytes of
erased rows remain, and no hash reveals a text.
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
from memoryd.store.ledger.turns import DROP_TOLD, ShownRows

_OF_MEMORIES = (
    ("first_seen", "memory"),
    ("opinion_steps", "opinion"),
    ("opinion_steps", "evidence"),
    ("usage", "memory"),
)
"""Tables and columns that name memories: an id is an unkeyed hash of a statement."""
_EXPIRED = """
SELECT id FROM changes WHERE workspace = ? AND writer = 'forget' AND hunks IS NOT NULL AND at < ?
"""
_PROPOSALS = "SELECT id, memories, why, diff FROM proposals WHERE workspace = ?"
"""Proposals also name memories: all that a proposal rests on, separated by spaces in one column."""


class PurgedRows(Struct, frozen=True):
    """Numbers of rows that were deleted or lost text; `changes` are those that can no longer be undone."""

    changes: int = 0
    proposals: int = 0
    held_answers: int = 0
    steps: int = 0


class ForgottenRows(WorkspaceRows):
    """Erases rows about forgotten memories, also in the `others` of the workspace, which belong to other agents."""

    def __init__(self, ledger: Ledger, workspace: str | Path, others: Sequence["ForgottenRows"] = ()) -> None:
        super().__init__(ledger, workspace)
        self._changes = ChangeLog(ledger, workspace)
        self._shown = ShownRows(ledger, workspace)
        self._others = others

    async def purge(self, memories: Set[MemoryId], forgotten: Forgotten) -> PurgedRows:
        """Erase rows that name these memories or contain forgotten text; no bytes remain in file, log or copies.

        Changes keep their other lines.
        """
        changes = await self._changes.purge(forgotten)
        own = replace(await self._purge(memories, forgotten), changes=changes)
        purged = [own, *[await other.purge(memories, forgotten) for other in self._others]]
        return PurgedRows(*map(sum, zip(*map(astuple, purged), strict=True)))

    @reads
    def named(self, db: apsw.Connection) -> frozenset[MemoryId]:
        """Return the memories that rows name, whether or not a line states them."""
        statements = (f"SELECT {column} FROM {table} WHERE workspace = ?" for table, column in _OF_MEMORIES)
        ids = {row[0] for statement in statements for row in db.execute(statement, (self._workspace,))}
        for _, rests_on, *_ in db.execute(_PROPOSALS, (self._workspace,)):
            ids.update(rests_on.split())
        return frozenset(map(MemoryId, ids))

    async def expire(self, before: float) -> int:
        """Remove the lines of forgettings before a time (seconds since 1970), ending their undo; return how many."""
        arguments = (self._workspace, before)
        expired = await self._ledger.read(lambda db: db.execute(_EXPIRED, arguments).fetchall())
        if expired:
            await self._erase_each("UPDATE changes SET hunks = NULL WHERE id = ?", expired)
        await self.blank()
        return len(expired)

    async def blank(self) -> None:
        """Blank the hashes of files from before a text in them was forgotten, for settled changes.

        If an entity page was removed completely, all rows with its path are deleted.
        """
        await self._changes.blank()
        await self._changes.drop_pages(ENTITY_PAGES)

    async def drop_pages(self, existing: Container[str]) -> None:
        """Erase the names of entity pages that no longer exist, under any name that was shown."""
        await self._shown.drop_pages(ENTITY_PAGES, existing)

    @erases
    def _purge(self, db: apsw.Connection, memories: Set[MemoryId], forgotten: Forgotten) -> PurgedRows:
        # the remaining steps of an opinion must form a chain again
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
            if not memories.isdisjoint(rests_on.split()) or any(map(forgotten.is_in, texts))
        ]
        db.executemany("DELETE FROM proposals WHERE id = ?", proposals)
        stored_answers = db.execute("SELECT id, answer FROM held_answers")
        answers = [(number,) for number, text in stored_answers if forgotten.is_in(text) or forgotten.is_near(text)]
        db.executemany("DELETE FROM held_answers WHERE id = ?", answers)
        return PurgedRows(proposals=len(proposals), held_answers=len(answers), steps=steps)


class TombstoneRows(WorkspaceRows):
    """Keyed hashes of forgotten memories."""

    @reads
    def all(self, db: apsw.Connection) -> dict[bytes, bool]:
        """Return the hashes, and whether the forgetting of each is still pending."""
        return {
            row[0]: bool(row[1])
            for row in db.execute("SELECT hash, is_pending FROM tombstones WHERE workspace = ?", (self._workspace,))
        }

    @writes
    def put(self, db: apsw.Connection, hashes: Collection[bytes], at: float, *, is_pending: bool) -> None:
        """Store hashes with a time in seconds since 1970."""
        db.executemany(
            "INSERT OR REPLACE INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, ?)",
            [(self._workspace, digest, at, is_pending) for digest in hashes],
        )

    @erases
    def drop(self, db: apsw.Connection, hashes: Collection[bytes]) -> None:
        """Erase hashes: the memories may be remembered again."""
        db.executemany(
            "DELETE FROM tombstones WHERE workspace = ? AND hash = ?", [(self._workspace, digest) for digest in hashes]
        )


MAX_ROWS = 200_000
"""Maximum number of forgotten memories per workspace; more from other machines are ignored."""


class WrittenLine(Struct, frozen=True):
    """The last line of this machine's journal: machine id, number and hash."""

    machine: str = ""
    number: int = 0
    hash: bytes = b""


class TombstoneState(Struct, frozen=True, order=True):
    """Whether a memory is forgotten, or remembered again, and the time of that in seconds since 1970.

    A state is greater than another if it is later, or at the same time if it is forgotten.
    """

    at: float
    is_forgotten: bool


class MachineRows(WorkspaceRows):
    """Data about the machines on one workspace."""

    @reads
    def last(self, db: apsw.Connection) -> WrittenLine:
        """Return the last line that was written; an empty one if there is none."""
        row = db.execute("SELECT id, number, line FROM machine WHERE workspace = ?", (self._workspace,)).fetchone()
        return WrittenLine() if row is None else WrittenLine(*row)

    @writes
    def claim(self, db: apsw.Connection, line: WrittenLine, *, is_new: bool) -> None:
        """Store a line that is about to be written; a new machine starts with no counts of its own."""
        db.execute(
            "INSERT OR REPLACE INTO machine (workspace, id, number, line) VALUES (?, ?, ?, ?)",
            (self._workspace, line.machine, line.number, line.hash),
        )
        if is_new:
            db.execute("UPDATE usage SET elsewhere = access_count WHERE workspace = ?", (self._workspace,))

    @reads
    def tombstones(self, db: apsw.Connection) -> Mapping[bytes, TombstoneState]:
        """Return the known states of memories, by hash."""
        rows = db.execute(
            "SELECT hash, at, is_forgotten FROM machine_tombstones WHERE workspace = ?", (self._workspace,)
        )
        return {bytes(key): TombstoneState(at, bool(is_forgotten)) for key, at, is_forgotten in rows}

    @writes
    def put(self, db: apsw.Connection, states: Mapping[bytes, TombstoneState]) -> None:
        """Store states, up to the limit."""
        room = max(
            0,
            MAX_ROWS
            - db.execute("SELECT count(*) FROM machine_tombstones WHERE workspace = ?", (self._workspace,)).get,
        )
        rows = [(self._workspace, key, state.at, int(state.is_forgotten)) for key, state in states.items()]
        db.executemany(
            "INSERT OR REPLACE INTO machine_tombstones (workspace, hash, at, is_forgotten) VALUES (?, ?, ?, ?)",
            rows[:room],
        )
