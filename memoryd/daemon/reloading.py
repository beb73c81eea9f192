"""Reading the configuration again at run time: one reload at a time, and a failed one leaves everything as it was.

The open workspaces are replaced together.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import structlog

from memoryd.agents.events import EventBus, NamedLoop
from memoryd.agents.memories import AgentMemories
from memoryd.agents.status.status import DegradationsOf, DegradationTracker
from memoryd.agents.workspace.models import ModelParts
from memoryd.agents.workspace.workspaces import Workspaces
from memoryd.config.loading.load import Loaded
from memoryd.config.root import Config, changed_keys, keys_with_effect
from memoryd.config.section import Effect
from memoryd.daemon.heartbeats import POOL, Notifier
from memoryd.daemon.report import Supervisor
from memoryd.domain.clock import Jump
from memoryd.errors import ConfigError, MemorydError, ShuttingDown, StoreUnavailable
from memoryd.replies.daemon import ConfigReply
from memoryd.replies.search import ReloadReply
from memoryd.retry import wait_within

log = structlog.get_logger(__name__)

READING = timedelta(seconds=20)
"""The time limit for reading the file, whose disk may be unresponsive."""
UNREAD = "the file cannot be read: its disk does not answer"
THREADS = 6
"""The size of the pool that databases, scans and reads share."""
REST_SECONDS = 10.0
"""Seconds that an exchange waits for threads to finish the work of cancelled loops."""
POLL_SECONDS = 10.0
"""Seconds that calls are held for the first scan of the notes, so that answers are as complete as before."""


class Reloading:
    """Reloads on request; `run` loops until cancelled.

    `read` loads the configuration, blocking. `apply` gets it with the changed keys, and applies it or raises and
    changes nothing.
    """

    def __init__(
        self,
        loaded: Loaded,
        *,
        read: Callable[[], Loaded],
        apply: Callable[[Loaded, Sequence[str]], Awaitable[None]],
        notifier: Notifier,
    ) -> None:
        self.state = _state(loaded)
        self._config = loaded.config
        self._read = read
        self._apply = apply
        self._notifier = notifier
        self._at_start = loaded.config
        self._waiting: list[asyncio.Future[ReloadReply]] = []
        self._is_wanted = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._is_ended = False

    def demand(self) -> None:
        """Request a reload in the background."""
        self._is_wanted.set()

    async def reload(self) -> ReloadReply:
        """Reload from the current file; a call during a reload waits for the next one.

        Raises ShuttingDown.
        """
        if self._is_ended:
            raise ShuttingDown("the daemon is stopping")
        waiting: asyncio.Future[ReloadReply] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self.demand()
        return await waiting

    async def check(self) -> ReloadReply:
        """Return what a reload would do, without doing it; a problem of the file does not count as a failed reload."""
        try:
            loaded = await self._load()
        except ConfigError as exc:
            return _nothing_done(exc.problems, exc.notices)
        except TimeoutError:
            return _nothing_done([UNREAD], [])
        return self._result(loaded, changed_keys(self._config, loaded.config), is_reloaded=False)

    async def run(self) -> None:
        """Reload on each request, until `end` is called."""
        while not self._is_ended:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            # callers from here on may have edited the file since it was read
            waiting, self._waiting = self._waiting, []
            outcome = await self._reload()
            for future in waiting:
                # a caller that has left has cancelled its future
                if not future.done():
                    future.set_result(outcome)

    def end(self) -> None:
        """Begin no further reload, and raise ShuttingDown for callers whose reload has not begun."""
        self._is_ended = True
        for future in self._waiting:
            if not future.done():
                future.set_exception(ShuttingDown("the daemon is stopping"))

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait until no reload is running, for at most `seconds`."""
        await wait_within(self._at_rest.wait(), seconds)

    async def _reload(self) -> ReloadReply:
        self._at_rest.clear()
        self._notifier.reloading()
        try:
            outcome = await self._try()
        finally:
            self._notifier.ready()
            self._at_rest.set()
        if outcome["problems"]:
            log.warning("the configuration was not reloaded", problems=outcome["problems"])
        else:
            log.info("reloaded", changed=outcome["changed"], needs_restart=outcome["needsRestart"])
        return outcome

    async def _try(self) -> ReloadReply:
        try:
            loaded = await self._load()
            changed = changed_keys(self._config, loaded.config)
            await self._apply(loaded, changed)
        except ConfigError as exc:
            return self._fail(exc.problems)
        except TimeoutError:
            return self._fail([UNREAD])
        except (MemorydError, OSError) as exc:
            return self._fail([f"{exc}; {exc.hint}" if isinstance(exc, MemorydError) and exc.hint else str(exc)])
        except Exception as exc:
            # an error of ours, which the old configuration did not cause
            log.exception("reload failed")
            return self._fail([f"{type(exc).__name__}: {exc}"])
        self._config = loaded.config
        result = self._result(loaded, changed, is_reloaded=True)
        self.state = {**_state(loaded), "needsRestart": result["needsRestart"]}
        return result

    def _result(self, loaded: Loaded, changed: Sequence[str], *, is_reloaded: bool) -> ReloadReply:
        needs_restart = keys_with_effect(changed_keys(self._at_start, loaded.config), Effect.RESTART)
        return ReloadReply(
            reloaded=is_reloaded,
            changed=list(changed),
            needsRestart=needs_restart,
            problems=[],
            notices=loaded.notices,
        )

    async def _load(self) -> Loaded:
        async with asyncio.timeout(READING.total_seconds()):
            loaded = await asyncio.to_thread(self._read)
        source = self.state["source"]
        if source is not None and loaded.source is None:
            # it may be missing only for a moment, and the defaults contain none of its rules
            raise ConfigError(
                [f"{source}: there is no file any more; memoryd goes back to the defaults when it is restarted"]
            )
        return loaded

    def _fail(self, problems: list[str]) -> ReloadReply:
        state = self.state = {**self.state, "problems": problems, "failedAt": datetime.now(UTC).isoformat()}
        return {**_nothing_done(problems, state["notices"]), "needsRestart": state["needsRestart"]}


def _nothing_done(problems: list[str], notices: list[str]) -> ReloadReply:
    return ReloadReply(reloaded=False, changed=[], needsRestart=[], problems=problems, notices=notices)


def _state(loaded: Loaded) -> ConfigReply:
    return ConfigReply(
        source=None if loaded.source is None else str(loaded.source),
        notices=loaded.notices,
        loadedAt=datetime.now(UTC).isoformat(),
        needsRestart=[],
        problems=[],
        failedAt=None,
    )


class OpenWorkspaces:
    """The open workspaces with their loops; models survive an exchange that does not change their settings."""

    def __init__(self, config: Config, *, bus: EventBus, supervisor: Supervisor, outside: DegradationsOf) -> None:
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix=POOL)
        self._bus = bus
        self._supervisor = supervisor
        self._outside = outside
        self._degradations = DegradationTracker(bus.publish)
        self._models = ModelParts(bus.publish)
        self.config = config
        self._wire(config)
        self._files = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None
        self._loops: list[asyncio.Task[None]] = []
        self._model_loops: dict[NamedLoop, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the index files, and at the end close those that are open then. Raises ForeignDatabase."""
        try:
            await self._open()
            self._models.drop_unrequested()
            yield
        finally:
            await self._files.aclose()
            self._executor.shutdown(wait=False)

    @contextmanager
    def at_work(self, group: asyncio.TaskGroup) -> Iterator[None]:
        """Run the loops as tasks of a group during the block."""
        self._group = group
        self._start()
        try:
            yield
        finally:
            for task in (*self._loops, *self._model_loops.values()):
                task.cancel()

    def note_jump(self, jump: Jump) -> None:
        """Handle a clock jump in the workspaces that are open at that time."""
        self.now.note_jump(jump)

    async def exchange(self, config: Config) -> None:
        """Close the workspaces, and open those of another configuration over the same files, while no request runs.

        Raises the error that keeps the new ones from being opened; then the previous ones are open again.
        """
        before, previous = self.config, self.now
        await self._close()
        try:
            self._wire(config, self.memories)
            await self._open()
            self._check_writable(previous.unwritable_indexes())
        except Exception as exc:
            log.warning("the new configuration cannot be worked with; the old one is taken again", reason=str(exc))
            await self._files.aclose()
            self._wire(before, self.memories)
            await self._open()
            await self._resume(previous)
            raise
        self.config = config
        await self._resume(previous)

    async def _resume(self, previous: Workspaces) -> None:
        """Take over the unfinished requests of the previous workspaces, and start the loops."""
        self.now.take_over(previous)
        self._models.drop_unrequested()
        self._start()
        await wait_within(self.now.catch_up(), POLL_SECONDS)

    def _wire(self, config: Config, earlier: AgentMemories | None = None) -> None:
        self.now = Workspaces(config, executor=self._executor, publish=self._bus.publish, models=self._models)
        """The workspaces that are open, or about to be opened."""
        self.memories = AgentMemories(
            self.now.memories,
            bus=self._bus,
            outside=self._outside,
            degradations=self._degradations,
            earlier=None if earlier is None else earlier.counters(),
        )

    async def _open(self) -> None:
        self._files = AsyncExitStack()
        await self._files.enter_async_context(self.now.opened())

    def _check_writable(self, unwritable_before: dict[Path, str]) -> None:
        """Raise StoreUnavailable for an index that cannot be written but could be before."""
        for path, why in self.now.unwritable_indexes().items():
            if path not in unwritable_before:
                raise StoreUnavailable(f"{path}: {why}")

    def _start(self) -> None:
        current = dict.fromkeys(self._models.loops())
        for loop in [loop for loop in self._model_loops if loop not in current]:
            self._model_loops.pop(loop).cancel()
        for loop in current:
            if loop not in self._model_loops:
                self._model_loops[loop] = self._task(self._optional(loop))
        optional = [("reporter", self.memories.board.run), *self.now.optional_loops()]
        loops = [*self.now.essential_loops(), *map(self._optional, optional)]
        self._loops = list(map(self._task, loops))

    def _optional(self, loop: NamedLoop) -> NamedLoop:
        name, run = loop
        return name, partial(self._supervisor.keep, name, run)

    def _task(self, loop: NamedLoop) -> asyncio.Task[None]:
        assert self._group is not None
        name, run = loop
        return self._group.create_task(run(), name=name)

    async def _close(self) -> None:
        for task in self._loops:
            task.cancel()
        if self._loops:
            await asyncio.wait(self._loops)
        # a thread continues after the loop that waits for it is cancelled; no other thread may write the same file then
        await asyncio.to_thread(self._wait_for_threads)
        await self._files.aclose()

    def _wait_for_threads(self) -> None:
        """Wait until every thread of the pool has finished its work."""
        barrier = threading.Barrier(THREADS + 1)
        for _ in range(THREADS):
            self._executor.submit(_meet, barrier)
        _meet(barrier)


def _meet(barrier: threading.Barrier) -> None:
    # a time-out means that a thread hangs on a disk; its work concerns a file that is being closed
    with contextlib.suppress(threading.BrokenBarrierError):
        barrier.wait(REST_SECONDS)
