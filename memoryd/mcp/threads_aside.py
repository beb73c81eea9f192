"""Blocking work beside the loop, in threads that nobody waits for at the end."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

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
