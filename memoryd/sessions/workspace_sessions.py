"""The sessions of a workspace: their state in memory, their size on disk, and the lock for changes.

Many threads and processes may change them. Each change is one compare-and-swap of one file, so none is lost. Everything
here may wait for the disk and is called in a thread.

Old sessions are archived. If the files are larger than their bound, archived sessions lose answers, oldest first: first
answers that are not significant by the current rules, then all but the marked ones, and last the marked ones; questions
stay. If the files are still too large, only the question of a new turn is stored. At four times the bound new turns are
refused.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import MAX_BYTES, AnswerRetention, Entry, SessionStub
from memoryd.domain.sessions.names import named_id, safe_id
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.errors import NotFound, StoreError, StoreUnavailable, read_only_error
from memoryd.files.reading import TornReadError
from memoryd.sessions.known_sessions import ArchivedSessions, KnownSessions
from memoryd.sessions.main_file import MainFile, stamp_of
from memoryd.sessions.session_files import UNREADABLE, Change, SessionChanges, SessionFiles, unavailable

CLOSED_AT = 4
"""Multiple of the bound from which no turn is stored."""
_KEEP_NOTHING = 1.0
"""A threshold that no significance exceeds."""
SESSIONS = "memory/sessions"
ARCHIVE = "memory/archive"


class WorkspaceSessions:
    """The sessions of one workspace; call `open` first. Methods that write raise Denied if `is_read_only`.

    `on_change` is called, in any thread, when the main file is behind and `flush` should be called soon.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        commonness: Commonness,
        is_read_only: bool,
        on_change: Callable[[], None],
    ) -> None:
        self.workspace = workspace
        self.files = SessionFiles(workspace, SESSIONS)
        self.archive = SessionFiles(workspace, ARCHIVE)
        self.changes = SessionChanges(self.files, self.archive)
        self.main = MainFile(workspace)
        self.known = KnownSessions(commonness)
        self.archived = ArchivedSessions(self.archive, self.known)
        self.is_read_only = is_read_only
        self.writing = threading.Lock()
        """Locked while a file is changed; reading never waits for it."""
        self._flushing = threading.Lock()
        """Locked while the main file is read or written, which takes long: adding a turn does not wait for it."""
        self._listeners = [on_change]
        self.is_open = False
        """Whether the sessions are known."""

    @property
    def main_problems(self) -> list[str]:
        """Foreign or damaged files in the place of the files for all sessions, each with the reason."""
        return list(self.main.problems)

    def session_problems(self) -> list[tuple[str, str, str]]:
        """Return path, reason and agent of each session file that cannot be read. An unknown agent is empty."""
        return [
            (f"{SESSIONS}/{name}.json", known.problem, known.entry.head.agent if known.entry else "")
            for name, known in sorted(self.known.all().items())
            if known.problem
        ]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Add a listener that is called like `on_change`."""
        self._listeners.append(listener)

    def open(self) -> None:
        """Read the main file, and the sessions that changed since it was made."""
        with self.writing, unavailable():
            (document, stamps), stats = self.main.load(), self.files.stats()
            for entry in document.entries:
                name = entry.head.id
                if name in stats and stamps.get(name) == stamp_of(stats[name]):
                    self.known.take(name, entry, stats[name])
            if self._scan(contextlib.nullcontext) or len(stats) != len(document.entries):
                self.note_change()
            self.is_open = True

    def scan(self) -> None:
        """Read changes that other processes made; costs one stat per session."""
        if not self.workspace.is_dir():
            # perhaps not mounted: do not treat its sessions as deleted
            return
        with unavailable():
            if self._scan(lambda: self.writing):
                self.note_change()

    def refresh(self, name: SessionId) -> None:
        """Read changes that other processes made to one session, archived or not."""
        with unavailable():
            if not self._refresh(name) and not self.files.has(name):
                self.archived.see(name)

    def learn(self) -> None:
        """Read the archived sessions that are not known yet, to index them; a year of them takes a second."""
        with unavailable():
            self.archived.scan()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Lock out other threads of this process that change sessions or write the main file."""
        with self._flushing, self.writing:
            yield

    def flush(self) -> None:
        """Bring the main file up to date with the sessions, including changes of other processes."""
        self.check_writable()
        with self._flushing, unavailable():
            self._scan(lambda: self.writing)
            known = self.known.all()
            entries = [session.entry for session in known.values() if session.entry is not None]
            stamps = {name: stamp_of(session.stat) for name, session in known.items() if not session.problem}
            self.files.sync_folder()
            self.main.write(entries, stamps)

    def read(self, session: SessionId, *, agent: str) -> Session:
        """Return a session of an agent with all its turns, archived or not. Raises NotFound."""
        stored = self.changes.read(self.named(session)).session
        if stored.agent != agent:
            raise NotFound(f"there is no session {session}")
        return stored

    def of(self, agent: str) -> list[Entry]:
        """Return the sessions of an agent outside the archive, newest first."""
        return sorted(self.known.of(agent), key=lambda entry: entry.last_activity, reverse=True)

    def named(self, name: str) -> SessionId:
        """Return the session id for a name: the name itself if such a session exists, else without secrets."""
        plain, clean = safe_id(name), named_id(name)
        return plain if plain != clean and self.has(plain) else clean

    def has(self, session: SessionId) -> bool:
        """Return whether a session has a file, archived or not."""
        with unavailable():
            return self.files.has(session) or self.archive.has(session)

    def knows(self, session: SessionId, *, agent: str) -> bool:
        """Return whether an agent has a session, by the state in memory or else by its file.

        True for a file that cannot be read. Raises StoreUnavailable.
        """
        known = self.known.get(session)
        if known is not None and known.entry is not None:
            return known.entry.head.agent == agent
        try:
            self.read(session, agent=agent)
        except NotFound:
            return False
        except StoreUnavailable:
            raise
        except StoreError:
            # damaged: it may belong to this agent
            return True
        return True

    def entry(self, session: SessionId, *, agent: str) -> Entry | None:
        """Return the known entry of an agent's session, whose file may be missing or damaged by now."""
        known = self.known.get(session) or self.known.archived().get(session)
        entry = None if known is None else known.entry
        return entry if entry is not None and entry.head.agent == agent else None

    def change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> bool:
        """Change a session, or `fresh` if there is none. Return whether anything was written.

        Raises Denied, and like `SessionChanges.change`.
        """
        self.check_writable()
        with self.writing:
            stored = self.changes.change(name, change, fresh=fresh)
            if stored is not None:
                self.known.take(name, stored.session, stored.stat)
                self.note_change()
        return stored is not None

    def note_change(self) -> None:
        """Notify the listeners that the main file is behind."""
        for listener in self._listeners:
            listener()

    def check_writable(self) -> None:
        """Raise Denied if the store is read-only."""
        if self.is_read_only:
            raise read_only_error()

    def _scan(self, lock: Callable[[], AbstractContextManager[object]]) -> bool:
        """Read the sessions whose files have changed, drop those without a file. Return whether there were any.

        `lock` returns the lock for changes; it is locked for each session separately, not for all of them.
        """
        before, stats = self.known.all(), self.files.stats()
        has_changed = False
        for name in before.keys() - stats.keys():
            with lock():
                # it may have come back since its folder was listed
                if self.files.stat(name) is None:
                    self.known.drop(name)
                    has_changed = True
        for name, stat in stats.items():
            if name not in before or before[name].stat != stat:
                with lock():
                    # stat again: another thread may have changed or moved it
                    has_changed |= self._refresh(name)
        return has_changed

    def _refresh(self, name: SessionId) -> bool:
        """Read one session if its file has changed. Return whether it had."""
        stat, known = self.files.stat(name), self.known.get(name)
        if stat is None or (known is not None and known.stat == stat):
            return False
        try:
            stored = self.files.read(name)
        except (*UNREADABLE, TornReadError, OSError) as exc:
            self.known.refuse(name, stat, str(exc))
            return True
        if stored is not None:
            self.known.take(name, stored.session, stored.stat)
        return True


class QaUsage(Struct, frozen=True):
    """The bytes of the files, their bound, and the number of answers pruned since the start."""

    bytes: int = 0
    max_bytes: int = MAX_BYTES
    pruned: int = 0

    @property
    def is_full(self) -> bool:
        """Whether only the questions of new turns are stored."""
        return self.bytes > self.max_bytes

    @property
    def is_closed(self) -> bool:
        """Whether new turns are refused."""
        return self.bytes > CLOSED_AT * self.max_bytes


class SessionArchive:
    """The archive of one workspace, and the size limit of all its sessions."""

    def __init__(self, sessions: WorkspaceSessions, answer_retention: AnswerRetention, max_bytes: int) -> None:
        self.usage = QaUsage(0, max_bytes)
        """Size of the files at the last measurement."""
        self._sessions = sessions
        self._default = answer_retention

    @property
    def answer_retention(self) -> AnswerRetention:
        """The retention rules for new turns at the current size."""
        return _questions_only(self._default) if self.usage.is_full else self._default

    def check_open(self) -> None:
        """Raise StoreUnavailable if no turn may be added; like a full disk, it may work later."""
        if self.usage.is_closed:
            raise StoreUnavailable(
                f"there is no room for another turn: the files of questions and answers have {self.usage.bytes:,} "
                f"bytes, {CLOSED_AT} times memory.qa.maxBytes",
                hint="forget old conversations (memoryctl sessions), or raise memory.qa.maxBytes",
            )

    def note(self, turn: Turn) -> None:
        """Count a turn that was added, until the files are measured again."""
        # twice: the main file has it, too
        added = 2 * (len(turn.question.encode()) + len((turn.answer or "").encode()))
        self.usage = replace(self.usage, bytes=self.usage.bytes + added)

    def stubs(self, agent: str) -> list[SessionStub]:
        """Return the archived sessions of an agent, newest first, without their turns."""
        with unavailable():
            stubs = self._sessions.archived.scan()
        return [stub for stub in reversed(stubs) if stub.session.agent == agent]

    def put_away(self, now: datetime) -> list[SessionId]:
        """Move old sessions to the archive, and return their ids."""
        self._sessions.check_writable()

        def is_old(entry: Entry) -> bool:
            return self._default.is_old(entry.last_activity, now)

        moved = list[SessionId]()
        for name, known in self._sessions.known.all().items():
            if known.entry is None or known.problem or not is_old(known.entry):
                continue
            with self._sessions.writing:
                if self._sessions.changes.put_away(name, is_old):
                    self._sessions.known.drop(name)
                    # index it from the archive at once
                    self._sessions.archived.see(name)
                    moved.append(name)
        if moved:
            self._sessions.note_change()
        return moved

    def make_room(self) -> None:
        """Measure the files, and prune the archive until they are not too large. Raises StoreError."""
        # unlocks after each session, so that adding a turn need not wait for all of them
        while self._prune_next():
            pass

    def _prune_next(self) -> bool:
        """Prune one archived session if the files are too large. Return whether one was pruned."""
        with unavailable():
            others = self._sessions.main.size() + self._sessions.files.size()
        with self._sessions.writing, unavailable():
            self._measure(others)
            if not self.usage.is_full or self._sessions.is_read_only:
                return False
            questions_only = _questions_only(self._default)
            for answer_retention, drops_marked in (
                (self._default, False),
                (questions_only, False),
                (questions_only, True),
            ):
                for stub in self._sessions.archived.scan():
                    if stub.answers and (dropped := self._prune(stub.session.id, answer_retention, drops_marked)):
                        self.usage = replace(self.usage, pruned=self.usage.pruned + dropped)
                        self._measure(others)
                        return True
        return False

    def _measure(self, others: int) -> None:
        """Measure the size of the files; `others` is the size of the files outside the archive."""
        self.usage = replace(self.usage, bytes=others + self._sessions.archive.size())

    def _prune(self, name: SessionId, answer_retention: AnswerRetention, drops_marked: bool) -> int:
        dropped = 0

        def prune(session: Session) -> Session | None:
            nonlocal dropped
            after = answer_retention.pruned(session, drops_marked=drops_marked)
            dropped = session.answers - after.answers
            return after if dropped else None

        return dropped if self._sessions.changes.change_archived(name, prune) else 0


def _questions_only(answer_retention: AnswerRetention) -> AnswerRetention:
    return replace(answer_retention, threshold=_KEEP_NOTHING, interests=frozenset())


class QaDiskUsage(Struct, frozen=True):
    """The number of archived sessions, the bytes of the other files, and the bytes of the archive."""

    archived: int = 0
    bytes: int = 0
    archive_bytes: int = 0


def disk_usage(workspace: Path) -> QaDiskUsage:
    """Measure the files of a workspace. Raises OSError for disk errors."""
    archive = SessionFiles(workspace, ARCHIVE).stats().values()
    others = SessionFiles(workspace, SESSIONS).size() + MainFile(workspace).size()
    return QaDiskUsage(len(archive), others, sum(stat.size for stat in archive))
