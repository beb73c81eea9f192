"""`/v1/memories/export` and `/v1/memories/import`: memories on their way to another workspace."""

from typing import Annotated

from fastapi import Query

from memoryd.agents.retained.transfer import TransferWishes
from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.transfer_models import (
    ExportReply,
    ImportedMemory,
    ImportReply,
    ImportRequest,
    TakenMemoryReply,
    TransferredMemoryReply,
)
from memoryd.domain.citations import cited
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.transfer import TransferredMemory, transferred
from memoryd.wire import LISTED_MAX

After = Annotated[str, Query(max_length=100, description="`next` of the page before")]
PageLimit = Annotated[int, Query(ge=1, le=LISTED_MAX, description="how many at most")]
OfScope = Annotated[str, Query(max_length=200, description="`workspace`, `agent:ID`, `agent:ID:CHANNEL` or `global`")]


async def export(
    admitted: AdmittedByQuery, memories: Memories, after: After = "", limit: PageLimit = 500, scope: OfScope = ""
) -> ExportReply:
    """Hand out memories within reach, a page at a time; those that come meanwhile may be among them."""
    page = await memories.retained(admitted).transfer.page(after, limit, scope, admitted)
    return ExportReply(memories=list(map(_told, page.memories)), next=page.cursor or None, total=page.total)


async def take(request: ImportRequest, caller: Asking, memories: Memories) -> ImportReply:
    """State memories in the logs of their days; the same again is not written twice."""
    admitted = caller.admit(request.agent, None)
    wishes = TransferWishes(request.run, request.dry_run, request.with_secrets)
    done = await memories.retained(admitted).transfer.take(list(map(_handed, request.memories)), wishes)
    rows = [TakenMemoryReply(outcome=one.outcome, id=one.id, reason=one.reason) for one in done.memories]
    return ImportReply(memories=rows, changes=list(done.changes))


def _told(memory: Memory) -> TransferredMemoryReply:
    one = transferred(memory)
    return TransferredMemoryReply(
        id=memory.id,
        text=one.text,
        kind=one.kind,
        entities=list(one.entities),
        importance=one.importance,
        confidence=one.confidence,
        pinned=one.is_pinned,
        scope=one.scope or None,
        at=one.at or None,
        said_by=one.said_by or None,
        tags=list(one.tags),
        supports=list(one.supports),
        contradicts=list(one.contradicts),
        supersedes=list(one.supersedes),
        days=[day.isoformat() for day in one.days],
        sources=[str(cited(source.path, source.start_line, source.end_line)) for source in memory.sources],
    )


def _handed(one: ImportedMemory) -> TransferredMemory:
    return TransferredMemory(
        text=one.text,
        kind=one.kind,
        entities=tuple(one.entities),
        importance=one.importance,
        confidence=one.confidence,
        is_pinned=one.pinned,
        scope=one.scope or "",
        at=one.at or "",
        said_by=one.said_by or "",
        tags=tuple(one.tags),
        supports=tuple(one.supports),
        contradicts=tuple(one.contradicts),
        supersedes=tuple(one.supersedes),
        days=tuple(one.days),
    )
