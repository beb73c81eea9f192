"""Whose transcripts are read: each folder is one agent's, and both keys that ask for it must agree."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from memoryd.config.paths import openclaw_sessions
from memoryd.config.resolved import Agent
from memoryd.config.root import Config


def misgiven_folders(config: Config, agents: Sequence[Agent]) -> Iterator[str]:
    """Yield what is wrong with the folders of transcripts: an agent that is none, or a folder given to two."""
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
    """Yield a notice where one key asks for transcripts and another does not, so that none are read."""
    for agent in agents:
        search, where = agent.memory_search, f"agent {agent.id}: no transcripts are indexed"
        is_asked, is_allowed = "sessions" in search.sources, search.experimental.session_memory
        if is_allowed and not is_asked:
            yield f'{where}: experimental.sessionMemory has no effect without "sessions" in memorySearch.sources'
        elif is_asked and not is_allowed:
            yield (
                f'{where}: with "sessions" in memorySearch.sources questions and answers are found; '
                "transcripts need experimental.sessionMemory: true, too"
            )
        elif not is_asked and _has_idle_folders(agent):
            yield (
                f"{where}: memory.sessions.folders has no effect without experimental.sessionMemory: true "
                'and "sessions" in memorySearch.sources'
            )
        if agent.memory.qa.from_transcripts and not agent.takes_turns:
            yield (
                f"agent {agent.id}: memory.qa.fromTranscripts has no effect "
                + ("with memory.readOnly" if agent.memory.read_only else "without memory.qa.enabled")
            )


def _has_idle_folders(agent: Agent) -> bool:
    is_used = agent.exports_transcripts or agent.takes_turns
    return not is_used and any(folder.agent == agent.id for folder in agent.memory.sessions.folders)
