"""What a conversation is made of: a turn is a question with its answer, numbered inside a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType

SessionId = NewType("SessionId", str)
"""The name of a session, safe for file names: see `session_ids`."""

Extra = Mapping[str, object]
"""Keys of a document that somebody else wrote, with what stands there as JSON has it; they are kept."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, with its answer if that is kept.

    `seq` counts from 1 inside the session. `significance` is 0 to 1, and that of the answer also when it was not kept.
    `timestamp` has a time zone; `question_hash` is what `simhash` makes of `tokens`, or what another program wrote.
    """

    seq: int
    question: str
    timestamp: datetime
    answer: str | None = None
    significance: float = 0.0
    tokens: tuple[str, ...] = ()
    question_hash: str = ""
    topics: tuple[str, ...] = ()
    is_marked: bool = False
    """Somebody marked the answer to be kept."""
    extra: Extra = field(default_factory=dict)


class SessionEnd(StrEnum):
    """How far it came with the memory that is made of a session when it ends: exactly one."""

    NONE = ""
    """None is made of it."""
    OPEN = "open"
    """One is to be made when nobody goes on with it."""
    OWED = "owed"
    """It is over, and one is to be made."""
    TOLD = "told"
    """It is over, and one was made, or there was nothing to tell."""

    @property
    def is_over(self) -> bool:
        return self in (SessionEnd.OWED, SessionEnd.TOLD)


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: its turns by `seq`, whose it is, and the session key it was opened with; both may be unknown."""

    id: SessionId
    created: datetime
    turns: tuple[Turn, ...] = ()
    agent: str = ""
    key: str = ""
    is_remembered: bool = True
    """False: marked "do not remember"; nothing of it is captured or logged."""
    end: SessionEnd = SessionEnd.NONE
    summed_up: int = 0
    """The last turn that a summary tells; what is told of the session later begins behind it."""
    extra: Extra = field(default_factory=dict)

    def may_be_written(self, key: str, *, is_owners: bool) -> bool:
        """Tell whether somebody who asks with a session key, empty: without, may write into it.

        It must be of that key; the owner may also go on with one that has none, and without a key with any.
        """
        return self.key == key or (is_owners and "" in (key, self.key))

    @property
    def last_activity(self) -> datetime:
        return max((turn.timestamp for turn in self.turns), default=self.created)

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq if self.turns else 0

    @property
    def answers(self) -> int:
        """How many answers are kept."""
        return sum(turn.answer is not None for turn in self.turns)
