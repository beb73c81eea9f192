import time

import apsw
import numpy as np
import pytest

from memoryd.domain.documents import RelativePath
from memoryd.store.chunks import chunks_of_hashes, counts
from memoryd.store.database import Database
from memoryd.store.document_rows import purge_files, remove_files
from memoryd.store.pending_passages import count_pending, pending, put_rejected
from memoryd.store.stored_vectors import Matrix, ids_of_files, nearest, put_vectors, vectors_after, vectors_of
from memoryd.store.vector_spaces import count_unused, drop_space, evict_unused, open_space, spaces_of
from tests.store.consistency import check_consistency
from tests.store.rows import note, put
from tests.waiting import eventually

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
SIZE = 8
ALL = 1_000


def space_of(db: apsw.Connection, fingerprint: str = "space-1", *, provider: str = "fake", now: float = 1.0) -> int:
    return open_space(db, fingerprint=fingerprint, provider=provider, model="fake", dimensions=SIZE, now=now)


def vector_for(key: bytes) -> Matrix:
    vector = np.random.default_rng(int.from_bytes(key[:8], "big")).standard_normal(SIZE).astype(np.float32)
    unit: Matrix = vector / np.linalg.norm(vector)
    return unit


def embed_all(db: apsw.Connection, space: int, now: float = 1.0) -> int:
    todo = pending(db, space, 1000)
    put_vectors(db, space, [(item.hash, vector_for(item.hash)) for item in todo], now)
    return len(todo)


@pytest.fixture
async def space(database: Database) -> int:
    await database.write(lambda db: put(db, A, note("rent", "boiler")))
    return await database.write(space_of)


async def test_every_passage_is_pending_until_it_has_a_vector(database: Database, space: int) -> None:
    owed = await database.read(lambda db: count_pending(db, space))
    assert owed == (await database.read(counts)).passages
    assert await database.write(lambda db: embed_all(db, space)) == owed
    assert await database.read(lambda db: count_pending(db, space)) == 0
    await database.write(check_consistency)


async def test_pending_text_is_the_passage_as_it_stands(database: Database, space: int) -> None:
    for item in await database.read(lambda db: pending(db, space, 1000)):
        assert item.text in note("rent", "boiler")
        assert item.title in ("rent", "boiler")


async def test_newest_notes_come_first(database: Database, space: int) -> None:
    await database.write(lambda db: put(db, B, note("attic")))
    titles = [item.title for item in await database.read(lambda db: pending(db, space, 1000))]
    assert titles[: titles.count("attic")] == ["attic"] * titles.count("attic")


async def test_same_text_in_another_note_needs_no_vector(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space))
    await database.write(lambda db: put(db, B, note("rent", "boiler")))
    assert await database.read(lambda db: count_pending(db, space)) == 0
    held = await database.read(lambda db: vectors_after(db, space, 0, SIZE, ALL))
    pairs = await database.read(lambda db: chunks_of_hashes(db, held.hashes.tolist()))
    assert len(pairs) == (await database.read(counts)).passages


async def test_rejected_text_is_not_asked_for_again_until_the_space_is_dropped(database: Database, space: int) -> None:
    item = (await database.read(lambda db: pending(db, space, 1)))[0]
    owed = await database.read(lambda db: count_pending(db, space))
    await database.write(lambda db: put_rejected(db, space, [(item.hash, "no vector")]))
    assert await database.read(lambda db: count_pending(db, space)) == owed - 1
    await database.write(lambda db: drop_space(db, space))
    assert await database.read(lambda db: count_pending(db, space)) == owed


async def test_spaces_are_never_mixed(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space))
    other = await database.write(lambda db: space_of(db, "space-2"))
    assert await database.read(lambda db: count_pending(db, other)) > 0
    held = await database.read(lambda db: vectors_after(db, other, 0, SIZE, ALL))
    assert len(held.ids) == len(held.hashes) == len(held.vectors) == 0
    assert await database.write(space_of) == space


async def test_vectors_are_read_back_by_hash_for_another_index(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space))
    hashes = await database.read(lambda db: [row[0] for row in db.execute("SELECT hash FROM passages")])
    found = await database.read(lambda db: vectors_of(db, "space-1", [*hashes, b"unknown"]))
    assert found.keys() == set(hashes)
    assert all(np.array_equal(found[key], vector_for(key)) for key in hashes)
    assert not await database.read(lambda db: vectors_of(db, "space-2", hashes))


async def test_sqlite_vec_and_numpy_agree(database: Database, space: int) -> None:
    assert database.vector_error is None
    await database.write(lambda db: embed_all(db, space))
    query = vector_for(b"question")
    held = await database.read(lambda db: vectors_after(db, space, 0, SIZE, ALL))
    expected = sorted(
        zip(held.hashes.tolist(), (held.vectors @ query).tolist(), strict=True), key=lambda pair: -pair[1]
    )
    found = await database.read(lambda db: nearest(db, space, query, 100))
    assert [pair[0] for pair in found] == [pair[0] for pair in expected]
    assert [pair[1] for pair in found] == pytest.approx([pair[1] for pair in expected], abs=1e-5)
    places = dict(zip(held.hashes.tolist(), held.ids.tolist(), strict=True))
    allowed = [expected[-1][0], expected[0][0]]
    kept = await database.read(lambda db: nearest(db, space, query, 100, [places[key] for key in allowed]))
    assert [pair[0] for pair in kept] == allowed[::-1]


async def test_unused_vectors_are_kept_up_to_a_bound_least_recent_out(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space, now=1.0))
    await database.write(lambda db: put(db, B, note("attic")))
    await database.write(lambda db: embed_all(db, space, now=2.0))
    used = (await database.read(counts)).vectors
    attic = await database.read(lambda db: ids_of_files(db, space, [2]).tolist())
    await database.write(lambda db: remove_files(db, [A, B]))
    assert await database.write(lambda db: evict_unused(db, [space], len(attic))) == used - len(attic)
    left = await database.read(lambda db: vectors_after(db, space, 0, SIZE, ALL))
    assert left.ids.tolist() == attic


async def test_vectors_in_use_are_never_evicted(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space))
    assert await database.write(lambda db: evict_unused(db, [space], 0)) == 0
    assert await database.read(lambda db: count_pending(db, space)) == 0


async def test_vector_whose_text_went_last_stays_longest(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space, now=1.0))
    await database.write(lambda db: put(db, B, note("attic")))
    await database.write(lambda db: embed_all(db, space, now=2.0))
    rent = await database.read(lambda db: ids_of_files(db, space, [1]).tolist())
    await database.write(lambda db: remove_files(db, [B]))
    gone = time.time()
    eventually(lambda: time.time() > gone + 0.01)
    await database.write(lambda db: remove_files(db, [A]))
    await database.write(lambda db: evict_unused(db, [space], len(rent)))
    left = await database.read(lambda db: vectors_after(db, space, 0, SIZE, ALL))
    assert left.ids.tolist() == rent, "made first, but used last"


async def test_spaces_of_other_providers_in_use_are_no_cache(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space))
    held = (await database.read(counts)).vectors
    fallback = await database.write(lambda db: space_of(db, "space-2", provider="spare", now=2.0))
    await database.write(lambda db: embed_all(db, fallback))
    in_use = await database.read(lambda db: spaces_of(db, ["fake", "spare"]))
    assert in_use == {space, fallback}
    assert await database.read(lambda db: count_unused(db, in_use)) == 0
    assert await database.write(lambda db: evict_unused(db, in_use, 0)) == 0
    only = await database.read(lambda db: spaces_of(db, ["spare"]))
    assert await database.read(lambda db: count_unused(db, only)) == held


async def test_space_of_a_provider_that_is_in_use_is_the_one_opened_last(database: Database, space: int) -> None:
    other = await database.write(lambda db: space_of(db, "space-2", now=2.0))
    assert await database.read(lambda db: spaces_of(db, ["fake"])) == {other}
    await database.write(lambda db: space_of(db, now=3.0))
    assert await database.read(lambda db: spaces_of(db, ["fake"])) == {space}


async def test_purge_takes_the_vectors_that_only_the_purged_note_used(database: Database, space: int) -> None:
    await database.write(lambda db: put(db, B, note("rent", "secret")))
    await database.write(lambda db: embed_all(db, space))
    await database.write(lambda db: purge_files(db, [B]))
    held = await database.read(counts)
    assert held.vectors == held.passages
    assert await database.read(lambda db: count_pending(db, space)) == 0


async def test_ids_grow_so_that_new_vectors_come_after_the_last_seen(database: Database, space: int) -> None:
    await database.write(lambda db: embed_all(db, space, now=time.time()))
    held = await database.read(lambda db: vectors_after(db, space, 0, SIZE, ALL))
    assert held.ids.tolist() == sorted(held.ids.tolist())
    assert held.vectors.shape == (len(held.ids), SIZE)
    first = await database.read(lambda db: vectors_after(db, space, 0, SIZE, 2))
    assert first.ids.tolist() == held.ids[:2].tolist()
    await database.write(lambda db: put(db, B, note("attic")))
    await database.write(lambda db: embed_all(db, space))
    more = await database.read(lambda db: vectors_after(db, space, int(held.ids[-1]), SIZE, ALL))
    assert len(more.ids) > 0
    assert min(more.ids) > max(held.ids)
