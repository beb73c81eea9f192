"""The calls of the daemon that the tools make, as the agent and session that the program was started for.

Each call has a connection of its own, so that a restart breaks nothing, and blocks in a thread that the end of the
program does not wait for.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import anyio

from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, NotNow

Answer = TypeVar("Answer")
Options = ParamSpec("Options")

CALLS_AT_ONCE = 8
"""More wait: the daemon bounds the connections of one process."""
PAUSES = (0.1, 0.3, 0.6, 1.0)
"""Seconds between the tries of a question while the daemon starts again; a longer absence is reported."""
TIMEOUT = 30.0
"""Seconds of silence; the clients of the protocol wait for a minute or so."""


class ToolCaller:
    """Who asks for a tool; `max_tokens` bounds each answer.

    Asks again while the daemon may be starting; once it is down, each question tries once.
    """

    def __init__(self, socket: Path | None, *, agent: str | None, session_key: str | None, max_tokens: int) -> None:
        self.agent = agent
        self.session_key = session_key
        self.max_tokens = max_tokens
        self._client = partial(Client, socket, TIMEOUT, agent=agent, session_key=session_key)
        self._is_down = False
        self._places = anyio.CapacityLimiter(CALLS_AT_ONCE)

    async def ask(
        self, call: Callable[Concatenate[Client, Options], Answer], *values: Options.args, **options: Options.kwargs
    ) -> Answer:
        """Make a call of the client that changes nothing, and return its reply; raises what it raises."""
        return await self._ask(lambda memory: call(memory, *values, **options), is_repeatable=True)

    async def write(
        self, call: Callable[Concatenate[Client, Options], Answer], *values: Options.args, **options: Options.kwargs
    ) -> Answer:
        """Make a call that changes something; it is sent again only where no connection was made."""
        return await self._ask(lambda memory: call(memory, *values, **options), is_repeatable=False)

    async def _ask(self, question: Callable[[Client], Answer], *, is_repeatable: bool) -> Answer:
        async with self._places:
            for pause in PAUSES:
                try:
                    return await self._once(question)
                except (DaemonNotRunning, NotNow) as exc:
                    is_unsent = is_repeatable or isinstance(exc, DaemonNotRunning)
                    if self._is_down or isinstance(exc, DeadlineExceeded) or not is_unsent:
                        raise
                await anyio.sleep(pause)
            try:
                return await self._once(question)
            except DaemonNotRunning:
                self._is_down = True
                raise

    async def _once(self, question: Callable[[Client], Answer]) -> Answer:
        with self._client() as memory:
            try:
                answer = await aside(lambda: question(memory))
            except BaseException:
                memory.abort()  # the thread may still wait for an answer that nobody wants
                raise
        self._is_down = False
        return answer


async def aside(work: Callable[[], Answer]) -> Answer:
    """Do blocking work in a thread of its own; who is cancelled leaves it behind.

    The thread is a daemon: a read that never returns must not keep the process from ending.
    """
    promised: Future[Answer] = Future()
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
