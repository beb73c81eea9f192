"""Nearest-neighbour search over the vectors of one space, and the noise of a question.

A small number of vectors is kept in memory, and all are compared. Of a large number only the signs of their components
are kept. The likeliest by their signs are read from the index and compared, in rounds, until one adds nothing to the
best. Signs approximate a cosine: M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar, cast

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
    UnrelatedVectors,
    is_multilingual,
    languages_in,
    unrelated_moments,
)
from memoryd.domain.vector import Matrix, Vector
from memoryd.errors import StoreUnavailable
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.vectors import HASH, Hashes, VectorBatch

GROWTH = 1.5
"""Growth factor of the arrays of ids and signs when they are full."""
CENTRE_GROWTH = 2
"""When the number of vectors has grown by more than this factor, the centre and the signs are computed again."""
LANGUAGE_GROWTH = 1.5
"""When the passages of a language have grown by more than this factor, all means are computed again."""
LARGE, ROUGH = 0.75, 2
"""First, signs are compared only for the question's components larger than `LARGE` times their mean size. Then the best
`ROUGH` times the wanted number are sorted by all components."""
BLOCK, IN_ORDER = 16_384, 256
"""Numbers of vectors whose signs are compared, or sorted, at once: as many as fit into a processor's cache."""
Rows = TypeVar("Rows", bound=NDArray[np.generic])
VectorIds = NDArray[np.int64]
SignWords = NDArray[np.uint64]
"""Signs, 64 to a word: shape (words per vector, n), so that a pass over all of them reads memory sequentially."""


class Signs(Struct, frozen=True):
    """The signs of each vector's components relative to the centre, which all vectors have in common."""

    centre: Vector
    words: SignWords

    def with_vectors(self, count: int, vectors: Matrix) -> "Signs":
        """Return the first `count` signs and those of further vectors."""
        words, added = self.words, _words(vectors > self.centre)
        total = count + added.shape[1]
        if total > words.shape[1]:
            words = np.empty((len(added), int(total * GROWTH)), np.uint64)
            words[:, :count] = self.words[:, :count]
        words[:, count:total] = added
        return Signs(self.centre, words)

    def likeliest(self, query: Vector, places: NDArray[np.intp] | None, count: int) -> NDArray[np.intp]:
        """Return `count` positions, the likeliest first; only from `places`, if given."""
        query = query - self.centre
        sizes = np.abs(query[None])
        signs, large = _words(query[None] > 0), _words(sizes > LARGE * sizes.mean())
        words = self.words if places is None else self.words[:, places]
        differing = np.zeros(words.shape[1], np.uint16)
        for at in range(0, len(differing), BLOCK):
            for column, sign, mask in zip(words[:, at : at + BLOCK], signs, large, strict=True):
                differing[at : at + BLOCK] += np.bitwise_count((column ^ sign) & mask)
        last = min(ROUGH * count, len(differing)) - 1
        near = np.flatnonzero(differing <= np.partition(differing, last)[last])
        parts = (words[:, near[at : at + IN_ORDER]].T.copy().view(np.uint8) for at in range(0, len(near), IN_ORDER))
        likeness = [np.unpackbits(part, axis=1, count=len(query)) @ query for part in parts]
        near = near[np.argsort(-np.concatenate(likeness), kind="stable")[:count]]
        return near if places is None else places[near]


def _words(bits: NDArray[np.bool_]) -> SignWords:
    """Return bits, shape (n, dimensions), packed into words and padded with zeros."""
    packed = np.packbits(bits, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T


class VectorSnapshot(Struct, frozen=True):
    """The vectors in memory at one moment: all vectors with their hashes, or only signs."""

    ids: VectorIds
    """Ascending, shape (count,)."""
    hashes: Hashes
    vectors: Matrix
    """Shape (count, dimensions)."""
    groups: Groups
    """Index of the language mean subtracted from each vector, shape (count,)."""
    signs: Signs | None
    means: LanguageMeans


class VectorRows:
    """The vectors of one space in memory, each minus the mean of its language.

    Only grows at the end, so earlier snapshots stay valid. Vectors take at most `limit` bytes.
    """

    def __init__(self, dimensions: int, *, limit: int) -> None:
        self.count = 0
        self.means = LanguageMeans()
        """The means that were subtracted from the vectors."""
        self.is_multilingual = False
        """Whether the model was known to be multilingual when the means were computed."""
        self.languages = Counter[str]()
        """Number of vectors by language."""
        self.known = Counter[str]()
        """The same when all vectors had first been loaded."""
        self._dimensions = dimensions
        self._max_count = limit // (4 * dimensions)
        self._ids: VectorIds = np.empty(0, np.int64)
        self._hashes: Hashes = np.empty(0, HASH)
        self._vectors: Matrix = np.empty((0, dimensions), np.float32)
        self._groups: Groups = np.empty(0, np.int8)
        self._signs: Signs | None = None
        self.centre: Vector | None = None
        """The centre that the signs are relative to, None without signs."""
        self.centred = 0
        """Number of vectors when the centre was computed."""

    @property
    def is_off_centre(self) -> bool:
        """Whether there are so many new vectors that the centre or a language mean may no longer represent them."""
        if self._signs is not None and self.count > CENTRE_GROWTH * self.centred:
            return True
        codes = languages_in(self.languages) if self.is_multilingual else ()
        return len(codes) > 1 and any(
            self.languages[code] > LANGUAGE_GROWTH * self.known[code] + LEAST for code in codes
        )

    def holds(self, count: int) -> bool:
        """Return whether `count` vectors are within the memory limit."""
        return count <= self._max_count

    @property
    def snapshot(self) -> VectorSnapshot:
        """The vectors in memory now; unaffected by later appends."""
        count, signs = self.count, self._signs
        return VectorSnapshot(
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
        """Memory used, in bytes."""
        now = self.snapshot
        size = now.vectors.nbytes + now.hashes.nbytes if now.signs is None else now.signs.words.nbytes
        return now.ids.nbytes + now.groups.nbytes + size

    def append(self, batch: VectorBatch) -> int:
        """Append rows whose ids are greater than all before; return their number."""
        if not len(batch.ids):
            return 0
        total = self.count + len(batch.ids)
        batch, groups = without_means(batch, self.means)
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
        """Return whether there is memory for `count` vectors; allocate all that the limit allows at the first call.

        The system provides pages only when they are written. Growing by copying would need the old and the new array at
        once. If the limit exceeds the machine's memory, it is halved.
        """
        room = 0 if len(self._vectors) else self._max_count
        while room >= count:
            try:
                self._vectors = np.empty((room, self._dimensions), np.float32)
                break
            except MemoryError:
                room //= 2
        return count <= len(self._vectors)

    def _first_signs(self, batch: VectorBatch) -> Signs:
        """Return the signs of the vectors in memory; compute the centre if there is none."""
        if self.centre is None:
            self.centre = (self.snapshot.vectors if self.count else batch.vectors).mean(axis=0)
            self.centred = self.count or len(batch.ids)
        return Signs(self.centre, _words(self.snapshot.vectors > self.centre))


def without_means(batch: VectorBatch, means: LanguageMeans) -> tuple[VectorBatch, Groups]:
    """Return the vectors minus the means of their languages, and the index of the mean of each."""
    groups = means.groups(batch.vectors, batch.languages)
    return replace(batch, vectors=means.without(batch.vectors, groups)), groups


def _with(rows: Rows, count: int, added: Rows) -> Rows:
    """Return an array that begins with the first `count` old rows and the added ones; it may have spare rows."""
    total = count + len(added)
    if total > len(rows):
        spare = np.empty((int(total * GROWTH) - count, *rows.shape[1:]), rows.dtype)
        rows = cast("Rows", np.concatenate([rows[:count], spare]))
    rows[count:total] = added
    return rows


SAMPLE = 2_000
"""Number of vectors in the sample of the corpus that the noise of a question is measured with."""
SAMPLE_GROWTH = 1.05
"""A new sample is taken when the number of vectors has grown by this factor."""
BATCH = 1_024
"""Number of vectors to read at once."""
FIRST = 400
"""Least number of vectors to compare if only signs are in memory."""
BEST = 24
"""A round that adds nothing to the best `BEST` is the last."""
ROUNDS = 20
"""Largest number of further rounds, each a third as large as the first."""
Nearest = list[tuple[bytes, float, bool]]
"""Text hash, cosine, and whether the text is in another language than the question; best first."""


def _noise(sample: Matrix, query: Vector, strangers: UnrelatedVectors | None, means: LanguageMeans) -> Noise:
    """Return the noise of a question, from a sample of the corpus and, if known, from unrelated texts (`strangers`)."""
    if strangers is None or not len(sample):
        return noise_of(_cosines(sample, query), None) if len(sample) else Noise()
    groups = means.groups(strangers.vectors, [strangers.language] * len(strangers.vectors))
    texts, questions = (means.without(rows, groups) for rows in (strangers.vectors, strangers.questions))
    noise = noise_of(_cosines(sample, query), _cosines(texts, query), strangers.reach)
    return replace(noise, unrelated=unrelated_moments(questions @ texts.T))


def _cosines(vectors: Matrix, query: Vector) -> CosineSample:
    similarity = vectors @ query
    return CosineSample(len(similarity), float(similarity.mean()), float(similarity.var()))


class ComparedVectors(Struct, frozen=True):
    """A question, and a snapshot of the vectors of a space to compare it with."""

    space: int
    snapshot: VectorSnapshot
    query: Vector
    """The question's vector minus the mean of its language."""
    group: int
    """Index of that mean."""
    noise: Noise

    def nearest(self, reader: IndexReader, limit: int, allowed: VectorIds | None = None) -> Nearest:
        """Return the `limit` nearest, best first, only from the `allowed` ids (ascending) if given.

        With signs, rows are read from the index: the caller must check afterwards that the file was not replaced.
        """
        known, places = self.snapshot, None if allowed is None else _places(self.snapshot.ids, allowed)
        if known.signs is None:
            chosen = slice(None) if places is None else places
            hashes, cosines, groups = known.hashes[chosen], known.vectors[chosen] @ self.query, known.groups[chosen]
        else:
            hashes, cosines, groups = self._read(reader, known.signs, places, limit)
        top = np.argpartition(-cosines, limit - 1)[:limit] if limit < len(cosines) else np.arange(len(cosines))
        order = top[np.argsort(-cosines[top], kind="stable")]
        is_foreign = groups[order] != self.group
        return list(zip(hashes[order].tolist(), cosines[order].tolist(), is_foreign.tolist(), strict=True))

    def _read(
        self, reader: IndexReader, signs: Signs, places: NDArray[np.intp] | None, limit: int
    ) -> tuple[Hashes, NDArray[np.float32], Groups]:
        """Read the likeliest vectors by their signs; return their hashes, cosines and groups."""
        first = max(FIRST, limit)
        later = first // 3
        if places is None or len(places) > first:
            places = signs.likeliest(self.query, places, first + ROUNDS * later)
        hashes, cosines, groups, threshold = np.empty(0, HASH), np.empty(0, np.float32), np.empty(0, np.int8), -np.inf
        for begin in (0, *range(first, len(places), later)):
            end = begin + (later if begin else first)
            ids, before = self.snapshot.ids[places[begin:end]], len(cosines)
            # in batches, to bound the memory
            for at in range(0, len(ids), BATCH):
                rows = reader.vectors(self.space, ids[at : at + BATCH], len(self.query))
                batch, of_each = without_means(rows, self.snapshot.means)
                hashes, groups = np.concatenate([hashes, batch.hashes]), np.concatenate([groups, of_each])
                cosines = np.concatenate([cosines, batch.vectors @ self.query])
            if not (cosines[before:] > threshold).any():
                break
            threshold = np.partition(cosines, -BEST)[-BEST] if len(cosines) > BEST else -np.inf
        return hashes, cosines, groups


class VectorIndex:
    """Nearest vectors of one space, valid only for the current opening of the index file.

    Each question first loads new vectors; call `invalidate` after removals. Vectors take at most `limit` bytes of
    memory; if there are more, only signs are kept.
    """

    def __init__(
        self,
        *,
        database: Database,
        space: int,
        dimensions: int,
        limit: int,
        strangers: Callable[[], Sequence[UnrelatedVectors]] = tuple,
    ) -> None:
        self.space = space
        self._strangers = strangers
        self._database = database
        self._epoch = database.epoch
        self._dimensions = dimensions
        self._limit = limit
        self._rows = VectorRows(dimensions, limit=limit)
        self._sample: Matrix = np.empty((0, dimensions), np.float32)
        """Every n-th vector; not the first ones, since the vectors of one document are adjacent."""
        self._sampled = 0
        """Number of vectors when the sample was taken."""
        self.size = 0
        """Number of vectors at the last load."""
        self._seen: int | None = None
        """Number of writes of the store when all vectors were loaded."""
        self._lock = asyncio.Lock()

    @property
    def engine(self) -> Literal["resident", "signs"]:
        """How distances are computed now.

        With a matrix in memory, or with signs in memory and the rows of the likeliest vectors read from the index.
        """
        return "resident" if self.snapshot.signs is None else "signs"

    @property
    def held_bytes(self) -> int:
        """Memory used, in bytes."""
        return self._rows.held_bytes

    @property
    def snapshot(self) -> VectorSnapshot:
        """The vectors in memory now."""
        return self._rows.snapshot

    @property
    def is_current(self) -> bool:
        """Whether the file is still the same as when this object was created."""
        return self._epoch == self._database.epoch

    def require_current(self) -> None:
        """Raise StoreUnavailable if the file was opened again: ids of spaces and rows may then refer to others."""
        if not self.is_current:
            raise StoreUnavailable("the index was opened anew while the question was embedded", hint="ask again")

    def invalidate(self) -> None:
        """Report that vectors were removed: the next question loads all vectors again."""
        self._rows, self._sample, self._sampled = VectorRows(self._dimensions, limit=self._limit), self._sample[:0], 0
        self._seen = None

    async def is_empty(self) -> bool:
        """Load new vectors, and return whether there are none."""
        async with self._lock:
            await self._refresh()
            return not self._rows.count

    async def compare(
        self, query: Vector, *, language: str = "", strangers: UnrelatedVectors | None = None
    ) -> ComparedVectors:
        """Load new vectors, and return a snapshot of all to compare with a question; `language` may be unknown.

        `strangers` are vectors of unrelated texts. Raises StoreUnavailable if the file is opened again during this.
        """
        async with self._lock:
            await self._refresh()
            # reads wait while the file is opened again, so rows of the new file may have been loaded
            self.require_current()
            now = self.snapshot
        [group] = groups = now.means.groups(query[None], [language])
        query = now.means.without(query[None], groups)[0]
        return ComparedVectors(self.space, now, query, int(group), _noise(self._sample, query, strangers, now.means))

    async def _refresh(self) -> None:
        """Load new vectors; if a question is cancelled, the next one continues from there."""
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
        """Compute the language means and the centre from a sample of all vectors; the first may be of one document."""
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
            rows.centre = without_means(sample, rows.means)[0].vectors.mean(axis=0)
            rows.centred = count

    async def _take_sample(self, rows: VectorRows) -> None:
        step = max(1, rows.count // SAMPLE)
        now = rows.snapshot
        if now.signs is None:
            sample = now.vectors[::step].copy()
        else:
            ids = now.ids[::step]
            batch = await self._database.read_snapshot(lambda reader: reader.vectors(self.space, ids, self._dimensions))
            sample = without_means(batch, rows.means)[0].vectors
        if rows is self._rows:
            self._sampled, self._sample = rows.count, sample


def _places(ids: VectorIds, allowed: VectorIds) -> NDArray[np.intp]:
    """Return the positions of the allowed ids among `ids`; both ascending."""
    places = np.searchsorted(ids, allowed)
    inside = places < len(ids)
    places, allowed = places[inside], allowed[inside]
    matches: NDArray[np.intp] = places[ids[places] == allowed]
    return matches
