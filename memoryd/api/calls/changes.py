"""Changes to a workspace: `/v1/forget`, `/v1/lines`, `/v1/verify`, `/v1/changes`, `/v1/undo`, `/v1/core`, `/v1/team`.

The core is the small file that every session sees. `/v1/team` shares memories with a team, and takes them back.
"""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from memoryd.agents.conversations.showing import StoredConversations
from memoryd.agents.retained.retaining import AgentCore
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories
from memoryd.api.call import FORGETTING, Transport, call
from memoryd.api.models import JsonInteger, NamedText, Request, SessionRequest, TargetText
from memoryd.domain.access import Admitted, Who
from memoryd.domain.documents import RelativePath
from memoryd.domain.text.sanitizing import KeepVersion
from memoryd.errors import InvalidRequest
from memoryd.memory.forgetting.planning import NOWHERE, ForgetReport
from memoryd.replies.changes import (
    ChangesReply,
    ConflictSettledReply,
    ConflictsReply,
    CoreEditReply,
    CoreReply,
    ForgetReply,
    ForgottenMemoryReply,
    LinesReplacedReply,
    TeamPromoteReply,
    TeamReply,
    TeamRevokeReply,
    UndoReply,
    VerifyReply,
    WrittenSessionReply,
)
from memoryd.store.ledger.changes import ChangeFilter
from memoryd.wire import CHANGES_MAX, CORE_CHARS_MAX, MEMORY_CHARS_MAX, POSITION_MAX


class ForgetRequest(Request):
    """A memory, or lines of a note, to be removed everywhere."""

    target: Annotated[str, Field(min_length=1, max_length=4096)]
    """An id or the beginning of one, a citation such as `memory/2026-11-20.md#L12`, or words of the memory."""
    dry_run: bool = False
    """Only report what would be removed."""
    undoable: bool = False
    """Hold the lines in the ledger for 24 hours, hidden from every answer, so that `undo` can restore them."""


VerifiedCitation = Annotated[
    str, Field(min_length=1, max_length=1024, description="such as `memory/2026-11-20.md#L12@1a2b3c4d`")
]


async def forget(request: ForgetRequest, admitted: AdmittedByBody, memories: Memories) -> ForgetReply:
    """Remove a memory from notes, indexes, turns and the ledger, for the owner only; report what cannot be reached."""
    forgetting = memories.retained(admitted).forgetting
    if request.dry_run:
        return _forget_reply(await forgetting.would_forget(request.target))
    return _forget_reply(await forgetting.forget(request.target, is_undoable=request.undoable))


async def verify(citation: VerifiedCitation, admitted: AdmittedByQuery, memories: Memories) -> VerifyReply:
    """Return whether cited lines are unchanged, moved, edited or deleted."""
    return await memories.retained(admitted).verifying.verify(citation, admitted)


def _forget_reply(report: ForgetReport) -> ForgetReply:
    plan, purged = report.plan, report.purged
    return ForgetReply(
        forgotten=report.is_forgotten,
        memories=[
            ForgottenMemoryReply(
                id=memory.id,
                content=None if report.is_forgotten else memory.text,
                scope=memory.scope or None,
                citations=[f"{line.path}#L{line.start_line}" for line in memory.sources if line.start_line != NOWHERE],
            )
            for memory in plan.memories
        ],
        lines=list(map(str, plan.citations)),
        turns=list(report.turns or plan.elsewhere.turns),
        files=report.files,
        changes=list(report.changes),
        purgedChanges=purged.changes,
        purgedProposals=purged.proposals,
        purgedAnswers=purged.held_answers,
        purgedSteps=purged.steps,
        unfinished=list(report.unfinished),
        stays=list(report.stays),
    )


FullLines = Annotated[str, Field(max_length=MEMORY_CHARS_MAX, pattern=r"\S")]


class LinesReplaceRequest(Request):
    """Lines of a note, and their new text."""

    citation: NamedText
    """Their place: `memory/2026-11-20.md#L3`, `memory/2026-11-20.md#L3-L4`."""
    old: FullLines
    """Their current text, as complete lines; if it differs from the file, nothing is written."""
    new: FullLines
    """Their new text; may have more or fewer lines."""


async def replace_lines(
    request: LinesReplaceRequest, admitted: AdmittedByBody, memories: Memories
) -> LinesReplacedReply:
    """Replace lines of a note, for the owner only; this can be undone."""
    changes = memories.retained(admitted).changes
    return await changes.replace_lines(request.citation, request.old, request.new)


class UndoRequest(SessionRequest):
    """A change or a run to be undone."""

    id: Annotated[JsonInteger, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of the change; null: undo a run."""
    run: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The name of the run, which several changes share; null: undo a change."""
    dry_run: bool = False
    """Whether to only report what would be undone."""


class ConflictSettleRequest(Request):
    """A conflict, and the version of the note to keep."""

    path: NamedText
    """The copy, or the note in which git left both versions of lines, as `GET /v1/conflicts` names it."""
    keep: Annotated[KeepVersion, Field(strict=False)]
    """The `original`, the `copy`, or the lines of `both`."""


async def conflicts(admitted: AdmittedByQuery, memories: Memories) -> ConflictsReply:
    """List the notes that exist in two versions, and how these differ."""
    return await memories.retained(admitted).changes.conflicts()


async def settle_conflict(
    request: ConflictSettleRequest, admitted: AdmittedByBody, memories: Memories
) -> ConflictSettledReply:
    """Keep one of two versions of a note, or the lines of both, for the owner only; this can be undone."""
    path = RelativePath(request.path.removeprefix("./"))
    return await memories.retained(admitted).changes.settle_conflict(path, request.keep)


QA = "qa"
"""The value of `by` for the sessions of questions and answers."""
ChangesSince = Annotated[
    str, Field(max_length=64, description="only changes of this date or later: `2026-11-18`, `7d`")
]
WriterFilter = Annotated[
    str,
    Field(
        max_length=80, description="only changes by this writer, by any `agent`, by `agent:ID`, or the sessions of `qa`"
    ),
]
PathFilter = Annotated[str, Field(max_length=1024, description="only changes of this file")]
RunFilter = Annotated[str, Field(max_length=200, description="only changes of this run")]
WithLines = Annotated[bool, Field(description="whether to include the changed lines; false: no text of a note")]
BeforeNumber = Annotated[
    int, Field(ge=1, le=POSITION_MAX, description="only changes with smaller numbers, to continue a list; not for `qa`")
]
ChangeLimit = Annotated[int, Field(ge=1, le=CHANGES_MAX, description="maximum number")]


async def changes(
    admitted: AdmittedByQuery,
    memories: Memories,
    since: ChangesSince = "",
    by: WriterFilter = "",
    path: PathFilter = "",
    run: RunFilter = "",
    limit: ChangeLimit = 50,
    lines: WithLines = True,
    before: BeforeNumber = POSITION_MAX,
) -> ChangesReply:
    """List the changes that were written to the workspace, the newest first."""
    if by == QA:
        if before != POSITION_MAX:
            raise InvalidRequest("before: sessions have no numbers", hint="leave out before, and narrow by since")
        # turns are stored in files of their own, which the journal of changes does not list
        began = memories.retained(admitted).changes.moment(since)
        sessions = [] if run else await _written_sessions(memories.conversations(admitted), began, path)
        return ChangesReply(changes=[], sessions=sessions[:limit], trouble=[])
    filters = ChangeFilter(path=path.removeprefix("./"), run=run, limit=limit, before=before)
    return await memories.retained(admitted).changes.list_changes(filters, since=since, by=by, has_lines=lines)


async def undo(request: UndoRequest, admitted: AdmittedByBody, memories: Memories) -> UndoReply:
    """Undo a change, or all changes of one run, as far as their lines are unchanged."""
    return await memories.retained(admitted).changes.undo(request.id, request.run, is_dry_run=request.dry_run)


async def _written_sessions(conversations: StoredConversations, since: float, path: str) -> list[WrittenSessionReply]:
    """Return the sessions of questions and answers, the last written first."""
    return [
        WrittenSessionReply(
            session=entry["id"], at=at, turns=entry["turns"] or 0, undo=f"sessions forget {entry['id']}"
        )
        for entry in await conversations.all()
        if entry["kind"] == "qa" and (at := entry["lastActivity"]) and datetime.fromisoformat(at).timestamp() >= since
        if path in ("", entry["id"])
    ]


CoreText = Annotated[str, Field(max_length=CORE_CHARS_MAX)]
ExpectedHash = Annotated[str, Field(max_length=64)]


class CoreRequest(SessionRequest):
    """The fields that every edit of the core file has."""

    expected: ExpectedHash | None = None
    """The beginning of the hash of the file as seen by the caller, at least eight characters; if it differs, nothing is
    written."""


class CoreAppendRequest(CoreRequest):
    """Lines to append to the core file."""

    text: CoreText
    """The lines."""


class CoreReplaceRequest(CoreRequest):
    """A text of the core file, and its replacement."""

    old: CoreText
    """A text that occurs in the file exactly once."""
    new: CoreText
    """Its replacement; empty: nothing."""


class CoreInsertRequest(CoreRequest):
    """Lines to insert into the core file."""

    text: CoreText
    """The lines."""
    after: CoreText
    """The line below which they are inserted, such as a heading; it occurs exactly once."""


async def show(admitted: AdmittedByQuery, memories: Memories) -> CoreReply:
    """Return the core file, and `SOUL.md` beside it."""
    return await memories.retained(admitted).core.show()


async def append(request: CoreAppendRequest, admitted: AdmittedByBody, memories: Memories) -> CoreEditReply:
    """Append lines to the core file."""
    return await _editable_core(admitted, memories).append(request.text, expected=request.expected or "")


async def replace(request: CoreReplaceRequest, admitted: AdmittedByBody, memories: Memories) -> CoreEditReply:
    """Replace a text that occurs in the core file exactly once."""
    core = _editable_core(admitted, memories)
    return await core.replace(request.old, request.new, expected=request.expected or "")


async def insert(request: CoreInsertRequest, admitted: AdmittedByBody, memories: Memories) -> CoreEditReply:
    """Insert lines below a line of the core file."""
    core = _editable_core(admitted, memories)
    return await core.insert(request.text, after=request.after, expected=request.expected or "")


def _editable_core(admitted: Admitted, memories: Memories) -> AgentCore:
    core = memories.retained(admitted).core
    core.rights.check_file(is_owner=admitted.is_owner)
    return core


EXCHANGE = timedelta(minutes=4)
"""The deadline of an exchange: a fetch and a push of a minute each, some of them repeated."""


class TeamMemoryRequest(Request):
    """One memory to be shared or taken back."""

    target: TargetText
    """Its id or the beginning of one, a citation such as `memory/2026-11-20.md#L12`, or words that it contains."""
    dry_run: bool = False
    """Only report what would be shared, with which author and readers; or what would be taken back."""


class TeamSyncRequest(Request):
    """The team to exchange with."""


async def promote(request: TeamMemoryRequest, admitted: AdmittedByBody, memories: Memories) -> TeamPromoteReply:
    """Share a memory with the team, for the owner only.

    It is written to the repository at once, and sent now if the remote answers soon, else later. A memory is refused
    if its scope is not that of the workspace or this agent, if it looks like a secret, or if it is a colleague's.
    """
    return await memories.team(admitted).promote(request.target, admitted, is_dry_run=request.dry_run)


async def revoke(request: TeamMemoryRequest, admitted: AdmittedByBody, memories: Memories) -> TeamRevokeReply:
    """Take one's own memory back from the team, for the owner only, and report what cannot be reached."""
    return await memories.team(admitted).revoke(request.target, admitted, is_dry_run=request.dry_run)


async def exchange(request: TeamSyncRequest, admitted: AdmittedByBody, memories: Memories) -> TeamReply:
    """Receive what others shared, and send what waits; the reply says whether the remote was reached."""
    return await memories.team(admitted).sync()


CALLS = (
    call("POST", "/forget", Who.OWNER, forget, deadline=FORGETTING, served=Transport.SOCKET),
    call("POST", "/lines/replace", Who.OWNER, replace_lines),
    call("GET", "/conflicts", Who.OWNER, conflicts),
    call("POST", "/conflicts/settle", Who.OWNER, settle_conflict),
    call("GET", "/verify", Who.SESSION, verify),
    call("GET", "/changes", Who.OWNER, changes),
    call("POST", "/undo", Who.OWNER, undo, deadline=FORGETTING),
    call("GET", "/core", Who.OWNER, show),
    call("POST", "/core/append", Who.OWNER, append),
    call("POST", "/core/replace", Who.OWNER, replace),
    call("POST", "/core/insert", Who.OWNER, insert),
    call("POST", "/team/promote", Who.OWNER, promote, deadline=EXCHANGE, served=Transport.SOCKET),
    call("POST", "/team/revoke", Who.OWNER, revoke, deadline=EXCHANGE, served=Transport.SOCKET),
    call("POST", "/team/sync", Who.OWNER, exchange, deadline=EXCHANGE),
)
