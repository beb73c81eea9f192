"""What every worker does: a child process that loads one GGUF and answers requests until the daemon hangs up.

A program hands `serve` its way to load a model; one thread listens, so that a question overtakes documents and nobody
computes what nobody waits for any more, and one computes. Requests are computed one at a time: several sequences in
one decode are slower, since attention spans the whole batch.
"""

import os
import resource
import socket
import sys
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import Final, Protocol

from memoryd.embed.local.frames import (
    Cancel,
    Embed,
    Failed,
    Load,
    Message,
    NoResult,
    Ready,
    Score,
    WorkerRequest,
    Write,
    receive,
    send,
)
from memoryd.embed.protocol import Purpose

NICENESS: Final = 10


class LoadError(Exception):
    """The model cannot be loaded or used for what is asked of it."""


class LoadedModel(Protocol):
    """A model that answers. `dimensions` is how many numbers it gives, `context` how many tokens it takes."""

    dimensions: int
    context: int

    def answer(self, request: WorkerRequest) -> Message:
        """Return the one reply to a request."""
        ...


class Lanes:
    """The queue between the reading thread and the computing one."""

    def __init__(self) -> None:
        self._waiting: dict[Purpose, deque[WorkerRequest]] = {Purpose.QUERY: deque(), Purpose.DOCUMENT: deque()}
        self._queued: set[int] = set()
        self._cancelled: set[int] = set()
        self._taken: int | None = None
        self._is_unwanted = False
        self._changed = Condition()

    def put(self, request: WorkerRequest) -> None:
        """Queue a request."""
        with self._changed:
            self._waiting[request.purpose].append(request)
            self._queued.add(request.id)
            self._changed.notify()

    def cancel(self, number: int) -> None:
        """Mark a request that is still queued, or computed now; one that is answered already is left alone."""
        with self._changed:
            if number in self._queued:
                self._cancelled.add(number)
            elif number == self._taken:
                self._is_unwanted = True

    def take(self) -> tuple[WorkerRequest, bool]:
        """Wait for the next request, questions first, and say whether it was cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            request = (self._waiting[Purpose.QUERY] or self._waiting[Purpose.DOCUMENT]).popleft()
            self._queued.discard(request.id)
            is_cancelled = request.id in self._cancelled
            self._cancelled.discard(request.id)
            self._taken, self._is_unwanted = request.id, False
            return request, is_cancelled

    def is_unwanted(self) -> bool:
        """Tell whether nobody waits for the request that was taken last; asked often, so it takes no lock."""
        return self._is_unwanted


def serve(descriptor: int, load: Callable[[Load, Callable[[], bool]], LoadedModel]) -> None:
    """Serve the daemon at the other end of `descriptor`, which first orders a model, until it hangs up.

    `load` is given the order, and what tells it that its present work is wanted no more; it raises LoadError.
    """
    settle_down()
    connection = socket.socket(fileno=descriptor)
    order = receive(connection)
    if not isinstance(order, Load):
        sys.exit("the first message must be Load")
    lanes = Lanes()
    try:
        model = load(order, lanes.is_unwanted)
    except LoadError as exc:
        send(connection, Failed(str(exc)))
        return
    Thread(target=_listen, args=(connection, lanes), daemon=True).start()
    send(connection, Ready(model.dimensions, model.context))
    while True:
        request, is_cancelled = lanes.take()
        send(connection, NoResult(request.id, "cancelled") if is_cancelled else model.answer(request))


def settle_down() -> None:
    """Make the process a good neighbour: native prints go to stderr, low priority, no core dump of memory text."""
    os.dup2(2, 1)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen(connection: socket.socket, lanes: Lanes) -> None:
    """Queue what the daemon sends, and end the process with the connection, also in the middle of a computation."""
    try:
        while (message := receive(connection)) is not None:
            match message:
                case Embed() | Score() | Write():
                    lanes.put(message)
                case Cancel():
                    lanes.cancel(message.id)
                case _:
                    raise ValueError(f"unexpected {type(message).__name__}")
    except (OSError, ValueError) as exc:
        print(f"connection lost: {exc}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is this program's log
        os._exit(1)
    os._exit(0)
