"""Data of reflect in the ledger: steps of opinions, proposals that wait for a person, and runs with their results.

Steps are numbers and ids, without text.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import apsw

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import PROPOSALS_MAX, RUNS_MAX, MemoryId
from memoryd.domain.memories.machines import TimedStep
from memoryd.domain.memories.reflect.opinions import Step, replay_by_base
from memoryd.domain.memories.reflect.proposals import Proposal, ProposalId, ProposalKind, ProposalState, ProposedChange
from memoryd.store.connection import json_array
from memoryd.store.database_file import reads, struct_of, writes
from memoryd.store.ledger.ledger import WorkspaceRows

_EPOCH = date(1970, 1, 1)
_STEP_COLUMNS = "opinion, evidence, label, labelled_by, evidence_day, run, base, before, after"
_ALL_STEPS = f"SELECT {_STEP_COLUMNS} FROM opinion_steps WHERE workspace = ? ORDER BY id"
_TIMED_STEPS = f"SELECT at, {_STEP_COLUMNS} FROM opinion_steps WHERE workspace = ? ORDER BY id"
_OF = f"""
SELECT {_STEP_COLUMNS} FROM opinion_steps
WHERE workspace = ? AND opinion IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_ADD = f"""
INSERT INTO opinion_steps (workspace, at, {_STEP_COLUMNS})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_TOUCHED = """
SELECT DISTINCT opinion FROM opinion_steps
WHERE workspace = ? AND evidence IN (SELECT value FROM json_each(?))
"""
_FORGET = """
DELETE FROM opinion_steps WHERE workspace = ?1
AND (opinion IN (SELECT value FROM json_each(?2)) OR evidence IN (SELECT value FROM json_each(?2)))
"""


class OpinionSteps(WorkspaceRows):
    """The steps of opinions."""

    @reads
    def all(self, db: apsw.Connection) -> Sequence[Step]:
        """Return all steps in the order in which they were made; empty without a ledger."""
        return _steps(db, _ALL_STEPS, (self._workspace,))

    @reads
    def of(self, db: apsw.Connection, opinions: Collection[MemoryId]) -> Sequence[Step]:
        """Return the steps of these opinions, in the order in which they were made."""
        return _steps(db, _OF, (self._workspace, json_array(opinions)))

    async def add(self, steps: Sequence[Step], at: float) -> int:
        """Record steps with a time in seconds since 1970, all or none; return how many were new.

        The same evidence with the same label is recorded only once.
        """
        return await self._add(steps, at) if steps else 0

    @writes
    def _add(self, db: apsw.Connection, steps: Iterable[Step], at: float) -> int:
        return sum(self._insert(db, step, at) for step in steps)

    def _insert(self, db: apsw.Connection, step: Step, at: float) -> int:
        day = (step.day - _EPOCH).days
        values = (step.opinion, step.evidence, step.label, step.labelled_by, day, step.run)
        db.execute(_ADD, (self._workspace, at, *values, step.base, step.before, step.after))
        return db.changes()

    @reads
    def timed(self, db: apsw.Connection) -> Sequence[TimedStep]:
        """Return all steps with their times, in the order in which they were made."""
        rows = db.execute(_TIMED_STEPS, (self._workspace,))
        return [TimedStep(_step(values), at) for at, *values in rows]

    @writes
    def put_joined(self, db: apsw.Connection, opinion: MemoryId, steps: Sequence[TimedStep]) -> None:
        """Replace the steps of an opinion by the joined steps of all machines."""
        db.execute("DELETE FROM opinion_steps WHERE workspace = ? AND opinion = ?", (self._workspace, opinion))
        for timed in steps:
            self._insert(db, timed.step, timed.at)


def forget_steps(db: apsw.Connection, workspace: str, memories: Sequence[MemoryId]) -> int:
    """Delete steps that name these memories, recompute the remaining steps of their opinions, and return the count."""
    arguments = (workspace, json_array(memories))
    touched = [str(opinion) for (opinion,) in db.execute(_TOUCHED, arguments)]
    db.execute(_FORGET, arguments)
    deleted = db.changes()
    for opinion in touched:
        numbers = [
            number
            for (number,) in db.execute(
                "SELECT id FROM opinion_steps WHERE workspace = ? AND opinion = ? ORDER BY id", (workspace, opinion)
            )
        ]
        steps = replay_by_base(_steps(db, _OF, (workspace, json_array([opinion]))))
        rows = [(step.before, step.after, number) for step, number in zip(steps, numbers, strict=True)]
        db.executemany("UPDATE opinion_steps SET before = ?, after = ? WHERE id = ?", rows)
    return deleted


def _steps(db: apsw.Connection, statement: str, arguments: tuple[str, ...]) -> Sequence[Step]:
    return tuple(_step(values) for values in db.execute(statement, arguments))


def _step(values: Sequence[Any]) -> Step:
    *head, day, run, base, before, after = values
    return struct_of(Step, (*head, _EPOCH + timedelta(days=day), run, base, before, after))


_PUT = """
INSERT INTO proposals (workspace, id, run, path, kind, why, diff, memories, state, made_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)
ON CONFLICT (workspace, id) DO UPDATE SET
    state = 'open', diff = excluded.diff, why = excluded.why, memories = excluded.memories, decided_at = NULL
WHERE state = 'outdated'
"""
_PROPOSAL_COLUMNS = "id, run, path, kind, why, diff, memories, state, made_at, decided_at"
_ALL_PROPOSALS = f"SELECT {_PROPOSAL_COLUMNS} FROM proposals WHERE workspace = ? ORDER BY made_at, path, id"
_IN_STATE = f"SELECT {_PROPOSAL_COLUMNS} FROM proposals WHERE workspace = ? AND state = ? ORDER BY made_at, path, id"
_BEGINNING = f"SELECT {_PROPOSAL_COLUMNS} FROM proposals WHERE workspace = ? AND substr(id, 1, length(?2)) = ?2 LIMIT 2"
_DECIDE = """
UPDATE proposals SET state = ?1, decided_at = iif(?1 = 'open', NULL, ?2) WHERE workspace = ?3 AND id = ?4 AND state = ?5
"""
_WITHDRAW = """
UPDATE proposals SET state = 'outdated', decided_at = ?, diff = '', why = ?
WHERE workspace = ? AND id = ? AND state = 'open'
"""
_BOUND_PROPOSALS = """
DELETE FROM proposals WHERE workspace = ?1 AND state <> 'open' AND id NOT IN (
    SELECT id FROM proposals WHERE workspace = ?1 ORDER BY state = 'open' DESC, made_at DESC, id LIMIT ?2)
"""


class ProposalRows(WorkspaceRows):
    """The queue of proposals."""

    async def put(self, changes: Sequence[ProposedChange], run: str, at: datetime) -> None:
        """Queue changes; an outdated one becomes open again, a decided one stays decided."""
        if changes:
            await self._put(changes, run, at)

    @writes
    def _put(self, db: apsw.Connection, changes: Sequence[ProposedChange], run: str, at: datetime) -> None:
        rows = [
            (
                self._workspace,
                change.id,
                run,
                change.path,
                change.kind,
                change.why,
                change.diff,
                " ".join(change.memories),
            )
            for change in changes
        ]
        db.executemany(_PUT, [(*row, at.timestamp()) for row in rows])
        db.execute(_BOUND_PROPOSALS, (self._workspace, PROPOSALS_MAX))

    @reads
    def all(self, db: apsw.Connection, state: ProposalState | None = None) -> list[Proposal]:
        """Return proposals in a state, or in any, the oldest first."""
        sql, arguments = (_ALL_PROPOSALS, ()) if state is None else (_IN_STATE, (state,))
        return [_proposal(row) for row in db.execute(sql, (self._workspace, *arguments))]

    @reads
    def beginning(self, db: apsw.Connection, text: str) -> list[Proposal]:
        """Return proposals whose id begins with a text, at most two: two mean that it is ambiguous."""
        return [_proposal(row) for row in db.execute(_BEGINNING, (self._workspace, text))]

    @reads
    def states(self, db: apsw.Connection) -> dict[ProposalId, ProposalState]:
        """Return the states of all proposals, by id."""
        return {
            ProposalId(proposal): ProposalState(state)
            for proposal, state in db.execute("SELECT id, state FROM proposals WHERE workspace = ?", (self._workspace,))
        }

    @writes
    def move(
        self, db: apsw.Connection, proposal: ProposalId, before: ProposalState, after: ProposalState, at: datetime
    ) -> bool:
        """Move a proposal from one state to another; return whether it was in the first."""
        db.execute(_DECIDE, (after, at.timestamp(), self._workspace, proposal, before))
        return db.changes() > 0

    async def withdraw(self, proposals: Iterable[ProposalId], why: str, at: datetime) -> None:
        """Mark open proposals as outdated, and erase their text from the files."""
        rows = [(at.timestamp(), why, self._workspace, proposal) for proposal in proposals]
        if rows:
            await self._erase_each(_WITHDRAW, rows)

    @writes
    def refresh(self, db: apsw.Connection, proposal: ProposalId, diff: str) -> None:
        """Replace the diff of an open proposal, because its file changed."""
        db.execute(
            "UPDATE proposals SET diff = ? WHERE workspace = ? AND id = ? AND state = 'open'",
            (diff, self._workspace, proposal),
        )


def _proposal(row: Sequence[Any]) -> Proposal:
    name, run, path, kind, why, diff, memories, state, made_at, decided_at = row
    change = ProposedChange(
        kind=ProposalKind(kind),
        path=RelativePath(path),
        why=why,
        diff=diff,
        memories=tuple(MemoryId(memory) for memory in memories.split()),
    )
    decided = None if decided_at is None else _moment(decided_at)
    return Proposal(ProposalId(name), run, change, ProposalState(state), _moment(made_at), decided)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


_BOUND_RUNS = """
DELETE FROM reflect_runs WHERE workspace = ?1 AND id NOT IN (
    SELECT id FROM reflect_runs WHERE workspace = ?1 ORDER BY started_at DESC, id LIMIT ?2)
"""
_LAST = """
SELECT started_at, outcome FROM reflect_runs
WHERE workspace = ? AND ended_at IS NOT NULL AND started_at <= ? ORDER BY started_at DESC, id LIMIT 1
"""


class ReflectRuns(WorkspaceRows):
    """The runs over one workspace."""

    @writes
    def begin(self, db: apsw.Connection, run: str, since: date, at: datetime) -> None:
        """Record the begin of a run; a run without an end was killed or aborted."""
        db.execute(
            "INSERT INTO reflect_runs (id, workspace, started_at, since, outcome) VALUES (?, ?, ?, ?, '{}')",
            (run, self._workspace, at.timestamp(), (since - _EPOCH).days),
        )
        db.execute(_BOUND_RUNS, (self._workspace, RUNS_MAX))

    @writes
    def end(self, db: apsw.Connection, run: str, outcome: Mapping[str, object], at: datetime) -> None:
        """Record the end and the result of a run."""
        db.execute(
            "UPDATE reflect_runs SET ended_at = ?, outcome = ? WHERE id = ?",
            (at.timestamp(), json.dumps(outcome, ensure_ascii=False, sort_keys=True), run),
        )

    @reads
    def last(self, db: apsw.Connection, before: datetime) -> tuple[datetime, Mapping[str, object]] | None:
        """Return the start and the result of the last finished run.

        A run with a start in the future, recorded by a clock that was ahead, does not count.
        """
        for started, outcome in db.execute(_LAST, (self._workspace, before.timestamp())):
            return _moment(started), json.loads(outcome)
        return None
