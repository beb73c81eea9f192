"""Where the transcripts of an agent are exported to for qmd, and where they must not go."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from memoryd.config.agents import Agent
from memoryd.config.paths import qmd_home, state_dir
from memoryd.files.roots import workspace_roots
from memoryd.qmd.collections import further_paths
from memoryd.sessions.transcripts.exports import ExportSettings, SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts

EXPORTS: Final = "sessions"
RECORD: Final = "exports.json"


def export_settings(agent: Agent, agents: Sequence[Agent]) -> ExportSettings:
    """Return what `memory.qmd.sessions` means for an agent; in a folder that is named each agent has its own."""
    wanted, home = agent.memory.qmd.sessions, qmd_home(agent.id)
    return ExportSettings(
        folder=Path(wanted.export_dir) / agent.id if wanted.export_dir else home / EXPORTS,
        record=home / RECORD,
        is_enabled=agent.exports_transcripts,
        retention_days=wanted.retention_days,
        refusal=lambda folder: _refusal(folder, agents),
    )


def remove_unused_exports(agents: Sequence[Agent]) -> None:
    """Delete what was exported for agents that no qmd answers any more; for the others its upkeep does so."""
    used = {qmd_home(agent.id) for agent in agents if agent.memory.backend == "qmd"}
    for home in set((state_dir() / "agents").glob("*/qmd")) - used:
        left = ExportSettings(home / EXPORTS, home / RECORD, is_enabled=False)
        SessionExports(left, AgentTranscripts).refresh(lambda: None)


def _refusal(folder: Path, agents: Sequence[Agent]) -> str:
    """Say why conversations must not lie in a folder: where notes are read, every agent of them would be told."""
    real, state = Path(os.path.realpath(folder)), Path(os.path.realpath(state_dir()))
    for agent in agents:
        if real.is_relative_to(os.path.realpath(agent.workspace)) and not real.is_relative_to(state):
            return f"transcripts are not exported to {folder}: it lies in the workspace of agent {agent.id}"
        if any(real.is_relative_to(place) for place in _read_places(agent)):
            return f"transcripts are not exported to {folder}: agent {agent.id} reads notes there"
    return ""


def _read_places(agent: Agent) -> Iterator[Path]:
    """Yield where notes are read beside the workspace."""
    workspace = Path(os.path.realpath(agent.workspace))
    for root in workspace_roots(workspace, agent.memory_search.extra_paths):
        if not root.is_optional:
            yield Path(os.path.realpath(root.path))
    for one in further_paths(agent):
        yield Path(os.path.realpath(workspace / Path(one.path).expanduser()))
