"""Badly behaved clients: they read slowly, send slowly, send garbage, or disconnect."""

import asyncio
import contextlib
import json
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.load.crowd import LINES, Scene

PATIENCE = 30.0
"""Seconds to wait for anything."""
SIP_BYTES, SIP_SECONDS = 256, 0.02
"""Bytes that a slow reader reads at a time, and its pause."""
TRICKLE_SECONDS = 0.5
PASSING = ("unavailable", "overloaded", "timeout")
"""Temporary errors."""
FAULT = 500
_ENDED = (ConnectionError, asyncio.IncompleteReadError, EOFError)


async def reading_slowly(scene: Scene, rnd: random.Random) -> None:
    """Read answers slowly: each is complete and true, or the connection ends."""
    while True:
        path = rnd.choice(list(scene.judge.still))
        async with _open(scene, buffer=4096) as (reader, writer):
            writer.write(_get(f"/v1/files/{path}?lines={LINES}"))
            body = await _sipped(reader)
        if body is None:
            scene.tally.ends["slow reader dropped"] += 1
            continue
        reply = json.loads(body)
        if "text" in reply:
            scene.tally.ends["slow reader answered"] += 1
            scene.judge.read(path, reply, 1, LINES)
        elif reply["error"]["code"] in PASSING:
            scene.tally.ends["slow reader told to wait"] += 1
        else:
            scene.tally.is_wrong(f"I5: a slow reader of {path} was told {reply}")


async def trickling(scene: Scene, _rnd: random.Random) -> None:
    """Send a request byte by byte, until the daemon disconnects."""
    request = _get("/v1/status" + "?" + "x" * 2000)
    while True:
        async with _open(scene) as (reader, writer):
            for byte in request:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(TRICKLE_SECONDS)
                if reader.at_eof():
                    break
        scene.tally.ends["slow loris dropped" if reader.at_eof() else "slow loris came through"] += 1


async def sending_garbage(scene: Scene, rnd: random.Random) -> None:
    """Send garbage or a damaged request: the answer is a client error or a closed connection."""
    while True:
        async with _open(scene) as (reader, writer):
            writer.write(_garbage(rnd))
            writer.write_eof()
            async with asyncio.timeout(PATIENCE):
                reply = await reader.read()
        status = _status(reply)
        scene.tally.ends[f"garbage {status or 'dropped'}"] += 1
        if status == FAULT:
            scene.tally.is_wrong(f"I5: garbage was a fault of the daemon: {reply[:200]!r}")
        await asyncio.sleep(rnd.expovariate(20))


async def coming_and_going(scene: Scene, rnd: random.Random) -> None:
    """Connect and disconnect: after an answer, before it, without a request, or with a reset."""
    while True:
        way = rnd.choice(("answered", "before the answer", "without a word", "reset"))
        async with _open(scene) as (reader, writer):
            if way != "without a word":
                writer.write(_get("/v1/health"))
            if way == "answered":
                async with asyncio.timeout(PATIENCE):
                    line = await reader.readline()
                if b" 200 " not in line:
                    scene.tally.is_wrong(f"I5: a new connection was answered by {line!r}")
            if way == "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        scene.tally.ends[f"left, {way}"] += 1
        await asyncio.sleep(rnd.expovariate(50))


@asynccontextmanager
async def _open(scene: Scene, buffer: int = 65_536) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield a connection, which the daemon may close."""
    try:
        reader, writer = await asyncio.open_unix_connection(scene.socket, limit=buffer)
    except OSError as exc:
        scene.tally.is_wrong(f"I5: nobody could connect: {exc!r}")
        raise
    try:
        with contextlib.suppress(*_ENDED):
            yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _sipped(reader: asyncio.StreamReader) -> bytes | None:
    """Return the body of a slowly read reply; None if the connection ended before."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        left = int(head.partition(b"content-length:")[2].split()[0])
        body = b""
        while len(body) < left:
            sip = await reader.read(min(SIP_BYTES, left - len(body)))
            if not sip:
                return None
            body += sip
            await asyncio.sleep(SIP_SECONDS)
    except _ENDED:
        return None
    return body


def _get(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def _garbage(rnd: random.Random) -> bytes:
    body = json.dumps({"query": "lantern harbour", "maxResults": 3}).encode()
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = bytearray(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    if rnd.random() < 0.3:
        return rnd.randbytes(rnd.randint(1, 2000))
    for _ in range(rnd.randint(1, 6)):
        request[rnd.randrange(len(request))] = rnd.randrange(256)
    return bytes(request[: rnd.choice((len(request), rnd.randint(1, len(request))))])


def _status(reply: bytes) -> int:
    """Return the status code of a reply, or 0."""
    words = reply.split(b" ", 2)
    return int(words[1]) if reply.startswith(b"HTTP/1.1 ") and words[1].isdigit() else 0
