"""One memory of each session that ends, and summaries on demand: lines of the daily log, tagged with their session.

A session ends when its agent says so, or after six hours without a message. The session file records the progress, so
that after a kill its memory is written if the log does not contain it yet. The text comes from a text model, or else
consists of sentences of the session.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import date, datetime

import structlog
from msgspec import Struct, field

from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.domain.access import is_group_key, read_key
from memoryd.domain.documents import RelativePath, SessionId
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture.identifiers import identifier_in
from memoryd.domain.memories.capture.rejections import says_secret
from memoryd.domain.memories.changes.tombstones import normalized_statement
from memoryd.domain.memories.edits import OWN_CHANNELS
from memoryd.domain.memories.kinds import Kind, MemoryId, WrittenBy
from memoryd.domain.memories.line import OF_SESSION, Attributes, Provenance, RetainedLine
from memoryd.domain.memories.reflect.pages import CitedFact
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.sessions.summary import (
    MIN_TURNS,
    SessionSummary,
    sentences_of_turn,
    session_summary,
    visible_sentences,
)
from memoryd.domain.sessions.turns import Session, SessionEnd, Turn
from memoryd.domain.text.lines import encode_padded
from memoryd.errors import MemorydError, StoreError, TextModelUnavailable
from memoryd.memory.book import MemoryCache
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import MemoryModel
from memoryd.memory.retaining import Retaining, StatementHashes
from memoryd.retry import wait_within

log = structlog.get_logger(__name__)

PROSE_CHARS = 800
"""The maximum length of a summary from a text model; a longer one is rejected."""
WITHOUT_MODEL = "It is made of sentences that were said: the text model gave no summary that can be used."
NOT_SIGNIFICANT = "Nothing of it is significant: only the questions are kept, shortened."
_MAX_FACTS = 30
_NO_TAG = expression(r"[^\w.:/@+-]")
_TAG_CHARS = 80
POLL_SECONDS = 300.0
"""Seconds between two checks for sessions that are over."""
NOTHING_TO_SUM_UP = "There is nothing to sum up: no stored turn of this conversation says more than the memories."


class SummaryText(Struct, frozen=True):
    """A summary; empty if there is nothing to summarize. `model` is the text model that wrote it."""

    text: str = ""
    model: str = ""
    remark: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the line; they name the model if one wrote the summary."""
        return (f"model:{_NO_TAG.sub('_', self.model)[:_TAG_CHARS]}",) if self.model else ()


class SessionSummarizer(Struct, frozen=True):
    """Summarizes the sessions of one agent.

    It leaves out sentences that may hold a secret or contain someone's number or address, that a memory already states,
    or that were forgotten or taken back.
    """

    prose: MemoryModel
    book: MemoryCache
    tombstones: TombstoneStore
    stated: StatementHashes

    async def extract(self, session: Session) -> SessionSummary:
        """Return a summary, in its own sentences, of the turns after the last summary. Raises StoreError."""
        return session_summary(
            session, after=session.summed_up, is_left_out=await self._exclusion_test(_new_turns(session))
        )

    async def text(self, session: Session) -> SummaryText:
        """Return a summary of the turns after the last summary, by the text model if possible.

        Raises StoreError.
        """
        turns = _new_turns(session)
        is_left_out = await self._exclusion_test(turns)
        extracted = session_summary(session, after=session.summed_up, is_left_out=is_left_out)
        if extracted.is_short or self.prose.model is None:
            return SummaryText(extracted.titled(session.id), remark=NOT_SIGNIFICANT if extracted.is_short else "")
        written = await self._by_model(list(_facts(turns[-_MAX_FACTS:], is_left_out)), is_left_out)
        return written or SummaryText(extracted.titled(session.id), remark=WITHOUT_MODEL)

    async def _by_model(self, facts: Sequence[CitedFact], is_left_out: Callable[[str], bool]) -> SummaryText | None:
        try:
            prose = await self.prose.summary(facts)
        except (TextModelUnavailable, StoreError) as exc:
            log.info("a summary is made without the text model", reason=str(exc))
            return None
        if prose is None:
            return None
        text = " ".join(sentence.text for sentence in prose.sentences if not is_left_out(sentence.text))
        return SummaryText(text, prose.model) if 0 < len(text) <= PROSE_CHARS else None

    async def _exclusion_test(self, turns: Sequence[Turn]) -> Callable[[str], bool]:
        tombstones = await self.tombstones.all()
        current = {normalized_statement(memory.text) for memory in (await self.book.complete()).own.memories.values()}
        # a statement that was stated before and is in no memory now was taken back
        before = await self.stated.among(sentence for turn in turns for sentence in sentences_of_turn(turn))
        stated = current | {normalized_statement(sentence) for sentence in before}

        def is_left_out(sentence: str) -> bool:
            return (
                says_secret(sentence)
                or identifier_in(sentence, [0]) is not None
                or normalized_statement(sentence) in stated
                or tombstones.contains_part_of(sentence)
            )

        return is_left_out


def _new_turns(session: Session) -> list[Turn]:
    return [turn for turn in session.in_order if turn.seq > session.summed_up]


def _facts(turns: Sequence[Turn], is_left_out: Callable[[str], bool]) -> Iterator[CitedFact]:
    for turn in turns:
        messages = [" ".join(sentences) for sentences in visible_sentences(turn, is_left_out)]
        if any(messages):
            yield CitedFact(f"{turn.seq:08x}", " — ".join(filter(None, messages)))


def tag_of(session: SessionId) -> str:
    """Return the tag of the memories that are made of a session."""
    return f"{OF_SESSION}{session}"


def memories_of_session(book: Book, session: SessionId) -> list[MemoryId]:
    """Return the memories that were made of a session: of its end and its summaries."""
    tag, kinds = tag_of(session), (Kind.SESSION, Kind.SUMMARY)
    return [
        memory.id
        for memory in book.memories.values()
        if memory.line.kind in kinds and tag in memory.line.attributes.tags
    ]


class SessionMemories(Struct, frozen=True, kw_only=True):
    """The memories of one agent's sessions. Without `shared` there are none. `scope` gives the scope of a channel."""

    agent: str
    shared: WorkspaceQa | None
    journal: Journal
    retaining: Retaining
    summing: SessionSummarizer
    is_excluded: Callable[[str], Awaitable[bool]]
    scope: Callable[[str], str]
    day: Callable[[float], date]
    now: Callable[[], datetime]
    in_groups: bool
    """Whether sessions of group chats get a memory, too."""
    _has_news: asyncio.Event = field(default_factory=asyncio.Event)

    async def end(self, key: str) -> SessionId | None:
        """End the open session of a key, and have its memory made in the background; return None if there is none.

        Raises Denied, StoreError, NotNow.
        """
        if self.shared is None or not key:
            return None
        current = await self.shared.read(lambda store: store.current_session(key, self.agent))
        if current is None:
            return None
        await self.shared.write(lambda store: store.end_session(current.id))
        self._has_news.set()
        return current.id

    async def compact(self, key: str) -> tuple[str, tuple[MemoryId, ...]]:
        """Write a summary of the turns under a key since the last summary; return a report on it, and its memory.

        Raises Denied if nothing may be written, StoreError, NotNow.
        """
        self.journal.check_writable()
        if self.shared is None or not key or await self.is_excluded(key):
            return NOTHING_TO_SUM_UP, ()
        current = await self.shared.read(lambda store: store.current_session(key, self.agent))
        if current is None:
            return NOTHING_TO_SUM_UP, ()
        if 0 < current.last_seq == current.summed_up:
            return "It is summarised already: there is no newer message.", ()
        summary = await self.summing.text(current)
        if not summary.text:
            return NOTHING_TO_SUM_UP, ()
        line = self._line(Kind.SUMMARY, current, summary.text, *summary.tags)
        retention = await self.retaining.retain([line], agent=self.agent, by=WrittenBy.CAPTURE)
        await self.shared.write(lambda store: store.note_summary_end(current.id, current.last_seq))
        placed, status = retention.placed[0], "Summed up" if any(retention.added) else "Summed up already"
        where = f"{status}: {retention.path}#L{placed.start_line}"
        return "\n".join(filter(None, [where, line.text, summary.remark])), (placed.line.id,)

    async def run(self, seconds: float = POLL_SECONDS) -> None:
        """Make the memories of sessions that are over, until cancelled."""
        if self.shared is None or self.shared.is_read_only:
            return
        await self.shared.until_open()
        while True:
            try:
                await self.write_due(self.shared)
            except (MemorydError, OSError) as exc:
                log.warning("the memory of a session is not made yet", agent=self.agent, reason=str(exc))
            self._has_news.clear()
            await wait_within(self._has_news.wait(), seconds)

    async def write_due(self, shared: WorkspaceQa) -> None:
        """Make a memory of each session that is over, once. A failure is logged and tried again later.

        Raises StoreError, NotNow.
        """
        now = shared.now()
        for session in await shared.read(lambda store: list(store.ended_sessions(self.agent, now))):
            try:
                await self._settle_session(shared, session)
            except (MemorydError, OSError) as exc:
                # a log that cannot be written must not block the memories of other sessions
                log.warning("the memory of a session is not made yet", agent=self.agent, reason=str(exc))

    async def _settle_session(self, shared: WorkspaceQa, session: Session) -> None:
        if session.end is SessionEnd.OPEN:
            # from here on no message continues it
            await shared.write(lambda store: store.end_session(session.id))
        await self._write_memory(session)
        await shared.write(lambda store: store.note_summarised(session.id))

    async def _write_memory(self, session: Session) -> None:
        if not session.is_remembered or (session.key and await self.is_excluded(session.key)):
            return
        if len(session.turns) < MIN_TURNS or (is_group_key(session.key) and not self.in_groups):
            return
        summary = await self.summing.extract(session)
        if not summary.text:
            return
        line = self._line(Kind.SESSION, session, summary.titled(session.id))
        day = self.day(min(session.last_activity, self.now()).timestamp())
        tombstones = await self.summing.tombstones.all()
        if tombstones.contains(line.id, line.text) or await self._is_written(session.id, day):
            return
        await self.retaining.retain([line], agent=self.agent, by=WrittenBy.CAPTURE, day=day)

    async def _is_written(self, session: SessionId, day: date) -> bool:
        """Return whether the log of the day has the memory already, because of a kill before that was recorded."""
        path = RelativePath(f"memory/{day:%Y-%m-%d}.md")
        text = (await self.journal.read(path)).text or ""
        lines = (placed.line for placed in memory_sections(encode_padded(text), path).lines)
        return any(line.kind is Kind.SESSION and tag_of(session) in line.attributes.tags for line in lines)

    def _line(self, kind: Kind, session: Session, text: str, *tags: str) -> RetainedLine:
        channel = read_key(session.key).memory_channel if session.key else None
        scope = self.scope(channel if channel in OWN_CHANNELS else "")
        attributes = Attributes(scope=scope, provenance=Provenance.AGENT, tags=(tag_of(session.id), *tags))
        return RetainedLine(kind, text, (), attributes)
