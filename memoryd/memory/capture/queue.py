"""The capture queue in the ledger, so that a kill does not lose it; and the texts that a session was shown.

The ledger stores where a message is, never its text. A message that cannot be queued there is captured too, unless a
kill comes first. Texts shown to a session are stored as keyed hashes, so that nothing is learned from an echo of them.
They are written in the background, but always before a comparison.
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
from memoryd.domain.memories.capture.firewall import USER, SpanPrint, hash_span, hash_with_key, is_echo
from memoryd.domain.memories.changes.tombstones import KEY_BYTES
from memoryd.domain.sessions.turns import MessageEvent
from memoryd.errors import Denied, MemorydError, StoreError
from memoryd.memory.forgetting.planning import register_text_holder
from memoryd.memory.retaining import StatedPlaces
from memoryd.store.ledger.turns import MessagePlace, QueuedMessage, QueuedMessages, ShownSpanRows

log = structlog.get_logger(__name__)

KNOWN_MAX = 4096
"""Maximum number of remembered messages, which are not queued a second time."""
NOTE_SECONDS = 0.5
"""How long a turn waits for the ledger; if it takes longer, a kill may lose the message, and the reply says so."""
DONE_MAX = 64
"""Number of processed messages that may stay in the ledger: capturing one again does no harm."""
SPANS_MAX = 200
"""Maximum number of spans per session; the latest are used."""
SESSIONS_MAX = 500
"""Maximum number of sessions whose spans are cached in memory."""
WAITING_MAX = 2000
"""Maximum number of spans that wait to be hashed."""
WRITE_SECONDS = 1.0
"""How long a span may wait until it is written."""


class CaptureTask(Struct, frozen=True, kw_only=True):
    """One message of a session: its author, the texts before it, and the scope of its memories.

    `event` is a failure reported by the caller's loop; `submit` splits it from a text that comes with it. `at` is the
    time of the message; None is now.
    """

    agent: str
    text: str = ""
    session_key: str = ""
    scope: str = ""
    answer_before: str = ""
    message_before: str = ""
    at: datetime | None = None
    channel: str | None = None
    is_direct: bool = True
    role: str = USER
    event: MessageEvent | None = None
    shown_until: int | None = None
    """`ShownSpans.noted` when it was queued: memories that the message itself recalled do not make it an echo."""
    queued_at: float | None = None
    """When it was queued before a stop, in seconds since 1970: what was shown later does not make it an echo."""
    is_owners: bool = True
    """True if it came through the owner's own socket.

    A message from an agent's socket pins nothing and is from the agent.
    """
    place: MessagePlace | None = None
    """Where its text is stored; None: nowhere, so that a kill loses it."""

    @property
    def may_correct(self) -> bool:
        """True if an earlier text is known that the message may correct."""
        return bool(self.answer_before.strip() or self.message_before.strip())


class ShownSpan(Struct, frozen=True):
    """A span with its first note: its number, 0 in an earlier process, and its time in seconds since 1970."""

    span: SpanPrint
    number: int
    at: float


class CaptureResult(Struct, frozen=True):
    """The result of a message; `retention` is where its memories are, None if nothing was stored."""

    verdict: CaptureVerdict
    retention: StatedPlaces | None = None


class CaptureQueue:
    """The messages of one workspace that are processed or queued, and those that a stop left behind."""

    def __init__(self, rows: QueuedMessages) -> None:
        self._rows = rows
        self._known: OrderedDict[MessagePlace, int] = OrderedDict()
        """Queued messages, each with a hash of its text: a session that begins anew has other texts at the same places.
        """
        self._in_line: set[MessagePlace] = set()
        self._noted: set[MessagePlace] = set()
        self._tried: set[MessagePlace] = set()
        self._done: list[MessagePlace] = []
        register_text_holder(self)

    def knows(self, task: CaptureTask) -> bool:
        """Return whether this process has queued a message."""
        return task.place is not None and self._known.get(task.place) == hash(task.text)

    def is_in_line(self, place: MessagePlace | None) -> bool:
        """Return whether a message waits or is being processed."""
        return place in self._in_line

    def begin(self, task: CaptureTask) -> None:
        """Mark a message as queued."""
        if task.place is not None:
            self._known[task.place] = hash(task.text)
            self._in_line.add(task.place)
            while len(self._known) > KNOWN_MAX:
                place, _ = self._known.popitem(last=False)
                self._in_line.discard(place)

    def drop_texts(self) -> None:
        """Drop processed messages: their sessions may be forgotten, and begin anew."""
        for place in self._known.keys() - self._in_line:
            del self._known[place]

    def end(self, task: CaptureTask, *, is_done: bool) -> None:
        """Remove a message from the queue; without `is_done` it stays pending in the ledger, if it was noted there."""
        place = task.place
        # if its session was forgotten since, the place may belong to another message
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
        """Note a message that may state something in the ledger; return whether it was noted."""
        if task.place is None or not marker_of(task.text, has_answer=task.may_correct):
            return False
        message = QueuedMessage(
            place=task.place,
            scope=task.scope,
            channel=task.channel,
            is_direct=task.is_direct,
            is_owners=task.is_owners,
            at=time.time(),
        )
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                is_noted = await self._rows.put(message)
        except (MemorydError, OSError, TimeoutError) as exc:
            log.debug("a message that waits to be captured is not noted", reason=str(exc))
            return False
        if is_noted:
            self._noted.add(task.place)
            # the same place may belong to a session that was forgotten
            self._done = [place for place in self._done if place != task.place]
        return is_noted

    def is_safe(self, task: CaptureTask) -> bool:
        """Return whether a kill loses nothing of a queued message: it is noted in the ledger, or states nothing."""
        states_nothing = task.event is None and not marker_of(task.text, has_answer=task.may_correct)
        return states_nothing or task.place in self._noted

    async def delete_processed(self, *, at_least: int = 1) -> None:
        """Delete processed messages from the ledger once there are `at_least` so many. Failed deletions are retried."""
        done, self._done = (self._done, []) if len(self._done) >= at_least else ([], self._done)
        is_dropped = False
        try:
            await self._rows.drop(done)
            is_dropped = True
        except (MemorydError, OSError) as exc:
            log.debug("captured messages stay noted", reason=str(exc))
        finally:
            # also if cancelled: otherwise the next start would capture them again
            if not is_dropped:
                self._done = [*done, *self._done][-KNOWN_MAX:]

    async def pending(self) -> list[QueuedMessage]:
        """Return messages that are noted in the ledger and not queued, the oldest first; raises StoreError, Denied."""
        await self.delete_processed()
        return [message for message in await self._rows.all(time.time()) if message.place not in self._in_line]

    async def take_up(self, place: MessagePlace) -> None:
        """Count that a message is queued again, once per process; raises StoreError, Denied."""
        self._noted.add(place)
        if place not in self._tried:
            self._tried.add(place)
            await self._rows.take_up([place])

    async def drop(self, place: MessagePlace) -> None:
        """Drop a message from the ledger; raises StoreError, Denied."""
        await self._rows.drop([place])


class ShownSpans:
    """Texts that were shown to the sessions of one workspace."""

    def __init__(self, rows: ShownSpanRows) -> None:
        self._rows = rows
        self._waiting: deque[tuple[str, str, str, float, int]] = deque(maxlen=WAITING_MAX)
        """Texts to hash: agent, session key, text, time and number of the note."""
        self.noted = 0
        """Number of notes so far. A message's own recall is noted after it was queued, so this number separates them.
        """
        self._has_news = asyncio.Event()
        self._lock = asyncio.Lock()
        self._key = b""
        self._spans: OrderedDict[tuple[str, str], dict[bytes, ShownSpan]] = OrderedDict()
        """By agent and hashed session."""

    def note(self, agent: str, session_key: str, texts: Iterable[str]) -> None:
        """Note texts shown to a session, which are echoes there from now on. Ignored without a session key."""
        if session_key:
            at = time.time()
            self.noted += 1
            self._waiting.extend((agent, session_key, text, at, self.noted) for text in texts if text.strip())
            self._has_news.set()

    async def echoes(
        self,
        agent: str,
        session_key: str,
        sentences: Sequence[str],
        *,
        until: int | None = None,
        before: float | None = None,
    ) -> frozenset[str]:
        """Return those of the sentences that only repeat what the session was shown; raises StoreError.

        `until` is the value of `noted` when they were said, `before` the time in seconds since 1970; later texts do not
        count. None: all count.
        """
        if not session_key or not sentences:
            return frozenset()
        async with self._lock:
            await self._settle()
            known = (await self._spans_of(agent, self._session(session_key))).values()
            spans = tuple(
                shown.span
                for shown in known
                if (until is None or shown.number <= until) and (before is None or shown.at <= before)
            )
            hashed = hash_with_key(self._key)
        return frozenset(sentence for sentence in sentences if spans and is_echo(sentence, spans, hashed))

    async def run(self, seconds: float = WRITE_SECONDS) -> None:
        """Write noted texts, until cancelled."""
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
        """Hash and write waiting texts; they stay waiting if the ledger cannot be read, which raises StoreError."""
        if not self._key:
            key = secrets.token_bytes(KEY_BYTES)
            with contextlib.suppress(Denied):
                key = await self._rows.key(key)
            self._key = key
        waiting = list(self._waiting)
        self._waiting.clear()
        try:
            rows = await self._hash_texts(waiting)
        except StoreError:
            self._waiting = deque([*waiting, *self._waiting], WAITING_MAX)
            raise
        if rows:
            try:
                await self._rows.put(rows, time.time())
            except (StoreError, Denied) as exc:
                # they are known as long as this process runs
                log.debug("delivered spans are not written", reason=str(exc))

    async def _hash_texts(
        self, waiting: Sequence[tuple[str, str, str, float, int]]
    ) -> list[tuple[str, str, SpanPrint, float]]:
        rows = list[tuple[str, str, SpanPrint, float]]()
        for agent, session_key, text, at, number in waiting:
            span = hash_span(text, hash_with_key(self._key))
            if span is None:
                continue
            session = self._session(session_key)
            rows.append((agent, session, span, at))
            spans = await self._spans_of(agent, session)
            # moved to the end, with its first note
            spans[span.full] = spans.pop(span.full, ShownSpan(span, number, at))
            while len(spans) > SPANS_MAX:
                del spans[next(iter(spans))]
        return rows

    async def _spans_of(self, agent: str, session: str) -> dict[bytes, ShownSpan]:
        """Return the spans of a session, the oldest first; cached, or read from the ledger.

        Raises StoreError.
        """
        if (agent, session) not in self._spans:
            rows = await self._rows.of(agent, session, SPANS_MAX)
            self._spans[agent, session] = {span.full: ShownSpan(span, 0, at) for span, at in rows}
        self._spans.move_to_end((agent, session))
        while len(self._spans) > SESSIONS_MAX:
            self._spans.popitem(last=False)
        return self._spans[agent, session]

    def _session(self, session_key: str) -> str:
        return hash_with_key(self._key)(f"session\0{session_key}").hex()
