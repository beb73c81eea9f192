"""Leaving out the lines of a conversation that say nothing, and knowing where the others stood.

Between two messages of a transcript there may be a hundred lines of its file that are not told: what tools answered.
As blank lines they would fill a snippet and its focus.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from memoryd.domain.ranking.line_runs import NearPassage, Room, split_lines
from memoryd.domain.sessions.transcripts.utterances import Speaker

MESSAGE: Final = Room(characters=700, lines=1)
"""What the focus on a conversation holds, before what it answers, or what answers it, is added."""
ASKED: Final = f"{Speaker.USER}: "


@dataclass(frozen=True, slots=True)
class SqueezedText:
    """A text without blank lines; `lines` are those that it has, as they were counted before, from 0."""

    text: str
    lines: tuple[int, ...]
    near: tuple[NearPassage, ...] = ()
    """The passages by their new places."""


def squeezed(text: str, near: Sequence[NearPassage] = ()) -> SqueezedText:
    """Return a text without its blank lines; one of blank lines alone stays as it is."""
    lines = split_lines(text)
    kept = tuple(at for at, line in enumerate(lines) if line.strip())
    if len(kept) in (0, len(lines)):
        return SqueezedText(text, tuple(range(len(lines))), tuple(near))
    starts = list(accumulate(map(len, lines), initial=0))
    moved = list(accumulate((len(line) if line.strip() else 0 for line in lines), initial=0))

    def place(offset: int) -> int:
        at = min(bisect_right(starts, offset) - 1, len(lines) - 1)
        # inside of a line that goes, it is where the next one begins
        return min(moved[at] + offset - starts[at], moved[at + 1])

    return SqueezedText(
        "".join(lines[at] for at in kept).removesuffix("\n"),
        kept,
        tuple(NearPassage(place(one.start), place(one.stop), one.standout) for one in near),
    )


def exchange(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Return the first and last line of what belongs to a message: the question with the message that answers it.

    `lines` are those of a squeezed text, counted from 0.
    """
    if lines[at].startswith(ASKED):
        behind = lines[at + 1 : at + 2]
        return at, at + 1 if behind and not behind[0].startswith(ASKED) else at
    return at - 1 if at and lines[at - 1].startswith(ASKED) else at, at
