"""One memory of each session that ends, and summaries on demand: lines of the daily log, tagged with their session.

A session ends when its agent says so, or when nothing is said in it for six hours. How far it came stands in its file:
a kill leaves it owed, and it is written where it is not there yet.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

import structlog

from memoryd.agents.summing_up import SummingUp
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.domain.access import is_of_group, read_key
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.forgetting import OF_SESSION
from memoryd.domain.memories.edits import OWN_CHANNELS
from memoryd.domain.memories.kinds import Kind, MemoryId, WrittenBy
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.sessions.summary import LEAST_TURNS
from memoryd.domain.sessions.turns import Session, SessionEnd, SessionId
from memoryd.domain.text.lines import padded
from memoryd.errors import MemorydError
from memoryd.memory.journal import Journal
from memoryd.memory.retaining import Retaining, Retention

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 300.0
"""How long a session may be over before somebody notices."""
NOTHING_TO_SUM_UP: Final = "There is nothing to sum up: nothing of this conversation is kept that no memory says."
SUMMED_UP_ALREADY: Final = "It is summed up already: nothing was said since."


def tag_of(session: SessionId) -> str:
    """Return the tag of the memories that are made of a session."""
    return f"{OF_SESSION}{session}"


def made_of(book: Book, session: SessionId) -> list[MemoryId]:
    """Return the memories that were made of a session: its end and its summaries."""
    tag, kinds = tag_of(session), (Kind.SESSION, Kind.SUMMARY)
    return [
        memory.id
        for memory in book.memories.values()
        if memory.line.kind in kinds and tag in memory.line.attributes.tags
    ]


@dataclass(frozen=True, slots=True)
class CompactedSession:
    """The summary of a session, where it stands and what it says; without `retention` there is none, by `remark`."""

    retention: Retention | None = None
    text: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMemories:
    """The memories of the sessions of one agent; without `shared` there are no sessions. `scope` is of its channels."""

    agent: str
    shared: WorkspaceQa | None
    journal: Journal
    retaining: Retaining
    summing: SummingUp
    is_withheld: Callable[[str], Awaitable[bool]]
    scope: Callable[[str], str]
    day: Callable[[float], date]
    now: Callable[[], datetime]
    in_groups: bool
    """Whether what others say in groups is kept, too."""
    _has_news: asyncio.Event = field(default_factory=asyncio.Event)

    async def end(self, key: str) -> SessionId | None:
        """Note that the session of a key is over; its memory is made behind that. None if there is none.

        Raises Denied, StoreError, NotNow.
        """
        if self.shared is None or not key:
            return None
        current = await self.shared.read(lambda store: store.ends.current(key, self.agent))
        if current is None:
            return None
        await self.shared.write(lambda store: store.ends.end(current.id))
        self._has_news.set()
        return current.id

    async def compact(self, key: str) -> CompactedSession:
        """Write a summary of what was said under a key since the last one, and return where it stands.

        Raises Denied where nothing may be written, StoreError, NotNow.
        """
        self.journal.check_writable()
        if self.shared is None or not key or await self.is_withheld(key):
            return CompactedSession(remark=NOTHING_TO_SUM_UP)
        current = await self.shared.read(lambda store: store.ends.current(key, self.agent))
        if current is None:
            return CompactedSession(remark=NOTHING_TO_SUM_UP)
        if 0 < current.last_seq == current.summed_up:
            return CompactedSession(remark=SUMMED_UP_ALREADY)
        summary = await self.summing.text(current)
        if not summary.text:
            return CompactedSession(remark=NOTHING_TO_SUM_UP)
        line = self._line(Kind.SUMMARY, current, summary.text, *summary.tags)
        retention = await self.retaining.retain([line], agent=self.agent, by=WrittenBy.CAPTURE)
        await self.shared.write(lambda store: store.ends.note_summed_up(current.id, current.last_seq))
        return CompactedSession(retention, line.text, summary.remark)

    async def run(self, seconds: float = LOOK_SECONDS) -> None:
        """Make the memories of sessions that are over, until cancelled."""
        if self.shared is None or self.shared.is_read_only:
            return
        await self.shared.until_open()
        while True:
            try:
                await self.settle(self.shared)
            except (MemorydError, OSError) as exc:
                log.warning("the memory of a session is not made yet", agent=self.agent, reason=str(exc))
            self._has_news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._has_news.wait()

    async def settle(self, shared: WorkspaceQa) -> None:
        """Make a memory of each session that is over, once; one that cannot be made now is made later.

        Raises StoreError, NotNow.
        """
        now = shared.now()
        for session in await shared.read(lambda store: list(store.ends.due(self.agent, now))):
            try:
                await self._settle_one(shared, session)
            except (MemorydError, OSError) as exc:
                # one log that cannot be written must not keep the others from theirs
                log.warning("the memory of a session is not made yet", agent=self.agent, reason=str(exc))

    async def _settle_one(self, shared: WorkspaceQa, session: Session) -> None:
        if session.end is SessionEnd.OPEN:
            # from here on nobody goes on with it
            await shared.write(lambda store: store.ends.end(session.id))
        await self._tell(session)
        await shared.write(lambda store: store.ends.note_told(session.id))

    async def _tell(self, session: Session) -> None:
        if not session.is_remembered or (session.key and await self.is_withheld(session.key)):
            return
        if len(session.turns) < LEAST_TURNS or (is_of_group(session.key) and not self.in_groups):
            return
        summary = await self.summing.extract(session)
        if not summary.text:
            return
        line = self._line(Kind.SESSION, session, summary.titled(session.id))
        day = self.day(min(session.last_activity, self.now()).timestamp())
        tombstones = await self.summing.tombstones.all()
        if tombstones.hold(line.id, line.text) or await self._stands(session.id, day):
            return
        await self.retaining.retain([line], agent=self.agent, by=WrittenBy.CAPTURE, day=day)

    async def _stands(self, session: SessionId, day: date) -> bool:
        """Tell whether the log of the day has its memory already: a kill came before that was noted."""
        path = RelativePath(f"memory/{day:%Y-%m-%d}.md")
        text = (await self.journal.read(path)).text or ""
        lines = (one.line for one in memory_sections(padded(text), path).lines)
        return any(line.kind is Kind.SESSION and tag_of(session) in line.attributes.tags for line in lines)

    def _line(self, kind: Kind, session: Session, text: str, *tags: str) -> RetainedLine:
        channel = read_key(session.key).memory_channel if session.key else None
        scope = self.scope(channel if channel in OWN_CHANNELS else "")
        attributes = Attributes(scope=scope, provenance=Provenance.AGENT, tags=(tag_of(session.id), *tags))
        return RetainedLine(kind, text, (), attributes)
