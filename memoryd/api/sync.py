"""`POST /v1/sync` and `POST /v1/reindex`: make the index follow the disk now."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends

from memoryd.api.access import Caller, Gate
from memoryd.api.agents import AgentTable, Served
from memoryd.api.models import ReindexReply, ReindexRequest, SyncReply, SyncRequest
from memoryd.embed.slot import EmbedderPhase
from memoryd.wire import API

DEFAULT_WAIT_SECONDS = 30.0


def router(agents: AgentTable, gate: Gate) -> APIRouter:
    """The sync routes over these agents."""
    routes = APIRouter()

    @routes.post(f"{API}/sync")
    async def sync(request: SyncRequest, caller: Annotated[Caller, Depends(gate.caller)]) -> SyncReply:
        """Scan now; with `wait`, answer when what was on disk before the call is searchable.

        Vectors that are made only when asked for are made when the owner asks: an agent must not spend what its
        owner holds back.
        """
        chosen = agents.chosen(caller.agent_of(request.agent))
        seconds = DEFAULT_WAIT_SECONDS if request.timeout_ms is None else request.timeout_ms / 1000
        is_complete = await _waited(chosen, request.wait, seconds, is_asking=caller.binding.is_owners)
        return SyncReply(complete=is_complete, **_owed(chosen))

    @routes.post(f"{API}/reindex", status_code=202)
    async def reindex(request: ReindexRequest, caller: Annotated[Caller, Depends(gate.caller)]) -> ReindexReply:
        """Look at every file again, or make every vector again, in the background."""
        chosen = agents.chosen(caller.agent_of(request.agent))
        for served in chosen:
            if request.embeddings:
                served.lane.start_over()
            served.indexer.demand(force=request.force)
        return ReindexReply(**_owed(chosen))

    return routes


async def _waited(chosen: Sequence[Served], wait: str, seconds: float, *, is_asking: bool) -> bool:
    tickets = [(served, served.indexer.demand()) for served in chosen]
    if wait == "none":
        return True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(served.indexer.settled(ticket) for served, ticket in tickets))
            if wait == "embedded":
                return all(await asyncio.gather(*(_embedded(served, is_asking=is_asking) for served in chosen)))
            return all(await asyncio.gather(*(_worded(served) for served in chosen)))
    return False


async def _worded(served: Served) -> bool:
    """Wait until the words can be found that only qmd indexes, if there is a qmd."""
    return served.qmd is None or await served.qmd.follows_words()


async def _embedded(served: Served, *, is_asking: bool) -> bool:
    """Wait for the vectors of whoever answers by meaning; False if nobody will ever make them."""
    qmd = served.qmd
    by_qmd = qmd is not None and qmd.has_vectors
    is_followed = qmd is None or await (qmd.follows_meaning() if by_qmd else qmd.follows_words())
    if served.slot.state.phase is EmbedderPhase.OFF:
        return by_qmd and is_followed
    return await served.lane.drained(is_asking=is_asking) and is_followed


def _owed(chosen: Sequence[Served]) -> dict[str, int]:
    unique = {id(served.indexer): served for served in chosen}.values()
    return {
        "pending_files": sum(served.indexer.state.pending_files for served in unique),
        "pending_embeddings": sum(served.lane.pending for served in unique),
        "generation": sum(served.indexer.state.generation for served in unique),
    }
