"""The sessions of a workspace as they are in its files: what is known of them, their size, and the lock around changes.

Many threads and processes may change them: each change is one compare-and-swap of one file, so that none is lost.
Everything here may wait for the disk and is called in a thread.

Old sessions are archived. Over the bound of disk archived ones lose answers, oldest first: first those that are not
significant enough by the rules of today, then all but the marked ones, and at last these; questions stay. If the files
are too large even so, of new turns the question alone is stored; at four times the bound new turns are refused.
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
from memoryd.errors import NotFound, StoreError, StoreUnavailable, read_only
from memoryd.files.reading import TornReadError
from memoryd.sessions.known_sessions import ArchivedSessions, KnownSessions
from memoryd.sessions.main_file import MainFile, stamp_of
from memoryd.sessions.session_files import UNREADABLE, Change, SessionChanges, SessionFiles, unavailable

CLOSED_AT = 4
"""At so many times the bound no turn is taken."""
_NOTHING = 1.0
"""No significance is above it."""


SESSIONS = "memory/sessions"


ARCHIVE = "memory/archive"


class WorkspaceSessions:
    """The sessions of one workspace; `open` them first. What writes raises Denied where nothing may be written.

    `on_change` is called, in whatever thread, when the main file is behind: `flush` is to be called soon.
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
        """Held while a file is changed; a question never waits for it."""
        self._flushing = threading.Lock()
        """Held while the main file is read or written, which takes long: adding a turn does not wait for it."""
        self._listeners = [on_change]
        self.is_open = False
        """Whether it is known which sessions there are."""

    @property
    def main_problems(self) -> list[str]:
        """What is not ours or damaged where a file for all sessions should be, and stays, each with the reason."""
        return list(self.main.problems)

    def session_problems(self) -> list[tuple[str, str, str]]:
        """Return path and reason of such files of single sessions, and whose they are: empty if that is unknown."""
        return [
            (f"{SESSIONS}/{name}.json", one.problem, one.entry.head.agent if one.entry else "")
            for name, one in sorted(self.known.all().items())
            if one.problem
        ]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` as `on_change` is called."""
        self._listeners.append(listener)

    def open(self) -> None:
        """Read the main file, and of the sessions those that changed since it was made."""
        with self.writing, unavailable():
            (document, stamps), stats = self.main.load(), self.files.stats()
            for entry in document.entries:
                name = entry.head.id
                if name in stats and stamps.get(name) == stamp_of(stats[name]):
                    self.known.take(name, entry, stats[name])
            if self._look(contextlib.nullcontext) or len(stats) != len(document.entries):
                self.note_change()
            self.is_open = True

    def look(self) -> None:
        """See what others have written, so that it is found; costs a stat for each session."""
        if not self.workspace.is_dir():
            # not mounted, perhaps: that its sessions are gone is not believed
            return
        with unavailable():
            if self._look(lambda: self.writing):
                self.note_change()

    def refresh(self, name: SessionId) -> None:
        """See what others have made of one session, in the archive too."""
        with unavailable():
            if not self._refresh(name) and not self.files.has(name):
                self.archived.see(name)

    def learn(self) -> None:
        """Read what of the archive is not known, so that its sessions are found; a year of them takes a second."""
        with unavailable():
            self.archived.look()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others of this process from changing sessions and from writing the main file."""
        with self._flushing, self.writing:
            yield

    def flush(self) -> None:
        """Bring the main file up to date with the sessions, those that others wrote too."""
        self.check_writable()
        with self._flushing, unavailable():
            self._look(lambda: self.writing)
            known = self.known.all()
            entries = [one.entry for one in known.values() if one.entry is not None]
            stamps = {name: stamp_of(one.stat) for name, one in known.items() if not one.problem}
            self.files.settle()
            self.main.write(entries, stamps)

    def read(self, session: SessionId, *, agent: str) -> Session:
        """Return a session of an agent with all its turns, from the archive too; raises NotFound."""
        stored = self.changes.read(self.named(session)).session
        if stored.agent != agent:
            raise NotFound(f"there is no session {session}")
        return stored

    def of(self, agent: str) -> list[Entry]:
        """Return the sessions of an agent that are not in the archive, the newest first."""
        return sorted(self.known.of(agent), key=lambda entry: entry.last_activity, reverse=True)

    def named(self, name: str) -> SessionId:
        """Return the session that a caller means: under this very name if there is one, else without secrets."""
        plain, clean = safe_id(name), named_id(name)
        return plain if plain != clean and self.has(plain) else clean

    def has(self, session: SessionId) -> bool:
        """Tell whether there is a file of a session, in the archive too."""
        with unavailable():
            return self.files.has(session) or self.archive.has(session)

    def knows(self, session: SessionId, *, agent: str) -> bool:
        """Tell whether an agent has a session, or had when its folder was there; true for one that cannot be read.

        Raises StoreUnavailable.
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
            # damaged: it may be this agent's
            return True
        return True

    def entry(self, session: SessionId, *, agent: str) -> Entry | None:
        """Return what is known of a session of an agent that may be gone or damaged by now."""
        known = self.known.get(session) or self.known.archived().get(session)
        entry = None if known is None else known.entry
        return entry if entry is not None and entry.head.agent == agent else None

    def change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> bool:
        """Change a session, or `fresh` where there is none, and return whether anything was written.

        Raises Denied, and what `SessionChanges.change` does.
        """
        self.check_writable()
        with self.writing:
            stored = self.changes.change(name, change, fresh=fresh)
            if stored is not None:
                self.known.take(name, stored.session, stored.stat)
                self.note_change()
        return stored is not None

    def note_change(self) -> None:
        """Tell those who listen that the main file is behind."""
        for listener in self._listeners:
            listener()

    def check_writable(self) -> None:
        """Raise Denied where nothing may be written."""
        if self.is_read_only:
            raise read_only()

    def _look(self, behind: Callable[[], AbstractContextManager[object]]) -> bool:
        """Read the sessions whose files have changed, drop those that are gone; return whether there were any.

        `behind` gives the lock of those who change sessions: it is held for each that is read, and not for all.
        """
        before, stats = self.known.all(), self.files.stats()
        has_changed = False
        for name in before.keys() - stats.keys():
            with behind():
                # it may have come back since its folder was listed
                if self.files.stat(name) is None:
                    self.known.drop(name)
                    has_changed = True
        for name, stat in stats.items():
            if name not in before or before[name].stat != stat:
                with behind():
                    # as it is now: another thread may have changed it, or moved it away
                    has_changed |= self._refresh(name)
        return has_changed

    def _refresh(self, name: SessionId) -> bool:
        """Read one session if its file has changed; return whether it had."""
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
    """The bytes of the files and their bound; `pruned` answers gave way since the start."""

    bytes: int = 0
    max_bytes: int = MAX_BYTES
    pruned: int = 0

    @property
    def is_full(self) -> bool:
        """Whether only questions are kept of what is said."""
        return self.bytes > self.max_bytes

    @property
    def is_closed(self) -> bool:
        """Whether nothing is kept of what is said."""
        return self.bytes > CLOSED_AT * self.max_bytes


class SessionArchive:
    """The archive of one workspace, and the room that all its sessions may take."""

    def __init__(self, sessions: WorkspaceSessions, answer_retention: AnswerRetention, max_bytes: int) -> None:
        self.usage = QaUsage(0, max_bytes)
        """How large the files are, as of the last measuring."""
        self._sessions = sessions
        self._usual = answer_retention

    @property
    def answer_retention(self) -> AnswerRetention:
        """What is kept of a turn as things are."""
        return _questions_alone(self._usual) if self.usage.is_full else self._usual

    def check_open(self) -> None:
        """Raise StoreUnavailable where no turn may be added: as with a full disk it may be, once there is room."""
        if self.usage.is_closed:
            raise StoreUnavailable(
                f"there is no room for another turn: the files of questions and answers have {self.usage.bytes:,} "
                f"bytes, {CLOSED_AT} times memory.qa.maxBytes",
                hint="forget old conversations (memoryctl sessions), or raise memory.qa.maxBytes",
            )

    def note(self, turn: Turn) -> None:
        """Count a turn that was added, until the files are measured again."""
        # the main file has it as well
        added = 2 * (len(turn.question.encode()) + len((turn.answer or "").encode()))
        self.usage = replace(self.usage, bytes=self.usage.bytes + added)

    def stubs(self, agent: str) -> list[SessionStub]:
        """Return the sessions of an agent in the archive, the newest first, without their turns."""
        with unavailable():
            stubs = self._sessions.archived.look()
        return [stub for stub in reversed(stubs) if stub.session.agent == agent]

    def put_away(self, now: datetime) -> list[SessionId]:
        """Move the sessions that have grown old to the archive, and return them."""
        self._sessions.check_writable()
        known = self._sessions.known.all().values()
        entries = (one.entry for one in known if one.entry is not None and not one.problem)
        old = [entry.head.id for entry in entries if self._usual.is_old(entry.last_activity, now)]
        moved = list[SessionId]()
        for name in old:
            with self._sessions.writing:
                if self._sessions.changes.put_away(name, lambda one: self._usual.is_old(one.last_activity, now)):
                    self._sessions.known.drop(name)
                    # found from there at once
                    self._sessions.archived.see(name)
                    moved.append(name)
        if moved:
            self._sessions.note_change()
        return moved

    def make_room(self) -> None:
        """Measure the files, and prune the archive as far as they are too large; raises StoreError."""
        # the lock is let go after each: who adds a turn must not wait for all of them
        while self._prune_one():
            pass

    def _prune_one(self) -> bool:
        """Prune one session of the archive if that must be, and return whether one was."""
        with unavailable():
            others = self._sessions.main.size() + self._sessions.files.size()
        with self._sessions.writing, unavailable():
            self._measure(others)
            nothing = _questions_alone(self._usual)
            for answer_retention, drops_marked in ((self._usual, False), (nothing, False), (nothing, True)):
                is_wanted = self.usage.is_full and not self._sessions.is_read_only
                for stub in self._sessions.archived.look() if is_wanted else ():
                    if stub.answers and (dropped := self._prune(stub.session.id, answer_retention, drops_marked)):
                        self.usage = replace(self.usage, pruned=self.usage.pruned + dropped)
                        self._measure(others)
                        return True
        return False

    def _measure(self, others: int) -> None:
        """See how large the files are; `others` are the bytes of those that are not in the archive."""
        self.usage = replace(self.usage, bytes=others + self._sessions.archive.size())

    def _prune(self, name: SessionId, answer_retention: AnswerRetention, drops_marked: bool) -> int:
        dropped = 0

        def prune(session: Session) -> Session | None:
            nonlocal dropped
            after = answer_retention.pruned(session, drops_marked=drops_marked)
            dropped = session.answers - after.answers
            return after if dropped else None

        return dropped if self._sessions.changes.change_archived(name, prune) else 0


def _questions_alone(answer_retention: AnswerRetention) -> AnswerRetention:
    return replace(answer_retention, threshold=_NOTHING, interests=frozenset())


class QaDiskUsage(Struct, frozen=True):
    """Sessions in the archive, and the bytes of all files, those of the archive apart."""

    archived: int = 0
    bytes: int = 0
    archive_bytes: int = 0


def disk_usage(workspace: Path) -> QaDiskUsage:
    """Measure the files of a workspace; raises OSError where the disk refuses."""
    archive = SessionFiles(workspace, ARCHIVE).stats().values()
    others = SessionFiles(workspace, SESSIONS).size() + MainFile(workspace).size()
    return QaDiskUsage(len(archive), others, sum(stat.size for stat in archive))
