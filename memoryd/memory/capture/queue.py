"""The queue of capture in the ledger, so that a kill does not lose it; and the memories that a session was shown.

The ledger holds where a message is, never its words. A message that cannot be queued there is captured too, unless a
kill comes first. What was shown to a session is stored as keyed hashes, so that nothing is learned from its echo; they
are written behind the caller, and before anything is compared with them.
"""

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import structlog
from msgspec import Struct

from memoryd.domain.memories.capture.capture import CaptureVerdict, ReportedFailure, marker_of
from memoryd.domain.memories.capture.firewall import USER, SpanPrint, is_echo, keyed, span_print
from memoryd.errors import Denied, MemorydError, StoreError
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.retaining import Retention
from memoryd.store.ledger.capture import MessagePlace, QueuedMessage, QueuedMessages, ShownSpan, ShownSpanRows

log = structlog.get_logger(__name__)

KNOWN_MAX: Final = 4096
"""Messages that were put in line lately and are not put there a second time."""
NOTE_SECONDS: Final = 0.5
"""So long a turn waits for the ledger; where it takes longer, a kill may lose the message."""
DONE_MAX: Final = 64
"""So many may stay noted though they are worked off: to look at one again does no harm."""
SPANS_MAX: Final = 200
"""Of one session; the latest count."""
SESSIONS_MAX: Final = 500
"""Sessions of a workspace whose spans are held in memory."""
WAITING_MAX: Final = 2000
"""Spans that wait to be hashed."""
WRITE_SECONDS: Final = 1.0
"""How long a span may wait until it is written."""
KEY_BYTES: Final = 32


class CaptureTask(Struct, frozen=True, kw_only=True):
    """One message of a session: by whom it was said, what stood before it, and for whom its memories are.

    `event` is a failure that the caller's loop reports; `submit` parts it from a text beside it. `at` is when it
    was said; None is now.
    """

    agent: str
    text: str = ""
    session_key: str = ""
    scope: str = ""
    answer_before: str = ""
    at: datetime | None = None
    channel: str | None = None
    is_direct: bool = True
    role: str = USER
    event: ReportedFailure | None = None
    shown_until: int | None = None
    """What `ShownSpans.noted` was when it was put in line: what it recalled itself makes it no echo."""
    is_owners: bool = True
    """Whether it came by the owner's own socket: what an agent's socket says pins nothing, and is from the agent."""
    place: MessagePlace | None = None
    """Where its words stand; None: nowhere, so that a kill takes them along."""


class CaptureResult(Struct, frozen=True):
    """What came of a message; `retention` tells where its memories stand, None where nothing was kept."""

    verdict: CaptureVerdict
    retention: Retention | None = None


class _Known(Struct, frozen=True):
    """A message that was put in line: a session that begins anew has others at the same places."""

    words: int
    """A hash of its words, of this process alone."""
    is_in_line: bool


class CaptureQueue:
    """The messages of one workspace that are worked off or in line, and those that a stop left behind."""

    def __init__(self, rows: QueuedMessages, *, clock: Callable[[], float] = time.time) -> None:
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
        if task.place is None or not marker_of(task.text, has_answer=bool(task.answer_before.strip())):
            return False
        queue = QueuedMessage(
            place=task.place,
            scope=task.scope,
            channel=task.channel,
            is_direct=task.is_direct,
            is_owners=task.is_owners,
        )
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                is_noted = await self._rows.put(queue, self._clock())
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

    async def owed(self) -> list[QueuedMessage]:
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


class _Session(NamedTuple):
    agent: str
    name: str


class _Noted(Struct, frozen=True):
    agent: str
    session_key: str
    text: str
    at: float
    number: int


class _Told(Struct, frozen=True):
    """A span, and the number of the note that told it first; 0 before this process."""

    span: SpanPrint
    number: int = 0


class ShownSpans:
    """The spans that were delivered to the sessions of one workspace."""

    def __init__(self, rows: ShownSpanRows, *, clock: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._clock = clock
        self._waiting: deque[_Noted] = deque(maxlen=WAITING_MAX)
        self.noted = 0
        """Notes so far. What a message recalls is noted behind it: by this number one knows what came before."""
        self._has_news = asyncio.Event()
        self._lock = asyncio.Lock()
        self._key = b""
        self._held: OrderedDict[_Session, dict[bytes, _Told]] = OrderedDict()

    def note(self, agent: str, session_key: str, texts: Iterable[str]) -> None:
        """Note what a session was told; from now on it is an echo there. Without a session key nothing is noted."""
        if session_key:
            at = self._clock()
            self.noted += 1
            self._waiting.extend(_Noted(agent, session_key, text, at, self.noted) for text in texts if text.strip())
            self._has_news.set()

    async def echoes(
        self, agent: str, session_key: str, sentences: Sequence[str], *, until: int | None = None
    ) -> frozenset[str]:
        """Return those of the sentences that say what the session was told, and nothing else; raises StoreError.

        `until`: what `noted` was when they were said; what was told later does not count. None: all counts.
        """
        if not session_key or not sentences:
            return frozenset()
        async with self._lock:
            await self._settle()
            session = _Session(agent, self._name(session_key))
            known = (await self._known(session)).values()
            spans = tuple(told.span for told in known if until is None or told.number <= until)
            hashed = keyed(self._key)
        return frozenset(one for one in sentences if spans and is_echo(one, spans, hashed))

    async def run(self, seconds: float = WRITE_SECONDS) -> None:
        """Write what was noted, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            with contextlib.suppress(StoreError, OSError):
                async with self._lock:
                    await self._settle()
            await asyncio.sleep(seconds)

    async def _settle(self) -> None:
        """Hash and write what waits."""
        await self._ready()
        rows = list[ShownSpan]()
        for noted in self._taken():
            if (row := self._row(noted)) is not None:
                rows.append(row)
                self._hold(await self._known(_Session(row.agent, row.session)), _Told(row.span, noted.number))
        if rows:
            try:
                await self._rows.put(rows, self._clock())
            except (StoreError, Denied) as exc:
                # they are known as long as this process lives
                log.debug("delivered spans are not written", reason=str(exc))

    def _hold(self, held: dict[bytes, _Told], told: _Told) -> None:
        known = held.pop(told.span.whole, told)
        held[told.span.whole] = _Told(told.span, known.number)
        while len(held) > SPANS_MAX:
            held.pop(next(iter(held)))

    async def _ready(self) -> None:
        if not self._key:
            try:
                self._key = await self._rows.key(secrets.token_bytes(KEY_BYTES))
            except (StoreError, Denied):
                self._key = secrets.token_bytes(KEY_BYTES)

    def _taken(self) -> list[_Noted]:
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def _row(self, noted: _Noted) -> ShownSpan | None:
        span = span_print(noted.text, keyed(self._key))
        if span is None:
            return None
        return ShownSpan(noted.agent, self._name(noted.session_key), span, noted.at)

    async def _known(self, session: _Session) -> dict[bytes, _Told]:
        """Return the spans of a session, the oldest first; read from the ledger where they are not held."""
        if session not in self._held:
            found: Sequence[SpanPrint] = ()
            with contextlib.suppress(StoreError):
                found = await self._rows.of(session.agent, session.name, SPANS_MAX)
            self._held[session] = {one.whole: _Told(one) for one in found}
        self._held.move_to_end(session)
        while len(self._held) > SESSIONS_MAX:
            self._held.popitem(last=False)
        return self._held[session]

    def _name(self, session_key: str) -> str:
        return keyed(self._key)(f"session\0{session_key}").hex()
