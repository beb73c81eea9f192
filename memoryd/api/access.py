"""The one place that decides who may make a call. Every route that returns memory text goes through it.

The memory of an agent is reached only through the methods of `AgentMemories`. They take an `Admitted`, which only
`AccessPolicy` creates.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import structlog
from msgspec import Struct, field
from pydantic import Field
from starlette.requests import Request

from memoryd.agents.memories import DEFAULT_WAIT, AgentMemories
from memoryd.api.call import Injected, Sent
from memoryd.api.http import sockets
from memoryd.api.http.connection import peer_of
from memoryd.api.http.counting import RequestCounts
from memoryd.api.http.reload_gate import WAITED
from memoryd.config.agents import Agent
from memoryd.domain.access import (
    OWNER,
    PERSON,
    AccessRules,
    Admitted,
    Binding,
    Decision,
    Who,
    decide,
    folded_id,
    read_key,
    why_not_agent,
    why_not_call,
)
from memoryd.domain.clock import Heartbeat
from memoryd.errors import Denied, UnknownAgent
from memoryd.replies.daemon import ConfigReply, ConnectionsReply, LoadReply, LogReply, PageReply, PortReply
from memoryd.replies.search import ReloadReply

log = structlog.get_logger(__name__)

_HINT = "memory.scope says who may ask; a session key reads agent:<id>:<channel>:<direct|group|channel>:<peer>"
_OWNERS_HINT = "ask on the owner's socket; an agent's socket may ask for a sync of its own index"


class AccessPolicy:
    """Decides by the socket that a request came in on, the agent it names and its session key."""

    def __init__(
        self,
        *,
        rules: AccessRules,
        agents: Sequence[str],
        bindings: Mapping[str, Binding],
        default: str | None = None,
    ) -> None:
        self._rules = rules
        self.agents = tuple(agents)
        """The ids of the configured agents."""
        self._default = default
        # a client that has the token of the port is the owner
        self._bindings = {sockets.OWNER: OWNER, sockets.PORT: OWNER, sockets.PAGE: PERSON, **bindings}

    @classmethod
    def of(cls, agents: Sequence[Agent], *, sockets_of: Sequence[Agent] | None = None) -> "AccessPolicy":
        """Return the policy of a configuration; its rules apply to every agent.

        `sockets_of` are the agents whose sockets are open, if they differ from `agents`. The socket of a removed agent
        is not bound.
        """
        known = {agent.id for agent in agents}
        bindings = {
            socket_name(agent.id, number): Binding(agent.id, socket.session_key)
            for agent in (agents if sockets_of is None else sockets_of)
            for number, socket in enumerate(agent.sockets)
            if agent.id in known
        }
        return cls(
            rules=agents[0].memory.access_rules(),
            agents=[agent.id for agent in agents],
            bindings=bindings,
            default=next((agent.id for agent in agents if agent.is_default), None),
        )

    @property
    def default(self) -> str:
        """The agent that is shown to a person who names none: the default agent, or else the first."""
        return self._default or self.agents[0]

    def admit_call(self, socket: str, who: Who | None) -> None:
        """Admit a call that is for `who`, or raise Denied. A call for None is always denied."""
        reason = "this call is not allowed" if who is None else why_not_call(self.binding_of(socket), who)
        if reason:
            self._deny(reason, socket, None, hint=_OWNERS_HINT)

    def binding_of(self, socket: str) -> Binding:
        """Return the binding of a socket. Raises Denied if the socket is not configured."""
        binding = self._bindings.get(socket)
        if binding is None:
            raise Denied("this socket is not configured")
        return binding

    def agent_of(self, socket: str, agent: str | None) -> str | None:
        """Return the agent that a request addresses, regardless of its session. Raises Denied or UnknownAgent."""
        binding = self.binding_of(socket)
        if reason := why_not_agent(binding, agent):
            self._deny(reason, socket, None)
        if agent is not None and folded_id(agent) not in self.agents:
            raise UnknownAgent(f"no agent {agent!r}", hint=f"configured agents: {', '.join(self.agents)}")
        return binding.agent if agent is None else folded_id(agent)

    def admit(self, socket: str, agent: str | None, session_key: str | None) -> Admitted:
        """Admit a request, or raise Denied or UnknownAgent.

        The agent of a session key is addressed by it, too; any other session key belongs to the default agent.
        """
        named = self.agent_of(socket, agent)
        decision = decide(self._rules, self.binding_of(socket), session_key, self.agents)
        if not decision.is_allowed:
            self._deny(decision.reason, socket, decision)
        owner = decision.key.agent if decision.key else None
        if named is not None and owner not in (None, named):
            self._deny("the session key is of another agent", socket, decision)
        target = named or owner or (None if decision.key is None else self._default)
        channel = None if decision.key is None else decision.key.memory_channel
        # without a key only the owner's own socket is admitted
        is_sandboxed = not self.binding_of(socket).is_owner
        return Admitted(target, decision.is_direct, channel, is_owner=decision.key is None, is_sandboxed=is_sandboxed)

    def _deny(self, reason: str, socket: str, decision: Decision | None, *, hint: str = _HINT) -> None:
        key = decision.key if decision else None
        chat_type, channel = (key.chat_type, key.channel) if key else (None, None)
        # the key itself may hold a telephone number
        log.warning("access denied", reason=reason, socket=socket, channel=channel, chat_type=chat_type)
        derived = f" (chat type {chat_type or 'unknown'}, channel {channel or 'unknown'})" if key else ""
        raise Denied(f"{reason}{derived}", hint=hint)


class Caller(Struct, frozen=True):
    """The sender of a request: the policy, and the name of the socket that it came in on."""

    gate: AccessPolicy
    socket: str

    @property
    def binding(self) -> Binding:
        return self.gate.binding_of(self.socket)

    def agent_of(self, agent: str | None) -> str | None:
        """Return the agent addressed by a request that does not read memory text."""
        return self.gate.agent_of(self.socket, agent)

    def admit(self, agent: str | None, session_key: str | None) -> Admitted:
        """Admit a request that reads memory text, or raise Denied or UnknownAgent."""
        return self.gate.admit(self.socket, agent, session_key)

    def key(self, session_key: str | None) -> str:
        """Return the session key of an admitted request in canonical spelling; empty without a key."""
        key = self.binding.session_key or session_key
        return read_key(key).raw if key else ""


def socket_name(agent: str, number: int) -> str:
    """Return the name of an agent's socket; it never equals the name of an owner's socket."""
    return f"agent:{agent}:{number}"


def is_reachable_on(agent: str, socket: str) -> bool:
    """Return whether requests on the socket of this name may address an agent: its own socket, or the owner's."""
    return socket == sockets.OWNER or socket.startswith(f"agent:{agent}:")


class DaemonState(Struct, frozen=True, kw_only=True):
    """The state of the process at one moment. `connections` is None before it listens."""

    version: str
    pid: int
    uptime_seconds: float
    rss_bytes: int
    socket: str
    config: ConfigReply
    connections: ConnectionsReply | None
    unreachable: Mapping[str, str]
    """Socket name → the reason why its path does not lead to this daemon."""
    heartbeats: Sequence[Heartbeat]
    log: LogReply
    load: LoadReply
    port: PortReply | None
    """None if the port is off."""
    page_address: str
    """The address of the page; the port may be open only for it."""
    restarts: Mapping[str, int]
    """Loop → the number of its restarts after a failure."""


class Services(Struct, frozen=True):
    """The services that handlers use. `keep_alive` is how long an event stream may be silent."""

    gate: AccessPolicy
    memories: AgentMemories
    daemon: Callable[[], DaemonState]
    keep_alive: timedelta = timedelta(seconds=15)
    requests: RequestCounts = field(default_factory=RequestCounts)
    """Counts of the requests since the start."""
    reload: Callable[[], Awaitable[ReloadReply]] | None = None
    """None if there is no configuration file to reload."""
    check_at_reload: Callable[[], Awaitable[ReloadReply]] | None = None
    """Returns what a reload would do; None if there is no configuration file."""
    open_page: Callable[[str | None, bool], Awaitable[PageReply]] | None = None
    """Opens the port for the page and returns a link to the memory of an agent; True keeps it open until exit."""


AgentParameter = Annotated[str | None, Field(max_length=64, description="the agent; the default agent if absent")]
KeyParameter = Annotated[str | None, Field(alias="sessionKey", max_length=512, description="the session of the caller")]


def services_of(request: Request, _sent: Sent) -> Services:
    """Return the services of the app."""
    services: Services = request.app.services
    return services


def caller_of(request: Request, sent: Sent) -> Caller:
    """Return the sender of the request."""
    return Caller(services_of(request, sent).gate, peer_of(request.scope).socket)


def admitted(request: Request, sent: Sent) -> Admitted:
    """Admit the request by its `agent` and `sessionKey`, or raise Denied or UnknownAgent."""
    return caller_of(request, sent).admit(sent.get("agent"), sent.get("session_key"))


def wait_left(timeout_ms: int | None, waited: timedelta) -> timedelta:
    """Return the remaining time that a call may wait, of its limit in milliseconds or of the default."""
    limit = DEFAULT_WAIT if timeout_ms is None else timedelta(milliseconds=timeout_ms)
    return max(timedelta(), limit - waited)


AllServices = Annotated[Services, Injected(services_of)]
RequestCaller = Annotated[Caller, Injected(caller_of)]
Memories = Annotated[AgentMemories, Injected(lambda request, _sent: request.app.services.memories)]
"""The memories of all agents."""
Waited = Annotated[timedelta, Injected(lambda request, _sent: request.scope.get(WAITED, timedelta()))]
"""How long a call has already waited that is repeated after a reload."""
AdmittedByQuery = Annotated[Admitted, Injected(admitted, {"agent": AgentParameter, "session_key": KeyParameter})]
AdmittedByBody = Annotated[Admitted, Injected(admitted, is_of_body=True)]
