"""Which turns to put before an agent for a message, and why: a run of neighbours, never single answers.

The current session's last N, unless another session answers the message clearly better: then its N up to the match,
and where fewer stand there, those after it. Without a message, the last N. The margin is what keeps "and that one?"
here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from memoryd.domain.sessions.indexed_turns import MessageKeys, TurnMatch
from memoryd.domain.sessions.runs import RUN
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.domain.text.tokens import estimate

TURNS: Final = RUN
BUDGET: Final = 1200
"""Tokens."""
MIN_SCORE: Final = 0.15
"""Below it a match is one word of many."""
MARGIN: Final = 0.1
"""So much better than the current session another one must be."""


class Chosen(StrEnum):
    """Why a sequence was chosen."""

    NO_MESSAGE = "no message"
    CURRENT_MATCHES = "current session matches"
    NOTHING_MATCHES = "nothing matches"
    OTHER_MATCHES = "another session matches"
    NOTHING_KNOWN = "nothing known"


@dataclass(frozen=True, slots=True)
class SequenceChoice:
    """Where the sequence lies: the session, None if there is none; up to `last_seq`, None for its end; and why."""

    session: SessionId | None
    last_seq: int | None
    why: Chosen
    match: TurnMatch | None = None

    @property
    def sentence(self) -> str:
        """Why it was chosen, told to a person."""
        found = (
            f"turn {self.match.seq} matches ({_common(self.match)})" if self.match else "nothing matches the message"
        )
        match self.why:
            case Chosen.NO_MESSAGE:
                return f"the last turns of {self.session}: there is no message to look for"
            case Chosen.CURRENT_MATCHES | Chosen.NOTHING_MATCHES:
                return f"the last turns of the current session, {self.session}: {found}"
            case Chosen.OTHER_MATCHES:
                reach = "up to the match" if self.match and self.match.seq == self.last_seq else "with the match"
                return f"the turns of {self.session} {reach}: {found}"
            case Chosen.NOTHING_KNOWN:
                return "no session is known, and nothing matches the message"


def choose(keys: MessageKeys | None, current: SessionId | None, matches: Sequence[TurnMatch]) -> SequenceChoice:
    """Return where the sequence for a message lies.

    `keys` is None without a message; `matches` are those of `IndexedTurns.matches`, the best first.
    """
    if keys is None:
        return SequenceChoice(current, None, Chosen.NO_MESSAGE if current else Chosen.NOTHING_KNOWN)
    own = next((match for match in matches if match.session == current), None)
    best = next((match for match in matches if match.session != current and match.score >= MIN_SCORE), None)
    if best and (current is None or best.score > MARGIN + (own.score if own else 0.0)):
        return SequenceChoice(best.session, best.last_seq, Chosen.OTHER_MATCHES, best)
    if current is None:
        return SequenceChoice(None, None, Chosen.NOTHING_KNOWN)
    return SequenceChoice(current, None, Chosen.CURRENT_MATCHES if own else Chosen.NOTHING_MATCHES, own)


def sequence(
    session: Session, *, last_seq: int | None = None, turns: int = TURNS, budget: int = BUDGET
) -> tuple[Turn, ...]:
    """Return the last `turns` of a session up to `last_seq`, in order, with their kept answers.

    No more than `budget` tokens: an answer that does not fit is left out, its question stays; what is older goes
    first. The newest question is always there.
    """
    until = [turn for turn in session.turns if last_seq is None or turn.seq <= last_seq]
    reached = until[max(0, len(until) - turns) :]
    found: list[Turn] = []
    left = budget
    for turn in reversed(reached):
        whole, bare = estimate(turn.question) + estimate(turn.answer or ""), estimate(turn.question)
        if whole > left and (bare <= left or not found):
            turn, whole = replace(turn, answer=None), bare
        if whole > left and found:
            break
        found.append(turn)
        left -= whole
    return tuple(found[::-1])


def _common(match: TurnMatch) -> str:
    """Tell what a message and a turn have in common."""
    words = [f"“{word}”" for word in match.words[:5]]
    near = [] if match.bits is None else ["the same words" if match.bits == 0 else f"{match.bits} bits apart"]
    return ", ".join([*words, *match.topics, *near])
