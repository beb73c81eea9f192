"""Put an answer to the question that was asked last: what an assistant says comes after the user, in parts perhaps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from memoryd.domain.sessions.making_turns import RawTurn, is_answered, joined_answer, made_turn
from memoryd.domain.sessions.names import is_over
from memoryd.domain.sessions.taking_turns import place_of
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.sessions.known_sessions import head_of
from memoryd.sessions.qa_room import QaRoom
from memoryd.sessions.workspace_sessions import WorkspaceSessions

Held = Callable[[SessionId, int], str]
"""What was answered to a turn and is not kept with it; empty where nothing was, or nobody knows."""


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """The turn that was answered. `dropped_answer` is what is not kept of it; `is_repeated`: it was so already."""

    session: SessionId
    turn: Turn
    dropped_answer: str | None = None
    is_repeated: bool = False


class Answering:
    """The answers in all sessions of one workspace."""

    def __init__(self, sessions: WorkspaceSessions, room: QaRoom, commonness: Commonness) -> None:
        self._sessions = sessions
        self._room = room
        self._commonness = commonness

    def waiting(self, key: str, agent: str, at: datetime) -> tuple[SessionId, Turn] | None:
        """Return the last turn that was said under a session key, if what is said now can be its answer.

        One that was answered goes on being so until its session is over.
        """
        self._sessions.look()
        known = self._sessions.known
        newest = known.newest(agent, key, is_open=True) or known.newest(agent, key)
        if newest is None or not head_of(newest).is_remembered or place_of(head_of(newest)) is not None:
            return None
        whole = self._sessions.read(head_of(newest).id, agent=agent)
        last = whole.turns[-1] if whole.turns else None
        has_ended = whole.end.is_over or is_over(whole.last_activity, at)
        if last is None or (is_answered(last) and has_ended):
            return None
        return whole.id, last

    def answer(self, session: SessionId, seq: int, text: str, *, agent: str, held: str = "") -> AnsweredTurn | None:
        """Add an answer to a turn, behind what was answered before; None if the turn is gone, or a newer one is there.

        `held` is the answer that it had and that was not kept. Raises Denied, NotFound, StoreError, StoreUnavailable.
        """
        clean = harmless_text(text)
        made: list[AnsweredTurn] = []

        def answered(stored: Session) -> Session | None:
            made.clear()
            last = stored.turns[-1] if stored.turns else None
            if stored.agent != agent or not stored.is_remembered or last is None or last.seq != seq:
                return None
            whole = joined_answer(last.answer or held, clean)
            if whole is None:
                made.append(AnsweredTurn(session, last, is_repeated=True))
                return None
            before = replace(stored, turns=stored.turns[:-1])
            made.append(self._made(before, last, whole))
            return replace(stored, turns=(*before.turns, made[0].turn))

        self._sessions.change(session, answered)
        return made[0] if made else None

    def _made(self, before: Session, turn: Turn, answer: str) -> AnsweredTurn:
        raw = RawTurn(turn.question, answer, turn.timestamp)
        made = made_turn(raw, before, keeping=self._room.keeping, commonness=self._commonness)
        kept = made.turn.answer if made.turn.answer is not None or not turn.is_marked else answer
        told = replace(made.turn, seq=turn.seq, answer=kept, is_marked=turn.is_marked, extra=turn.extra)
        return AnsweredTurn(before.id, told, made.dropped_answer if kept is None else None)
