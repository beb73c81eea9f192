"""`/v1/memories`: single memories, by their ids; and `/v1/disagreements`: memories that contradict each other."""

from typing import Annotated

from pydantic import ConfigDict, Field

from memoryd.agents.retained.recall import RecallOptions, kinds_of
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories, RequestCaller
from memoryd.api.call import call
from memoryd.api.calls.search import health_reply
from memoryd.api.models import KindText, LabelText, ListLimit, Request, ResultLimit, Share
from memoryd.domain.access import Who
from memoryd.domain.memories.documents import DocumentFilters, days_of
from memoryd.domain.memories.edits import MemoryDraft
from memoryd.domain.memories.kinds import Kind, kind_named
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.tiers import Tier
from memoryd.errors import InvalidRequest
from memoryd.replies.knowledge import DisagreementsReply, SettledReply
from memoryd.replies.memories import (
    MemoryAddReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryEditReply,
    MemoryListReply,
    MemoryReplaceReply,
    MemoryReply,
    MemorySearchReply,
    MemoryStatsReply,
    MemoryWhyReply,
)
from memoryd.wire import MEMORY_CHARS_MAX, POSITION_MAX, TAGS_MAX

StatementText = Annotated[str, Field(min_length=1, max_length=MEMORY_CHARS_MAX, pattern=r"\S")]
SessionKeyOfMemory = Annotated[
    Annotated[str, Field(max_length=512)] | None, Field(description="the session of the caller; null: no session")
]


class MemoryRequest(Request):
    """A request on memories, with keys in snake case except for that of the session."""

    model_config = ConfigDict(alias_generator=None)

    session_key: SessionKeyOfMemory = Field(default=None, alias="sessionKey")


class MemorySearchRequest(MemoryRequest):
    """A question that is answered by memories only."""

    query: Annotated[str, Field(min_length=1)]
    """The question."""
    scope: LabelText | None = None
    """Only memories of this scope: `workspace`, `team`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    kind: KindText | None = None
    """Only memories of this network or kind."""
    top_k: ResultLimit | None = None
    """The maximum number of memories; null: `memory.recall.k`."""


class MemoryAddRequest(MemoryRequest):
    """A memory to be written."""

    text: StatementText
    """The statement: plain text, or a bullet such as `W @Peter: …`."""
    kind: KindText | None = None
    """The kind of plain text, a letter or a word; null: `note`."""
    importance: Share | None = None
    """Its importance, 0 to 1; null: the default of the kind."""
    scope: LabelText | None = None
    """Its scope: `workspace`, `agent:ID`, `agent:ID:CHANNEL`, `global`; null: every agent here, or for a session that
    shares the workspace its own agent."""
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]] | None, Field(max_length=TAGS_MAX)] = None
    """Labels, one word each."""
    pinned: bool = False
    """Whether to pin it."""
    by_agent: bool = Field(default=False, alias="byAgent")
    """Whether a model states it, not the owner, on any socket: its author is then the agent, and its scope at most that
    agent."""


class MemoryEditRequest(MemoryRequest):
    """The sender of an edit."""


class MemoryImportanceRequest(MemoryEditRequest):
    """A new importance."""

    importance: Share
    """The importance of the memory, 0 to 1."""


class MemoryReplaceRequest(MemoryEditRequest):
    """The replacement of a memory."""

    text: StatementText
    """What is true now: plain text, or a bullet such as `W @Peter: …`. Kind, entities and scope that it does not name
    are taken from the memory."""
    in_place: bool = Field(default=False, alias="inPlace")
    """Whether to change the lines in place; else a new line is written to today's log, and the old ones are marked as
    superseded."""
    by_agent: bool = Field(default=False, alias="byAgent")
    """Whether a model states it, not the owner, on any socket: what the owner stated is not replaced."""


MemoryName = Annotated[str, Field(max_length=64, description="id of the memory, or its first eight characters")]
ScopeFilter = Annotated[
    str, Field(max_length=200, description="`workspace`, `team`, `agent:ID`, `agent:ID:CHANNEL` or `global`")
]
KindFilter = Annotated[str, Field(max_length=20, description="network or kind")]
TierFilter = Annotated[Tier | None, Field(description="tier")]
PinnedFilter = Annotated[bool | None, Field(description="whether it is pinned")]
TagFilter = Annotated[str, Field(max_length=100, description="a tag")]
EntityFilter = Annotated[str, Field(max_length=200, description="name of an entity that it is about")]
AuthorFilter = Annotated[Provenance | None, Field(description="its author")]
SinceFilter = Annotated[
    str, Field(max_length=64, description="only memories of this day or later: `30d`, `2026-10-01`")
]
UntilFilter = Annotated[str, Field(max_length=64, description="only memories of this day or earlier, likewise")]
ListAfter = Annotated[str, Field(max_length=80, description="where to continue the list: `next` of the previous reply")]
WordsFilter = Annotated[str, Field(max_length=4096, description="words that it must contain, all of them")]
ListOffset = Annotated[int, Field(ge=0, le=POSITION_MAX, description="number of memories to skip")]
DecayDays = Annotated[str, Field(alias="in", max_length=16, description="the time until then, such as `90d` or `12w`")]
DryRun = Annotated[bool, Field(alias="dryRun", description="only report what would be deleted")]


async def listing(
    admitted: AdmittedByQuery,
    memories: Memories,
    scope: ScopeFilter = "",
    kind: KindFilter = "",
    tier: TierFilter = None,
    pinned: PinnedFilter = None,
    tag: TagFilter = "",
    query: WordsFilter = "",
    entity: EntityFilter = "",
    author: AuthorFilter = None,
    since: SinceFilter = "",
    until: UntilFilter = "",
    limit: ListLimit = 50,
    offset: ListOffset = 0,
    after: ListAfter = "",
) -> MemoryListReply:
    """List the visible memories, the newest first."""
    filters = DocumentFilters(
        scope=scope,
        kinds=kinds_of(kind),
        tier=tier,
        pinned=pinned,
        tag=tag,
        query=query,
        author=author,
        limit=limit,
        offset=offset,
        after=after,
    )
    documents = memories.retained(admitted).documents
    return await documents.listing(filters, admitted, entity=entity, since=since, until=until)


async def add(request: MemoryAddRequest, admitted: AdmittedByBody, memories: Memories) -> MemoryAddReply:
    """Write a memory to today's log; the same statement is not written twice."""
    return await memories.retained(admitted).document_edits.add(
        request.text,
        kind=kind_of(request.kind),
        importance=request.importance,
        scope=request.scope or "",
        tags=request.tags or (),
        pinned=request.pinned,
        by_agent=request.by_agent,
        admitted=admitted,
    )


async def search(
    request: MemorySearchRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> MemorySearchReply:
    """Find memories that answer a question, the best first, ranked as by recall."""
    documents, recalled = await memories.retained(admitted).documents.search(
        request.query,
        scope=request.scope or "",
        top_k=request.top_k,
        kind=request.kind or "",
        admitted=admitted,
        options=RecallOptions(session=caller.key(request.session_key)),
    )
    return MemorySearchReply(
        memories=documents,
        verdict=recalled.verdict.value,
        reason=recalled.reason,
        health=health_reply(recalled),
        took_ms=round(recalled.took_ms, 2),
    )


async def stats(admitted: AdmittedByQuery, memories: Memories) -> MemoryStatsReply:
    """Count the visible memories."""
    return await memories.retained(admitted).documents.stats(admitted)


async def get(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> MemoryReply:
    """Return a memory by its id."""
    return MemoryReply(memory=await memories.retained(admitted).documents.get(memory, admitted))


async def why(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> MemoryWhyReply:
    """Explain the rank of a memory: every term of its relevance."""
    return await memories.retained(admitted).documents.why(memory, admitted)


async def decay(
    admitted: AdmittedByQuery, memories: Memories, within: DecayDays = "90d", limit: ListLimit = 50
) -> MemoryDecayReply:
    """Predict the tiers of memories in some days if they are not used until then; nothing is changed."""
    try:
        days = days_of(within)
    except ValueError as exc:
        raise InvalidRequest(f"in: {exc}") from exc
    return await memories.retained(admitted).documents.decay(days, admitted, limit=limit)


async def delete(
    memory: MemoryName, admitted: AdmittedByQuery, memories: Memories, dry_run: DryRun = False
) -> MemoryDeleteReply:
    """Delete all lines that state a memory; this can be undone."""
    return await memories.retained(admitted).document_edits.delete(memory, admitted, is_dry_run=dry_run)


async def pin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> MemoryEditReply:
    """Pin a memory: it never decays, and is included at the start of sessions."""
    return await memories.retained(admitted).document_edits.set_pin(memory, admitted, is_pinned=True)


async def unpin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> MemoryEditReply:
    """Unpin a memory."""
    return await memories.retained(admitted).document_edits.set_pin(memory, admitted, is_pinned=False)


async def importance(
    memory: MemoryName, request: MemoryImportanceRequest, admitted: AdmittedByBody, memories: Memories
) -> MemoryEditReply:
    """Set the importance of a memory."""
    return await memories.retained(admitted).document_edits.set_importance(memory, request.importance, admitted)


async def replace(
    memory: MemoryName, request: MemoryReplaceRequest, admitted: AdmittedByBody, memories: Memories
) -> MemoryReplaceReply:
    """Replace a memory by what is true now, and mark it as superseded; this can be undone."""
    retained = memories.retained(admitted)
    # by its id only, though other calls also accept words
    old = (await retained.documents.memory(memory, admitted)).id
    reply, is_written = await retained.document_edits.replace(
        old,
        MemoryDraft(text=request.text),
        admitted,
        is_in_place=request.in_place,
        by_agent=request.by_agent,
    )
    return MemoryReplaceReply(
        memory=await retained.documents.get(reply["id"], admitted),
        replaced=reply["replaced"] or old,
        changed=is_written,
        changes=reply["changes"],
        run=reply["run"],
        searchable=reply["searchable"],
        notes=reply["notes"],
    )


class SettleRequest(Request):
    """The decision about two memories that disagree."""

    keep: Annotated[str, Field(max_length=64)]
    """The `name` of one of them, such as `newer`: it supersedes the other; `both`: both stay valid."""


PairName = Annotated[str, Field(max_length=64, description="id of the disagreement, or of one of its memories")]
AfterPair = Annotated[str, Field(max_length=64, description="only disagreements after the one with this name")]


async def disagreements(
    admitted: AdmittedByQuery, memories: Memories, limit: ListLimit = 100, after: AfterPair = ""
) -> DisagreementsReply:
    """List memories that may contradict each other."""
    return await memories.retained(admitted).document_edits.disagreements(admitted, limit, after)


async def settle(
    disagreement: PairName, request: SettleRequest, admitted: AdmittedByBody, memories: Memories
) -> SettledReply:
    """Write which of two memories is valid, or that both are."""
    return await memories.retained(admitted).document_edits.settle(disagreement, request.keep, admitted)


def kind_of(name: str | None) -> Kind | None:
    """Return the kind that a request names, or None. Raises InvalidRequest for an unknown kind."""
    if name is None:
        return None
    kind = kind_named(name)
    if kind is None:
        raise InvalidRequest(f"kind: there is none called {name!r}", hint=f"kinds: {', '.join(Kind)}; or W, B, O, S")
    return kind


CALLS = (
    call("GET", "/memories", Who.SESSION, listing),
    call("POST", "/memories", Who.SESSION, add),
    call("POST", "/memories/search", Who.SESSION, search),
    call("GET", "/memories/stats", Who.SESSION, stats),
    call("GET", "/memories/decay", Who.SESSION, decay),
    call("GET", "/memories/{memory}/why", Who.SESSION, why),
    call("GET", "/memories/{memory}", Who.SESSION, get),
    call("DELETE", "/memories/{memory}", Who.SESSION, delete),
    call("POST", "/memories/{memory}/pin", Who.SESSION, pin),
    call("POST", "/memories/{memory}/unpin", Who.SESSION, unpin),
    call("POST", "/memories/{memory}/importance", Who.SESSION, importance),
    call("POST", "/memories/{memory}/replace", Who.SESSION, replace),
    call("GET", "/disagreements", Who.OWNER, disagreements),
    call("POST", "/disagreements/{disagreement}", Who.OWNER, settle),
)
