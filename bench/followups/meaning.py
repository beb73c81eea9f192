"""What is near each message in meaning: the conversation index as the daemon has it, with the vectors of a real model.

The index is made below a folder for temporary files, read by the source that the daemon reads, and asked by what the
daemon asks.
"""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.followups.followup_set import followups
from bench.retrieval.subsets import CHUNKS, KeptEmbedder, kept_embedder
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.conversation_parts import appended_parts
from memoryd.domain.sessions.sequences import SimilarTurns
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.protocol import Passage
from memoryd.index.pending import Spaces
from memoryd.search.arms import VectorArm
from memoryd.sessions.conversation_index import SimilarTurnSearch
from memoryd.sessions.conversation_source import QaConversations, cut
from memoryd.sessions.qa_store import QaStore
from memoryd.store.index.conversations import ConversationRow
from memoryd.store.index.database import Database

BATCH = 64
SECONDS = 60.0
VECTOR_BYTES = 64 << 20


def near_by_message(store: QaStore, agent: str, model: Path, folder: Path) -> Mapping[str, SimilarTurns]:
    """Return the turns near each message, by the id of the message."""
    return asyncio.run(_near_by_message(QaConversations(store.sessions, agent), model, folder))


async def _near_by_message(source: QaConversations, model: Path, folder: Path) -> Mapping[str, SimilarTurns]:
    with ThreadPoolExecutor(2) as executor:
        database = Database(path=folder / "conversations.sqlite", executor=executor)
        await database.open()
        try:
            await _read(source, database)
            async with kept_embedder(model, folder) as embedder:
                return await _asked(database, embedder, UnrelatedTexts(folder))
        finally:
            await database.close()


async def _read(source: QaConversations, database: Database) -> None:
    for path in source.scan({}, is_forced=True).due:
        step = source.read_on(RelativePath(path), "")
        assert step is not None
        parts = appended_parts(None, step.lines)
        row = ConversationRow(path, step.stamp, step.tail, CHUNKS.fingerprint, parts[-1])
        await database.conversations.put(row, cut(path, parts, CHUNKS), is_afresh=True)


async def _asked(database: Database, embedder: KeptEmbedder, strangers: UnrelatedTexts) -> Mapping[str, SimilarTurns]:
    await strangers.measure(embedder)
    spaces, slot = Spaces(database), CurrentEmbedder(lambda _state: None, strangers)
    await slot.set(ModelPhase.READY, embedder=embedder)
    space = await spaces.of(embedder)
    while pending := (await database.vectors.pending(space, BATCH)).passages:
        vectors = await embedder.embed_documents([Passage(one.text, one.title) for one in pending])
        pairs = [(one.hash, np.asarray(vector), one.language) for one, vector in zip(pending, vectors, strict=True)]
        await database.vectors.put(space, pairs, [], time.time())
    arm = VectorArm(database=database, spaces=spaces, slot=slot, vector_bytes=VECTOR_BYTES)
    search = SimilarTurnSearch(database=database, vector_arm=arm, withdrawn=frozenset())
    now = datetime.now(UTC)
    return {one.id: await search.near(one.message, now, SECONDS) for one in followups()}
