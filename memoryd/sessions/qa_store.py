"""The question-and-answer store of a workspace: its parts, and forgetting, session ends, sequences and maintenance.

To forget a session, a damaged main file is set aside first. The copies of damaged ones go while the session can still
show what it holds, then its own file with the drafts of it, and at last what is made from it.

The main file is at most two seconds behind the sessions.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.sessions.documents import MAX_BYTES, TURNS, AnswerRetention
from memoryd.domain.sessions.making_turns import message_keys, turns_with, without_words
from memoryd.domain.sessions.names import is_over
from memoryd.domain.sessions.sequences import BUDGET, NOTHING_SIMILAR, SequenceChoice, SimilarTurns, sequence
from memoryd.domain.sessions.taking_turns import place_of
from memoryd.domain.sessions.topics import Commonness, never_common
from memoryd.domain.sessions.turns import Session, SessionEnd, Turn
from memoryd.errors import MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.retry import happens
from memoryd.sessions.session_files import UNREADABLE, unavailable
from memoryd.sessions.session_turns import SessionTurns
from memoryd.sessions.workspace_sessions import SessionArchive, WorkspaceSessions

log = structlog.get_logger(__name__)

UPDATE_SECONDS = 1.0
ARCHIVE_SECONDS = 6 * 3600.0
RETRY_SECONDS = 30.0
Steps = Mapping[str, Callable[[], object]]


class QaStore:
    """The parts of one store; open its `sessions` first. `on_change` is as `WorkspaceSessions` tells."""

    def __init__(
        self,
        workspace: Path,
        *,
        answer_retention: AnswerRetention | None = None,
        commonness: Commonness = never_common,
        max_bytes: int = MAX_BYTES,
        is_read_only: bool = False,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.sessions = WorkspaceSessions(
            workspace, commonness=commonness, is_read_only=is_read_only, on_change=on_change
        )
        self.archive = SessionArchive(self.sessions, answer_retention or AnswerRetention(), max_bytes)
        self.turns = SessionTurns(self.sessions, self.archive, commonness)
        self.ends = SessionEnds(self.sessions)
        self.sequences = SessionSequences(self.sessions, commonness)
        self.forgetting = ForgettingSessions(self.sessions, commonness)


class MatchingTurns(Struct, frozen=True):
    """The turns of a session in which words stand; `addresses` are theirs, as `session:<id>#Q17`."""

    session: SessionId
    agent: str
    addresses: tuple[str, ...]


class ForgottenFiles(Struct, frozen=True):
    """What went with a session: its files and copies of it, and what they held."""

    files: int = 0
    turns: int = 0
    answers: int = 0


class ForgettingSessions(Struct, frozen=True):
    """Forgets sessions of one workspace, and takes words out of them. Blocks."""

    sessions: WorkspaceSessions
    commonness: Commonness

    def forget(self, session: SessionId, *, agent: str) -> ForgottenFiles:
        """Remove a session from every file of ours, a damaged one as it is; raises NotFound, Denied, StoreError.

        A kill in between leaves what `finish` ends.
        """
        self.sessions.check_writable()
        return self._forget(self._read_or_known(session, agent, datetime.now(UTC)))

    def finish(self, session: SessionId, *, agent: str, asked_at: datetime) -> None:
        """End what a kill ended; a session of the same name that began after it was asked for stays."""
        self.sessions.check_writable()
        with contextlib.suppress(NotFound):
            stored = self._read_or_known(session, agent, asked_at)
            if stored.created <= asked_at:
                self._forget(stored)
        self._forget_remains(Session(session, asked_at))

    def sweep(self) -> None:
        """Remove what writers that were killed left: each draft holds a whole session or all of them."""
        self.sessions.check_writable()
        with unavailable():
            self.sessions.changes.sweep()
            self.sessions.main.sweep()

    def _read_or_known(self, session: SessionId, agent: str, now: datetime) -> Session:
        """Return a session; of a damaged one what was known of it before, be it nothing."""
        try:
            return self.sessions.read(session, agent=agent)
        except (NotFound, StoreUnavailable):
            raise
        except StoreError:
            known = self.sessions.known.get(session)
            entry = None if known is None else known.entry
            if entry is not None and entry.head.agent != agent:
                raise NotFound(f"there is no session {session}") from None
            return entry.head if entry is not None else Session(session, now)

    def _forget(self, session: Session) -> ForgottenFiles:
        self.sessions.flush()
        with self.sessions.alone(), unavailable():
            removed = self.sessions.main.forget(session) + self.sessions.changes.forget(session.id)
            self.sessions.known.drop(session.id)
        return ForgottenFiles(removed + self._forget_remains(session), len(session.turns), session.answers)

    def _forget_remains(self, session: Session) -> int:
        """Remove what is left of a session that has no file any more; return how many files went."""
        self.sweep()
        self.sessions.flush()
        with self.sessions.alone(), unavailable():
            # the writing may just have set aside a main file that was damaged meanwhile
            removed = self.sessions.main.forget(session)
        # the files look the same, but there is more room
        self.sessions.note_change()
        return removed

    def find(self, said: TextMatcher) -> list[MatchingTurns]:
        """Return where words stand, whatever agent a session is of; reads every one. Raises StoreUnavailable."""
        return _matching_turns(self._sessions_with(said), said)

    def cut(self, said: TextMatcher) -> list[MatchingTurns]:
        """Take the words out, and return where they stood; raises Denied, StoreError. Once more is nothing."""
        self.sessions.check_writable()
        found = list(self._sessions_with(said))
        for session in found:
            self._cut(session.id, said)
        if found:
            # the main file has the same turns; a damaged one is set aside by that, and may have them too
            self.sessions.flush()
        with self.sessions.alone(), unavailable():
            self.sessions.changes.sweep()
            for session in found:
                self.sessions.main.forget(session)
        return _matching_turns(found, said)

    def _sessions_with(self, said: TextMatcher) -> Iterator[Session]:
        return (session for session in self._all() if turns_with(session, said))

    def _cut(self, name: SessionId, said: TextMatcher) -> None:
        without = partial(without_words, said=said, commonness=self.commonness)
        if self.sessions.files.has(name):
            self.sessions.change(name, without)
        # a kill may have left it in both places
        with self.sessions.writing:
            if self.sessions.changes.change_archived(name, without):
                self.sessions.archived.see(name)
                # it is smaller
                self.sessions.note_change()

    def _all(self) -> Iterator[Session]:
        for files in (self.sessions.files, self.sessions.archive):
            with unavailable():
                names = sorted(files.stats())
            for name in names:
                # gone meanwhile, or damaged: that one is named by the status, and is its owner's to look at
                with contextlib.suppress(*UNREADABLE), unavailable():
                    if stored := files.read(name):
                        yield stored.session


def _matching_turns(sessions: Iterable[Session], said: TextMatcher) -> list[MatchingTurns]:
    found: dict[SessionId, MatchingTurns] = {}
    for session in sessions:
        addresses = tuple(turn_address(session.id, seq) for seq in turns_with(session, said))
        found.setdefault(session.id, MatchingTurns(session.id, session.agent, addresses))
    return list(found.values())


class SessionEnds(Struct, frozen=True):
    """The ends of the sessions of one workspace."""

    sessions: WorkspaceSessions

    def current(self, key: str, agent: str) -> Session | None:
        """Return the session of a key in which something was said last, with its turns; None if there is none to tell.

        One that has ended is none, nor is one that is not to be remembered, or a transcript's.
        """
        self.sessions.look()
        newest = self.sessions.known.newest(agent, key, is_open=True)
        head = None if newest is None else newest.head
        if head is None or not head.is_remembered or place_of(head) is not None:
            return None
        return self.sessions.read(head.id, agent=agent)

    def end(self, session: SessionId) -> None:
        """Note that a session is over, unless that was noted; raises Denied, NotFound, StoreError."""
        self._note(session, lambda one: one if one.end.is_over else replace(one, end=SessionEnd.STALE))

    def due(self, agent: str, now: datetime) -> Iterator[Session]:
        """Yield the sessions of an agent that are over and of which no memory was made, with their turns.

        One that went away or is damaged meanwhile is passed over.
        """
        for entry in self.sessions.of(agent):
            head = entry.head
            has_ended = head.end is SessionEnd.OPEN and is_over(entry.last_activity, now)
            if has_ended or head.end is SessionEnd.STALE:
                with contextlib.suppress(NotFound, StoreError):
                    yield self.sessions.read(head.id, agent=agent)

    def note_told(self, session: SessionId) -> None:
        """Note that a memory was made of a session, or that there is nothing to tell of it; raises as `end` does."""
        self._note(session, lambda one: replace(one, end=SessionEnd.TOLD))

    def note_summed_up(self, session: SessionId, seq: int) -> None:
        """Note that a summary tells a session up to a turn; raises as `end` does."""
        self._note(session, lambda one: replace(one, summed_up=max(one.summed_up, seq)))

    def _note(self, session: SessionId, change: Callable[[Session], Session]) -> None:
        # the same value is not written again
        self.sessions.change(session, lambda stored: after if (after := change(stored)) != stored else None)


class FoundSequence(Struct, frozen=True):
    """The turns to put before an agent, in order, and why."""

    choice: SequenceChoice
    turns: tuple[Turn, ...] = ()


class SessionSequences(Struct, frozen=True):
    """The sequences that the sessions of one workspace have for a message."""

    sessions: WorkspaceSessions
    commonness: Commonness

    def find(
        self,
        message: str | None,
        *,
        agent: str,
        current: str | None = None,
        turns: int = TURNS,
        budget: int = BUDGET,
        hidden: Collection[SessionId] = (),
        near: SimilarTurns = NOTHING_SIMILAR,
    ) -> FoundSequence:
        """Return the turns to put before an agent for a message, or without one, of its own sessions alone.

        Sessions that are marked "do not remember", or `hidden`, are left out.
        """
        here = self.sessions.named(current) if current else None
        if here is not None:
            # another process may have added to it
            self.sessions.refresh(here)
        keys = None if message is None else message_keys(message, self.commonness)
        choice = self.sessions.known.chosen(keys, agent, here, turns, hidden=hidden, near=near)
        known = self.sessions.known.visible(choice.session) if choice.session else None
        if known is None or known.entry is None:
            return FoundSequence(choice)
        whole = known.entry
        try:
            if not isinstance(whole, Session):
                whole = self.sessions.read(whole.session.id, agent=agent)
        except (NotFound, StoreError):
            # deleted or damaged since it was seen; `session_problems` names it
            return FoundSequence(choice)
        match = None if choice.match is None or choice.last_seq is None else choice.match.seq
        return FoundSequence(choice, sequence(whole, last_seq=choice.last_seq, match=match, turns=turns, budget=budget))

    def learn(self) -> None:
        """Read the archive and long sessions, which the main file does not hold, so that words find them."""
        self.sessions.learn()
        for name in self.sessions.known.unlearned():
            # gone or damaged since it was seen; `session_problems` tells
            with contextlib.suppress(NotFound, StoreError):
                self.sessions.known.learn(self.sessions.changes.read(name).session)


class QaMaintenance:
    """The loop of one store that may be written; `note_change` is what the store's `on_change` is to call."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        update_seconds: float = UPDATE_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._troubles: dict[str, str] = {}
        self._now = now
        self._retry_seconds = retry_seconds
        self._update_seconds = update_seconds
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def trouble(self) -> str:
        """Why the files stay behind; empty if they do not."""
        return "; ".join(dict.fromkeys(self._troubles.values()))

    def note_change(self) -> None:
        """Say that the main file is behind; from any thread, also before the loop runs."""
        if self._loop is None:
            self._changed.set()
        else:
            with contextlib.suppress(RuntimeError):
                # the loop is closed: the next start finds what has changed
                self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self, store: QaStore) -> None:
        """Flush after changes and archive now and then, until cancelled."""
        self._loop = asyncio.get_running_loop()
        steps: Steps = {
            "sweep": store.forgetting.sweep,
            "measure": store.archive.make_room,
            "archive": lambda: store.archive.put_away(self._now()),
            "flush": store.sessions.flush,
        }
        await self._take(steps, "sweep", "measure")
        archived_at = self._loop.time() - ARCHIVE_SECONDS
        while True:
            if self._loop.time() - archived_at >= ARCHIVE_SECONDS:
                archived_at = self._loop.time()
                await self._take(steps, "archive")
            if await happens(self._changed.wait(), archived_at + ARCHIVE_SECONDS - self._loop.time()):
                # turns come in pairs and more: one flush is enough for all of them
                await asyncio.sleep(self._update_seconds)
                self._changed.clear()
                await self._take(steps, *self._troubles, "flush", "measure")

    async def _take(self, steps: Steps, *names: str) -> None:
        """Take steps one after the other; those that fail are taken again with the next flush, which comes soon."""
        for name in dict.fromkeys(names):
            try:
                await asyncio.to_thread(steps[name])
            except MemorydError as exc:
                if name not in self._troubles:
                    log.warning("the question-and-answer files are behind", step=name, reason=str(exc))
                self._troubles[name] = str(exc)
                # there may never be another turn, which would be the next occasion
                asyncio.get_running_loop().call_later(self._retry_seconds, self._changed.set)
            else:
                self._troubles.pop(name, None)
