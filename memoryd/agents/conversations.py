"""The conversations of one agent: an index of their own beside that of the notes, what feeds it, and the search in it.

No other agent has a part in its file, not even one on the same workspace. All of it is optional: whatever breaks here
costs conversations and never notes.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.agents.conversation_feeds import ConversationFeeds, ConversationIndexing
from memoryd.agents.loops import NamedLoop
from memoryd.agents.part_settings import index_settings, lane_settings, search_settings
from memoryd.agents.workspace_index import Surroundings
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.documents import RelativePath
from memoryd.embed.embedding import Embedding
from memoryd.errors import NotFound, StoreError
from memoryd.index.embedding_loop import EmbeddingLane
from memoryd.index.keeper import Keeper
from memoryd.index.passages import LaneLinks, Spaces
from memoryd.search.builtin import BuiltinSearch
from memoryd.sessions.conversation_index import ConversationFeeder, ConversationNews, ConversationWriter
from memoryd.sessions.excluded import WithheldConversations
from memoryd.store.index.database import Database
from memoryd.store.index.schema import discard

NOTES_FIRST: Final = "the passages of notes come first"
GATE_SECONDS: Final = 0.5
"""How often it is seen whether notes still want the embedder."""


@dataclass(frozen=True, slots=True)
class NotesAhead:
    """What of the notes comes before conversations: their passages, and files that are still to be read."""

    lane: EmbeddingLane
    pending_files: Callable[[], int]


@dataclass(frozen=True, slots=True)
class ConversationLines:
    """Lines of a conversation as they are indexed, by number; those that say nothing are left out."""

    path: RelativePath
    texts: Mapping[int, str]


class AgentConversations:
    """The conversation index of one agent, wired together. `run` none of it but by the loops that it names."""

    def __init__(self, agent: Agent, *, embedding: Embedding, notes: NotesAhead, around: Surroundings) -> None:
        settings = agent.memory_search
        self.agent = agent.id
        self._notes = notes
        self._was_held = False
        self._opened = asyncio.Event()
        self.database = _made_database(agent, around)
        self.keeper = Keeper(
            database=self.database,
            is_private=self.database.path.is_relative_to(state_dir()),
            on_new=self._on_new_file,
            is_rebuilt=lambda: all(feeder.is_settled for feeder in self.feeders),
        )
        spaces = Spaces(self.database)
        self.writer = ConversationWriter(
            database=self.database,
            chunks=index_settings(settings).chunks,
            news=ConversationNews(on_commit=self._on_commit, on_purge=self._on_purge),
            trouble=lambda: self.keeper.trouble,
        )
        self.lane = EmbeddingLane(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=lane_settings(settings, embedding.plan.choice),
            links=LaneLinks(
                lookup=around.lookup,
                # whoever follows the vectors of notes would take these for theirs
                publish=lambda _event, _data: None,
                on_removed=lambda: self.search.forget_vectors(),
                hold=self._why_waiting,
                obstacle=embedding.obstacle,
            ),
        )
        self.search = BuiltinSearch(
            database=self.database,
            spaces=spaces,
            executor=around.executor,
            slot=embedding.slot,
            settings=search_settings(settings, around.limits.max_vector_bytes),
            withdrawn=self.writer.forgotten,
        )
        self.withheld = WithheldConversations(agent.id, around.ledgers.of(agent))
        indexing = ConversationIndexing(self.writer, self.withheld, around, lambda: bool(notes.pending_files()))
        self.feeds = ConversationFeeds(agent, indexing, watched_as=str(self.database.path))

    @property
    def feeders(self) -> Sequence[ConversationFeeder]:
        """What reads conversations into the index."""
        return self.feeds.feeders

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything that it could hold; else there is no file, and nobody need ask."""
        return bool(self.feeders)

    @property
    def trouble(self) -> str | None:
        """Why the index does not follow the conversations; None if it does."""
        return self.keeper.trouble or next((one.trouble for one in self.feeders if one.trouble), None)

    def loops(self) -> list[NamedLoop]:
        """Name the loops, all of which may fail."""
        name = f"conversations {self.agent}"
        withheld: NamedLoop = (f"{name} withheld", self.withheld.run)
        if not self.is_wanted:
            return [withheld, (f"{name} leftovers", self._discard)]
        lanes: list[NamedLoop] = [(f"{name} embedding", self.lane.run), (f"{name} gate", self._run_gate)]
        keeping: list[NamedLoop] = [(f"{name} keeper", self.keeper.run), (f"{name} leftovers", self._drop_leftovers)]
        return [withheld, *keeping, *self.feeds.loops(name), *lanes]

    async def close(self) -> None:
        """Close the file of the index."""
        await self.database.close()

    def demand(self) -> list[int]:
        """Ask for a look at all sources now; return the tickets that `settled` takes."""
        return [feeder.demand() for feeder in self.feeders]

    async def settled(self, tickets: Sequence[int]) -> str:
        """Wait until what was there at that demand is indexed; return why that cannot be, empty if it is."""
        waits = [feeder.settled(ticket) for feeder, ticket in zip(self.feeders, tickets, strict=True)]
        return "; ".join(filter(None, await asyncio.gather(*waits)))

    @property
    def failures(self) -> dict[RelativePath, str]:
        """The conversations that could not be read or indexed at the last try, and why."""
        return {path: why for feeder in self.feeders for path, why in feeder.failures.items()}

    async def sync(self) -> str:
        """Read all that changed now, and wait for it; return why that cannot be, empty if it was."""
        return await self.settled(self.demand())

    async def read_anew(self) -> None:
        """Have every conversation be read from its beginning, in the background."""
        with contextlib.suppress(StoreError):
            # an index that cannot be written is made anew anyway, or nothing can be done
            await self.writer.distrust()
        self.demand()

    async def forget(self, path: RelativePath) -> int:
        """Take a conversation out of the index, with the vectors and words of it; return how many parts it had.

        It comes back if its source still has it: delete or withhold it there before. Raises StoreError; then it is told
        to nobody all the same.
        """
        return await self.writer.forget(path)

    async def parts(self, path: RelativePath) -> int:
        """Count the parts that the index has of a conversation; raises StoreError."""
        return await self.database.conversations.parts(path)

    async def lines(self, path: RelativePath, first: int, last: int) -> ConversationLines:
        """Return lines of a conversation as they are indexed, clean and redacted; raises NotFound, StoreError."""
        known = (await self.writer.known()).get(path)
        if known is None or path in self.writer.forgotten:
            raise NotFound(f"there is no conversation {path} in the index")
        return ConversationLines(path, await self.database.conversations.lines(path, first, last))

    async def _drop_leftovers(self) -> None:
        """Remove what a source brought that is switched off since, and end."""
        await self._opened.wait()
        prefixes = tuple(feeder.source.prefix for feeder in self.feeders)
        await self.writer.purge([path for path in await self.writer.known() if not path.startswith(prefixes)])

    async def _discard(self) -> None:
        """Delete the index, if it is ours, where no conversation is to be found any more."""
        await asyncio.to_thread(discard, self.database.path)

    async def _run_gate(self) -> None:
        """Wake the lane when the passages of notes that it waits for are embedded."""
        while True:
            await asyncio.sleep(GATE_SECONDS)
            if self._was_held and not self._notes.lane.is_at_work:
                self._was_held = False
                self.lane.wake()

    def _why_waiting(self) -> str:
        if not self._notes.lane.is_at_work:
            return ""
        self._was_held = True
        return NOTES_FIRST

    def _on_new_file(self) -> None:
        self._opened.set()
        for feeder in self.feeders:
            feeder.demand()
        self.lane.wake()

    def _on_commit(self) -> None:
        self.lane.wake()

    def _on_purge(self) -> None:
        # vectors in memory first: a question that is asked now must not find what was purged
        self.search.forget_vectors()
        self.lane.break_off()


def _made_database(agent: Agent, around: Surroundings) -> Database:
    vector = agent.memory_search.store.vector
    return Database(
        path=agent.conversations_path,
        executor=around.executor,
        vector_extension=Path(vector.extension_path) if vector.extension_path else None,
        loads_vectors=vector.enabled,
    )
