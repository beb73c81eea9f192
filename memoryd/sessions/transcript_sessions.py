"""Put the turns of a transcript into a session of its own, and tell there how far the transcript was taken."""

from collections.abc import Sequence

from memoryd.domain.sessions.taking_turns import (
    FoundTurn,
    TakenTurns,
    TranscriptPlace,
    place_of,
    transcript_key,
    transcript_session,
    with_turns,
)
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session
from memoryd.errors import Denied, NotFound
from memoryd.sessions.qa_room import QaRoom
from memoryd.sessions.workspace_sessions import WorkspaceSessions


class PlaceMovedError(Exception):
    """Somebody else has taken turns of the transcript meanwhile; read on from where that is now."""


class TranscriptSessions:
    """The sessions of one workspace that are of transcripts; nobody else adds to them."""

    def __init__(self, sessions: WorkspaceSessions, room: QaRoom, commonness: Commonness) -> None:
        self._sessions = sessions
        self._room = room
        self._commonness = commonness

    def place(self, file: str, *, agent: str) -> TranscriptPlace | None:
        """Return how far the turns of a transcript were taken, None if none were; raises StoreError."""
        try:
            return place_of(self._sessions.read(transcript_session(agent, file), agent=agent))
        except NotFound:
            return None

    def take(
        self,
        found: Sequence[FoundTurn],
        place: TranscriptPlace,
        *,
        before: TranscriptPlace | None,
        agent: str,
        open_seq: int = 0,
        goes_on: bool = False,
    ) -> TakenTurns | None:
        """Add turns of a transcript and note how far it is taken, in one write; `before` is what `place` told.

        The first replaces the turn `open_seq`; with `goes_on` more of the last answer may follow. None if the session
        is not to be remembered. Raises PlaceMovedError, and what `SessionTurns.append` does.
        """
        name, key = transcript_session(agent, place.file), transcript_key(place.file)
        taken: list[TakenTurns] = []

        def added(session: Session) -> Session | None:
            taken.clear()
            if (session.agent, session.key) != (agent, key):
                raise Denied(f"session {name} is of no transcript {place.file!r} of this agent")
            if not session.is_remembered:
                return None
            if place_of(session) != before:
                raise PlaceMovedError(name)
            self._room.check_open()
            rules = self._room.keeping, self._commonness
            taken.append(with_turns(session, found, place, *rules, open_seq=open_seq, goes_on=goes_on))
            return None if taken[0].session == session else taken[0].session

        self._sessions.change(name, added, fresh=Session(name, found[0].at, agent=agent, key=key))
        for made in taken[0].made if taken else ():
            self._room.note(made.turn)
        return taken[0] if taken else None
