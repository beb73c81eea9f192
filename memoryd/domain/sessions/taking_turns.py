"""Put turns that were found in a transcript into its session: each once, whatever was read before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoryd.domain.sessions.keeping import Keeping
from memoryd.domain.sessions.keywords import Commonness
from memoryd.domain.sessions.making_turns import MadeTurn, made_turn
from memoryd.domain.sessions.transcript_places import PLACE, TranscriptPlace, told_place
from memoryd.domain.sessions.transcript_turns import FoundTurn
from memoryd.domain.sessions.turns import Session, Turn


@dataclass(frozen=True, slots=True)
class TakenTurns:
    """A session with turns of its transcript, and those of them whose answer is not kept."""

    session: Session
    place: TranscriptPlace
    made: tuple[MadeTurn, ...] = ()


def with_turns(
    session: Session,
    found: Sequence[FoundTurn],
    place: TranscriptPlace,
    keeping: Keeping,
    commonness: Commonness,
    *,
    open_seq: int = 0,
    goes_on: bool = False,
) -> TakenTurns:
    """Return the session with these turns and the place; the first replaces the turn `open_seq`, if that is the last.

    With `goes_on` the last of them may get more of its answer, and the place says so. A turn that is there already,
    asked at the same time in the same words, is left out: programs that compact a transcript write turns again.
    """
    made: list[MadeTurn] = []
    known = {(turn.timestamp, turn.question) for turn in session.turns}
    last = 0
    for number, turn in enumerate(found):
        replaced = None
        if number == 0 and open_seq and session.last_seq == open_seq:
            replaced, session = session.turns[-1], replace(session, turns=session.turns[:-1])
        one = made_turn(turn.raw, session, keeping=keeping, commonness=commonness)
        if replaced is None and _is_known(one.turn, turn, known, is_again=place.is_again):
            last = 0
            continue
        if replaced is not None and replaced.answer is not None:
            one = _still_kept(one, replaced)
        known.add((one.turn.timestamp, one.turn.question))
        session = replace(session, turns=(*session.turns, one.turn))
        made.append(one)
        last = one.turn.seq
    place = replace(place, open_seq=last if goes_on else 0)
    return TakenTurns(replace(session, extra={**session.extra, PLACE: told_place(place)}), place, tuple(made))


def _still_kept(made: MadeTurn, replaced: Turn) -> MadeTurn:
    """Return the turn with the answer that somebody marked to be kept, if it would have none, and with the mark."""
    turn = replace(made.turn, is_marked=replaced.is_marked)
    if turn.answer is not None:
        return MadeTurn(turn, made.dropped_answer)
    return MadeTurn(replace(turn, answer=replaced.answer), None)


def _is_known(turn: Turn, found: FoundTurn, known: set[tuple[datetime, str]], *, is_again: bool) -> bool:
    return (found.is_timed or is_again) and (turn.timestamp, turn.question) in known
