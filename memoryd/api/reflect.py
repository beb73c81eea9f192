"""`/v1/reflect` and `/v1/proposals`: pages and opinions brought up to date, and changes that wait for the owner."""

from dataclasses import asdict
from typing import Annotated

from fastapi import Path, Query

from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.reflect_models import (
    DecidedProposalReply,
    NearCopiesReply,
    PageRefusalReply,
    ProposalDecision,
    ProposalReply,
    ProposalsReply,
    ProposalSummaryReply,
    ReflectReply,
    ReflectRequest,
)
from memoryd.domain.memories.reflect.proposals import Proposal, ProposalState
from memoryd.memory.reflect.pages import ReflectOutcome
from memoryd.memory.reflect.proposals import DecidedProposal, ProposalQueue
from memoryd.wire import PROPOSALS_MAX

ProposalName = Annotated[str, Path(max_length=64, description="the proposal, by its id or the beginning of it")]
StateParameter = Annotated[ProposalState | None, Query(description="only those in this state; all if absent")]
ProposalLimit = Annotated[int, Query(ge=1, le=PROPOSALS_MAX, description="how many at most")]


async def reflect(request: ReflectRequest, caller: Asking, memories: Memories) -> ReflectReply:
    """Bring pages and opinions up to date, and propose what a person has to decide."""
    use = memories.retained(caller.admit(request.agent, None)).reflect
    outcome = await use.run(request.since, is_dry=request.dry_run, allows_loss=request.allow_loss)
    return _told(outcome)


async def proposals(
    admitted: AdmittedByQuery, memories: Memories, state: StateParameter = None, limit: ProposalLimit = 100
) -> ProposalsReply:
    """List changes that wait for the owner, or that were decided."""
    found = await memories.retained(admitted).reflect.proposals.all(state)
    return ProposalsReply(proposals=[_proposal(one) for one in found[:limit]], total=len(found))


async def proposal(proposal: ProposalName, admitted: AdmittedByQuery, memories: Memories) -> ProposalReply:
    """Show one proposal with its diff."""
    return _proposal(await memories.retained(admitted).reflect.proposals.shown(proposal))


async def accept(
    proposal: ProposalName, request: ProposalDecision, caller: Asking, memories: Memories
) -> DecidedProposalReply:
    """Write what a proposal says, where its lines still stand unmistakably."""
    return _decided(await _queue(request, caller, memories).accept(proposal))


async def reject(
    proposal: ProposalName, request: ProposalDecision, caller: Asking, memories: Memories
) -> DecidedProposalReply:
    """Take a proposal out of the queue; the same lines are not proposed again."""
    return _decided(await _queue(request, caller, memories).reject(proposal))


def _queue(request: ProposalDecision, caller: Asking, memories: Memories) -> ProposalQueue:
    return memories.retained(caller.admit(request.agent, None)).reflect.proposals


def _told(outcome: ReflectOutcome) -> ReflectReply:
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
        core_left_out=outcome.core_left_out,
        took_ms=round(outcome.seconds * 1000, 2),
    )


def _proposal(one: Proposal) -> ProposalReply:
    change = one.change
    return ProposalReply(
        id=one.id,
        kind=change.kind,
        path=change.path,
        why=change.why,
        diff=change.diff,
        memories=list(change.memories),
        state=one.state,
        made_at=one.made_at,
        decided_at=one.decided_at,
    )


def _decided(decided: DecidedProposal) -> DecidedProposalReply:
    told = _proposal(decided.proposal).model_dump()
    return DecidedProposalReply(**told, change=decided.change, note=decided.note)
