"""Memories of an agent as documents: search, get, list, count and explain.

Reads return what recall may return; the id of a hidden memory gives the same error as an unknown id.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.recall import AgentRecall, RecallOptions
from memoryd.agents.search import check_scope
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.memories.abstracts import abstract_of, overview_of
from memoryd.domain.memories.book import Book, Memory, cite
from memoryd.domain.memories.changes.forgetting import find_target
from memoryd.domain.memories.documents import (
    DIGITS,
    DecayedDocument,
    DocumentFilters,
    MemoryDocument,
    author_of,
    day_start,
    find_memory,
    largest_losses,
    page_of,
    relevance_forecast,
    shown_scope,
    stats_of,
    visible_memories,
)
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import RecallFilters, named_entity
from memoryd.domain.memories.tiers import RelevanceTerms
from memoryd.domain.ranking.filters import parse_instant
from memoryd.errors import InvalidRequest, NotFound
from memoryd.index.threads import with_pauses
from memoryd.memory.recall.query import Recalled
from memoryd.memory.usage import UsageCache
from memoryd.replies.memories import (
    DecayedMemoryReply,
    MemoryDecayReply,
    MemoryDocumentReply,
    MemoryListReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RelevanceTermsReply,
)


class AgentDocuments(Struct, frozen=True, kw_only=True):
    """The memories of one agent as documents. `zone` is the owner's time zone, None: that of the machine."""

    recall: AgentRecall
    index: WorkspaceIndex
    zone: tzinfo | None

    @property
    def agent(self) -> Agent:
        return self.recall.agent

    @property
    def is_alone(self) -> bool:
        """True if no other agent shares its workspace."""
        return self.recall.is_alone

    @property
    def usage(self) -> UsageCache:
        return self.recall.usage

    async def search(
        self,
        query: str,
        *,
        admitted: Admitted,
        scope: str = "",
        top_k: int | None = None,
        kind: str = "",
        options: RecallOptions | None = None,
    ) -> tuple[list[MemoryDocumentReply], Recalled]:
        """Return the memories that match, as recall ranks them, and the recall result; raises InvalidRequest."""
        options = replace(options or RecallOptions(), k=top_k, scope=scope, kind=kind, only_memories=True)
        recalled = await self.recall.recall(query, options, admitted)
        documents = [
            replace(self._document(item.memory), score=item.placed.score, superseded_by=item.superseded_by)
            for item in recalled.memories
        ]
        return list(map(_reply, documents)), recalled

    async def get(self, name: str, admitted: Admitted) -> MemoryDocumentReply:
        """Return the memory with this id, or with these first eight characters of an id; raises NotFound."""
        return _reply(await self._find_document(name, admitted))

    async def why(self, name: str, admitted: Admitted) -> MemoryWhyReply:
        """Return a memory with all terms of its relevance, and its future relevance; raises as `get`."""
        document = await self._find_document(name, admitted)
        return MemoryWhyReply(
            memory=_reply(document),
            terms=_terms(document.terms),
            ahead=relevance_forecast(lambda days: self.usage.preview(document.memory, days)),
        )

    async def _find_document(self, name: str, admitted: Admitted) -> MemoryDocument:
        book = await self.now()
        memory = _find_memory(visible_memories(book, self.recall.visibility(admitted)), name)
        newer = await self._newer(book, admitted)
        return replace(self._document(memory), superseded_by=newer.get(memory.id, ()))

    async def listing(
        self, filters: DocumentFilters, admitted: Admitted, *, entity: str = "", since: str = "", until: str = ""
    ) -> MemoryListReply:
        """Return the memories that the filters admit, the newest first; raises InvalidRequest for a bad scope or day.

        `entity` is a name of an entity; `since` and `until` are dates in the user's notation.
        """
        check_scope(filters.scope)
        book, visibility = await self.now(), self.recall.visibility(admitted)
        filters = replace(
            filters,
            entities=named_entity(book, entity) if entity else None,
            since=self._day(since) if since else filters.since,
            until=self._day(until) if until else filters.until,
        )
        newer = await self._newer(book, admitted)

        def work() -> MemoryListReply:
            visible = with_pauses(visible_memories(book, visibility))
            page = page_of(
                (memory for memory in visible if filters.admits(memory, self.shown_scope(memory.scope))),
                filters,
                self._document,
                self.usage.tier,
            )
            documents = (
                replace(document, superseded_by=newer.get(document.memory.id, ())) for document in page.documents
            )
            return MemoryListReply(memories=list(map(_reply, documents)), total=page.total, next=page.next or None)

        return await asyncio.to_thread(work)

    async def stats(self, admitted: Admitted) -> MemoryStatsReply:
        """Count the visible memories."""
        memories = visible_memories(await self.now(), self.recall.visibility(admitted))
        return await asyncio.to_thread(lambda: stats_of(list(map(self._document, with_pauses(memories)))))

    async def decay(self, days: float, admitted: Admitted, *, limit: int = 50) -> MemoryDecayReply:
        """Return the future relevance of visible memories in so many days without any access; changes nothing."""
        memories = visible_memories(await self.now(), self.recall.visibility(admitted))

        def work() -> MemoryDecayReply:
            documents = [
                DecayedDocument(self._document(memory), self.usage.preview(memory, days))
                for memory in with_pauses(memories)
            ]
            decayed, changing, moving = largest_losses(documents, limit)
            return MemoryDecayReply(
                days=days,
                memories=[
                    DecayedMemoryReply(memory=_reply(item.document), terms=_terms(item.then)) for item in decayed
                ],
                changing=changing,
                moving=moving,
                total=len(memories),
            )

        return await asyncio.to_thread(work)

    async def memory(self, name: str, admitted: Admitted) -> Memory:
        """Return the visible memory with this id or id prefix, as on disk now; raises NotFound."""
        return _find_memory(visible_memories(await self.now(), self.recall.visibility(admitted)), name)

    async def named(self, name: str, admitted: Admitted) -> Sequence[Memory]:
        """Return the visible memories that an id, a citation or words mean, as for forgetting; raises NotFound."""
        visible = visible_memories(await self.now(), self.recall.visibility(admitted))
        try:
            found = await asyncio.to_thread(find_target, Book({memory.id: memory for memory in visible}), name)
        except ValueError as exc:
            raise NotFound(str(exc)) from exc
        if not found.memories:
            raise NotFound(f"no memory is at {found.lines}")
        return found.memories

    async def now(self) -> Book:
        """Return the book as on disk, waiting for the index as long as a query may."""
        await self.usage.ready()
        await self.index.catch_up(self.agent.memory_search.query.fresh_ms / 1000)
        return await self.recall.book.current()

    async def _newer(self, book: Book, admitted: Admitted) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """Return the memories that supersede each memory, among those that the asker may know."""
        filters = RecallFilters(visibility=self.recall.visibility(admitted))
        return (await self.recall.eligible.versions(book, filters, self.recall.clock().date())).newer

    def _day(self, text: str) -> date:
        """Return the day of a date in the user's notation; raises InvalidRequest."""
        try:
            return parse_instant(text, self.recall.clock()).date()
        except (ValueError, OverflowError) as exc:
            raise InvalidRequest(str(exc), hint="give a date, 2026-11-18, or 7d for as long ago") from exc

    def shown_scope(self, scope: str) -> str:
        """Return a scope as shown to users."""
        team = self.agent.team.name if self.agent.team is not None else None
        return shown_scope(scope, self.agent.id, is_alone=self.is_alone, team=team or "")

    def _document(self, memory: Memory) -> MemoryDocument:
        created, used = day_start(memory.first_recorded, self.zone), self.usage.usage(memory.id).touched_at
        return MemoryDocument(
            memory=memory,
            scope=self.shown_scope(memory.scope),
            created_at=created,
            accessed_at=created if used is None else used,
            accessed_day=memory.first_recorded if used is None else datetime.fromtimestamp(used, self.zone).date(),
            terms=self.usage.terms(memory),
        )


def _find_memory(known: Iterable[Memory], name: str) -> Memory:
    try:
        return find_memory(known, name)
    except ValueError as exc:
        raise NotFound(str(exc), hint="memoryctl memories list shows all within reach, each with its id") from exc


def _reply(document: MemoryDocument) -> MemoryDocumentReply:
    """Return the reply for a memory."""
    memory, line, terms = document.memory, document.memory.line, document.terms
    return MemoryDocumentReply(
        id=memory.id,
        scope=document.scope,
        kind=line.kind.value,
        network=line.network.value,
        text=line.text,
        tier=terms.tier.value,
        importance=line.importance,
        pinned=line.attributes.is_pinned,
        tags=list(line.attributes.tags),
        entities=list(line.entities),
        author=author_of(memory).value,
        access_count=terms.access_count,
        created_at=document.created_at,
        created_day=memory.first_recorded.isoformat(),
        accessed_at=document.accessed_at,
        accessed_day=document.accessed_day.isoformat(),
        abstract_text=abstract_of(line.text),
        overview_text=overview_of(line.text),
        citation=str(cite(memory.sources[0])),
        sources=[str(source.citation) for source in memory.sources],
        relevance=round(terms.relevance, DIGITS),
        superseded_by=list(document.superseded_by),
        flags=[flag.value for flag in memory.sources[0].flags],
        score=None if document.score is None else round(document.score, DIGITS),
    )


def _terms(terms: RelevanceTerms) -> RelevanceTermsReply:
    return RelevanceTermsReply(
        tier=terms.tier.value,
        reason=terms.reason.value,
        pinned=terms.is_pinned,
        importance=terms.importance,
        access_count=terms.access_count,
        age_days=round(terms.age_days, DIGITS),
        half_life_days=round(terms.half_life_days, DIGITS),
        beta=terms.beta,
        recency=round(terms.recency, DIGITS),
        frequency=round(terms.frequency, DIGITS),
        composite=round(terms.composite, DIGITS),
        floor=terms.floor,
        relevance=round(terms.relevance, DIGITS),
        leaves_core_in_days=None if terms.leaves_core_in is None else round(terms.leaves_core_in, DIGITS),
    )
