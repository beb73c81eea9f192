"""Move sessions that have grown old to the archive, list it, and keep all files within their bound."""

from datetime import datetime

from memoryd.domain.sessions.documents import SessionStub
from memoryd.domain.sessions.turns import SessionId
from memoryd.sessions.known_sessions import head_of
from memoryd.sessions.qa_room import QaRoom, QaUsage
from memoryd.sessions.session_changes import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions


class SessionArchive:
    """The archive of one workspace."""

    def __init__(self, sessions: WorkspaceSessions, room: QaRoom) -> None:
        self._sessions = sessions
        self._room = room

    def stubs(self, agent: str) -> list[SessionStub]:
        """Return the sessions of an agent in the archive, the newest first, without their turns."""
        with unavailable():
            found = self._room.archived.look()
        return [stub for stub in reversed(found) if stub.session.agent == agent]

    def put_away(self, now: datetime) -> list[SessionId]:
        """Move the sessions that have grown old to the archive, and return them."""
        self._sessions.check_writable()
        known = self._sessions.known.all().values()
        entries = (one.entry for one in known if one.entry is not None and not one.problem)
        old = [head_of(entry).id for entry in entries if self._room.usual.is_old(entry.last_activity, now)]
        moved = [name for name in old if self._moved(name, now)]
        if moved:
            self._sessions.note_change()
        return moved

    @property
    def usage(self) -> QaUsage:
        """How large the files are, as of the last measuring."""
        return self._room.usage

    def make_room(self) -> None:
        """Measure the files, and prune the archive as far as they are too large; raises StoreError."""
        # the lock is let go after each: who adds a turn must not wait for all of them
        while self._made_room():
            pass

    def _made_room(self) -> bool:
        with unavailable():
            others = self._sessions.main.size() + sum(stat.size for stat in self._sessions.files.stats().values())
        with self._sessions.writing, unavailable():
            if self._sessions.is_read_only:
                self._room.measure(others)
                return False
            return self._room.make(self._sessions.changes, others)

    def _moved(self, name: SessionId, now: datetime) -> bool:
        with self._sessions.writing:
            usual = self._room.usual
            is_moved = self._sessions.changes.put_away(name, lambda one: usual.is_old(one.last_activity, now))
            if is_moved:
                self._sessions.known.drop(name)
                # found from there at once
                self._sessions.archived.see(name)
        return is_moved
