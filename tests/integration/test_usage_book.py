"""The book of usage over a real ledger: batches, restarts, ledgers that cannot be used, and ten thousand memories."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from memoryd.domain.memories.book import Book, Memory, changed_book
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import Tier, TierBasis, TierSettings, Usage
from memoryd.errors import StoreError
from memoryd.memory.usage import (
    POLL_SECONDS,
    LifecycleTime,
    RelevanceScale,
    UsageCache,
    UsageMaintenance,
)
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeRow, ChangeState
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.usage import UsageRows
from tests.unit.domain.memories.books import book_from
from tests.waiting import eventually_async

DAY = 86_400.0
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()
LOG = "memory/2026-03-10.md"
LINES = ("W @Anna: Anna has the key", "W(pin) @Peter: Peter is away", "lesson @Mochi: never feed twice")


def end_of(day: date) -> float:
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=UTC).timestamp()


class Room:
    """A ledger, a book and a clock that a test turns."""

    def __init__(self, ledger: Ledger, lines: Iterable[str] = LINES, strength: float = 0.5) -> None:
        self.ledger = ledger
        self.book = book_from({LOG: lines})
        self.now = NOON
        self.strength = strength
        self.usage = self.opened()

    async def get_book(self) -> Book:
        return self.book

    def opened(self) -> UsageCache:
        when = LifecycleTime(
            clock=lambda: self.now,
            local_day=lambda at: datetime.fromtimestamp(at, UTC).date(),
            end_of_day=end_of,
        )
        return UsageCache(
            UsageRows(self.ledger, "/ws"), self.get_book, when, tiers=TierSettings(), strength=self.strength
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        loop = asyncio.ensure_future(UsageMaintenance(self.usage).run(0.01))
        try:
            yield
        finally:
            loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await loop

    def memory(self, number: int) -> Memory:
        return self.memory_of(self.book, number)

    def memory_of(self, book: Book, number: int) -> Memory:
        return next(one for one in book.memories.values() if one.sources[0].start_line == number + 3)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    with ThreadPoolExecutor(1) as executor:
        opened = Ledger(tmp_path / "ledger.sqlite", executor, retry_seconds=0)
        yield opened
        await opened.close()


async def kept(room: Room) -> dict[str, int]:
    return {key: usage.access_count for key, usage in (await UsageRows(room.ledger, "/ws").all()).items()}


async def test_touches_are_written_in_batches_and_read_again(ledger: Ledger) -> None:
    room = Room(ledger)
    anna = room.memory(0)
    async with room.running():
        for _ in range(4):
            room.usage.touch([anna.id, anna.id])
        assert room.usage.usage(anna.id).access_count in (0, 4), "the ledger may not have been read yet"
        await eventually_async(lambda: _has(room, anna.id, 4))
    again = room.opened()
    await again.ready()
    assert again.usage(anna.id).access_count == 4
    assert again.usage(anna.id).touched_at == NOON


async def _has(room: Room, memory: str, count: int) -> bool:
    return (await kept(room)).get(memory) == count


async def test_last_batch_is_written_when_the_daemon_stops(ledger: Ledger) -> None:
    room = Room(ledger)
    anna = room.memory(0)
    async with room.running():
        await eventually_async(lambda: _has(room, room.memory(1).id, 0))
        room.usage.touch([anna.id])
    assert (await kept(room))[anna.id] == 1


async def test_core_memories_are_noted_and_what_time_gives_is_not(ledger: Ledger) -> None:
    room = Room(ledger)
    async with room.running():
        await eventually_async(lambda: _has(room, room.memory(1).id, 0))
    assert set(await kept(room)) == {room.memory(1).id, room.memory(2).id}
    tiers = [room.usage.tier(room.memory(number)) for number in range(3)]
    assert tiers == [Tier.WORKING, Tier.CORE, Tier.CORE]
    assert room.usage.preview(room.memory(0), 90).tier is Tier.PERIPHERAL
    assert room.usage.preview(room.memory(1), 9_000).relevance >= 0.9


async def test_ledger_that_cannot_be_used_costs_touches_and_no_answer(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(tmp_path / "folder" / "ledger.sqlite", executor, retry_seconds=0)
        room = Room(ledger)
        async with room.running():
            await room.usage.ready()
            relevance = await room.usage.relevance(room.book, NOON)
            room.usage.touch([room.memory(0).id])
            assert relevance(room.memory(1)) > relevance(room.memory(0)) > 0
            assert room.usage.tier(room.memory(2)) is Tier.CORE
        await ledger.close()


async def test_touches_that_could_not_be_written_are_written_with_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(folder / "ledger.sqlite", executor, retry_seconds=0)
        room = Room(ledger)
        await room.usage.load()
        room.usage.touch([room.memory(0).id])
        folder.write_text("a file where the folder should be")
        with pytest.raises(StoreError):
            await room.usage.flush()
        folder.unlink()
        room.usage.touch([room.memory(1).id])
        await room.usage.flush()
        assert await kept(room) == {room.memory(0).id: 1, room.memory(1).id: 1}
        await ledger.close()


async def test_forgotten_and_unknown_memories_are_not_written_again(ledger: Ledger) -> None:
    room = Room(ledger)
    anna = room.memory(0)
    async with room.running():
        room.usage.touch([anna.id, room.memory(1).id])
        await eventually_async(lambda: _has(room, anna.id, 1))
        await room.usage.drop([anna.id])
        room.book = changed_book(room.book, anna.sources, (), ())
        await room.usage.relevance(room.book, NOON)
        room.usage.touch([anna.id, room.memory(2).id])
        await eventually_async(lambda: _has(room, room.memory(2).id, 1))
    assert anna.id not in await kept(room)


async def test_day_that_passes_judges_anew_and_prunes(ledger: Ledger) -> None:
    room = Room(ledger)
    anna, peter, lesson = (room.memory(number) for number in range(3))
    async with room.running():
        room.usage.touch([anna.id])
        await eventually_async(lambda: _has(room, anna.id, 1))
        room.book = changed_book(room.book, peter.sources, (), ())
        room.now = NOON + 70 * DAY
        room.usage.note_change()
        await eventually_async(lambda: room.usage.usage(anna.id).tier is Tier.PERIPHERAL)
        assert peter.id in await kept(room), "its note may come back"
        room.now = NOON + 140 * DAY
        room.usage.note_change()
        await eventually_async(lambda: _lacks(room, peter.id))
    assert set(await kept(room)) == {anna.id, lesson.id}


async def _lacks(room: Room, memory: str) -> bool:
    return memory not in await kept(room)


async def test_ledger_that_was_lost_gets_what_is_known_with_the_next_day(ledger: Ledger) -> None:
    room = Room(ledger)
    anna = room.memory(0)
    async with room.running():
        room.usage.touch([anna.id])
        await eventually_async(lambda: _has(room, anna.id, 1))
        await UsageRows(ledger, "/ws").drop([anna.id])
        room.now += DAY + POLL_SECONDS
        room.usage.note_change()
        await eventually_async(lambda: _has(room, anna.id, 1))


async def test_relevance_has_a_mean_of_one_and_follows_the_book(ledger: Ledger) -> None:
    lines = [f"W{'(pin)' if number % 50 == 0 else ''} @Anna: fact number {number}" for number in range(10_000)]
    room = Room(ledger, lines)
    await room.usage.ready()
    relevance = await room.usage.relevance(room.book, NOON)
    assert sum(map(relevance, room.book.memories.values())) / 10_000 == pytest.approx(1)
    smaller = changed_book(room.book, room.memory(0).sources, (), ())
    followed = await room.usage.relevance(smaller, NOON)
    assert sum(map(followed, smaller.memories.values())) / 9_999 == pytest.approx(1)


async def test_new_memories_are_weighed_beside_the_event_loop_and_once(ledger: Ledger) -> None:
    room = Room(ledger)
    weighed = list[tuple[MemoryId, int]]()

    def weight(memory: Memory, _now: float) -> float:
        weighed.append((memory.id, threading.get_ident()))
        return 2.0

    scale = RelevanceScale(weight)
    assert await asyncio.gather(*(scale.mean(room.book, NOON) for _ in range(3))) == [2.0] * 3
    given_up = changed_book(room.book, room.memory(0).sources, (), ())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0):
            await scale.mean(given_up, NOON)
    assert await scale.mean(given_up, NOON) == 2.0
    assert [one for one, _ in weighed] == list(room.book.memories)
    assert threading.get_ident() not in {thread for _, thread in weighed}


async def test_without_strength_all_are_alike(ledger: Ledger) -> None:
    room = Room(ledger, strength=0)
    relevance = await room.usage.relevance(room.book, NOON)
    assert {relevance(one) for one in room.book.memories.values()} == {1.0}


def junk(count: int, *, is_pinned: bool = False) -> Usage:
    """Usage that an earlier version kept, which counted whatever was told."""
    return Usage(count, NOON - DAY, Tier.CORE, TierBasis(NOON - DAY, 0.6, is_pinned), is_earned=False)


async def with_junk(ledger: Ledger) -> Room:
    """Return a room whose three memories, a fact, a pin and a lesson, were all told twenty times."""
    room = Room(ledger)
    kept_before = {room.memory(number).id: junk(20, is_pinned=number == 1) for number in range(3)}
    await UsageRows(ledger, "/ws").put(kept_before)
    return room


async def listed(room: Room) -> list[ChangeRow]:
    return await ChangeLog(room.ledger, "/ws").select(ChangeFilter())


async def test_touches_that_may_be_none_are_taken_back_once_and_listed(ledger: Ledger) -> None:
    room = await with_junk(ledger)
    assert room.usage.tier(room.memory(0)) is Tier.WORKING, "nothing is known yet"
    async with room.running():
        await eventually_async(lambda: _has(room, room.memory(0).id, 3))
    assert [room.usage.tier(room.memory(number)) for number in range(3)] == [Tier.WORKING, Tier.CORE, Tier.CORE]
    (row,) = await listed(room)
    lines = [(*hunk.removed, *hunk.added) for hunk in row.hunks or ()]
    short = room.memory(0).id[:8]
    assert (f'"{short}" core, 20 touches', f'"{short}" working, 3 touches') in lines
    assert len(lines) == 3
    for number in (1, 2):
        short = room.memory(number).id[:8]
        assert (f'"{short}" core, 20 touches', f'"{short}" core, 3 touches') in lines, "it stays, for another reason"
    again = Room(ledger)
    async with again.running():
        await eventually_async(lambda: _has(again, again.memory(1).id, 3))
        again.usage.touch([again.memory(0).id])
        await eventually_async(lambda: _has(again, again.memory(0).id, 4))
    assert len(await listed(again)) == 1


async def test_taking_them_back_can_be_undone_and_done_again(ledger: Ledger) -> None:
    room = await with_junk(ledger)
    async with room.running():
        await eventually_async(lambda: _has(room, room.memory(0).id, 3))
        room.usage.touch([room.memory(0).id])
        (row,) = await listed(room)
        number = await room.usage.undo(row, ChangeLog(ledger, "/ws"))
    assert room.usage.tier(room.memory(0)) is Tier.CORE
    assert (await kept(room))[room.memory(0).id] == 21, "what was used since counts, too"
    undone, before = await listed(room)
    assert (undone.id, undone.undoes, before.state) == (number, row.id, ChangeState.UNDONE)
    restarted = Room(ledger)
    async with restarted.running():
        await restarted.usage.load()
        assert restarted.usage.tier(restarted.memory(0)) is Tier.CORE, "what is undone is not taken back again"
        await restarted.usage.undo(undone, ChangeLog(ledger, "/ws"))
    assert restarted.usage.tier(restarted.memory(0)) is Tier.WORKING
    assert (await kept(restarted))[room.memory(0).id] == 4


async def test_memory_whose_note_comes_back_later_is_judged_then(ledger: Ledger) -> None:
    room = await with_junk(ledger)
    whole, room.book = room.book, Book()
    async with room.running():
        await room.usage.load()
        await room.usage.flush()
        assert await kept(room) == {room.memory_of(whole, number).id: 20 for number in range(3)}
        room.book = whole
        room.usage.note_change()
        await eventually_async(lambda: _has(room, room.memory(0).id, 3))
    assert len(await listed(room)) == 1


async def test_each_memory_counts_once_in_a_session_and_once_for_the_same_words(ledger: Ledger) -> None:
    room = Room(ledger)
    await room.usage.load()
    room.usage.stated = room.book
    anna, peter = room.memory(0).id, room.memory(1).id

    def count(memory: str = anna) -> int:
        return room.usage.usage(MemoryId(memory)).access_count

    for _ in range(3):
        room.usage.touch([anna], session="one", message="lgtm")
    assert count() == 1
    for number in range(16):
        room.usage.touch([anna], session=f"session {number}", message="lgtm")
    assert count() == 1, "the same small talk in another session"
    room.usage.touch([anna, peter], session="one", message="where is the key?")
    assert (count(), count(peter)) == (1, 1)
    room.usage.touch([anna], session="two", message="where is the key?")
    room.usage.touch([anna], session="two")
    room.usage.touch([anna], session="three")
    assert count() == 3
    room.now += 6 * 3600
    room.usage.touch([anna], session="three")
    assert count() == 4, "after so long a rest it is another session"
    for _ in range(2):
        room.usage.touch([anna])
    assert count() == 6, "without a session each request counts"
    await room.usage.drop([anna])
    room.usage.touch([anna], session="three")
    assert count() == 1
