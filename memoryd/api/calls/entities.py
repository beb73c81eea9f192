"""`/v1/entities`: the entities that memories are about, their aliases, and merging them."""

from typing import Annotated

from pydantic import Field

from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories
from memoryd.api.call import call
from memoryd.api.models import ListLimit, Request
from memoryd.domain.access import Who
from memoryd.domain.memories.line import MAX_NAME
from memoryd.replies.knowledge import EntitiesReply, EntityChangeReply, EntityLinksReply, EntityShowReply

EntityText = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class EntityMergeRequest(Request):
    """A name that becomes an alias of an entity."""

    name: EntityText
    """The name that becomes an alias."""
    into: EntityText
    """The entity that gets the alias."""
    dry_run: bool = False
    """Only report what would be written."""


class EntitySplitRequest(Request):
    """An alias to be removed."""

    alias: EntityText
    """The alias; lines with this name are about a separate entity again."""
    dry_run: bool = False
    """Only report what would be written."""


QueryEntity = Annotated[str, Field(max_length=512, description="name of the entity, or an alias, percent-encoded")]
EntityPart = Annotated[
    str, Field(max_length=MAX_NAME, description="only entities with this text in one of their names")
]
EntitySlugText = Annotated[str, Field(max_length=512, description="only entities after the one with this slug")]


async def listing(
    admitted: AdmittedByQuery,
    memories: Memories,
    query: EntityPart = "",
    after: EntitySlugText = "",
    limit: ListLimit = 50,
) -> EntitiesReply:
    """List the entities that the visible memories are about, and the pages of entities."""
    return await memories.retained(admitted).entities.all(admitted, limit, query=query, after=after)


async def show(
    entity: QueryEntity, admitted: AdmittedByQuery, memories: Memories, limit: ListLimit = 50
) -> EntityShowReply:
    """Return what is known about an entity: its memories, the newest first, opinions, page and aliases."""
    return await memories.retained(admitted).entities.one(admitted, entity, limit)


async def links(
    entity: QueryEntity,
    admitted: AdmittedByQuery,
    memories: Memories,
    limit: ListLimit = 50,
    after: EntitySlugText = "",
) -> EntityLinksReply:
    """Return the entities that memories name together with this one, and which of these are linked with each other."""
    return await memories.retained(admitted).entities.links(admitted, entity, limit, after=after)


async def merge(request: EntityMergeRequest, admitted: AdmittedByBody, memories: Memories) -> EntityChangeReply:
    """Make a name an alias of an entity, in the front matter of its page; for the owner only."""
    entities = memories.retained(admitted).entities
    return await entities.merge(request.name, request.into, is_dry=request.dry_run)


async def split(request: EntitySplitRequest, admitted: AdmittedByBody, memories: Memories) -> EntityChangeReply:
    """Remove an alias from the page of its entity; for the owner only."""
    entities = memories.retained(admitted).entities
    return await entities.split(request.alias, is_dry=request.dry_run)


CALLS = (
    call("GET", "/entities", Who.SESSION, listing),
    # before the route of an entity, whose name may contain slashes
    call("GET", "/entities/{entity}/links", Who.SESSION, links),
    call("GET", "/entities/{entity}", Who.SESSION, show),
    call("POST", "/entities/merge", Who.OWNER, merge),
    call("POST", "/entities/split", Who.OWNER, split),
)
