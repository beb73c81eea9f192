"""Messages of a conversation as turns of the question-and-answer store, and the turns that are put before the agent.

What keeps a message from being stored costs that message its place, and never the reply.
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
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType, MessageRole, Turn, recalled
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import READ_ONLY, MemorydError
from memoryd.replies.conversations import TurnPartReply
from memoryd.sessions.session_turns import AddedTurn
from memoryd.wire import QUESTION_CHARS_MAX


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message of a session, and what is wanted for it; None and empty are as the configuration says.

    `at` is when it was said, ISO 8601. `channel` can make it one of a cron job or the like, and nothing else.
    """

    admitted: Admitted
    role: MessageRole
    text: str
    key: str = ""
    """Of its session; empty: of none."""
    at: str | None = None
    channel: str = ""
    event: MessageEvent | None = None
    k: int | None = None
    budget: int | None = None
    if_none_match: str = ""
    encoding: Encoding = Encoding.TEXT
    """How the bundle is written."""
    deadline: timedelta | None = None
    is_unread: bool = False
    """Nobody reads the answer: what it was to tell is told with the next one."""
    is_owners: bool = True
    """Whether it came by the owner's own socket or port, not by that of an agent."""

    @property
    def own_channel(self) -> str:
        """The channel of a message that is of none with people; empty otherwise. Nobody gets out of it."""
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
    """Return how a part of a turn went, and why if not as wanted."""
    return TurnPartReply(state=state, reason=reason or None)


class LoggedMessage(Struct, frozen=True):
    """Where a message went in its session; without `seq` nothing of it was stored.

    `is_repeated`: it was there already; `is_late`: it is stored behind the reply.
    """

    session: SessionId | None = None
    seq: int | None = None
    is_excluded: bool = False
    is_repeated: bool = False
    is_late: bool = False
    part: TurnPartReply = field(default_factory=lambda: part_reply("off"))


class TurnContext(Struct, frozen=True):
    """The turns to put before the agent: as text for a prompt, and as they are, all of one session."""

    text: str = ""
    session: SessionId | None = None
    turns: Sequence[Turn] = ()
    part: TurnPartReply = field(default_factory=lambda: part_reply("off"))


CaptureState = Literal["queued", "off", "no"]


NO_SESSION = "no session key is given"
NO_QUESTION = "there is no question that it answers"
WITHHELD = "what is said under this session key is not to be remembered"
QA_OFF = "questions and answers are off: memory.qa.enabled is false"
_CUT = " …"
_TRIES = 20


class TurnLog(Struct, frozen=True):
    """Keeps the messages of one agent among its questions and answers, which may be off."""

    qa: AgentQa

    @property
    def shared(self) -> WorkspaceQa | None:
        return self.qa.shared

    async def store_question(self, key: str, text: str, at: datetime, *, is_timed: bool) -> LoggedMessage:
        """Keep what a user said, as a question without an answer; once, however often it is sent."""
        question = harmless_text(text)
        if len(question) > QUESTION_CHARS_MAX:
            question = question[: QUESTION_CHARS_MAX - len(_CUT)] + _CUT
        raw = RawTurn(question, None, at)
        repeated = partial(repeated_turn, question=question, at=at, is_timed=is_timed)
        try:
            if (refused := await self._refusal(key)) is not None or self.shared is None:
                return refused or LoggedMessage()
            added = await self.shared.write(
                lambda store: store.turns.append_by_key(
                    key, raw, agent=self.qa.agent.id, repeated=repeated, is_followed=True
                )
            )
        except MemorydError as exc:
            return _failure(exc)
        if added is None:
            return LoggedMessage(is_excluded=True, part=part_reply("off", WITHHELD))
        return LoggedMessage(added.session, added.turn.seq, is_repeated=added.is_repeated, part=part_reply("ok"))

    async def store_answer(self, key: str, text: str, at: datetime) -> LoggedMessage:
        """Keep what an assistant said, as the answer to what was asked last; in parts it is one answer."""
        try:
            if (refused := await self._refusal(key)) is not None or self.shared is None:
                return refused or LoggedMessage()
            for _ in range(_TRIES):
                waiting = await self.shared.read(lambda store: store.turns.waiting(key, self.qa.agent.id, at))
                if waiting is None:
                    break
                done = await self._answer(self.shared, *waiting, text)
                if done is not None:
                    return await self._log_answer(done)
        except MemorydError as exc:
            return _failure(exc)
        return LoggedMessage(part=part_reply("off", NO_QUESTION))

    async def context(self, key: str, message: str, at: datetime, *, is_shared: bool) -> TurnContext:
        """Return the turns to put before the agent for a message that was said at a time.

        `is_shared`: the chat may be told what was said in others; else they are the last ones under its own key.
        """
        if self.shared is None:
            return TurnContext(part=part_reply("off", QA_OFF))
        if not key:
            return TurnContext(part=part_reply("off", NO_SESSION))
        asked = SequenceOptions(message=message[:QUESTION_CHARS_MAX], key=key, at=at)
        try:
            found = await self.qa.context(asked)
            # one that asks nothing of the memory stays where it is
            may_leave = is_shared and read_message(message, names_entity=False).silence is None
            if found.choice.why is Chosen.OTHER_MATCHES and not may_leave:
                found = await self.qa.context(replace(asked, message=None))
        except MemorydError as exc:
            return TurnContext(part=part_reply("failed", str(exc)))
        return _context(found.choice.session, found.turns, is_current=found.choice.why is not Chosen.OTHER_MATCHES)

    async def is_excluded(self, key: str) -> bool:
        """Tell whether nothing of a session is to be kept; while nobody knows, nothing is."""
        try:
            return bool(key) and await self.qa.is_excluded(key)
        except MemorydError:
            return True

    async def is_unremembered(self, key: str) -> bool:
        """Tell whether what is said now under a key is not to be kept, by a mark of the key or of its session."""
        try:
            return bool(key) and (await self.qa.is_excluded(key) or await self.qa.continues_excluded(key))
        except MemorydError:
            return True

    async def _refusal(self, key: str) -> LoggedMessage | None:
        """Return why nothing can be kept, None if it can; raises StoreError where nobody knows."""
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
        held = "" if last.answer is not None or not last.is_answered else await self._pending_answer(session, last.seq)
        return await shared.write(
            lambda store: store.turns.answer(session, last.seq, text, agent=self.qa.agent.id, held=held)
        )

    async def _pending_answer(self, session: SessionId, seq: int) -> str:
        try:
            return await self.qa.held(session, seq)
        except MemorydError:
            # gone, or nobody knows: what is said now is the answer then
            return ""

    async def _log_answer(self, done: AddedTurn) -> LoggedMessage:
        if done.dropped_answer is not None:
            await self.qa.hold(done.session, done.turn.seq, done.dropped_answer)
        return LoggedMessage(done.session, done.turn.seq, is_repeated=done.is_repeated, part=part_reply("ok"))


def beside(context: TurnContext, logged: LoggedMessage) -> TurnContext:
    """Return a context as it is told beside its message, now that the session of that is known.

    The message itself is left out, which is there where it was sent once more.
    """
    if logged.seq is None or context.part["state"] != "ok":
        return context
    if context.session != logged.session:
        return _context(context.session, context.turns, is_current=False)
    return _context(context.session, [turn for turn in context.turns if turn.seq != logged.seq], is_current=True)


def _context(session: SessionId | None, turns: Sequence[Turn], *, is_current: bool) -> TurnContext:
    if session is None or not turns:
        return TurnContext(part=part_reply("ok"))
    text = recalled(session, turns, budget=BUDGET, is_current=is_current)
    return TurnContext(text, session, tuple(turns), part_reply("ok"))


def _failure(exc: MemorydError) -> LoggedMessage:
    return LoggedMessage(part=part_reply("failed", str(exc)))
