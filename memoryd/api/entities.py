"""`/v1/entities`: what memories are about, under which names, and who is who."""

from typing import Annotated

from fastapi import Path, Query

from memoryd.agents.retained.entities import KnownEntity
from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.entity_models import (
    EntitiesReply,
    EntityChangeReply,
    EntityMemoryReply,
    EntityMergeRequest,
    EntityReply,
    EntityShowReply,
    EntitySplitRequest,
)
from memoryd.api.opinions import opinion_reply
from memoryd.domain.citations import Citation
from memoryd.domain.memories.book import Memory
from memoryd.memory.entities import AliasChange
from memoryd.wire import LISTED_MAX

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
