"""`POST /v1/sync` and `POST /v1/reindex`: make the index follow the disk now."""

from dataclasses import asdict
from datetime import timedelta

from memoryd.agents.sync import DEFAULT_WAIT
from memoryd.api.dependencies import Asking, Memories, Waited
from memoryd.api.models import ReindexReply, ReindexRequest, SyncReply, SyncRequest


async def sync(request: SyncRequest, caller: Asking, memories: Memories, waited: Waited) -> SyncReply:
    """Scan now; with `wait`, answer when what was on disk before the call is searchable.

    Vectors that are made only when asked for are made when the owner asks: an agent must not spend what its
    owner holds back.
    """
    limit = DEFAULT_WAIT if request.timeout_ms is None else timedelta(milliseconds=request.timeout_ms)
    agent, is_asking = caller.agent_of(request.agent), caller.binding.is_owners
    done = await memories.sync(agent, request.wait, max(timedelta(), limit - waited), is_asking=is_asking)
    return SyncReply(complete=done.reached.is_complete, reason=done.reached.reason or None, **asdict(done.owed))


async def reindex(request: ReindexRequest, caller: Asking, memories: Memories) -> ReindexReply:
    """Look at every file again, or make every vector again, in the background."""
    agent = caller.agent_of(request.agent)
    return ReindexReply(**asdict(await memories.reindex(agent, force=request.force, embeddings=request.embeddings)))
