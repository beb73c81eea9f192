"""A real HTTP server on loopback that serves a file as model hubs do, with faults on demand."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256


@dataclass
class Asked:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Answer:
    """A reply in place of the file: a status with headers and body, or a break after so many bytes."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    break_after: int | None = None
    stall: bool = False
    content: bytes | None = None


@dataclass
class ModelServer:
    """Serves `content` at every path. Each request uses up one answer of `script`; None in it means: serve."""

    content: bytes
    etag: str = '"v1"'
    has_ranges: bool = True
    tells_length: bool = True
    linked: bool = False
    """As a hub: HEAD and GET below /…/resolve/ redirect to /store, with the hash in the hub's answer."""
    script: list[Answer | None] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    store: str = ""
    """Where the hub redirects to: the address of another server, else this one."""
    url: str = ""
    sent: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    _ending: asyncio.Event = field(default_factory=asyncio.Event)
    _handlers: set[asyncio.Task[None] | None] = field(default_factory=set)

    def methods(self) -> Sequence[str]:
        return [request.method for request in self.asked]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["ModelServer"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self
            self._ending.set()
            await asyncio.gather(*filter(None, self._handlers))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._handlers.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            await self._reply(self._note(head), writer)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    def _note(self, head: str) -> Asked:
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {key.lower(): value for key, value in (line.split(": ", 1) for line in lines)}
        self.asked.append(Asked(method, path, headers))
        self.reached.set()
        return self.asked[-1]

    async def _reply(self, request: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self.script.pop(0) if self.script else None
        if answer is not None and answer.stall:
            await self._ending.wait()
        if answer is not None and (answer.status != 200 or answer.body or answer.headers):
            self._write(writer, answer.status, answer.headers, answer.body)
        elif self.linked and "/resolve/" in request.path:
            self._redirect(writer)
        elif request.method == "HEAD":
            self._write(writer, 200, {"Content-Length": str(len(self.content))}, None)
        else:
            self._give(request, writer, answer or Answer())

    def _redirect(self, writer: asyncio.StreamWriter) -> None:
        hub = {
            "Location": f"{self.store}/store/blob",
            "X-Linked-Size": str(len(self.content)),
            "X-Linked-Etag": f'"{sha256(self.content).hexdigest()}"',
        }
        self._write(writer, 302, hub, b"Found")

    def _give(self, request: Asked, writer: asyncio.StreamWriter, answer: Answer) -> None:
        content = self.content if answer.content is None else answer.content
        start, status, headers = 0, 200, {"ETag": self.etag, "Content-Type": "application/octet-stream"}
        wanted = request.headers.get("range", "")
        if wanted and self.has_ranges and request.headers.get("if-range", self.etag) == self.etag:
            start, status = int(wanted.removeprefix("bytes=").rstrip("-")), 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        if start >= len(content):
            self._write(writer, 416, {"Content-Range": f"bytes */{len(content)}"}, b"")
            return
        body = content[start:]
        if self.tells_length:
            headers["Content-Length"] = str(len(body))
        self.sent += len(body[: answer.break_after])
        self._write(writer, status, headers, body[: answer.break_after])

    @staticmethod
    def _write(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes | None) -> None:
        lines = [f"HTTP/1.1 {status} X", "Connection: close"]
        lines += [f"{key}: {value}" for key, value in headers.items()]
        if body is not None and "Content-Length" not in headers and status >= 300:
            lines.append(f"Content-Length: {len(body)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
