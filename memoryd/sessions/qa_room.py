"""How much room the files of questions and answers may take, and what gives way: answers of old sessions, no question.

Over the bound the sessions of the archive lose answers, those that were left first before others: first what is not
significant enough by the rules of today, then, if that is not enough, all but those that were marked, and at last
these. If the files are too large even so, of new turns the question alone is kept; at four times the bound none is
taken any more, and whoever brings one is told so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.sessions.documents import MAX_BYTES, Keeping
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.errors import StoreUnavailable
from memoryd.sessions.archived_sessions import ArchivedSessions
from memoryd.sessions.session_changes import SessionChanges

CLOSED_AT: Final = 4
"""At so many times the bound no turn is taken."""
_NOTHING: Final = 1.0
"""No significance is above it."""


@dataclass(frozen=True, slots=True)
class QaUsage:
    """The bytes of the files and their bound; `pruned` answers gave way since the start."""

    bytes: int = 0
    max_bytes: int = MAX_BYTES
    pruned: int = 0

    @property
    def is_full(self) -> bool:
        """Whether only questions are kept of what is said."""
        return self.bytes > self.max_bytes

    @property
    def is_closed(self) -> bool:
        """Whether nothing is kept of what is said."""
        return self.bytes > CLOSED_AT * self.max_bytes


class QaRoom:
    """The room of one store; one thread at a time."""

    def __init__(self, keeping: Keeping, max_bytes: int, archived: ArchivedSessions) -> None:
        self.archived = archived
        self.usage = QaUsage(0, max_bytes)
        self._keeping = keeping

    @property
    def keeping(self) -> Keeping:
        """What is kept of a turn as things are."""
        return _questions_alone(self._keeping) if self.usage.is_full else self._keeping

    @property
    def usual(self) -> Keeping:
        """What is kept while there is room."""
        return self._keeping

    def check_open(self) -> None:
        """Raise StoreUnavailable where no turn may be added: as with a full disk it may be, once there is room."""
        if self.usage.is_closed:
            raise StoreUnavailable(
                f"there is no room for another turn: the files of questions and answers have {self.usage.bytes:,} "
                f"bytes, {CLOSED_AT} times memory.qa.maxBytes",
                hint="forget old conversations (memoryctl sessions), or raise memory.qa.maxBytes",
            )

    def note(self, turn: Turn) -> None:
        """Count a turn that was added, until the files are measured again."""
        # it stands in the main file as well
        added = 2 * (len(turn.question.encode()) + len((turn.answer or "").encode()))
        self.usage = replace(self.usage, bytes=self.usage.bytes + added)

    def measure(self, others: int) -> None:
        """See how large the files are; `others` are the bytes of those that are not in the archive."""
        self.usage = replace(self.usage, bytes=others + self.archived.size())

    def make(self, changes: SessionChanges, others: int) -> bool:
        """Prune one session of the archive if that must be, and return whether one was; raises StoreError."""
        self.measure(others)
        nothing = _questions_alone(self._keeping)
        for keeping, drops_marked in ((self._keeping, False), (nothing, False), (nothing, True)):
            for name in self._candidates():
                if lost := _prune(changes, name, keeping, drops_marked):
                    self.usage = replace(self.usage, pruned=self.usage.pruned + lost)
                    self.measure(others)
                    return True
        return False

    def _candidates(self) -> Iterable[SessionId]:
        return [stub.session.id for stub in self.archived.look() if stub.answers] if self.usage.is_full else []


def _questions_alone(keeping: Keeping) -> Keeping:
    return replace(keeping, threshold=_NOTHING, interests=frozenset())


def _prune(changes: SessionChanges, name: SessionId, keeping: Keeping, drops_marked: bool) -> int:
    lost = 0

    def pruned(session: Session) -> Session | None:
        nonlocal lost
        after = keeping.pruned(session, drops_marked=drops_marked)
        lost = session.answers - after.answers
        return after if lost else None

    return lost if changes.change_archived(name, pruned) else 0
