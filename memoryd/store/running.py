"""Blocking work of a database on the threads that all databases of the daemon share."""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

import apsw

from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.sqlite_errors import INDEX, Wording, mapped_errors

Returned = TypeVar("Returned")

INTERRUPT_SECONDS = 0.05
"""How often a query is interrupted until it ends: one that has not begun yet does not notice."""


class Runner:
    """Runs the work of one database, and keeps what its errors say of the file until `forget`."""

    def __init__(self, executor: Executor, wording: Wording = INDEX) -> None:
        self.wording = wording
        self.damage: str | None = None
        """What is broken in the file."""
        self.trouble: str | None = None
        """Why the file may have to be opened anew, though it is sound."""
        self._executor = executor

    def forget(self) -> None:
        """Say that the file was opened anew."""
        self.damage = self.trouble = None

    async def run(
        self, function: Callable[..., Returned], *arguments: object, interrupt: Callable[[], None] = lambda: None
    ) -> Returned:
        """Run a function and return what it returns; raises StoreUnavailable and DamagedDatabase.

        Whoever gives up waits until the function has ended, which `interrupt` is to bring about.
        """
        work = functools.partial(function, *arguments)
        running = asyncio.get_running_loop().run_in_executor(self._executor, _mapped, work, self.wording)
        try:
            # shielded: a thread cannot be cancelled, and to let go of the future would leave it at work unseen
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # What runs on a connection must end before anybody else uses it.
            while not running.done():
                interrupt()
                await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            # its error is nobody's any more; not to look at it would be logged as never retrieved
            if not running.cancelled():
                running.exception()
            raise
        except DamagedDatabase as exc:
            self.damage = str(exc)
            raise
        except StoreUnavailable as exc:
            # a full disk or a lock passes by itself; after these the connections may be of a file that is gone
            if isinstance(exc.__cause__, (apsw.IOError, apsw.SQLError)):
                self.trouble = str(exc)
            raise


def _mapped(work: Callable[[], Returned], wording: Wording) -> Returned:
    with mapped_errors(wording):
        return work()
