"""One client connection: uvicorn's HTTP/1.1 protocol, plus the identity of the peer, connection limits, and time-outs.

uvicorn trusts every client and waits without limit for a header, for a slow reader and for a half-closed client. A
daemon that must answer its other clients cannot do that.
"""

import asyncio
import os
import resource
import select
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, cast

import h11
import structlog
from msgspec import Struct, field
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from memoryd.api.http.sockets import ClientListener, Peer
from memoryd.api.problems import body_of
from memoryd.errors import InvalidRequest, MemorydError, NotNow, TooLarge

log = structlog.get_logger(__name__)

_RESERVED_FILES_SHARE = 4
OUT_OF_FILES = "out of file descriptors"
FULL_HINT = "ask again in a moment; clients that keep connections open take the places (limits.maxConnections)"
_READ_AHEAD_BYTES = 64 * 1024
_SLICE_BYTES = 16 * 1024
REFUSED_SECONDS = 1.0
"""Seconds that a refused client has to read the reply."""
_POLL_HANGUP = getattr(select, "POLLHUP", 0)


class ConnectionLimits(Struct, frozen=True):
    """The maximum number of connections, and the time-outs of each."""

    total: int = 128
    per_process: int = 96
    header_bytes: int = 32 * 1024
    header_timeout: timedelta = timedelta(seconds=10)
    write_timeout: timedelta = timedelta(seconds=10)
    idle_timeout: timedelta = timedelta(seconds=300)


class Connections(Struct):
    """The open connections and the numbers of refused ones; one object per server, shared by its listeners."""

    limits: ConnectionLimits
    by_process: Counter[int] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    none_open: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.none_open.set()

    @property
    def open(self) -> int:
        return self.by_process.total()

    def why_full(self, peer: Peer, fd: int) -> str:
        """Return the limit that one more connection from `peer` would break, or an empty string."""
        if self.open >= self.limits.total:
            return "too many connections"
        if self.by_process[peer.pid] >= self.limits.per_process:
            return "too many connections of this process"
        # the kernel assigns the lowest free number, so a high one means that descriptors are nearly exhausted
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return OUT_OF_FILES if fd >= files - files // _RESERVED_FILES_SHARE else ""

    def add(self, peer: Peer) -> None:
        self.by_process[peer.pid] += 1
        self.none_open.clear()

    def remove(self, peer: Peer) -> None:
        self.by_process[peer.pid] -= 1
        if self.by_process[peer.pid] <= 0:
            del self.by_process[peer.pid]
        if not self.by_process:
            self.none_open.set()


class Timer(Struct, eq=False):
    """A time-out that is started, restarted and stopped; it fires once."""

    after: timedelta
    action: Callable[[], None]
    _handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start it unless it is running."""
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_later(self.after.total_seconds(), self._fire)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self.action()


class _Replies:
    """The writer of replies.

    It holds back a head with a content length until the body, so that the client wakes once.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        """Write data after a held head, or hold a head that has a content length."""
        if not self._head and data.startswith(b"HTTP/1.") and b"\r\ncontent-length:" in data:
            self._head = data
        else:
            self.flush(data)

    def flush(self, data: bytes = b"") -> None:
        """Write the held head, followed by `data`."""
        head, self._head = self._head, b""
        if head or data:
            self._transport.write(head + data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        """Close the connection after all written data is sent."""
        self.flush()
        self._transport.close()


class Exchange:
    """One request and its answer, as seen by the connection."""

    def __init__(self) -> None:
        self._actions: list[Callable[[], None]] = []
        self._is_over = False

    def on_over(self, action: Callable[[], None]) -> None:
        """Call `action` when the client has the complete answer or has left; at once if that has happened."""
        if self._is_over:
            action()
        else:
            self._actions.append(action)

    def end(self) -> None:
        """Mark the exchange as over, and run its actions."""
        self._is_over, actions, self._actions = True, self._actions, []
        for action in actions:
            action()


class Connection(H11Protocol):
    """The protocol of one client connection.

    `peer_of` and `exchange_of` return its `Peer` and `Exchange` for a scope.
    """

    def __init__(
        self, config: Config, server_state: ServerState, *, listener: ClientListener, connections: Connections
    ) -> None:
        super().__init__(config=config, server_state=server_state, app_state={})
        limits = connections.limits
        self._listener = listener
        self._all = connections
        self._peer: Peer | None = None
        self._is_half_closed = False
        self._exchange = Exchange()
        self._header_timer = Timer(limits.header_timeout, self._give_up)
        self._write_timer = Timer(limits.write_timeout, self._give_up)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        sock = transport.get_extra_info("socket")
        peer = self._listener.peer(sock)
        self.transport = transport
        self._replies = _Replies(transport)
        if peer.uid != os.geteuid():
            return self._refuse("foreign user", b"")
        full = self._all.why_full(peer, sock.fileno())
        if full:
            return self._refuse(full, _reply_bytes(NotNow(full, hint=FULL_HINT)))
        self._admit(peer)
        return super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._header_timer.stop()
        self._write_timer.stop()
        self._unset_keepalive_if_required()
        if self._peer is not None:
            self._all.remove(self._peer)
            self._peer = None
        super().connection_lost(exc)
        self._exchange.end()

    def data_received(self, data: bytes) -> None:
        if self._peer is None:
            # a refused connection: its data is read and discarded
            return
        # in slices, because h11 bounds a header only while it is incomplete
        for start in range(0, len(data), _SLICE_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE_BYTES])
        if not self._is_answering() and not self.transport.is_closing():
            self._header_timer.start()

    def handle_events(self) -> None:
        waiting, _ = self.conn.trailing_data
        if not waiting:
            # usually no other request follows an answered one
            return
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            # before the app runs
            self._exchange = self.cycle.scope["state"]["exchange"] = Exchange()
            self.cycle.transport = cast(asyncio.Transport, self._replies)
        if self._is_answering():
            self._header_timer.stop()
        self._read_ahead()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn's never answers a half-closed client
        """Keep a client that only shut down its sending side until it has its answer."""
        is_waiting = self._is_answering() and not self.cycle.more_body
        self._is_half_closed = is_waiting and not _is_hung_up(self.transport)
        return self._is_half_closed

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer.start()

    def resume_writing(self) -> None:
        self._write_timer.stop()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._replies.flush()
        self._exchange.end()
        super().on_response_complete()
        if self._is_half_closed and not self._is_answering():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not valid HTTP with our error reply, and close the connection."""
        if self._is_answering():
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._exchange.end()
            if self.cycle.response_started:
                self.transport.close()
                return
        status = getattr(sys.exc_info()[1], "error_status_hint", InvalidRequest.http_status)
        kind = TooLarge if status in (413, 431) else InvalidRequest
        refused = kind("the request is not valid HTTP/1.1, or its header is too large")
        refused.http_status = status
        self.transport.write(_reply_bytes(refused))
        self.transport.close()

    def shutdown(self) -> None:
        if not self.transport.is_closing() and self.conn.our_state is not h11.ERROR:
            super().shutdown()

    def _admit(self, peer: Peer) -> None:
        self._peer = peer
        self._all.add(peer)
        self.app_state = {"peer": peer}
        # every byte that waits for the client counts, including those of a complete reply
        self.transport.set_write_buffer_limits(high=0)
        self._header_timer.start()

    def _read_ahead(self) -> None:
        """Continue reading while a pipelined request waits, since only a read shows that the client has left."""
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) < _READ_AHEAD_BYTES:
            self.flow.resume_reading()

    def _refuse(self, reason: str, reply: bytes) -> None:
        self._all.refused[reason] += 1
        log.debug("connection refused", reason=reason, socket=self._listener.name)
        if reply:
            self.transport.write(reply)
        if not reply or reason == OUT_OF_FILES:
            self.transport.close()
            return
        # a close would discard the answer for a client whose request was not read; the client closes when it has the
        # answer
        self.transport.write_eof()
        asyncio.get_running_loop().call_later(REFUSED_SECONDS, self.transport.close)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _give_up(self) -> None:
        self._all.refused["timed out"] += 1
        self.transport.abort()


def peer_of(scope: Mapping[str, Any]) -> Peer:
    """Return the peer that sent the request of this ASGI scope."""
    return cast(Peer, scope["state"]["peer"])


def exchange_of(scope: Mapping[str, Any]) -> Exchange:
    """Return the exchange of the request of this ASGI scope."""
    return cast(Exchange, scope["state"]["exchange"])


def _is_hung_up(transport: asyncio.Transport) -> bool:
    """Return whether the client closed its socket completely, so that no answer can reach it."""
    poll = select.poll()
    poll.register(transport.get_extra_info("socket").fileno(), 0)
    return any(event & _POLL_HANGUP for _, event in poll.poll(0))


def _reply_bytes(problem: MemorydError) -> bytes:
    body = body_of(problem)
    head = (
        f"HTTP/1.1 {problem.http_status} \r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
