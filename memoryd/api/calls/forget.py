"""`/v1/forget` and `/v1/verify`: take a memory out of everything, and check a citation."""

from typing import Annotated, Final

from pydantic import Field

from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import FORGETTING, Served, call
from memoryd.api.models import AgentId, Request
from memoryd.domain.access import Who
from memoryd.domain.memories.book import Memory
from memoryd.memory.forgetting.planning import NOWHERE, ForgetReport
from memoryd.replies.changes import ForgetReply, ForgottenMemoryReply, VerifyReply


class ForgetRequest(Request):
    """A memory, or lines of a note, to be taken out of everything."""

    target: Annotated[str, Field(min_length=1, max_length=4096)]
    """An id or the beginning of one, a citation such as `memory/2026-11-20.md#L12`, or words that the memory says."""
    agent: AgentId = None
    dry_run: bool = False
    """Say only what would go."""
    undoable: bool = False
    """Hold the lines in the ledger for 24 hours, out of every answer, so that `undo` brings them back."""


VerifiedCitation = Annotated[
    str, Field(min_length=1, max_length=1024, description="such as `memory/2026-11-20.md#L12@1a2b3c4d`")
]


async def forget(request: ForgetRequest, caller: Asking, memories: Memories) -> ForgetReply:
    """Take a memory out of notes, indexes, turns and the ledger, for the owner alone; say what cannot be reached."""
    room = memories.retained(caller.admit(request.agent, None)).forgetting
    if request.dry_run:
        return _receipt(await room.would_forget(request.target))
    return _receipt(await room.forget(request.target, is_undoable=request.undoable))


async def verify(citation: VerifiedCitation, admitted: AdmittedByQuery, memories: Memories) -> VerifyReply:
    """Tell whether cited lines still stand, moved, were edited or are gone."""
    return await memories.retained(admitted).verifying.verify(citation, admitted)


def _receipt(receipt: ForgetReport) -> ForgetReply:
    plan, purged = receipt.plan, receipt.purged
    return ForgetReply(
        forgotten=receipt.is_forgotten,
        memories=[_memory(one, is_told=not receipt.is_forgotten) for one in plan.memories],
        lines=[str(one) for one in plan.citations],
        turns=list(receipt.turns or plan.elsewhere.turns),
        files=receipt.files,
        changes=list(receipt.changes),
        purgedChanges=purged.changes,
        purgedProposals=purged.proposals,
        purgedAnswers=purged.held_answers,
        purgedSteps=purged.steps,
        unfinished=list(receipt.unfinished),
        stays=list(receipt.stays),
    )


def _memory(memory: Memory, *, is_told: bool) -> ForgottenMemoryReply:
    citations = [f"{one.path}#L{one.start_line}" for one in memory.sources if one.start_line != NOWHERE]
    return ForgottenMemoryReply(
        id=memory.id,
        content=memory.line.text if is_told else None,
        scope=memory.line.attributes.scope or None,
        citations=citations,
    )


CALLS: Final = (
    call("POST", "/forget", Who.OWNER, forget, deadline=FORGETTING, served=Served.SOCKET),
    call("GET", "/verify", Who.SESSION, verify),
)
