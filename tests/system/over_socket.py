"""Requests as any HTTP client may send them, right or wrong, over the daemon's socket."""

import http.client
import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A reply: its status, its decoded JSON, and the headers."""

    status: int
    json: Any
    headers: dict[str, str]

    @property
    def error(self) -> str:
        return str(self.json["error"]["code"])

    @property
    def message(self) -> str:
        return str(self.json["error"]["message"])


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def send(path: Path, method: str, target: str, body: object = None, **headers: str) -> Answer:
    """Send one request; `body` is JSON unless it is bytes, and headers are written with `_` for `-`."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if content is not None:
        named.setdefault("Content-Type", "application/json")
    connection = _Connection(path)
    try:
        connection.request(method, target, body=content, headers=named)
        response = connection.getresponse()
        text = response.read()
        return Answer(response.status, json.loads(text) if text else None, dict(response.getheaders()))
    finally:
        connection.close()


def send_raw(path: Path, data: bytes) -> bytes:
    """Send bytes, whatever they are, and return what comes back until the connection ends, however it does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(20)
        sock.connect(str(path))
        received = bytearray()
        # a daemon that hangs up on bytes that it has not read resets the connection
        with suppress(ConnectionResetError, BrokenPipeError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(65536):
                received += piece
        return bytes(received)
