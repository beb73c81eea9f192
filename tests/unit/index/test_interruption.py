import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.domain.clock import Debounce
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings
from memoryd.errors import StoreUnavailable
from memoryd.files.scanner import Scan, ScanRules
from memoryd.index.committing import MAX_YIELDS, Cut, LargeNotes
from memoryd.index.reading import Reader, Reading, ReadStatus, ScanCycle
from memoryd.index.triggers import ScanTriggers
from tests.waiting import eventually_async

LARGE = RelativePath("memory/large.md")
ENTRY = ChunkEntry(1, 1, "", "text", b"hash", ())
READING = Reading(LARGE, ReadStatus.CHANGED, chunks=(ENTRY,))


class Desk:
    """A commit that goes on until it may end, and a look beside it that says what the test wants."""

    def __init__(self, *, has_other_work: bool = False, failure: Exception | None = None) -> None:
        self.triggers = ScanTriggers(Debounce(0.001, 0.002))
        self.triggers.begin()
        self.may_end = asyncio.Event()
        self.looks = 0
        self.is_looking = False
        self._has_other_work = has_other_work
        self._failure = failure

    async def run(self, yields: int = 0) -> bool:
        with ThreadPoolExecutor(1) as executor:
            notes = LargeNotes(
                executor=executor, triggers=self.triggers, commit=self._commit, has_other_work=self._look
            )
            async with asyncio.timeout(60):
                return await notes.commit_interruptibly(READING, cut(yields))

    async def _commit(self, readings: Sequence[Reading], _work: ScanCycle) -> None:
        while not self.may_end.is_set():
            assert list(readings[0].chunks) == [ENTRY]
            await asyncio.sleep(0.001)
        if self._failure is not None:
            raise self._failure

    async def _look(self) -> bool:
        self.looks += 1
        self.is_looking = True
        if not self._has_other_work:
            self.may_end.set()
        await asyncio.sleep(0.02)
        self.is_looking = False
        return self._has_other_work


def cut(yields: int) -> Cut:
    rules = ScanRules(Path("/"), is_ignored=lambda _path: False)
    work = ScanCycle(Scan(), Reader((), rules, ChunkSettings(400, 80), {}, Path("/")), {}, {}, is_forced=False)
    return Cut(LARGE, work, asyncio.get_running_loop().create_future(), threading.Event(), yields)


async def test_commit_that_nobody_disturbs_looks_at_nothing() -> None:
    desk = Desk()
    desk.may_end.set()
    assert await desk.run()
    assert desk.looks == 0


async def test_commit_is_put_off_for_newcomers_who_are_then_heard_of_again() -> None:
    desk = Desk(has_other_work=True)
    desk.triggers.hint()
    assert not await desk.run()
    ticket = desk.triggers.ticket
    await eventually_async(lambda: desk.triggers.is_due(ticket))


async def test_commit_goes_on_when_a_hint_meant_nothing() -> None:
    desk = Desk()
    desk.triggers.demand()
    assert await desk.run()
    assert desk.looks == 1


async def test_commit_that_was_put_off_often_enough_is_not_disturbed() -> None:
    desk = Desk(has_other_work=True)
    desk.triggers.demand()
    desk.may_end.set()
    assert await desk.run(yields=MAX_YIELDS)
    assert desk.looks == 0


async def test_look_has_ended_when_a_failed_commit_is_told_of() -> None:
    desk = Desk(failure=StoreUnavailable("the disk is full"))
    desk.triggers.demand()
    with pytest.raises(StoreUnavailable):
        await desk.run()
    assert desk.looks == 1
    assert not desk.is_looking
