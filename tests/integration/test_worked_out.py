"""What is worked out for questions: once, and to its end, though who asked has given up."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest

from memoryd.memory.recall.eligible import VALUES_MAX, WorkedOut


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


async def test_a_question_that_gives_up_leaves_the_work_to_the_next(executor: ThreadPoolExecutor) -> None:
    worked, may_end, begun = WorkedOut[int](executor), Event(), list[int]()

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
    worked = WorkedOut[int](executor)
    with pytest.raises(ZeroDivisionError):
        await worked.of("book", lambda: 1 // 0)
    assert await worked.of("book", lambda: 3) == 3


async def test_the_last_ones_are_kept(executor: ThreadPoolExecutor) -> None:
    worked = WorkedOut[int](executor)
    for key in range(VALUES_MAX + 1):
        await worked.of(key, partial(int, key))
    assert await worked.of(VALUES_MAX, lambda: -1) == VALUES_MAX
    assert await worked.of(0, lambda: -1) == -1
