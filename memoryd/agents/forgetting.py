"""Take a conversation of one agent out of everything, in an order in which nothing can bring it back.

First it is noted in the ledger what is to be forgotten, so that the next start ends what a kill ended; from then on
nobody reads or tells it. Of a session go its files, the truth; then what is made of them: rows, vectors and words, held
answers. The note goes last, and stays while the files cannot be reached or written.

A transcript belongs to another program and stays. It is noted in the ledger, for good, that it is never to be read
again; then goes what was made of it, of its copies, and the sessions that their turns were taken into.
"""

import asyncio
from datetime import UTC, datetime
from typing import Final

import structlog

from memoryd.agents.forgetting_plan import ForgettingPlan
from memoryd.agents.forgetting_reach import ForgettingReach
from memoryd.agents.forgotten_places import ForgettingPlaces
from memoryd.agents.receipts import Receipt, Removed, together
from memoryd.domain.citations import holds_turns, session_of
from memoryd.domain.documents import RelativePath
from memoryd.errors import Denied, MemorydError, NotFound, StoreUnavailable
from memoryd.memory.forgetting.planning import drop_remembered_texts
from memoryd.sessions.excluded import WithheldConversations
from memoryd.store.ledger.ledger import Ledger

RETRY_SECONDS: Final = 10.0

log = structlog.get_logger(__name__)


class Forgetting:
    """Forgets conversations of one agent, one at a time."""

    def __init__(
        self,
        agent: str,
        places: ForgettingPlaces,
        *,
        ledger: Ledger,
        withheld: WithheldConversations,
        reach: ForgettingReach,
    ) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self._withheld = withheld
        self._reach = reach
        self._one_at_a_time = asyncio.Lock()
        self.trouble = ""
        """Why what a kill ended is not finished yet; empty if it is."""

    async def forget(self, path: RelativePath) -> Receipt:
        """Forget a conversation; raises Disabled, Denied, StoreError.

        What cannot go now is told in the receipt, and goes as soon as it can.
        """
        if holds_turns(path):
            self._places.qa.check_writable()
        async with self._one_at_a_time:
            plan = await self._reach.plan(path)
            receipt = Receipt(plan.path, conversations=plan.conversations)
            await self._note(plan)
            if plan.transcripts and (late := await self._late(plan)).conversations:
                # indexed between the plan and the note
                await self._note(late)
                receipt = receipt.naming(late.conversations)
            for one in receipt.conversations:
                receipt = await self._forgotten(receipt, one)
            drop_remembered_texts()
        log.info("a conversation was forgotten", agent=self._agent, finished=not receipt.unfinished)
        return receipt.with_stays(await self._reach.stays(plan))

    async def _note(self, plan: ForgettingPlan) -> None:
        for path in plan.transcripts:
            # a copy by its name alone: one that goes on from less of it may be another conversation
            file = plan.file if path == plan.path else None
            await self._withheld.withhold_transcript(path, file, is_forgotten=True)
        for path in plan.conversations:
            await self._withheld.begin_forgetting(path)

    async def _late(self, plan: ForgettingPlan) -> ForgettingPlan:
        """Return what has come since the plan was made."""
        now = await self._reach.plan(plan.path)
        known = set(plan.conversations)
        return ForgettingPlan(
            path=plan.path,
            transcripts=tuple(one for one in now.transcripts if one not in known),
            sessions=tuple(one for one in now.sessions if one not in known),
        )

    async def _forgotten(self, receipt: Receipt, path: RelativePath) -> Receipt:
        """Forget what is noted, and return the receipt with what went."""
        if not holds_turns(path):
            return receipt.with_more(await self._forget_remains(path))
        remarks = await self._reach.remarks(path)
        try:
            gone = await self._places.qa.forget(session_of(path))
        except NotFound:
            return receipt.with_more(await self._forget_remains(path))
        except (Denied, StoreUnavailable) as exc:
            made = await self._forget_made(path)
            return receipt.with_unfinished(made, f"{path}: its file goes as soon as it can: {exc}")
        files = Removed(files=gone.files, turns=gone.turns, answers=gone.answers)
        return receipt.with_more(together(files, await self._forget_remains(path)), remarks)

    async def forget_made(self, path: RelativePath) -> int:
        """Remove what was made of what is not to be remembered; return how many parts the index had of it."""
        async with self._one_at_a_time:
            return await self._forget_indexed(path)

    async def release(self, path: RelativePath) -> None:
        """Have a transcript be read again, and what was taken from it be told; raises StoreError, Denied."""
        taken = self._reach.taken(path)
        if await self._places.qa.knows(session_of(taken)):
            await self._places.qa.set_remembered(session_of(taken), True)
        await self._places.exports.release(path)
        # last: whoever follows the transcripts looks at all of them again now
        await self._withheld.release_transcript(path)

    async def mark(self, path: RelativePath) -> int:
        """Have a transcript not be remembered; return how many parts left the index. Raises StoreError, Denied."""
        taken = self._reach.taken(path)
        is_taken = await self._places.qa.knows(session_of(taken))
        if is_taken:
            self._places.qa.check_writable()
        await self._withheld.withhold_transcript(path, None, is_forgotten=False)
        rows = await self.forget_made(path)
        if is_taken:
            await self._places.qa.set_remembered(session_of(taken), False)
            rows += await self.forget_made(taken)
        return rows

    async def finish(self) -> None:
        """End what a kill ended, or could not be ended; raises StoreError, Denied, OSError for the last that fails."""
        failure: MemorydError | OSError | None = None
        async with self._one_at_a_time:
            for one in self._withheld.unfinished():
                try:
                    await self._finish(RelativePath(one.name), datetime.fromtimestamp(one.since, UTC))
                except (MemorydError, OSError) as exc:
                    failure = exc
        if failure is not None:
            raise failure

    async def _finish(self, path: RelativePath, asked_at: datetime) -> None:
        try:
            if holds_turns(path):
                await self._places.qa.finish_forgetting(session_of(path), asked_at)
        except (MemorydError, OSError):
            if await self._places.index.holds(path):
                await self._forget_made(path)
            raise
        await self._forget_remains(path)

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """End what a kill ended, as soon as that can be done."""
        while True:
            try:
                await self._withheld.load()
                await self.finish()
            except (MemorydError, OSError) as exc:
                self.trouble = f"the forgetting of a conversation is not finished: {exc}" if self._is_owed() else ""
            else:
                self.trouble = ""
            await asyncio.sleep(retry_seconds)

    def _is_owed(self) -> bool:
        return self._withheld.is_known and bool(self._withheld.unfinished())

    async def _forget_remains(self, path: RelativePath) -> Removed:
        made = await self._forget_made(path)
        await self._withheld.end_forgetting(path)
        return made

    async def _forget_made(self, path: RelativePath) -> Removed:
        rows = await self._forget_indexed(path)
        if not holds_turns(path):
            return Removed(rows=rows, exports=await self._places.exports.forget(path))
        # after the files: who adds an answer to a session that is gone takes it back
        return Removed(rows=rows, held_answers=await self._ledger.forget_session(self._agent, session_of(path)))

    async def _forget_indexed(self, path: RelativePath) -> int:
        return await self._places.index.forget(path)
