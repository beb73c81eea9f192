"""Adding turns to sessions: by session key, by the answer to the last question, and from a transcript.

An answer comes after its question, in parts perhaps. A transcript has a session of its own, which also says how far the
transcript was taken.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.sessions.making_turns import (
    FoundTurn,
    RawTurn,
    TakenTurns,
    TranscriptPlace,
    is_transcript_session,
    joined_answer,
    made_turn,
    place_of,
    transcript_key,
    transcript_session,
    with_turns,
)
from memoryd.domain.sessions.names import is_earlier, is_over, safe_id, session_id
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, SessionEnd, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import Denied, NotFound, StoreUnavailable
from memoryd.sessions.workspace_sessions import SessionArchive, WorkspaceSessions

_TRIES = 20


class _TakenError(Denied):
    """The name of a session cannot be used: it is another's, or reserved. The text does not say which."""

    def __init__(self, name: SessionId) -> None:
        super().__init__(
            f"there is no session {name} that could be gone on with, and none can be begun",
            hint="choose another name, or leave it out and give the sessionKey alone",
        )


class AddedTurn(Struct, frozen=True):
    """A turn that was stored, or answered; `dropped_answer` is what was not kept of it."""

    session: SessionId
    turn: Turn
    dropped_answer: str | None = None
    is_repeated: bool = False
    """It stood there already, and nothing was stored."""


def never_repeated(_session: Session) -> Turn | None:
    """Take every turn for a new one."""
    return None


def check_remembered(session: Session) -> None:
    """Raise NotFound for a session that is marked "do not remember": nothing of it is shown or changed."""
    if not session.is_remembered:
        again = f"memoryctl sessions remember session:{session.id} --yes"
        raise NotFound(f'session {session.id} is marked "do not remember"', hint=again)


class PlaceMovedError(Exception):
    """Somebody else has taken turns of the transcript meanwhile; read on from where that is now."""


class SessionTurns(Struct, frozen=True):
    """The turns of all sessions of one workspace."""

    sessions: WorkspaceSessions
    archive: SessionArchive
    commonness: Commonness

    def append(
        self,
        name: str,
        raw: RawTurn,
        *,
        agent: str,
        key: str = "",
        is_owners: bool = True,
        repeated: Callable[[Session], Turn | None] = never_repeated,
        is_followed: bool = False,
    ) -> AddedTurn | None:
        """Add a turn to a session, which is made if there is none; None if the session is not to be remembered.

        `repeated` finds the turn that it is once more; then nothing is added. Of a session that `is_followed` a memory
        is made when it ends. Raises Denied for the session of another
        agent or key, StoreError for a file that cannot be read, StoreUnavailable where the disk stands in the way or
        the files are as large as they may be.
        """
        identity = self.sessions.named(name)
        added = list[AddedTurn]()

        def add(session: Session) -> Session | None:
            added.clear()
            if session.agent != agent or not session.may_be_written(key, is_owners=is_owners):
                raise _TakenError(identity)
            if place_of(session) is not None or (not session.turns and is_transcript_session(identity)):
                # the reader of its transcript is its only writer
                raise _TakenError(identity)
            if not session.is_remembered:
                return None
            if (before := repeated(session)) is not None:
                added.append(AddedTurn(identity, before, is_repeated=True))
                return None
            self.archive.check_open()
            made = made_turn(raw, session, answer_retention=self.archive.answer_retention, commonness=self.commonness)
            added.append(AddedTurn(identity, made.turn, made.dropped_answer))
            # one that was opened without a key gets that of its next turn
            end = SessionEnd.OPEN if is_followed and session.end is SessionEnd.NONE else session.end
            return replace(session, turns=(*session.turns, made.turn), key=session.key or key, end=end)

        fresh = Session(identity, raw.timestamp, agent=agent, key=key)
        # it counts as added even if the session is forgotten at once
        self.sessions.change(identity, add, fresh=fresh)
        for turn in added:
            if not turn.is_repeated:
                self.archive.note(turn.turn)
        return added[0] if added else None

    def append_by_key(
        self,
        key: str,
        raw: RawTurn,
        *,
        agent: str,
        repeated: Callable[[Session], Turn | None] = never_repeated,
        is_followed: bool = False,
    ) -> AddedTurn | None:
        """Add a turn to the session of a session key that goes on, or to a new one; as `append` does."""
        for _ in range(_TRIES):
            try:
                name = self.session_for(key, agent, raw.timestamp)
                if (before := self._sent_before(name, key, agent, repeated)) is not None:
                    return before
                return self.append(name, raw, agent=agent, key=key, repeated=repeated, is_followed=is_followed)
            except _TakenError:
                # another key got the name between the two calls; the next one is free
                continue
        raise StoreUnavailable(f"no name is free for a session of the key {key!r}")

    def _sent_before(
        self, name: SessionId, key: str, agent: str, repeated: Callable[[Session], Turn | None]
    ) -> AddedTurn | None:
        """Return the last turn of the session before one that is to begin, where what begins it was sent once more."""
        newest = None if self.sessions.has(name) else self.sessions.known.newest(agent, key, is_open=True)
        if newest is None or not newest.head.is_remembered:
            return None
        with suppress(NotFound):
            same = repeated(self.sessions.read(newest.head.id, agent=agent))
            return None if same is None else AddedTurn(newest.head.id, same, is_repeated=True)
        return None

    def session_for(self, key: str, agent: str, at: datetime) -> SessionId:
        """Return the session that a turn with a session key belongs to at a time: one that goes on, or a new name."""
        # another process may have begun it
        newest = self._going_on(key, agent, at) or self.current_session(key, agent, at)
        return newest or session_id(
            key, at.date(), lambda name: not (self.sessions.has(name) or is_transcript_session(name))
        )

    def newest_session(self, key: str | None, agent: str) -> SessionId | None:
        """Return the newest session of an agent with a session key or with any, None if there is none."""
        newest = self.sessions.known.newest(agent, key)
        return newest.head.id if newest else None

    def current_session(self, key: str, agent: str, at: datetime) -> SessionId | None:
        """Return the session of an agent with a session key that goes on at a time, None if there is none."""
        self.sessions.look()
        return self._going_on(key, agent, at)

    def session_before(self, key: str, agent: str, at: datetime | None) -> SessionId | None:
        """Return the session that a message of a key takes up: the one that goes on at its time, else the newest."""
        return (None if at is None else self._going_on(key, agent, at)) or self.newest_session(key, agent)

    def is_excluded(self, key: str, agent: str, at: datetime) -> bool:
        """Tell whether the session of a key that goes on at a time was marked as not to be remembered."""
        self.sessions.look()
        newest = self.sessions.known.newest(agent, key, is_open=True, at=at)
        return newest is not None and not newest.head.is_remembered

    def check_may_mark(self, session: SessionId, *, agent: str, key: str, is_owners: bool) -> None:
        """Raise Denied if a session is of another session key, NotFound if the agent has none of this name."""
        self._check_writable(self.sessions.read(session, agent=agent), key, is_owners)

    def mark(
        self, session: SessionId, seq: int, answer: str | None, *, agent: str, key: str = "", is_owners: bool = True
    ) -> None:
        """Keep this answer with a turn, or none; raises NotFound if there is no such turn of the agent's, Denied."""
        clean, session = None if answer is None else harmless_text(answer), safe_id(session)

        def change_mark(stored: Session) -> Session:
            if stored.agent != agent or all(turn.seq != seq for turn in stored.turns):
                raise NotFound(f"there is no turn {turn_address(session, seq)}")
            self._check_writable(stored, key, is_owners)
            check_remembered(stored)
            turns = (
                replace(turn, answer=clean, is_marked=clean is not None) if turn.seq == seq else turn
                for turn in stored.turns
            )
            return replace(stored, turns=tuple(turns))

        self.sessions.change(session, change_mark)

    def set_remembered(self, session: SessionId, is_remembered: bool, *, agent: str) -> None:
        """Mark a session "do not remember", or take that back; its turns stay. Raises NotFound if there is none."""
        session = safe_id(session)

        def change_mark(stored: Session) -> Session:
            if stored.agent != agent:
                raise NotFound(f"there is no session {session}")
            return replace(stored, is_remembered=is_remembered)

        self.sessions.change(session, change_mark)

    def _check_writable(self, session: Session, key: str, is_owners: bool) -> None:
        if not session.may_be_written(key, is_owners=is_owners):
            raise Denied(f"session {session.id} is of another session key", hint="ask on the owner's socket")

    def _going_on(self, key: str, agent: str, at: datetime) -> SessionId | None:
        newest = self.sessions.known.newest(agent, key, is_open=True, at=at)
        return None if newest is None else newest.head.id

    def waiting(self, key: str, agent: str, at: datetime) -> tuple[SessionId, Turn] | None:
        """Return the last turn that was said under a session key, if what is said at a time can be its answer.

        One that was answered goes on being so until its session is over.
        """
        self.sessions.look()
        known = self.sessions.known
        # one that was over before its answer came is nearer than one that was asked at another time
        of_then = known.newest(agent, key, is_open=True, at=at) or known.newest(agent, key, at=at)
        newest = of_then or known.newest(agent, key, is_open=True) or known.newest(agent, key)
        if newest is None or not newest.head.is_remembered or place_of(newest.head) is not None:
            return None
        whole = self.sessions.read(newest.head.id, agent=agent)
        last = whole.turns[-1] if whole.turns else None
        has_ended = whole.end.is_over or is_over(whole.last_activity, at)
        if last is None or is_earlier(at, whole.begun) or (last.is_answered and has_ended):
            return None
        return whole.id, last

    def answer(self, session: SessionId, seq: int, text: str, *, agent: str, held: str = "") -> AddedTurn | None:
        """Add an answer to a turn, behind what was answered before; None if the turn is gone, or a newer one is there.

        `held` is the answer that it had and that was not kept. Raises Denied, NotFound, StoreError, StoreUnavailable.
        """
        clean = harmless_text(text)
        made: list[AddedTurn] = []

        def add_answer(stored: Session) -> Session | None:
            made.clear()
            last = stored.turns[-1] if stored.turns else None
            if stored.agent != agent or not stored.is_remembered or last is None or last.seq != seq:
                return None
            whole = joined_answer(last.answer or held, clean)
            if whole is None:
                made.append(AddedTurn(session, last, is_repeated=True))
                return None
            before = replace(stored, turns=stored.turns[:-1])
            made.append(self._with_answer(before, last, whole))
            return replace(stored, turns=(*before.turns, made[0].turn))

        self.sessions.change(session, add_answer)
        return made[0] if made else None

    def _with_answer(self, before: Session, turn: Turn, answer: str) -> AddedTurn:
        raw = RawTurn(turn.question, answer, turn.timestamp)
        made = made_turn(raw, before, answer_retention=self.archive.answer_retention, commonness=self.commonness)
        kept = made.turn.answer if made.turn.answer is not None or not turn.is_marked else answer
        told = replace(made.turn, seq=turn.seq, answer=kept, is_marked=turn.is_marked, extra=turn.extra)
        return AddedTurn(before.id, told, made.dropped_answer if kept is None else None)

    def transcript_place(self, file: str, *, agent: str) -> TranscriptPlace | None:
        """Return how far the turns of a transcript were taken, None if none were; raises StoreError."""
        try:
            return place_of(self.sessions.read(transcript_session(agent, file), agent=agent))
        except NotFound:
            return None

    def take_transcript(
        self,
        found: Sequence[FoundTurn],
        place: TranscriptPlace,
        *,
        before: TranscriptPlace | None,
        agent: str,
        open_seq: int = 0,
        goes_on: bool = False,
    ) -> TakenTurns | None:
        """Add turns of a transcript and note how far it is taken, in one write; `before` is the place before.

        The first replaces the turn `open_seq`; with `goes_on` more of the last answer may follow. None if the session
        is not to be remembered. Raises PlaceMovedError, and what `append` does.
        """
        name, key = transcript_session(agent, place.file), transcript_key(place.file)
        taken: list[TakenTurns] = []

        def take_turns(session: Session) -> Session | None:
            taken.clear()
            if (session.agent, session.key) != (agent, key):
                raise Denied(f"session {name} is of no transcript {place.file!r} of this agent")
            if not session.is_remembered:
                return None
            if place_of(session) != before:
                raise PlaceMovedError(name)
            self.archive.check_open()
            rules = self.archive.answer_retention, self.commonness
            taken.append(with_turns(session, found, place, *rules, open_seq=open_seq, goes_on=goes_on))
            return None if taken[0].session == session else taken[0].session

        self.sessions.change(name, take_turns, fresh=Session(name, found[0].at, agent=agent, key=key))
        for made in taken[0].made if taken else ():
            self.archive.note(made.turn)
        return taken[0] if taken else None
