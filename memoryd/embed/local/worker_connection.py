"""The daemon's end of the connection to one worker, and the interface for the kinds of workers.

Every request gets exactly one reply, in order for each purpose. After a violation the worker cannot be trusted, and
`serve` raises. Callers send and wait; one task, the worker's loop, reads.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memoryd.embed.local.frames import (
    Cancel,
    Embedded,
    Failed,
    Load,
    Message,
    NoResult,
    Ready,
    Scored,
    WorkerRequest,
    Written,
    encode,
    read,
)
from memoryd.embed.protocol import Purpose
from memoryd.errors import MemorydError, ModelError, WorkerDied

Reply = TypeVar("Reply")
OnReply = Callable[[int, Reply | NoResult], None]
"""Called with the position of a request and its reply as soon as the reply arrives."""


class WorkerJob(Struct, Generic[Reply], frozen=True):
    """The definition of one kind of worker. `name` is used in messages, such as `embedding`."""

    name: str
    unavailable: Callable[[str], MemorydError]
    """Makes the error for a caller that gets no reply now: the worker loads, backs off, or has ended."""
    misfit: Callable[[Ready], str]
    """Returns why a loaded model is not the expected one; empty if it is."""
    answer: type[Embedded] | type[Scored] | type[Written]
    """The message that answers a request, besides NoResult."""
    read: Callable[[Any], Reply | NoResult]
    """Converts an answer into a reply; raises ValueError for an answer that breaks the protocol."""


class _PendingRequest(Struct, Generic[Reply], frozen=True, eq=False):
    """A request that was sent, and the future of its reply."""

    id: int
    reply: asyncio.Future[Reply | NoResult]


class WorkerConnection(Generic[Reply]):
    """The connection to one worker process. Not reusable."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, job: WorkerJob[Reply]) -> None:
        self.has_answered = False
        self.offloads = False
        """True if this build of llama.cpp can use a graphics card; known once the model is loaded."""
        self._reader = reader
        self._writer = writer
        self._job = job
        self._last_id = 0
        self._pending: dict[Purpose, deque[_PendingRequest[Reply]]] = {purpose: deque() for purpose in Purpose}
        self._end: str | None = None
        self._last_activity = 0.0
        self._idle = self._stall = float("inf")
        self._watch: asyncio.Timeout | None = None

    @property
    def is_busy(self) -> bool:
        """True if a reply is pending, also for a cancelled request."""
        return any(self._pending.values())

    async def load(self, order: Load) -> None:
        """Send the order and wait for the model; raises ModelError if the worker cannot load it."""
        self._writer.write(encode(order))
        message = await read(self._reader)
        if isinstance(message, Failed):
            raise ModelError(f"cannot load model {order.model}: {message.reason}")
        if not isinstance(message, Ready):
            raise ValueError(f"{type(message).__name__} instead of Ready")
        if wrong := self._job.misfit(message):
            raise ModelError(f"cannot load model {order.model}: {wrong}")
        self.offloads = message.offloads

    async def ask(
        self, requests: Sequence[WorkerRequest], on_reply: OnReply[Reply] | None = None
    ) -> list[Reply | NoResult]:
        """Send all requests at once, so that the worker never waits for the next, and return the replies in order.

        The ids of the requests are set here. If the connection ends first, this raises the job's `unavailable` error
        (questions) or WorkerDied (documents). If the caller is cancelled, the worker does not compute the requests that
        it has not begun. `on_reply` gets each reply as it arrives, which helps a caller that may be cancelled.
        """
        if self._end is not None:
            raise self._job.unavailable(self._end)
        sent: list[_PendingRequest[Reply]] = []
        try:
            # if the connection breaks here, `serve` gets the reason, and `hang_up` sets it in the futures below
            with suppress(ConnectionError):
                for position, request in enumerate(requests):
                    sent.append(self._send(request))
                    if on_reply is not None:
                        sent[-1].reply.add_done_callback(_reply_callback(position, on_reply))
                    await self._writer.drain()
            return await asyncio.gather(*(pending.reply for pending in sent))
        finally:
            for pending in sent:
                self._abandon(pending)

    async def serve(self, *, idle: timedelta, stall: timedelta) -> None:
        """Read replies until there was no request for `idle`.

        Raises TimeoutError if a reply is pending and none comes for `stall`, EOFError or ConnectionError if the worker
        ends, and ValueError if it sends garbage or a reply out of order.
        """
        self._idle, self._stall = idle.total_seconds(), stall.total_seconds()
        self._touch()
        while True:
            try:
                async with asyncio.timeout_at(self._deadline()) as self._watch:
                    message = await read(self._reader)
            except TimeoutError:
                # a request may have arrived in the same iteration of the event loop as the time-out
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
        """Close the connection; pending requests fail with `reason`."""
        self._end = reason
        self._writer.transport.abort()
        for purpose, queue in self._pending.items():
            for pending in queue:
                if not pending.reply.done():
                    pending.reply.set_exception(self._end_error(purpose, reason))
            queue.clear()

    def _send(self, request: WorkerRequest) -> _PendingRequest[Reply]:
        if self._end is not None:
            raise self._end_error(request.purpose, self._end)
        if not self.is_busy:
            self._touch()
        self._last_id += 1
        reply: asyncio.Future[Reply | NoResult] = asyncio.get_running_loop().create_future()
        pending = _PendingRequest(self._last_id, reply)
        self._pending[request.purpose].append(pending)
        self._writer.write(encode(replace(request, id=pending.id)))
        if self._watch is not None and not self._watch.expired():
            self._watch.reschedule(self._deadline())
        return pending

    def _abandon(self, pending: _PendingRequest[Reply]) -> None:
        if not pending.reply.cancelled() and pending.reply.done():
            # retrieve the exception, so that asyncio does not report it
            pending.reply.exception()
            return
        pending.reply.cancel()
        if not self._writer.is_closing():
            self._writer.write(encode(Cancel(pending.id)))

    def _settle(self, message: Message) -> None:
        if not isinstance(message, (self._job.answer, NoResult)):
            raise ValueError(f"unexpected {type(message).__name__}")
        reply = message if isinstance(message, NoResult) else self._job.read(message)
        queue = next((queue for queue in self._pending.values() if queue and queue[0].id == message.id), None)
        if queue is None:
            raise ValueError(f"reply to {message.id} out of turn")
        pending = queue.popleft()
        self.has_answered = True
        if not pending.reply.done():
            pending.reply.set_result(reply)

    def _end_error(self, purpose: Purpose, reason: str) -> MemorydError:
        return self._job.unavailable(reason) if purpose is Purpose.QUERY else WorkerDied(reason)

    def _touch(self) -> None:
        self._last_activity = _now()

    def _deadline(self) -> float:
        return self._last_activity + (self._stall if self.is_busy else self._idle)


def _reply_callback(position: int, on_reply: OnReply[Reply]) -> Callable[[asyncio.Future[Reply | NoResult]], None]:
    def callback(reply: asyncio.Future[Reply | NoResult]) -> None:
        if not reply.cancelled() and reply.exception() is None:
            on_reply(position, reply.result())

    return callback


def _now() -> float:
    return asyncio.get_running_loop().time()
