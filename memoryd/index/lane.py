"""The embedding lane of one workspace: gives every passage its vector, behind the keyword index and never in its way.

Pending work is a query over the store, so a kill resumes by itself.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from memoryd.embed.protocol import Attachment, Embedder, Passage, Unembeddable, Vector
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot
from memoryd.errors import BudgetSpent, EmbedderUnavailable, StoreError, WorkerDied
from memoryd.files.octets import NotReadableError
from memoryd.index.spaces import Spaces
from memoryd.index.sync_state import Publish
from memoryd.store.database import Database
from memoryd.store.pending_passages import PendingFile, PendingPassage
from memoryd.store.stored_vectors import Matrix
from memoryd.store.vector_spaces import NO_SPACE
from memoryd.wire import Event

log = structlog.get_logger(__name__)

Lookup = Callable[[str, Sequence[bytes]], Awaitable[dict[bytes, Matrix]]]
"""Finds vectors of a fingerprint by text hash that some other index holds already."""

Attach = Callable[[PendingFile], Awaitable[Attachment]]
"""Reads the bytes of a picture or sound; raises NotReadableError if they are not what the index has."""

DEADLY_TRIES = 3
"""How often one text may end the worker before it is set aside."""
PAUSED = "memorySearch.sync.paused is true: notes get vectors only when asked for (memoryctl index)"
NEEDLESS = "another engine answers: vectors for the builtin index are made only when their owner asks for them"
SPARE_SHARE = 20
"""Of the unused vectors that may be kept, one in so many goes beforehand."""
LOOK_SECONDS = 1.0
"""How often whoever waits for vectors looks whether any will come."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """Batch size in passages, pause after a failure in seconds, and how many unused vectors to keep."""

    batch: int = 16
    remote_batch: int = 512
    """Of an embedder behind an endpoint, which takes many texts in one request and several requests at once."""
    file_bytes: int = 8 * 2**20
    """Of the pictures and sounds of one batch together; a larger one goes alone."""
    read_ahead: int = 512
    retry: float = 1.0
    hold: float = 10.0
    """Seconds until a picture or sound is tried again that could not be read or sent."""
    max_unused: int = 50_000
    providers: tuple[str, ...] = ()
    """Those that are configured: what their spaces hold for the passages is no cache, even while another embeds."""
    is_paused: bool = False
    """Vectors are made only when somebody asks for them."""


async def no_files(_file: PendingFile) -> Attachment:
    """Refuse every picture and sound, where none are to be embedded; the next scan removes those that are left."""
    raise NotReadableError("pictures and sounds are left out")


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What is to be embedded, and which passage of the index it is."""

    item: PendingPassage
    passage: Passage


class EmbeddingLane:
    """Drains the passages that have no vector in the space of the present embedder; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        database: Database,
        spaces: Spaces,
        slot: EmbedderSlot,
        settings: LaneSettings,
        lookup: Lookup,
        publish: Publish,
        on_removed: Callable[[], None],
        attach: Attach = no_files,
        hold: Callable[[], str] = str,
        obstacle: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.lacking = 0
        """Passages without a vector as of the last look; all of them while no embedder is known."""
        self.trouble: str | None = None
        self._is_paused = False
        self._is_asked = False
        self._database = database
        self._spaces = spaces
        self._slot = slot
        self._settings = settings
        self._lookup = lookup
        self._publish = publish
        self._on_removed = on_removed
        self._attach = attach
        self._hold = hold
        self._obstacle = obstacle
        """Why no vectors will come until something changes."""
        self._spent: str | None = None
        """Why the rest must wait for another day."""
        self._held: dict[bytes, tuple[float, str]] = {}
        """When to try again what could not be read, and why it could not."""
        self._sending: asyncio.Timeout | None = None
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()
        self._queue: deque[PendingPassage] = deque()
        self._deaths: dict[bytes, int] = {}
        self._done = 0
        self._is_unbounded = True
        """Whether there may be more unused vectors than at the last look."""
        self._reset = False
        self._space: int | None = None
        slot.subscribe(self.wake)

    @property
    def is_paused(self) -> bool:
        """Whether another engine makes the vectors needless that nobody asks for."""
        return self._is_paused

    @property
    def is_idle(self) -> bool:
        """Whether nobody wants the vectors that are missing: their owner chose none, or another engine answers."""
        return self._slot.state.phase is EmbedderPhase.OFF or (self._is_paused and not self._is_asked)

    @property
    def pending(self) -> int:
        """Passages that are to get a vector, as of the last look."""
        return 0 if self.is_idle else self.lacking

    @property
    def postponed(self) -> int:
        """Passages without a vector that nobody works on."""
        return self.lacking - self.pending

    def wake(self) -> None:
        """Say that there may be new passages, or fewer."""
        self._is_unbounded = True
        self._wake.set()

    def recall(self) -> None:
        """Say that texts were purged: what is on its way is broken off, since it may be theirs."""
        self._wake.set()
        self._queue.clear()
        # what was broken off takes a moment to end, and may be called back again meanwhile
        if self._sending is not None and not self._sending.expired():
            self._sending.reschedule(asyncio.get_running_loop().time())

    def pause(self, is_paused: bool) -> None:
        """Stop making vectors that nobody asks for, or go on with it."""
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self._wake.set()

    def start_over(self) -> None:
        """Forget the vectors of the present space and make them anew."""
        self._reset = self._is_asked = True
        self._wake.set()

    async def drained(self, *, is_asking: bool = True) -> str | None:
        """Wait until no passage lacks its vector; return None then, or at once why none will come as things are.

        `is_asking` for vectors even while the lane is paused.
        """
        self._is_asked |= is_asking
        # an answer of yesterday: the lane is to try before it is believed
        self._spent = None
        self._wake.set()
        async with self._progress:
            while self._reset or await self.count():
                if reason := self._hopeless():
                    return reason
                # a provider is given up without a word to the lane
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._progress.wait()
        return None

    def _hopeless(self) -> str | None:
        if not self._is_asked and self._settings.is_paused:
            return PAUSED
        if not self._is_asked and self._is_paused:
            return NEEDLESS
        return self._hold() or self._spent or self._obstacle()

    async def count(self) -> int:
        """Ask the store how many passages have no vector; without an embedder, nobody knows of any that counts."""
        embedder = self._slot.embedder
        space = NO_SPACE if embedder is None else await self._spaces.of(embedder)
        return await self._database.vectors.count_pending(space)

    async def owed(self) -> int:
        """Ask the store how many passages are to get a vector; what was known last while the store cannot be asked."""
        with contextlib.suppress(StoreError):
            return 0 if self.is_idle else await self.count()
        return self.pending

    async def run(self) -> None:
        """Embed what is pending, newest first; pause after a failure, sleep when there is nothing to do."""
        while True:
            embedder = self._slot.embedder
            pause: float | None = self._settings.retry
            try:
                if embedder is None:
                    await self._without_embedder()
                    pause = None
                else:
                    pause = 0.0 if await self._step(embedder) else self._until_held()
                self.trouble = self._why_not()
                self._spent = None
            except EmbedderUnavailable as exc:
                self.trouble = str(exc)
                self._spent = str(exc) if isinstance(exc, BudgetSpent) else None
                if self._queue and self._queue[0].file is not None:
                    # each try reads megabytes again; when the embedder is back, it wakes the lane
                    pause = self._settings.hold
            except StoreError as exc:
                self._queue.clear()
                # a wake-up that nothing could be done about must not cut the pause short, or it never ends
                self._wake.clear()
                self.trouble = str(exc)
            async with self._progress:
                self._progress.notify_all()
            if pause != 0.0:
                if self._is_unbounded:
                    await self._bound_cache()
                await self._sleep(pause)

    async def _without_embedder(self) -> None:
        """Count what there is to do; the slot wakes the lane when there is an embedder."""
        self._wake.clear()
        self._queue.clear()
        self.lacking = await self.count()

    def _until_held(self) -> float | None:
        """Return in how many seconds a file is to be tried again, None if no file waits."""
        return max(0.01, min(until for until, _ in self._held.values()) - time.monotonic()) if self._held else None

    def _why_not(self) -> str | None:
        if self._settings.is_paused and self.pending:
            return PAUSED
        return next((reason for _, reason in self._held.values()), None)

    async def _sleep(self, seconds: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def _step(self, embedder: Embedder) -> bool:
        """Embed one batch; return whether there may be more."""
        self._database.require_writable()
        space = await self._spaces.of(embedder)
        if self._wake.is_set() or not self._queue or space != self._space:
            self._wake.clear()
            self._space = space
            await self._refill(space)
            if (self._is_paused or self._settings.is_paused) and not self._is_asked:
                self._queue.clear()
                return False
        if self._hold():
            self._queue.clear()
            return False
        batch = self._next_batch(self._settings.remote_batch if embedder.identity.endpoint else self._settings.batch)
        if not batch:
            await self._finish()
            return False
        await self._embed_unless_recalled(embedder, space, batch)
        self._publish(Event.EMBEDDING, {"pending": self.pending, "done": self._done})
        return True

    async def _embed_unless_recalled(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        try:
            async with asyncio.timeout(None) as sending:
                self._sending = sending
                await self._embed(embedder, space, batch)
        except TimeoutError:
            if not sending.expired():
                raise
        finally:
            self._sending = None

    def _next_batch(self, size: int) -> list[PendingPassage]:
        """Take texts, or, when none are left, files of few enough bytes to be held in memory at once."""
        batch: list[PendingPassage] = []
        room = self._settings.file_bytes
        while self._queue and len(batch) < size:
            file = self._queue[0].file
            if batch and file is not None and (batch[0].file is None or file.size > room):
                break
            if file is not None:
                room, size = room - file.size, self._settings.batch
            batch.append(self._queue.popleft())
        return batch

    async def _refill(self, space: int) -> None:
        """Ask the store what is pending; once for many batches, since the question costs a pass over the passages."""
        if self._reset:
            self._reset = False
            await self._database.vectors.drop_space(space)
            self._on_removed()
        self.lacking = await self._database.vectors.count_pending(space)
        now, ahead = time.monotonic(), self._settings.read_ahead
        self._held = {key: held for key, held in self._held.items() if held[0] > now}
        held = tuple(self._held)
        waiting = await self._database.vectors.pending(space, ahead, without=held) if self.lacking else ()
        self._queue = deque(waiting)

    async def _finish(self) -> None:
        if self._done:
            log.info("embedding done", passages=self._done)
        self._done = 0
        if not self._wake.is_set() and not self._held:
            self._is_asked = False

    async def _bound_cache(self) -> None:
        """Drop the vectors that have been unused longest, if there are more than may be kept."""
        # before the first await: what is removed meanwhile asks for another look
        self._is_unbounded = False
        embedder, keep = self._slot.embedder, self._settings.max_unused
        try:
            current = set() if embedder is None else {await self._spaces.of(embedder)}
            in_use = current | await self._database.vectors.spaces_of(self._settings.providers)
            if await self._database.vectors.count_unused(in_use) <= keep:
                return
            # some more than must go, for whoever holds vectors in memory has to load them anew each time
            room = keep - keep // SPARE_SHARE
            dropped = await self._database.vectors.evict_unused(in_use, room)
        except StoreError:
            self._is_unbounded = True
            return
        self._on_removed()
        log.info("vectors dropped that nothing uses", dropped=dropped)

    async def _embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        found = await self._lookup(embedder.identity.fingerprint, [item.hash for item in batch])
        await self._store(space, [(key, vector) for key, vector in found.items()])
        todo = [loaded for item in batch if item.hash not in found and (loaded := await self._loaded(item))]
        if todo:
            await self._embed_or_split(embedder, space, todo)

    async def _loaded(self, item: PendingPassage) -> _Loaded | None:
        """Return what is to be embedded; a file that cannot be read is held back, and the disk will say more."""
        if item.file is None:
            return _Loaded(item, Passage(item.text, item.title))
        try:
            return _Loaded(item, Passage(item.text, item.title, await self._attach(item.file)))
        except NotReadableError as exc:
            reason = f"{item.file.path} cannot be sent: {exc}"
            self._held[item.hash] = (time.monotonic() + self._settings.hold, reason)
            return None

    async def _embed_or_split(self, embedder: Embedder, space: int, batch: Sequence[_Loaded]) -> None:
        """Embed a batch; if it ends the worker, halve it until the deadly text stands alone."""
        items = [one.item for one in batch]
        try:
            answers = await embedder.embed_documents([one.passage for one in batch])
        except WorkerDied as exc:
            if len(batch) == 1:
                await self._blame(space, items[0], str(exc))
                return
            middle = len(batch) // 2
            await self._embed_or_split(embedder, space, batch[:middle])
            await self._embed_or_split(embedder, space, batch[middle:])
            return
        except BudgetSpent as exc:
            self._queue.extendleft(reversed(items[exc.fits :]))
            if exc.fits:
                await self._embed_or_split(embedder, space, batch[: exc.fits])
            raise
        except EmbedderUnavailable:
            # no new question to the store, which costs a pass over the passages, until the embedder is back
            self._queue.extendleft(reversed(items))
            raise
        good: list[tuple[bytes, Vector]] = []
        bad: list[tuple[bytes, str]] = []
        for item, answer in zip(items, answers, strict=True):
            if isinstance(answer, Unembeddable):
                bad.append((item.hash, answer.reason))
            else:
                good.append((item.hash, answer))
        await self._store(space, good, bad)

    async def _blame(self, space: int, item: PendingPassage, reason: str) -> None:
        self._deaths[item.hash] = self._deaths.get(item.hash, 0) + 1
        if self._deaths[item.hash] >= DEADLY_TRIES:
            log.warning("text set aside: the embedding worker died of it", reason=reason, times=DEADLY_TRIES)
            await self._store(space, [], [(item.hash, reason)])

    async def _store(
        self, space: int, good: Sequence[tuple[bytes, Matrix]], bad: Sequence[tuple[bytes, str]] = ()
    ) -> None:
        now = time.time()
        if good or bad:
            await self._database.vectors.put(space, good, bad, now)
        self._done += len(good) + len(bad)
        self.lacking = max(0, self.lacking - len(good) - len(bad))
