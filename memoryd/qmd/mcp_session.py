"""One run of `qmd mcp`, from its start to its end: what it is asked, and whether its models are loaded.

The protocol is the Model Context Protocol, revision 2025-06-18, of which only `tools/call` is used.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from memoryd import __version__
from memoryd.errors import SidecarError
from memoryd.qmd.jsonrpc import JsonRpcPipe, RpcResult
from memoryd.sidecar.process import Child, ChildSpec

PROTOCOL = "2025-06-18"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered, and what the child wrote to stderr meanwhile."""

    content: Mapping[str, object]
    stderr: str


class McpSession:
    """One child. `warm_up` gives the arguments of a question that loads the models, None while there are none to load.

    Starting it, and loading its models, may take `start_seconds` each.
    """

    def __init__(
        self, spec: ChildSpec, *, warm_up: Callable[[], Mapping[str, object] | None], start_seconds: float
    ) -> None:
        self.is_renewed = False
        """Whether it was ended since its index is no more, which is no failure of it."""
        self._warm_up = warm_up
        self._start_seconds = start_seconds
        self._end_reason = ""
        self._pipe = JsonRpcPipe(write=lambda data: self._child.write(data), on_flood=self.end)
        self._child = Child(replace(spec, on_output=self._pipe.feed, on_exit=self._fail_waiting))
        self._warm = asyncio.Event()
        self._warming_since: float | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id once it is started."""
        return self._child.pid

    @property
    def is_busy(self) -> bool:
        """Whether it owes an answer."""
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
        return ToolAnswer(content, self._child.stderr_since(mark))

    def begin_warming(self) -> None:
        """Ask a question that nobody waits for; whatever it answers, the models are loaded then as far as they can."""
        arguments = self._warm_up() if self._warming_since is None else None
        if arguments is None:
            return
        self._warming_since = time.monotonic()
        self._call("query", arguments).add_done_callback(self._note_warm)

    async def warmed(self, seconds: float) -> None:
        """Wait a little for the models; a child that never gets them loaded is ended. Raises SidecarError meanwhile."""
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
        """Wait for the child to end by itself, at most so long, and tell whether it did."""
        return await self._child.ends_within(timedelta(seconds=seconds))

    def renew(self) -> None:
        """End a child that reads an index which is no more."""
        self.is_renewed = True
        self.end("its index was made anew")

    def end(self, reason: str) -> None:
        """Kill the child; the reason is told to whoever waits for an answer."""
        self._end_reason = reason
        self._child.kill()

    def describe_end(self) -> str:
        """Return why the child was ended, or how it ended by itself."""
        return self._end_reason or self._child.describe_end()

    async def stop(self) -> None:
        """End the child if it lives, and reap it."""
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
    texts = [one.get("text") for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    return " ".join(str(text) for text in texts if text)[:300] or "it gave no structured answer"
