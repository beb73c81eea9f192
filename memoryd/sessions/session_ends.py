"""Which sessions are over, and of which of them a memory is still to be made."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from memoryd.domain.sessions.names import is_over
from memoryd.domain.sessions.taking_turns import place_of
from memoryd.domain.sessions.turns import Session, SessionEnd, SessionId
from memoryd.errors import NotFound, StoreError
from memoryd.sessions.known_sessions import head_of
from memoryd.sessions.workspace_sessions import WorkspaceSessions


class SessionEnds:
    """The ends of the sessions of one workspace."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        self._sessions = sessions

    def current(self, key: str, agent: str) -> Session | None:
        """Return the session of a key in which something was said last, with its turns; None if there is none to tell.

        One that has ended is none, nor is one that is not to be remembered, or a transcript's.
        """
        self._sessions.look()
        newest = self._sessions.known.newest(agent, key, is_open=True)
        head = None if newest is None else head_of(newest)
        if head is None or not head.is_remembered or place_of(head) is not None:
            return None
        return self._sessions.read(head.id, agent=agent)

    def end(self, session: SessionId) -> None:
        """Note that a session is over, unless that was noted; raises Denied, NotFound, StoreError."""

        def ended(stored: Session) -> Session | None:
            return None if stored.end.is_over else replace(stored, end=SessionEnd.OWED)

        self._sessions.change(session, ended)

    def due(self, agent: str, now: datetime) -> Iterator[Session]:
        """Yield the sessions of an agent that are over and of which no memory was made, with their turns.

        One that went away or is damaged meanwhile is passed over.
        """
        for entry in self._sessions.of(agent):
            head = head_of(entry)
            has_ended = head.end is SessionEnd.OPEN and is_over(entry.last_activity, now)
            if has_ended or head.end is SessionEnd.OWED:
                with contextlib.suppress(NotFound, StoreError):
                    yield self._sessions.read(head.id, agent=agent)

    def note_told(self, session: SessionId) -> None:
        """Note that a memory was made of a session, or that there is nothing to tell of it; raises as `end` does."""

        def told(stored: Session) -> Session | None:
            return None if stored.end is SessionEnd.TOLD else replace(stored, end=SessionEnd.TOLD)

        self._sessions.change(session, told)

    def note_summed_up(self, session: SessionId, seq: int) -> None:
        """Note that a summary tells a session up to a turn; raises as `end` does."""

        def summed_up(stored: Session) -> Session | None:
            return None if stored.summed_up >= seq else replace(stored, summed_up=seq)

        self._sessions.change(session, summed_up)
