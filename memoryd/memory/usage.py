"""How memories are used: accesses counted, tiers judged, relevance scaled.

Relevance has a mean of 1, so that passages, which have none, compare fairly. Accesses are counted in memory and written
in batches within seconds; once a day all memories are judged. If the ledger cannot be used, the accesses since are
lost, never an answer; a kill costs those of the last seconds.
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
    judged_now,
    relevance_now,
    settled,
    terms_now,
    tier_now,
    touched,
    without_unearned,
)
from memoryd.errors import Denied, MemorydError
from memoryd.index.threads import with_pauses
from memoryd.memory.touches import CountedOnce, TierMove, tier_change, tier_changes, tiers_before
from memoryd.retry import happens
from memoryd.store.ledger.changes import ChangeLog, ChangeRow, ChangeState
from memoryd.store.ledger.usage import MAX_USAGE_ROWS, UsageRows

log = structlog.get_logger(__name__)

_NOTHING = 1e-9
_UNUSED = Usage()
_NOWHERE_ELSE = CountElsewhere()
DAYS_MAX = 4096
"""Days whose end is known without asking the zone."""
FLUSH_SECONDS = 2.0
RETRY_SECONDS = 15.0
READY_SECONDS = 0.5
KEEP_SECONDS = 30 * DAY_SECONDS
"""For so long a memory that no line states keeps its usage: a note may come back."""
MAX_EARLY = 10_000
"""Touches that wait for the ledger to be read."""
POLL_SECONDS = 3600.0
"""How often the day of the owner is looked at, and the mean is taken anew."""
LAST_SECONDS = 3.0
"""For the last batch, when the daemon stops."""


class _Weights(NamedTuple):
    """What each memory of a book counts, and what they do on average."""

    book: Book = Book()
    each: Mapping[MemoryId, float] = {}
    mean: float = 1.0


class RelevanceScale:
    """The mean over one book. `weight` gives what a memory counts at a time in seconds since 1970, unscaled.

    A new book costs a look at what changed in it; all of it is weighed anew by `weigh_anew` alone, now and then. Both
    are done in a thread: a book of many memories that just came takes a second.
    """

    def __init__(self, weight: Callable[[Memory, float], float]) -> None:
        self._weight = weight
        self._known = _Weights()
        self._turn = asyncio.Lock()

    async def mean(self, book: Book, now: float) -> float:
        """Return the mean weight of the memories of a book; 1 where it has none."""
        async with self._turn:
            if book is not self._known.book:
                await asyncio.to_thread(self._weigh, book, now, self._known)
            return self._known.mean

    async def weigh_anew(self, book: Book, now: float) -> None:
        """Weigh all memories of a book, also those that did not change."""
        async with self._turn:
            await asyncio.to_thread(self._weigh, book, now, _Weights())

    def _weigh(self, book: Book, now: float, known: _Weights) -> None:
        before, after = known.book.memories, book.memories
        fresh = [one for key, one in after.items() if before.get(key) is not one]
        each = {key: weight for key, weight in known.each.items() if key in after}
        each |= {one.id: self._weight(one, now) for one in with_pauses(fresh)}
        # kept here, for nobody may wait for it any more
        self._known = _Weights(book, each, max(sum(each.values()) / len(each), _NOTHING) if each else 1.0)


class LifecycleTime(Struct, frozen=True, kw_only=True):
    """The time as the owner of a workspace has it. Times are in seconds since 1970."""

    clock: Callable[[], float] = time.time
    local_day: Callable[[float], date] = date.fromtimestamp
    end_of_day: Callable[[date], float]


class UsageCache:
    """The usage of the memories of one workspace, which its agents share; `UsageMaintenance` looks after it.

    `strength` is how much relevance counts in the order of recall: 0 nothing, 1 all of it.
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
        self.standing = Book()
        """The memories that can be used."""
        self.has_news = asyncio.Event()
        self.scale = RelevanceScale(self._weight)
        self._held: dict[MemoryId, Usage] = {}
        self._dirty: set[MemoryId] = set()
        """Those that changed since they were written."""
        self._unlisted: dict[MemoryId, TierMove] = {}
        """What touches that may be no uses gave, and was taken back; no row lists it yet."""
        self._ends: dict[date, float] = {}
        self._early: list[tuple[MemoryId, float]] | None = []
        self._sessions, self._messages = CountedOnce(), CountedOnce()
        self._read_again_at = float("-inf")
        self._writing = asyncio.Lock()

    def usage(self, memory: MemoryId) -> Usage:
        """Return how a memory was used, as it was noted last."""
        return self._held.get(memory, _UNUSED)

    def tier(self, memory: Memory, now: float | None = None) -> Tier:
        """Return the tier of a memory as it is at a time in seconds since 1970, by default now."""
        return tier_now(self._earned(memory), self._aged(memory, self._at(now)), self._tiers)[0]

    def terms(self, memory: Memory, now: float | None = None) -> RelevanceTerms:
        """Return every term of a memory's relevance at a time, by default now."""
        return terms_now(self._earned(memory), self._aged(memory, self._at(now)), self._tiers)

    def preview(self, memory: Memory, days: float) -> RelevanceTerms:
        """Return the terms in so many days, if nobody touches it until then."""
        return self.terms(memory, self.when.clock() + days * DAY_SECONDS)

    async def relevance(self, book: Book, now: float) -> Callable[[Memory], float]:
        """Return what gives the relevance of the memories of a book in the order of recall, scaled to a mean of 1."""
        self.standing = book
        if not self._strength:
            return lambda _memory: 1.0
        mean = await self.scale.mean(book, now)
        return lambda memory: self._weight(memory, now) / mean

    def touch(
        self, memories: Iterable[MemoryId], at: float | None = None, *, session: str = "", message: str = ""
    ) -> None:
        """Note that these memories were used at a time, by default now; it is written within seconds.

        Each counts once in a session, and once for a message that tells them unasked, in however many sessions that is
        said within hours: a prompt that a program repeats is no use each time.
        """
        at = self._at(at)
        names = (self._sessions, session), (self._messages, message)
        fresh = [one for one in dict.fromkeys(memories) if not any(held.has(name, one, at) for held, name in names)]
        for held, name in names:
            held.note(name, fresh, at)
        for one in fresh:
            if self._early is None:
                self._touch(one, at)
            elif len(self._early) < MAX_EARLY:
                self._early.append((one, at))
        self.has_news.set()

    def judged(self, book: Book, memories: Collection[Memory], now: float) -> Callable[[], None]:
        """Judge the tiers of these memories; call it in a thread, and what it returns where all else is called."""
        held, tiers = dict(self._held), self._tiers
        pairs = ((one, held.get(one.id, _UNUSED)) for one in with_pauses(memories))
        earned = ((one, was, without_unearned(was, one.line, tiers)) for one, was in pairs)
        found = ((one, was, now_is, settled(now_is, self._aged(one, now), tiers)) for one, was, now_is in earned)
        changed = {one.id: (one, now_is, after) for one, was, now_is, after in found if after is not was}

        def take() -> None:
            # what was touched meanwhile was judged by that
            same = {key: moved for key, moved in changed.items() if self._held.get(key) is held.get(key)}
            for memory, now_is, _after in same.values():
                self._list(memory, now_is, now)
            self._change({key: after for key, (_memory, _now_is, after) in same.items()})
            self.standing = book

        return take

    async def drop(self, memories: Collection[MemoryId]) -> None:
        """Forget how these were used, in memory and in the ledger; raises StoreError, Denied."""
        # behind a batch that is being written, which may hold them
        async with self._writing:
            self._discard(memories)
            for counted in (self._sessions, self._messages):
                counted.drop(memories)
            await self.rows.drop(memories)

    async def ready(self) -> None:
        """Wait a moment until it is known what the ledger has; one that cannot be read is not waited for again."""
        if self._early is None or time.monotonic() < self._read_again_at:
            return
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.load()
        except (MemorydError, TimeoutError) as exc:
            log.debug("the usage of memories cannot be read", reason=str(exc))
            self._read_again_at = time.monotonic() + RETRY_SECONDS

    async def load(self) -> None:
        """Read what the ledger has, once, and count what was touched before; raises StoreError."""
        async with self._writing:
            if self._early is None:
                return
            self._held, self.standing = dict(await self.rows.all()), await self.book()
            early, self._early = self._early, None
            for one, at in early:
                self._touch(one, at)

    async def flush(self) -> None:
        """Write what changed; raises StoreError, and then it is written with the next."""
        async with self._writing:
            # what may not be written is known until the daemon ends
            with contextlib.suppress(Denied):
                await self._put()

    async def _put(self) -> None:
        changed = {one: self._held[one] for one in self._dirty if one in self._held}
        unlisted, self._unlisted, self._dirty = self._unlisted, {}, set()
        try:
            await self.rows.put(changed, tier_changes(unlisted, self.when.clock()))
        except BaseException as exc:
            if not isinstance(exc, Denied):
                self._dirty |= changed.keys()
                self._unlisted |= unlisted
            raise

    async def undo(self, row: ChangeRow, changes: ChangeLog) -> int:
        """Take back a change of touches and tiers, and return the number of the change that this is.

        Raises StoreError, Denied.
        """
        await self.load()
        at = self.when.clock()
        async with self._writing:
            moves = self._moves_back(row, at)
            self._change({one: after for one, (_before, after) in moves.items()})
            await self._put()
            undone = tier_change(moves, at, why=f"change {row.id} was taken back", undoes=row.id)
            number = await changes.intend(undone)
            await changes.settle(number, ChangeState.DONE)
        return number

    async def take_elsewhere(self, counts: Mapping[str, CountElsewhere]) -> None:
        """Count what other machines did with memories, by their ids, instead of what they did until now.

        Raises StoreError.
        """
        await self.load()
        now, known = self.when.clock(), self.standing.memories
        for one in [*counts, *(one for one, usage in self._held.items() if usage.elsewhere and one not in counts)]:
            if (memory := known.get(MemoryId(one))) is None:
                continue
            was, told = self._earned(memory), counts.get(one, _NOWHERE_ELSE)
            # a clock that is ahead there must not keep it young here
            touched_at = max(was.touched_at or 0.0, min(told.at, now)) or None
            count = max(0, was.access_count - was.elsewhere) + told.count
            usage = replace(was, access_count=count, touched_at=touched_at, elsewhere=told.count)
            if usage != was:
                aged = self._aged(memory, now)
                tier = tier_now(usage, aged, self._tiers)[0]
                self._change({memory.id: replace(usage, tier=tier, judged=judged_now(aged))})
        await self.flush()

    async def counted_here(self) -> Mapping[MemoryId, CountElsewhere]:
        """Return what this machine itself counted, as others are to know it; raises StoreError."""
        await self.load()
        earned = {one: usage for one, usage in self._held.items() if usage.is_earned}
        own = ((one, usage.access_count - usage.elsewhere, usage.touched_at or 0.0) for one, usage in earned.items())
        return {one: CountElsewhere(count, at) for one, count, at in own if count > 0}

    async def own_nothing(self) -> None:
        """Leave what was counted until now to the machine that this one was until now."""
        async with self._writing:
            self._held = {one: replace(usage, elsewhere=usage.access_count) for one, usage in self._held.items()}

    async def prune(self, now: float) -> None:
        """Write what a ledger that was begun anew lacks, and drop what no line has stated for long."""
        standing = self.standing.memories.keys()
        missing = (self._held.keys() & standing) - (await self.rows.all()).keys()
        self._dirty |= missing
        await self.flush()
        standing = self.standing.memories.keys()
        # what may not be written stays as it is
        with contextlib.suppress(Denied):
            async with self._writing:
                self._discard(await self.rows.note_stated(standing, now, KEEP_SECONDS))

    def note_change(self) -> None:
        """Take the news that notes changed: tiers may have, too."""
        self.has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private, or are forgotten."""
        self.has_news.set()

    def _at(self, now: float | None) -> float:
        return self.when.clock() if now is None else now

    def _weight(self, memory: Memory, now: float) -> float:
        """Return what a memory counts at a time, unscaled."""
        relevance = relevance_now(self._earned(memory), self._aged(memory, now), self._tiers)
        return float(relevance**self._strength)

    def _touch(self, one: MemoryId, at: float) -> None:
        """Count one touch; what is in no book, or is gone since it was told, is not used."""
        memory = self.standing.memories.get(one)
        if memory is None or (one not in self._held and len(self._held) >= MAX_USAGE_ROWS):
            return
        earned = self._earned(memory)
        self._list(memory, earned, at)
        self._change({one: touched(earned, self._aged(memory, at), self._tiers)})

    def _change(self, fresh: Mapping[MemoryId, Usage]) -> None:
        self._held |= fresh
        self._dirty |= fresh.keys()

    def _moves_back(self, row: ChangeRow, now: float) -> dict[MemoryId, TierMove]:
        """Return the touches and the tiers that memories had before a change, beside those that they have."""
        before = {short: (tier, lost) for short, tier, lost in tiers_before(row)}
        moves = dict[MemoryId, TierMove]()
        for one, usage in self._held.items():
            memory = self.standing.memories.get(one)
            if memory is not None and (had := before.get(short_id(one))) is not None:
                given = replace(usage, access_count=max(0, usage.access_count + had[1]), tier=had[0])
                moves[one] = usage, replace(given, judged=judged_now(self._aged(memory, now)))
        return moves

    def _discard(self, memories: Iterable[MemoryId]) -> None:
        for one in memories:
            self._unlisted.pop(one, None)
            self._held.pop(one, None)
            self._dirty.discard(one)

    def _earned(self, memory: Memory) -> Usage:
        return without_unearned(self.usage(memory.id), memory.line, self._tiers)

    def _list(self, memory: Memory, earned: Usage, now: float) -> None:
        """List what was taken back, if anything was; a pin, or importance, may hold in the core without touches."""
        held = self.usage(memory.id)
        tier = tier_now(earned, self._aged(memory, now), self._tiers)[0]
        left = replace(earned, tier=tier) if held.tier is tier else earned
        if (held.access_count, held.tier) != (left.access_count, left.tier):
            self._unlisted[memory.id] = held, left

    def _aged(self, memory: Memory, now: float) -> Aged:
        day = memory.recorded
        until = self._ends.get(day)
        if until is None:
            if len(self._ends) >= DAYS_MAX:
                self._ends.clear()
            until = self._ends[day] = self.when.end_of_day(day)
        return Aged(memory.line, until, now)


class UsageMaintenance:
    """Writes the usage of one workspace, and judges tiers where lines or days changed."""

    def __init__(self, usage: UsageCache) -> None:
        self._usage = usage
        self._judged = Book()
        self._looked_at = float("-inf")
        self._day: date | None = None

    async def run(self, flush_seconds: float = FLUSH_SECONDS) -> None:
        """Keep what is touched, until cancelled; then write once more."""
        usage = self._usage
        try:
            while True:
                seconds = await self._step()
                await happens(usage.has_news.wait(), seconds)
                # touches come in bundles: one batch is enough for all of them
                await asyncio.sleep(flush_seconds)
                usage.has_news.clear()
        finally:
            with contextlib.suppress(MemorydError, TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await usage.flush()

    async def _step(self) -> float:
        """Do what is due; return in how many seconds to look again if nothing happens."""
        try:
            await self._do()
        except Denied:
            return POLL_SECONDS
        except MemorydError as exc:
            log.debug("the usage of memories cannot be kept", reason=str(exc))
            return RETRY_SECONDS
        return POLL_SECONDS

    async def _do(self) -> None:
        usage = self._usage
        await usage.load()
        book, now = await usage.book(), usage.when.clock()
        if book is not self._judged:
            known = self._judged.memories
            await self._judge(book, [one for key, one in book.memories.items() if known.get(key) is not one], now)
        await usage.flush()
        if abs(now - self._looked_at) >= POLL_SECONDS:
            self._looked_at = now
            await usage.scale.weigh_anew(book, now)
            await self._judge_daily(book, now)

    async def _judge(self, book: Book, memories: Collection[Memory], now: float) -> None:
        (await asyncio.to_thread(self._usage.judged, book, memories, now))()
        self._judged = book

    async def _judge_daily(self, book: Book, now: float) -> None:
        today = self._usage.when.local_day(now)
        if today != self._day:
            await self._judge(book, list(book.memories.values()), now)
            await self._usage.prune(now)
            self._day = today
