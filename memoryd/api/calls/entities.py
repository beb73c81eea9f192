"""`/v1/entities`: what memories are about, under which names, and who is who."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from memoryd.agents.retained.entities import KnownEntity
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.calls.opinions import OpinionReply, opinion_reply
from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.citations import Citation
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import MAX_NAME
from memoryd.memory.entities import AliasChange
from memoryd.wire import LISTED_MAX

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


AskedEntity = Annotated[str, Path(max_length=512, description="name of the entity, or an alias, percent-encoded")]
EntityLimit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="how many at most")]


async def listing(admitted: AdmittedByQuery, memories: Memories, limit: EntityLimit = 50) -> EntitiesReply:
    """List what the memories that reach the caller are about, and the pages of entities."""
    found = await memories.retained(admitted).entities.all(admitted)
    return EntitiesReply(entities=[_entity(one) for one in found[:limit]], total=len(found))


async def show(
    entity: AskedEntity, admitted: AdmittedByQuery, memories: Memories, limit: EntityLimit = 50
) -> EntityShowReply:
    """Tell what is known of an entity: its memories, the newest first, opinions, page and aliases."""
    known, held = await memories.retained(admitted).entities.one(admitted, entity)
    return EntityShowReply(
        **_entity(known).model_dump(),
        memories=[_memory(one) for one in known.memories[:limit]],
        opinions=[opinion_reply(one) for one in held[:limit]],
    )


async def merge(request: EntityMergeRequest, caller: Asking, memories: Memories) -> EntityChangeReply:
    """Make a name an alias of an entity, by the front matter of its page, for the owner alone."""
    room = memories.retained(caller.admit(request.agent, None)).entities
    found = await room.merge(request.name, request.into, is_dry=request.dry_run)
    return _change(found, is_dry=request.dry_run)


async def split(request: EntitySplitRequest, caller: Asking, memories: Memories) -> EntityChangeReply:
    """Take an alias out of the page of its entity, for the owner alone."""
    room = memories.retained(caller.admit(request.agent, None)).entities
    return _change(await room.split(request.alias, is_dry=request.dry_run), is_dry=request.dry_run)


def _entity(known: KnownEntity) -> EntityReply:
    days = known.days
    return EntityReply(
        name=known.name,
        slug=known.slug,
        aliases=list(known.others),
        page=known.page.path if known.page else None,
        memory_count=len(known.memories),
        opinion_count=len(known.opinions),
        first_seen=days[0].isoformat() if days else None,
        last_seen=days[1].isoformat() if days else None,
    )


def _memory(memory: Memory) -> EntityMemoryReply:
    newest = memory.sources[0]
    return EntityMemoryReply(
        id=memory.id,
        kind=memory.kind,
        content=memory.line.text,
        day=newest.day.isoformat(),
        source=str(Citation(newest.path, newest.start_line, newest.end_line)),
    )


def _change(found: AliasChange, *, is_dry: bool) -> EntityChangeReply:
    return EntityChangeReply(
        alias=found.place.alias,
        entity=found.place.entity,
        path=found.place.path,
        diff=found.diff,
        written=bool(found.diff) and not is_dry,
        change=found.change or None,
        note=found.note,
    )
