"""Runs of reflect in the ledger, by workspace: when the last one was, and what came of each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import apsw

from memoryd.domain.memories.kinds import RUNS_MAX
from memoryd.store.ledger import Ledger

_FIRST_DAY: Final = date(1970, 1, 1)

_BEGIN = "INSERT INTO reflect_runs (id, workspace, started_at, since, outcome) VALUES (?, ?, ?, ?, '{}')"
_END = "UPDATE reflect_runs SET ended_at = ?, outcome = ? WHERE id = ?"
_BOUND = """
DELETE FROM reflect_runs WHERE workspace = ?1 AND id NOT IN (
    SELECT id FROM reflect_runs WHERE workspace = ?1 ORDER BY started_at DESC, id LIMIT ?2)
"""
_LAST = """
SELECT id, started_at, ended_at, since, outcome FROM reflect_runs
WHERE workspace = ? AND ended_at IS NOT NULL AND started_at <= ? ORDER BY started_at DESC, id LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class ReflectRun:
    """A run that ended; `since` is the first day it looked at, `outcome` what it counted."""

    id: str
    started_at: datetime
    ended_at: datetime
    since: date
    outcome: Mapping[str, object]


class ReflectRuns:
    """The runs over one workspace, by its real path. Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def begin(self, run: str, since: date, at: datetime) -> None:
        """Note that a run begins; what ends without `end` was killed, or broken off."""
        given = (run, self._workspace, at.timestamp(), (since - _FIRST_DAY).days)

        def step(db: apsw.Connection) -> None:
            db.execute(_BEGIN, given)
            db.execute(_BOUND, (self._workspace, RUNS_MAX))

        await self._ledger.write(step, None)

    async def end(self, run: str, outcome: Mapping[str, object], at: datetime) -> None:
        """Note that it ended, and what came of it."""
        given = (at.timestamp(), json.dumps(outcome, ensure_ascii=False, sort_keys=True), run)
        await self._ledger.write(lambda db: [*db.execute(_END, given)], [])

    async def last(self, before: datetime) -> ReflectRun | None:
        """Return the last run that ended; one that a clock which was ahead has noted does not count."""
        given = (self._workspace, before.timestamp())
        return await self._ledger.read(lambda db: _run(db.execute(_LAST, given).fetchone()), None)


def _run(row: Sequence[object] | None) -> ReflectRun | None:
    if row is None:
        return None
    run, started, ended, since, outcome = map(str, row)
    return ReflectRun(
        id=run,
        started_at=datetime.fromtimestamp(float(started), UTC),
        ended_at=datetime.fromtimestamp(float(ended), UTC),
        since=_FIRST_DAY + timedelta(days=int(since)),
        outcome=json.loads(outcome),
    )
