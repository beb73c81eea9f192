"""Shapes of requests and replies: camelCase JSON, unknown keys refused in requests."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from memoryd.agents.sync import SyncGoal
from memoryd.domain.flags import Flag
from memoryd.search.backend import Fallback
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX, ErrorCode

AgentId = Annotated[str, Field(max_length=64, description="agent to ask; the default agent if absent")]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""An integer as JSON Schema means it: 3.0 is one."""


class Request(BaseModel):
    """A request body."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)


class Reply(BaseModel):
    """A reply body; fields may be added in later versions."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)


class ErrorBody(Reply):
    """What went wrong, and one sentence on what to do."""

    code: ErrorCode
    message: str
    hint: str


class ErrorReply(Reply):
    """Every failure."""

    error: ErrorBody


class HealthReply(Reply):
    """`ready` says that the first scan of every workspace is done."""

    ok: bool
    ready: bool


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
    flags: list[Flag] = []
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


class FallbackReply(Reply):
    """Which engine was left, why and since when."""

    from_: Annotated[str, Field(alias="from")]
    reason: str
    since: datetime


def fallback_reply(fallback: Fallback | None) -> FallbackReply | None:
    """Return how a stand-in is told."""
    if fallback is None:
        return None
    return FallbackReply(from_=fallback.left, reason=fallback.reason, since=fallback.since)


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


class FileReply(Reply):
    """Lines of a document; `nextFrom` continues it behind them.

    A line too long for one reply is cut: `nextColumn` is where the rest of line `from` begins.
    """

    path: str
    text: str
    from_: Annotated[int, Field(alias="from")]
    lines: int
    column: int
    total_lines: int
    sha256: str
    truncated: bool
    next_from: int | None
    next_column: int | None
    flags: list[Flag]


class SyncRequest(Request):
    """`indexed` waits until all that was on disk is searchable by words, `embedded` also by vector."""

    agent: AgentId | None = None
    wait: SyncGoal = "indexed"
    timeout_ms: Annotated[Whole, Field(ge=1, le=3_600_000)] | None = None


class SyncReply(Reply):
    """`complete` is false when the time ran out before the wait was over, or when, for a `reason`, it never will be."""

    pending_files: int
    pending_embeddings: int
    generation: int
    complete: bool
    reason: str | None = None


class ReindexRequest(Request):
    """`force` reads and cuts every file anew, `embeddings` makes every vector anew."""

    agent: AgentId | None = None
    force: bool = False
    embeddings: bool = False


class ReindexReply(Reply):
    """The work goes on in the background; follow it in status or events."""

    pending_files: int
    pending_embeddings: int
    generation: int


class SessionStartRequest(Request):
    """A session that begins; its key decides who may see what."""

    session_key: Annotated[str, Field(max_length=512)]
    agent: AgentId | None = None


class SessionStartReply(Reply):
    """`syncScheduled` says whether the index looks at the disk now.

    Nothing is chosen from the notes for a session yet: `bundle` is null and `context` is empty.
    """

    bundle: str | None = None
    context: str = ""
    is_sync_scheduled: Annotated[bool, Field(alias="syncScheduled")]
