"""`/v1/reflect`, `/v1/proposals` and `/v1/opinions`: runs of reflect, their proposals to the owner, and opinions."""

from datetime import timedelta, tzinfo
from typing import Annotated

from pydantic import Field

from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories
from memoryd.api.call import call
from memoryd.api.models import ListLimit, Request, SessionRequest
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.memories.reflect.proposals import Proposal, ProposalId, ProposalState
from memoryd.memory.reflect.proposals import DecidedProposal
from memoryd.replies.knowledge import (
    DecidedProposalReply,
    OpinionReplayReply,
    OpinionsReply,
    OpinionWhyReply,
    ProposalReply,
    ProposalsReply,
    ReflectReply,
)
from memoryd.wire import PROPOSALS_MAX


class ReflectRequest(Request):
    """A run of reflect over the workspace of an agent."""

    since: Annotated[str, Field(max_length=64)] | None = None
    """How far back to look for proposals: `7d`, a date, or an ISO 8601 time; null: `memory.reflect.since`."""
    dry_run: bool = False
    """`true`: report what would be done, and write nothing."""
    allow_loss: bool = False
    """`true`: pages may lose content, since it was deleted on purpose."""


class ProposalDecision(Request):
    """A decision about a proposal."""


ProposalName = Annotated[str, Field(max_length=64, description="id of the proposal, or the beginning of it")]
StateParameter = Annotated[ProposalState | None, Field(description="only proposals in this state; all if absent")]
ProposalLimit = Annotated[int, Field(ge=1, le=PROPOSALS_MAX, description="maximum number")]
AfterProposal = Annotated[str, Field(max_length=64, description="only proposals after the one with this id")]


async def reflect(request: ReflectRequest, admitted: AdmittedByBody, memories: Memories) -> ReflectReply:
    """Update pages and opinions, and propose changes that a person has to decide."""
    use = memories.retained(admitted).reflect
    return await use.run(request.since, is_dry=request.dry_run, allows_loss=request.allow_loss)


async def proposals(
    admitted: AdmittedByQuery,
    memories: Memories,
    state: StateParameter = None,
    limit: ProposalLimit = 100,
    after: AfterProposal = "",
) -> ProposalsReply:
    """List the changes that wait for the owner, or were decided."""
    use = memories.retained(admitted).reflect
    # all states: the proposal after which the list continues may be decided by now
    rows = await use.reflecting.queue.all()
    places = {row.id: place for place, row in enumerate(rows)}
    selected = [row for row in rows if state in (None, row.state)]
    rest = [row for row in selected if places[row.id] > places.get(ProposalId(after), -1)]
    return ProposalsReply(
        proposals=[_proposal_reply(row, use.zone) for row in rest[:limit]],
        total=len(selected),
        next=rest[limit - 1].id if len(rest) > limit else None,
    )


async def proposal(proposal: ProposalName, admitted: AdmittedByQuery, memories: Memories) -> ProposalReply:
    """Show one proposal with its diff."""
    use = memories.retained(admitted).reflect
    return _proposal_reply(await use.reflecting.queue.current(proposal), use.zone)


async def accept(
    proposal: ProposalName, request: ProposalDecision, admitted: AdmittedByBody, memories: Memories
) -> DecidedProposalReply:
    """Write the change of a proposal, if its lines can still be identified."""
    use = memories.retained(admitted).reflect
    return _decided_reply(await use.reflecting.queue.accept(proposal), use.zone)


async def reject(
    proposal: ProposalName, request: ProposalDecision, admitted: AdmittedByBody, memories: Memories
) -> DecidedProposalReply:
    """Reject a proposal; the same lines are not proposed again."""
    use = memories.retained(admitted).reflect
    return _decided_reply(await use.reflecting.queue.reject(proposal), use.zone)


def _proposal_reply(proposal: Proposal, zone: tzinfo | None) -> ProposalReply:
    change = proposal.change
    return ProposalReply(
        id=proposal.id,
        kind=change.kind.value,
        path=change.path,
        why=change.why,
        diff=change.diff,
        memories=list(change.memories),
        state=proposal.state.value,
        madeAt=rfc3339(proposal.made_at.astimezone(zone)),
        decidedAt=rfc3339(proposal.decided_at and proposal.decided_at.astimezone(zone)),
    )


def _decided_reply(decided: DecidedProposal, zone: tzinfo | None) -> DecidedProposalReply:
    proposal = _proposal_reply(decided.proposal, zone)
    return DecidedProposalReply(**proposal, change=decided.change, note=decided.note)


class OpinionReplayRequest(SessionRequest):
    """The agent whose opinions are recomputed."""


OpinionName = Annotated[str, Field(max_length=64, description="id of the opinion, or the beginning of it")]
EntityName = Annotated[
    str | None, Field(max_length=200, description="only opinions about this entity, by its name or an alias")
]


async def listing(
    admitted: AdmittedByQuery, memories: Memories, entity: EntityName = None, limit: ListLimit = 50
) -> OpinionsReply:
    """List the visible opinions, the most confident first."""
    return await memories.retained(admitted).opinions.all(admitted, entity, limit)


async def why(opinion: OpinionName, admitted: AdmittedByQuery, memories: Memories) -> OpinionWhyReply:
    """Explain an opinion: each step with its evidence and its effect on the confidence."""
    return await memories.retained(admitted).opinions.one(admitted, opinion)


async def replay(request: OpinionReplayRequest, admitted: AdmittedByBody, memories: Memories) -> OpinionReplayReply:
    """Recompute all confidences from lines and ledger, and compare them bit for bit; nothing is changed."""
    return await memories.retained(admitted).opinions.replay(admitted)


REFLECTING = timedelta(minutes=10, seconds=10)
"""Long enough to write thousands of pages and query a model for some of them."""

CALLS = (
    call("GET", "/opinions", Who.SESSION, listing),
    call("GET", "/opinions/{opinion}", Who.SESSION, why),
    call("POST", "/opinions/replay", Who.SESSION, replay),
    call("POST", "/reflect", Who.OWNER, reflect, deadline=REFLECTING),
    call("GET", "/proposals", Who.OWNER, proposals),
    call("GET", "/proposals/{proposal}", Who.OWNER, proposal),
    call("POST", "/proposals/{proposal}/accept", Who.OWNER, accept),
    call("POST", "/proposals/{proposal}/reject", Who.OWNER, reject),
)
