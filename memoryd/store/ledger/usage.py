"""How the memories of a workspace are used, when they were first seen, and keyed hashes of what was stated.

Numbers, ids and hashes, nothing of what was said. Memories need a first day where their file has no date in its name.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta

import apsw

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import Judged, Tier, Usage
from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.changes import ChangeRow, add_change
from memoryd.store.ledger.ledger import WorkspaceRows, erases

MAX_NOTED = 200_000
"""Memories of one workspace of which the day is kept; what comes beyond has the day of its file."""

_EPOCH = date(1970, 1, 1)
_DAYS = """
SELECT memory, day FROM first_seen WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))
"""
_COUNT = "SELECT count(*) FROM first_seen WHERE workspace = ?"
_NOTE = """
INSERT INTO first_seen (workspace, memory, day) VALUES (?, ?, ?)
ON CONFLICT (workspace, memory) DO UPDATE SET day = min(day, excluded.day)
"""


class FirstSeen(WorkspaceRows):
    """On which day memories were first seen."""

    @reads
    def days(self, db: apsw.Connection, memories: Collection[MemoryId]) -> Mapping[MemoryId, date]:
        """Return the days that are known of these memories."""
        rows = db.execute(_DAYS, (self._workspace, json.dumps(list(memories))))
        return {MemoryId(memory): _EPOCH + timedelta(days=day) for memory, day in rows}

    @writes
    def note(self, db: apsw.Connection, days: Mapping[MemoryId, date]) -> None:
        """Keep these days; of a memory that has one, the earlier."""
        room = MAX_NOTED - db.execute(_COUNT, (self._workspace,)).get
        rows = [(self._workspace, memory, (day - _EPOCH).days) for memory, day in days.items()]
        db.executemany(_NOTE, rows[: max(room, 0)])


ROWS_MAX = 50_000
"""Of a workspace; the latest stay."""

_PUT_STATED = "INSERT OR REPLACE INTO stated_lines (workspace, hash, at) VALUES (?, ?, ?)"
_BOUND = """
DELETE FROM stated_lines WHERE workspace = ?1 AND at < (
    SELECT at FROM stated_lines WHERE workspace = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)
"""
_HAS = "SELECT 1 FROM stated_lines WHERE workspace = ? AND hash = ?"
_DROP_STATED = "DELETE FROM stated_lines WHERE workspace = ? AND hash = ?"


class RetainedHashes(WorkspaceRows):
    """Keyed hashes of what was stated."""

    @writes
    def put(self, db: apsw.Connection, hashes: Collection[bytes], at: float) -> None:
        """Note hashes at a time, in seconds since 1970, and drop the oldest beyond what is kept."""
        db.executemany(_PUT_STATED, [(self._workspace, one, at) for one in hashes])
        db.execute(_BOUND, (self._workspace, ROWS_MAX))

    @reads
    def among(self, db: apsw.Connection, hashes: Collection[bytes]) -> frozenset[bytes]:
        """Return those of the hashes that are noted."""
        return frozenset(one for one in hashes if db.execute(_HAS, (self._workspace, one)).get)

    @erases
    def drop(self, db: apsw.Connection, hashes: Collection[bytes]) -> None:
        """Drop hashes, of which no byte is left."""
        db.executemany(_DROP_STATED, [(self._workspace, one) for one in hashes])


MAX_USAGE_ROWS = 200_000
"""Memories of one workspace."""

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
_NAMES = "SELECT memory, missing_since FROM usage WHERE workspace = ?"
_MARK = "UPDATE usage SET missing_since = ? WHERE workspace = ? AND memory = ?"
_DROP_USAGE = "DELETE FROM usage WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))"

UsageValues = tuple[str, int, float | None, str, float, float, int, int, int]


class UsageRows(WorkspaceRows):
    """How memories are used."""

    @reads
    def all(self, db: apsw.Connection) -> Mapping[MemoryId, Usage]:
        """Return the usage of all memories that have one; none where there is no ledger."""
        return dict(map(_usage, db.execute(_ALL, (self._workspace, MAX_USAGE_ROWS))))

    async def put(self, usages: Mapping[MemoryId, Usage], listed: Iterable[ChangeRow] = ()) -> None:
        """Keep these as they are now, all or none; what was not judged is left out.

        `listed` are the changes that they are, where `changes` is to list them.
        """
        rows = [row for memory, usage in usages.items() if (row := _row(self._workspace, memory, usage))]

        def step(db: apsw.Connection) -> None:
            db.executemany(_PUT_USAGE, rows)
            for change in listed:
                add_change(db, self._workspace, change)

        if rows:
            await self._ledger.write(step)

    async def note_stated(self, standing: Collection[MemoryId], at: float, keep_seconds: float) -> frozenset[MemoryId]:
        """Mark the rows of memories that no line states, delete those that were so for long, and return these."""

        def step(db: apsw.Connection) -> frozenset[MemoryId]:
            rows = [(MemoryId(memory), since) for memory, since in db.execute(_NAMES, (self._workspace,))]
            marks: list[tuple[float | None, str, MemoryId]] = [
                (None, self._workspace, one) for one, since in rows if since is not None and one in standing
            ]
            # of a clock that was ahead since then, too: else nothing would ever be old enough
            missing = [(one, since) for one, since in rows if one not in standing]
            marks += [(at, self._workspace, one) for one, since in missing if since is None or since > at]
            db.executemany(_MARK, marks)
            gone = frozenset(one for one, since in missing if since is not None and since < at - keep_seconds)
            db.execute(_DROP_USAGE, (self._workspace, json.dumps(sorted(gone))))
            return gone

        # a ledger is made when there is something to keep
        return await self._ledger.write(step, makes_file=False)

    async def drop(self, memories: Collection[MemoryId]) -> int:
        """Delete the rows of these memories and return how many; no byte of them is left."""
        return await self._erase(memories) if memories else 0

    @erases
    def _erase(self, db: apsw.Connection, memories: Collection[MemoryId]) -> int:
        db.execute(_DROP_USAGE, (self._workspace, json.dumps(list(memories))))
        return db.changes()


def _usage(values: UsageValues) -> tuple[MemoryId, Usage]:
    memory, count, touched_at, tier, judged_at, importance, is_pinned, is_earned, elsewhere = values
    judged = Judged(judged_at, importance, bool(is_pinned))
    return MemoryId(memory), Usage(count, touched_at, Tier(tier), judged, bool(is_earned), elsewhere)


def _row(workspace: str, memory: MemoryId, usage: Usage) -> tuple[str | float | int | None, ...]:
    judged = usage.judged
    if judged is None:
        return ()
    judgement = (judged.at, judged.importance, judged.is_pinned, usage.is_earned, usage.elsewhere)
    return (workspace, memory, usage.access_count, usage.touched_at, usage.tier.value, *judgement)
