"""`/v1/disagreements`: memories that may contradict each other, for their owner to settle."""

from typing import Annotated

from fastapi import Path
from pydantic import Field

from memoryd.agents.retained.disagreements import DisagreeingPair
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.calls.memories import ListLimit
from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.citations import cited
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.disagreements import Keep
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.versions import Doubt


class DisagreeingMemoryReply(Reply):
    """One of two memories that disagree."""

    id: str
    """Its id."""
    text: str
    """What it states."""
    said_by: Provenance | None
    """Who said it; null: a person wrote it."""
    pinned: bool
    """Whether it is pinned."""
    recorded: str
    """The day of its newest line, as `2026-01-31`."""
    source: str
    """Where that line stands, as a citation."""


class DisagreementReply(Reply):
    """Two memories that both stand, and may contradict each other."""

    id: str
    """Its name: the first eight signs of both ids; that of one memory names it, too, where it is in no other pair."""
    doubt: Doubt
    """Why nobody but a person can tell: by who said it, since it is not sure that both speak of one thing, or since a
    line says that it contradicts the other."""
    leads: str
    """The id of the one that recall tells first."""
    newer: DisagreeingMemoryReply
    """What was said last."""
    older: DisagreeingMemoryReply
    """What was said before it."""


class DisagreementsReply(Reply):
    """Disagreements, the newest first."""

    disagreements: list[DisagreementReply]
    """Those that are told."""
    total: int
    """How many there are."""


class SettleRequest(Request):
    """What is to hold of two memories that disagree."""

    keep: Annotated[Keep, Field(strict=False)]
    """`newer` or `older`: that one supersedes the other; `both`: they stand beside each other."""
    agent: AgentId = None


class SettledReply(DisagreementReply):
    """A disagreement that was settled."""

    keep: Keep
    """What was kept."""
    changes: Annotated[list[int], Field(description="The numbers by which `memoryctl undo` takes it back.")]


PairName = Annotated[str, Path(max_length=64, description="the disagreement, by its id or that of one of its memories")]


async def disagreements(admitted: AdmittedByQuery, memories: Memories, limit: ListLimit = 100) -> DisagreementsReply:
    """List memories that may contradict each other."""
    found = await memories.retained(admitted).disagreements.all(admitted)
    return DisagreementsReply(disagreements=[_reply(one) for one in found[:limit]], total=len(found))


async def settle(disagreement: PairName, request: SettleRequest, caller: Asking, memories: Memories) -> SettledReply:
    """Write which of two memories holds, or that both do."""
    admitted = caller.admit(request.agent, None)
    done = await memories.retained(admitted).disagreements.settle(disagreement, request.keep, admitted)
    changes = [one.id for one in done.written.changes if one.id]
    return SettledReply(**_reply(done.pair).model_dump(), keep=done.keep, changes=changes)


def _reply(pair: DisagreeingPair) -> DisagreementReply:
    return DisagreementReply(
        id=pair.name, doubt=pair.doubt, leads=pair.leads.id, newer=_memory(pair.newer), older=_memory(pair.older)
    )


def _memory(memory: Memory) -> DisagreeingMemoryReply:
    source, said = memory.sources[0], memory.line.attributes
    return DisagreeingMemoryReply(
        id=memory.id,
        text=memory.line.text,
        said_by=said.provenance,
        pinned=said.is_pinned,
        recorded=memory.recorded.isoformat(),
        source=str(cited(source.path, source.start_line, source.end_line)),
    )
