"""Recall: return memories and passages for a query, checked against their files, with a verdict and reasons.

The candidates from the index are checked against their files. If some are outdated, the query runs again. Pages of
entities that the query names are summarised.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, CitedState, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.recall_filters import QueryIntent, asks_for_all, is_visible_entity, query_intent
from memoryd.domain.memories.sections import line_in
from memoryd.domain.memories.times.parsing import query_days
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches
from memoryd.domain.skips import SkipReason
from memoryd.errors import SidecarError, StoreError
from memoryd.memory.recall.answer import (
    EntityPages,
    RecallDraft,
    beside_pages,
    best_of,
    choose_items,
    visible_items,
    why_nothing,
)
from memoryd.memory.recall.candidates import (
    ARM_DEPTH,
    CandidateMemories,
    ReadMessage,
    UnaskedFinds,
    helpful_first,
    order_items,
    placed_passage,
    read,
    says_something,
    select_earned,
)
from memoryd.memory.recall.eligible import Eligible, EligibleMemories
from memoryd.memory.recall.query import (
    CheckedSource,
    Recalled,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
    RecallFusion,
    RecallQuery,
    cut_because,
    recall_recipe,
)
from memoryd.memory.usage import UsageCache
from memoryd.search.arms import RECALL
from memoryd.search.builtin import BuiltinSearch, Candidates
from memoryd.search.file_check import CheckedRows, FileCheck
from memoryd.search.hits import Hit, apply_standing, fold_copies
from memoryd.search.protocol import (
    BUILTIN,
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    DiskFollower,
    Exclusions,
    SearchBackend,
    SearchResult,
    empty_result,
    seconds_left,
    with_pending,
)
from memoryd.search.ranking import Ranked, Recipe, SearchSettings, rank_candidates
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter


class CheckedItems(Struct, frozen=True):
    """The items that are in their files, those that are not, and the result of the file check."""

    items: tuple[RecalledItem, ...]
    missing: tuple[RecalledItem, ...]
    checked: CheckedRows
    has_replaced: bool = False
    """True if the index replaced a line by another one since the search."""


async def check_items(
    items: Sequence[RecalledItem], database: Database, check: FileCheck, seconds: float
) -> CheckedItems:
    """Check these items against their files, within so many seconds; raises StoreError."""
    memories = (item for item in items if isinstance(item, RecalledMemory))
    chunks = {checked.source.chunk: checked.source for memory in memories for checked in memory.sources}
    stored = await database.documents.chunks(sorted(chunks))
    # the id of a deleted chunk can be reused
    rows = {
        chunk: row
        for chunk, row in stored.items()
        if row.path == chunks[chunk].path and line_in(row.text, row.path) == chunks[chunk].line
    }
    passages = [row for item in items if isinstance(item, RecalledPassage) for row in item.hit.rows]
    result = await check.check([*rows.values(), *passages], seconds)
    pairs = [(item, _check_item(item, rows, result)) for item in items]
    return CheckedItems(
        items=tuple(now for _, now in pairs if now is not None),
        missing=tuple(item for item, now in pairs if now is None),
        checked=result,
        has_replaced=len(rows) < len(chunks),
    )


def _check_item(item: RecalledItem, rows: Mapping[int, ChunkRow], checked: CheckedRows) -> RecalledItem | None:
    """Return an item with its current lines, None if none of its lines is in a file."""
    if isinstance(item, RecalledPassage):
        hit = checked.hit(item.hit)
        return None if hit is None else replace(item, hit=hit)
    sources = [_check_source(line.source, rows.get(line.source.chunk), checked) for line in item.sources]
    present = [source for source in sources if source.state in (CitedState.VERIFIED, CitedState.MOVED)]
    if not present:
        return None
    return replace(item, sources=(*present, *(source for source in sources if source not in present)))


def _check_source(source: MemorySource, row: ChunkRow | None, checked: CheckedRows) -> CheckedSource:
    """Return a line with its state: edited if its document exists without it, gone if the document is missing."""
    now = None if row is None else checked.current(row)
    if row is None or (now is None and row.path in checked.absent):
        return CheckedSource(source, CitedState.GONE)
    if now is None:
        return CheckedSource(source, CitedState.EDITED)
    if now.start_line == row.start_line == source.start_line:
        return CheckedSource(source, CitedState.VERIFIED)
    moved = replace(source, start_line=now.start_line, end_line=now.end_line)
    return CheckedSource(moved, CitedState.MOVED)


def _chunks_of(items: Iterable[RecalledItem]) -> Iterator[int]:
    for item in items:
        if isinstance(item, RecalledMemory):
            yield from (checked.source.chunk for checked in item.sources)
        else:
            yield from (row.id for row in item.hit.rows)


MAX_CHECKS = 3
"""Maximum number of searches per query while files, or the index, change."""
RESERVE = 0.2
"""Share of the deadline reserved for reading rows and files."""
FILTER_SECONDS = 0.05
"""Extra time, after the search arms end, to remove withdrawn results."""
NEWEST_SHARE = 0.5
"""Share of the search time spent on waiting for memories that were just written."""
_OLDER = Arm(ArmState.PARTIAL, "memories that have just come are still being read")
_TIMED_OUT = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")
PASSAGES = 3
"""Passages that are read, as a multiple of the limit."""
CHECKED_ITEMS = 3
"""Items that are checked against their files, as a multiple of the limit: some are outdated, some are folded."""
BOOK = "memories"
"""The arm that reads the book of memories: the entity, time and opinion arms depend on it."""


class Recaller(Struct, frozen=True, kw_only=True):
    """Recalls for one agent from one index; `passages` is another engine that searches passages instead."""

    index: BuiltinSearch
    settings: SearchSettings
    fusion: RecallFusion
    book: Callable[[], Awaitable[Book]]
    eligible: EligibleMemories
    usage: UsageCache
    passages: SearchBackend | None
    check: FileCheck
    pages: EntityPages
    disk: DiskFollower

    async def recall(self, query: RecallQuery) -> Recalled:
        """Answer within the query's deadline; a part that fails or is late is left out."""
        start = time.monotonic()
        end, fresh = start + query.deadline, self.disk.seconds_of(query)
        self.disk.on_search()
        pending = await self.disk.catch_up(fresh)
        draft, result = await self._check_until_stable(replace(query, fresh_until=start + fresh), end)
        filters = query.memory_filters
        pages = await self.pages.of(draft.asking.entities, draft.book, filters, seconds_left(end))
        items, left_out = choose_items(
            beside_pages(pages, visible_items(result.items, filters.visibility)), query, draft
        )
        left_out += [
            cut_because(item, SkipReason.BELOW_NOISE) for item in visible_items(draft.below, filters.visibility)
        ]
        missing = visible_items(result.missing, filters.visibility)
        left_out += [cut_because(item, SkipReason.NOT_STANDING) for item in missing]
        # the index may still have files that just became private
        left_out = [item for item in left_out if item.citation.path not in result.checked.absent]
        if query.message and not items:
            # a page alone adds nothing to the name in the message
            pages = ()
        freshness = self.disk.freshness()
        freshness = replace(freshness, pending_files=max(pending, len(result.checked.pending)))
        self.index.times.note(RECALL, start)
        recalled = Recalled(
            entities=pages,
            items=tuple(items),
            left_out=tuple(left_out),
            result=replace(draft.arms_found, arms=with_pending(draft.arms_found.arms, freshness)),
            freshness=freshness,
            verdict=best_of(items),
            took_ms=(time.monotonic() - start) * 1000,
            is_explained=query.is_explained,
        )
        return replace(recalled, reason=why_nothing(recalled, query, draft))

    async def _check_until_stable(self, query: RecallQuery, end: float) -> tuple[RecallDraft, CheckedItems]:
        """Search until all items are in their files and the index did not change, or time is up."""
        for attempt in range(MAX_CHECKS):
            draft = await self._draft(query, end)
            result = await self._check_items(draft, end)
            is_late = time.monotonic() > end or attempt == MAX_CHECKS - 1
            if is_late or not (result.has_replaced or result.checked.differing):
                break
            left = min(query.fresh_until, end) - time.monotonic()
            is_rescanned = bool(result.checked.differing) and await self.disk.rescan(result.checked.differing, left)
            exclusions = query.exclusions | Exclusions(result.checked.absent)
            if not is_rescanned:
                exclusions |= Exclusions(chunks=frozenset(filter(None, _chunks_of(result.missing))))
            query = replace(query, exclusions=exclusions)
        return draft, result

    async def _check_items(self, draft: RecallDraft, end: float) -> CheckedItems:
        try:
            return await check_items(draft.items, self.index.database, self.check, seconds_left(end))
        except StoreError:
            # items that cannot be checked are not returned
            return CheckedItems((), tuple(draft.items), CheckedRows())

    async def _draft(self, query: RecallQuery, end: float) -> RecallDraft:
        """Return the candidates by `end`, less the reserve; a part that fails or is late is left out."""
        left = seconds_left(end) * (1 - RESERVE)
        end = time.monotonic() + left
        try:
            async with asyncio.timeout(left):
                eligible, admitted, state = await self._eligible(query, left * NEWEST_SHARE)
                book, hidden = eligible.book, Exclusions(chunks=eligible.hidden.chunks)
                question = await self.index.database.words.weighed(query.question, hidden.chunks)
        except TimeoutError:
            return _nothing(query, _TIMED_OUT)
        except StoreError as exc:
            return _nothing(query, Arm(ArmState.FAILED, str(exc)))
        query = replace(query, parsed=question, exclusions=query.exclusions | hidden)
        asking = _intent_of(query, book)
        reading = None
        if query.message:
            named, descriptions = sorted(asking.entities), eligible.facts.descriptions
            before = [(message, _find_entities(message, book, query)) for message in query.earlier_messages]
            reading = read(query.message, book, descriptions, named, before=before, is_failure=query.is_failure)
        if reading is not None and reading.message.silence is not None:
            return replace(_nothing(query, Arm(ArmState.OK)), book=book, silence=reading.message.silence)
        recipe = recall_recipe(self.settings, self.fusion, query.limit, reading.beside if reading else ())
        candidates, others = await asyncio.gather(
            self._candidates(query, recipe, admitted, end), self._other_passages(query, end)
        )
        draft = await self._join(query, eligible, asking, candidates, others, reading)
        return replace(draft, arms_found=replace(draft.arms_found, arms={**draft.arms_found.arms, BOOK: state}))

    async def _eligible(self, query: RecallQuery, seconds: float) -> tuple[Eligible, CandidateFilter, Arm]:
        """Return what may answer in the current index or, if that takes too long, in the one before; raises StoreError.

        Lines of the older state are returned only if they are still in their files.
        """
        only_memories = self.passages is not None
        # without an older state, wait for the current one
        for left in (seconds, None):
            try:
                async with asyncio.timeout(left):
                    await self.usage.ready()
                    book = await self.book()
                    return *await self.eligible.of(book, query, only_memories=only_memories), Arm(ArmState.OK)
            except TimeoutError:
                if older := self.eligible.newest_computed():
                    return *await self.eligible.of(older, query, only_memories=only_memories), _OLDER
        raise TimeoutError

    async def _join(
        self,
        query: RecallQuery,
        eligible: Eligible,
        asking: QueryIntent,
        candidates: Candidates,
        others: SearchResult | None,
        reading: ReadMessage | None,
    ) -> RecallDraft:
        now, book, ranking = query.now.timestamp(), eligible.book, candidates.ranking
        # relevance is of today, and says nothing about a past day
        turns_back = query.memory_filters.is_historical
        relevance = (lambda _memory: 1.0) if turns_back else await self.usage.relevance(book, now)
        maker = CandidateMemories(eligible, ranking, asking, relevance)
        implied = reading.newest_about(book, ARM_DEPTH * query.limit) if reading else ()
        memories = maker.all(query, implied)
        hits = await self._hits(query, eligible, ranking) if others is None else others.hits
        admits_passages = query.memory_filters.admits_passages
        passages = [placed_passage(hit, asking) for hit in hits if admits_passages and says_something(hit)]
        arms = candidates.arms if others is None else {**candidates.arms, LEXICAL: others.arms[LEXICAL]}
        items, below = order_items(memories, passages, eligible, asking), list[RecalledItem]()
        if reading is not None:
            near = UnaskedFinds(memories, passages, items, ranking)
            items, below = select_earned(near, reading, eligible, asking)
            if (further := reading.following(items, book)) is not None:
                implied = further.newest_about(book, ARM_DEPTH * query.limit)
                near = replace(near, memories={**memories, **maker.those(implied)})
                items, below = select_earned(near, further, eligible, asking)
        if query.is_failure:
            items = helpful_first(items, query.message)
        return RecallDraft(
            book=book,
            asking=asking,
            arms_found=SearchResult(
                hits=(),
                misses=(),
                arms=arms,
                terms=query.question.terms,
                engine=BUILTIN if others is None else others.engine,
                fallback=None if others is None else others.fallback,
                floors=ranking.floors,
            ),
            items=[
                replace(item, tier=self.usage.tier(item.memory, now)) if isinstance(item, RecalledMemory) else item
                for item in items[: CHECKED_ITEMS * query.limit]
            ],
            below=below[: query.limit],
        )

    async def _hits(self, query: RecallQuery, eligible: Eligible, ranking: Ranked) -> list[Hit]:
        """Return the best passages, without copies, and without lines that became memories since."""
        known, database = eligible.book.by_chunk, self.index.database
        chunks = [chunk for chunk in (*ranking.telling, *ranking.noise) if chunk not in known]
        wanted = chunks[: PASSAGES * query.limit]
        try:
            plain = CandidateFilter(without_memories=True)
            rows = await database.read_snapshot(lambda reader: reader.rows(reader.admitted(wanted, plain)))
        except StoreError:
            return []
        matches = [rows[chunk] for chunk in wanted if chunk in rows]
        withdrawn, exclusions = self.index.withdrawn, query.exclusions
        today = query.now.date()
        hits = [
            apply_standing(ranking.hit(row), today)
            for row in matches
            if row.path not in withdrawn and not exclusions.holds(row)
        ]
        return fold_copies(hits, query.now.tzinfo or query.filters.zone)

    async def _candidates(
        self, query: RecallQuery, recipe: Recipe, admitted: CandidateFilter, end: float
    ) -> Candidates:
        """Return the candidates of the index; results that cannot be checked for withdrawals in time are left out."""
        try:
            async with asyncio.timeout(seconds_left(end) + FILTER_SECONDS):
                return await self.index.candidates(query, recipe, admitted, end)
        except TimeoutError:
            arm = _TIMED_OUT
        except StoreError as exc:
            arm = Arm(ArmState.FAILED, str(exc))
        nothing = rank_candidates(Evidence(LexicalMatches(), VectorMatches()), {}, None, min_score=0.0)
        return Candidates(dict.fromkeys((LEXICAL, VECTOR), arm), nothing, may_have_more=False)

    async def _other_passages(self, query: RecallQuery, end: float) -> SearchResult | None:
        if self.passages is None:
            return None
        try:
            return await self.passages.search(query.until(end))
        except SidecarError as exc:
            return empty_result(query.question.terms, Arm(ArmState.FAILED, str(exc)))


def _nothing(query: RecallQuery, arm: Arm) -> RecallDraft:
    return RecallDraft(
        arms_found=SearchResult((), (), dict.fromkeys((LEXICAL, VECTOR, BOOK), arm), query.question.terms)
    )


def _find_entities(text: str, book: Book, query: RecallQuery) -> list[EntitySlug]:
    """Return the entities that a text names, and those in the filters of the query."""
    filters = query.memory_filters
    # an entity in the filters counts as named
    filtered = sorted(filters.entities or ())
    named = dict.fromkeys([*book.entities_in(text), *(book.aliases.get(slug, slug) for slug in filtered)])
    # a name that is only in lines that the asker may not see is an ordinary word
    return [
        slug
        for slug in named
        if slug in book.pages or is_visible_entity(book, book.slugs_of([slug]), filters.visibility)
    ]


def _intent_of(query: RecallQuery, book: Book) -> QueryIntent:
    text, today = query.question.text, query.today
    entities = _find_entities(text, book, query)
    names: list[str] = [*book.slugs_of(entities), *(book.pages[slug].name for slug in entities if slug in book.pages)]
    days = query_days(text, today)
    if days is not None and days.span.first < today and days.span.last == date.max:
        # "since" a past day ends today: plans are not included
        days = replace(days, span=DaySpan(days.span.first, today))
    if days is None and asks_for_all(text):
        # any day matches
        return QueryIntent(span=DaySpan(date.min, today), is_of_days=True, is_bare=True)
    return query_intent(text, entities=entities, names=names, days=days)
