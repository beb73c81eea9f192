"""The two arms of the builtin search, words and vectors, over the index of one workspace."""

import asyncio
import time
from collections.abc import Awaitable, Collection, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.floors import TermStatistics
from memoryd.domain.ranking.fusion import Noise, Scores
from memoryd.domain.ranking.questions import Question
from memoryd.embed.protocol import Embedder
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.errors import EmbeddingError, StoreError, StoreUnavailable
from memoryd.index.spaces import Spaces
from memoryd.search.query import Arm, ArmState
from memoryd.search.vector_index import VectorIndex
from memoryd.store.database import Database
from memoryd.store.stored_vectors import Matrix
from memoryd.store.word_rows import CandidateFilter, ChunkScore

Result = TypeVar("Result")

LEXICAL, VECTOR = "lexical", "vector"
PASSAGES_PER_CHUNK = 4
"""So many vectors are fetched for each chunk that is wanted, since several may be of one."""


DEEPER = 4
"""By this an arm asks for more, while what it found is left out by phrases and excluded words."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the keyword arm says: BM25 of the best chunks, and which of them match completely (`Evidence.levels`)."""

    scores: Scores = field(default_factory=dict)
    levels: Mapping[int, int] = field(default_factory=dict)

    def joined(self, other: "Spoken") -> "Spoken":
        """Return what both say."""
        return Spoken({**self.scores, **other.scores}, {**self.levels, **other.levels})


@dataclass(frozen=True, slots=True)
class Embedded:
    """A question's vector, and the vectors of the same model that it is compared with."""

    vector: Matrix
    index: VectorIndex
    epoch: int


@dataclass(frozen=True, slots=True)
class Near:
    """What the vector arm says: cosines of the nearest chunks, the noise of the question, how many were compared."""

    cosines: Scores = field(default_factory=dict)
    noise: Noise = field(default_factory=Noise)
    vectors: int = 0


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

    async def admitted(self, question: Question) -> tuple[Arm, CandidateFilter]:
        """Find what the question's filters, phrases and exclusions leave; the phrases as far as the words tell."""
        files = None
        if not question.filters.is_empty:
            files = tuple(await self._database.documents.matching(question.filters))
        return Arm(ArmState.OK), CandidateFilter(files, question.required, question.forbidden)

    async def lexical(
        self, question: Question, depth: int, admitted: CandidateFilter, without: RelativePath | None = None
    ) -> tuple[Arm, Spoken]:
        """Return BM25 of the best `depth` chunks that hold any term, of all documents but the one to be left out.

        Those that hold all terms come first.
        """
        if not question.terms:
            return Arm(ArmState.OK, "the question has no words to look for"), Spoken()
        others = replace(admitted, without=without)
        wanted = depth
        while True:
            scores = await self._database.words.scores(question, wanted, others)
            exact = await self._exact(question, [one.chunk for one in scores])
            best = [one for one in scores if one.chunk in exact][:depth]
            if len(best) == depth or len(scores) < wanted:
                return Arm(ArmState.OK), _spoken(best)
            wanted *= DEEPER

    async def embedded(self, question: Question) -> tuple[Arm, Embedded | None]:
        """Return the question's vector, None where there is nothing to embed with or to compare with."""
        embedder = self._slot.embedder
        if embedder is None:
            return _absent(self._slot.state), None
        epoch = self._database.epoch
        index = await self._index_of(embedder)
        if not question.text or await index.is_empty():
            # a question costs a model's start or a provider's money, and there is nothing to compare it with
            return Arm(ArmState.OK), None
        # the answer may take seconds: another model may have taken over by then, with an index of its own
        return Arm(ArmState.OK), Embedded(await embedder.embed_query(question.text), index, epoch)

    async def near(
        self, embedded: Embedded, question: Question, depth: int, admitted: CandidateFilter
    ) -> tuple[Arm, Near]:
        """Return the cosines of the best `depth` chunks, each by its best passage."""
        index = embedded.index
        if embedded.epoch != self._database.epoch:
            raise StoreUnavailable("the index was opened anew while the question was embedded", hint="ask again")
        allowed = await self._database.vectors.ids_within(index.space, admitted)
        limit = PASSAGES_PER_CHUNK * depth
        while True:
            nearest, noise = await index.nearest(embedded.vector, limit, allowed)
            cosines = await self._cosines(dict(nearest), question, admitted)
            size = index.size if allowed is None else len(allowed)
            is_enough = not question.is_narrowed or PASSAGES_PER_CHUNK * len(cosines) >= depth
            if is_enough or limit >= size:
                break
            limit *= DEEPER
        best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:depth]
        return Arm(ArmState.OK), Near({chunk: cosines[chunk] for chunk in best}, noise, size)

    async def _cosines(
        self, near: Mapping[bytes, float], question: Question, admitted: CandidateFilter
    ) -> dict[int, float]:
        """Return the best cosine of each chunk that may answer; equal passages of several share one vector."""
        pairs = await self._database.documents.chunks_of_hashes(list(near))
        inside = {chunk for chunk, _ in pairs}
        if not admitted.is_empty:
            inside = await self._database.words.admitted(inside, admitted)
        inside = await self._exact(question, inside)
        cosines: dict[int, float] = {}
        for chunk, key in pairs:
            if chunk in inside:
                cosines[chunk] = max(near[key], cosines.get(chunk, -1.0))
        return cosines

    async def _exact(self, question: Question, chunks: Collection[int]) -> set[int]:
        """Return the chunks that hold the phrases as they are written: the word index knows no signs."""
        if not question.phrases:
            return set(chunks)
        return await self._database.words.holding(chunks, question.admits)

    async def statistics(self, question: Question, candidates: list[int]) -> TermStatistics:
        """Find which terms stand in which candidates, and how rare each is."""
        return await self._database.words.statistics(question.terms, candidates)

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


def _spoken(scores: Collection[ChunkScore]) -> Spoken:
    levels = {one.chunk: one.level for one in scores if one.level}
    return Spoken({one.chunk: one.bm25 for one in scores}, levels)


def _absent(state: EmbedderState) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case EmbedderPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case EmbedderPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)
