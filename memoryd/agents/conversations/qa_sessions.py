"""The sessions of one agent in the question-and-answer store, as far as they are listed, marked and forgotten."""

from datetime import datetime

from msgspec import Struct

from memoryd.agents.workspace.qa import WorkspaceQa, enabled
from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import Entry, counted
from memoryd.domain.sessions.turns import Session
from memoryd.errors import NotFound, StoreError
from memoryd.sessions.qa_store import ForgottenFiles, QaStore


class QaSessions(Struct, frozen=True):
    """The sessions of one agent; without `shared` questions and answers are off, and nothing is listed.

    What changes files raises Disabled then, and Denied where nothing may be written; all raise NotNow and
    StoreUnavailable while the files cannot be used.
    """

    agent: str
    shared: WorkspaceQa | None

    async def all(self) -> list[tuple[Entry, bool]]:
        """Return all, and whether each is in the archive, that in which something was said last first."""
        return [] if self.shared is None else await self.shared.read(self._list_sessions)

    async def find(self, session: SessionId) -> Session | None:
        """Return a session with its turns, None if there is none."""
        if self.shared is None:
            return None
        try:
            return await self.shared.read(lambda store: store.sessions.read(session, agent=self.agent))
        except NotFound:
            return None

    async def knows(self, session: SessionId) -> bool:
        """Tell whether there is a session, be it damaged or the folder of the workspace gone."""
        if self.shared is None:
            return False
        return await self.shared.read(lambda store: store.sessions.knows(session, agent=self.agent))

    async def known(self, session: SessionId) -> tuple[ForgottenFiles, str]:
        """Return how much is known of a session, which may be nothing, and why it cannot be read; empty if it can."""
        if self.shared is None:
            return ForgottenFiles(), ""
        return await self.shared.read(lambda store: self._count_files(store, session))

    def _count_files(self, store: QaStore, session: SessionId) -> tuple[ForgottenFiles, str]:
        entry, problem = None, ""
        try:
            entry = store.sessions.read(session, agent=self.agent)
        except StoreError as exc:
            problem = str(exc)
        except NotFound:
            pass
        known = entry or store.sessions.entry(session, agent=self.agent)
        return ForgottenFiles(int(store.sessions.has(session)), *(counted(known) if known else ())), problem

    async def forget(self, session: SessionId) -> ForgottenFiles:
        """Remove a session from every file of ours, be it damaged; raises NotFound."""
        return await enabled(self.shared).write(lambda store: store.forgetting.forget(session, agent=self.agent))

    async def finish_forgetting(self, session: SessionId, asked_at: datetime) -> None:
        """End what a kill ended."""
        await enabled(self.shared).write(
            lambda store: store.forgetting.finish(session, agent=self.agent, asked_at=asked_at)
        )

    async def set_remembered(self, session: SessionId, is_remembered: bool) -> None:
        """Mark a session, or take that back; raises NotFound."""
        await enabled(self.shared).write(
            lambda store: store.turns.set_remembered(session, is_remembered, agent=self.agent)
        )

    async def current(self, key: str) -> SessionId | None:
        """Return the session of a key that goes on, None if there is none or they are off."""
        if self.shared is None:
            return None
        now = self.shared.now()
        return await self.shared.read(lambda store: store.turns.current_session(key, self.agent, now))

    @property
    def is_writable(self) -> bool:
        """Whether sessions may be changed."""
        return self.shared is not None and not self.shared.is_read_only

    def check_writable(self) -> None:
        """Raise Disabled or Denied where nothing may be written."""
        enabled(self.shared).check_writable()

    def _list_sessions(self, store: QaStore) -> list[tuple[Entry, bool]]:
        store.sessions.look()
        found: list[tuple[Entry, bool]] = [(one, False) for one in store.sessions.of(self.agent)]
        found += [(one, True) for one in store.archive.stubs(self.agent)]
        return sorted(found, key=lambda one: one[0].last_activity, reverse=True)
