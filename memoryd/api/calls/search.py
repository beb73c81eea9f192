"""`POST /v1/search`: a question to cited hits, and how they came about."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from memoryd.agents.search import SearchOptions, SearchOutcome
from memoryd.api.access import Asking, Memories
from memoryd.api.models import AgentId, FallbackReply, Reply, Request, Whole, fallback_reply
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.domain.ranking.fusion import standout
from memoryd.domain.ranking.questions import Question
from memoryd.domain.text.sanitizing import Flag
from memoryd.search.answer import Answer
from memoryd.search.hits import Hit, HitFocus, HitLines, citation_of
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX

DIGITS = 4


class SearchRequest(Request):
    """A question; what is absent comes from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question, in which filters may stand; `limits.maxQueryBytes` at most."""
    agent: AgentId = None
    max_results: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] | None = None
    """How many hits at most; null: as configured (`query.maxResults`)."""
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """Hits that score less and hold no word of the question are left out; null: `query.minScore`."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    sources: Annotated[list[Literal["memory", "sessions"]], Field(max_length=2)] | None = None
    """What is asked, notes (`memory`) or conversations (`sessions`); null or empty: `memorySearch.sources`."""
    since: Annotated[str, Field(max_length=64)] | None = None
    """Only notes of this time or later: `30d`, `2026-10-01` or ISO 8601; null: no matter how old."""
    until: Annotated[str, Field(max_length=64)] | None = None
    """Only notes of this time or earlier: `30d`, `2026-10-01` or ISO 8601; null: no matter how new."""
    paths: Annotated[list[Annotated[str, Field(max_length=1024)]], Field(max_length=64)] | None = None
    """Only these documents, each a glob, a file or a folder; null or empty: all."""
    deadline_ms: Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None = None
    """Milliseconds until the answer comes with what there is; null: `query.deadlineMs`."""
    explain: bool = False
    """Tell how each score came about, and the nearest misses."""


class LinesReply(Reply):
    """Lines of a document."""

    start_line: int
    """The first line, from 1."""
    end_line: int
    """The last line, included."""


class FocusExplanation(Reply):
    """Why these lines of a hit are its focus."""

    terms: list[str]
    """The words of the question that stand in them."""
    passage: LinesReply | None
    """Where the passage stands whose meaning had them chosen; null if words alone did, or nothing."""


class HitExplanation(Reply):
    """Why a hit stands where it stands, or why a miss is none.

    `score` of the hit is `baseScore` × `decay`, or what the reranker put in place of `baseScore` × `decay`; ranks count
    from 1 and are null where an arm did not find it.
    """

    base_score: float
    """What words and meaning say together before `decay` counts, 0 to 1."""
    merged_rank: int | None
    """The place by `baseScore`, from 1; null where there is none."""
    rerank_rank: int | None
    """The place among what the reranker read, from 1; null where it did not read it."""
    rerank_score: float | None
    """How well it answers by the reranker, 0 to 1; null where it did not read it."""
    words_rank: int | None
    """The place among what words found, from 1; null where they did not find it."""
    bm25: float | None
    """How well its words match, 0 and up; null where words did not find it."""
    vector_rank: int | None
    """The place among what vectors found, from 1; null where they did not find it."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    standout: float | None
    """How far the cosine rises above the noise, 0 to 1; null where vectors did not find it, or nobody judged it."""
    terms: list[str]
    """The words of the question that stand in it."""
    decay: float
    """What its age leaves of the score, 0 to 1; of a conversation less where it only asks what nobody answered."""
    age_days: int | None
    """Its age in whole days; null for what does not age, or while decay is off."""
    copies: list[str]
    """The citations of what says the same and was folded into it."""
    focus: FocusExplanation | None
    """Why these lines of it are its focus; null where it has none."""
    because: str
    """Why it stands where it stands, or is no hit, in words; of noise, how near it comes."""


class HitReply(Reply):
    """A cited chunk; `snippet` is the part of it that shows why, with its own lines."""

    path: str
    """The document: relative to the workspace, or `qmd/<collection>/<path>`."""
    start_line: int
    """The first line of the chunk, from 1."""
    end_line: int
    """The last line of the chunk, included."""
    score: float
    """How well it answers, after decay, 0 to 1."""
    vector_score: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    text_score: float | None
    """BM25 as r/(1+r), 0 to 1; null where words did not find it, or qmd did."""
    verdict: Literal["answerable", "weak", "none"]
    """What it is worth by its own evidence: it holds what was asked, it may, or it is only the nearest there is."""
    snippet: str
    """The part of the chunk that shows why, with `Source: …` under it while citations are on."""
    snippet_start_line: int
    """The first line of the document in the snippet, from 1."""
    snippet_end_line: int
    """The last line of the document in the snippet, included."""
    snippet_lines: Annotated[list[int] | None, Field(exclude_if=lambda value: value is None)] = None
    """The lines that the snippet has, where lines of a conversation that say nothing are left out between them."""
    focus: LinesReply | None
    """The lines of the snippet that answer best, six at most; null for a picture or sound."""
    heading: str
    """The headings that the chunk stands under; empty if there are none."""
    source: str
    """What kind of document it is: a note (`memory`), or a conversation (`sessions`)."""
    citation: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """The way to point at its focus, `path#L7-L11` or `session:ID#Q17`; absent while citations are off."""
    flags: list[Flag] = Field(default=[])
    """What a reader of the snippet cannot see, or could take for ours."""
    duplicates: int = 0
    """How many copies were folded into it."""
    explain: Annotated[HitExplanation | None, Field(exclude_if=lambda value: value is None)] = None
    """How its score came about; absent unless asked for by `explain`."""


class ArmReply(Reply):
    """How an arm took part."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    """`off`: by its owner; `waiting`: for its model; `partial`: with what it has; `timeout`: too slow."""
    reason: str | None
    """Why it is less than `ok`; null if it is not."""


class SearchHealth(Reply):
    """Whether the answer rests on everything it could."""

    complete: bool
    """Whether every arm that is switched on took part in full and no file was pending."""
    arms: dict[str, ArmReply]
    """How each arm took part, by name: `lexical` (words), `vector` (meaning), `rerank` where there is a reranker, and
    `conversations` where these were asked."""
    pending_files: int
    """How many files are otherwise on disk than in the answer, as far as is known; what is gone does not count."""
    pending_embeddings: int
    """How many passages are still to get a vector."""


class QuestionExplanation(Reply):
    """How the question was understood."""

    terms: list[str]
    """The words that were looked for, any of which may match."""
    phrases: list[str]
    """What must stand there word for word."""
    excluded: list[str]
    """What must not stand there."""
    paths: list[str]
    """The documents that may answer, as globs, files or folders; empty: all."""
    sources: list[str]
    """The sources that were asked; empty: none, since the request and the question name different ones."""
    since: datetime | None
    """The earliest time of a note that may answer, included, ISO 8601; null: any."""
    until: datetime | None
    """The latest time of a note that may answer, included, ISO 8601; null: any."""


class FloorsExplanation(Reply):
    """What the evidence was held against: see "How answers are ranked".

    `share` is of the question's weight in the best hit; the others are deviations above the noise of its cosines.
    """

    share: float
    """How much of the question's weight stands in the best chunk, 0 to 1; half of it answers."""
    weights: dict[str, float]
    """How telling each word of the question is in these notes, 0 and up."""
    deviations: float | None
    """How many deviations the best cosine stands above the noise; null without vectors."""
    vector_floor: float | None
    """The deviations below which a hit without a word of the question is noise; null without vectors."""
    clear_floor: float | None
    """The deviations from which a hit answers by its meaning alone; null without vectors."""
    noise_mean: float | None
    """The mean cosine of the question with all passages, −1 to 1; null without vectors."""
    noise_deviation: float | None
    """The standard deviation of these cosines; null without vectors."""
    vectors: int
    """How many vectors the question was compared with."""


class SearchExplanation(Reply):
    """How the whole answer came about."""

    question: QuestionExplanation
    """The question as it was understood."""
    floors: FloorsExplanation | None
    """What the evidence of notes was held against; null where the engine does not judge it, or notes were not asked."""
    conversation_floors: FloorsExplanation | None
    """What the evidence of conversations was held against; null where they were not asked, or nobody judged it."""


class SearchReply(Reply):
    """Hits, best first, and what to think of them."""

    results: list[HitReply]
    """The hits, best first."""
    misses: list[HitReply] | None
    """What lies beyond `maxResults` or below `minScore`, best first; null unless asked for by `explain`."""
    backend: Literal["builtin", "qmd"]
    """The engine that answered."""
    provider: str
    """Who embeds questions for the engine that answered; `none`: nobody."""
    model: str | None
    """The model that embeds them; null if there is none."""
    mode: Literal["hybrid", "lexical", "vector", "none"]
    """Which arms took part: both, words alone, meaning alone, or none."""
    fallback: FallbackReply | None
    """Who should have answered or embedded and is out; null if nobody is."""
    verdict: Literal["answerable", "weak", "none"]
    """What the best hit is worth: it holds what was asked, it may, or no hit does, if there is one."""
    reason: str | None
    """Why the verdict is no better, or what is held back; null if there is nothing to say."""
    citations: Literal["on", "off"]
    """Whether hits carry citations in this session."""
    health: SearchHealth
    """How complete the answer is."""
    took_ms: float
    """How long the search took, in milliseconds."""
    explain: Annotated[SearchExplanation | None, Field(exclude_if=lambda value: value is None)] = None
    """How the whole answer came about; absent unless asked for by `explain`."""


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


def hit_explanation(hit: Hit, floors: Floors | None) -> HitExplanation:
    """Tell where a hit stood in each arm and what moved it, and what its evidence was held against."""
    rise = None if hit.cosine is None or floors is None else standout(hit.cosine, floors.noise)
    return HitExplanation(
        base_score=round(hit.base_score, DIGITS),
        merged_rank=hit.ranks.merged,
        rerank_rank=hit.ranks.reading,
        rerank_score=_rounded(hit.relevance),
        words_rank=hit.ranks.words,
        bm25=_rounded(hit.bm25),
        vector_rank=hit.ranks.vector,
        cosine=_rounded(hit.cosine),
        standout=_rounded(rise),
        terms=list(hit.terms),
        decay=round(hit.decay.factor, DIGITS),
        age_days=hit.decay.age_days,
        copies=[str(citation_of(copy)) for copy in hit.copies],
        focus=None if hit.snippet.focus is None else _focus(hit.snippet.focus),
        because=hit.because,
    )


def _focus(focus: HitFocus) -> FocusExplanation:
    return FocusExplanation(terms=list(focus.terms), passage=None if focus.near is None else lines_reply(focus.near))


def lines_reply(lines: HitLines) -> LinesReply:
    return LinesReply(start_line=lines.start_line, end_line=lines.end_line)


def answer_explanation(answer: Answer) -> SearchExplanation:
    """Tell how the question was understood and what the evidence was held against."""
    notes, conversations = answer.floors, answer.conversation_floors
    return SearchExplanation(
        question=_question(answer.question),
        floors=None if notes is None else floors_explanation(notes),
        conversation_floors=None if conversations is None else floors_explanation(conversations),
    )


def _question(question: Question) -> QuestionExplanation:
    filters = question.filters
    return QuestionExplanation(
        terms=list(question.terms),
        phrases=list(question.phrases),
        excluded=list(question.excluded),
        paths=[*filters.paths, *(path for group in filters.within for path in group)],
        sources=[source for source in filters.sources if source],
        since=filters.since,
        until=filters.until,
    )


def floors_explanation(floors: Floors) -> FloorsExplanation:
    """Tell what evidence was held against."""
    has_vectors = floors.deviations is not None
    return FloorsExplanation(
        share=round(floors.share, DIGITS),
        weights={term: round(weight, DIGITS) for term, weight in floors.idf.weights.items()},
        deviations=_rounded(floors.deviations),
        vector_floor=_rounded(floors.vector_floor) if has_vectors else None,
        clear_floor=_rounded(floors.clear_floor) if has_vectors else None,
        noise_mean=_rounded(floors.noise.mean) if has_vectors else None,
        noise_deviation=_rounded(floors.noise.deviation) if has_vectors else None,
        vectors=floors.vectors,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
