"""The nearest vectors of a space, with each engine."""

import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.vector_space import UnrelatedVectors
from memoryd.domain.vector import Matrix, Vector, pack_vector, unpack_vector
from memoryd.errors import StoreUnavailable
from memoryd.search.vectors import Nearest, VectorIds, VectorIndex, VectorRows
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import HASH, VectorBatch, put_vectors
from tests.sweeps import swept

SIZE, COUNT = 64, 300
BYTES = COUNT * SIZE * 4
PLENTY = 10 * BYTES


def units(seed: int, count: int) -> Matrix:
    drawn = np.random.default_rng(seed).standard_normal((count, SIZE)).astype(np.float32)
    rows: Matrix = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return rows


def keys(first: int, count: int) -> list[bytes]:
    return [key_of(number) for number in range(first, first + count)]


def key_of(number: int) -> bytes:
    """Return the hash of a vector's text: in random order, like real hashes."""
    return sha256(str(number).encode()).digest()[:8] + number.to_bytes(8, "big")


def number_of(key: bytes) -> int:
    return int.from_bytes(key[8:], "big")


OF_BOTH = tuple(UnrelatedVectors(code, units(seed, 24), units(seed, 24)) for code, seed in (("en", 60), ("zh", 61)))
"""Strangers of a model in two languages."""


class VectorStore:
    """A database to which vectors are added in batches."""

    def __init__(self, database: Database, space: int) -> None:
        self.database = database
        self.vectors = np.empty((0, SIZE), np.float32)
        self.strangers: tuple[UnrelatedVectors, ...] = ()
        self._space = space

    async def put(self, count: int, topics: Matrix | None = None, *, language: str = "en") -> None:
        first = len(self.vectors)
        added = units(first, count) + (0 if topics is None else topics)
        # as the index returns it
        added = unpack_vector([pack_vector(row / np.linalg.norm(row)) for row in added], SIZE)
        pairs = list(zip(keys(first, count), added, [language] * count, strict=True))
        await self.database.write(lambda db: put_vectors(db, self._space, pairs, 1.0))
        self.vectors = np.concatenate([self.vectors, added])

    def index(self, limit: int = PLENTY) -> VectorIndex:
        return VectorIndex(
            database=self.database,
            space=self._space,
            dimensions=SIZE,
            limit=limit,
            strangers=lambda: self.strangers,
        )

    async def ask(
        self,
        index: VectorIndex,
        query: Vector,
        limit: int,
        allowed: VectorIds | None = None,
        *,
        language: str = "",
        strangers: UnrelatedVectors | None = None,
    ) -> tuple[Nearest, Noise]:
        """Return the `limit` nearest and the noise of the question."""
        compared = await index.compare(query, language=language, strangers=strangers)
        return await self.database.read_snapshot(
            lambda reader: compared.nearest(reader, limit, allowed)
        ), compared.noise

    def nearest(self, query: Vector, limit: int) -> list[bytes]:
        order = np.argsort(-(self.vectors @ query), kind="stable")[:limit]
        return [key_of(int(place)) for place in order]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[VectorStore]:
    with ThreadPoolExecutor(2) as executor:
        database = Database(path=tmp_path / "index.sqlite", executor=executor)
        await database.open()
        space = await database.vectors.open_space(
            fingerprint="f", provider="fake", model="fake", dimensions=SIZE, now=1.0
        )
        made = VectorStore(database, space)
        await made.put(COUNT)
        yield made
        await database.close()


@pytest.mark.parametrize(
    ("limit", "engine"),
    [(PLENTY, "resident"), (BYTES, "resident"), (BYTES - 1, "signs")],
)
async def test_few_nearest_are_exact_with_each_engine(store: VectorStore, limit: int, engine: str) -> None:
    index, query = store.index(limit), units(7, 1)[0]
    found, noise = await store.ask(index, query, 20)
    assert [key for key, *_ in found] == store.nearest(query, 20)
    assert [cosine for _, cosine, _ in found] == sorted((cosine for _, cosine, _ in found), reverse=True)
    assert noise.deviation > 0
    assert index.engine == engine
    assert index.size == COUNT


async def test_signs_replace_vectors_beyond_the_memory_limit(store: VectorStore) -> None:
    index, query = store.index(BYTES), units(7, 1)[0]
    assert not await index.is_empty()
    held = index.held_bytes
    for _ in range(5):
        await store.put(40)
        found, _ = await store.ask(index, query, 400)
        assert [key for key, *_ in found] == store.nearest(query, 400)
    assert index.engine == "signs"
    assert index.size == COUNT + 200
    assert index.held_bytes < held / 3


async def test_signs_find_the_best_of_many(store: VectorStore) -> None:
    """The vectors have a common offset and topics, like those of models."""
    topics = units(99, 100) + np.float32(0.5)
    await store.put(8_000, topics[np.arange(8_000) % len(topics)])
    index, found = store.index(14 * BYTES), 0
    for seed in range(20):
        query = topics[seed] + units(seed, 1)[0]
        query /= np.linalg.norm(query)
        nearest, _ = await store.ask(index, query, 24)
        found += len({key for key, *_ in nearest} & set(store.nearest(query, 24)))
        expected = {key: float(store.vectors[number_of(key)] @ query) for key, *_ in nearest}
        assert {key: cosine for key, cosine, _ in nearest} == pytest.approx(expected, abs=1e-6)
    assert found >= 0.99 * 20 * 24


@swept("lot", [1_200, 16], 1)
async def test_signs_find_the_best_of_an_atypical_first_document(store: VectorStore, lot: int) -> None:
    """It lies elsewhere than all others: signs around its own centre would make its vectors look unrelated."""
    await store.database.write(lambda db: db.execute("DELETE FROM vectors"))
    store.vectors = store.vectors[:0]
    index, places = store.index(0), units(99, 61) * np.float32(1.5)
    parts = units(98, 60) * np.float32(0.7) + places[0]
    for begin in range(0, 1_200, lot):
        await store.put(lot, parts[np.arange(begin, begin + lot) % len(parts)])
        await store.ask(index, units(7, 1)[0], 1)
    others = np.arange(20_000)
    await store.put(len(others), places[1 + others % 60] + units(96, 100)[others % 100] * np.float32(0.7))
    found = 0
    for seed in range(20):
        query = parts[seed] + units(seed, 1)[0]
        query /= np.linalg.norm(query)
        nearest, _ = await store.ask(index, query, 24)
        found += len({key for key, *_ in nearest} & set(store.nearest(query, 24)))
    assert found >= 0.95 * 20 * 24


async def test_huge_limit_keeps_vectors_in_memory(store: VectorStore) -> None:
    index, query = store.index(1 << 50), units(7, 1)[0]
    assert [key for key, *_ in (await store.ask(index, query, 9))[0]] == store.nearest(query, 9)
    assert index.engine == "resident"


async def test_noise_is_the_same_with_each_engine(store: VectorStore) -> None:
    await store.put(5_000)
    query, strangers = units(7, 1)[0], UnrelatedVectors("en", units(8, 50), units(9, 50))
    (_, whole), (_, by_signs) = [
        await store.ask(store.index(limit), query, 20, strangers=strangers) for limit in (PLENTY * 30, 0)
    ]
    assert whole == by_signs


@pytest.mark.parametrize("limit", [PLENTY, 0], ids=["vectors", "signs"])
async def test_question_finds_answers_in_another_language(store: VectorStore, limit: int) -> None:
    """Offsets of languages are larger than differences of meaning."""
    await store.database.write(lambda db: db.execute("DELETE FROM vectors"))
    store.vectors = store.vectors[:0]
    topics, marks, store.strangers = units(50, 60), units(51, 2) * np.float32(2), OF_BOTH
    index, asked = store.index(limit), topics[7] + marks[0]
    for number, (code, mark) in enumerate(zip(("en", "zh"), marks, strict=True)):
        await store.put(60, (topics + mark) * np.float32(10), language=code)
        asked = asked / np.linalg.norm(asked)
        found, _ = await store.ask(index, asked, 2, language="en")
        assert [number_of(key) for key, *_ in found][: number + 1] == [7, 67][: number + 1]
        assert [is_foreign for *_, is_foreign in found] == [False, bool(number)]
    assert (index.engine == "signs") is (limit == 0)
    # a question of unknown language uses the nearest one
    assert [number_of(key) for key, *_ in (await store.ask(index, asked, 2))[0]] == [7, 67]


async def test_means_are_updated_as_a_language_grows(store: VectorStore) -> None:
    topics, mark, store.strangers = units(50, 60), units(51, 1) * np.float32(2), OF_BOTH
    index, query = store.index(), units(7, 1)[0]
    await store.put(4, (topics[:4] + mark) * np.float32(10), language="zh")
    await store.ask(index, query, 1)
    assert not index.snapshot.means.languages
    for begin in range(4, 60, 8):
        await store.put(8, (topics[begin : begin + 8] + mark) * np.float32(10), language="zh")
        await store.ask(index, query, 1)
    assert index.snapshot.means.languages == ("en", "zh")
    whole = store.index()
    await store.ask(whole, query, 1)
    assert float(index.snapshot.means.means[1] @ whole.snapshot.means.means[1]) > 0.5


async def test_means_are_computed_once_model_has_both_languages(store: VectorStore) -> None:
    await store.put(60, (units(50, 60) + units(51, 1) * np.float32(2)) * np.float32(10), language="zh")
    index, query = store.index(), units(7, 1)[0]
    before, _ = await store.ask(index, query, 10)
    assert not index.snapshot.means.languages
    store.strangers = OF_BOTH
    after, _ = await store.ask(index, query, 10)
    assert index.snapshot.means.languages == ("en", "zh")
    assert after != before


async def test_only_allowed_vectors_are_returned(store: VectorStore) -> None:
    query = units(7, 1)[0]
    everything = await store.database.read(
        lambda db: [row[0] for row in db.execute("SELECT id FROM vectors ORDER BY id")]
    )
    allowed = np.array(sorted(everything[::7]), np.int64)
    expected = [key for key in store.nearest(query, COUNT) if number_of(key) % 7 == 0]
    for limit in (PLENTY, 0):
        found, _ = await store.ask(store.index(limit), query, 10, allowed)
        assert [key for key, *_ in found] == expected[:10]
    assert (await store.ask(store.index(), query, 10, np.empty(0, np.int64)))[0] == []


async def test_removed_vectors_are_forgotten(store: VectorStore) -> None:
    index, query = store.index(), units(7, 1)[0]
    best = (await store.ask(index, query, 1))[0][0][0]
    await store.database.write(lambda db: db.execute("DELETE FROM vectors WHERE hash = ?", (best,)))
    index.invalidate()
    assert (await store.ask(index, query, 1))[0][0][0] == store.nearest(query, 2)[1]


async def test_vector_deleted_meanwhile_is_not_returned(store: VectorStore) -> None:
    """Neither is one of another space that reused its place."""
    index, query = store.index(0), units(7, 1)[0]
    best, second = (key for key, *_ in (await store.ask(index, query, 2))[0])
    other = await store.database.vectors.open_space(
        fingerprint="other", provider="fake", model="other", dimensions=SIZE, now=1.0
    )
    compared = await index.compare(query)
    await store.database.write(lambda db: db.execute("UPDATE vectors SET space_id = ? WHERE hash = ?", (other, best)))
    found = await store.database.read_snapshot(lambda reader: compared.nearest(reader, 1))
    assert [key for key, *_ in found] == [second]


async def test_index_of_a_rebuilt_file_is_refused(store: VectorStore) -> None:
    """In the new file the id of the space belongs to another model."""
    index, unused, query = store.index(), store.index(), units(7, 1)[0]
    assert (await store.ask(index, query, 5))[0]
    async with store.database.reopening():
        store.database.path.unlink()
        await store.database.open()
    space = await store.database.vectors.open_space(
        fingerprint="another", provider="fake", model="another", dimensions=SIZE, now=1.0
    )
    assert space == index.space
    await store.put(COUNT)
    for old in (index, unused):
        assert not old.is_current
        with pytest.raises(StoreUnavailable, match="opened anew"):
            await store.ask(old, query, 5)
    assert (await store.ask(store.index(), query, 5))[0]


def test_snapshots_of_rows_do_not_change_when_rows_grow() -> None:
    rows, batches = VectorRows(SIZE, limit=BYTES), [units(seed, 50) for seed in range(12)]
    given = []
    for number, batch in enumerate(batches):
        ids = np.arange(50 * number, 50 * number + 50)
        rows.append(VectorBatch(ids, np.frombuffer(b"".join(keys(50 * number, 50)), HASH), batch, ["en"] * 50))
        given.append(rows.snapshot)
    together = np.concatenate(batches)
    for number, held in enumerate(given, start=1):
        signs = held.signs
        assert np.array_equal(held.ids, np.arange(50 * number))
        if number <= 6:
            assert signs is None
            assert held.hashes.tolist() == keys(0, 50 * number)
            assert np.array_equal(held.vectors, together[: 50 * number])
        else:
            assert signs is not None
            assert np.array_equal(signs.centre, together[:300].mean(axis=0))
            words = np.packbits(together[: 50 * number] > signs.centre, axis=1)
            assert np.array_equal(signs.words[0].copy().view(np.uint8).reshape(-1, 8)[:, : SIZE // 8], words)


PEAK = """
import resource, sys
import numpy as np
from memoryd.search.vectors import VectorRows
from memoryd.store.index.vectors import HASH, VectorBatch

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

COUNT, DIMENSIONS = 4_096, 256
rows = VectorRows(DIMENSIONS, limit=int(sys.argv[1]))
batch = np.ones((COUNT, DIMENSIONS), np.float32)
rows.append(VectorBatch(np.arange(COUNT) - COUNT, np.zeros(COUNT, HASH), batch, ["en"] * COUNT))
before = peak()
for first in range(1, 240_000, COUNT):
    rows.append(VectorBatch(np.arange(first, first + COUNT), np.zeros(COUNT, HASH), batch, ["en"] * COUNT))
assert rows.count > 240_000 and rows.snapshot.signs is not None
print(peak() - before)
"""


def test_memory_limit_applies_while_rows_grow(tmp_path: Path) -> None:
    """Vectors of 240,000 rows would take 245 MB; the limit of 16 MB is for the matrix, and signs take 10 MB."""
    limit = 16 * 2**20
    ran = subprocess.run([sys.executable, "-c", PEAK, str(limit)], cwd=tmp_path, capture_output=True, check=True)
    assert int(ran.stdout) < 3 * limit
