"""Nearest-neighbour search over the vectors of one space, and the noise that unrelated passages give a question.

Few vectors are held in memory, and all are compared. Of many only the signs of their numbers are held. What is likely
by these is read from the index and compared, in rounds until a round brings nothing among the best. How signs come near
a cosine: M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memoryd.domain.ranking.calibration import CosineSample, noise_of
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.vector_space import (
    LEAST,
    Groups,
    LanguageMeans,
    Strangers,
    is_multilingual,
    spoken,
    usual_of,
)
from memoryd.domain.vector import Matrix, Vector
from memoryd.errors import StoreUnavailable
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.vectors import HASH, Hashes, VectorBatch

GROWTH = 1.5
"""By this the room for ids and signs grows when it is full."""
CENTRE_GROWTH = 2
"""When there are more than so many times as many vectors, another centre is taken, and the signs are."""
LANGUAGE_GROWTH = 1.5
"""When there are more than so many times as many passages of a language, the means of all are taken anew."""
LARGE, ROUGH = 0.75, 2
"""Signs are first compared where a number of the question is more than so many times their mean size. Then so many
times as many as are wanted are put in order by all of its numbers."""
BLOCK, IN_ORDER = 16_384, 256
"""Vectors whose signs are compared, or put in order, at once: as many as stay in the cache of a processor."""
Rows = TypeVar("Rows", bound=NDArray[np.generic])
VectorIds = NDArray[np.int64]
SignWords = NDArray[np.uint64]
"""Signs, 64 in each: shape (words of a vector, n), so that a look at all of them reads memory in its order."""


class Signs(Struct, frozen=True):
    """On which side of the centre of all the numbers of each vector lie: the centre says nothing of a difference."""

    centre: Vector
    words: SignWords

    def with_vectors(self, count: int, vectors: Matrix) -> "Signs":
        """Return the first `count` ones and those of more vectors."""
        words, added = self.words, _words(vectors > self.centre)
        total = count + added.shape[1]
        if total > words.shape[1]:
            words = np.empty((len(added), int(total * GROWTH)), np.uint64)
            words[:, :count] = self.words[:, :count]
        words[:, count:total] = added
        return Signs(self.centre, words)

    def likeliest(self, query: Vector, places: NDArray[np.intp] | None, count: int) -> NDArray[np.intp]:
        """Return `count` places, the likeliest first; of these `places`, if any are named."""
        query = query - self.centre
        sizes = np.abs(query[None])
        asked, large = _words(query[None] > 0), _words(sizes > LARGE * sizes.mean())
        words = self.words if places is None else self.words[:, places]
        differing = np.zeros(words.shape[1], np.uint16)
        for at in range(0, len(differing), BLOCK):
            for column, sign, mask in zip(words[:, at : at + BLOCK], asked, large, strict=True):
                differing[at : at + BLOCK] += np.bitwise_count((column ^ sign) & mask)
        last = min(ROUGH * count, len(differing)) - 1
        near = np.flatnonzero(differing <= np.partition(differing, last)[last])
        parts = (words[:, near[at : at + IN_ORDER]].T.copy().view(np.uint8) for at in range(0, len(near), IN_ORDER))
        likeness = [np.unpackbits(signs, axis=1, count=len(query)) @ query for signs in parts]
        near = near[np.argsort(-np.concatenate(likeness), kind="stable")[:count]]
        return near if places is None else places[near]


def _words(bits: NDArray[np.bool_]) -> SignWords:
    """Return bits, shape (n, dimensions), as words that are filled up with zeros."""
    packed = np.packbits(bits, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T


class Held(Struct, frozen=True):
    """What is in memory of the vectors at one moment: without signs each with its hash, or the signs alone."""

    ids: VectorIds
    """Ascending, shape (count,)."""
    hashes: Hashes
    vectors: Matrix
    """Shape (count, dimensions)."""
    groups: Groups
    """Which mean was taken from each, shape (count,)."""
    signs: Signs | None
    means: LanguageMeans


class VectorRows:
    """The vectors of one space in memory, each without what it says of its language.

    Grows at the end only; what it returned before stays as it was. At most `limit` bytes of vectors are held.
    """

    def __init__(self, dimensions: int, *, limit: int) -> None:
        self.count = 0
        self.means = LanguageMeans()
        """Every vector is without that of its language."""
        self.is_multilingual = False
        """Whether the model was known to be when they were taken."""
        self.languages = Counter[str]()
        """How many are in each."""
        self.known = Counter[str]()
        """How many there were when all had been loaded."""
        self._dimensions = dimensions
        self._most = limit // (4 * dimensions)
        self._ids: VectorIds = np.empty(0, np.int64)
        self._hashes: Hashes = np.empty(0, HASH)
        self._vectors: Matrix = np.empty((0, dimensions), np.float32)
        self._groups: Groups = np.empty(0, np.int8)
        self._signs: Signs | None = None
        self.centre: Vector | None = None
        """What the signs are relative to, once there are any."""
        self.centred = 0
        """How many vectors there were when the centre was taken."""

    @property
    def is_off_centre(self) -> bool:
        """Whether the centre, or the mean of a language, may be that of a few documents by now."""
        if self._signs is not None and self.count > CENTRE_GROWTH * self.centred:
            return True
        codes = spoken(self.languages) if self.is_multilingual else ()
        return len(codes) > 1 and any(
            self.languages[code] > LANGUAGE_GROWTH * self.known[code] + LEAST for code in codes
        )

    def holds(self, count: int) -> bool:
        """Tell whether so many vectors are within the limit."""
        return count <= self._most

    @property
    def held(self) -> Held:
        """What is in memory now, which stays as it is."""
        count, signs = self.count, self._signs
        return Held(
            self._ids[:count],
            self._hashes[:count],
            self._vectors[:count],
            self._groups[:count],
            signs and Signs(signs.centre, signs.words[:, :count]),
            self.means,
        )

    @property
    def last_id(self) -> int:
        """The greatest id, 0 without any."""
        return int(self._ids[self.count - 1]) if self.count else 0

    @property
    def held_bytes(self) -> int:
        """How much memory they take."""
        held = self.held
        most = held.vectors.nbytes + held.hashes.nbytes if held.signs is None else held.signs.words.nbytes
        return held.ids.nbytes + held.groups.nbytes + most

    def append(self, batch: VectorBatch) -> int:
        """Take rows whose ids are greater than all before, and say how many."""
        if not len(batch.ids):
            return 0
        total = self.count + len(batch.ids)
        batch, groups = meant(batch, self.means)
        self._groups = _with(self._groups, self.count, groups)
        self.languages.update(batch.languages)
        if self._signs is None and self.holds(total) and self._has_room(total):
            self._vectors[self.count : total] = batch.vectors
            self._hashes = _with(self._hashes, self.count, batch.hashes)
        else:
            signs = self._first_signs(batch) if self._signs is None else self._signs
            self._signs = signs.with_vectors(self.count, batch.vectors)
            self._vectors, self._hashes = self._vectors[:0].copy(), self._hashes[:0].copy()
        self._ids = _with(self._ids, self.count, batch.ids)
        self.count = total
        return len(batch.ids)

    def _has_room(self, count: int) -> bool:
        """Tell whether there is memory for so many, and take all of it: the system gives a page when it is written to.

        To grow by copying would need the old room and a larger new one at once. A limit beyond the machine is halved.
        """
        room = 0 if len(self._vectors) else self._most
        while room >= count:
            try:
                self._vectors = np.empty((room, self._dimensions), np.float32)
                break
            except MemoryError:
                room //= 2
        return count <= len(self._vectors)

    def _first_signs(self, batch: VectorBatch) -> Signs:
        """Return the signs of what is held."""
        if self.centre is None:
            self.centre = (self.held.vectors if self.count else batch.vectors).mean(axis=0)
            self.centred = self.count or len(batch.ids)
        return Signs(self.centre, _words(self.held.vectors > self.centre))


def meant(batch: VectorBatch, means: LanguageMeans) -> tuple[VectorBatch, Groups]:
    """Return vectors without what they say of their language, and which mean that was of each."""
    groups = means.groups(batch.vectors, batch.languages)
    return replace(batch, vectors=means.without(batch.vectors, groups)), groups


def _with(rows: Rows, count: int, added: Rows) -> Rows:
    """Return an array whose first rows are the `count` of the old one and the added ones."""
    total = count + len(added)
    if total > len(rows):
        spare = np.empty((int(total * GROWTH) - count, *rows.shape[1:]), rows.dtype)
        rows = cast("Rows", np.concatenate([rows[:count], spare]))
    rows[count:total] = added
    return rows


SAMPLE = 2_000
"""Vectors that stand for the corpus when the noise of a question is measured."""
SAMPLE_GROWTH = 1.05
"""Another sample is taken when there are so many times as many vectors."""
BATCH = 1_024
"""Vectors that are read at once."""
FIRST = 400
"""Of many vectors, at least so many are compared."""
BEST = 24
"""A round that brings nothing among so many is the last."""
ROUNDS = 20
"""How many a third as large follow the first round, at most."""
Nearest = list[tuple[bytes, float, bool]]
"""Text hash, cosine, and whether the text is in another language than the question; best first."""


def _noise(sample: Matrix, query: Vector, strangers: Strangers | None, means: LanguageMeans) -> Noise:
    """Return the noise of a question, from a sample and from strangers under this model, if they are known."""
    if strangers is None or not len(sample):
        return noise_of(_cosines(sample, query), None) if len(sample) else Noise()
    groups = means.groups(strangers.vectors, [strangers.language] * len(strangers.vectors))
    texts, questions = (means.without(rows, groups) for rows in (strangers.vectors, strangers.questions))
    usual = usual_of(questions @ texts.T)
    return replace(noise_of(_cosines(sample, query), _cosines(texts, query), strangers.reach), usual=usual)


def _cosines(vectors: Matrix, query: Vector) -> CosineSample:
    similarity = vectors @ query
    return CosineSample(len(similarity), float(similarity.mean()), float(similarity.var()))


class ComparedVectors(Struct, frozen=True):
    """A question beside the vectors of a space as they are in memory at one moment."""

    space: int
    held: Held
    query: Vector
    """Without what it says of its language."""
    group: int
    """Which mean that was."""
    noise: Noise

    def nearest(self, reader: IndexReader, limit: int, allowed: VectorIds | None = None) -> Nearest:
        """Return the `limit` nearest, best first; `allowed` ids (ascending) filter before the cut.

        If signs are held, rows are read: whoever asks looks afterwards whether the file was opened anew.
        """
        held, places = self.held, None if allowed is None else _places(self.held.ids, allowed)
        if held.signs is None:
            chosen = slice(None) if places is None else places
            hashes, cosines, groups = held.hashes[chosen], held.vectors[chosen] @ self.query, held.groups[chosen]
        else:
            hashes, cosines, groups = self._read(reader, held.signs, places, limit)
        top = np.argpartition(-cosines, limit - 1)[:limit] if limit < len(cosines) else np.arange(len(cosines))
        order = top[np.argsort(-cosines[top], kind="stable")]
        is_foreign = groups[order] != self.group
        return list(zip(hashes[order].tolist(), cosines[order].tolist(), is_foreign.tolist(), strict=True))

    def _read(
        self, reader: IndexReader, signs: Signs, places: NDArray[np.intp] | None, limit: int
    ) -> tuple[Hashes, NDArray[np.float32], Groups]:
        """Return hash, cosine and group of what is likely by its signs."""
        first = max(FIRST, limit)
        later = first // 3
        if places is None or len(places) > first:
            places = signs.likeliest(self.query, places, first + ROUNDS * later)
        hashes, cosines, groups, least = np.empty(0, HASH), np.empty(0, np.float32), np.empty(0, np.int8), -np.inf
        for begin in (0, *range(first, len(places), later)):
            end = begin + (later if begin else first)
            ids, before = self.held.ids[places[begin:end]], len(cosines)
            # of many a batch at a time is in memory
            for at in range(0, len(ids), BATCH):
                rows = reader.vectors(self.space, ids[at : at + BATCH], len(self.query))
                batch, of_each = meant(rows, self.held.means)
                hashes, groups = np.concatenate([hashes, batch.hashes]), np.concatenate([groups, of_each])
                cosines = np.concatenate([cosines, batch.vectors @ self.query])
            if not (cosines[before:] > least).any():
                break
            least = np.partition(cosines, -BEST)[-BEST] if len(cosines) > BEST else -np.inf
        return hashes, cosines, groups


class DistanceEngine(StrEnum):
    """What computes the distances."""

    RESIDENT = "resident"
    """A matrix in memory."""
    SIGNS = "signs"
    """Signs in memory, and for the likeliest the rows of the index."""


class VectorIndex:
    """Nearest vectors of one space, in the file as it is open now: in another life of it they mean nothing.

    New vectors are picked up at each question; `invalidate` after removals. At most `limit` bytes of vectors are held
    in memory, and the signs of all others.
    """

    def __init__(
        self,
        *,
        database: Database,
        space: int,
        dimensions: int,
        limit: int,
        strangers: Callable[[], Sequence[Strangers]] = tuple,
    ) -> None:
        self.space = space
        self._strangers = strangers
        self._database = database
        self._epoch = database.epoch
        self._dimensions = dimensions
        self._limit = limit
        self._rows = VectorRows(dimensions, limit=limit)
        self._sample: Matrix = np.empty((0, dimensions), np.float32)
        """Every n-th vector: those of one document lie side by side, so that the first ones would be like it."""
        self._sampled = 0
        """How many vectors there were when it was taken."""
        self.size = 0
        """How many vectors the last question was compared with."""
        self._seen: int | None = None
        """How many writes there were when all vectors had been loaded."""
        self._lock = asyncio.Lock()

    @property
    def engine(self) -> DistanceEngine:
        """What computes the distances now."""
        return DistanceEngine.RESIDENT if self.held.signs is None else DistanceEngine.SIGNS

    @property
    def held_bytes(self) -> int:
        """How much memory they take."""
        return self._rows.held_bytes

    @property
    def held(self) -> Held:
        """What is in memory now."""
        return self._rows.held

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was open when this was made."""
        return self._epoch == self._database.epoch

    def require_current(self) -> None:
        """Raise StoreUnavailable if the file was opened anew: the same numbers of spaces and rows mean others then."""
        if not self.is_current:
            raise StoreUnavailable("the index was opened anew while the question was embedded", hint="ask again")

    def invalidate(self) -> None:
        """Say that vectors were removed: the next question loads all anew."""
        self._rows, self._sample, self._sampled = VectorRows(self._dimensions, limit=self._limit), self._sample[:0], 0
        self._seen = None

    async def is_empty(self) -> bool:
        """Say whether there is no vector to compare with."""
        async with self._lock:
            await self._refresh()
            return not self._rows.count

    async def compared(
        self, query: Vector, *, language: str = "", strangers: Strangers | None = None
    ) -> ComparedVectors:
        """Return what is in memory now, to be compared with a question, whose language may be known.

        `strangers` are of texts that have nothing to do with the notes. Raises StoreUnavailable when the file is
        opened anew meanwhile.
        """
        async with self._lock:
            await self._refresh()
            # whatever reads waits while the file is opened anew, and may so have loaded rows of the new one
            self.require_current()
            held = self.held
        [group] = groups = held.means.groups(query[None], [language])
        query = held.means.without(query[None], groups)[0]
        return ComparedVectors(self.space, held, query, int(group), _noise(self._sample, query, strangers, held.means))

    async def _refresh(self) -> None:
        """Load what was added; a question that is given up leaves what it has loaded to the next one."""
        if self._rows.count and not self._rows.is_multilingual and is_multilingual(self._strangers()):
            self.invalidate()
        writes = self._database.writes
        while self._seen != writes:
            rows = self._rows
            if not rows.count:
                await self._take_centre(rows)
            added = await self._database.vectors.load(self.space, rows.last_id, self._dimensions, BATCH, rows.append)
            if rows is self._rows and added < BATCH:
                rows.known = rows.known or rows.languages.copy()
                if rows.is_off_centre:
                    self.invalidate()
                    continue
                if rows.count > SAMPLE_GROWTH * self._sampled:
                    await self._take_sample(rows)
                self._seen, self.size = writes, rows.count

    async def _take_centre(self, rows: VectorRows) -> None:
        """Take the means of all languages, and the centre, from all: what comes first may be one document."""
        count = await self._database.vectors.count(self.space)
        if not count:
            return
        strangers = self._strangers()
        rows.is_multilingual = is_multilingual(strangers)
        if not rows.is_multilingual and rows.holds(count):
            return
        sample = await self._database.vectors.sample(self.space, self._dimensions, SAMPLE)
        rows.means = LanguageMeans.of(sample.vectors, sample.languages, strangers)
        if not rows.holds(count):
            rows.centre = meant(sample, rows.means)[0].vectors.mean(axis=0)
            rows.centred = count

    async def _take_sample(self, rows: VectorRows) -> None:
        every = max(1, rows.count // SAMPLE)
        held = rows.held
        if held.signs is None:
            sample = held.vectors[::every].copy()
        else:
            ids = held.ids[::every]
            batch = await self._database.look(lambda reader: reader.vectors(self.space, ids, self._dimensions))
            sample = meant(batch, rows.means)[0].vectors
        if rows is self._rows:
            self._sampled, self._sample = rows.count, sample


def _places(ids: VectorIds, allowed: VectorIds) -> NDArray[np.intp]:
    """Return where these ids, ascending both, stand."""
    places = np.searchsorted(ids, allowed)
    inside = places < len(ids)
    places, allowed = places[inside], allowed[inside]
    found: NDArray[np.intp] = places[ids[places] == allowed]
    return found
