"""The backlog of the embedding loop, step by step: what it remembers between queries, and what it forgets."""

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
class BacklogIndex:
    """A backlog over a real index, used by the test only."""

    database: Database
    backlog: Backlog
    slot: CurrentEmbedder

    async def embed(self, embedder: FakeEmbedder) -> None:
        """Set the embedder, and embed everything pending once."""
        await self.slot.set(ModelPhase.READY, embedder=embedder)
        space = await self.backlog.space_of(embedder)
        await self.backlog.refill(space)
        while batch := self.backlog.queue.take(4):
            await self.backlog.embed(embedder, space, batch)

    async def bound_unused(self) -> None:
        self.backlog.rescan()
        await self.backlog.bound_unused()

    async def steps_of_refill(self, space: int) -> int:
        """Return the number of SQLite steps of the query for pending passages."""
        return await self.steps_of(lambda: self.backlog.refill(space))

    async def steps_of(self, ask: Callable[[], Awaitable[object]]) -> int:
        """Return the number of SQLite steps of a read."""
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
async def index(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[BacklogIndex]:
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
        yield BacklogIndex(database, backlog, slot)
        await database.close()


async def test_failed_query_is_repeated(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent"))
    await index.embed(embedder)
    await index.embed(embedder)
    await put_note(index.database, B, note("attic"))
    # only the query for pending passages reads this table
    await index.database.write(lambda db: db.execute("ALTER TABLE rejected RENAME TO elsewhere"))
    with pytest.raises(StoreError):
        await index.embed(embedder)
    await index.database.write(lambda db: db.execute("ALTER TABLE elsewhere RENAME TO rejected"))
    await index.embed(embedder)
    assert await index.backlog.count() == 0


@pytest.mark.parametrize("index", [5], indirect=True)
async def test_limit_of_unused_vectors_covers_all_spaces(index: BacklogIndex) -> None:
    await put_note(index.database, A, note("rent", "boiler", "lamp"))
    for embedder in (FakeEmbedder(), FakeEmbedder(name="other", provider="spare")):
        await index.embed(embedder)
    passages = (await index.database.documents.counts()).passages
    assert passages <= 5 < 2 * passages == await index.vectors()
    await index.bound_unused()
    await index.database.documents.remove([A])
    await index.bound_unused()
    assert await index.vectors() == 5


async def test_model_set_only_between_two_queries_keeps_vectors(index: BacklogIndex) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(index.database, A, note("rent"))
    await index.embed(first)
    once = await index.vectors()
    await index.slot.set(ModelPhase.READY, embedder=second)
    await index.bound_unused()
    assert await index.vectors() == once
    # and its space does not count as the one in use
    at_work = await index.database.vectors.find_space(first.identity.fingerprint)
    assert await index.database.vectors.spaces_of(["fake"]) == {at_work}
    await index.embed(first)
    assert await index.backlog.count() == 0


async def test_vectors_of_previous_model_are_evicted_after_switch_back(
    index: BacklogIndex,
) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(index.database, A, note("rent"))
    await index.embed(first)
    await index.embed(second)
    once = len(first.embedded)
    await index.slot.set(ModelPhase.READY, embedder=first)
    await index.bound_unused()
    assert await index.vectors() == 2 * once
    await index.embed(first)
    await index.backlog.bound_unused()
    assert await index.vectors() == once


@pytest.mark.parametrize("index", [2], indirect=True)
async def test_vectors_of_intermediate_model_count_for_limit(index: BacklogIndex) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(index.database, A, note("rent", "boiler", "lamp"))
    await index.embed(first)
    await index.bound_unused()
    once = await index.vectors()
    await index.embed(second)
    await index.embed(first)
    await index.bound_unused()
    assert await index.vectors() == once + 2 < len(first.embedded) + len(second.embedded)


async def test_start_over_refused_by_disk_is_repeated(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent"))
    await index.embed(embedder)
    once = len(embedder.embedded)
    index.backlog.must_start_over = True
    await index.database.write(lambda db: db.execute("ALTER TABLE rejected RENAME TO elsewhere"))
    with pytest.raises(StoreError):
        await index.embed(embedder)
    await index.database.write(lambda db: db.execute("ALTER TABLE elsewhere RENAME TO rejected"))
    await index.embed(embedder)
    assert len(embedder.embedded) == 2 * once


async def test_commit_while_texts_wait_queries_only_new_texts(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    for number in range(60):
        await put_note(index.database, RelativePath(f"memory/{number}.md"), note(f"rent{number}", f"boiler{number}"))
    await index.slot.set(ModelPhase.READY, embedder=embedder)
    space = await index.backlog.space_of(embedder)
    every = await index.steps_of_refill(space)
    first = index.backlog.queue.take(4)
    # one of the new texts is waiting already
    await put_note(index.database, A, note("attic", "rent7"))
    new = await index.steps_of_refill(space)
    assert new < every / 10
    texts = [item.hash for item in (*first, *index.backlog.queue.take(1000))]
    assert len(texts) == len(set(texts)) == index.backlog.lacking == await index.backlog.count()


async def test_text_removed_while_waiting_is_not_embedded(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent", "boiler"))
    await put_note(index.database, B, note("attic"))
    await index.slot.set(ModelPhase.READY, embedder=embedder)
    space = await index.backlog.space_of(embedder)
    await index.backlog.refill(space)
    await index.database.documents.remove([A])
    await index.backlog.refill(space)
    assert [item.title for item in index.backlog.queue.take(1000)] == ["attic"]


async def test_text_purged_during_query_is_not_embedded(index: BacklogIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, original = index.database.vectors, index.database.vectors.pending
    await put_note(index.database, A, note("rent"))
    await put_note(index.database, B, note("secret"))

    async def pending(*args: Any, **given: Any) -> Any:
        found = await original(*args, **given)
        await index.database.documents.remove([], purged=[B])
        return found

    embedder = FakeEmbedder()
    monkeypatch.setattr(vectors, "pending", pending)
    await index.embed(embedder)
    monkeypatch.setattr(vectors, "pending", original)
    await index.embed(embedder)
    assert embedder.embedded
    assert not [text for text in embedder.embedded if "secret" in text]


async def test_note_added_between_count_and_query_waits_once(
    index: BacklogIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, original = FakeEmbedder(), index.database.vectors.pending
    await put_note(index.database, A, note(*map(str, range(40))))
    await index.slot.set(ModelPhase.READY, embedder=embedder)
    space = await index.backlog.space_of(embedder)

    async def pending(*args: Any, **given: Any) -> Any:
        await put_note(index.database, B, note("attic"))
        return await original(*args, **given)

    monkeypatch.setattr(index.database.vectors, "pending", pending)
    await index.backlog.refill(space)
    monkeypatch.setattr(index.database.vectors, "pending", original)
    await index.backlog.refill(space)
    assert index.backlog.lacking == len(index.backlog.queue) == await index.backlog.count()


async def test_cancelled_start_over_is_repeated(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent"))
    await index.embed(embedder)
    index.backlog.must_start_over = True
    held, goes_on = asyncio.Event(), threading.Event()

    def hold(_db: apsw.Connection) -> None:
        loop.call_soon_threadsafe(held.set)
        goes_on.wait(30)

    loop = asyncio.get_running_loop()
    holding = asyncio.create_task(index.database.write(hold))
    await held.wait()
    refilling = asyncio.create_task(index.backlog.refill(await index.backlog.spaces.of(embedder)))
    await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    refilling.cancel()
    goes_on.set()
    await holding
    with suppress(asyncio.CancelledError):
        await refilling
    assert index.backlog.must_start_over


async def test_unchanged_index_is_counted_once(index: BacklogIndex) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(name="second")
    await put_note(index.database, A, note("rent", "boiler"))
    await index.embed(first)
    assert await index.backlog.count() == 0
    # also if it is read-only
    await index.database.close()
    await index.database.open_to_read(why="the disk is full")
    assert await index.steps_of(index.backlog.count) > 0
    for _ in range(3):
        assert await index.steps_of(index.backlog.count) == await index.backlog.count() == 0
    await index.slot.set(ModelPhase.READY, embedder=second)
    assert await index.backlog.count() == len(first.embedded)
    await index.database.close()
    await index.database.open()
    await put_note(index.database, B, note("attic"))
    assert await index.backlog.count() > len(first.embedded)


async def test_space_of_recreated_index_has_new_creation_time(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent"))
    await index.embed(embedder)
    await index.database.close()
    for part in index.database.path.parent.glob("index.sqlite*"):
        part.unlink()
    await index.database.open()
    await put_note(index.database, A, note("rent"))
    await index.embed(embedder)
    since = await index.database.read(lambda db: db.execute("SELECT created_at FROM spaces").get)
    assert time.time() - since < 60


async def test_vectors_for_a_lost_index_are_not_stored_in_new_one(index: BacklogIndex) -> None:
    embedder = FakeEmbedder()
    await put_note(index.database, A, note("rent"))
    await index.slot.set(ModelPhase.READY, embedder=embedder)
    space = await index.backlog.space_of(embedder)
    await index.backlog.refill(space)
    batch = index.backlog.queue.take(4)
    await index.database.close()
    for part in index.database.path.parent.glob("index.sqlite*"):
        part.unlink()
    await index.database.open()
    await put_note(index.database, A, note("rent"))
    with pytest.raises(StoreError):
        await index.backlog.embed(embedder, space, batch)
    assert await index.vectors() == 0
