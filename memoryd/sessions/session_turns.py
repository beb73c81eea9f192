"""Add turns to sessions: by session key, as an answer to the last question, and from a transcript.

An answer comes after its question, possibly in parts. A transcript has its own session, which also stores how far its
turns were taken.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.sessions.making_turns import (
    RawTurn,
    TakenTurns,
    TranscriptPlace,
    TranscriptTurn,
    add_turns,
    is_transcript_session,
    join_answer,
    make_turn,
    place_of,
    transcript_key,
    transcript_session,
)
from memoryd.domain.sessions.names import is_earlier, is_over, safe_id, session_id
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, SessionEnd, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import Denied, NotFound, StoreUnavailable
from memoryd.sessions.workspace_sessions import SessionArchive, WorkspaceSessions

_TRIES = 20


class _TakenError(Denied):
    """The name of a session belongs to another agent or key, or is reserved. The message does not say which."""

    def __init__(self, name: SessionId) -> None:
        super().__init__(
            f"there is no session {name} that could be gone on with, and none can be begun",
            hint="choose another name, or leave it out and give the sessionKey alone",
        )


class AddedTurn(Struct, frozen=True):
    """A turn that was stored or answered; `dropped_answer` is the answer if it was not kept."""

    session: SessionId
    turn: Turn
    dropped_answer: str | None = None
    is_repeated: bool = False
    """The turn existed already, and nothing was stored."""


def never_repeated(_session: Session) -> Turn | None:
    """Return None: every turn is new."""
    return None


def check_remembered(session: Session) -> None:
    """Raise NotFound for a session that is marked "do not remember": it is neither shown nor changed."""
    if not session.is_remembered:
        again = f"memoryctl sessions remember session:{session.id} --yes"
        raise NotFound(f'session {session.id} is marked "do not remember"', hint=again)


class PlaceMovedError(Exception):
    """Another process has taken turns of the transcript in between; read on from the new place."""


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
        """Add a turn to a session, which is created if needed. Return None if the session is not to be remembered.

        `repeated` returns the stored turn if the new one repeats it; then nothing is added. If `is_followed`, a memory
        is made of the session when it ends. Raises Denied for the session of another agent or key, StoreError for a
        file that cannot be read, StoreUnavailable for disk errors or if the files have reached their largest size.
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
            made = make_turn(raw, session, answer_retention=self.archive.answer_retention, commonness=self.commonness)
            added.append(AddedTurn(identity, made.turn, made.dropped_answer))
            # a session without a key gets the key of its next turn
            end = SessionEnd.OPEN if is_followed and session.end is SessionEnd.NONE else session.end
            return replace(session, turns=(*session.turns, made.turn), key=session.key or key, end=end)

        fresh = Session(identity, raw.timestamp, agent=agent, key=key)
        self.sessions.change(identity, add, fresh=fresh)
        # the turn counts as added even if the session is forgotten at once
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
        """Add a turn to the current session of a session key, or to a new one; otherwise like `append`."""
        for _ in range(_TRIES):
            try:
                name = self.session_for(key, agent, raw.timestamp)
                if (before := self._sent_before(name, key, agent, repeated)) is not None:
                    return before
                return self.append(name, raw, agent=agent, key=key, repeated=repeated, is_followed=is_followed)
            except _TakenError:
                # another key took the name between the two calls: try the next name
                continue
        raise StoreUnavailable(f"no name is free for a session of the key {key!r}")

    def _sent_before(
        self, name: SessionId, key: str, agent: str, repeated: Callable[[Session], Turn | None]
    ) -> AddedTurn | None:
        """Return the last turn of the previous session if a message that would begin a new session repeats it."""
        newest = None if self.sessions.has(name) else self.sessions.known.newest(agent, key, is_open=True)
        if newest is None or not newest.head.is_remembered:
            return None
        with suppress(NotFound):
            turn = repeated(self.sessions.read(newest.head.id, agent=agent))
            return None if turn is None else AddedTurn(newest.head.id, turn, is_repeated=True)
        return None

    def session_for(self, key: str, agent: str, at: datetime) -> SessionId:
        """Return the session for a turn with a session key and a time: the current one, or a new name."""
        # current_session scans the disk: another process may have begun the session
        newest = self._known_current(key, agent, at) or self.current_session(key, agent, at)
        return newest or session_id(
            key, at.date(), lambda name: not (self.sessions.has(name) or is_transcript_session(name))
        )

    def newest_session(self, key: str | None, agent: str) -> SessionId | None:
        """Return the newest session of an agent with a session key (None: any key), or None if there is none."""
        newest = self.sessions.known.newest(agent, key)
        return newest.head.id if newest else None

    def current_session(self, key: str, agent: str, at: datetime) -> SessionId | None:
        """Scan the disk, and return the session of a session key that is current at a time, None if there is none."""
        self.sessions.scan()
        return self._known_current(key, agent, at)

    def session_before(self, key: str, agent: str, at: datetime | None) -> SessionId | None:
        """Return the session that a message of a key continues: the current one at its time, else the newest."""
        return (None if at is None else self._known_current(key, agent, at)) or self.newest_session(key, agent)

    def is_excluded(self, key: str, agent: str, at: datetime) -> bool:
        """Return whether the session of a key that is current at a time is marked "do not remember"."""
        self.sessions.scan()
        newest = self.sessions.known.newest(agent, key, is_open=True, at=at)
        return newest is not None and not newest.head.is_remembered

    def check_may_mark(self, session: SessionId, *, agent: str, key: str, is_owners: bool) -> None:
        """Raise Denied if a session belongs to another session key, NotFound if the agent has no such session."""
        self._check_writable(self.sessions.read(session, agent=agent), key, is_owners)

    def mark(
        self, session: SessionId, seq: int, answer: str | None, *, agent: str, key: str = "", is_owners: bool = True
    ) -> None:
        """Store a marked answer with a turn, or remove it with None.

        Raises Denied, or NotFound if there is no such turn.
        """
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
        """Mark a session "do not remember", or remove the mark; its turns stay. Raises NotFound."""
        session = safe_id(session)

        def change_mark(stored: Session) -> Session:
            if stored.agent != agent:
                raise NotFound(f"there is no session {session}")
            return replace(stored, is_remembered=is_remembered)

        self.sessions.change(session, change_mark)

    def _check_writable(self, session: Session, key: str, is_owners: bool) -> None:
        if not session.may_be_written(key, is_owners=is_owners):
            raise Denied(f"session {session.id} is of another session key", hint="ask on the owner's socket")

    def _known_current(self, key: str, agent: str, at: datetime) -> SessionId | None:
        newest = self.sessions.known.newest(agent, key, is_open=True, at=at)
        return None if newest is None else newest.head.id

    def waiting(self, key: str, agent: str, at: datetime) -> tuple[SessionId, Turn] | None:
        """Return the last turn of a session key if a message of this time can be its answer.

        A turn that has an answer can get more of it until its session is over.
        """
        self.sessions.scan()
        known = self.sessions.known
        # an ended session of that time is preferred to a session of another time
        of_that_time = known.newest(agent, key, is_open=True, at=at) or known.newest(agent, key, at=at)
        newest = of_that_time or known.newest(agent, key, is_open=True) or known.newest(agent, key)
        if newest is None or not newest.head.is_remembered or place_of(newest.head) is not None:
            return None
        session = self.sessions.read(newest.head.id, agent=agent)
        last = session.turns[-1] if session.turns else None
        has_ended = session.end.is_over or is_over(session.last_activity, at)
        if last is None or is_earlier(at, session.begun) or (last.is_answered and has_ended):
            return None
        return session.id, last

    def answer(self, session: SessionId, seq: int, text: str, *, agent: str, held: str = "") -> AddedTurn | None:
        """Append an answer to the answer of a turn. Return None unless the turn is still the last of its session.

        `held` is the earlier answer if it was not kept in the turn. Raises Denied, NotFound, StoreError,
        StoreUnavailable.
        """
        clean = harmless_text(text)
        made: list[AddedTurn] = []

        def add_answer(stored: Session) -> Session | None:
            made.clear()
            last = stored.turns[-1] if stored.turns else None
            if stored.agent != agent or not stored.is_remembered or last is None or last.seq != seq:
                return None
            joined = join_answer(last.answer or held, clean)
            if joined is None:
                made.append(AddedTurn(session, last, is_repeated=True))
                return None
            before = replace(stored, turns=stored.turns[:-1])
            made.append(self._with_answer(before, last, joined))
            return replace(stored, turns=(*before.turns, made[0].turn))

        self.sessions.change(session, add_answer)
        return made[0] if made else None

    def _with_answer(self, before: Session, turn: Turn, answer: str) -> AddedTurn:
        raw = RawTurn(turn.question, answer, turn.timestamp)
        made = make_turn(raw, before, answer_retention=self.archive.answer_retention, commonness=self.commonness)
        stored = made.turn.answer if made.turn.answer is not None or not turn.is_marked else answer
        answered = replace(made.turn, seq=turn.seq, answer=stored, is_marked=turn.is_marked, extra=turn.extra)
        return AddedTurn(before.id, answered, made.dropped_answer if stored is None else None)

    def transcript_place(self, file: str, *, agent: str) -> TranscriptPlace | None:
        """Return the place up to which turns of a transcript were taken, None if none were. Raises StoreError."""
        try:
            return place_of(self.sessions.read(transcript_session(agent, file), agent=agent))
        except NotFound:
            return None

    def take_transcript(
        self,
        turns: Sequence[TranscriptTurn],
        place: TranscriptPlace,
        *,
        before: TranscriptPlace | None,
        agent: str,
        open_seq: int = 0,
        goes_on: bool = False,
    ) -> TakenTurns | None:
        """Add turns of a transcript and store the new place in one write.

        `before` is the place that must be stored now; raises PlaceMovedError if it is not. The first turn replaces turn
        `open_seq`; with `goes_on` more of the last answer may follow. Return None if the session is not to be
        remembered. Raises like `append`, too.
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
            taken.append(add_turns(session, turns, place, *rules, open_seq=open_seq, goes_on=goes_on))
            return None if taken[0].session == session else taken[0].session

        self.sessions.change(name, take_turns, fresh=Session(name, turns[0].at, agent=agent, key=key))
        for made in taken[0].made if taken else ():
            self.archive.note(made.turn)
        return taken[0] if taken else None
