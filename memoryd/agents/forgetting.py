"""Take a conversation of one agent out of everything, in an order in which nothing can bring it back.

A session: first it is noted in the ledger that it is to be forgotten, so that the next start ends what a kill ended.
Then go its files, the truth; then what is made of them: rows, vectors and words, held answers. The note goes last.

A transcript belongs to another program and stays. First it is noted in the ledger, for good, that it is never to be
read again, which counts from that moment on for everything that reads; then goes what was made of it.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from memoryd.agents.forgetting_reach import ForgettingReach
from memoryd.agents.forgotten_places import ForgettingPlaces
from memoryd.agents.receipts import Receipt, Removed, together
from memoryd.domain.conversation_paths import holds_turns, session_of, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.transcript_places import transcript_session
from memoryd.errors import MemorydError, NotFound
from memoryd.sessions.withheld_conversations import WithheldConversations
from memoryd.store.ledger import Ledger

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

    async def forget(self, path: RelativePath, file: Path | None) -> Receipt:
        """Forget a conversation, whose transcript lies at `file`; raises NotFound, Disabled, Denied, StoreError."""
        async with self._one_at_a_time:
            path = await self._reach.whole(path)
            removed = await (self._forget_session(path) if holds_turns(path) else self._forget_transcript(path, file))
        log.info("a conversation was forgotten", agent=self._agent)
        return Receipt(path, removed, await self._reach.stays(path, file))

    async def forget_made(self, path: RelativePath) -> int:
        """Remove what was made of what is not to be remembered; return how many parts the index had of it."""
        async with self._one_at_a_time:
            return (await self._forget_made(path)).rows

    async def release(self, path: RelativePath) -> None:
        """Let there be something of a transcript again."""
        await self._places.exports.release(path)
        await self._set_taken_remembered(path, True)

    async def mark(self, path: RelativePath, file: Path | None) -> int:
        """Have a transcript not be remembered; return how many parts left the index. Raises StoreError, Denied."""
        await self._withheld.withhold_transcript(path, file, is_forgotten=False)
        rows = await self.forget_made(path)
        if taken := await self._set_taken_remembered(path, False):
            rows += await self.forget_made(taken)
        return rows

    async def _set_taken_remembered(self, path: RelativePath, is_remembered: bool) -> RelativePath | None:
        """Treat the turns that were taken from a transcript as the transcript itself; return them, if there are any."""
        taken = transcript_session(self._agent, path.rpartition("/")[2])
        if not self._places.qa.is_writable or await self._places.qa.find(taken) is None:
            return None
        await self._places.qa.set_remembered(taken, is_remembered)
        return turns_path(taken)

    async def finish(self) -> None:
        """End what a kill ended; raises StoreError, Denied, OSError."""
        async with self._one_at_a_time:
            for one in self._withheld.unfinished():
                path = RelativePath(one.name)
                if holds_turns(path):
                    await self._places.qa.finish_forgetting(session_of(path), datetime.fromtimestamp(one.since, UTC))
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

    async def _forget_session(self, path: RelativePath) -> Removed:
        name = session_of(path)
        self._places.qa.check_writable()
        if await self._places.qa.find(name) is None and not self._withheld.names(path):
            raise NotFound(f"there is no session {name!r}", hint="memoryctl sessions list")
        await self._withheld.begin_forgetting(path)
        gone = await self._places.qa.forget(name)
        made = await self._forget_remains(path)
        return replace(made, files=gone.files, turns=gone.turns, answers=gone.answers)

    async def _forget_transcript(self, path: RelativePath, file: Path | None) -> Removed:
        await self._withheld.withhold_transcript(path, file, is_forgotten=True)
        await self._withheld.begin_forgetting(path)
        return await self._forget_remains(path)

    async def _forget_remains(self, path: RelativePath) -> Removed:
        made = await self._forget_made(path)
        if holds_turns(path):
            # after the files: who adds an answer to a session that is gone takes it back
            made = replace(made, held_answers=await self._ledger.forget_session(self._agent, session_of(path)))
        else:
            made = together(made, await self._forget_taken(path))
        await self._withheld.end_forgetting(path)
        return made

    async def _forget_taken(self, path: RelativePath) -> Removed:
        """Forget the session that the turns of a transcript, and of its copies, were taken into."""
        removed = Removed()
        for one in (path, *await self._reach.copies()):
            taken = turns_path(transcript_session(self._agent, one.rpartition("/")[2]))
            if self._places.qa.is_writable and await self._places.qa.find(session_of(taken)) is not None:
                removed = together(removed, await self._forget_session(taken))
        return removed

    async def _forget_made(self, path: RelativePath) -> Removed:
        # of a transcript there may be copies; the index looks only at new ones by itself
        others = [] if holds_turns(path) else [one for one in await self._reach.copies() if one != path]
        rows = exports = 0
        for one in (path, *others):
            rows += await self._places.index.forget(one)
            exports += await self._places.exports.forget(one)
        return Removed(rows=rows, exports=exports)
