"""Where a memory that is forgotten may stand beside its note: the indexes of notes, and what was said to the agents."""

import asyncio
from collections.abc import Sequence
from typing import Final

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.domain.citations import holds_turns, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.memory.forgetting.planning import chunks_with, purge_remains
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.schema import delete_set_aside

FOLLOW_SECONDS: Final = 60.0
_PAGES: Final = "bank/"


class ForgettingIndexes:
    """The indexes of notes. `others` are those of other workspaces, which may have the same folder or files."""

    def __init__(self, own: WorkspaceIndex) -> None:
        self._own = own
        self.others: list[WorkspaceIndex] = []

    async def follow(self) -> str:
        """Have all of them follow the disk now; return why one cannot, empty if all did."""
        tickets = [(index, index.demand()) for index in self._all]
        try:
            async with asyncio.timeout(FOLLOW_SECONDS):
                for index, ticket in tickets:
                    await index.settled(ticket)
        except TimeoutError:
            return f"an index did not follow the notes within {FOLLOW_SECONDS:.0f} s"
        return next((f"an index cannot follow the notes: {index.trouble}" for index in self._all if index.trouble), "")

    async def drop_remains(self) -> str:
        """Rewrite what was only marked as deleted, and cut the logs; return why that cannot be, empty if it was."""
        for index in self._all:
            index.builtin.forget_vectors()
            if why := await purge_remains(index.database):
                return why
            await asyncio.to_thread(delete_set_aside, index.database.path)
            for follower in index.followers:
                follower.demand()
        held = await asyncio.gather(*(purge() for index in self._all for purge in index.purges))
        return next(filter(None, held), "")

    async def chunks_with(self, said: SaidWords) -> Sequence[ChunkRow]:
        """Return the chunks of the own index in which the words stand; raises StoreError."""
        return await chunks_with(self._own.database, said)

    def generated_pages(self) -> Sequence[RelativePath]:
        """Return the documents into which reflect may have written."""
        return sorted(path for path in self._own.indexer.known_paths if path.startswith(_PAGES))

    @property
    def _all(self) -> list[WorkspaceIndex]:
        return [self._own, *self.others]


class SaidToAgents:
    """What was said to the agents of one workspace; without `shared` no questions and answers are kept."""

    def __init__(self, shared: WorkspaceQa | None, conversations: Sequence[AgentConversations]) -> None:
        self._shared = shared
        self._conversations = conversations

    async def find(self, said: SaidWords) -> tuple[Sequence[str], Sequence[str]]:
        """Return the turns of sessions and the transcripts in which words stand; raises StoreError, NotNow."""
        found = [] if self._shared is None else await self._shared.read(lambda store: store.forgetting.find(said))
        transcripts: dict[str, None] = {}
        for one in self._open:
            rows = await chunks_with(one.database, said)
            transcripts |= dict.fromkeys(row.path for row in rows if not holds_turns(row.path))
        return [address for each in found for address in each.addresses], list(transcripts)

    async def cut(self, said: SaidWords) -> Sequence[str]:
        """Take the words out of turns and indexes, and return which turns; raises StoreError, Denied, NotNow."""
        cut = [] if self._shared is None else await self._shared.write(lambda store: store.forgetting.cut(said))
        for one in self._open:
            # also what an earlier try cut, and did not come to take out of the index
            rows = {row.path for row in await chunks_with(one.database, said) if holds_turns(row.path)}
            for path in {*rows, *(turns_path(each.session) for each in cut if each.agent == one.agent)}:
                await one.forget(path)
            one.demand()
        return [address for each in cut for address in each.addresses]

    @property
    def _open(self) -> list[AgentConversations]:
        return [one for one in self._conversations if one.is_wanted and one.database.is_open]
