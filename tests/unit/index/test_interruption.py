"""The commit of a large note is interrupted for other work."""

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


class Committing:
    """A commit that runs until `may_end` is set, and a check for other work that answers as given."""

    def __init__(self, *, has_other_work: bool = False, failure: Exception | None = None) -> None:
        self.triggers = ScanTriggers(Debounce(0.001, 0.002))
        self.triggers.begin()
        self.may_end = asyncio.Event()
        self.checks = 0
        self.is_checking = False
        self._has_other_work = has_other_work
        self._failure = failure

    async def run(self, yields: int = 0) -> bool:
        with ThreadPoolExecutor(1) as executor:
            notes = LargeNotes(
                executor=executor, triggers=self.triggers, commit=self._commit, has_other_work=self._check
            )
            async with asyncio.timeout(60):
                return await notes.commit_interruptibly(READING, cut(yields))

    async def _commit(self, readings: Sequence[Reading], _work: ScanCycle) -> None:
        while not self.may_end.is_set():
            assert list(readings[0].chunks) == [ENTRY]
            await asyncio.sleep(0.001)
        if self._failure is not None:
            raise self._failure

    async def _check(self) -> bool:
        self.checks += 1
        self.is_checking = True
        if not self._has_other_work:
            self.may_end.set()
        await asyncio.sleep(0.02)
        self.is_checking = False
        return self._has_other_work


def cut(yields: int) -> Cut:
    rules = ScanRules(Path("/"), is_ignored=lambda _path: False)
    work = ScanCycle(Scan(), Reader((), rules, ChunkSettings(400, 80), {}, Path("/")), {}, {}, is_forced=False)
    return Cut(LARGE, work, asyncio.get_running_loop().create_future(), threading.Event(), yields)


async def test_commit_without_triggers_checks_nothing() -> None:
    committing = Committing()
    committing.may_end.set()
    assert await committing.run()
    assert committing.checks == 0


async def test_commit_is_put_off_for_other_work_which_stays_due() -> None:
    committing = Committing(has_other_work=True)
    committing.triggers.hint()
    assert not await committing.run()
    ticket = committing.triggers.ticket
    await eventually_async(lambda: committing.triggers.is_due(ticket))


async def test_commit_continues_without_other_work() -> None:
    committing = Committing()
    committing.triggers.demand()
    assert await committing.run()
    assert committing.checks == 1


async def test_commit_is_not_interrupted_after_the_maximum_of_yields() -> None:
    committing = Committing(has_other_work=True)
    committing.triggers.demand()
    committing.may_end.set()
    assert await committing.run(yields=MAX_YIELDS)
    assert committing.checks == 0


async def test_check_has_ended_when_a_failed_commit_raises() -> None:
    committing = Committing(failure=StoreUnavailable("the disk is full"))
    committing.triggers.demand()
    with pytest.raises(StoreUnavailable):
        await committing.run()
    assert committing.checks == 1
    assert not committing.is_checking
