"""One call for each message of a conversation: a command is carried out, the message kept, and the agent answered.

The parts of a turn fail alone: the reply says what one of them could not do, and comes with the rest.
"""

import asyncio
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
from memoryd.agents.turns.capture import AgentCapture, texts_of
from memoryd.agents.turns.log import (
    CaptureState,
    CommandResult,
    LoggedMessage,
    NewMessage,
    TurnContext,
    TurnLog,
    TurnResult,
    beside,
    part_reply,
)
from memoryd.agents.turns.uses import TurnUses
from memoryd.agents.workspace.qa import LateMessages
from memoryd.config.agents import MOST, Agent
from memoryd.config.limits import QUERY_BYTES
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import cite
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, MemoryDraft
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line
from memoryd.domain.sessions.commands import SpokenCommand, command_of
from memoryd.domain.sessions.turns import MessageEventType, MessageRole, parse_instant
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.replies.conversations import TurnPartReply

_SHOWN: Final = 400
"""Characters of a hit."""
NOTHING_FOUND: Final = "Nothing was found."


class TurnCommands(Struct, frozen=True):
    """The commands of one agent, each a method of its name. `most` is how many hits are told."""

    agent: str
    retained: Retained
    sessions: SessionMemories
    most: int

    async def run(self, command: SpokenCommand, admitted: Admitted, key: str, *, scope: str) -> CommandResult:
        """Carry a command out.

        `scope` is whom a memory is for that names nobody. Raises what retaining and recalling do, Denied where
        nothing may be written.
        """
        row = command.row
        if row.takes and not command.text:
            return CommandResult(row.name, row.without)
        method: Callable[..., Awaitable[CommandResult]] = getattr(self, row.name)
        return await method(text=command.text, admitted=admitted, key=key, scope=scope)

    async def compact(self, key: str, **_: object) -> CommandResult:
        """Sum up the session of a key; raises Denied where nothing may be written, StoreError, NotNow."""
        return CommandResult("compact", *await self.sessions.compact(key))

    async def remember(self, text: str, admitted: Admitted, scope: str, **_: object) -> CommandResult:
        """State a text as a memory."""
        line = parse_line(text)
        is_scoped = isinstance(line, RetainedLine) and bool(line.attributes.scope)
        said = MemoryDraft(
            text=text,
            default_kind=Kind.NOTE,
            default_importance=REMEMBERED_IMPORTANCE,
            scope="" if is_scoped else scope,
            provenance=Provenance.USER,
        )
        done = await self.retained.retaining.retain(said, admitted)
        retention = done.retention
        told = "Remembered" if any(retention.added) else "Remembered already"
        places = ", ".join(f"{retention.path}#L{one.start_line}" for one in retention.placed)
        text = "\n".join([f"{told}: {places}", *done.notes])
        return CommandResult("remember", text, tuple(one.line.id for one in retention.placed))

    async def recall(self, text: str, admitted: Admitted, key: str, **_: object) -> CommandResult:
        """Tell what answers a question."""
        options = RecallOptions(k=self.most, is_for_all=True, session=key)
        found = await self.retained.recall.recall(text, options, admitted)
        memories = tuple(item.memory.id for item in found.memories)
        told = "\n".join(_render_hits(found)) or NOTHING_FOUND
        return CommandResult("recall", told, memories, tuple(texts_of(found)))


def _render_hits(found: Recalled) -> Sequence[str]:
    """Return what was found, a line for each: what it says and where it stands."""
    lines = [f"{page.name}: {_line(page.summary)} ({page.path})" for page in found.entities]
    for item in found.items:
        if isinstance(item, RecalledMemory):
            lines.append(f"{_line(item.memory.line.text)} ({cite(item.lead.source)})")
        else:
            lines.append(f"{_line(item.hit.snippet.text)} ({item.hit.citation})")
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _line(text: str) -> str:
    whole = " ".join(harmless_text(text).split())
    return whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…"


log = structlog.get_logger(__name__)

NOTHING_ENDS: Final = "nothing of this session is kept"


class AgentTurns(Struct, frozen=True, kw_only=True):
    """The turns of one agent. `clock` tells the owner's time, in the owner's zone."""

    agent: Agent
    log: TurnLog
    commands: TurnCommands
    capture: AgentCapture
    sessions: SessionMemories
    retained: Retained
    uses: TurnUses
    clock: Callable[[], datetime]
    late: LateMessages

    async def take(self, message: NewMessage) -> TurnResult:
        """Take one message, and answer it.

        Raises InvalidRequest, and what a command does: Denied where it would write and nothing may be written.
        """
        at = self._at(message)
        command = command_of(message.text) if message.role is MessageRole.USER else None
        if command is not None:
            outcome = await self._commanded(message, command)
        elif message.role is MessageRole.USER and message.text.strip():
            outcome = await self._asked(message, at)
        else:
            outcome = await self._render_hits(message, at)
        return await self._happened(message, outcome)

    def _at(self, message: NewMessage) -> datetime:
        if not message.text.strip() and message.event is None:
            raise InvalidRequest("nothing is said, and nothing happened", hint="give text, or an event")
        try:
            return parse_instant(message.at, self.clock())
        except ValueError as exc:
            raise InvalidRequest(f"at: {exc}") from exc

    async def _may_ask_log(self, message: NewMessage) -> bool:
        """Wait until the log can be asked, no longer than the message's deadline; return whether it can."""
        default = self.agent.memory_search.query.deadline_ms / 1000
        return await self.late.wait_until_stored(
            default if message.deadline is None else message.deadline.total_seconds()
        )

    async def _commanded(self, message: NewMessage, command: SpokenCommand) -> TurnResult:
        key, own_channel, stater = message.key, message.own_channel, message.admitted
        if own_channel and not stater.is_sandboxed:
            # whoever holds only an agent's socket is in the channel of its key, whatever the message says
            stater = replace(stater, channel=own_channel)
        done = await self.commands.run(command, stater, key, scope=self.capture.scope(own_channel))
        if done.told and await self._may_ask_log(message) and not await self.log.is_unremembered(key):
            self.capture.note_texts(key, done.told)
        off = part_reply("off", SkipReason.NO_TURN)
        return TurnResult(command=done, parts={"log": off, "context": off, "recall": off})

    async def _asked(self, message: NewMessage, at: datetime) -> TurnResult:
        (logged, context), (recalled, went) = await asyncio.gather(
            self._store_in_time(message, at), self._recalled(message)
        )
        captured: CaptureState = "no"
        if await self._is_remembered(logged, message.key):
            captured = await self._captured(message, at, logged, context)
            if recalled is not None and not logged.is_repeated:
                self.uses.note_shown(message.key, message.text, recalled, at=self.clock().timestamp())
                self.capture.note_shown(message.key, recalled)
        return TurnResult(
            logged=logged,
            context=context,
            bundle=None if recalled is None else recalled.bundle,
            verdict=None if recalled is None else recalled.verdict.value,
            capture=captured,
            parts={"log": logged.part, "context": context.part, "recall": went},
        )

    async def _is_remembered(self, logged: LoggedMessage, key: str) -> bool:
        # by its key or by its name: the log knows of both
        return not (logged.is_late or logged.is_excluded or await self.log.is_unremembered(key))

    async def _captured(
        self, message: NewMessage, at: datetime, logged: LoggedMessage, context: TurnContext
    ) -> CaptureState:
        # what the assistant said last, as far as the context tells
        before = (context.turns[-1].answer or "") if context.turns else ""
        return await self.capture.submit(message, at, answer_before=before, logged=logged)

    async def _render_hits(self, message: NewMessage, at: datetime) -> TurnResult:
        """Take what is no question: an answer is kept with its question, and anything else is not kept."""
        told = partial(self._take_statement_now, message, at)
        is_kept = bool(message.key) and (message.is_answer or message.failure is not None)
        if not is_kept or await self._may_ask_log(message):
            return await told()
        late = part_reply("failed", self.late.put(told))
        return TurnResult(logged=LoggedMessage(part=late), parts=_without_recall(late))

    async def _take_statement_now(self, message: NewMessage, at: datetime) -> TurnResult:
        logged, key = LoggedMessage(part=part_reply("off", SkipReason.NOT_ASKED)), message.key
        captured: CaptureState = "no"
        if message.is_answer:
            logged = await self.log.answered(key, message.text, at)
            if not logged.is_excluded:
                self.capture.note_answer(key, message.text)
                await self.uses.note_answer(key, message.text, at=self.clock().timestamp())
        if message.failure is not None and not await self.log.is_unremembered(key):
            captured = await self.capture.submit(message, at)
        return TurnResult(logged=logged, capture=captured, parts=_without_recall(logged.part))

    async def _happened(self, message: NewMessage, outcome: TurnResult) -> TurnResult:
        """Do what the event beside a message asks for, behind the message: its end, or a summary of the session."""
        kind = None if message.event is None else message.event.type
        if kind is MessageEventType.COMPACT and outcome.command is None:
            return replace(outcome, command=await self.commands.compact(message.key))
        if kind is not MessageEventType.END:
            return outcome
        return replace(outcome, parts={**outcome.parts, "end": await self._ended(message)})

    async def _ended(self, message: NewMessage) -> TurnPartReply:
        if not await self._may_ask_log(message):
            return part_reply("failed", self.late.put(partial(self.sessions.end, message.key)))
        try:
            ended = await self.sessions.end(message.key)
        except MemorydError as exc:
            return part_reply("failed", str(exc))
        return part_reply("off", NOTHING_ENDS) if ended is None else part_reply("ok")

    async def _store_in_time(self, message: NewMessage, at: datetime) -> tuple[LoggedMessage, TurnContext]:
        """Keep a question, behind the reply where the log cannot be asked in time."""
        if not message.key or await self._may_ask_log(message):
            return await self._kept(message, at)
        late = part_reply("failed", self.late.put(partial(self._store_late, message, at)))
        return LoggedMessage(is_late=True, part=late), TurnContext(part=late)

    async def _store_late(self, message: NewMessage, at: datetime) -> None:
        logged, context = await self._kept(message, at)
        if logged.part["state"] == "failed":
            log.warning("a message that came early is not kept", agent=self.agent.id, reason=logged.part["reason"])
        if await self._is_remembered(logged, message.key):
            await self._captured(message, at, logged, context)

    async def _kept(self, message: NewMessage, at: datetime) -> tuple[LoggedMessage, TurnContext]:
        # what was said to one person is not told to others unasked
        is_shared = message.admitted.is_direct or self.agent.memory.core.in_groups
        # first what was said before: the message itself is no context of its own
        context = await self.log.context(message.key, message.text, at, is_shared=is_shared)
        logged = await self.log.asked(message.key, message.text, at, is_timed=message.at is not None)
        return logged, beside(context, logged)

    async def _recalled(self, message: NewMessage) -> tuple[Recalled | None, TurnPartReply]:
        """Return what is recalled for a message, and how that went."""
        settings = self.agent.turns
        if message.own_channel:
            return None, part_reply("off", SkipReason.NOBODY_ASKS)
        if not settings.auto_recall:
            return None, part_reply("off", SkipReason.RECALL_OFF)
        options = RecallOptions(
            k=min(message.k or settings.recall_final_k, MOST), deadline=message.deadline, touches=False, is_unasked=True
        )
        budget = settings.retrieval.max_tokens if message.budget is None else message.budget
        wanted = BundleOptions(budget=budget, if_none_match=message.if_none_match)
        # of a message that is too long for a question its beginning
        query = message.text.encode("utf-8", "replace")[:QUERY_BYTES].decode("utf-8", "ignore")
        try:
            found = await self.retained.recall.recall(query, options, message.admitted, wanted)
        except MemorydError as exc:
            return None, part_reply("failed", str(exc))
        return found, _recall_part(found)


def _without_recall(logged: TurnPartReply) -> dict[str, TurnPartReply]:
    not_asked = part_reply("off", SkipReason.NOT_ASKED)
    return {"log": logged, "context": not_asked, "recall": not_asked}


def _recall_part(found: Recalled) -> TurnPartReply:
    if found.is_complete:
        return part_reply("ok", "" if found.items else found.reason or "")
    reasons = [f"{name}: {arm.reason or arm.state.value}" for name, arm in found.found.arms.items()]
    return part_reply("ok", "; ".join(["it is not complete", *reasons]))
