"""Take a session out of every file of a workspace that is ours, so that nothing brings it back.

A damaged main file is set aside first. The copies of damaged ones go while the session still tells what it holds, then
the truth with the drafts of it, and at last what is made of the truth. The file of a session is changed by
compare-and-swap, and moved between folders behind a lock, so that nobody writes again what he read before.
"""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime

from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.sessions.known_sessions import head_of
from memoryd.sessions.session_changes import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions


@dataclass(frozen=True, slots=True)
class ForgottenFiles:
    """What went with a session: its files and copies of it, and what they held."""

    files: int
    turns: int
    answers: int


class ForgettingSessions:
    """Forgets sessions of one workspace."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        self._sessions = sessions

    def forget(self, session: SessionId, *, agent: str) -> ForgottenFiles:
        """Remove a session from every file of ours, a damaged one as it is; raises NotFound, Denied, StoreError.

        A kill in between leaves what `finish` ends.
        """
        self._sessions.check_writable()
        return self._forgotten(self._stored(session, agent, datetime.now(UTC)))

    def finish(self, session: SessionId, *, agent: str, asked_at: datetime) -> None:
        """End what a kill ended; a session of the same name that began after it was asked for stays."""
        self._sessions.check_writable()
        with contextlib.suppress(NotFound):
            stored = self._stored(session, agent, asked_at)
            if stored.created <= asked_at:
                self._forgotten(stored)
        self._forget_remains(Session(session, asked_at))

    def sweep(self) -> None:
        """Remove what writers that were killed left: each draft holds a whole session or all of them."""
        self._sessions.check_writable()
        with unavailable():
            self._sessions.changes.sweep()
            self._sessions.main.sweep()

    def _stored(self, session: SessionId, agent: str, now: datetime) -> Session:
        """Return a session; of a damaged one what was known of it before, be it nothing."""
        try:
            return self._sessions.read(session, agent=agent)
        except (NotFound, StoreUnavailable):
            raise
        except StoreError:
            known = self._sessions.known.get(session)
            entry = None if known is None else known.entry
            if entry is not None and head_of(entry).agent != agent:
                raise NotFound(f"there is no session {session}") from None
            return head_of(entry) if entry is not None else Session(session, now)

    def _forgotten(self, session: Session) -> ForgottenFiles:
        self._sessions.flush()
        with self._sessions.alone(), unavailable():
            gone = self._sessions.main.forget(session) + self._sessions.changes.forget(session.id)
            self._sessions.known.drop(session.id)
        return ForgottenFiles(gone + self._forget_remains(session), len(session.turns), session.answers)

    def _forget_remains(self, session: Session) -> int:
        """Remove what is left of a session that has no file any more; return how many files went."""
        self.sweep()
        self._sessions.flush()
        with self._sessions.alone(), unavailable():
            # the writing may just have set aside a main file that was damaged meanwhile
            gone = self._sessions.main.forget(session)
        # nobody who looks sees a difference, but there is more room
        self._sessions.note_change()
        return gone
