"""Replies about recall: items, why each stands where it does, and bundles with what their parts cost."""

from typing import Any, Literal, NotRequired, TypedDict

from memoryd.replies.search import FallbackReply, FlagName, FloorsExplanation, LinesReply, SearchHealth

State = Literal["verified", "moved", "edited", "gone"]


class EventTimeReply(TypedDict):
    """Days, both included."""

    start: str | None
    """The first day, ISO 8601; null: open."""
    end: str | None
    """The last day, ISO 8601; null: open."""


class MemorySourceReply(TypedDict):
    """A line that states a memory."""

    source: str
    """Where it stands now: `memory/2025-11-27.md#L12`."""
    timestamp: str | None
    """The day on which it was written, ISO 8601; null on a page without a date."""
    eventTime: EventTimeReply | None
    """When what it says was so; null if it does not say."""
    state: State
    """Whether the line stands: as it was read, on other lines, edited, or gone."""


class EvidenceReply(TypedDict):
    """A memory that speaks for an opinion or against it."""

    id: str
    """The memory."""
    sources: list[str]
    """The citations of its lines; empty where they are gone."""
    timestamp: str
    """The day of which it counted, ISO 8601."""
    label: str
    """What it did: `reinforce`, `weaken` or `contradict`."""


_For = TypedDict("_For", {"for": list[EvidenceReply]})
"""What speaks for it."""


class OpinionEvidenceReply(_For, TypedDict):
    """What an opinion rests on."""

    against: list[EvidenceReply]
    """What speaks against it."""


class RecallItemExplanation(TypedDict):
    """Why an item stands where it stands."""

    baseScore: float
    """What words and meaning say together, 0 to 1."""
    lifts: dict[str, float]
    """What the other arms add, by arm."""
    relevance: float
    """What age and use leave of it; 1 where nothing is known."""
    wordsRank: int | None
    """The place among what words found, from 1; null where they did not find it."""
    vectorRank: int | None
    """The place among what vectors found, from 1; null where they did not find it."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    terms: list[str]
    """The words of the question that stand in it."""
    because: str
    """Why it stands there, or was cut, in words."""


_Is = TypedDict("_Is", {"is": Literal["memory", "passage", "entity"]})
"""What it is."""


class RecallItemReply(_Is, TypedDict):
    """A memory, a passage of a document, or the page of an entity; fields that it does not have are absent."""

    id: NotRequired[str]
    """The id of a memory."""
    kind: NotRequired[str]
    """The network of a memory: `world`, `experience`, `opinion` or `observation`."""
    type: NotRequired[str]
    """The exact kind of a memory, such as `preference`."""
    timestamp: NotRequired[str]
    """The day on which the cited line was written, ISO 8601; absent on a page without a date."""
    eventTime: NotRequired[EventTimeReply]
    """When what it says was so; absent if it does not say."""
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
    """The headings that a passage stands under."""
    content: str
    """What a memory says, the part of a passage that shows why, or the first lines of a page."""
    source: NotRequired[str]
    """Where it stands: `memory/2025-11-27.md#L12`."""
    citation: NotRequired[str]
    """The same with the mark of a memory, `memory/2025-11-27.md#L12@1a2b3c4d`, by which it can be verified later."""
    sources: NotRequired[list[MemorySourceReply]]
    """All lines that state a memory, that which is cited first."""
    memories: NotRequired[list[str]]
    """The ids of the memories that the lines of a page rest on."""
    scope: NotRequired[str]
    """The scope of a memory that has one; `team`: of what others of the team share."""
    pinned: NotRequired[bool]
    """True for a memory that is pinned."""
    person: NotRequired[str]
    """Who of the team said it; absent for what is said here."""
    flags: NotRequired[list[FlagName]]
    """What a reader of it cannot see, or could take for ours, as of a hit of a search; absent: nothing."""
    confidence: NotRequired[float]
    """How sure an opinion is now, 0 to 1."""
    evidence: NotRequired[OpinionEvidenceReply]
    """What an opinion rests on."""
    supersedes: NotRequired[list[str]]
    """The ids of the older versions that it took the place of."""
    supersededBy: NotRequired[list[str]]
    """The ids of the newer versions that took its place."""
    doubtedBy: NotRequired[list[str]]
    """The ids of others that stand, too, and may contradict it: `/v1/disagreements` has them for the owner."""
    copies: NotRequired[list[str]]
    """The ids of memories that say the same and were folded into it."""
    tier: NotRequired[Literal["core", "working", "peripheral"]]
    """How near at hand a memory is kept."""
    score: NotRequired[float]
    """How well it answers, 0 to 1."""
    verdict: NotRequired[Literal["answerable", "weak", "none"]]
    """What it is worth: it holds what was asked, it may, or it is only the nearest there is."""
    arms: NotRequired[list[str]]
    """The arms that found or lifted it: `lexical`, `vector`, `entity`, `temporal`, `opinion`."""
    state: NotRequired[State]
    """Whether the cited line stands in its file now."""
    explain: NotRequired[RecallItemExplanation]
    """Why it stands there; absent unless asked for by `explain`."""


class ReceiptReply(TypedDict):
    """What a part of a bundle costs."""

    name: str
    """The document, or the short id of a memory."""
    tokens: int
    """What it costs, estimated."""
    told: bool
    """Whether it is in the bundle, in whole or in part."""
    cut: str | None
    """Why it, or its end, is left out; null if it is not."""


class BundleReply(TypedDict):
    """What a bundle fills of a reply."""

    bundle: str | dict[str, Any]
    etag: str
    notModified: bool
    receipt: list[ReceiptReply]
    tokens: int


class ToldPartReply(TypedDict):
    """A part of what was put before an agent."""

    name: str
    """The document or passage, or the short id of a memory."""
    id: str | None
    """The id of that memory; null: it is none, or is gone."""
    content: str | None
    """What the memory says now; null likewise."""
    stable: bool
    """Whether it stands in the stable block."""
    tokens: int
    """What it costs, estimated."""
    told: bool
    """Whether it was told, in whole or in part."""
    cut: str | None
    """Why it, or its end, was left out; null: it was not."""
    verdict: Literal["answerable", "weak", "none"] | None
    """What it was worth for this question; null: nobody judged it."""
    judgement: Literal["noise", "wrong"] | None
    """What the owner thinks of it for this question; null: nothing."""


class ToldTurnReply(TypedDict):
    """What was put before an agent for one question."""

    number: int
    """What names it: `before` goes on behind it, and a judgement is of it."""
    session: str
    """The session in which the question is kept."""
    seq: int
    """The number of its turn."""
    citation: str
    """Its address, such as `session:main-20261018#Q17`."""
    q: str | None
    """The question; null: it is kept no more."""
    at: str
    """When it was answered, ISO 8601."""
    verdict: Literal["answerable", "weak", "none"]
    """What the best of what was recalled was worth."""
    stableTokens: int
    """What the stable block cost, estimated."""
    recalledTokens: int
    """What was recalled cost, estimated."""
    sequenceTokens: int
    """What the turns cost that were put before it, estimated."""
    stableSince: int
    """The turn since which the stable block is the same; its own number where the block is new."""
    parts: list[ToldPartReply]
    """What the bundle held and what was cut; those of the stable block stand with the turn in which it was new."""


class ToldReply(TypedDict):
    """What an agent was told, the latest first; of questions whose session is not remembered nothing is known."""

    turns: list[ToldTurnReply]
    """The turns."""
    before: int | None
    """What to ask for next; null: these are the last."""


class ToldJudgedReply(TypedDict):
    """A judgement that is kept."""

    number: int
    """The turn."""
    name: str
    """The part."""
    judgement: Literal["noise", "wrong"] | None
    """What the owner thinks of it now."""


class RecallExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    """The words that were looked for, any of which may match."""
    floors: FloorsExplanation | None
    """What the evidence was held against; null where nobody judges it."""


class RecallReply(TypedDict):
    """What is recalled, best first, and what to think of it."""

    results: list[RecallItemReply]
    """Pages of entities that are named, then memories and passages, best first."""
    leftOut: NotRequired[list[RecallItemReply]]
    """What came near and was cut, each with why; absent unless asked for by `explain`."""
    bundle: NotRequired[str | dict[str, Any]]
    """Text for a prompt, or an object for a request, by `encode`; absent unless asked for by `format`."""
    etag: NotRequired[str]
    """The name of the bytes of its stable block, with which the bundle begins; absent likewise."""
    notModified: NotRequired[bool]
    """Whether the stable block is left out, since `ifNoneMatch` names it; absent likewise."""
    receipt: NotRequired[list[ReceiptReply]]
    """What each part of the bundle costs, and what was cut; absent likewise."""
    tokens: NotRequired[int]
    """What the bundle and its stable block cost, estimated; absent likewise."""
    verdict: Literal["answerable", "weak", "none"]
    """What the best item is worth."""
    reason: str | None
    """Why the verdict is no better, or nothing was found; null if there is nothing to say."""
    citations: Literal["on", "off"]
    """Whether sources are to be cited in this session."""
    backend: Literal["builtin", "qmd"]
    """The engine that found the passages."""
    fallback: FallbackReply | None
    """Who should have answered and is out; null if nobody is."""
    health: SearchHealth
    """How complete the answer is."""
    tookMs: float
    """How long the recall took, in milliseconds."""
    explain: NotRequired[RecallExplanation]
    """How the question was understood; absent unless asked for by `explain`."""
