"""Keeping the index of qmd up to date: when, and how: find the program, configure it, `update`, `embed`, repair.

One loop does all of it, so two writers of one index never meet.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.errors import SidecarError
from memoryd.qmd.collections import Collection
from memoryd.qmd.index_writer import IndexWriter, MaintenanceRules, QmdModel
from memoryd.qmd.program import QmdInstallation
from memoryd.retry import Breaker, happens

NEVER = float("inf")
EMBED_RETRY = (5.0, 3600.0)
"""Seconds until a failed embedding is tried again: first, and at most."""


class Schedule(Struct, frozen=True):
    """What is owed and what was tried."""

    rules: MaintenanceRules
    tried_at: float
    """When the last update began; before the first, when the schedule did."""
    is_demanded: bool = False
    has_changes: bool = False
    is_embed_demanded: bool = False
    embed_at: float = 0.0
    embed_failures: int = 0
    """In a row."""
    breaker: Breaker = Breaker()
    pause_until: float | None = None
    """Nothing is begun before this moment."""
    is_booting: bool = False
    """Whether that is the delay at the start."""

    def changed(self) -> "Schedule":
        """Note that documents have changed: an update is owed, when the debounce after the last one is over."""
        return replace(self, has_changes=True)

    def demanded(self) -> "Schedule":
        """Note that an update is owed now."""
        return replace(self, is_demanded=True)

    def followed(self, *, embeds: bool) -> "Schedule":
        """Note that somebody waits for an update, or vectors too: the delay at the start ends, a back-off does not."""
        return replace(
            self,
            is_demanded=True,
            is_embed_demanded=self.is_embed_demanded or embeds,
            pause_until=None if self.is_booting else self.pause_until,
        )

    def pressed(self) -> "Schedule":
        """Note that what was forgotten is to be gone: an update is tried now, also within a back-off."""
        return replace(self, is_demanded=True, pause_until=None)

    def update_begun(self, now: float) -> "Schedule":
        """Note that an update begins; what changes from here on is owed another."""
        return replace(self, tried_at=now, is_demanded=False, has_changes=False)

    def embed_begun(self) -> "Schedule":
        """Note that an embedding begins. An update that is still owed brings documents that it cannot see."""
        return replace(self, is_embed_demanded=self.is_demanded)

    def embed_succeeded(self, now: float) -> "Schedule":
        """Note the end of an embedding."""
        return replace(self, embed_failures=0, embed_at=now + (self.rules.embed_interval or NEVER))

    def embed_failed(self, now: float) -> "Schedule":
        """Note that no vectors could be made; the wait doubles with each failure in a row."""
        first, longest = EMBED_RETRY
        delay = min(longest, first * 2 ** min(self.embed_failures, 16))
        return replace(self, embed_failures=self.embed_failures + 1, embed_at=now + delay)

    def vectors_lost(self) -> "Schedule":
        """Note that the index is another file, which has no vectors."""
        return replace(self, embed_at=0.0)

    def index_lost(self) -> "Schedule":
        """Note that there is no index any more: all of it is to be made."""
        return replace(self, is_demanded=True, embed_at=0.0)

    def succeeded(self) -> "Schedule":
        """Note that all that was due is done."""
        return replace(self, breaker=self.breaker.succeeded(), pause_until=None)

    def failed(self, now: float, chance: float, *, has_program: bool) -> "Schedule":
        """Note that what was due could not be done; `chance` in [0, 1) spreads the next try."""
        breaker = self.breaker.failed(now, chance)
        pause = breaker.wait(now) if has_program else self.rules.probe_again
        return replace(self, breaker=breaker, pause_until=now + pause, is_booting=False)

    def update_in(self, now: float) -> float:
        """Return in how many seconds an update is due, `NEVER` included."""
        if self.is_demanded:
            return 0.0
        wait = self.rules.debounce if self.has_changes else self.rules.interval or NEVER
        return max(0.0, self.tried_at + wait - now)

    def embed_in(self, now: float) -> float:
        """Return in how many seconds an embedding is due, `NEVER` included."""
        if not self.rules.makes_vectors:
            return NEVER
        return 0.0 if self.is_embed_demanded else max(0.0, self.embed_at - now)

    def wait(self, now: float) -> float:
        """Return in how many seconds the index is worked on again; in a pause nothing is begun, at its end anything."""
        return min(self.update_in(now), self.embed_in(now)) if self.pause_until is None else self.pause_until - now


def first_schedule(rules: MaintenanceRules, now: float) -> Schedule:
    """Return what is owed at the start. qmd is looked for in any case, and its first update is not always wanted."""
    begins_at = now + (rules.boot_delay or 0.0)
    return Schedule(rules, now, is_demanded=rules.boot_delay is not None, pause_until=begins_at, is_booting=True)


log = structlog.get_logger(__name__)

NO_VECTORS = "qmd has made no vectors yet"


class Supplies(Struct, frozen=True):
    """What an agent's qmd is given, asked for anew each time. All of it blocks and may raise OSError."""

    collections: Callable[[], Sequence[Collection]]
    models: Callable[[], Mapping[str, QmdModel]]
    show: Callable[[Sequence[Collection]], bool]
    """Bring what qmd reads to what is public now; False if something changed meanwhile."""


class QmdMaintenance:
    """Does what the plan says is due; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        installation: QmdInstallation,
        supplies: Supplies,
        rules: MaintenanceRules,
        on_change: Callable[[], None],
        on_new_index: Callable[[], None],
    ) -> None:
        self.state = MaintenanceState(time.time(), NO_VECTORS if rules.makes_vectors else None)
        self.booted = asyncio.Event()
        self._installation = installation
        self._supplies = supplies
        self._rules = rules
        self._on_change = on_change
        self._on_new_index = on_new_index
        self._index = IndexWriter(installation=installation, rules=rules, on_removed=self._note_removed)
        self._schedule = first_schedule(rules, time.monotonic())
        self._looked_at = self._ended_at = 0.0
        self._wake = asyncio.Event()
        self._finished = asyncio.Condition()

    def note_change(self) -> None:
        """Say that documents have changed; an update follows, not sooner than the debounce after the last one."""
        self.state.changed_at = time.time()
        self._schedule = self._schedule.changed()
        self._wake.set()

    def demand(self) -> None:
        """Ask for an update now."""
        self._schedule = self._schedule.demanded()
        self._wake.set()

    async def has_index(self) -> bool:
        """Tell whether the index on disk is the one that was updated; asks for an update if it is not."""
        is_there = await self._index.is_in_place()
        if not is_there:
            self.demand()
        return is_there

    async def follow(self, *, embeds: bool) -> bool:
        """Ask for an update now, and for vectors too if `embeds`; return whether they are made, False if they failed.

        What lies on disk before the call can be found afterwards.
        """
        # nothing runs up to the first await, so no round begins between the note of the time and the demand
        called_at, failures, state = time.time(), self._schedule.embed_failures, self.state
        self._schedule = self._schedule.followed(embeds=embeds)
        self._wake.set()

        def is_done() -> bool:
            # `updated_at` is when an update began, before it looked at the disk. One that is under way now may have
            # looked already, and its end proves nothing: only one that began after the call has seen what lay there.
            # Both are of the system's clock, as what is remembered over a restart must be: where it is set back in
            # between, the wait lasts until the next update, or as long as the caller lets it
            is_updated = state.updated_at is not None and state.updated_at >= called_at
            return is_updated and not (embeds and state.owes_vectors)

        def is_over() -> bool:
            # at the start there is trouble that is no failure, until the first round is over
            has_failed = self.booted.is_set() and state.trouble is not None
            # the failure of an embedding that was under way at the call counts, too: nobody is held for another try,
            # which is begun all the same
            return is_done() or has_failed or (embeds and self._schedule.embed_failures > failures)

        # a round that ends before this is entered is seen all the same: the conditions are looked at before the wait
        async with self._finished:
            await self._finished.wait_for(is_over)
        return is_done()

    async def drop_remains(self) -> bool:
        """Try at once to have qmd follow the notes; return whether it keeps nothing any more that they do not say."""
        called_at = time.monotonic()
        self._schedule = self._schedule.pressed()
        self._wake.set()
        async with self._finished:
            await self._finished.wait_for(lambda: self._ended_at >= called_at)
        return self._looked_at >= called_at and await asyncio.to_thread(self._installation.home.is_clean)

    async def run(self) -> None:
        """Keep the index fresh until cancelled; what fails is noted and tried again after the back-off.

        What goes from the notes of qmd goes from its bytes too, with the whole index if there is no other way.
        """
        while True:
            await self._rest()
            began = time.monotonic()
            try:
                await self._work()
            except (SidecarError, OSError) as exc:
                await self._note_failure(exc)
            # before those who follow are woken: they ask whether trouble is a failure
            self.booted.set()
            # a round that was under way when somebody pressed may have looked before
            self._ended_at = began
            async with self._finished:
                self._finished.notify_all()

    async def _rest(self) -> None:
        """Sleep until something is due. News makes the wait shorter, never longer."""
        end = NEVER
        while True:
            # cleared before the plan is made, so that no news falls between the two
            self._wake.clear()
            now = time.monotonic()
            end = min(end, now + self._schedule.wait(now))
            if end <= now:
                return
            await happens(self._wake.wait(), end - now if end != NEVER else None)

    async def _work(self) -> None:
        home = self._installation.home
        if self._installation.program is None:
            # what became private goes, whether qmd is there or not
            if await asyncio.to_thread(home.notes.is_dir):
                await self._look()
            await self._make_contact()
        await self._configure()
        await self._look()
        if not await asyncio.to_thread(home.is_clean):
            self._schedule = self._schedule.demanded()
        if self._schedule.update_in(time.monotonic()) <= 0:
            await self._update()
        # asked for anew: the update may have found another index, without vectors
        if self._schedule.embed_in(time.monotonic()) <= 0:
            await self._embed()
        self._schedule = self._schedule.succeeded()
        self._note_trouble(None, "")

    async def _make_contact(self) -> None:
        """Find the program and see that it can open its database."""
        home = self._installation.home
        program = await self._installation.resolve()
        try:
            await asyncio.to_thread(home.prepare)
            await self._configure()
            # before `status`, which makes the file: then nobody can tell any more that nothing was ever in it
            await asyncio.to_thread(home.note_new)
            vectors = await self._index.status()
        except (SidecarError, OSError):
            self._installation.forget()
            raise
        await self._check_index()
        self.state.updated_at = await asyncio.to_thread(home.updated_at)
        self.state.vectors = vectors
        log.info("qmd found", path=str(program.path), version=program.version, home=str(home.root))

    async def _configure(self) -> None:
        """Bring the configuration to what it should be; collections that are gone take their documents with them."""
        collections = tuple(await asyncio.to_thread(self._supplies.collections))
        await self._index.keep_collections({one.name for one in collections})
        self.state.models = await asyncio.to_thread(self._supplies.models)
        paths = {role: model.path for role, model in self.state.models.items()}
        is_new = await asyncio.to_thread(self._installation.home.write_config, collections, paths)
        # at the start it is no news: whether there is an update then is for the rules to say
        if is_new and self.state.collections:
            self._schedule = self._schedule.demanded()
        self.state.collections = collections

    async def _look(self) -> None:
        """Bring what qmd reads to what is public now."""
        began = time.monotonic()
        if await asyncio.to_thread(lambda: self._supplies.show(self._supplies.collections())):
            self._looked_at = began
        else:
            self._schedule = self._schedule.changed()

    async def _update(self) -> None:
        # both before the look at the disk: what changes from here on may be missed, and is owed another update
        began = time.time()
        self._schedule = self._schedule.update_begun(time.monotonic())
        # what changed since the last look, and may be counted as read by this update
        await self._look()
        try:
            await self._index.update()
        except SidecarError:
            self._schedule = self._schedule.demanded()
            raise
        await self._check_index()
        # only now: a question that is asked meanwhile is to take what changed from the builtin index
        self.state.updated_at = began
        await asyncio.to_thread(self._installation.home.note_update, began)
        await self._index.clean()
        self._on_change()

    async def _check_index(self) -> None:
        """See whether the index is another file than before: then a server reads the old one, and vectors are lost."""
        if await self._index.is_replaced():
            self.state.embedded_at = None
            self.state.vector_trouble = NO_VECTORS if self._rules.makes_vectors else None
            self._schedule = self._schedule.vectors_lost()
            self._on_new_index()

    async def _embed(self) -> None:
        """Make the vectors that are missing; a failure costs vectors, never words."""
        began, state = time.time(), self.state
        self._schedule = self._schedule.embed_begun()
        try:
            state.vector_trouble = await self._make_vectors()
            self._schedule = self._schedule.embed_succeeded(time.monotonic())
            state.embedded_at = began
        except SidecarError as exc:
            self._schedule = self._schedule.embed_failed(time.monotonic())
            state.vector_trouble = f"qmd cannot make vectors: {exc}"
            log.warning("qmd embed failed", reason=str(exc))
        state.vectors = await self._index.status()
        if not state.vectors and not state.vector_trouble:
            state.vector_trouble = NO_VECTORS
        self._on_change()

    async def _make_vectors(self) -> str | None:
        """Return why some vectors are missing still; raises SidecarError if none can be made."""
        model = self.state.models.get("embed")
        if model is None or model.trouble is not None:
            raise SidecarError(f"there is no embedding model: {model and model.trouble}")
        self.state.is_embedding = True
        try:
            return await self._index.embed()
        finally:
            self.state.is_embedding = False

    async def _note_failure(self, exc: SidecarError | OSError) -> None:
        if await self._index.give_up_cleaning():
            self._on_new_index()
        hint = exc.hint if isinstance(exc, SidecarError) else ""
        has_program = self._installation.program is not None
        now, chance = time.monotonic(), random.random()
        self._schedule = self._schedule.failed(now, chance, has_program=has_program)
        if str(exc) != self.state.trouble:
            log.warning("qmd degraded, the builtin index answers", reason=str(exc), hint=hint)
        self._note_trouble(str(exc), hint)

    def _note_trouble(self, trouble: str | None, hint: str) -> None:
        has_changed = trouble != self.state.trouble
        self.state.trouble, self.state.hint = trouble, hint
        if has_changed:
            self._on_change()

    def _note_removed(self) -> None:
        self.state.updated_at = None
        self._schedule = self._schedule.index_lost()


class MaintenanceState(Struct):
    """What is known of the index; moments are seconds of the system's clock. The upkeep alone writes it."""

    changed_at: float
    vector_trouble: str | None
    trouble: str | None = "qmd is starting"
    hint: str = ""
    updated_at: float | None = None
    """When the last update began that succeeded."""
    embedded_at: float | None = None
    vectors: int | None = None
    is_embedding: bool = False
    collections: tuple[Collection, ...] = ()
    models: Mapping[str, QmdModel] = {}
    """By what they are for: `embed`, `generate`, `rerank`; none before the first look."""

    @property
    def is_current(self) -> bool:
        """Whether an update has begun after the last change that is known of, and succeeded."""
        return self.updated_at is not None and self.updated_at > self.changed_at

    @property
    def owes_vectors(self) -> bool:
        """Whether the last update may have brought documents that have no vectors yet."""
        return self.updated_at is None or self.embedded_at is None or self.embedded_at < self.updated_at

    def as_of(self, *, by_words: bool) -> float | None:
        """Return the moment up to which changes can be found, None if that is all that are known of.

        Found by words is what was updated, by meaning what was embedded since.
        """
        moment = self.updated_at if by_words else self.embedded_at
        return None if moment is not None and moment > self.changed_at else moment or 0.0
