"""Answers that are not kept with their turns: held in the ledger for a week, in case somebody asks for them."""

from memoryd.agents.workspace_qa import WorkspaceQa, enabled
from memoryd.domain.citations import turn_address
from memoryd.domain.sessions.turns import SessionId
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.store.ledger.ledger import Ledger


class HoldingAnswers:
    """The held answers of one agent."""

    def __init__(self, agent: str, shared: WorkspaceQa | None, ledger: Ledger) -> None:
        self._agent = agent
        self._shared = shared
        self._ledger = ledger

    async def hold(self, session: SessionId, seq: int, answer: str) -> None:
        """Have an answer that is not kept come back within a week, if somebody asks for it."""
        # what keeps the ledger from being used is told in status, and costs no turn
        try:
            await self._ledger.hold(self._agent, session, seq, answer)
            # forgotten in between: its answers were deleted before this one came
            if not await enabled(self._shared).read(lambda store: store.sessions.has(session)):
                await self._ledger.drop(self._agent, session, seq)
        except (StoreError, OSError):
            self._ledger.note_refused()

    async def find(self, session: SessionId, seq: int) -> str:
        """Return the answer that is held for a turn; raises NotFound, or StoreUnavailable if nobody can tell."""
        address = turn_address(session, seq)
        anew = f"give it anew: memoryctl qa mark '{address}' --answer TEXT"
        try:
            held = await self._ledger.held(self._agent, session, seq)
        except (StoreError, OSError) as exc:
            raise StoreUnavailable(f"the ledger, which may hold the answer, cannot be used: {exc}", hint=anew) from exc
        if held is None:
            raise NotFound(f"the answer of {address} is gone: one that is not kept is held for 7 days", hint=anew)
        return held
