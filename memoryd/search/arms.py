"""The two arms of the builtin search, words and vectors, over the index of one workspace."""

import asyncio
import time
from collections.abc import Awaitable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeVar

from memoryd.domain.documents import RelativePath
from memoryd.domain.floors import Idf, idf
from memoryd.domain.fusion import Noise, Scores
from memoryd.domain.questions import Question
from memoryd.domain.words import term_expression
from memoryd.embed.protocol import Embedder
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.errors import EmbeddingError, StoreError
from memoryd.index.spaces import Spaces
from memoryd.search.query import Arm, ArmState
from memoryd.search.vector_index import VectorIndex
from memoryd.store.chunks import chunks_in_files, chunks_of_hashes, matching_files, vectors_of_chunks
from memoryd.store.database import Database
from memoryd.store.vectors import Matrix, ids_of_files
from memoryd.store.words import Narrow, chunk_scores, count_chunks, holders, narrowed_chunks

Result = TypeVar("Result")

LEXICAL, VECTOR = "lexical", "vector"
PASSAGES_PER_CHUNK = 4
"""So many vectors are fetched for each chunk that is wanted, since several may be of one."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What may answer: all if both are None, else the chunks, else the files."""

    files: tuple[int, ...] | None = None
    chunks: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """What the vector arm says: cosines of the nearest chunks, the noise of the question, how many were compared."""

    cosines: Scores = field(default_factory=dict)
    noise: Noise = field(default_factory=Noise)
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How telling each term of a question is, and which terms stand in each candidate."""

    idf: Idf
    terms: dict[int, frozenset[str]]


class Arms:
    """Asks the index. Every call is bounded by the caller; StoreError and EmbeddingError pass through."""

    def __init__(
        self, *, database: Database, spaces: Spaces, executor: Executor, slot: EmbedderSlot, vector_bytes: int
    ) -> None:
        self._database = database
        self._vector_bytes = vector_bytes
        self._spaces = spaces
        self._executor = executor
        self._slot = slot
        self._vectors: VectorIndex | None = None
        self._vectors_key: tuple[str, int] | None = None

    @property
    def vector_index(self) -> VectorIndex | None:
        """The vectors that the last question was asked of."""
        return self._vectors

    def forget_vectors(self) -> None:
        """Say that vectors were removed from the store."""
        if self._vectors is not None:
            self._vectors.invalidate()

    async def reach(self, question: Question) -> Reach:
        """Find what the question's filters, phrases and exclusions leave."""
        files = None
        if not question.filters.is_empty:
            files = await self._database.read(lambda db: matching_files(db, question.filters))
        if not question.is_narrowed:
            return Reach(None if files is None else tuple(files))
        narrow = Narrow(question.required, question.forbidden)
        rows = await self._database.read(lambda db: narrowed_chunks(db, narrow, files))
        return Reach(None, tuple(row[0] for row in rows if question.admits(row[1:])))

    async def lexical(
        self, question: Question, depth: int, reach: Reach, without: RelativePath | None = None
    ) -> tuple[Arm, Scores]:
        """Return BM25 of the best `depth` chunks that hold any term, of all documents but the one to be left out."""
        if not question.terms:
            return Arm(ArmState.OK, "the question has no words to look for"), {}
        return Arm(ArmState.OK), await self._database.read(
            lambda db: chunk_scores(db, question.expression, depth, reach.files, reach.chunks, without)
        )

    async def embedded(self, question: Question) -> tuple[Arm, Matrix | None]:
        """Return the question's vector, None where there is nothing to embed with or to compare with."""
        embedder = self._slot.embedder
        if embedder is None:
            return _absent(self._slot.state), None
        index = await self._index_of(embedder)
        if not question.text or await index.is_empty():
            # a question costs a model's start or a provider's money, and there is nothing to compare it with
            return Arm(ArmState.OK), None
        return Arm(ArmState.OK), await embedder.embed_query(question.text)

    async def near(self, query: Matrix, depth: int, reach: Reach) -> Near:
        """Return the cosines of the best `depth` chunks, each by its best passage."""
        index = self._vectors
        assert index is not None
        allowed = None
        if reach.chunks is not None:
            chunks = reach.chunks
            allowed = await self._database.read(lambda db: vectors_of_chunks(db, index.space, chunks))
        elif reach.files is not None:
            files = reach.files
            allowed = await self._database.read(lambda db: ids_of_files(db, index.space, files))
        nearest, noise = await index.nearest(query, PASSAGES_PER_CHUNK * depth, allowed)
        near = dict(nearest)
        pairs = await self._database.read(lambda db: chunks_of_hashes(db, list(near)))
        inside = await self._inside({chunk for chunk, _ in pairs}, reach)
        cosines: dict[int, float] = {}
        for chunk, key in pairs:
            if chunk in inside:
                cosines[chunk] = max(near[key], cosines.get(chunk, -1.0))
        best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:depth]
        size = index.size if allowed is None else len(allowed)
        return Near({chunk: cosines[chunk] for chunk in best}, noise, size)

    async def standing(self, question: Question, candidates: list[int]) -> Standing:
        """Find which terms stand in which candidates, and how rare each is."""
        expressions = [term_expression(term) for term in question.terms]
        total, found = await self._database.read(
            lambda db: (count_chunks(db), holders(db, expressions, candidates) if expressions else [])
        )
        terms: dict[int, set[str]] = {}
        for term, held in zip(question.terms, found, strict=True):
            for chunk in held.candidates:
                terms.setdefault(chunk, set()).add(term)
        counts = {term: held.count for term, held in zip(question.terms, found, strict=True)}
        return Standing(idf(total, counts), {chunk: frozenset(held) for chunk, held in terms.items()})

    async def _inside(self, chunks: set[int], reach: Reach) -> set[int]:
        """Leave out chunks of other documents: equal passages share a vector."""
        if reach.chunks is not None:
            return chunks.intersection(reach.chunks)
        if reach.files is None:
            return chunks
        files = reach.files
        return await self._database.read(lambda db: chunks_in_files(db, list(chunks), files))

    async def _index_of(self, embedder: Embedder) -> VectorIndex:
        space = await self._spaces.of(embedder)
        key = (embedder.identity.fingerprint, self._database.epoch)
        if self._vectors is None or self._vectors_key != key:
            self._vectors_key = key
            self._vectors = VectorIndex(
                database=self._database,
                executor=self._executor,
                space=space,
                dimensions=embedder.identity.dimensions,
                limit=self._vector_bytes,
            )
        return self._vectors


async def guarded(arm: Awaitable[tuple[Arm, Result]], end: float) -> tuple[Arm, Result | None]:
    """Wait for an arm until `end` (monotonic clock); one that fails or is late costs its part, never the answer."""
    try:
        async with asyncio.timeout(max(0.0, end - time.monotonic())):
            return await arm
    except TimeoutError:
        return Arm(ArmState.TIMEOUT, "it did not answer before the deadline"), None
    except (EmbeddingError, StoreError) as exc:
        return Arm(ArmState.FAILED, str(exc)), None


def _absent(state: EmbedderState) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case EmbedderPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case EmbedderPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)
