"""Where the log goes, and how much of it: rules of the standard error that is found, and of events that repeat."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

WINDOW_SECONDS: Final = 60.0
MOST_KINDS: Final = 1_000
"""Of events that are counted apart; beyond that all are one kind."""
OTHERS: Final = "other events"


class FileChoice(StrEnum):
    """What `log.file` says."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardError:
    """What the standard error of the process leads to."""

    is_journal: bool = False
    is_terminal: bool = False
    is_collected: bool = False
    """A file, a pipe or a socket: somebody chose to keep it."""
    is_launchds: bool = False
    """Launchd keeps a file of it, which nobody bounds."""


def wants_file(chosen: FileChoice, found: StandardError) -> bool:
    """Tell whether there is to be a log file of our own: by itself only where nobody else keeps what is said."""
    if chosen is not FileChoice.AUTO:
        return chosen is FileChoice.ON
    if found.is_journal or found.is_terminal:
        return False
    return found.is_launchds or not found.is_collected


class LogRate:
    """Lets so many events of a kind through each minute, and counts the rest; `clock` in seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._begun: dict[str, float] = {}
        self._seen: dict[str, int] = {}

    def admits(self, kind: str) -> bool:
        """Count an event, and tell whether it may be logged."""
        kind = kind if kind in self._seen or len(self._seen) < MOST_KINDS else OTHERS
        self._begun.setdefault(kind, self._clock())
        self._seen[kind] = self._seen.get(kind, 0) + 1
        return self._seen[kind] <= self.per_minute

    def told(self, *, is_end: bool = False) -> dict[str, int]:
        """Return how many of each kind were left out in the minutes that are over, and begin new ones."""
        now = self._clock()
        over = [kind for kind, begun in self._begun.items() if is_end or now - begun >= WINDOW_SECONDS]
        left_out = {kind: self._seen[kind] - self.per_minute for kind in over}
        for kind in over:
            del self._begun[kind], self._seen[kind]
        return {kind: count for kind, count in left_out.items() if count > 0}
