"""The file of a session: the object that stands for it in `sessions[]` of the reference's document, a turn on a line.

Keys of ours beside the reference's: `agent`, `key` (the session key), and `remember: false` where it is marked,
`end` where a memory is made of it when it is over, and `summed_up`, the last turn that a summary tells; in a turn
`marked: true`, where its answer is.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

from memoryd.domain.sessions.json_values import (
    DamagedDocumentError,
    ForeignDocumentError,
    as_list,
    as_object,
    as_seq,
    as_share,
    as_text,
    as_time,
    dumps,
    loads,
    others,
    told_time,
)
from memoryd.domain.sessions.turns import Session, SessionEnd, SessionId, Turn

_SESSION: Final = frozenset({"session_id", "created", "agent", "key", "remember", "end", "summed_up", "qa_sequence"})
_TURN: Final = frozenset({"seq", "q", "q_tokens", "q_hash", "a", "a_significance", "timestamp", "topic_tags", "marked"})

_END: Final = "\n]}"


def parse_session(data: bytes) -> Session:
    """Return the session of a file; raises ForeignDocumentError for what is no session, or DamagedDocumentError."""
    value = loads(data)
    if not isinstance(value, dict) or "session_id" not in value or "qa_sequence" not in value:
        raise ForeignDocumentError("it has no session_id with a qa_sequence")
    return session_of(value, "")


def render_session(session: Session, before: tuple[Session, str] | None = None) -> str:
    """Return the object of a session, without an end of line.

    `before` is an earlier state with its text: where only a turn was added, the rest of the text is taken from there.
    """
    if before is not None and _is_one_longer(before[0], session):
        return f"{before[1].removesuffix(_END)},\n{dumps(_told_turn(session.turns[-1]))}{_END}"
    turns = ",\n".join(dumps(_told_turn(turn)) for turn in session.turns)
    head = dumps({**session_head(session), **session.extra})[:-1]
    return f'{head}, "qa_sequence": [\n{turns}{_END}' if turns else f'{head}, "qa_sequence": []}}'


def session_head(session: Session) -> Mapping[str, object]:
    """Return the keys of a session that are no turns."""
    ours = {"agent": session.agent, "key": session.key}
    return {
        "session_id": session.id,
        "created": told_time(session.created),
        **{name: value for name, value in ours.items() if value},
        **({} if session.is_remembered else {"remember": False}),
        **({"end": session.end.value} if session.end else {}),
        **({"summed_up": session.summed_up} if session.summed_up else {}),
    }


def session_of(value: Mapping[str, object], where: str) -> Session:
    """Return the session of an object; `where` names its place in what is raised."""
    rows = as_list(value["qa_sequence"], f"{where}qa_sequence")
    turns = tuple(_turn(row, f"{where}qa_sequence[{at}]") for at, row in enumerate(rows))
    if any(one.seq >= other.seq for one, other in pairwise(turns)):
        raise DamagedDocumentError(f"{where}qa_sequence is not in the order of seq")
    return Session(
        id=SessionId(as_text(value["session_id"], f"{where}session_id")),
        created=as_time(value.get("created"), f"{where}created"),
        turns=turns,
        agent=as_text(value.get("agent", ""), f"{where}agent"),
        key=as_text(value.get("key", ""), f"{where}key"),
        is_remembered=_flag(value.get("remember", True), f"{where}remember"),
        end=_end(value.get("end", ""), f"{where}end"),
        summed_up=as_seq(value["summed_up"], f"{where}summed_up") if "summed_up" in value else 0,
        extra=others(value, _SESSION),
    )


def _is_one_longer(before: Session, session: Session) -> bool:
    """Tell whether a session has a turn more, and nothing else has changed; compares turns by identity."""
    if not before.turns or len(session.turns) != len(before.turns) + 1:
        return False
    is_same = all(one is other for one, other in zip(before.turns, session.turns, strict=False))
    return is_same and replace(before, turns=()) == replace(session, turns=())


def _turn(value: object, where: str) -> Turn:
    row = as_object(value, where)
    answer = row.get("a")
    return Turn(
        seq=as_seq(row.get("seq"), f"{where}.seq"),
        question=as_text(row.get("q"), f"{where}.q"),
        timestamp=as_time(row.get("timestamp"), f"{where}.timestamp"),
        answer=None if answer is None else as_text(answer, f"{where}.a"),
        significance=as_share(row.get("a_significance", 0), f"{where}.a_significance"),
        tokens=_texts(row.get("q_tokens", []), f"{where}.q_tokens"),
        question_hash=as_text(row.get("q_hash", ""), f"{where}.q_hash"),
        topics=_texts(row.get("topic_tags", []), f"{where}.topic_tags"),
        is_marked=_flag(row.get("marked", False), f"{where}.marked"),
        extra=others(row, _TURN),
    )


def _end(value: object, where: str) -> SessionEnd:
    try:
        return SessionEnd(as_text(value, where))
    except ValueError as exc:
        raise DamagedDocumentError(f"{where} is none of open, owed, told") from exc


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise DamagedDocumentError(f"{where} is neither true nor false")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    return tuple(as_text(one, f"{where}[{at}]") for at, one in enumerate(as_list(value, where)))


def _told_turn(turn: Turn) -> Mapping[str, object]:
    return {
        "seq": turn.seq,
        "q": turn.question,
        "q_tokens": turn.tokens,
        "q_hash": turn.question_hash,
        "a": turn.answer,
        # a whole number as the reference writes it: 0
        "a_significance": int(turn.significance) if turn.significance.is_integer() else turn.significance,
        "timestamp": told_time(turn.timestamp),
        **({"topic_tags": turn.topics} if turn.topics else {}),
        **({"marked": True} if turn.is_marked else {}),
        **turn.extra,
    }
