"""The parts in which a long conversation is indexed: each is a document of its own, and only the last one grows.

Lines are arithmetic: line n of a conversation stands on line n, and what says nothing is an empty line. A part begins
and ends with a line that says something, so that a stretch of thousands that do not is no text at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

PART_CHARS: Final = 16_384
"""A part of so much text is closed: what is written anew when a conversation grows stays small."""
PART_SPOKEN: Final = 100
"""So are so many lines that say something: 50 turns."""
MAX_GAP: Final = 100
"""So many lines that say nothing end a part: what stands behind them begins another."""


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """What somebody said, in one line: its number in the conversation, from 1, and when, in ns.

    0 is no time: that of the line before holds.
    """

    number: int
    text: str
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class ConversationPart:
    """A stretch of a conversation, its lines joined by line ends; `last_ns` is the time of its last message."""

    first_line: int
    text: str
    spoken: int = 1
    last_ns: int = 0

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")

    @property
    def is_closed(self) -> bool:
        """Whether it is large enough; what is said next begins another one."""
        return len(self.text) >= PART_CHARS or self.spoken >= PART_SPOKEN


def grown(part: ConversationPart | None, lines: Iterable[ConversationLine]) -> Sequence[ConversationPart]:
    """Return what these lines make of the last part of a conversation: it, if it has grown, and those behind it.

    Raises ValueError for lines that do not follow in order.
    """
    parts: list[ConversationPart] = []
    for line in lines:
        last = parts[-1] if parts else part
        if last is not None and line.number <= last.last_line:
            raise ValueError(f"line {line.number} stands behind line {last.last_line}")
        if last is None or last.is_closed or line.number - last.last_line > MAX_GAP:
            known_ns = 0 if last is None else last.last_ns
            parts.append(ConversationPart(line.number, line.text, last_ns=line.at_ns or known_ns))
        else:
            # in place of what it was; the one that was handed in is put first
            parts = [*parts[:-1], _with(last, line)]
    return parts


def folded(text: str) -> str:
    """Return a text as one line: each run of white space is one blank."""
    return " ".join(text.split())


def _with(part: ConversationPart, line: ConversationLine) -> ConversationPart:
    gap = "\n" * (line.number - part.last_line)
    return ConversationPart(
        part.first_line, f"{part.text}{gap}{line.text}", part.spoken + 1, line.at_ns or part.last_ns
    )
