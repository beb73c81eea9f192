"""What may be asked of the entities that an agent's memories are about: which there are, what is known, who is who."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, EntityPage, Memory
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.kinds import is_belief
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.errors import NotFound
from memoryd.memory.book import MemoryBook
from memoryd.memory.entities import AliasChange, MergingEntities
from memoryd.memory.opinions import HeldOpinion, OpinionBook

SETTLED_SECONDS: Final = 5.0
"""How long a merge waits until its alias is known."""


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


class AgentEntities:
    """The entities that reach one agent. Each call raises StoreError where the index cannot be read."""

    def __init__(
        self,
        *,
        agent: str,
        book: MemoryBook,
        opinions: OpinionBook,
        merging: MergingEntities,
        index: WorkspaceIndex,
    ) -> None:
        self._agent = agent
        self._book = book
        self._opinions = opinions
        self._merging = merging
        self._index = index

    async def all(self, admitted: Admitted) -> list[KnownEntity]:
        """Return all, those with most memories first."""
        book = await self._book.now()
        about = _about(book, self._reach(admitted))
        known = [_known(book, slug, about.get(slug, ())) for slug in about.keys() | _own_pages(book)]
        return sorted(known, key=lambda one: (-len(one.memories), one.slug))

    async def one(self, admitted: Admitted, name: str) -> tuple[KnownEntity, Sequence[HeldOpinion]]:
        """Return an entity by its name or an alias, with its opinions, the firmest first; raises NotFound."""
        book, asked = await self._book.now(), slug_of(name.removeprefix("@"))
        slug = book.aliases.get(asked, asked)
        memories = _about(book, self._reach(admitted)).get(slug, ())
        if not memories and slug not in book.pages:
            raise NotFound(f"no memory and no page names {name!r}", hint="memoryctl entities list shows all")
        known = _known(book, slug, memories)
        held = await self._opinions.held(book, [one.id for one in known.opinions])
        return known, sorted(held.values(), key=lambda one: (-one.confidence, one.memory.id))

    async def merge(self, name: str, into: str, *, is_dry: bool) -> AliasChange:
        """Make a name an alias of an entity; raises as `MergingEntities.merge`."""
        found = await self._merging.merge(await self._settled(), name, into, is_dry=is_dry)
        await self._settle()
        return found

    async def split(self, name: str, *, is_dry: bool) -> AliasChange:
        """Take an alias out again; raises as `MergingEntities.split`."""
        found = await self._merging.split(await self._settled(), name, is_dry=is_dry)
        await self._settle()
        return found

    def _reach(self, admitted: Admitted) -> MemoryReach:
        return MemoryReach(self._agent, admitted.channel, admitted.is_owner)

    async def _settled(self) -> Book:
        await self._settle()
        return await self._book.now()

    async def _settle(self) -> None:
        """Wait, not for ever, until the index knows the pages as they are on disk."""
        try:
            async with asyncio.timeout(SETTLED_SECONDS):
                await self._index.settled(self._index.demand())
        except TimeoutError:
            return


def _about(book: Book, reach: MemoryReach) -> Mapping[EntitySlug, Sequence[Memory]]:
    found: defaultdict[EntitySlug, list[Memory]] = defaultdict(list)
    for memory in book.memories.values():
        if memory.slugs and reach.admits(memory.line.attributes.scope):
            for slug in {book.aliases.get(slug, slug) for slug in memory.slugs}:
                found[slug].append(memory)
    return found


def _own_pages(book: Book) -> set[EntitySlug]:
    return {slug for slug in book.pages if slug not in book.aliases}


def _known(book: Book, slug: EntitySlug, memories: Iterable[Memory]) -> KnownEntity:
    newest = tuple(sorted(memories, key=lambda one: (-one.recorded.toordinal(), one.id)))
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
