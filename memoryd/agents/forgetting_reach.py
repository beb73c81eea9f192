"""What forgetting a conversation means: what belongs to it, what would go with it, and what is out of reach."""

import asyncio
from pathlib import Path

from memoryd.agents.forgetting_plan import ForgettingPlan, PlanningForgetting
from memoryd.agents.forgotten_places import ForgettingPlaces
from memoryd.agents.receipts import Receipt, Removed
from memoryd.config.paths import state_dir
from memoryd.domain.citations import holds_turns, session_of
from memoryd.domain.documents import RelativePath
from memoryd.moving.replacing import kept_folder
from memoryd.store.ledger.ledger import Ledger


class ForgettingReach:
    """What the forgetting of conversations of one agent reaches; nothing is changed here."""

    def __init__(self, agent: str, places: ForgettingPlaces, planning: PlanningForgetting, *, ledger: Ledger) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self.plan = planning.plan
        self.taken = planning.taken

    async def would_forget(self, path: RelativePath) -> Receipt:
        """Say what forgetting would remove; raises StoreError."""
        plan = await self.plan(path)
        receipt = Receipt(plan.path, conversations=plan.conversations, stays=await self.stays(plan))
        for one in plan.conversations:
            receipt = receipt.with_more(await self._of(one), await self.remarks(one))
        return receipt

    async def _of(self, path: RelativePath) -> Removed:
        rows = await self._places.index.holds(path)
        if not holds_turns(path):
            return Removed(rows=rows, exports=await self._places.exports.holds(path))
        known = await self._places.qa.known(session_of(path))
        held = await self._ledger.held_of_session(self._agent, session_of(path))
        return Removed(known.files, known.turns, known.answers, rows, held)

    async def remarks(self, path: RelativePath) -> tuple[str, ...]:
        """Say of a conversation that cannot be read that it goes all the same."""
        problem = (await self._places.qa.known(session_of(path))).problem if holds_turns(path) else ""
        return (f"{path} cannot be read, and goes as it is: {problem}",) if problem else ()

    async def has_rows(self, path: RelativePath) -> bool:
        """Tell whether the index has anything of a conversation."""
        return await self._places.index.holds(path) > 0

    async def stays(self, plan: ForgettingPlan) -> tuple[str, ...]:
        """Say in sentences what is out of reach."""
        return await asyncio.to_thread(self._out_of_reach, plan)

    def _out_of_reach(self, plan: ForgettingPlan) -> tuple[str, ...]:
        told: list[str] = []
        if plan.file is not None and plan.file.exists():
            told.append(f"the transcript itself, which is another program's: {plan.file}; it is not read again")
        elif plan.sessions and _is_in_git(self._places.workspace):
            told.append(f"the history of git, if {self._places.workspace} was committed with it")
        told += [f"{path}, which begins as it does and goes on otherwise: another conversation" for path in plan.forks]
        told += [
            f"a damaged ledger that was set aside: {path}; look at it, then delete it"
            for path in self._ledger.set_aside
        ]
        if (folder := kept_folder(state_dir())) is not None:
            told.append(f"what `memoryctl restore` replaced: {folder}; delete it once all is well")
        return (*told, "backups and snapshots of the disk")


def _is_in_git(workspace: Path) -> bool:
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))
