"""`POST /v1/capture`: what of a message would be kept as memories, or keep it as a turn of its owner would."""

from memoryd.api.capture_models import CapturedReply, CaptureReply, CaptureRequest, DroppedReply
from memoryd.api.dependencies import Asking, Memories
from memoryd.domain.citations import Citation
from memoryd.domain.memories.kinds import short_id
from memoryd.memory.capture.queue import CaptureOutcome


async def capture(request: CaptureRequest, caller: Asking, memories: Memories) -> CaptureReply:
    """Say what capture keeps of a message, by which form, and why not the rest; without `dryRun` keep it."""
    retained = memories.retained(caller.admit(request.agent, None))
    answer = request.answer or ""
    outcome = await retained.capture.take(request.text, answer_before=answer, is_dry=request.dry_run)
    return _encoded(outcome, is_dry=request.dry_run)


def _encoded(outcome: CaptureOutcome, *, is_dry: bool) -> CaptureReply:
    verdict, retention = outcome.verdict, outcome.retention
    kept = [
        CapturedReply(
            kind=item.kind,
            text=item.text,
            form=item.form,
            pinned=item.is_pinned,
            importance=item.weight,
        )
        for item in verdict.kept
    ]
    placed = [] if retention is None else retention.placed
    path = "" if retention is None else retention.path
    return CaptureReply(
        dry_run=is_dry,
        gate=verdict.gate,
        decided_by=verdict.decided_by,
        kept=kept,
        dropped=[DroppedReply(text=one.text, reason=one.reason, form=one.form) for one in verdict.dropped],
        citations=[str(Citation(path, one.start_line, one.end_line, short_id(one.line.id))) for one in placed],
        change=(retention.change.id or None) if retention else None,
    )
