"""`POST /v1/recall` and `POST /v1/turns`: memories, passages and pages of entities for a question or a message.

All three share one shape. `/v1/turns` is the one call that an agent makes for each message.
"""

import time
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from memoryd.agents.retained.recall import BundleOptions, RecallOptions, bundle_reply
from memoryd.agents.turns.log import NewMessage
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.calls.search import DIGITS, floors_explanation, health_reply, lines_reply, rounded
from memoryd.api.models import (
    AnswerText,
    Encode,
    LabelText,
    NamedText,
    Request,
    RequestDeadline,
    RequestPart,
    ResultLimit,
    SessionKeyText,
    Whole,
    fallback_reply,
    milliseconds,
    present,
)
from memoryd.domain.access import Who
from memoryd.domain.documents import person_of
from memoryd.domain.memories.book import MemorySource, cite
from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.memories.kinds import TEAM, is_belief
from memoryd.domain.memories.reflect.opinions import Label, LineEvidence, base_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType, MessageRole
from memoryd.memory.book import OpinionWithEvidence
from memoryd.memory.recall.query import (
    CheckedSource,
    Recalled,
    RecalledEntity,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
)
from memoryd.replies.conversations import TurnReply
from memoryd.replies.recall import (
    EventTimeReply,
    EvidenceReply,
    MemorySourceReply,
    OpinionEvidenceReply,
    RecallExplanation,
    RecallItemExplanation,
    RecallItemReply,
    RecallReply,
    ToldJudgedReply,
    ToldReply,
)
from memoryd.wire import TOLD_MAX

MAX_RECALLED = 12
TOLD_NUMBER_MAX = 2**53
Budget = Annotated[Whole, Field(ge=0, le=100_000)] | None
Etag = LabelText | None
Day = Annotated[str, Field(max_length=64)]


class RecallRequest(Request):
    """A question; what is absent comes from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question; 4096 bytes at most."""
    k: ResultLimit | None = None
    """How many memories and passages at most; null: as configured (`memory.recall.k`)."""
    since: Day | None = None
    """Only what happened on this day or later, by event time, else record time: `30d`, `2026-10-01` or ISO 8601."""
    until: Day | None = None
    """Only what happened on this day or earlier, likewise."""
    as_of: Day | None = None
    """What was true on this day, by record and event time; versions are told as they were then."""
    known_by: Day | None = None
    """What was known on this day, by record time."""
    entity: LabelText | None = None
    """Only memories about this entity, by any of its names."""
    kind: Annotated[str, Field(max_length=32)] | None = None
    """Only memories of this network or exact kind: `opinion`, `preference`, …; passages have none."""
    scope: LabelText | None = None
    """Only memories of this scope: `workspace`, `team`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    budget: Budget = None
    """Tokens of a bundle at most, estimated; null: as configured (`memory.recall.budget`)."""
    format: Literal["items", "bundle"] = "items"
    """`bundle`: also as text for a prompt."""
    encode: Encode = Encoding.TEXT
    """How a bundle is written: as delimited text, or in the message shape of an API, for its request."""
    if_none_match: Etag = None
    """The `etag` of the stable block that the asker has: it is left out of the bundle while it is the same."""
    deadline_ms: RequestDeadline = None
    """Milliseconds until the answer comes with what there is; null: `query.deadlineMs`."""
    touch: bool = True
    """Count what is told as used, which keeps it near at hand; false: only look."""
    explain: bool = False
    """Tell why each item was chosen, and what was cut and why."""
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""


FILTERS = {"k", "since", "until", "as_of", "known_by", "entity", "kind", "scope"}
"""Fields of a request that are options of a recall by the same names."""


async def recall(request: RecallRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories) -> RecallReply:
    """Recall what answers, each item with its citation, and on demand as a bundle for a prompt."""
    options = RecallOptions(
        **request.model_dump(include=FILTERS, exclude_none=True),
        deadline=milliseconds(request.deadline_ms),
        is_explained=request.explain,
        touches=request.touch,
        session=caller.key(request.session_key),
    )
    bundle = None
    if request.format == "bundle":
        bundle = BundleOptions(budget=request.budget, if_none_match=request.if_none_match or "")
    recalled = await memories.retained(admitted).recall.recall(request.query, options, admitted, bundle)
    return encoded(recalled, request.encode)


def encoded(found: Recalled, encoding: Encoding) -> RecallReply:
    """Return the reply; scores are rounded."""
    reply = present(
        RecallReply,
        results=[
            *map(page_reply, found.entities),
            *(item_reply(item, found) for item in found.items),
        ],
        leftOut=[item_reply(item, found) for item in found.left_out] if found.is_explained else None,
        verdict=found.verdict.value,
        reason=found.reason,
        citations="on" if found.has_citations else "off",
        backend=found.found.engine.name,
        fallback=fallback_reply(found.found.fallback),
        health=health_reply(found),
        tookMs=round(found.took_ms, 2),
        explain=_explanation(found) if found.is_explained else None,
    )
    return reply if found.bundle is None else {**reply, **bundle_reply(found.bundle, encoding)}


def _explanation(found: Recalled) -> RecallExplanation:
    floors = found.found.floors
    return RecallExplanation(
        terms=[] if floors is None else list(floors.idf.weights),
        floors=None if floors is None else floors_explanation(floors),
    )


def page_reply(page: RecalledEntity) -> RecallItemReply:
    """Return the reply for the page of an entity."""
    return RecallItemReply(
        {"is": "entity", "name": page.name, "path": page.path, "content": page.summary, "memories": list(page.memories)}
    )


def item_reply(item: RecalledItem, found: Recalled) -> RecallItemReply:
    """Return the reply for a memory or a passage."""
    reply = _memory(item, found) if isinstance(item, RecalledMemory) else _passage(item)
    return {**reply, "explain": _explained(item)} if found.is_explained else reply


def _memory(item: RecalledMemory, found: Recalled) -> RecallItemReply:
    lead, line = item.lead, item.lead.source.line
    opinion = found.opinions.get(item.memory.id)
    return present(
        RecallItemReply,
        **{
            "is": "memory",
            "id": item.memory.id,
            "kind": line.network.value,
            "type": line.kind.value,
            "timestamp": _day(lead.source),
            "eventTime": _span(lead.source.event),
            "entities": list(line.entities),
            "content": line.text,
            "source": str(lead.source.citation),
            "citation": str(cite(lead.source)),
            "sources": list(map(_source, item.sources)),
            "scope": f"{TEAM}:{found.team}" if line.attributes.scope == TEAM else line.attributes.scope or None,
            "pinned": line.attributes.is_pinned or None,
            "person": person_of(lead.source.path) or None,
            "flags": list(lead.source.flags) or None,
            "confidence": _confidence(item, opinion),
            "evidence": _evidence(opinion, found.stated.get(item.memory.id, ()))
            if is_belief(item.memory.kind)
            else None,
            "supersedes": list(item.supersedes) or None,
            "supersededBy": list(item.superseded_by) or None,
            "doubtedBy": list(item.doubted_by) or None,
            "copies": list(item.copies) or None,
            "tier": item.tier.value,
            "score": round(item.placed.score, DIGITS),
            "verdict": item.placed.verdict.value,
            "arms": list(item.arms),
            "state": lead.state.value,
        },
    )


def _passage(item: RecalledPassage) -> RecallItemReply:
    hit = item.hit
    return present(
        RecallItemReply,
        **{
            "is": "passage",
            "path": hit.chunk.path,
            "startLine": hit.chunk.start_line,
            "endLine": hit.chunk.end_line,
            "focus": None if hit.snippet.focus is None else lines_reply(hit.snippet.focus.lines),
            "heading": hit.chunk.heading,
            "content": hit.snippet.text,
            "person": person_of(hit.chunk.path) or None,
            "flags": list(hit.snippet.flags) or None,
            "source": str(hit.citation),
            "citation": str(hit.citation),
            "score": round(item.placed.score, DIGITS),
            "verdict": item.placed.verdict.value,
            "arms": _arms(item),
            "state": "verified",
        },
    )


def _arms(item: RecalledPassage) -> list[str]:
    scores = {"lexical": item.hit.bm25, "vector": item.hit.cosine}
    return [*(arm for arm, score in scores.items() if score is not None), *item.placed.lifts]


def _confidence(item: RecalledMemory, opinion: OpinionWithEvidence | None) -> float | None:
    if opinion is not None:
        return round(opinion.confidence, DIGITS)
    return round(base_of(item.memory).confidence, DIGITS) if is_belief(item.memory.kind) else None


def _evidence(opinion: OpinionWithEvidence | None, stated: Sequence[LineEvidence]) -> OpinionEvidenceReply:
    """Return the evidence that was counted, and the evidence that lines state beside it."""
    counted = () if opinion is None else opinion.evidence
    known = {one["id"] for one in counted}
    found = [*counted, *(_stated_evidence(one) for one in stated if one.memory.id not in known)]
    return OpinionEvidenceReply(
        {
            "for": [one for one in found if one["label"] == Label.REINFORCE],
            "against": [one for one in found if one["label"] != Label.REINFORCE],
        }
    )


def _stated_evidence(evidence: LineEvidence) -> EvidenceReply:
    memory = evidence.memory
    return EvidenceReply(
        id=memory.id,
        sources=[str(source.citation) for source in memory.sources],
        timestamp=memory.first_recorded.isoformat(),
        label=evidence.label.value,
    )


def _source(checked: CheckedSource) -> MemorySourceReply:
    return MemorySourceReply(
        source=str(checked.source.citation),
        timestamp=_day(checked.source),
        eventTime=_span(checked.source.event),
        state=checked.state.value,
    )


def _day(source: MemorySource) -> str | None:
    """Return the day on which a line was written; None for a page without a date, whose first scan tells nothing."""
    return None if date_in_name(source.path) is None else source.day.isoformat()


def _span(span: DaySpan | None) -> EventTimeReply | None:
    if span is None:
        return None
    return EventTimeReply(
        start=None if span.first == date.min else span.first.isoformat(),
        end=None if span.last == date.max else span.last.isoformat(),
    )


def _explained(item: RecalledItem) -> RecallItemExplanation:
    evidence = item.evidence
    return RecallItemExplanation(
        baseScore=round(item.placed.base_score, DIGITS),
        lifts={arm: round(lift, DIGITS) for arm, lift in item.placed.lifts.items()},
        relevance=round(item.placed.relevance, DIGITS),
        wordsRank=evidence.ranks.words,
        vectorRank=evidence.ranks.vector,
        cosine=rounded(evidence.cosine),
        terms=list(evidence.terms),
        because=item.because,
    )


class TurnEventRequest(RequestPart):
    """Something that happened in a conversation."""

    type: Literal["failure", "tool_failed", "end", "compact"]
    """`failure`: the agent got stuck; `tool_failed`: a tool failed, and what is known of that is wanted, lessons first,
    once for the same failure; `end`: the conversation is over; `compact`: the agent shortens what it holds."""
    text: AnswerText = ""
    """What happened, in words."""
    tool: LabelText = ""
    """The tool that it happened with."""
    input: AnswerText = ""
    """What a tool was given that failed, such as a command line."""


class TurnRequest(Request):
    """A message of a conversation, and what is wanted for it; what is absent comes from the configuration."""

    session_key: SessionKeyText = None
    """The session that it belongs to, such as `agent:main:main`; null: none, and it is not kept."""
    role: Literal["user", "assistant", "tool", "system"]
    """Who said it."""
    text: AnswerText = ""
    """What was said; may be empty where there is an `event`."""
    channel: Annotated[str, Field(max_length=100)] | None = None
    """`cron`, `heartbeat` or `system`, where the session key does not say so: nothing is recalled for these."""
    at: Annotated[str, Field(max_length=64)] | None = None
    """When it was said, ISO 8601, in the owner's time zone unless it names one; null: now."""
    event: TurnEventRequest | None = None
    """What happened; null: nothing but that it was said."""
    budget: Budget = None
    """Tokens of the bundle at most, estimated; null: as configured (`agents.defaults.memory.retrieval.maxTokens`)."""
    encode: Encode = Encoding.TEXT
    """How the bundle is written: as delimited text, or in the message shape of an API, for its request."""
    if_none_match: Etag = None
    """The `etag` of the stable block that the asker has: it is left out of the bundle while it is the same. `*`: it is
    left out unless the session is owed it, since nobody read its start or the agent has compacted what it held."""
    k: Annotated[Whole, Field(ge=1, le=MAX_RECALLED)] | None = None
    """How many memories and passages are recalled; null: as configured (`agents.defaults.memory.recall_final_k`)."""
    deadline_ms: RequestDeadline = None
    """Milliseconds until what is recalled must be there; null: `query.deadlineMs`."""
    unread: bool = False
    """Nobody reads the reply, nor that to the message before if this is the same one: what they were to tell is told
    with the next message of the session."""


async def take(request: TurnRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories) -> TurnReply:
    """Carry out the command that a message is, keep it, and answer with what is recalled and what was said before."""
    began = time.monotonic()
    event = None
    if (happened := request.event) is not None:
        event = MessageEvent(MessageEventType(happened.type), happened.text, happened.tool, happened.input)
    message = NewMessage(
        admitted=admitted,
        role=MessageRole(request.role),
        text=request.text,
        key=caller.key(request.session_key),
        at=request.at,
        channel=request.channel or "",
        event=event,
        k=request.k,
        budget=request.budget,
        if_none_match=request.if_none_match or "",
        encoding=request.encode,
        is_owners=caller.binding.is_owners,
        deadline=milliseconds(request.deadline_ms),
        is_unread=request.unread,
    )
    reply = await memories.turns(admitted).take(message)
    reply["tookMs"] = round((time.monotonic() - began) * 1000, 2)
    return reply


class ToldJudgement(Request):
    """What the owner thinks of a part of what was told for a question."""

    number: Annotated[Whole, Field(ge=1, le=TOLD_NUMBER_MAX)]
    """The turn, as the list numbers it."""
    name: NamedText
    """The part, by its name there."""
    judgement: Annotated[Judgement, Field(strict=False)] | None
    """`noise`: it has nothing to do with the question; `wrong`: it is not so; null takes that back."""


ToldSession = Annotated[str, Field(max_length=512, description="only turns of this session, by its name")]
ToldBefore = Annotated[int, Field(ge=0, le=TOLD_NUMBER_MAX, description="only turns before this number; 0: the last")]
ToldLimit = Annotated[int, Field(ge=1, le=TOLD_MAX, description="how many at most")]


async def told(
    admitted: AdmittedByQuery,
    memories: Memories,
    session: ToldSession = "",
    before: ToldBefore = 0,
    limit: ToldLimit = 20,
) -> ToldReply:
    """List what the agent was told for each question that is kept, the latest first."""
    return await memories.told(admitted).some(admitted, limit, session=session, before=before)


async def judge(request: ToldJudgement, admitted: AdmittedByBody, memories: Memories) -> ToldJudgedReply:
    """Keep what the owner thinks of a part of what was told; nothing else is changed by it."""
    return await memories.told(admitted).judge(request.number, request.name, request.judgement)


CALLS = (
    call("POST", "/recall", Who.SESSION, recall),
    call("POST", "/turns", Who.SESSION, take),
    call("GET", "/told", Who.OWNER, told),
    call("POST", "/told", Who.OWNER, judge),
)
