"""What may be asked of the entities that an agent's memories are about: which there are, what is known, who is who.

Entities are merged and split by an alias in the front matter of a page, which the journal writes; no log is rewritten.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Final
from uuid import uuid4

from msgspec import Struct

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
from memoryd.domain.counters import grouped
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, EntityPage, Memory, newest_first
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
from memoryd.memory.opinions import OpinionStore, OpinionWithEvidence

SETTLED_SECONDS: Final = 5.0
"""How long a merge waits until its alias is known."""


class AliasChange(Struct, frozen=True):
    """What came, or would come, of a merge or split: `diff` is empty where nothing was to be done.

    `change` is the number by which it can be undone; 0: there is none, and `note` says why.
    """

    place: AliasPlace
    diff: str
    change: int = 0
    note: str = ""


class KnownEntity(Struct, frozen=True):
    """An entity with the memories about it, the newest first; `others` are other names that lines and pages give."""

    slug: EntitySlug
    name: str
    others: tuple[str, ...]
    page: EntityPage | None
    memories: tuple[Memory, ...]

    @property
    def opinions(self) -> tuple[Memory, ...]:
        return tuple(one for one in self.memories if is_belief(one.kind))

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day on which it was named; None if it never was."""
        if not self.memories:
            return None
        return min(one.first_recorded for one in self.memories), max(one.recorded for one in self.memories)


class AgentEntities(Struct, frozen=True, kw_only=True):
    """The entities that reach one agent. Each call raises StoreError where the index cannot be read."""

    agent: str
    book: MemoryCache
    opinions: OpinionStore
    journal: Journal
    index: WorkspaceIndex

    async def all(self, admitted: Admitted) -> list[KnownEntity]:
        """Return all, those with most memories first."""
        book = await self.book.now()
        about = _about(book, self._visibility(admitted))
        known = [
            _known(book, slug, about.get(slug, ())) for slug in about.keys() | (book.pages.keys() - book.aliases.keys())
        ]
        return sorted(known, key=lambda one: (-len(one.memories), one.slug))

    async def one(self, admitted: Admitted, name: str) -> tuple[KnownEntity, Sequence[OpinionWithEvidence]]:
        """Return an entity by its name or an alias, with its opinions, the firmest first; raises NotFound."""
        book, asked = await self.book.now(), slug_of(name.removeprefix("@"))
        slug = book.aliases.get(asked, asked)
        memories = _about(book, self._visibility(admitted)).get(slug, ())
        if not memories and slug not in book.pages:
            raise NotFound(f"no memory and no page names {name!r}", hint="memoryctl entities list shows all")
        known = _known(book, slug, memories)
        held = await self.opinions.held(book, [one.id for one in known.opinions])
        return known, sorted(held.values(), key=lambda one: (-one.confidence, one.memory.id))

    async def merge(self, name: str, into: str, *, is_dry: bool) -> AliasChange:
        """Make a name an alias of an entity, once the index knows the pages as they are on disk; raises as `merge`."""
        found = await merge(self.journal, await self._settled(), name, into, is_dry=is_dry)
        await self._settle()
        return found

    async def split(self, name: str, *, is_dry: bool) -> AliasChange:
        """Take an alias out again; raises as `split`."""
        found = await split(self.journal, await self._settled(), name, is_dry=is_dry)
        await self._settle()
        return found

    def _visibility(self, admitted: Admitted) -> Visibility:
        return Visibility(self.agent, admitted.channel, admitted.is_owner)

    async def _settled(self) -> Book:
        await self._settle()
        return await self.book.now()

    async def _settle(self) -> None:
        """Wait, not for ever, until the index knows the pages as they are on disk."""
        try:
            async with asyncio.timeout(SETTLED_SECONDS):
                await self.index.settled(self.index.demand())
        except TimeoutError:
            return


def _about(book: Book, visibility: Visibility) -> Mapping[EntitySlug, Sequence[Memory]]:
    return grouped(
        (slug, memory)
        for memory in book.memories.values()
        if memory.slugs and visibility.admits(memory.line.attributes.scope)
        for slug in {book.aliases.get(slug, slug) for slug in memory.slugs}
    )


def _known(book: Book, slug: EntitySlug, memories: Iterable[Memory]) -> KnownEntity:
    newest = newest_first(memories)
    page = book.pages.get(slug)
    written = Counter(
        name for one in newest for name in one.line.entities if book.aliases.get(slug_of(name), slug_of(name)) == slug
    )
    own = [name for name, _ in written.most_common() if slug_of(name) == slug]
    name = page.name if page else (own or [slug])[0]
    others = [*(page.aliases if page else ()), *written]
    return KnownEntity(slug, name, tuple(_distinct(others, slug)), page, newest)


def _distinct(names: Iterable[str], slug: EntitySlug) -> Iterable[str]:
    by_slug = {slug_of(name): name for name in reversed(list(names))}
    return sorted(name for of, name in by_slug.items() if of != slug)


async def merge(journal: Journal, book: Book, name: str, into: str, *, is_dry: bool = False) -> AliasChange:
    """Make a name an alias of an entity; raises InvalidRequest, NotFound, and what `Journal.change` does."""
    if not is_dry:
        journal.check_writable()
    try:
        place = merging(book, name, into)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint="nothing was merged; memoryctl entities show NAME tells aliases") from exc
    return await _edited(journal, place, is_merge=True, is_dry=is_dry)


async def split(journal: Journal, book: Book, name: str, *, is_dry: bool = False) -> AliasChange:
    """Take an alias out of the page of its entity; raises as `merge`."""
    if not is_dry:
        journal.check_writable()
    try:
        place = splitting(book, name)
    except ValueError as exc:
        hint = "memoryctl entities list shows all with their aliases"
        raise (NotFound if "no alias" in str(exc) else InvalidRequest)(str(exc), hint=hint) from exc
    return await _edited(journal, place, is_merge=False, is_dry=is_dry)


async def _edited(journal: Journal, place: AliasPlace, *, is_merge: bool, is_dry: bool) -> AliasChange:
    before = (await journal.read(place.path)).text
    edit = partial(_merged if is_merge else _split, place)
    diff = unified_diff(place.path, before or "", edit(before) or "")
    if is_dry or not diff:
        return AliasChange(place, diff)
    change = await journal.change(
        place.path,
        edit,
        by=WrittenBy.ENTITIES,
        why="an alias was added" if is_merge else "an alias was taken out",
        run=uuid4().hex,
        delete=not is_merge and is_made_for(before or "", place.alias),
    )
    return AliasChange(place, diff, change.id, change.note)


def _merged(place: AliasPlace, text: str | None) -> str | None:
    if text is not None and slug_of(place.alias) in map(slug_of, aliases_in(text)):
        return text
    try:
        edited = with_alias(text, place.entity, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was merged") from exc
    page = entity_page_of(padded(edited), RelativePath(place.path))
    if page is None or slug_of(page.name) != slug_of(place.entity):
        told = page.name if page else "none"
        raise InvalidRequest(f"{place.path} is the page of {told!r}, not of {place.entity!r}", hint="merge into that")
    return edited


def _split(place: AliasPlace, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return without_alias(text, place.alias)
    except AliasEditError as exc:
        raise InvalidRequest(f"{place.path}: {exc}", hint="nothing was split") from exc
