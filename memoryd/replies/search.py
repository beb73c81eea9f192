"""Hits, why they stand where they do, and which arms took part."""

from typing import Literal, NotRequired, TypedDict

from memoryd.replies.daemon import FallbackReply


class LinesReply(TypedDict):
    """Lines of a document, from 1, the end included."""

    startLine: int
    endLine: int


class FocusExplanation(TypedDict):
    """Why these lines of a hit are its focus."""

    terms: list[str]
    passage: LinesReply | None


class HitExplanation(TypedDict):
    """Why a hit stands where it stands, or why a miss is none; ranks count from 1, null where an arm had not found it.

    `score` of the hit is `baseScore` × `decay`.
    """

    baseScore: float
    mergedRank: int | None
    rerankRank: int | None
    rerankScore: float | None
    wordsRank: int | None
    bm25: float | None
    vectorRank: int | None
    cosine: float | None
    standout: float | None
    terms: list[str]
    decay: float
    ageDays: int | None
    copies: list[str]
    focus: FocusExplanation | None
    because: str


class HitReply(TypedDict):
    """A cited chunk, whose `focus` answers best; lines count from 1 and include the end."""

    path: str
    startLine: int
    endLine: int
    score: float
    vectorScore: float | None
    textScore: float | None
    verdict: Literal["answerable", "weak", "none"]
    snippet: str
    snippetStartLine: int
    snippetEndLine: int
    snippetLines: NotRequired[list[int]]
    focus: LinesReply | None
    heading: str
    source: str
    citation: NotRequired[str]
    flags: list[str]
    duplicates: int
    explain: NotRequired[HitExplanation]


class ArmReply(TypedDict):
    """How words or vectors took part."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    reason: str | None


class SearchHealth(TypedDict):
    """Which arms took part; `complete` is false when a configured one did not."""

    complete: bool
    arms: dict[str, ArmReply]
    pendingFiles: int
    pendingEmbeddings: int


class QuestionExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    phrases: list[str]
    excluded: list[str]
    paths: list[str]
    sources: list[str]
    since: str | None
    until: str | None


class FloorsExplanation(TypedDict):
    """What the evidence was held against."""

    share: float
    weights: dict[str, float]
    deviations: float | None
    vectorFloor: float | None
    clearFloor: float | None
    noiseMean: float | None
    noiseDeviation: float | None
    vectors: int


class SearchExplanation(TypedDict):
    """How the whole answer came about."""

    question: QuestionExplanation
    floors: FloorsExplanation | None
    conversationFloors: FloorsExplanation | None


class SearchReply(TypedDict):
    """`misses` lie beyond `maxResults` or below `minScore`; they are given if `explain` asked for them."""

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
    tookMs: float
    explain: NotRequired[SearchExplanation]
