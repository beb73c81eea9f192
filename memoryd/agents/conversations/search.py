"""The conversations of one agent as an arm of a search, and the folder of their exports for qmd."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.config.agents import Agent
from memoryd.config.paths import qmd_home, state_dir
from memoryd.domain.ranking.fusion import Weights
from memoryd.files.roots import workspace_roots
from memoryd.qmd.collections import further_paths
from memoryd.qmd.engine import ExportedSearch, JoinedConversations
from memoryd.search.combined import NOTHING_TO_ASK, ConversationArm
from memoryd.search.protocol import Arm, ArmState
from memoryd.sessions.transcripts.exports import ExportSettings, SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts

NO_TRANSCRIPTS: Final = (
    "transcripts are not read: set memorySearch.experimental.sessionMemory to true, "
    'with "sessions" in memorySearch.sources'
)
NOT_TAKEN_UP: Final = "transcripts are exported for qmd, which has not taken them up yet"
STILL_READING: Final = "conversations are still being read"
EXPORTS: Final = "sessions"
RECORD: Final = "exports.json"


def conversation_arm(
    conversations: AgentConversations,
    *,
    is_reading: bool,
    exports: ExportedSearch | None,
    weights: Weights,
) -> ConversationArm:
    """Return what answers from an agent's conversations; where none are kept, it says what to set.

    `is_reading`: transcripts are read for it.
    """
    index = conversations.search if conversations.is_wanted else None
    if exports is None:
        return ConversationArm(index, lambda seconds: _index_arm(conversations, seconds, is_reading=is_reading))
    joined = JoinedConversations(index=index, exports=exports, weights=weights)

    async def standing(seconds: float) -> Arm:
        arm = NOTHING_TO_ASK if index is None else await _index_arm(conversations, seconds, is_reading=is_reading)
        if arm.reason not in (NOTHING_TO_ASK.reason, NO_TRANSCRIPTS) or not exports.is_expected:
            return arm
        return Arm(ArmState.OK) if exports.is_wanted else Arm(ArmState.PARTIAL, NOT_TAKEN_UP)

    return ConversationArm(joined, standing)


async def _index_arm(conversations: AgentConversations, seconds: float, *, is_reading: bool) -> Arm:
    """Say what the index lacks after these seconds; one that cannot be read at all says so when it is asked."""
    is_current = await conversations.catch_up(seconds)
    if trouble := conversations.trouble:
        return Arm(ArmState.PARTIAL, trouble)
    if not is_current:
        return Arm(ArmState.PARTIAL, STILL_READING)
    if pending := conversations.embedding_loop.pending:
        reason = f"{pending} {'passage has' if pending == 1 else 'passages have'} no vector yet"
        return Arm(ArmState.PARTIAL, reason)
    return Arm(ArmState.OK, "" if is_reading else NO_TRANSCRIPTS)


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
