"""What one step of reading a transcript on comes to."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from memoryd.domain.sessions.transcripts.tails import Tail
from memoryd.domain.sessions.transcripts.utterances import Utterance


class TranscriptState(StrEnum):
    """What became of a transcript since it was read last."""

    UNCHANGED = "unchanged"
    """No further complete line."""
    GROWN = "grown"
    """`lines` come behind those that were read."""
    REWRITTEN = "rewritten"
    """What was read is not there any more: `lines` are the first ones, and all that is known of it falls."""
    GONE = "gone"
    """The file is not there, and its folder is: what was known falls."""
    UNKNOWN = "unknown format"
    """Complete lines, and none of the first 64 is of a program that we know: nothing is read, what was known falls."""
    OTHER_FORMAT = "other format"
    """Of another program than the configuration says: nothing is read, what was known falls."""
    UNREADABLE = "unreadable"
    """Now, for the reason that `problem` tells; what is known of it stays."""


class CountedLine(StrEnum):
    """What else a step counts beside the reasons of `LeftOut`."""

    SPOKEN = "spoken"
    CUT = "cut"
    """Spoken, and longer than what is kept of it."""
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line that says something, by its number in the file, from 1 on."""

    number: int
    utterance: Utterance


@dataclass(frozen=True, slots=True)
class ReadOn:
    """One step: what to keep with `tail`, in one transaction."""

    state: TranscriptState
    tail: Tail
    lines: tuple[SpokenLine, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """Of the lines of this step, by `spoken`, `too long` or why they were left out; of those spoken, how many `cut`."""
    is_more: bool = False
    """Whether further lines are there already."""
    problem: str = ""
