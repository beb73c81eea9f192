"""What others want of the indexer, and its sleep until they want something."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from memoryd.domain.clock import Debounce
from memoryd.index.file_events import FileEvents
from memoryd.index.unseen import Unseen

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Demand:
    """How the next look at the disk is to be taken: `is_forced` reads and cuts every file anew."""

    is_forced: bool
    trusts_times: bool
    """False when the clock was set back: no file is believed to be unchanged by its times."""
    is_asked: bool = False
    """Whether a question waits for the small notes that changed."""
    is_partial: bool = False
    """Whether it is enough to look at the files that events named."""


class Demands:
    """Hints, which wait for the end of a debounce, and demands, each with a ticket, which do not wait.

    A question demands, too. It is answered earlier: as soon as the first part of the round is done.

    All of it happens in one event loop, so nothing runs between two lines here unless one of them awaits.
    """

    def __init__(self, debounce: Debounce) -> None:
        self.ticket = 0
        """The last demand that the present round answers."""
        self.is_asked = False
        """Whether a question waits for the present round."""
        self.has_failed = False
        """Whether the last round could not do what was demanded."""
        self.unseen = Unseen()
        self.looks: Counter[str] = Counter()
        """How often the disk was looked at since the start, by what for."""
        self._looked_for = 0
        """The last demand that a look was taken for."""
        self._debounce = debounce
        self._wake = asyncio.Event()
        self._asked = 1
        self._served = 0
        self._answered = 0
        self._is_forced = False
        self._trusts_times = True
        self._has_question = False
        self._needs_all = True
        self._progress = asyncio.Condition()

    @property
    def next(self) -> Demand:
        """How the next look is to be taken, as of now."""
        is_partial = self._has_question and not self._needs_all and not self.unseen.changes.is_vague
        return Demand(self._is_forced, self._trusts_times, self._has_question, is_partial)

    def hint(self) -> None:
        """Note that something may have changed."""
        self._debounce.hint(time.monotonic())
        self._wake.set()

    def hear(self, events: FileEvents) -> None:
        """Note what file events tell."""
        self.unseen.hear(events)
        self.hint()

    def demand(self, *, is_forced: bool = False) -> int:
        """Ask for a look now and return its ticket."""
        self._asked += 1
        self._needs_all = True
        self._is_forced = self._is_forced or is_forced
        self._wake.set()
        return self._asked

    def ask(self, *, is_heard: bool = False) -> int:
        """Ask for a look for a question and return its ticket: all who ask before it begins share one.

        `is_heard` says that all changes were told by events.
        """
        self._needs_all = self._needs_all or not is_heard
        if not self._has_question:
            self._has_question = True
            self._asked += 1
            self._wake.set()
        return self._asked

    def distrust_times(self) -> None:
        """Ask for a look that believes no times."""
        self._trusts_times = False
        self.demand()

    def wake(self) -> None:
        """Have whoever sleeps look around."""
        self._wake.set()

    def begin(self) -> None:
        """Begin a round. What is asked from here on is for the next one: this one may have looked already."""
        self.ticket = self._asked
        self.has_failed = False

    def take(self) -> Demand:
        """Return how to look, once.

        It is taken before the look: of a clock that is set back while the disk is listed, the next look is to know.
        """
        taken = self.next
        self.looks[self._why()] += 1
        self._looked_for = self.ticket
        if not taken.is_partial:
            # a look at some files leaves the hints to one at all of them, for which nobody waits
            self._debounce.clear()
        self._is_forced, self._trusts_times, self._has_question, self._needs_all = False, True, False, False
        self.is_asked = taken.is_asked
        return taken

    def _why(self) -> str:
        """Say what the next look is for: of several reasons the one that asks for most."""
        if not self.looks:
            return "start"
        if self._is_forced:
            return "reindex"
        if not self._trusts_times:
            return "clock"
        if self._has_question:
            return "question"
        if self.ticket > self._looked_for:
            return "asked"
        return "timer" if self._debounce.due is None else "event"

    def give_back(self, taken: Demand) -> None:
        """Let the next look be as a demand asked that could not be met; a question does not wait for it."""
        self.has_failed = True
        self._needs_all = True
        self.unseen.give_back()
        self._is_forced = self._is_forced or taken.is_forced
        self._trusts_times = self._trusts_times and taken.trusts_times

    def is_due(self, ticket: int) -> bool:
        """Tell whether somebody asked after this ticket, or a debounce has ended."""
        return self._asked > ticket or (self._debounce.due or NEVER) <= time.monotonic()

    def turn_to_newcomers(self) -> int:
        """Return the ticket of the last demand, and take the hints for heard."""
        self._debounce.clear()
        return self._asked

    async def serve(self) -> None:
        """Tell those whose demands the round has answered."""
        async with self._progress:
            self._served = self.ticket
            self._progress.notify_all()

    async def served(self, ticket: int) -> None:
        """Wait until a demand has been answered."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._served >= ticket)

    async def answer(self) -> None:
        """Tell the questions that this round has done what they wait for."""
        async with self._progress:
            self._answered = self.ticket
            self._progress.notify_all()

    async def answered(self, ticket: int) -> None:
        """Wait until a question may look."""
        # most questions find it so, and cost nothing
        if self._answered >= ticket:
            return
        async with self._progress:
            await self._progress.wait_for(lambda: self._answered >= ticket)

    async def wait(self, until: float, *, unless: Callable[[], bool]) -> None:
        """Sleep until a demand, the end of a debounce, that moment (monotonic), or until `unless` holds."""
        while self._asked <= self.ticket and not unless():
            due = min(until, self._debounce.due or NEVER)
            if due <= time.monotonic():
                return
            await self._woken(due)

    async def wait_for_hints(self) -> None:
        """Sleep until something happens, or a debounce ends."""
        await self._woken(self._debounce.due or NEVER)

    async def wait_for_wake(self) -> None:
        """Sleep until something happens."""
        await self._woken(NEVER)

    async def _woken(self, due: float) -> None:
        # whoever calls has just looked at all there is, and nothing ran since: no wake-up is lost by clearing
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if due == NEVER else max(due - time.monotonic(), 0)):
                await self._wake.wait()
