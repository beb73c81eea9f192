"""A read-only index answers by words and vectors, and nothing is embedded for it."""

import pytest

from memoryd.errors import StoreUnavailable
from memoryd.search.protocol import ArmState
from memoryd.store.index.documents import remove_files
from tests.integration.indexing import Stage
from tests.waiting import eventually_async

WHY = "the disk is read-only"


async def test_f050_read_only_index_answers_with_its_vectors(stage: Stage) -> None:
    """An index opened only to be read answers by words and by its vectors."""
    await stage.embed()
    await stage.database.close()
    await stage.database.open_to_read(why=WHY)
    found = await stage.ask("the sourdough loaf")
    assert found.hits[0].chunk.path == "memory/2026-10-06.md"
    assert found.arms["vector"].state is ArmState.OK
    assert found.hits[0].cosine is not None


async def test_f050_nothing_is_embedded_for_a_read_only_index(stage: Stage) -> None:
    """Nothing is embedded for a read-only index, and the reason is reported; once it is writable, embedding goes on."""
    await stage.embed()
    stage.write("memory/new.md", "The quetzal is on the roof.\n")
    stage.embedder.is_down = True
    await stage.sync()
    await stage.database.close()
    await stage.database.open_to_read(why=WHY)
    stage.embedder.is_down = False
    embedded = len(stage.embedder.embedded)
    stage.embedding_loop.wake()
    await eventually_async(lambda: stage.embedding_loop.trouble and WHY in stage.embedding_loop.trouble)
    assert len(stage.embedder.embedded) == embedded
    await stage.database.close()
    await stage.database.open()
    await stage.embed()
    assert len(stage.embedder.embedded) == embedded + 1
    await stage.dump()


async def test_f050_write_to_a_read_only_index_names_the_reason(stage: Stage) -> None:
    """A write to such an index names the reason and changes no byte; once it is open again, it is done."""
    await stage.sync()
    await stage.database.close()
    before = stage.database.path.read_bytes()
    await stage.database.open_to_read(why=WHY)
    with pytest.raises(StoreUnavailable, match=WHY):
        await stage.database.write(lambda db: remove_files(db, ["MEMORY.md"]))  # type: ignore[list-item]  # a path
    stage.write("memory/new.md", "The quetzal is on the roof.\n")
    stage.indexer.triggers.demand()
    await eventually_async(lambda: WHY in (stage.indexer.state.trouble or ""))
    await stage.database.close()
    assert stage.database.path.read_bytes() == before
    await stage.database.open()
    await stage.sync()
    assert await stage.found("quetzal") == ["memory/new.md"]


async def test_forced_sync_is_done_once_the_index_is_writable(stage: Stage) -> None:
    await stage.sync()
    # a file that was just written is read again anyway, because its times prove nothing yet
    read_at = await _settled(stage)
    await stage.database.close()
    await stage.database.open_to_read(why=WHY)
    stage.indexer.triggers.demand(is_forced=True)
    await eventually_async(lambda: WHY in (stage.indexer.state.trouble or ""))
    await stage.database.close()
    await stage.database.open()
    await stage.sync()
    assert all(later > read_at[path] for path, later in (await _read_at(stage)).items())


async def _settled(stage: Stage) -> dict[str, int]:
    """Return when each file was read, once a sync reads none of them."""
    read_at: dict[str, int] = {}

    async def is_left_alone() -> bool:
        nonlocal read_at
        await stage.sync()
        before, read_at = read_at, await _read_at(stage)
        return before == read_at

    await eventually_async(is_left_alone, step=0.2)
    return read_at


async def _read_at(stage: Stage) -> dict[str, int]:
    return dict(await stage.database.read(lambda db: list(db.execute("SELECT path, read_at_ns FROM files"))))
