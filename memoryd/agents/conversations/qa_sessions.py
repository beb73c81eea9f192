"""The sessions of one agent in the question-and-answer store, as far as they are listed, marked and forgotten."""

from datetime import datetime

from msgspec import Struct

from memoryd.agents.workspace.qa import WorkspaceQa, enabled
from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import SessionStub
from memoryd.domain.sessions.turns import Session
from memoryd.errors import NotFound, StoreError
from memoryd.sessions.known_sessions import Entry
from memoryd.sessions.qa_store import ForgottenFiles, QaStore


class StoredEntry(Struct, frozen=True):
    """A session without its turns, and where it lies."""

    session: Session
    turns: int
    answers: int
    last_activity: datetime
    is_archived: bool


class KnownTurns(Struct, frozen=True):
    """How much is known of a session, in how many files; `problem` says why it cannot be read."""

    files: int = 0
    turns: int = 0
    answers: int = 0
    problem: str = ""


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

    async def knows(self, session: SessionId) -> bool:
        """Tell whether there is a session, be it damaged or the folder of the workspace gone."""
        if self._shared is None:
            return False
        return await self._shared.read(lambda store: store.sessions.knows(session, agent=self._agent))

    async def known(self, session: SessionId) -> KnownTurns:
        """Return how much is known of a session, which may be nothing."""
        if self._shared is None:
            return KnownTurns()
        return await self._shared.read(lambda store: self._known(store, session))

    def _known(self, store: QaStore, session: SessionId) -> KnownTurns:
        files, problem = int(store.sessions.has(session)), ""
        try:
            entry: Entry | None = store.sessions.read(session, agent=self._agent)
        except NotFound:
            entry = store.sessions.entry(session, agent=self._agent)
        except StoreError as exc:
            entry, problem = store.sessions.entry(session, agent=self._agent), str(exc)
        if entry is None:
            return KnownTurns(files, problem=problem)
        counts = _entry(entry)
        return KnownTurns(files, counts.turns, counts.answers, problem)

    async def forget(self, session: SessionId) -> ForgottenFiles:
        """Remove a session from every file of ours, be it damaged; raises NotFound."""
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
