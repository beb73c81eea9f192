"""Whether there is a memory to offer tools for."""

from memoryd.config.loading.load import load
from memoryd.domain.access import folded_id, read_key
from memoryd.errors import ConfigError, DaemonNotRunning, Disabled, MemorydError
from memoryd.mcp.tool_caller import ToolCaller

_PROBE = "MEMORY.md"
"""One line of it is asked for, whether it is there or not: a memory that is off refuses."""


async def why_nothing(caller: ToolCaller) -> str:
    """Return why no tool is to be offered; empty where the memory is on, or nobody knows.

    The daemon knows; while none runs, the configuration says it.
    """
    try:
        await caller.ask(lambda memory: memory.get(_PROBE, lines=1, agent=caller.agent, session_key=caller.session_key))
    except Disabled as exc:
        return str(exc)
    except DaemonNotRunning:
        return _why_by_configuration(caller)
    except MemorydError:
        pass  # calls will say what is wrong
    return ""


def _why_by_configuration(caller: ToolCaller) -> str:
    try:
        agents = load().config.resolved_agents()
    except (ConfigError, OSError):
        return ""  # perhaps it is not ours to read
    named = caller.agent or (read_key(caller.session_key).agent if caller.session_key else None)
    for agent in agents:
        if agent.is_default if named is None else agent.id == folded_id(named):
            return "" if agent.memory_search.enabled else f"memory search is off for agent {agent.id!r}"
    return ""
