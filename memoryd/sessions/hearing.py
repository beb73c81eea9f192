"""What was heard of a transcript whose turns are taken, until it is read on."""

from dataclasses import dataclass, field
from typing import Final

from memoryd.domain.sessions.taking_turns import FoundTurn, Listening, TranscriptPlace
from memoryd.domain.sessions.transcripts.reading import START, Tail

_WRITE_SHARE: Final = 4
"""A write of a session that grows is worth it for so large a part of what it has."""


@dataclass(slots=True)
class Hearing:
    """What was heard of one transcript up to `tail`. The question in mind is not before the line behind `anchor`."""

    stored: TranscriptPlace | None
    tail: Tail = START
    anchor: Tail = START
    listening: Listening = field(default_factory=Listening)
    line: int = 0
    """Turns asked on a line up to this are taken for good."""
    open_seq: int = 0
    """The turn that the first question behind it was taken as before it ended; 0: it was not."""
    is_again: bool = False
    taken_open: FoundTurn | None = None
    """The question in mind as it was taken before it ended."""
    pending: list[FoundTurn] = field(default_factory=list)
    """Turns that have ended and are not taken yet."""
    taken_chars: int = 0

    @property
    def is_worth_a_write(self) -> bool:
        """Whether enough is pending for what a write costs, which writes all that was taken once more."""
        return _WRITE_SHARE * sum(turn.chars for turn in self.pending) >= self.taken_chars
