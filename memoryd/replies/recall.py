"""Replies about recall: items with explanations, bundles with the tokens of their parts, and what agents got."""

from typing import Any, Literal, NotRequired, TypedDict

from memoryd.replies.search import FallbackReply, FlagName, FloorsExplanation, LinesReply, SearchHealth

State = Literal["verified", "moved", "edited", "gone"]


class EventTimeReply(TypedDict):
    """A range of days, both included."""

    start: str | None
    """The first day, ISO 8601; null: no limit."""
    end: str | None
    """The last day, ISO 8601; null: no limit."""


class MemorySourceReply(TypedDict):
    """A line that states a memory."""

    source: str
    """Its present place: `memory/2025-11-27.md#L12`."""
    timestamp: str | None
    """The day on which it was written, ISO 8601; null on a page without a date."""
    eventTime: EventTimeReply | None
    """When its statement was true; null if it does not say."""
    state: State
    """The state of the line: unchanged, at another place, edited, or deleted."""


class EvidenceReply(TypedDict):
    """A memory that supports or opposes an opinion."""

    id: str
    """The id of the memory."""
    sources: list[str]
    """The citations of its lines; empty if they were deleted."""
    timestamp: str
    """The day for which it counted, ISO 8601."""
    label: str
    """The effect: `reinforce`, `weaken` or `contradict`."""


_For = TypedDict("_For", {"for": list[EvidenceReply]})
"""The evidence for the opinion."""


class OpinionEvidenceReply(_For, TypedDict):
    """The evidence for and against an opinion."""

    against: list[EvidenceReply]
    """The evidence against the opinion."""


class RecallItemExplanation(TypedDict):
    """Why an item has its rank."""

    baseScore: float
    """The merged score of words and meaning, 0 to 1."""
    lifts: dict[str, float]
    """The scores that the other arms add, by arm."""
    relevance: float
    """The factor for age and use; 1 if unknown."""
    wordsRank: int | None
    """The rank in the search by words, from 1; null if it was not found there."""
    vectorRank: int | None
    """The rank in the search by vectors, from 1; null if it was not found there."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null if vectors did not find it."""
    terms: list[str]
    """The words of the question that it contains."""
    because: str
    """Why it has this rank, or was cut, in words."""


_Is = TypedDict("_Is", {"is": Literal["memory", "passage", "entity"]})
"""The type of the item."""


class RecallItemReply(_Is, TypedDict):
    """A memory, a passage of a document, or the page of an entity; fields that do not apply are absent."""

    id: NotRequired[str]
    """The id of a memory."""
    kind: NotRequired[str]
    """The network of a memory: `world`, `experience`, `opinion` or `observation`."""
    type: NotRequired[str]
    """The exact kind of a memory, such as `preference`."""
    timestamp: NotRequired[str]
    """The day on which the cited line was written, ISO 8601; absent on a page without a date."""
    eventTime: NotRequired[EventTimeReply]
    """When its statement was true; absent if it does not say."""
    entities: NotRequired[list[str]]
    """The entities of a memory, as written."""
    name: NotRequired[str]
    """The name of an entity."""
    path: NotRequired[str]
    """The document of a passage or a page."""
    startLine: NotRequired[int]
    """The first line of a passage, from 1."""
    endLine: NotRequired[int]
    """The last line of a passage, included."""
    focus: NotRequired[LinesReply]
    """The lines of a passage that answer best."""
    heading: NotRequired[str]
    """The headings above a passage."""
    content: str
    """The text of a memory, the relevant part of a passage, or the first lines of a page."""
    source: NotRequired[str]
    """Its place: `memory/2025-11-27.md#L12`."""
    citation: NotRequired[str]
    """The same with the mark of a memory, `memory/2025-11-27.md#L12@1a2b3c4d`, by which it can be verified later."""
    sources: NotRequired[list[MemorySourceReply]]
    """All lines that state a memory, the cited line first."""
    memories: NotRequired[list[str]]
    """The ids of the memories from which the lines of a page were made."""
    scope: NotRequired[str]
    """The scope of a memory that has one; `team`: other people of the team share it."""
    pinned: NotRequired[bool]
    """True for a memory that is pinned."""
    person: NotRequired[str]
    """The person of the team who said it; absent for own memories."""
    flags: NotRequired[list[FlagName]]
    """Flags of its text and its note, as for a hit of a search; absent: none."""
    confidence: NotRequired[float]
    """The present confidence of an opinion, 0 to 1."""
    evidence: NotRequired[OpinionEvidenceReply]
    """The evidence for and against an opinion."""
    supersedes: NotRequired[list[str]]
    """The ids of the older versions that it replaced."""
    supersededBy: NotRequired[list[str]]
    """The ids of the newer versions that replaced it."""
    doubtedBy: NotRequired[list[str]]
    """The ids of current memories that may contradict it: `/v1/disagreements` lists them for the owner."""
    copies: NotRequired[list[str]]
    """The ids of memories that say the same and were merged into it."""
    tier: NotRequired[Literal["core", "working", "peripheral"]]
    """The tier of a memory."""
    score: NotRequired[float]
    """How well it answers, 0 to 1."""
    verdict: NotRequired[Literal["answerable", "weak", "none"]]
    """The verdict: it contains the answer, it may, or it is only the nearest result."""
    arms: NotRequired[list[str]]
    """The arms that found or boosted it: `lexical`, `vector`, `entity`, `temporal`, `opinion`."""
    state: NotRequired[State]
    """The state of the cited line in its file."""
    explain: NotRequired[RecallItemExplanation]
    """Why it has this rank; absent unless requested by `explain`."""


class ReceiptReply(TypedDict):
    """The tokens of a part of a bundle."""

    name: str
    """The document, or the short id of a memory."""
    tokens: int
    """The number of tokens, estimated."""
    told: bool
    """Whether it is in the bundle, in whole or in part."""
    cut: str | None
    """Why it, or its end, is left out; null if it is complete."""


class BundleReply(TypedDict):
    """The fields of a reply that describe a bundle."""

    bundle: str | dict[str, Any]
    etag: str
    notModified: bool
    receipt: list[ReceiptReply]
    tokens: int


class ToldPartReply(TypedDict):
    """A part of a bundle that an agent got."""

    name: str
    """The document or passage, or the short id of a memory."""
    id: str | None
    """The id of the memory; null: it is not a memory, or was deleted."""
    content: str | None
    """The present text of the memory; null: it is not a memory, or was deleted."""
    stable: bool
    """Whether it is in the stable block."""
    tokens: int
    """The number of tokens, estimated."""
    told: bool
    """Whether it was in the bundle, in whole or in part."""
    cut: str | None
    """Why it, or its end, was left out; null: it was complete."""
    verdict: Literal["answerable", "weak", "none"] | None
    """The verdict for this question; null: it was not judged."""
    judgement: Literal["noise", "wrong"] | None
    """The judgement of the owner for this question; null: none."""


class ToldTurnReply(TypedDict):
    """The bundle that an agent got for one question."""

    number: int
    """Its number, for `before` in the next request and for a judgement."""
    session: str
    """The session that stores the question."""
    seq: int
    """The number of its turn."""
    citation: str
    """Its address, such as `session:main-20261018#Q17`."""
    q: str | None
    """The question; null: it is not stored any more."""
    at: str
    """When it was answered, ISO 8601."""
    verdict: Literal["answerable", "weak", "none"]
    """The verdict of the best recalled item."""
    stableTokens: int
    """The tokens of the stable block, estimated."""
    recalledTokens: int
    """The tokens of the recalled items, estimated."""
    sequenceTokens: int
    """The tokens of the earlier turns in the bundle, estimated."""
    stableSince: int
    """The number of the turn that introduced the stable block; its own number if the block is new."""
    parts: list[ToldPartReply]
    """The parts of the bundle, and those cut. Parts of the stable block are with the turn that introduced it."""


class ToldReply(TypedDict):
    """The bundles that an agent got, the latest first, without questions of sessions that are not remembered."""

    turns: list[ToldTurnReply]
    """The turns."""
    before: int | None
    """The value of `before` for the next page; null: this is the last page."""


class ToldJudgedReply(TypedDict):
    """A stored judgement."""

    number: int
    """The number of the turn."""
    name: str
    """The name of the part."""
    judgement: Literal["noise", "wrong"] | None
    """The present judgement of the owner."""


class RecallExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    """The words of the search; any of them may match."""
    floors: FloorsExplanation | None
    """The thresholds for the evidence; null if the engine does not judge it."""


class RecallReply(TypedDict):
    """The recalled items, best first, with a verdict."""

    results: list[RecallItemReply]
    """Pages of named entities, then memories and passages, best first."""
    leftOut: NotRequired[list[RecallItemReply]]
    """Near results that were cut, each with the reason; absent unless requested by `explain`."""
    bundle: NotRequired[str | dict[str, Any]]
    """Text for a prompt, or an object for a request, by `encode`; absent unless requested by `format`."""
    etag: NotRequired[str]
    """The hash of the stable block with which the bundle begins; absent without a bundle."""
    notModified: NotRequired[bool]
    """Whether the stable block is left out because `ifNoneMatch` has its hash; absent without a bundle."""
    receipt: NotRequired[list[ReceiptReply]]
    """The tokens of each part of the bundle, and what was cut; absent without a bundle."""
    tokens: NotRequired[int]
    """The tokens of the bundle with its stable block, estimated; absent without a bundle."""
    verdict: Literal["answerable", "weak", "none"]
    """The verdict of the best item."""
    reason: str | None
    """Why the verdict is not better, or why nothing was found; null if there is no reason."""
    citations: Literal["on", "off"]
    """Whether sources should be cited in this session."""
    backend: Literal["builtin", "qmd"]
    """The engine that found the passages."""
    fallback: FallbackReply | None
    """The engine or provider that failed and was replaced; null if none was."""
    health: SearchHealth
    """The completeness of the answer."""
    tookMs: float
    """How long the recall took, in milliseconds."""
    explain: NotRequired[RecallExplanation]
    """How the question was understood; absent unless requested by `explain`."""
