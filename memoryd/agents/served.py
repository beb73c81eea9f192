"""The agents as the routes see them: what to ask for each, and who is asked when nobody is named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoryd.config.models import Agent
from memoryd.domain.access import Admitted, folded_id
from memoryd.embed.choice import Embedding
from memoryd.embed.slot import EmbedderSlot
from memoryd.errors import Disabled, UnknownAgent
from memoryd.files.scanner import ScanRoot
from memoryd.index.indexer import Indexer
from memoryd.index.keeper import Keeper
from memoryd.index.lane import EmbeddingLane
from memoryd.index.watcher import FileWatcher
from memoryd.qmd.agent import AgentQmd
from memoryd.search.builtin import BuiltinSearch
from memoryd.search.service import SearchService
from memoryd.store.database import Database


@dataclass(frozen=True, slots=True)
class Served:
    """One agent with the parts that answer for it. Agents on one workspace share database, indexer and lane."""

    agent: Agent
    database: Database
    keeper: Keeper
    indexer: Indexer
    lane: EmbeddingLane
    watcher: FileWatcher | None
    slot: EmbedderSlot
    embedding: Embedding
    builtin: BuiltinSearch
    search: SearchService
    roots: Callable[[], Sequence[ScanRoot]]
    qmd: AgentQmd | None


class AgentTable:
    """Finds the agent that a request means."""

    def __init__(self, served: Sequence[Served]) -> None:
        self.served = list(served)

    def find(self, agent_id: str | None) -> Served:
        """Return the named agent, the default one for None; raises UnknownAgent."""
        for served in self.served:
            if served.agent.is_default if agent_id is None else served.agent.id == folded_id(agent_id):
                return served
        known = ", ".join(served.agent.id for served in self.served)
        raise UnknownAgent(f"no agent {agent_id!r}", hint=f"configured agents: {known}")

    def enabled(self, admitted: Admitted) -> Served:
        """Return the agent whose memory a request may see, if its memory search is on; raises Disabled."""
        served = self.find(admitted.agent)
        if not served.agent.memory_search.enabled:
            raise Disabled(
                f"memory search is off for agent {served.agent.id!r}",
                hint="set agents.defaults.memorySearch.enabled or the agent's own to true",
            )
        return served

    def chosen(self, agent_id: str | None) -> list[Served]:
        """Return the named agent alone, or all of them."""
        return self.served if agent_id is None else [self.find(agent_id)]
