"""The long-lived `qmd mcp`: one child per index, started when somebody asks, ended when nobody does."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import structlog

from memoryd.errors import SidecarError
from memoryd.qmd.mcp_session import McpSession, ToolAnswer
from memoryd.retry import Retry
from memoryd.sidecar.process import ChildSpec

log = structlog.get_logger(__name__)


class ServerPhase(StrEnum):
    """Where the server is."""

    IDLE = "idle"
    """Not running; the next question starts it."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """It failed; the next try is not due yet."""


@dataclass(frozen=True, slots=True)
class ServerTimes:
    """Seconds. `silence` is how long it says nothing when it hangs; `start_wait` is what a question gives a start."""

    start: float = 30.0
    idle: float = 600.0
    silence: float = 4.0
    start_wait: float = 1.0


class QmdServer:
    """Runs the child while questions come; `run` loops until cancelled.

    `spec` says what to run, once that is known; `warm_up` gives the arguments of a question that loads the models, None
    while there are none to load. Models take seconds to load, which must not look like a hang.
    """

    def __init__(
        self,
        *,
        spec: Callable[[], ChildSpec],
        warm_up: Callable[[], Mapping[str, object] | None],
        on_ready: Callable[[], None],
        times: ServerTimes,
    ) -> None:
        self.phase = ServerPhase.IDLE
        self.restarts = 0
        self._spec = spec
        self._warm_up = warm_up
        self._on_ready = on_ready
        self._times = times
        self._retry = Retry()
        self._failure = ""
        self._session: McpSession | None = None
        self._wanted = asyncio.Event()
        self._moved = asyncio.Condition()
        self._used_at = 0.0

    @property
    def pid(self) -> int | None:
        """The child's process id while it is ready."""
        return self._session.pid if self._session is not None and self.phase is ServerPhase.READY else None

    @property
    def is_available(self) -> bool:
        """Whether a question may be asked now: it runs, or may be started."""
        return self.phase is not ServerPhase.WAITING

    @property
    def is_given_up(self) -> bool:
        """Whether it failed so often that it is tried only now and then."""
        return self._retry.is_open

    def wake(self) -> None:
        """Start it now and load its models, so that the first question need not wait."""
        self._used_at = time.monotonic()
        self._wanted.set()
        if self._session is not None and self.phase is ServerPhase.READY:
            self._session.begin_warming()

    def renew(self) -> None:
        """End the child, which reads an index that is no more; the next one starts at once."""
        if self._session is not None:
            self._session.renew()

    async def call(
        self, tool: str, arguments: Mapping[str, object], *, seconds: float, needs_models: bool = False
    ) -> ToolAnswer:
        """Call a tool and return its structured answer, at most `seconds` later.

        Raises SidecarError when it is down, starting, loading models, answers with an error, or is silent. A child that
        is silent for as long as it is ever given is ended.
        """
        self.wake()
        start_wait = min(seconds, self._times.start_wait)
        session = await self._ready_session(start_wait)
        if needs_models:
            await session.warmed(start_wait)
        try:
            async with asyncio.timeout(seconds):
                return await session.call(tool, arguments)
        except TimeoutError as exc:
            # another one may run by now, which is not to blame
            if seconds >= self._times.silence and self._session is session:
                session.end(f"no answer within {seconds:g} s")
            raise SidecarError(f"qmd did not answer within {seconds:g} s") from exc

    async def run(self) -> None:
        """Start the child when it is wanted, follow it to its end, back off after failures."""
        while True:
            await self._wanted.wait()
            try:
                await self._live()
            except SidecarError as exc:
                await self._back_off(str(exc))

    async def _live(self) -> None:
        await self._become(ServerPhase.STARTING)
        session = McpSession(self._spec(), warm_up=self._warm_up, start_seconds=self._times.start)
        self._session = session
        try:
            await session.start()
            self._used_at = time.monotonic()
            self._retry.succeeded()
            await self._become(ServerPhase.READY)
            session.begin_warming()
            self._on_ready()
            await self._follow(session)
        finally:
            # before the stop, which takes a while: nobody is to ask a child that is on its way out
            self._session = None
            await session.stop()

    async def _follow(self, session: McpSession) -> None:
        """Return when the child has been idle for long enough or is to be renewed; raises SidecarError if it fails."""
        while True:
            left = self._used_at + self._times.idle - time.monotonic()
            # nothing runs between this look and the clearing; a question that comes after it wants the next child
            if left <= 0 and not session.is_busy:
                self._wanted.clear()
                break
            if await session.ends_within(max(left, 1.0)):
                if not session.is_renewed:
                    raise SidecarError(f"qmd mcp ended: {session.describe_end()}")
                # still wanted, so the next one starts at once
                break
        await self._become(ServerPhase.IDLE)

    async def _back_off(self, failure: str) -> None:
        self.restarts += 1
        self._failure = failure
        wait = self._retry.failed()
        log.warning("qmd mcp failed", reason=failure, next_try_seconds=round(wait, 1))
        await self._become(ServerPhase.WAITING)
        await asyncio.sleep(wait)
        # what was asked meanwhile has been answered by others: the next question starts it
        self._wanted.clear()
        await self._become(ServerPhase.IDLE)

    async def _become(self, phase: ServerPhase) -> None:
        self.phase = phase
        async with self._moved:
            self._moved.notify_all()

    async def _ready_session(self, seconds: float) -> McpSession:
        try:
            async with asyncio.timeout(seconds), self._moved:
                await self._moved.wait_for(lambda: self.phase in (ServerPhase.READY, ServerPhase.WAITING))
        except TimeoutError as exc:
            raise SidecarError("qmd mcp is starting") from exc
        # asked again: between the notification and this line it may have ended, or begun to back off
        if self._session is None or self.phase is not ServerPhase.READY:
            why = self._failure if self.phase is ServerPhase.WAITING else "it has just ended"
            raise SidecarError(f"qmd mcp is down: {why}")
        return self._session
