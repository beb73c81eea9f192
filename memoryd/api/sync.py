"""`POST /v1/sync` and `POST /v1/reindex`: make the index follow the disk now."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends

from memoryd.agents.served import AgentTable, Served
from memoryd.api.access import Caller, Gate
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
        reached = await _waited(chosen, request.wait, seconds, is_asking=caller.binding.is_owners)
        return SyncReply(complete=reached.is_complete, reason=reached.reason or None, **await _owed(chosen))

    @routes.post(f"{API}/reindex", status_code=202)
    async def reindex(request: ReindexRequest, caller: Annotated[Caller, Depends(gate.caller)]) -> ReindexReply:
        """Look at every file again, or make every vector again, in the background."""
        chosen = agents.chosen(caller.agent_of(request.agent))
        for served in chosen:
            if request.embeddings:
                served.lane.start_over()
            served.indexer.demand(force=request.force)
        return ReindexReply(**await _owed(chosen))

    return routes


@dataclass(frozen=True, slots=True)
class _Reached:
    """Whether the wait came to its goal, and why it never will."""

    is_complete: bool
    reason: str = ""


async def _waited(chosen: Sequence[Served], wait: str, seconds: float, *, is_asking: bool) -> _Reached:
    tickets = [(served, served.indexer.demand()) for served in chosen]
    if wait == "none":
        return _Reached(True)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(served.indexer.settled(ticket) for served, ticket in tickets))
            return _joined(chosen, await asyncio.gather(*(_reached(served, wait, is_asking) for served in chosen)))
    return _joined(chosen, [_unsettled(served) for served in chosen])


def _joined(chosen: Sequence[Served], each: Sequence[_Reached]) -> _Reached:
    reasons = [f"{served.agent.id}: {one.reason}" for served, one in zip(chosen, each, strict=True) if one.reason]
    return _Reached(all(one.is_complete for one in each), "; ".join(reasons))


async def _reached(served: Served, wait: str, is_asking: bool) -> _Reached:
    state = served.indexer.state
    if state.hold is not None and state.pending_files:
        return _Reached(False, state.hold.reason)
    return await (_embedded(served, is_asking=is_asking) if wait == "embedded" else _worded(served))


def _unsettled(served: Served) -> _Reached:
    """Tell what keeps the index from being written; without a reason it is merely not done yet."""
    trouble = served.keeper.trouble or served.indexer.state.trouble
    return _Reached(False, f"the index does not follow the notes: {trouble}" if trouble else "")


async def _worded(served: Served) -> _Reached:
    """Wait until the words can be found that only qmd indexes, if there is a qmd."""
    return _followed(served, served.qmd is None or await served.qmd.follows_words())


async def _embedded(served: Served, *, is_asking: bool) -> _Reached:
    """Wait for the vectors of whoever answers by meaning, or find that none will come."""
    qmd = served.qmd
    by_qmd = qmd is not None and qmd.has_vectors
    followed = _followed(served, qmd is None or await (qmd.follows_meaning() if by_qmd else qmd.follows_words()))
    if by_qmd and served.slot.state.phase is EmbedderPhase.OFF:
        return followed
    reason = await served.lane.drained(is_asking=is_asking)
    return followed if reason is None else _Reached(False, f"no vectors: {reason}")


def _followed(served: Served, is_followed: bool) -> _Reached:
    if is_followed or served.qmd is None:
        return _Reached(is_followed)
    state = served.qmd.qmd.upkeep.state
    return _Reached(False, f"qmd: {state.trouble or state.vector_trouble or 'it does not follow the notes'}")


async def _owed(chosen: Sequence[Served]) -> dict[str, int]:
    unique = {id(served.indexer): served for served in chosen}.values()
    return {
        "pending_files": sum(served.indexer.state.pending_files for served in unique),
        "pending_embeddings": sum([await served.lane.owed() for served in unique]),
        "generation": sum(served.indexer.state.generation for served in unique),
    }
