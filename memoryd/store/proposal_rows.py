"""Proposals in the ledger, by workspace: the queue of changes that wait for a person."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import apsw

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import PROPOSALS_MAX, MemoryId
from memoryd.domain.memories.reflect.proposals import Proposal, ProposalId, ProposalKind, ProposalState, ProposedChange
from memoryd.store.ledger import Ledger

_PUT = """
INSERT INTO proposals (workspace, id, run, path, kind, why, diff, memories, state, made_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)
ON CONFLICT (workspace, id) DO UPDATE SET
    state = 'open', diff = excluded.diff, why = excluded.why, memories = excluded.memories, decided_at = NULL
WHERE state = 'outdated'
"""
_COLUMNS = "id, run, path, kind, why, diff, memories, state, made_at, decided_at"
_ALL = f"SELECT {_COLUMNS} FROM proposals WHERE workspace = ? ORDER BY made_at, path, id"
_IN_STATE = f"SELECT {_COLUMNS} FROM proposals WHERE workspace = ? AND state = ? ORDER BY made_at, path, id"
_BEGINNING = f"SELECT {_COLUMNS} FROM proposals WHERE workspace = ? AND substr(id, 1, length(?2)) = ?2 LIMIT 2"
_STATES = "SELECT id, state FROM proposals WHERE workspace = ?"
_DECIDE = "UPDATE proposals SET state = ?, decided_at = ? WHERE workspace = ? AND id = ? AND state = ?"
_REFRESH = "UPDATE proposals SET diff = ? WHERE workspace = ? AND id = ? AND state = 'open'"
_WITHDRAW = """
UPDATE proposals SET state = 'outdated', decided_at = ?, diff = '', why = ?
WHERE workspace = ? AND id = ? AND state = 'open'
"""
_BOUND = """
DELETE FROM proposals WHERE workspace = ?1 AND state <> 'open' AND id NOT IN (
    SELECT id FROM proposals WHERE workspace = ?1 ORDER BY state = 'open' DESC, made_at DESC, id LIMIT ?2)
"""


class ProposalRows:
    """The queue of one workspace, by its real path. Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def put(self, changes: Sequence[ProposedChange], run: str, at: datetime) -> None:
        """Put changes into the queue; one that was outdated is open again, one that was decided stays so."""
        if not changes:
            return
        rows = [
            (self._workspace, one.id, run, one.path, one.kind, one.why, one.diff, " ".join(one.memories))
            for one in changes
        ]

        def step(db: apsw.Connection) -> None:
            db.executemany(_PUT, [(*row, at.timestamp()) for row in rows])
            db.execute(_BOUND, (self._workspace, PROPOSALS_MAX))

        await self._ledger.write(step, None)

    async def all(self, state: ProposalState | None = None) -> list[Proposal]:
        """Return all that are in a state, or in any, the oldest first."""
        sql, given = (_ALL, (self._workspace,)) if state is None else (_IN_STATE, (self._workspace, state))
        return await self._ledger.read(lambda db: [_proposal(row) for row in db.execute(sql, given)], [])

    async def beginning(self, text: str) -> list[Proposal]:
        """Return those whose id begins with a text: at most two, which says that it names none."""
        given = (self._workspace, text)
        return await self._ledger.read(lambda db: [_proposal(row) for row in db.execute(_BEGINNING, given)], [])

    async def states(self) -> dict[ProposalId, ProposalState]:
        """Return the states of all, by their ids."""
        given = (self._workspace,)
        return await self._ledger.read(
            lambda db: {ProposalId(one): ProposalState(state) for one, state in db.execute(_STATES, given)}, {}
        )

    async def move(self, proposal: ProposalId, before: ProposalState, after: ProposalState, at: datetime) -> bool:
        """Bring a proposal from one state to another; return whether it was in the one."""
        given = (after, at.timestamp(), self._workspace, proposal, before)

        def step(db: apsw.Connection) -> bool:
            db.execute(_DECIDE, given)
            return db.changes() > 0

        return await self._ledger.write(step, False)

    async def withdraw(self, proposals: Iterable[ProposalId], why: str, at: datetime) -> None:
        """Make open ones outdated, and keep no word of what they proposed: nothing of it stays in the files."""
        rows = [(at.timestamp(), why, self._workspace, one) for one in proposals]
        if rows:
            await self._ledger.erase(lambda db: [*db.executemany(_WITHDRAW, rows)], [])

    async def refresh(self, proposal: ProposalId, diff: str) -> None:
        """Give an open proposal the diff against its file as it is now."""
        given = (diff, self._workspace, proposal)
        await self._ledger.write(lambda db: [*db.execute(_REFRESH, given)], [])


def _proposal(row: Sequence[object]) -> Proposal:
    name, run, path, kind, why, diff, memories, state, made_at, decided_at = map(str, row)
    change = ProposedChange(
        kind=ProposalKind(kind),
        path=RelativePath(path),
        why=why,
        diff=diff,
        memories=tuple(MemoryId(one) for one in memories.split()),
    )
    decided = None if row[-1] is None else _moment(decided_at)
    return Proposal(ProposalId(name), run, change, ProposalState(state), _moment(made_at), decided)


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
