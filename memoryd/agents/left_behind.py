"""Messages that a stop left in line for capture: read again from the files of their sessions, and put in line anew.

What is known of each stands in the ledger, and its words in its session alone: of one that is forgotten, or marked "do
not remember", nothing is captured any more.
"""

import asyncio
from typing import Final

import structlog

from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.errors import MemorydError, NotFound, StoreError
from memoryd.memory.capture.capturing import Capturing
from memoryd.memory.capture.queue import CaptureTask
from memoryd.sessions.qa_store import QaStore
from memoryd.store.ledger.capture import AwaitedMessage, MessagePlace
from memoryd.store.ledger.ledger import Ledger

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 300.0
"""How long what could not be captured is left alone."""
PAUSE_SECONDS: Final = 1.0
"""While there is more than one round takes."""
ROUND_MAX: Final = 32
"""Messages that are put in line at once: what is said now is not to wait behind all of them."""


class _UnreadError(Exception):
    """The session in which a message stands cannot be read now."""


class LeftBehind:
    """What is awaited of one workspace and not in line."""

    def __init__(self, capturing: Capturing, qa: WorkspaceQa, ledger: Ledger) -> None:
        self._capturing = capturing
        self._qa = qa
        self._ledger = ledger
        self._unread: set[tuple[str, str]] = set()
        """Sessions, each with its agent, that could not be read when they were last looked at."""

    async def run(self, seconds: float = LOOK_SECONDS) -> None:
        """Put in line what a stop left, and now and then what failed, until cancelled."""
        await self._qa.until_open()
        while True:
            has_more = False
            try:
                has_more = await self.settle()
            except (MemorydError, OSError) as exc:
                log.info("what waits to be captured cannot be looked at", reason=str(exc))
            await asyncio.sleep(PAUSE_SECONDS if has_more else seconds)

    async def settle(self) -> bool:
        """Put one round in line; return whether there is more. Raises StoreError, Denied, NotNow.

        What is said in a session that cannot be read is left for later, and keeps none of the others waiting.
        """
        if not self._capturing.is_idle:
            return True
        unread, done = set[tuple[str, str]](), 0
        for one in await self._capturing.awaited.owed():
            if done == ROUND_MAX:
                return True
            name = (one.place.agent, one.place.session)
            if name in unread:
                continue
            try:
                task = await self._task(one)
            except _UnreadError as exc:
                unread.add(name)
                self._tell(name, str(exc))
                continue
            self._unread.discard(name)
            await self._put_in_line(one, task)
            done += 1
        self._unread &= unread
        return False

    def _tell(self, name: tuple[str, str], reason: str) -> None:
        if name not in self._unread:
            self._unread.add(name)
            log.warning("a session cannot be read, and what waits there is captured later", agent=name[0])
            # what is wrong with a file may quote it
            log.debug("a session cannot be read", session=name[1], reason=reason)

    async def _put_in_line(self, one: AwaitedMessage, task: CaptureTask | None) -> None:
        if task is None:
            await self._capturing.awaited.drop(one.place)
            return
        await self._capturing.awaited.take_up(one.place)
        # it may have been sent again meanwhile
        if not self._capturing.awaited.is_in_line(one.place):
            self._capturing.submit(task)

    async def _task(self, one: AwaitedMessage) -> CaptureTask | None:
        """Return a message as it was put in line; None where nothing of it is to be captured any more.

        Raises _UnreadError, NotNow.
        """
        try:
            session = await self._qa.read(lambda store: _session(store, one.place))
        except NotFound:
            return None
        except (StoreError, OSError) as exc:
            raise _UnreadError(str(exc)) from exc
        at = next((at for at, turn in enumerate(session.turns) if turn.seq == one.place.seq), None)
        if at is None or not session.is_remembered:
            return None
        turn = session.turns[at]
        return CaptureTask(
            agent=one.place.agent,
            text=turn.question,
            session_key=session.key,
            scope=one.scope,
            answer_before=await self._answer(one.place, session.turns[at - 1]) if at else "",
            at=turn.timestamp,
            channel=one.channel,
            is_direct=one.is_direct,
            is_owners=one.is_owners,
            place=one.place,
        )

    async def _answer(self, place: MessagePlace, turn: Turn) -> str:
        if turn.answer is not None:
            return turn.answer
        try:
            return await self._ledger.held(place.agent, place.session, turn.seq) or ""
        except StoreError:
            return ""


def _session(store: QaStore, place: MessagePlace) -> Session:
    return store.sessions.read(SessionId(place.session), agent=place.agent)
