"""The usage cache over a real ledger: batches, restarts, unusable ledgers, and ten thousand memories."""

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


class UsageWorkspace:
    """A ledger, a book, and a clock set by the test."""

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
        loop = asyncio.ensure_future(self.usage.run(0.01))
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


async def stored_counts(workspace: UsageWorkspace) -> dict[str, int]:
    return {key: usage.access_count for key, usage in (await UsageRows(workspace.ledger, "/ws").all()).items()}


async def test_touches_are_written_in_batches_and_read_again(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    anna = workspace.memory(0)
    async with workspace.running():
        for _ in range(4):
            workspace.usage.touch([anna.id, anna.id])
        assert workspace.usage.usage(anna.id).access_count in (0, 4), "the ledger may not have been read yet"
        await eventually_async(lambda: _has(workspace, anna.id, 4))
    again = workspace.opened()
    await again.ready()
    assert again.usage(anna.id).access_count == 4
    assert again.usage(anna.id).touched_at == NOON


async def _has(workspace: UsageWorkspace, memory: str, count: int) -> bool:
    return (await stored_counts(workspace)).get(memory) == count


async def test_last_batch_is_written_when_the_daemon_stops(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    anna = workspace.memory(0)
    async with workspace.running():
        await eventually_async(lambda: _has(workspace, workspace.memory(1).id, 0))
        workspace.usage.touch([anna.id])
    assert (await stored_counts(workspace))[anna.id] == 1


async def test_only_core_memories_are_stored_without_touches(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    async with workspace.running():
        await eventually_async(lambda: _has(workspace, workspace.memory(1).id, 0))
    assert set(await stored_counts(workspace)) == {workspace.memory(1).id, workspace.memory(2).id}
    tiers = [workspace.usage.tier(workspace.memory(number)) for number in range(3)]
    assert tiers == [Tier.WORKING, Tier.CORE, Tier.CORE]
    assert workspace.usage.preview(workspace.memory(0), 90).tier is Tier.PERIPHERAL
    assert workspace.usage.preview(workspace.memory(1), 9_000).relevance >= 0.9


async def test_unusable_ledger_loses_only_touches(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(tmp_path / "folder" / "ledger.sqlite", executor, retry_seconds=0)
        workspace = UsageWorkspace(ledger)
        async with workspace.running():
            await workspace.usage.ready()
            relevance = await workspace.usage.relevance(workspace.book, NOON)
            workspace.usage.touch([workspace.memory(0).id])
            assert relevance(workspace.memory(1)) > relevance(workspace.memory(0)) > 0
            assert workspace.usage.tier(workspace.memory(2)) is Tier.CORE
        await ledger.close()


async def test_failed_touches_are_written_with_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(folder / "ledger.sqlite", executor, retry_seconds=0)
        workspace = UsageWorkspace(ledger)
        await workspace.usage.load()
        workspace.usage.touch([workspace.memory(0).id])
        folder.write_text("a file where the folder should be")
        with pytest.raises(StoreError):
            await workspace.usage.flush()
        folder.unlink()
        workspace.usage.touch([workspace.memory(1).id])
        await workspace.usage.flush()
        assert await stored_counts(workspace) == {workspace.memory(0).id: 1, workspace.memory(1).id: 1}
        await ledger.close()


async def test_forgotten_memories_are_not_written_again(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    anna = workspace.memory(0)
    async with workspace.running():
        workspace.usage.touch([anna.id, workspace.memory(1).id])
        await eventually_async(lambda: _has(workspace, anna.id, 1))
        await workspace.usage.drop([anna.id])
        workspace.book = changed_book(workspace.book, anna.sources, (), ())
        await workspace.usage.relevance(workspace.book, NOON)
        workspace.usage.touch([anna.id, workspace.memory(2).id])
        await eventually_async(lambda: _has(workspace, workspace.memory(2).id, 1))
    assert anna.id not in await stored_counts(workspace)


async def test_next_day_updates_tiers_and_prunes(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    anna, peter, lesson = (workspace.memory(number) for number in range(3))
    async with workspace.running():
        workspace.usage.touch([anna.id])
        await eventually_async(lambda: _has(workspace, anna.id, 1))
        workspace.book = changed_book(workspace.book, peter.sources, (), ())
        workspace.now = NOON + 70 * DAY
        workspace.usage.note_change()
        await eventually_async(lambda: workspace.usage.usage(anna.id).tier is Tier.PERIPHERAL)
        assert peter.id in await stored_counts(workspace), "its note may return"
        workspace.now = NOON + 140 * DAY
        workspace.usage.note_change()
        await eventually_async(lambda: _lacks(workspace, peter.id))
    assert set(await stored_counts(workspace)) == {anna.id, lesson.id}


async def _lacks(workspace: UsageWorkspace, memory: str) -> bool:
    return memory not in await stored_counts(workspace)


async def test_lost_usage_is_written_again_the_next_day(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    anna = workspace.memory(0)
    async with workspace.running():
        workspace.usage.touch([anna.id])
        await eventually_async(lambda: _has(workspace, anna.id, 1))
        await UsageRows(ledger, "/ws").drop([anna.id])
        workspace.now += DAY + POLL_SECONDS
        workspace.usage.note_change()
        await eventually_async(lambda: _has(workspace, anna.id, 1))


async def test_relevance_has_a_mean_of_one_and_follows_the_book(ledger: Ledger) -> None:
    lines = [f"W{'(pin)' if number % 50 == 0 else ''} @Anna: fact number {number}" for number in range(10_000)]
    workspace = UsageWorkspace(ledger, lines)
    await workspace.usage.ready()
    relevance = await workspace.usage.relevance(workspace.book, NOON)
    assert sum(map(relevance, workspace.book.memories.values())) / 10_000 == pytest.approx(1)
    smaller = changed_book(workspace.book, workspace.memory(0).sources, (), ())
    followed = await workspace.usage.relevance(smaller, NOON)
    assert sum(map(followed, smaller.memories.values())) / 9_999 == pytest.approx(1)


async def test_new_memories_are_weighed_once_outside_event_loop(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    weighed = list[tuple[MemoryId, int]]()

    def weight(memory: Memory, _now: float) -> float:
        weighed.append((memory.id, threading.get_ident()))
        return 2.0

    scale = RelevanceScale(weight)
    assert await asyncio.gather(*(scale.mean(workspace.book, NOON) for _ in range(3))) == [2.0] * 3
    given_up = changed_book(workspace.book, workspace.memory(0).sources, (), ())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0):
            await scale.mean(given_up, NOON)
    assert await scale.mean(given_up, NOON) == 2.0
    assert [one for one, _ in weighed] == list(workspace.book.memories)
    assert threading.get_ident() not in {thread for _, thread in weighed}


async def test_without_strength_all_memories_weigh_the_same(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger, strength=0)
    relevance = await workspace.usage.relevance(workspace.book, NOON)
    assert {relevance(one) for one in workspace.book.memories.values()} == {1.0}


def unearned(count: int, *, is_pinned: bool = False) -> Usage:
    """Return usage as stored by an earlier version, which counted everything shown."""
    return Usage(count, NOON - DAY, Tier.CORE, TierBasis(NOON - DAY, 0.6, is_pinned), is_earned=False)


async def with_unearned(ledger: Ledger) -> UsageWorkspace:
    """Return a workspace whose three memories, a fact, a pin and a lesson, were all shown twenty times."""
    workspace = UsageWorkspace(ledger)
    kept_before = {workspace.memory(number).id: unearned(20, is_pinned=number == 1) for number in range(3)}
    await UsageRows(ledger, "/ws").put(kept_before)
    return workspace


async def listed(workspace: UsageWorkspace) -> list[ChangeRow]:
    return await ChangeLog(workspace.ledger, "/ws").select(ChangeFilter())


async def test_unearned_touches_are_revoked_once_and_logged(ledger: Ledger) -> None:
    workspace = await with_unearned(ledger)
    assert workspace.usage.tier(workspace.memory(0)) is Tier.WORKING, "nothing is known yet"
    async with workspace.running():
        await eventually_async(lambda: _has(workspace, workspace.memory(0).id, 3))
    assert [workspace.usage.tier(workspace.memory(number)) for number in range(3)] == [
        Tier.WORKING,
        Tier.CORE,
        Tier.CORE,
    ]
    (row,) = await listed(workspace)
    lines = [(*hunk.removed, *hunk.added) for hunk in row.hunks or ()]
    short = workspace.memory(0).id[:8]
    assert (f'"{short}" core, 20 touches', f'"{short}" working, 3 touches') in lines
    assert len(lines) == 3
    for number in (1, 2):
        short = workspace.memory(number).id[:8]
        assert (f'"{short}" core, 20 touches', f'"{short}" core, 3 touches') in lines, (
            "it stays core, for another reason"
        )
    again = UsageWorkspace(ledger)
    async with again.running():
        await eventually_async(lambda: _has(again, again.memory(1).id, 3))
        again.usage.touch([again.memory(0).id])
        await eventually_async(lambda: _has(again, again.memory(0).id, 4))
    assert len(await listed(again)) == 1


async def test_revocation_can_be_undone_and_redone(ledger: Ledger) -> None:
    workspace = await with_unearned(ledger)
    async with workspace.running():
        await eventually_async(lambda: _has(workspace, workspace.memory(0).id, 3))
        workspace.usage.touch([workspace.memory(0).id])
        (row,) = await listed(workspace)
        number = await workspace.usage.undo(row, ChangeLog(ledger, "/ws"))
    assert workspace.usage.tier(workspace.memory(0)) is Tier.CORE
    assert (await stored_counts(workspace))[workspace.memory(0).id] == 21, "later uses count too"
    undone, before = await listed(workspace)
    assert (undone.id, undone.undoes, before.state) == (number, row.id, ChangeState.UNDONE)
    restarted = UsageWorkspace(ledger)
    async with restarted.running():
        await restarted.usage.load()
        assert restarted.usage.tier(restarted.memory(0)) is Tier.CORE, "an undone revocation is not repeated"
        await restarted.usage.undo(undone, ChangeLog(ledger, "/ws"))
    assert restarted.usage.tier(restarted.memory(0)) is Tier.WORKING
    assert (await stored_counts(restarted))[workspace.memory(0).id] == 4


async def test_returning_memory_is_judged_then(ledger: Ledger) -> None:
    workspace = await with_unearned(ledger)
    whole, workspace.book = workspace.book, Book()
    async with workspace.running():
        await workspace.usage.load()
        await workspace.usage.flush()
        assert await stored_counts(workspace) == {workspace.memory_of(whole, number).id: 20 for number in range(3)}
        workspace.book = whole
        workspace.usage.note_change()
        await eventually_async(lambda: _has(workspace, workspace.memory(0).id, 3))
    assert len(await listed(workspace)) == 1


async def test_touch_counts_once_per_session_and_message(ledger: Ledger) -> None:
    workspace = UsageWorkspace(ledger)
    await workspace.usage.load()
    workspace.usage.stated = workspace.book
    anna, peter = workspace.memory(0).id, workspace.memory(1).id

    def count(memory: str = anna) -> int:
        return workspace.usage.usage(MemoryId(memory)).access_count

    for _ in range(3):
        workspace.usage.touch([anna], session="one", message="lgtm")
    assert count() == 1
    for number in range(16):
        workspace.usage.touch([anna], session=f"session {number}", message="lgtm")
    assert count() == 1, "the same message in another session"
    workspace.usage.touch([anna, peter], session="one", message="where is the key?")
    assert (count(), count(peter)) == (1, 1)
    workspace.usage.touch([anna], session="two", message="where is the key?")
    workspace.usage.touch([anna], session="two")
    workspace.usage.touch([anna], session="three")
    assert count() == 3
    workspace.now += 6 * 3600
    workspace.usage.touch([anna], session="three")
    assert count() == 4, "after six idle hours it is another session"
    for _ in range(2):
        workspace.usage.touch([anna])
    assert count() == 6, "without a session each request counts"
    await workspace.usage.drop([anna])
    workspace.usage.touch([anna], session="three")
    assert count() == 1
