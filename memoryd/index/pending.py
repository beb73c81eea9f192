"""The passages of one index that have no vector in the space of its embedder: queued, embedded, stored.

`PendingQueue` has no clock and no store: its callers pass the times. All of it is parts of `EmbeddingLoop`.
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
"""Finds vectors of a fingerprint by text hash that some other index holds already."""

Attach = Callable[[PendingFile], Awaitable[Attachment]]
"""Reads the bytes of a picture or sound; raises NotReadableError if they are not what the index has."""
DEADLY_TRIES = 3
"""How often one text may end the worker before it is set aside."""
SPARE_SHARE = 20
"""Of the unused vectors that may be kept, one in so many goes beforehand."""


FILE_BYTES = 8 * 2**20
"""Of the pictures and sounds of one batch together; a larger one goes alone."""


class EmbeddingLoopSettings(Struct, frozen=True):
    """Batch size in passages, pause after a failure in seconds, and how many unused vectors to keep."""

    batch: int = 16
    remote_batch: int = 512
    """Of an embedder behind an endpoint, which takes many texts in one request and several requests at once."""
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


class EmbeddingLoopLinks(Struct, frozen=True):
    """What the lane asks of other parts, and what it tells them; none of it but the first two waits."""

    lookup: Lookup
    publish: Publish
    on_removed: Callable[[], None]
    """Vectors went from the index: what somebody keeps of them is void."""
    attach: Attach = no_files
    hold: Callable[[], str] = str
    """Says why nothing new may be embedded now; empty if it may."""
    obstacle: Callable[[], str | None] = lambda: None
    """Says why no vectors will come until something changes."""


class PendingQueue(Struct, kw_only=True):
    """Texts and then files, in the order in which the store gave them, and files that must wait for a while."""

    file_bytes: int
    files_at_once: int
    _waiting: deque[PendingPassage] = field(default_factory=deque)
    _held: dict[bytes, tuple[float, str]] = {}
    """Until when each file waits, and why."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def begins_with_file(self) -> bool:
        """Whether the next one is a picture or sound, whose bytes are read anew for each try."""
        return bool(self._waiting) and self._waiting[0].file is not None

    @property
    def why_waiting(self) -> str | None:
        """Why the first of the files waits that do."""
        return next((reason for _, reason in self._held.values()), None)

    @property
    def has_waiting(self) -> bool:
        return bool(self._held)

    @property
    def is_of_texts(self) -> bool:
        """Whether something waits, and no file among it, which may have another name by now."""
        return bool(self._waiting) and self._waiting[-1].file is None

    def fill(self, passages: Iterable[PendingPassage]) -> None:
        """Take these in place of all that waits."""
        self._waiting = deque(passages)

    def without_waiting(self, passages: Sequence[PendingPassage]) -> list[PendingPassage]:
        """Return those of the passages that do not wait here."""
        waiting = {one.hash for one in self._waiting}
        return [one for one in passages if one.hash not in waiting]

    def put_before(self, passages: Iterable[PendingPassage], most: int) -> None:
        """Take these before the texts that wait, and let go of what is last beyond `most`."""
        self.fill(sorted([*passages, *self._waiting], key=lambda one: one.file is not None)[:most])

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def take(self, size: int) -> list[PendingPassage]:
        """Take texts, or, when none are left, files of few enough bytes to be held in memory at once."""
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
        """Have these come first again, in this order."""
        self._waiting.extendleft(reversed(passages))

    def hold(self, key: bytes, reason: str, until: float) -> None:
        """Have a file wait that was taken; the next look at the store is to leave it out."""
        self._held[key] = until, reason

    def held(self, now: float) -> tuple[bytes, ...]:
        """Return the files that must still wait, and forget the others."""
        self._held = {key: held for key, held in self._held.items() if held[0] > now}
        return tuple(self._held)

    def hold_ends_in(self, now: float) -> float | None:
        """Return in how many seconds a file is to be tried again, None if no file waits."""
        return max(0.01, min(until for until, _ in self._held.values()) - now) if self._held else None


class Spaces(Struct):
    """Finds the space of an embedder in one index, and remembers it while the file stays the same."""

    database: Database
    _known: dict[tuple[str, int], int] = {}
    _prepared: int | None = None
    """The opening of the file since which passages are found by hash."""

    async def of(self, embedder: Embedder) -> int:
        """Return the id of the embedder's space, made if it is new; raises StoreError."""
        key = (embedder.identity.fingerprint, self.database.epoch)
        if key not in self._known:
            # an index that can only be read still answers with the vectors it has
            found = await self.database.vectors.find_space(embedder.identity.fingerprint)
            self._known[key] = await self.open(embedder, None) if found is None else found
        return self._known[key]

    async def prepare(self) -> None:
        """Have passages found by hash before a space is known, if anything can be written: so they are soon counted."""
        epoch = self.database.epoch
        if self._prepared != epoch:
            with suppress(StoreError):
                await self.database.vectors.index_hashes()
                self._prepared = epoch

    async def open(self, embedder: Embedder, now: float | None) -> int:
        """Return the same, and note that it is at work there at `now`; raises StoreError where nothing can be written.

        `now` is Unix time; None: it may be gone before it is.
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
"""A passage of the index, and what of it is embedded."""


class Backlog(Struct, kw_only=True):
    """Fills the queue from the store, embeds batches of it and stores the vectors; all of it raises StoreError.

    What could not be sent goes back to the queue, or is held there.
    """

    database: Database
    spaces: Spaces
    slot: CurrentEmbedder
    queue: PendingQueue
    settings: EmbeddingLoopSettings
    links: EmbeddingLoopLinks
    lacking: int = 0
    """Passages without a vector as of the last look; all of them while no embedder is known."""
    done: int = 0
    """Passages that were given one since there was nothing to do."""
    must_start_over: bool = False
    """Whether the vectors of the space are to be forgotten with the next look."""
    space: int | None = None
    """The space that the queue was filled for."""
    is_known: bool = False
    """Whether nothing lacks its vector but what was counted at the last look, or came since."""
    _first: int = 0
    """The number from which on passages came since; 0 if all are to be looked at."""
    _in_use: set[int] = set()
    _room: int = -1
    """How many passages may go until there can be too many unused vectors in other spaces than those."""
    _epoch: int = -1
    """The opening of the file that the queue was filled from."""
    _purge_mark: int | None = None
    _counted: tuple[tuple[int, int, str], int] | None = None
    """How many passages had no vector at some moment of the file, in the space of a fingerprint."""
    _is_bounded: bool = False
    _deaths: Counter[bytes] = field(default_factory=Counter)
    _sending: Cancellable = field(default_factory=Cancellable)
    pace: RateMeter = field(default_factory=RateMeter)
    uses: CacheUses = field(default_factory=CacheUses)
    """Of vectors that another index holds already."""

    async def space_of(self, embedder: Embedder) -> int:
        """Return the space that its vectors go to, if anything can be written."""
        self.database.require_writable()
        space = await self.spaces.of(embedder)
        if (space, self.database.epoch) != (self.space, self._epoch):
            # whoever goes back to an earlier model is at work in its space again, and in no other; in a file that was
            # made anew a space of the same number was not worked in yet
            space = await self.spaces.open(embedder, time.time())
            self.rescan()
        return space

    async def count(self) -> int:
        """Ask the store how many passages have no vector, once for each change of it.

        Without an embedder, nobody knows of any that counts.
        """
        vectors, embedder = self.database.vectors, self.slot.embedder
        fingerprint = "" if embedder is None else embedder.identity.fingerprint
        moment = (self.database.epoch, self.database.writes, fingerprint)
        if self._counted is None or self._counted[0] != moment:
            # nothing is written for a question: where the space cannot be made, all passages lack their vector
            space = await vectors.find_space(fingerprint)
            self._counted = moment, await vectors.count_pending(NO_SPACE if space is None else space)
        return self._counted[1]

    async def refill(self, space: int) -> None:
        """Ask the store what is pending: what came since the last look, while the rest waits here or has its vector.

        Else all passages are looked at, which is once for many batches.
        """
        vectors = self.database.vectors
        is_known = self.is_known and space == self.space
        # before the first await: whoever asks for a look at all, or for new vectors, meanwhile means another one
        self.space, self.is_known = space, True
        if self.must_start_over:
            is_known = self.must_start_over = False
            try:
                await vectors.drop_space(space)
            except BaseException:
                # also one who is cancelled still owes it
                self.must_start_over = True
                raise
            self.links.on_removed()
        self._epoch, self._purge_mark = self.database.epoch, vectors.purge_mark
        await self._note_changes()
        # what is not here any more is counted, and found when nothing waits
        has_rest = self.queue.is_of_texts or not self.lacking
        first, held = self._first if is_known and has_rest else 0, self.queue.held(time.monotonic())
        found = await vectors.pending(space, self.settings.read_ahead, without=held, first=first)
        if self._purge_mark is not None and self._purge_mark != vectors.purge_mark:
            # some of these may be texts that were purged since: whoever purged has woken the lane for another look
            self.forget()
            return
        # not before: what a look that failed was to find is still to be found
        self._first = UNKNOWN
        if first:
            # what was committed while it was asked for comes a second time with the next look
            fresh = self.queue.without_waiting(found.passages)
            self.lacking += found.count - len(found.passages) + len(fresh)
            self.queue.put_before(fresh, self.settings.read_ahead)
        else:
            self.lacking = found.count
            self.queue.fill(found.passages)

    def forget(self) -> None:
        """Let go of the queue, and look at all passages next."""
        self.queue.clear()
        self.is_known = False

    async def _note_changes(self) -> None:
        changes = await self.database.vectors.take_changes()
        # among what went may be what waits here
        self._first = 0 if changes.gone and self.lacking else min(self._first, changes.first)
        # each may leave a vector in every space
        self._room -= changes.gone * max(1, len(self._in_use))

    async def store(self, space: int, good: Sequence[EmbeddedText], bad: Sequence[tuple[bytes, str]] = ()) -> None:
        """Store vectors, and why there will be none, by the hash of the text; what came from the queue last filled."""
        if self._epoch != self.database.epoch:
            # the file was lost meanwhile: in the new one the number may be that of another space
            raise StoreUnavailable("the index was made anew meanwhile")
        if good or bad:
            await self.database.vectors.put(space, good, bad, time.time(), purge_mark=self._purge_mark)
        if space not in self._in_use:
            # unused as soon as another model is at work
            self._room -= len(good)
        count = len(good) + len(bad)
        self.done += count
        self.lacking = max(0, self.lacking - count)

    def rescan(self) -> None:
        """Say that there may be more unused vectors than at the last look."""
        self._is_bounded = False

    async def bound_unused(self) -> None:
        """Drop vectors that have been unused longest, if there are too many; tried again if the store refuses.

        Those in the spaces of the configured providers for present passages are in use. While the first of these is
        not at work nobody knows its model, which may be any that it was asked for before.
        """
        if self._is_bounded:
            return
        # before the first await: what is removed meanwhile asks for another look
        self._is_bounded = True
        vectors, embedder, most = self.database.vectors, self.slot.embedder, self.settings.max_unused
        try:
            current = set() if embedder is None else {await self.spaces.of(embedder)}
            at_work = "" if embedder is None else embedder.identity.provider
            unknown = set(self.settings.providers[:1]) - {at_work}
            in_use = current | await vectors.spaces_of(self.settings.providers, unknown)
            await self._note_changes()
            if in_use != self._in_use or self._room < 0:
                self._in_use, self._room = in_use, most - await vectors.count_unused(in_use)
            if self._room >= 0:
                return
            # some more than must go, for whoever holds vectors in memory has to load them anew each time
            dropped = await vectors.evict_unused(in_use, most - most // SPARE_SHARE)
        except StoreError:
            self._is_bounded = False
            return
        self.links.on_removed()
        log.info("vectors dropped that nothing uses", dropped=dropped)

    async def embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        """Give a batch its vectors, unless it is broken off; raises EmbedderUnavailable, BudgetSpent, StoreError."""
        await self._sending.run(self._embed(embedder, space, batch))

    def break_off(self) -> None:
        """Let go of the batch that is being embedded, if any is."""
        self._sending.cancel()

    async def _embed(self, embedder: Embedder, space: int, batch: Sequence[PendingPassage]) -> None:
        found = await self.links.lookup(embedder.identity.fingerprint, [item.hash for item in batch])
        await self.store(space, [(item.hash, found[item.hash], item.language) for item in batch if item.hash in found])
        self.uses.note(is_hit=True, times=len(found))
        self.uses.note(is_hit=False, times=len(batch) - len(found))
        todo = [loaded for item in batch if item.hash not in found and (loaded := await self._load(item))]
        if todo:
            await self._embed_or_split(embedder, space, todo)

    async def _load(self, item: PendingPassage) -> _LoadedPassage | None:
        """Return what is to be embedded; a file that cannot be read is held back, and the disk will say more."""
        if item.file is None:
            return item, Passage(item.text, item.title)
        try:
            return item, Passage(item.text, item.title, await self.links.attach(item.file))
        except NotReadableError as exc:
            reason = f"{item.file.path} cannot be sent: {exc}"
            self.queue.hold(item.hash, reason, time.monotonic() + self.settings.hold)
            return None

    async def _embed_or_split(self, embedder: Embedder, space: int, batch: Sequence[_LoadedPassage]) -> None:
        """Embed a batch; if it ends the worker, halve it until the deadly text stands alone."""
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
            # no new question to the store, which costs a pass over the passages, until the embedder is back
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
        # not at once: the worker may have been killed for its memory, whatever it worked on
        self._deaths[key] += 1
        if self._deaths[key] >= DEADLY_TRIES:
            log.warning("text set aside: the embedding worker died of it", reason=reason, times=DEADLY_TRIES)
            await self.store(space, [], [(key, reason)])
