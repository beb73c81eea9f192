"""Entities that an agent's memories are about: list, show, links, merge and split.

Entities are merged and split by an alias in the front matter of a page, which the journal writes; logs are never
rewritten.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from uuid import uuid4

from msgspec import Struct

from memoryd.agents.retained.opinions import firmest_first
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
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
    plan_merge,
    plan_split,
    with_alias,
    without_alias,
)
from memoryd.domain.memories.kinds import MemoryId, Visibility, WrittenBy, is_belief
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.lines import encode_padded
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.book import MemoryCache, OpinionStore
from memoryd.memory.journal import Journal
from memoryd.replies.knowledge import (
    EntitiesReply,
    EntityChangeReply,
    EntityLinkReply,
    EntityLinksReply,
    EntityMemoryReply,
    EntityReply,
    EntityShowReply,
)

SETTLED_SECONDS = 5.0
"""How long a merge waits until its alias is indexed."""


_About = Mapping[EntitySlug, frozenset[MemoryId]]
"""Visible memories about each entity, under any of its names."""


class AgentEntities(Struct, frozen=True, kw_only=True):
    """The entities that one agent may see. Each call raises StoreError if the index cannot be read."""

    agent: str
    book: MemoryCache
    opinions: OpinionStore
    journal: Journal
    index: WorkspaceIndex

    async def all(self, admitted: Admitted, limit: int, *, query: str = "", after: str = "") -> EntitiesReply:
        """Return entities with `query` in a name, those with most memories first, after the slug `after`."""
        book = await self.book.current()
        about = self._about(book, admitted)
        part = slug_of(query) if query else ""
        named = {entity for alias, entity in book.aliases.items() if part in alias}
        all_slugs = about.keys() | (book.pages.keys() - book.aliases.keys())
        slugs = [slug for slug in all_slugs if part in slug or slug in named]

        def place(slug: EntitySlug) -> tuple[int, EntitySlug]:
            return -len(about.get(slug, ())), slug

        rest = sorted(key for key in map(place, slugs) if not after or key > place(EntitySlug(after)))
        shown = [slug for _, slug in rest[:limit]]
        return EntitiesReply(
            entities=[_entity(book, slug, _memories(book, about, slug)) for slug in shown],
            total=len(slugs),
            next=shown[-1] if len(rest) > limit else None,
        )

    async def one(self, admitted: Admitted, name: str, limit: int) -> EntityShowReply:
        """Return an entity by its name or an alias, with its opinions, the firmest first; raises NotFound."""
        book = await self.book.current()
        about = self._about(book, admitted)
        slug = _find_entity(book, about, name)
        # lines on a page without a date come last, because the day they were written is unknown
        memories = sorted(newest_first(_memories(book, about, slug)), key=lambda memory: not _is_dated(memory))
        opinions = await self.opinions.of(book, [memory.id for memory in memories if is_belief(memory.kind)])
        return EntityShowReply(
            **_entity(book, slug, memories),
            memories=list(map(_memory, memories[:limit])),
            opinions=firmest_first(list(opinions.values()))[:limit],
        )

    async def links(self, admitted: Admitted, name: str, limit: int, *, after: str = "") -> EntityLinksReply:
        """Return entities named together with an entity, after the slug `after`, and the links among all of them.

        Raises NotFound.
        """
        book = await self.book.current()
        about = self._about(book, admitted)
        slug = _find_entity(book, about, name)
        own = about.get(slug, frozenset())
        near = {other: count for other, memories in about.items() if other != slug and (count := len(own & memories))}

        def place(other: EntitySlug) -> tuple[int, EntitySlug]:
            return -near.get(other, 0), other

        rest = sorted((other for other in near if not after or place(other) > place(EntitySlug(after))), key=place)
        shown = [slug, *rest[:limit]]
        links = [
            EntityLinkReply(one=first, other=second, memories=count)
            for first, second in combinations(sorted(shown), 2)
            if (count := len(about.get(first, own) & about.get(second, own)))
        ]
        return EntityLinksReply(
            entities=[_entity(book, entity, _memories(book, about, entity)) for entity in shown],
            links=sorted(links, key=lambda link: (-link["memories"], link["one"], link["other"])),
            total=len(near),
            next=shown[-1] if len(rest) > limit else None,
        )

    def _about(self, book: Book, admitted: Admitted) -> _About:
        visibility = Visibility.of(self.agent, admitted)
        hidden = {memory for scope, ids in book.scoped.items() if not visibility.admits(scope) for memory in ids}
        return {slug: visible for slug, ids in book.by_entity.items() if (visible := ids - hidden)}

    async def merge(self, name: str, into: str, *, is_dry: bool) -> EntityChangeReply:
        """Make a name an alias of an entity, once the index has the current pages; raises as `split`."""
        return await self._write_settled(lambda book: merge(self.journal, book, name, into, is_dry=is_dry))

    async def split(self, name: str, *, is_dry: bool) -> EntityChangeReply:
        """Remove an alias; raises InvalidRequest, NotFound, and what `Journal.change` does."""
        return await self._write_settled(lambda book: split(self.journal, book, name, is_dry=is_dry))

    async def _write_settled(self, write: Callable[[Book], Awaitable[EntityChangeReply]]) -> EntityChangeReply:
        """Write while the index has the current pages, before and after; wait at most `SETTLED_SECONDS` each time."""
        await self.index.follow(SETTLED_SECONDS)
        reply = await write((await self.book.current()).own)
        await self.index.follow(SETTLED_SECONDS)
        return reply


def _memories(book: Book, about: _About, slug: EntitySlug) -> Sequence[Memory]:
    return [book.memories[memory] for memory in about.get(slug, ())]


def _find_entity(book: Book, about: _About, name: str) -> EntitySlug:
    slug = book.entity_named(name.removeprefix("@"))
    if slug not in about and slug not in book.pages:
        raise NotFound(f"no memory and no page names {name!r}", hint="memoryctl entities list shows all")
    return slug


def _entity(book: Book, slug: EntitySlug, memories: Sequence[Memory]) -> EntityReply:
    """Return the reply for an entity, from the memories about it."""
    page = book.pages.get(slug)
    written = Counter(name for memory in memories for name in memory.line.entities)
    names = Counter({name: count for name, count in written.items() if book.entity_named(name) == slug})
    own = [name for name, _ in names.most_common() if slug_of(name) == slug]
    days = {source.day for memory in memories for source in memory.sources if date_in_name(source.path) is not None}
    return EntityReply(
        name=page.name if page else (own or [slug])[0],
        slug=slug,
        aliases=_distinct([*(page.aliases if page else ()), *names], slug),
        page=page.path if page else None,
        memoryCount=len(memories),
        opinionCount=sum(is_belief(memory.kind) for memory in memories),
        firstSeen=min(days).isoformat() if days else None,
        lastSeen=max(days).isoformat() if days else None,
    )


def _is_dated(memory: Memory) -> bool:
    return any(date_in_name(source.path) is not None for source in memory.sources)


def _memory(memory: Memory) -> EntityMemoryReply:
    newest = memory.sources[0]
    return EntityMemoryReply(
        id=memory.id,
        kind=memory.kind.value,
        content=memory.text,
        day=newest.day.isoformat(),
        source=str(newest.citation),
        flags=[flag.value for flag in newest.flags],
    )


def _distinct(names: Sequence[str], slug: EntitySlug) -> list[str]:
    by_slug = {slug_of(name): name for name in reversed(names)}
    return sorted(name for of, name in by_slug.items() if of != slug)


async def merge(journal: Journal, book: Book, name: str, into: str, *, is_dry: bool = False) -> EntityChangeReply:
    """Make a name an alias of an entity; raises InvalidRequest, NotFound, and what `Journal.change` does."""
    journal.check_writable()
    try:
        place = plan_merge(book, name, into)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint="nothing was merged; memoryctl entities show NAME lists aliases") from exc
    return await _edit_page(journal, place, is_merge=True, is_dry=is_dry)


async def split(journal: Journal, book: Book, name: str, *, is_dry: bool = False) -> EntityChangeReply:
    """Remove an alias from the page of its entity; raises as `merge`."""
    journal.check_writable()
    try:
        place = plan_split(book, name)
    except (LookupError, ValueError) as exc:
        hint = "memoryctl entities list shows all with their aliases"
        raise (NotFound if isinstance(exc, LookupError) else InvalidRequest)(str(exc), hint=hint) from exc
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
    return {**reply, "written": change.is_written, "change": change.id or None, "note": change.note}


def _add_alias(place: AliasPlace, text: str | None) -> str | None:
    if text is not None and slug_of(place.alias) in map(slug_of, aliases_in(text)):
        return text
    try:
        edited = with_alias(text, place.entity, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was merged") from exc
    page = entity_page_of(encode_padded(edited), RelativePath(place.path))
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
