"""Maintenance of the index of qmd: when and how to find the program, configure it, `update`, `embed` and repair.

A single loop does all of it, so there are never two writers of one index.
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
from memoryd.retry import Breaker, wait_within

NEVER = float("inf")
EMBED_RETRY = (5.0, 3600.0)
"""Seconds until a failed embedding is tried again: first, and at most."""


class Schedule(Struct, frozen=True):
    """The pending work and the last attempts; immutable: each method returns a new schedule."""

    rules: MaintenanceRules
    tried_at: float
    """When the last update began; before the first update, when the schedule was made."""
    is_demanded: bool = False
    has_changes: bool = False
    is_embed_demanded: bool = False
    embed_at: float = 0.0
    embed_failures: int = 0
    """Failures in a row."""
    breaker: Breaker = Breaker()
    pause_until: float | None = None
    """No work begins before this time (monotonic)."""
    is_booting: bool = False
    """Whether the pause is the delay at the start."""

    def note_change(self) -> "Schedule":
        """Record that documents changed: an update is due when the debounce after the last one ends."""
        return replace(self, has_changes=True)

    def demand(self) -> "Schedule":
        """Record that an update is due now."""
        return replace(self, is_demanded=True)

    def follow(self, *, embeds: bool) -> "Schedule":
        """Record that a caller waits for an update, and vectors if `embeds`; ends the start delay, but no back-off."""
        return replace(
            self,
            is_demanded=True,
            is_embed_demanded=self.is_embed_demanded or embeds,
            pause_until=None if self.is_booting else self.pause_until,
        )

    def demand_now(self) -> "Schedule":
        """Record that forgotten text must be removed: an update is due now, even within a back-off."""
        return replace(self, is_demanded=True, pause_until=None)

    def begin_update(self, now: float) -> "Schedule":
        """Record that an update begins; changes from here on need another."""
        return replace(self, tried_at=now, is_demanded=False, has_changes=False)

    def begin_embed(self) -> "Schedule":
        """Record that an embedding begins. If an update is still due, its documents need another embedding."""
        return replace(self, is_embed_demanded=self.is_demanded)

    def finish_embed(self, now: float) -> "Schedule":
        """Record that an embedding has succeeded."""
        return replace(self, embed_failures=0, embed_at=now + (self.rules.embed_interval or NEVER))

    def fail_embed(self, now: float) -> "Schedule":
        """Record that no vectors could be made; the wait doubles with each failure in a row."""
        first, longest = EMBED_RETRY
        delay = min(longest, first * 2 ** min(self.embed_failures, 16))
        return replace(self, embed_failures=self.embed_failures + 1, embed_at=now + delay)

    def lose_vectors(self) -> "Schedule":
        """Record that the index is a new file without vectors."""
        return replace(self, embed_at=0.0)

    def lose_index(self) -> "Schedule":
        """Record that the index was deleted and must be built."""
        return replace(self, is_demanded=True, embed_at=0.0)

    def succeed(self) -> "Schedule":
        """Record that all due work is done."""
        return replace(self, breaker=self.breaker.note_success(), pause_until=None)

    def fail(self, now: float, chance: float, *, has_program: bool) -> "Schedule":
        """Record that the due work failed; `chance` in [0, 1) spreads the next attempt."""
        breaker = self.breaker.note_failure(now, chance)
        pause = breaker.wait(now) if has_program else self.rules.probe_again
        return replace(self, breaker=breaker, pause_until=now + pause, is_booting=False)

    def update_in(self, now: float) -> float:
        """Return in how many seconds an update is due; `NEVER` if none is."""
        if self.is_demanded:
            return 0.0
        wait = self.rules.debounce if self.has_changes else self.rules.interval or NEVER
        return max(0.0, self.tried_at + wait - now)

    def embed_in(self, now: float) -> float:
        """Return in how many seconds an embedding is due; `NEVER` if none is."""
        if not self.rules.makes_vectors:
            return NEVER
        return 0.0 if self.is_embed_demanded else max(0.0, self.embed_at - now)

    def wait(self, now: float) -> float:
        """Return in how many seconds work begins; in a pause, that is at its end."""
        return min(self.update_in(now), self.embed_in(now)) if self.pause_until is None else self.pause_until - now


def first_schedule(rules: MaintenanceRules, now: float) -> Schedule:
    """Return the schedule at the start. The program is always located then; the first update is optional."""
    begins_at = now + (rules.boot_delay or 0.0)
    return Schedule(rules, now, is_demanded=rules.boot_delay is not None, pause_until=begins_at, is_booting=True)


log = structlog.get_logger(__name__)

NO_VECTORS = "qmd has made no vectors yet"


class QmdInputs(Struct, frozen=True):
    """Callbacks for the inputs of an agent's qmd, called each time. All of them block and may raise OSError."""

    collections: Callable[[], Sequence[Collection]]
    models: Callable[[], Mapping[str, QmdModel]]
    refresh_copies: Callable[[Sequence[Collection]], bool]
    """Updates the copies of public notes that qmd reads; returns False if something changed during that."""


class QmdMaintenance:
    """Does the work that is due by the schedule; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        installation: QmdInstallation,
        supplies: QmdInputs,
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
        self._refreshed_at = self._ended_at = 0.0
        """When the last successful refresh of copies, and the last finished round, began (monotonic)."""
        self._wake = asyncio.Event()
        self._finished = asyncio.Condition()

    def note_change(self) -> None:
        """Report that documents changed; an update follows, not before the debounce after the last one ends."""
        self.state.changed_at = time.time()
        self._schedule = self._schedule.note_change()
        self._wake.set()

    def demand(self) -> None:
        """Ask for an update now."""
        self._schedule = self._schedule.demand()
        self._wake.set()

    async def has_index(self) -> bool:
        """Return whether the index on disk is the one that was updated; demand an update if it is not."""
        is_in_place = await self._index.is_in_place()
        if not is_in_place:
            self.demand()
        return is_in_place

    async def follow(self, *, embeds: bool) -> bool:
        """Demand an update now, and vectors if `embeds`, and wait for them; return False if that failed.

        After True, files that were on disk before the call can be found.
        """
        # no await before the demand, so no round begins between it and taking the time
        called_at, failures, state = time.time(), self._schedule.embed_failures, self.state
        self._schedule = self._schedule.follow(embeds=embeds)
        self._wake.set()

        def is_done() -> bool:
            # `updated_at` is when an update began, before it read the disk. An update that runs at the call may have
            # read the disk already; only one that began after the call has certainly seen all files. Both times are of
            # the system clock, since `updated_at` is stored over restarts. If that clock is set back in between, the
            # wait lasts until the next update, or the caller's timeout
            is_updated = state.updated_at is not None and state.updated_at >= called_at
            return is_updated and not (embeds and state.owes_vectors)

        def is_over() -> bool:
            # until the first round is over, `trouble` is set without a failure
            has_failed = self.booted.is_set() and state.trouble is not None
            # the failure of an embedding that ran at the call counts, too: do not wait for the next attempt
            return is_done() or has_failed or (embeds and self._schedule.embed_failures > failures)

        # `wait_for` checks first, so a round that has ended by now is seen, too
        async with self._finished:
            await self._finished.wait_for(is_over)
        return is_done()

    async def drop_remains(self) -> bool:
        """Update qmd now; return whether its index no longer contains deleted text."""
        called_at = time.monotonic()
        self._schedule = self._schedule.demand_now()
        self._wake.set()
        async with self._finished:
            await self._finished.wait_for(lambda: self._ended_at >= called_at)
        return self._refreshed_at >= called_at and await asyncio.to_thread(self._installation.home.is_clean)

    async def run(self) -> None:
        """Keep the index up to date until cancelled; record failures, and retry after a back-off.

        Text deleted from qmd's notes is also deleted from its index file, if need be with the whole index.
        """
        while True:
            await self._rest()
            began = time.monotonic()
            try:
                await self._work()
            except (SidecarError, OSError) as exc:
                await self._note_failure(exc)
            # before the callers of `follow` are woken: they check it
            self.booted.set()
            # when the round began: one that began before `drop_remains` was called does not count for it
            self._ended_at = began
            async with self._finished:
                self._finished.notify_all()

    async def _rest(self) -> None:
        """Sleep until work is due. Events shorten the wait, but never extend it."""
        end = NEVER
        while True:
            # cleared before the schedule is read, so that no event is lost
            self._wake.clear()
            now = time.monotonic()
            end = min(end, now + self._schedule.wait(now))
            if end <= now:
                return
            await wait_within(self._wake.wait(), end - now if end != NEVER else None)

    async def _work(self) -> None:
        home = self._installation.home
        if self._installation.program is None:
            # delete copies of notes that became private, even without the program
            if await asyncio.to_thread(home.notes.is_dir):
                await self._refresh_copies()
            await self._make_contact()
        await self._configure()
        await self._refresh_copies()
        if not await asyncio.to_thread(home.is_clean):
            self._schedule = self._schedule.demand()
        if self._schedule.update_in(time.monotonic()) <= 0:
            await self._update()
        # after the update, which may have found a new index without vectors
        if self._schedule.embed_in(time.monotonic()) <= 0:
            await self._embed()
        self._schedule = self._schedule.succeed()
        self._note_trouble(None, "")

    async def _make_contact(self) -> None:
        """Find the program, and check that it can open its database."""
        home = self._installation.home
        program = await self._installation.resolve()
        try:
            await asyncio.to_thread(home.prepare)
            await self._configure()
            # before `status`, which creates the index: only without an index it is known to be clean
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
        """Update the configuration; collections that were removed are deleted with their documents."""
        collections = tuple(await asyncio.to_thread(self._supplies.collections))
        await self._index.remove_other_collections({collection.name for collection in collections})
        self.state.models = await asyncio.to_thread(self._supplies.models)
        paths = {role: model.path for role, model in self.state.models.items()}
        is_new = await asyncio.to_thread(self._installation.home.write_config, collections, paths)
        # not at the start: whether to update then is configured
        if is_new and self.state.collections:
            self._schedule = self._schedule.demand()
        self.state.collections = collections

    async def _refresh_copies(self) -> None:
        """Update the copies that qmd reads; if something changed during that, schedule another update."""
        began = time.monotonic()
        if await asyncio.to_thread(lambda: self._supplies.refresh_copies(self._supplies.collections())):
            self._refreshed_at = began
        else:
            self._schedule = self._schedule.note_change()

    async def _update(self) -> None:
        # both before the disk is read: changes from here on may be missed, and need another update
        began = time.time()
        self._schedule = self._schedule.begin_update(time.monotonic())
        # copy the changes since the last refresh, which this update counts as read
        await self._refresh_copies()
        try:
            await self._index.update()
        except SidecarError:
            self._schedule = self._schedule.demand()
            raise
        await self._check_index()
        # only now: queries during the update must take changed documents from the builtin index
        self.state.updated_at = began
        await asyncio.to_thread(self._installation.home.note_update, began)
        await self._index.clean()
        self._on_change()

    async def _check_index(self) -> None:
        """Check whether the index is a new file: then it has no vectors, and the server must be restarted."""
        if await self._index.note_replacement():
            self.state.embedded_at = None
            self.state.vector_trouble = NO_VECTORS if self._rules.makes_vectors else None
            self._schedule = self._schedule.lose_vectors()
            self._on_new_index()

    async def _embed(self) -> None:
        """Make missing vectors; a failure does not affect the search by words."""
        began, state = time.time(), self.state
        self._schedule = self._schedule.begin_embed()
        try:
            state.vector_trouble = await self._make_vectors()
            self._schedule = self._schedule.finish_embed(time.monotonic())
            state.embedded_at = began
        except SidecarError as exc:
            self._schedule = self._schedule.fail_embed(time.monotonic())
            state.vector_trouble = f"qmd cannot make vectors: {exc}"
            log.warning("qmd embed failed", reason=str(exc))
        state.vectors = await self._index.status()
        if not state.vectors and not state.vector_trouble:
            state.vector_trouble = NO_VECTORS
        self._on_change()

    async def _make_vectors(self) -> str | None:
        """Make vectors; return why some are still missing. Raises SidecarError if none can be made."""
        model = self.state.models.get("embed")
        if model is None or model.trouble is not None:
            raise SidecarError(f"there is no embedding model: {model and model.trouble}")
        self.state.is_embedding = True
        try:
            return await self._index.embed()
        finally:
            self.state.is_embedding = False

    async def _note_failure(self, exc: SidecarError | OSError) -> None:
        if await self._index.delete_if_uncleanable():
            self._on_new_index()
        hint = exc.hint if isinstance(exc, SidecarError) else ""
        has_program = self._installation.program is not None
        now, chance = time.monotonic(), random.random()
        self._schedule = self._schedule.fail(now, chance, has_program=has_program)
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
        self._schedule = self._schedule.lose_index()


class MaintenanceState(Struct):
    """The state of the index; times are seconds of the system clock. Written only by the maintenance loop."""

    changed_at: float
    vector_trouble: str | None
    trouble: str | None = "qmd is starting"
    hint: str = ""
    updated_at: float | None = None
    """When the last successful update began."""
    embedded_at: float | None = None
    vectors: int | None = None
    is_embedding: bool = False
    collections: tuple[Collection, ...] = ()
    models: Mapping[str, QmdModel] = {}
    """Models by role: `embed`, `generate`, `rerank`; empty before the first round."""

    @property
    def is_current(self) -> bool:
        """Whether a successful update began after the last known change."""
        return self.updated_at is not None and self.updated_at > self.changed_at

    @property
    def owes_vectors(self) -> bool:
        """Whether documents of the last update may have no vectors yet."""
        return self.updated_at is None or self.embedded_at is None or self.embedded_at < self.updated_at

    def as_of(self, *, by_words: bool) -> float | None:
        """Return the time up to which changes can be found, None if all known changes can.

        By words, that is the last update; by meaning, the last embedding.
        """
        moment = self.updated_at if by_words else self.embedded_at
        return None if moment is not None and moment > self.changed_at else moment or 0.0
