"""When memories were first seen whose files have no date in their names: rows of the ledger."""

import json
from collections.abc import Collection, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import apsw

from memoryd.domain.memories.kinds import MemoryId
from memoryd.store.ledger import Ledger

MOST_NOTED: Final = 200_000
"""Memories of one workspace of which the day is kept; what comes beyond has the day of its file."""

_EPOCH: Final = date(1970, 1, 1)
_DAYS = """
SELECT memory, day FROM first_seen WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))
"""
_COUNT = "SELECT count(*) FROM first_seen WHERE workspace = ?"
_NOTE = """
INSERT INTO first_seen (workspace, memory, day) VALUES (?, ?, ?)
ON CONFLICT (workspace, memory) DO UPDATE SET day = min(day, excluded.day)
"""
_FORGET = "DELETE FROM first_seen WHERE workspace = ? AND memory IN (SELECT value FROM json_each(?))"


class FirstSeen:
    """Of one workspace, by its real path. Verbs raise StoreError, and what writes also Denied."""

    def __init__(self, ledger: Ledger, workspace: Path) -> None:
        self._ledger = ledger
        self._workspace = str(workspace)

    async def days(self, memories: Collection[MemoryId]) -> Mapping[MemoryId, date]:
        """Return the days that are known of these memories."""
        asked = (self._workspace, json.dumps(list(memories)))
        return await self._ledger.read(lambda db: _days(db, asked), {})

    async def note(self, days: Mapping[MemoryId, date]) -> None:
        """Keep these days; of a memory that has one, the earlier."""
        await self._ledger.write(lambda db: _note(db, self._workspace, days), None)

    async def forget(self, memories: Collection[MemoryId]) -> int:
        """Delete the rows of these memories and return how many; no byte of them is left."""
        asked = (self._workspace, json.dumps(list(memories)))
        return await self._ledger.erase(lambda db: _forget(db, asked), 0)


def _days(db: apsw.Connection, asked: tuple[str, str]) -> Mapping[MemoryId, date]:
    return {MemoryId(memory): _EPOCH + timedelta(days=day) for memory, day in db.execute(_DAYS, asked)}


def _note(db: apsw.Connection, workspace: str, days: Mapping[MemoryId, date]) -> None:
    room = MOST_NOTED - db.execute(_COUNT, (workspace,)).get
    rows = [(workspace, memory, (day - _EPOCH).days) for memory, day in days.items()]
    db.executemany(_NOTE, rows[: max(room, 0)])


def _forget(db: apsw.Connection, asked: tuple[str, str]) -> int:
    db.execute(_FORGET, asked)
    return db.changes()
