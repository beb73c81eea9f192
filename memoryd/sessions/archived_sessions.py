"""What is told of the sessions in the archive without reading them again."""

from dataclasses import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.qa_document import SessionStub
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.files.octets import TornReadError
from memoryd.sessions.session_changes import UNREADABLE
from memoryd.sessions.session_files import SessionFiles


class ArchivedSessions:
    """The sessions of an archive as stubs, each read when its file has changed; one thread at a time."""

    def __init__(self, files: SessionFiles) -> None:
        self._files = files
        self._known: dict[SessionId, tuple[FileStat, SessionStub | None]] = {}

    def look(self) -> list[SessionStub]:
        """Return all that can be read, those that were left first at the front; raises OSError."""
        stats = self._files.stats()
        self._known = {name: self._seen(name, stat) for name, stat in stats.items()}
        return sorted((stub for _, stub in self._known.values() if stub), key=lambda stub: stub.last_activity)

    def size(self) -> int:
        """Return the bytes of all of them; raises OSError."""
        return sum(stat.size for stat in self._files.stats().values())

    def _seen(self, name: SessionId, stat: FileStat) -> tuple[FileStat, SessionStub | None]:
        known = self._known.get(name)
        if known is not None and known[0] == stat:
            return known
        try:
            stored = self._files.read(name)
        except (*UNREADABLE, TornReadError, OSError):
            # told when somebody asks for it
            return stat, None
        return (stored.stat, _stub_of(stored.session, self._files.folder)) if stored else (stat, None)


def _stub_of(session: Session, folder: str) -> SessionStub:
    return SessionStub(
        session=replace(session, turns=()),
        file=f"{folder}/{session.id}.json",
        turns=len(session.turns),
        answers=session.answers,
        last_activity=session.last_activity,
        marks=(),
    )
