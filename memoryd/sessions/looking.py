"""See what others have changed in the files of sessions: a stat tells, and only what changed is read."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.turns import SessionId
from memoryd.files.reading import TornReadError
from memoryd.sessions.known_sessions import KnownSessions
from memoryd.sessions.session_changes import UNREADABLE
from memoryd.sessions.session_files import SessionFiles


class LookingAtSessions:
    """Keeps what is known of the sessions of a folder equal to its files, whenever it is asked to look."""

    def __init__(self, files: SessionFiles, known: KnownSessions) -> None:
        self._files = files
        self._known = known

    def look(self, behind: Callable[[], AbstractContextManager[object]]) -> bool:
        """Read the sessions whose files have changed, drop those that are gone; return whether there were any.

        `behind` gives the lock of those who change sessions: it is held for each that is read, and not for all.
        """
        before = self._known.all()
        stats = self._files.stats()
        gone = [name for name in before.keys() - stats.keys() if self._dropped(name, behind)]
        changed = [name for name, stat in stats.items() if name not in before or before[name].stat != stat]
        seen = [name for name in changed if self._seen(name, behind)]
        return bool(gone or seen)

    def refresh(self, name: SessionId) -> bool:
        """Read one session if its file has changed; return whether it had."""
        stat = self._files.stat(name)
        return stat is not None and self._read(name, stat)

    def _dropped(self, name: SessionId, behind: Callable[[], AbstractContextManager[object]]) -> bool:
        with behind():
            if self._files.stat(name) is not None:
                # it came back since its folder was listed
                return False
            self._known.drop(name)
        return True

    def _seen(self, name: SessionId, behind: Callable[[], AbstractContextManager[object]]) -> bool:
        with behind():
            # as it is now: whoever had the lock may have changed it, or moved it away
            return self.refresh(name)

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
