"""What is worked out for questions: once, and to its end, though who asked has given up."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any

import pytest

from memoryd.domain.memories.book import Book, changed_book, changed_memories
from memoryd.memory.book import HiddenChunks
from memoryd.memory.recall import eligible
from memoryd.memory.recall.eligible import VALUES_MAX, ComputedValues, EligibleMemories
from tests.unit.domain.memories.books import book_from
from tests.waiting import eventually_async


async def test_a_question_that_gives_up_leaves_the_work_to_the_next(executor: ThreadPoolExecutor) -> None:
    worked, may_end, begun = ComputedValues[int](executor), Event(), list[int]()

    def make() -> int:
        begun.append(1)
        may_end.wait()
        return 7

    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await worked.of("book", make)
    may_end.set()
    assert await worked.of("book", make) == 7
    assert await worked.of("book", make) == 7
    assert begun == [1]


async def test_what_failed_is_tried_again(executor: ThreadPoolExecutor) -> None:
    worked = ComputedValues[int](executor)
    with pytest.raises(ZeroDivisionError):
        await worked.of("book", lambda: 1 // 0)
    assert await worked.of("book", lambda: 3) == 3


async def test_the_last_ones_are_kept(executor: ThreadPoolExecutor) -> None:
    worked = ComputedValues[int](executor)
    for key in range(VALUES_MAX + 1):
        await worked.of(key, partial(int, key))
    assert await worked.of(VALUES_MAX, lambda: -1) == VALUES_MAX
    assert await worked.of(0, lambda: -1) == -1


async def test_what_is_known_of_a_book_that_was_overtaken_meanwhile_is_kept(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = book_from({"memory/2026-03-10.md": [f"W @Anna: fact number {number}" for number in range(9)]})
    second = changed_book(first, next(iter(first.memories.values())).sources, (), ())
    may_go_on, compared = {0: Event(), len(first.memories): Event()}, list[tuple[Book, Book]]()

    def slowly(before: Book, after: Book) -> Any:
        compared.append((before, after))
        may_go_on[len(before.memories)].wait()
        return changed_memories(before, after)

    monkeypatch.setattr(eligible, "changed_memories", slowly)
    database: Any = None
    known = EligibleMemories(database=database, executor=executor, hidden=HiddenChunks(database))
    try:
        for book in (first, second):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await known.facts(book)
        waiting = asyncio.ensure_future(known.facts(second))
        may_go_on[0].set()
        await eventually_async(lambda: known.newest_computed() is first)
        may_go_on[len(first.memories)].set()
        assert (await waiting).book is known.newest_computed() is second
    finally:
        for one in may_go_on.values():
            one.set()
    assert compared == [(Book(), first), (first, second)]
