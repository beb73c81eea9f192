"""Keeping an optional part at work: its failure is noted and mended in time, and never ends the daemon."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine

import structlog

from memoryd.domain.breaker import BreakerRule
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

Loop = Coroutine[object, object, None]


class Supervisor:
    """Runs the loops of optional parts; `failing` says which of them wait for another try, and why."""

    def __init__(self, rule: BreakerRule | None = None) -> None:
        self.failing: dict[str, str] = {}
        self.restarts: Counter[str] = Counter()
        """How often each was started again."""
        self._rule = rule

    async def keep(self, name: str, loop: Callable[[], Loop]) -> None:
        """Run a loop until it returns; after a failure run it again, later each time."""
        retry = Retry(self._rule)
        while True:
            try:
                await loop()
            except Exception as exc:
                log.exception("a part failed and is started again", part=name)
                self.failing[name] = f"{type(exc).__name__}: {exc}"
                try:
                    await asyncio.sleep(retry.failed())
                finally:
                    # also of a part that goes meanwhile, with what a reload exchanges
                    self.failing.pop(name, None)
                self.restarts[name] += 1
            else:
                return
