"""Standard input and output as a stream of messages: each is a line of JSON.

By https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, nothing else is on standard output.
"""

import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memoryd.mcp.standard_streams import StandardStreams
from memoryd.mcp.threads_aside import aside

MESSAGE_BYTES_MAX = 8 * 1024 * 1024
"""Of one message; a longer one is answered with an error and not kept."""
LAST_ANSWERS_SECONDS = 1.0
"""How long calls that run may still be answered after the last message."""
_CHUNK = 65_536

Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]


def message_of(line: bytes) -> JSONRPCMessage | ErrorData | None:
    """Read a line: the message, what is wrong with it, or None for an empty line."""
    if not line.strip():
        return None
    if len(line) > MESSAGE_BYTES_MAX:
        return ErrorData(code=PARSE_ERROR, message=f"a message has more than {MESSAGE_BYTES_MAX:,} bytes")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as exc:
        if exc.errors(include_input=False, include_url=False)[0]["type"] == "json_invalid":
            return ErrorData(code=PARSE_ERROR, message="not JSON")
        return ErrorData(code=INVALID_REQUEST, message="not a message of JSON-RPC")
    if isinstance(message, JSONRPCNotification) and "id" in json.loads(line):
        # somebody waits for an answer, and would for ever if this passed for a notification
        return ErrorData(code=INVALID_REQUEST, message="the id of a request is a string or a whole number")
    return message


class _Lines:
    """The lines of a descriptor, each of bounded length."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._rest = b""

    def next(self) -> bytes | None:
        """Wait for the next line, and return it without its end; None when there is no more."""
        parts, size = list[bytes](), 0
        while True:
            head, newline, self._rest = self._rest.partition(b"\n")
            if size <= MESSAGE_BYTES_MAX:  # beyond it nothing is kept of a line but its being too long
                parts.append(head)
            size += len(head)
            if newline:
                return b"".join(parts)
            self._rest = os.read(self._source, _CHUNK)
            if not self._rest:
                return b"".join(parts) or None


class Wire:
    """Messages of one client; it ends with standard input, or when nobody reads standard output any more."""

    def __init__(self, streams: StandardStreams) -> None:
        self._lines = _Lines(streams.source)
        self._sink = streams.sink
        self._writing = threading.Lock()
        self._unanswered = set[str | int]()
        self._has_ended = False
        self._settled = anyio.Event()
        self._whole = anyio.CancelScope()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Inbound, Outbound]]:
        """Return the streams that the server reads and writes."""
        inbound_end, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbound, outbound_end = anyio.create_memory_object_stream[SessionMessage](0)
        with self._whole:
            async with anyio.create_task_group() as group:
                group.start_soon(self._receive, inbound_end)
                group.start_soon(self._send, outbound_end)
                yield inbound, outbound
                group.cancel_scope.cancel()

    async def _receive(self, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with inbound:
            while (line := await aside(self._lines.next)) is not None:
                message = message_of(line)
                if isinstance(message, ErrorData):
                    # nobody knows which request it was: JSON-RPC answers such a one without an id
                    await self._write(JSONRPCError(jsonrpc="2.0", id=None, error=message))
                elif message is not None:
                    self._note(message)
                    await inbound.send(SessionMessage(message))
            with anyio.move_on_after(LAST_ANSWERS_SECONDS):
                await self._answered()

    async def _send(self, outbound: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with outbound:
            async for message in outbound:
                await self._write(message.message)

    async def _write(self, message: JSONRPCMessage) -> None:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await aside(lambda: self._put(line))
        except OSError:
            self._whole.cancel()  # nobody reads any more: the client is gone
        self._note(message)

    def _put(self, line: bytes) -> None:
        left = memoryview(line)
        # a line stays whole, whoever was cancelled while it was written
        with self._writing:
            while left:
                left = left[os.write(self._sink, left) :]

    def _note(self, message: JSONRPCMessage) -> None:
        """Keep in mind which requests are to be answered."""
        match message:
            case JSONRPCRequest():
                self._unanswered.add(message.id)
            case JSONRPCResponse() | JSONRPCError():
                self._unanswered.discard("" if message.id is None else message.id)
            case JSONRPCNotification(method="notifications/cancelled"):
                cancelled = (message.params or {}).get("requestId")
                self._unanswered.discard(cancelled if isinstance(cancelled, str | int) else "")
        if self._has_ended and not self._unanswered:
            self._settled.set()

    async def _answered(self) -> None:
        self._has_ended = True
        if self._unanswered:
            await self._settled.wait()
