"""Capture: what a turn says becomes memories behind the answer, once, by the journal, and so that it can be undone."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

import structlog

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture.capture import (
    CaptureRules,
    ReportedFailure,
    captured,
    captured_failure,
    distillable,
)
from memoryd.domain.memories.capture.origins import USER, why_untrusted
from memoryd.domain.memories.capture.succession import with_succession
from memoryd.domain.memories.capture.verdict import CaptureVerdict, DroppedItem, with_model
from memoryd.domain.memories.written_by import WrittenBy
from memoryd.domain.sessions.harmless_text import harmless_text
from memoryd.errors import MemorydError
from memoryd.memory.capture.delivered_spans import DeliveredSpans
from memoryd.memory.capture.standing_copies import standing_lines
from memoryd.memory.forgetting.tombstone_store import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm_distilling import Distiller
from memoryd.memory.retaining import Retaining, Retention

log = structlog.get_logger(__name__)

TASKS_MAX: Final = 256
"""Messages that wait; more are not looked at."""
WAITING_SIGNS_MAX: Final = 1_000_000
"""Of all that wait together."""
ECHO: Final = "it repeats what was recalled in this session"
FORGOTTEN: Final = "its owner had this forgotten"
WITHHELD: Final = "this session is not to be remembered"
LAST_SECONDS: Final = 3.0
"""For what waits when the daemon stops."""
IN_FLIGHT: Final = 4
"""Messages that the text model has at once; of others the rules decide, for nobody waits for it."""
OFF: Final = "memory.capture.enabled is false"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureTask:
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
    told_until: int | None = None
    """What `DeliveredSpans.noted` was when it was put in line: what it recalled itself makes it no echo."""
    is_owners: bool = True
    """Whether it came by the owner's own socket: what an agent's socket says pins nothing, and is from the agent."""


@dataclass(frozen=True, slots=True)
class CaptureOutcome:
    """What came of a message; `retention` tells where its memories stand, None where nothing was kept."""

    verdict: CaptureVerdict
    retention: Retention | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureParts:
    """What capture works with. `is_withheld` takes agent and session key; `day` gives the owner's day of a time."""

    journal: Journal
    retaining: Retaining
    tombstones: TombstoneStore
    delivered: DeliveredSpans
    book: Callable[[], Awaitable[Book]]
    is_withheld: Callable[[str, str], Awaitable[bool]]
    day: Callable[[datetime], date]
    distiller: Distiller | None = None
    """Who decides instead of the forms of statements; None: these do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSettings:
    """What `memory.capture` says."""

    is_enabled: bool = True
    rules: CaptureRules = field(default=CaptureRules())


class Capturing:
    """Captures for one workspace: `submit` puts a message in line and never waits, `run` works the line off."""

    def __init__(self, settings: CaptureSettings, parts: CaptureParts) -> None:
        self._settings = settings
        self._parts = parts
        self._waiting: deque[CaptureTask] = deque()
        self._signs = 0
        self._has_news = asyncio.Event()
        self._for_model: asyncio.Queue[CaptureTask] = asyncio.Queue()
        self._in_flight = 0
        self.refused = 0
        """Messages for which there was no room."""

    @property
    def is_enabled(self) -> bool:
        return self._settings.is_enabled

    @property
    def is_idle(self) -> bool:
        """Whether all that was submitted is worked off."""
        return not self.pending

    @property
    def pending(self) -> int:
        """How many messages were submitted and are not worked off."""
        return len(self._waiting) + self._in_flight

    def submit(self, task: CaptureTask) -> bool:
        """Put a message in line; return whether it will be looked at. It never waits.

        What stands beside a failure is looked at by itself.
        """
        if task.event is not None and task.text.strip():
            is_noted = self.submit(replace(task, text=""))
            return self.submit(replace(task, event=None)) or is_noted
        if not self._settings.is_enabled or not self._may_say_something(task):
            return False
        if len(self._waiting) >= TASKS_MAX or self._signs + len(task.text) > WAITING_SIGNS_MAX:
            self.refused += 1
            return False
        self._waiting.append(replace(task, told_until=self._parts.delivered.noted))
        self._signs += len(task.text)
        self._has_news.set()
        return True

    async def run(self) -> None:
        """Capture what was submitted, one message after the other, until cancelled; then what still waits, by rules."""
        try:
            while True:
                await self._has_news.wait()
                self._has_news.clear()
                while self._waiting:
                    if self._parts.distiller is not None and self._in_flight < IN_FLIGHT:
                        self._in_flight += 1
                        self._for_model.put_nowait(self._taken())
                    else:
                        await self._work_off_one()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    while self._waiting:
                        await self._work_off_one()

    async def run_distilling(self) -> None:
        """Capture by the text model what is handed to it, until cancelled; `IN_FLIGHT` of these loops run."""
        while True:
            task = await self._for_model.get()
            try:
                await self._captured(task, by_model=True)
            except asyncio.CancelledError:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LAST_SECONDS):
                        await self._captured(task, by_model=False)
                raise
            finally:
                self._in_flight -= 1

    async def _work_off_one(self) -> None:
        try:
            await self._captured(self._waiting[0], by_model=False)
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
        if why := await self._why_not(task):
            return CaptureVerdict(dropped=(DroppedItem(task.text, why),))
        verdict = await self._decided(task, by_model=by_model)
        return (await self._checked(task, verdict if task.is_owners else verdict.from_agent())).bounded()

    async def capture(self, task: CaptureTask, *, by_model: bool = True) -> CaptureOutcome:
        """Keep what a message states, all in one write; raises what `Journal.change` does, and StoreError."""
        self._parts.journal.check_writable()
        verdict = await self.dry_run(task, by_model=by_model)
        day = self._parts.day(datetime.now(UTC) if task.at is None else task.at)
        lines = [item.line(task.scope) for item in verdict.kept]
        if lines:
            book = await self._parts.book()
            # in a thread: it looks at all memories
            lines = await asyncio.to_thread(lambda: with_succession(book, standing_lines(book, lines, day), day))
        if not lines:
            return CaptureOutcome(verdict)
        retention = await self._parts.retaining.retain(lines, agent=task.agent, by=WrittenBy.CAPTURE, day=day)
        return CaptureOutcome(verdict, retention)

    def _may_say_something(self, task: CaptureTask) -> bool:
        return task.event is not None or bool(task.text.strip())

    async def _why_not(self, task: CaptureTask) -> str:
        """Say why nothing of a message may be looked at; empty if it may."""
        if not self._settings.is_enabled:
            return OFF
        if task.session_key and await self._parts.is_withheld(task.agent, task.session_key):
            return WITHHELD
        if task.event is not None:
            return ""
        return why_untrusted(
            role=task.role,
            channel=task.channel,
            session_key=task.session_key,
            is_direct=task.is_direct,
            in_groups=self._settings.rules.in_groups,
        )

    async def _captured(self, task: CaptureTask, *, by_model: bool) -> None:
        try:
            await self.capture(task, by_model=by_model)
        except (MemorydError, OSError) as exc:
            log.warning("a turn was not captured", agent=task.agent, reason=str(exc))

    async def _decided(self, task: CaptureTask, *, by_model: bool) -> CaptureVerdict:
        if task.event is not None:
            failure = ReportedFailure(harmless_text(task.event.text), harmless_text(task.event.tool))
            return captured_failure(failure)
        text, before = harmless_text(task.text), harmless_text(task.answer_before)
        rules = self._settings.rules
        by_rules = captured(text, answer_before=before, is_direct=task.is_direct, rules=rules)
        if not by_model or self._parts.distiller is None or not by_rules.gate:
            return by_rules
        beside = captured(text, answer_before=before, is_direct=task.is_direct, rules=replace(rules, statements=False))
        # what the rules keep whoever decides stands there verbatim: of a model it would come a second time
        kept = {item.text for item in beside.kept}
        told = await self._without_echoes(task, [one for one in distillable(text) if one not in kept])
        found = await self._parts.distiller.distil(" ".join(told)) if told else ()
        if found is None:
            return by_rules
        return with_model(beside, found, by_rules.gate, self._parts.distiller.identity)

    async def _without_echoes(self, task: CaptureTask, sentences: list[str]) -> list[str]:
        echoes = await self._echoes(task, sentences)
        return [one for one in sentences if one not in echoes]

    async def _echoes(self, task: CaptureTask, sentences: list[str]) -> frozenset[str]:
        delivered = self._parts.delivered
        return await delivered.echoes(task.agent, task.session_key, sentences, until=task.told_until)

    async def _checked(self, task: CaptureTask, verdict: CaptureVerdict) -> CaptureVerdict:
        """Return a verdict without echoes, and without what is forgotten."""
        if not verdict.kept:
            return verdict
        echoes: frozenset[str] = frozenset()
        if task.event is None:
            echoes = await self._echoes(task, [item.text for item in verdict.kept])
        stones = await self._parts.tombstones.all()
        dropped = []
        for item in verdict.kept:
            if item.text in echoes:
                dropped.append(DroppedItem(item.text, ECHO, item.form))
            elif stones.hold(item.line(task.scope).id, item.text):
                dropped.append(DroppedItem(item.text, FORGOTTEN, item.form))
        return verdict.without(dropped)
