"""What one line of a transcript comes to: something that was said, or nothing, and why."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TranscriptFormat(StrEnum):
    """Whose transcript it is."""

    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"


class Speaker(StrEnum):
    """Who said it, as the indexed text names them."""

    USER = "User"
    ASSISTANT = "Assistant"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said in one line of a transcript: harmless, redacted, white space folded, never empty."""

    speaker: Speaker
    text: str
    time: datetime | None = None
    """With its zone; None where the line tells none that makes sense."""
    is_cut: bool = False
    """Whether more was said than is kept of one utterance."""

    @property
    def line(self) -> str:
        """The line of indexed text: `User: …`."""
        return f"{self.speaker}: {self.text}"


class LeftOut(StrEnum):
    """Why a line says nothing."""

    NO_MESSAGE = "no message"
    """A header, a tool's result, an event, an empty line."""
    DROPPED = "dropped"
    """A message that no person and no model said: generated, silent, of a side chain."""
    UNREADABLE = "unreadable"
    """No JSON object, or a message without the form of one."""
    TOO_MANY_VALUES = "too many values"
    """More than are parsed: each costs many times the bytes that it has in its line."""
