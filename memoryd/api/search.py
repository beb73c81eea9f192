"""`POST /v1/search`: a question to cited hits."""

from datetime import timedelta

from memoryd.agents.search import SearchOptions, SearchOutcome
from memoryd.api.dependencies import Asking, Memories
from memoryd.api.explaining import answer_explanation, hit_explanation, lines_reply
from memoryd.api.models import fallback_reply
from memoryd.api.search_models import ArmReply, HitReply, SearchHealth, SearchReply, SearchRequest
from memoryd.domain.ranking.calibration import Verdict
from memoryd.search.hits import Hit


async def search(request: SearchRequest, caller: Asking, memories: Memories) -> SearchReply:
    """Search an agent's memory by words and by meaning; every hit is cited."""
    admitted = caller.admit(request.agent, request.session_key)
    return encoded(await memories.search(admitted, request.query, _options(request)))


def _options(request: SearchRequest) -> SearchOptions:
    return SearchOptions(
        max_results=request.max_results,
        min_score=request.min_score,
        deadline=None if request.deadline_ms is None else timedelta(milliseconds=request.deadline_ms),
        sources=tuple(request.sources or ()),
        paths=tuple(request.paths or ()),
        since=request.since or "",
        until=request.until or "",
        is_explained=request.explain,
    )


def encoded(outcome: SearchOutcome) -> SearchReply:
    """Return the reply; scores are rounded."""
    answer, has_citations, is_explained = outcome.answer, outcome.has_citations, outcome.is_explained
    return SearchReply(
        results=[_hit(hit, outcome) for hit in answer.hits],
        misses=[_hit(hit, outcome) for hit in answer.misses] if is_explained else None,
        backend=answer.engine.name,
        provider=outcome.provider,
        model=outcome.model,
        mode=answer.mode,
        fallback=fallback_reply(answer.fallback),
        verdict=answer.verdict.value,
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


def _hit(hit: Hit, outcome: SearchOutcome) -> HitReply:
    focus = hit.snippet.focus
    return HitReply(
        path=hit.chunk.path,
        start_line=hit.chunk.start_line,
        end_line=hit.chunk.end_line,
        score=round(hit.score, 4),
        vector_score=None if hit.cosine is None else round(hit.cosine, 4),
        text_score=None if hit.text_score is None else round(hit.text_score, 4),
        verdict=(hit.verdict or Verdict.NONE).value,
        snippet=hit.snippet.text,
        snippet_start_line=hit.snippet.start_line,
        snippet_end_line=hit.snippet.end_line,
        snippet_lines=list(hit.snippet.lines) or None,
        focus=None if focus is None else lines_reply(focus.lines),
        heading=hit.chunk.heading,
        source=hit.chunk.source,
        citation=str(hit.citation) if outcome.has_citations else None,
        flags=list(hit.snippet.flags),
        duplicates=len(hit.copies),
        explain=hit_explanation(hit, outcome.answer.floors_of(hit.chunk.source)) if outcome.is_explained else None,
    )
