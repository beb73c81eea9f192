"""How memories are used, in memory: touches counted, tiers judged, relevance told. Nothing here reads or writes."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import (
    Aged,
    RelevanceTerms,
    Tier,
    TierSettings,
    Usage,
    relevance_now,
    settled,
    terms_now,
    tier_now,
    touched,
)
from memoryd.index.threads import with_pauses
from memoryd.store.ledger.usage import MOST_KEPT

DAYS_MAX: Final = 4096
"""Days whose end is known without asking the zone."""
FLUSH_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleTime:
    """The time as the owner of a workspace has it. Times are in seconds since 1970."""

    clock: Callable[[], float] = time.time
    local_day: Callable[[float], date] = date.fromtimestamp
    end_of_day: Callable[[date], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """`strength` is how much relevance counts in the order of recall: 0 nothing, 1 all of it."""

    tiers: TierSettings = field(default=TierSettings())
    strength: float = 0.0
    flush_seconds: float = FLUSH_SECONDS


class Usages:
    """The usage of the memories of one book; `dirty` are those that changed since somebody took them."""

    def __init__(self, settings: LifecycleSettings, when: LifecycleTime) -> None:
        self.settings = settings
        self.when = when
        self.book = Book()
        self.dirty: set[MemoryId] = set()
        self._held: dict[MemoryId, Usage] = {}
        self._ends: dict[date, float] = {}

    def of(self, memory: MemoryId) -> Usage:
        """Return how a memory was used, as it was noted last."""
        return self._held.get(memory, Usage())

    def tier(self, memory: Memory, now: float) -> Tier:
        """Return the tier of a memory as it is at a time."""
        return tier_now(self.of(memory.id), self._aged(memory, now), self.settings.tiers)[0]

    def terms(self, memory: Memory, now: float) -> RelevanceTerms:
        """Return every term of a memory's relevance at a time."""
        return terms_now(self.of(memory.id), self._aged(memory, now), self.settings.tiers)

    def weight(self, memory: Memory, now: float) -> float:
        """Return what a memory counts at a time, unscaled."""
        relevance = relevance_now(self.of(memory.id), self._aged(memory, now), self.settings.tiers)
        return float(relevance**self.settings.strength)

    def touch(self, one: MemoryId, at: float) -> None:
        """Count one touch; what is in no book, or is gone since it was told, is not used."""
        memory = self.book.memories.get(one)
        if memory is None or (one not in self._held and len(self._held) >= MOST_KEPT):
            return
        self._held[one] = touched(self.of(one), self._aged(memory, at), self.settings.tiers)
        self.dirty.add(one)

    def judged(self, memories: Collection[Memory], now: float) -> Callable[[], None]:
        """Judge the tiers of these memories; call it in a thread, and what it returns where all else is called."""
        held = dict(self._held)
        pairs = ((one, held.get(one.id, Usage())) for one in with_pauses(memories))
        found = ((one.id, was, settled(was, self._aged(one, now), self.settings.tiers)) for one, was in pairs)
        changed = {key: after for key, was, after in found if after is not was}

        def take() -> None:
            # what was touched meanwhile was judged by that
            fresh = {key: after for key, after in changed.items() if self._held.get(key) is held.get(key)}
            self._held |= fresh
            self.dirty |= fresh.keys()

        return take

    def begin(self, held: Mapping[MemoryId, Usage], book: Book) -> None:
        """Take over what was kept."""
        self._held, self.book = dict(held), book

    def lacking(self, kept: Collection[MemoryId]) -> set[MemoryId]:
        """Return the memories of the book whose usage is not among what is kept."""
        return {one for one in self._held if one not in kept and one in self.book.memories}

    def taken(self) -> Mapping[MemoryId, Usage]:
        """Return what changed since it was taken last."""
        changed = {one: self._held[one] for one in self.dirty if one in self._held}
        self.dirty.clear()
        return changed

    def discard(self, memories: Iterable[MemoryId]) -> None:
        """Know nothing of these any more."""
        for one in memories:
            self._held.pop(one, None)
            self.dirty.discard(one)

    def _aged(self, memory: Memory, now: float) -> Aged:
        day = memory.recorded
        until = self._ends.get(day)
        if until is None:
            if len(self._ends) >= DAYS_MAX:
                self._ends.clear()
            until = self._ends[day] = self.when.end_of_day(day)
        return Aged(memory.line, until, now)
