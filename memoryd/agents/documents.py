"""What may be asked of an agent's memories one by one: search, get, list, count, and how they will stand.

Reads reach what recall reaches, and an id beyond reach reads as one that there is not.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from memoryd.agents.asked_filters import check_scope
from memoryd.agents.recall import AgentRecall, RecallOptions
from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.documents import (
    DecayedDocument,
    DecayPreview,
    DocumentFilters,
    DocumentPage,
    DocumentStats,
    MemoryDocument,
    beginning_of,
    decay_of,
    named,
    newer_versions,
    page_of,
    stats_of,
    told_scope,
    within,
)
from memoryd.errors import NotFound
from memoryd.index.threads import with_pauses
from memoryd.memory.book import MemoryBook
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.memory.usage import UsageBook

_LIST_HINT: Final = "memoryctl memories list shows all within reach, each with its id"


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """The memories that answer, best first, and what recall says of its answer (`recalled`)."""

    documents: tuple[MemoryDocument, ...]
    recalled: Recalled

    @property
    def verdict(self) -> str:
        return self.recalled.verdict.value

    @property
    def reason(self) -> str | None:
        return self.recalled.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDocuments:
    """The memories of one agent as documents. `is_alone`: no other one shares its workspace."""

    agent: Agent
    is_alone: bool
    book: MemoryBook
    recall: AgentRecall
    index: WorkspaceIndex
    usage: UsageBook
    zone: tzinfo | None
    """The owner's, None: that of the machine."""

    async def search(
        self,
        query: str,
        *,
        admitted: Admitted,
        scope: str = "",
        top_k: int | None = None,
        kind: str = "",
        options: RecallOptions | None = None,
    ) -> FoundDocuments:
        """Return the memories that answer, as recall ranks them; raises InvalidRequest."""
        asked = replace(options or RecallOptions(), k=top_k, scope=scope, kind=kind, only_memories=True)
        outcome = await self.recall.recall(query, asked, admitted)
        items = [item for item in outcome.recalled.items if isinstance(item, RecalledMemory)]
        documents = [
            replace(self._document(item.memory), score=item.placed.score, superseded_by=item.superseded_by)
            for item in items
        ]
        return FoundDocuments(tuple(documents), outcome.recalled)

    async def get(self, name: str, admitted: Admitted) -> MemoryDocument:
        """Return the memory of an id, or of the first eight signs of one; raises NotFound."""
        known = within(await self.now(), self.recall.reach(admitted))
        memory = _named(known, name)
        newer = await asyncio.to_thread(newer_versions, known, [memory])
        return replace(self._document(memory), superseded_by=newer.get(memory.id, ()))

    async def listing(self, filters: DocumentFilters, admitted: Admitted) -> DocumentPage:
        """Return the memories that filters admit, the newest first; raises InvalidRequest for what is no scope."""
        check_scope(filters.scope)
        book, reach = await self.now(), self.recall.reach(admitted)

        def work() -> DocumentPage:
            known = within(book, reach)
            admitted = (one for one in with_pauses(known) if filters.admits(one, self._told_scope(one)))
            page = page_of(admitted, filters, self._document)
            newer = newer_versions(known, [one.memory for one in page.documents])
            told = (replace(one, superseded_by=newer.get(one.id, ())) for one in page.documents)
            return DocumentPage(tuple(told), page.total)

        return await asyncio.to_thread(work)

    async def stats(self, admitted: Admitted) -> DocumentStats:
        """Count the memories within reach."""
        memories = within(await self.now(), self.recall.reach(admitted))
        return await asyncio.to_thread(lambda: stats_of(list(self._documents(memories))))

    async def decay(self, days: float, admitted: Admitted, *, limit: int = 50) -> DecayPreview:
        """Say how memories within reach will stand in so many days if nobody touches them; nothing is changed."""
        memories = within(await self.now(), self.recall.reach(admitted))

        def work() -> DecayPreview:
            found = [
                DecayedDocument(self._document(one), self.usage.preview(one, days)) for one in with_pauses(memories)
            ]
            return decay_of(found, days, limit)

        return await asyncio.to_thread(work)

    async def memory(self, name: str, admitted: Admitted) -> Memory:
        """Return the memory of an id within reach, or of its beginning, as the disk has it now; raises NotFound."""
        return _named(within(await self.now(), self.recall.reach(admitted)), name)

    async def now(self) -> Book:
        """Return the book as the disk has it, as far as a question waits for that."""
        await self.usage.ready()
        await self.index.catch_up(self.agent.memory_search.query.fresh_ms / 1000)
        return await self.book.now()

    def _documents(self, memories: Iterable[Memory]) -> Iterable[MemoryDocument]:
        return map(self._document, with_pauses(memories))

    def _told_scope(self, memory: Memory) -> str:
        return told_scope(memory.line.attributes.scope, self.agent.id, is_alone=self.is_alone)

    def _document(self, memory: Memory) -> MemoryDocument:
        created, usage = beginning_of(memory.first_recorded, self.zone), self.usage.usage(memory.id)
        return MemoryDocument(
            memory=memory,
            scope=self._told_scope(memory),
            created_at=created,
            accessed_at=created if usage.touched_at is None else usage.touched_at,
            terms=self.usage.terms(memory),
        )


def _named(known: Iterable[Memory], name: str) -> Memory:
    try:
        return named(known, name)
    except ValueError as exc:
        raise NotFound(str(exc), hint=_LIST_HINT) from exc
