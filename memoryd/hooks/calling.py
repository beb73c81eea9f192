"""One call of the daemon with little more than a socket: the client of the package takes longer to load than to ask."""

import json
import socket
from typing import Any

from memoryd.wire import API

_REPLY_BYTES = 4 * 1024 * 1024


def call(path: str, target: str, body: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Send one request to the socket at `path` and return its reply.

    Raises OSError where nobody answers within so many seconds of silence, ValueError for a refusal and for what is no
    reply.
    """
    data = json.dumps(body).encode("ascii")
    head = f"POST {API}{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        connection.sendall(head.encode("ascii") + data)
        answer = _all_of(connection)
    return _reply(answer)


def _all_of(connection: socket.socket) -> bytes:
    parts, size = [], 0
    while part := connection.recv(65_536):
        parts.append(part)
        size += len(part)
        if size > _REPLY_BYTES:
            raise ValueError("the reply is too long")
    return b"".join(parts)


def _reply(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split(b" ")
    reply = json.loads(body)
    if len(status) < 2 or not status[1].startswith(b"2") or not isinstance(reply, dict):
        error = reply.get("error") if isinstance(reply, dict) else None
        raise ValueError(error.get("message") if isinstance(error, dict) else "no reply of memoryd")
    return reply
