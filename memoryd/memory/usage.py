"""Usage of memories: access counts, tiers and relevance.

Relevance has a mean of 1, so that passages, which have none, compare fairly. Accesses are counted in memory and written
in batches within seconds. Tiers of all memories are judged once a day. If the ledger cannot be used, accesses since
then are lost, but answers do not fail; a kill loses the accesses of the last seconds.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from datetime import date
from typing import NamedTuple

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.machines import CountElsewhere
from memoryd.domain.memories.tiers import (
    DAY_SECONDS,
    Aged,
    RelevanceTerms,
    Tier,
    TierSettings,
    Usage,
    current_basis,
    relevance_now,
    terms_now,
    tier_now,
    with_access,
    with_current_tier,
    without_unearned,
)
from memoryd.errors import Denied, MemorydError
from memoryd.index.threads import with_pauses
from memoryd.memory.touches import CountedOnce, TierMove, tier_change, tier_changes, tiers_before
from memoryd.retry import wait_within
from memoryd.store.ledger.changes import ChangeLog, ChangeRow, ChangeState
from memoryd.store.ledger.usage import MAX_USAGE_ROWS, UsageRows

log = structlog.get_logger(__name__)

_NOTHING = 1e-9
_UNUSED = Usage()
_NOWHERE_ELSE = CountElsewhere()
DAYS_MAX = 4096
"""Maximum number of cached ends of days; asking the time zone is slow."""
FLUSH_SECONDS = 2.0
RETRY_SECONDS = 15.0
READY_SECONDS = 0.5
KEEP_SECONDS = 30 * DAY_SECONDS
"""How long the usage of a memory that no line states is stored, because its note may come back."""
MAX_EARLY = 10_000
"""Maximum number of touches buffered until the ledger is read."""
POLL_SECONDS = 3600.0
"""Interval of checking for a new day and of recomputing the mean."""
LAST_SECONDS = 3.0
"""Time limit of the last batch, when the daemon stops."""


class _Weights(NamedTuple):
    """The weight of each memory of a book, and the mean weight."""

    book: Book = Book()
    each: Mapping[MemoryId, float] = {}
    mean: float = 1.0


class RelevanceScale:
    """Mean weight over one book. `weight` returns the unscaled weight of a memory at a time in seconds since 1970.

    A new book only has its changed memories weighed; `weigh_anew` weighs all of them and is called now and then. Both
    run in a thread: a book with many new memories takes a second.
    """

    def __init__(self, weight: Callable[[Memory, float], float]) -> None:
        self._weight = weight
        self._known = _Weights()
        self._turn = asyncio.Lock()

    async def mean(self, book: Book, now: float) -> float:
        """Return the mean weight of the memories of a book; 1 for an empty book."""
        async with self._turn:
            if book is not self._known.book:
                await asyncio.to_thread(self._weigh, book, now, self._known)
            return self._known.mean

    async def weigh_anew(self, book: Book, now: float) -> None:
        """Weigh all memories of a book, including unchanged ones."""
        async with self._turn:
            await asyncio.to_thread(self._weigh, book, now, _Weights())

    def _weigh(self, book: Book, now: float, known: _Weights) -> None:
        before, after = known.book.memories, book.memories
        fresh = [memory for key, memory in after.items() if before.get(key) is not memory]
        each = {key: weight for key, weight in known.each.items() if key in after}
        each |= {memory.id: self._weight(memory, now) for memory in with_pauses(fresh)}
        # stored in the thread: the caller may have timed out
        self._known = _Weights(book, each, max(sum(each.values()) / len(each), _NOTHING) if each else 1.0)


class LifecycleTime(Struct, frozen=True, kw_only=True):
    """The clock and the calendar of the owner of a workspace. Times are in seconds since 1970."""

    clock: Callable[[], float] = time.time
    local_day: Callable[[float], date] = date.fromtimestamp
    end_of_day: Callable[[date], float]


class UsageCache:
    """Usage of the memories of one workspace, shared by its agents; `run` writes it.

    `strength` is the weight of relevance in the order of recall, from 0 (ignored) to 1 (full).
    """

    def __init__(
        self,
        rows: UsageRows,
        book: Callable[[], Awaitable[Book]],
        when: LifecycleTime,
        *,
        tiers: TierSettings,
        strength: float,
    ) -> None:
        self.rows = rows
        self.book = book
        self.when = when
        self._tiers = tiers
        self._strength = strength
        self.stated = Book()
        """The memories that can be touched."""
        self.has_news = asyncio.Event()
        self.scale = RelevanceScale(self._weight)
        self._usages: dict[MemoryId, Usage] = {}
        self._dirty: set[MemoryId] = set()
        """Memories changed since the last write."""
        self._withdrawn: dict[MemoryId, TierMove] = {}
        """Unearned usage that was taken back and is in no row of `changes` yet."""
        self._ends: dict[date, float] = {}
        self._early: list[tuple[MemoryId, float]] | None = []
        self._sessions, self._messages = CountedOnce(), CountedOnce()
        self._read_again_at = float("-inf")
        self._writing = asyncio.Lock()
        self._judged = Book()
        self._weighed_at = float("-inf")
        self._day: date | None = None

    def usage(self, memory: MemoryId) -> Usage:
        """Return the usage of a memory as it was last noted."""
        return self._usages.get(memory, _UNUSED)

    def tier(self, memory: Memory, now: float | None = None) -> Tier:
        """Return the tier of a memory at a time in seconds since 1970, by default now."""
        return tier_now(self._earned_usage(memory), self._aged(memory, self._at(now)), self._tiers)[0]

    def terms(self, memory: Memory, now: float | None = None) -> RelevanceTerms:
        """Return all terms of a memory's relevance at a time, by default now."""
        return terms_now(self._earned_usage(memory), self._aged(memory, self._at(now)), self._tiers)

    def preview(self, memory: Memory, days: float) -> RelevanceTerms:
        """Return the terms in this many days, if no one touches the memory until then."""
        return self.terms(memory, self.when.clock() + days * DAY_SECONDS)

    async def relevance(self, book: Book, now: float) -> Callable[[Memory], float]:
        """Return a function for the relevance of the book's memories in the order of recall, scaled to a mean of 1."""
        self.stated = book
        if not self._strength:
            return lambda _memory: 1.0
        mean = await self.scale.mean(book, now)
        return lambda memory: self._weight(memory, now) / mean

    def touch(
        self, memories: Iterable[MemoryId], at: float | None = None, *, session: str = "", message: str = ""
    ) -> None:
        """Note that these memories were used at a time, by default now. The usage is written within seconds.

        Each memory counts once per session, and once for the same unasked message, in any number of sessions within
        hours: a prompt that a program repeats is not a new use.
        """
        at = self._at(at)
        names = (self._sessions, session), (self._messages, message)
        fresh = [
            memory
            for memory in dict.fromkeys(memories)
            if not any(counted.has(name, memory, at) for counted, name in names)
        ]
        for counted, name in names:
            counted.note(name, fresh, at)
        for memory in fresh:
            if self._early is None:
                self._touch(memory, at)
            elif len(self._early) < MAX_EARLY:
                self._early.append((memory, at))
        self.has_news.set()

    def judge_tiers(self, book: Book, memories: Collection[Memory], now: float) -> Callable[[], None]:
        """Judge the tiers of these memories in a thread.

        Call the returned function on the event loop to store the result.
        """
        usages, tiers = dict(self._usages), self._tiers
        changed: dict[MemoryId, tuple[Memory, Usage, Usage]] = {}
        for memory in with_pauses(memories):
            before = usages.get(memory.id, _UNUSED)
            earned = without_unearned(before, memory.line, tiers)
            after = with_current_tier(earned, self._aged(memory, now), tiers)
            if after is not before:
                changed[memory.id] = memory, earned, after

        def take() -> None:
            # a memory touched since then was judged by that touch
            same = {key: change for key, change in changed.items() if self._usages.get(key) is usages.get(key)}
            for memory, earned, _after in same.values():
                self._note_withdrawn(memory, earned, now)
            self._change({key: after for key, (_memory, _earned, after) in same.items()})
            self.stated = book

        return take

    async def drop(self, memories: Collection[MemoryId]) -> None:
        """Delete the usage of these memories from the cache and the ledger; raises StoreError, Denied."""
        # after a batch that is being written, which may contain them
        async with self._writing:
            self._discard(memories)
            for counted in (self._sessions, self._messages):
                counted.drop(memories)
            await self.rows.drop(memories)

    async def ready(self) -> None:
        """Wait briefly until the ledger is read. After a failure, do not wait again for `RETRY_SECONDS`."""
        if self._early is None or time.monotonic() < self._read_again_at:
            return
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.load()
        except (MemorydError, TimeoutError) as exc:
            log.debug("the usage of memories cannot be read", reason=str(exc))
            self._read_again_at = time.monotonic() + RETRY_SECONDS

    async def load(self) -> None:
        """Read the ledger once, and count the touches buffered before; raises StoreError."""
        async with self._writing:
            if self._early is None:
                return
            self._usages, self.stated = dict(await self.rows.all()), await self.book()
            early, self._early = self._early, None
            for memory, at in early:
                self._touch(memory, at)

    async def flush(self) -> None:
        """Write what changed. Raises StoreError; the changes are then written with the next batch."""
        async with self._writing:
            # with a read-only ledger, usage is kept in memory until the daemon ends
            with contextlib.suppress(Denied):
                await self._put()

    async def _put(self) -> None:
        changed = {memory: self._usages[memory] for memory in self._dirty if memory in self._usages}
        unlisted, self._withdrawn, self._dirty = self._withdrawn, {}, set()
        try:
            await self.rows.put(changed, tier_changes(unlisted, self.when.clock()))
        except BaseException as exc:
            if not isinstance(exc, Denied):
                self._dirty |= changed.keys()
                self._withdrawn |= unlisted
            raise

    async def undo(self, row: ChangeRow, changes: ChangeLog) -> int:
        """Undo a change of touches and tiers, and return the number of the new change.

        Raises StoreError, Denied.
        """
        await self.load()
        at = self.when.clock()
        async with self._writing:
            moves = self._moves_back(row, at)
            self._change({memory: after for memory, (_before, after) in moves.items()})
            await self._put()
            undone = tier_change(moves, at, why=f"change {row.id} was taken back", undoes=row.id)
            number = await changes.intend(undone)
            await changes.record_state(number, ChangeState.DONE)
        return number

    async def take_elsewhere(self, counts: Mapping[str, CountElsewhere]) -> None:
        """Replace the counts of other machines, by memory id. Raises StoreError."""
        await self.load()
        now, known = self.when.clock(), self.stated.memories
        counted = [key for key, usage in self._usages.items() if usage.elsewhere and key not in counts]
        for key in [*counts, *counted]:
            if (memory := known.get(MemoryId(key))) is None:
                continue
            usage, other = self._earned_usage(memory), counts.get(key, _NOWHERE_ELSE)
            # a clock that is ahead on the other machine must not keep the memory young here
            touched_at = max(usage.touched_at or 0.0, min(other.at, now)) or None
            count = max(0, usage.access_count - usage.elsewhere) + other.count
            fresh = replace(usage, access_count=count, touched_at=touched_at, elsewhere=other.count)
            if fresh != usage:
                aged = self._aged(memory, now)
                tier = tier_now(fresh, aged, self._tiers)[0]
                self._change({memory.id: replace(fresh, tier=tier, judged=current_basis(aged))})
        await self.flush()

    async def counted_here(self) -> Mapping[MemoryId, CountElsewhere]:
        """Return the counts of this machine, for the other machines; raises StoreError."""
        await self.load()
        own = (
            (memory, usage.access_count - usage.elsewhere, usage.touched_at or 0.0)
            for memory, usage in self._usages.items()
            if usage.is_earned
        )
        return {memory: CountElsewhere(count, at) for memory, count, at in own if count > 0}

    async def disown_all(self) -> None:
        """Attribute all counts until now to the machine whose id this one had."""
        async with self._writing:
            self._usages = {
                memory: replace(usage, elsewhere=usage.access_count) for memory, usage in self._usages.items()
            }

    async def prune(self, now: float) -> None:
        """Write usage that a new ledger lacks, and delete the usage of memories that no line has stated for long."""
        stated = self.stated.memories.keys()
        missing = (self._usages.keys() & stated) - (await self.rows.all()).keys()
        self._dirty |= missing
        await self.flush()
        stated = self.stated.memories.keys()
        # a read-only ledger stays unchanged
        with contextlib.suppress(Denied):
            async with self._writing:
                self._discard(await self.rows.note_stated(stated, now, KEEP_SECONDS))

    def note_change(self) -> None:
        """Note that notes changed: tiers may have changed, too."""
        self.has_news.set()

    demand = note_change
    """Also called if notes became private or were forgotten."""

    def _at(self, now: float | None) -> float:
        return self.when.clock() if now is None else now

    def _weight(self, memory: Memory, now: float) -> float:
        """Return the unscaled weight of a memory at a time."""
        relevance = relevance_now(self._earned_usage(memory), self._aged(memory, now), self._tiers)
        return float(relevance**self._strength)

    def _touch(self, key: MemoryId, at: float) -> None:
        """Count one touch. A memory that is in no book, or was removed since it was returned, is ignored."""
        memory = self.stated.memories.get(key)
        if memory is None or (key not in self._usages and len(self._usages) >= MAX_USAGE_ROWS):
            return
        earned = self._earned_usage(memory)
        self._note_withdrawn(memory, earned, at)
        self._change({key: with_access(earned, self._aged(memory, at), self._tiers)})

    def _change(self, fresh: Mapping[MemoryId, Usage]) -> None:
        self._usages |= fresh
        self._dirty |= fresh.keys()

    def _moves_back(self, row: ChangeRow, now: float) -> dict[MemoryId, TierMove]:
        """Return the usage now, and the usage with the touches and tier restored from before a change."""
        before = {short: (tier, removed) for short, tier, removed in tiers_before(row)}
        moves = dict[MemoryId, TierMove]()
        for key, usage in self._usages.items():
            memory = self.stated.memories.get(key)
            if memory is not None and (restored := before.get(short_id(key))) is not None:
                tier, removed = restored
                after = replace(usage, access_count=max(0, usage.access_count + removed), tier=tier)
                moves[key] = usage, replace(after, judged=current_basis(self._aged(memory, now)))
        return moves

    def _discard(self, memories: Iterable[MemoryId]) -> None:
        for memory in memories:
            self._withdrawn.pop(memory, None)
            self._usages.pop(memory, None)
            self._dirty.discard(memory)

    def _earned_usage(self, memory: Memory) -> Usage:
        return without_unearned(self.usage(memory.id), memory.line, self._tiers)

    def _note_withdrawn(self, memory: Memory, earned: Usage, now: float) -> None:
        """Note the usage that was taken back, if any.

        A pin, or importance, can hold a memory in the core without touches.
        """
        usage = self.usage(memory.id)
        tier = tier_now(earned, self._aged(memory, now), self._tiers)[0]
        after = replace(earned, tier=tier) if usage.tier is tier else earned
        if (usage.access_count, usage.tier) != (after.access_count, after.tier):
            self._withdrawn[memory.id] = usage, after

    def _aged(self, memory: Memory, now: float) -> Aged:
        day = memory.recorded
        until = self._ends.get(day)
        if until is None:
            if len(self._ends) >= DAYS_MAX:
                self._ends.clear()
            until = self._ends[day] = self.when.end_of_day(day)
        return Aged(memory.line, until, now)

    async def run(self, flush_seconds: float = FLUSH_SECONDS) -> None:
        """Write what is touched, and judge tiers if lines or the day changed, until cancelled; then write once more."""
        try:
            while True:
                seconds = await self._step()
                await wait_within(self.has_news.wait(), seconds)
                # touches come in bursts, so wait for one batch
                await asyncio.sleep(flush_seconds)
                self.has_news.clear()
        finally:
            with contextlib.suppress(MemorydError, TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self.flush()

    async def _step(self) -> float:
        """Do what is due; return the seconds until the next check if nothing happens."""
        try:
            await self._maintain()
        except Denied:
            return POLL_SECONDS
        except MemorydError as exc:
            log.debug("the usage of memories cannot be kept", reason=str(exc))
            return RETRY_SECONDS
        return POLL_SECONDS

    async def _maintain(self) -> None:
        await self.load()
        book, now = await self.book(), self.when.clock()
        if book is not self._judged:
            known = self._judged.memories
            changed = [memory for key, memory in book.memories.items() if known.get(key) is not memory]
            await self._judge(book, changed, now)
        await self.flush()
        if abs(now - self._weighed_at) >= POLL_SECONDS:
            self._weighed_at = now
            await self.scale.weigh_anew(book, now)
            await self._judge_daily(book, now)

    async def _judge(self, book: Book, memories: Collection[Memory], now: float) -> None:
        (await asyncio.to_thread(self.judge_tiers, book, memories, now))()
        self._judged = book

    async def _judge_daily(self, book: Book, now: float) -> None:
        today = self.when.local_day(now)
        if today != self._day:
            await self._judge(book, list(book.memories.values()), now)
            await self.prune(now)
            self._day = today
