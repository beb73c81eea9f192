"""Take a session out of every file of a workspace that is ours, so that nothing brings it back.

A damaged main file is set aside first. The copies of damaged ones go while the session still tells what it holds, then
the truth with the drafts of it, and at last what is made of the truth. The file of a session is changed by
compare-and-swap, and moved between folders behind a lock, so that nobody writes again what he read before.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from memoryd.domain.sessions.turns import Session
from memoryd.sessions.known_sessions import KnownSessions
from memoryd.sessions.main_file import MainFile
from memoryd.sessions.session_changes import SessionChanges, unavailable


@dataclass(frozen=True, slots=True)
class ForgottenFiles:
    """What went with a session: its files and copies of it, and what they held."""

    files: int
    turns: int
    answers: int


class ForgettingSessions:
    """Forgets sessions of one store, whose lock for `writing` it takes."""

    def __init__(
        self,
        *,
        changes: SessionChanges,
        main: MainFile,
        known: KnownSessions,
        writing: threading.Lock,
        flush: Callable[[], None],
    ) -> None:
        self._changes = changes
        self._main = main
        self._known = known
        self._writing = writing
        self._flush = flush

    def forget(self, session: Session) -> ForgottenFiles:
        """Remove a session; a kill in between leaves what a later `forget_remains` ends. Raises StoreError."""
        self._flush()
        with self._writing, unavailable():
            gone = self._main.forget(session) + self._changes.forget(session.id)
            self._known.drop(session.id)
        return ForgottenFiles(gone + self.forget_remains(session), len(session.turns), session.answers)

    def forget_remains(self, session: Session) -> int:
        """Remove what is left of a session that has no file any more; return how many files went."""
        self.sweep()
        self._flush()
        with self._writing, unavailable():
            # the writing may just have set aside a main file that was damaged meanwhile
            return self._main.forget(session)

    def sweep(self) -> None:
        """Remove drafts that nobody is writing any more."""
        with unavailable():
            self._changes.sweep()
            self._main.sweep()
