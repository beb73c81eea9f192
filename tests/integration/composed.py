"""One workspace of the daemon in this process: the real parts, wired as the daemon does, without a socket."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memoryd.agents.memories import AgentMemory
from memoryd.agents.workspace.index import DaemonResources
from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.settings import Ledgers
from memoryd.agents.workspace.workspaces import Workspace
from memoryd.config.loading.load import load
from memoryd.domain.vector import Vector
from memoryd.embed.choice import plan_for
from memoryd.embed.current import CurrentEmbedder
from memoryd.embed.embedding import Embedding
from memoryd.models.store import ModelStore
from memoryd.qmd.agent import AgentQmd
from memoryd.search.protocol import Query, SearchResult
from tests.daemon import write_config
from tests.waiting import eventually_async


class Composed:
    """A workspace and its one agent; `notes` is the folder."""

    def __init__(self, workspace: Workspace, notes: Path) -> None:
        self.workspace = workspace
        self.notes = notes
        self.memory: AgentMemory = workspace.memories[0]

    @property
    def qmd(self) -> AgentQmd:
        return self.workspace.qmds["main"]

    @property
    def sidecar(self) -> AgentQmd:
        return self.qmd

    async def indexed(self) -> None:
        """Wait until the builtin index equals the disk."""
        async with asyncio.timeout(60):
            await self.workspace.index.indexer.triggers.served(self.workspace.index.indexer.triggers.demand())

    async def search(self, text: str, *, limit: int = 6, deadline: float = 5.0) -> SearchResult:
        """Search with the configured backend."""
        return await self.qmd.search.search(Query(text, limit=limit, deadline=deadline))

    async def ready(self) -> None:
        """Wait until qmd can answer."""
        await eventually_async(lambda: self.sidecar.qmd.unavailable_because is None)


@asynccontextmanager
async def composed(
    folder: Path, notes: Path, qmd: Mapping[str, object], *, search: Mapping[str, object] | None = None
) -> AsyncIterator[Composed]:
    """Run a workspace over `notes` with these settings of `memory.qmd` until the block ends.

    Without settings of `memorySearch` the builtin index has words only. Failures are retried after tenths of a second.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoryd.qmd.maintenance.EMBED_RETRY", (0.2, 3600.0))
        patch.setattr("memoryd.qmd.index_writer.BUSY_PAUSE", 0.05)
        patch.setattr("memoryd.store.examining.CUT_BUSY_MS", 500)
        async with _composed(folder, notes, qmd, search) as running:
            yield running


@asynccontextmanager
async def _composed(
    folder: Path, notes: Path, qmd: Mapping[str, object], search: Mapping[str, object] | None
) -> AsyncIterator[Composed]:
    config = write_config(folder, notes, None, search=search, memory={"backend": "qmd", "qmd": qmd})
    loaded = load(config).config
    executor = ThreadPoolExecutor(4)
    agents = loaded.resolved_agents()
    ledgers = Ledgers(agents, executor)
    resources = DaemonResources(
        executor=executor,
        limits=loaded.limits,
        watcher=None,
        lookup=_nothing,
        publish=lambda _event, _data: None,
        ledgers=ledgers,
        models=ModelParts(lambda _event, _data: None, loaded.models),
        qas={},
        agents=agents,
    )
    plan = plan_for(agents[0], loaded.models, store=ModelStore(folder / "models"), environment={}, home=folder)
    embedding = Embedding(plan, CurrentEmbedder(lambda _state: None), None)
    workspace = Workspace(agents=agents, embedding=embedding, reranking=None, resources=resources)
    await workspace.index.keeper.open()
    await workspace.conversations["main"].withheld.load()
    sidecar = workspace.qmds["main"].qmd
    loops = [
        workspace.index.indexer.run(),
        workspace.index.embedding_loop.run(),
        sidecar.maintenance.run(),
        sidecar.server.run(),
    ]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(loop) for loop in loops]
            running = Composed(workspace, notes)
            await running.indexed()
            yield running
            for task in tasks:
                task.cancel()
    finally:
        await workspace.index.database.close()
        executor.shutdown()


async def _nothing(_fingerprint: str, _hashes: Sequence[bytes]) -> dict[bytes, Vector]:
    return {}
