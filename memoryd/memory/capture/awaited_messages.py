"""The messages whose memories are still to be made: noted in the ledger, so that a kill does not lose them.

Noted is where the words stand, and never the words. What cannot be noted is captured as well, unless a kill comes.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from memoryd.domain.memories.capture.forms import gate
from memoryd.errors import MemorydError
from memoryd.memory.capture.capture_values import CaptureTask
from memoryd.memory.forgetting.remembered_texts import drop_with_the_others
from memoryd.store.ledger.capture import AwaitedMessage, AwaitedRows, MessagePlace

log = structlog.get_logger(__name__)

KNOWN_MAX: Final = 4096
"""Messages that were put in line lately and are not put there a second time."""
NOTE_SECONDS: Final = 0.5
"""So long a turn waits for the ledger; where it takes longer, a kill may lose the message."""
DONE_MAX: Final = 64
"""So many may stay noted though they are worked off: to look at one again does no harm."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A message that was put in line: a session that begins anew has others at the same places."""

    words: int
    """A hash of its words, of this process alone."""
    is_in_line: bool


class AwaitedMessages:
    """The messages of one workspace that are worked off or in line, and those that a stop left behind."""

    def __init__(self, rows: AwaitedRows, *, clock: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._clock = clock
        self._known: OrderedDict[MessagePlace, _Known] = OrderedDict()
        self._noted: set[MessagePlace] = set()
        self._tried: set[MessagePlace] = set()
        self._done: list[MessagePlace] = []
        drop_with_the_others(self)

    def knows(self, task: CaptureTask) -> bool:
        """Tell whether a message was put in line by this process."""
        known = None if task.place is None else self._known.get(task.place)
        return known is not None and known.words == hash(task.text)

    def is_in_line(self, place: MessagePlace | None) -> bool:
        """Tell whether a message waits, or is being looked at."""
        known = None if place is None else self._known.get(place)
        return known is not None and known.is_in_line

    def begin(self, task: CaptureTask) -> None:
        """Take a message for one that is in line."""
        if task.place is not None:
            self._known[task.place] = _Known(hash(task.text), is_in_line=True)
            while len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)

    def drop_texts(self) -> None:
        """Know none any more that is worked off: its session may be forgotten, and begin anew."""
        for place in [place for place, one in self._known.items() if not one.is_in_line]:
            del self._known[place]

    def end(self, task: CaptureTask, *, is_done: bool) -> None:
        """Take a message for worked off; without `is_done` it is awaited still, as far as it is noted."""
        place = task.place
        # of a session that was forgotten meanwhile, the place may be that of another message
        if place is None or (place in self._known and not self.knows(task)):
            return
        if not is_done:
            self._known.pop(place, None)
            return
        self._known[place] = _Known(hash(task.text), is_in_line=False)
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
            # it may be that of a session that was forgotten
            self._done = [place for place in self._done if place != task.place]
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
