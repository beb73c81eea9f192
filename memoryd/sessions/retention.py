"""How much disk questions and answers may take: old sessions are archived, and lose answers over the bound.

Over the bound archived sessions lose answers, oldest first: first those that are not significant enough by the rules of
today, then all but the marked ones, and at last these; questions stay. If the files are too large even so, of new turns
the question alone is stored; at four times the bound new turns are refused with an error.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import MAX_BYTES, AnswerRetention, SessionStub
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.errors import StoreUnavailable
from memoryd.sessions.session_files import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions

CLOSED_AT: Final = 4
"""At so many times the bound no turn is taken."""
_NOTHING: Final = 1.0
"""No significance is above it."""


class QaUsage(Struct, frozen=True):
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


class SessionArchive:
    """The archive of one workspace, and the room that all its sessions may take."""

    def __init__(self, sessions: WorkspaceSessions, answer_retention: AnswerRetention, max_bytes: int) -> None:
        self.usage = QaUsage(0, max_bytes)
        """How large the files are, as of the last measuring."""
        self._sessions = sessions
        self._usual = answer_retention

    @property
    def answer_retention(self) -> AnswerRetention:
        """What is kept of a turn as things are."""
        return _questions_alone(self._usual) if self.usage.is_full else self._usual

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
        # the main file has it as well
        added = 2 * (len(turn.question.encode()) + len((turn.answer or "").encode()))
        self.usage = replace(self.usage, bytes=self.usage.bytes + added)

    def stubs(self, agent: str) -> list[SessionStub]:
        """Return the sessions of an agent in the archive, the newest first, without their turns."""
        with unavailable():
            stubs = self._sessions.archived.look()
        return [stub for stub in reversed(stubs) if stub.session.agent == agent]

    def put_away(self, now: datetime) -> list[SessionId]:
        """Move the sessions that have grown old to the archive, and return them."""
        self._sessions.check_writable()
        known = self._sessions.known.all().values()
        entries = (one.entry for one in known if one.entry is not None and not one.problem)
        old = [entry.head.id for entry in entries if self._usual.is_old(entry.last_activity, now)]
        moved = list[SessionId]()
        for name in old:
            with self._sessions.writing:
                if self._sessions.changes.put_away(name, lambda one: self._usual.is_old(one.last_activity, now)):
                    self._sessions.known.drop(name)
                    # found from there at once
                    self._sessions.archived.see(name)
                    moved.append(name)
        if moved:
            self._sessions.note_change()
        return moved

    def make_room(self) -> None:
        """Measure the files, and prune the archive as far as they are too large; raises StoreError."""
        # the lock is let go after each: who adds a turn must not wait for all of them
        while self._prune_one():
            pass

    def _prune_one(self) -> bool:
        """Prune one session of the archive if that must be, and return whether one was."""
        with unavailable():
            others = self._sessions.main.size() + self._sessions.files.size()
        with self._sessions.writing, unavailable():
            self._measure(others)
            nothing = _questions_alone(self._usual)
            for answer_retention, drops_marked in ((self._usual, False), (nothing, False), (nothing, True)):
                is_wanted = self.usage.is_full and not self._sessions.is_read_only
                for stub in self._sessions.archived.look() if is_wanted else ():
                    if stub.answers and (dropped := self._prune(stub.session.id, answer_retention, drops_marked)):
                        self.usage = replace(self.usage, pruned=self.usage.pruned + dropped)
                        self._measure(others)
                        return True
        return False

    def _measure(self, others: int) -> None:
        """See how large the files are; `others` are the bytes of those that are not in the archive."""
        self.usage = replace(self.usage, bytes=others + self._sessions.archive.size())

    def _prune(self, name: SessionId, answer_retention: AnswerRetention, drops_marked: bool) -> int:
        dropped = 0

        def prune(session: Session) -> Session | None:
            nonlocal dropped
            after = answer_retention.pruned(session, drops_marked=drops_marked)
            dropped = session.answers - after.answers
            return after if dropped else None

        return dropped if self._sessions.changes.change_archived(name, prune) else 0


def _questions_alone(answer_retention: AnswerRetention) -> AnswerRetention:
    return replace(answer_retention, threshold=_NOTHING, interests=frozenset())
