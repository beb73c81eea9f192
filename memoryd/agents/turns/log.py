"""Storage of conversation messages as turns of the question-and-answer store, and the turns given to the agent.

A failure to store a message loses that message only, never the reply.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.agents.conversations.qa import AgentQa, SequenceOptions
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.domain.access import Admitted
from memoryd.domain.documents import SessionId
from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.memories.edits import OWN_CHANNELS
from memoryd.domain.memories.unasked.messages import read_message
from memoryd.domain.sessions.making_turns import RawTurn, repeated_turn
from memoryd.domain.sessions.sequences import BUDGET, Chosen
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType, MessageRole, Turn, render_turns
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import READ_ONLY, MemorydError
from memoryd.replies.conversations import TurnPartReply
from memoryd.sessions.session_turns import AddedTurn
from memoryd.wire import QUESTION_CHARS_MAX


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message of a session, and the options of its reply; None and empty mean the configured value.

    `at` is its time, ISO 8601. `channel` can only mark it as a message of a cron job or similar.
    """

    admitted: Admitted
    role: MessageRole
    text: str
    key: str = ""
    """The key of its session; empty: no session."""
    at: str | None = None
    channel: str = ""
    event: MessageEvent | None = None
    k: int | None = None
    budget: int | None = None
    if_none_match: str = ""
    encoding: Encoding = Encoding.TEXT
    """The format of the bundle."""
    deadline: timedelta | None = None
    is_unread: bool = False
    """True if the client gave up on the answer: its content is delivered with the next one."""
    is_owners: bool = True
    """True if it came by the owner's socket or port, and not by an agent's."""

    @property
    def own_channel(self) -> str:
        """The channel if it is one without people, such as cron; else empty. A message cannot leave such a channel."""
        channels = (self.admitted.channel or "", self.channel.strip().lower())
        return next((channel for channel in channels if channel in OWN_CHANNELS), "")

    @property
    def is_answer(self) -> bool:
        return self.role is MessageRole.ASSISTANT and bool(self.text.strip())

    @property
    def failure(self) -> MessageEvent | None:
        """The failure that it reports."""
        return self.event if self.event is not None and self.event.type is MessageEventType.FAILURE else None


def part_reply(state: Literal["ok", "off", "failed"], reason: str = "") -> TurnPartReply:
    """Return the status of one part of a turn, with the reason if it is not as requested."""
    return TurnPartReply(state=state, reason=reason or None)


class LoggedMessage(Struct, frozen=True):
    """Where a message was stored in its session; `seq` is None if it was not stored.

    `is_repeated`: it was there already. `is_late`: it is stored after the reply.
    """

    session: SessionId | None = None
    seq: int | None = None
    is_excluded: bool = False
    is_repeated: bool = False
    is_late: bool = False
    part: TurnPartReply = field(default_factory=lambda: part_reply("off"))


class TurnContext(Struct, frozen=True):
    """The turns to show to the agent, as text for a prompt and as objects; all of one session."""

    text: str = ""
    session: SessionId | None = None
    turns: Sequence[Turn] = ()
    part: TurnPartReply = field(default_factory=lambda: part_reply("off"))


CaptureState = Literal["queued", "unsaved", "off", "no"]


NO_SESSION = "no session key is given"
WITHHELD = "this session key is not to be remembered"
QA_OFF = "questions and answers are off: memory.qa.enabled is false"
_CUT = " …"
_TRIES = 20


class TurnLog(Struct, frozen=True):
    """Stores the messages of one agent as questions and answers; this may be disabled."""

    qa: AgentQa

    @property
    def shared(self) -> WorkspaceQa | None:
        return self.qa.shared

    async def store_question(self, key: str, text: str, at: datetime, *, is_timed: bool) -> LoggedMessage:
        """Store a user message as a question without an answer; once, however often it is sent."""
        question = harmless_text(text)
        if len(question) > QUESTION_CHARS_MAX:
            question = question[: QUESTION_CHARS_MAX - len(_CUT)] + _CUT
        raw = RawTurn(question, None, at)
        try:
            if (refused := await self._refusal(key)) is not None or self.shared is None:
                return refused or LoggedMessage()
            repeated = partial(repeated_turn, question=question, at=at, is_timed=is_timed, started=self.shared.started)
            added = await self.shared.write(
                lambda store: store.turns.append_by_key(
                    key, raw, agent=self.qa.agent.id, repeated=repeated, is_followed=True
                )
            )
        except MemorydError as exc:
            return _failure(exc)
        if added is None:
            return LoggedMessage(is_excluded=True, part=part_reply("off", WITHHELD))
        return _logged_message(added)

    async def store_answer(self, key: str, text: str, at: datetime) -> LoggedMessage:
        """Store an assistant message as the answer to the last question; parts of an answer are joined."""
        try:
            if (refused := await self._refusal(key)) is not None or self.shared is None:
                return refused or LoggedMessage()
            for _ in range(_TRIES):
                waiting = await self.shared.read(lambda store: store.turns.waiting(key, self.qa.agent.id, at))
                if waiting is None:
                    break
                added = await self._answer(self.shared, *waiting, text)
                if added is not None:
                    if added.dropped_answer is not None:
                        await self.qa.hold(added.session, added.turn.seq, added.dropped_answer)
                    return _logged_message(added)
        except MemorydError as exc:
            return _failure(exc)
        return LoggedMessage(part=part_reply("off", "there is no question that it answers"))

    async def context(self, key: str, message: str, at: datetime, *, is_shared: bool) -> TurnContext:
        """Return the turns to show to the agent with a message of a given time.

        `is_shared`: the chat may see turns of other chats; otherwise only the last turns of its own key are returned.
        """
        if self.shared is None:
            return TurnContext(part=part_reply("off", QA_OFF))
        if not key:
            return TurnContext(part=part_reply("off", NO_SESSION))
        options = SequenceOptions(message=message[:QUESTION_CHARS_MAX], key=key, at=at)
        try:
            result = await self.qa.context(options)
            # a message that asks nothing of the memory keeps to its own session
            may_leave = is_shared and read_message(message, names_entity=False).silence is None
            if result.choice.why is Chosen.OTHER_MATCHES and not may_leave:
                result = await self.qa.context(replace(options, message=None))
        except MemorydError as exc:
            return TurnContext(part=part_reply("failed", str(exc)))
        return _context(result.choice.session, result.turns, is_current=result.choice.why is not Chosen.OTHER_MATCHES)

    async def is_excluded(self, key: str) -> bool:
        """Return whether nothing of a session may be stored; also True if the store cannot be read."""
        try:
            return bool(key) and await self.qa.is_excluded(key)
        except MemorydError:
            return True

    async def is_unremembered(self, key: str) -> bool:
        """Return whether messages under a key may not be stored now, because of a mark on the key or on its session."""
        try:
            return bool(key) and (await self.qa.is_excluded(key) or await self.qa.continues_excluded(key))
        except MemorydError:
            return True

    async def _refusal(self, key: str) -> LoggedMessage | None:
        """Return why nothing can be stored, None if it can; raises StoreError if that is unknown."""
        if not key:
            return LoggedMessage(part=part_reply("off", NO_SESSION))
        if await self.qa.is_excluded(key):
            return LoggedMessage(is_excluded=True, part=part_reply("off", WITHHELD))
        if self.shared is None:
            return LoggedMessage(part=part_reply("off", QA_OFF))
        if self.shared.is_read_only:
            return LoggedMessage(part=part_reply("off", READ_ONLY))
        return None

    async def _answer(self, shared: WorkspaceQa, session: SessionId, last: Turn, text: str) -> AddedTurn | None:
        pending = (
            "" if last.answer is not None or not last.is_answered else await self._pending_answer(session, last.seq)
        )
        return await shared.write(
            lambda store: store.turns.answer(session, last.seq, text, agent=self.qa.agent.id, held=pending)
        )

    async def _pending_answer(self, session: SessionId, seq: int) -> str:
        try:
            return await self.qa.pending_answer(session, seq)
        except MemorydError:
            # missing or unreadable: the new text is the answer then
            return ""


def beside(context: TurnContext, logged: LoggedMessage) -> TurnContext:
    """Return the context as shown with its message, once the session of the message is known.

    The message itself is left out; it is in the context if it was sent before.
    """
    if logged.seq is None or context.part["state"] != "ok":
        return context
    if context.session != logged.session:
        return _context(context.session, context.turns, is_current=False)
    return _context(context.session, [turn for turn in context.turns if turn.seq != logged.seq], is_current=True)


def _context(session: SessionId | None, turns: Sequence[Turn], *, is_current: bool) -> TurnContext:
    if session is None or not turns:
        return TurnContext(part=part_reply("ok"))
    text = render_turns(session, turns, budget=BUDGET, is_current=is_current)
    return TurnContext(text, session, tuple(turns), part_reply("ok"))


def _logged_message(added: AddedTurn) -> LoggedMessage:
    return LoggedMessage(added.session, added.turn.seq, is_repeated=added.is_repeated, part=part_reply("ok"))


def _failure(exc: MemorydError) -> LoggedMessage:
    return LoggedMessage(part=part_reply("failed", str(exc)))
