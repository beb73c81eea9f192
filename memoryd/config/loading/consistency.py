"""Contradictions between values that are valid by themselves: across sections, in `memory.llm`, in transcript folders.

Each transcript folder belongs to one agent, and both keys that name it must agree.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from memoryd.config.agents import Agent, overlay
from memoryd.config.loading.raw import KeyPath, of_agent
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import openclaw_sessions, socket_path
from memoryd.config.root import Config
from memoryd.domain.access import read_key
from memoryd.domain.media import DIMENSIONS, MODELS, PROVIDER, embeds_media

TOO_WIDE_FOLDER = "must be a folder of its own, not the root or the whole home folder"


class Contradiction(Struct, frozen=True):
    """A problem of one agent, and the keys that cause it."""

    agent: int | None
    """Position in `agents.list`; None for the defaults, if the list is empty."""
    problem: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        holder = "agents.defaults" if self.agent is None else f"agents.list[{self.agent}]"
        return f"{holder}.{self.problem}"

    def is_caused_by(self, broken: KeyPath) -> bool:
        """Return whether the invalid value at `broken` is among the causes."""
        if broken[:2] == ("agents", "list") and broken[2:3] not in ((), (self.agent,)):
            return False
        if broken[:1] != ("agents",):
            return False
        below = ".".join(map(str, of_agent(broken)))
        return not below or any(f"{key}.".startswith(f"{below}.") for key in self.keys)


def contradictions(config: Config, broken: Sequence[KeyPath] = ()) -> list[str]:
    """Return the problems of the resolved agents, without those that result from the invalid values at `broken`."""
    agents = config.resolved_agents()
    positions = [None] if not config.agents.list else range(len(agents))
    conflicts = [*_repeated_ids(agents)]
    for position, agent in zip(positions, agents, strict=True):
        conflicts += [Contradiction(position, problem, keys) for problem, keys in _agent_problems(agent)]
    conflicts += [*_shared_indexes(agents), *_sockets(agents)]
    problems = [str(conflict) for conflict in conflicts if not any(map(conflict.is_caused_by, broken))]
    problems += [*_folder_problems(config, agents), *_text_model_problems(config, broken), *_team_problems(config)]
    return list(dict.fromkeys(problems))


def overlap_notices(config: Config) -> list[str]:
    """Return a notice for each section whose chunk overlap was reduced to fit the chunk size."""
    defaults = config.agents.defaults.memory_search.chunking
    sections = [("agents.defaults", defaults)] if not config.agents.list else []
    for position, entry in enumerate(config.agents.list):
        sections.append((f"agents.list[{position}]", overlay(defaults, entry.memory_search.chunking)))
    return [
        f"{where}.memorySearch.chunking.overlap: {chunking.overlap} is not less than tokens ({chunking.tokens}), "
        f"{chunking.with_valid_overlap().overlap} is used"
        for where, chunking in sections
        if chunking.with_valid_overlap() != chunking
    ]


def _agent_problems(agent: Agent) -> Iterator[tuple[str, tuple[str, ...]]]:
    search = agent.memory_search
    if agent.workspace.resolve() in (Path("/"), Path.home().resolve()):
        yield f"workspace: {TOO_WIDE_FOLDER}: {agent.workspace}", ("workspace",)
    is_multimodal = search.provider in (PROVIDER, "auto") and embeds_media(PROVIDER, search.model or "")
    if is_multimodal and (size := search.output_dimensionality) not in (None, *DIMENSIONS):
        key, (*first, last) = "memorySearch.outputDimensionality", DIMENSIONS
        choices = f"{', '.join(map(str, first))} or {last}"
        yield f"{key}: must be {choices} for {search.model}, not {size}", (key, "memorySearch.model")
    if search.multimodal.enabled:
        for key, problem in _media_problems(search):
            yield f"memorySearch.{key}: {problem}", (f"memorySearch.{key}", "memorySearch.multimodal.enabled")


def _media_problems(search: MemorySearchSection) -> Iterator[tuple[str, str]]:
    """Yield keys and problems that prevent media embedding; the provider that `auto` finds is not known yet."""
    while_enabled = "while multimodal.enabled is true"
    if search.fallback != "none":
        yield "fallback", f'must be "none" {while_enabled}'
    if search.provider not in (PROVIDER, "auto"):
        yield "provider", f'must be "{PROVIDER}" {while_enabled}, not "{search.provider}"'
    if not embeds_media(PROVIDER, search.model or ""):
        actual = "and is not set" if search.model is None else f'not "{search.model}"'
        yield "model", f'must be "{MODELS[0]}" {while_enabled}, {actual}'


def _repeated_ids(agents: list[Agent]) -> Iterator[Contradiction]:
    ids = [agent.id for agent in agents]
    for position, agent_id in enumerate(ids):
        if agent_id in ids[:position]:
            yield Contradiction(position, f"id: {agent_id} is used before", ("id",))


def _shared_indexes(agents: list[Agent]) -> Iterator[Contradiction]:
    """Yield each index that two workspaces share, so that each would remove the other's documents.

    Yield, too, each index at the path of a ledger.
    """
    owners: dict[Path, Agent] = {}
    ledgers = {agent.ledger_path.resolve() for agent in agents}
    for position, agent in enumerate(agents):
        if agent.index_path.resolve() in ledgers:
            problem = f"memorySearch.store.path: {agent.index_path} is the place of a ledger; name another file"
            yield Contradiction(position, problem, ("memorySearch.store.path", "workspace", "id"))
        owner = owners.setdefault(agent.index_path.resolve(), agent)
        if owner.workspace.resolve() != agent.workspace.resolve():
            problem = (
                f"memorySearch.store.path: is also the index of agent {owner.id}, "
                "which has another workspace; put {agentId} into the path"
            )
            yield Contradiction(position, problem, ("memorySearch.store.path", "workspace", "id"))


def _sockets(agents: list[Agent]) -> Iterator[Contradiction]:
    """Yield each socket whose path is used twice or in a workspace, or whose session key is of another agent."""
    taken = {socket_path().resolve()}
    for position, agent in enumerate(agents):
        for number, socket in enumerate(agent.sockets):
            where = f"sockets.{number}"
            path = Path(socket.path).expanduser().resolve()
            if path in taken:
                problem = f"sockets[{number}].path: is used before, or is the owner's socket"
                yield Contradiction(position, problem, (f"{where}.path",))
            taken.add(path)
            if any(path.is_relative_to(other.workspace.resolve()) for other in agents):
                problem = f"sockets[{number}].path: must not lie in a workspace"
                yield Contradiction(position, problem, (f"{where}.path", "workspace"))
            owner = read_key(socket.session_key).agent if socket.session_key else None
            if owner not in (None, agent.id):
                problem = f"sockets[{number}].sessionKey: is of agent {owner}, not of {agent.id}"
                yield Contradiction(position, problem, (f"{where}.sessionKey", "id"))


def _text_model_problems(config: Config, broken: Sequence[KeyPath]) -> Iterator[str]:
    """Yield contradictions in `memory.llm`; none if one of its values is invalid by itself."""
    llm = config.memory.llm
    if any(location[:2] == ("memory", "llm") for location in broken) or llm.provider == "none":
        return
    if llm.model is None:
        what = "a chat model" if llm.provider == "local" else "the model at the endpoint"
        yield f'memory.llm.model: must name {what} while memory.llm.provider is "{llm.provider}"'
    if llm.max_tokens >= llm.context_size and llm.provider == "local":
        yield f"memory.llm.maxTokens: must be less than memory.llm.contextSize ({llm.context_size})"


def _team_problems(config: Config) -> Iterator[str]:
    """Yield keys that are missing for the team, and an unknown agent of the team."""
    team = config.team
    for key, value in (("name", team.name), ("person", team.person)):
        if team.remote is not None and value is None:
            yield f"team.{key}: must be given with team.remote; memoryctl team join writes both"
    if team.agent is not None and team.agent not in {agent.id for agent in config.resolved_agents()}:
        yield f"team.agent: there is no agent {team.agent}"


def text_model_notices(config: Config) -> Iterator[str]:
    """Yield a notice for each key of `memory.llm` that has no effect with the configured provider."""
    llm = config.memory.llm
    if llm.is_endpoint:
        return
    for name, value in (("baseUrl", llm.base_url), ("apiKey", llm.api_key)):
        if value is not None:
            yield f'memory.llm.{name} has no effect while memory.llm.provider is "{llm.provider}"'


def _folder_problems(config: Config, agents: Sequence[Agent]) -> Iterator[str]:
    """Yield the problems of transcript folders: an unknown agent, or a folder of two agents."""
    ids = [agent.id for agent in agents]
    owners = {openclaw_sessions(name).resolve(): name for name in ids}
    for number, folder in enumerate(config.memory.sessions.folders):
        where = f"memory.sessions.folders[{number}]"
        if folder.agent not in ids:
            yield f"{where}.agent: there is no agent {folder.agent}; configured agents: {', '.join(ids)}"
            continue
        owner = owners.setdefault(Path(folder.path).expanduser().resolve(), folder.agent)
        if owner != folder.agent:
            yield f"{where}.path: is given to agent {owner}, too; each folder is of one agent alone"


def transcript_notices(agents: Sequence[Agent]) -> Iterator[str]:
    """Yield a notice for each key that asks for transcripts while another key prevents it, so that none are read."""
    for agent in agents:
        search, where = agent.memory_search, f"agent {agent.id}: no transcripts are indexed"
        is_requested, is_allowed = "sessions" in search.sources, search.experimental.session_memory
        # qmd finds exported transcripts without the index
        is_unsearchable = not agent.exports_transcripts
        if is_allowed and not is_requested and is_unsearchable:
            yield f'{where}: experimental.sessionMemory has no effect without "sessions" in memorySearch.sources'
        elif is_requested and not is_allowed and is_unsearchable:
            yield (
                f'{where}: with "sessions" in memorySearch.sources questions and answers are found; '
                "transcripts need experimental.sessionMemory: true, too"
            )
        elif not is_requested and _has_idle_folders(agent):
            yield (
                f"{where}: memory.sessions.folders has no effect without experimental.sessionMemory: true "
                'and "sessions" in memorySearch.sources'
            )
        if agent.wants_sessions_without_qmd and not (agent.reads_transcripts or is_allowed):
            yield (
                f"{where}: memory.qmd.sessions.enabled is for qmd, and a provider elsewhere would get them; if it may, "
                'set experimental.sessionMemory: true, and "sessions" in memorySearch.sources'
            )
        lacks_qmd = agent.memory.qmd.sessions.enabled and agent.memory.backend != "qmd"
        if lacks_qmd and not is_requested and "sources" in search.model_fields_set:
            yield f'{where}: memory.qmd.sessions.enabled has no effect without "sessions" in memorySearch.sources'
        if agent.memory.qa.from_transcripts and not agent.takes_turns:
            yield (
                f"agent {agent.id}: memory.qa.fromTranscripts has no effect "
                + ("with memory.readOnly" if agent.memory.read_only else "without memory.qa.enabled")
            )


def _has_idle_folders(agent: Agent) -> bool:
    is_used = agent.exports_transcripts or agent.takes_turns or agent.reads_transcripts
    return not is_used and any(folder.agent == agent.id for folder in agent.memory.sessions.folders)
