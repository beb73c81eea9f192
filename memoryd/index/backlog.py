"""The passages of one index that have no vector in the space of its embedder, as the store knows them."""

import time
from collections.abc import Callable, Sequence

from memoryd.domain.embedding import Vector
from memoryd.embed.current import EmbedderSlot
from memoryd.embed.protocol import Embedder
from memoryd.index.pending_queue import PendingQueue
from memoryd.index.spaces import Spaces
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import NO_SPACE


class Backlog:
    """Fills the queue from the store, and stores what has come of it; all of it raises StoreError."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        slot: EmbedderSlot,
        queue: PendingQueue,
        read_ahead: int,
        on_removed: Callable[[], None],
    ) -> None:
        self.lacking = 0
        """Passages without a vector as of the last look; all of them while no embedder is known."""
        self.done = 0
        """Passages that were given one since there was nothing to do."""
        self.must_start_over = False
        """Whether the vectors of the space are to be forgotten with the next look."""
        self.space: int | None = None
        """The space that the queue was filled for."""
        self._purge_mark: int | None = None
        self._database = database
        self._spaces = spaces
        self._slot = slot
        self._queue = queue
        self._read_ahead = read_ahead
        self._on_removed = on_removed

    async def space_of(self, embedder: Embedder) -> int:
        """Return the space that its vectors go to, if anything can be written."""
        self._database.require_writable()
        return await self._spaces.of(embedder)

    async def count(self) -> int:
        """Ask the store how many passages have no vector; without an embedder, nobody knows of any that counts."""
        embedder = self._slot.embedder
        space = NO_SPACE if embedder is None else await self._spaces.of(embedder)
        return await self._database.vectors.count_pending(space)

    async def refill(self, space: int) -> None:
        """Ask the store what is pending; once for many batches, since the question costs a pass over the passages."""
        vectors = self._database.vectors
        self.space = space
        if self.must_start_over:
            # before the first await: whoever asks for it meanwhile means the vectors that are made from here on
            self.must_start_over = False
            await vectors.drop_space(space)
            self._on_removed()
        self._purge_mark = vectors.purge_mark
        self.lacking = await vectors.count_pending(space)
        held = self._queue.held(time.monotonic())
        self._queue.fill(await vectors.pending(space, self._read_ahead, without=held) if self.lacking else ())

    async def store(
        self, space: int, good: Sequence[tuple[bytes, Vector]], bad: Sequence[tuple[bytes, str]] = ()
    ) -> None:
        """Store vectors, and why there will be none, by the hash of the text; what came from the queue last filled."""
        if good or bad:
            await self._database.vectors.put(space, good, bad, time.time(), purge_mark=self._purge_mark)
        count = len(good) + len(bad)
        self.done += count
        self.lacking = max(0, self.lacking - count)
