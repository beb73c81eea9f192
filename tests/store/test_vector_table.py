"""The vector table: spaces, pending passages, and vectors that are no longer used."""

import time

import apsw
import numpy as np
import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.vector import Vector
from memoryd.replies.models import OutstandingReply
from memoryd.store.index.database import Database
from memoryd.store.index.documents import passages_of_hashes
from memoryd.store.index.vectors import VectorBatch
from memoryd.store.index.words import CandidateFilter
from tests.store.consistency import check_consistency
from tests.store.rows import note, put_note, read
from tests.waiting import eventually

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
SIZE = 8
ALL = 1_000


async def space_of(
    database: Database, fingerprint: str = "space-1", *, provider: str = "fake", now: float = 1.0
) -> int:
    return await database.vectors.open_space(
        fingerprint=fingerprint, provider=provider, model="fake", dimensions=SIZE, now=now
    )


def vector_for(key: bytes) -> Vector:
    vector = np.random.default_rng(int.from_bytes(key[:8], "big")).standard_normal(SIZE).astype(np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


async def embed_all(database: Database, space: int, now: float = 1.0) -> int:
    todo = (await database.vectors.pending(space, 1000)).passages
    await database.vectors.put(space, [(item.hash, vector_for(item.hash), item.language) for item in todo], (), now)
    return len(todo)


def same_batch(batch: VectorBatch) -> VectorBatch:
    return batch


async def ids_of_file(database: Database, space: int, file: int) -> list[int]:
    ids = await database.vectors.ids_within(space, CandidateFilter(files=(file,)))
    assert ids is not None
    return [int(one) for one in ids]


def _has_index_by_hash(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'passages_by_hash')").get)


@pytest.fixture
async def space(database: Database) -> int:
    await put_note(database, A, note("rent", "boiler"))
    return await space_of(database)


class TestVectors:
    """The operations."""

    async def test_every_passage_is_pending_until_it_has_a_vector(self, database: Database, space: int) -> None:
        owed = await database.vectors.count_pending(space)
        assert owed == (await database.documents.counts()).passages
        assert await embed_all(database, space) == owed
        assert await database.vectors.count_pending(space) == 0
        await database.write(check_consistency)

    async def test_pending_item_has_text_and_title_of_its_passage(self, database: Database, space: int) -> None:
        for item in (await database.vectors.pending(space, 1000)).passages:
            assert item.text in note("rent", "boiler")
            assert item.title in ("rent", "boiler")

    async def test_newest_notes_are_pending_first(self, database: Database, space: int) -> None:
        await put_note(database, B, note("attic"))
        titles = [item.title for item in (await database.vectors.pending(space, 1000)).passages]
        assert titles[: titles.count("attic")] == ["attic"] * titles.count("attic")

    async def test_same_text_in_another_note_needs_no_vector(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        await put_note(database, B, note("rent", "boiler"))
        assert await database.vectors.count_pending(space) == 0
        held = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        passages = await read(database, passages_of_hashes, held.hashes.tolist())
        assert len(passages) == (await database.documents.counts()).passages

    async def test_rejected_text_is_pending_again_once_space_is_dropped(self, database: Database, space: int) -> None:
        item = (await database.vectors.pending(space, 1)).passages[0]
        owed = await database.vectors.count_pending(space)
        await database.vectors.put(space, (), [(item.hash, "no vector")], 1.0)
        assert await database.vectors.count_pending(space) == owed - 1
        await database.vectors.drop_space(space)
        assert await database.vectors.count_pending(space) == owed

    async def test_spaces_are_never_mixed(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        other = await space_of(database, "space-2")
        assert await database.vectors.count_pending(other) > 0
        held = await database.vectors.load(other, 0, SIZE, ALL, same_batch)
        assert len(held.ids) == len(held.hashes) == len(held.vectors) == 0
        assert await space_of(database) == space

    async def test_vectors_are_read_by_hash(self, database: Database, space: int) -> None:
        hashes = [item.hash for item in (await database.vectors.pending(space, 1000)).passages]
        await embed_all(database, space)
        found = await database.vectors.of("space-1", [*hashes, b"unknown"])
        assert found.keys() == set(hashes)
        assert all(np.allclose(found[key], vector_for(key), atol=5e-4) for key in hashes)
        assert not await database.vectors.of("space-2", hashes)

    async def test_vectors_are_read_by_id_within_a_space(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        held = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        asked = np.array([held.ids[-1], held.ids[0], 10**6], np.int64)
        found = await database.read_snapshot(lambda reader: reader.vectors(space, asked, SIZE))
        assert found.ids.tolist() == [held.ids[0], held.ids[-1]]
        assert found.hashes.tolist() == [held.hashes[0].item(), held.hashes[-1].item()]
        assert np.array_equal(found.vectors, held.vectors[[0, -1]])
        other = await space_of(database, "space-2")
        assert not len((await database.read_snapshot(lambda reader: reader.vectors(other, asked, SIZE))).ids)

    async def test_least_recently_used_vectors_are_evicted(self, database: Database, space: int) -> None:
        await embed_all(database, space, now=1.0)
        await put_note(database, B, note("attic"))
        await embed_all(database, space, now=2.0)
        used = (await database.documents.counts()).vectors
        attic = await ids_of_file(database, space, 2)
        await database.documents.remove([A, B])
        assert await database.vectors.evict_unused([space], len(attic)) == used - len(attic)
        left = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        assert left.ids.tolist() == attic

    async def test_vectors_in_use_are_never_evicted(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        assert await database.vectors.evict_unused([space], 0) == 0
        assert await database.vectors.count_pending(space) == 0

    async def test_vector_whose_text_was_removed_last_stays_longest(self, database: Database, space: int) -> None:
        await embed_all(database, space, now=1.0)
        await put_note(database, B, note("attic"))
        await embed_all(database, space, now=2.0)
        rent = await ids_of_file(database, space, 1)
        await database.documents.remove([B])
        gone = time.time()
        eventually(lambda: time.time() > gone + 0.01)
        await database.documents.remove([A])
        await database.vectors.evict_unused([space], len(rent))
        left = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        assert left.ids.tolist() == rent, "made first, but used last"

    async def test_last_opened_space_is_in_use_after_clock_set_back(self, database: Database, space: int) -> None:
        for name in ("space-2", "space-3", "space-1"):
            last = await space_of(database, name, now=0.5)
            assert await database.vectors.spaces_of(["fake"]) == {last}

    async def test_spaces_of_all_providers_in_use_are_not_evicted(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        held = (await database.documents.counts()).vectors
        fallback = await space_of(database, "space-2", provider="spare", now=2.0)
        await embed_all(database, fallback)
        in_use = await database.vectors.spaces_of(["fake", "spare"])
        assert in_use == {space, fallback}
        assert await database.vectors.count_unused(in_use) == 0
        assert await database.vectors.evict_unused(in_use, 0) == 0
        only = await database.vectors.spaces_of(["spare"])
        assert await database.vectors.count_unused(only) == held

    async def test_last_opened_space_of_a_provider_is_in_use(self, database: Database, space: int) -> None:
        other = await space_of(database, "space-2", now=2.0)
        assert await database.vectors.spaces_of(["fake"]) == {other}
        await space_of(database, now=3.0)
        assert await database.vectors.spaces_of(["fake"]) == {space}
        assert await database.vectors.spaces_of(["fake"], {"fake"}) == {space, other}
        assert await database.vectors.spaces_of(["spare"], {"fake"}) == set()

    async def test_purge_removes_vectors_used_only_by_purged_note(self, database: Database, space: int) -> None:
        await put_note(database, B, note("rent", "secret"))
        await embed_all(database, space)
        await database.documents.remove([], purged=[B])
        held = await database.documents.counts()
        assert held.vectors == held.passages
        assert await database.vectors.count_pending(space) == 0

    async def test_ids_of_new_vectors_follow_all_earlier_ones(self, database: Database, space: int) -> None:
        await embed_all(database, space, now=time.time())
        held = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        assert held.ids.tolist() == sorted(held.ids.tolist())
        assert held.vectors.shape == (len(held.ids), SIZE)
        first = await database.vectors.load(space, 0, SIZE, 2, same_batch)
        assert first.ids.tolist() == held.ids[:2].tolist()
        await put_note(database, B, note("attic"))
        await embed_all(database, space)
        more = await database.vectors.load(space, int(held.ids[-1]), SIZE, ALL, same_batch)
        assert len(more.ids) > 0
        assert min(more.ids) > max(held.ids)

    async def test_space_is_found_after_opening(self, database: Database, space: int) -> None:
        assert await database.vectors.find_space("space-1") == space
        assert await database.vectors.find_space("space-2") is None

    async def test_first_space_adds_index_of_passages_by_hash(self, database: Database) -> None:
        await put_note(database, A, note("rent", "boiler"))
        assert not await database.read(_has_index_by_hash)
        for _ in range(2):
            await space_of(database)
            assert await database.read(_has_index_by_hash)
            await database.close()
            await database.open()
            # a damaged file may lack it
            await database.write(lambda db: db.execute("DROP INDEX passages_by_hash").fetchall())

    async def test_vector_of_removed_text_is_not_stored(self, database: Database, space: int) -> None:
        items = (await database.vectors.pending(space, 1000)).passages
        await database.documents.remove([], purged=[A])
        given = [(item.hash, vector_for(item.hash), item.language) for item in items[1:]]
        await database.vectors.put(space, given, [(items[0].hash, "no vector")], 1.0)
        assert (await database.documents.counts()).vectors == 0
        assert await database.vectors.rejected("space-1") == []

    async def test_vector_of_edited_text_is_kept_for_its_return(self, database: Database, space: int) -> None:
        mark = database.vectors.purge_mark
        items = (await database.vectors.pending(space, 1000)).passages
        await database.documents.remove([A])
        given = [(item.hash, vector_for(item.hash), item.language) for item in items]
        await database.vectors.put(space, given, [], 1.0, purge_mark=mark)
        await put_note(database, A, note("rent", "boiler"))
        assert await database.vectors.count_pending(space) == 0

    async def test_vector_begun_before_a_purge_is_not_kept(self, database: Database, space: int) -> None:
        mark = database.vectors.purge_mark
        items = (await database.vectors.pending(space, 1000)).passages
        await put_note(database, A, note("attic"))
        await database.documents.drop_remains()
        given = [(item.hash, vector_for(item.hash), item.language) for item in items]
        await database.vectors.put(space, given, [], 1.0, purge_mark=mark)
        assert (await database.documents.counts()).vectors == 0

    async def test_rejected_passage_is_listed_with_place_and_reason(self, database: Database, space: int) -> None:
        (item,) = (await database.vectors.pending(space, 1)).passages
        await database.vectors.put(space, (), [(item.hash, "too long")], 1.0)
        (rejected,) = await database.vectors.rejected("space-1")
        assert (rejected.path, rejected.is_file, rejected.reason) == (A, False, "too long")
        assert 1 <= rejected.start_line <= rejected.end_line

    async def test_pending_excludes_given_hashes(self, database: Database, space: int) -> None:
        first, *others = (await database.vectors.pending(space, 1000)).passages
        assert (await database.vectors.pending(space, 1000, without=[first.hash])).passages == others

    async def test_changes_since_are_found_despite_reused_ids(self, database: Database, space: int) -> None:
        assert (await database.vectors.take_changes())[0] == 0, "initially everything may be new"
        await put_note(database, B, note("attic", "loft"))
        assert (await database.vectors.take_changes())[1] == 0
        await database.documents.remove([B])
        await put_note(database, B, note("cellar", "vault"))
        first, gone = await database.vectors.take_changes()
        found = await database.vectors.pending(space, 1000, first=first)
        assert {item.title for item in found.passages} == {"cellar", "vault"}
        assert found.count == gone == len(found.passages) > 1
        assert (await database.vectors.pending(space, 1, first=first)).count == found.count
        above, gone = await database.vectors.take_changes()
        assert (await database.vectors.pending(space, 1000, first=above)).count == gone == 0

    async def test_rolled_back_write_is_no_change(self, database: Database, space: int) -> None:
        _, gone = await database.vectors.take_changes()

        def fails(db: apsw.Connection) -> None:
            db.execute("DELETE FROM chunks")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await database.write(fails)
        assert gone > 0 == (await database.vectors.take_changes())[1]

    async def test_embedded_count_includes_all_copies_of_a_text(self, database: Database, space: int) -> None:
        await put_note(database, B, note("rent"))
        await put_note(database, RelativePath("memory/c.md"), note("rent"))
        assert await database.vectors.count_embedded("space-1") == 0
        await embed_all(database, space)
        assert await database.vectors.count_embedded("space-1") == (await database.documents.counts()).passages
        for path in (B, RelativePath("memory/c.md")):
            await put_note(database, path, note("rent", "cellar"))
        lacking, passages = await database.vectors.count_pending(space), (await database.documents.counts()).passages
        assert lacking > 0
        assert await database.vectors.count_embedded("space-1") == passages - 2 * lacking
        assert await database.vectors.count_embedded("unknown") == 0

    async def test_cost_counts_passages_without_vector_of_fingerprint(self, database: Database, space: int) -> None:
        everything = await database.vectors.pending_cost("unknown")
        assert (everything["files"], everything["passages"]) == (1, await database.vectors.count_pending(space))
        assert everything["tokens"] > everything["passages"]
        await embed_all(database, space)
        assert await database.vectors.pending_cost("space-1") == OutstandingReply(
            files=0, passages=0, tokens=0, media=0, mediaBytes=0
        )
        assert await database.vectors.pending_cost("unknown") == everything

    async def test_load_returns_result_of_its_callback(self, database: Database, space: int) -> None:
        await embed_all(database, space)
        held = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        assert await database.vectors.load(space, 0, SIZE, ALL, lambda batch: batch.ids.tolist()) == held.ids.tolist()

    async def test_ids_are_limited_by_the_filter(self, database: Database, space: int) -> None:
        await put_note(database, B, note("attic"))
        await embed_all(database, space)
        everything = await database.vectors.load(space, 0, SIZE, ALL, same_batch)
        assert await database.vectors.ids_within(space, CandidateFilter()) is None
        attic = await database.vectors.ids_within(space, CandidateFilter(required=(("attic", "item"),)))
        assert attic is not None
        assert attic.tolist() == await ids_of_file(database, space, 2)
        assert set(attic.tolist()) < set(everything.ids.tolist())
