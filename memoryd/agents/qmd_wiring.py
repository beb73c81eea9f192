"""From an agent and its workspace to the sidecar that may answer in the stead of the builtin index."""

from memoryd.agents.export_folders import export_settings
from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent
from memoryd.qmd.agent import AgentQmd, Dependencies
from memoryd.sessions.transcripts.conversations import TranscriptListing
from memoryd.sessions.transcripts.exports import SessionExports


def agent_qmd(agent: Agent, shared: WorkspaceParts, listing: TranscriptListing) -> AgentQmd | None:
    """Return the sidecar of an agent, which follows the index from now on; None where it is not wanted."""
    if agent.memory.backend != "qmd":
        return None
    exports = SessionExports(export_settings(agent, shared.around.agents), listing.look)
    qmd = AgentQmd(agent, _given(shared.index, exports))
    shared.index.followers.append(qmd)
    return qmd


def _given(index: WorkspaceIndex, exports: SessionExports) -> Dependencies:
    rules, indexer = index.rules, index.indexer
    return Dependencies(
        workspace=rules.workspace,
        builtin=index.builtin,
        words=index.words,
        known=lambda: indexer.known_paths,
        changed_since=indexer.read_since,
        ruling=rules.ruling,
        roots=rules.roots,
        max_file_bytes=rules.max_file_bytes,
        exports=exports,
    )
