"""Shapes of the calls that write memories one by one: add, pin, weigh, delete."""

from typing import Annotated

from pydantic import Field

from memoryd.api.memory_models import SNAKE, MemoryReply, SessionKeyOfMemory
from memoryd.api.models import AgentId, Reply, Request
from memoryd.wire import MEMORY_CHARS_MAX, TAGS_MAX


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
