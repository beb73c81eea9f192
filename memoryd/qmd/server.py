"""The long-lived `qmd mcp`: one child process per index, started on demand, ended when idle.

The protocol is JSON-RPC 2.0 over a pipe, one object a line: the Model Context Protocol, revision 2025-06-18. Only its
`tools/call` is used.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from itertools import count

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd import __version__
from memoryd.errors import SidecarError
from memoryd.retry import Retry
from memoryd.sidecar.process import Child, ChildSpec

log = structlog.get_logger(__name__)

LINE_BYTES = 8 * 1024 * 1024
"""Limit of a line; a longer one ends the child."""

RpcResult = Mapping[str, object]
ToolAnswer = tuple[RpcResult, str]
"""A tool's answer, and what the child wrote to stderr during the call."""
PROTOCOL = "2025-06-18"


class JsonRpcPipe:
    """Our end of the pipe. `write` takes full lines, may raise SidecarError; `on_flood` gets the reason to hang up."""

    def __init__(self, *, write: Callable[[bytes], None], on_flood: Callable[[str], None]) -> None:
        self._write = write
        self._on_flood = on_flood
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[RpcResult]] = {}
        self._line = bytearray()

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is pending."""
        return bool(self._waiting)

    def request(self, method: str, params: Mapping[str, object]) -> "asyncio.Future[RpcResult]":
        """Send a request; the future gets the result, or SidecarError for an error or if no answer can come."""
        number = next(self._numbers)
        answer: asyncio.Future[RpcResult] = asyncio.get_running_loop().create_future()
        # send first: if that fails, no future is left; no answer is read before the event loop runs again
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        self._waiting[number] = answer
        # also removes the entry if the caller is cancelled
        answer.add_done_callback(lambda _answer: self._waiting.pop(number, None))
        return answer

    def notify(self, method: str) -> None:
        """Send a notification, which has no answer."""
        self._send({"jsonrpc": "2.0", "method": method})

    def feed(self, data: bytes) -> None:
        """Take output of the child, one message a line; other lines (a banner, a log line) are ignored."""
        self._line += data
        if len(self._line) > LINE_BYTES:
            self._line.clear()
            self._on_flood(f"a line of more than {LINE_BYTES} bytes")
        *lines, rest = self._line.split(b"\n") if b"\n" in data else (self._line,)
        self._line = bytearray(rest)
        for line in lines:
            self._dispatch(line)

    def fail(self, reason: str) -> None:
        """Fail all pending requests."""
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(SidecarError(reason))

    def _send(self, message: Mapping[str, object]) -> None:
        self._write(json.dumps(message, ensure_ascii=True).encode() + b"\n")

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


class McpSession:
    """One child process. `warm_up` returns the arguments of a query that loads the models, None if there are none.

    The start, and the loading of models, may take `start_seconds` each.
    """

    def __init__(
        self, spec: ChildSpec, *, warm_up: Callable[[], Mapping[str, object] | None], start_seconds: float
    ) -> None:
        self.is_renewed = False
        """Whether the child was ended because its index was replaced, which is no failure."""
        self._warm_up = warm_up
        self._start_seconds = start_seconds
        self._end_reason = ""
        self._pipe = JsonRpcPipe(write=lambda data: self._child.write(data), on_flood=self.end)
        self._child = Child(replace(spec, on_output=self._pipe.feed, on_exit=self._fail_waiting))
        self._warm = asyncio.Event()
        self._warming_since: float | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id after the start."""
        return self._child.pid

    @property
    def is_busy(self) -> bool:
        """Whether an answer is pending."""
        return self._pipe.is_waiting

    async def start(self) -> None:
        """Start the child and shake hands. Raises SidecarError."""
        try:
            async with asyncio.timeout(self._start_seconds):
                await self._child.start()
                hello = {
                    "protocolVersion": PROTOCOL,
                    "capabilities": {},
                    "clientInfo": {"name": "memoryd", "version": __version__},
                }
                await self._pipe.request("initialize", hello)
        except TimeoutError as exc:
            raise SidecarError(f"qmd mcp did not start within {self._start_seconds:g} s") from exc
        self._pipe.notify("notifications/initialized")

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Call a tool and return its structured answer. Raises SidecarError if it gives none."""
        mark = self._child.stderr_mark
        answer = await self._call(tool, arguments)
        content = answer.get("structuredContent")
        if answer.get("isError") or not isinstance(content, dict):
            raise SidecarError(f"qmd cannot {tool}: {_text_of(answer)}")
        return content, self._child.stderr_since(mark)

    def begin_warming(self) -> None:
        """Send the warm-up query, once, without waiting for it; with its answer, the models are loaded."""
        arguments = self._warm_up() if self._warming_since is None else None
        if arguments is None:
            return
        self._warming_since = time.monotonic()
        self._call("query", arguments).add_done_callback(self._note_warm)

    async def wait_until_warm(self, seconds: float) -> None:
        """Wait for the models; raises SidecarError if they are not loaded by then. End a child that takes too long."""
        if self._warm.is_set():
            return
        self.begin_warming()
        if self._warming_since is not None and time.monotonic() - self._warming_since > self._start_seconds:
            self.end(f"its models were not loaded within {self._start_seconds:g} s")
        try:
            async with asyncio.timeout(seconds):
                await self._warm.wait()
        except TimeoutError as exc:
            raise SidecarError("qmd is loading its models") from exc

    async def ends_within(self, seconds: float) -> bool:
        """Wait at most so many seconds for the child to end; return whether it did."""
        return await self._child.ends_within(timedelta(seconds=seconds))

    def renew(self) -> None:
        """End the child because its index was replaced."""
        self.is_renewed = True
        self.end("its index was made anew")

    def end(self, reason: str) -> None:
        """Kill the child; pending requests fail with this reason."""
        self._end_reason = reason
        self._child.kill()

    def describe_end(self) -> str:
        """Return why the child was ended, or how it ended by itself."""
        return self._end_reason or self._child.describe_end()

    async def stop(self) -> None:
        """End the child if it runs, and reap it."""
        self._fail_waiting()
        await self._child.stop()

    def _call(self, tool: str, arguments: Mapping[str, object]) -> "asyncio.Future[RpcResult]":
        return self._pipe.request("tools/call", {"name": tool, "arguments": dict(arguments)})

    def _note_warm(self, answer: "asyncio.Future[RpcResult]") -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._warm.set()

    def _fail_waiting(self) -> None:
        self._pipe.fail(f"qmd ended while it was asked: {self.describe_end()}")


def _text_of(answer: RpcResult) -> str:
    content = answer.get("content")
    texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return " ".join(str(text) for text in texts if text)[:300] or "it gave no structured answer"


class ServerPhase(StrEnum):
    """The phase of the server."""

    IDLE = "idle"
    """Not running; the next query starts it."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """Failed; the next attempt is not due yet."""


class ServerTimes(Struct, frozen=True):
    """Times in seconds. A child without answer for `silence` hangs; a query waits `start_wait` for a start."""

    start: float = 30.0
    idle: float = 600.0
    silence: float = 4.0
    start_wait: float = 1.0


class QmdServer:
    """Runs the child while there are queries; `run` loops until cancelled.

    `spec` returns the command, and may raise SidecarError; `warm_up` returns the arguments of a query that loads the
    models, None if there are none. Loading takes seconds, and must not be mistaken for a hang.
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
        self._demand = asyncio.Event()
        self._moved = asyncio.Condition()
        self._used_at = 0.0

    @property
    def pid(self) -> int | None:
        """The child's process id while it is ready."""
        return self._session.pid if self._session is not None and self.phase is ServerPhase.READY else None

    @property
    def is_available(self) -> bool:
        """Whether a query may be sent now: the server runs, or may be started."""
        return self.phase is not ServerPhase.WAITING

    @property
    def is_failing(self) -> bool:
        """Whether the server failed so often that it is started only now and then."""
        return self._retry.is_open

    def wake(self) -> None:
        """Start the server now and load its models, so that the first query need not wait."""
        self._used_at = time.monotonic()
        self._demand.set()
        if self._session is not None and self.phase is ServerPhase.READY:
            self._session.begin_warming()

    def renew(self) -> None:
        """End the child, since its index was replaced; the next one starts at once."""
        if self._session is not None:
            self._session.renew()

    async def call(
        self, tool: str, arguments: Mapping[str, object], *, seconds: float, needs_models: bool = False
    ) -> ToolAnswer:
        """Call a tool and return its structured answer within `seconds`.

        Raises SidecarError if the server is down, starting, loading models, answers with an error, or does not answer.
        A child without an answer for `silence` seconds is ended.
        """
        self.wake()
        start_wait = min(seconds, self._times.start_wait)
        session = await self._ready_session(start_wait)
        if needs_models:
            await session.wait_until_warm(start_wait)
        try:
            async with asyncio.timeout(seconds):
                return await session.call(tool, arguments)
        except TimeoutError as exc:
            # do not end another child that may run by now
            if seconds >= self._times.silence and self._session is session:
                session.end(f"no answer within {seconds:g} s")
            raise SidecarError(f"qmd did not answer within {seconds:g} s") from exc

    async def run(self) -> None:
        """Start the child on demand, wait for its end, back off after failures."""
        while True:
            await self._demand.wait()
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
            self._retry.note_success()
            await self._become(ServerPhase.READY)
            session.begin_warming()
            self._on_ready()
            await self._follow(session)
        finally:
            # before the stop, which takes a while: no query may use this child
            self._session = None
            await session.stop()

    async def _follow(self, session: McpSession) -> None:
        """Return when the child has been idle for too long, or was renewed; raises SidecarError if it fails."""
        while True:
            left = self._used_at + self._times.idle - time.monotonic()
            # no await between check and clear; a query after that demands the next child
            if left <= 0 and not session.is_busy:
                self._demand.clear()
                break
            if await session.ends_within(max(left, 1.0)):
                if not session.is_renewed:
                    raise SidecarError(f"qmd mcp ended: {session.describe_end()}")
                # still demanded, so the next one starts at once
                break
        await self._become(ServerPhase.IDLE)

    async def _back_off(self, failure: str) -> None:
        self.restarts += 1
        self._failure = failure
        wait = self._retry.note_failure()
        log.warning("qmd mcp failed", reason=failure, next_try_seconds=round(wait, 1))
        await self._become(ServerPhase.WAITING)
        await asyncio.sleep(wait)
        # queries during the pause were answered by others: only the next one starts the child
        self._demand.clear()
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
        # check again: between the notification and this line it may have ended, or begun to back off
        if self._session is None or self.phase is not ServerPhase.READY:
            why = self._failure if self.phase is ServerPhase.WAITING else "it has just ended"
            raise SidecarError(f"qmd mcp is down: {why}")
        return self._session
