"""`/api/v1/memory`: the paths and shapes of rsclaw's HTTP API, on the loopback port alone."""

from typing import Annotated

from fastapi import Query

from memoryd.agents.retained.documents import EditedDocument
from memoryd.agents.retained.recall import asked_kinds
from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.memories import KindFilter, MemoryName, ScopeFilter, document_reply
from memoryd.api.memories import stats as memories_stats
from memoryd.api.memory_docs_models import DocDeleteReply, DocEditReply, DocReply, DocsReply, DocStatsReply
from memoryd.api.memory_edit_models import MemoryEditRequest, MemoryImportanceRequest
from memoryd.domain.memories.documents import DocumentFilters
from memoryd.wire import RESULTS_MAX

AskedWords = Annotated[str, Query(max_length=4096, description="a question; without one all are listed")]
DocsLimit = Annotated[int, Query(ge=1, le=RESULTS_MAX, description="how many at most")]


async def stats(admitted: AdmittedByQuery, memories: Memories) -> DocStatsReply:
    """Count memories."""
    found = await memories_stats(admitted, memories)
    return DocStatsReply(**found.model_dump(include=set(DocStatsReply.model_fields)))


async def listing(
    admitted: AdmittedByQuery,
    memories: Memories,
    q: AskedWords = "",
    scope: ScopeFilter = "",
    kind: KindFilter = "",
    limit: DocsLimit = 20,
) -> DocsReply:
    """Find memories that answer, best first; without a question list them, the newest first."""
    documents, kinds = memories.retained(admitted).documents, asked_kinds(kind)
    if q.strip():
        found = await documents.search(q, scope=scope, kind=kind, top_k=limit, admitted=admitted)
        return DocsReply(docs=[document_reply(one) for one in found.documents])
    page = await documents.listing(DocumentFilters(scope=scope, kinds=kinds, limit=limit), admitted)
    return DocsReply(docs=[document_reply(one) for one in page.documents])


async def get(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocReply:
    """Tell a memory by its id."""
    return DocReply(doc=document_reply(await memories.retained(admitted).documents.get(memory, admitted)))


async def pin(memory: MemoryName, request: MemoryEditRequest, caller: Asking, memories: Memories) -> DocEditReply:
    """Pin a memory: it never decays."""
    admitted = caller.admit(request.agent, request.session_key)
    return _edited(await memories.retained(admitted).document_edits.pin(memory, admitted))


async def unpin(memory: MemoryName, request: MemoryEditRequest, caller: Asking, memories: Memories) -> DocEditReply:
    """Take the pin of a memory away."""
    admitted = caller.admit(request.agent, request.session_key)
    return _edited(await memories.retained(admitted).document_edits.unpin(memory, admitted))


async def importance(
    memory: MemoryName, request: MemoryImportanceRequest, caller: Asking, memories: Memories
) -> DocEditReply:
    """Write how important a memory is."""
    admitted = caller.admit(request.agent, request.session_key)
    return _edited(
        await memories.retained(admitted).document_edits.set_importance(memory, request.importance, admitted)
    )


async def delete(memory: MemoryName, admitted: AdmittedByQuery, memories: Memories) -> DocDeleteReply:
    """Take out all lines that state a memory; that can be undone."""
    done = await memories.retained(admitted).document_edits.delete(memory, admitted)
    return DocDeleteReply(id=done.id, deleted=done.is_deleted)


def _edited(done: EditedDocument) -> DocEditReply:
    return DocEditReply(doc=document_reply(done.document), changed=done.is_changed)
