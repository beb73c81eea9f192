"""JSON-RPC 2.0 over a pipe, one object a line: requests go out, and each answer to whoever waits for it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from itertools import count

from memoryd.errors import SidecarError

LINE_BYTES = 8 * 1024 * 1024
"""A longer line is a flood."""

RpcResult = Mapping[str, object]


class JsonRpcPipe:
    """Our end of the pipe. `write` takes whole lines and may raise SidecarError; `on_flood` is told why to hang up."""

    def __init__(self, *, write: Callable[[bytes], None], on_flood: Callable[[str], None]) -> None:
        self._write = write
        self._on_flood = on_flood
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[RpcResult]] = {}
        self._line = bytearray()

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is owed."""
        return bool(self._waiting)

    def request(self, method: str, params: Mapping[str, object]) -> "asyncio.Future[RpcResult]":
        """Send a request; the answer comes as a result, or as SidecarError if it is an error or never comes."""
        number = next(self._numbers)
        answer: asyncio.Future[RpcResult] = asyncio.get_running_loop().create_future()
        # sent first: if that fails nobody waits, and no answer is read before the event loop runs again
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        self._waiting[number] = answer
        # whoever gives up waiting leaves nothing behind
        answer.add_done_callback(lambda _answer: self._waiting.pop(number, None))
        return answer

    def notify(self, method: str) -> None:
        """Send what needs no answer."""
        self._send({"jsonrpc": "2.0", "method": method})

    def feed(self, data: bytes) -> None:
        """Take what the other end writes, a message a line; what is none (a banner, a log line) is passed over."""
        self._line += data
        if len(self._line) > LINE_BYTES:
            self._line.clear()
            self._on_flood(f"a line of more than {LINE_BYTES} bytes")
        *lines, rest = self._line.split(b"\n") if b"\n" in data else (self._line,)
        self._line = bytearray(rest)
        for line in lines:
            self._dispatch(line)

    def fail(self, reason: str) -> None:
        """Tell all who wait that no answer will come."""
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
