"""Values that are right one by one and wrong together."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.config.memory_search import MemorySearch
from memoryd.config.models import Agent, Config
from memoryd.config.paths import socket_path
from memoryd.domain.access import read_key
from memoryd.domain.media import MODELS, PROVIDER, embeds_media

TOO_WIDE: Final = "must be a folder of its own, not the root or the whole home folder"


def contradictions(config: Config) -> list[str]:
    """Return what is wrong with the agents as they result from the file."""
    agents = config.resolved_agents()
    problems = list(_repeated_ids(agents))
    for agent in agents:
        problems += [f"{_where(agent, config)}.{problem}" for problem in _of_one(agent)]
    return list(dict.fromkeys([*problems, *_shared_indexes(agents), *_sockets(agents)]))


def _where(agent: Agent, config: Config) -> str:
    position = next((n for n, entry in enumerate(config.agents.list) if entry.id == agent.id), None)
    return "agents.defaults" if position is None else f"agents.list[{position}]"


def _of_one(agent: Agent) -> Iterator[str]:
    search = agent.memory_search
    if agent.workspace.resolve() in (Path("/"), Path.home().resolve()):
        yield f"workspace: {TOO_WIDE}: {agent.workspace}"
    if search.chunking.overlap >= search.chunking.tokens:
        chunking = search.chunking
        yield f"memorySearch.chunking.overlap: must be less than tokens ({chunking.tokens}), not {chunking.overlap}"
    if search.multimodal.enabled:
        yield from _without_media(search)


def _without_media(search: MemorySearch) -> Iterator[str]:
    """What keeps pictures and sounds from being embedded; which provider `auto` finds is seen later."""
    while_enabled = "while multimodal.enabled is true"
    if search.fallback != "none":
        yield f'memorySearch.fallback: must be "none" {while_enabled}'
    if search.provider not in (PROVIDER, "auto"):
        yield f'memorySearch.provider: must be "{PROVIDER}" {while_enabled}, not "{search.provider}"'
    if not embeds_media(PROVIDER, search.model or ""):
        found = "and is not set" if search.model is None else f'not "{search.model}"'
        yield f'memorySearch.model: must be "{MODELS[0]}" {while_enabled}, {found}'


def _repeated_ids(agents: list[Agent]) -> Iterator[str]:
    ids = [agent.id for agent in agents]
    for position, agent_id in enumerate(ids):
        if agent_id in ids[:position]:
            yield f"agents.list[{position}].id: {agent_id} is used before"


def _shared_indexes(agents: list[Agent]) -> Iterator[str]:
    """One index holds one workspace; two would remove each other's documents."""
    owners: dict[Path, Agent] = {}
    for position, agent in enumerate(agents):
        owner = owners.setdefault(agent.index_path.resolve(), agent)
        if owner.workspace.resolve() != agent.workspace.resolve():
            yield (
                f"agents.list[{position}].memorySearch.store.path: is also the index of agent {owner.id}, "
                "which has another workspace; put {agentId} into the path"
            )


def _sockets(agents: list[Agent]) -> Iterator[str]:
    """Each socket has a path of its own, outside every workspace, and a key of its own agent."""
    taken = {socket_path().resolve()}
    for position, agent in enumerate(agents):
        for number, socket in enumerate(agent.sockets):
            where = f"agents.list[{position}].sockets[{number}]"
            path = Path(socket.path).expanduser().resolve()
            if path in taken:
                yield f"{where}.path: is used before, or is the owner's socket"
            taken.add(path)
            if any(path.is_relative_to(other.workspace.resolve()) for other in agents):
                yield f"{where}.path: must not lie in a workspace"
            owner = read_key(socket.session_key).agent if socket.session_key else None
            if owner not in (None, agent.id):
                yield f"{where}.sessionKey: is of agent {owner}, not of {agent.id}"
