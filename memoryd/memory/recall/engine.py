"""The recall engine: question → eligible → evidence → memories and passages in one order.

What memoryd wrote of a session ranks below the fact that it retells.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.citations import cited
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import AskedFor, asking_of, is_known_to
from memoryd.domain.memories.recall_order import (
    RETELLING_WEIGHT,
    Lifts,
    Placed,
    current_first,
    facts_first,
    latest_first,
    lifts_of,
    nearness_of,
    place_key,
    verdict_of,
)
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.memories.times.parsing import asked_days
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.skips import SkipReason
from memoryd.errors import SidecarError, StoreError
from memoryd.memory.recall.eligible import Eligible, EligibleMemories, Versions
from memoryd.memory.recall.evidence import EvidenceSearch, placed_passage, says_something
from memoryd.memory.recall.query import (
    CheckedSource,
    ChunkEvidence,
    MemoryCandidate,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
    RecallQuery,
    SourceState,
)
from memoryd.memory.recall.unasked import CameNear, ReadMessage, earned, read
from memoryd.memory.usage import UsageBook
from memoryd.search.hits import Hit, folded, holds_a_word
from memoryd.search.protocol import (
    BUILTIN,
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    Engine,
    Fallback,
    Found,
    SearchBackend,
    nothing_found,
)
from memoryd.search.ranking import Ranked
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter

ARM_DEPTH: Final = 4
"""How many times as many memories as there are places an arm that lifts may bring."""

Relevance = Callable[[Memory], float]
"""How much a memory counts by its age and use; all of them have a mean of 1."""
RESERVE: Final = 0.2
"""Share of the deadline kept for reading rows and files."""
PASSAGES: Final = 3
"""How many times as many passages as places are read."""
LOOKED_AT: Final = 3
"""How many times as many candidates as places are held against their files: some will not stand, some fold."""
BOOK: Final = "memories"
"""The arm that knows the retained lines: entity, time and opinion rest on it."""
_TIMED_OUT: Final[Arm] = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")


def all_alike(_memory: Memory) -> float:
    """Return the relevance of memories that nobody has told apart."""
    return 1.0


class CandidateMemories:
    """Makes candidates of what the arms found in one book, for one question."""

    def __init__(self, eligible: Eligible, ranking: Ranked, asking: AskedFor, relevance: Relevance) -> None:
        self._eligible = eligible
        self._ranking = ranking
        self._asking = asking
        self._relevance = relevance
        self._noise = frozenset(ranking.noise)

    def found(self) -> dict[MemoryId, MemoryCandidate]:
        """Return the memories that words or meaning found, in that order."""
        by_chunk, memories = self._eligible.book.by_chunk, self._eligible.book.memories
        chunks = (*self._ranking.telling, *self._ranking.noise)
        keys = dict.fromkeys(by_chunk[chunk] for chunk in chunks if chunk in by_chunk)
        found = (self.of(memories[key]) for key in keys)
        return {one.memory.id: one for one in found if one is not None}

    def by_arms(self, limit: int) -> Iterator[Memory]:
        """Yield the memories that the entity and temporal arms bring, the newest of each first."""
        depth = ARM_DEPTH * limit
        yield from islice(self._of_entities(), depth)
        if self._asking.span is not None:
            yield from islice(self._eligible.days.meeting(self._asking.span), depth)

    def of(self, memory: Memory) -> MemoryCandidate | None:
        """Return a memory with all that is known of it; None if no line of it may answer."""
        sources = self._eligible.sources(memory)
        if not sources:
            return None
        scores = self._ranking.base_scores
        span = self._asking.span
        # of lines that say the same the newest is cited, or that of the days asked about
        lead = best = sources[0]
        if len(sources) > 1:
            lead = max(sources, key=lambda source: nearness_of(source, span))
            best = max(sources, key=lambda source: scores.get(source.chunk, -1.0))
        evidence = self.evidence(best.chunk)
        lifts = lifts_of(memory, sources, self._asking, self._eligible.book.aliases)
        placed = Placed(
            base_score=evidence.base_score,
            lifts=lifts,
            verdict=verdict_of(evidence.verdict, lifts, self._asking),
            is_noise=evidence.is_noise,
            day=newest_day(sources),
            relevance=self._relevance(memory) * (RETELLING_WEIGHT if is_of_session(memory.line) else 1.0),
        )
        return MemoryCandidate(memory, (lead, *(one for one in sources if one is not lead)), evidence, placed)

    def evidence(self, chunk: int) -> ChunkEvidence:
        """Return what words and meaning say of a chunk."""
        ranking = self._ranking
        if chunk not in ranking.base_scores:
            return ChunkEvidence()
        bm25, cosine = ranking.evidence.lexical.bm25.get(chunk), ranking.evidence.vector.cosines.get(chunk)
        terms = ranking.statistics.terms_of(chunk) if ranking.statistics else ()
        is_literal = holds_a_word(bm25, terms)
        floors, ranks = ranking.floors, ranking.ranks[chunk]
        verdict = Verdict.WEAK if floors is None else floors.verdict(terms, cosine, is_literal=is_literal)
        return ChunkEvidence(
            base_score=ranking.base_scores[chunk],
            words_rank=ranks.words,
            vector_rank=ranks.vector,
            bm25=bm25,
            cosine=cosine,
            terms=terms,
            verdict=verdict,
            is_noise=verdict is Verdict.NONE and not is_literal,
        )

    def _of_entities(self) -> Iterator[Memory]:
        book, asked = self._eligible.book, self._asking.entities
        slugs = {*asked, *(alias for alias, entity in book.aliases.items() if entity in asked)}
        keys = {key for slug in slugs for key in book.by_entity.get(slug, ())}
        yield from sorted((book.memories[key] for key in keys), key=_newest_first)


def newest_day(sources: Iterable[MemorySource]) -> date | None:
    """Return the newest day that lines speak of; None where all stand on pages without a date, and name none.

    A plan is of the day on which it was written, as is what is still open.
    """
    days = (
        min(source.event.last, source.day) if source.event else source.day
        for source in sources
        if source.event is not None or date_in_name(source.path) is not None
    )
    return max(days, default=None)


def _newest_first(memory: Memory) -> tuple[int, str]:
    day = newest_day(memory.sources) or date.min
    return -day.toordinal(), memory.id


class RecallDraft(Struct, frozen=True, kw_only=True):
    """What one look at the index gives: the best candidates, best first, not yet held against their files."""

    book: Book
    asking: AskedFor = field(default_factory=AskedFor)
    items: Sequence[RecalledItem] = ()
    arms: Mapping[str, Arm]
    floors: Floors | None = None
    engine: Engine = BUILTIN
    fallback: Fallback | None = None
    terms: tuple[str, ...] = ()
    below: Sequence[RecalledItem] = ()
    """What came nearest to a message that asked nothing, and does not stand above the noise."""
    silence: SkipReason | None = None
    """Why nothing was looked for."""


class RecallEngine:
    """Answers from the index of one workspace; `passages` is another engine that finds passages in its stead."""

    def __init__(
        self,
        *,
        book: Callable[[], Awaitable[Book]],
        eligible: EligibleMemories,
        evidence: EvidenceSearch,
        database: Database,
        withdrawn: Container[str],
        passages: SearchBackend | None = None,
        usage: UsageBook,
    ) -> None:
        self._book = book
        self._eligible = eligible
        self._evidence = evidence
        self._database = database
        self._withdrawn = withdrawn
        self._passages = passages
        self._usage = usage

    async def draft(self, query: RecallQuery) -> RecallDraft:
        """Return the candidates within the query's deadline; what fails or is late costs its part, never the answer."""
        end = time.monotonic() + query.deadline * (1 - RESERVE)
        try:
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                await self._usage.ready()
                book = await self._book()
                eligible = await self._eligible.of(book, query, only_memories=self._passages is not None)
                question = await self._database.words.weighed(query.question, eligible.hidden.chunks)
                query = replace(query, question=question)
        except TimeoutError:
            return RecallDraft(book=Book(), arms=dict.fromkeys((LEXICAL, VECTOR, BOOK), _TIMED_OUT))
        except StoreError as exc:
            failed = Arm(ArmState.FAILED, str(exc))
            return RecallDraft(book=Book(), arms=dict.fromkeys((LEXICAL, VECTOR, BOOK), failed))
        asking = _asked_for(query, book)
        reading = read(query.said, book, eligible.descriptions, sorted(asking.entities)) if query.said else None
        if reading is not None and reading.message.silence is not None:
            arms = dict.fromkeys((LEXICAL, VECTOR, BOOK), Arm(ArmState.OK))
            return RecallDraft(book=book, arms=arms, silence=reading.message.silence)
        found, others = await asyncio.gather(
            self._evidence.found(
                query,
                eligible.admitted,
                end,
                uncounted=eligible.hidden.chunks,
                beside=reading.beside if reading else (),
            ),
            self._found_elsewhere(query, end),
        )
        return await self._joined(query, eligible, asking, found.ranking, found.arms, others, reading)

    async def _joined(
        self,
        query: RecallQuery,
        eligible: Eligible,
        asking: AskedFor,
        ranking: Ranked,
        arms: Mapping[str, Arm],
        others: Found | None,
        reading: ReadMessage | None,
    ) -> RecallDraft:
        made = CandidateMemories(eligible, ranking, asking, self._relevance(query, eligible.book))
        meant = reading.newest_about(eligible.book, ARM_DEPTH * query.limit) if reading else ()
        memories = _with_arms(made, query, eligible, meant)
        hits = await self._hits(query, eligible, ranking) if others is None else list(others.hits)
        telling = (hit for hit in hits if query.filters.admits_passages and says_something(hit))
        passages = [placed_passage(hit, asking) for hit in telling]
        ordered, below = _ordered(memories, passages, eligible, asking), list[RecalledItem]()
        if reading is not None:
            near = CameNear(memories, passages, ordered, ranking)
            ordered, below = earned(near, reading, eligible, asking, _ordered)
        every = arms if others is None else {**arms, LEXICAL: others.arms[LEXICAL]}
        return RecallDraft(
            book=eligible.book,
            asking=asking,
            items=[self._with_tier(item, query) for item in ordered[: LOOKED_AT * query.limit]],
            below=below[: query.limit],
            arms={**every, BOOK: Arm(ArmState.OK)},
            floors=ranking.floors,
            engine=BUILTIN if others is None else others.engine,
            fallback=None if others is None else others.fallback,
            terms=query.question.terms,
        )

    def _relevance(self, query: RecallQuery, book: Book) -> Relevance:
        relevance = self._usage.relevance(book, query.now.timestamp())
        # what is used now says nothing of what was known then
        return all_alike if query.filters.turns_back else relevance

    def _with_tier(self, item: RecalledItem, query: RecallQuery) -> RecalledItem:
        if not isinstance(item, RecalledMemory):
            return item
        return replace(item, tier=self._usage.tier(item.memory, query.now.timestamp()))

    async def _hits(self, query: RecallQuery, eligible: Eligible, ranking: Ranked) -> list[Hit]:
        """Return the best passages, without copies; a line that became a memory meanwhile is none."""
        known = eligible.book.by_chunk
        chunks = [chunk for chunk in (*ranking.telling, *ranking.noise) if chunk not in known]
        wanted = chunks[: PASSAGES * query.limit]
        try:
            plain = await self._database.words.admitted(wanted, CandidateFilter(without_memories=True))
            rows = await self._database.documents.chunks([chunk for chunk in wanted if chunk in plain])
        except StoreError:
            return []
        told = [rows[chunk] for chunk in wanted if chunk in rows]
        hits = [ranking.hit(row) for row in told if row.path not in self._withdrawn and not query.untold.holds(row)]
        return folded(hits, query.now.tzinfo or query.of_documents.zone)

    async def _found_elsewhere(self, query: RecallQuery, end: float) -> Found | None:
        if self._passages is None:
            return None
        try:
            return await self._passages.search(query.as_search(max(0.0, end - time.monotonic())))
        except SidecarError as exc:
            return nothing_found(query.question.terms, Arm(ArmState.FAILED, str(exc)))


def _asked_for(query: RecallQuery, book: Book) -> AskedFor:
    text = query.question.text
    # an entity that is given is one that is asked about
    given = query.filters.entities or frozenset()
    found = dict.fromkeys([*book.entities_in(text), *(book.aliases.get(slug, slug) for slug in sorted(given))])
    # a name that only lines of others hold is a word like any other
    entities = [slug for slug in found if slug in book.pages or _is_known(book, slug, query.filters.reach)]
    names: list[str] = [*entities, *(alias for alias, entity in book.aliases.items() if entity in entities)]
    names += [book.pages[slug].name for slug in entities if slug in book.pages]
    days = asked_days(text, query.today)
    if days is not None:
        days = replace(days, span=_until_today(days.span, query.today))
    return asking_of(text, entities=entities, names=names, days=days)


def _is_known(book: Book, entity: EntitySlug, reach: MemoryReach) -> bool:
    slugs = [entity, *(alias for alias, meant in book.aliases.items() if meant == entity)]
    return is_known_to(book, slugs, reach)


def _until_today(span: DaySpan, today: date) -> DaySpan:
    """Return the days of a question; what it asks since a day before ends today: plans are none of it."""
    return DaySpan(span.first, today) if span.first < today and span.last == date.max else span


def _with_arms(
    made: CandidateMemories, query: RecallQuery, eligible: Eligible, meant: Sequence[Memory]
) -> dict[MemoryId, MemoryCandidate]:
    """Return what words and meaning found, what the other arms bring, and current versions of both.

    `meant` are memories of whom a message means without a name.
    """
    found = made.found()
    question = query.question
    if not question.is_narrowed:
        every = (*made.by_arms(query.limit), *meant)
        brought = (made.of(memory) for memory in every if memory.id not in found)
        found |= {one.memory.id: one for one in brought if one is not None}
    for key in current_first(list(found), eligible.versions.above):
        if key not in found and (one := made.of(eligible.book.memories[key])) is not None:
            found[key] = one
    return found


def _ordered(
    memories: Mapping[MemoryId, MemoryCandidate],
    passages: Sequence[RecalledPassage],
    eligible: Eligible,
    asking: AskedFor,
) -> list[RecalledItem]:
    """Return all in one order, every current version before what it supersedes, in whatever words that stands."""
    newer = eligible.versions.above
    told = {key: _recalled(one, eligible.versions) for key, one in memories.items()}
    told = {key: _without_day_lift(one, told, asking) for key, one in told.items()}
    outdated = [one for one in told.values() if one.superseded_by]
    every: list[RecalledItem] = [*told.values(), *passages]
    placed = sorted(every, key=lambda item: place_key(item.placed, asking))
    if asking.is_of_last:
        placed = latest_first(placed, lambda item: item.placed)
    items = facts_first(placed, retells, may_retell=is_retelling)
    order: dict[MemoryId | int, RecalledItem] = {}
    for at, item in enumerate(items):
        key = item.memory.id if isinstance(item, RecalledMemory) else at
        keys = [item.memory.id] if isinstance(item, RecalledMemory) else _said_in(item, outdated)
        above = [key for one in keys for key in current_first([one], newer) if key != one and key in told]
        for one in above:
            if one not in order and not _was_later(told[one], item, asking):
                order[one] = replace(told[one], moved_before=_citation(item))
        order.setdefault(key, item)
    return list(order.values())


def _citation(item: RecalledItem) -> str:
    if not isinstance(item, RecalledMemory):
        return str(item.hit.citation)
    source = item.lead.source
    return str(cited(source.path, source.start_line, source.end_line))


def _was_later(current: RecalledMemory, item: RecalledItem, asking: AskedFor) -> bool:
    """Tell whether a question is about days on which an older version held, and the current one was not known yet."""
    if asking.span is None or Lifts.TEMPORAL not in item.placed.lifts:
        return False
    return current.memory.recorded > asking.span.last


def _without_day_lift(one: RecalledMemory, told: Mapping[MemoryId, RecalledMemory], asking: AskedFor) -> RecalledMemory:
    """Return a memory without the lift of its days if those were put off before they came."""
    newer = [told[key] for key in one.superseded_by if key in told]
    if not any(not _was_later(above, one, asking) for above in newer):
        return one
    lifts = {arm: lift for arm, lift in one.placed.lifts.items() if arm != Lifts.TEMPORAL}
    return replace(one, placed=replace(one.placed, lifts=lifts))


def _said_in(passage: RecalledPassage, outdated: Sequence[RecalledMemory]) -> list[MemoryId]:
    """Return the superseded memories that a passage states in the same words, and was found by."""
    said, terms = " ".join(passage.hit.chunk.text.split()), set(passage.hit.terms)
    return [
        one.memory.id
        for one in outdated
        if terms and terms.issubset(one.evidence.terms) and " ".join(one.memory.line.text.split()) in said
    ]


def _recalled(one: MemoryCandidate, versions: Versions) -> RecalledMemory:
    return RecalledMemory(
        memory=one.memory,
        # nobody has looked yet
        sources=tuple(CheckedSource(source, SourceState.VERIFIED) for source in one.sources),
        placed=one.placed,
        evidence=one.evidence,
        supersedes=versions.superseded.get(one.memory.id, ()),
        superseded_by=versions.newer.get(one.memory.id, ()),
        doubted_by=versions.doubted.get(one.memory.id, ()),
    )


def is_retelling(item: RecalledItem) -> bool:
    """Tell whether an item is what memoryd wrote of a session."""
    return isinstance(item, RecalledMemory) and is_of_session(item.memory.line)


def retells(item: RecalledItem, other: RecalledItem) -> bool:
    """Tell whether one is of a session and holds no more of the question than the other, which somebody stated."""
    if not isinstance(item, RecalledMemory) or not is_retelling(item) or other.placed.is_noise:
        return False
    if isinstance(other, RecalledMemory):
        return not is_retelling(other) and _has_all(item.evidence.terms, other.evidence.terms)
    return _has_all(item.evidence.terms, other.hit.terms)


def _has_all(terms: Collection[str], other: Collection[str]) -> bool:
    return bool(terms) and set(terms).issubset(other)
