"""`POST /v1/sessions/start`: an agent says that a session begins."""

from typing import Annotated

from fastapi import APIRouter, Depends

from memoryd.agents.served import AgentTable
from memoryd.api.access import Caller, Gate
from memoryd.api.models import SessionStartReply, SessionStartRequest
from memoryd.wire import API


def router(agents: AgentTable, gate: Gate) -> APIRouter:
    """The routes of sessions over these agents."""
    routes = APIRouter()

    @routes.post(f"{API}/sessions/start")
    async def start(request: SessionStartRequest, caller: Annotated[Caller, Depends(gate.caller)]) -> SessionStartReply:
        """Begin a session: with `sync.onSessionStart` the index looks at the disk now, in the background."""
        served = agents.enabled(caller.admit(request.agent, request.session_key))
        looks = served.agent.memory_search.sync.on_session_start
        if looks:
            served.indexer.demand()
        return SessionStartReply(is_sync_scheduled=looks)

    return routes
