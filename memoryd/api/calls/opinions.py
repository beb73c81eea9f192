"""`/v1/opinions`: what is thought, how firmly, and why."""

from typing import Annotated

from fastapi import Path, Query

from memoryd.agents.retained.opinions import DifferingStep, ExplainedOpinion, ToldStep
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.calls.qa import SessionKeyText
from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.citations import Citation
from memoryd.domain.memories.reflect.opinions import Label
from memoryd.memory.opinions import HeldOpinion
from memoryd.wire import LISTED_MAX


class OpinionReply(Reply):
    """An opinion, and how firmly it is held."""

    id: str
    """The id of the memory that states it; lines name it by its first eight signs."""
    kind: str
    """`opinion` or `preference`."""
    statement: str
    """What is thought."""
    entities: list[str]
    """Whom or what it is about, as written."""
    confidence: float
    """How firmly it is held, 0 to 1."""
    base: float
    """The confidence that its own lines give, from which evidence moved it; 0.5 where they give none."""
    last_updated: str | None
    """The day of the evidence that moved it last, else of the line that states it; null where no line has a date."""
    supporting: int
    """How many pieces of evidence speak for it."""
    opposing: int
    """How many speak against it."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""


class OpinionsReply(Reply):
    """The opinions that reach the caller, the firmest first."""

    opinions: list[OpinionReply]
    """The first of them."""
    total: int
    """How many there are."""


class OpinionStepReply(Reply):
    """What one piece of evidence made of a confidence."""

    evidence: str
    """The id of the memory; that of the opinion itself where it was said again."""
    label: Label
    """What it means for the opinion."""
    labelled_by: str
    """Who says so: `supports` or `contradicts` in its line, `restated`, or `model:` and the identity of the model."""
    day: str
    """The day on which it was said."""
    citations: list[str]
    """Where its lines stand; empty where they are gone."""
    content: str
    """What it says; empty where its line is gone."""
    before: float
    """The confidence before it, 0 to 1."""
    after: float
    """The confidence after it; the same where its day had counted, or the cap of the run was reached."""
    run: str
    """The run of reflect that counted it."""


class OpinionWhyReply(OpinionReply):
    """An opinion, and each step that led to its confidence."""

    steps: list[OpinionStepReply]
    """In the order in which they were counted."""
    set_aside: list[OpinionStepReply]
    """Steps from before its lines gave another confidence: they count no more."""


class OpinionReplayRequest(Request):
    """Whose opinions are to be computed anew."""

    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


class OpinionDifferenceReply(Reply):
    """An opinion with a step that is not as it is computed anew: the first such step."""

    id: str
    """The id of the opinion."""
    statement: str
    """What is thought."""
    evidence: str
    """The id of the evidence that the step counted."""
    before: float
    """The confidence before it, as recorded."""
    after: float
    """The confidence after it, as recorded."""
    computed_before: float
    """The confidence before it, as computed anew."""
    computed_after: float
    """The confidence after it, as computed anew."""


class OpinionReplayReply(Reply):
    """Whether every confidence comes out again, to the bit."""

    equal: bool
    """Whether all do."""
    opinions: int
    """How many opinions were computed anew."""
    steps: int
    """How many steps they have."""
    differing: list[OpinionDifferenceReply]
    """Those that do not."""


OpinionName = Annotated[str, Path(max_length=64, description="id of the opinion, or its first signs")]
EntityName = Annotated[str | None, Query(max_length=200, description="only opinions about this entity, or its alias")]
OpinionLimit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="how many at most")]


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


def opinion_reply(held: HeldOpinion) -> OpinionReply:
    """Return an opinion as it is told."""
    memory, standing, newest = held.memory, held.standing, held.memory.sources[0]
    return OpinionReply(
        id=memory.id,
        kind=memory.kind,
        statement=memory.line.text,
        entities=list(memory.line.entities),
        confidence=standing.confidence,
        base=standing.base.confidence,
        last_updated=standing.last_updated.isoformat() if standing.last_updated else None,
        supporting=len(held.supporting),
        opposing=len(held.opposing),
        source=str(Citation(newest.path, newest.start_line, newest.end_line)),
    )


def _explained(found: ExplainedOpinion) -> OpinionWhyReply:
    return OpinionWhyReply(
        **opinion_reply(found.held).model_dump(),
        steps=[_step(one) for one in found.steps],
        set_aside=[_step(one) for one in found.set_aside],
    )


def _step(told: ToldStep) -> OpinionStepReply:
    step = told.step
    return OpinionStepReply(
        evidence=step.evidence,
        label=step.label,
        labelled_by=step.labelled_by,
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
        computed_before=found.computed.before,
        computed_after=found.computed.after,
    )
