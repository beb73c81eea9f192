"""What is made of conversations and has to go with them: the rows of an index, and exports."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.qa_sessions import QaSessions
from memoryd.domain.citations import holds_turns
from memoryd.domain.documents import RelativePath
from memoryd.errors import StoreUnavailable
from memoryd.qmd.agent import AgentQmd
from memoryd.store.index.schema import delete_set_aside, discard

OPEN_SECONDS: Final = 20.0
"""How long it is waited for an index that is being opened."""
_LOOK_SECONDS: Final = 0.05


class MadeOfConversations(Protocol):
    """A place with something that is made of conversations: an index, exports."""

    async def holds(self, path: RelativePath) -> int:
        """Count what is there of a conversation; raises StoreError."""
        ...

    async def forget(self, path: RelativePath) -> int:
        """Remove it, and return how much it was; once more is nothing. Raises StoreError, OSError."""
        ...


class MadeOfTranscripts(MadeOfConversations, Protocol):
    """Exports, which somebody may want again."""

    async def release(self, path: RelativePath) -> None:
        """Let there be something of a transcript again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingPlaces:
    """Where conversations of one agent lie, beside its ledger."""

    workspace: Path
    qa: QaSessions
    index: MadeOfConversations
    exports: MadeOfTranscripts


class IndexedPlace:
    """The conversation index of one agent."""

    def __init__(self, index: AgentConversations, open_seconds: float = OPEN_SECONDS) -> None:
        self._index = index
        self._open_seconds = open_seconds

    async def holds(self, path: RelativePath) -> int:
        """Count the parts of a conversation."""
        return await self._index.parts(path) if self._index.is_wanted else 0

    async def forget(self, path: RelativePath) -> int:
        """Remove rows, vectors and words; return how many parts there were. Raises StoreError, OSError."""
        file = self._index.database.path
        if not self._index.is_wanted:
            # of a time when conversations were indexed: nobody asks it any more
            await asyncio.to_thread(discard, file)
            return 0
        await self._until_open()
        removed = await self._index.forget(path)
        # also where there was nothing: a kill may have come between the rows and what they leave
        await self._index.database.documents.drop_remains()
        await self._index.database.checkpoint()
        await asyncio.to_thread(delete_set_aside, file)
        return removed

    async def _until_open(self) -> None:
        try:
            async with asyncio.timeout(self._open_seconds):
                while not self._index.writer.is_open:
                    if reason := self._index.writer.why_closed():
                        raise StoreUnavailable(reason)
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError as exc:
            raise StoreUnavailable("the index of conversations is still being opened") from exc


class ExportedPlace:
    """The exports of transcripts for the qmd of one agent, and what qmd made of them."""

    def __init__(self, qmd: AgentQmd) -> None:
        self._qmd = qmd

    async def holds(self, path: RelativePath) -> int:
        """Count the exports of a conversation: one, or none."""
        return int(not holds_turns(path) and self._qmd.has_export(_file_name(path)))

    async def forget(self, path: RelativePath) -> int:
        """Delete the export of a transcript, and have qmd forget it; one that qmd forgets later is told by nobody."""
        if holds_turns(path):
            return 0
        exports = await self.holds(path)
        await self._qmd.forget_transcript(_file_name(path))
        return exports

    async def release(self, path: RelativePath) -> None:
        """Let a transcript be exported again."""
        self._qmd.remember_transcript(_file_name(path))


class NothingExported:
    """Where nothing is exported."""

    async def holds(self, _path: RelativePath) -> int:
        """Count none."""
        return 0

    async def forget(self, _path: RelativePath) -> int:
        """Remove none."""
        return 0

    async def release(self, _path: RelativePath) -> None:
        """Do nothing."""


def _file_name(path: RelativePath) -> str:
    return path.rpartition("/")[2]
