"""After any order of events on notes, models and store, each passage has its vector, and it was made once.

The embedding loop runs as in the daemon; the steps interrupt it anywhere. MEMORYD_EMBEDDING_EXAMPLES says how
many orders are tried.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import content_hash
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.embed.protocol import Passage, Unembeddable
from memoryd.errors import StoreError
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.pending import EmbeddingLoopLinks, EmbeddingLoopSettings, Spaces
from memoryd.store.index.database import Database
from tests.fakes import FakeEmbedder
from tests.store.consistency import open_index
from tests.store.rows import note, put_note
from tests.sweeps import whole_or

EXAMPLES = int(os.environ.get("MEMORYD_EMBEDDING_EXAMPLES", whole_or(12, 120)))
TOPICS = ("rent", "boiler", "lamp", "attic", "heron", "ibex", "unfit")
PROVIDERS = ("fake", "spare")
_HAS = "SELECT EXISTS (SELECT 1 FROM vectors v JOIN spaces s ON s.id = v.space_id WHERE s.fingerprint = ? AND hash = ?)"


@dataclass
class RecordingEmbedder(FakeEmbedder):
    """An embedder that records texts whose vector the index has already."""

    index: Callable[[], Database] | None = None
    needless: list[str] = field(default_factory=list)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        assert self.index is not None
        for one in passages:
            key = (self.identity.fingerprint, content_hash(one.title, one.text))
            if await self.index().read(lambda db, key=key: db.execute(_HAS, key).get):  # type: ignore[misc]
                self.needless.append(one.text)
        return await super().embed_documents(passages)


class Scenario:
    """One index with its embedding loop, and models that come and go."""

    def __init__(self, folder: Path, executor: ThreadPoolExecutor, most: int) -> None:
        self.most = most
        self.database = Database(path=folder / "index.sqlite", executor=executor)
        self.models = [
            RecordingEmbedder(name, provider, unfit=frozenset({"unfit"}), index=lambda: self.database)
            for name, provider in (("one", "fake"), ("two", "fake"), ("other", "spare"))
        ]
        self.model: RecordingEmbedder | None = self.models[0]
        self.slot = CurrentEmbedder(lambda _state: None)
        self.lock: apsw.Connection | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the loop over the open index, as between start and end of the daemon."""
        await self.database.open()
        await self.database.write(lambda db: db.set_busy_timeout(0))

        async def elsewhere(_fingerprint: str, _hashes: Sequence[bytes]) -> dict[bytes, Vector]:
            return {}

        self.slot.unsubscribe_all()
        self.lane = EmbeddingLoop(
            database=self.database,
            spaces=Spaces(self.database),
            slot=self.slot,
            settings=EmbeddingLoopSettings(
                batch=2, read_ahead=5, retry=0.005, max_unused=self.most, providers=PROVIDERS
            ),
            links=EmbeddingLoopLinks(lookup=elsewhere, publish=lambda _event, _data: None, on_removed=lambda: None),
        )
        await self.switch(self.model)
        task = asyncio.create_task(self.lane.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self.refuse(False)
            await self.database.close()

    async def switch(self, model: RecordingEmbedder | None) -> None:
        self.model = model
        await self.slot.set(ModelPhase.READY if model else ModelPhase.FAILED, embedder=model)

    async def refuse(self, is_refused: bool) -> None:
        """Let another program lock the index, so that nothing can be written."""
        if is_refused and self.lock is None:
            self.lock = open_index(self.database.path)
            self.lock.execute("BEGIN IMMEDIATE")
        elif not is_refused and self.lock is not None:
            self.lock.close()
            self.lock = None

    async def do(self, step: tuple[str, int, tuple[str, ...]]) -> None:
        what, number, topics = step
        path = RelativePath(f"memory/{number}.md")
        match what:
            case "write":
                with suppress(StoreError):
                    await put_note(self.database, path, note(*topics))
            case "remove":
                with suppress(StoreError):
                    await self.database.documents.remove([path])
            case "purge":
                self.lane.cancel_batch()
                with suppress(StoreError):
                    await self.database.documents.remove([], purged=[path])
                    await self.database.documents.drop_remains()
            case "switch":
                await self.switch([*self.models, None][number])
            case "switch twice":
                before = self.model
                await self.switch(self.models[number % 3])
                await asyncio.sleep(0)
                await self.switch(before)
            case "break":
                self.models[number % 3].is_down = not self.models[number % 3].is_down
            case "refuse":
                await self.refuse(self.lock is None)
            case "start over":
                self.lane.start_over()
            case "wait":
                await asyncio.sleep(0.003 * number)
        self.lane.wake()

    async def settle(self) -> None:
        """End all faults, and wait until everything is embedded, without asking the loop itself."""
        await self.refuse(False)
        for model in self.models:
            model.is_down = False
        await self.switch(self.model or self.models[0])
        async with asyncio.timeout(30):
            while await self.unserved() or await self.unused() > self.most:  # noqa: ASYNC110  the loop changes the condition
                await asyncio.sleep(0.005)

    async def unused(self) -> int:
        """Count the vectors that no passage uses in the spaces last used by each provider.

        For the first provider all of its spaces count while another one is in use.
        """
        assert self.model is not None
        unknown = {PROVIDERS[0]} - {self.model.provider}
        return await self.database.vectors.count_unused(await self.database.vectors.spaces_of(PROVIDERS, unknown))

    async def unserved(self) -> int:
        """Count, independently of the loop, the texts that have neither a vector nor a rejection."""
        assert self.model is not None
        space = await self.database.vectors.find_space(self.model.identity.fingerprint)

        def counted(db: apsw.Connection) -> int:
            wanted = {row[0] for row in db.execute("SELECT hash FROM passages")}
            for table in ("vectors", "rejected"):
                wanted -= {row[0] for row in db.execute(f"SELECT hash FROM {table} WHERE space_id = ?", (space,))}
            return len(wanted)

        return await self.database.read(counted)


_STEPS = st.tuples(
    st.sampled_from(
        [
            *("write", "write", "write", "write", "remove", "purge", "switch", "switch", "switch twice", "break"),
            *("refuse", "start over", "restart", "wait", "wait", "wait"),
        ]
    ),
    st.integers(0, 3),
    st.lists(st.sampled_from(TOPICS), min_size=1, max_size=5, unique=True).map(tuple),
)


async def assert_served(steps: Sequence[tuple[str, int, tuple[str, ...]]], most: int, folder: Path) -> None:
    with ThreadPoolExecutor(6) as executor:
        scenario = Scenario(folder, executor, most)
        lives: list[list[tuple[str, int, tuple[str, ...]]]] = [[]]
        for step in steps:
            lives.append([]) if step[0] == "restart" else lives[-1].append(step)
        for life in lives:
            async with scenario.running():
                for step in life:
                    await scenario.do(step)
                if life is lives[-1]:
                    await scenario.settle()
        assert [model.needless for model in scenario.models] == [[], [], []]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(_STEPS, min_size=4, max_size=24), st.sampled_from([0, 3, 1000]))
def test_every_passage_is_embedded_once_in_any_order_of_events(
    steps: list[tuple[str, int, tuple[str, ...]]], most: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(assert_served(steps, most, Path(folder)))
