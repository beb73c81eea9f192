"""The places that forgetting reaches: rows of the indexes of notes and conversations, and exports.

Each place reports what went, and what is out of reach.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.domain.citations import holds_turns, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.errors import StoreUnavailable
from memoryd.memory.forgetting.planning import chunks_with, purge_remains
from memoryd.qmd.agent import AgentQmd
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.schema import delete_set_aside, discard

OPEN_SECONDS: Final = 20.0
"""How long it is waited for an index that is being opened."""
_LOOK_SECONDS: Final = 0.05
FOLLOW_SECONDS: Final = 60.0
_PAGES: Final = "bank/"


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


class ForgettingPlaces(Struct, frozen=True, kw_only=True):
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
        found = [] if self._shared is None else await self._shared.read(lambda store: store.cutting.find(said))
        transcripts: dict[str, None] = {}
        for one in self._open:
            rows = await chunks_with(one.database, said)
            transcripts |= dict.fromkeys(row.path for row in rows if not holds_turns(row.path))
        return [address for each in found for address in each.addresses], list(transcripts)

    async def cut(self, said: SaidWords) -> Sequence[str]:
        """Take the words out of turns and indexes, and return which turns; raises StoreError, Denied, NotNow."""
        cut = [] if self._shared is None else await self._shared.write(lambda store: store.cutting.cut(said))
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


class Removed(Struct, frozen=True):
    """What went, or would: files of ours in the workspace, the turns in them, rows, held answers, exports."""

    files: int = 0
    turns: int = 0
    answers: int = 0
    rows: int = 0
    held_answers: int = 0
    exports: int = 0


class Receipt(Struct, frozen=True):
    """What was forgotten with a conversation: every conversation that went, how much, and in sentences the rest.

    `remarks` are about what went, `unfinished` about what goes later, `stays` about what is out of reach.
    """

    path: RelativePath
    removed: Removed = Removed()
    conversations: tuple[RelativePath, ...] = ()
    remarks: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()

    def with_more(self, removed: Removed, remarks: Sequence[str] = ()) -> Self:
        """Return it with more that went."""
        return replace(self, removed=together(self.removed, removed), remarks=(*self.remarks, *remarks))

    def with_unfinished(self, removed: Removed, why: str) -> Self:
        """Return it with a part of a conversation that went, and why the rest did not."""
        return replace(self, removed=together(self.removed, removed), unfinished=(*self.unfinished, why))

    def naming(self, conversations: Sequence[RelativePath]) -> Self:
        """Return it with more conversations."""
        return replace(self, conversations=(*self.conversations, *conversations))

    def with_stays(self, stays: Sequence[str]) -> Self:
        """Return it with what is out of reach."""
        return replace(self, stays=tuple(stays))


def together(one: Removed, other: Removed) -> Removed:
    """Add up what went."""
    return Removed(*(getattr(one, name) + getattr(other, name) for name in Removed.__struct_fields__))
