"""Find the turns to put before an agent for what it was asked."""

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

from memoryd.domain.sessions.making_turns import message_keys
from memoryd.domain.sessions.sequences import BUDGET, TURNS, SequenceChoice, sequence
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.errors import NotFound, StoreError
from memoryd.sessions.workspace_sessions import WorkspaceSessions


@dataclass(frozen=True, slots=True)
class FoundSequence:
    """The turns to put before an agent, in order, and why."""

    choice: SequenceChoice
    turns: tuple[Turn, ...] = ()


class SessionSequences:
    """The sequences that the sessions of one workspace have for a message."""

    def __init__(self, sessions: WorkspaceSessions, commonness: Commonness) -> None:
        self._sessions = sessions
        self._commonness = commonness

    def find(
        self,
        message: str | None,
        *,
        agent: str,
        current: str | None = None,
        turns: int = TURNS,
        budget: int = BUDGET,
        hidden: Collection[SessionId] = (),
    ) -> FoundSequence:
        """Return the turns to put before an agent for a message, or without one, of its own sessions alone.

        Of those that are marked "do not remember", or `hidden`, nothing is told.
        """
        here = self._sessions.named(current) if current else None
        if here is not None:
            # another process may have added to it
            self._sessions.refresh(here)
        keys = None if message is None else message_keys(message, self._commonness)
        choice = self._sessions.known.chosen(keys, agent, here, turns, hidden=hidden)
        known = self._sessions.known.told(choice.session) if choice.session else None
        if known is None or known.entry is None:
            return FoundSequence(choice)
        if isinstance(known.entry, Session):
            whole = known.entry
        else:
            try:
                whole = self._sessions.read(known.entry.session.id, agent=agent)
            except (NotFound, StoreError):
                # gone or damaged since it was seen; `session_problems` tells
                return FoundSequence(choice)
        return FoundSequence(choice, sequence(whole, last_seq=choice.last_seq, turns=turns, budget=budget))

    def learn(self) -> None:
        """Read what is looked up and stands not in the main file, so that words find it: the archive, long sessions."""
        self._sessions.learn()
        for name in self._sessions.known.unlearned():
            # gone or damaged since it was seen; `session_problems` tells
            with contextlib.suppress(NotFound, StoreError):
                self._sessions.known.learn(self._sessions.changes.read(name).session)
