"""`/v1/opinions`: what is thought, how firmly, and why."""

from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.retained.opinions import DifferingStep, ExplainedOpinion, OpinionStep
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.models import AgentId, Request, SessionKeyText
from memoryd.domain.access import Who
from memoryd.domain.citations import Citation
from memoryd.memory.opinions import OpinionWithEvidence
from memoryd.replies.knowledge import (
    OpinionDifferenceReply,
    OpinionReplayReply,
    OpinionReply,
    OpinionsReply,
    OpinionStepReply,
    OpinionWhyReply,
)
from memoryd.wire import LISTED_MAX


class OpinionReplayRequest(Request):
    """Whose opinions are to be computed anew."""

    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


OpinionName = Annotated[str, Field(max_length=64, description="id of the opinion, or its first signs")]
EntityName = Annotated[str | None, Field(max_length=200, description="only opinions about this entity, or its alias")]
OpinionLimit = Annotated[int, Field(ge=1, le=LISTED_MAX, description="how many at most")]


async def listing(
    admitted: AdmittedByQuery, memories: Memories, entity: EntityName = None, limit: OpinionLimit = 50
) -> OpinionsReply:
    """List the opinions that reach the caller, the firmest first."""
    found = await memories.retained(admitted).opinions.all(admitted, entity)
    return OpinionsReply(opinions=[opinion_reply(one) for one in found[:limit]], total=len(found))


async def why(opinion: OpinionName, admitted: AdmittedByQuery, memories: Memories) -> OpinionWhyReply:
    """Say why an opinion is held: each step with its evidence, and what it made of the confidence."""
    return _explained(await memories.retained(admitted).opinions.one(admitted, opinion))


async def replay(request: OpinionReplayRequest, caller: Asking, memories: Memories) -> OpinionReplayReply:
    """Compute all confidences anew from lines and ledger, and compare them, bit for bit; nothing is changed."""
    admitted = caller.admit(request.agent, request.session_key)
    found = await memories.retained(admitted).opinions.replay(admitted)
    return OpinionReplayReply(
        equal=not found.differing,
        opinions=found.opinions,
        steps=found.steps,
        differing=[_difference(one) for one in found.differing],
    )


def opinion_reply(held: OpinionWithEvidence) -> OpinionReply:
    """Return an opinion as it is told."""
    memory, standing, newest = held.memory, held.standing, held.memory.sources[0]
    return OpinionReply(
        id=memory.id,
        kind=memory.kind,
        statement=memory.line.text,
        entities=list(memory.line.entities),
        confidence=standing.confidence,
        base=standing.base.confidence,
        lastUpdated=standing.last_updated.isoformat() if standing.last_updated else None,
        supporting=len(held.supporting),
        opposing=len(held.opposing),
        source=str(Citation(newest.path, newest.start_line, newest.end_line)),
    )


def _explained(found: ExplainedOpinion) -> OpinionWhyReply:
    return OpinionWhyReply(
        **opinion_reply(found.held),
        steps=[_step(one) for one in found.steps],
        setAside=[_step(one) for one in found.set_aside],
    )


def _step(told: OpinionStep) -> OpinionStepReply:
    step = told.step
    return OpinionStepReply(
        evidence=step.evidence,
        label=step.label.value,
        labelledBy=step.labelled_by,
        day=step.day.isoformat(),
        citations=list(told.evidence.citations),
        content=told.content,
        before=step.before,
        after=step.after,
        run=step.run,
    )


def _difference(found: DifferingStep) -> OpinionDifferenceReply:
    return OpinionDifferenceReply(
        id=found.opinion.id,
        statement=found.opinion.line.text,
        evidence=found.recorded.evidence,
        before=found.recorded.before,
        after=found.recorded.after,
        computedBefore=found.computed.before,
        computedAfter=found.computed.after,
    )


CALLS: Final = (
    call("GET", "/opinions", Who.SESSION, listing),
    call("GET", "/opinions/{opinion}", Who.SESSION, why),
    call("POST", "/opinions/replay", Who.SESSION, replay),
)
