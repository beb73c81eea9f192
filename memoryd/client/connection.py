"""HTTP/1.1 over the daemon's socket: one request after the other, or a stream of events."""

import contextlib
import http.client
import json
import socket as sockets
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from memoryd.client.connection_failures import lost, not_opened, refusal
from memoryd.client.decoding import decoded, server_events
from memoryd.config.paths import socket_path
from memoryd.replies.daemon import ServerEvent
from memoryd.wire import API

GRACE_SECONDS = 5.0
"""How much longer than a deadline the client waits for the reply that reports it."""


class _UnixConnection(http.client.HTTPConnection):
    """HTTP/1.1 over AF_UNIX."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        sock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(str(self._path))
        except BaseException:
            sock.close()
            raise
        self.sock = sock


class DaemonConnection:
    """A connection to the daemon behind `socket`, by default where a daemon of this user listens.

    `timeout` is in seconds and counts silence, not the whole call. Nothing is opened before the first call;
    the connection is kept, and reopened when the daemon has closed it.
    """

    def __init__(self, socket: Path | None = None, timeout: float = 30) -> None:
        self.socket = socket or socket_path()
        self.timeout = timeout
        self._connection = _UnixConnection(self.socket, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._connection.close()

    def abort(self) -> None:
        """Break off a call that another thread has under way: it raises NotNow."""
        sock = self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(sockets.SHUT_RDWR)

    def call(self, method: str, target: str, body: Mapping[str, object] | None = None, wait_ms: int = 0) -> Any:
        """Send one request and decode its reply, for which the daemon may take `wait_ms`."""
        return decoded(self._content(method, API + target, body, wait_ms))

    def text(self, path: str) -> str:
        """Return what is answered to a GET of a path that stands beside those of the API."""
        return self._content("GET", path).decode()

    def _content(self, method: str, target: str, body: Mapping[str, object] | None = None, wait_ms: int = 0) -> bytes:
        payload = None if body is None else json.dumps(_without_none(body)).encode()
        timeout = max(self.timeout, wait_ms / 1000 + GRACE_SECONDS) if wait_ms else self.timeout
        try:
            status, content = self._round_trip(method, target, payload, timeout)
        except (OSError, http.client.HTTPException) as exc:
            self.close()
            raise lost(exc) from exc
        except BaseException:
            self.close()  # a half-read reply must not be taken for the next one
            raise
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise refusal(status, content)
        return content

    def stream(self, target: str, silence: float | None) -> Generator[ServerEvent, None, None]:
        """Yield the events of `target` on a connection of its own, which may be silent for so many seconds."""
        connection = _UnixConnection(self.socket, self.timeout)
        try:
            _open(connection, self.socket)
            # taken now: http.client lets go of it when the reply says that the connection closes
            sock = connection.sock
            response = _exchange(connection, "GET", API + target, None)
            sock.settimeout(silence)
            if response.status != http.HTTPStatus.OK:
                raise refusal(response.status, response.read())
            yield from server_events(response)
        except (OSError, http.client.HTTPException) as exc:
            raise lost(exc) from exc
        finally:
            connection.close()

    def _round_trip(self, method: str, target: str, payload: bytes | None, timeout: float) -> tuple[int, bytes]:
        is_reused = self._connection.sock is not None
        if not is_reused:
            _open(self._connection, self.socket)
        self._connection.sock.settimeout(timeout)
        try:
            response = _exchange(self._connection, method, target, payload)
        except (BrokenPipeError, ConnectionResetError):
            # An idle connection that the daemon closed shows only now. Every call that is made on a kept connection
            # may be repeated unharmed.
            self.close()
            if not is_reused:
                raise
            return self._round_trip(method, target, payload, timeout)
        return response.status, response.read()


def target(path: str, query: Mapping[str, object]) -> str:
    """Return a path with what is given of a query behind it."""
    given = _without_none(query)
    return f"{path}?{urlencode(given)}" if given else path


def _open(connection: _UnixConnection, path: Path) -> None:
    try:
        connection.connect()
    except OSError as exc:
        raise not_opened(exc, path) from exc


def _exchange(connection: _UnixConnection, method: str, target: str, payload: bytes | None) -> http.client.HTTPResponse:
    headers = {} if payload is None else {"Content-Type": "application/json"}
    connection.request(method, target, body=payload, headers=headers)
    return connection.getresponse()


def _without_none(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}
