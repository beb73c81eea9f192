"""One workspace at work: its index, the sidecars beside it, and the agents that share it."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.loops import NamedLoop
from memoryd.agents.memory_wiring import agent_memory
from memoryd.agents.outage import make_vectors_in_outages
from memoryd.agents.own_parts import own_parts
from memoryd.agents.workspace_index import Surroundings
from memoryd.agents.workspace_parts import WorkspaceEngines, workspace_parts
from memoryd.config.agents import Agent
from memoryd.domain.heartbeats import SCANNER_SECONDS, WRITER_SECONDS, LivingPart
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.memory.usage import UsageUpkeep
from memoryd.rerank.reranking import Reranking


class Workspace:
    """The parts of one workspace. `agents` are those that share its index; the first one's settings hold."""

    def __init__(
        self, *, agents: Sequence[Agent], embedding: Embedding, reranking: Reranking | None, around: Surroundings
    ) -> None:
        engines = WorkspaceEngines(embedding=embedding, reranking=reranking)
        self.name = agents[0].id
        self._shared = workspace_parts(agents, engines, around)
        self._own = {agent.id: own_parts(agent, self._shared) for agent in agents}
        self.memories = [agent_memory(agent, self._shared, self._own[agent.id]) for agent in agents]
        self.index = self._shared.index
        self.embedding = embedding
        self.forgetting_indexes = self._shared.forgetting_indexes
        self.qmds = {agent: own.qmd for agent, own in self._own.items() if own.qmd is not None}
        # while qmd is thought to answer, nobody needs the vectors of the builtin index
        self.index.lane.pause(bool(self.qmds))

    @property
    def conversations(self) -> Mapping[str, AgentConversations]:
        """The conversations of each agent, by its id."""
        return self._shared.conversations

    def living_parts(self) -> list[LivingPart]:
        """Name whoever follows the notes, and whoever writes an index."""
        follows = LivingPart(f"indexer {self.name}", self.index.indexer.pulse, SCANNER_SECONDS)
        writes = LivingPart(f"writer of index {self.name}", self.index.database.pulse, WRITER_SECONDS)
        kept = [
            LivingPart(f"writer of conversations {agent}", each.database.pulse, WRITER_SECONDS)
            for agent, each in self.conversations.items()
        ]
        return [follows, writes, *kept]

    def essential_loops(self) -> list[NamedLoop]:
        """Name the loops without which nothing that is told of the notes is true."""
        return [(f"keeper {self.name}", self.index.keeper.run), (f"indexer {self.name}", self.index.indexer.run)]

    def optional_loops(self) -> list[NamedLoop]:
        """Name the loops without which there is less to tell."""
        loops: list[NamedLoop] = [
            (f"embedding {self.name}", self.index.lane.run),
            (f"interval {self.name}", self._shared.schedule.run),
            (
                f"stand-in {self.name}",
                lambda: make_vectors_in_outages(self.index.lane, list(self.qmds.values())),
            ),
            (f"outside {self.name}", self.index.outside.run),
            (f"memories {self.name}", self._shared.memories.book.run),
            (f"usage of memories {self.name}", UsageUpkeep(self._shared.memories.usage).run),
            (f"forgetting of memories {self.name}", self._shared.forgetting.run),
        ]
        loops += self._shared.reflect.loops(self.name)
        loops += self._shared.capture.loops(self.name)
        loops += [(f"ended sessions {one.agent.id}", one.turns.sessions.run) for one in self.memories]
        loops += [(f"late messages {one.agent.id}", one.turns.late.run) for one in self.memories]
        return loops + [loop for agent in self._own for loop in self._own_loops(agent)]

    def _own_loops(self, agent: str) -> list[NamedLoop]:
        own = self._own[agent]
        loops: list[NamedLoop] = []
        if own.qmd is not None:
            loops.append((f"qmd upkeep {agent}", partial(self._run_knowing, agent, own.qmd.run_upkeep)))
            loops.append((f"qmd server {agent}", own.qmd.run_server))
        if own.taking is not None:
            loops.append((f"transcripts {agent}", partial(self._run_knowing, agent, own.taking.run)))
        loops.append((f"forgetting {agent}", own.kept.forgetting.run))
        return loops + own.conversations.loops()

    async def _run_knowing(self, agent: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a loop that reads transcripts, with what is not to be remembered known before if that can be."""
        with contextlib.suppress(StoreError):
            await self.conversations[agent].withheld.load()
        await run()

    async def close(self) -> None:
        """Close the files of its indexes."""
        for each in self.conversations.values():
            await each.close()
        await self.index.close()
