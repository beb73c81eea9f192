"""Shapes of the calls on memories one by one; their names are in snake case, as with other programs of this kind."""

from typing import Annotated

from pydantic import ConfigDict, Field

from memoryd.api.calls.reflect import NearCopiesReply
from memoryd.api.calls.search import SearchHealth
from memoryd.api.models import AgentId, Reply, Request, Whole
from memoryd.wire import MEMORY_CHARS_MAX, RESULTS_MAX, TAGS_MAX

SNAKE = ConfigDict(alias_generator=None)
SessionKeyOfMemory = Annotated[
    Annotated[str, Field(max_length=512)] | None, Field(description="the session that asks; null: no session")
]


class MemoryDocumentReply(Reply):
    """A memory: what one or several lines state."""

    model_config = SNAKE

    id: str
    """Its id; the first eight signs of it are enough to name it."""
    scope: str
    """Whom it is for: `workspace`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    kind: str
    """Its kind, such as `fact`, `preference` or `lesson`."""
    network: str
    """The network of its kind: `world`, `experience`, `opinion` or `observation`."""
    text: str
    """What it says."""
    tier: str
    """`core`, `working` or `peripheral`."""
    importance: float
    """How important it is, 0 to 1: as its line says, else as its kind has it."""
    pinned: bool
    """Whether it is pinned: it never decays."""
    tags: list[str]
    """Its tags."""
    entities: list[str]
    """Whom or what it is about, as written."""
    access_count: int
    """How often it was used."""
    created_at: float
    """When it was written first, in Unix seconds; the beginning of that day."""
    created_day: str
    """That day, as the owner's calendar has it."""
    accessed_at: float
    """When it was used last, in Unix seconds; as `created_at` if it never was."""
    accessed_day: str
    """The day of `accessed_at`, as the owner's calendar has it."""
    abstract_text: str
    """One sentence of it."""
    overview_text: str
    """Two or three sentences of it, each on a line."""
    citation: str
    """Where its newest line stands, with its mark."""
    sources: list[str]
    """All lines that state it, the newest first."""
    relevance: float
    """How near at hand it is kept, 0.1 to 1; `why` tells what it is made of."""
    superseded_by: list[str]
    """The ids of newer versions of it."""
    score: float | None
    """How well it answers; null where nothing was asked."""


class MemoryReply(Reply):
    """One memory."""

    model_config = SNAKE

    memory: MemoryDocumentReply
    """The memory."""


class MemoryListReply(Reply):
    """Memories, the newest first."""

    model_config = SNAKE

    memories: list[MemoryDocumentReply]
    """Some of them: `limit` from `offset` on."""
    total: int
    """How many there are."""


class MemoryStatsReply(Reply):
    """How many memories there are within reach."""

    model_config = SNAKE

    total: int
    """All of them."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope, as memories tell theirs."""
    pinned: int
    """How many are pinned."""
    near_copies: list[NearCopiesReply]
    """Pairs that say nearly the same, at most 50: nothing is folded."""
    across_scopes: list[NearCopiesReply]
    """Pairs that say the same in several scopes, at most 50."""


class MemorySearchRequest(Request):
    """A question to memories alone."""

    model_config = SNAKE

    query: Annotated[str, Field(min_length=1)]
    """The question."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Only memories of this scope: `workspace`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    kind: Annotated[str, Field(max_length=20)] | None = None
    """Only memories of this network or kind."""
    top_k: Annotated[Whole, Field(ge=1, le=RESULTS_MAX)] | None = None
    """How many at most; null: as `memory.recall.k` has it."""
    agent: AgentId = None
    session_key: SessionKeyOfMemory = Field(default=None, alias="sessionKey")


class MemorySearchReply(Reply):
    """Memories that answer, best first."""

    model_config = SNAKE

    memories: list[MemoryDocumentReply]
    """The memories, each with its `score`."""
    verdict: str
    """`answerable`, `weak` or `none`."""
    reason: str | None
    """Why there is no better answer; null if there is one."""
    health: SearchHealth
    """Which parts took part."""
    took_ms: float
    """How long it took, in milliseconds."""


class MemoryAddRequest(Request):
    """A memory that is to be stated."""

    model_config = SNAKE

    text: Annotated[str, Field(min_length=1, max_length=MEMORY_CHARS_MAX, pattern=r"\S")]
    """What it says: plain text, or a bullet such as `W @Peter: …`."""
    kind: Annotated[str, Field(max_length=20)] | None = None
    """The kind of plain text, a letter or a word; null: `note`."""
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """How important it is, 0 to 1; null: as the kind has it."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Whom it is for: `workspace`, `agent:ID`, `agent:ID:CHANNEL`, `global`; null: every agent here, of a session that
    shares the workspace its own agent."""
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]] | None, Field(max_length=TAGS_MAX)] = None
    """Labels, one word each."""
    pinned: bool = False
    """Whether it is to be pinned."""
    by_agent: bool = Field(default=False, alias="byAgent")
    """Whether a model states it and not the owner, whoever's socket it asks by: it is noted as from the agent, for
    that agent at most."""
    agent: AgentId = None
    session_key: SessionKeyOfMemory = Field(default=None, alias="sessionKey")


class MemoryAddReply(MemoryReply):
    """A memory that was stated."""

    created: bool
    """Whether it was written; false: today's log stated it already."""
    change: int | None
    """The change by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether it is found by its words already."""
    notes: list[str]
    """What is to be known of it, such as that a secret was masked."""


class MemoryEditRequest(Request):
    """Who asks for an edit."""

    model_config = SNAKE

    agent: AgentId = None
    session_key: SessionKeyOfMemory = Field(default=None, alias="sessionKey")


class MemoryImportanceRequest(MemoryEditRequest):
    """Another importance."""

    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    """How important the memory is, 0 to 1."""


class MemoryReplaceRequest(MemoryEditRequest):
    """What a memory is replaced by."""

    text: Annotated[str, Field(min_length=1, max_length=MEMORY_CHARS_MAX, pattern=r"\S")]
    """What holds now: plain text, or a bullet such as `W @Peter: …`. Kind, entities and scope that it does not name
    are those of the memory."""
    in_place: bool = Field(default=False, alias="inPlace")
    """Whether its lines say it where they stand; else a new line in today's log says it, and the older ones are marked
    as superseded."""
    by_agent: bool = Field(default=False, alias="byAgent")
    """Whether a model says it and not the owner, whoever's socket it asks by: what its owner said stays."""


class MemoryReplaceReply(MemoryReply):
    """A memory in the place of another."""

    replaced: str
    """The id of the memory whose place it took: the one that was named, or the newest version of it."""
    changed: bool
    """Whether anything was written; false: it says so already."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    run: str | None
    """What takes back several changes at once; null where there is one."""
    searchable: bool
    """Whether the index has it already."""
    notes: list[str]
    """What is to be known of it, such as that a newer version was replaced."""


class MemoryEditReply(MemoryReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: it was so already."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    searchable: bool
    """Whether the index has it already."""


class MemoryDeleteReply(Reply):
    """A memory whose lines were taken out."""

    model_config = SNAKE

    id: str
    """Its id."""
    deleted: bool
    """Whether it was; false with `dryRun`."""
    lines: list[str]
    """The lines that stated it, as citations."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    run: str | None
    """What takes back several changes at once; null where there is one."""
    searchable: bool
    """Whether the index has followed already."""


class RelevanceTermsReply(Reply):
    """Every term of the relevance of a memory: recency and frequency, each 0 to 1, importance, what its tier grants."""

    model_config = SNAKE

    tier: str
    """Its tier."""
    reason: str
    """Why it is there, in words."""
    pinned: bool
    """Whether it is pinned."""
    importance: float
    """0 to 1."""
    access_count: int
    """How often it was used: told as what answers, or taken up by an agent's answer; once in a session."""
    age_days: float
    """Days since it was used, else since it was written."""
    half_life_days: float
    """After how many days half of the recency is left, where `beta` is 1."""
    beta: float
    """How the tier bends the curve: less than 1 is slower later on, more is faster."""
    recency: float
    """`exp(-ln 2 / half_life_days * age_days ** beta)`, 0 to 1."""
    frequency: float
    """`1 - exp(-access_count / 5)`, 0 to 1."""
    composite: float
    """`0.4 * recency + 0.3 * frequency + 0.3 * importance`, 0 to 1."""
    floor: float
    """The least that the tier grants."""
    relevance: float
    """The composite, but at least `floor`."""
    leaves_core_in_days: float | None
    """In how many days it leaves the core if nothing uses it; null: it is not core, or stays it."""


class MemoryWhyReply(MemoryReply):
    """Why a memory stands where it does."""

    terms: RelevanceTermsReply
    """What its relevance is made of."""


class DecayedMemoryReply(MemoryReply):
    """A memory and how it will stand."""

    terms: RelevanceTermsReply
    """What its relevance will be made of."""


class MemoryDecayReply(Reply):
    """How memories will stand if nobody touches them."""

    model_config = SNAKE

    days: float
    """In how many days."""
    memories: list[DecayedMemoryReply]
    """Those that go to another tier first, then those that lose most; what stays as it is is left out."""
    moving: int
    """How many go to another tier."""
    total: int
    """How many there are."""
