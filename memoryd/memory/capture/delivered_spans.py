"""What was delivered of the memory to each session, as keyed hashes, so that nothing is learned from its echo.

Noting costs the caller nothing: hashes are made and written behind it, and before anything is compared with them.
"""

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog

from memoryd.domain.memories.capture.firewall import SpanPrint, is_echo, keyed, span_print
from memoryd.errors import Denied, StoreError
from memoryd.store.ledger.capture import DeliveredRow, DeliveredRows

log = structlog.get_logger(__name__)

SPANS_MAX: Final = 200
"""Of one session; the latest count."""
SESSIONS_MAX: Final = 500
"""Sessions of a workspace whose spans are held in memory."""
WAITING_MAX: Final = 2000
"""Spans that wait to be hashed."""
WRITE_SECONDS: Final = 1.0
"""How long a span may wait until it is written."""
KEY_BYTES: Final = 32


class _Session(NamedTuple):
    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class _Noted:
    agent: str
    session_key: str
    text: str
    at: float
    number: int


@dataclass(frozen=True, slots=True)
class _Told:
    """A span, and the number of the note that told it first; 0 before this process."""

    span: SpanPrint
    number: int = 0


class DeliveredSpans:
    """The spans that were delivered to the sessions of one workspace."""

    def __init__(self, rows: DeliveredRows, *, clock: Callable[[], float] = time.time) -> None:
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
        rows = list[DeliveredRow]()
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

    def _row(self, noted: _Noted) -> DeliveredRow | None:
        span = span_print(noted.text, keyed(self._key))
        if span is None:
            return None
        return DeliveredRow(noted.agent, self._name(noted.session_key), span, noted.at)

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
