"""A listening TCP socket on loopback, and nowhere else."""

import errno
import os
import socket
from dataclasses import dataclass
from typing import Final

from memoryd.api.http.sockets import BACKLOG, PORT, Peer
from memoryd.errors import NotNow

NO_PROCESS: Final = -1
"""The pid of whoever asks on a port: the kernel does not say."""


@dataclass(eq=False, slots=True)
class LoopbackListener:
    """A bound port. Whoever asks there and has the token is the owner; nothing else is known of them."""

    sock: socket.socket
    address: str
    name: str = PORT

    def is_still_bound(self) -> bool:
        """Return True: a port has no path that could be taken away."""
        return True

    def bound_anew(self) -> "LoopbackListener":
        """Return itself."""
        return self

    def peer(self, connected: socket.socket) -> Peer:
        """Return who connected: the owner, which the token is still to prove."""
        return Peer(uid=os.geteuid(), pid=NO_PROCESS, socket=self.name)

    def close(self) -> None:
        """Stop listening."""
        self.sock.close()


def bind_loopback(host: str, port: int) -> LoopbackListener:
    """Bind and listen on an address of loopback, `127.0.0.1` or `::1`; raises NotNow where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    shown = address_of(host, port)
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as exc:
        raise NotNow(f"{shown} cannot be listened on: {exc.strerror}") from exc
    try:
        sock.setblocking(False)
        # a port of ours that was closed a moment ago is free; one that somebody listens on is taken all the same
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as exc:
        sock.close()
        raise NotNow(f"{shown} cannot be listened on: {_why(exc)}") from exc
    return LoopbackListener(sock, shown)


def address_of(host: str, port: int) -> str:
    """Return an address as a URL writes it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _why(exc: OSError) -> str:
    if exc.errno == errno.EADDRINUSE:
        return "another program listens there; end it, or set http.port to another one"
    if exc.errno == errno.EADDRNOTAVAIL:
        return 'this machine has no such address; set http.host to the other one, "127.0.0.1" or "::1"'
    if exc.errno == errno.EACCES:
        return "ports below 1024 are not for everybody; set http.port to another one"
    return exc.strerror or str(exc)
