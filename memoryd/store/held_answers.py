"""Answers below the bar, held for a week, by agent, session and number of the turn. All rows, and no clock."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import apsw

HELD_FOR: Final = timedelta(days=7)

_HOLD = """
INSERT INTO held_answers (agent, session, seq, answer, held_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (agent, session, seq)
DO UPDATE SET answer = excluded.answer, held_at = excluded.held_at, expires_at = excluded.expires_at
"""
_HELD = "SELECT answer FROM held_answers WHERE agent = ? AND session = ? AND seq = ? AND expires_at > ?"
_DROP = "DELETE FROM held_answers WHERE agent = ? AND session = ? AND seq = ?"
_FORGET = "DELETE FROM held_answers WHERE agent = ? AND session = ?"
_OF_SESSION = "SELECT count(*) FROM held_answers WHERE agent = ? AND session = ?"
_EXPIRE = "DELETE FROM held_answers WHERE expires_at <= ?"
_CUT = "UPDATE held_answers SET held_at = min(held_at, ?1), expires_at = ?2 WHERE expires_at > ?2"
_DROP_OLDEST = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM held_answers WHERE agent = ?1 ORDER BY held_at, id
    LIMIT max(0, (SELECT count(*) FROM held_answers WHERE agent = ?1) - ?2))
"""
_FILE_BYTES = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
# the newest first: as long as all of them together fit, they stay
_DROP_BEYOND = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(octet_length(answer)) OVER (ORDER BY held_at DESC, id DESC) AS total
        FROM held_answers WHERE agent = ?1
    ) WHERE total > ?2)
"""
_COUNT = "SELECT count(*), ifnull(sum(octet_length(answer)), 0) FROM held_answers WHERE agent = ? AND expires_at > ?"


@dataclass(frozen=True, slots=True)
class HeldKey:
    """Names the turn whose answer is held."""

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class HeldAnswer:
    """An answer that is held for a week; `since` is in seconds since 1970."""

    key: HeldKey
    answer: str
    since: float


@dataclass(frozen=True, slots=True)
class HoldingLimits:
    """How much may be held for one agent, the oldest going first; `answer_bytes` is the longest answer, in UTF-8."""

    answers: int = 5_000
    total_bytes: int = 16 * 2**20
    answer_bytes: int = 256 * 2**10


@dataclass(frozen=True, slots=True)
class HeldCount:
    """How many answers are held for an agent, and their bytes in UTF-8."""

    answers: int = 0
    bytes: int = 0


def hold(db: apsw.Connection, one: HeldAnswer, now: float, limits: HoldingLimits) -> None:
    """Hold an answer, in the stead of one that is held for the turn, and drop what has expired or is too much."""
    # first: what expired takes nobody's place, nor does what a clock that was ahead has made the newest
    expire(db, now)
    key, expires_at = one.key, one.since + HELD_FOR.total_seconds()
    db.execute(_HOLD, (key.agent, key.session, key.seq, one.answer, one.since, expires_at))
    db.execute(_DROP_OLDEST, (key.agent, limits.answers))
    # to add them up takes some milliseconds, and a file that is smaller holds no more
    if db.execute(_FILE_BYTES).get > limits.total_bytes:
        db.execute(_DROP_BEYOND, (key.agent, limits.total_bytes))


def held(db: apsw.Connection, key: HeldKey, now: float) -> str | None:
    """Return the answer that is held for a turn and has not expired."""
    answer: str | None = db.execute(_HELD, (key.agent, key.session, key.seq, now)).get
    return answer


def drop(db: apsw.Connection, key: HeldKey) -> int:
    """Delete the answer of a turn; return how many were held."""
    db.execute(_DROP, (key.agent, key.session, key.seq))
    return db.changes()


def forget(db: apsw.Connection, agent: str, session: str) -> int:
    """Delete all answers of a session, and return how many they were."""
    db.execute(_FORGET, (agent, session))
    return db.changes()


def count_of_session(db: apsw.Connection, agent: str, session: str) -> int:
    """Count what is held of a session, expired answers too."""
    counted: int = db.execute(_OF_SESSION, (agent, session)).get
    return counted


def expire(db: apsw.Connection, now: float) -> int:
    """Delete what has expired and return how many; no clock that was ahead makes the rest stay for more than a week."""
    db.execute(_EXPIRE, (now,))
    expired = db.changes()
    db.execute(_CUT, (now, now + HELD_FOR.total_seconds()))
    return expired


def count(db: apsw.Connection, agent: str, now: float) -> HeldCount:
    """Count what is held for an agent."""
    return HeldCount(*db.execute(_COUNT, (agent, now)).get)
