"""`POST /v1/search`: a search that returns cited hits, and on request an explanation of them."""

from typing import Annotated, Literal

from pydantic import Field

from memoryd.agents.search import SearchOptions
from memoryd.api.access import AdmittedByBody, Memories
from memoryd.api.call import call
from memoryd.api.models import (
    RequestDeadline,
    ResultLimit,
    SessionRequest,
    Share,
    fallback_reply,
    milliseconds,
    present,
)
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import person_of
from memoryd.domain.ranking.calibration import Thresholds, Verdict
from memoryd.domain.ranking.fusion import standout
from memoryd.domain.ranking.questions import Question
from memoryd.replies.search import (
    ArmReply,
    FloorsExplanation,
    FocusExplanation,
    HitExplanation,
    HitReply,
    LinesReply,
    QuestionExplanation,
    SearchExplanation,
    SearchHealth,
    SearchReply,
)
from memoryd.search.answer import Answer, SearchAnswer
from memoryd.search.hits import Hit, HitLines, citation_of

DIGITS = 4


class SearchRequest(SessionRequest):
    """A question. Absent values are taken from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question, which may contain filters; 4096 bytes at most."""
    max_results: ResultLimit | None = None
    """The maximum number of hits; null: as configured (`query.maxResults`)."""
    min_score: Share | None = None
    """Hits with a lower score that contain no word of the question are left out; null: `query.minScore`."""
    sources: Annotated[list[Literal["memory", "sessions"]], Field(max_length=2)] | None = None
    """What to search, notes (`memory`) or conversations (`sessions`); null or empty: `memorySearch.sources`."""
    since: Annotated[str, Field(max_length=64)] | None = None
    """Only notes of this time or later: `30d`, `2026-10-01` or ISO 8601; null: of any age."""
    until: Annotated[str, Field(max_length=64)] | None = None
    """Only notes of this time or earlier: `30d`, `2026-10-01` or ISO 8601; null: of any age."""
    paths: Annotated[list[Annotated[str, Field(max_length=1024)]], Field(max_length=64)] | None = None
    """Only these documents, each a glob, a file or a folder; null or empty: all."""
    deadline_ms: RequestDeadline = None
    """Milliseconds until the answer is returned with the results so far; null: `query.deadlineMs`."""
    explain: bool = False
    """Explain each score, and return the nearest misses."""


async def search(request: SearchRequest, admitted: AdmittedByBody, memories: Memories) -> SearchReply:
    """Search an agent's memory by words and by meaning; every hit is cited."""
    options = SearchOptions(
        max_results=request.max_results,
        min_score=request.min_score,
        deadline=milliseconds(request.deadline_ms),
        sources=tuple(request.sources or ()),
        paths=tuple(request.paths or ()),
        since=request.since or "",
        until=request.until or "",
        is_explained=request.explain,
    )
    return search_reply(await memories.search(admitted, request.query, options))


def search_reply(answer: SearchAnswer) -> SearchReply:
    """Return the reply; scores are rounded."""
    result = answer.result
    return present(
        SearchReply,
        results=[_hit(hit, answer) for hit in result.hits],
        misses=[_hit(hit, answer) for hit in result.misses] if answer.is_explained else None,
        backend=result.engine.name,
        provider=answer.provider,
        model=answer.model,
        mode=answer.mode,
        fallback=fallback_reply(result.fallback),
        verdict=answer.verdict.value,
        reason=answer.reason,
        citations="on" if answer.has_citations else "off",
        health=health_reply(answer),
        tookMs=round(answer.took_ms, 2),
        explain=answer_explanation(answer) if answer.is_explained else None,
    )


def health_reply(answer: Answer) -> SearchHealth:
    """Return the state of each part of an answer."""
    arms = answer.result.arms.items()
    return SearchHealth(
        complete=answer.is_complete,
        arms={name: ArmReply(state=arm.state.value, reason=arm.reason or None) for name, arm in arms},
        pendingFiles=answer.freshness.pending_files,
        pendingEmbeddings=answer.freshness.pending_embeddings,
    )


def _hit(hit: Hit, answer: Answer) -> HitReply:
    focus = hit.snippet.focus
    return present(
        HitReply,
        path=hit.chunk.path,
        startLine=hit.chunk.start_line,
        endLine=hit.chunk.end_line,
        score=round(hit.score, DIGITS),
        vectorScore=round_score(hit.cosine),
        textScore=round_score(hit.text_score),
        verdict=(hit.verdict or Verdict.NONE).value,
        snippet=hit.snippet.text,
        snippetStartLine=hit.snippet.start_line,
        snippetEndLine=hit.snippet.end_line,
        snippetLines=list(hit.snippet.lines) or None,
        focus=None if focus is None else lines_reply(focus.lines),
        heading=hit.chunk.heading,
        source=hit.chunk.source,
        person=person_of(hit.chunk.path) or None,
        citation=str(hit.citation) if answer.has_citations else None,
        flags=list(hit.snippet.flags),
        duplicates=len(hit.copies),
        explain=hit_explanation(hit, answer.result.thresholds_of(hit.chunk.source)) if answer.is_explained else None,
    )


def hit_explanation(hit: Hit, floors: Thresholds | None) -> HitExplanation:
    """Return the rank of a hit in each arm, the corrections of its score, and the thresholds of its evidence."""
    focus = hit.snippet.focus
    rise = None if hit.cosine is None or floors is None else standout(hit.cosine, floors.noise)
    return HitExplanation(
        baseScore=round(hit.base_score, DIGITS),
        mergedRank=hit.ranks.merged,
        rerankRank=hit.ranks.reading,
        rerankScore=round_score(hit.relevance),
        wordsRank=hit.ranks.words,
        bm25=round_score(hit.bm25),
        vectorRank=hit.ranks.vector,
        cosine=round_score(hit.cosine),
        standout=round_score(rise),
        terms=list(hit.terms),
        decay=round(hit.decay.factor, DIGITS),
        ageDays=hit.decay.age_days,
        copies=[str(citation_of(copy)) for copy in hit.copies],
        focus=None
        if focus is None
        else FocusExplanation(terms=list(focus.terms), passage=None if focus.near is None else lines_reply(focus.near)),
        because=hit.because,
    )


def lines_reply(lines: HitLines) -> LinesReply:
    return LinesReply(startLine=lines.start_line, endLine=lines.end_line)


def answer_explanation(answer: SearchAnswer) -> SearchExplanation:
    """Return how the question was understood, and the thresholds of the evidence."""
    notes, conversations = answer.result.floors, answer.result.conversations
    return SearchExplanation(
        question=_question(answer.question),
        floors=None if notes is None else floors_explanation(notes),
        conversationFloors=None
        if conversations is None or conversations.floors is None
        else floors_explanation(conversations.floors),
    )


def _question(question: Question) -> QuestionExplanation:
    filters = question.filters
    return QuestionExplanation(
        terms=list(question.terms),
        phrases=list(question.phrases),
        excluded=list(question.excluded),
        paths=[*filters.paths, *(path for group in filters.within for path in group)],
        sources=[source for source in filters.sources if source],
        since=rfc3339(filters.since),
        until=rfc3339(filters.until),
    )


def floors_explanation(floors: Thresholds) -> FloorsExplanation:
    """Return the thresholds of the evidence."""
    has_vectors = floors.deviations is not None
    return FloorsExplanation(
        share=round(floors.share, DIGITS),
        weights={term: round(weight, DIGITS) for term, weight in floors.idf.weights.items()},
        deviations=round_score(floors.deviations),
        vectorFloor=round_score(floors.vector_floor) if has_vectors else None,
        clearFloor=round_score(floors.clear_floor) if has_vectors else None,
        noiseMean=round_score(floors.noise.mean) if has_vectors else None,
        noiseDeviation=round_score(floors.noise.deviation) if has_vectors else None,
        vectors=floors.vectors,
    )


def round_score(value: float | None) -> float | None:
    """Return a score rounded for a reply; None stays None."""
    return None if value is None else round(value, DIGITS)


CALLS = (call("POST", "/search", Who.SESSION, search),)
