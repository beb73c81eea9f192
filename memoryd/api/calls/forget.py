"""`/v1/forget` and `/v1/verify`: take a memory out of everything, and check a citation."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.memories.book import Memory
from memoryd.memory.forgetting.planning import NOWHERE, ForgottenReceipt


class ForgetRequest(Request):
    """A memory, or lines of a note, to be taken out of everything."""

    target: Annotated[str, Field(min_length=1, max_length=4096)]
    """An id or the beginning of one, a citation such as `memory/2026-11-20.md#L12`, or words that the memory says."""
    agent: AgentId = None
    dry_run: bool = False
    """Say only what would go."""
    undoable: bool = False
    """Hold the lines in the ledger for 24 hours, out of every answer, so that `undo` brings them back."""


class ForgottenMemoryReply(Reply):
    """One memory that goes."""

    id: str
    """Its id."""
    content: str | None
    """What it says; null once it is forgotten."""
    scope: str | None
    """Whom it is for, such as `agent:other`; null: every agent on the workspace."""
    citations: list[str]
    """The lines that state it."""


class ForgetReply(Reply):
    """What was forgotten, or would be: counts, and what nobody here can reach."""

    forgotten: bool
    """Whether it was; false with `dryRun`, and while anything is `unfinished`."""
    memories: list[ForgottenMemoryReply]
    """The memories that went, or would."""
    lines: list[str]
    """All lines of notes that went, or would, as citations."""
    turns: list[str]
    """Turns of conversations in which the words were, or would be, replaced by `[forgotten]`."""
    files: int
    """Notes that were written."""
    changes: list[int]
    """Changes that `undo` takes back within 24 hours; empty unless `undoable`."""
    purged_changes: int
    """Earlier changes that told it, and cannot be undone any more; of others only its lines went from the ledger."""
    purged_proposals: int
    """Proposals that went, for their text had it."""
    purged_answers: int
    """Answers that were held for a week and went, for their text had it."""
    purged_steps: int
    """Rows about it that went from the ledger, such as steps of opinions."""
    unfinished: list[str]
    """What could not go yet and why, in sentences; it goes as soon as it can."""
    stays: list[str]
    """What is out of reach, in sentences."""


class VerifyReply(Reply):
    """What became of a citation."""

    citation: str
    """What was asked for."""
    state: Literal["verified", "moved", "edited", "gone"]
    """Whether the lines say what they said, stand elsewhere, say something else, or are no more."""
    now: str | None
    """Where the memory stands, or what stands on the lines now, with its mark; null if nothing is known."""
    id: str | None
    """The id of that memory; null if there is none."""
    content: str | None
    """What it says; null if there is none."""
    superseded_by: list[str]
    """Ids of newer versions of the memory."""
    note: str | None
    """What the answer cannot know, in a sentence; null if there is nothing to say."""


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
