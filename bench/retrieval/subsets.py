"""Workspaces of any size, made of chunks of a question set, in an index of their own: the real one, without a disk.

The real model makes the vectors, once; they are kept by the text that they are of.
"""

import asyncio
import pickle
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np

from memoryd.config.memory_search import ChunkingSection
from memoryd.domain.documents import FileStat, RelativePath, Source
from memoryd.domain.memories.entries import ChunkEntry, ChunkSettings, chunk_entries
from memoryd.domain.ranking.golden import LineSpan
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.vector import Vector
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Passage, Unembeddable
from memoryd.index.pending import Spaces
from memoryd.search.builtin import BuiltinSearch
from memoryd.search.protocol import Query, SearchResult
from memoryd.search.ranking import SearchSettings
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent, FileRow

CHUNKING = ChunkingSection()
CHUNKS = ChunkSettings(CHUNKING.tokens, CHUNKING.overlap)
BATCH = 64


@dataclass(frozen=True, slots=True)
class PlacedChunk:
    """A chunk of a document."""

    path: str
    entry: ChunkEntry

    @property
    def lines(self) -> LineSpan:
        return LineSpan(self.path, self.entry.start_line, self.entry.end_line)


def chunks_below(folder: Path) -> list[PlacedChunk]:
    """Return the chunks of all notes of a workspace, in order."""
    return [
        PlacedChunk(path.relative_to(folder).as_posix(), entry)
        for path in sorted(folder.rglob("*.md"))
        for entry in chunk_entries(path.read_text("utf-8"), CHUNKS)
    ]


class KeptEmbedder:
    """An embedder that is asked once for each text; `keep` writes down what it said."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._vectors: dict[bytes, Vector] = pickle.loads(path.read_bytes()) if path.exists() else {}
        self._count = len(self._vectors)

    @property
    def identity(self) -> EmbedderIdentity:
        return self._inner.identity

    async def embed_query(self, text: str) -> Vector:
        key = _key("query", text)
        if key not in self._vectors:
            self._vectors[key] = await self._inner.embed_query(text)
        return self._vectors[key]

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        missing = [one for one in passages if _key(one.title, one.text) not in self._vectors]
        for passage, vector in zip(missing, await self._inner.embed_documents(missing) if missing else (), strict=True):
            if isinstance(vector, Unembeddable):
                raise ValueError(vector.reason)
            self._vectors[_key(passage.title, passage.text)] = vector
        if len(self._vectors) > self._count + 2_000:
            self.keep()
        return [self._vectors[_key(one.title, one.text)] for one in passages]

    def keep(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(pickle.dumps(self._vectors))
        self._count = len(self._vectors)


def _key(kind: str, text: str) -> bytes:
    return sha256(f"{kind}\0{text}".encode()).digest()[:16]


@asynccontextmanager
async def kept_embedder(model: Path, folder: Path) -> AsyncIterator[KeptEmbedder]:
    """Run a model in a worker, before the vectors that it gave are kept in `folder`."""
    worker = LlamaWorker.of(model, idle_unload=timedelta(minutes=5), query_timeout=timedelta(seconds=120))
    embedder = KeptEmbedder(worker, folder / f"{worker.identity.fingerprint}.vectors")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        try:
            yield embedder
            embedder.keep()
        finally:
            running.cancel()


class Subset:
    """An index of some chunks, which may come and go by the document."""

    def __init__(self, database: Database, spaces: Spaces, slot: CurrentEmbedder) -> None:
        self._database = database
        self._spaces = spaces
        self._slot = slot
        self._search = BuiltinSearch(database=database, spaces=spaces, slot=slot, settings=SearchSettings())

    async def put(self, chunks: Iterable[PlacedChunk]) -> None:
        """Hold these chunks of each of their documents, and no others of those."""
        by_path: dict[str, list[ChunkEntry]] = defaultdict(list)
        for chunk in chunks:
            by_path[chunk.path].append(chunk.entry)
        await self._database.documents.put(
            [FileContent(_row(path), tuple(entries), False) for path, entries in by_path.items()]
        )
        await self._embed()

    async def drop(self, paths: Sequence[str]) -> None:
        """Let documents go, and their vectors."""
        await self._database.documents.remove((), purged=[RelativePath(path) for path in paths])
        self._search.forget_vectors()

    async def ask(self, question: str, *, limit: int = 6) -> SearchResult:
        """Answer as the daemon would."""
        return await self._search.search(Query(question, limit=limit, deadline=60))

    async def _embed(self) -> None:
        embedder = self._slot.embedder
        if embedder is None:
            return
        space = await self._spaces.of(embedder)
        while pending := (await self._database.vectors.pending(space, BATCH)).passages:
            vectors = await embedder.embed_documents([Passage(one.text, one.title) for one in pending])
            pairs = [(one.hash, np.asarray(vector), one.language) for one, vector in zip(pending, vectors, strict=True)]
            await self._database.vectors.put(space, pairs, [], time.time())


@asynccontextmanager
async def subset(
    folder: Path, embedder: Embedder | None, strangers: UnrelatedTexts | None, executor: ThreadPoolExecutor
) -> AsyncIterator[Subset]:
    """Yield an empty index in `folder` until the block ends; without an embedder it knows words alone."""
    slot = CurrentEmbedder(lambda _state: None, strangers)
    await slot.set(ModelPhase.READY if embedder else ModelPhase.OFF, embedder=embedder)
    path = folder / "index.sqlite"
    database = Database(path=path, executor=executor)
    await database.open()
    try:
        yield Subset(database, Spaces(database), slot)
    finally:
        await database.close()


def _row(path: str) -> FileRow:
    return FileRow(
        RelativePath(path),
        Source.MEMORY,
        IndexedFile(FileStat(1, 1, 1, 1, 1), 1, sha256(path.encode()).digest()),
        1,
        CHUNKS.fingerprint,
    )
