"""See what others have changed in the files of sessions: a stat tells, and only what changed is read."""

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.turns import SessionId
from memoryd.files.octets import TornReadError
from memoryd.sessions.known_sessions import KnownSessions
from memoryd.sessions.session_changes import UNREADABLE
from memoryd.sessions.session_files import SessionFiles


class LookingAtSessions:
    """Keeps what is known of the sessions of a folder equal to its files, whenever it is asked to look."""

    def __init__(self, files: SessionFiles, known: KnownSessions) -> None:
        self._files = files
        self._known = known

    def look(self) -> bool:
        """Read the sessions whose files have changed, drop those that are gone; return whether there were any."""
        stats = self._files.stats()
        gone = self._known.all().keys() - stats.keys()
        for name in gone:
            self._known.drop(name)
        changed = [self._read(name, stat) for name, stat in stats.items()]
        return bool(gone) or any(changed)

    def refresh(self, name: SessionId) -> bool:
        """Read one session if its file has changed; return whether it had."""
        stat = self._files.stat(name)
        return stat is not None and self._read(name, stat)

    def _read(self, name: SessionId, stat: FileStat) -> bool:
        known = self._known.get(name)
        if known is not None and known.stat == stat:
            return False
        try:
            stored = self._files.read(name)
        except (*UNREADABLE, TornReadError, OSError) as exc:
            self._known.refuse(name, stat, str(exc))
            return True
        if stored is not None:
            self._known.take(name, stored.session, stored.stat)
        return True
