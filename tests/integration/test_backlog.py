"""The backlog of the embedding lane, step by step: what it remembers of its last look, and what it forgets."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoryd.domain.documents import RelativePath
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.errors import StoreError
from memoryd.index.pending import Backlog, EmbeddingLoopLinks, EmbeddingLoopSettings, PendingQueue, Spaces
from memoryd.store.index.database import Database
from tests.fakes import FakeEmbedder
from tests.store.rows import note, put_note

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")


@dataclass
class Desk:
    """A backlog over a real index; nobody but the test asks it for anything."""

    database: Database
    backlog: Backlog
    slot: CurrentEmbedder

    async def embed(self, embedder: FakeEmbedder) -> None:
        """Take the embedder, and look once for what it is to embed."""
        await self.slot.set(ModelPhase.READY, embedder=embedder)
        space = await self.backlog.space_of(embedder)
        await self.backlog.refill(space)
        while batch := self.backlog.queue.take(4):
            await self.backlog.embed(embedder, space, batch)

    async def bound_unused(self) -> None:
        self.backlog.rescan()
        await self.backlog.bound_unused()

    async def steps_of_look(self, space: int) -> int:
        """Return how many steps SQLite takes to find what is pending."""
        return await self.steps_of(lambda: self.backlog.refill(space))

    async def steps_of(self, ask: Callable[[], Awaitable[object]]) -> int:
        """Return how many steps SQLite takes to read what is asked for."""
        steps: list[int] = []

        def note_steps(event: Any) -> None:
            steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

        await self.database.read(lambda db: db.trace_v2(apsw.SQLITE_TRACE_PROFILE, note_steps))
        await ask()
        await self.database.read(lambda db: db.trace_v2(0, None))
        return sum(steps)

    async def vectors(self) -> int:
        return (await self.database.documents.counts()).vectors


@pytest.fixture
async def desk(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    async def elsewhere(_fingerprint: str, _hashes: object) -> dict[bytes, object]:
        return {}

    with ThreadPoolExecutor(6) as executor:
        database = Database(path=tmp_path / "index.sqlite", executor=executor)
        await database.open()
        slot = CurrentEmbedder(lambda _state: None)
        backlog = Backlog(
            database=database,
            spaces=Spaces(database),
            slot=slot,
            queue=PendingQueue(file_bytes=1, files_at_once=4),
            settings=EmbeddingLoopSettings(max_unused=getattr(request, "param", 0), providers=("fake", "spare")),
            links=EmbeddingLoopLinks(
                lookup=elsewhere,  # type: ignore[arg-type]
                publish=lambda _event, _data: None,
                on_removed=lambda: None,
            ),
        )
        yield Desk(database, backlog, slot)
        await database.close()


async def test_look_that_fails_still_owes_what_it_was_to_find(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent"))
    await desk.embed(embedder)
    await desk.embed(embedder)
    await put_note(desk.database, B, note("attic"))
    # of all that is asked, only the look reads this table
    await desk.database.write(lambda db: db.execute("ALTER TABLE rejected RENAME TO elsewhere"))
    with pytest.raises(StoreError):
        await desk.embed(embedder)
    await desk.database.write(lambda db: db.execute("ALTER TABLE elsewhere RENAME TO rejected"))
    await desk.embed(embedder)
    assert await desk.backlog.count() == 0


@pytest.mark.parametrize("desk", [5], indirect=True)
async def test_each_space_counts_for_the_bound_of_unused_vectors(desk: Desk) -> None:
    await put_note(desk.database, A, note("rent", "boiler", "lamp"))
    for embedder in (FakeEmbedder(), FakeEmbedder(name="other", provider="spare")):
        await desk.embed(embedder)
    passages = (await desk.database.documents.counts()).passages
    assert passages <= 5 < 2 * passages == await desk.vectors()
    await desk.bound_unused()
    await desk.database.documents.remove([A])
    await desk.bound_unused()
    assert await desk.vectors() == 5


async def test_model_that_comes_and_goes_between_two_looks_takes_no_vectors_along(desk: Desk) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(desk.database, A, note("rent"))
    await desk.embed(first)
    once = await desk.vectors()
    await desk.slot.set(ModelPhase.READY, embedder=second)
    await desk.bound_unused()
    assert await desk.vectors() == once
    # nor is its space taken for the one that its provider was at work in
    at_work = await desk.database.vectors.find_space(first.identity.fingerprint)
    assert await desk.database.vectors.spaces_of(["fake"]) == {at_work}
    await desk.embed(first)
    assert await desk.backlog.count() == 0


async def test_vectors_of_the_model_before_go_though_they_were_looked_at_before_the_next_was_at_work(
    desk: Desk,
) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(desk.database, A, note("rent"))
    await desk.embed(first)
    await desk.embed(second)
    once = len(first.embedded)
    await desk.slot.set(ModelPhase.READY, embedder=first)
    await desk.bound_unused()
    assert await desk.vectors() == 2 * once
    await desk.embed(first)
    await desk.backlog.bound_unused()
    assert await desk.vectors() == once


@pytest.mark.parametrize("desk", [2], indirect=True)
async def test_vectors_of_a_model_between_count_for_the_bound(desk: Desk) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(desk.database, A, note("rent", "boiler", "lamp"))
    await desk.embed(first)
    await desk.bound_unused()
    once = await desk.vectors()
    await desk.embed(second)
    await desk.embed(first)
    await desk.bound_unused()
    assert await desk.vectors() == once + 2 < len(first.embedded) + len(second.embedded)


async def test_start_over_that_the_disk_refuses_is_still_owed(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent"))
    await desk.embed(embedder)
    once = len(embedder.embedded)
    desk.backlog.must_start_over = True
    await desk.database.write(lambda db: db.execute("ALTER TABLE rejected RENAME TO elsewhere"))
    with pytest.raises(StoreError):
        await desk.embed(embedder)
    await desk.database.write(lambda db: db.execute("ALTER TABLE elsewhere RENAME TO rejected"))
    await desk.embed(embedder)
    assert len(embedder.embedded) == 2 * once


async def test_commit_while_texts_wait_has_the_new_ones_looked_at_alone(desk: Desk) -> None:
    embedder = FakeEmbedder()
    for number in range(60):
        await put_note(desk.database, RelativePath(f"memory/{number}.md"), note(f"rent{number}", f"boiler{number}"))
    await desk.slot.set(ModelPhase.READY, embedder=embedder)
    space = await desk.backlog.space_of(embedder)
    every = await desk.steps_of_look(space)
    first = desk.backlog.queue.take(4)
    # of what came, one text waits already
    await put_note(desk.database, A, note("attic", "rent7"))
    new = await desk.steps_of_look(space)
    assert new < every / 10
    texts = [item.hash for item in (*first, *desk.backlog.queue.take(1000))]
    assert len(texts) == len(set(texts)) == desk.backlog.lacking == await desk.backlog.count()


async def test_text_that_went_while_it_waits_is_not_embedded(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent", "boiler"))
    await put_note(desk.database, B, note("attic"))
    await desk.slot.set(ModelPhase.READY, embedder=embedder)
    space = await desk.backlog.space_of(embedder)
    await desk.backlog.refill(space)
    await desk.database.documents.remove([A])
    await desk.backlog.refill(space)
    assert [item.title for item in desk.backlog.queue.take(1000)] == ["attic"]


async def test_look_during_which_texts_are_purged_gives_none_of_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, look = desk.database.vectors, desk.database.vectors.pending
    await put_note(desk.database, A, note("rent"))
    await put_note(desk.database, B, note("secret"))

    async def pending(*args: Any, **given: Any) -> Any:
        found = await look(*args, **given)
        await desk.database.documents.remove([], purged=[B])
        return found

    embedder = FakeEmbedder()
    monkeypatch.setattr(vectors, "pending", pending)
    await desk.embed(embedder)
    monkeypatch.setattr(vectors, "pending", look)
    await desk.embed(embedder)
    assert embedder.embedded
    assert not [text for text in embedder.embedded if "secret" in text]


async def test_note_that_comes_between_the_count_of_changes_and_the_look_waits_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, look = FakeEmbedder(), desk.database.vectors.pending
    await put_note(desk.database, A, note(*map(str, range(40))))
    await desk.slot.set(ModelPhase.READY, embedder=embedder)
    space = await desk.backlog.space_of(embedder)

    async def pending(*args: Any, **given: Any) -> Any:
        await put_note(desk.database, B, note("attic"))
        return await look(*args, **given)

    monkeypatch.setattr(desk.database.vectors, "pending", pending)
    await desk.backlog.refill(space)
    monkeypatch.setattr(desk.database.vectors, "pending", look)
    await desk.backlog.refill(space)
    assert desk.backlog.lacking == len(desk.backlog.queue) == await desk.backlog.count()


async def test_start_over_that_is_cancelled_is_still_owed(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent"))
    await desk.embed(embedder)
    desk.backlog.must_start_over = True
    held, goes_on = asyncio.Event(), threading.Event()

    def hold(_db: apsw.Connection) -> None:
        loop.call_soon_threadsafe(held.set)
        goes_on.wait(30)

    loop = asyncio.get_running_loop()
    holding = asyncio.create_task(desk.database.write(hold))
    await held.wait()
    refilling = asyncio.create_task(desk.backlog.refill(await desk.backlog.spaces.of(embedder)))
    await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    refilling.cancel()
    goes_on.set()
    await holding
    with suppress(asyncio.CancelledError):
        await refilling
    assert desk.backlog.must_start_over


async def test_file_that_does_not_change_is_counted_once(desk: Desk) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(desk.database, A, note("rent", "boiler"))
    await desk.embed(first)
    assert await desk.backlog.count() == 0
    # nor if it can only be read
    await desk.database.close()
    await desk.database.open_to_read(why="the disk is full")
    assert await desk.steps_of(desk.backlog.count) > 0
    for _ in range(3):
        assert await desk.steps_of(desk.backlog.count) == await desk.backlog.count() == 0
    await desk.slot.set(ModelPhase.READY, embedder=second)
    assert await desk.backlog.count() == len(first.embedded)
    await desk.database.close()
    await desk.database.open()
    await put_note(desk.database, B, note("attic"))
    assert await desk.backlog.count() > len(first.embedded)


async def test_space_of_a_file_that_was_made_anew_says_when_it_was_worked_in(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent"))
    await desk.embed(embedder)
    await desk.database.close()
    for part in desk.database.path.parent.glob("index.sqlite*"):
        part.unlink()
    await desk.database.open()
    await put_note(desk.database, A, note("rent"))
    await desk.embed(embedder)
    since = await desk.database.read(lambda db: db.execute("SELECT created_at FROM spaces").get)
    assert time.time() - since < 60


async def test_vectors_for_a_file_that_was_lost_go_to_no_space_of_the_new_one(desk: Desk) -> None:
    embedder = FakeEmbedder()
    await put_note(desk.database, A, note("rent"))
    await desk.slot.set(ModelPhase.READY, embedder=embedder)
    space = await desk.backlog.space_of(embedder)
    await desk.backlog.refill(space)
    batch = desk.backlog.queue.take(4)
    await desk.database.close()
    for part in desk.database.path.parent.glob("index.sqlite*"):
        part.unlink()
    await desk.database.open()
    await put_note(desk.database, A, note("rent"))
    with pytest.raises(StoreError):
        await desk.backlog.embed(embedder, space, batch)
    assert await desk.vectors() == 0
