"""`/v1/forget`, `/v1/verify`: take a memory out of everything; tell whether a citation still stands."""

from typing import Annotated

from fastapi import Query

from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.forget_models import ForgetReply, ForgetRequest, ForgottenMemoryReply, VerifyReply
from memoryd.domain.memories.book import Memory
from memoryd.memory.forgetting.planning import NOWHERE, ForgottenReceipt

VerifiedCitation = Annotated[
    str, Query(min_length=1, max_length=1024, description="such as `memory/2026-11-20.md#L12@1a2b3c4d`")
]


async def forget(request: ForgetRequest, caller: Asking, memories: Memories) -> ForgetReply:
    """Take a memory out of notes, indexes, turns and the ledger, for the owner alone; say what cannot be reached."""
    room = memories.retained(caller.admit(request.agent, None)).forgetting
    if request.dry_run:
        return _receipt(await room.would_forget(request.target))
    return _receipt(await room.forget(request.target, is_undoable=request.undoable))


async def verify(citation: VerifiedCitation, admitted: AdmittedByQuery, memories: Memories) -> VerifyReply:
    """Tell whether cited lines still stand, moved, were edited or are gone."""
    done = await memories.retained(admitted).verifying.verify(citation, admitted)
    found, memory = done.check, done.check.memory
    return VerifyReply(
        citation=citation,
        state=found.state.value,
        now=None if found.now is None else str(found.now),
        id=None if memory is None else memory.id,
        content=None if memory is None else memory.line.text,
        superseded_by=list(done.superseded_by),
        note=found.note or None,
    )


def _receipt(receipt: ForgottenReceipt) -> ForgetReply:
    plan, purged = receipt.plan, receipt.purged
    return ForgetReply(
        forgotten=receipt.is_forgotten,
        memories=[_memory(one, is_told=not receipt.is_forgotten) for one in plan.memories],
        lines=[str(one) for one in plan.citations],
        turns=list(receipt.turns or plan.elsewhere.turns),
        files=receipt.files,
        changes=list(receipt.changes),
        purged_changes=purged.changes,
        purged_proposals=purged.proposals,
        purged_answers=purged.held_answers,
        purged_steps=purged.steps,
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
