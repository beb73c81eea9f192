"""Stand-ins for what is slow or must fail on command; they pass the same contract suites as the real things."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NoReturn

import numpy as np

from memoryd.domain.vector import Vector
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable
from memoryd.errors import EmbedderUnavailable, EmbeddingError, WorkerDied
from tests.media_files import seen_in

DIMENSIONS = 16


def blow_up(*_arguments: object, **_settings: object) -> NoReturn:
    """Fail as a bug would."""
    raise ZeroDivisionError("a bug, on purpose")


@dataclass(slots=True)
class FakeClock:
    """Seconds that pass when told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def vector_of(text: str, dimensions: int = DIMENSIONS) -> Vector:
    """Return the mean of a random direction for each word, so that texts that share words are near."""
    words = text.lower().split() or [text]
    seeds = [int.from_bytes(sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big") for word in words]
    total = np.sum([np.random.default_rng(seed).standard_normal(dimensions) for seed in seeds], axis=0)
    unit: Vector = (total / np.linalg.norm(total)).astype(np.float32)
    return unit


def _seen(passage: Passage) -> str:
    return passage.text if passage.attachment is None else seen_in(passage.attachment.data)


def _shown(passage: Passage) -> str:
    return passage.text if passage.attachment is None else f"{passage.text} [{_seen(passage)}]"


@dataclass
class FakeEmbedder:
    """Embeds by hashing words, and misbehaves as told.

    `goes_on` holds batches back while it is cleared; a batch with a word of `deadly` ends the worker, a text with one
    of `unfit` is rejected; `is_down` makes every call fail. Of a picture or sound it sees the words of the test.
    """

    name: str = "fake"
    provider: str = "fake"
    deadly: frozenset[str] = frozenset()
    unfit: frozenset[str] = frozenset()
    is_down: bool = False
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    batches: list[list[str]] = field(default_factory=list)
    """Texts of each batch that was asked for, answered or not; of a file its name and what is seen in it."""
    waiting: int = 0
    """Calls that are held back."""

    def __post_init__(self) -> None:
        self.goes_on.set()

    @property
    def embedded(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(self.provider, self.name, "", "", DIMENSIONS, "mean", "{text}", "{text}")

    async def embed_query(self, text: str) -> Vector:
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        await self._available()
        return vector_of(text)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        self.batches.append([_shown(passage) for passage in passages])
        await self._available()
        if any(word in passage.text for passage in passages for word in self.deadly):
            raise WorkerDied("embedding worker ended: signal 6")
        return [self._answer(_seen(passage)) for passage in passages]

    def _answer(self, text: str) -> Vector | Unembeddable:
        if not text.strip() or any(word in text for word in self.unfit):
            return Unembeddable("no vector for this text")
        return vector_of(text)

    async def _available(self) -> None:
        self.waiting += 1
        try:
            await self.goes_on.wait()
        finally:
            self.waiting -= 1
        if self.is_down:
            raise EmbedderUnavailable("the fake is down")
