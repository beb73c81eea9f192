"""What becomes of a message that is kept: whether it stands there already, and how answers in several parts are one."""

from datetime import datetime, timedelta
from typing import Final

from memoryd.domain.sessions.turns import Session, Turn
from memoryd.wire import ANSWER_CHARS_MAX

RETRY: Final = timedelta(minutes=10)
"""So long the same words may be the same message, sent again, while nobody has answered."""
_LOOKED_AT: Final = 50
"""So many turns back a message that says when it was said may have been sent before."""
_BETWEEN: Final = "\n\n"


def repeated_turn(session: Session, question: str, at: datetime, *, is_timed: bool) -> Turn | None:
    """Return the turn of a session that holds this message already, None if it is new.

    One that says when it was said is the same at the same second; any other as long as it is the last one, without an
    answer, and young. `question` is as it would be stored.
    """
    for turn in reversed(session.turns[-_LOOKED_AT:]):
        if is_timed and turn.question == question and abs(turn.timestamp - at) < timedelta(seconds=1):
            return turn
    last = session.turns[-1] if session.turns else None
    if is_timed or last is None or last.question != question or is_answered(last):
        return None
    return last if abs(at - last.timestamp) < RETRY else None


def is_answered(turn: Turn) -> bool:
    """Tell whether somebody answered, also where the answer is not kept."""
    return turn.answer is not None or turn.significance > 0


def joined_answer(before: str, more: str) -> str | None:
    """Return an answer that was said in parts as one, None if its end says that already; the beginning is kept."""
    if before == more or before.endswith(f"{_BETWEEN}{more}"):
        return None
    return f"{before}{_BETWEEN}{more}"[:ANSWER_CHARS_MAX] if before else more
