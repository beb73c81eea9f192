"""The sessions of one agent in the question-and-answer store, as far as they are listed, marked and forgotten."""

from dataclasses import dataclass
from datetime import datetime

from memoryd.agents.workspace_qa import WorkspaceQa, enabled
from memoryd.domain.sessions.qa_document import SessionStub
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import NotFound
from memoryd.sessions.forgetting_sessions import ForgottenFiles
from memoryd.sessions.known_sessions import Entry
from memoryd.sessions.qa_store import QaStore


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A session without its turns, and where it lies."""

    session: Session
    turns: int
    answers: int
    last_activity: datetime
    is_archived: bool


class QaSessions:
    """The sessions of one agent; without `shared` questions and answers are off, and nothing is listed.

    What changes files raises Disabled then, and Denied where nothing may be written; all raise NotNow and
    StoreUnavailable while the files cannot be used.
    """

    def __init__(self, agent: str, shared: WorkspaceQa | None) -> None:
        self._agent = agent
        self._shared = shared

    async def all(self) -> list[StoredEntry]:
        """Return all, those in the archive too, that in which something was said last first."""
        if self._shared is None:
            return []
        return await self._shared.read(self._listed)

    async def find(self, session: SessionId) -> Session | None:
        """Return a session with its turns, None if there is none."""
        if self._shared is None:
            return None
        try:
            return await self._shared.read(lambda store: store.sessions.read(session, agent=self._agent))
        except NotFound:
            return None

    async def forget(self, session: SessionId) -> ForgottenFiles:
        """Remove a session from every file of ours; raises NotFound."""
        return await enabled(self._shared).write(lambda store: store.forgetting.forget(session, agent=self._agent))

    async def finish_forgetting(self, session: SessionId, asked_at: datetime) -> None:
        """End what a kill ended."""
        await enabled(self._shared).write(
            lambda store: store.forgetting.finish(session, agent=self._agent, asked_at=asked_at)
        )

    async def set_remembered(self, session: SessionId, is_remembered: bool) -> None:
        """Mark a session, or take that back; raises NotFound."""
        await enabled(self._shared).write(
            lambda store: store.turns.set_remembered(session, is_remembered, agent=self._agent)
        )

    async def current(self, key: str) -> SessionId | None:
        """Return the session of a key that goes on, None if there is none or they are off."""
        if self._shared is None:
            return None
        now = self._shared.now()
        return await self._shared.read(lambda store: store.turns.current_session(key, self._agent, now))

    @property
    def is_writable(self) -> bool:
        """Whether sessions may be changed."""
        return self._shared is not None and not self._shared.is_read_only

    def check_writable(self) -> None:
        """Raise Disabled or Denied where nothing may be written."""
        enabled(self._shared).check_writable()

    def _listed(self, store: QaStore) -> list[StoredEntry]:
        store.sessions.look()
        found = [_entry(one) for one in store.sessions.of(self._agent)]
        found += [_entry(one, is_archived=True) for one in store.archive.stubs(self._agent)]
        return sorted(found, key=lambda one: one.last_activity, reverse=True)


def _entry(entry: Entry, *, is_archived: bool = False) -> StoredEntry:
    if isinstance(entry, SessionStub):
        return StoredEntry(entry.session, entry.turns, entry.answers, entry.last_activity, is_archived)
    return StoredEntry(entry, len(entry.turns), entry.answers, entry.last_activity, is_archived)
