"""Recall: a question → memories and passages that are in their files, current first, with a verdict and the reasons.

The candidates of one look at the index are held against their files; what does not stand has the question asked again.
Pages of entities that a question names are summarised.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, CitedState, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.recall_filters import QueryIntent, asking_of, asks_for_all, is_known_to
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
    chosen,
    visible_items,
    why_nothing,
)
from memoryd.memory.recall.candidates import (
    ARM_DEPTH,
    CandidateMemories,
    ReadMessage,
    UnaskedFinds,
    earned,
    helpful_first,
    ordered,
    placed_passage,
    read,
    says_something,
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
from memoryd.search.hits import Hit, folded, rested
from memoryd.search.protocol import (
    BUILTIN,
    LEXICAL,
    VECTOR,
    Arm,
    ArmState,
    DiskFollower,
    Exclusions,
    Found,
    SearchBackend,
    nothing_found,
    seconds_left,
    with_pending,
)
from memoryd.search.ranking import Ranked, Recipe, SearchSettings, ranked
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter


class CheckedItems(Struct, frozen=True):
    """The items that stand in their files, those that do not, and what the look at the files gave."""

    items: tuple[RecalledItem, ...]
    lost: tuple[RecalledItem, ...]
    checked: CheckedRows
    has_replaced: bool = False
    """Whether the index put something else in the place of a line meanwhile."""


async def checked_items(
    items: Sequence[RecalledItem], database: Database, check: FileCheck, seconds: float
) -> CheckedItems:
    """Hold these items against their files, within so many seconds; raises StoreError."""
    memories = (item for item in items if isinstance(item, RecalledMemory))
    chunks = {one.source.chunk: one.source for memory in memories for one in memory.sources}
    held = await database.documents.chunks(sorted(chunks))
    # the number of a chunk that went may be that of another one
    rows = {
        one: row
        for one, row in held.items()
        if row.path == chunks[one].path and line_in(row.text, row.path) == chunks[one].line
    }
    passages = [row for one in items if isinstance(one, RecalledPassage) for row in one.hit.rows]
    checked = await check.check([*rows.values(), *passages], seconds)
    looked_at = [(one, _checked_item(one, rows, checked)) for one in items]
    return CheckedItems(
        items=tuple(now for _, now in looked_at if now is not None),
        lost=tuple(one for one, now in looked_at if now is None),
        checked=checked,
        has_replaced=len(rows) < len(chunks),
    )


def _checked_item(item: RecalledItem, rows: Mapping[int, ChunkRow], checked: CheckedRows) -> RecalledItem | None:
    """Return an item as it stands now, None if nothing of it does."""
    if isinstance(item, RecalledPassage):
        hit = checked.hit(item.hit)
        return None if hit is None else replace(item, hit=hit)
    states = [_checked_source(one.source, rows.get(one.source.chunk), checked) for one in item.sources]
    standing = [one for one in states if one.state in (CitedState.VERIFIED, CitedState.MOVED)]
    if not standing:
        return None
    return replace(item, sources=(*standing, *(one for one in states if one not in standing)))


def _checked_source(source: MemorySource, row: ChunkRow | None, checked: CheckedRows) -> CheckedSource:
    """Tell what became of a line: of a document that is there but holds it no more, it was edited."""
    now = None if row is None else checked.now(row)
    if row is None or (now is None and row.path in checked.absent):
        return CheckedSource(source, CitedState.GONE)
    if now is None:
        return CheckedSource(source, CitedState.EDITED)
    if now.start_line == row.start_line == source.start_line:
        return CheckedSource(source, CitedState.VERIFIED)
    moved = replace(source, start_line=now.start_line, end_line=now.end_line)
    return CheckedSource(moved, CitedState.MOVED)


def chunks_lost(items: Iterable[RecalledItem]) -> frozenset[int]:
    """Return the chunks of items that do not stand."""
    return frozenset(
        chunk
        for one in items
        for chunk in (
            (source.source.chunk for source in one.sources)
            if isinstance(one, RecalledMemory)
            else (row.id for row in one.hit.rows)
        )
        if chunk
    )


MAX_CHECKS = 3
"""How often a question is asked while its files, or its index, change."""
RESERVE = 0.2
"""Share of the deadline kept for reading rows and files."""
TELLING_SECONDS = 0.05
"""How long beyond that what the arms found may be told from what is withdrawn."""
NEWEST_SHARE = 0.5
"""Share of the time of a look for which memories that have just come are waited for."""
_OLDER = Arm(ArmState.PARTIAL, "memories that have just come are still being read")
_TIMED_OUT = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")
PASSAGES = 3
"""How many times as many passages as places are read."""
LOOKED_AT = 3
"""How many times as many candidates as places are held against their files: some will not stand, some fold."""
BOOK = "memories"
"""The arm that knows the retained lines: entity, time and opinion rest on it."""


class Recaller(Struct, frozen=True, kw_only=True):
    """Recalls for one agent, from one index; `passages` is another engine that finds passages in its stead."""

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
        """Answer within the query's deadline; what fails or is late costs its part, never the answer."""
        start = time.monotonic()
        end, fresh = start + query.deadline, self.disk.seconds_of(query)
        self.disk.on_search()
        pending = await self.disk.catch_up(fresh)
        draft, held = await self._check_until_stable(replace(query, fresh_until=start + fresh), end)
        filters = query.memory_filters
        pages = await self.pages.of(draft.asking.entities, draft.book, filters, seconds_left(end))
        items, left_out = chosen(beside_pages(pages, visible_items(held.items, filters.visibility)), query, draft)
        left_out += [cut_because(one, SkipReason.BELOW_NOISE) for one in visible_items(draft.below, filters.visibility)]
        left_out += [cut_because(one, SkipReason.NOT_STANDING) for one in visible_items(held.lost, filters.visibility)]
        # the index may hold still what became private a moment ago
        left_out = [one for one in left_out if one.citation.path not in held.checked.absent]
        if query.said and not items:
            # a page alone tells no more than the name that was said
            pages = ()
        freshness = self.disk.freshness()
        freshness = replace(freshness, pending_files=max(pending, len(held.checked.owed)))
        self.index.times.note(RECALL, start)
        found = Recalled(
            entities=pages,
            items=tuple(items),
            left_out=tuple(left_out),
            found=replace(draft.found, arms=with_pending(draft.found.arms, freshness)),
            freshness=freshness,
            verdict=best_of(items),
            took_ms=(time.monotonic() - start) * 1000,
            is_explained=query.is_explained,
        )
        return replace(found, reason=why_nothing(found, query, draft))

    async def _check_until_stable(self, query: RecallQuery, end: float) -> tuple[RecallDraft, CheckedItems]:
        """Ask until what is told stands in its files, and the index held still, or time is up."""
        for look in range(MAX_CHECKS):
            draft = await self._draft(query, end)
            held = await self._check_items(draft, end)
            is_late = time.monotonic() > end or look == MAX_CHECKS - 1
            if is_late or not (held.has_replaced or held.checked.differing):
                break
            left = min(query.fresh_until, end) - time.monotonic()
            has_looked = bool(held.checked.differing) and await self.disk.rescan(held.checked.differing, left)
            gone = Exclusions(held.checked.absent)
            lost = Exclusions() if has_looked else Exclusions(chunks=chunks_lost(held.lost))
            query = replace(query, exclusions=query.exclusions | gone | lost)
        return draft, held

    async def _check_items(self, draft: RecallDraft, end: float) -> CheckedItems:
        try:
            return await checked_items(draft.items, self.index.database, self.check, seconds_left(end))
        except StoreError:
            # what nobody can hold against its file is not told
            return CheckedItems((), tuple(draft.items), CheckedRows())

    async def _draft(self, query: RecallQuery, end: float) -> RecallDraft:
        """Return the candidates, with time left until `end`; what fails or is late costs its part, never the answer."""
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
        query = replace(query, asked=question, exclusions=query.exclusions | hidden)
        asking = _asked_for(query, book)
        reading = None
        if query.said:
            named, descriptions = sorted(asking.entities), eligible.facts.descriptions
            before = [(one, _named_in(one, book, query)) for one in query.said_before]
            reading = read(query.said, book, descriptions, named, before=before, is_failure=query.is_failure)
        if reading is not None and reading.message.silence is not None:
            return replace(_nothing(query, Arm(ArmState.OK)), book=book, silence=reading.message.silence)
        recipe = recall_recipe(self.settings, self.fusion, query.limit, reading.beside if reading else ())
        found, others = await asyncio.gather(
            self._found_here(query, recipe, admitted, end), self._found_elsewhere(query, end)
        )
        draft = await self._join(query, eligible, asking, found, others, reading)
        return replace(draft, found=replace(draft.found, arms={**draft.found.arms, BOOK: state}))

    async def _eligible(self, query: RecallQuery, seconds: float) -> tuple[Eligible, CandidateFilter, Arm]:
        """Return who may answer as the index is now, or, where that takes longer, as it was before; raises StoreError.

        Of what was before, nothing is told that does not stand in its file.
        """
        only_memories = self.passages is not None
        # where nothing was before, all there is to tell is waited for
        for left in (seconds, None):
            try:
                async with asyncio.timeout(left):
                    await self.usage.ready()
                    book = await self.book()
                    return *await self.eligible.of(book, query, only_memories=only_memories), Arm(ArmState.OK)
            except TimeoutError:
                if older := self.eligible.settled():
                    return *await self.eligible.of(older, query, only_memories=only_memories), _OLDER
        raise TimeoutError

    async def _join(
        self,
        query: RecallQuery,
        eligible: Eligible,
        asking: QueryIntent,
        found: Candidates,
        others: Found | None,
        reading: ReadMessage | None,
    ) -> RecallDraft:
        now, book, ranking = query.now.timestamp(), eligible.book, found.ranking
        # what is used now says nothing of what was known then
        turns_back = query.memory_filters.turns_back
        relevance = (lambda _memory: 1.0) if turns_back else await self.usage.relevance(book, now)
        made = CandidateMemories(eligible, ranking, asking, relevance)
        meant = reading.newest_about(book, ARM_DEPTH * query.limit) if reading else ()
        memories = made.all(query, meant)
        hits = await self._hits(query, eligible, ranking) if others is None else others.hits
        may_tell = query.memory_filters.admits_passages
        passages = [placed_passage(hit, asking) for hit in hits if may_tell and says_something(hit)]
        arms = found.arms if others is None else {**found.arms, LEXICAL: others.arms[LEXICAL]}
        items, below = ordered(memories, passages, eligible, asking), list[RecalledItem]()
        if reading is not None:
            near = UnaskedFinds(memories, passages, items, ranking)
            items, below = earned(near, reading, eligible, asking)
            if (further := reading.following(items, book)) is not None:
                meant = further.newest_about(book, ARM_DEPTH * query.limit)
                near = replace(near, memories={**memories, **made.those(meant)})
                items, below = earned(near, further, eligible, asking)
        if query.is_failure:
            items = helpful_first(items, query.said)
        return RecallDraft(
            book=book,
            asking=asking,
            found=Found(
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
                for item in items[: LOOKED_AT * query.limit]
            ],
            below=below[: query.limit],
        )

    async def _hits(self, query: RecallQuery, eligible: Eligible, ranking: Ranked) -> list[Hit]:
        """Return the best passages, without copies; a line that became a memory meanwhile is none."""
        known, database = eligible.book.by_chunk, self.index.database
        chunks = [chunk for chunk in (*ranking.telling, *ranking.noise) if chunk not in known]
        wanted = chunks[: PASSAGES * query.limit]
        try:
            plain = CandidateFilter(without_memories=True)
            rows = await database.look(lambda reader: reader.rows(reader.admitted(wanted, plain)))
        except StoreError:
            return []
        told = [rows[chunk] for chunk in wanted if chunk in rows]
        withdrawn, exclusions = self.index.withdrawn, query.exclusions
        today = query.now.date()
        hits = [
            rested(ranking.hit(row), today) for row in told if row.path not in withdrawn and not exclusions.holds(row)
        ]
        return folded(hits, query.now.tzinfo or query.filters.zone)

    async def _found_here(
        self, query: RecallQuery, recipe: Recipe, admitted: CandidateFilter, end: float
    ) -> Candidates:
        """Return what the index finds; what cannot be told in time from what is withdrawn is not told."""
        try:
            async with asyncio.timeout(seconds_left(end) + TELLING_SECONDS):
                return await self.index.candidates(query, recipe, admitted, end)
        except TimeoutError:
            arm = _TIMED_OUT
        except StoreError as exc:
            arm = Arm(ArmState.FAILED, str(exc))
        nothing = ranked(Evidence(LexicalMatches(), VectorMatches()), {}, None, min_score=0.0)
        return Candidates(dict.fromkeys((LEXICAL, VECTOR), arm), nothing, is_full=False)

    async def _found_elsewhere(self, query: RecallQuery, end: float) -> Found | None:
        if self.passages is None:
            return None
        try:
            return await self.passages.search(query.until(end))
        except SidecarError as exc:
            return nothing_found(query.question.terms, Arm(ArmState.FAILED, str(exc)))


def _nothing(query: RecallQuery, arm: Arm) -> RecallDraft:
    return RecallDraft(found=Found((), (), dict.fromkeys((LEXICAL, VECTOR, BOOK), arm), query.question.terms))


def _named_in(text: str, book: Book, query: RecallQuery) -> list[EntitySlug]:
    """Return the entities that a text names, and those that are given with a question."""
    filters = query.memory_filters
    # an entity that is given is one that is asked about
    given = sorted(filters.entities or ())
    found = dict.fromkeys([*book.entities_in(text), *(book.aliases.get(slug, slug) for slug in given)])
    # a name that only lines of others hold is a word like any other
    return [
        slug for slug in found if slug in book.pages or is_known_to(book, book.slugs_of([slug]), filters.visibility)
    ]


def _asked_for(query: RecallQuery, book: Book) -> QueryIntent:
    text, today = query.question.text, query.today
    entities = _named_in(text, book, query)
    names: list[str] = [*book.slugs_of(entities), *(book.pages[slug].name for slug in entities if slug in book.pages)]
    days = query_days(text, today)
    if days is not None and days.span.first < today and days.span.last == date.max:
        # what it asks since a day before ends today: plans are none of it
        days = replace(days, span=DaySpan(days.span.first, today))
    if days is None and asks_for_all(text):
        # whatever day it is of
        return QueryIntent(span=DaySpan(date.min, today), is_of_days=True, is_bare=True)
    return asking_of(text, entities=entities, names=names, days=days)
