"""Which memories may answer: by who asks, when, about whom, and of which kind. Filters hold before anything is ranked.

A source counts for itself: of a memory that is stated twice, one statement may be inside of the days that are asked
about, the other not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Kind, network_of
from memoryd.domain.memories.reach import MemoryReach
from memoryd.domain.memories.timespans import DaySpan
from memoryd.domain.ranking.filters import date_in_name

WORKSPACE: Final = "workspace"
"""How a filter names memories that have no scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFilters:
    """All given ones must hold; days are inclusive. None, and an empty scope, admit all.

    `entities` are one with its other names, or none that there is. `as_of` turns back what is true: as it was known
    then, or, with `known_by`, as it was known on that day. `known_by` alone is by record time. `is_alone`: no other
    agent shares the workspace, so that what has no scope is the agent's, too.
    """

    reach: MemoryReach
    since: date | None = None
    until: date | None = None
    as_of: date | None = None
    known_by: date | None = None
    entities: frozenset[EntitySlug] | None = None
    kinds: frozenset[Kind] | None = None
    scope: str = ""
    is_alone: bool = True

    @property
    def turns_back(self) -> bool:
        """Whether versions are to be told as they were."""
        return self.as_of is not None or self.known_by is not None

    @property
    def has_days(self) -> bool:
        """Whether days matter, so that documents are filtered by theirs."""
        return self.turns_back or self.since is not None or self.until is not None

    @property
    def admits_passages(self) -> bool:
        """Whether passages may answer: they have no kind, no entity and no scope."""
        return self.kinds is None and self.entities is None and self.scope in ("", WORKSPACE)

    @property
    def admits_pages(self) -> bool:
        """Whether pages of entities may answer: they have no kind and no scope."""
        return self.kinds is None and self.scope in ("", WORKSPACE)

    def admits_entity(self, slug: EntitySlug) -> bool:
        """Tell whether an entity is the one that is given, if one is."""
        return self.entities is None or slug in self.entities

    @property
    def picks_memories(self) -> bool:
        """Whether memories are left out for anything but who asks."""
        return self.has_days or self.kinds is not None or self.entities is not None or bool(self.scope)

    def standing(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the sources of a memory that the asker may know of, as of the days given, newest first."""
        if not self.turns_back:
            # the scope is a part of what names a memory: all of its lines have the same
            return memory.sources if self.reach.admits(memory.sources[0].line.attributes.scope) else ()
        return tuple(source for source in memory.sources if self._stands(source))

    def eligible(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the sources of a memory that may answer, newest first; none: it may not."""
        if not self.picks_memories:
            return self.standing(memory)
        if self.kinds is not None and memory.kind not in self.kinds:
            return ()
        if self.entities is not None and self.entities.isdisjoint(memory.slugs):
            return ()
        return tuple(source for source in memory.sources if self._stands(source) and self._is_within(source))

    def _stands(self, source: MemorySource) -> bool:
        if not self.reach.admits(source.line.attributes.scope):
            return False
        if self.known_by is not None and source.day > self.known_by:
            return False
        return self.as_of is None or self._was_so(source, self.as_of)

    def _was_so(self, source: MemorySource, day: date) -> bool:
        """Tell whether a line held on a day, by what was known on it, or by what was known later if that is given.

        A plan was one before its day. A page without a date says nothing of when its lines were written.
        """
        if self.known_by is not None:
            return span_of(source).first <= day
        if date_in_name(source.path) is None:
            return source.event is None or source.event.first <= day
        return source.day <= day

    def _is_within(self, source: MemorySource) -> bool:
        span = span_of(source)
        if self.since is not None and span.last < self.since:
            return False
        if self.until is not None and span.first > self.until:
            return False
        return self._is_of_scope(source.line.attributes.scope)

    def _is_of_scope(self, scope: str) -> bool:
        if not self.scope or self.scope == scope:
            return True
        return not scope and (self.scope == WORKSPACE or (self.is_alone and self.scope == f"agent:{self.reach.agent}"))


def span_of(source: MemorySource) -> DaySpan:
    """Return the days that a source speaks of: its event time, else the day on which it was written."""
    return source.event or DaySpan(source.day, source.day)


def kinds_named(name: str) -> frozenset[Kind] | None:
    """Return the kinds that a network or an exact kind names, the kind `opinion` for both; None for neither."""
    plain = name.strip().lower()
    found = frozenset(kind for kind in Kind if plain in (kind.value, network_of(kind).value))
    return found or None


def beyond_reach(book: Book, reach: MemoryReach) -> frozenset[MemoryId]:
    """Return the memories of which the asker may not know that there are any."""
    # no scope is for everybody
    hidden = (keys for scope, keys in book.scoped.items() if not reach.admits(scope))
    return frozenset[MemoryId]().union(*hidden)


def is_known_to(book: Book, slugs: Iterable[EntitySlug], reach: MemoryReach) -> bool:
    """Tell whether a memory that the asker may know of names an entity by one of these."""
    named = (book.memories[key] for slug in slugs for key in book.by_entity.get(slug, ()))
    return any(reach.admits(memory.line.attributes.scope) for memory in named)


def named_entity(book: Book, name: str) -> frozenset[EntitySlug]:
    """Return an entity by a name or alias of it, with all slugs that stand for it."""
    slug = book.aliases.get(slug_of(name.removeprefix("@")), slug_of(name.removeprefix("@")))
    return frozenset({slug, *(alias for alias, entity in book.aliases.items() if entity == slug)})
