"""Memory scopes: which agents, and which of their channels, may see a memory. In doubt no one may.

Every question is asked by an agent, in a channel, or by the owner for an agent.
"""

from msgspec import Struct

from memoryd.domain.access import Admitted

GLOBAL = "global"
TEAM = "team"
"""Of what others of a team share. No line can name it: what is under it lies in the notes of the team."""
_AGENT = "agent"


def scope_admits(scope: str, agent: str, channel: str | None) -> bool:
    """Tell whether a memory of this scope is for an agent that asks in a channel (None: in none).

    No scope is the workspace's, and reaches every agent on it, as `global` does, and what its team shares. `agent:ID`
    reaches that agent, and `agent:ID:CHANNEL` only what it asks in that channel. Anything else reaches no agent.
    """
    return scope in ("", GLOBAL, TEAM) or _agent_of(scope) in ((agent, ""), (agent, channel))


def unnamed_scope(agent: str, channel: str = "", *, is_alone: bool) -> str:
    """Return whose a memory is that names no scope and was said to an agent, or in a channel that is a person's own.

    `is_alone`: no other agent shares the workspace, so that it is the workspace's.
    """
    if channel:
        return f"{_AGENT}:{agent}:{channel}"
    # what is said to one agent is not for another on the same workspace
    return "" if is_alone else f"{_AGENT}:{agent}"


def is_scope(text: str) -> bool:
    """Tell whether a text reads as a scope: `global`, `agent:ID` or `agent:ID:CHANNEL`."""
    return text == GLOBAL or _agent_of(text) is not None


def is_team(scope: str) -> bool:
    """Tell whether somebody means what the team shares: `team`, or `team:NAME`."""
    return scope.partition(":")[0] == TEAM


def covers(wider: str, scope: str) -> bool:
    """Tell whether a memory of scope `wider` reaches all whom one of `scope` reaches; in doubt it does not."""
    if wider in ("", GLOBAL, scope):
        return True
    agent = _agent_of(wider)
    return agent is not None and not agent[1] and scope.startswith(f"{wider}:")


def _agent_of(scope: str) -> tuple[str, str] | None:
    """Return the agent and the channel (empty: any) that a scope names; None for what names no agent."""
    kind, _, rest = scope.partition(":")
    # an id may hold no colon, a channel may
    agent, colon, channel = rest.partition(":")
    return (agent, channel) if kind == _AGENT and agent and bool(channel) == bool(colon) else None


class Visibility(Struct, frozen=True):
    """Who asks: an agent, in a channel (None: in none); or the owner for it, who sees what it may see anywhere."""

    agent: str
    channel: str | None = None
    is_owner: bool = False

    @classmethod
    def of(cls, agent: str, admitted: Admitted) -> "Visibility":
        """Return what a request sees of the memories that reach an agent."""
        return cls(agent, admitted.channel, admitted.is_owner)

    def admits(self, scope: str) -> bool:
        """Tell whether a memory of this scope may be shown.

        What reads as no scope is for the owner alone, who can fix it; those of another agent are shown to no one.
        """
        return scope_admits(scope, self.agent, self.channel) or (self.is_owner and not self._is_anothers(scope))

    def _is_anothers(self, scope: str) -> bool:
        kind, colon, rest = scope.strip().lower().partition(":")
        return kind == _AGENT and bool(colon) and rest.partition(":")[0].strip() != self.agent
