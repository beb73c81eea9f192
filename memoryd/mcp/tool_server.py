"""The server: it lists the tools, and answers their calls, each with structured content and a short text."""

import logging
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import anyio
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from memoryd import __version__
from memoryd.errors import MemorydError, NotFound
from memoryd.mcp import tool_text
from memoryd.mcp.offering import why_nothing
from memoryd.mcp.standard_streams import StandardStreams
from memoryd.mcp.stdio_wire import Wire
from memoryd.mcp.tool_arguments import read
from memoryd.mcp.tool_caller import ToolCaller
from memoryd.mcp.tool_table import INSTRUCTIONS, ToolRow, WriteLevel, rows_of

log = logging.getLogger(__name__)

_NAME_SHOWN = 64
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_Context = ServerRequestContext[object]


@dataclass(frozen=True, slots=True)
class ToolServer:
    """Offers the tools of a level to one caller."""

    caller: ToolCaller
    level: WriteLevel

    def protocol(self) -> Server[object]:
        """Return what speaks the protocol for these tools."""
        return Server(
            "memoryd",
            version=__version__,
            title="memoryd",
            instructions=INSTRUCTIONS,
            on_list_tools=self.listed,
            on_call_tool=self.called,
        )

    async def listed(self, _context: _Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """List the tools, none where the memory of the agent is off."""
        if reason := await why_nothing(self.caller):
            _note(f"no tool is offered: {reason}")
            return ListToolsResult(tools=[])
        return ListToolsResult(tools=[described(row) for row in self._rows.values()])

    async def called(self, _context: _Context, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call; whatever goes wrong is an answer too, which says what to do."""
        try:
            row = self._row(params.name)
            answer = await row.run(read(row.arguments, params.arguments), self.caller)
        except MemorydError as exc:
            return _failed(f"{exc}\n{exc.hint}" if exc.hint else str(exc))
        except Exception:
            log.exception("a tool failed: %s", params.name[:_NAME_SHOWN])
            return _failed("an unexpected error; standard error of memoryctl mcp has more")
        return CallToolResult(content=[_text(tool_text.told(answer))], structured_content=answer.content())

    @property
    def _rows(self) -> Mapping[str, ToolRow]:
        return rows_of(self.level)

    def _row(self, name: str) -> ToolRow:
        if row := self._rows.get(name):
            return row
        if row := rows_of(WriteLevel.ALL).get(name):
            option = "--write" if row.level is WriteLevel.ADD else "--write=all"
            raise NotFound(f"the tool {name} is not offered", hint=f"the owner can: memoryctl mcp {option}")
        raise NotFound(f"no tool {name[:_NAME_SHOWN]!r}", hint=f"there are: {', '.join(self._rows)}")


def described(row: ToolRow) -> Tool:
    """Return the description of a tool."""
    is_reading = row.level is WriteLevel.READ
    return Tool(
        name=row.name,
        title=row.title,
        description=row.description,
        input_schema=row.arguments.schema_of_input(),
        output_schema=row.answer.schema_of_content(),
        annotations=ToolAnnotations(
            read_only_hint=is_reading,
            destructive_hint=row.is_destructive,
            idempotent_hint=row.is_idempotent,
            open_world_hint=False,
        ),
    )


async def serve(server: ToolServer, streams: StandardStreams) -> None:
    """Answer one client until standard input ends, or until a signal says stop."""
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, group.cancel_scope)
        async with Wire(streams).opened() as (inbound, outbound):
            protocol = server.protocol()
            await protocol.run(inbound, outbound, protocol.create_initialization_options())
        group.cancel_scope.cancel()


async def _stop_on_signal(everything: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(*_STOPS) as signals:
        async for _ in signals:
            everything.cancel()
            return


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[_text(text)], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _note(text: str) -> None:
    sys.stderr.write(f"memoryctl mcp: {text}\n")
    sys.stderr.flush()
