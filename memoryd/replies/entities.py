"""Entities: what is known of them, and what became of their names."""

from typing import TypedDict

from memoryd.replies.opinions import OpinionReply


class EntityReply(TypedDict):
    """An entity; `page` is the path of its page."""

    name: str
    slug: str
    aliases: list[str]
    page: str | None
    memoryCount: int
    opinionCount: int
    firstSeen: str | None
    lastSeen: str | None


class EntitiesReply(TypedDict):
    """Of `total` entities those with most memories."""

    entities: list[EntityReply]
    total: int


class EntityMemoryReply(TypedDict):
    """A memory about an entity."""

    id: str
    kind: str
    content: str
    day: str
    source: str


class EntityShowReply(EntityReply):
    """An entity with what is known of it."""

    memories: list[EntityMemoryReply]
    opinions: list[OpinionReply]


class EntityChangeReply(TypedDict):
    """What was, or would be, written into the page of an entity; `diff` is empty where nothing was to be done."""

    alias: str
    entity: str
    path: str
    diff: str
    written: bool
    change: int | None
    note: str
