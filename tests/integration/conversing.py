"""The conversation index of an agent in this process: the real parts, wired as the daemon does."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.search import conversation_arm
from memoryd.agents.workspace.index import DaemonResources
from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import Ledgers
from memoryd.config.loading.load import load
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.vector import Vector
from memoryd.embed.choice import plan_for
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.embedding import Embedding
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.pending import EmbeddingLoopLinks, EmbeddingLoopSettings, Spaces
from memoryd.models.store import ModelStore
from memoryd.search.combined import ConversationArm
from memoryd.search.protocol import Arm, Query
from memoryd.sessions.qa_store import QaStore
from memoryd.store.index.database import Database
from tests.daemon import write_config
from tests.fakes import FakeEmbedder
from tests.store.consistency import Dump, check_consistency, dump


@dataclass
class Talk:
    """One agent with its store of questions and answers and its conversation index."""

    conversations: AgentConversations
    arm: ConversationArm
    store: QaStore
    notes: EmbeddingLoop
    slot: CurrentEmbedder
    embedder: FakeEmbedder

    async def found(self, text: str) -> list[str]:
        """Return the conversations and lines that contain a word of a text."""
        hits = (await self.conversations.search.search(Query(text))).hits
        return sorted(f"{hit.chunk.path} {hit.chunk.start_line}-{hit.chunk.end_line}" for hit in hits if hit.is_literal)

    async def asked(self, text: str, *, fresh_seconds: float) -> tuple[Arm, bool]:
        """Ask as a search does; return the arm of conversations, and whether it found a word."""
        fresh_until = time.monotonic() + fresh_seconds
        arm, found = await self.arm.ask(Query(text, fresh_until=fresh_until, deadline=20))
        return arm, any(hit.is_literal for hit in found.hits)

    async def sync(self) -> str:
        async with asyncio.timeout(20):
            return await self.conversations.sync()

    async def dump(self) -> Dump:
        await self.conversations.database.write(check_consistency)
        return await self.conversations.database.read(dump)


@asynccontextmanager
async def talking(
    folder: Path,
    *,
    agent: str = "main",
    is_embedding: bool = False,
    transcripts: Mapping[str, object] | None = None,
) -> AsyncIterator[Talk]:
    """Run the index of an agent whose workspace is `folder/notes` until the block ends.

    With `transcripts`, settings of `sync.sessions`, transcripts below `folder/transcripts` are read.
    """
    workspace = folder / "notes"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    search: dict[str, object] = {"store": {"path": str(folder / "index.sqlite")}}
    memory: dict[str, object] = {}
    if transcripts is not None:
        search |= {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
        search["sync"] = {
            "sessions": transcripts,
            "watchDebounceMs": 50,
            "reconcileSeconds": 0.2,
            "rootGraceSeconds": 1,
        }
        memory["sessions"] = {"folders": [{"path": str(folder / "transcripts"), "agent": "main"}]}
    loaded = load(write_config(folder, workspace, None, search=search, memory=memory)).config
    executor = ThreadPoolExecutor(4)
    (chosen,) = loaded.resolved_agents()
    qa = WorkspaceQa([chosen])
    ledgers = Ledgers([chosen], executor)
    resources = DaemonResources(
        executor=executor,
        limits=loaded.limits,
        watcher=None,
        lookup=_nothing,
        publish=lambda _event, _data: None,
        ledgers=ledgers,
        models=ModelParts(lambda _event, _data: None, loaded.models),
        qas={agent: qa},
        agents=[chosen],
    )
    plan = plan_for(chosen, loaded.models, store=ModelStore(folder / "models"), environment={}, home=folder)
    slot, embedder = CurrentEmbedder(lambda _state: None), FakeEmbedder()
    await (slot.set(ModelPhase.READY, embedder=embedder) if is_embedding else slot.set(ModelPhase.OFF))
    notes_file = Database(path=folder / "index.sqlite", executor=executor)
    await notes_file.open()
    notes = EmbeddingLoop(
        database=notes_file,
        spaces=Spaces(notes_file),
        slot=slot,
        settings=EmbeddingLoopSettings(batch=1),
        links=EmbeddingLoopLinks(lookup=_nothing, publish=lambda _event, _data: None, on_removed=lambda: None),
    )
    watching, *_ = qa.loops()
    conversations = AgentConversations(
        replace(chosen, id=agent),
        embedding=Embedding(plan, slot, None),
        notes=notes,
        pending_files=lambda: 0,
        resources=resources,
    )
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(), name=name) for name, run in [watching, *conversations.loops()]]
            await qa.until_open()
            arm = conversation_arm(conversations, is_reading=chosen.reads_transcripts, exports=None, weights=Weights())
            yield Talk(conversations, arm, qa.store, notes, slot, embedder)
            for task in tasks:
                task.cancel()
    finally:
        await conversations.database.close()
        await notes_file.close()
        executor.shutdown()


async def _nothing(_fingerprint: str, _hashes: Sequence[bytes]) -> dict[bytes, Vector]:
    return {}
