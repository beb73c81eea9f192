"""Turns of what was said in a transcript: what the user says, with all that the assistant says before the user goes on.

Several messages of the assistant are one answer. A question waits until the user says something else, or until
nothing was said for a while; what the assistant says before the first question belongs to none.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.domain.sessions.transcripts.steps import SpokenLine
from memoryd.domain.sessions.transcripts.utterances import Speaker

QUESTION_CHARS: Final = 20_000
ANSWER_CHARS: Final = 100_000
"""As much as a program may report of a turn."""


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn as far as it was said: the number of the question's line, and when it was asked."""

    line: int
    question: str
    at: datetime
    is_timed: bool
    """Whether the transcript says when; else it is when something was said before, or the file was written."""
    answer: str = ""

    @property
    def chars(self) -> int:
        return len(self.question) + len(self.answer)

    @property
    def raw(self) -> RawTurn:
        """The turn as it is to be made of it."""
        return RawTurn(self.question, self.answer or None, self.at)


@dataclass(frozen=True, slots=True)
class Listening:
    """What a reader of a transcript has in mind: the turn that goes on, and when something was said last."""

    turn: FoundTurn | None = None
    heard_at: datetime | None = None


def heard(listening: Listening, lines: Iterable[SpokenLine], fallback: datetime) -> tuple[list[FoundTurn], Listening]:
    """Return the turns that end within these lines, and what is in mind behind them.

    `fallback` is when something was said where no message tells so.
    """
    ended: list[FoundTurn] = []
    for line in lines:
        said, turn = line.utterance, listening.turn
        at = said.time or listening.heard_at or fallback
        if said.speaker is Speaker.USER:
            ended += [turn] if turn else []
            turn = FoundTurn(line.number, said.text[:QUESTION_CHARS], at, said.time is not None)
        elif turn is not None:
            turn = replace(turn, answer=f"{turn.answer} {said.text}".strip()[:ANSWER_CHARS])
        listening = Listening(turn, at)
    return ended, listening
