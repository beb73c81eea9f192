"""An agent's memories one by one: search, get, list, count and explain; add, pin, weigh and delete.

Reads reach what recall reaches, and an id beyond reach reads as one that does not exist. The owner writes what is
within reach; a session writes only what is its agent's own, and nothing of the core, which others rely on.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.recall import AgentRecall, RecallOptions, check_scope
from memoryd.agents.retained.retaining import AgentRetaining
from memoryd.agents.search import is_searchable
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.documents import (
    DecayedDocument,
    DecayPreview,
    DocumentFilters,
    DocumentPage,
    MemoryDocument,
    beginning_of,
    decay_of,
    named,
    page_of,
    shown_scope,
    stats_of,
    within,
)
from memoryd.domain.memories.edits import OWN_CHANNELS, AttributeChange, MemoryDraft
from memoryd.domain.memories.kinds import Kind, MemoryId
from memoryd.domain.memories.recall_filters import WORKSPACE, RecallFilters
from memoryd.domain.memories.scopes import GLOBAL, unnamed_scope
from memoryd.errors import Denied, InvalidRequest, NotFound, NotNow, StoreError
from memoryd.index.threads import with_pauses
from memoryd.memory.book import MemoryCache
from memoryd.memory.recall.query import Recalled
from memoryd.memory.retaining import LineEditing, StatementHashes
from memoryd.memory.usage import UsageCache
from memoryd.replies.memories import MemoryStatsReply

_LIST_HINT: Final = "memoryctl memories list shows all within reach, each with its id"
NOT_OWN: Final = "a session changes only memories of its own agent"
NOT_OWN_HINT: Final = "the owner may, by `memoryctl memories`"


class FoundDocuments(Struct, frozen=True):
    """The memories that answer, best first, and what recall says of its answer (`recalled`)."""

    documents: tuple[MemoryDocument, ...]
    recalled: Recalled


class AgentDocuments(Struct, frozen=True, kw_only=True):
    """The memories of one agent as documents. `is_alone`: no other one shares its workspace."""

    agent: Agent
    is_alone: bool
    book: MemoryCache
    recall: AgentRecall
    index: WorkspaceIndex
    usage: UsageCache
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
        found = await self.recall.recall(query, asked, admitted)
        documents = [
            replace(self._document(item.memory), score=item.placed.score, superseded_by=item.superseded_by)
            for item in found.memories
        ]
        return FoundDocuments(tuple(documents), found)

    async def get(self, name: str, admitted: Admitted) -> MemoryDocument:
        """Return the memory of an id, or of the first eight signs of one; raises NotFound."""
        book = await self.now()
        known = within(book, self.recall.visibility(admitted))
        memory = _named(known, name)
        newer = await self._newer(book, admitted)
        return replace(self._document(memory), superseded_by=newer.get(memory.id, ()))

    async def listing(self, filters: DocumentFilters, admitted: Admitted) -> DocumentPage:
        """Return the memories that filters admit, the newest first; raises InvalidRequest for what is no scope."""
        check_scope(filters.scope)
        book, visibility = await self.now(), self.recall.visibility(admitted)
        newer = await self._newer(book, admitted)

        def work() -> DocumentPage:
            known = within(book, visibility)
            admitted = (one for one in with_pauses(known) if filters.admits(one, self._shown_scope(one)))
            page = page_of(admitted, filters, self._document)
            told = (replace(one, superseded_by=newer.get(one.memory.id, ())) for one in page.documents)
            return DocumentPage(tuple(told), page.total)

        return await asyncio.to_thread(work)

    async def stats(self, admitted: Admitted) -> MemoryStatsReply:
        """Count the memories within reach."""
        memories = within(await self.now(), self.recall.visibility(admitted))
        return await asyncio.to_thread(lambda: stats_of(list(map(self._document, with_pauses(memories)))))

    async def decay(self, days: float, admitted: Admitted, *, limit: int = 50) -> DecayPreview:
        """Say how memories within reach will stand in so many days if nobody touches them; nothing is changed."""
        memories = within(await self.now(), self.recall.visibility(admitted))

        def work() -> DecayPreview:
            found = [
                DecayedDocument(self._document(one), self.usage.preview(one, days)) for one in with_pauses(memories)
            ]
            return decay_of(found, days, limit)

        return await asyncio.to_thread(work)

    async def memory(self, name: str, admitted: Admitted) -> Memory:
        """Return the memory of an id within reach, or of its beginning, as the disk has it now; raises NotFound."""
        return _named(within(await self.now(), self.recall.visibility(admitted)), name)

    async def now(self) -> Book:
        """Return the book as the disk has it, as far as a question waits for that."""
        await self.usage.ready()
        await self.index.catch_up(self.agent.memory_search.query.fresh_ms / 1000)
        return await self.book.now()

    async def _newer(self, book: Book, admitted: Admitted) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """Return what supersedes each memory, of what the asker may know of."""
        filters = RecallFilters(visibility=self.recall.visibility(admitted))
        return (await self.recall.eligible.versions(book, filters, self.recall.clock().date())).newer

    def _shown_scope(self, memory: Memory) -> str:
        return shown_scope(memory.line.attributes.scope, self.agent.id, is_alone=self.is_alone)

    def _document(self, memory: Memory) -> MemoryDocument:
        created, used = beginning_of(memory.first_recorded, self.zone), self.usage.usage(memory.id).touched_at
        return MemoryDocument(
            memory=memory,
            scope=self._shown_scope(memory),
            created_at=created,
            accessed_at=created if used is None else used,
            accessed_day=memory.first_recorded if used is None else datetime.fromtimestamp(used, self.zone).date(),
            terms=self.usage.terms(memory),
        )


def _named(known: Iterable[Memory], name: str) -> Memory:
    try:
        return named(known, name)
    except ValueError as exc:
        raise NotFound(str(exc), hint=_LIST_HINT) from exc


class AddedDocument(Struct, frozen=True):
    """A memory that was stated. `created`: it was new; `is_searchable`: it is found by words already."""

    document: MemoryDocument
    notes: tuple[str, ...]
    created: bool
    change: int = 0
    """The change by which it can be undone; 0: nothing was written, or it cannot be."""
    is_searchable: bool = True


class EditedDocument(Struct, frozen=True):
    """A memory after an edit; `changes` are those by which it can be undone, none where it was so already."""

    document: MemoryDocument
    changes: tuple[int, ...]
    is_changed: bool
    is_searchable: bool = True


class DeletedDocument(Struct, frozen=True):
    """A memory whose lines were taken out, or would be; `run` takes back changes of several notes at once."""

    id: MemoryId
    lines: tuple[str, ...]
    changes: tuple[int, ...]
    is_deleted: bool
    run: str = ""
    is_searchable: bool = True


class AgentDocumentEdits(Struct, frozen=True, kw_only=True):
    """Writes the memories of one agent, as its documents have them."""

    documents: AgentDocuments
    retaining: AgentRetaining
    editing: LineEditing
    stated: StatementHashes

    async def add(
        self,
        text: str,
        *,
        admitted: Admitted,
        kind: Kind | None = None,
        importance: float | None = None,
        scope: str = "",
        tags: Sequence[str] = (),
        pinned: bool = False,
        by_agent: bool = False,
    ) -> AddedDocument:
        """State a memory in today's log; what a session states without a scope is its agent's own.

        With `by_agent` a model states it through its owner's socket: it may then no more than a session.
        Raises what `AgentRetaining.retain` does.
        """
        stater = replace(admitted, is_owner=admitted.is_owner and not by_agent)
        said = MemoryDraft(
            text=text,
            kind=kind,
            default_kind=Kind.NOTE,
            importance=importance,
            scope=self._stated_scope(scope, stater),
            tags=tuple(tags),
            is_pinned=pinned,
        )
        outcome = await self.retaining.retain(said, stater)
        retention = outcome.retention
        placed = retention.placed[0].line
        if not outcome.is_searchable and placed.id not in (await self.documents.book.now()).memories:
            raise NotNow(
                "it is written, and not indexed yet", hint="memoryctl status says why; it is found as soon as it is"
            )
        document = await self.documents.get(placed.id, admitted)
        return AddedDocument(document, outcome.notes, retention.added[0], retention.change.id, outcome.is_searchable)

    async def pin(self, name: str, admitted: Admitted) -> EditedDocument:
        """Pin a memory: it never decays, and stands in the core of sessions; the owner's alone, as `unpin`."""
        return await self._changed(name, AttributeChange(is_pinned=True), admitted)

    async def unpin(self, name: str, admitted: Admitted) -> EditedDocument:
        """Take the pin away; raises as `set_importance`."""
        return await self._changed(name, AttributeChange(is_pinned=False), admitted)

    async def set_importance(self, name: str, value: float, admitted: Admitted) -> EditedDocument:
        """Write another importance, 0 to 1, of a session none that makes it core.

        Raises NotFound, Denied, and what `LineEditing.change` does.
        """
        if not 0 <= value <= 1:
            raise InvalidRequest(f"an importance is a number from 0 to 1, not {value}")
        return await self._changed(name, AttributeChange(importance=value), admitted)

    async def delete(self, name: str, admitted: Admitted, *, is_dry_run: bool = False) -> DeletedDocument:
        """Take out all lines that state a memory, of a session none that is pinned; raises as `set_importance`."""
        memory = await self._own(name, admitted)
        self.retaining.rights.check_unpin(memory.line, is_owner=admitted.is_owner)
        standing = await self.editing.standing(memory)
        lines = tuple(f"{path}#L{first}" + (f"-L{last}" if last > first else "") for path, first, last in standing)
        if is_dry_run:
            return DeletedDocument(memory.id, lines, (), is_deleted=False)
        written = await self.editing.delete(memory, agent=self.asker(admitted))
        # also one that was written by hand is not captured again
        await self.stated.note([memory.line.text])
        with contextlib.suppress(StoreError, Denied):
            # what cannot be dropped now is with what no line states, in a month
            await self.documents.usage.drop([memory.id])
        return DeletedDocument(
            memory.id,
            lines,
            written.numbers,
            is_deleted=True,
            run=written.run,
            is_searchable=await is_searchable(self.documents.index),
        )

    async def _changed(self, name: str, change: AttributeChange, admitted: Admitted) -> EditedDocument:
        memory, rights = await self._own(name, admitted), self.retaining.rights
        if change.is_pinned is not None:
            rights.check_pin(is_owner=admitted.is_owner)
        if change.importance is not None:
            rights.check_importance(change.importance, is_owner=admitted.is_owner)
        written = await self.editing.change(memory, change, agent=self.asker(admitted))
        found = not written.changes or await is_searchable(self.documents.index)
        document = await self.documents.get(memory.id, admitted)
        return EditedDocument(document, written.numbers, bool(written.changes), found)

    async def _own(self, name: str, admitted: Admitted) -> Memory:
        """Return a memory that the asker may change, as the disk has it now; raises NotFound, Denied."""
        self.editing.journal.check_writable()
        memory = await self.documents.memory(name, admitted)
        if not self.is_own(memory.line.attributes.scope, admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        return memory

    def is_own(self, scope: str, admitted: Admitted) -> bool:
        """Tell whether the asker may change what is of this scope, which reaches it."""
        own = f"agent:{self.documents.agent.id}"
        return (
            admitted.is_owner or scope == own or scope.startswith(f"{own}:") or (not scope and self.documents.is_alone)
        )

    def _stated_scope(self, scope: str, admitted: Admitted) -> str:
        """Return the scope that a memory is stated with; raises Denied for one that is not a session's own.

        For all is for nobody else where the agent is alone: a session may say so there.
        """
        check_scope(scope)
        if scope == GLOBAL and not admitted.is_owner:
            scope = WORKSPACE
        if scope == WORKSPACE and not self.is_own("", admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        if scope or admitted.is_owner or admitted.channel in OWN_CHANNELS:
            return "" if scope == WORKSPACE else scope
        return unnamed_scope(self.documents.agent.id, is_alone=self.documents.is_alone)

    def asker(self, admitted: Admitted) -> str:
        """Return the agent that asks, empty for the owner."""
        return "" if admitted.is_owner else self.documents.agent.id
