"""Messages that may become memories, handed to capture; and what a session was told, which it does not learn again."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from memoryd.agents.capture import AgentCapture
from memoryd.agents.recall import RecallOutcome
from memoryd.agents.turn_values import CaptureState, LoggedMessage, NewMessage
from memoryd.domain.access import Admitted
from memoryd.domain.memories.capture.capture import ReportedFailure
from memoryd.domain.memories.scopes import unnamed_scope
from memoryd.domain.sessions.turns import MessageEventType
from memoryd.memory.capture.capturing import LastAnswers
from memoryd.memory.capture.queue import CaptureTask
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.store.ledger.capture import MessagePlace


class TurnCapture:
    """Capture of the turns of one agent. `is_alone`: no other agent shares its workspace."""

    def __init__(self, agent: str, capture: AgentCapture, *, is_alone: bool, is_read_only: bool) -> None:
        self._agent = agent
        self._capture = capture
        self._is_alone = is_alone
        self._is_read_only = is_read_only
        self._answers = LastAnswers()

    def scope(self, own_channel: str) -> str:
        """Return whom a memory is for that nobody says it of: the channel's, else the agent's own."""
        return unnamed_scope(self._agent, own_channel, is_alone=self._is_alone)

    def note_answer(self, key: str, text: str) -> None:
        """Know what the assistant said last, which the user may correct."""
        self._answers.note(key, text)

    async def submit(
        self,
        message: NewMessage,
        admitted: Admitted,
        key: str,
        *,
        at: datetime,
        own_channel: str,
        answer_before: str = "",
        logged: LoggedMessage | None = None,
    ) -> CaptureState:
        """Put a message in line, or the failure that it reports; it is looked at behind the answer.

        One that is `logged` is captured in the end though the daemon is killed.
        """
        if self._is_read_only or not self._capture.capturing.is_enabled:
            return "off"
        event = message.event if message.event and message.event.type is MessageEventType.FAILURE else None
        task = CaptureTask(
            agent=self._agent,
            text=message.text,
            session_key=key,
            scope=self.scope(own_channel),
            answer_before=self._answers.of(key) or answer_before,
            at=at if message.at is not None else None,
            channel=own_channel or admitted.channel,
            is_direct=admitted.is_direct,
            role=message.role.value,
            is_owners=message.is_owners,
            event=None if event is None else ReportedFailure(event.text or message.text, event.tool),
            place=self._place(logged),
        )
        return "queued" if await self._capture.capturing.accept(task) else "no"

    def note_told(self, key: str, outcome: RecallOutcome) -> None:
        """Note what of the memory a session was told, so that it is not learned from its echo."""
        told = {line.name for line in outcome.bundle.receipt if line.is_told} if outcome.bundle else None
        if told != set():
            self.note_texts(key, texts_of(outcome.recalled))

    def note_texts(self, key: str, texts: Iterable[str]) -> None:
        """Note texts that a session was told."""
        if key:
            self._capture.note_delivered(key, texts)

    def _place(self, logged: LoggedMessage | None) -> MessagePlace | None:
        if logged is None or logged.session is None or logged.seq is None:
            return None
        return MessagePlace(self._agent, logged.session, logged.seq)


def texts_of(recalled: Recalled) -> Iterator[str]:
    """Yield what is recalled, as text."""
    for page in recalled.entities:
        yield page.summary
    for item in recalled.items:
        yield item.memory.line.text if isinstance(item, RecalledMemory) else item.hit.snippet.text
