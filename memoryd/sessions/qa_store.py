"""The question-and-answer store of a workspace: its parts, and forgetting, session ends, sequences and maintenance.

Forgetting a session has an order. First a damaged main file is set aside. Then the copies of damaged main files are
removed, as long as the session still shows what to look for in them. Then its own file and drafts are removed, and last
the files made from it are rewritten.

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
from memoryd.domain.sessions.making_turns import message_keys, place_of, turns_with, without_words
from memoryd.domain.sessions.names import is_over
from memoryd.domain.sessions.sequences import BUDGET, NOTHING_SIMILAR, SequenceChoice, SimilarTurns, sequence
from memoryd.domain.sessions.topics import Commonness, never_common
from memoryd.domain.sessions.turns import Session, SessionEnd, Turn
from memoryd.errors import MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.retry import wait_within
from memoryd.sessions.session_files import UNREADABLE, unavailable
from memoryd.sessions.session_turns import SessionTurns
from memoryd.sessions.workspace_sessions import SessionArchive, WorkspaceSessions

log = structlog.get_logger(__name__)

UPDATE_SECONDS = 1.0
ARCHIVE_SECONDS = 6 * 3600.0
RETRY_SECONDS = 30.0
Steps = Mapping[str, Callable[[], object]]


class MatchingTurns(Struct, frozen=True):
    """The addresses of the matching turns of a session, such as `session:<id>#Q17`."""

    session: SessionId
    agent: str
    addresses: tuple[str, ...]


class ForgottenFiles(Struct, frozen=True):
    """Counts of what was removed with a session: files including copies, turns and kept answers."""

    files: int = 0
    turns: int = 0
    answers: int = 0


def _matching_turns(sessions: Iterable[Session], matcher: TextMatcher) -> list[MatchingTurns]:
    matches: dict[SessionId, MatchingTurns] = {}
    for session in sessions:
        addresses = tuple(turn_address(session.id, seq) for seq in turns_with(session, matcher))
        matches.setdefault(session.id, MatchingTurns(session.id, session.agent, addresses))
    return list(matches.values())


class ChosenSequence(Struct, frozen=True):
    """The turns to show to an agent, in order, and why."""

    choice: SequenceChoice
    turns: tuple[Turn, ...] = ()


class QaStore:
    """The sessions of one workspace; open `sessions` first. Methods block. For `on_change` see `WorkspaceSessions`."""

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
        self.commonness = commonness

    def current_session(self, key: str, agent: str) -> Session | None:
        """Return the session of a key with the latest activity, with its turns, None if there is none.

        None also if that session is not to be remembered or belongs to a transcript. Ended sessions are skipped.
        """
        self.sessions.scan()
        newest = self.sessions.known.newest(agent, key, is_open=True)
        head = None if newest is None else newest.head
        if head is None or not head.is_remembered or place_of(head) is not None:
            return None
        return self.sessions.read(head.id, agent=agent)

    def end_session(self, session: SessionId) -> None:
        """Mark a session as over, unless it is already. Raises Denied, NotFound, StoreError."""
        self._note_end(session, lambda stored: stored if stored.end.is_over else replace(stored, end=SessionEnd.STALE))

    def ended_sessions(self, agent: str, now: datetime) -> Iterator[Session]:
        """Yield the ended sessions of an agent that have no memory yet, with their turns.

        Sessions that went missing or were damaged in between are skipped.
        """
        for entry in self.sessions.of(agent):
            head = entry.head
            has_ended = head.end is SessionEnd.OPEN and is_over(entry.last_activity, now)
            if has_ended or head.end is SessionEnd.STALE:
                with contextlib.suppress(NotFound, StoreError):
                    yield self.sessions.read(head.id, agent=agent)

    def note_summarised(self, session: SessionId) -> None:
        """Mark a session as summarised: its memory was made, or there is nothing to summarise.

        Raises as `end_session` does.
        """
        self._note_end(session, lambda stored: replace(stored, end=SessionEnd.SUMMARISED))

    def note_summary_end(self, session: SessionId, seq: int) -> None:
        """Store that a summary covers a session up to a turn. Raises as `end_session` does."""
        self._note_end(session, lambda stored: replace(stored, summed_up=max(stored.summed_up, seq)))

    def _note_end(self, session: SessionId, change: Callable[[Session], Session]) -> None:
        # an equal session is not written
        self.sessions.change(session, lambda stored: after if (after := change(stored)) != stored else None)

    def find_turns(
        self,
        message: str | None,
        *,
        agent: str,
        current: str | None = None,
        turns: int = TURNS,
        budget: int = BUDGET,
        hidden: Collection[SessionId] = (),
        near: SimilarTurns = NOTHING_SIMILAR,
    ) -> ChosenSequence:
        """Return the turns to show to an agent for a message, or for None the latest ones, from its own sessions only.

        Sessions that are marked "do not remember", or `hidden`, are left out.
        """
        here = self.sessions.named(current) if current else None
        if here is not None:
            # another process may have added turns
            self.sessions.refresh(here)
        keys = None if message is None else message_keys(message, self.commonness)
        choice = self.sessions.known.chosen(keys, agent, here, turns, hidden=hidden, near=near)
        known = self.sessions.known.visible(choice.session) if choice.session else None
        if known is None or known.entry is None:
            return ChosenSequence(choice)
        session = known.entry
        try:
            if not isinstance(session, Session):
                session = self.sessions.read(session.session.id, agent=agent)
        except (NotFound, StoreError):
            # deleted or damaged since it was chosen; `session_problems` reports it
            return ChosenSequence(choice)
        match = None if choice.match is None or choice.last_seq is None else choice.match.seq
        chosen = sequence(session, last_seq=choice.last_seq, match=match, turns=turns, budget=budget)
        return ChosenSequence(choice, chosen)

    def learn(self) -> None:
        """Read the archive and long sessions, whose words are not in the main file, to index them."""
        self.sessions.learn()
        for name in self.sessions.known.unlearned():
            # missing or damaged since it was listed; `session_problems` reports it
            with contextlib.suppress(NotFound, StoreError):
                self.sessions.known.learn(self.sessions.changes.read(name).session)

    def forget(self, session: SessionId, *, agent: str) -> ForgottenFiles:
        """Remove a session from all our files, even if its file is damaged. Raises NotFound, Denied, StoreError.

        After a kill `finish_forgetting` completes it.
        """
        self.sessions.check_writable()
        return self._forget(self._read_or_known(session, agent, datetime.now(UTC)))

    def finish_forgetting(self, session: SessionId, *, agent: str, asked_at: datetime) -> None:
        """Complete a forgetting that a kill interrupted. A session of this name created after `asked_at` stays."""
        self.sessions.check_writable()
        with contextlib.suppress(NotFound):
            stored = self._read_or_known(session, agent, asked_at)
            if stored.created <= asked_at:
                self._forget(stored)
        self._forget_remains(Session(session, asked_at))

    def sweep(self) -> None:
        """Remove drafts left by killed writers: each has a complete session or all sessions."""
        self.sessions.check_writable()
        with unavailable():
            self.sessions.changes.sweep()
            self.sessions.main.sweep()

    def _read_or_known(self, session: SessionId, agent: str, now: datetime) -> Session:
        """Return a session. If its file is damaged, return the entry known before, or an empty session."""
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
        """Remove the remaining copies of a session whose file is removed. Return the number of removed files."""
        self.sweep()
        self.sessions.flush()
        with self.sessions.alone(), unavailable():
            # the flush may just have set aside a main file that was damaged in between
            removed = self.sessions.main.forget(session)
        # the known sessions are unchanged, but the size is to be measured again
        self.sessions.note_change()
        return removed

    def matching_turns(self, matcher: TextMatcher) -> list[MatchingTurns]:
        """Return the matching turns of the sessions of all agents. Reads every session. Raises StoreUnavailable."""
        return _matching_turns(self._sessions_with(matcher), matcher)

    def cut(self, matcher: TextMatcher) -> list[MatchingTurns]:
        """Remove the matched words, and return the turns that had them. Idempotent. Raises Denied, StoreError."""
        self.sessions.check_writable()
        sessions = list(self._sessions_with(matcher))
        for session in sessions:
            self._cut(session.id, matcher)
        if sessions:
            # the main file has the same turns; the flush sets a damaged one aside, which may have them too
            self.sessions.flush()
        with self.sessions.alone(), unavailable():
            self.sessions.changes.sweep()
            for session in sessions:
                self.sessions.main.forget(session)
        return _matching_turns(sessions, matcher)

    def _sessions_with(self, matcher: TextMatcher) -> Iterator[Session]:
        return (session for session in self._all_sessions() if turns_with(session, matcher))

    def _cut(self, name: SessionId, matcher: TextMatcher) -> None:
        without = partial(without_words, matcher=matcher, commonness=self.commonness)
        if self.sessions.files.has(name):
            self.sessions.change(name, without)
        # a kill during a move may have left it in both places
        with self.sessions.writing:
            if self.sessions.changes.change_archived(name, without):
                self.sessions.archived.see(name)
                # its size has changed
                self.sessions.note_change()

    def _all_sessions(self) -> Iterator[Session]:
        for files in (self.sessions.files, self.sessions.archive):
            with unavailable():
                names = sorted(files.stats())
            for name in names:
                # skip a file that went missing or is damaged: the status reports a damaged one
                with contextlib.suppress(*UNREADABLE), unavailable():
                    if stored := files.read(name):
                        yield stored.session


class QaMaintenance:
    """The maintenance loop of one writable store. The store's `on_change` must call `note_change`."""

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
        """Why the files are not up to date; empty if they are."""
        return "; ".join(dict.fromkeys(self._troubles.values()))

    def note_change(self) -> None:
        """Report that the main file is behind. Thread-safe, also before the loop runs."""
        if self._loop is None:
            self._changed.set()
        else:
            with contextlib.suppress(RuntimeError):
                # the loop is closed: the next start finds the changes
                self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self, store: QaStore) -> None:
        """Flush after changes and archive every six hours, until cancelled."""
        self._loop = asyncio.get_running_loop()
        steps: Steps = {
            "sweep": store.sweep,
            "measure": store.archive.make_room,
            "archive": lambda: store.archive.put_away(self._now()),
            "flush": store.sessions.flush,
        }
        await self._run_steps(steps, "sweep", "measure")
        archived_at = self._loop.time() - ARCHIVE_SECONDS
        while True:
            if self._loop.time() - archived_at >= ARCHIVE_SECONDS:
                archived_at = self._loop.time()
                await self._run_steps(steps, "archive")
            if await wait_within(self._changed.wait(), archived_at + ARCHIVE_SECONDS - self._loop.time()):
                # turns come in groups: flush once for all of them
                await asyncio.sleep(self._update_seconds)
                self._changed.clear()
                await self._run_steps(steps, *self._troubles, "flush", "measure")

    async def _run_steps(self, steps: Steps, *names: str) -> None:
        """Run steps in order. A failed step is repeated with the next flush, within `retry_seconds`."""
        for name in dict.fromkeys(names):
            try:
                await asyncio.to_thread(steps[name])
            except MemorydError as exc:
                if name not in self._troubles:
                    log.warning("the question-and-answer files are behind", step=name, reason=str(exc))
                self._troubles[name] = str(exc)
                # do not wait for the next turn: there may never be one
                asyncio.get_running_loop().call_later(self._retry_seconds, self._changed.set)
            else:
                self._troubles.pop(name, None)
