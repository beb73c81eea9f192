"""`/v1/reflect` and `/v1/proposals`: pages and opinions brought up to date, and changes that wait for the owner."""

from datetime import datetime, tzinfo
from typing import Annotated

from fastapi import Path, Query
from msgspec.structs import asdict
from pydantic import Field

from memoryd.agents.retained.reflecting import ReflectUse
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.memories.reflect.proposals import Proposal, ProposalKind, ProposalState
from memoryd.memory.reflect.pages import ReflectOutcome
from memoryd.memory.reflect.proposals import DecidedProposal
from memoryd.wire import PROPOSALS_MAX


class ReflectRequest(Request):
    """A run of reflect over the workspace of an agent."""

    since: Annotated[str, Field(max_length=64)] | None = None
    """How far back it looks for what to propose: `7d`, a date, or an ISO 8601 time; null: `memory.reflect.since`."""
    dry_run: bool = False
    """`true`: say what it would do, and write nothing."""
    allow_loss: bool = False
    """`true`: pages may lose what they told, since it is gone on purpose."""
    agent: AgentId = None


class PageRefusalReply(Reply):
    """A page that was left as it is."""

    path: str
    """Its path in the workspace."""
    why: str
    """What is in the way, and what to do."""


class ProposalSummaryReply(Reply):
    """A proposal, without its diff."""

    id: str
    """Its id; the first four signs or more name it, too."""
    kind: ProposalKind
    """What it is for."""
    path: str
    """The one file that it changes."""
    why: str
    """Why, in one sentence."""


class NearCopiesReply(Reply):
    """Two memories that say nearly the same; nothing is folded."""

    newer: str
    """The id of the one that was recorded last."""
    older: str
    """The id of the other."""


class ReflectReply(Reply):
    """What a run did, or would do."""

    run: str
    """The id of the run, which its changes have."""
    since: str
    """The first day that it looked at, as `2026-01-31`."""
    dry_run: bool
    """Whether nothing was written."""
    memories: int
    """How many memories the workspace has."""
    steps: int
    """How many pieces of evidence were counted for or against opinions."""
    pages: list[str]
    """The pages that were written, or would be."""
    unchanged: int
    """How many pages said it all already."""
    refusals: list[PageRefusalReply]
    """The pages that were left as they are, and why."""
    proposals: list[ProposalSummaryReply]
    """What was put into the queue, or would be."""
    copies: list[NearCopiesReply]
    """Memories that say nearly the same, 50 pairs at most."""
    across_scopes: list[NearCopiesReply]
    """Memories that say the same in several scopes, 50 pairs at most."""
    disagreements: int
    """How many pairs of memories may contradict each other: `/v1/disagreements` lists them."""
    core_left_out: int
    """How many durable facts were not proposed, since the core file has no room for them."""
    took_ms: float
    """How long it took, in milliseconds."""


class ProposalReply(ProposalSummaryReply):
    """A proposal with its diff."""

    diff: str
    """What it changes, as a unified diff."""
    memories: list[str]
    """The ids of the memories that it rests on."""
    state: ProposalState
    """`open`, or what became of it."""
    made_at: datetime
    """When it was made, ISO 8601, by the owner's clock."""
    decided_at: datetime | None
    """When it was decided, ISO 8601, by the owner's clock; null while it is open."""


class ProposalsReply(Reply):
    """Proposals, the oldest first."""

    proposals: list[ProposalReply]
    """Those in the state that was asked for."""
    total: int
    """How many there are in that state."""


class ProposalDecision(Request):
    """A decision about a proposal."""

    agent: AgentId = None


class DecidedProposalReply(ProposalReply):
    """A proposal after it was decided."""

    change: int
    """The number by which `memoryctl undo` takes it back; 0: there is none."""
    note: str
    """Why it cannot be undone; empty if it can, or nothing was written."""


ProposalName = Annotated[str, Path(max_length=64, description="the proposal, by its id or the beginning of it")]
StateParameter = Annotated[ProposalState | None, Query(description="only those in this state; all if absent")]
ProposalLimit = Annotated[int, Query(ge=1, le=PROPOSALS_MAX, description="how many at most")]


async def reflect(request: ReflectRequest, caller: Asking, memories: Memories) -> ReflectReply:
    """Bring pages and opinions up to date, and propose what a person has to decide."""
    use = memories.retained(caller.admit(request.agent, None)).reflect
    outcome = await use.run(request.since, is_dry=request.dry_run, allows_loss=request.allow_loss)
    return _reflect_reply(outcome)


async def proposals(
    admitted: AdmittedByQuery, memories: Memories, state: StateParameter = None, limit: ProposalLimit = 100
) -> ProposalsReply:
    """List changes that wait for the owner, or that were decided."""
    use = memories.retained(admitted).reflect
    found = await use.proposals.all(state)
    return ProposalsReply(proposals=[_proposal_reply(one, use.zone) for one in found[:limit]], total=len(found))


async def proposal(proposal: ProposalName, admitted: AdmittedByQuery, memories: Memories) -> ProposalReply:
    """Show one proposal with its diff."""
    use = memories.retained(admitted).reflect
    return _proposal_reply(await use.proposals.shown(proposal), use.zone)


async def accept(
    proposal: ProposalName, request: ProposalDecision, caller: Asking, memories: Memories
) -> DecidedProposalReply:
    """Write what a proposal says, where its lines still stand unmistakably."""
    use = _reflect_use(request, caller, memories)
    return _decided_reply(await use.proposals.accept(proposal), use.zone)


async def reject(
    proposal: ProposalName, request: ProposalDecision, caller: Asking, memories: Memories
) -> DecidedProposalReply:
    """Take a proposal out of the queue; the same lines are not proposed again."""
    use = _reflect_use(request, caller, memories)
    return _decided_reply(await use.proposals.reject(proposal), use.zone)


def _reflect_use(request: ProposalDecision, caller: Asking, memories: Memories) -> ReflectUse:
    return memories.retained(caller.admit(request.agent, None)).reflect


def _reflect_reply(outcome: ReflectOutcome) -> ReflectReply:
    return ReflectReply(
        run=outcome.run,
        since=outcome.since.isoformat(),
        dry_run=outcome.is_dry,
        memories=outcome.memories,
        steps=outcome.steps,
        pages=list(outcome.pages),
        unchanged=outcome.unchanged,
        refusals=[PageRefusalReply(path=one.path, why=one.why) for one in outcome.refusals],
        proposals=[ProposalSummaryReply(**asdict(one)) for one in outcome.proposals],
        copies=[NearCopiesReply(**asdict(one)) for one in outcome.copies],
        across_scopes=[NearCopiesReply(**asdict(one)) for one in outcome.across_scopes],
        disagreements=outcome.disagreements,
        core_left_out=outcome.core_left_out,
        took_ms=round(outcome.seconds * 1000, 2),
    )


def _proposal_reply(one: Proposal, zone: tzinfo | None) -> ProposalReply:
    change = one.change
    return ProposalReply(
        id=one.id,
        kind=change.kind,
        path=change.path,
        why=change.why,
        diff=change.diff,
        memories=list(change.memories),
        state=one.state,
        made_at=one.made_at.astimezone(zone),
        decided_at=one.decided_at and one.decided_at.astimezone(zone),
    )


def _decided_reply(decided: DecidedProposal, zone: tzinfo | None) -> DecidedProposalReply:
    told = _proposal_reply(decided.proposal, zone).model_dump()
    return DecidedProposalReply(**told, change=decided.change, note=decided.note)
