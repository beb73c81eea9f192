"""The vector arm of the builtin search: cosines of a question with the vectors of one workspace."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.embedding import Vector
from memoryd.domain.ranking.fusion import PassageMatch, VectorMatches
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import DEEPER
from memoryd.embed.current import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.embed.protocol import Embedder
from memoryd.index.passages import Spaces
from memoryd.search.backend import Arm, ArmState
from memoryd.search.lexical_arm import exact
from memoryd.search.vector_index import VectorIndex
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import Matrix
from memoryd.store.index.words import CandidateFilter

PASSAGES_PER_CHUNK = 4
"""So many vectors are fetched for each chunk that is wanted, since several may be of one."""


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """A question's vector with the index that it was made for, so that it never meets vectors of another model.

    To embed a question may take seconds. Meanwhile another model may take over, or another question be asked of
    another index: whoever waits must not look up afterwards which index is the current one.
    """

    vector: Vector
    index: VectorIndex
    strangers: Matrix | None
    """What has nothing to do with any question, in the same space; None: not known yet."""


@dataclass(frozen=True, slots=True)
class _Sieve:
    """The vectors of some chunks, ascending ids, as they were at a moment of the index."""

    moment: tuple[int, int, int]
    chunks: tuple[int, ...]
    allowed: NDArray[np.int64] | None


class VectorArm:
    """Every call is bounded by the caller; StoreError and EmbeddingError pass through."""

    def __init__(
        self, *, database: Database, spaces: Spaces, executor: Executor, slot: EmbedderSlot, vector_bytes: int
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._executor = executor
        self._slot = slot
        self._vector_bytes = vector_bytes
        self._latest: VectorIndex | None = None
        self._fingerprint = ""
        self._known_sieve: _Sieve | None = None

    @property
    def latest(self) -> VectorIndex | None:
        """The vectors that the last question was asked of."""
        return self._latest

    def forget(self) -> None:
        """Say that vectors were removed from the store."""
        # an index that a waiting question still holds may keep them: no passage leads to a removed one any more
        if self._latest is not None:
            self._latest.invalidate()

    async def embedded(self, question: Question) -> tuple[Arm, QuestionVector | None]:
        """Return the question's vector, None where there is nothing to embed with or to compare with."""
        embedder = self._slot.embedder
        if embedder is None:
            return _absent(self._slot.state), None
        index = await self._index_of(embedder)
        if not question.text or await index.is_empty():
            # a question costs a model's start or a provider's money, and there is nothing to compare it with
            return Arm(ArmState.OK), None
        vector = await self._slot.questions.embedded(embedder, question.text)
        # after the question itself, which is owed first: what is missing is learned behind it
        strangers = self._slot.strangers.of(embedder, question.text) if self._slot.strangers else None
        return Arm(ArmState.OK), QuestionVector(vector, index, strangers)

    async def matches(
        self, asked: QuestionVector, question: Question, depth: int, admitted: CandidateFilter
    ) -> tuple[Arm, VectorMatches]:
        """Return the cosines of the best `depth` chunks, each by its best passage."""
        index = asked.index
        index.require_current()
        allowed = await self._sieve(index, admitted)
        limit = PASSAGES_PER_CHUNK * depth
        while True:
            nearest, noise = await index.nearest(asked.vector, limit, allowed, strangers=asked.strangers)
            near = dict(nearest)
            passages = await self._passages(near, question, admitted)
            size = index.size if allowed is None else len(allowed)
            is_narrowed = question.is_narrowed or admitted.picks_chunks
            is_enough = not is_narrowed or PASSAGES_PER_CHUNK * len(passages) >= depth
            if is_enough or limit >= size:
                break
            # phrases, excluded words or the kind of chunk left out most of the nearest
            limit *= DEEPER
        cosines = {chunk: max(match.cosine for match in matches) for chunk, matches in passages.items()}
        best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:depth]
        return Arm(ArmState.OK), VectorMatches({chunk: cosines[chunk] for chunk in best}, noise, size, passages)

    async def _sieve(self, index: VectorIndex, admitted: CandidateFilter) -> NDArray[np.int64] | None:
        """Return the vectors to compare with, remembered for the next question with the same chunks."""
        moment = (self._database.epoch, self._database.writes, index.space)
        known = self._known_sieve
        if known is not None and known.moment == moment and known.chunks is admitted.chunks:
            return known.allowed
        allowed = await self._database.vectors.ids_within(index.space, admitted)
        if admitted.chunks is not None:
            self._known_sieve = _Sieve(moment, admitted.chunks, allowed)
        return allowed

    async def _passages(
        self, near: Mapping[bytes, float], question: Question, admitted: CandidateFilter
    ) -> dict[int, list[PassageMatch]]:
        """Return the near passages of each chunk that may answer; equal passages of several share one vector."""
        passages = await self._database.documents.passages_of_hashes(list(near))
        inside = {passage.chunk for passage in passages}
        if not admitted.is_empty:
            inside = await self._database.words.admitted(inside, admitted)
        inside = await exact(self._database, question, inside)
        found: dict[int, list[PassageMatch]] = {chunk: [] for chunk in inside}
        for chunk, key, start, stop in passages:
            if chunk in inside:
                found[chunk].append(PassageMatch(start, stop, near[key]))
        return found

    async def _index_of(self, embedder: Embedder) -> VectorIndex:
        """Return the index of the embedder's space in the file as it is open now."""
        fingerprint = embedder.identity.fingerprint
        space = await self._spaces.of(embedder)
        # from here to the end nothing may be awaited: the space is one of the file that was open just now
        if self._latest is None or self._fingerprint != fingerprint or not self._latest.is_current:
            self._fingerprint = fingerprint
            self._latest = VectorIndex(
                database=self._database,
                executor=self._executor,
                space=space,
                dimensions=embedder.identity.dimensions,
                limit=self._vector_bytes,
            )
        return self._latest


def _absent(state: EmbedderState) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case EmbedderPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case EmbedderPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)
