"""The optional loopback port, and the layer in front of it that checks host, origin and token.

On the Unix socket the kernel identifies the client. The port can be reached by any program of any user and by any web
page, so each request needs the token, and without it learns nothing else. A failure to open the port never ends the
daemon.
"""

import asyncio
import errno
import math
import os
import secrets
import socket
from collections import Counter
from datetime import timedelta

import structlog
from msgspec import Struct, field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import BACKLOG, PORT, Peer
from memoryd.domain.access import DoorRules, HeaderPairs, TokenLimiter, bearer_token
from memoryd.errors import Denied, MemorydError, NotNow, TooManyTries, Unauthorized
from memoryd.files.token_file import TokenFile
from memoryd.replies.daemon import PortReply

log = structlog.get_logger(__name__)

NO_PROCESS = -1
"""The pid of a client of the port, which the kernel does not report."""
HOLD_SECONDS = 0.5
"""Seconds that the answer to a token is delayed after too many wrong tokens."""
_TOKEN_HINT = "send the header `Authorization: Bearer TOKEN`; memoryctl http token prints it"


class LoopbackListener(Struct, eq=False):
    """A bound port. A client with the token is the owner; nothing else is known about it."""

    sock: socket.socket
    address: str
    name: str = PORT

    def is_still_bound(self) -> bool:
        """Return True: a port has no path that could be removed."""
        return True

    def rebind(self) -> "LoopbackListener":
        """Return itself."""
        return self

    def peer(self, connected: socket.socket) -> Peer:
        """Return the peer: the owner, which the token still has to prove."""
        return Peer(uid=os.geteuid(), pid=NO_PROCESS, socket=self.name)

    def close(self) -> None:
        """Stop listening."""
        self.sock.close()


class PortGuard(Struct, frozen=True, kw_only=True):
    """The rules and the token of the port; `refused` counts by reason."""

    rules: DoorRules
    token: TokenFile
    wrong: TokenLimiter
    refused: Counter[str] = field(default_factory=Counter)


class LoopbackAuth(Struct, frozen=True, eq=False):
    """Passes requests with the token to `app`; raises Denied, Unauthorized, TooManyTries."""

    app: ASGIApp
    door: PortGuard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: HeaderPairs = scope["headers"]
        self._check_sender(headers)
        await self._check_token(headers)

        async def send_while_known(message: Message) -> None:
            # a stream runs for hours, and its token may have been revoked since
            if message.get("more_body") and not await self._is_known(bearer_token(headers)):
                message = {**message, "body": b"", "more_body": False}
            await send(message)

        await self.app(scope, receive, send_while_known)

    def _check_sender(self, headers: HeaderPairs) -> None:
        rules = self.door.rules
        if why := rules.why_not_host(headers):
            self._refuse("foreign host")
            raise Denied(f"the request is refused: {why}", hint="http.allowedHosts names hosts beside loopback")
        if why := rules.why_not_origin(headers):
            self._refuse("foreign origin")
            raise Denied(f"the request is refused: {why}", hint="http.allowedOrigins lists origins")

    async def _check_token(self, headers: HeaderPairs) -> None:
        token = bearer_token(headers)
        # checked even after many wrong tokens: otherwise any program on the machine could lock the owner out
        if await self._is_known(token):
            return
        if not token:
            self._refuse("no token")
            raise Unauthorized("there is no token", hint=_TOKEN_HINT)
        seconds = self.door.wrong.wait()
        if seconds:
            self._refuse("too many wrong tokens")
            await asyncio.sleep(HOLD_SECONDS)
            raise TooManyTries(f"too many wrong tokens; wait {math.ceil(seconds)} s", hint=_TOKEN_HINT)
        self.door.wrong.note()
        self._refuse("wrong token")
        raise Unauthorized("the token is wrong", hint=_TOKEN_HINT)

    async def _is_known(self, token: bytes) -> bool:
        """Return whether this is the current token; False while the file cannot be trusted."""
        try:
            # read each time, so that a new token is valid at once and an old one is not
            known = await asyncio.to_thread(self.door.token.read)
        except MemorydError:
            return False
        return secrets.compare_digest(token, known.encode())

    def _refuse(self, reason: str) -> None:
        self.door.refused[reason] += 1
        if self.door.refused[reason].bit_count() == 1:
            # the first, second, fourth, eighth …: an endless client does not fill the log
            log.warning("refused on the loopback port", reason=reason, times=self.door.refused[reason])


class LoopbackPort:
    """Serves `app`, which `door` protects, on one address.

    `retry` is the interval of attempts to open the port, and of checks of the token file.
    """

    def __init__(
        self,
        *,
        host: str,
        port: int,
        app: ASGIApp,
        door: PortGuard,
        limits: ConnectionLimits,
        retry: timedelta = timedelta(seconds=5),
    ) -> None:
        self._where = (host, port)
        self._door = door
        self._app = app
        self._limits = limits
        self._retry = retry.total_seconds()
        self._server: Server | None = None
        self._trouble = ""

    def state(self) -> PortReply:
        """Return the current state."""
        server = self._server
        return PortReply(
            address=address_of(*self._where),
            open=server is not None,
            reason=self._trouble or None,
            tokenFile=str(self._door.token.path),
            connections=0 if server is None else server.connections.open,
            refused=dict(self._door.refused),
        )

    async def run(self) -> None:
        """Open the port, retrying on failure, and serve until cancelled.

        Cancelling waits for the requests in flight.
        """
        listener = await self._open()
        self._server = Server(app=self._app, listeners=[listener], limits=self._limits)
        log.info("loopback port", address=listener.address)
        try:
            await self._server.run()
        finally:
            self._server = None

    async def run_token(self) -> None:
        """Check the token file at intervals, and create it again if it is missing, until cancelled."""
        while True:
            if self._server is not None:
                self._note(await self._why_no_token())
            await asyncio.sleep(self._retry)

    async def _open(self) -> LoopbackListener:
        while True:
            why = await self._why_no_token()
            try:
                if not why:
                    listener = bind_loopback(*self._where)
                    self._note("")
                    return listener
            except MemorydError as exc:
                why = str(exc)
            self._note(why)
            await asyncio.sleep(self._retry)

    async def _why_no_token(self) -> str:
        """Return why the token file cannot be used; empty if it can, or could be created."""
        try:
            await asyncio.to_thread(self._door.token.ensure)
        except MemorydError as exc:
            return f"{exc}; {exc.hint}" if exc.hint else str(exc)
        return ""

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            log.warning("the loopback port is not open as it should be", reason=trouble)
        self._trouble = trouble


_REASONS = {
    errno.EADDRINUSE: "another program listens there; end it, or set http.port to another one",
    errno.EADDRNOTAVAIL: 'this machine has no such address; set http.host to the other one, "127.0.0.1" or "::1"',
    errno.EACCES: "ports below 1024 need special rights; set http.port to another one",
}


def bind_loopback(host: str, port: int) -> LoopbackListener:
    """Bind and listen on a loopback address, `127.0.0.1` or `::1`. Raises NotNow on failure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    shown = address_of(host, port)
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as exc:
        raise NotNow(f"{shown} cannot be listened on: {exc.strerror}") from exc
    try:
        sock.setblocking(False)
        # a port that we closed a moment ago can be bound; one with a listener cannot
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as exc:
        sock.close()
        raise NotNow(f"{shown} cannot be listened on: {_REASONS.get(exc.errno or 0) or exc.strerror or exc}") from exc
    return LoopbackListener(sock, shown)


def address_of(host: str, port: int) -> str:
    """Return an address in the notation of URLs."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
