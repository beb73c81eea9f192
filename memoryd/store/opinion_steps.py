"""The steps that the confidences of opinions made: rows of the ledger. Numbers and ids, nothing of what was said."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import date, timedelta
from typing import Final

import apsw

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.reflect.opinions import Label, Step, chained
from memoryd.store.ledger import Ledger

_EPOCH: Final = date(1970, 1, 1)
_COLUMNS: Final = "opinion, evidence, label, labelled_by, evidence_day, run, base, before, after"
_ALL: Final = f"SELECT {_COLUMNS} FROM opinion_steps WHERE workspace = ? ORDER BY id"
_OF: Final = f"""
SELECT {_COLUMNS} FROM opinion_steps
WHERE workspace = ? AND opinion IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_ADD: Final = f"""
INSERT INTO opinion_steps (workspace, at, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_TOUCHED: Final = """
SELECT DISTINCT opinion FROM opinion_steps
WHERE workspace = ? AND evidence IN (SELECT value FROM json_each(?))
"""
_FORGET: Final = """
DELETE FROM opinion_steps WHERE workspace = ?1
AND (opinion IN (SELECT value FROM json_each(?2)) OR evidence IN (SELECT value FROM json_each(?2)))
"""
_NUMBERS: Final = "SELECT id FROM opinion_steps WHERE workspace = ? AND opinion = ? ORDER BY id"
_RENUMBER: Final = "UPDATE opinion_steps SET before = ?, after = ? WHERE id = ?"

Values = tuple[str, str, str, str, int, str, float, float, float]


class OpinionSteps:
    """The steps of one workspace, named by its real path. Verbs raise StoreError, and what writes also Denied."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def all(self) -> Sequence[Step]:
        """Return all steps, in the order in which they were made; none where there is no ledger."""
        return await self._ledger.read(lambda db: _steps(db, _ALL, (self._workspace,)), ())

    async def of(self, opinions: Collection[MemoryId]) -> Sequence[Step]:
        """Return the steps of these opinions, in the order in which they were made."""
        asked = (self._workspace, json.dumps(list(opinions)))
        return await self._ledger.read(lambda db: _steps(db, _OF, asked), ())

    async def add(self, steps: Sequence[Step], at: float) -> int:
        """Record steps, made at a time in seconds since 1970, all or none; return how many were not on record yet.

        The same evidence with the same label is recorded once, however often it comes.
        """
        return await self._ledger.write(lambda db: _add(db, self._workspace, steps, at), 0) if steps else 0

    async def forget(self, memories: Collection[MemoryId]) -> int:
        """Delete the steps of these opinions, and those that rest on these memories; return how many.

        No byte of them is left. Opinions that lost a step stand as if it had never been made.
        """
        return await self._ledger.erase(lambda db: forget_steps(db, self._workspace, list(memories)), 0)


def forget_steps(db: apsw.Connection, workspace: str, memories: Sequence[MemoryId]) -> int:
    """Delete the steps that name these memories, compute anew what others of the same opinions left, and count."""
    asked = (workspace, json.dumps(memories))
    touched = [str(opinion) for (opinion,) in db.execute(_TOUCHED, asked)]
    db.execute(_FORGET, asked)
    deleted = db.changes()
    for opinion in touched:
        _chain(db, workspace, opinion)
    return deleted


def _steps(db: apsw.Connection, statement: str, given: tuple[str, ...]) -> Sequence[Step]:
    return tuple(_step(values) for values in db.execute(statement, given))


def _step(values: Values) -> Step:
    opinion, evidence, label, labelled_by, day, run, base, before, after = values
    said = (MemoryId(opinion), MemoryId(evidence), Label(label), labelled_by, _EPOCH + timedelta(days=day))
    return Step(*said, run=run, base=base, before=before, after=after)


def _add(db: apsw.Connection, workspace: str, steps: Iterable[Step], at: float) -> int:
    added = 0
    for step in steps:
        day = (step.day - _EPOCH).days
        said = (step.opinion, step.evidence, step.label, step.labelled_by, day, step.run)
        db.execute(_ADD, (workspace, at, *said, step.base, step.before, step.after))
        added += db.changes()
    return added


def _chain(db: apsw.Connection, workspace: str, opinion: str) -> None:
    """Compute anew what the steps of an opinion left behind, where one of them is gone."""
    numbers = [number for (number,) in db.execute(_NUMBERS, (workspace, opinion))]
    steps = chained(_steps(db, _OF, (workspace, json.dumps([opinion]))))
    rows = [(step.before, step.after, number) for step, number in zip(steps, numbers, strict=True)]
    db.executemany(_RENUMBER, rows)
