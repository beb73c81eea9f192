"""Tells the service manager how we are, by the datagrams of sd_notify(3) and sd_watchdog_enabled(3)."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from datetime import timedelta
from typing import Self

_START_STEP = timedelta(seconds=10)
_PING_SHARE = 0.4  # a little under half, so that a late timer still pings within half the interval


class Notifier:
    """Sends state to $NOTIFY_SOCKET; without one, or when nobody listens there, every call does nothing."""

    def __init__(self, *, address: str | None, watchdog: timedelta | None = None) -> None:
        self._address = _socket_address(address)
        self._watchdog = watchdog

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> Self:
        """Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and take them out so that no child sees them."""
        address = environ.pop("NOTIFY_SOCKET", None)
        usec, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        is_for_us = not pid or pid == str(os.getpid())
        wanted = is_for_us and usec.isdecimal() and int(usec) > 0
        return cls(address=address, watchdog=timedelta(microseconds=int(usec)) if wanted else None)

    @property
    def has_watchdog(self) -> bool:
        """Whether somebody restarts us when the pings stop."""
        return self._watchdog is not None and self._address is not None

    def ready(self, status: str = "") -> None:
        """Say that requests are answered; ends the start and every reload."""
        self._send("READY=1", *([_status_line(status)] if status else []))

    def status(self, text: str) -> None:
        """Set the one line that `systemctl status` shows."""
        self._send(_status_line(text))

    def reloading(self) -> None:
        """Say that the configuration is read again; `ready` must follow."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Say that the stop has begun."""
        self._send("STOPPING=1")

    def extend_timeout(self, by: timedelta) -> None:
        """Ask for more time to start or to stop."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(by.total_seconds() * 1e6)}")

    async def run_start(self, text: str) -> None:
        """Say again and again what a long start is busy with, so that nobody ends it for its length."""
        while True:
            await asyncio.sleep(_START_STEP.total_seconds())
            self._send(f"EXTEND_TIMEOUT_USEC={3 * _START_STEP // timedelta(microseconds=1)}", _status_line(text))

    async def run_watchdog(self, is_healthy: Callable[[], bool]) -> None:
        """Ping while `is_healthy()` holds, at 0.4 of the interval asked for; return at once if none was.

        It runs on the event loop, so a blocked loop stops the pings, and the service manager restarts the daemon.
        """
        if self._watchdog is None or not self.has_watchdog:
            return
        while True:
            if is_healthy():
                self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog.total_seconds() * _PING_SHARE)

    def _send(self, *lines: str) -> None:
        if self._address is None:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | _CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(errors="replace"), self._address)


_CLOEXEC = getattr(socket, "SOCK_CLOEXEC", 0)


def _socket_address(text: str | None) -> str | None:
    """Return the address to send to: a path, or `@name` of the abstract namespace; anything else is nobody's."""
    if text and text.startswith("@"):
        return "\0" + text[1:]
    return text if text and text.startswith("/") else None


def _status_line(text: str) -> str:
    return "STATUS=" + " ".join(text.split())
