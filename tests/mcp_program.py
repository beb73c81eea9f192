"""`memoryctl mcp` as a child process: driven by the SDK's own client, or line by line."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client as ProtocolClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent, Tool

from tests.daemon import RunningDaemon
from tests.waiting import eventually
from tests.warm.programs import started

ROOT = Path(__file__).parents[1]
PROGRAM = ("-c", "from memoryd.cli.main import main; main()", "mcp")
PROTOCOL = "2025-06-18"
STOP_SECONDS = 20.0
"""A loaded machine takes its time; the program itself is asked for two seconds."""


def environment(daemon: RunningDaemon, **more: str) -> dict[str, str]:
    """Return the environment of a program that asks this daemon."""
    return {**daemon.env, "PYTHONPATH": str(ROOT), **more}


@asynccontextmanager
async def protocol_client(daemon: RunningDaemon, *options: str, mode: str = "auto") -> AsyncIterator[ProtocolClient]:
    """Return the SDK's client, which has started `memoryctl mcp` with these options."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM, *options], env=environment(daemon), cwd=daemon.home
    )
    with tempfile.TemporaryFile("w") as errors:
        async with ProtocolClient(stdio_client(parameters, errlog=errors), mode=mode) as client:
            yield client


class DrivenByProtocol:
    """The SDK's client for tests that are not asynchronous."""

    def __init__(self, portal: BlockingPortal, client: ProtocolClient) -> None:
        self._portal = portal
        self._client = client

    def tools(self) -> dict[str, Tool]:
        """List the tools that are offered, by their names."""
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def call(self, tool: str, **arguments: object) -> CallToolResult:
        """Call a tool; the client holds what comes against the schema of the tool."""
        result: CallToolResult = self._portal.call(self._client.call_tool, tool, arguments)
        return result

    def answer(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that answers, and return its structured content."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content


@contextmanager
def driven(daemon: RunningDaemon, *options: str, mode: str = "auto") -> Iterator[DrivenByProtocol]:
    """Return the SDK's client, driven from outside of its loop."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(protocol_client(daemon, *options, mode=mode)) as client,
    ):
        yield DrivenByProtocol(portal, client)


def text_of(result: CallToolResult) -> str:
    """Return what a result says."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


class McpProgram:
    """The program with its pipes, spoken to in lines; what it says on stdout and stderr is kept."""

    def __init__(
        self,
        daemon: RunningDaemon,
        *options: str,
        program: tuple[str, ...] = PROGRAM,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.errors = daemon.home / f"mcp-{os.urandom(4).hex()}.log"
        with self.errors.open("wb") as errors:
            self.process = started(
                [sys.executable, *program, *options],
                env={**daemon.env, **(env or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self.lines = list[bytes]()
        self._numbers = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def write(self, line: bytes) -> None:
        """Write a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request, and return its number."""
        self._numbers += 1
        message = {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode())
        return self._numbers

    def answer(self, number: int | None) -> dict[str, Any]:
        """Read lines until the answer of this number comes; each must be a message of the protocol."""
        while True:
            message = self.message()
            if message is None:
                raise AssertionError(f"ended without an answer to {number}:\n{self.errors.read_text()}")
            if message.get("id") == number and "method" not in message:
                return message

    def message(self) -> dict[str, Any] | None:
        """Read a line, which must be a message of the protocol; None at the end."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            return None
        self.lines.append(line)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        assert line.endswith(b"\n"), line
        return dict(message)

    def greet(self) -> None:
        """Shake hands as clients do."""
        client = {"name": "test", "version": "1"}
        self.answer(self.send("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}))
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool, and return its result."""
        answer = self.answer(self.send("tools/call", {"name": tool, "arguments": arguments}))
        result: dict[str, Any] = answer["result"]
        return result

    def end(self) -> int:
        """Close standard input, read what is left, and return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        while self.message() is not None:
            pass
        return self.ended()

    def ended(self) -> int:
        """Wait until the program has ended by itself, and return its exit code."""
        eventually(lambda: self.process.poll() is not None, seconds=STOP_SECONDS)
        return self.process.returncode
