"""Capture: turns become memories after the answer, once, through the journal, so that it can be undone.

Turns that are queued when the daemon is killed are captured by the next one, where a session keeps their words.
"""

import asyncio
import contextlib
from collections import OrderedDict, deque
from typing import Final

import structlog
from msgspec.structs import replace

from memoryd.domain.memories.capture.capture import CaptureVerdict
from memoryd.errors import MemorydError
from memoryd.memory.capture.message_capture import FRESH_SECONDS, MessageCapture
from memoryd.memory.capture.queue import DONE_MAX, CaptureResult, CaptureTask
from memoryd.memory.forgetting.planning import drop_with_the_others

log = structlog.get_logger(__name__)

TASKS_MAX: Final = 256
"""Messages that wait; more are not looked at."""
WAITING_CHARS_MAX: Final = 1_000_000
"""Of all that wait together."""
LAST_SECONDS: Final = 3.0
"""For what waits when the daemon stops."""
IN_FLIGHT: Final = 4
"""Messages that the text model has at once; of others the rules decide, for nobody waits for it."""
SESSIONS_MAX: Final = 256
"""Sessions whose last answer is known without asking anybody."""
ANSWER_CHARS: Final = 8_000
"""Of an answer that may be corrected."""


class Capturing:
    """Captures for one workspace: `submit` puts a message in line and never waits, `run` works the line off."""

    def __init__(self, message: MessageCapture) -> None:
        self._message = message
        self.queue = message.queue
        self._waiting: deque[CaptureTask] = deque()
        self._signs = 0
        self._has_news = asyncio.Event()
        self._for_model: asyncio.Queue[CaptureTask] = asyncio.Queue()
        self._in_flight = 0
        self.refused = 0
        """Messages for which there was no room."""

    @property
    def is_enabled(self) -> bool:
        return self._message.is_enabled

    @property
    def is_idle(self) -> bool:
        """Whether all that was submitted is worked off."""
        return not self.pending

    @property
    def pending(self) -> int:
        """How many messages were submitted and are not worked off."""
        return len(self._waiting) + self._in_flight

    def submit(self, task: CaptureTask, *, shown_until: int | None = None) -> bool:
        """Put a message in line; return whether it will be looked at. It never waits.

        What stands beside a failure is looked at by itself.
        """
        if task.event is not None and task.text.strip():
            is_noted = self.submit(replace(task, text="", place=None))
            return self.submit(replace(task, event=None), shown_until=shown_until) or is_noted
        if not self._message.is_enabled or (task.event is None and not task.text.strip()):
            return False
        if len(self._waiting) >= TASKS_MAX or self._signs + len(task.text) > WAITING_CHARS_MAX:
            self.refused += 1
            return False
        shown_until = self._message.delivered.noted if shown_until is None else shown_until
        self._waiting.append(replace(task, shown_until=shown_until))
        self.queue.begin(task)
        self._signs += len(task.text)
        self._has_news.set()
        return True

    async def accept(self, task: CaptureTask) -> bool:
        """Put a message in line as `submit` does, once, and where it has a `place` so that no kill loses it.

        It waits for the ledger alone. Of such messages those for which there is no room are looked at later.
        """
        if self.queue.knows(task):
            return self.queue.is_in_line(task.place)
        if not self._message.is_enabled or self._message.why_untrusted(task):
            return self.submit(task)
        shown_until = self._message.delivered.noted
        # before it is noted: nobody is to find it there and take it for left behind
        self.queue.begin(task)
        is_noted = await self.queue.note(task)
        is_in_line = self.submit(task, shown_until=shown_until)
        if not is_in_line:
            self.queue.end(task, is_done=False)
        return is_in_line or is_noted

    async def run(self) -> None:
        """Capture what was submitted, one message after the other, until cancelled; then what still waits, by rules."""
        try:
            while True:
                await self._has_news.wait()
                self._has_news.clear()
                while self._waiting:
                    if self._message.has_model and self._in_flight < IN_FLIGHT:
                        self._in_flight += 1
                        self._for_model.put_nowait(self._taken())
                    else:
                        await self._work_off_one()
                        await self.queue.settle(at_least=DONE_MAX)
                await self.queue.settle()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    while self._waiting:
                        await self._work_off_one(seconds=0)
                    await self.queue.settle()

    async def run_distilling(self) -> None:
        """Capture by the text model what is handed to it, until cancelled; `IN_FLIGHT` of these loops run."""
        while True:
            task = await self._for_model.get()
            try:
                await self._captured(task, by_model=True)
            except asyncio.CancelledError:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LAST_SECONDS):
                        await self._captured(task, by_model=False, seconds=0)
                raise
            finally:
                self._in_flight -= 1
            await self.queue.settle()

    async def _work_off_one(self, seconds: float = FRESH_SECONDS) -> None:
        try:
            await self._captured(self._waiting[0], by_model=False, seconds=seconds)
        except asyncio.CancelledError:
            # it stays in line: what a stop breaks off is done again, and what stands is not written twice
            raise
        except BaseException:
            # a message that nobody can read must not be read for ever
            self._taken()
            raise
        self._taken()

    def _taken(self) -> CaptureTask:
        task = self._waiting.popleft()
        self._signs -= len(task.text)
        return task

    async def dry_run(self, task: CaptureTask, *, by_model: bool = True) -> CaptureVerdict:
        """Return what would be kept of a message, by which form, or why not; nothing is written."""
        return await self._message.dry_run(task, by_model=by_model)

    async def capture(self, task: CaptureTask, *, by_model: bool = True) -> CaptureResult:
        """Keep what a message states, now; raises as `MessageCapture.capture` does."""
        return await self._message.capture(task, by_model=by_model)

    async def _captured(self, task: CaptureTask, *, by_model: bool, seconds: float = FRESH_SECONDS) -> None:
        # at the end of the daemon nobody follows the notes any more: without seconds, the book is taken as it is
        try:
            await self._message.capture(task, by_model=by_model, seconds=seconds)
        except (MemorydError, OSError) as exc:
            log.warning("a turn was not captured", agent=task.agent, reason=str(exc))
            self.queue.end(task, is_done=False)
        else:
            self.queue.end(task, is_done=True)


class LastAnswers:
    """The last answers of sessions, by their keys, in memory alone: all go when something is forgotten."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        drop_with_the_others(self)

    def note(self, key: str, text: str) -> None:
        """Know what was said last in a session; without a key nothing is."""
        if key:
            self._texts.pop(key, None)
            self._texts[key] = text[-ANSWER_CHARS:]
            while len(self._texts) > SESSIONS_MAX:
                self._texts.popitem(last=False)

    def of(self, key: str) -> str:
        """Return what was said last in a session, empty where that is not known."""
        return self._texts.get(key, "")

    def drop_texts(self) -> None:
        """Know none any more; what a session keeps of it is asked there."""
        self._texts.clear()
