"""The messages whose memories are still to be made: noted in the ledger, so that a kill does not lose them.

Noted is where the words stand, and never the words. What cannot be noted is captured as well, unless a kill comes.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import structlog

from memoryd.domain.memories.capture.gate import gate
from memoryd.errors import MemorydError
from memoryd.memory.capture.capture_values import CaptureTask
from memoryd.store.awaited_rows import AwaitedMessage, AwaitedRows, MessagePlace

log = structlog.get_logger(__name__)

KNOWN_MAX: Final = 4096
"""Messages that were put in line lately and are not put there a second time."""
NOTE_SECONDS: Final = 0.5
"""So long a turn waits for the ledger; where it takes longer, a kill may lose the message."""
DONE_MAX: Final = 64
"""So many may stay noted though they are worked off: to look at one again does no harm."""


class AwaitedMessages:
    """The messages of one workspace that are worked off or in line, and those that a stop left behind."""

    def __init__(self, rows: AwaitedRows, *, clock: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._clock = clock
        self._known: OrderedDict[MessagePlace, bool] = OrderedDict()
        self._noted: set[MessagePlace] = set()
        self._tried: set[MessagePlace] = set()
        self._done: list[MessagePlace] = []

    def knows(self, place: MessagePlace | None) -> bool:
        """Tell whether a message was put in line by this process."""
        return place in self._known

    def is_in_line(self, place: MessagePlace | None) -> bool:
        """Tell whether a message waits, or is being looked at."""
        return place is not None and self._known.get(place, False)

    def begin(self, place: MessagePlace | None) -> None:
        """Take a message for one that is in line."""
        if place is not None:
            self._known[place] = True
            while len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)

    def end(self, place: MessagePlace | None, *, is_done: bool) -> None:
        """Take a message for worked off; without `is_done` it is awaited still, as far as it is noted."""
        if place is None:
            return
        if not is_done:
            self._known.pop(place, None)
            return
        self._known[place] = False
        if place in self._noted:
            self._noted.discard(place)
            self._done.append(place)

    async def note(self, task: CaptureTask) -> bool:
        """Note a message that may state something; return whether it is noted."""
        if task.place is None or not gate(task.text, has_answer=bool(task.answer_before.strip())):
            return False
        awaited = AwaitedMessage(
            place=task.place,
            scope=task.scope,
            channel=task.channel,
            is_direct=task.is_direct,
            is_owners=task.is_owners,
        )
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                is_noted = await self._rows.put(awaited, self._clock())
            if not is_noted:
                return False
            self._noted.add(task.place)
            return True
        except (MemorydError, OSError, TimeoutError) as exc:
            log.debug("a message that waits to be captured is not noted", reason=str(exc))
            return False

    async def settle(self, *, at_least: int = 1) -> None:
        """Drop what is worked off from the ledger, if that is so many; what cannot be dropped now is with the next."""
        done, self._done = (self._done, []) if len(self._done) >= at_least else ([], self._done)
        try:
            await self._rows.drop(done)
        except (MemorydError, OSError) as exc:
            log.debug("captured messages stay noted", reason=str(exc))
            self._done = [*done, *self._done][-KNOWN_MAX:]

    async def owed(self) -> list[AwaitedMessage]:
        """Return what is noted and not in line, the oldest first; raises StoreError, Denied."""
        await self.settle()
        return [one for one in await self._rows.all(self._clock()) if not self.is_in_line(one.place)]

    async def take_up(self, place: MessagePlace) -> None:
        """Count that a message is put in line again, once for each life of the daemon; raises StoreError, Denied."""
        self._noted.add(place)
        if place not in self._tried:
            self._tried.add(place)
            await self._rows.take_up([place])

    async def drop(self, place: MessagePlace) -> None:
        """Await a message no more; raises StoreError, Denied."""
        await self._rows.drop([place])
