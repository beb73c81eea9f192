"""`POST /v1/search`: a question to cited hits."""

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends

from memoryd.agents.served import AgentTable, Served
from memoryd.api.access import Caller, Gate
from memoryd.api.explaining import answer_explanation, hit_explanation
from memoryd.api.models import ArmReply, HitReply, SearchHealth, SearchReply, SearchRequest, fallback_reply
from memoryd.config.limits import LimitsSection
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.questions import parse_question
from memoryd.errors import InvalidRequest
from memoryd.search.query import Query
from memoryd.search.service import Answer, Answered
from memoryd.wire import API


def router(agents: AgentTable, gate: Gate, limits: LimitsSection) -> APIRouter:
    """The search route over these agents."""
    routes = APIRouter()

    @routes.post(f"{API}/search")
    async def search(request: SearchRequest, caller: Annotated[Caller, Depends(gate.caller)]) -> SearchReply:
        """Search an agent's memory by words and by meaning; every hit is cited."""
        admitted = caller.admit(request.agent, request.session_key)
        served = agents.enabled(admitted)
        has_citations = served.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)
        query = _query(request, served, limits)
        answer = await served.search.answer(query, has_footer=has_citations, is_explained=request.explain)
        return _reply(answer, served, is_explained=request.explain, has_citations=has_citations)

    return routes


def _query(request: SearchRequest, served: Served, limits: LimitsSection) -> Query:
    settings = served.agent.memory_search.query
    usual = settings.max_results if served.qmd is None else served.agent.memory.qmd.limits.max_results
    if len(request.query.encode("utf-8", "surrogatepass")) > limits.max_query_bytes:
        raise InvalidRequest(f"the query is longer than limits.maxQueryBytes ({limits.max_query_bytes} bytes)")
    now = _now(served)
    question = parse_question(request.query, _filters(request, now), now, limit=limits.max_query_tokens)
    return Query(
        text=question.text,
        limit=usual if request.max_results is None else request.max_results,
        min_score=settings.min_score if request.min_score is None else request.min_score,
        deadline=(request.deadline_ms or settings.deadline_ms) / 1000,
        filters=question.filters,
        asked=question,
        now=now,
    )


def _now(served: Served) -> datetime:
    """Return the time where the owner of the notes lives."""
    zone = served.agent.memory.timezone
    return datetime.now().astimezone() if zone is None else datetime.now(ZoneInfo(zone))


def _filters(request: SearchRequest, now: datetime) -> Filters:
    try:
        return Filters(
            sources=tuple(request.sources or ()),
            paths=tuple(request.paths or ()),
            since=parse_instant(request.since, now) if request.since else None,
            until=parse_instant(request.until, now, is_end=True) if request.until else None,
            zone=now.tzinfo or UTC,
        )
    except (ValueError, OverflowError) as exc:
        raise InvalidRequest(str(exc)) from exc


def _reply(answer: Answer, served: Served, *, is_explained: bool, has_citations: bool) -> SearchReply:
    provider, model = _provider(answer, served)
    return SearchReply(
        results=[_hit(hit, is_explained=is_explained, has_citations=has_citations) for hit in answer.hits],
        misses=[_hit(hit, is_explained=True, has_citations=has_citations) for hit in answer.misses]
        if is_explained
        else None,
        backend=answer.engine.name,
        provider=provider,
        model=model,
        mode=answer.mode,
        fallback=fallback_reply(answer.fallback),
        verdict=answer.verdict,
        reason=answer.reason,
        citations="on" if has_citations else "off",
        health=SearchHealth(
            complete=answer.is_complete,
            arms={
                name: ArmReply(state=arm.state.value, reason=arm.reason or None) for name, arm in answer.arms.items()
            },
            pending_files=answer.freshness.pending_files,
            pending_embeddings=answer.freshness.pending_embeddings,
        ),
        took_ms=round(answer.took_ms, 2),
        explain=answer_explanation(answer) if is_explained else None,
    )


def _provider(answer: Answer, served: Served) -> tuple[str, str | None]:
    """Return who embeds questions for the engine that answered, and with which model."""
    if answer.engine.name != "builtin":
        return ("none" if answer.engine.model is None else answer.engine.name), answer.engine.model
    embedder = served.slot.embedder
    return ("none", None) if embedder is None else (embedder.identity.provider, embedder.identity.model)


def _hit(hit: Answered, *, is_explained: bool, has_citations: bool) -> HitReply:
    return HitReply(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=round(hit.score, 4),
        vector_score=None if hit.vector_score is None else round(hit.vector_score, 4),
        text_score=None if hit.text_score is None else round(hit.text_score, 4),
        snippet=hit.snippet,
        snippet_start_line=hit.snippet_start_line,
        snippet_end_line=hit.snippet_end_line,
        heading=hit.heading,
        source=hit.source,
        citation=hit.citation if has_citations else None,
        flags=list(hit.flags),
        duplicates=len(hit.copies),
        explain=hit_explanation(hit) if is_explained else None,
    )
