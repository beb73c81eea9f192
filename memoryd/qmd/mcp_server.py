"""The long-lived `qmd mcp`: one child per index, asked over its pipes in JSON-RPC, one object a line.

The protocol is the Model Context Protocol, revision 2025-06-18, of which only `tools/call` is used.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from itertools import count

import structlog

from memoryd import __version__
from memoryd.domain.breaker import Breaker
from memoryd.errors import SidecarError
from memoryd.sidecar.process import Child, ChildSpec

log = structlog.get_logger(__name__)

PROTOCOL = "2025-06-18"
LINE_BYTES = 8 * 1024 * 1024
"""A longer line ends the child."""


class ServerPhase(StrEnum):
    """Where the server is."""

    IDLE = "idle"
    """Not running; the next question starts it."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """It failed; the next try is not due yet."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered, and what the child wrote to stderr meanwhile."""

    content: Mapping[str, object]
    stderr: str


@dataclass(frozen=True, slots=True)
class ServerTimes:
    """Seconds. `patience` is the silence that means that it hangs; `wait` is what a question gives a start."""

    start: float = 30.0
    idle: float = 600.0
    patience: float = 4.0
    wait: float = 1.0


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
        self.last_error: str | None = None
        self._spec = spec
        self._warm_up = warm_up
        self._on_ready = on_ready
        self._warming_since: float | None = None
        self._warm = asyncio.Event()
        self._times = times
        self._breaker = Breaker()
        self._child: Child | None = None
        self._is_renewed = False
        self._wanted = asyncio.Event()
        self._moved = asyncio.Condition()
        self._used_at = 0.0
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Mapping[str, object]]] = {}
        self._line = bytearray()

    @property
    def pid(self) -> int | None:
        """The child's process id while it is ready."""
        return self._child.pid if self._child is not None and self.phase is ServerPhase.READY else None

    @property
    def is_available(self) -> bool:
        """Whether a question may be asked now: it runs, or may be started."""
        return self.phase is not ServerPhase.WAITING

    def wake(self) -> None:
        """Start it now and load its models, so that the first question need not wait."""
        self._used_at = time.monotonic()
        self._wanted.set()
        if self._child is not None and self.phase is ServerPhase.READY:
            self._begin_warming(self._child)

    def renew(self) -> None:
        """End the child, which reads an index that is no more; the next one starts at once."""
        if self._child is not None:
            self._is_renewed = True
            self._end("its index was made anew")

    async def call(
        self, tool: str, arguments: Mapping[str, object], *, seconds: float, needs_models: bool = False
    ) -> ToolAnswer:
        """Call a tool and return its structured answer, at most `seconds` later.

        Raises SidecarError when it is down, starting, loading models, answers with an error, or is silent. A child that
        is silent for as long as it is ever given is ended.
        """
        self.wake()
        child = await self._ready_child(min(seconds, self._times.wait), needs_models=needs_models)
        try:
            async with asyncio.timeout(seconds):
                mark = child.stderr_mark
                answer = await self._ask(child, "tools/call", {"name": tool, "arguments": dict(arguments)})
        except TimeoutError as exc:
            if seconds >= self._times.patience and self._child is child:
                self._end(f"no answer within {seconds:g} s")
            raise SidecarError(f"qmd did not answer within {seconds:g} s") from exc
        content = answer.get("structuredContent")
        if answer.get("isError") or not isinstance(content, dict):
            raise SidecarError(f"qmd cannot {tool}: {_text_of(answer)}")
        return ToolAnswer(content, child.stderr_since(mark))

    async def run(self) -> None:
        """Start the child when it is wanted, follow it to its end, back off after failures."""
        while True:
            await self._wanted.wait()
            try:
                await self._live()
            except SidecarError as exc:
                await self._failed(str(exc))

    async def _live(self) -> None:
        await self._become(ServerPhase.STARTING)
        self._line.clear()
        self._warm.clear()
        self._warming_since = None
        self._is_renewed = False
        child = Child(replace(self._spec(), on_output=self._take, on_exit=self._fail_waiting))
        self._child = child
        try:
            await self._start(child)
            self._used_at = time.monotonic()
            self._breaker = self._breaker.succeeded()
            await self._become(ServerPhase.READY)
            self._begin_warming(child)
            self._on_ready()
            await self._follow(child)
        finally:
            self._fail_waiting()
            self._child = None
            await child.stop()

    async def _start(self, child: Child) -> None:
        try:
            async with asyncio.timeout(self._times.start):
                await child.start()
                hello = {
                    "protocolVersion": PROTOCOL,
                    "capabilities": {},
                    "clientInfo": {"name": "memoryd", "version": __version__},
                }
                await self._ask(child, "initialize", hello)
        except TimeoutError as exc:
            raise SidecarError(f"qmd mcp did not start within {self._times.start:g} s") from exc
        child.write(_line({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    async def _follow(self, child: Child) -> None:
        """Return when the child has been idle for long enough; raises SidecarError when it ends by itself."""
        while True:
            left = self._used_at + self._times.idle - time.monotonic()
            if left <= 0 and not self._waiting:
                self._wanted.clear()
                await self._become(ServerPhase.IDLE)
                return
            if await child.ends_within(timedelta(seconds=max(left, 1.0))):
                if self._is_renewed:
                    self.last_error = None
                    await self._become(ServerPhase.IDLE)
                    return
                raise SidecarError(f"qmd mcp ended: {self.last_error or child.describe_end()}")

    async def _failed(self, reason: str) -> None:
        self._breaker = self._breaker.failed(time.monotonic(), random.random())
        self.restarts += 1
        self.last_error = reason
        wait = self._breaker.wait(time.monotonic())
        log.warning("qmd mcp failed", reason=reason, next_try_seconds=round(wait, 1))
        await self._become(ServerPhase.WAITING)
        await asyncio.sleep(wait)
        self.last_error = None
        self._wanted.clear()
        await self._become(ServerPhase.IDLE)

    async def _become(self, phase: ServerPhase) -> None:
        self.phase = phase
        async with self._moved:
            self._moved.notify_all()

    async def _ready_child(self, seconds: float, *, needs_models: bool) -> Child:
        try:
            async with asyncio.timeout(seconds), self._moved:
                await self._moved.wait_for(lambda: self.phase in (ServerPhase.READY, ServerPhase.WAITING))
        except TimeoutError as exc:
            raise SidecarError("qmd mcp is starting") from exc
        if self._child is None or self.phase is not ServerPhase.READY:
            raise SidecarError(f"qmd mcp is down: {self.last_error or 'it has just ended'}")
        child = self._child
        if needs_models and not self._warm.is_set():
            await self._warmed(child, seconds)
        return child

    async def _warmed(self, child: Child, seconds: float) -> None:
        """Wait a little for the models; a child that never gets them loaded is ended."""
        self._begin_warming(child)
        if self._warming_since is not None and time.monotonic() - self._warming_since > self._times.start:
            self._end(f"its models were not loaded within {self._times.start:g} s")
        try:
            async with asyncio.timeout(seconds):
                await self._warm.wait()
        except TimeoutError as exc:
            raise SidecarError("qmd is loading its models") from exc

    def _begin_warming(self, child: Child) -> None:
        """Ask a question that nobody waits for; whatever it answers, the models are loaded then as far as they can."""
        arguments = self._warm_up() if self._warming_since is None else None
        if arguments is None:
            return
        self._warming_since = time.monotonic()
        number, answer = self._expect()
        answer.add_done_callback(self._note_warm)
        child.write(_request(number, "tools/call", {"name": "query", "arguments": dict(arguments)}))

    def _note_warm(self, answer: "asyncio.Future[Mapping[str, object]]") -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._warm.set()

    def _expect(self) -> tuple[int, "asyncio.Future[Mapping[str, object]]"]:
        number = next(self._numbers)
        answer: asyncio.Future[Mapping[str, object]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        return number, answer

    async def _ask(self, child: Child, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        number, answer = self._expect()
        try:
            child.write(_request(number, method, params))
            return await answer
        finally:
            self._waiting.pop(number, None)

    def _take(self, data: bytes) -> None:
        """Take output: whole lines are messages; what is no message (a banner, a log line) is passed over."""
        self._line += data
        if len(self._line) > LINE_BYTES:
            self._line.clear()
            self._end(f"a line of more than {LINE_BYTES} bytes")
        *lines, rest = self._line.split(b"\n") if b"\n" in data else (self._line,)
        self._line = bytearray(rest)
        for line in lines:
            self._dispatch(line)

    def _dispatch(self, line: bytes | bytearray) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        number = message.get("id") if isinstance(message, dict) else None
        answer = self._waiting.pop(number, None) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        result = message.get("result")
        if isinstance(result, dict):
            answer.set_result(result)
        else:
            answer.set_exception(SidecarError(f"qmd mcp answered with an error: {str(message.get('error'))[:300]}"))

    def _end(self, reason: str) -> None:
        self.last_error = reason
        if self._child is not None:
            self._child.kill()

    def _fail_waiting(self) -> None:
        how = self._child.describe_end() if self._child is not None else ""
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(SidecarError(f"qmd ended while it was asked: {self.last_error or how}"))


def _request(number: int, method: str, params: Mapping[str, object]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _line(message: Mapping[str, object]) -> bytes:
    return json.dumps(message, ensure_ascii=True).encode() + b"\n"


def _text_of(answer: Mapping[str, object]) -> str:
    content = answer.get("content")
    texts = [one.get("text") for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return " ".join(str(text) for text in texts if text)[:300] or "it gave no structured answer"
