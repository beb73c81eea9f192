"""Calls of the daemon by the tools, as the agent and session that the program was started for.

Each call uses a connection of its own, so that it survives a restart of the daemon. It blocks in a thread that the
program does not wait for at its end.
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
"""The maximum number of concurrent calls; further calls wait, since the daemon limits connections per process."""
PAUSES = (0.1, 0.3, 0.6, 1.0)
"""Seconds between the attempts of a call while the daemon restarts; a longer absence is reported."""
TIMEOUT = 30.0
"""Seconds without data before a call fails; clients of the protocol wait for about a minute."""


class ToolCaller:
    """The caller of a tool. `max_tokens` limits each answer.

    It retries while the daemon may be starting; once the daemon is down, each call is tried once.
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
        """Make a call that changes nothing, and return its reply. Raises the errors of the call."""
        return await self._ask(lambda memory: call(memory, *values, **options), is_repeatable=True)

    async def write(
        self, call: Callable[Concatenate[Client, Options], Answer], *values: Options.args, **options: Options.kwargs
    ) -> Answer:
        """Make a call that changes something; it is sent again only if no connection was made."""
        return await self._ask(lambda memory: call(memory, *values, **options), is_repeatable=False)

    async def _ask(self, call: Callable[[Client], Answer], *, is_repeatable: bool) -> Answer:
        async with self._places:
            for pause in PAUSES:
                try:
                    return await self._try(call)
                except (DaemonNotRunning, NotNow) as exc:
                    is_unsent = is_repeatable or isinstance(exc, DaemonNotRunning)
                    if self._is_down or isinstance(exc, DeadlineExceeded) or not is_unsent:
                        raise
                await anyio.sleep(pause)
            try:
                return await self._try(call)
            except DaemonNotRunning:
                self._is_down = True
                raise

    async def _try(self, call: Callable[[Client], Answer]) -> Answer:
        with self._client() as memory:
            try:
                answer = await run_in_thread(lambda: call(memory))
            except BaseException:
                memory.abort()  # the thread may still wait for an answer that is not needed
                raise
        self._is_down = False
        return answer


async def run_in_thread(work: Callable[[], Answer]) -> Answer:
    """Run blocking work in a thread of its own, which a cancelled caller leaves running.

    It is a daemon thread: a read that never returns must not keep the process from ending.
    """
    promised: Future[Answer] = Future()
    # the future cannot be cancelled from here on, so its result can always be set
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
