"""The arms of the builtin search: keywords (BM25), vectors (cosine), reranking (cross-encoder); and their timings."""

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from itertools import islice
from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.counters import Durations
from memoryd.domain.media import modality_of
from memoryd.domain.ranking.fusion import USUALLY_EXCEEDED, LexicalMatches, PassageMatch, VectorMatches, best_unrelated
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import DEPTH_FACTOR
from memoryd.domain.ranking.vector_space import UnrelatedVectors
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder, ModelPhase, PhaseRecord
from memoryd.embed.protocol import Embedder
from memoryd.errors import EmbeddingError, StoreError
from memoryd.index.pending import Spaces
from memoryd.rerank.reranking import Reranking, RerankResult
from memoryd.search.protocol import Arm, ArmState, Query
from memoryd.search.ranking import PairReading, Ranked, reorder
from memoryd.search.vectors import Nearest, VectorIndex
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

EMBEDDING, RECALL = "embedding", "recall"
"""Further steps that are timed: embedding a question, and a recall."""
_WORKED = frozenset({ArmState.OK, ArmState.PARTIAL, ArmState.FAILED, ArmState.TIMEOUT})
"""The states of an arm that was asked; only these are timed."""
NOT_MEASURED = "how near unrelated texts come under this model is not measured yet, so verdicts may change"
Matches = TypeVar("Matches")
TEXT_CHARACTERS = 1500
"""Length of a candidate's text for the reranker, heading included; a chunk has some 1,400."""
PASSAGES_PER_CHUNK = 4
"""How many vectors to fetch for each wanted chunk, since several may be of the same chunk."""


class ArmTimes:
    """Durations and states of the arms since the start; used in one event loop."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, Durations] = defaultdict(Durations)
        """Durations by arm."""
        self.states: Counter[tuple[str, str]] = Counter()
        """Number of answers by arm and state."""

    def note(self, arm: str, began: float, state: ArmState = ArmState.OK) -> None:
        """Count a call of an arm that began at `began` (monotonic clock) and ends now."""
        self.states[arm, state.value] += 1
        if state in _WORKED:
            self.seconds[arm].add(time.monotonic() - began)

    async def run_arm(
        self, name: str, ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float
    ) -> tuple[Arm, Matches | None]:
        """Do as the function `run_arm`, and count the call under that name."""
        began = time.monotonic()
        arm, matches = await run_arm(ask, end)
        self.note(name, began, arm.state)
        return arm, matches


async def run_arm(ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float) -> tuple[Arm, Matches | None]:
    """Ask an arm until `end` (monotonic clock); if it fails or is late, return that state and None."""
    try:
        async with asyncio.timeout(max(0.0, end - time.monotonic())):
            # create the coroutine here: one made by the caller might never be awaited if this task is cancelled early
            return await ask()
    except TimeoutError:
        return Arm(ArmState.TIMEOUT, "it did not answer before the deadline"), None
    except (EmbeddingError, StoreError) as exc:
        return Arm(ArmState.FAILED, str(exc)), None


async def candidate_files(database: Database, question: Question) -> tuple[Arm, tuple[int, ...]]:
    """Return the ids of the files that the question's filters admit."""
    return Arm(ArmState.OK), tuple(await database.documents.matching(question.filters))


async def shorten_question(database: Database, query: Query) -> tuple[Arm, Question]:
    """Return the query's question; for a long one, its terms are chosen by their weight in these notes."""
    return Arm(ArmState.OK), await database.words.weighed(query.question, query.exclusions.chunks)


def with_phrases(reader: IndexReader, question: Question, chunks: Collection[int]) -> set[int]:
    """Return the chunks that contain the question's phrases exactly: the word index has no punctuation."""
    return reader.holding(chunks, question.has_phrases) if question.phrases else set(chunks)


def lexical_matches(
    reader: IndexReader, question: Question, depth: int, admitted: CandidateFilter
) -> tuple[Arm, LexicalMatches]:
    """Return the best `depth` chunks with any term; those with all terms come first."""
    if not question.terms:
        return Arm(ArmState.OK, "the question has no words to look for"), LexicalMatches()
    limit = depth
    while True:
        matches = reader.best_matches(question, limit, admitted)
        if not question.phrases:
            return Arm(ArmState.OK), matches
        fitting = with_phrases(reader, question, matches.bm25)
        best = list(islice((chunk for chunk in matches.bm25 if chunk in fitting), depth))
        if len(best) == depth or len(matches.bm25) < limit:
            return Arm(ArmState.OK), matches.only(best)
        # too many have the words of a phrase, but not the phrase itself
        limit *= DEPTH_FACTOR


class RerankArm(Struct, frozen=True, kw_only=True):
    """Reranks the first `candidates` within `seconds`; if that fails or is late, their order is kept."""

    reranking: Reranking
    candidates: int
    seconds: float

    async def rerank(
        self, question: Question, ranking: Ranked, rows: Mapping[int, ChunkRow], end: float
    ) -> tuple[Arm, Ranked]:
        """Return the state of the arm and the ranking, reordered if reranking succeeded until `end` (monotonic clock).

        Only those of `rows` (by chunk id) that are text are read. Noise stays behind the other candidates.
        """
        # the text of a picture or sound is only its name, not its content
        texts = {
            chunk: f"{row.heading}\n{row.text}".strip()[:TEXT_CHARACTERS]
            for chunk, row in rows.items()
            if modality_of(row.path) is None
        }
        if len(texts) < 2 or not question.text:
            return Arm(ArmState.OK), ranking
        # equal texts are read once
        distinct = list(dict.fromkeys(texts.values()))
        seconds = max(0.0, min(self.seconds, end - time.monotonic()))
        result = await self.reranking.rank(question.text, distinct, seconds)
        if result.outcome is not RerankResult.OK:
            return Arm(ArmState(result.outcome.value), result.reason), ranking
        place = {distinct[position]: place for place, position in enumerate(result.order, start=1)}
        relevance = dict(zip(distinct, result.relevance, strict=True))
        readings = {chunk: PairReading(place[text], relevance[text]) for chunk, text in texts.items()}
        return Arm(ArmState.OK), reorder(ranking, readings)


class QuestionVector(Struct, frozen=True):
    """A question's vector with the index that it was made for, so that it never meets vectors of another model.

    Embedding a question may take seconds. During that time the model, or the current index, may change; so the index
    must not be looked up afterwards.
    """

    vector: Vector
    index: VectorIndex
    language: str
    """The question's language code, empty if unknown."""
    strangers: UnrelatedVectors | None
    """Vectors of unrelated texts in the same space; None: not known."""
    is_unmeasured: bool
    """Whether `strangers` are still to be computed: until then verdicts use default noise, and may change later."""


class _AllowedVectors(Struct, frozen=True):
    """The ids of the vectors of some chunks, ascending, at one moment of the index."""

    moment: tuple[int, int, int]
    chunks: tuple[int, ...]
    allowed: NDArray[np.int64] | None


class VectorArm(Struct, kw_only=True):
    """The vector arm of one index. Callers set the time limits; StoreError and EmbeddingError are raised to them."""

    database: Database
    spaces: Spaces
    slot: CurrentEmbedder
    vector_bytes: int
    latest: VectorIndex | None = None
    """The vectors that the last question was compared with."""
    _fingerprint: str = ""
    _last_allowed: _AllowedVectors | None = None

    @property
    def absence(self) -> Arm | None:
        """The arm's state if a question cannot be embedded now, None if it can."""
        return _absent(self.slot.state) if self.slot.embedder is None else None

    def forget(self) -> None:
        """Report that vectors were removed from the store."""
        # an index in use by a waiting question may keep them: no passage refers to a removed vector
        if self.latest is not None:
            self.latest.invalidate()

    async def embed(self, question: Question) -> tuple[Arm, QuestionVector | None]:
        """Return the question's vector, None if there is no embedder, or nothing to compare with."""
        embedder = self.slot.embedder
        if embedder is None:
            # the embedder may have been removed since `absence` was checked
            return _absent(self.slot.state), None
        index = await self._index_of(embedder)
        if not question.text or await index.is_empty():
            # do not start a model, or pay a provider, with nothing to compare the question with
            return Arm(ArmState.OK), None
        vector = await self.slot.embed_question(embedder, question.text)
        # after the question, which must not wait: `of` queues the embedder if its strangers are missing
        texts = self.slot.strangers
        strangers = texts.for_question(embedder, question.text) if texts else None
        is_unmeasured = texts is not None and texts.is_unmeasured(embedder)
        return Arm(ArmState.OK), QuestionVector(vector, index, question.language, strangers, is_unmeasured)

    async def matches(
        self, vector: QuestionVector, question: Question, depth: int, admitted: CandidateFilter
    ) -> tuple[Arm, VectorMatches]:
        """Return the cosines of the best `depth` chunks, each by its best passage."""
        index = vector.index
        index.require_current()
        allowed = await self._allowed_vectors(index, admitted)
        compared = await index.compare(vector.vector, language=vector.language, strangers=vector.strangers)
        size, noise = index.size if allowed is None else len(allowed), compared.noise
        limit = PASSAGES_PER_CHUNK * depth

        def read(reader: IndexReader) -> dict[int, list[PassageMatch]]:
            return _passages(reader, compared.nearest(reader, limit, allowed), question, admitted)

        while True:
            passages = await self.database.read_snapshot(read)
            index.require_current()
            is_narrowed = question.is_narrowed or admitted.picks_chunks
            is_enough = not is_narrowed or PASSAGES_PER_CHUNK * len(passages) >= depth
            if is_enough or limit >= size:
                break
            # phrases, excluded words or the kind of chunk excluded most of the nearest
            limit *= DEPTH_FACTOR
        nearest_of = {chunk: max(matches, key=lambda match: match.cosine) for chunk, matches in passages.items()}
        best = sorted(nearest_of, key=lambda chunk: -nearest_of[chunk].cosine)[:depth]
        floor = best_unrelated(size, USUALLY_EXCEEDED) if noise.is_clear else math.inf
        foreign = frozenset(
            chunk
            for chunk in best
            if nearest_of[chunk].is_foreign and noise.deviations(nearest_of[chunk].cosine) >= floor
        )
        cosines = {chunk: nearest_of[chunk].cosine for chunk in best}
        arm = Arm(ArmState.PARTIAL, NOT_MEASURED) if vector.is_unmeasured else Arm(ArmState.OK)
        return arm, VectorMatches(cosines, noise, size, passages, foreign)

    async def _allowed_vectors(self, index: VectorIndex, admitted: CandidateFilter) -> NDArray[np.int64] | None:
        """Return the ids of the vectors to compare with, None for all; cached for questions with the same chunks."""
        moment = (self.database.epoch, self.database.writes, index.space)
        known = self._last_allowed
        if known is not None and known.moment == moment and known.chunks is admitted.chunks:
            return known.allowed
        allowed = await self.database.vectors.ids_within(index.space, admitted)
        if admitted.chunks is not None:
            self._last_allowed = _AllowedVectors(moment, admitted.chunks, allowed)
        return allowed

    async def _index_of(self, embedder: Embedder) -> VectorIndex:
        """Return the vectors of the embedder's space in the currently open file."""
        fingerprint = embedder.identity.fingerprint
        space = await self.spaces.of(embedder)
        # no await from here on: the space is valid only for the file that is open now
        if self.latest is None or self._fingerprint != fingerprint or not self.latest.is_current:
            self._fingerprint = fingerprint
            self.latest = VectorIndex(
                database=self.database,
                space=space,
                dimensions=embedder.identity.dimensions,
                limit=self.vector_bytes,
                strangers=lambda: self.slot.strangers.known(fingerprint) if self.slot.strangers else (),
            )
        return self.latest


def _passages(
    reader: IndexReader, nearest: Nearest, question: Question, admitted: CandidateFilter
) -> dict[int, list[PassageMatch]]:
    """Return the near passages of each admitted chunk; equal passages of several chunks share a vector."""
    near = {key: (cosine, is_foreign) for key, cosine, is_foreign in nearest}
    passages = reader.passages(near)
    inside = {passage.chunk for passage in passages}
    if not admitted.is_empty:
        inside = reader.admitted(inside, admitted)
    inside = with_phrases(reader, question, inside)
    matches: dict[int, list[PassageMatch]] = {chunk: [] for chunk in inside}
    for chunk, key, start, stop in passages:
        if chunk in inside:
            matches[chunk].append(PassageMatch(start, stop, *near[key]))
    return matches


def _absent(state: PhaseRecord) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case ModelPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case ModelPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)
