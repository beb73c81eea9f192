"""The passages of one index without a vector in the space of its embedder: queued, embedded, stored.

These are the parts of `EmbeddingLoop`. `PendingQueue` uses no clock and no store: its callers pass the times.
"""

import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

import structlog
from msgspec import Struct, field

from memoryd.domain.counters import CacheUses, RateMeter
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder
from memoryd.embed.protocol import Attachment, Embedder, Passage, Unembeddable
from memoryd.errors import BudgetSpent, EmbedderUnavailable, StoreError, StoreUnavailable, WorkerDied
from memoryd.files.reading import NotReadableError
from memoryd.index.state import Publish
from memoryd.index.threads import Cancellable
from memoryd.store.index.database import Database
from memoryd.store.index.passages import PendingFile, PendingPassage
from memoryd.store.index.vectors import NO_SPACE, UNKNOWN, EmbeddedText

log = structlog.get_logger(__name__)

Lookup = Callable[[str, Sequence[bytes]], Awaitable[dict[bytes, Vector]]]
"""Finds vectors of a fingerprint by text hash in other indexes."""

Attach = Callable[[PendingFile], Awaitable[Attachment]]
"""Reads the bytes of a picture or sound; raises NotReadableError if they are not those that were indexed."""
DEADLY_TRIES = 3
"""How often a text may crash the worker before it is set aside."""
SPARE_SHARE = 20
"""When unused vectors exceed their limit, 1/`SPARE_SHARE` of the limit is dropped in advance."""
FILE_BYTES = 8 * 2**20
"""Limit of the pictures and sounds in one batch together; a larger file is a batch of its own."""


class EmbeddingLoopSettings(Struct, frozen=True):
    """Batch sizes in passages, pause after a failure in seconds, and how many unused vectors to keep."""

    batch: int = 16
    remote_batch: int = 512
    """Batch size for an embedder behind an endpoint, which takes many texts a request and several requests at once."""
    read_ahead: int = 512
    retry: float = 1.0
    hold: float = 10.0
    """Seconds until a picture or sound that could not be read or sent is tried again."""
    max_unused: int = 50_000
    providers: tuple[str, ...] = ()
    """The configured providers: their vectors of present passages count as used, even while another one embeds."""
    is_paused: bool = False
    """True if vectors are made only on request."""


async def no_files(_file: PendingFile) -> Attachment:
    """Refuse every file: used if no pictures and sounds are embedded. The next scan removes those still indexed."""
    raise NotReadableError("pictures and sounds are left out")


class EmbeddingLoopLinks(Struct, frozen=True):
    """Callbacks of the embedding loop into other parts; only `lookup` and `attach` are awaited."""

    lookup: Lookup
    publish: Publish
    on_removed: Callable[[], None]
    """Called after vectors were deleted from the index: cached copies are invalid."""
    attach: Attach = no_files
    hold: Callable[[], str] = str
    """Returns why nothing new may be embedded now; empty if it may."""
    obstacle: Callable[[], str | None] = lambda: None
    """Returns why there will be no vectors until something changes; None if there will be."""


class PendingQueue(Struct, kw_only=True):
    """Texts and then files, in the order of the store, and files that must wait until they are tried again."""

    file_bytes: int
    files_at_once: int
    _waiting: deque[PendingPassage] = field(default_factory=deque)
    _retries: dict[bytes, tuple[float, str]] = {}
    """For each waiting file by hash: when it is tried again, and why it waits."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def begins_with_file(self) -> bool:
        """Whether the next passage is a picture or sound, whose bytes are read again for each try."""
        return bool(self._waiting) and self._waiting[0].file is not None

    @property
    def why_waiting(self) -> str | None:
        """Why the first waiting file waits; None if no file waits."""
        return next((reason for _, reason in self._retries.values()), None)

    @property
    def has_waiting(self) -> bool:
        return bool(self._retries)

    @property
    def is_of_texts(self) -> bool:
        """Whether the queue has passages and no files, since a file may have been renamed since."""
        return bool(self._waiting) and self._waiting[-1].file is None

    def fill(self, passages: Iterable[PendingPassage]) -> None:
        """Replace the queue by these passages."""
        self._waiting = deque(passages)

    def put_before(self, passages: Sequence[PendingPassage], max_size: int) -> int:
        """Put new passages before the queued ones, texts before files; cut the queue to `max_size`.

        Returns how many of the passages were not in the queue yet.
        """
        queued = {item.hash for item in self._waiting}
        fresh = [item for item in passages if item.hash not in queued]
        self.fill(sorted([*fresh, *self._waiting], key=lambda item: item.file is not None)[:max_size])
        return len(fresh)

    def clear(self) -> None:
        """Empty the queue."""
        self._waiting.clear()

    def take(self, size: int) -> list[PendingPassage]:
        """Take up to `size` texts; if no text is left, take files, within the limits of number and bytes."""
        batch: list[PendingPassage] = []
        room = self.file_bytes
        while self._waiting and len(batch) < size:
            file = self._waiting[0].file
            if batch and file is not None and (batch[0].file is None or file.size > room):
                break
            if file is not None:
                room, size = room - file.size, self.files_at_once
            batch.append(self._waiting.popleft())
        return batch

    def put_back(self, passages: Sequence[PendingPassage]) -> None:
        """Put these passages back at the front, in this order."""
        self._waiting.extendleft(reversed(passages))

    def hold(self, key: bytes, reason: str, until: float) -> None:
        """Make a taken file wait; `waiting_files` then excludes it from the next query of the store."""
        self._retries[key] = until, reason

    def waiting_files(self, now: float) -> tuple[bytes, ...]:
        """Return the hashes of the files that must still wait, and forget the others."""
        self._retries = {key: retry for key, retry in self._retries.items() if retry[0] > now}
        return tuple(self._retries)

    def hold_ends_in(self, now: float) -> float | None:
        """Return in how many seconds the next file is to be tried again, None if no file waits."""
        return max(0.01, min(until for until, _ in self._retries.values()) - now) if self._retries else None


class Spaces(Struct):
    """Finds the vector space of an embedder in one index, and caches it per opening of the file."""

    database: Database
    _known: dict[tuple[str, int], int] = {}
    _prepared: int | None = None
    """The opening of the file for which the index of hashes was made."""

    async def of(self, embedder: Embedder) -> int:
        """Return the id of the embedder's space, creating it if it is new; raises StoreError."""
        key = (embedder.identity.fingerprint, self.database.epoch)
        if key not in self._known:
            # find before open: a read-only index can still answer with the vectors it has
            space = await self.database.vectors.find_space(embedder.identity.fingerprint)
            self._known[key] = await self.open(embedder, None) if space is None else space
        return self._known[key]

    async def prepare(self) -> None:
        """Create the index of hashes before a space is known, so that passages are counted fast; ignore StoreError."""
        epoch = self.database.epoch
        if self._prepared != epoch:
            with suppress(StoreError):
                await self.database.vectors.index_hashes()
                self._prepared = epoch

    async def open(self, embedder: Embedder, now: float | None) -> int:
        """Open the embedder's space, creating it if it is new, and return its id; raises StoreError if read-only.

        `now` (Unix time) is recorded as the time of its last use; None records none, since it may never be used.
        """
        identity = embedder.identity
        return await self.database.vectors.open_space(
            fingerprint=identity.fingerprint,
            provider=identity.provider,
            model=identity.model,
            dimensions=identity.dimensions,
            now=now,
        )


_LoadedPassage = tuple[PendingPassage, Passage]
"""A passage of the index, and what is sent to the embedder."""


class Backlog(Struct, kw_only=True):
    """Fills the queue from the store, embeds batches and stores the vectors; all methods raise StoreError.

    Passages that could not be sent go back to the queue, or wait there.
    """

    database: Database
    spaces: Spaces
    slot: CurrentEmbedder
    queue: PendingQueue
    settings: EmbeddingLoopSettings
    links: EmbeddingLoopLinks
    lacking: int = 0
    """Passages without a vector at the last count; all of them if no embedder is known."""
    done: int = 0
    """Passages embedded since the loop was last idle."""
    must_start_over: bool = False
    """Whether the next refill must delete all vectors of the space first."""
    space: int | None = None
    """The space that the queue was filled for."""
    is_known: bool = False
    """Whether the passages without a vector are known, except those added since the last refill."""
    _first: int = 0
    """Number of the first passage added since the last refill; 0 if all passages must be read."""
    _in_use: set[int] = set()
    """The spaces whose vectors of present passages counted as used at the last check."""
    _room: int = -1
    """How many more vectors may become unused before they must be counted; negative: count at the next check."""
    _epoch: int = -1
    """The opening of the file that the queue was filled from."""
    _purge_mark: int | None = None
    _counted: tuple[tuple[int, int, str], int] | None = None
    """The last count of passages without a vector, with its key: epoch, number of writes, fingerprint."""
    _is_bounded: bool = False
    _deaths: Counter[bytes] = field(default_factory=Counter)
    _sending: Cancellable = field(default_factory=Cancellable)
    pace: RateMeter = field(default_factory=RateMeter)
    uses: CacheUses = field(default_factory=CacheUses)
    """Hits and misses of the lookup of vectors in other indexes."""

    async def space_of(self, embedder: Embedder) -> int:
        """Return the space for the embedder's vectors; raises StoreError if nothing can be written."""
        self.database.require_writable()
        space = await self.spaces.of(embedder)
        if (space, self.database.epoch) != (self.space, self._epoch):
            # record the use: a user who goes back to an earlier model uses its space again, and no other; in a newly
            # created file a space of the same number was not used yet
            space = await self.spaces.open(embedder, time.time())
            self.rescan()
        return space

    async def count(self) -> int:
        """Return how many passages have no vector; queries the store once for each change of it.

        Without an embedder no vector counts, so all passages lack one.
        """
        vectors, embedder = self.database.vectors, self.slot.embedder
        fingerprint = "" if embedder is None else embedder.identity.fingerprint
        moment = (self.database.epoch, self.database.writes, fingerprint)
        if self._counted is None or self._counted[0] != moment:
            # find, do not create: a query writes nothing; without a space all passages lack their vector
            space = await vectors.find_space(fingerprint)
            self._counted = moment, await vectors.count_pending(NO_SPACE if space is None else space)
        return self._counted[1]

    async def refill(self, space: int) -> None:
        """Query the store for pending passages.

        Only those added since the last refill are read if the others are in the queue or have vectors. Else all
        passages are read, which happens once for many batches.
        """
        vectors = self.database.vectors
        is_known = self.is_known and space == self.space
        # before the first await: a request made from here on, to read all or to start over, needs another refill
        self.space, self.is_known = space, True
        if self.must_start_over:
            is_known = self.must_start_over = False
            try:
                await vectors.drop_space(space)
            except BaseException:
                # also if cancelled: it still has to be done
                self.must_start_over = True
                raise
            self.links.on_removed()
        self._epoch, self._purge_mark = self.database.epoch, vectors.purge_mark
        await self._note_changes()
        # passages beyond the read-ahead are only counted; they are read when the queue is empty
        has_rest = self.queue.is_of_texts or not self.lacking
        first, waiting = self._first if is_known and has_rest else 0, self.queue.waiting_files(time.monotonic())
        pending = await vectors.pending(space, self.settings.read_ahead, without=waiting, first=first)
        if self._purge_mark is not None and self._purge_mark != vectors.purge_mark:
            # some may be texts purged since; the purge has woken the loop, which will query again
            self.forget()
            return
        # not earlier: after a failed query these passages must still be read
        self._first = UNKNOWN
        if first:
            # passages committed during the last query are returned again, and may be in the queue already
            fresh = self.queue.put_before(pending.passages, self.settings.read_ahead)
            self.lacking += pending.count - len(pending.passages) + fresh
        else:
            self.lacking = pending.count
            self.queue.fill(pending.passages)

    def forget(self) -> None:
        """Empty the queue, and make the next refill read all passages."""
        self.queue.clear()
        self.is_known = False

    async def _note_changes(self) -> None:
        first, gone = await self.database.vectors.take_changes()
        # the deleted passages may be among the pending ones
        self._first = 0 if gone and self.lacking else min(self._first, first)
        # each deleted passage may leave an unused vector in every space
        self._room -= gone * max(1, len(self._in_use))

    async def store(self, space: int, good: Sequence[EmbeddedText], bad: Sequence[tuple[bytes, str]] = ()) -> None:
        """Store vectors by text hash, and for `bad` texts the reason why they have none; all from the current queue."""
        if self._epoch != self.database.epoch:
            # the file was replaced since: in the new one the number may be that of another space
            raise StoreUnavailable("the index has been rebuilt")
        if good or bad:
            await self.database.vectors.put(space, good, bad, time.time(), purge_mark=self._purge_mark)
        if space not in self._in_use:
            # these vectors become unused as soon as another model is current
            self._room -= len(good)
        count = len(good) + len(bad)
        self.done += count
        self.lacking = max(0, self.lacking - count)

    def rescan(self) -> None:
        """Report that there may be more unused vectors than at the last check."""
        self._is_bounded = False

    async def bound_unused(self) -> None:
        """Drop the longest unused vectors if there are too many; tried again if the store refuses.

        Vectors of present passages in the spaces of the configured providers are in use. While the first of these
        providers is not current, its model is unknown, so all spaces that it was used with count.
        """
        if self._is_bounded:
            return
        # before the first await: a removal from here on needs another check
        self._is_bounded = True
        vectors, embedder, limit = self.database.vectors, self.slot.embedder, self.settings.max_unused
        try:
            current = set() if embedder is None else {await self.spaces.of(embedder)}
            at_work = "" if embedder is None else embedder.identity.provider
            unknown = set(self.settings.providers[:1]) - {at_work}
            in_use = current | await vectors.spaces_of(self.settings.providers, unknown)
            await self._note_changes()
            if in_use != self._in_use or self._room < 0:
                self._in_use, self._room = in_use, limit - await vectors.count_unused(in_use)
            if self._room >= 0:
                return
            # drop more than necessary, since each time the vectors cached in memory must be loaded again
            dropped = await vectors.evict_unused(in_use, limit - limit // SPARE_SHARE)
        except StoreError:
            self._is_bounded = False
            return
        self.links.on_removed()
        log.info("vectors dropped that nothing uses", dropped=dropped)

    async def embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        """Embed and store a batch, unless it is cancelled; raises EmbedderUnavailable, BudgetSpent, StoreError."""
        await self._sending.run(self._embed(embedder, space, batch))

    def break_off(self) -> None:
        """Cancel the batch that is being embedded, if any."""
        self._sending.cancel()

    async def _embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        copies = await self.links.lookup(embedder.identity.fingerprint, [item.hash for item in batch])
        stored = [(item.hash, copies[item.hash], item.language) for item in batch if item.hash in copies]
        await self.store(space, stored)
        self.uses.note(is_hit=True, times=len(copies))
        self.uses.note(is_hit=False, times=len(batch) - len(copies))
        todo = [loaded for item in batch if item.hash not in copies and (loaded := await self._load(item))]
        if todo:
            await self._embed_or_split(embedder, space, todo)

    async def _load(self, item: PendingPassage) -> _LoadedPassage | None:
        """Return what to embed; None for a file that cannot be read now, which then waits in the queue."""
        if item.file is None:
            return item, Passage(item.text, item.title)
        try:
            return item, Passage(item.text, item.title, await self.links.attach(item.file))
        except NotReadableError as exc:
            reason = f"{item.file.path} cannot be sent: {exc}"
            self.queue.hold(item.hash, reason, time.monotonic() + self.settings.hold)
            return None

    async def _embed_or_split(self, embedder: Embedder, space: int, batch: Sequence[_LoadedPassage]) -> None:
        """Embed a batch; if the worker dies of it, halve it until only the deadly text is left."""
        items = [item for item, _ in batch]
        try:
            answers = await embedder.embed_documents([passage for _, passage in batch])
        except WorkerDied as exc:
            if len(batch) == 1:
                await self._blame(space, items[0].hash, str(exc))
                return
            middle = len(batch) // 2
            await self._embed_or_split(embedder, space, batch[:middle])
            await self._embed_or_split(embedder, space, batch[middle:])
            return
        except BudgetSpent as exc:
            self.queue.put_back(items[exc.fits :])
            if exc.fits:
                await self._embed_or_split(embedder, space, batch[: exc.fits])
            raise
        except EmbedderUnavailable:
            # keep them: a new query of the store costs a pass over the passages
            self.queue.put_back(items)
            raise
        await self._store_answers(space, items, answers)

    async def _store_answers(
        self, space: int, items: Sequence[PendingPassage], answers: Sequence[Vector | Unembeddable]
    ) -> None:
        self.pace.note(time.monotonic(), len(items))
        good: list[EmbeddedText] = []
        bad: list[tuple[bytes, str]] = []
        for item, answer in zip(items, answers, strict=True):
            if isinstance(answer, Unembeddable):
                bad.append((item.hash, answer.reason))
            else:
                good.append((item.hash, answer, item.language))
        await self.store(space, good, bad)

    async def _blame(self, space: int, key: bytes, reason: str) -> None:
        # not at the first death: the worker may have been killed for lack of memory, whatever the text
        self._deaths[key] += 1
        if self._deaths[key] >= DEADLY_TRIES:
            log.warning("text set aside: the embedding worker died of it", reason=reason, times=DEADLY_TRIES)
            await self.store(space, [], [(key, reason)])
