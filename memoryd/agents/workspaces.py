"""All workspaces of a configuration, and what they share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from memoryd.agents.export_folders import remove_unused_exports
from memoryd.agents.journals import Journals
from memoryd.agents.ledgers import Ledgers
from memoryd.agents.loops import NamedLoop
from memoryd.agents.memories import AgentMemory
from memoryd.agents.model_parts import ModelParts
from memoryd.agents.workspace import Workspace
from memoryd.agents.workspace_index import Surroundings
from memoryd.agents.workspace_qa import workspace_qas
from memoryd.config.agents import Agent
from memoryd.config.paths import probe_dir
from memoryd.config.root import Config
from memoryd.domain.clock import Jump
from memoryd.domain.embedding import Vector
from memoryd.domain.heartbeats import WATCHER_SECONDS, LivingPart
from memoryd.errors import StoreError
from memoryd.index.state import Publish
from memoryd.index.watcher import FileWatcher
from memoryd.qmd.agent import forget_unused


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
        self._journals = Journals(self._ledgers, executor)
        self._qas = workspace_qas(self._agents)
        self.all = [
            Workspace(
                agents=group,
                embedding=models.embedders.of(group[0]),
                reranking=models.rerankers.of(group[0]),
                around=Surroundings(
                    executor=executor,
                    limits=config.limits,
                    watcher=self._watcher if group[0].memory_search.sync.watch else None,
                    lookup=self._lookup,
                    publish=publish,
                    ledgers=self._ledgers,
                    journals=self._journals,
                    text_models=models.text_models,
                    qas=self._qas,
                    agents=self._agents,
                ),
            )
            for group in _grouped(self._agents)
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
                await workspace.index.open()
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
        loops += self._journals.loops()
        loops += [loop for qa in dict.fromkeys(self._qas.values()) for loop in qa.loops()]
        return loops + [loop for workspace in self.all for loop in workspace.optional_loops()]

    def living_parts(self) -> list[LivingPart]:
        """Name whoever must never be stuck: the watcher, the writers, and who follows the notes."""
        found = self._ledgers.living_parts()
        if self._watcher is not None:
            found.append(LivingPart("watcher", self._watcher.pulse, WATCHER_SECONDS))
            found.append(LivingPart("probe of the watcher", self._watcher.probe_pulse, WATCHER_SECONDS))
        return found + [part for workspace in self.all for part in workspace.living_parts()]

    def take_over(self, before: "Workspaces") -> None:
        """Do what those of before, which are closed, were asked for and have not done: to read or embed anew."""
        indexes = {workspace.index.database.path: workspace.index for workspace in before.all}
        lanes = {id_: talks.lane for workspace in before.all for id_, talks in workspace.conversations.items()}
        for workspace in self.all:
            if (index := indexes.get(workspace.index.database.path)) is not None:
                workspace.index.take_over(index)
            for id_, talks in workspace.conversations.items():
                if id_ in lanes:
                    talks.lane.take_over(lanes[id_])

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
                    found |= await workspace.index.vectors_of(fingerprint, missing)
        return found


def _grouped(agents: Sequence[Agent]) -> list[list[Agent]]:
    """Return the agents by index file: those on one workspace share it, led by one whose memory can be searched."""
    groups: dict[Path, list[Agent]] = {}
    for agent in agents:
        groups.setdefault(agent.index_path, []).append(agent)
    return [sorted(group, key=lambda agent: not agent.memory_search.enabled) for group in groups.values()]
