"""An agent's memories one by one: search, get, list, count and explain; add, pin, weigh and delete.

Reads reach what recall reaches, and an id beyond reach reads as one that does not exist. The owner writes what is
within reach; a session writes only what is its agent's own, and nothing of the core, which others rely on.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.recall import AgentRecall, RecallOptions
from memoryd.agents.retained.retaining import AgentRetaining
from memoryd.agents.search import check_scope, is_searchable
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.memories.abstracts import abstract_of, overview_of
from memoryd.domain.memories.book import Book, Memory, cite
from memoryd.domain.memories.documents import (
    DIGITS,
    DecayedDocument,
    DocumentFilters,
    MemoryDocument,
    ahead_of,
    author_of,
    beginning_of,
    decay_of,
    named,
    page_of,
    shown_scope,
    stats_of,
    within,
)
from memoryd.domain.memories.edits import OWN_CHANNELS, AttributeChange, MemoryDraft
from memoryd.domain.memories.kinds import GLOBAL, Kind, MemoryId, is_team, unnamed_scope
from memoryd.domain.memories.recall_filters import WORKSPACE, RecallFilters, named_entity
from memoryd.domain.memories.tiers import RelevanceTerms
from memoryd.domain.ranking.filters import parse_instant
from memoryd.errors import Denied, InvalidRequest, NotFound, NotNow, StoreError
from memoryd.index.threads import with_pauses
from memoryd.memory.recall.query import Recalled
from memoryd.memory.retaining import LineEditing, StatementHashes
from memoryd.memory.usage import UsageCache
from memoryd.replies.memories import (
    DecayedMemoryReply,
    MemoryAddReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryDocumentReply,
    MemoryEditReply,
    MemoryListReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RelevanceTermsReply,
)

_LIST_HINT = "memoryctl memories list shows all within reach, each with its id"
NOT_OWN = "a session changes only memories of its own agent"
NOT_OWN_HINT = "the owner may, by `memoryctl memories`"


class AgentDocuments(Struct, frozen=True, kw_only=True):
    """The memories of one agent as documents. `zone` is the owner's, None: that of the machine."""

    recall: AgentRecall
    index: WorkspaceIndex
    zone: tzinfo | None

    @property
    def agent(self) -> Agent:
        return self.recall.agent

    @property
    def is_alone(self) -> bool:
        """Whether no other agent shares its workspace."""
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
        """Return the memories that answer, as recall ranks them, and its answer; raises InvalidRequest."""
        options = replace(options or RecallOptions(), k=top_k, scope=scope, kind=kind, only_memories=True)
        recalled = await self.recall.recall(query, options, admitted)
        documents = [
            replace(self._document(item.memory), score=item.placed.score, superseded_by=item.superseded_by)
            for item in recalled.memories
        ]
        return list(map(_reply, documents)), recalled

    async def get(self, name: str, admitted: Admitted) -> MemoryDocumentReply:
        """Return the memory of an id, or of the first eight signs of one; raises NotFound."""
        return _reply(await self._named(name, admitted))

    async def why(self, name: str, admitted: Admitted) -> MemoryWhyReply:
        """Return a memory with every term of its relevance, and what becomes of it; raises as `get`."""
        document = await self._named(name, admitted)
        return MemoryWhyReply(
            memory=_reply(document),
            terms=_terms(document.terms),
            ahead=ahead_of(lambda days: self.usage.preview(document.memory, days)),
        )

    async def _named(self, name: str, admitted: Admitted) -> MemoryDocument:
        book = await self.now()
        memory = _find_named(within(book, self.recall.visibility(admitted)), name)
        newer = await self._newer(book, admitted)
        return replace(self._document(memory), superseded_by=newer.get(memory.id, ()))

    async def listing(
        self, filters: DocumentFilters, admitted: Admitted, *, entity: str = "", since: str = "", until: str = ""
    ) -> MemoryListReply:
        """Return the memories that filters admit, the newest first; raises InvalidRequest for what is no scope or day.

        `entity` is a name of one; `since` and `until` are dates as somebody writes them.
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
            visible = with_pauses(within(book, visibility))
            page = page_of(
                (one for one in visible if filters.admits(one, self.shown_scope(one.scope))),
                filters,
                self._document,
                self.usage.tier,
            )
            documents = (replace(one, superseded_by=newer.get(one.memory.id, ())) for one in page.documents)
            return MemoryListReply(memories=list(map(_reply, documents)), total=page.total, next=page.next or None)

        return await asyncio.to_thread(work)

    async def stats(self, admitted: Admitted) -> MemoryStatsReply:
        """Count the memories within reach."""
        memories = within(await self.now(), self.recall.visibility(admitted))
        return await asyncio.to_thread(lambda: stats_of(list(map(self._document, with_pauses(memories)))))

    async def decay(self, days: float, admitted: Admitted, *, limit: int = 50) -> MemoryDecayReply:
        """Say how memories within reach will stand in so many days if nobody touches them; nothing is changed."""
        memories = within(await self.now(), self.recall.visibility(admitted))

        def work() -> MemoryDecayReply:
            documents = [
                DecayedDocument(self._document(one), self.usage.preview(one, days)) for one in with_pauses(memories)
            ]
            decayed, changing, moving = decay_of(documents, limit)
            return MemoryDecayReply(
                days=days,
                memories=[DecayedMemoryReply(memory=_reply(one.document), terms=_terms(one.then)) for one in decayed],
                changing=changing,
                moving=moving,
                total=len(memories),
            )

        return await asyncio.to_thread(work)

    async def memory(self, name: str, admitted: Admitted) -> Memory:
        """Return the memory of an id within reach, or of its beginning, as the disk has it now; raises NotFound."""
        return _find_named(within(await self.now(), self.recall.visibility(admitted)), name)

    async def now(self) -> Book:
        """Return the book as the disk has it, as far as a question waits for that."""
        await self.usage.ready()
        await self.index.catch_up(self.agent.memory_search.query.fresh_ms / 1000)
        return await self.recall.book.now()

    async def _newer(self, book: Book, admitted: Admitted) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """Return what supersedes each memory, of what the asker may know of."""
        filters = RecallFilters(visibility=self.recall.visibility(admitted))
        return (await self.recall.eligible.versions(book, filters, self.recall.clock().date())).newer

    def _day(self, text: str) -> date:
        """Read a day that somebody wrote; raises InvalidRequest."""
        try:
            return parse_instant(text, self.recall.clock()).date()
        except (ValueError, OverflowError) as exc:
            raise InvalidRequest(str(exc), hint="give a date, 2026-11-18, or 7d for as long ago") from exc

    def shown_scope(self, scope: str) -> str:
        """Return how a scope is told."""
        team = self.agent.team.name if self.agent.team is not None else None
        return shown_scope(scope, self.agent.id, is_alone=self.is_alone, team=team or "")

    def _document(self, memory: Memory) -> MemoryDocument:
        created, used = beginning_of(memory.first_recorded, self.zone), self.usage.usage(memory.id).touched_at
        return MemoryDocument(
            memory=memory,
            scope=self.shown_scope(memory.scope),
            created_at=created,
            accessed_at=created if used is None else used,
            accessed_day=memory.first_recorded if used is None else datetime.fromtimestamp(used, self.zone).date(),
            terms=self.usage.terms(memory),
        )


def _find_named(known: Iterable[Memory], name: str) -> Memory:
    try:
        return named(known, name)
    except ValueError as exc:
        raise NotFound(str(exc), hint=_LIST_HINT) from exc


def _reply(one: MemoryDocument) -> MemoryDocumentReply:
    """Return a memory as it is told."""
    memory, line, terms = one.memory, one.memory.line, one.terms
    return MemoryDocumentReply(
        id=memory.id,
        scope=one.scope,
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
        created_at=one.created_at,
        created_day=memory.first_recorded.isoformat(),
        accessed_at=one.accessed_at,
        accessed_day=one.accessed_day.isoformat(),
        abstract_text=abstract_of(line.text),
        overview_text=overview_of(line.text),
        citation=str(cite(memory.sources[0])),
        sources=[str(source.citation) for source in memory.sources],
        relevance=round(terms.relevance, DIGITS),
        superseded_by=list(one.superseded_by),
        flags=[flag.value for flag in memory.sources[0].flags],
        score=None if one.score is None else round(one.score, DIGITS),
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
    ) -> MemoryAddReply:
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
            scope=self._scope_of_statement(scope, stater),
            tags=tuple(tags),
            is_pinned=pinned,
        )
        reply = await self.retaining.retain(said, stater)
        if not reply["searchable"] and reply["id"] not in (await self.documents.recall.book.now()).memories:
            raise NotNow(
                "it is written, and not indexed yet", hint="memoryctl status says why; it is found as soon as it is"
            )
        return MemoryAddReply(
            memory=await self.documents.get(reply["id"], admitted),
            created=reply["created"],
            change=reply["change"],
            searchable=reply["searchable"],
            notes=reply["notes"],
        )

    async def set_pin(self, name: str, admitted: Admitted, *, is_pinned: bool) -> MemoryEditReply:
        """Pin a memory, so that it never decays and stands in the core of sessions, or take that away.

        The owner's alone; raises as `set_importance`.
        """
        return await self._change(name, AttributeChange(is_pinned=is_pinned), admitted)

    async def set_importance(self, name: str, value: float, admitted: Admitted) -> MemoryEditReply:
        """Write another importance, 0 to 1, of a session none that makes it core.

        Raises NotFound, Denied, and what `LineEditing.change` does.
        """
        if not 0 <= value <= 1:
            raise InvalidRequest(f"an importance is a number from 0 to 1, not {value}")
        return await self._change(name, AttributeChange(importance=value), admitted)

    async def delete(self, name: str, admitted: Admitted, *, is_dry_run: bool = False) -> MemoryDeleteReply:
        """Take out all lines that state a memory, of a session none that is pinned; raises as `set_importance`."""
        memory = await self._own_memory(name, admitted)
        self.retaining.rights.check_unpin(memory.line, is_owner=admitted.is_owner)
        standing = await self.editing.lines(memory)
        lines = [f"{path}#L{first}" + (f"-L{last}" if last > first else "") for path, first, last in standing]
        reply = MemoryDeleteReply(
            id=memory.id, deleted=False, lines=lines, changes=[], run=None, searchable=True, notes=[]
        )
        revoke = partial(self.editing.journal.revoke, [memory.line], {path for path, *_ in standing})
        if is_dry_run:
            return {**reply, "notes": [*await revoke(is_dry_run=True)]}
        written = await self.editing.delete(memory, agent=self.asker(admitted))
        # also one that was written by hand is not captured again
        await self.stated.note([memory.text])
        with contextlib.suppress(StoreError, Denied):
            # what cannot be dropped now is with what no line states, in a month
            await self.documents.usage.drop([memory.id])
        return {
            **reply,
            "deleted": True,
            "changes": list(written.numbers),
            "run": written.run or None,
            "searchable": await is_searchable(self.documents.index, written.paths),
            "notes": [*await revoke()],
        }

    async def _change(self, name: str, change: AttributeChange, admitted: Admitted) -> MemoryEditReply:
        memory, rights = await self._own_memory(name, admitted), self.retaining.rights
        if change.is_pinned is not None:
            rights.check_pin(is_owner=admitted.is_owner)
        if change.importance is not None:
            rights.check_importance(change.importance, is_owner=admitted.is_owner)
        written = await self.editing.change(memory, change, agent=self.asker(admitted))
        is_found = not written.changes or await is_searchable(self.documents.index, written.paths)
        return MemoryEditReply(
            memory=await self.documents.get(memory.id, admitted),
            changed=bool(written.changes),
            changes=list(written.numbers),
            searchable=is_found,
        )

    async def _own_memory(self, name: str, admitted: Admitted) -> Memory:
        """Return a memory that the asker may change, as the disk has it now; raises NotFound, Denied."""
        self.editing.journal.check_writable()
        memory = await self.documents.memory(name, admitted)
        if not self.is_own(memory.scope, admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        return memory

    def is_own(self, scope: str, admitted: Admitted) -> bool:
        """Tell whether the asker may change what is of this scope, which reaches it."""
        own = f"agent:{self.documents.agent.id}"
        return (
            admitted.is_owner or scope == own or scope.startswith(f"{own}:") or (not scope and self.documents.is_alone)
        )

    def _scope_of_statement(self, scope: str, admitted: Admitted) -> str:
        """Return the scope that a memory is stated with; raises Denied for one that is not a session's own.

        For all is for nobody else where the agent is alone: a session may say so there.
        """
        check_scope(scope)
        if is_team(scope):
            raise InvalidRequest("nothing is stated for a team", hint="state it, then `memoryctl team promote ID`")
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
