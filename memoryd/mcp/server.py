"""The MCP server: offers tools if the memory is on, and answers their calls over standard input and output.

Messages are lines of JSON, and nothing else is on standard output:
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server, ServerRequestContext
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
    jsonrpc_message_adapter,
)
from msgspec import Struct
from pydantic import ValidationError

from memoryd import __version__
from memoryd.client import Client
from memoryd.config.loading.load import load
from memoryd.domain.access import folded_id, read_key
from memoryd.errors import ConfigError, DaemonNotRunning, Disabled, MemorydError, NotFound
from memoryd.mcp import answers
from memoryd.mcp.arguments import read
from memoryd.mcp.caller import ToolCaller, run_in_thread
from memoryd.mcp.table import INSTRUCTIONS, ToolRow, WriteLevel, rows_of

log = logging.getLogger(__name__)

_NAME_SHOWN = 64
_Context = ServerRequestContext[object]
MESSAGE_BYTES_MAX = 8 * 1024 * 1024
"""The maximum size of a message; a longer one is answered with an error and not stored."""
LAST_ANSWERS_SECONDS = 1.0
"""Seconds that running calls may still take to answer after the end of input."""
_CHUNK = 65_536
Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]
_PROBE = "MEMORY.md"
"""A file that is requested to test the memory, whether it exists or not: a memory that is off returns an error."""


class ToolServer(Struct, frozen=True):
    """Offers the tools of a level to one caller."""

    caller: ToolCaller
    level: WriteLevel

    def protocol(self) -> Server[object]:
        """Return the protocol server for these tools."""
        return Server(
            "memoryd",
            version=__version__,
            title="memoryd",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    async def list_tools(self, _context: _Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """List the tools; none if the memory of the agent is off."""
        if reason := await why_no_tools(self.caller):
            _note(f"no tool is offered: {reason}")
            return ListToolsResult(tools=[])
        return ListToolsResult(tools=[describe_tool(row) for row in rows_of(self.level).values()])

    async def call_tool(self, _context: _Context, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call. Errors are also returned as an answer, with a hint on what to do."""
        try:
            row = self._row(params.name)
            answer = await row.run(read(row.arguments, params.arguments), self.caller)
        except MemorydError as exc:
            return _error_result(f"{exc}\n{exc.hint}" if exc.hint else str(exc))
        except Exception:
            log.exception("a tool failed: %s", params.name[:_NAME_SHOWN])
            return _error_result("an unexpected error; standard error of memoryctl mcp has more")
        return CallToolResult(content=[_text(answers.render_answer(answer))], structured_content=answer.content())

    def _row(self, name: str) -> ToolRow:
        offered = rows_of(self.level)
        if row := offered.get(name):
            return row
        if row := rows_of(WriteLevel.ALL).get(name):
            option = "--write" if row.level is WriteLevel.ADD else "--write=all"
            raise NotFound(f"the tool {name} is not offered", hint=f"the owner can: memoryctl mcp {option}")
        raise NotFound(f"no tool {name[:_NAME_SHOWN]!r}", hint=f"there are: {', '.join(offered)}")


def describe_tool(row: ToolRow) -> Tool:
    """Return the description of a tool."""
    is_reading = row.level is WriteLevel.READ
    return Tool(
        name=row.name,
        title=row.title,
        description=row.description,
        input_schema={key: value for key, value in row.arguments.json_schema().items() if key != "description"},
        output_schema=row.answer.json_schema(),
        annotations=ToolAnnotations(
            read_only_hint=is_reading,
            destructive_hint=row.is_destructive,
            idempotent_hint=row.is_idempotent,
            open_world_hint=False,
        ),
    )


async def serve(server: ToolServer, source: int, sink: int) -> None:
    """Answer one client until standard input ends, or until a signal stops it."""
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, group.cancel_scope)
        async with Wire(source, sink).streams() as (inbound, outbound):
            protocol = server.protocol()
            await protocol.run(inbound, outbound, protocol.create_initialization_options())
        group.cancel_scope.cancel()


async def _stop_on_signal(everything: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            everything.cancel()
            return


def _error_result(text: str) -> CallToolResult:
    return CallToolResult(content=[_text(text)], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _note(text: str) -> None:
    sys.stderr.write(f"memoryctl mcp: {text}\n")
    sys.stderr.flush()


class Wire:
    """The messages of one client. It ends with standard input, or when standard output is closed by the reader."""

    def __init__(self, source: int, sink: int) -> None:
        self._lines = _read_lines(source)
        self._sink = sink
        self._writing = threading.Lock()
        self._unanswered = set[str | int]()
        self._has_ended = False
        self._settled = anyio.Event()
        self._scope = anyio.CancelScope()

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Inbound, Outbound]]:
        """Return the streams that the server reads and writes."""
        inbound_end, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbound, outbound_end = anyio.create_memory_object_stream[SessionMessage](0)
        with self._scope:
            async with anyio.create_task_group() as group:
                group.start_soon(self._receive, inbound_end)
                group.start_soon(self._send, outbound_end)
                yield inbound, outbound
                group.cancel_scope.cancel()

    async def _receive(self, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with inbound:
            while (line := await run_in_thread(lambda: next(self._lines, None))) is not None:
                message = message_of(line)
                if isinstance(message, ErrorData):
                    # the id of the request is unknown: JSON-RPC then answers without an id
                    await self._write(JSONRPCError(jsonrpc="2.0", id=None, error=message))
                elif message is not None:
                    self._note(message)
                    await inbound.send(SessionMessage(message))
            with anyio.move_on_after(LAST_ANSWERS_SECONDS):
                self._has_ended = True
                if self._unanswered:
                    await self._settled.wait()

    async def _send(self, outbound: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with outbound:
            async for message in outbound:
                await self._write(message.message)

    async def _write(self, message: JSONRPCMessage) -> None:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await run_in_thread(lambda: self._put(line))
        except OSError:
            self._scope.cancel()  # the client is gone
        self._note(message)

    def _put(self, line: bytes) -> None:
        rest = memoryview(line)
        # a line is written completely, even if its writer is cancelled in between
        with self._writing:
            while rest:
                rest = rest[os.write(self._sink, rest) :]

    def _note(self, message: JSONRPCMessage) -> None:
        """Update the set of unanswered requests."""
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


def message_of(line: bytes) -> JSONRPCMessage | ErrorData | None:
    """Return the message of a line, the error in it, or None for an empty line."""
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
        # as a notification it would not be answered, although the client waits for an answer
        return ErrorData(code=INVALID_REQUEST, message="the id of a request is a string or a whole number")
    return message


def _read_lines(source: int) -> Iterator[bytes]:
    """Yield the lines of a descriptor without line ends; a line that is too long is truncated just above the limit."""
    line = b""
    while chunk := os.read(source, _CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield line + end
            line = b""
        if len(line) <= MESSAGE_BYTES_MAX:
            line += rest
    if line:
        yield line


async def why_no_tools(caller: ToolCaller) -> str:
    """Return why no tool is offered; empty if the memory is on, or if that is unknown.

    The daemon is queried; while none is running, the configuration decides.
    """
    try:
        await caller.ask(Client.get, _PROBE, lines=1)
    except Disabled as exc:
        return str(exc)
    except DaemonNotRunning:
        return _why_by_configuration(caller)
    except MemorydError:
        pass  # the calls will report the problem
    return ""


def _why_by_configuration(caller: ToolCaller) -> str:
    try:
        agents = load().config.resolved_agents()
    except (ConfigError, OSError):
        return ""  # it may not be readable for this process
    named = caller.agent or (read_key(caller.session_key).agent if caller.session_key else None)
    for agent in agents:
        if agent.is_default if named is None else agent.id == folded_id(named):
            return "" if agent.memory_search.enabled else f"memory search is off for agent {agent.id!r}"
    return ""
