"""Shapes of a question and its answer."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from memoryd.api.models import AgentId, FallbackReply, Reply, Request, Whole
from memoryd.domain.flags import Flag
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX


class SearchRequest(Request):
    """A question; what is absent comes from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    agent: AgentId | None = None
    max_results: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] | None = None
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    session_key: Annotated[str, Field(max_length=512)] | None = None
    sources: Annotated[list[Literal["memory", "sessions"]], Field(max_length=2)] | None = None
    since: Annotated[str, Field(max_length=64)] | None = None
    until: Annotated[str, Field(max_length=64)] | None = None
    paths: Annotated[list[Annotated[str, Field(max_length=1024)]], Field(max_length=64)] | None = None
    deadline_ms: Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None = None
    explain: bool = False


class HitExplanation(Reply):
    """Why a hit stands where it stands, or why a miss is none.

    `score` of the hit is `baseScore` × `decay`; ranks count from 1 and are null where an arm did not find it.
    """

    base_score: float
    merged_rank: int | None
    words_rank: int | None
    bm25: float | None
    vector_rank: int | None
    cosine: float | None
    standout: float | None
    terms: list[str]
    decay: float
    age_days: int | None
    copies: list[str]
    because: str


class HitReply(Reply):
    """A cited chunk; `snippet` is the part of it that shows why, with its own lines."""

    path: str
    start_line: int
    end_line: int
    score: float
    vector_score: float | None
    text_score: float | None
    snippet: str
    snippet_start_line: int
    snippet_end_line: int
    heading: str
    source: str
    citation: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    flags: list[Flag] = Field(default=[])
    duplicates: int = 0
    explain: Annotated[HitExplanation | None, Field(exclude_if=lambda value: value is None)] = None


class ArmReply(Reply):
    """How an arm took part."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    reason: str | None


class SearchHealth(Reply):
    """Whether the answer rests on everything it could."""

    complete: bool
    arms: dict[str, ArmReply]
    pending_files: int
    pending_embeddings: int


class QuestionExplanation(Reply):
    """How the question was understood."""

    terms: list[str]
    phrases: list[str]
    excluded: list[str]
    paths: list[str]
    sources: list[str]
    since: datetime | None
    until: datetime | None


class FloorsExplanation(Reply):
    """What the evidence was held against: see "How answers are ranked".

    `share` is of the question's weight in the best hit; the others are deviations above the noise of its cosines.
    """

    share: float
    weights: dict[str, float]
    deviations: float | None
    vector_floor: float | None
    clear_floor: float | None
    noise_mean: float | None
    noise_deviation: float | None
    vectors: int


class SearchExplanation(Reply):
    """How the whole answer came about."""

    question: QuestionExplanation
    floors: FloorsExplanation | None


class SearchReply(Reply):
    """Hits, best first, and what to think of them."""

    results: list[HitReply]
    misses: list[HitReply] | None
    backend: Literal["builtin", "qmd"]
    provider: str
    model: str | None
    mode: Literal["hybrid", "lexical", "vector", "none"]
    fallback: FallbackReply | None
    verdict: Literal["answerable", "weak", "none"]
    reason: str | None
    citations: Literal["on", "off"]
    health: SearchHealth
    took_ms: float
    explain: Annotated[SearchExplanation | None, Field(exclude_if=lambda value: value is None)] = None
