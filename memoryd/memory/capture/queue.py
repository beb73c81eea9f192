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
from collections.abc import Iterable, Sequence
from datetime import datetime

import structlog
from msgspec import Struct

from memoryd.domain.memories.capture.capture import CaptureVerdict, marker_of
from memoryd.domain.memories.capture.firewall import USER, SpanPrint, is_echo, keyed, span_print
from memoryd.domain.memories.changes.tombstones import KEY_BYTES
from memoryd.domain.sessions.turns import MessageEvent
from memoryd.errors import Denied, MemorydError, StoreError
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.retaining import Retention
from memoryd.store.ledger.turns import MessagePlace, QueuedMessage, QueuedMessages, ShownSpanRows

log = structlog.get_logger(__name__)

KNOWN_MAX = 4096
"""Messages that were put in line lately and are not put there a second time."""
NOTE_SECONDS = 0.5
"""So long a turn waits for the ledger; where it takes longer, a kill may lose the message."""
DONE_MAX = 64
"""So many may stay noted though they are worked off: to look at one again does no harm."""
SPANS_MAX = 200
"""Of one session; the latest count."""
SESSIONS_MAX = 500
"""Sessions of a workspace whose spans are held in memory."""
WAITING_MAX = 2000
"""Spans that wait to be hashed."""
WRITE_SECONDS = 1.0
"""How long a span may wait until it is written."""


class CaptureTask(Struct, frozen=True, kw_only=True):
    """One message of a session: by whom it was said, what was said before it, and for whom its memories are.

    `event` is a failure that the caller's loop reports; `submit` parts it from a text beside it. `at` is when it
    was said; None is now.
    """

    agent: str
    text: str = ""
    session_key: str = ""
    scope: str = ""
    answer_before: str = ""
    said_before: str = ""
    at: datetime | None = None
    channel: str | None = None
    is_direct: bool = True
    role: str = USER
    event: MessageEvent | None = None
    shown_until: int | None = None
    """What `ShownSpans.noted` was when it was put in line: what it recalled itself makes it no echo."""
    is_owners: bool = True
    """Whether it came by the owner's own socket: what an agent's socket says pins nothing, and is from the agent."""
    place: MessagePlace | None = None
    """Where its words stand; None: nowhere, so that a kill takes them along."""

    @property
    def may_correct(self) -> bool:
        """Whether something was said before that it may correct."""
        return bool(self.answer_before.strip() or self.said_before.strip())


class CaptureResult(Struct, frozen=True):
    """What came of a message; `retention` tells where its memories stand, None where nothing was kept."""

    verdict: CaptureVerdict
    retention: Retention | None = None


class CaptureQueue:
    """The messages of one workspace that are worked off or in line, and those that a stop left behind."""

    def __init__(self, rows: QueuedMessages) -> None:
        self._rows = rows
        self._known: OrderedDict[MessagePlace, int] = OrderedDict()
        """What was put in line, each with a hash of its words: a session that begins anew has others there."""
        self._in_line: set[MessagePlace] = set()
        self._noted: set[MessagePlace] = set()
        self._tried: set[MessagePlace] = set()
        self._done: list[MessagePlace] = []
        drop_with_the_others(self)

    def knows(self, task: CaptureTask) -> bool:
        """Tell whether a message was put in line by this process."""
        return task.place is not None and self._known.get(task.place) == hash(task.text)

    def is_in_line(self, place: MessagePlace | None) -> bool:
        """Tell whether a message waits, or is being looked at."""
        return place in self._in_line

    def begin(self, task: CaptureTask) -> None:
        """Take a message for one that is in line."""
        if task.place is not None:
            self._known[task.place] = hash(task.text)
            self._in_line.add(task.place)
            while len(self._known) > KNOWN_MAX:
                place, _ = self._known.popitem(last=False)
                self._in_line.discard(place)

    def drop_texts(self) -> None:
        """Forget the messages that are worked off: their sessions may be forgotten, and begin anew."""
        for place in self._known.keys() - self._in_line:
            del self._known[place]

    def end(self, task: CaptureTask, *, is_done: bool) -> None:
        """Take a message out of the line; without `is_done` it stays pending, as far as the ledger knows it."""
        place = task.place
        # of a session that was forgotten meanwhile, the place may be that of another message
        if place is None or (place in self._known and not self.knows(task)):
            return
        self._in_line.discard(place)
        if not is_done:
            self._known.pop(place, None)
            return
        self._known[place] = hash(task.text)
        if place in self._noted:
            self._noted.discard(place)
            self._done.append(place)

    async def note(self, task: CaptureTask) -> bool:
        """Note a message that may state something; return whether it is noted."""
        if task.place is None or not marker_of(task.text, has_answer=task.may_correct):
            return False
        message = QueuedMessage(
            place=task.place,
            scope=task.scope,
            channel=task.channel,
            is_direct=task.is_direct,
            is_owners=task.is_owners,
        )
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                is_noted = await self._rows.put(message, time.time())
        except (MemorydError, OSError, TimeoutError) as exc:
            log.debug("a message that waits to be captured is not noted", reason=str(exc))
            return False
        if is_noted:
            self._noted.add(task.place)
            # it may be that of a session that was forgotten
            self._done = [place for place in self._done if place != task.place]
        return is_noted

    async def settle(self, *, at_least: int = 1) -> None:
        """Drop what is worked off from the ledger, if that is so many; what cannot be dropped now is with the next."""
        done, self._done = (self._done, []) if len(self._done) >= at_least else ([], self._done)
        is_dropped = False
        try:
            await self._rows.drop(done)
            is_dropped = True
        except (MemorydError, OSError) as exc:
            log.debug("captured messages stay noted", reason=str(exc))
        finally:
            # also where a stop breaks it off: else the next start would capture them again
            if not is_dropped:
                self._done = [*done, *self._done][-KNOWN_MAX:]

    async def pending(self) -> list[QueuedMessage]:
        """Return what is noted and not in line, the oldest first; raises StoreError, Denied."""
        await self.settle()
        return [message for message in await self._rows.all(time.time()) if message.place not in self._in_line]

    async def take_up(self, place: MessagePlace) -> None:
        """Count that a message is put in line again, once for each life of the daemon; raises StoreError, Denied."""
        self._noted.add(place)
        if place not in self._tried:
            self._tried.add(place)
            await self._rows.take_up([place])

    async def drop(self, place: MessagePlace) -> None:
        """Await a message no more; raises StoreError, Denied."""
        await self._rows.drop([place])


class ShownSpans:
    """The spans that were delivered to the sessions of one workspace."""

    def __init__(self, rows: ShownSpanRows) -> None:
        self._rows = rows
        self._waiting: deque[tuple[str, str, str, float, int]] = deque(maxlen=WAITING_MAX)
        """Texts to be hashed: agent, session key, text, time and number of the note."""
        self.noted = 0
        """Notes so far. What a message recalls is noted behind it: by this number one knows what came before."""
        self._has_news = asyncio.Event()
        self._lock = asyncio.Lock()
        self._key = b""
        self._spans: OrderedDict[tuple[str, str], dict[bytes, tuple[SpanPrint, int]]] = OrderedDict()
        """By agent and hashed session: spans, each with the number of its first note; 0 before this process."""

    def note(self, agent: str, session_key: str, texts: Iterable[str]) -> None:
        """Note what a session was told; from now on it is an echo there. Without a session key nothing is noted."""
        if session_key:
            at = time.time()
            self.noted += 1
            self._waiting.extend((agent, session_key, text, at, self.noted) for text in texts if text.strip())
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
            known = (await self._spans_of(agent, self._session(session_key))).values()
            spans = tuple(span for span, number in known if until is None or number <= until)
            hashed = keyed(self._key)
        return frozenset(sentence for sentence in sentences if spans and is_echo(sentence, spans, hashed))

    async def run(self, seconds: float = WRITE_SECONDS) -> None:
        """Write what was noted, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            with contextlib.suppress(StoreError, OSError):
                async with self._lock:
                    await self._settle()
            await asyncio.sleep(seconds)
            if self._waiting:
                self._has_news.set()

    async def _settle(self) -> None:
        """Hash and write what waits; it waits on where the ledger cannot be read, which raises StoreError."""
        if not self._key:
            key = secrets.token_bytes(KEY_BYTES)
            with contextlib.suppress(Denied):
                key = await self._rows.key(key)
            self._key = key
        waiting = list(self._waiting)
        self._waiting.clear()
        try:
            rows = await self._hashed(waiting)
        except StoreError:
            self._waiting = deque([*waiting, *self._waiting], WAITING_MAX)
            raise
        if rows:
            try:
                await self._rows.put(rows, time.time())
            except (StoreError, Denied) as exc:
                # they are known as long as this process lives
                log.debug("delivered spans are not written", reason=str(exc))

    async def _hashed(
        self, waiting: Sequence[tuple[str, str, str, float, int]]
    ) -> list[tuple[str, str, SpanPrint, float]]:
        rows = list[tuple[str, str, SpanPrint, float]]()
        for agent, session_key, text, at, number in waiting:
            span = span_print(text, keyed(self._key))
            if span is None:
                continue
            session = self._session(session_key)
            rows.append((agent, session, span, at))
            spans = await self._spans_of(agent, session)
            # it goes to the end, with the number of its first note
            spans[span.whole] = span, spans.pop(span.whole, (span, number))[1]
            while len(spans) > SPANS_MAX:
                del spans[next(iter(spans))]
        return rows

    async def _spans_of(self, agent: str, session: str) -> dict[bytes, tuple[SpanPrint, int]]:
        """Return the spans of a session, the oldest first; read from the ledger where they are not in memory.

        Raises StoreError.
        """
        if (agent, session) not in self._spans:
            rows = await self._rows.of(agent, session, SPANS_MAX)
            self._spans[agent, session] = {span.whole: (span, 0) for span in rows}
        self._spans.move_to_end((agent, session))
        while len(self._spans) > SESSIONS_MAX:
            self._spans.popitem(last=False)
        return self._spans[agent, session]

    def _session(self, session_key: str) -> str:
        return keyed(self._key)(f"session\0{session_key}").hex()
