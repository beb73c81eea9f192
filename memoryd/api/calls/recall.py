"""`POST /v1/recall`: a question to memories, passages and pages of entities, which share one shape."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from memoryd.agents.retained.recall import BundleOptions, RecallOptions, bundle_reply
from memoryd.api.access import Asking, Memories
from memoryd.api.call import call
from memoryd.api.calls.search import floors_explanation, health_reply, lines_reply
from memoryd.api.models import AgentId, Encode, Request, Whole, fallback_reply, present
from memoryd.domain.access import Who
from memoryd.domain.memories.book import MemorySource
from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.memories.changes.verification import cite
from memoryd.domain.memories.kinds import is_belief
from memoryd.domain.memories.reflect.opinions import Label, LineEvidence, base_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.opinions import OpinionEvidence, OpinionWithEvidence
from memoryd.memory.recall.query import (
    CheckedSource,
    Recalled,
    RecalledEntity,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
)
from memoryd.replies.recall import (
    EventTimeReply,
    EvidenceReply,
    MemorySourceReply,
    OpinionEvidenceReply,
    RecallExplanation,
    RecallItemExplanation,
    RecallItemReply,
    RecallReply,
)
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX

Day = Annotated[str, Field(max_length=64)]


class RecallRequest(Request):
    """A question; what is absent comes from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question; 4096 bytes at most."""
    agent: AgentId = None
    k: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] | None = None
    """How many memories and passages at most; null: as configured (`memory.recall.k`)."""
    since: Day | None = None
    """Only what happened on this day or later, by event time, else record time: `30d`, `2026-10-01` or ISO 8601."""
    until: Day | None = None
    """Only what happened on this day or earlier, likewise."""
    as_of: Day | None = None
    """What was true on this day, by record and event time; versions are told as they were then."""
    known_by: Day | None = None
    """What was known on this day, by record time."""
    entity: Annotated[str, Field(max_length=200)] | None = None
    """Only memories about this entity, by any of its names."""
    kind: Annotated[str, Field(max_length=32)] | None = None
    """Only memories of this network or exact kind: `opinion`, `preference`, …; passages have none."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Only memories of this scope: `workspace`, `global`, `agent:<id>`, …"""
    budget: Annotated[Whole, Field(ge=0, le=100_000)] | None = None
    """Tokens of a bundle at most, estimated; null: as configured (`memory.recall.budget`)."""
    format: Literal["items", "bundle"] = "items"
    """`bundle`: also as text for a prompt."""
    encode: Encode = Encoding.TEXT
    """How a bundle is written: as delimited text, or in the message shape of an API, for its request."""
    if_none_match: Annotated[str, Field(max_length=200)] | None = None
    """The `etag` of the stable block that the asker has: it is left out of the bundle while it is the same."""
    deadline_ms: Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None = None
    """Milliseconds until the answer comes with what there is; null: `query.deadlineMs`."""
    touch: bool = True
    """Count what is told as used, which keeps it near at hand; false: only look."""
    explain: bool = False
    """Tell why each item was chosen, and what was cut and why."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""


DIGITS = 4


async def recall(request: RecallRequest, caller: Asking, memories: Memories) -> RecallReply:
    """Recall what answers, each item with its citation, and on demand as a bundle for a prompt."""
    admitted = caller.admit(request.agent, request.session_key)
    room = memories.retained(admitted).recall
    found = await room.recall(request.query, _options(request, caller), admitted, _wanted(request))
    return encoded(found, request.encode)


def _options(request: RecallRequest, caller: Asking) -> RecallOptions:
    return RecallOptions(
        k=request.k,
        since=request.since or "",
        until=request.until or "",
        as_of=request.as_of or "",
        known_by=request.known_by or "",
        entity=request.entity or "",
        kind=request.kind or "",
        scope=request.scope or "",
        deadline=None if request.deadline_ms is None else timedelta(milliseconds=request.deadline_ms),
        is_explained=request.explain,
        touches=request.touch,
        session=caller.key(request.session_key),
    )


def _wanted(request: RecallRequest) -> BundleOptions | None:
    if request.format != "bundle":
        return None
    return BundleOptions(budget=request.budget, if_none_match=request.if_none_match or "")


def encoded(found: Recalled, encoding: Encoding = Encoding.TEXT) -> RecallReply:
    """Return the reply; scores are rounded."""
    reply = present(
        RecallReply,
        results=[
            *(page_reply(page) for page in found.entities),
            *(item_reply(item, found) for item in found.items),
        ],
        leftOut=[item_reply(one, found) for one in found.left_out] if found.is_explained else None,
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
    """Return how the page of an entity is told."""
    return RecallItemReply(
        {"is": "entity", "name": page.name, "path": page.path, "content": page.summary, "memories": list(page.memories)}
    )


def item_reply(item: RecalledItem, found: Recalled) -> RecallItemReply:
    """Return how a memory or a passage is told."""
    reply = _memory(item, found) if isinstance(item, RecalledMemory) else _passage(item)
    return {**reply, "explain": _explained(item)} if found.is_explained else reply


def _memory(item: RecalledMemory, found: Recalled) -> RecallItemReply:
    lead, line = item.lead, item.lead.source.line
    held = found.opinions.get(item.memory.id)
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
            "sources": [_source(one) for one in item.sources],
            "scope": line.attributes.scope or None,
            "confidence": _confidence(item, held),
            "evidence": _evidence(held, found.stated.get(item.memory.id, ())) if is_belief(item.memory.kind) else None,
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
            "source": str(hit.citation),
            "citation": str(hit.citation),
            "score": round(item.placed.score, DIGITS),
            "verdict": item.placed.verdict.value,
            "arms": _arms(item),
            "state": "verified",
        },
    )


def _arms(item: RecalledPassage) -> list[str]:
    found = {"lexical": item.hit.bm25, "vector": item.hit.cosine}
    return [*(name for name, value in found.items() if value is not None), *item.placed.lifts]


def _confidence(item: RecalledMemory, held: OpinionWithEvidence | None) -> float | None:
    if held is not None:
        return round(held.confidence, DIGITS)
    return round(base_of(item.memory).confidence, DIGITS) if is_belief(item.memory.kind) else None


def _evidence(held: OpinionWithEvidence | None, stated: Sequence[LineEvidence]) -> OpinionEvidenceReply:
    """Return what was counted, and what lines state beside it."""
    counted = [] if held is None else [*held.supporting, *held.opposing]
    known = {one.memory for one in counted}
    proofs = [(one.label, _opinion_evidence(one)) for one in counted]
    proofs += [(one.label, _stated_evidence(one)) for one in stated if one.memory.id not in known]
    return OpinionEvidenceReply(
        {
            "for": [proof for label, proof in proofs if label is Label.REINFORCE],
            "against": [proof for label, proof in proofs if label is not Label.REINFORCE],
        }
    )


def _opinion_evidence(one: OpinionEvidence) -> EvidenceReply:
    day = one.day.isoformat()
    return EvidenceReply(id=one.memory, sources=list(one.citations), timestamp=day, label=one.label.value)


def _stated_evidence(one: LineEvidence) -> EvidenceReply:
    sources, day = [str(source.citation) for source in one.memory.sources], one.memory.first_recorded.isoformat()
    return EvidenceReply(id=one.memory.id, sources=sources, timestamp=day, label=one.label.value)


def _source(one: CheckedSource) -> MemorySourceReply:
    return MemorySourceReply(
        source=str(one.source.citation),
        timestamp=_day(one.source),
        eventTime=_span(one.source.event),
        state=one.state.value,
    )


def _day(source: MemorySource) -> str | None:
    """Return the day on which a line was written; when a page without a date was first seen says nothing of it."""
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
        cosine=None if evidence.cosine is None else round(evidence.cosine, DIGITS),
        terms=list(evidence.terms),
        because=item.because,
    )


CALLS: Final = (call("POST", "/recall", Who.SESSION, recall),)
