"""Messages that come while the files of the sessions are still being read: kept as soon as they are, in their order.

Their senders have been answered by then: within their deadline, and with what kept the message from being kept at once.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.errors import MemorydError

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0
LATE_MAX: Final = 256
"""Messages that wait; more are not kept."""
KEPT_LATER: Final = "the conversations are still being read: it is kept as soon as they are"
NOT_KEPT: Final = "the conversations are still being read, and too many messages wait: send it again"

LateStep = Callable[[], Awaitable[object]]


class LateMessages:
    """The messages of one agent that wait for its store; without `shared` there is nothing to wait for."""

    def __init__(self, shared: WorkspaceQa | None) -> None:
        self._shared = shared
        self._waiting: deque[LateStep] = deque()
        self._has_some = asyncio.Event()
        self._has_none = asyncio.Event()
        self._has_none.set()

    async def are_kept(self, seconds: float) -> bool:
        """Wait until messages can be kept and those before are, or it is known why not; False if that takes longer."""
        try:
            async with asyncio.timeout(seconds):
                await self._opened()
                await self._has_none.wait()
        except TimeoutError:
            return False
        return True

    def put(self, step: LateStep) -> str:
        """Do it as soon as the store is open, behind what waits already; return what is to be said of it."""
        if len(self._waiting) >= LATE_MAX:
            return NOT_KEPT
        self._waiting.append(step)
        self._has_none.clear()
        self._has_some.set()
        return KEPT_LATER

    async def run(self) -> None:
        """Keep what is late, until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some.clear()
            await self._opened()
            try:
                while self._waiting:
                    await self._done(self._waiting.popleft())
            finally:
                # one that is broken must not hold up all that come after it
                (self._has_some if self._waiting else self._has_none).set()

    async def _opened(self) -> None:
        """Wait until the store is open, or it is known why it cannot be."""
        while self._shared is not None and self._shared.is_opening:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._shared.until_open()

    async def _done(self, step: LateStep) -> None:
        try:
            await step()
        except (MemorydError, OSError) as exc:
            log.warning("a message that came early is not kept", reason=str(exc))
