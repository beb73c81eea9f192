"""Memories stated and handed over: `/v1/retain`, `/v1/capture`, export, import, and the paths of rsclaw's HTTP API.

rsclaw's `/api/v1/memory` is answered on the loopback port alone; its `docs` are memories.
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
from memoryd.api.call import Row, Served, call
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
    MeantText,
    QuestionText,
    Request,
    RequestPart,
    SessionKeyText,
    Share,
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
    """A message of its owner."""

    text: QuestionText
    """What is said."""
    answer: AnswerText | None = None
    """What the assistant said before it, which it may correct."""
    dry_run: bool = False
    """Whether nothing is written, and it is said only what would be kept."""


async def capture(request: CaptureRequest, admitted: AdmittedByBody, memories: Memories) -> CaptureReply:
    """Say what capture keeps of a message, by which form, and why not the rest; without `dryRun` keep it."""
    retained = memories.retained(admitted)
    answer = request.answer or ""
    outcome = await retained.capture.take(request.text, answer_before=answer, is_dry=request.dry_run)
    return _capture_reply(outcome, is_dry=request.dry_run)


def _capture_reply(outcome: CaptureResult, *, is_dry: bool) -> CaptureReply:
    verdict, retention = outcome.verdict, outcome.retention
    kept = [
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
        for item in verdict.kept
    ]
    placed = [] if retention is None else retention.placed
    path = "" if retention is None else retention.path
    return CaptureReply(
        dryRun=is_dry,
        gate=verdict.gate,
        decidedBy=verdict.decided_by,
        kept=kept,
        dropped=[DroppedReply(text=one.text, reason=one.reason, form=one.form) for one in verdict.dropped],
        citations=[str(Citation(path, one.start_line, one.end_line, short_id(one.line.id))) for one in placed],
        change=(retention.change.id or None) if retention else None,
    )


class RetainRequest(Request):
    """What is to be retained: a bullet such as `W @Peter: …`, or plain text."""

    text: Annotated[str, Field(min_length=1, max_length=MEMORIES_CHARS_MAX, pattern=r"\S")]
    """The memory, 4,000 characters at most; line breaks in it make no further ones."""
    each: bool = False
    """Whether every bullet of the text is a memory of its own, 100 at most; all are written at once."""
    kind: KindText | None = None
    """The kind of plain text, a letter or a word; null: world, or with `remember` note."""
    importance: Share | None = None
    """How important it is, 0 to 1; null: as the kind has it, or with `remember` 0.8."""
    remember: bool = False
    """Whether it was asked to be remembered, as by `/remember`."""
    scope: LabelText | None = None
    """Whom it is for: `agent:ID`, `agent:ID:CHANNEL`, by the owner alone `global`; null: every agent here."""
    entities: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ENTITY_CHARS_MAX)]] | None, Field(max_length=ENTITIES_MAX)
    ] = None
    """What it is about, beside those that the text names."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """When it was so: `2026-11-18`, `2026-11`, or two of them with `..` between; null: as the text says."""
    replaces: MeantText | None = None
    """The memory whose place it takes: its id, a citation, or words that it says; null: none."""
    in_place: bool = False
    """With `replaces`: whether the lines of that memory say it where they stand, instead of a new one."""
    by_agent: bool = False
    """Whether a model states it and not the owner, whoever's socket it asks by: it is noted as from the agent, for
    that agent at most."""
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""


async def retain(request: RetainRequest, admitted: AdmittedByBody, memories: Memories) -> RetainReply:
    """State a memory in today's log, also in the place of another; the same again is not written twice."""
    said = MemoryDraft(
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
            raise InvalidRequest("inPlace: it is not said in the place of what", hint="give `replaces`")
        stater = replace(admitted, is_owner=admitted.is_owner and not request.by_agent)
        return await retained.retaining.retain(said, stater, each=request.each)
    if request.each:
        raise InvalidRequest("replaces: one memory takes the place of one", hint="leave `each` out")
    reply, _ = await retained.document_edits.replace(
        request.replaces, said, admitted, is_in_place=request.in_place, by_agent=request.by_agent
    )
    return reply


TEXT_MAX = 16_384
NOTE_MAX = 262_144
DAYS_MAX = 3_660
IMPORTING = timedelta(minutes=2)
"""A memory of so many days has so many logs written."""
Ids = Annotated[list[Annotated[str, Field(max_length=8)]], Field(max_length=64)]
RUN = expression(r"^[0-9a-f]{32}$")
After = Annotated[str, Field(max_length=100, description="`next` of the page before")]


class ImportedMemory(RequestPart):
    """A memory that is to be stated, as an export has it."""

    text: Annotated[str, Field(min_length=1, max_length=TEXT_MAX)]
    """What it says."""
    kind: KindText = "note"
    """Its kind."""
    entities: Annotated[list[Annotated[str, Field(max_length=ENTITY_CHARS_MAX)]], Field(max_length=ENTITIES_MAX)] = (
        Field(default_factory=list)
    )
    """Whom or what it is about."""
    importance: Share | None = None
    """How important it is; null: as its kind has it."""
    confidence: Share | None = None
    """How sure it is, of an opinion; null: it is not said."""
    pinned: bool = False
    """Whether it is pinned."""
    scope: LabelText | None = None
    """Whom it is for; null: every agent of the workspace."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """When it was so; null: as the text says."""
    said_by: Annotated[str, Field(max_length=16)] | None = None
    """Who said it: `user`, `agent`, `tool` or `import`; null: a person wrote it."""
    tags: Annotated[list[LabelText], Field(max_length=64)] = Field(default_factory=list)
    """Its tags."""
    supports: Ids = Field(default_factory=list)
    """The ids of opinions that it speaks for."""
    contradicts: Ids = Field(default_factory=list)
    """Those that it speaks against."""
    supersedes: Ids = Field(default_factory=list)
    """Those that it takes the place of."""
    superseded: Ids = Field(default_factory=list)
    """Those that its line says took its place."""
    beside: Ids = Field(default_factory=list)
    """Those beside which it holds, whatever it looks like."""
    days: Annotated[list[Annotated[date, Field(strict=False)]], Field(max_length=DAYS_MAX)] = Field(
        default_factory=list
    )
    """The days on which it was said; none: today."""
    id: Annotated[str, Field(max_length=64)] | None = None
    """Not read: it follows from what the memory says."""
    sources: Annotated[list[str], Field(max_length=10_000)] = Field(default_factory=list)
    """Not read."""


class ImportedNote(RequestPart):
    """A note of another program that is to stand below `memory/imported/` as it is."""

    path: Annotated[str, Field(max_length=1_000)]
    """Where: `memory/imported/obsidian/Pears.md`."""
    text: Annotated[str, Field(min_length=1, max_length=NOTE_MAX)]
    """All of it."""


class ImportRequest(Request):
    """Memories that are to be stated on the days on which they were said, and notes that are to be written."""

    memories: Annotated[list[ImportedMemory], Field(max_length=LISTED_MAX)] = Field(default_factory=list)
    """The memories, 1,000 at most."""
    notes: Annotated[list[ImportedNote], Field(max_length=LISTED_MAX)] = Field(default_factory=list)
    """The notes, 1,000 at most."""
    run: Annotated[str, Field(pattern=RUN.pattern)]
    """What all changes of one import are undone by: 32 hexadecimal digits, by chance."""
    dry_run: bool = False
    """Whether only to say what would be taken."""
    with_secrets: bool = False
    """Whether to take what looks like a secret."""


async def export(
    admitted: AdmittedByQuery, memories: Memories, after: After = "", limit: ListLimit = 500, scope: ScopeFilter = ""
) -> ExportReply:
    """Hand out memories within reach, a page at a time; those that come meanwhile may be among them."""
    page = await memories.retained(admitted).transfer.page(after, limit, scope, admitted)
    return ExportReply(memories=list(map(exported, page.memories)), next=page.cursor or None, total=page.total)


async def take(request: ImportRequest, admitted: AdmittedByBody, memories: Memories) -> ImportReply:
    """State memories in the logs of their days, and write notes; the same again is not written twice."""
    lines = await asyncio.to_thread(lambda: list(map(imported, request.memories)))
    transfer = memories.retained(admitted).transfer
    options = TakeOptions(run=request.run, is_dry_run=request.dry_run, takes_secrets=request.with_secrets)
    taken = await transfer.take(lines, [memory.days for memory in request.memories], options)
    notes = await transfer.take_notes([(RelativePath(one.path), one.text) for one in request.notes], options)
    return ImportReply(memories=taken["memories"], notes=notes["notes"], changes=[*taken["changes"], *notes["changes"]])


def exported(memory: Memory) -> TransferredMemoryReply:
    """Return a memory as a file has it."""
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


def imported(one: ImportedMemory) -> RetainedLine | str:
    """Return the line that states a memory of a file, or why no line can."""
    if (kind := kind_named(one.kind)) is None:
        return f"there is no kind {one.kind!r}"
    try:
        attributes = Attributes(
            confidence=one.confidence,
            importance=one.importance,
            at=one.at or "",
            scope=one.scope or "",
            supports=tuple(map(ShortId, one.supports)),
            contradicts=tuple(map(ShortId, one.contradicts)),
            supersedes=tuple(map(ShortId, one.supersedes)),
            superseded=tuple(map(ShortId, one.superseded)),
            beside=tuple(map(ShortId, one.beside)),
            provenance=Provenance(one.said_by) if one.said_by else None,
            tags=tuple(one.tags),
            is_pinned=one.pinned,
        )
        return RetainedLine(kind, visible_text(one.text), tuple(one.entities), attributes)
    except ValueError as exc:
        return str(exc)


class DocStatsReply(TypedDict):
    """How many memories there are."""

    total: int
    """All of them."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope."""
    pinned: int
    """How many are pinned."""


class DocsReply(TypedDict):
    """Memories: those that answer, best first, or all, the newest first."""

    docs: list[MemoryDocumentReply]
    """The memories."""


class DocReply(TypedDict):
    """One memory."""

    doc: MemoryDocumentReply
    """The memory."""


class DocEditReply(DocReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: it was so already."""


class DocDeleteReply(TypedDict):
    """A memory whose lines were taken out; that can be undone."""

    id: str
    """Its id."""
    deleted: bool
    """Whether it was."""


QueryWords = Annotated[str, Field(description="a question; without one all are listed")]
DocsLimit = Annotated[int, Field(ge=1, le=RESULTS_MAX, description="how many at most")]


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
    """Find memories that answer, best first; without a question list them, the newest first."""
    room, kinds = memories.retained(admitted).documents, kinds_of(kind)
    if q.strip():
        documents, _ = await room.search(q, scope=scope, kind=kind, top_k=limit, admitted=admitted)
        return DocsReply(docs=documents)
    page = await room.listing(DocumentFilters(scope=scope, kinds=kinds, limit=limit), admitted)
    return DocsReply(docs=page["memories"])


async def get(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocReply:
    """Tell a memory by its id."""
    return DocReply(doc=(await memories_calls.get(memory, admitted, memories))["memory"])


async def pin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Pin a memory: it never decays."""
    return _edit_reply(await memories_calls.pin(memory, request, admitted, memories))


async def unpin(
    memory: MemoryName, request: MemoryEditRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Take the pin of a memory away."""
    return _edit_reply(await memories_calls.unpin(memory, request, admitted, memories))


async def importance(
    memory: MemoryName, request: MemoryImportanceRequest, admitted: AdmittedByBody, memories: Memories
) -> DocEditReply:
    """Write how important a memory is."""
    return _edit_reply(await memories_calls.importance(memory, request, admitted, memories))


async def delete(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocDeleteReply:
    """Take out all lines that state a memory; that can be undone."""
    return msgspec.convert(await memories_calls.delete(memory, admitted, memories), DocDeleteReply)


def _edit_reply(edited: MemoryEditReply) -> DocEditReply:
    return DocEditReply(doc=edited["memory"], changed=edited["changed"])


CALLS = (
    call("POST", "/capture", Who.OWNER, capture),
    call("POST", "/retain", Who.SESSION, retain),
    call("GET", "/memories/export", Who.OWNER, export),
    call("POST", "/memories/import", Who.OWNER, take, deadline=IMPORTING),
    # as rsclaw has them, for programs that were written for it
    *(
        Row(method, f"/api/v1/memory/{path}", Who.OWNER, handler, served=Served.PORT)
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
