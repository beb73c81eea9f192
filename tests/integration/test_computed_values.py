"""Values computed for questions: once, and to the end even if the caller gives up."""

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


async def test_value_of_abandoned_call_is_used_by_the_next(executor: ThreadPoolExecutor) -> None:
    values, may_end, begun = ComputedValues[int](executor), Event(), list[int]()

    def make() -> int:
        begun.append(1)
        may_end.wait()
        return 7

    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await values.of("book", make)
    may_end.set()
    assert await values.of("book", make) == 7
    assert await values.of("book", make) == 7
    assert begun == [1]


async def test_failed_computation_is_retried(executor: ThreadPoolExecutor) -> None:
    values = ComputedValues[int](executor)
    with pytest.raises(ZeroDivisionError):
        await values.of("book", lambda: 1 // 0)
    assert await values.of("book", lambda: 3) == 3


async def test_only_last_values_are_kept(executor: ThreadPoolExecutor) -> None:
    values = ComputedValues[int](executor)
    for key in range(VALUES_MAX + 1):
        await values.of(key, partial(int, key))
    assert await values.of(VALUES_MAX, lambda: -1) == VALUES_MAX
    assert await values.of(0, lambda: -1) == -1


async def test_facts_of_an_outdated_book_are_reused(
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
