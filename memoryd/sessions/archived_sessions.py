"""What is known of the sessions in the archive: each is read once, and again when its file has changed.

They are read in the background, since a year of them is too much for a start; what is kept of them is what they are
looked up by, and a stub.
"""

from collections.abc import Mapping
from dataclasses import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.documents import SessionStub
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.files.reading import TornReadError
from memoryd.sessions.known_sessions import KnownSession, KnownSessions
from memoryd.sessions.session_changes import UNREADABLE
from memoryd.sessions.session_files import SessionFiles


class ArchivedSessions:
    """Keeps what is known of an archive equal to its files, whenever it is asked to; from any thread."""

    def __init__(self, files: SessionFiles, known: KnownSessions) -> None:
        self._files = files
        self._known = known

    def look(self) -> list[SessionStub]:
        """Read what has changed; return all that can be read, the longest left first; raises OSError."""
        for name in self.due():
            self.see(name)
        stubs = [one.entry for one in self._known.archived().values() if isinstance(one.entry, SessionStub)]
        return sorted(stubs, key=lambda stub: stub.last_activity)

    def due(self) -> list[SessionId]:
        """Return the sessions that are to be seen: new, changed or gone; those that were written last come first.

        Raises OSError.
        """
        stats, known = self._files.stats(), self._known.archived()
        live = self._known.all().keys()
        changed = [name for name, stat in stats.items() if name not in live and _stat_of(known, name) != stat]
        changed.sort(key=lambda name: stats[name].mtime_ns, reverse=True)
        return [*changed, *(known.keys() - stats.keys())]

    def see(self, name: SessionId) -> None:
        """Read a session if its file has changed; forget one that is gone."""
        stat = self._files.stat(name)
        if stat is None:
            self._known.drop_archived(name)
            return
        if _stat_of(self._known.archived(), name) == stat:
            return
        try:
            stored = self._files.read(name)
        except (*UNREADABLE, TornReadError, OSError) as exc:
            # told when somebody asks for it
            self._known.refuse_archived(name, stat, str(exc))
            return
        if stored is not None:
            stub = _stub_of(stored.session, self._files.folder)
            self._known.take_archived(stub, stored.session, stored.stat)
            if self._files.stat(name) != stored.stat:
                # forgotten while it was read, perhaps: nothing of it may stay; else it is due again
                self._known.drop_archived(name)

    def size(self) -> int:
        """Return the bytes of all of them; raises OSError."""
        return sum(stat.size for stat in self._files.stats().values())


def _stat_of(known: Mapping[SessionId, KnownSession], name: SessionId) -> FileStat | None:
    return known[name].stat if name in known else None


def _stub_of(session: Session, folder: str) -> SessionStub:
    return SessionStub(
        session=replace(session, turns=()),
        file=f"{folder}/{session.id}.json",
        turns=len(session.turns),
        answers=session.answers,
        last_activity=session.last_activity,
        marks=(),
    )
