"""Captures what messages state, after the answer, once, and through the journal, so that it can be undone.

The rules or a text model decide, a firewall checks, then it is written. A copy of a memory is the same memory, said on
another day; on the same day it is not written again. Messages that are queued when the daemon is killed are captured by
the next one, where a session keeps their words.
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
    captured,
    captured_failure,
    distillable,
    with_model,
)
from memoryd.domain.memories.capture.corrections import with_succession
from memoryd.domain.memories.capture.firewall import why_untrusted
from memoryd.domain.memories.capture.rejections import DroppedItem
from memoryd.domain.memories.capture.renewal import may_outdate, with_older, with_revisions
from memoryd.domain.memories.capture.revisions import revisions_of
from memoryd.domain.memories.changes.tombstones import normalized_statement
from memoryd.domain.memories.generated import typed_part
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine, joined
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import MemorydError
from memoryd.index.threads import with_pauses
from memoryd.memory.capture.queue import DONE_MAX, CaptureQueue, CaptureResult, CaptureTask, ShownSpans
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import Distiller
from memoryd.memory.retaining import Retaining, StatementHashes

log = structlog.get_logger(__name__)

TASKS_MAX = 256
"""Messages that wait; further ones are refused."""
WAITING_CHARS_MAX = 1_000_000
"""Of all waiting messages together."""
FRESH_SECONDS = 5.0
"""How long capture waits, behind the answer, until the book has what was written or taken back just now."""
LAST_SECONDS = 3.0
"""For the waiting messages when the daemon stops."""
IN_FLIGHT = 4
"""Messages that the text model has at once; for others the rules decide."""
SESSIONS_MAX = 256
"""Sessions whose last answer is held in memory."""
ANSWER_CHARS = 8_000
"""Of an answer that may be corrected."""
_NO_SIGN = expression(r"[\W_]+")
_HEAD = 16
"""Characters of a text by whose words most others are told apart."""


class MessageCapture(Struct, frozen=True, kw_only=True):
    """Captures messages of one workspace, one by one. `is_excluded` takes agent and session key.

    `book` returns all memories as the notes state them now, as far as it learns of it within so many seconds; `day`
    gives the owner's day of a time.
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
    distiller: Distiller | None = None
    """Finds statements of other forms than those of the rules; None: the rules decide alone."""
    is_enabled: bool = True
    identifiers: bool = True
    in_groups: bool = False

    async def dry_run(
        self, task: CaptureTask, *, by_model: bool = True, seconds: float = FRESH_SECONDS
    ) -> CaptureVerdict:
        """Return what would be kept of a message, by which form, or why not; nothing is written."""
        verdict = await self._verdict(task, by_model=by_model, seconds=seconds)
        if not verdict.kept:
            return verdict
        return await asyncio.to_thread(with_older, verdict, await self.book(seconds), self._day(task), task.scope)

    async def capture(
        self, task: CaptureTask, *, by_model: bool = True, seconds: float = FRESH_SECONDS
    ) -> CaptureResult:
        """Keep what a message states, all in one write; raises what `Journal.change` does, and StoreError.

        It waits up to `seconds` for a book that has what was written just now: what it supersedes may be that.
        """
        self.journal.check_writable()
        verdict = await self._verdict(task, by_model=by_model, seconds=seconds)
        if not verdict.kept:
            return CaptureResult(verdict)
        # one after the other: of two that decide on the same book, neither would know of the other
        async with self.journal.one_at_a_time:
            return await self._write(task, verdict, seconds)

    async def _verdict(self, task: CaptureTask, *, by_model: bool, seconds: float) -> CaptureVerdict:
        why = "" if self.is_enabled else SkipReason.CAPTURE_OFF
        if not why and task.session_key and await self.is_excluded(task.agent, task.session_key):
            why = SkipReason.WITHHELD
        if why := why or self.why_untrusted(task):
            return CaptureVerdict(dropped=(DroppedItem(task.text, why),))
        verdict = await self._decide(task, by_model=by_model, seconds=seconds)
        verdict = verdict if task.is_owners else verdict.from_agent()
        return (await self._check(task, verdict, seconds)).bounded()

    async def _write(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureResult:
        day, book = self._day(task), await self.book(seconds)
        # something may have been forgotten since
        verdict = await self._check(task, verdict, seconds)
        stated = [item.line(task.scope) for item in verdict.kept]
        # in a thread: it looks at all memories
        lines = await asyncio.to_thread(lambda: with_succession(book, lines_to_write(book, stated, day), day))
        if not lines:
            return CaptureResult(verdict)
        retention = await self.retaining.retain(lines, agent=task.agent, by=WrittenBy.CAPTURE, day=day)
        return CaptureResult(verdict, retention)

    def _day(self, task: CaptureTask) -> date:
        return self.day(task.at or datetime.now(UTC))

    def why_untrusted(self, task: CaptureTask) -> str:
        """Say why nothing is learned from a message by where it came from; empty if something may be."""
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
            return captured_failure(harmless_text(task.event.text), harmless_text(task.event.tool))
        text, before = harmless_text(task.text), harmless_text(task.answer_before)
        by_rules = captured(text, answer_before=before, is_direct=task.is_direct, identifiers=self.identifiers)
        revisions = list(revisions_of(text, has_answer=task.may_correct))
        if revisions or (not by_rules.kept and may_outdate(text)):
            by_rules = await asyncio.to_thread(
                with_revisions,
                by_rules,
                revisions,
                await self.book(seconds),
                text=text,
                answer_before=before,
                said_before=harmless_text(task.said_before),
                scope=task.scope,
                day=self._day(task),
                may_supersede=task.is_owners and task.is_direct,
            )
        if not by_model or self.distiller is None or not by_rules.gate:
            return by_rules
        # the rules keep these verbatim: a model would bring them a second time
        known = {item.text for item in (*by_rules.kept, *revisions)}
        sentences = [sentence for sentence in distillable(text) if sentence not in known]
        echoes = await self._echoes(task, sentences)
        new = " ".join(sentence for sentence in sentences if sentence not in echoes)
        items = await self.distiller.distil(new) if new else None
        return by_rules if items is None else with_model(by_rules, items, self.distiller.identity)

    async def _echoes(self, task: CaptureTask, sentences: Sequence[str]) -> frozenset[str]:
        return await self.delivered.echoes(task.agent, task.session_key, sentences, until=task.shown_until)

    async def _check(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureVerdict:
        """Return a verdict without echoes, and without what is forgotten or was taken back."""
        texts = [item.text for item in verdict.kept]
        if not texts:
            return verdict
        # the words of an echo are those that were typed
        typed = [typed_part(text) for text in texts]
        echoes = await self._echoes(task, typed) if task.event is None else ()
        stones, taken_back = await self.tombstones.all(), frozenset[str]()
        if before := await self.stated.among(texts):
            # it was stated before and stands no more: its owner undid it, or took it out
            taken_back = await asyncio.to_thread(unstated, await self.book(seconds), before)
        dropped = []
        for item in verdict.kept:
            if typed_part(item.text) in echoes:
                dropped.append(DroppedItem(item.text, SkipReason.ECHO, item.form))
            elif stones.hold(item.line(task.scope).id, item.text) or stones.hold_part_of(item.text):
                dropped.append(DroppedItem(item.text, SkipReason.FORGOTTEN, item.form))
            elif item.text in taken_back:
                dropped.append(DroppedItem(item.text, SkipReason.TAKEN_BACK, item.form))
        return verdict.without(dropped)


class Capturing:
    """Captures for one workspace: `submit` puts a message in line and never waits, `run` works the line off."""

    def __init__(self, messages: MessageCapture) -> None:
        self.messages = messages
        self.queue = messages.queue
        self._waiting: deque[CaptureTask] = deque()
        self._chars = 0
        self._has_news = asyncio.Event()
        self._for_model: asyncio.Queue[CaptureTask] = asyncio.Queue()
        self._in_flight = 0
        self.refused = 0
        """Messages for which there was no room."""

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

        A text beside a failure is looked at by itself.
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
        self._has_news.set()
        return True

    async def accept(self, task: CaptureTask) -> bool:
        """Put a message in line as `submit` does, once, and where it has a `place` so that no kill loses it.

        It waits for the ledger alone. Of such messages those for which there is no room are looked at later.
        """
        if self.queue.knows(task):
            return self.queue.is_in_line(task.place)
        if not self.messages.is_enabled or self.messages.why_untrusted(task):
            return self.submit(task)
        shown_until = self.messages.delivered.noted
        # before it is noted: else it would be found in the ledger and taken for one that a stop left
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
                    if self.messages.distiller is not None and self._in_flight < IN_FLIGHT:
                        self._in_flight += 1
                        self._for_model.put_nowait(self._next())
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
                await self._capture(task, by_model=True)
            except asyncio.CancelledError:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LAST_SECONDS):
                        await self._capture(task, by_model=False, seconds=0)
                raise
            finally:
                self._in_flight -= 1
            await self.queue.settle()

    async def _work_off_one(self, seconds: float = FRESH_SECONDS) -> None:
        try:
            await self._capture(self._waiting[0], by_model=False, seconds=seconds)
        except asyncio.CancelledError:
            # it stays in line: what a stop breaks off is done again, and what stands is not written twice
            raise
        except BaseException:
            # a message that cannot be read must not be read for ever
            self._next()
            raise
        self._next()

    def _next(self) -> CaptureTask:
        task = self._waiting.popleft()
        self._chars -= len(task.text)
        return task

    async def _capture(self, task: CaptureTask, *, by_model: bool, seconds: float = FRESH_SECONDS) -> None:
        # when the daemon ends, the book no longer follows the notes: without seconds it is taken as it is
        try:
            await self.messages.capture(task, by_model=by_model, seconds=seconds)
        except (MemorydError, OSError) as exc:
            log.warning("a turn was not captured", agent=task.agent, reason=str(exc))
            self.queue.end(task, is_done=False)
        else:
            self.queue.end(task, is_done=True)


class LastTexts:
    """What one side said last in sessions, by their keys, in memory alone; all go when something is forgotten."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        drop_with_the_others(self)

    def note(self, key: str, text: str) -> None:
        """Hold what was said last in a session; without a key nothing is held."""
        if key:
            self._texts.pop(key, None)
            self._texts[key] = text[-ANSWER_CHARS:]
            while len(self._texts) > SESSIONS_MAX:
                self._texts.popitem(last=False)

    def of(self, key: str) -> str:
        """Return what was said last in a session, empty where that is not known."""
        return self._texts.get(key, "")

    def drop_texts(self) -> None:
        """Drop all; the sessions themselves may still have them."""
        self._texts.clear()


def lines_to_write(book: Book, lines: Sequence[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines to be written on a day: in the words of the memory that says the same, if one does.

    What was said on that day already is left out.
    """
    wanted = {_copy_key(line): line for line in lines}
    similar = _similar(book, [line.text for line in lines])
    copies = {key: memory for memory in similar if (key := _copy_key(memory.line)) in wanted}
    return [
        _in_its_words(line, copies.get(key))
        for key, line in wanted.items()
        if key not in copies or all(source.day != day for source in copies[key].sources)
    ]


def unstated(book: Book, texts: Iterable[str]) -> frozenset[str]:
    """Return those of the texts that no memory states, in whatever scope."""
    wanted = {text: normalized_statement(text) for text in texts}
    stated = {normalized_statement(memory.text) for memory in _similar(book, wanted)}
    return frozenset(text for text, statement in wanted.items() if statement not in stated)


def _similar(book: Book, texts: Iterable[str]) -> list[Memory]:
    """Return the memories that have the words of one of the texts, in whatever layout and case."""
    wanted = {_bare_text(text) for text in texts}
    # of thousands hardly one begins alike, and is worth looking at as a whole
    begun = (memory for memory in with_pauses(book.memories.values()) if _begins_alike(memory.text, wanted))
    return [memory for memory in begun if _bare_text(memory.text) in wanted]


def _begins_alike(text: str, wanted: Collection[str]) -> bool:
    first = text[:1].casefold()
    if first.isalnum() and not any(bare.startswith(first) for bare in wanted):
        return False
    head = _bare_text(text[:_HEAD])
    return any(bare.startswith(head) for bare in wanted)


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
    """Return what makes two lines copies: their scope, and what they say apart from layout and the last mark."""
    statement = gist(line.text) or line.text
    return line.attributes.scope, " ".join(statement.split()).rstrip(".!。！ ")
