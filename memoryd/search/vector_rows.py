"""The vectors of one space in memory: all of them, or the signs of their numbers where they are many.

Each is without what it says of its language.
"""

from collections import Counter
from typing import TypeVar, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memoryd.domain.ranking.vector_space import LEAST, Groups, LanguageMeans, spoken
from memoryd.domain.vector import Matrix, Vector
from memoryd.store.index.vectors import HASH, Hashes, VectorBatch

GROWTH = 1.5
"""By this the room for ids and signs grows when it is full."""
CENTRE_GROWTH = 2
"""When there are more than so many times as many vectors, another centre is taken, and the signs are."""
LANGUAGE_GROWTH = 1.5
"""When there are more than so many times as many passages of a language, the means of all are taken anew."""
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
        """Return at least `count` places, the likeliest first; of these `places`, if any are named.

        Numbers of the question that are large count three times.
        """
        query = query - self.centre
        asked, heavy = _words(query[None] > 0), _words(np.abs(query[None]) > np.abs(query).mean())
        words = self.words if places is None else self.words[:, places]
        distances = np.zeros(words.shape[1], np.uint16)
        differing, counted = np.empty(words.shape[1], np.uint64), np.empty(words.shape[1], np.uint8)
        for column, sign, weight in zip(words, asked, heavy, strict=True):
            np.bitwise_xor(column, sign, out=differing)
            distances += np.bitwise_count(differing, out=counted)
            np.bitwise_and(differing, weight, out=differing)
            distances += 2 * np.bitwise_count(differing, out=counted)
        enough = np.searchsorted(np.cumsum(np.bincount(distances)), count)
        near = np.flatnonzero(distances <= enough)
        near = near[np.argsort(distances[near], kind="stable")]
        return near if places is None else places[near]


def _words(bits: NDArray[np.bool_]) -> SignWords:
    """Return bits, shape (n, dimensions), as words that are filled up with zeros."""
    packed = np.packbits(bits, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T


class VectorRows:
    """Grows at the end only; what it returned before stays as it was. At most `limit` bytes of vectors are held."""

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
        return self.is_multilingual and any(
            self.languages[code] > LANGUAGE_GROWTH * self.known[code] + LEAST for code in spoken(self.languages)
        )

    def holds(self, count: int) -> bool:
        """Tell whether so many vectors are within the limit."""
        return count <= self._most

    @property
    def ids(self) -> VectorIds:
        """Ascending, shape (count,)."""
        return self._ids[: self.count]

    @property
    def hashes(self) -> Hashes:
        """The hash of each row's text, shape (count,), while vectors are held."""
        return self._hashes[: self.count]

    @property
    def vectors(self) -> Matrix:
        """Shape (count, dimensions), while they are held."""
        return self._vectors[: self.count]

    @property
    def groups(self) -> Groups:
        """Which mean was taken from each, shape (count,)."""
        return self._groups[: self.count]

    @property
    def signs(self) -> Signs | None:
        """The signs of each row, None while vectors are held."""
        return self._signs and Signs(self._signs.centre, self._signs.words[:, : self.count])

    @property
    def last_id(self) -> int:
        """The greatest id, 0 without any."""
        return int(self._ids[self.count - 1]) if self.count else 0

    @property
    def held_bytes(self) -> int:
        """How much memory they take."""
        held = self.vectors.nbytes + self.hashes.nbytes if (signs := self.signs) is None else signs.words.nbytes
        return self.ids.nbytes + self.groups.nbytes + held

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
            self.centre = (self.vectors if self.count else batch.vectors).mean(axis=0)
            self.centred = self.count or len(batch.ids)
        return Signs(self.centre, _words(self.vectors > self.centre))


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
