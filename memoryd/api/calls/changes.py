"""`GET /v1/changes` and `POST /v1/undo`: what was written into a workspace, and taking it back."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.conversations.showing import StoredConversations
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.models import AgentId, Request, Whole
from memoryd.domain.access import Who
from memoryd.replies.changes import ChangesReply, UndoReply, WrittenSessionReply
from memoryd.store.ledger.changes import ChangeFilter
from memoryd.wire import CHANGES_MAX, POSITION_MAX


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


QA = "qa"
"""In the stead of a writer: the sessions of questions and answers."""
Since = Annotated[str, Field(max_length=64, description="only changes of this date or later: `2026-11-18`, `7d`")]
By = Annotated[
    str,
    Field(max_length=80, description="only those of a writer, of any `agent`, of `agent:ID`, or the sessions of `qa`"),
]
OfPath = Annotated[str, Field(max_length=1024, description="only those of this file")]
OfRun = Annotated[str, Field(max_length=200, description="only those of this run")]
WithLines = Annotated[bool, Field(description="whether to tell which lines differ; false: no text of a note")]
MostChanges = Annotated[int, Field(ge=1, le=CHANGES_MAX, description="how many at most")]


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
    return await memories.retained(admitted).changes.listed(wanted, since=since, by=by, has_lines=lines)


async def undo(request: UndoRequest, caller: Asking, memories: Memories) -> UndoReply:
    """Take back a change, or all of one run, where their lines still stand."""
    admitted = caller.admit(request.agent, request.session_key)
    return await memories.retained(admitted).changes.undo(request.id, request.run, is_dry_run=request.dry_run)


async def _sessions(room: StoredConversations, since: float, path: str) -> list[WrittenSessionReply]:
    """Return the sessions of questions and answers, that which was written last first."""
    return [
        WrittenSessionReply(session=one["id"], at=at, turns=one["turns"] or 0, undo=f"sessions forget {one['id']}")
        for one in await room.all()
        if one["kind"] == "qa" and (at := one["lastActivity"]) and datetime.fromisoformat(at).timestamp() >= since
        if path in ("", one["id"])
    ]


CALLS: Final = (
    call("GET", "/changes", Who.OWNER, changes),
    call("POST", "/undo", Who.OWNER, undo),
)
