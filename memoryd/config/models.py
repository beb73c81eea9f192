"""The root of the configuration, and the agents as they result from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import Field

from memoryd.config.agents import DEFAULT_AGENT, AgentSection, AgentSocketSection, AgentsSection, merged_search, overlay
from memoryd.config.limits import LimitsSection, LogSection
from memoryd.config.memory import MemorySection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import expand, workspace_state_dir
from memoryd.config.providers import ModelsSection
from memoryd.config.section import SharedSection

INDEX_NAME: Final = "index.sqlite"
OPENCLAW_STATE: Final = ".openclaw"
"""Below the home folder."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent with everything that holds for it."""

    id: str
    name: str
    is_default: bool
    workspace: Path
    memory_search: MemorySearchSection
    memory: MemorySection
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


def _apart(agents: Sequence[Agent]) -> Iterator[Agent]:
    """Set those agents apart that would find in a shared index what their own settings leave out."""
    first: dict[Path, Agent] = {}
    for agent in agents:
        before = first.setdefault(agent.index_path, agent)
        is_same = before.workspace != agent.workspace or before.indexing == agent.indexing
        yield agent if is_same else replace(agent, is_apart=True)


class Config(SharedSection):
    """The whole file."""

    memory: MemorySection = Field(default=MemorySection(), description="What holds for all agents.")
    agents: AgentsSection = Field(default=AgentsSection(), description="Whose memories there are.")
    models: ModelsSection = Field(default=ModelsSection(), description="Keys and addresses of providers of models.")
    limits: LimitsSection = Field(default=LimitsSection(), description="What the daemon refuses to exceed.")
    log: LogSection = Field(default=LogSection(), description="What the daemon tells.")

    def resolved_agents(self) -> list[Agent]:
        """Return the agents in the order of the file, exactly one of them the default.

        The default is the first that says so, else the first. A relative workspace starts at the home folder;
        loading from a file has made it absolute before.
        """
        entries = self.agents.list or (AgentSection(id=DEFAULT_AGENT),)
        chosen = next((entry for entry in entries if entry.default), entries[0])
        return list(_apart([self._resolved(entry, is_default=entry is chosen) for entry in entries]))

    def _resolved(self, entry: AgentSection, *, is_default: bool) -> Agent:
        defaults, embedder = self.agents.defaults.memory_search, self.agents.defaults.memory.embedder
        is_named = "provider" in defaults.model_fields_set | entry.memory_search.model_fields_set
        if not is_named:
            defaults = overlay(embedder.as_search(), defaults)
        return Agent(
            id=entry.id,
            name=entry.name or entry.id,
            is_default=is_default,
            workspace=expand(entry.workspace or self.agents.defaults.workspace, Path.home()),
            memory_search=merged_search(defaults, entry.memory_search),
            memory=self.memory,
            sockets=entry.sockets,
            provider_named_by="memorySearch.provider" if is_named else embedder.named_by,
        )
