"""All workspaces of a configuration with their shared resources, and one workspace: its index, sidecars and agents."""

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
from memoryd.agents.workspace.index import DaemonResources
from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.parts import agent_resources, workspace_resources
from memoryd.agents.workspace.qa import workspace_qas
from memoryd.agents.workspace.settings import Ledgers
from memoryd.agents.workspace.wiring import agent_memory
from memoryd.config.agents import Agent
from memoryd.config.paths import probe_dir
from memoryd.config.root import Config
from memoryd.domain.clock import SCANNER_SECONDS, WATCHER_SECONDS, WRITER_SECONDS, Jump, MonitoredPart
from memoryd.domain.vector import Vector
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.state import Publish
from memoryd.index.watcher import FileWatcher
from memoryd.qmd.agent import AgentQmd, delete_unused_homes
from memoryd.rerank.reranking import Reranking


class Workspaces:
    """All workspaces, wired from the configuration. Creating them opens and starts nothing.

    `models` outlive the workspaces; their owner runs them.
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
                resources=DaemonResources(
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
            workspace.index.rules.add_neighbours([other.index.rules for other in self.all])
            workspace.forgetting_indexes.others += [other.index for other in self.all if other is not workspace]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the index files, and close them and the ledgers at the end. Raises ForeignDatabase."""
        async with AsyncExitStack() as stack:
            # ledgers are opened on first use
            stack.push_async_callback(self._ledgers.close)
            for workspace in self.all:
                await workspace.index.keeper.open()
                stack.push_async_callback(workspace.close)
            # before any answer: remove what qmd stored of notes for agents that no longer use it
            await asyncio.to_thread(delete_unused_homes, self._agents)
            await asyncio.to_thread(remove_unused_exports, self._agents)
            yield

    def essential_loops(self) -> list[NamedLoop]:
        """Return the loops whose failure stops the daemon."""
        return [loop for workspace in self.all for loop in workspace.essential_loops()]

    def optional_loops(self) -> list[NamedLoop]:
        """Return the loops that may fail and be restarted."""
        loops: list[NamedLoop] = []
        if self._watcher is not None:
            loops += [("watcher", self._watcher.run), ("probe", self._watcher.run_probe)]
        loops += self._ledgers.loops()
        loops += [loop for qa in dict.fromkeys(self._qas.values()) for loop in qa.loops()]
        return loops + [loop for workspace in self.all for loop in workspace.optional_loops()]

    def watched_parts(self) -> list[MonitoredPart]:
        """Return the parts to be watched for hangs: the watcher, the writers, and the indexers."""
        parts = self._ledgers.watched_parts()
        if self._watcher is not None:
            parts.append(MonitoredPart("watcher", self._watcher.pulse, WATCHER_SECONDS))
            parts.append(MonitoredPart("probe of the watcher", self._watcher.probe_pulse, WATCHER_SECONDS))
        return parts + [part for workspace in self.all for part in workspace.watched_parts()]

    def take_over(self, before: "Workspaces") -> None:
        """Take over the unfinished requests of the closed workspaces `before`: to read files or make vectors again."""
        indexes = {workspace.index.database.path: workspace.index for workspace in before.all}
        loops = {
            agent: conversations.embedding_loop
            for workspace in before.all
            for agent, conversations in workspace.conversations.items()
        }
        for workspace in self.all:
            if (index := indexes.get(workspace.index.database.path)) is not None:
                workspace.index.take_over(index)
            for agent, conversations in workspace.conversations.items():
                if agent in loops:
                    conversations.embedding_loop.take_over(loops[agent])

    async def catch_up(self) -> None:
        """Wait until notes and conversations were scanned once and small changes are indexed."""
        tickets = [(workspace.index, workspace.index.demand()) for workspace in self.all]
        syncs = [conversations.sync() for workspace in self.all for conversations in workspace.conversations.values()]
        await asyncio.gather(*(index.wait_for_scan(ticket) for index, ticket in tickets), *syncs)

    def unwritable_indexes(self) -> dict[Path, str]:
        """Return the index files that cannot be written now, each with the reason."""
        troubles = [(workspace.index.database.path, workspace.index.keeper.trouble) for workspace in self.all]
        return {path: trouble for path, trouble in troubles if trouble}

    @property
    def memories(self) -> list[AgentMemory]:
        """The memories of all agents."""
        return [memory for workspace in self.all for memory in workspace.memories]

    @property
    def is_indexing(self) -> bool:
        """Whether notes are being indexed now."""
        return any(workspace.index.pending_files for workspace in self.all)

    def rescan(self) -> None:
        """Request a scan of all notes and conversations now."""
        for workspace in self.all:
            workspace.index.demand()
            for conversations in workspace.conversations.values():
                conversations.demand()

    def note_jump(self, jump: Jump) -> None:
        """Handle a clock jump: scan everything, and after a step back do not trust modification times."""
        for workspace in self.all:
            workspace.index.note_jump(jump)

    async def _lookup(self, fingerprint: str, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that other indexes already store; an unreadable index is skipped."""
        vectors: dict[bytes, Vector] = {}
        if len(self.all) < 2:
            return vectors
        for workspace in self.all:
            if missing := [key for key in hashes if key not in vectors]:
                with contextlib.suppress(StoreError):
                    vectors |= await workspace.index.database.vectors.of(fingerprint, missing)
        return vectors


def _group_by_index(agents: Sequence[Agent]) -> list[list[Agent]]:
    """Return the agents grouped by index file; the first of a group is one whose search is enabled, if there is any."""
    groups: dict[Path, list[Agent]] = {}
    for agent in agents:
        groups.setdefault(agent.index_path, []).append(agent)
    return [sorted(group, key=lambda agent: not agent.memory_search.enabled) for group in groups.values()]


FAILURE_SECONDS = 60.0
"""Seconds without qmd after which the builtin index gets vectors of its own."""


async def make_vectors_in_outages(
    embedding_loop: EmbeddingLoop,
    qmds: Sequence[AgentQmd],
    *,
    failure_seconds: float = FAILURE_SECONDS,
    poll_seconds: float = 1.0,
) -> None:
    """Make vectors only while an outage of qmd lasts longer than `failure_seconds`; return at once without a qmd."""
    # at the start qmd is not found yet, which counts as an outage only after the same time
    healthy_at = time.monotonic()
    while qmds:
        now = time.monotonic()
        # polled, not notified: an update, a question or a new server ends an outage. An outage between two polls is too
        # short to make vectors for. The agents share one index: it needs vectors as soon as the qmd of one of them is
        # out
        if all(qmd.is_healthy for qmd in qmds):
            healthy_at = now
        # a waiting client learns soon that no vectors will come, unless an owner requested them
        embedding_loop.pause(now - healthy_at < failure_seconds)
        await asyncio.sleep(poll_seconds)


class Workspace:
    """The parts of one workspace. `agents` share its index; the settings of the first one apply."""

    def __init__(
        self, *, agents: Sequence[Agent], embedding: Embedding, reranking: Reranking | None, resources: DaemonResources
    ) -> None:
        self.name = agents[0].id
        self._shared = workspace_resources(agents, embedding, reranking, resources)
        self._own = {agent.id: agent_resources(agent, self._shared) for agent in agents}
        self.memories = [agent_memory(agent, self._shared, self._own[agent.id]) for agent in agents]
        self.index = self._shared.index
        self.embedding = embedding
        self.forgetting_indexes = self._shared.forgetting_indexes
        self.qmds = {agent: own.qmd for agent, own in self._own.items() if own.qmd is not None}
        # while qmd is assumed to answer, the vectors of the builtin index are not needed
        self.index.embedding_loop.pause(bool(self.qmds))

    @property
    def conversations(self) -> Mapping[str, AgentConversations]:
        """The conversations of each agent, by its id."""
        return self._shared.conversations

    def watched_parts(self) -> list[MonitoredPart]:
        """Return the indexer and the writers of the indexes, to be watched for hangs."""
        return [
            MonitoredPart(f"indexer {self.name}", self.index.indexer.pulse, SCANNER_SECONDS),
            MonitoredPart(f"writer of index {self.name}", self.index.database.pulse, WRITER_SECONDS),
            *(
                MonitoredPart(f"writer of conversations {agent}", conversations.database.pulse, WRITER_SECONDS)
                for agent, conversations in self.conversations.items()
            ),
        ]

    def essential_loops(self) -> list[NamedLoop]:
        """Return the loops without which answers about the notes are wrong."""
        return [(f"keeper {self.name}", self.index.keeper.run), (f"indexer {self.name}", self.index.indexer.run)]

    def optional_loops(self) -> list[NamedLoop]:
        """Return the loops without which answers are only less complete."""
        loops: list[NamedLoop] = [
            (f"embedding {self.name}", self.index.embedding_loop.run),
            (f"interval {self.name}", self._shared.schedule.run),
            (
                f"stand-in {self.name}",
                lambda: make_vectors_in_outages(self.index.embedding_loop, list(self.qmds.values())),
            ),
            (f"outside {self.name}", self.index.outside.run),
            (f"memories {self.name}", self._shared.memories.book.run),
            (f"usage of memories {self.name}", self._shared.memories.usage.run),
            (f"what was told {self.name}", self._shared.memories.shown.run),
            (f"forgetting of memories {self.name}", self._shared.forgetting.run),
            (f"reflect {self.name}", self._shared.reflect.run_by_clock),
            (f"traces of private notes {self.name}", self._shared.forgetting.private.run),
        ]
        if self._shared.machines is not None:
            loops.append((f"machines {self.name}", self._shared.machines.run))
        loops += self._shared.capture.loops(self.name)
        loops += [(f"ended sessions {memory.agent.id}", memory.turns.sessions.run) for memory in self.memories]
        loops += [(f"late messages {memory.agent.id}", memory.turns.late.run) for memory in self.memories]
        teams = [memory.team for memory in self.memories if memory.team is not None]
        loops += [(f"team {team.agent}", team.sharing.run) for team in teams]
        loops += [(f"news of team {team.agent}", team.sharing.listen) for team in teams]
        return loops + [loop for agent in self._own for loop in self._own_loops(agent)]

    def _own_loops(self, agent: str) -> list[NamedLoop]:
        own = self._own[agent]
        loops: list[NamedLoop] = []
        if own.qmd is not None:
            loops.append((f"qmd upkeep {agent}", partial(self._run_reader, agent, own.qmd.qmd.maintenance.run)))
            loops.append((f"qmd server {agent}", own.qmd.qmd.server.run))
        if own.taking is not None:
            loops.append((f"transcripts {agent}", partial(self._run_reader, agent, own.taking.run)))
        loops.append((f"forgetting {agent}", own.stored.forgetting.run))
        return loops + own.conversations.loops()

    async def _run_reader(self, agent: str, run: Callable[[], Awaitable[None]]) -> None:
        """Load the marks of withheld conversations if possible, then run a loop that reads transcripts."""
        with contextlib.suppress(StoreError):
            await self.conversations[agent].withheld.load()
        await run()

    async def close(self) -> None:
        """Close the index files."""
        for conversations in self.conversations.values():
            await conversations.database.close()
        await self.index.database.close()
