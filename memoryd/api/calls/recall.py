"""`POST /v1/recall` and `POST /v1/turns`: memories, passages and pages of entities for a question or a message.

All three have one common shape. `/v1/turns` is the only call that an agent needs for each message.
"""

import time
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from memoryd.agents.retained.recall import BundleOptions, RecallOptions, bundle_reply
from memoryd.agents.turns.log import NewMessage
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories, RequestCaller
from memoryd.api.call import call
from memoryd.api.calls.search import DIGITS, floors_explanation, health_reply, lines_reply, round_score
from memoryd.api.models import (
    AnswerText,
    Encode,
    JsonInteger,
    LabelText,
    NamedText,
    Request,
    RequestDeadline,
    RequestPart,
    ResultLimit,
    SessionKeyText,
    SessionRequest,
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
from memoryd.domain.ranking.calibration import Thresholds
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
Budget = Annotated[JsonInteger, Field(ge=0, le=100_000)] | None
Etag = LabelText | None
Day = Annotated[str, Field(max_length=64)]


class RecallRequest(SessionRequest):
    """A question. Absent values are taken from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question; 4096 bytes at most."""
    k: ResultLimit | None = None
    """The maximum number of memories and passages; null: as configured (`memory.recall.k`)."""
    since: Day | None = None
    """Only what happened on this day or later, by event time, else record time: `30d`, `2026-10-01` or ISO 8601."""
    until: Day | None = None
    """Only what happened on this day or earlier, likewise."""
    as_of: Day | None = None
    """What was true on this day, by record and event time; memories are returned in their versions of that day."""
    known_by: Day | None = None
    """What was known on this day, by record time."""
    entity: LabelText | None = None
    """Only memories about this entity, by any of its names."""
    kind: Annotated[str, Field(max_length=32)] | None = None
    """Only memories of this network or exact kind: `opinion`, `preference`, …; passages have none."""
    scope: LabelText | None = None
    """Only memories of this scope: `workspace`, `team`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    budget: Budget = None
    """The maximum number of tokens of a bundle, estimated; null: as configured (`memory.recall.budget`)."""
    format: Literal["items", "bundle"] = "items"
    """`bundle`: also return a text for a prompt."""
    encode: Encode = Encoding.TEXT
    """The encoding of a bundle: delimited text, or the message shape of an API, for its request."""
    if_none_match: Etag = None
    """The `etag` of the stable block that the client has: the block is left out of the bundle while it is unchanged."""
    deadline_ms: RequestDeadline = None
    """Milliseconds until the answer is returned with the results so far; null: `query.deadlineMs`."""
    touch: bool = True
    """Count returned memories as used, which keeps them from decaying; false: only read."""
    explain: bool = False
    """Explain why each item was chosen, and what was left out and why."""


FILTERS = {"k", "since", "until", "as_of", "known_by", "entity", "kind", "scope"}
"""Fields of a request that are recall options with the same names."""


async def recall(
    request: RecallRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> RecallReply:
    """Recall what answers a question, each item with its citation, and on request as a bundle for a prompt."""
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
    return recall_reply(recalled, request.encode)


def recall_reply(recalled: Recalled, encoding: Encoding) -> RecallReply:
    """Return the reply; scores are rounded."""
    result = recalled.result
    reply = present(
        RecallReply,
        results=[
            *map(page_reply, recalled.entities),
            *(item_reply(item, recalled) for item in recalled.items),
        ],
        leftOut=[item_reply(item, recalled) for item in recalled.left_out] if recalled.is_explained else None,
        verdict=recalled.verdict.value,
        reason=recalled.reason,
        citations="on" if recalled.has_citations else "off",
        backend=result.engine.name,
        fallback=fallback_reply(result.fallback),
        health=health_reply(recalled),
        tookMs=round(recalled.took_ms, 2),
        explain=_explanation(result.floors) if recalled.is_explained else None,
    )
    return reply if recalled.bundle is None else {**reply, **bundle_reply(recalled.bundle, encoding)}


def _explanation(floors: Thresholds | None) -> RecallExplanation:
    return RecallExplanation(
        terms=[] if floors is None else list(floors.idf.weights),
        floors=None if floors is None else floors_explanation(floors),
    )


def page_reply(page: RecalledEntity) -> RecallItemReply:
    """Return the reply for the page of an entity."""
    return RecallItemReply(
        {"is": "entity", "name": page.name, "path": page.path, "content": page.summary, "memories": list(page.memories)}
    )


def item_reply(item: RecalledItem, recalled: Recalled) -> RecallItemReply:
    """Return the reply for a memory or a passage."""
    reply = _memory(item, recalled) if isinstance(item, RecalledMemory) else _passage(item)
    return {**reply, "explain": _item_explanation(item)} if recalled.is_explained else reply


def _memory(item: RecalledMemory, recalled: Recalled) -> RecallItemReply:
    lead, line = item.lead, item.lead.source.line
    opinion = recalled.opinions.get(item.memory.id)
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
            "scope": f"{TEAM}:{recalled.team}" if line.attributes.scope == TEAM else line.attributes.scope or None,
            "pinned": line.attributes.is_pinned or None,
            "person": person_of(lead.source.path) or None,
            "flags": list(lead.source.flags) or None,
            "confidence": _confidence(item, opinion),
            "evidence": _evidence(opinion, recalled.stated.get(item.memory.id, ()))
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
    scores = {"lexical": hit.bm25, "vector": hit.cosine}
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
            "arms": [*(arm for arm, score in scores.items() if score is not None), *item.placed.boosts],
            "state": "verified",
        },
    )


def _confidence(item: RecalledMemory, opinion: OpinionWithEvidence | None) -> float | None:
    if opinion is not None:
        return round(opinion.confidence, DIGITS)
    return round(base_of(item.memory).confidence, DIGITS) if is_belief(item.memory.kind) else None


def _evidence(opinion: OpinionWithEvidence | None, stated: Sequence[LineEvidence]) -> OpinionEvidenceReply:
    """Return the evidence that was counted, and further evidence that lines state."""
    counted = () if opinion is None else opinion.evidence
    known = {evidence["id"] for evidence in counted}
    replies = [*counted, *(_stated_evidence(evidence) for evidence in stated if evidence.memory.id not in known)]
    return OpinionEvidenceReply(
        {
            "for": [evidence for evidence in replies if evidence["label"] == Label.REINFORCE],
            "against": [evidence for evidence in replies if evidence["label"] != Label.REINFORCE],
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
    """Return the day on which a line was written; None for an undated page, whose first scan does not show it."""
    return None if date_in_name(source.path) is None else source.day.isoformat()


def _span(span: DaySpan | None) -> EventTimeReply | None:
    if span is None:
        return None
    return EventTimeReply(
        start=None if span.first == date.min else span.first.isoformat(),
        end=None if span.last == date.max else span.last.isoformat(),
    )


def _item_explanation(item: RecalledItem) -> RecallItemExplanation:
    evidence = item.evidence
    return RecallItemExplanation(
        baseScore=round(item.placed.base_score, DIGITS),
        lifts={arm: round(boost, DIGITS) for arm, boost in item.placed.boosts.items()},
        relevance=round(item.placed.relevance, DIGITS),
        wordsRank=evidence.ranks.words,
        vectorRank=evidence.ranks.vector,
        cosine=round_score(evidence.cosine),
        terms=list(evidence.terms),
        because=item.because,
    )


class TurnEventRequest(RequestPart):
    """An event of a conversation."""

    type: Literal["failure", "tool_failed", "end", "compact"]
    """`failure`: the agent got stuck; `tool_failed`: a tool failed, and what is known about that is requested, lessons
    first, once for the same failure; `end`: the conversation is over; `compact`: the agent shortens its context."""
    text: AnswerText = ""
    """What happened, in words."""
    tool: LabelText = ""
    """The tool that was used."""
    input: AnswerText = ""
    """The input of a failed tool, such as a command line."""


class TurnRequest(Request):
    """A message of a conversation. Absent values are taken from the configuration."""

    session_key: SessionKeyText = None
    """The session of the message, such as `agent:main:main`; null: none, and the message is not stored."""
    role: Literal["user", "assistant", "tool", "system"]
    """The author of the message."""
    text: AnswerText = ""
    """The text of the message; may be empty if there is an `event`."""
    channel: Annotated[str, Field(max_length=100)] | None = None
    """`cron`, `heartbeat` or `system`, if the session key does not say so: nothing is recalled for these."""
    at: Annotated[str, Field(max_length=64)] | None = None
    """The time of the message, ISO 8601, in the owner's time zone unless it has one; null: now."""
    event: TurnEventRequest | None = None
    """An event; null: the message itself is all that happened."""
    budget: Budget = None
    """The maximum number of tokens of the bundle, estimated; null: `agents.defaults.memory.retrieval.maxTokens`."""
    encode: Encode = Encoding.TEXT
    """The encoding of the bundle: delimited text, or the message shape of an API, for its request."""
    if_none_match: Etag = None
    """The `etag` of the stable block that the client has: the block is left out of the bundle while it is unchanged.
    `*`: it is included only if the session lacks it, since the reply to its start was not read or the agent has
    compacted
    its context."""
    k: Annotated[JsonInteger, Field(ge=1, le=MAX_RECALLED)] | None = None
    """The number of memories and passages to recall; null: `agents.defaults.memory.recall_final_k`."""
    deadline_ms: RequestDeadline = None
    """Milliseconds until the recalled items must be there; null: `query.deadlineMs`."""
    unread: bool = False
    """This reply is not read, nor the reply to the previous message if that is the same one: their content is returned
    with the next message of the session."""


async def take(request: TurnRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories) -> TurnReply:
    """Run the command that a message contains, store it, and return what is recalled and the previous turns."""
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
        is_owners=caller.binding.is_owner,
        deadline=milliseconds(request.deadline_ms),
        is_unread=request.unread,
    )
    reply = await memories.turns(admitted).take(message)
    reply["tookMs"] = round((time.monotonic() - began) * 1000, 2)
    return reply


class ToldJudgement(Request):
    """The owner's judgement of an item that was shown for a question."""

    number: Annotated[JsonInteger, Field(ge=1, le=TOLD_NUMBER_MAX)]
    """The number of the turn in the list."""
    name: NamedText
    """The name of the item in the list."""
    judgement: Annotated[Judgement, Field(strict=False)] | None
    """`noise`: it is unrelated to the question; `wrong`: it is not true; null takes the judgement back."""


ToldSession = Annotated[str, Field(max_length=512, description="only turns of this session, by its name")]
ToldBefore = Annotated[int, Field(ge=0, le=TOLD_NUMBER_MAX, description="only turns before this number; 0: the latest")]
ToldLimit = Annotated[int, Field(ge=1, le=TOLD_MAX, description="maximum number")]


async def told(
    admitted: AdmittedByQuery,
    memories: Memories,
    session: ToldSession = "",
    before: ToldBefore = 0,
    limit: ToldLimit = 20,
) -> ToldReply:
    """List what the agent was shown for each stored question, the latest first."""
    return await memories.shown(admitted).listing(admitted, limit, session=session, before=before)


async def judge(request: ToldJudgement, admitted: AdmittedByBody, memories: Memories) -> ToldJudgedReply:
    """Store the owner's judgement of a shown item; nothing else is changed by it."""
    return await memories.shown(admitted).judge(request.number, request.name, request.judgement)


CALLS = (
    call("POST", "/recall", Who.SESSION, recall),
    call("POST", "/turns", Who.SESSION, take),
    call("GET", "/told", Who.OWNER, told),
    call("POST", "/told", Who.OWNER, judge),
)
