"""Shapes of the calls on memories one by one; their names are in snake case, as with other programs of this kind."""

from typing import Annotated

from pydantic import ConfigDict, Field

from memoryd.api.models import AgentId, Reply, Request, Whole
from memoryd.api.reflect_models import NearCopiesReply
from memoryd.api.search_models import SearchHealth
from memoryd.wire import RESULTS_MAX

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
    """How often it was delivered."""
    created_at: float
    """When it was written first, in Unix seconds; the beginning of that day."""
    accessed_at: float
    """When it was delivered last, in Unix seconds; as `created_at` if it never was."""
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
