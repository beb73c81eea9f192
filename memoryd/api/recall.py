"""`POST /v1/recall`: a question to memories, passages and pages of entities."""

from datetime import timedelta

from memoryd.agents.retained.recall import BundleOptions, RecallOptions, RecallOutcome
from memoryd.api.dependencies import Asking, Memories
from memoryd.api.explaining import floors_explanation
from memoryd.api.models import fallback_reply
from memoryd.api.recall_items import item_reply, page_reply
from memoryd.api.recall_models import RecallExplanation, RecallReply, RecallRequest, ReceiptReply
from memoryd.api.search_models import ArmReply, SearchHealth
from memoryd.domain.memories import bundle as bundle_encodings
from memoryd.domain.memories.bundle import Bundle, Encoding
from memoryd.memory.recall.query import Recalled


async def recall(request: RecallRequest, caller: Asking, memories: Memories) -> RecallReply:
    """Recall what answers, each item with its citation, and on demand as a bundle for a prompt."""
    admitted = caller.admit(request.agent, request.session_key)
    room = memories.retained(admitted).recall
    outcome = await room.recall(request.query, _options(request), admitted, _wanted(request))
    return encoded(outcome, request.encode)


def _options(request: RecallRequest) -> RecallOptions:
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
    )


def _wanted(request: RecallRequest) -> BundleOptions | None:
    if request.format != "bundle":
        return None
    return BundleOptions(budget=request.budget, if_none_match=request.if_none_match or "")


def encoded(outcome: RecallOutcome, encoding: Encoding = Encoding.TEXT) -> RecallReply:
    """Return the reply; scores are rounded."""
    found = outcome.recalled
    reply = RecallReply(
        results=[
            *(page_reply(page) for page in found.entities),
            *(item_reply(item, outcome, item.because) for item in found.items),
        ],
        left_out=[item_reply(one.item, outcome, one.because) for one in found.left_out]
        if outcome.is_explained
        else None,
        verdict=found.verdict.value,
        reason=found.reason,
        citations="on" if outcome.has_citations else "off",
        backend=found.engine.name,
        fallback=fallback_reply(found.fallback),
        health=health_reply(found),
        took_ms=round(found.took_ms, 2),
        explain=_explanation(outcome) if outcome.is_explained else None,
    )
    return reply if outcome.bundle is None else reply.model_copy(update=bundled(outcome.bundle, encoding))


def health_reply(found: Recalled) -> SearchHealth:
    """Return which parts took part in an answer."""
    return SearchHealth(
        complete=found.is_complete,
        arms={name: ArmReply(state=arm.state.value, reason=arm.reason or None) for name, arm in found.arms.items()},
        pending_files=found.freshness.pending_files,
        pending_embeddings=found.freshness.pending_embeddings,
    )


def bundled(made: Bundle, encoding: Encoding) -> dict[str, object]:
    """Return the fields of a reply that a bundle fills."""
    return {
        "bundle": bundle_encodings.encoded(made, encoding),
        "etag": made.stable.etag,
        "not_modified": made.is_unchanged,
        "receipt": [
            ReceiptReply(name=line.name, tokens=line.tokens, told=line.is_told, cut=line.cut or None)
            for line in made.receipt
        ],
        "tokens": made.tokens,
    }


def _explanation(outcome: RecallOutcome) -> RecallExplanation:
    floors = outcome.recalled.floors
    return RecallExplanation(
        terms=[] if floors is None else list(floors.idf.weights),
        floors=None if floors is None else floors_explanation(floors),
    )
