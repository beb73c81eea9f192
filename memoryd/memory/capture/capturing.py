"""Capture of memories from messages: after the answer, once, and through the journal, so that it can be undone.

Rules or a text model decide what to store, a firewall checks it, then it is written. A statement equal to a memory is
the same memory stated on another day; on the same day it is not written again. Messages that are queued when the daemon
is killed are captured after the next start, if a session stores their text.
"""

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.capture import (
    CaptureVerdict,
    capture_failure,
    capture_message,
    distillable,
    with_model,
)
from memoryd.domain.memories.capture.corrections import with_succession
from memoryd.domain.memories.capture.firewall import why_untrusted
from memoryd.domain.memories.capture.rejections import DroppedItem
from memoryd.domain.memories.capture.renewal import may_outdate, states_fact, with_older, with_revisions
from memoryd.domain.memories.capture.revisions import revisions_of
from memoryd.domain.memories.changes.tombstones import normalized_statement
from memoryd.domain.memories.generated import message_alone
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine, joined
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import MemorydError
from memoryd.index.threads import with_pauses
from memoryd.memory.capture.queue import DONE_MAX, CaptureQueue, CaptureResult, CaptureTask, ShownSpans
from memoryd.memory.forgetting.planning import register_text_holder
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import MemoryModel
from memoryd.memory.retaining import Retaining, StatementHashes

log = structlog.get_logger(__name__)

TASKS_MAX = 256
"""Maximum number of waiting messages; more are refused."""
WAITING_CHARS_MAX = 1_000_000
"""Maximum total length of the waiting messages, in characters."""
FRESH_SECONDS = 5.0
"""How long capture waits, after the answer, for a book that has the latest changes."""
LAST_SECONDS = 3.0
"""Time limit for the waiting messages when the daemon stops."""
IN_FLIGHT = 4
"""Maximum number of messages in the text model at once; others are captured by rules."""
SESSIONS_MAX = 256
"""Maximum number of sessions whose last answer is stored in memory."""
ANSWER_CHARS = 8_000
"""Maximum length of a stored answer, from its end."""
_NO_SIGN = expression(r"[\W_]+")
_HEAD = 16
"""Number of first characters that tell most texts apart."""


class MessageCapture(Struct, frozen=True, kw_only=True):
    """Captures messages of one workspace, one by one. `is_excluded` takes agent and session key.

    `book` takes a number of seconds to wait for the latest notes, and returns all memories; `day` returns the owner's
    day of a time.
    """

    journal: Journal
    retaining: Retaining
    tombstones: TombstoneStore
    delivered: ShownSpans
    book: Callable[[float], Awaitable[Book]]
    is_excluded: Callable[[str, str], Awaitable[bool]]
    day: Callable[[datetime], date]
    queue: CaptureQueue
    stated: StatementHashes
    distiller: MemoryModel | None = None
    """Finds statements that the rules do not cover; None: only the rules are used."""
    is_enabled: bool = True
    identifiers: bool = True
    in_groups: bool = False

    async def dry_run(self, task: CaptureTask) -> CaptureVerdict:
        """Return what would be stored of a message, by which form, or why not; nothing is written."""
        verdict = await self._verdict(task, by_model=True, seconds=FRESH_SECONDS)
        if not verdict.items:
            return verdict
        book = await self.book(FRESH_SECONDS)
        return await asyncio.to_thread(with_older, verdict, book, self._day(task), task.scope)

    async def capture(
        self, task: CaptureTask, *, by_model: bool = True, seconds: float = FRESH_SECONDS
    ) -> CaptureResult:
        """Store what a message states, all in one write; raises what `Journal.change` does, and StoreError.

        Waits up to `seconds` for a book with the latest changes, because the message may supersede one of them.
        """
        self.journal.check_writable()
        verdict = await self._verdict(task, by_model=by_model, seconds=seconds)
        if not verdict.items:
            return CaptureResult(verdict)
        # one at a time: two captures that decide on the same book would not see each other
        async with self.journal.write_lock:
            return await self._write(task, verdict, seconds)

    async def _verdict(self, task: CaptureTask, *, by_model: bool, seconds: float) -> CaptureVerdict:
        why = "" if self.is_enabled else SkipReason.CAPTURE_OFF
        if not why and task.session_key and await self.is_excluded(task.agent, task.session_key):
            why = SkipReason.WITHHELD
        if why := why or self.why_untrusted(task):
            return CaptureVerdict(dropped=(DroppedItem(task.text, why),))
        verdict = await self._decide(task, by_model=by_model, seconds=seconds)
        verdict = verdict if task.is_owners else verdict.from_agent()
        return (await self._check(task, verdict, seconds)).limit()

    async def _write(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureResult:
        day, book = self._day(task), await self.book(seconds)
        # check again: a memory may have been forgotten since
        verdict = await self._check(task, verdict, seconds)
        stated = [item.line(task.scope) for item in verdict.items]
        # in a thread: it compares with all memories
        lines = await asyncio.to_thread(lambda: with_succession(book, lines_to_write(book, stated, day), day))
        if not lines:
            return CaptureResult(verdict)
        retention = await self.retaining.retain(lines, agent=task.agent, by=WrittenBy.CAPTURE, day=day)
        return CaptureResult(verdict, retention)

    def _day(self, task: CaptureTask) -> date:
        return self.day(task.at or datetime.now(UTC))

    def why_untrusted(self, task: CaptureTask) -> str:
        """Return why nothing may be learned from a message because of its origin; empty if it may."""
        if task.event is not None:
            return ""
        return why_untrusted(
            role=task.role,
            channel=task.channel,
            session_key=task.session_key,
            is_direct=task.is_direct,
            in_groups=self.in_groups,
        )

    async def _decide(self, task: CaptureTask, *, by_model: bool, seconds: float) -> CaptureVerdict:
        if task.event is not None:
            return capture_failure(harmless_text(task.event.text), harmless_text(task.event.tool))
        text, before = harmless_text(task.text), harmless_text(task.answer_before)
        by_rules = capture_message(text, answer_before=before, is_direct=task.is_direct, identifiers=self.identifiers)
        revisions = list(revisions_of(text, has_answer=task.may_correct))
        if revisions or (not states_fact(by_rules) and may_outdate(text)):
            by_rules = await asyncio.to_thread(
                with_revisions,
                by_rules,
                revisions,
                await self.book(seconds),
                text=text,
                answer_before=before,
                said_before=harmless_text(task.message_before),
                scope=task.scope,
                day=self._day(task),
                may_supersede=task.is_owners and task.is_direct,
            )
        if not by_model or self.distiller is None or not by_rules.gate:
            return by_rules
        # the rules store these verbatim: the model would store them a second time
        known = {item.text for item in (*by_rules.items, *revisions)}
        sentences = [sentence for sentence in distillable(text) if sentence not in known]
        echoes = await self._find_echoes(task, sentences)
        new = " ".join(sentence for sentence in sentences if sentence not in echoes)
        items = await self.distiller.distil(new) if new else None
        return by_rules if items is None else with_model(by_rules, items, self.distiller.identity)

    async def _find_echoes(self, task: CaptureTask, sentences: Sequence[str]) -> frozenset[str]:
        shown, until, before = self.delivered, task.shown_until, task.queued_at
        return await shown.echoes(task.agent, task.session_key, sentences, until=until, before=before)

    async def _check(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureVerdict:
        """Return a verdict without echoes, and without statements that were forgotten or removed by the owner."""
        texts = [item.text for item in verdict.items]
        if not texts:
            return verdict
        # echoes are compared with the words that were typed
        typed = [message_alone(text) for text in texts]
        echoes = await self._find_echoes(task, typed) if task.event is None else ()
        stones, taken_back = await self.tombstones.all(), frozenset[str]()
        if before := await self.stated.among(texts):
            # stated before and in no line now: its owner undid or deleted it
            taken_back = await asyncio.to_thread(find_unstated, await self.book(seconds), before)
        dropped = []
        for item in verdict.items:
            if message_alone(item.text) in echoes:
                dropped.append(DroppedItem(item.text, SkipReason.ECHO, item.form))
            elif stones.contains(item.line(task.scope).id, item.text) or stones.contains_part_of(item.text):
                dropped.append(DroppedItem(item.text, SkipReason.FORGOTTEN, item.form))
            elif item.text in taken_back:
                dropped.append(DroppedItem(item.text, SkipReason.TAKEN_BACK, item.form))
        return verdict.without(dropped)


class Capturing:
    """Captures for one workspace: `submit` queues a message and never waits, `run` processes the queue."""

    def __init__(self, messages: MessageCapture) -> None:
        self.messages = messages
        self.queue = messages.queue
        self._waiting: deque[CaptureTask] = deque()
        self._chars = 0
        self._has_news = asyncio.Event()
        self._is_settled = asyncio.Event()
        self._is_settled.set()
        self._for_model: asyncio.Queue[CaptureTask] = asyncio.Queue()
        self._in_flight = 0
        self.refused = 0
        """Number of messages for which there was no room."""

    @property
    def is_idle(self) -> bool:
        """True if all submitted messages are processed."""
        return not self.pending

    @property
    def pending(self) -> int:
        """Number of submitted messages that are not processed yet."""
        return len(self._waiting) + self._in_flight

    def submit(self, task: CaptureTask, *, shown_until: int | None = None) -> bool:
        """Queue a message, without waiting; return whether it will be processed.

        A text that comes with a failure is queued as a separate message.
        """
        has_text = bool(task.text.strip())
        if task.event is not None and has_text:
            is_noted = self.submit(replace(task, text="", place=None))
            return self.submit(replace(task, event=None), shown_until=shown_until) or is_noted
        if not self.messages.is_enabled or (task.event is None and not has_text):
            return False
        if len(self._waiting) >= TASKS_MAX or self._chars + len(task.text) > WAITING_CHARS_MAX:
            self.refused += 1
            return False
        shown_until = self.messages.delivered.noted if shown_until is None else shown_until
        self._waiting.append(replace(task, shown_until=shown_until))
        self.queue.begin(task)
        self._chars += len(task.text)
        self._is_settled.clear()
        self._has_news.set()
        return True

    async def accept(self, task: CaptureTask) -> bool:
        """Queue a message once, as `submit` does, and durably if it has a `place`.

        Waits only for the ledger. Durable messages for which there is no room are processed later.
        """
        if self.queue.knows(task):
            return self.queue.is_in_line(task.place)
        if not self.messages.is_enabled or self.messages.why_untrusted(task):
            return self.submit(task)
        shown_until = self.messages.delivered.noted
        # before it is noted: otherwise it would be found in the ledger and treated as left by a stop
        self.queue.begin(task)
        is_noted = await self.queue.note(task)
        is_in_line = self.submit(task, shown_until=shown_until)
        if not is_in_line:
            self.queue.end(task, is_done=False)
        return is_in_line or is_noted

    async def settle(self, seconds: float) -> bool:
        """Wait until all submitted messages are processed, at most so many seconds; return whether they are."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_settled.wait()
        return self.is_idle

    async def run(self) -> None:
        """Capture submitted messages, one at a time, until cancelled; then the remaining ones, by rules only."""
        try:
            while True:
                await self._has_news.wait()
                self._has_news.clear()
                while self._waiting:
                    if self.messages.distiller is not None and self._in_flight < IN_FLIGHT:
                        self._in_flight += 1
                        self._for_model.put_nowait(self._next())
                    else:
                        await self._process_first()
                        self._note_settled()
                        await self.queue.delete_processed(at_least=DONE_MAX)
                await self.queue.delete_processed()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    while self._waiting:
                        await self._process_first(seconds=0)
                    await self.queue.delete_processed()

    async def run_distilling(self) -> None:
        """Capture the messages handed to the text model, until cancelled; `IN_FLIGHT` of these loops run."""
        while True:
            task = await self._for_model.get()
            try:
                await self._capture(task, by_model=True)
            except asyncio.CancelledError:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LAST_SECONDS):
                        await self._capture(task, by_model=False, seconds=0)
                raise
            finally:
                self._in_flight -= 1
                self._note_settled()
            await self.queue.delete_processed()

    async def _process_first(self, seconds: float = FRESH_SECONDS) -> None:
        try:
            await self._capture(self._waiting[0], by_model=False, seconds=seconds)
        except asyncio.CancelledError:
            # it stays queued: an interrupted capture is repeated, and written lines are not written twice
            raise
        except BaseException:
            # a message that cannot be read must not be read again and again
            self._next()
            raise
        self._next()

    def _note_settled(self) -> None:
        if self.is_idle:
            self._is_settled.set()

    def _next(self) -> CaptureTask:
        task = self._waiting.popleft()
        self._chars -= len(task.text)
        return task

    async def _capture(self, task: CaptureTask, *, by_model: bool, seconds: float = FRESH_SECONDS) -> None:
        # at shutdown the book no longer follows the notes: with 0 seconds it is used as it is
        try:
            await self.messages.capture(task, by_model=by_model, seconds=seconds)
        except (MemorydError, OSError) as exc:
            log.warning("a turn was not captured", agent=task.agent, reason=str(exc))
            self.queue.end(task, is_done=False)
        else:
            self.queue.end(task, is_done=True)


class LastTexts:
    """The last text of one side in each session, by session key, in memory only. Forgetting anything clears it."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        register_text_holder(self)

    def note(self, key: str, text: str) -> None:
        """Store the last text of a session; ignored without a key."""
        if key:
            self._texts.pop(key, None)
            self._texts[key] = text[-ANSWER_CHARS:]
            while len(self._texts) > SESSIONS_MAX:
                self._texts.popitem(last=False)

    def of(self, key: str) -> str:
        """Return the last text of a session, empty if unknown."""
        return self._texts.get(key, "")

    def drop_texts(self) -> None:
        """Drop all texts; the sessions themselves may still have them."""
        self._texts.clear()


def lines_to_write(book: Book, lines: Sequence[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines to write on a day; a line equal to a memory gets the words of that memory.

    Lines that were already stated on that day are left out.
    """
    new_lines = {_copy_key(line): line for line in lines}
    similar = _similar(book, [line.text for line in lines])
    copies = {key: memory for memory in similar if (key := _copy_key(memory.line)) in new_lines}
    return [
        _in_its_words(line, copies.get(key))
        for key, line in new_lines.items()
        if key not in copies or all(source.day != day for source in copies[key].sources)
    ]


def find_unstated(book: Book, texts: Iterable[str]) -> frozenset[str]:
    """Return those of the texts that no memory of any scope states."""
    statements = {text: normalized_statement(text) for text in texts}
    stated = {normalized_statement(memory.text) for memory in _similar(book, statements)}
    return frozenset(text for text, statement in statements.items() if statement not in stated)


def _similar(book: Book, texts: Iterable[str]) -> list[Memory]:
    """Return the memories with the same letters and digits as one of the texts, in any layout and case."""
    bare_texts = {_bare_text(text) for text in texts}
    # a cheap check of the first characters first: few of thousands of memories pass it
    candidates = (memory for memory in with_pauses(book.memories.values()) if _starts_alike(memory.text, bare_texts))
    return [memory for memory in candidates if _bare_text(memory.text) in bare_texts]


def _starts_alike(text: str, bare_texts: Collection[str]) -> bool:
    first = text[:1].casefold()
    if first.isalnum() and not any(bare.startswith(first) for bare in bare_texts):
        return False
    head = _bare_text(text[:_HEAD])
    return any(bare.startswith(head) for bare in bare_texts)


def _in_its_words(line: RetainedLine, memory: Memory | None) -> RetainedLine:
    if memory is None:
        return line
    own, new = memory.line.attributes, line.attributes
    attributes = replace(
        own,
        provenance=new.provenance,
        supersedes=joined(own.supersedes, new.supersedes),
        contradicts=joined(own.contradicts, new.contradicts),
    )
    return replace(memory.line, attributes=attributes)


def _bare_text(text: str) -> str:
    return _NO_SIGN.sub("", text).casefold()


def _copy_key(line: RetainedLine) -> tuple[str, str]:
    """Return the key that is equal for copies: the scope, and the statement without layout and final punctuation."""
    statement = gist(line.text) or line.text
    return line.attributes.scope, " ".join(statement.split()).rstrip(".!。！ ")
