"""Writing and transferring memories: `/v1/retain`, `/v1/capture`, export, import, and the paths of rsclaw's HTTP API.

rsclaw's `/api/v1/memory` is served only on the loopback port; its `docs` are memories.
"""

import asyncio
from datetime import date, timedelta
from typing import Annotated, TypedDict

import msgspec
from msgspec.structs import replace
from pydantic import Field

from memoryd.agents.retained.recall import kinds_of
from memoryd.agents.retained.transfer import TakeOptions
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Memories
from memoryd.api.call import Row, Transport, call
from memoryd.api.calls import memories as memories_calls
from memoryd.api.calls.memories import (
    KindFilter,
    MemoryEditRequest,
    MemoryImportanceRequest,
    MemoryName,
    ScopeFilter,
    kind_of,
)
from memoryd.api.models import (
    AnswerText,
    KindText,
    LabelText,
    ListLimit,
    QuestionText,
    Request,
    RequestPart,
    SessionRequest,
    Share,
    TargetText,
)
from memoryd.domain.access import Who
from memoryd.domain.documents import Citation, RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.documents import DocumentFilters, days_of_memory
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, MemoryDraft
from memoryd.domain.memories.kinds import Kind, ShortId, kind_named, short_id
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine
from memoryd.domain.text.sanitizing import visible_text
from memoryd.errors import InvalidRequest
from memoryd.memory.capture.queue import CaptureResult
from memoryd.replies.conversations import CapturedReply, CaptureReply, DroppedReply
from memoryd.replies.memories import (
    ExportReply,
    ImportReply,
    MemoryDocumentReply,
    MemoryEditReply,
    RetainReply,
    TransferredMemoryReply,
)
from memoryd.wire import ENTITIES_MAX, ENTITY_CHARS_MAX, LISTED_MAX, MEMORIES_CHARS_MAX, RESULTS_MAX


class CaptureRequest(Request):
    """A message of the owner."""

    text: QuestionText
    """The text of the message."""
    answer: AnswerText | None = None
    """The previous message of the assistant, which this one may correct."""
    dry_run: bool = False
    """Whether to only report what would be stored, and write nothing."""


async def capture(request: CaptureRequest, admitted: AdmittedByBody, memories: Memories) -> CaptureReply:
    """Return what capture stores of a message, by which form, and why not the rest.

    With `dryRun` nothing is written.
    """
    retained = memories.retained(admitted)
    answer = request.answer or ""
    outcome = await retained.capture.take(request.text, answer_before=answer, is_dry=request.dry_run)
    return _capture_reply(outcome, is_dry=request.dry_run)


def _capture_reply(outcome: CaptureResult, *, is_dry: bool) -> CaptureReply:
    verdict, retention = outcome.verdict, outcome.retention
    captured = [
        CapturedReply(
            kind=item.kind,
            text=item.text,
            form=item.form,
            pinned=item.is_pinned,
            importance=item.weight,
            supersedes=list(item.supersedes),
            contradicts=list(item.contradicts),
            note=item.note,
        )
        for item in verdict.items
    ]
    placed = [] if retention is None else retention.placed
    path = "" if retention is None else retention.path
    return CaptureReply(
        dryRun=is_dry,
        gate=verdict.gate,
        decidedBy=verdict.decided_by,
        kept=captured,
        dropped=[DroppedReply(text=item.text, reason=item.reason, form=item.form) for item in verdict.dropped],
        citations=[str(Citation(path, row.start_line, row.end_line, short_id(row.line.id))) for row in placed],
        change=(retention.change.id or None) if retention else None,
    )


class RetainRequest(SessionRequest):
    """A statement to retain: a bullet such as `W @Peter: …`, or plain text."""

    text: Annotated[str, Field(min_length=1, max_length=MEMORIES_CHARS_MAX, pattern=r"\S")]
    """The memory, 4,000 characters at most; line breaks in it do not separate memories."""
    each: bool = False
    """Whether every bullet of the text is a separate memory, 100 at most; all are written at once."""
    kind: KindText | None = None
    """The kind of plain text, a letter or a word; null: world, or with `remember` note."""
    importance: Share | None = None
    """Its importance, 0 to 1; null: the default of the kind, or with `remember` 0.8."""
    remember: bool = False
    """Whether the user asked to remember it, as by `/remember`."""
    scope: LabelText | None = None
    """Its scope: `agent:ID`, `agent:ID:CHANNEL`, for the owner only `global`; null: every agent here."""
    entities: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ENTITY_CHARS_MAX)]] | None, Field(max_length=ENTITIES_MAX)
    ] = None
    """The entities that it is about, in addition to those in the text."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """The time of the event: `2026-11-18`, `2026-11`, or two of them with `..` between; null: as the text says."""
    replaces: TargetText | None = None
    """The memory to replace: its id, a citation, or words that it contains; null: none."""
    in_place: bool = False
    """With `replaces`: whether to change the lines of that memory in place, instead of writing a new line."""
    by_agent: bool = False
    """Whether a model states it, not the owner, on any socket: its author is then the agent, and its scope at most that
    agent."""


async def retain(request: RetainRequest, admitted: AdmittedByBody, memories: Memories) -> RetainReply:
    """Write a memory to today's log, or replace another one; the same statement is not written twice."""
    draft = MemoryDraft(
        text=request.text,
        kind=kind_of(request.kind),
        default_kind=Kind.NOTE if request.remember else Kind.WORLD,
        importance=request.importance,
        default_importance=REMEMBERED_IMPORTANCE if request.remember else None,
        scope=request.scope or "",
        entities=tuple(request.entities or ()),
        at=request.at or "",
    )
    retained = memories.retained(admitted)
    if request.replaces is None:
        if request.in_place:
            raise InvalidRequest("inPlace: the memory to replace is missing", hint="give `replaces`")
        stater = replace(admitted, is_owner=admitted.is_owner and not request.by_agent)
        return await retained.retaining.retain(draft, stater, each=request.each)
    if request.each:
        raise InvalidRequest("replaces: only one memory can replace another", hint="leave `each` out")
    reply, _ = await retained.document_edits.replace(
        request.replaces, draft, admitted, is_in_place=request.in_place, by_agent=request.by_agent
    )
    return reply


TEXT_MAX = 16_384
NOTE_MAX = 262_144
DAYS_MAX = 3_660
IMPORTING = timedelta(minutes=2)
"""Long enough to write the logs of many days."""
Ids = Annotated[list[Annotated[str, Field(max_length=8)]], Field(max_length=64)]
RUN = expression(r"^[0-9a-f]{32}$")
After = Annotated[str, Field(max_length=100, description="`next` of the previous page")]


class ImportedMemory(RequestPart):
    """A memory to be written, in the format of an export."""

    text: Annotated[str, Field(min_length=1, max_length=TEXT_MAX)]
    """The statement."""
    kind: KindText = "note"
    """Its kind."""
    entities: Annotated[list[Annotated[str, Field(max_length=ENTITY_CHARS_MAX)]], Field(max_length=ENTITIES_MAX)] = (
        Field(default_factory=list)
    )
    """The entities that it is about."""
    importance: Share | None = None
    """Its importance; null: the default of its kind."""
    confidence: Share | None = None
    """The confidence of an opinion; null: not stated."""
    pinned: bool = False
    """Whether it is pinned."""
    scope: LabelText | None = None
    """Its scope; null: every agent of the workspace."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """The time of the event; null: as the text says."""
    said_by: Annotated[str, Field(max_length=16)] | None = None
    """Its author: `user`, `agent`, `tool` or `import`; null: a person wrote it."""
    tags: Annotated[list[LabelText], Field(max_length=64)] = Field(default_factory=list)
    """Its tags."""
    supports: Ids = Field(default_factory=list)
    """The ids of the opinions that it supports."""
    contradicts: Ids = Field(default_factory=list)
    """The ids of the opinions that it contradicts."""
    supersedes: Ids = Field(default_factory=list)
    """The ids of the memories that it replaces."""
    superseded: Ids = Field(default_factory=list)
    """The ids of the memories that replaced it, according to its line."""
    beside: Ids = Field(default_factory=list)
    """The ids of memories that stay valid beside it, even if they seem to contradict it."""
    days: Annotated[list[Annotated[date, Field(strict=False)]], Field(max_length=DAYS_MAX)] = Field(
        default_factory=list
    )
    """The days on which it was stated; empty: today."""
    id: Annotated[str, Field(max_length=64)] | None = None
    """Not read: it is derived from the statement."""
    sources: Annotated[list[str], Field(max_length=10_000)] = Field(default_factory=list)
    """Not read."""


class ImportedNote(RequestPart):
    """A note of another program, to be written unchanged below `memory/imported/`."""

    path: Annotated[str, Field(max_length=1_000)]
    """Its path: `memory/imported/obsidian/Pears.md`."""
    text: Annotated[str, Field(min_length=1, max_length=NOTE_MAX)]
    """The complete text."""


class ImportRequest(Request):
    """Memories to be written to the logs of their days, and notes to be written."""

    memories: Annotated[list[ImportedMemory], Field(max_length=LISTED_MAX)] = Field(default_factory=list)
    """The memories, 1,000 at most."""
    notes: Annotated[list[ImportedNote], Field(max_length=LISTED_MAX)] = Field(default_factory=list)
    """The notes, 1,000 at most."""
    run: Annotated[str, Field(pattern=RUN.pattern)]
    """The run that all changes of one import belong to, for undo: 32 random hexadecimal digits."""
    dry_run: bool = False
    """Whether to only report what would be taken."""
    with_secrets: bool = False
    """Whether to take what looks like a secret."""


async def export(
    admitted: AdmittedByQuery, memories: Memories, after: After = "", limit: ListLimit = 500, scope: ScopeFilter = ""
) -> ExportReply:
    """Export the visible memories, a page at a time; memories that are added during the export may be included."""
    page = await memories.retained(admitted).transfer.page(after, limit, scope, admitted)
    return ExportReply(memories=list(map(export_memory, page.memories)), next=page.cursor or None, total=page.total)


async def take(request: ImportRequest, admitted: AdmittedByBody, memories: Memories) -> ImportReply:
    """Write memories to the logs of their days, and notes; the same statement is not written twice."""
    lines = await asyncio.to_thread(lambda: list(map(import_line, request.memories)))
    transfer = memories.retained(admitted).transfer
    options = TakeOptions(run=request.run, is_dry_run=request.dry_run, takes_secrets=request.with_secrets)
    taken = await transfer.take(lines, [memory.days for memory in request.memories], options)
    notes = await transfer.take_notes([(RelativePath(note.path), note.text) for note in request.notes], options)
    return ImportReply(memories=taken["memories"], notes=notes["notes"], changes=[*taken["changes"], *notes["changes"]])


def export_memory(memory: Memory) -> TransferredMemoryReply:
    """Return a memory in the format of an export."""
    line, attributes = memory.line, memory.line.attributes
    return TransferredMemoryReply(
        id=memory.id,
        text=line.text,
        kind=line.kind.value,
        entities=list(line.entities),
        importance=attributes.importance,
        confidence=attributes.confidence,
        pinned=attributes.is_pinned,
        scope=attributes.scope or None,
        at=attributes.at or None,
        saidBy=attributes.provenance.value if attributes.provenance else None,
        tags=list(attributes.tags),
        supports=list(attributes.supports),
        contradicts=list(attributes.contradicts),
        supersedes=list(attributes.supersedes),
        superseded=list(attributes.superseded),
        beside=list(attributes.beside),
        days=[day.isoformat() for day in days_of_memory(memory)],
        sources=[str(source.citation) for source in memory.sources],
    )


def import_line(memory: ImportedMemory) -> RetainedLine | str:
    """Return the line that states an exported memory, or the reason why no line can."""
    if (kind := kind_named(memory.kind)) is None:
        return f"there is no kind {memory.kind!r}"
    try:
        attributes = Attributes(
            confidence=memory.confidence,
            importance=memory.importance,
            at=memory.at or "",
            scope=memory.scope or "",
            supports=tuple(map(ShortId, memory.supports)),
            contradicts=tuple(map(ShortId, memory.contradicts)),
            supersedes=tuple(map(ShortId, memory.supersedes)),
            superseded=tuple(map(ShortId, memory.superseded)),
            beside=tuple(map(ShortId, memory.beside)),
            provenance=Provenance(memory.said_by) if memory.said_by else None,
            tags=tuple(memory.tags),
            is_pinned=memory.pinned,
        )
        return RetainedLine(kind, visible_text(memory.text), tuple(memory.entities), attributes)
    except ValueError as exc:
        return str(exc)


class DocStatsReply(TypedDict):
    """The numbers of memories."""

    total: int
    """All of them."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope."""
    pinned: int
    """The number of pinned memories."""


class DocsReply(TypedDict):
    """Memories: those that answer a question, the best first, or all, the newest first."""

    docs: list[MemoryDocumentReply]
    """The memories."""


class DocReply(TypedDict):
    """One memory."""

    doc: MemoryDocumentReply
    """The memory."""


class DocEditReply(DocReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: nothing had to be changed."""


class DocDeleteReply(TypedDict):
    """A memory whose lines were deleted; this can be undone."""

    id: str
    """Its id."""
    deleted: bool
    """Whether it was deleted."""


QueryWords = Annotated[str, Field(description="a question; without it all memories are listed")]
DocsLimit = Annotated[int, Field(ge=1, le=RESULTS_MAX, description="maximum number")]


async def stats(admitted: AdmittedByQuery, memories: Memories) -> DocStatsReply:
    """Count memories."""
    return msgspec.convert(await memories_calls.stats(admitted, memories), DocStatsReply)


async def listing(
    admitted: AdmittedByQuery,
    memories: Memories,
    q: QueryWords = "",
    scope: ScopeFilter = "",
    kind: KindFilter = "",
    limit: DocsLimit = 20,
) -> DocsReply:
    """Find memories that answer a question, the best first; without a question list them, the newest first."""
    documents, kinds = memories.retained(admitted).documents, kinds_of(kind)
    if q.strip():
        docs, _ = await documents.search(q, scope=scope, kind=kind, top_k=limit, admitted=admitted)
        return DocsReply(docs=docs)
    page = await documents.listing(DocumentFilters(scope=scope, kinds=kinds, limit=limit), admitted)
    return DocsReply(docs=page["memories"])


async def get(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocReply:
    """Return a memory by its id."""
    return DocReply(doc=(await memories_calls.get(memory, admitted, memories))["memory"])


async def pin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Pin a memory: it never decays."""
    return _edit_reply(await memories_calls.pin(memory, request, admitted, memories))


async def unpin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Unpin a memory."""
    return _edit_reply(await memories_calls.unpin(memory, request, admitted, memories))


async def importance(
    memory: MemoryName, request: MemoryImportanceRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Set the importance of a memory."""
    return _edit_reply(await memories_calls.importance(memory, request, admitted, memories))


async def delete(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocDeleteReply:
    """Delete all lines that state a memory; this can be undone."""
    return msgspec.convert(await memories_calls.delete(memory, admitted, memories), DocDeleteReply)


def _edit_reply(edited: MemoryEditReply) -> DocEditReply:
    return DocEditReply(doc=edited["memory"], changed=edited["changed"])


CALLS = (
    call("POST", "/capture", Who.OWNER, capture),
    call("POST", "/retain", Who.SESSION, retain),
    call("GET", "/memories/export", Who.OWNER, export),
    call("POST", "/memories/import", Who.OWNER, take, deadline=IMPORTING),
    # the paths of rsclaw's API, for programs that were written for it
    *(
        Row(method, f"/api/v1/memory/{path}", Who.OWNER, handler, served=Transport.PORT)
        for method, path, handler in (
            ("GET", "stats", stats),
            ("GET", "docs", listing),
            ("GET", "docs/{memory}", get),
            ("POST", "{memory}/pin", pin),
            ("POST", "{memory}/unpin", unpin),
            ("POST", "{memory}/importance", importance),
            ("DELETE", "{memory}", delete),
        )
    ),
)
