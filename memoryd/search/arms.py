"""The arms of the builtin search: keywords (BM25), vectors (cosine), reranking (a cross-encoder); and their times."""

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
from memoryd.domain.ranking.fusion import USUAL_CHANCE, LexicalMatches, PassageMatch, VectorMatches, best_stranger
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import DEEPER
from memoryd.domain.ranking.vector_space import Strangers
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder, ModelPhase, PhaseRecord
from memoryd.embed.protocol import Embedder
from memoryd.errors import EmbeddingError, StoreError
from memoryd.index.pending import Spaces
from memoryd.rerank.reranking import Reranking, RerankResult
from memoryd.search.protocol import Arm, ArmState, Query
from memoryd.search.ranking import PairReading, Ranked, reordered
from memoryd.search.vectors import Nearest, VectorIndex
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

EMBEDDING, RECALL = "embedding", "recall"
"""What takes its time beside the arms that an answer names: making the vector of a question, and a recall."""
_WORKED = frozenset({ArmState.OK, ArmState.PARTIAL, ArmState.FAILED, ArmState.TIMEOUT})
"""An arm in another state was not asked."""

NOT_MEASURED = "how near unrelated texts come under this model is not measured yet, so verdicts may change"
Matches = TypeVar("Matches")
TEXT_CHARACTERS = 1500
"""Of a candidate, its headings included; a chunk has some 1,400."""
PASSAGES_PER_CHUNK = 4
"""So many vectors are fetched for each chunk that is wanted, since several may be of one."""


class ArmTimes:
    """Counts since it was made; all in one event loop."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, Durations] = defaultdict(Durations)
        """By arm."""
        self.states: Counter[tuple[str, str]] = Counter()
        """By arm and how it took part."""

    def note(self, arm: str, begun: float, state: ArmState = ArmState.OK) -> None:
        """Count what began at a moment (monotonic clock) and is over now."""
        self.states[arm, state.value] += 1
        if state in _WORKED:
            self.seconds[arm].add(time.monotonic() - begun)

    async def guarded(
        self, name: str, ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float
    ) -> tuple[Arm, Matches | None]:
        """Ask an arm as `guarded` does, and count it by that name."""
        begun = time.monotonic()
        found = await guarded(ask, end)
        self.note(name, begun, found[0].state)
        return found


async def guarded(ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float) -> tuple[Arm, Matches | None]:
    """Ask an arm until `end` (monotonic clock); one that fails or is late costs its part, never the answer."""
    try:
        async with asyncio.timeout(max(0.0, end - time.monotonic())):
            # begun here, not by the caller: of two side by side one may be cancelled before it begins
            return await ask()
    except TimeoutError:
        return Arm(ArmState.TIMEOUT, "it did not answer before the deadline"), None
    except (EmbeddingError, StoreError) as exc:
        return Arm(ArmState.FAILED, str(exc)), None


async def candidate_files(database: Database, question: Question) -> tuple[Arm, tuple[int, ...]]:
    """Return the files that the question's filters leave."""
    return Arm(ArmState.OK), tuple(await database.documents.matching(question.filters))


async def weighed_question(database: Database, query: Query) -> tuple[Arm, Question]:
    """Return the question of a query with the words of a long one chosen by what they say in these notes."""
    return Arm(ArmState.OK), await database.words.weighed(query.question, query.exclusions.chunks)


def exact(reader: IndexReader, question: Question, chunks: Collection[int]) -> set[int]:
    """Return the chunks that hold the phrases as they are written: the word index knows no signs."""
    return reader.holding(chunks, question.admits) if question.phrases else set(chunks)


def lexical_matches(
    reader: IndexReader, question: Question, depth: int, admitted: CandidateFilter
) -> tuple[Arm, LexicalMatches]:
    """Return the best `depth` chunks that hold any term; those that hold all terms come first."""
    if not question.terms:
        return Arm(ArmState.OK, "the question has no words to look for"), LexicalMatches()
    wanted = depth
    while True:
        found = reader.best_matches(question, wanted, admitted)
        if not question.phrases:
            return Arm(ArmState.OK), found
        fitting = exact(reader, question, found.bm25)
        best = list(islice((chunk for chunk in found.bm25 if chunk in fitting), depth))
        if len(best) == depth or len(found.bm25) < wanted:
            return Arm(ArmState.OK), found.only(best)
        # so many were found by the words of a phrase and do not hold it as it is written
        wanted *= DEEPER


class RerankArm(Struct, frozen=True, kw_only=True):
    """Reads the first `candidates` within `seconds`; late or failing, the order stands."""

    reranking: Reranking
    candidates: int
    seconds: float

    async def reranked(
        self, question: Question, ranking: Ranked, rows: Mapping[int, ChunkRow], end: float
    ) -> tuple[Arm, Ranked]:
        """Return how it went until `end` (monotonic clock) and, if it went well, the same in another order.

        Of `rows`, by chunk id, those are read that have a text. What tells something stays before noise.
        """
        # the text of a picture or sound is its name, which does not tell what it shows
        texts = {
            chunk: f"{row.heading}\n{row.text}".strip()[:TEXT_CHARACTERS]
            for chunk, row in rows.items()
            if modality_of(row.path) is None
        }
        if len(texts) < 2 or not question.text:
            return Arm(ArmState.OK), ranking
        # copies are read once
        distinct = list(dict.fromkeys(texts.values()))
        seconds = max(0.0, min(self.seconds, end - time.monotonic()))
        found = await self.reranking.rank(question.text, distinct, seconds)
        if found.outcome is not RerankResult.OK:
            return Arm(ArmState(found.outcome.value), found.reason), ranking
        place = {distinct[position]: place for place, position in enumerate(found.order, start=1)}
        relevance = dict(zip(distinct, found.relevance, strict=True))
        readings = {chunk: PairReading(place[text], relevance[text]) for chunk, text in texts.items()}
        return Arm(ArmState.OK), reordered(ranking, readings)


class QuestionVector(Struct, frozen=True):
    """A question's vector with the index that it was made for, so that it never meets vectors of another model.

    To embed a question may take seconds. Meanwhile another model may take over, or another question be asked of
    another index: whoever waits must not look up afterwards which index is the current one.
    """

    vector: Vector
    index: VectorIndex
    language: str
    """That of the question, empty if unknown."""
    strangers: Strangers | None
    """What has nothing to do with any question, in the same space; None: not known."""
    is_owed: bool
    """Whether they are not known yet: verdicts go by the usual noise until then, and may be others afterwards."""


class _Sieve(Struct, frozen=True):
    """The vectors of some chunks, ascending ids, as they were at a moment of the index."""

    moment: tuple[int, int, int]
    chunks: tuple[int, ...]
    allowed: NDArray[np.int64] | None


class VectorArm(Struct, kw_only=True):
    """Every call is bounded by the caller; StoreError and EmbeddingError pass through."""

    database: Database
    spaces: Spaces
    slot: CurrentEmbedder
    vector_bytes: int
    latest: VectorIndex | None = None
    """The vectors that the last question was asked of."""
    _fingerprint: str = ""
    _known_sieve: _Sieve | None = None

    @property
    def absence(self) -> Arm | None:
        """Why a question cannot get a vector now, None if it can."""
        return _absent(self.slot.state) if self.slot.embedder is None else None

    def forget(self) -> None:
        """Say that vectors were removed from the store."""
        # an index that a waiting question still holds may keep them: no passage leads to a removed one any more
        if self.latest is not None:
            self.latest.invalidate()

    async def embedded(self, question: Question) -> tuple[Arm, QuestionVector | None]:
        """Return the question's vector, None where there is nothing to embed with or to compare with."""
        embedder = self.slot.embedder
        if embedder is None:
            # it may have gone since it was looked for
            return _absent(self.slot.state), None
        index = await self._index_of(embedder)
        if not question.text or await index.is_empty():
            # a question costs a model's start or a provider's money, and there is nothing to compare it with
            return Arm(ArmState.OK), None
        vector = await self.slot.embed_question(embedder, question.text)
        # after the question itself, which is owed first: what is missing is learned behind it
        texts = self.slot.strangers
        strangers = texts.of(embedder, question.text) if texts else None
        is_owed = texts is not None and texts.is_owed(embedder)
        return Arm(ArmState.OK), QuestionVector(vector, index, question.language, strangers, is_owed)

    async def matches(
        self, asked: QuestionVector, question: Question, depth: int, admitted: CandidateFilter
    ) -> tuple[Arm, VectorMatches]:
        """Return the cosines of the best `depth` chunks, each by its best passage."""
        index = asked.index
        index.require_current()
        allowed = await self._sieve(index, admitted)
        compared = await index.compared(asked.vector, language=asked.language, strangers=asked.strangers)
        size, noise = index.size if allowed is None else len(allowed), compared.noise
        limit = PASSAGES_PER_CHUNK * depth

        def look(reader: IndexReader) -> dict[int, list[PassageMatch]]:
            return _passages(reader, compared.nearest(reader, limit, allowed), question, admitted)

        while True:
            passages = await self.database.look(look)
            index.require_current()
            is_narrowed = question.is_narrowed or admitted.picks_chunks
            is_enough = not is_narrowed or PASSAGES_PER_CHUNK * len(passages) >= depth
            if is_enough or limit >= size:
                break
            # phrases, excluded words or the kind of chunk left out most of the nearest
            limit *= DEEPER
        nearest_of = {chunk: max(matches, key=lambda match: match.cosine) for chunk, matches in passages.items()}
        best = sorted(nearest_of, key=lambda chunk: -nearest_of[chunk].cosine)[:depth]
        floor = best_stranger(size, USUAL_CHANCE) if noise.is_clear else math.inf
        foreign = frozenset(
            chunk
            for chunk in best
            if nearest_of[chunk].is_foreign and noise.deviations(nearest_of[chunk].cosine) >= floor
        )
        cosines = {chunk: nearest_of[chunk].cosine for chunk in best}
        arm = Arm(ArmState.PARTIAL, NOT_MEASURED) if asked.is_owed else Arm(ArmState.OK)
        return arm, VectorMatches(cosines, noise, size, passages, foreign)

    async def _sieve(self, index: VectorIndex, admitted: CandidateFilter) -> NDArray[np.int64] | None:
        """Return the vectors to compare with, remembered for the next question with the same chunks."""
        moment = (self.database.epoch, self.database.writes, index.space)
        known = self._known_sieve
        if known is not None and known.moment == moment and known.chunks is admitted.chunks:
            return known.allowed
        allowed = await self.database.vectors.ids_within(index.space, admitted)
        if admitted.chunks is not None:
            self._known_sieve = _Sieve(moment, admitted.chunks, allowed)
        return allowed

    async def _index_of(self, embedder: Embedder) -> VectorIndex:
        """Return the index of the embedder's space in the file as it is open now."""
        fingerprint = embedder.identity.fingerprint
        space = await self.spaces.of(embedder)
        # from here to the end nothing may be awaited: the space is one of the file that was open just now
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
    """Return the near passages of each chunk that may answer; equal passages of several share one vector."""
    near = {key: (cosine, is_foreign) for key, cosine, is_foreign in nearest}
    passages = reader.passages(near)
    inside = {passage.chunk for passage in passages}
    if not admitted.is_empty:
        inside = reader.admitted(inside, admitted)
    inside = exact(reader, question, inside)
    found: dict[int, list[PassageMatch]] = {chunk: [] for chunk in inside}
    for chunk, key, start, stop in passages:
        if chunk in inside:
            found[chunk].append(PassageMatch(start, stop, *near[key]))
    return found


def _absent(state: PhaseRecord) -> Arm:
    reason = state.reason or f"the embedding model is {state.phase}"
    match state.phase:
        case ModelPhase.OFF:
            return Arm(ArmState.OFF, reason)
        case ModelPhase.FAILED:
            return Arm(ArmState.FAILED, reason)
    return Arm(ArmState.WAITING, reason)
