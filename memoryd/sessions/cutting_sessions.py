"""Take the words of a forgotten memory out of the sessions of a workspace, those in the archive too."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memoryd.domain.citations import turn_address
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.domain.sessions.making_turns import turns_with, without_words
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.sessions.session_changes import UNREADABLE, unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions


@dataclass(frozen=True, slots=True)
class SaidTurns:
    """The turns of a session in which words stand; `addresses` are theirs, as `session:<id>#Q17`."""

    session: SessionId
    agent: str
    addresses: tuple[str, ...]


class CuttingSessions:
    """Finds words in the sessions of one workspace, whatever agent they are of, and takes them out. Blocks."""

    def __init__(self, sessions: WorkspaceSessions, commonness: Commonness) -> None:
        self._sessions = sessions
        self._commonness = commonness

    def find(self, said: SaidWords) -> list[SaidTurns]:
        """Return where the words stand; reads every session. Raises StoreUnavailable."""
        return _each_once(self._holding(said), said)

    def cut(self, said: SaidWords) -> list[SaidTurns]:
        """Take the words out, and return where they stood; raises Denied, StoreError. Once more is nothing."""
        self._sessions.check_writable()
        found = list(self._holding(said))
        for session in found:
            self._cut(session.id, said)
        if found:
            # the main file has the same turns; a damaged one is set aside by that, and may have them too
            self._sessions.flush()
        with self._sessions.alone(), unavailable():
            self._sessions.changes.sweep()
            for session in found:
                self._sessions.main.forget(session)
        return _each_once(found, said)

    def _holding(self, said: SaidWords) -> Iterator[Session]:
        return (session for session in self._all() if turns_with(session, said))

    def _cut(self, name: SessionId, said: SaidWords) -> None:
        def without(session: Session) -> Session | None:
            return without_words(session, said, self._commonness)

        if self._sessions.files.has(name):
            self._sessions.change(name, without)
        # a kill may have left it in both places
        with self._sessions.writing:
            if self._sessions.changes.change_archived(name, without):
                self._sessions.archived.see(name)
                # it is smaller
                self._sessions.note_change()

    def _all(self) -> Iterator[Session]:
        for files in (self._sessions.files, self._sessions.archive):
            with unavailable():
                names = sorted(files.stats())
            for name in names:
                # gone meanwhile, or damaged: that one is named by the status, and is its owner's to look at
                with contextlib.suppress(*UNREADABLE), unavailable():
                    if stored := files.read(name):
                        yield stored.session


def _each_once(sessions: Iterable[Session], said: SaidWords) -> list[SaidTurns]:
    found: dict[SessionId, SaidTurns] = {}
    for session in sessions:
        addresses = tuple(turn_address(session.id, seq) for seq in turns_with(session, said))
        found.setdefault(session.id, SaidTurns(session.id, session.agent, addresses))
    return list(found.values())
