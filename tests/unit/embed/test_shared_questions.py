"""Equal questions asked at the same time share one vector."""

import asyncio

import pytest

from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import EmbedderUnavailable
from tests.fakes import FakeEmbedder, vector_of
from tests.waiting import eventually_async


@pytest.fixture
def embedder() -> FakeEmbedder:
    found = FakeEmbedder()
    found.goes_on.clear()
    return found


async def asked(shared: CurrentEmbedder, embedder: FakeEmbedder, *texts: str) -> list[asyncio.Task[Vector]]:
    """Ask all of them at once, and wait until each is queued."""
    tasks: list[asyncio.Task[Vector]] = []
    for text in texts:
        tasks.append(asyncio.create_task(shared.embed_question(embedder, text)))
        await asyncio.sleep(0)
    return tasks


async def test_same_question_is_embedded_once(embedder: FakeEmbedder) -> None:
    shared = CurrentEmbedder(lambda _state: None)
    tasks = await asked(shared, embedder, "who", "who", "why", "who")
    assert embedder.waiting == 2
    embedder.goes_on.set()
    vectors = await asyncio.gather(*tasks)
    assert [list(vector) for vector in vectors] == [list(vector_of(text)) for text in ("who", "who", "why", "who")]


async def test_vector_is_not_cached_afterwards(embedder: FakeEmbedder) -> None:
    shared = CurrentEmbedder(lambda _state: None)
    embedder.goes_on.set()
    await shared.embed_question(embedder, "who")
    embedder.goes_on.clear()
    (task,) = await asked(shared, embedder, "who")
    assert embedder.waiting == 1
    task.cancel()
    await asyncio.wait([task])


async def test_cancelled_question_does_not_cancel_the_others(embedder: FakeEmbedder) -> None:
    shared = CurrentEmbedder(lambda _state: None)
    first, second, third = await asked(shared, embedder, "who", "who", "who")
    first.cancel()
    await asyncio.wait([first])
    await eventually_async(lambda: embedder.waiting == 1)
    third.cancel()
    await asyncio.wait([third])
    embedder.goes_on.set()
    assert list(await second) == list(vector_of("who"))
    assert first.cancelled()


async def test_failure_reaches_every_caller(embedder: FakeEmbedder) -> None:
    shared = CurrentEmbedder(lambda _state: None)
    tasks = await asked(shared, embedder, "who", "who")
    embedder.is_down = True
    embedder.goes_on.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(answer) for answer in answers] == [EmbedderUnavailable, EmbedderUnavailable]
