"""Shapes of the calls on entities."""

from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request
from memoryd.api.opinion_models import OpinionReply
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import MAX_NAME

EntityText = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class EntityReply(Reply):
    """An entity, as far as the caller may know it."""

    name: str
    """Its name: the heading of its page, else as most lines write it."""
    slug: str
    """By which names compare; its page is `bank/entities/<slug>.md`."""
    aliases: list[str]
    """Other names of it, that lines write or its page gives."""
    page: str | None
    """The path of its page; null if there is none."""
    memory_count: int
    """How many memories are about it."""
    opinion_count: int
    """How many of them are opinions."""
    first_seen: str | None
    """The day on which it was first named; null if it never was."""
    last_seen: str | None
    """The day on which it was named last."""


class EntitiesReply(Reply):
    """The entities that reach the caller, those with most memories first."""

    entities: list[EntityReply]
    """The first of them."""
    total: int
    """How many there are."""


class EntityMemoryReply(Reply):
    """A memory about an entity."""

    id: str
    """Its id; lines name it by the first eight signs."""
    kind: Kind
    """What it says it is."""
    content: str
    """What it says."""
    day: str
    """The day of its newest line."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""


class EntityShowReply(EntityReply):
    """An entity with what is known of it."""

    memories: list[EntityMemoryReply]
    """The newest first, as many as were asked for; opinions too."""
    opinions: list[OpinionReply]
    """The firmest first, as many as were asked for."""


class EntityMergeRequest(Request):
    """Which name is to be an alias of which entity."""

    name: EntityText
    """The name that becomes an alias."""
    into: EntityText
    """The entity that it is another name of."""
    dry_run: bool = False
    """Only say what would be written."""
    agent: AgentId = None


class EntitySplitRequest(Request):
    """Which alias is to be taken out."""

    alias: EntityText
    """The alias; lines that write it are about an entity of their own again."""
    dry_run: bool = False
    """Only say what would be written."""
    agent: AgentId = None


class EntityChangeReply(Reply):
    """What was, or would be, written into the page of an entity."""

    alias: str
    """The name that is, or was, an alias."""
    entity: str
    """The entity that it is another name of."""
    path: str
    """The page."""
    diff: str
    """The change of the page as a unified diff; empty where nothing was to be done."""
    written: bool
    """Whether it was written."""
    change: int | None
    """The number by which it can be undone; null if there is none."""
    note: str
    """Why it cannot be undone; may be empty."""
