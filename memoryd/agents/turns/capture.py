"""Capture of memories from conversation messages: queued with the reply, and queued again after a stop.

The ledger has the place of each queued message; its text is in its session only. So nothing is captured from a session
that was forgotten, or marked "do not remember". Texts that a session was shown are not learned again.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.events import NamedLoop
from memoryd.agents.search import current_book
from memoryd.agents.turns.log import CaptureState, LoggedMessage, NewMessage
from memoryd.agents.workspace.memories import WorkspaceMemories
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.agents.workspace.settings import owners_time
from memoryd.config.agents import Agent
from memoryd.domain.documents import SessionId
from memoryd.domain.memories.kinds import unnamed_scope
from memoryd.domain.sessions.turns import Turn
from memoryd.errors import MemorydError, NotFound, StoreError
from memoryd.memory.capture.capturing import IN_FLIGHT, Capturing, LastTexts, MessageCapture
from memoryd.memory.capture.queue import CaptureQueue, CaptureResult, CaptureTask, ShownSpans
from memoryd.memory.llm import MemoryModel
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.memory.retaining import Retaining
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.turns import MessagePlace, QueuedMessage, QueuedMessages, ShownSpanRows

log = structlog.get_logger(__name__)

POLL_SECONDS = 300.0
"""Delay before captures that failed are tried again."""
PAUSE_SECONDS = 1.0
"""Pause between two rounds if there are more messages than one round takes."""
ROUND_MAX = 32
"""Number of messages queued at once, so that new messages do not wait behind all of them."""


class _UnreadError(Exception):
    """The session of a message cannot be read now."""


class LeftBehind(Struct, eq=False):
    """Messages of one workspace that were left pending in the ledger by a stop or a failure."""

    capturing: Capturing
    qa: WorkspaceQa
    ledger: Ledger
    _unread: set[tuple[str, str]] = set()
    """Sessions, each with its agent, that could not be read at the last attempt."""

    async def run(self, seconds: float = POLL_SECONDS) -> None:
        """Queue messages that a stop left, and from time to time those that failed, until cancelled."""
        await self.qa.until_open()
        while True:
            has_more = False
            try:
                has_more = await self.queue_round()
            except (MemorydError, OSError) as exc:
                log.info("what waits to be captured cannot be looked at", reason=str(exc))
            await asyncio.sleep(PAUSE_SECONDS if has_more else seconds)

    async def queue_round(self) -> bool:
        """Queue one round of messages; return whether there are more. Raises StoreError, Denied, NotNow.

        Messages of a session that cannot be read are left for later, and do not delay the others.
        """
        if not self.capturing.is_idle:
            return True
        unread, done = set[tuple[str, str]](), 0
        for message in await self.capturing.queue.pending():
            if done == ROUND_MAX:
                return True
            name = (message.place.agent, message.place.session)
            if name in unread:
                continue
            try:
                task = await self._task(message)
            except _UnreadError as exc:
                unread.add(name)
                self._report_unread(name, str(exc))
                continue
            self._unread.discard(name)
            await self._put_in_line(message, task)
            done += 1
        self._unread &= unread
        return False

    def _report_unread(self, name: tuple[str, str], reason: str) -> None:
        if name not in self._unread:
            self._unread.add(name)
            log.warning("a session cannot be read, and what waits there is captured later", agent=name[0])
            # the reason may quote the file, so it is logged at debug level only
            log.debug("a session cannot be read", session=name[1], reason=reason)

    async def _put_in_line(self, message: QueuedMessage, task: CaptureTask | None) -> None:
        if task is None:
            await self.capturing.queue.drop(message.place)
            return
        await self.capturing.queue.take_up(message.place)
        # it may have been sent again since
        if not self.capturing.queue.is_in_line(message.place):
            self.capturing.submit(task)

    async def _task(self, message: QueuedMessage) -> CaptureTask | None:
        """Return the task of a queued message; None if nothing of it may be captured any longer.

        Raises _UnreadError, NotNow.
        """
        try:
            place = message.place
            session = await self.qa.read(lambda store: store.sessions.read(SessionId(place.session), agent=place.agent))
        except NotFound:
            return None
        except (StoreError, OSError) as exc:
            raise _UnreadError(str(exc)) from exc
        at = next((at for at, turn in enumerate(session.turns) if turn.seq == message.place.seq), None)
        if at is None or not session.is_remembered:
            return None
        turn = session.turns[at]
        return CaptureTask(
            agent=message.place.agent,
            text=turn.question,
            session_key=session.key,
            scope=message.scope,
            answer_before=await self._answer(message.place, session.turns[at - 1]) if at else "",
            message_before=session.turns[at - 1].question if at else "",
            at=turn.timestamp,
            channel=message.channel,
            is_direct=message.is_direct,
            is_owners=message.is_owners,
            queued_at=message.at,
            place=message.place,
        )

    async def _answer(self, place: MessagePlace, turn: Turn) -> str:
        if turn.answer is not None:
            return turn.answer
        try:
            return await self.ledger.pending_answer(place.agent, place.session, turn.seq) or ""
        except StoreError:
            return ""


class WorkspaceCapture(Struct, frozen=True, kw_only=True):
    """Capture for the agents of one workspace."""

    capturing: Capturing
    delivered: ShownSpans
    left_behind: LeftBehind | None
    """Captures that a stop left pending; None if nothing is written."""
    has_model: bool = False

    def loops(self, name: str) -> list[NamedLoop]:
        """Return the named background loops."""
        loops: list[NamedLoop] = [
            (f"capture {name}", self.capturing.run),
            (f"delivered spans {name}", self.delivered.run),
        ]
        if self.left_behind is not None:
            loops.append((f"captures left behind {name}", self.left_behind.run))
        if self.has_model:
            loops += [(f"distilling {name} {seat}", self.capturing.run_distilling) for seat in range(1, IN_FLIGHT + 1)]
        return loops


def workspace_capture(
    agents: Sequence[Agent],
    shared: WorkspaceMemories,
    conversations: Mapping[str, AgentConversations],
    qa: WorkspaceQa | None,
) -> WorkspaceCapture:
    """Build the capture for these agents, with the settings of the first."""
    section = agents[0].memory.capture
    delivered = ShownSpans(ShownSpanRows(shared.ledger, shared.name))
    owner_time = owners_time(agents[0].memory)
    messages = MessageCapture(
        journal=shared.journal,
        retaining=Retaining(shared.journal, owner_time.today, shared.stated),
        tombstones=shared.tombstones,
        delivered=delivered,
        book=partial(current_book, shared.index, shared.book),
        is_excluded=lambda agent, key: conversations[agent].withheld.withholds_key(key),
        stated=shared.stated,
        queue=CaptureQueue(QueuedMessages(shared.ledger, shared.name)),
        day=lambda at: owner_time.day(at.timestamp()),
        distiller=None if shared.text is None else MemoryModel(shared.text),
        is_enabled=section.enabled,
        identifiers=section.identifiers,
        in_groups=section.in_groups,
    )
    capturing = Capturing(messages)
    is_written = qa is not None and section.enabled and not agents[0].memory.read_only
    return WorkspaceCapture(
        capturing=capturing,
        delivered=delivered,
        left_behind=LeftBehind(capturing, qa, shared.ledger) if qa is not None and is_written else None,
        has_model=shared.text is not None,
    )


class AgentCapture(Struct, frozen=True, kw_only=True):
    """Capture for one agent; `capturing` and `delivered` belong to its workspace, which it may share."""

    agent: str
    is_alone: bool
    is_read_only: bool
    capturing: Capturing
    delivered: ShownSpans
    _answers: LastTexts = field(default_factory=LastTexts)
    _messages: LastTexts = field(default_factory=LastTexts)

    def scope(self, own_channel: str = "") -> str:
        """Return the scope of a memory that names none: the channel's, else the agent's own."""
        return unnamed_scope(self.agent, own_channel, is_alone=self.is_alone)

    async def take(self, text: str, *, answer_before: str = "", is_dry: bool = False) -> CaptureResult:
        """Capture a message of the owner, or only return what would be stored; raises as `MessageCapture.capture`."""
        task = CaptureTask(agent=self.agent, text=text, answer_before=answer_before, scope=self.scope())
        if is_dry:
            return CaptureResult(await self.capturing.messages.dry_run(task))
        return await self.capturing.messages.capture(task)

    def note_answer(self, key: str, text: str) -> None:
        """Remember the last answer of the assistant, which the user may correct."""
        self._answers.note(key, text)

    async def submit(
        self, message: NewMessage, at: datetime, *, answer_before: str = "", logged: LoggedMessage | None = None
    ) -> CaptureState:
        """Queue a message, or the failure that it reports, to be captured after the answer.

        A message that is `logged` is captured even if the daemon is killed.
        """
        if self.is_read_only or not self.capturing.messages.is_enabled:
            return "off"
        event, own_channel = message.failure, message.own_channel
        place = None
        if logged is not None and logged.session is not None and logged.seq is not None:
            place = MessagePlace(self.agent, logged.session, logged.seq)
        task = CaptureTask(
            agent=self.agent,
            text=message.text,
            session_key=message.key,
            scope=self.scope(own_channel),
            answer_before=self._answers.of(message.key) or answer_before,
            message_before=self._messages.of(message.key),
            at=at if message.at is not None else None,
            channel=own_channel or message.admitted.channel,
            is_direct=message.admitted.is_direct,
            role=message.role.value,
            is_owners=message.is_owners,
            event=None if event is None else replace(event, text=event.text or message.text),
            place=place,
        )
        if task.event is None:
            self._messages.note(message.key, message.text)
        if not await self.capturing.accept(task):
            return "no"
        return "queued" if self.capturing.queue.is_safe(task) else "unsaved"

    def note_shown(self, key: str, recalled: Recalled) -> None:
        """Note the memories that a session was shown, so that they are not learned from its echo."""
        included = {line.name for line in recalled.bundle.receipt if line.is_included} if recalled.bundle else None
        if included != set():
            self.note_texts(key, texts_of(recalled))

    def note_texts(self, key: str, texts: Iterable[str]) -> None:
        """Note texts that a session was shown."""
        if key:
            self.delivered.note(self.agent, key, texts)


def texts_of(recalled: Recalled) -> Iterator[str]:
    """Yield the text of each result."""
    for page in recalled.entities:
        yield page.summary
    for item in recalled.items:
        yield item.memory.text if isinstance(item, RecalledMemory) else item.hit.snippet.text
