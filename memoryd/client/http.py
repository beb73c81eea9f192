"""The subset of HTTP/1.1 that the client uses over the daemon's socket (RFC 9112).

`http.client` would load ssl and email, which takes longer than a question to the daemon. Raises OSError if the
connection breaks, and ProtocolError for a reply that is not HTTP.
"""

import socket
from collections.abc import Generator, Iterator
from io import BufferedReader
from pathlib import Path

from memoryd.errors import InvalidRequest

_LINE_BYTES = 65_536
_HEADERS_MAX = 100
_WITHOUT_BODY = (204, 304)


class ProtocolError(Exception):
    """A reply that is not HTTP."""


class HttpSocket:
    """A connection to the socket `path` for one request at a time; `timeout` in seconds without data."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        self.path = path
        self.timeout = timeout
        self.sock: socket.socket | None = None
        self._replies: BufferedReader

    def connect(self) -> None:
        """Open the connection."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(str(self.path))
        except BaseException:
            sock.close()
            raise
        self.sock, self._replies = sock, sock.makefile("rb")

    def close(self) -> None:
        """Close the connection if it is open."""
        sock, self.sock = self.sock, None
        if sock is not None:
            self._replies.close()
            sock.close()

    def set_timeout(self, timeout: float | None) -> None:
        """Set the time without data after which the open connection fails, in seconds."""
        if self.sock is not None:
            self.sock.settimeout(timeout)

    def exchange(self, method: str, target: str, payload: bytes | None) -> tuple[int, Generator[bytes, None, None]]:
        """Send a request on the open connection; return the status of the reply, and an iterator over its body.

        Raises ConnectionResetError if the daemon closed the connection before the reply began.
        """
        if not target.isascii() or not target.isprintable() or " " in target:
            raise InvalidRequest(
                "a path of the API has only printable ASCII characters", hint="percent-encode the others"
            )
        assert self.sock is not None
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if payload is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        self.sock.sendall(f"{head}\r\n".encode() + (payload or b""))
        first = self._replies.readline(_LINE_BYTES)
        if not first:
            raise ConnectionResetError("the connection was closed before a reply")
        version, _, rest = first.partition(b" ")
        if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise ProtocolError("no status line")
        status, headers = int(rest[:3]), dict(self._headers())
        if method == "HEAD" or status in _WITHOUT_BODY:
            headers |= {b"content-length": b"0", b"transfer-encoding": b""}
        return status, self._body(version, headers)

    def _headers(self) -> Iterator[tuple[bytes, bytes]]:
        for _ in range(_HEADERS_MAX):
            name, _, value = self._line().partition(b":")
            if not name:
                return
            yield name.lower(), value.strip().lower()
        raise ProtocolError("too many headers")

    def _line(self) -> bytes:
        line = self._replies.readline(_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise ProtocolError("a line is too long") if len(line) == _LINE_BYTES else _cut_short()
        return line.rstrip(b"\r\n")

    def _body(self, version: bytes, headers: dict[bytes, bytes]) -> Generator[bytes, None, None]:
        length = headers.get(b"content-length", b"")
        if headers.get(b"transfer-encoding") == b"chunked":
            while size := self._size(self._line().partition(b";")[0], 16):
                yield self._read_exactly(size)
                self._line()
            while self._line():
                pass  # trailers
        elif length:
            yield self._read_exactly(self._size(length, 10))
        else:
            while part := self._replies.read1():
                yield part
            self.close()
        if headers.get(b"connection") == b"close" or version == b"HTTP/1.0":
            self.close()

    @staticmethod
    def _size(digits: bytes, base: int) -> int:
        if not digits.isalnum():
            raise ProtocolError("a length is not a number")
        try:
            return int(digits, base)
        except ValueError:
            raise ProtocolError("a length is not a number") from None

    def _read_exactly(self, size: int) -> bytes:
        content = self._replies.read(size)
        if len(content) < size:
            raise _cut_short()
        return content


def _cut_short() -> ConnectionAbortedError:
    return ConnectionAbortedError("the connection was closed within a reply")
