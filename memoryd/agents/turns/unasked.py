"""What is recalled beside messages that ask nothing of the memory, and what came too late and is still to be told.

A hook that gave up sends its request once more as `unread`. Then what its answer was to tell is owed: the stable block,
if that was to be told, and what is recalled for the message. The message is held, not the answer: what is recalled is
looked up again when it is told, so that nothing is told that has changed or was forgotten meanwhile. All of it is in
memory alone, and gone after a restart: then a stable block that was not read is not told again.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.recall import AgentRecall, BundleOptions, RecallOptions
from memoryd.agents.turns.log import NewMessage, part_reply
from memoryd.config.agents import MOST, Agent
from memoryd.config.limits import QUERY_BYTES
from memoryd.domain.access import Admitted
from memoryd.domain.memories.bundle import ANY_ETAG
from memoryd.domain.skips import SkipReason
from memoryd.errors import MemorydError
from memoryd.memory.capture.capturing import SESSIONS_MAX
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.recall.query import Recalled
from memoryd.replies.conversations import TurnPartReply
from memoryd.search.protocol import ArmState

ASKED_MAX = 2
"""Messages of a session for which something is owed, the latest: more has no place in one prompt."""
FAILURES_MAX = 32
TEXT_CHARS = 4_000


class AskedText(Struct, frozen=True):
    """A message, or what a failed tool asks, for which something is recalled."""

    text: str = ""
    is_failure: bool = False


START = AskedText()
"""Stands for the beginning of a session, where only the stable block is told."""


class Owed(Struct, frozen=True):
    """What a session is to be told beside its next answer: its stable block, and what is recalled for messages."""

    is_start: bool = False
    asked: tuple[AskedText, ...] = ()

    def beside(self, *asked: AskedText) -> "Owed":
        """Return the same with more messages, the latest at the end."""
        held = (_held(one) for one in (*self.asked, *asked) if one.text.strip())
        return replace(self, asked=tuple(dict.fromkeys(held))[-ASKED_MAX:])


def _held(asked: AskedText) -> AskedText:
    return replace(asked, text=asked.text[:TEXT_CHARS])


class _Session(Struct):
    owed: Owed = Owed()
    sent: Owed = Owed()
    sent_for: AskedText | None = None
    """What went with the last answer, and for which message that was: it may come to be unread."""
    told_for: Owed = Owed()
    """The messages for which something was told: an agent that compacts what it holds forgets that."""
    failures: tuple[str, ...] = ()


class UndeliveredAnswers:
    """What each session of one agent is still to be told, by its key; without a key nothing is held."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        drop_with_the_others(self)

    def take(self, key: str, asked: AskedText) -> Owed:
        """Return what is to be told with the answer to a message, which is made now."""
        session = self._of(key)
        session.sent, session.sent_for, session.owed = session.owed, _held(asked), Owed()
        return session.sent

    def owe(self, key: str, asked: AskedText) -> None:
        """Owe what is recalled for a message."""
        session = self._of(key)
        session.owed = session.owed.beside(asked)

    def owe_unread(self, key: str, asked: AskedText) -> None:
        """Owe what is recalled for a message whose answer nobody read, and what went with that answer."""
        session = self._of(key)
        sent = session.sent if session.sent_for == _held(asked) else Owed()
        is_start = asked == START or session.owed.is_start or sent.is_start
        session.owed = Owed(is_start).beside(*sent.asked, *session.owed.asked, asked)
        session.sent, session.sent_for = Owed(), None

    def owe_all(self, key: str) -> None:
        """Owe the stable block and what was told last: the agent shortens what it holds of the session."""
        session = self._of(key)
        session.owed = replace(session.owed.beside(*session.told_for.asked), is_start=True)
        session.sent_for, session.failures = None, ()

    def note_told(self, key: str, asked: AskedText) -> None:
        """Note that something was told for a message."""
        session = self._of(key)
        session.told_for = session.told_for.beside(asked)

    def is_new_failure(self, key: str, asked: AskedText, *, is_unread: bool) -> bool:
        """Tell whether something is to be told for such a failure, once in a session, and note that it is.

        `is_unread`: nobody read the last answer, so that one does not count.
        """
        session = self._of(key)
        is_last, session.sent_for = session.sent_for == _held(asked), session.sent_for if is_unread else None
        if asked.text in session.failures:
            return is_unread and is_last
        session.failures = (*session.failures, asked.text)[-FAILURES_MAX:]
        return True

    def _of(self, key: str) -> _Session:
        if not key:
            return _Session()
        session = self._sessions.setdefault(key, _Session())
        self._sessions.move_to_end(key)
        while len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return session

    def drop_texts(self) -> None:
        """Know no message any more; stable blocks are owed as before."""
        for session in self._sessions.values():
            session.owed, session.sent = Owed(session.owed.is_start), Owed()
            session.told_for, session.sent_for, session.failures = Owed(), None, ()


class UnaskedRecall(Struct, frozen=True):
    """Recalls for the messages of one agent; `sessions` knows what each of them is still to be told."""

    agent: Agent
    recall: AgentRecall
    sessions: UndeliveredAnswers

    async def beside(
        self, message: NewMessage, owed: Owed, *, is_failure: bool = False
    ) -> tuple[Recalled | None, TurnPartReply]:
        """Return what is recalled for a message, with what is owed behind it, and how that went.

        `is_failure`: its text is what a failed tool asks.
        """
        settings = self.agent.turns
        if message.own_channel:
            return None, part_reply("off", SkipReason.NOBODY_ASKS)
        if not settings.auto_recall:
            return None, part_reply("off", SkipReason.RECALL_OFF)
        if message.is_unread:
            return None, part_reply("off", SkipReason.UNREAD)
        deadline = message.deadline
        if deadline is not None and owed.asked:
            deadline /= 2
        options = RecallOptions(k=self._k(message.k), deadline=deadline, touches=False)
        budget = settings.retrieval.max_tokens if message.budget is None else message.budget
        known = "" if message.if_none_match == ANY_ETAG and owed.is_start else message.if_none_match
        wanted, asked = BundleOptions(budget=budget, if_none_match=known), AskedText(message.text, is_failure)
        try:
            before = await self.owed(owed, message.admitted, deadline)
            found = await self._of(asked, message.admitted, options, wanted, before)
        except MemorydError as exc:
            return None, part_reply("failed", str(exc))
        if found.items:
            self.sessions.note_told(message.key, asked)
        elif any(arm.state is ArmState.TIMEOUT for arm in found.found.arms.values()):
            self.sessions.owe(message.key, asked)
        return found, _recall_part(found)

    async def owed(self, owed: Owed, admitted: Admitted, deadline: timedelta | None = None) -> Sequence[Recalled]:
        """Return what is recalled now for messages whose answer nobody read, the latest first.

        What fails is left out.
        """
        if not self.agent.turns.auto_recall:
            return []
        options = RecallOptions(k=self._k(None), deadline=deadline, touches=False)
        found = []
        for one in reversed(owed.asked):
            with suppress(MemorydError):
                found.append(await self._of(one, admitted, options))
        return found

    async def _of(
        self,
        asked: AskedText,
        admitted: Admitted,
        options: RecallOptions,
        wanted: BundleOptions | None = None,
        before: Sequence[Recalled] = (),
    ) -> Recalled:
        # of a message that is too long for a question its beginning
        query = asked.text.encode("utf-8", "replace")[:QUERY_BYTES].decode("utf-8", "ignore")
        options = replace(options, is_unasked=True, is_failure=asked.is_failure)
        return await self.recall.recall(query, options, admitted, wanted, before)

    def _k(self, wanted: int | None) -> int:
        return min(wanted or self.agent.turns.recall_final_k, MOST)


def _recall_part(found: Recalled) -> TurnPartReply:
    if found.is_complete:
        return part_reply("ok", "" if found.items else found.reason or "")
    return part_reply("ok", "; ".join(["it is not complete", *found.lacks]))
