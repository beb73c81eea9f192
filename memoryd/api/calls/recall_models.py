"""Shapes of a question to the memory, and of what is recalled."""

from typing import Annotated, Any, Literal

from pydantic import Field

from memoryd.api.calls.search import FloorsExplanation, LinesReply, SearchHealth
from memoryd.api.models import AgentId, Encode, FallbackReply, Reply, Request, Whole
from memoryd.domain.memories.bundle import Encoding
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX

Day = Annotated[str, Field(max_length=64)]
State = Literal["verified", "moved", "edited", "gone"]


class RecallRequest(Request):
    """A question; what is absent comes from the configuration."""

    query: Annotated[str, Field(min_length=1)]
    """The question; `limits.maxQueryBytes` at most."""
    agent: AgentId = None
    k: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] | None = None
    """How many memories and passages at most; null: as configured (`memory.recall.k`)."""
    since: Day | None = None
    """Only what happened on this day or later, by event time, else record time: `30d`, `2026-10-01` or ISO 8601."""
    until: Day | None = None
    """Only what happened on this day or earlier, likewise."""
    as_of: Day | None = None
    """What was true on this day, by record and event time; versions are told as they were then."""
    known_by: Day | None = None
    """What was known on this day, by record time."""
    entity: Annotated[str, Field(max_length=200)] | None = None
    """Only memories about this entity, by any of its names."""
    kind: Annotated[str, Field(max_length=32)] | None = None
    """Only memories of this network or exact kind: `opinion`, `preference`, …; passages have none."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Only memories of this scope: `workspace`, `global`, `agent:<id>`, …"""
    budget: Annotated[Whole, Field(ge=0, le=100_000)] | None = None
    """Tokens of a bundle at most, estimated; null: as configured (`memory.recall.budget`)."""
    format: Literal["items", "bundle"] = "items"
    """`bundle`: also as text for a prompt."""
    encode: Encode = Encoding.TEXT
    """How a bundle is written: as delimited text, or in the message shape of an API, for its request."""
    if_none_match: Annotated[str, Field(max_length=200)] | None = None
    """The `etag` of the stable block that the asker has: it is left out of the bundle while it is the same."""
    deadline_ms: Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None = None
    """Milliseconds until the answer comes with what there is; null: `query.deadlineMs`."""
    touch: bool = True
    """Count what is told as used, which keeps it near at hand; false: only look."""
    explain: bool = False
    """Tell why each item was chosen, and what was cut and why."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""


class EventTimeReply(Reply):
    """Days, both included."""

    start: str | None
    """The first day, ISO 8601; null: open."""
    end: str | None
    """The last day, ISO 8601; null: open."""


class MemorySourceReply(Reply):
    """A line that states a memory."""

    source: str
    """Where it stands now: `memory/2025-11-27.md#L12`."""
    timestamp: str | None
    """The day on which it was written, ISO 8601; null on a page without a date."""
    event_time: EventTimeReply | None
    """When what it says was so; null if it does not say."""
    state: State
    """Whether the line stands: as it was read, on other lines, edited, or gone."""


class EvidenceReply(Reply):
    """A memory that speaks for an opinion or against it."""

    id: str
    """The memory."""
    sources: list[str]
    """The citations of its lines; empty where they are gone."""
    timestamp: str
    """The day of which it counted, ISO 8601."""
    label: str
    """What it did: `reinforce`, `weaken` or `contradict`."""


class OpinionEvidenceReply(Reply):
    """What an opinion rests on."""

    supporting: Annotated[list[EvidenceReply], Field(alias="for")]
    """What speaks for it."""
    against: list[EvidenceReply]
    """What speaks against it."""


class RecallItemExplanation(Reply):
    """Why an item stands where it stands."""

    base_score: float
    """What words and meaning say together, 0 to 1."""
    lifts: dict[str, float]
    """What the other arms add, by arm."""
    relevance: float
    """What age and use leave of it; 1 where nothing is known."""
    words_rank: int | None
    """The place among what words found, from 1; null where they did not find it."""
    vector_rank: int | None
    """The place among what vectors found, from 1; null where they did not find it."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    terms: list[str]
    """The words of the question that stand in it."""
    because: str
    """Why it stands there, or was cut, in words."""


def _absent(value: object) -> bool:
    return value is None


class RecallItemReply(Reply):
    """A memory, a passage of a document, or the page of an entity; fields that it does not have are absent."""

    is_: Annotated[Literal["memory", "passage", "entity"], Field(alias="is")]
    """What it is."""
    id: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The id of a memory."""
    kind: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The network of a memory: `world`, `experience`, `opinion` or `observation`."""
    type: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The exact kind of a memory, such as `preference`."""
    timestamp: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The day on which the cited line was written, ISO 8601; absent on a page without a date."""
    event_time: Annotated[EventTimeReply | None, Field(exclude_if=_absent)] = None
    """When what it says was so; absent if it does not say."""
    entities: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The entities of a memory, as written."""
    name: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The name of an entity."""
    path: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The document of a passage or a page."""
    start_line: Annotated[int | None, Field(exclude_if=_absent)] = None
    """The first line of a passage, from 1."""
    end_line: Annotated[int | None, Field(exclude_if=_absent)] = None
    """The last line of a passage, included."""
    focus: Annotated[LinesReply | None, Field(exclude_if=_absent)] = None
    """The lines of a passage that answer best."""
    heading: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The headings that a passage stands under."""
    content: str
    """What a memory says, the part of a passage that shows why, or the first lines of a page."""
    source: Annotated[str | None, Field(exclude_if=_absent)] = None
    """Where it stands: `memory/2025-11-27.md#L12`."""
    citation: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The same with the mark of a memory, `memory/2025-11-27.md#L12@1a2b3c4d`, by which it can be verified later."""
    sources: Annotated[list[MemorySourceReply] | None, Field(exclude_if=_absent)] = None
    """All lines that state a memory, that which is cited first."""
    memories: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The ids of the memories that the lines of a page rest on."""
    scope: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The scope of a memory that has one."""
    confidence: Annotated[float | None, Field(exclude_if=_absent)] = None
    """How sure an opinion is now, 0 to 1."""
    evidence: Annotated[OpinionEvidenceReply | None, Field(exclude_if=_absent)] = None
    """What an opinion rests on."""
    supersedes: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The ids of the older versions that it took the place of."""
    superseded_by: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The ids of the newer versions that took its place."""
    doubted_by: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The ids of others that stand, too, and may contradict it: `/v1/disagreements` has them for the owner."""
    copies: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The ids of memories that say the same and were folded into it."""
    tier: Annotated[Literal["core", "working", "peripheral"] | None, Field(exclude_if=_absent)] = None
    """How near at hand a memory is kept."""
    score: Annotated[float | None, Field(exclude_if=_absent)] = None
    """How well it answers, 0 to 1."""
    verdict: Annotated[Literal["answerable", "weak", "none"] | None, Field(exclude_if=_absent)] = None
    """What it is worth: it holds what was asked, it may, or it is only the nearest there is."""
    arms: Annotated[list[str] | None, Field(exclude_if=_absent)] = None
    """The arms that found or lifted it: `lexical`, `vector`, `entity`, `temporal`, `opinion`."""
    state: Annotated[State | None, Field(exclude_if=_absent)] = None
    """Whether the cited line stands in its file now."""
    explain: Annotated[RecallItemExplanation | None, Field(exclude_if=_absent)] = None
    """Why it stands there; absent unless asked for by `explain`."""


class ReceiptReply(Reply):
    """What a part of a bundle costs."""

    name: str
    """The document, or the short id of a memory."""
    tokens: int
    """What it costs, estimated."""
    told: bool
    """Whether it is in the bundle, in whole or in part."""
    cut: str | None
    """Why it, or its end, is left out; null if it is not."""


class RecallExplanation(Reply):
    """How the question was understood."""

    terms: list[str]
    """The words that were looked for, any of which may match."""
    floors: FloorsExplanation | None
    """What the evidence was held against; null where nobody judges it."""


class RecallReply(Reply):
    """What is recalled, best first, and what to think of it."""

    results: list[RecallItemReply]
    """Pages of entities that are named, then memories and passages, best first."""
    left_out: Annotated[list[RecallItemReply] | None, Field(exclude_if=_absent)] = None
    """What came near and was cut, each with why; absent unless asked for by `explain`."""
    bundle: Annotated[str | dict[str, Any] | None, Field(exclude_if=_absent)] = None
    """Text for a prompt, or an object for a request, by `encode`; absent unless asked for by `format`."""
    etag: Annotated[str | None, Field(exclude_if=_absent)] = None
    """The name of the bytes of its stable block, with which the bundle begins; absent likewise."""
    not_modified: Annotated[bool | None, Field(exclude_if=_absent)] = None
    """Whether the stable block is left out, since `ifNoneMatch` names it; absent likewise."""
    receipt: Annotated[list[ReceiptReply] | None, Field(exclude_if=_absent)] = None
    """What each part of the bundle costs, and what was cut; absent likewise."""
    tokens: Annotated[int | None, Field(exclude_if=_absent)] = None
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
    took_ms: float
    """How long the recall took, in milliseconds."""
    explain: Annotated[RecallExplanation | None, Field(exclude_if=_absent)] = None
    """How the question was understood; absent unless asked for by `explain`."""
