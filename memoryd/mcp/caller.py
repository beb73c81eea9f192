"""Asking the daemon for the tools, as the agent and session that the program was started for.

Each question has a connection of its own, so that a restart breaks nothing, and blocks in a thread that the end of the
program does not wait for.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final, TypeVar

import anyio
from msgspec import Struct

from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, MemorydError, NotNow

Answer = TypeVar("Answer")

CALLS_AT_ONCE: Final = 8
"""More wait: the daemon bounds the connections of one process."""
PAUSES: Final = (0.1, 0.3, 0.6, 1.0)
"""Seconds between the tries of a question while the daemon starts again; a longer absence is reported."""
TIMEOUT: Final = 30.0
"""Seconds of silence; the clients of the protocol wait for a minute or so."""


class Reaching:
    """Asks the daemon, and asks again while it may be starting; once it is down, each question tries once."""

    def __init__(
        self, socket: Path | None = None, *, pauses: Sequence[float] = PAUSES, timeout: float = TIMEOUT
    ) -> None:
        self._socket = socket
        self._pauses = pauses
        self._timeout = timeout
        self._is_down = False
        self._places = anyio.CapacityLimiter(CALLS_AT_ONCE)

    async def ask(self, question: Callable[[Client], Answer], *, repeatable: bool = True) -> Answer:
        """Return what the daemon answers; raises what the client raises.

        What is not `repeatable` is asked again only where no connection was made.
        """
        async with self._places:
            for pause in self._pauses:
                try:
                    return await self._once(question)
                except (DaemonNotRunning, NotNow) as exc:
                    if not self._may_try_again(exc, repeatable):
                        raise
                await anyio.sleep(pause)
            try:
                return await self._once(question)
            except DaemonNotRunning:
                self._is_down = True
                raise

    def _may_try_again(self, exc: MemorydError, repeatable: bool) -> bool:
        if self._is_down or isinstance(exc, DeadlineExceeded):
            return False
        return repeatable or isinstance(exc, DaemonNotRunning)

    async def _once(self, question: Callable[[Client], Answer]) -> Answer:
        with Client(self._socket, self._timeout) as memory:
            try:
                answer = await aside(lambda: question(memory))
            except BaseException:
                memory.abort()  # the thread may still wait for an answer that nobody wants
                raise
        self._is_down = False
        return answer


Outcome = TypeVar("Outcome")


async def aside(work: Callable[[], Outcome]) -> Outcome:
    """Do blocking work in a thread of its own; who is cancelled leaves it behind.

    The thread is a daemon: a read that never returns must not keep the process from ending.
    """
    promised: Future[Outcome] = Future()
    # from here on it cannot be cancelled, so that its outcome always finds its place
    promised.set_running_or_notify_cancel()

    def run() -> None:
        try:
            outcome = work()
        except BaseException as exc:
            promised.set_exception(exc)
        else:
            promised.set_result(outcome)

    threading.Thread(target=run, name="mcp", daemon=True).start()
    return await asyncio.wrap_future(promised)


class ToolCaller(Struct, frozen=True):
    """Who asks, as the daemon is told with every question; `max_tokens` bounds each answer."""

    reaching: Reaching
    agent: str | None
    session_key: str | None
    max_tokens: int

    async def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Return what the daemon answers; the question changes nothing."""
        return await self.reaching.ask(question)

    async def write(self, change: Callable[[Client], Answer]) -> Answer:
        """Return what came of a change, which is never sent twice."""
        return await self.reaching.ask(change, repeatable=False)
