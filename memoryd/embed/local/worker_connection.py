"""The daemon's end of the wire to one embedding worker: who waits for which text, and what a reply must look like.

Every request gets exactly one reply, in order of its purpose; after anything else the worker cannot be trusted, and
`serve` raises. Callers send and wait; one task, the worker's loop, reads.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from memoryd.embed.local.frames import Cancel, Embed, Embedded, Failed, Load, NoVector, Ready, encode, read
from memoryd.embed.protocol import Purpose, Unembeddable, Vector
from memoryd.errors import EmbedderUnavailable, EmbeddingError, ModelError, WorkerDied

_LENGTH_TOLERANCE: Final = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    id: int
    purpose: Purpose
    reply: asyncio.Future[Vector | Unembeddable]


class WorkerConnection:
    """One life of one worker. Not reusable."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, dimensions: int) -> None:
        self.has_answered = False
        self._reader = reader
        self._writer = writer
        self._dimensions = dimensions
        self._last_id = 0
        self._owed: dict[Purpose, deque[_Request]] = {purpose: deque() for purpose in Purpose}
        self._end: str | None = None
        self._last_activity = 0.0
        self._idle = self._stall = float("inf")
        self._watch: asyncio.Timeout | None = None

    @property
    def is_busy(self) -> bool:
        """Says whether the worker owes a reply, if only to a caller that has gone."""
        return any(self._owed.values())

    async def load(self, order: Load) -> None:
        """Send the order and wait for the model; raises ModelError if the worker cannot load it."""
        self._writer.write(encode(order))
        message = await read(self._reader)
        if isinstance(message, Failed):
            raise ModelError(f"cannot load model {order.model}: {message.reason}")
        if not isinstance(message, Ready):
            raise ValueError(f"{type(message).__name__} instead of Ready")
        if message.dimensions != self._dimensions:
            wrong = f"it gives {message.dimensions} dimensions, not {self._dimensions}"
            raise ModelError(f"cannot load model {order.model}: {wrong}")

    async def ask(self, purpose: Purpose, texts: Sequence[str]) -> list[Vector | Unembeddable]:
        """Send all texts at once, so that the worker never waits for the next, and give the replies in order.

        Raises EmbedderUnavailable (a question) or WorkerDied (documents) if the connection ends first.
        """
        if self._end is not None:
            raise EmbedderUnavailable(self._end)
        requests: list[_Request] = []
        try:
            # when the wire breaks here, `serve` learns why, and hanging up tells those who wait below
            with suppress(ConnectionError):
                for text in texts:
                    requests.append(self._send(purpose, text))
                    await self._writer.drain()
            return await asyncio.gather(*(request.reply for request in requests))
        finally:
            for request in requests:
                self._abandon(request)

    async def serve(self, *, idle: timedelta, stall: timedelta) -> None:
        """Read replies until nothing was asked for `idle`.

        Raises TimeoutError when the worker owes a reply and sends nothing for `stall`, EOFError or ConnectionError
        when it ends, ValueError when it sends garbage or answers out of turn.
        """
        self._idle, self._stall = idle.total_seconds(), stall.total_seconds()
        self._touch()
        while True:
            try:
                async with asyncio.timeout_at(self._deadline()) as self._watch:
                    message = await read(self._reader)
            except TimeoutError:
                # a request may have come in the same turn of the loop as the alarm
                if _now() < self._deadline():
                    continue
                if self.is_busy:
                    raise TimeoutError(f"no reply for {self._stall:g} s") from None
                return
            finally:
                self._watch = None
            self._touch()
            self._settle(message)

    def hang_up(self, reason: str) -> None:
        """Close the connection; whoever still waits is told `reason`."""
        self._end = reason
        self._writer.transport.abort()
        for purpose, requests in self._owed.items():
            for request in requests:
                if not request.reply.done():
                    request.reply.set_exception(_ended(purpose, reason))
            requests.clear()

    def _send(self, purpose: Purpose, text: str) -> _Request:
        if self._end is not None:
            raise _ended(purpose, self._end)
        if not self.is_busy:
            self._touch()
        self._last_id += 1
        request = _Request(self._last_id, purpose, asyncio.get_running_loop().create_future())
        self._owed[purpose].append(request)
        self._writer.write(encode(Embed(request.id, purpose, text)))
        if self._watch is not None and not self._watch.expired():
            self._watch.reschedule(self._deadline())
        return request

    def _abandon(self, request: _Request) -> None:
        if not request.reply.cancelled() and request.reply.done():
            # read, so that asyncio does not report it as never retrieved
            request.reply.exception()
            return
        request.reply.cancel()
        if not self._writer.is_closing():
            self._writer.write(encode(Cancel(request.id)))

    def _settle(self, message: object) -> None:
        if not isinstance(message, Embedded | NoVector):
            raise ValueError(f"unexpected {type(message).__name__}")
        request = self._next_in_order(message.id)
        reply = Unembeddable(message.reason) if isinstance(message, NoVector) else self._vector(message.vector)
        self.has_answered = True
        if not request.reply.done():
            request.reply.set_result(reply)

    def _next_in_order(self, number: int) -> _Request:
        for requests in self._owed.values():
            if requests and requests[0].id == number:
                return requests.popleft()
        raise ValueError(f"reply to {number} out of turn")

    def _vector(self, data: bytes) -> Vector | Unembeddable:
        if len(data) != self._dimensions * np.dtype(np.float32).itemsize:
            raise ValueError(f"vector of {len(data)} bytes for {self._dimensions} dimensions")
        vector = np.frombuffer(data, np.float32)
        # also false for NaN
        if abs(float(np.linalg.norm(vector)) - 1) < _LENGTH_TOLERANCE:
            return vector
        return Unembeddable("the worker gave a vector that is not finite and of length 1")

    def _touch(self) -> None:
        self._last_activity = _now()

    def _deadline(self) -> float:
        return self._last_activity + (self._stall if self.is_busy else self._idle)


def _ended(purpose: Purpose, reason: str) -> EmbeddingError:
    return EmbedderUnavailable(reason) if purpose is Purpose.QUERY else WorkerDied(reason)


def _now() -> float:
    return asyncio.get_running_loop().time()
