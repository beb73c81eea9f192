"""What handlers are handed: the services behind all calls, and who it is that asks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Query, Request

from memoryd.agents.memories import AgentMemories
from memoryd.api.access import Caller, Gate
from memoryd.api.daemon_state import DaemonState, ReloadOutcome
from memoryd.api.http.connection import peer_of
from memoryd.api.http.measured import RequestCounts
from memoryd.api.http.turnstile import WAITED
from memoryd.domain.access import Admitted


@dataclass(frozen=True, slots=True)
class Services:
    """All that the calls lead to. `keep_alive` is how long an event stream may be silent."""

    gate: Gate
    memories: AgentMemories
    daemon: Callable[[], DaemonState]
    keep_alive: timedelta = timedelta(seconds=15)
    requests: RequestCounts = field(default_factory=RequestCounts)
    """What was answered since the start."""
    reload: Callable[[], Awaitable[ReloadOutcome]] | None = None
    """None where nothing can be read again."""
    look_at_reload: Callable[[], Awaitable[ReloadOutcome]] | None = None
    """Says what a reload would do; None likewise."""


AgentParameter = Annotated[str | None, Query(max_length=64, description="agent to ask; the default agent if absent")]
KeyParameter = Annotated[str | None, Query(alias="sessionKey", max_length=512, description="the session that asks")]


# all of these are coroutines: FastAPI runs plain functions in threads of its own


async def services_of(request: Request) -> Services:
    """Return what the app was made with."""
    services: Services = request.app.state.services
    return services


AllServices = Annotated[Services, Depends(services_of)]


async def memories_of(services: AllServices) -> AgentMemories:
    """Return what may be asked of the agents' memories."""
    return services.memories


async def caller_of(request: Request, services: AllServices) -> Caller:
    """Return who sent the request, for calls that have agent and key in the body."""
    return Caller(services.gate, peer_of(request.scope).socket)


async def waited_of(request: Request) -> timedelta:
    """Return how long a call has waited that is asked again, since what it waited for was exchanged."""
    waited: timedelta = request.scope.get(WAITED, timedelta())
    return waited


Asking = Annotated[Caller, Depends(caller_of)]
Memories = Annotated[AgentMemories, Depends(memories_of)]
Waited = Annotated[timedelta, Depends(waited_of)]


async def admitted_by_query(caller: Asking, agent: AgentParameter = None, session_key: KeyParameter = None) -> Admitted:
    """Return the request as admitted by the parameters `agent` and `sessionKey`."""
    return caller.admit(agent, session_key)


AdmittedByQuery = Annotated[Admitted, Depends(admitted_by_query)]
