"""The builtin search of one workspace: words and vectors side by side under one deadline, merged by `domain.fusion`."""

import asyncio
import time
from collections.abc import Awaitable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeVar

from memoryd.domain.filters import Filters
from memoryd.domain.fusion import Evidence, Noise, Scores, Weights, relative, weighted
from memoryd.domain.words import match_expression, query_terms
from memoryd.embed.protocol import Embedder
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.errors import EmbeddingError, StoreError
from memoryd.index.spaces import Spaces
from memoryd.search.query import Arm, ArmState, Fallback, Found, Query, Scored
from memoryd.search.vector_index import VectorIndex
from memoryd.store.chunks import chunk_rows, chunks_of_vectors, matching_files
from memoryd.store.database import Database
from memoryd.store.vectors import ids_of_files
from memoryd.store.words import chunk_scores

Result = TypeVar("Result")

LEXICAL, VECTOR = "lexical", "vector"
_RESERVE = 0.2
"""Share of the deadline kept for merging and reading the rows."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the arms are asked and merged; `depth` is how many candidates each arm gives.

    Without `is_hybrid` words answer only where vectors cannot.
    """

    is_hybrid: bool = True
    fusion: str = "relative"
    weights: Weights = field(default_factory=Weights)
    multiplier: int = 4
    min_depth: int = 100
    max_depth: int = 400
    max_terms: int = 64

    def depth(self, limit: int) -> int:
        return min(self.max_depth, max(self.min_depth, limit * self.multiplier))


class BuiltinSearch:
    """Answers from the index of one workspace."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        executor: Executor,
        slot: EmbedderSlot,
        settings: SearchSettings,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._executor = executor
        self._slot = slot
        self._settings = settings
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

    async def search(self, query: Query) -> Found:
        """Return the best chunks; an arm that fails or is late costs its part, never the answer."""
        end = time.monotonic() + query.deadline * (1 - _RESERVE)
        terms = tuple(query_terms(query.text, limit=self._settings.max_terms))
        depth = self._settings.depth(query.limit)
        files = await self._allowed(query.filters)
        (lexical, words), (vector, cosines) = await asyncio.gather(
            _guarded(self._lexical(terms, depth, files), end), _guarded(self._vector(query.text, depth, files), end)
        )
        if not self._settings.is_hybrid and vector.took_part:
            lexical, words = Arm(ArmState.OFF, "query.hybrid.enabled is false"), {}
        found, noise = cosines or ({}, Noise())
        evidence = Evidence(words or {}, found, noise)
        hits, misses = await self._rank(query, evidence)
        return Found(hits, misses, {LEXICAL: lexical, VECTOR: vector}, terms, fallback=self._fallback())

    def _fallback(self) -> Fallback | None:
        stand_in = self._slot.stand_in
        return None if stand_in is None else Fallback(stand_in.left, stand_in.reason, stand_in.since)

    async def _allowed(self, filters: Filters) -> list[int] | None:
        return None if filters.is_empty else await self._database.read(lambda db: matching_files(db, filters))

    async def _lexical(self, terms: tuple[str, ...], depth: int, files: list[int] | None) -> tuple[Arm, Scores]:
        if not terms:
            return Arm(ArmState.OK, "the question has no words to look for"), {}
        expression = match_expression(list(terms))
        return Arm(ArmState.OK), await self._database.read(lambda db: chunk_scores(db, expression, depth, files))

    async def _vector(self, text: str, depth: int, files: list[int] | None) -> tuple[Arm, tuple[Scores, Noise]]:
        embedder = self._slot.embedder
        if embedder is None:
            return _absent(self._slot.state), ({}, Noise())
        index = await self._index_of(embedder)
        if await index.is_empty():
            # a question costs a model's start or a provider's money, and there is nothing to compare it with
            return Arm(ArmState.OK), ({}, Noise())
        query = await embedder.embed_query(text)
        allowed = None
        if files is not None:
            allowed = await self._database.read(lambda db: ids_of_files(db, index.space, files))
        nearest, noise = await index.nearest(query, 4 * depth, allowed)
        near = dict(nearest)
        pairs = await self._database.read(lambda db: chunks_of_vectors(db, list(near)))
        cosines: dict[int, float] = {}
        for chunk, vector in pairs:
            cosines[chunk] = max(near[vector], cosines.get(chunk, -1.0))
        best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:depth]
        return Arm(ArmState.OK), ({chunk: cosines[chunk] for chunk in best}, noise)

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
            )
        return self._vectors

    async def _rank(self, query: Query, evidence: Evidence) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
        merge = weighted if self._settings.fusion == "weighted" else relative
        fused = merge(evidence, self._settings.weights)
        order = sorted(fused, key=lambda chunk: (-fused[chunk], chunk))[: 3 * query.limit]
        rows = await self._database.read(lambda db: chunk_rows(db, order))
        scored = [
            Scored(
                rows[chunk],
                fused[chunk],
                evidence.words.get(chunk),
                evidence.cosines.get(chunk),
            )
            for chunk in order
            if chunk in rows
        ]
        eligible = [hit for hit in scored if hit.score >= query.min_score or hit.is_literal]
        hits = tuple(eligible[: query.limit])
        return hits, tuple(hit for hit in scored if hit not in hits)[: query.limit]


def _absent(state: EmbedderState) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case EmbedderPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case EmbedderPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)


async def _guarded(arm: Awaitable[tuple[Arm, Result]], end: float) -> tuple[Arm, Result | None]:
    try:
        async with asyncio.timeout(max(0.0, end - time.monotonic())):
            return await arm
    except TimeoutError:
        return Arm(ArmState.TIMEOUT, "it did not answer before the deadline"), None
    except (EmbeddingError, StoreError) as exc:
        return Arm(ArmState.FAILED, str(exc)), None
