"""One call for each message of a conversation: a command is carried out, the message kept, and the agent answered.

The parts of a turn fail alone: the reply says what one of them could not do, and comes with the rest.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.session_memories import SessionMemories
from memoryd.agents.retained.changes import Retained
from memoryd.agents.retained.recall import BundleOptions, RecallOptions
from memoryd.agents.turns.capture import TurnCapture, texts_of
from memoryd.agents.turns.log import (
    CaptureState,
    CommandOutcome,
    LoggedMessage,
    NewMessage,
    PartState,
    TurnContext,
    TurnLog,
    TurnOutcome,
    TurnPart,
    beside,
)
from memoryd.agents.turns.uses import TurnUses
from memoryd.agents.workspace.qa import LateMessages
from memoryd.config.agents import Agent
from memoryd.config.rsclaw import MOST
from memoryd.domain.access import Admitted
from memoryd.domain.memories.changes.verification import cite
from memoryd.domain.memories.edits import OWN_CHANNELS, REMEMBERED_IMPORTANCE, StatedText
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line
from memoryd.domain.sessions.commands import SpokenCommand, command_of
from memoryd.domain.sessions.turns import MessageEventType, MessageRole, said_at
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.memory.recall.query import Recalled, RecalledMemory

_SHOWN: Final = 400
"""Characters of a hit."""
NOTHING_FOUND: Final = "Nothing was found."


class TurnCommands(Struct, frozen=True):
    """The commands of one agent, each a method of its name. `most` is how many hits are told."""

    agent: str
    retained: Retained
    sessions: SessionMemories
    most: int

    async def run(self, command: SpokenCommand, admitted: Admitted, key: str, *, scope: str) -> CommandOutcome:
        """Carry a command out.

        `scope` is whom a memory is for that names nobody. Raises what retaining and recalling do, Denied where
        nothing may be written.
        """
        row = command.row
        if row.takes and not command.text:
            return CommandOutcome(row.name, row.without)
        method: Callable[..., Awaitable[CommandOutcome]] = getattr(self, row.name)
        return await method(text=command.text, admitted=admitted, key=key, scope=scope)

    async def compact(self, key: str, **_: object) -> CommandOutcome:
        """Sum up the session of a key; raises Denied where nothing may be written, StoreError, NotNow."""
        done = await self.sessions.compact(key)
        if done.retention is None:
            return CommandOutcome("compact", done.remark)
        placed = done.retention.placed[0]
        told = "Summed up" if any(done.retention.added) else "Summed up already"
        where = f"{told}: {done.retention.path}#L{placed.start_line}"
        text = "\n".join(filter(None, [where, done.text, done.remark]))
        return CommandOutcome("compact", text, (placed.line.id,))

    async def remember(self, text: str, admitted: Admitted, scope: str, **_: object) -> CommandOutcome:
        """State a text as a memory."""
        said = StatedText(
            text=text,
            usual_kind=Kind.NOTE,
            usual_importance=REMEMBERED_IMPORTANCE,
            scope="" if _has_scope(text) else scope,
            provenance=Provenance.USER,
        )
        done = await self.retained.retaining.retain(said, admitted)
        retention = done.retention
        told = "Remembered" if any(retention.added) else "Remembered already"
        places = ", ".join(f"{retention.path}#L{one.start_line}" for one in retention.placed)
        text = "\n".join([f"{told}: {places}", *done.notes])
        return CommandOutcome("remember", text, tuple(one.line.id for one in retention.placed))

    async def recall(self, text: str, admitted: Admitted, key: str, **_: object) -> CommandOutcome:
        """Tell what answers a question."""
        options = RecallOptions(k=self.most, is_told_to_all=True, session=key)
        found = await self.retained.recall.recall(text, options, admitted)
        memories = tuple(item.memory.id for item in found.memories)
        told = "\n".join(_told(found)) or NOTHING_FOUND
        return CommandOutcome("recall", told, memories, tuple(texts_of(found)))


def _told(found: Recalled) -> Sequence[str]:
    """Return what was found, a line for each: what it says and where it stands."""
    lines = [f"{page.name}: {_line(page.summary)} ({page.path})" for page in found.entities]
    for item in found.items:
        if isinstance(item, RecalledMemory):
            lines.append(f"{_line(item.memory.line.text)} ({cite(item.lead.source)})")
        else:
            lines.append(f"{_line(item.hit.snippet.text)} ({item.hit.citation})")
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _has_scope(text: str) -> bool:
    line = parse_line(text)
    return isinstance(line, RetainedLine) and bool(line.attributes.scope)


def _line(text: str) -> str:
    whole = " ".join(harmless_text(text).split())
    return whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…"


log = structlog.get_logger(__name__)

NOTHING_ENDS: Final = "nothing of this session is kept"
_NOT_CAPTURED: Final[CaptureState] = "no"
_NOT_ASKED: Final = TurnPart(PartState.OFF, SkipReason.NOT_ASKED)


class AgentTurns(Struct, frozen=True, kw_only=True):
    """The turns of one agent. `clock` tells the owner's time, in the owner's zone."""

    agent: Agent
    log: TurnLog
    commands: TurnCommands
    capture: TurnCapture
    sessions: SessionMemories
    retained: Retained
    uses: TurnUses
    max_query_bytes: int
    clock: Callable[[], datetime]
    late: LateMessages

    async def take(self, message: NewMessage, admitted: Admitted, key: str) -> TurnOutcome:
        """Take one message of the session of a key (empty: of none), and answer it.

        Raises InvalidRequest, and what a command does: Denied where it would write and nothing may be written.
        """
        began = time.monotonic()
        at = self._at(message)
        own_channel = _own_channel(message, admitted)
        command = command_of(message.text) if message.role is MessageRole.USER else None
        if command is not None:
            outcome = await self._commanded(message, command, admitted, key, own_channel)
        elif message.role is MessageRole.USER and message.text.strip():
            outcome = await self._asked(message, admitted, key, at, own_channel)
        else:
            outcome = await self._told(message, admitted, key, at, own_channel)
        outcome = await self._happened(message, key, outcome)
        return replace(outcome, took_ms=(time.monotonic() - began) * 1000)

    def _at(self, message: NewMessage) -> datetime:
        if not message.text.strip() and message.event is None:
            raise InvalidRequest("nothing is said, and nothing happened", hint="give text, or an event")
        try:
            return said_at(message.at, self.clock())
        except ValueError as exc:
            raise InvalidRequest(f"at: {exc}") from exc

    async def _may_ask_log(self, message: NewMessage) -> bool:
        """Wait until the log can be asked, no longer than the message's deadline; return whether it can."""
        usual = self.agent.memory_search.query.deadline_ms / 1000
        return await self.late.are_kept(usual if message.deadline is None else message.deadline.total_seconds())

    async def _commanded(
        self, message: NewMessage, command: SpokenCommand, admitted: Admitted, key: str, own_channel: str
    ) -> TurnOutcome:
        scope = self.capture.scope(own_channel)
        # whoever holds only an agent's socket is in the channel of its key, whatever the message says
        stater = replace(admitted, channel=own_channel) if own_channel and not admitted.is_sandboxed else admitted
        done = await self.commands.run(command, stater, key, scope=scope)
        if done.told and await self._may_ask_log(message) and not await self.log.is_unremembered(key):
            self.capture.note_texts(key, done.told)
        off = TurnPart(PartState.OFF, SkipReason.NO_TURN)
        return TurnOutcome(command=done, parts={"log": off, "context": off, "recall": off})

    async def _asked(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime, own_channel: str
    ) -> TurnOutcome:
        (logged, context), (recalled, part) = await asyncio.gather(
            self._kept_in_time(message, admitted, key, at, own_channel), self._recalled(message, admitted, own_channel)
        )
        captured = _NOT_CAPTURED
        if await self._is_remembered(logged, key):
            captured = await self._captured(message, admitted, key, at, own_channel, logged, context)
            if recalled is not None and not logged.is_repeated:
                self.uses.note_told(key, message.text, recalled, at=self.clock().timestamp())
                self.capture.note_told(key, recalled)
        return TurnOutcome(
            logged=logged,
            context=context,
            bundle=None if recalled is None else recalled.bundle,
            verdict=None if recalled is None else recalled.verdict.value,
            capture=captured,
            parts={"log": logged.part, "context": context.part, "recall": part},
        )

    async def _is_remembered(self, logged: LoggedMessage, key: str) -> bool:
        # by its key or by its name: the log knows of both
        return not (logged.is_late or logged.is_withheld or await self.log.is_unremembered(key))

    async def _captured(
        self,
        message: NewMessage,
        admitted: Admitted,
        key: str,
        at: datetime,
        own_channel: str,
        logged: LoggedMessage,
        context: TurnContext,
    ) -> CaptureState:
        before = _answer_before(context)
        return await self.capture.submit(
            message, admitted, key, at=at, own_channel=own_channel, answer_before=before, logged=logged
        )

    async def _told(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime, own_channel: str
    ) -> TurnOutcome:
        """Take what is no question: an answer is kept with its question, and anything else is not kept."""
        told = partial(self._told_now, message, admitted, key, at, own_channel)
        if not key or not (_answers(message) or _fails(message)) or await self._may_ask_log(message):
            return await told()
        late = TurnPart(PartState.FAILED, self.late.put(told))
        parts = {"log": late, "context": _NOT_ASKED, "recall": _NOT_ASKED}
        return TurnOutcome(logged=LoggedMessage(part=late), parts=parts)

    async def _told_now(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime, own_channel: str
    ) -> TurnOutcome:
        logged, captured = LoggedMessage(part=_NOT_ASKED), _NOT_CAPTURED
        if _answers(message):
            logged = await self.log.answered(key, message.text, at)
            if not logged.is_withheld:
                self.capture.note_answer(key, message.text)
                await self.uses.note_answer(key, message.text, at=self.clock().timestamp())
        if _fails(message) and not await self.log.is_unremembered(key):
            captured = await self.capture.submit(message, admitted, key, at=at, own_channel=own_channel)
        parts = {"log": logged.part, "context": _NOT_ASKED, "recall": _NOT_ASKED}
        return TurnOutcome(logged=logged, capture=captured, parts=parts)

    async def _happened(self, message: NewMessage, key: str, outcome: TurnOutcome) -> TurnOutcome:
        """Do what the event beside a message asks for, behind the message: its end, or a summary of the session."""
        kind = None if message.event is None else message.event.type
        if kind is MessageEventType.COMPACT and outcome.command is None:
            return replace(outcome, command=await self.commands.compact(key))
        if kind is not MessageEventType.END:
            return outcome
        if not await self._may_ask_log(message):
            late = TurnPart(PartState.FAILED, self.late.put(partial(self.sessions.end, key)))
            return replace(outcome, parts={**outcome.parts, "end": late})
        try:
            ended = await self.sessions.end(key)
        except MemorydError as exc:
            return replace(outcome, parts={**outcome.parts, "end": TurnPart(PartState.FAILED, str(exc))})
        part = TurnPart(PartState.OFF, NOTHING_ENDS) if ended is None else TurnPart(PartState.OK)
        return replace(outcome, parts={**outcome.parts, "end": part})

    async def _kept_in_time(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime, own_channel: str
    ) -> tuple[LoggedMessage, TurnContext]:
        """Keep a question, behind the reply where the log cannot be asked in time."""
        if not key or await self._may_ask_log(message):
            return await self._kept(message, admitted, key, at)
        late = TurnPart(
            PartState.FAILED, self.late.put(partial(self._kept_late, message, admitted, key, at, own_channel))
        )
        return LoggedMessage(is_late=True, part=late), TurnContext(part=late)

    async def _kept_late(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime, own_channel: str
    ) -> None:
        logged, context = await self._kept(message, admitted, key, at)
        if logged.part.state is PartState.FAILED:
            log.warning("a message that came early is not kept", agent=self.agent.id, reason=logged.part.reason)
        if await self._is_remembered(logged, key):
            await self._captured(message, admitted, key, at, own_channel, logged, context)

    async def _kept(
        self, message: NewMessage, admitted: Admitted, key: str, at: datetime
    ) -> tuple[LoggedMessage, TurnContext]:
        # what was said to one person is not told to others unasked
        is_shared = admitted.is_direct or self.agent.memory.core.in_groups
        # first what was said before: the message itself is no context of its own
        context = await self.log.context(key, message.text, at, is_shared=is_shared)
        logged = await self.log.asked(key, message.text, at, is_timed=message.at is not None)
        return logged, beside(context, logged)

    async def _recalled(
        self, message: NewMessage, admitted: Admitted, own_channel: str
    ) -> tuple[Recalled | None, TurnPart]:
        """Return what is recalled for a message, and how that went."""
        settings = self.agent.turns
        if own_channel:
            return None, TurnPart(PartState.OFF, SkipReason.NOBODY_ASKS)
        if not settings.auto_recall:
            return None, TurnPart(PartState.OFF, SkipReason.RECALL_OFF)
        options = RecallOptions(
            k=min(message.k or settings.recall_final_k, MOST), deadline=message.deadline, touches=False, is_unasked=True
        )
        budget = settings.retrieval.max_tokens if message.budget is None else message.budget
        wanted = BundleOptions(budget=budget, if_none_match=message.if_none_match)
        try:
            found = await self.retained.recall.recall(self._query(message.text), options, admitted, wanted)
        except MemorydError as exc:
            return None, TurnPart(PartState.FAILED, str(exc))
        return found, _recall_part(found)

    def _query(self, text: str) -> str:
        """Return the message as a question: of one that is too long its beginning."""
        return text.encode("utf-8", "replace")[: self.max_query_bytes].decode("utf-8", "ignore")


def _answers(message: NewMessage) -> bool:
    return message.role is MessageRole.ASSISTANT and bool(message.text.strip())


def _fails(message: NewMessage) -> bool:
    return message.event is not None and message.event.type is MessageEventType.FAILURE


def _recall_part(found: Recalled) -> TurnPart:
    if found.is_complete:
        return TurnPart(PartState.OK, "" if found.items else found.reason or "")
    reasons = [f"{name}: {arm.reason or arm.state.value}" for name, arm in found.found.arms.items()]
    return TurnPart(PartState.OK, "; ".join(["it is not complete", *reasons]))


def _answer_before(context: TurnContext) -> str:
    """Return what the assistant said last, as far as the context tells."""
    return (context.turns[-1].answer or "") if context.turns else ""


def _own_channel(message: NewMessage, admitted: Admitted) -> str:
    """Return the channel of a message that is of none with people; empty otherwise. Nobody gets out of it."""
    channels = (admitted.channel or "", message.channel.strip().lower())
    return next((channel for channel in channels if channel in OWN_CHANNELS), "")
