"""The embedding loop: every passage gets its vector once, whatever the embedder does."""

import asyncio
import time
from pathlib import Path

import pytest

from memoryd.embed.current import ModelPhase
from memoryd.wire import Event
from tests.fakes import FakeEmbedder, vector_of
from tests.integration.indexing import Stage, staged
from tests.store.consistency import open_index
from tests.waiting import eventually_async


def pieces(word: str, count: int = 12) -> str:
    """Return a note of several passages about the word."""
    return "".join(f"## {word} {number}\n\n{f'The {word}{number} is here. ' * 12}\n\n" for number in range(count))


async def assert_embedded_once(stage: Stage) -> None:
    assert len(stage.embedder.embedded) == len(set(stage.embedder.embedded))


async def test_every_passage_is_embedded_once(stage: Stage) -> None:
    stage.write("memory/long.md", pieces("quetzal"))
    await stage.embed()
    assert stage.embedding_loop.pending == 0
    await assert_embedded_once(stage)
    await stage.embed()
    await assert_embedded_once(stage)


async def test_same_text_in_two_notes_is_embedded_once(stage: Stage) -> None:
    stage.write("memory/a.md", pieces("quetzal"))
    stage.write("memory/b.md", pieces("quetzal"))
    await stage.embed()
    await assert_embedded_once(stage)
    lacking = "SELECT count(*) FROM passages WHERE hash NOT IN (SELECT hash FROM vectors)"
    assert await stage.database.read(lambda db: db.execute(lacking).get) == 0


async def test_restored_text_needs_no_new_vector(stage: Stage) -> None:
    note = stage.write("memory/a.md", pieces("quetzal"))
    await stage.embed()
    text, before = note.read_text(), len(stage.embedder.embedded)
    note.unlink()
    await stage.embed()
    stage.write("memory/again.md", text)
    await stage.embed()
    assert len(stage.embedder.embedded) == before


async def test_passages_are_not_counted_without_configured_model(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", phase=ModelPhase.WARMING) as stage:
        stage.write("memory/a.md", pieces("quetzal"))
        await stage.sync()
        await eventually_async(lambda: stage.embedding_loop.missing_vectors > 0)
        await stage.slot.set(ModelPhase.OFF)
        await eventually_async(lambda: stage.embedding_loop.missing_vectors == 0)
        assert await stage.embedding_loop.count() == 0
        await stage.slot.set(ModelPhase.READY, embedder=stage.embedder)
        await stage.embed()
        await assert_embedded_once(stage)


async def test_passages_are_indexed_by_hash_once_model_is_configured(tmp_path: Path, workspace: Path) -> None:
    has_index = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'passages_by_hash')"
    async with staged(workspace, tmp_path / "state", phase=ModelPhase.OFF) as stage:
        stage.write("memory/a.md", pieces("quetzal"))
        await stage.sync()
        assert not await stage.database.read(lambda db: db.execute(has_index).get)
        await stage.slot.set(ModelPhase.WARMING)
        await eventually_async(lambda: stage.embedding_loop.missing_vectors > 0)
        assert await stage.database.read(lambda db: db.execute(has_index).get)


async def test_start_over_without_model_is_not_remembered(tmp_path: Path, workspace: Path) -> None:
    first = FakeEmbedder()
    async with staged(workspace, tmp_path / "state", embedder=first) as stage:
        await stage.embed()
        once = len(first.embedded)
    async with staged(workspace, tmp_path / "state", phase=ModelPhase.OFF) as stage:
        await stage.sync()
        stage.embedding_loop.start_over()
        await stage.slot.set(ModelPhase.READY, embedder=first)
        await stage.embed()
        assert len(first.embedded) == once
        stage.embedding_loop.start_over()
        await stage.embed()
        assert len(first.embedded) == 2 * once


async def test_restart_continues_where_it_stopped(tmp_path: Path, workspace: Path) -> None:
    first = FakeEmbedder()
    async with staged(workspace, tmp_path / "state", embedder=first) as stage:
        stage.write("memory/long.md", pieces("quetzal", 40))
        first.goes_on.clear()
        await stage.sync()
        await eventually_async(lambda: first.batches)
        first.goes_on.set()
        await eventually_async(lambda: len(first.batches) > 4)
    done = {text for batch in first.batches[:-1] for text in batch}
    async with staged(workspace, tmp_path / "state") as stage:
        await stage.embed()
        assert not done & set(stage.embedder.embedded)
        await stage.dump()


@pytest.mark.parametrize("deadly", [["quetzal3"], ["quetzal0", "quetzal7", "quetzal11"]])
async def test_text_that_kills_embedder_is_rejected_alone(tmp_path: Path, workspace: Path, deadly: list[str]) -> None:
    embedder = FakeEmbedder(deadly=frozenset(f"{word} is" for word in deadly))
    async with staged(workspace, tmp_path / "state", embedder=embedder) as stage:
        stage.write("memory/long.md", pieces("quetzal"))
        await stage.embed(seconds=20)
        rejected = await stage.database.read(lambda db: list(db.execute("SELECT reason FROM rejected")))
        assert len(rejected) >= len(deadly)
        assert all("signal 6" in reason for (reason,) in rejected)
        tries = [batch for batch in embedder.batches if len(batch) == 1 and any(word in batch[0] for word in deadly)]
        assert len(tries) <= 3 * len(rejected)
        assert await stage.found(f"{deadly[0]}") == ["memory/long.md"]
        asked = len(embedder.batches)
        stage.write("memory/more.md", "The ibex.\n")
        await stage.embed()
        assert not any(word in text for batch in embedder.batches[asked:] for text in batch for word in embedder.deadly)


async def test_unfit_text_is_rejected_and_still_found_by_words(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder(unfit=frozenset({"quetzal3"}))
    async with staged(workspace, tmp_path / "state", embedder=embedder) as stage:
        stage.write("memory/long.md", pieces("quetzal"))
        await stage.embed()
        await assert_embedded_once(stage)
        assert await stage.found("quetzal3") == ["memory/long.md"]


async def test_embedder_outage_is_retried(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder(is_down=True)
    async with staged(workspace, tmp_path / "state", embedder=embedder) as stage:
        await stage.sync()
        await eventually_async(lambda: stage.embedding_loop.trouble)
        assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
        assert stage.embedding_loop.pending > 0
        embedder.is_down = False
        await stage.embed()
        assert stage.embedding_loop.trouble is None


async def test_embedder_outage_causes_no_busy_loop(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder(is_down=True)
    async with staged(workspace, tmp_path / "state", embedder=embedder) as stage:
        await stage.sync()
        await eventually_async(lambda: len(embedder.batches) >= 5)
        start, asked = asyncio.get_running_loop().time(), len(embedder.batches)
        await eventually_async(lambda: len(embedder.batches) >= asked + 5)
        assert asyncio.get_running_loop().time() - start > 5 * 0.02 * 0.5


async def test_locked_index_causes_no_busy_loop(stage: Stage) -> None:
    await stage.embed()
    await stage.database.write(lambda db: db.set_busy_timeout(0))
    other = open_index(stage.database.path)
    other.execute("BEGIN IMMEDIATE")
    await stage.slot.set(ModelPhase.READY, embedder=FakeEmbedder(name="needs a new space"))
    await eventually_async(lambda: stage.embedding_loop.trouble)
    await eventually_async(lambda: stage.embedding_loop.pending)
    assert await stage.embedding_loop.count_pending() == (await stage.database.documents.counts()).passages
    used = time.process_time()
    await asyncio.to_thread(time.sleep, 0.5)
    assert time.process_time() - used < 0.25, "it must wait, not work"
    other.execute("ROLLBACK")
    other.close()
    await stage.embed()


async def test_vectors_of_another_index_are_reused(tmp_path: Path, workspace: Path) -> None:
    def everything(_fingerprint: str, hashes: object) -> dict[bytes, object]:
        return {key: vector_of(key.hex()) for key in hashes}  # type: ignore[attr-defined]

    async with staged(workspace, tmp_path / "state", lookup=everything) as stage:  # type: ignore[arg-type]
        await stage.embed()
        assert stage.embedder.embedded == []
        assert stage.embedding_loop.pending == 0


async def test_new_model_embeds_everything_again(stage: Stage) -> None:
    await stage.embed()
    second = FakeEmbedder(name="another")
    await stage.slot.set(ModelPhase.READY, embedder=second)
    assert await stage.found("GW-4172") == ["memory/2026-10-06.md"]
    await stage.embed()
    assert sorted(second.embedded) == sorted(stage.embedder.embedded)
    await stage.dump()


async def vectors(stage: Stage) -> int:
    return (await stage.database.documents.counts()).vectors


async def vectors_are(stage: Stage, count: int) -> bool:
    return await vectors(stage) == count


async def test_vectors_of_first_provider_survive_its_outage(tmp_path: Path, workspace: Path) -> None:
    first, spare = FakeEmbedder(), FakeEmbedder(name="other", provider="spare")
    async with staged(workspace, tmp_path / "state", embedder=first, max_unused=0) as stage:
        await stage.embed()
        once = len(first.embedded)
        await stage.slot.set(ModelPhase.READY, embedder=spare)
        await stage.embed()
        assert len(spare.embedded) == once
    # the restart happens while the first provider is still away
    async with staged(workspace, tmp_path / "state", embedder=spare, max_unused=0) as stage:
        stage.write("memory/gone.md", "The quetzal.\n").unlink()
        await stage.embed()
        await stage.slot.set(ModelPhase.READY, embedder=first)
        await stage.embed()
    assert len(first.embedded) == once, "nothing is paid for twice"
    assert len(spare.embedded) == once


async def test_vectors_of_current_model_survive_a_fallback(tmp_path: Path, workspace: Path) -> None:
    first, other, spare = FakeEmbedder(), FakeEmbedder(name="other"), FakeEmbedder(provider="spare")
    async with staged(workspace, tmp_path / "state", embedder=first) as stage:
        await stage.embed()
        once = len(first.embedded)
        for one in (other, first):
            await stage.slot.set(ModelPhase.READY, embedder=one)
            await stage.embed()
    async with staged(workspace, tmp_path / "state", embedder=spare, max_unused=0) as stage:
        await stage.embed()
        await stage.slot.set(ModelPhase.READY, embedder=first)
        await stage.embed()
        # with the model known again, the other one is not in use
        await eventually_async(lambda: vectors_are(stage, 2 * once))
    assert len(first.embedded) == once, "nothing is paid for twice"


@pytest.mark.parametrize("phase", [ModelPhase.WARMING, ModelPhase.FAILED])
async def test_vectors_of_configured_model_survive_until_it_is_ready(
    tmp_path: Path, workspace: Path, phase: ModelPhase
) -> None:
    first, other = FakeEmbedder(), FakeEmbedder(name="other")
    async with staged(workspace, tmp_path / "state", embedder=first) as stage:
        note = stage.write("memory/long.md", pieces("quetzal"))
        await stage.embed()
        note.unlink()
        await stage.embed()
        once = len(first.embedded)
        await stage.slot.set(ModelPhase.READY, embedder=other)
        await stage.embed()
        passages = (await stage.database.documents.counts()).passages
    async with staged(workspace, tmp_path / "state", phase=phase, max_unused=0) as stage:
        await stage.sync()
        # vectors that no note uses are evicted at once
        await eventually_async(lambda: vectors_are(stage, 2 * passages))
        await stage.slot.set(ModelPhase.READY, embedder=first)
        await stage.embed()
        await eventually_async(lambda: vectors_are(stage, passages))
    assert len(first.embedded) == once, "nothing is paid for twice"


async def test_unused_vectors_are_evicted_when_notes_are_deleted(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state", max_unused=5) as stage:
        note = stage.write("memory/long.md", pieces("quetzal"))
        await stage.embed()
        used = await vectors(stage)
        note.unlink()
        await stage.embed()
        passages = (await stage.database.documents.counts()).passages
        assert used > passages + 5
        await eventually_async(lambda: vectors_are(stage, passages + 5))


async def test_unused_vectors_are_evicted_at_start(tmp_path: Path, workspace: Path) -> None:
    async with staged(workspace, tmp_path / "state") as stage:
        note = stage.write("memory/long.md", pieces("quetzal"))
        await stage.embed()
        note.unlink()
        await stage.embed()
        passages = (await stage.database.documents.counts()).passages
        assert await vectors(stage) > passages + 5
    async with staged(workspace, tmp_path / "state", max_unused=5) as stage:
        await eventually_async(lambda: vectors_are(stage, passages + 5))
        assert not stage.embedder.embedded


async def test_start_over_embeds_everything_again(stage: Stage) -> None:
    await stage.embed()
    before = sorted(stage.embedder.embedded)
    stage.embedding_loop.start_over()
    await eventually_async(lambda: len(stage.embedder.embedded) == 2 * len(before))
    await stage.embed()
    assert sorted(stage.embedder.embedded) == sorted(before * 2)


async def test_progress_is_published(stage: Stage) -> None:
    stage.write("memory/long.md", pieces("quetzal"))
    await stage.embed()
    news = [data for event, data in stage.events if event is Event.EMBEDDING]
    assert news[-1]["pending"] == 0
    assert news[-1]["done"]


async def test_keyword_search_never_waits_for_the_embedder(tmp_path: Path, workspace: Path) -> None:
    embedder = FakeEmbedder()
    embedder.goes_on.clear()
    async with staged(workspace, tmp_path / "state", embedder=embedder) as stage:
        stage.write("memory/new.md", "The quetzal.\n")
        await stage.sync()
        rows = await stage.database.read(lambda db: db.execute("SELECT count(*) FROM vectors").get)
        assert rows == 0
        await stage.slot.set(ModelPhase.WARMING, "loading")
        assert await stage.found("quetzal") == ["memory/new.md"]
        embedder.goes_on.set()


class SlowToEnd(FakeEmbedder):
    """Takes until `may_end` to end when it is cancelled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.may_end = asyncio.Event()
        self.is_ending = False

    async def _available(self) -> None:
        try:
            await super()._available()
        except asyncio.CancelledError:
            self.is_ending = True
            await self.may_end.wait()
            raise


async def test_batch_may_be_cancelled_twice(tmp_path: Path, workspace: Path) -> None:
    slow = SlowToEnd()
    slow.goes_on.clear()
    async with staged(workspace, tmp_path / "state", embedder=slow) as stage:
        await eventually_async(lambda: slow.batches)
        stage.embedding_loop.cancel_batch()
        await eventually_async(lambda: slow.is_ending)
        stage.embedding_loop.cancel_batch()
        slow.may_end.set()
        slow.goes_on.set()
        await stage.embed()
        assert slow.embedded


async def test_text_edited_while_embedded_is_embedded_once(stage: Stage) -> None:
    """When branches are switched back and forth, their texts return and are found by hash."""
    stage.write("memory/branch.md", "The heron of the first branch.\n")
    await stage.embed()
    stage.embedder.goes_on.clear()
    stage.write("memory/branch.md", "The heron of the other branch.\n")
    await stage.sync()
    await eventually_async(lambda: stage.embedder.waiting)
    stage.write("memory/branch.md", "The heron of the first branch.\n")
    await stage.sync()
    stage.embedder.goes_on.set()
    await stage.embed()
    embedded = list(stage.embedder.embedded)
    stage.write("memory/branch.md", "The heron of the other branch.\n")
    await stage.embed()
    assert stage.embedder.embedded == embedded
    assert len(embedded) == len(set(embedded))


async def test_text_purged_while_embedded_leaves_no_vector(tmp_path: Path, workspace: Path) -> None:
    slow = SlowToEnd()
    async with staged(workspace, tmp_path / "state", embedder=slow) as stage:
        stage.write("memory/kept.md", "The heron.\n")
        await stage.embed()
        kept = await stage.database.read(lambda db: db.execute("SELECT count(*) FROM vectors").get)
        slow.goes_on.clear()
        stage.write("memory/secret.md", "The quetzal.\n")
        await stage.sync()
        await eventually_async(lambda: slow.waiting)
        stage.write("memory/secret.md", "---\nmemory: false\n---\nThe quetzal.\n")
        await stage.sync()
        slow.may_end.set()
        slow.goes_on.set()
        await stage.embed()
        rows = await stage.database.read(lambda db: db.execute("SELECT count(*) FROM vectors").get)
        assert rows == kept > 0
