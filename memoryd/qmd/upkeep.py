"""Keeping the index of qmd up to date: find the program, write its configuration, `update`, `embed`, repair.

One loop does all of it, so two writers of one index never meet.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from memoryd.domain.breaker import Breaker
from memoryd.errors import SidecarError
from memoryd.qmd.collections import Collection, sanitised
from memoryd.qmd.command import CompletedCommand
from memoryd.qmd.home import QmdModels
from memoryd.qmd.installation import QmdInstallation
from memoryd.qmd.output import Complaint, complaint_of, first_error, vectors_in
from memoryd.store.foreign import cut_log

log = structlog.get_logger(__name__)

BUSY_TRIES = 3
BUSY_PAUSE = 0.5
REBUILD_EVERY = 3600.0
"""Seconds between two times that a damaged index is thrown away."""
CLEAN_TRIES = 3
"""So often qmd is asked to clean its index of what became private; then the index is deleted."""
CUT_SECONDS = 5.0
EMBED_RETRY = (5.0, 3600.0)
"""Seconds until a failed embedding is tried again: first, and at most."""

NO_VECTORS = "qmd has made no vectors yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTimes:
    """Seconds. An interval of 0 means never; `boot_delay` None means no refresh at the start."""

    interval: float = 300.0
    debounce: float = 15.0
    boot_delay: float | None = 0.0
    embed_interval: float = 3600.0
    command: float = 30.0
    update: float = 120.0
    embed: float = 120.0
    probe_again: float = 60.0
    """After the program was not found, or is none we can use."""


class QmdUpkeep:
    """The loop and what is known of the index; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        installation: QmdInstallation,
        collections: Callable[[], Sequence[Collection]],
        models: Callable[[], QmdModels],
        show: Callable[[Sequence[Collection]], bool],
        has_vectors: bool,
        times: UpkeepTimes,
        on_change: Callable[[], None],
        on_new_index: Callable[[], None],
    ) -> None:
        self.trouble: str | None = "qmd is starting"
        self.hint = ""
        self.vector_trouble: str | None = NO_VECTORS if has_vectors else None
        self.collections: tuple[Collection, ...] = ()
        self.models: QmdModels | None = None
        self.updated_at: float | None = None
        self.embedded_at: float | None = None
        self.vectors: int | None = None
        self.is_embedding = False
        self.booted = asyncio.Event()
        self._installation = installation
        self._collections = collections
        self._find_models = models
        self._show = show
        self._has_vectors = has_vectors
        self._times = times
        self._on_change = on_change
        self._on_new_index = on_new_index
        self._index: tuple[int, int] | None = None
        self._changed_at = time.time()
        self._has_changes = False
        self._wake = asyncio.Event()
        self._tried_at = time.monotonic()
        self._rebuilt_at = float("-inf")
        self._failures_to_clean = 0
        self._is_demanded = times.boot_delay is not None
        self._embed_at = 0.0
        self._is_embed_demanded = False
        self._embed_failures = 0
        self._breaker = Breaker()
        self._finished = asyncio.Condition()
        self._called = asyncio.Event()

    @property
    def is_current(self) -> bool:
        """Whether an update has begun after the last change that is known of, and succeeded."""
        return self.updated_at is not None and self.updated_at > self._changed_at

    @property
    def _owes_vectors(self) -> bool:
        """Whether the last update may have brought documents that have no vectors yet."""
        return self.updated_at is None or self.embedded_at is None or self.embedded_at < self.updated_at

    def as_of(self, *, by_words: bool) -> float | None:
        """Return the moment (system clock) up to which changes can be found, None if that is all that are known of.

        Found by words is what was updated, by meaning what was embedded since.
        """
        moment = self.updated_at if by_words else self.embedded_at
        return None if moment is not None and moment > self._changed_at else moment or 0.0

    def note_change(self) -> None:
        """Say that documents have changed; an update follows, not sooner than the debounce after the last one."""
        self._changed_at = time.time()
        self._has_changes = True
        self._wake.set()

    def demand(self) -> None:
        """Ask for an update now."""
        self._is_demanded = True
        self._wake.set()

    async def has_index(self) -> bool:
        """Tell whether the index on disk is the one that was updated; asks for an update if it is not."""
        found = await asyncio.to_thread(self._installation.home.index_identity)
        if found is None or found != self._index:
            self.demand()
            return False
        return True

    async def follow(self, *, embeds: bool) -> bool:
        """Ask for an update now, and for vectors too if `embeds`; return whether they are made, False if they failed.

        What lies on disk before the call can be found afterwards.
        """
        called_at, failures = time.time(), self._embed_failures
        self.demand()
        self._called.set()
        self._is_embed_demanded = self._is_embed_demanded or embeds

        def is_done() -> bool:
            is_updated = self.updated_at is not None and self.updated_at >= called_at
            return is_updated and not (embeds and self._owes_vectors)

        def is_over() -> bool:
            has_failed = self.booted.is_set() and self.trouble is not None
            return is_done() or has_failed or (embeds and self._embed_failures > failures)

        async with self._finished:
            await self._finished.wait_for(is_over)
        return is_done()

    async def run(self) -> None:
        """Keep the index fresh until cancelled; what fails is noted and tried again after the back-off.

        What was withdrawn from the notes of qmd goes from its bytes too, with the whole index if there is no other way.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._times.boot_delay or 0):
                await self._called.wait()
        while True:
            self._wake.clear()
            try:
                await self._work()
            except (SidecarError, OSError) as exc:
                await self._failed(exc)
            self.booted.set()
            async with self._finished:
                self._finished.notify_all()
            await self._sleep(self._next_wait())

    async def _work(self) -> None:
        if self._installation.program is None:
            # what became private goes, whether qmd is there or not
            if await asyncio.to_thread(self._installation.home.notes.is_dir):
                await self._look()
            await self._first_contact()
        await self._configure()
        await self._look()
        is_clean = await asyncio.to_thread(self._installation.home.is_clean)
        self._is_demanded = self._is_demanded or not is_clean
        if self._update_wait() <= 0:
            await self._update()
        if self._embed_wait() <= 0:
            await self._embed()
        self.hint = ""
        self._set_trouble(None)
        self._breaker = self._breaker.succeeded()

    async def _first_contact(self) -> None:
        """Find the program and see that it can open its database, which `--version` does not tell."""
        home = self._installation.home
        program = await self._installation.resolve()
        try:
            await asyncio.to_thread(home.prepare)
            await self._configure()
            await asyncio.to_thread(home.note_new)
            status = await self._writing("status", seconds=self._times.command)
        except (SidecarError, OSError):
            self._installation.forget()
            raise
        await self._note_index()
        self.updated_at = await asyncio.to_thread(home.updated_at)
        self.vectors = vectors_in(status.stdout)
        log.info("qmd found", path=str(program.path), version=program.version, home=str(home.root))

    async def _configure(self) -> None:
        """Bring the configuration to what it should be; collections that are gone take their documents with them."""
        home = self._installation.home
        collections = tuple(await asyncio.to_thread(self._collections))
        names = {one.name for one in collections}
        for name in sorted(await asyncio.to_thread(home.configured) - names):
            if name == sanitised(name):
                await self._installation.run("collection", "remove", name, seconds=self._times.command)
        self.models = await asyncio.to_thread(self._find_models)
        if await asyncio.to_thread(home.write_config, collections, self.models):
            self._is_demanded = self._is_demanded or bool(self.collections)
        self.collections = collections

    async def _update(self) -> None:
        self._tried_at, began = time.monotonic(), time.time()
        self._is_demanded = self._has_changes = False
        # what changed since the last look, and may be counted as read by this update
        await self._look()
        try:
            await self._writing("update", seconds=self._times.update)
        except SidecarError:
            self._is_demanded = True
            raise
        await self._note_index()
        self.updated_at = began
        await asyncio.to_thread(self._installation.home.note_update, began)
        await self._clean()
        self._on_change()

    async def _look(self) -> None:
        """Bring what qmd reads to what is public now."""
        is_whole = await asyncio.to_thread(lambda: self._show(self._collections()))
        self._has_changes = self._has_changes or not is_whole

    async def _clean(self) -> None:
        """Take from the bytes of the index what an update has only marked as gone: words, texts and vectors."""
        home = self._installation.home
        if await asyncio.to_thread(home.is_clean):
            return
        await self._writing("cleanup", seconds=self._times.update)
        # the server may be reading, and the log would keep what the file has lost
        if not await asyncio.to_thread(cut_log, home.index_file, busy_seconds=CUT_SECONDS):
            raise SidecarError("the index of qmd is in use, and cannot be cleaned of what became private")
        await asyncio.to_thread(home.note_clean, True)
        self._failures_to_clean = 0

    async def _note_index(self) -> None:
        """See whether the index is another file than before: then a server reads the old one, and vectors are lost."""
        found = await asyncio.to_thread(self._installation.home.index_identity)
        if self._index is not None and found != self._index:
            self.embedded_at, self._embed_at = None, 0.0
            self.vector_trouble = NO_VECTORS if self._has_vectors else None
            self._on_new_index()
        self._index = found

    async def _embed(self) -> None:
        """Make the vectors that are missing; a failure costs vectors, never words."""
        began = time.time()
        # an update that is still owed brings documents that this run cannot see
        self._is_embed_demanded = self._is_demanded
        try:
            self.vector_trouble = await self._embedded()
            self._embed_failures = 0
            interval = self._times.embed_interval
            self._embed_at = time.monotonic() + interval if interval else float("inf")
            self.embedded_at = began
        except SidecarError as exc:
            self._embed_failures += 1
            first, longest = EMBED_RETRY
            self._embed_at = time.monotonic() + min(longest, first * 2 ** min(self._embed_failures - 1, 16))
            self.vector_trouble = f"qmd cannot make vectors: {exc}"
            log.warning("qmd embed failed", reason=str(exc))
        status = await self._writing("status", seconds=self._times.command)
        self.vectors = vectors_in(status.stdout)
        if not self.vectors and not self.vector_trouble:
            self.vector_trouble = NO_VECTORS
        self._on_change()

    async def _embedded(self) -> str | None:
        if self.models is None or self.models.embed.trouble is not None:
            raise SidecarError(f"there is no embedding model: {self.models and self.models.embed.trouble}")
        self.is_embedding = True
        try:
            outcome = await self._writing("embed", seconds=self._times.embed)
        except SidecarError as exc:
            if "dimension" not in str(exc).lower():
                raise
            outcome = await self._writing("embed", "-f", seconds=self._times.embed)
        finally:
            self.is_embedding = False
        if "still failed" in outcome.stdout:
            return next(line.strip() for line in outcome.stdout.splitlines() if "still failed" in line)
        return None

    async def _writing(self, *arguments: str, seconds: float) -> CompletedCommand:
        """Run a command that may write; waits for other writers, and makes a damaged index anew."""
        for attempt in range(BUSY_TRIES):
            outcome = await self._installation.run(*arguments, seconds=seconds)
            if outcome.code == 0 and "Skipping" not in outcome.stdout:
                return outcome
            said = f"{outcome.stderr}\n{outcome.stdout}" if outcome.code == 0 else outcome.stderr
            complaint = complaint_of(said)
            is_stubborn = attempt == BUSY_TRIES - 1 and "constraint" in said.lower()
            if (complaint is Complaint.DAMAGED or is_stubborn) and await self._rebuild(said):
                continue
            if complaint is not Complaint.BUSY:
                break
            await asyncio.sleep(BUSY_PAUSE * 2**attempt)
        raise SidecarError(f"qmd {arguments[0]} failed: {_why(outcome)}")

    async def _rebuild(self, reason: str) -> bool:
        if time.monotonic() - self._rebuilt_at < REBUILD_EVERY:
            return False
        self._rebuilt_at = time.monotonic()
        log.warning("the index of qmd is damaged and is made anew", reason=first_error(reason))
        await self._remove_index()
        return True

    async def _remove_index(self) -> None:
        await asyncio.to_thread(self._installation.home.remove_index)
        self.updated_at, self._is_demanded, self._embed_at = None, True, 0.0

    async def _give_up_cleaning(self) -> None:
        """Delete an index that holds what became private, and that qmd does not clean."""
        home = self._installation.home
        if await asyncio.to_thread(home.is_clean):
            return
        self._failures_to_clean += 1
        if self._installation.program is None or self._failures_to_clean >= CLEAN_TRIES:
            log.warning("the index of qmd held what became private and is deleted", home=str(home.root))
            self._failures_to_clean = 0
            await self._remove_index()
            self._on_new_index()

    async def _failed(self, exc: Exception) -> None:
        await self._give_up_cleaning()
        self._breaker = self._breaker.failed(time.monotonic(), random.random())
        self.hint = exc.hint if isinstance(exc, SidecarError) else ""
        if str(exc) != self.trouble:
            log.warning("qmd degraded, the builtin index answers", reason=str(exc), hint=self.hint)
        self._set_trouble(str(exc))

    def _set_trouble(self, trouble: str | None) -> None:
        has_changed = trouble != self.trouble
        self.trouble = trouble
        if has_changed:
            self._on_change()

    def _update_wait(self) -> float:
        """Seconds until an update is due."""
        if self._is_demanded:
            return 0.0
        since = time.monotonic() - self._tried_at
        if self._has_changes:
            return max(0.0, self._times.debounce - since)
        return max(0.0, self._times.interval - since) if self._times.interval else float("inf")

    def _embed_wait(self) -> float:
        """Seconds until vectors are due."""
        if not self._has_vectors:
            return float("inf")
        return 0.0 if self._is_embed_demanded else self._embed_at - time.monotonic()

    def _next_wait(self) -> float:
        now = time.monotonic()
        if self.trouble is not None:
            has_program = self._installation.program is not None
            return self._breaker.wait(now) if has_program else self._times.probe_again
        return max(0.0, min(self._update_wait(), self._embed_wait()))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, less if something changes that makes the wait shorter; failures keep their back-off."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left if left != float("inf") else None):
                    await self._wake.wait()
            self._wake.clear()
            if self.trouble is None:
                end = min(end, time.monotonic() + self._next_wait())


def _why(outcome: CompletedCommand) -> str:
    if outcome.code == -11 or outcome.code == 139:
        return "it crashed, as it does under a Node that is too old"
    if outcome.code < 0:
        return outcome.ending
    return first_error(outcome.stderr) or first_error(outcome.stdout) or outcome.ending
