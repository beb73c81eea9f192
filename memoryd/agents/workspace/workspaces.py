"""All workspaces of a configuration, and what they share; and one workspace at work: index, sidecars and agents."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.events import NamedLoop
from memoryd.agents.memories import AgentMemory
from memoryd.agents.search import remove_unused_exports
from memoryd.agents.workspace.index import Surroundings
from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.parts import agent_resources, workspace_resources
from memoryd.agents.workspace.qa import workspace_qas
from memoryd.agents.workspace.settings import Ledgers
from memoryd.agents.workspace.wiring import agent_memory
from memoryd.config.agents import Agent
from memoryd.config.paths import probe_dir
from memoryd.config.root import Config
from memoryd.domain.clock import SCANNER_SECONDS, WATCHER_SECONDS, WRITER_SECONDS, Jump, LivingPart
from memoryd.domain.vector import Vector
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.state import Publish
from memoryd.index.watcher import FileWatcher
from memoryd.memory.usage import UsageMaintenance
from memoryd.qmd.agent import AgentQmd, forget_unused
from memoryd.rerank.reranking import Reranking


class Workspaces:
    """Every workspace, wired from the configuration; nothing is opened and nothing runs before it is asked to.

    `models` outlive them; whoever owns these runs them.
    """

    def __init__(self, config: Config, *, executor: Executor, publish: Publish, models: ModelParts) -> None:
        self._agents = config.resolved_agents()
        is_watching = any(agent.memory_search.sync.watch for agent in self._agents)
        self._watcher = FileWatcher(probe=probe_dir()) if is_watching else None
        models.begin(config.models)
        self._ledgers = Ledgers(self._agents, executor)
        self._qas = workspace_qas(self._agents)
        self.all = [
            Workspace(
                agents=group,
                embedding=models.embedding(group[0]),
                reranking=models.reranking(group[0]),
                around=Surroundings(
                    executor=executor,
                    limits=config.limits,
                    watcher=self._watcher if group[0].memory_search.sync.watch else None,
                    lookup=self._lookup,
                    publish=publish,
                    ledgers=self._ledgers,
                    models=models,
                    qas=self._qas,
                    agents=self._agents,
                ),
            )
            for group in _group_by_index(self._agents)
        ]
        for workspace in self.all:
            workspace.index.rules.heed([other.index.rules for other in self.all])
            workspace.forgetting_indexes.others += [other.index for other in self.all if other is not workspace]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the index files, and close them and the ledgers at the end; raises ForeignDatabase."""
        async with AsyncExitStack() as stack:
            # opened when they are needed
            stack.push_async_callback(self._ledgers.close)
            for workspace in self.all:
                await workspace.index.keeper.open()
                stack.push_async_callback(workspace.close)
            # what qmd kept of notes for agents that it serves no more, before anybody is answered
            await asyncio.to_thread(forget_unused, self._agents)
            await asyncio.to_thread(remove_unused_exports, self._agents)
            yield

    def essential_loops(self) -> list[NamedLoop]:
        """Name the loops that must never fail."""
        return [loop for workspace in self.all for loop in workspace.essential_loops()]

    def optional_loops(self) -> list[NamedLoop]:
        """Name the loops that may fail and be started again."""
        loops: list[NamedLoop] = []
        if self._watcher is not None:
            loops += [("watcher", self._watcher.run), ("probe", self._watcher.run_probe)]
        loops += self._ledgers.loops()
        loops += [loop for qa in dict.fromkeys(self._qas.values()) for loop in qa.loops()]
        return loops + [loop for workspace in self.all for loop in workspace.optional_loops()]

    def watched_parts(self) -> list[LivingPart]:
        """Name whoever must never be stuck: the watcher, the writers, and who follows the notes."""
        found = self._ledgers.watched_parts()
        if self._watcher is not None:
            found.append(LivingPart("watcher", self._watcher.pulse, WATCHER_SECONDS))
            found.append(LivingPart("probe of the watcher", self._watcher.probe_pulse, WATCHER_SECONDS))
        return found + [part for workspace in self.all for part in workspace.watched_parts()]

    def take_over(self, before: "Workspaces") -> None:
        """Do what those of before, which are closed, were asked for and have not done: to read or embed anew."""
        indexes = {workspace.index.database.path: workspace.index for workspace in before.all}
        lanes = {
            id_: talks.embedding_loop for workspace in before.all for id_, talks in workspace.conversations.items()
        }
        for workspace in self.all:
            if (index := indexes.get(workspace.index.database.path)) is not None:
                workspace.index.take_over(index)
            for id_, talks in workspace.conversations.items():
                if id_ in lanes:
                    talks.embedding_loop.take_over(lanes[id_])

    async def caught_up(self) -> None:
        """Wait until notes and conversations were looked at once, and what small changes there were is indexed."""
        tickets = [(workspace.index, workspace.index.demand()) for workspace in self.all]
        talks = [talk for workspace in self.all for talk in workspace.conversations.values()]
        await asyncio.gather(*(index.settled(ticket) for index, ticket in tickets), *(talk.sync() for talk in talks))

    def troubled(self) -> dict[Path, str]:
        """Return the index files that cannot be written now, each with the reason."""
        found = [(workspace.index.database.path, workspace.index.keeper.trouble) for workspace in self.all]
        return {path: why for path, why in found if why}

    @property
    def memories(self) -> list[AgentMemory]:
        """The memories of all agents."""
        return [memory for workspace in self.all for memory in workspace.memories]

    @property
    def is_indexing(self) -> bool:
        """Whether notes are being read and cut now."""
        return any(workspace.index.pending_files for workspace in self.all)

    def rescan(self) -> None:
        """Look at every workspace, and for conversations, now."""
        for workspace in self.all:
            workspace.index.demand()
            for conversations in workspace.conversations.values():
                conversations.demand()

    def note_jump(self, jump: Jump) -> None:
        """Take the news that the clocks jumped: look at everything, and after a step back believe no file's times."""
        for workspace in self.all:
            workspace.index.note_jump(jump)

    async def _lookup(self, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Find vectors that the index of another workspace holds already; one that cannot be read holds none."""
        found: dict[bytes, Vector] = {}
        if len(self.all) < 2:
            return found
        for workspace in self.all:
            missing = [key for key in hashes if key not in found]
            if missing:
                with contextlib.suppress(StoreError):
                    found |= await workspace.index.database.vectors.of(fingerprint, missing)
        return found


def _group_by_index(agents: Sequence[Agent]) -> list[list[Agent]]:
    """Return the agents by index file: those on one workspace share it, led by one whose memory can be searched."""
    groups: dict[Path, list[Agent]] = {}
    for agent in agents:
        groups.setdefault(agent.index_path, []).append(agent)
    return [sorted(group, key=lambda agent: not agent.memory_search.enabled) for group in groups.values()]


FAILURE_SECONDS = 60.0
"""After so long without qmd the builtin index is given vectors of its own."""


async def make_vectors_in_outages(
    embedding_loop: EmbeddingLoop,
    qmds: Sequence[AgentQmd],
    *,
    failure_seconds: float = FAILURE_SECONDS,
    poll_seconds: float = 1.0,
) -> None:
    """Make vectors while qmd is out for longer than a moment, and no more of them after; return if there is no qmd."""
    # at the start qmd has not been found yet, which is no outage before the same time is over
    healthy_at = time.monotonic()
    while qmds:
        now = time.monotonic()
        # looked at, not told: an outage ends by an update, a question or a new server, and between two looks it may
        # begin and end unseen, which is the moment that no vectors are made for. The agents share one index: it must
        # have vectors as soon as the qmd of one of them is out
        if all(qmd.is_healthy for qmd in qmds):
            healthy_at = now
        # whoever waits for vectors is told soon that none will come, unless an owner has asked for them
        embedding_loop.pause(now - healthy_at < failure_seconds)
        await asyncio.sleep(poll_seconds)


class Workspace:
    """The parts of one workspace. `agents` are those that share its index; the first one's settings hold."""

    def __init__(
        self, *, agents: Sequence[Agent], embedding: Embedding, reranking: Reranking | None, around: Surroundings
    ) -> None:
        self.name = agents[0].id
        self._shared = workspace_resources(agents, embedding, reranking, around)
        self._own = {agent.id: agent_resources(agent, self._shared) for agent in agents}
        self.memories = [agent_memory(agent, self._shared, self._own[agent.id]) for agent in agents]
        self.index = self._shared.index
        self.embedding = embedding
        self.forgetting_indexes = self._shared.forgetting_indexes
        self.qmds = {agent: own.qmd for agent, own in self._own.items() if own.qmd is not None}
        # while qmd is thought to answer, nobody needs the vectors of the builtin index
        self.index.embedding_loop.pause(bool(self.qmds))

    @property
    def conversations(self) -> Mapping[str, AgentConversations]:
        """The conversations of each agent, by its id."""
        return self._shared.conversations

    def watched_parts(self) -> list[LivingPart]:
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
            (f"embedding {self.name}", self.index.embedding_loop.run),
            (f"interval {self.name}", self._shared.schedule.run),
            (
                f"stand-in {self.name}",
                lambda: make_vectors_in_outages(self.index.embedding_loop, list(self.qmds.values())),
            ),
            (f"outside {self.name}", self.index.outside.run),
            (f"memories {self.name}", self._shared.memories.book.run),
            (f"usage of memories {self.name}", UsageMaintenance(self._shared.memories.usage).run),
            (f"what was told {self.name}", self._shared.memories.told.run),
            (f"forgetting of memories {self.name}", self._shared.forgetting.run),
            (f"reflect {self.name}", self._shared.reflect.run_by_clock),
            (f"traces of private notes {self.name}", self._shared.forgetting.private.run),
        ]
        if self._shared.machines is not None:
            loops.append((f"machines {self.name}", self._shared.machines.run))
        loops += self._shared.capture.loops(self.name)
        loops += [(f"ended sessions {one.agent.id}", one.turns.sessions.run) for one in self.memories]
        loops += [(f"late messages {one.agent.id}", one.turns.late.run) for one in self.memories]
        teams = [one.team for one in self.memories if one.team is not None]
        loops += [(f"team {one.agent}", one.sharing.run) for one in teams]
        loops += [(f"news of team {one.agent}", one.sharing.listen) for one in teams]
        return loops + [loop for agent in self._own for loop in self._own_loops(agent)]

    def _own_loops(self, agent: str) -> list[NamedLoop]:
        own = self._own[agent]
        loops: list[NamedLoop] = []
        if own.qmd is not None:
            loops.append((f"qmd upkeep {agent}", partial(self._run_knowing, agent, own.qmd.qmd.maintenance.run)))
            loops.append((f"qmd server {agent}", own.qmd.qmd.server.run))
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
            await each.database.close()
        await self.index.database.close()
