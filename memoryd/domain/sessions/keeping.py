"""What is kept of a conversation: each question, the answers that matter, and where it lies when it has grown old."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from memoryd.domain.sessions.turns import Session, Turn

THRESHOLD: Final = 0.6
ARCHIVE_AFTER: Final = timedelta(days=30)
MAX_BYTES: Final = 256 << 20
"""Of all files of one workspace."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """From which significance on an answer is kept, which topics always are, and when a session goes to the archive."""

    threshold: float = THRESHOLD
    interests: frozenset[str] = frozenset()
    archive_after: timedelta = ARCHIVE_AFTER

    def is_kept(self, significance: float, topics: Collection[str]) -> bool:
        """Tell whether an answer is kept: more significant than the threshold, or about something of interest."""
        interests = {interest.lower() for interest in self.interests}
        return significance > self.threshold or any(topic.lower() in interests for topic in topics)

    def is_old(self, last_activity: datetime, now: datetime) -> bool:
        """Tell whether a session goes to the archive: nobody has said anything in it for so long."""
        return now - last_activity > self.archive_after

    def pruned(self, session: Session, *, drops_marked: bool = False) -> Session:
        """Return the session without the answers that are not kept; every question stays, and what a person marked.

        With `drops_marked` marked answers have no more worth than others.
        """
        return replace(session, turns=tuple(self._pruned(turn, drops_marked) for turn in session.turns))

    def _pruned(self, turn: Turn, drops_marked: bool) -> Turn:
        if self.is_kept(turn.significance, turn.topics) or (turn.is_marked and not drops_marked):
            return turn
        return replace(turn, answer=None, is_marked=False)


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is: of all turns those whose answer is kept are `ratio`, to two digits; 0 if there is none."""

    turns: int = 0
    answers: int = 0

    @property
    def ratio(self) -> float:
        return round(self.answers / self.turns, 2) if self.turns else 0.0


def totals(counted: Iterable[tuple[int, int]]) -> Totals:
    """Add up pairs of turns and kept answers."""
    turns = answers = 0
    for some_turns, some_answers in counted:
        turns, answers = turns + some_turns, answers + some_answers
    return Totals(turns, answers)
