"""`POST /v1/retain` and `/v1/capture`: state a memory for today's log; what of a message becomes a memory."""

from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from memoryd.api.access import AdmittedByBody, Memories
from memoryd.api.call import call
from memoryd.api.models import (
    AnswerText,
    KindText,
    LabelText,
    MeantText,
    QuestionText,
    Request,
    SessionKeyText,
    Share,
)
from memoryd.domain.access import Who
from memoryd.domain.documents import Citation
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, MemoryDraft
from memoryd.domain.memories.kinds import Kind, kind_named, short_id
from memoryd.errors import InvalidRequest
from memoryd.memory.capture.queue import CaptureResult
from memoryd.replies.conversations import CapturedReply, CaptureReply, DroppedReply
from memoryd.replies.memories import RetainReply
from memoryd.wire import ENTITIES_MAX, ENTITY_CHARS_MAX, MEMORIES_CHARS_MAX


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


def kind_of(name: str | None) -> Kind | None:
    """Return the kind that a request names, None if it names none; raises InvalidRequest for what is no kind."""
    if name is None:
        return None
    kind = kind_named(name)
    if kind is None:
        raise InvalidRequest(f"kind: there is none called {name!r}", hint=f"kinds: {', '.join(Kind)}; or W, B, O, S")
    return kind


CALLS = (
    call("POST", "/capture", Who.OWNER, capture),
    call("POST", "/retain", Who.SESSION, retain),
)
