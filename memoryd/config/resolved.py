"""The agents as they result from the configuration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from memoryd.config.agents import AgentSocketSection
from memoryd.config.auto_recall import AutoRecallSection
from memoryd.config.memory import MemorySection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import OPENCLAW_STATE, expand, workspace_state_dir

INDEX_NAME: Final = "index.sqlite"
LEDGER_NAME: Final = "ledger.sqlite"


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent with everything that holds for it."""

    id: str
    name: str
    is_default: bool
    workspace: Path
    memory_search: MemorySearchSection
    memory: MemorySection
    turns: AutoRecallSection = field(default=AutoRecallSection())
    """What a turn recalls by itself."""
    sockets: tuple[AgentSocketSection, ...] = ()
    provider_named_by: str = ""
    """The key that names the provider of embeddings; empty if none does."""
    is_apart: bool = False
    """Whether an agent before it on the same workspace indexes otherwise, so that they cannot share an index."""

    @property
    def index_path(self) -> Path:
        """Where its index lies; two agents on one workspace share it unless they index otherwise.

        With `{agentId}` in `store.path` they never do.
        """
        shared = self._shared_path()
        return shared.with_name(f"{shared.stem}-{self.id}{shared.suffix}") if self.is_apart else shared

    @property
    def ledger_path(self) -> Path:
        """Where its ledger lies: beside its index; agents whose indexes share a folder share it, in rows of their own.

        An index of another name than usual does not have the folder for itself, and its ledger is named after it.
        """
        index = self.index_path
        name = LEDGER_NAME if index.name == INDEX_NAME else f"{index.stem}-{LEDGER_NAME}"
        return index.with_name(name)

    @property
    def conversations_path(self) -> Path:
        """Where the index of its conversations lies, beside that of its notes; no other agent has any part in it."""
        return self.index_path.with_name(f"conversations-{self.id}.sqlite")

    @property
    def reads_transcripts(self) -> bool:
        """Whether its owner wants transcripts to be read: both keys must say so."""
        search = self.memory_search
        return search.experimental.session_memory and "sessions" in search.sources

    @property
    def exports_transcripts(self) -> bool:
        """Whether its transcripts are exported for its qmd."""
        return self.memory.backend == "qmd" and self.memory.qmd.sessions.enabled

    @property
    def takes_turns(self) -> bool:
        """Whether turns of its transcripts are written into its workspace."""
        qa = self.memory.qa
        return qa.enabled and qa.from_transcripts and not self.memory.read_only

    @property
    def indexing(self) -> MemorySearchSection:
        """What decides what is in its index and how it is searched: all but what each request may say for itself."""
        search, usual = self.memory_search, MemorySearchSection()
        asked = usual.query.model_dump(include={"max_results", "min_score", "deadline_ms"}, by_alias=False)
        return search.model_copy(
            update={
                "enabled": True,
                "sources": usual.sources,
                "experimental": usual.experimental,
                "qmd": usual.qmd,
                "query": search.query.model_copy(update=asked),
                "store": search.store.model_copy(update={"path": None}),
            }
        )

    def _shared_path(self) -> Path:
        template = self.memory_search.store.path
        if template is None:
            return workspace_state_dir(self.workspace) / INDEX_NAME
        path = expand(template.replace("{agentId}", self.id), self.workspace)
        return path.with_name(f"{path.stem}.memoryd{path.suffix}") if _is_openclaws(path, self.workspace) else path


def _is_openclaws(path: Path, workspace: Path) -> bool:
    """Tell whether OpenClaw itself keeps, or may yet make, an index at this path that its configuration names."""
    return path.is_relative_to(Path.home() / OPENCLAW_STATE) and not path.is_relative_to(workspace)


def set_apart(agents: Sequence[Agent]) -> Iterator[Agent]:
    """Set those agents apart that would find in a shared index what their own settings leave out."""
    first: dict[Path, Agent] = {}
    for agent in agents:
        before = first.setdefault(agent.index_path, agent)
        is_same = before.workspace != agent.workspace or before.indexing == agent.indexing
        yield agent if is_same else replace(agent, is_apart=True)
