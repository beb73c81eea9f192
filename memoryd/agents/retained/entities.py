"""What may be asked of the entities that an agent's memories are about: which there are, what is known, who is who.

Entities are merged and split by an alias in the front matter of a page, which the journal writes; no log is rewritten.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Final
from uuid import uuid4

from msgspec import Struct

from memoryd.agents.retained.opinions import firmest_first
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
from memoryd.domain.counters import grouped
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, Memory, newest_first
from memoryd.domain.memories.changes.diffs import unified_diff
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.entity_edits import (
    AliasEditError,
    AliasPlace,
    aliases_in,
    entity_page_of,
    is_made_for,
    merging,
    splitting,
    with_alias,
    without_alias,
)
from memoryd.domain.memories.kinds import WrittenBy, is_belief
from memoryd.domain.memories.scopes import Visibility
from memoryd.domain.text.lines import padded
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.memory.opinions import OpinionStore
from memoryd.replies.knowledge import (
    EntitiesReply,
    EntityChangeReply,
    EntityLinkReply,
    EntityLinksReply,
    EntityMemoryReply,
    EntityReply,
    EntityShowReply,
)

SETTLED_SECONDS: Final = 5.0
"""How long a merge waits until its alias is known."""


class AgentEntities(Struct, frozen=True, kw_only=True):
    """The entities that reach one agent. Each call raises StoreError where the index cannot be read."""

    agent: str
    book: MemoryCache
    opinions: OpinionStore
    journal: Journal
    index: WorkspaceIndex

    async def all(self, admitted: Admitted, limit: int) -> EntitiesReply:
        """Return those with most memories first."""
        book = await self.book.now()
        about = _about(book, Visibility.of(self.agent, admitted))
        slugs = about.keys() | (book.pages.keys() - book.aliases.keys())
        rows = [_entity(book, slug, newest_first(about.get(slug, ()))) for slug in slugs]
        rows.sort(key=lambda row: (-row["memoryCount"], row["slug"]))
        return EntitiesReply(entities=rows[:limit], total=len(rows))

    async def one(self, admitted: Admitted, name: str, limit: int) -> EntityShowReply:
        """Return an entity by its name or an alias, with its opinions, the firmest first; raises NotFound."""
        book = await self.book.now()
        about = _about(book, Visibility.of(self.agent, admitted))
        slug = _meant(book, about, name)
        memories = newest_first(about.get(slug, ()))
        opinions = await self.opinions.held(book, [one.id for one in memories if is_belief(one.kind)])
        return EntityShowReply(
            **_entity(book, slug, memories),
            memories=list(map(_memory, memories[:limit])),
            opinions=firmest_first(list(opinions.values()))[:limit],
        )

    async def links(self, admitted: Admitted, name: str, limit: int) -> EntityLinksReply:
        """Return those that an entity is named with, and how all of them are named together; raises NotFound."""
        book = await self.book.now()
        about = _about(book, Visibility.of(self.agent, admitted))
        slug = _meant(book, about, name)
        together = Counter(
            pair
            for memory in {one.id: one for memories in about.values() for one in memories}.values()
            for pair in combinations(sorted({book.aliases.get(one, one) for one in memory.slugs}), 2)
        )
        near = Counter(
            {one if other == slug else other: n for (one, other), n in together.items() if slug in (one, other)}
        )
        shown = [slug, *sorted(near, key=lambda one: (-near[one], one))[:limit]]
        links = [(pair, n) for pair, n in together.items() if set(pair) <= set(shown)]
        return EntityLinksReply(
            entities=[_entity(book, one, newest_first(about.get(one, ()))) for one in shown],
            links=[
                EntityLinkReply(one=one, other=other, memories=n)
                for (one, other), n in sorted(links, key=lambda link: (-link[1], link[0]))
            ],
            total=len(near),
        )

    async def merge(self, name: str, into: str, *, is_dry: bool) -> EntityChangeReply:
        """Make a name an alias of an entity, once the index knows the pages as they are on disk; raises as `merge`."""
        return await self._write_settled(lambda book: merge(self.journal, book, name, into, is_dry=is_dry))

    async def split(self, name: str, *, is_dry: bool) -> EntityChangeReply:
        """Take an alias out again; raises as `split`."""
        return await self._write_settled(lambda book: split(self.journal, book, name, is_dry=is_dry))

    async def _write_settled(self, write: Callable[[Book], Awaitable[EntityChangeReply]]) -> EntityChangeReply:
        """Write while the index knows the pages as they are on disk, before and after; it is not waited for longer."""
        await self.index.follow(SETTLED_SECONDS)
        reply = await write(await self.book.now())
        await self.index.follow(SETTLED_SECONDS)
        return reply


def _about(book: Book, visibility: Visibility) -> Mapping[EntitySlug, Sequence[Memory]]:
    return grouped(
        (slug, memory)
        for memory in book.memories.values()
        if memory.slugs and visibility.admits(memory.line.attributes.scope)
        for slug in {book.aliases.get(slug, slug) for slug in memory.slugs}
    )


def _meant(book: Book, about: Mapping[EntitySlug, Sequence[Memory]], name: str) -> EntitySlug:
    slug = slug_of(name.removeprefix("@"))
    slug = book.aliases.get(slug, slug)
    if slug not in about and slug not in book.pages:
        raise NotFound(f"no memory and no page names {name!r}", hint="memoryctl entities list shows all")
    return slug


def _entity(book: Book, slug: EntitySlug, memories: Sequence[Memory]) -> EntityReply:
    """Return an entity with what the memories about it, the newest first, say of it."""
    page = book.pages.get(slug)
    names = Counter(
        name for one in memories for name in one.line.entities if book.aliases.get(slug_of(name), slug_of(name)) == slug
    )
    own = [name for name, _ in names.most_common() if slug_of(name) == slug]
    return EntityReply(
        name=page.name if page else (own or [slug])[0],
        slug=slug,
        aliases=_distinct([*(page.aliases if page else ()), *names], slug),
        page=page.path if page else None,
        memoryCount=len(memories),
        opinionCount=sum(is_belief(one.kind) for one in memories),
        firstSeen=min(one.first_recorded for one in memories).isoformat() if memories else None,
        lastSeen=max(one.recorded for one in memories).isoformat() if memories else None,
    )


def _memory(memory: Memory) -> EntityMemoryReply:
    newest = memory.sources[0]
    return EntityMemoryReply(
        id=memory.id,
        kind=memory.kind.value,
        content=memory.line.text,
        day=newest.day.isoformat(),
        source=str(newest.citation),
    )


def _distinct(names: Sequence[str], slug: EntitySlug) -> list[str]:
    by_slug = {slug_of(name): name for name in reversed(names)}
    return sorted(name for of, name in by_slug.items() if of != slug)


async def merge(journal: Journal, book: Book, name: str, into: str, *, is_dry: bool = False) -> EntityChangeReply:
    """Make a name an alias of an entity; raises InvalidRequest, NotFound, and what `Journal.change` does."""
    if not is_dry:
        journal.check_writable()
    try:
        place = merging(book, name, into)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint="nothing was merged; memoryctl entities show NAME tells aliases") from exc
    return await _edit_page(journal, place, is_merge=True, is_dry=is_dry)


async def split(journal: Journal, book: Book, name: str, *, is_dry: bool = False) -> EntityChangeReply:
    """Take an alias out of the page of its entity; raises as `merge`."""
    if not is_dry:
        journal.check_writable()
    try:
        place = splitting(book, name)
    except ValueError as exc:
        hint = "memoryctl entities list shows all with their aliases"
        raise (NotFound if "no alias" in str(exc) else InvalidRequest)(str(exc), hint=hint) from exc
    return await _edit_page(journal, place, is_merge=False, is_dry=is_dry)


async def _edit_page(journal: Journal, place: AliasPlace, *, is_merge: bool, is_dry: bool) -> EntityChangeReply:
    before = (await journal.read(place.path)).text
    edit = partial(_add_alias if is_merge else _remove_alias, place)
    diff = unified_diff(place.path, before or "", edit(before) or "")
    reply = EntityChangeReply(
        alias=place.alias, entity=place.entity, path=place.path, diff=diff, written=False, change=None, note=""
    )
    if is_dry or not diff:
        return reply
    change = await journal.change(
        place.path,
        edit,
        by=WrittenBy.ENTITIES,
        why="an alias was added" if is_merge else "an alias was taken out",
        run=uuid4().hex,
        delete=not is_merge and is_made_for(before or "", place.alias),
    )
    return {**reply, "written": True, "change": change.id or None, "note": change.note}


def _add_alias(place: AliasPlace, text: str | None) -> str | None:
    if text is not None and slug_of(place.alias) in map(slug_of, aliases_in(text)):
        return text
    try:
        edited = with_alias(text, place.entity, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was merged") from exc
    page = entity_page_of(padded(edited), RelativePath(place.path))
    if page is None or slug_of(page.name) != slug_of(place.entity):
        name = page.name if page else "none"
        raise InvalidRequest(f"{place.path} is the page of {name!r}, not of {place.entity!r}", hint="merge into that")
    return edited


def _remove_alias(place: AliasPlace, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return without_alias(text, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was split") from exc
