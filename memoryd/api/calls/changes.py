"""`GET /v1/changes` and `POST /v1/undo`: what was written into a workspace, and taking it back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from pydantic import Field

from memoryd.agents.conversations.showing import KeptConversations
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.models import AgentId, Reply, Request, Whole
from memoryd.domain.citations import holds_turns
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.store.ledger.changes import NOT_KEPT, ChangeFilter, ChangeRow
from memoryd.wire import CHANGES_MAX, POSITION_MAX


class ChangedLinesReply(Reply):
    """Lines that were put in the place of others."""

    line: int
    """Where, from 1, in the file as it was after the change."""
    removed: list[str]
    """The lines that went."""
    added: list[str]
    """The lines that came."""


class ChangeReply(Reply):
    """A change of one file."""

    id: int
    """Its number."""
    at: datetime
    """When it was made."""
    by: str
    """What made it: `retain`, `core`, `reflect`, `proposal`, `forget`, `entities`, `memories`, `capture`, `tiers`,
    `import` or `undo`."""
    agent: str | None
    """The agent that asked for it; null: the owner, or a schedule."""
    why: str
    """Why, in one sentence."""
    path: str
    """The file; empty: none, but the touches and tiers that the ledger keeps."""
    run: str | None
    """What names all changes of one act; null: it was the only one."""
    state: str
    """`done`, `undone`, or `unknown`: a kill came in between, and the file was edited since."""
    undoes: int | None
    """The change that it took back; null: none."""
    undoable: bool
    """Whether its lines are kept, so that it can be taken back where they still stand."""
    hash_before: str | None
    """The SHA-256 of the file before; null: there was none, empty: something of it is forgotten."""
    hash_after: str | None
    """The SHA-256 of the file after; null: there is none, empty: something of it is forgotten."""
    standing: bool | None
    """Whether the file has these bytes now: if not, and no later change is listed, somebody else wrote it; null:
    nobody looked."""
    lines: list[ChangedLinesReply]
    """What differs; empty where it is not kept or not asked for, and of what was forgotten."""


class WrittenSessionReply(Reply):
    """A session of questions and answers that was written."""

    session: str
    """What names it: `session:ID`."""
    at: datetime
    """When something was said in it last."""
    turns: int
    """How many turns it holds."""
    undo: str
    """The command of `memoryctl` that takes it out of everything."""


class ChangesReply(Reply):
    """Changes, the newest first."""

    changes: list[ChangeReply]
    """The changes."""
    sessions: list[WrittenSessionReply]
    """With `by=qa` the sessions of questions and answers, else none."""
    trouble: list[str]
    """What should be looked at, one sentence each."""


class UndoRequest(Request):
    """What is to be taken back: a change or a run."""

    id: Annotated[Whole, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of a change; null: a run is meant."""
    run: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """What names all changes of one act; null: a change is meant."""
    dry_run: bool = False
    """Whether to say only what would be taken back."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks; null: no session."""
    agent: AgentId = None


class UndoneReply(Reply):
    """A change that was taken back, or would be."""

    change: ChangeReply
    """The change as it was."""
    undone_by: int | None
    """The change that took it back; null on a dry run, or where the ledger cannot be used."""


class UndoReply(Reply):
    """What was taken back, the newest first."""

    undone: list[UndoneReply]
    """The changes."""
    dry_run: bool
    """Whether nothing was written."""


QA = "qa"
"""In the stead of a writer: the sessions of questions and answers."""
Since = Annotated[str, Query(max_length=64, description="only changes of this date or later: `2026-11-18`, `7d`")]
By = Annotated[
    str,
    Query(max_length=80, description="only those of a writer, of any `agent`, of `agent:ID`, or the sessions of `qa`"),
]
OfPath = Annotated[str, Query(max_length=1024, description="only those of this file")]
OfRun = Annotated[str, Query(max_length=200, description="only those of this run")]
WithLines = Annotated[bool, Query(description="whether to tell which lines differ; false: no text of a note")]
MostChanges = Annotated[int, Query(ge=1, le=CHANGES_MAX, description="how many at most")]


async def changes(
    admitted: AdmittedByQuery,
    memories: Memories,
    since: Since = "",
    by: By = "",
    path: OfPath = "",
    run: OfRun = "",
    limit: MostChanges = 50,
    lines: WithLines = True,
) -> ChangesReply:
    """List what was written into the workspace, the newest first."""
    if by == QA:
        # turns are kept in files of their own, which no change stands for
        began = memories.retained(admitted).changes.moment(since)
        rows = [] if run else await _sessions(memories.conversations(admitted), began, path)
        return ChangesReply(changes=[], sessions=rows[:limit], trouble=[])
    wanted = ChangeFilter(path=path.removeprefix("./"), run=run, limit=limit)
    found = await memories.retained(admitted).changes.listed(wanted, since=since, by=by)
    told = [_encoded(row, has_lines=lines, standing=found.standing) for row in found.rows]
    return ChangesReply(changes=told, sessions=[], trouble=found.trouble)


async def undo(request: UndoRequest, caller: Asking, memories: Memories) -> UndoReply:
    """Take back a change, or all of one run, where their lines still stand."""
    admitted = caller.admit(request.agent, request.session_key)
    undone = await memories.retained(admitted).changes.undo(request.id, request.run, is_dry_run=request.dry_run)
    rows = [
        UndoneReply(change=_encoded(one.row), undone_by=(one.by.id or None) if one.by is not None else None)
        for one in undone
    ]
    return UndoReply(undone=rows, dry_run=request.dry_run)


async def _sessions(room: KeptConversations, since: float, path: str) -> list[WrittenSessionReply]:
    """Return the sessions of questions and answers, that which was written last first."""
    return [
        WrittenSessionReply(session=one.path, at=one.ended, turns=one.turns or 0, undo=f"sessions forget {one.path}")
        for one in await room.all()
        if holds_turns(one.path) and one.ended is not None and one.ended.timestamp() >= since
        if path in ("", one.path)
    ]


def _encoded(row: ChangeRow, *, has_lines: bool = True, standing: Mapping[int, bool] | None = None) -> ChangeReply:
    # what is forgotten, and held for an undo, is told to nobody
    shown = row.hunks or () if has_lines and row.writer != WrittenBy.FORGET else ()
    lines = [ChangedLinesReply(line=hunk.line, removed=list(hunk.removed), added=list(hunk.added)) for hunk in shown]
    return ChangeReply(
        id=row.id,
        at=datetime.fromtimestamp(row.at, UTC),
        by=row.writer,
        agent=row.agent or None,
        why=row.why,
        path=row.path,
        run=row.run or None,
        state=row.state,
        undoes=row.undoes or None,
        undoable=row.hunks is not None,
        hash_before=_told_hash(row.hash_before),
        hash_after=_told_hash(row.hash_after),
        standing=None if standing is None else standing.get(row.id),
        lines=lines,
    )


def _told_hash(kept: bytes) -> str | None:
    return "" if kept == NOT_KEPT else kept.hex() or None
