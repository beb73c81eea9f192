"""What is kept of one message: the rules or a text model decide, a firewall checks, then it is written.

A copy of a memory is the same memory, said on another day; on the same day it is not written again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.capture import (
    DEFAULT_RULES,
    CaptureRules,
    CaptureVerdict,
    DroppedItem,
    ReportedFailure,
    captured,
    captured_failure,
    distillable,
    with_model,
)
from memoryd.domain.memories.capture.corrections import with_succession
from memoryd.domain.memories.capture.firewall import why_untrusted
from memoryd.domain.memories.capture.renewal import RevisingMessage, with_older, with_revisions
from memoryd.domain.memories.changes.tombstones import normalized_statement
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine, joined
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.index.threads import with_pauses
from memoryd.memory.capture.queue import CaptureQueue, CaptureResult, CaptureTask, ShownSpans
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import Distiller
from memoryd.memory.retaining import Retaining, StatementHashes

FRESH_SECONDS: Final = 5.0
"""How long it waits, behind the answer, until the book has what was written or taken back just now."""
_NO_SIGN: Final = expression(r"[\W_]+")
_HEAD: Final = 16
"""Signs of a text by whose words most others are told apart."""


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
    """Who finds what has none of the forms of statements; None: nobody does."""
    is_enabled: bool = True
    rules: CaptureRules = DEFAULT_RULES

    @property
    def has_model(self) -> bool:
        """Whether a text model reads what the forms of statements leave."""
        return self.distiller is not None

    async def dry_run(
        self, task: CaptureTask, *, by_model: bool = True, seconds: float = FRESH_SECONDS
    ) -> CaptureVerdict:
        """Return what would be kept of a message, by which form, or why not; nothing is written."""
        verdict = await self._verdict(task, by_model=by_model, seconds=seconds)
        if not verdict.kept:
            return verdict
        book, day = await self.book(seconds), self.day(task.at or datetime.now(UTC))
        return await asyncio.to_thread(with_older, verdict, book, day, task.scope)

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
            return await self._written(task, verdict, seconds)

    async def _verdict(self, task: CaptureTask, *, by_model: bool, seconds: float) -> CaptureVerdict:
        if why := await self._why_not(task):
            return CaptureVerdict(dropped=(DroppedItem(task.text, why),))
        verdict = await self._decided(task, by_model=by_model, seconds=seconds)
        verdict = verdict if task.is_owners else verdict.from_agent()
        return (await self._checked(task, verdict, seconds)).bounded()

    async def _written(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureResult:
        day = self.day(task.at or datetime.now(UTC))
        book, said = await self.book(seconds), [item.line(task.scope) for item in verdict.kept]
        # in a thread: it looks at all memories
        lines = await asyncio.to_thread(lambda: with_succession(book, lines_to_write(book, said, day), day))
        if not lines:
            return CaptureResult(verdict)
        retention = await self.retaining.retain(lines, agent=task.agent, by=WrittenBy.CAPTURE, day=day)
        return CaptureResult(verdict, retention)

    async def _why_not(self, task: CaptureTask) -> str:
        """Say why nothing of a message may be looked at; empty if it may."""
        if not self.is_enabled:
            return SkipReason.CAPTURE_OFF
        if task.session_key and await self.is_excluded(task.agent, task.session_key):
            return SkipReason.WITHHELD
        return self.why_untrusted(task)

    def why_untrusted(self, task: CaptureTask) -> str:
        """Say why nothing is learned from a message by where it came from; empty if something may be."""
        if task.event is not None:
            return ""
        return why_untrusted(
            role=task.role,
            channel=task.channel,
            session_key=task.session_key,
            is_direct=task.is_direct,
            in_groups=self.rules.in_groups,
        )

    async def _decided(self, task: CaptureTask, *, by_model: bool, seconds: float) -> CaptureVerdict:
        if task.event is not None:
            failure = ReportedFailure(harmless_text(task.event.text), harmless_text(task.event.tool))
            return captured_failure(failure)
        text, before = harmless_text(task.text), harmless_text(task.answer_before)
        rules = self.rules
        by_rules = captured(text, answer_before=before, is_direct=task.is_direct, rules=rules)
        message = RevisingMessage(
            text=text,
            answer_before=before,
            scope=task.scope,
            day=self.day(task.at or datetime.now(UTC)),
            may_supersede=task.is_owners and task.is_direct,
        )
        if revised := message.revisions():
            book = await self.book(seconds)
            by_rules = await asyncio.to_thread(with_revisions, by_rules, message, book)
        if not by_model or self.distiller is None or not by_rules.gate:
            return by_rules
        # what the rules keep stands there verbatim: of a model it would come a second time
        kept = {item.text for item in by_rules.kept} | {one.text for one in revised}
        sentences = [one for one in distillable(text) if one not in kept]
        echoes = await self._echoes(task, sentences)
        new = " ".join(one for one in sentences if one not in echoes)
        found = await self.distiller.distil(new) if new else None
        if found is None:
            return by_rules
        return with_model(by_rules, found, by_rules.gate, self.distiller.identity)

    async def _echoes(self, task: CaptureTask, sentences: list[str]) -> frozenset[str]:
        delivered = self.delivered
        return await delivered.echoes(task.agent, task.session_key, sentences, until=task.shown_until)

    async def _checked(self, task: CaptureTask, verdict: CaptureVerdict, seconds: float) -> CaptureVerdict:
        """Return a verdict without echoes, and without what is forgotten or was taken back."""
        if not verdict.kept:
            return verdict
        echoes: frozenset[str] = frozenset()
        if task.event is None:
            echoes = await self._echoes(task, [item.text for item in verdict.kept])
        stones, taken_back = await self.tombstones.all(), await self._taken_back(verdict, seconds)
        dropped = []
        for item in verdict.kept:
            if item.text in echoes:
                dropped.append(DroppedItem(item.text, SkipReason.ECHO, item.form))
            elif stones.hold(item.line(task.scope).id, item.text) or stones.hold_part_of(item.text):
                dropped.append(DroppedItem(item.text, SkipReason.FORGOTTEN, item.form))
            elif item.text in taken_back:
                dropped.append(DroppedItem(item.text, SkipReason.TAKEN_BACK, item.form))
        return verdict.without(dropped)

    async def _taken_back(self, verdict: CaptureVerdict, seconds: float) -> frozenset[str]:
        """Return what was stated before and stands no more: its owner undid it, or took it out."""
        before = await self.stated.among(item.text for item in verdict.kept)
        if not before:
            return frozenset()
        book = await self.book(seconds)
        return await asyncio.to_thread(unstated, book, before)


def lines_to_write(book: Book, lines: Sequence[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines to be written on a day: in the words of the memory that says the same, if one does.

    What was said on that day already is left out.
    """
    wanted = {_copy_key(line): line for line in lines}
    near = _similar(book, {_bare_text(line.text).casefold() for line in lines})
    standing = {said: memory for memory in near if (said := _copy_key(memory.line)) in wanted}
    return [
        _in_its_words(line, standing.get(said))
        for said, line in wanted.items()
        if not _is_from_day(standing.get(said), day)
    ]


def unstated(book: Book, texts: Iterable[str]) -> frozenset[str]:
    """Return those of the texts that no memory states, in whatever scope."""
    wanted = {text: normalized_statement(text) for text in texts}
    near = _similar(book, {_bare_text(text).casefold() for text in wanted})
    standing = {normalized_statement(memory.line.text) for memory in near}
    return frozenset(text for text, said in wanted.items() if said not in standing)


def _similar(book: Book, signs: Collection[str]) -> list[Memory]:
    """Return the memories whose words are among these, in whatever layout and case."""
    # of thousands hardly one begins alike, and is worth looking at as a whole
    begun = (one for one in with_pauses(book.memories.values()) if _begins_alike(one.line.text, signs))
    return [memory for memory in begun if _bare_text(memory.line.text).casefold() in signs]


def _begins_alike(text: str, signs: Collection[str]) -> bool:
    first = text[:1].casefold()
    if first.isalnum() and not any(one.startswith(first) for one in signs):
        return False
    head = _bare_text(text[:_HEAD]).casefold()
    return any(one.startswith(head) for one in signs)


def _is_from_day(memory: Memory | None, day: date) -> bool:
    return memory is not None and any(source.day == day for source in memory.sources)


def _in_its_words(line: RetainedLine, memory: Memory | None) -> RetainedLine:
    if memory is None:
        return line
    own, told = memory.line.attributes, line.attributes
    attributes = replace(
        own,
        provenance=told.provenance,
        supersedes=joined(own.supersedes, told.supersedes),
        contradicts=joined(own.contradicts, told.contradicts),
    )
    return replace(memory.line, attributes=attributes)


def _bare_text(text: str) -> str:
    return _NO_SIGN.sub("", text)


def _copy_key(line: RetainedLine) -> tuple[str, str]:
    """Return what makes two lines copies: their scope, and what they say apart from layout and the last mark."""
    told = gist(line.text) or line.text
    return line.attributes.scope, " ".join(told.split()).rstrip(".!。！ ")
