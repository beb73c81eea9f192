"""Usage of the memories of a workspace, the day each was first seen, and keyed hashes of statements.

These rows contain numbers, ids and hashes, and no text. The first day is needed for memories in files without a date in
their name.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta

import apsw

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import Tier, TierBasis, Usage
from memoryd.store.connection import json_array
from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.changes import ChangeRow, add_change
from memoryd.store.ledger.ledger import WorkspaceRows, erases

MAX_NOTED = 200_000
"""Maximum number of memories per workspace whose day is stored; others get the day of their file."""

_EPOCH = date(1970, 1, 1)
_DAYS = """
SELECT memory, day FROM first_seen WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))
"""
_NOTE = """
INSERT INTO first_seen (workspace, memory, day) VALUES (?, ?, ?)
ON CONFLICT (workspace, memory) DO UPDATE SET day = min(day, excluded.day)
"""


class FirstSeen(WorkspaceRows):
    """The days on which memories were first seen."""

    @reads
    def days(self, db: apsw.Connection, memories: Collection[MemoryId]) -> Mapping[MemoryId, date]:
        """Return the known days of these memories."""
        rows = db.execute(_DAYS, (self._workspace, json_array(memories)))
        return {MemoryId(memory): _EPOCH + timedelta(days=day) for memory, day in rows}

    @writes
    def note(self, db: apsw.Connection, days: Mapping[MemoryId, date]) -> None:
        """Store these days; the earlier day wins."""
        room = MAX_NOTED - db.execute("SELECT count(*) FROM first_seen WHERE workspace = ?", (self._workspace,)).get
        rows = [(self._workspace, memory, (day - _EPOCH).days) for memory, day in days.items()]
        db.executemany(_NOTE, rows[: max(room, 0)])


ROWS_MAX = 50_000
"""Maximum number of hashes per workspace; the oldest are deleted."""

_BOUND = """
DELETE FROM stated_lines WHERE workspace = ?1 AND at < (
    SELECT at FROM stated_lines WHERE workspace = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)
"""


class RetainedHashes(WorkspaceRows):
    """Keyed hashes of statements."""

    @writes
    def put(self, db: apsw.Connection, hashes: Collection[bytes], at: float) -> None:
        """Store hashes with a time in seconds since 1970, and delete the oldest above the limit."""
        db.executemany(
            "INSERT OR REPLACE INTO stated_lines (workspace, hash, at) VALUES (?, ?, ?)",
            [(self._workspace, digest, at) for digest in hashes],
        )
        db.execute(_BOUND, (self._workspace, ROWS_MAX))

    @reads
    def among(self, db: apsw.Connection, hashes: Collection[bytes]) -> frozenset[bytes]:
        """Return those of the hashes that are stored."""
        return frozenset(
            digest
            for digest in hashes
            if db.execute("SELECT 1 FROM stated_lines WHERE workspace = ? AND hash = ?", (self._workspace, digest)).get
        )

    @erases
    def drop(self, db: apsw.Connection, hashes: Collection[bytes]) -> None:
        """Erase hashes; no bytes remain in the file."""
        db.executemany(
            "DELETE FROM stated_lines WHERE workspace = ? AND hash = ?",
            [(self._workspace, digest) for digest in hashes],
        )


MAX_USAGE_ROWS = 200_000
"""Maximum number of memories per workspace."""

_ALL = """
SELECT memory, access_count, touched_at, tier, judged_at, importance, is_pinned, is_earned, elsewhere FROM usage
WHERE workspace = ? ORDER BY memory LIMIT ?
"""
_PUT_USAGE = """
INSERT INTO usage
(workspace, memory, access_count, touched_at, tier, judged_at, importance, is_pinned, is_earned, elsewhere,
missing_since)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
ON CONFLICT (workspace, memory) DO UPDATE SET access_count = excluded.access_count, touched_at = excluded.touched_at,
tier = excluded.tier, judged_at = excluded.judged_at, importance = excluded.importance, is_pinned = excluded.is_pinned,
is_earned = excluded.is_earned, elsewhere = excluded.elsewhere, missing_since = NULL
"""
_DROP_USAGE = "DELETE FROM usage WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))"

UsageValues = tuple[str, int, float | None, str, float, float, int, int, int]


class UsageRows(WorkspaceRows):
    """Usage of memories."""

    @reads
    def all(self, db: apsw.Connection) -> Mapping[MemoryId, Usage]:
        """Return the usage of all memories that have one; empty without a ledger."""
        return dict(map(_usage, db.execute(_ALL, (self._workspace, MAX_USAGE_ROWS))))

    async def put(self, usages: Mapping[MemoryId, Usage], listed: Iterable[ChangeRow] = ()) -> None:
        """Store these usages, all or none; entries that were never judged are skipped.

        `listed` are rows to add to `changes` in the same transaction.
        """
        rows = [row for memory, usage in usages.items() if (row := _row(self._workspace, memory, usage))]

        def step(db: apsw.Connection) -> None:
            db.executemany(_PUT_USAGE, rows)
            for change in listed:
                add_change(db, self._workspace, change)

        if rows:
            await self._ledger.write(step)

    async def note_stated(self, stated: Collection[MemoryId], at: float, keep_seconds: float) -> frozenset[MemoryId]:
        """Mark rows of memories that no line states, delete those marked for long enough, and return these."""

        def step(db: apsw.Connection) -> frozenset[MemoryId]:
            rows = [
                (MemoryId(memory), since)
                for memory, since in db.execute(
                    "SELECT memory, missing_since FROM usage WHERE workspace = ?", (self._workspace,)
                )
            ]
            marks: list[tuple[float | None, str, MemoryId]] = [
                (None, self._workspace, memory) for memory, since in rows if since is not None and memory in stated
            ]
            # a mark in the future comes from a clock that was ahead: mark again, or the row would never expire
            missing = [(memory, since) for memory, since in rows if memory not in stated]
            marks += [(at, self._workspace, memory) for memory, since in missing if since is None or since > at]
            db.executemany("UPDATE usage SET missing_since = ? WHERE workspace = ? AND memory = ?", marks)
            expired = frozenset(memory for memory, since in missing if since is not None and since < at - keep_seconds)
            db.execute(_DROP_USAGE, (self._workspace, json_array(sorted(expired))))
            return expired

        # a ledger is created only when there is something to store
        return await self._ledger.write(step, makes_file=False)

    async def drop(self, memories: Collection[MemoryId]) -> int:
        """Erase the rows of these memories and return how many; no bytes remain in the file."""
        return await self._erase(memories) if memories else 0

    @erases
    def _erase(self, db: apsw.Connection, memories: Collection[MemoryId]) -> int:
        db.execute(_DROP_USAGE, (self._workspace, json_array(memories)))
        return db.changes()


def _usage(values: UsageValues) -> tuple[MemoryId, Usage]:
    memory, count, touched_at, tier, judged_at, importance, is_pinned, is_earned, elsewhere = values
    judged = TierBasis(judged_at, importance, bool(is_pinned))
    return MemoryId(memory), Usage(count, touched_at, Tier(tier), judged, bool(is_earned), elsewhere)


def _row(workspace: str, memory: MemoryId, usage: Usage) -> tuple[str | float | int | None, ...]:
    judged = usage.judged
    if judged is None:
        return ()
    judgement = (judged.at, judged.importance, judged.is_pinned, usage.is_earned, usage.elsewhere)
    return (workspace, memory, usage.access_count, usage.touched_at, usage.tier.value, *judgement)
