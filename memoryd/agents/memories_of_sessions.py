"""What was made of a session goes with it: the memory of its end, and its summaries."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from memoryd.agents.session_memories import made_of
from memoryd.domain.sessions.turns import SessionId
from memoryd.errors import MemorydError
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.forgetting import MemoryForgetting

FOLLOW_SECONDS: Final = 10.0
_LEFT: Final = "a memory that was made of it may be left, which `memoryctl forget` takes out"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoriesOfSessions:
    """The memories that were made of the sessions of one workspace. `follow` has the index hold what is on disk."""

    book: MemoryBook
    forgetting: MemoryForgetting
    follow: Callable[[], Awaitable[object]]

    async def would_forget(self, session: SessionId) -> tuple[str, ...]:
        """Say what would go with a session; raises StoreError."""
        return _told(len(made_of(await self.book.now(), session)), "goes")

    async def forget(self, session: SessionId) -> tuple[str, ...]:
        """Forget what was made of a session, and say so; what is in the way is said, too."""
        try:
            # what was made a moment ago, too; a disk that is away must not hold the conversation back
            async with asyncio.timeout(FOLLOW_SECONDS):
                await self.follow()
        except TimeoutError:
            return (f"{_LEFT}: its notes are not read yet",)
        try:
            found = made_of(await self.book.now(), session)
            for memory in found:
                await self.forgetting.forget(memory)
        except MemorydError as exc:
            return (f"{_LEFT}: {exc}",)
        return _told(len(found), "went")


def _told(count: int, verb: str) -> tuple[str, ...]:
    made = "1 memory that was made of it" if count == 1 else f"{count} memories that were made of it"
    return (f"{made} {verb} with it",) if count else ()
