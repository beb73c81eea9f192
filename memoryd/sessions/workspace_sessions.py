"""The sessions of a workspace as they are in its files: what is known of them, their size, and the lock around changes.

Many threads and processes may change them: each change is one compare-and-swap of one file, so that none is lost.
Everything here may wait for the disk and is called in a thread.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from msgspec import Struct

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import Entry
from memoryd.domain.sessions.names import named_id, safe_id
from memoryd.domain.sessions.topics import Commonness, never_common
from memoryd.domain.sessions.turns import Session
from memoryd.errors import Denied, NotFound, StoreError, StoreUnavailable
from memoryd.files.reading import TornReadError
from memoryd.sessions.known_sessions import ArchivedSessions, KnownSessions
from memoryd.sessions.main_file import MAIN, STAMPS, TOPICS, MainFile, stamp_of
from memoryd.sessions.session_files import UNREADABLE, Change, SessionChanges, SessionFiles, unavailable

SESSIONS: Final = "memory/sessions"
ARCHIVE: Final = "memory/archive"


class WorkspaceSessions:
    """The sessions of one workspace; `open` them first. What writes raises Denied where nothing may be written.

    `on_change` is called, in whatever thread, when the main file is behind: `flush` is to be called soon.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        commonness: Commonness = never_common,
        is_read_only: bool = False,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.workspace = workspace
        self.files = SessionFiles(workspace, SESSIONS)
        self.archive = SessionFiles(workspace, ARCHIVE)
        self.changes = SessionChanges(self.files, self.archive)
        self.main = MainFile(workspace)
        self.known = KnownSessions(commonness)
        self.looking = SessionWatch(self.files, self.known)
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
            if self.looking.look(contextlib.nullcontext) or len(stats) != len(document.entries):
                self.note_change()
            self.is_open = True

    def look(self) -> None:
        """See what others have written, so that it is found; costs a stat for each session."""
        if not self.workspace.is_dir():
            # not mounted, perhaps: that its sessions are gone is not believed
            return
        with unavailable():
            if self.looking.look(lambda: self.writing):
                self.note_change()

    def refresh(self, name: SessionId) -> None:
        """See what others have made of one session, in the archive too."""
        with unavailable():
            if not self.looking.refresh(name) and not self.files.has(name):
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
            self.looking.look(lambda: self.writing)
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
            raise Denied("nothing is written: memory.readOnly is true", hint="set memory.readOnly: false")


class QaDiskUsage(Struct, frozen=True):
    """Sessions in the archive, and the bytes of all files, those of the archive apart."""

    archived: int = 0
    bytes: int = 0
    archive_bytes: int = 0


def disk_usage(workspace: Path) -> QaDiskUsage:
    """Measure the files of a workspace; raises OSError where the disk refuses."""
    archive = SessionFiles(workspace, ARCHIVE).stats().values()
    others = SessionFiles(workspace, SESSIONS).size()
    for name in (MAIN, TOPICS, STAMPS):
        with contextlib.suppress(FileNotFoundError):
            others += (workspace / name).lstat().st_size
    return QaDiskUsage(len(archive), others, sum(stat.size for stat in archive))


class SessionWatch(Struct, frozen=True):
    """Keeps what is known of the sessions of a folder equal to its files, whenever it is asked to look."""

    files: SessionFiles
    known: KnownSessions

    def look(self, behind: Callable[[], AbstractContextManager[object]]) -> bool:
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
                    has_changed |= self.refresh(name)
        return has_changed

    def refresh(self, name: SessionId) -> bool:
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
