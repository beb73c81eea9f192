"""The look at the clocks: after a sleep, a stop or a change of the time of day, everything is looked at anew."""

import asyncio
import time
from collections.abc import Callable

import structlog

from memoryd.domain.clock import Clocks, Jump, jump

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 2.0
_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Linux has a clock of its own that goes on in sleep; on macOS the plain monotonic one of the system does."""


class ClockWatch:
    """Calls `on_jump` when the clocks say that more lies between two looks than the pause; `run` loops for ever."""

    def __init__(
        self,
        on_jump: Callable[[Jump], None],
        *,
        look: Callable[[], Clocks] | None = None,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._on_jump = on_jump
        self._look = look or read_clocks
        self._pause_seconds = pause_seconds

    async def run(self) -> None:
        """Look until cancelled."""
        before = self._look()
        while True:
            await asyncio.sleep(self._pause_seconds)
            after = self._look()
            found = jump(before, after, self._pause_seconds)
            before = after
            if found is not None:
                log.info("looking at everything anew", reason=found.reason)
                self._on_jump(found)


def read_clocks() -> Clocks:
    """Read the clocks of the system."""
    return Clocks(running=time.monotonic(), elapsed=time.clock_gettime(_ELAPSED), wall=time.time())
