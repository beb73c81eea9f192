"""The index of one agent's conversations, beside that of the notes: what feeds it, and the search in it.

Each agent has a file of its own, even on a shared workspace. All of it is optional: what fails here costs
conversations and never notes.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

from memoryd.agents.events import NamedLoop
from memoryd.agents.workspace.index import Surroundings
from memoryd.agents.workspace.settings import (
    embedding_loop_settings,
    feed_settings,
    index_settings,
    indexed_folders,
    search_settings,
)
from memoryd.config.agents import Agent
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import state_dir
from memoryd.domain.documents import RelativePath, SkippedFile
from memoryd.embed.embedding import Embedding
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.index.keeper import Keeper
from memoryd.index.pending import EmbeddingLoopLinks, Lookup, Spaces
from memoryd.retry import happens
from memoryd.search.builtin import BuiltinSearch
from memoryd.sessions.conversation_index import ConversationFeeder, ConversationWriter, FeedSettings, SimilarTurnSearch
from memoryd.sessions.conversation_source import QaConversations
from memoryd.sessions.transcripts.conversations import SeenTranscripts, TranscriptConversations
from memoryd.sessions.withheld import SourceWithoutWithheld, WithheldConversations
from memoryd.store.index.database import Database
from memoryd.store.index.schema import delete_set_aside, discard

NOTES_FIRST = "the passages of notes come first"
GATE_SECONDS = 0.5
"""How often it is seen whether notes still want the embedder."""
PURGE_SECONDS = 20.0
"""How long it is waited for an index that is being opened before something is taken out."""
_OPENING_SECONDS = 0.05
OPEN_SECONDS = 10.0
"""So long the files of sessions may take to be looked at before anybody is told."""


class AgentConversations:
    """The conversation index of one agent, wired together. `run` none of it but by the loops that it names.

    Before conversations come the passages of notes, which `notes` embeds, and the files of notes still to be read.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        embedding: Embedding,
        notes: EmbeddingLoop,
        pending_files: Callable[[], int],
        around: Surroundings,
    ) -> None:
        settings = agent.memory_search
        self.agent = agent.id
        self._notes = notes
        self._was_held = False
        self._opened = asyncio.Event()
        self.database = Database(path=agent.conversations_path, executor=around.executor)
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
            on_commit=lambda: self.embedding_loop.wake(),
            on_purge=self._on_purge,
            trouble=lambda: self.keeper.trouble,
        )
        self.embedding_loop = self._embedding_loop(embedding, spaces, settings, around.lookup)
        self.search = BuiltinSearch(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=search_settings(settings, around.limits.max_vector_bytes),
            withdrawn=self.writer.forgotten,
        )
        self.near_turns = SimilarTurnSearch(
            database=self.database, vector_arm=self.search.vector_arm, withdrawn=self.writer.forgotten
        )
        ledger_before = around.ledgers.before(agent)
        self.withheld = WithheldConversations(
            agent.id,
            around.ledgers.of(agent),
            # a mark that was made there is nowhere else
            before=None if ledger_before is None else WithheldConversations(agent.id, ledger_before),
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watcher = around.watcher
        self._qa = around.qas.get(agent.id)
        self._transcripts: TranscriptConversations | None = None
        self._feeders: dict[str, ConversationFeeder] = {}
        self._make_feeders(agent, around.executor, lambda: bool(pending_files()))

    def _make_feeders(self, agent: Agent, executor: Executor, is_busy: Callable[[], bool]) -> None:
        settings = agent.memory_search
        made = partial(ConversationFeeder, writer=self.writer, executor=executor, is_busy=is_busy)
        if self._qa is not None:
            turns = QaConversations(self._qa.store.sessions, agent.id)
            self._feeders["qa"] = made(source=SourceWithoutWithheld(turns, self.withheld), settings=FeedSettings())
            self._qa.store.sessions.subscribe(self._note_turns)
        if folders := indexed_folders(agent):
            self._transcripts = TranscriptConversations(
                agent.id,
                folders,
                rule=settings.sync.sessions.rule(),
                withheld=self.withheld,
                grace=settings.sync.root_grace_seconds,
                max_bytes=agent.memory.sessions.max_bytes,
            )
            self._feeders["transcripts"] = made(
                source=SourceWithoutWithheld(self._transcripts, self.withheld),
                settings=feed_settings(settings),
                on_look=self._watch,
            )

    def _embedding_loop(
        self, embedding: Embedding, spaces: Spaces, settings: MemorySearchSection, lookup: Lookup
    ) -> EmbeddingLoop:
        return EmbeddingLoop(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=embedding_loop_settings(settings, embedding.plan.choice),
            links=EmbeddingLoopLinks(
                lookup=lookup,
                # whoever follows the vectors of notes would take these for theirs
                publish=lambda _event, _data: None,
                on_removed=lambda: self.search.forget_vectors(),
                hold=self._why_waiting,
                obstacle=embedding.obstacle,
            ),
        )

    @property
    def feeders(self) -> list[ConversationFeeder]:
        """What reads conversations into the index."""
        return list(self._feeders.values())

    @property
    def seen(self) -> SeenTranscripts | None:
        """What the last look at the transcripts found; None where they are not wanted."""
        return None if self._transcripts is None else self._transcripts.seen

    @property
    def partly_read(self) -> Sequence[SkippedFile]:
        """The transcripts of which lines were left out for their size."""
        return () if self._transcripts is None else self._transcripts.partly_read()

    def _watch(self) -> None:
        """Follow the events of the folders of transcripts that are there now."""
        if self._watcher is not None and self._transcripts is not None:
            hint = self._feeders["transcripts"].hint
            self._watcher.watch(str(self.database.path), self._transcripts.seen.ids, lambda _events: hint())

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
        return [
            withheld,
            (f"{name} keeper", self.keeper.run),
            (f"{name} leftovers", self._drop_leftovers),
            *((f"{name} {what}", partial(self._feed, what)) for what in self._feeders),
            (f"{name} embedding", self.embedding_loop.run),
            (f"{name} gate", self._run_gate),
        ]

    async def _feed(self, what: str) -> None:
        """Feed from one source until cancelled: turns once the files of sessions were looked at."""
        self._loop = asyncio.get_running_loop()
        # until that is known nothing may be read; where it cannot be known, the loop says so
        with contextlib.suppress(StoreError):
            await self.withheld.load()
        if what == "qa" and self._qa is not None:
            await happens(self._qa.until_open(), OPEN_SECONDS)
        await self._feeders[what].run()

    def _note_turns(self) -> None:
        """Take the news, from any thread, that the question-and-answer store changed."""
        # before the loop runs nothing need be told: it begins with a look at everything
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                # the loop is closed: the next start sees what changed
                self._loop.call_soon_threadsafe(self._feeders["qa"].hint)

    def demand(self) -> list[int]:
        """Ask for a look at all sources now; return the tickets that `settled` takes."""
        return [feeder.demand() for feeder in self.feeders]

    async def settled(self, tickets: Sequence[int]) -> str:
        """Wait until what was there at that demand is indexed; return why that cannot be, empty if it is."""
        waits = [feeder.settled(ticket) for feeder, ticket in zip(self.feeders, tickets, strict=True)]
        return "; ".join(filter(None, await asyncio.gather(*waits)))

    async def catch_up(self, seconds: float) -> bool:
        """Read within these seconds what is known to have changed; return whether it was."""
        return all(await asyncio.gather(*(feeder.catch_up(seconds) for feeder in self.feeders)))

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

    async def purge(self, path: RelativePath) -> int:
        """Take a conversation out of the index, with what a kill may have left of it; return how many parts it had.

        As `forget`, but once the file is open. Raises StoreError, OSError.
        """
        if not self.is_wanted:
            # of a time when conversations were indexed: nobody asks it any more
            await self._discard()
            return 0
        await self._until_open()
        removed = await self.forget(path)
        # also where there was nothing: a kill may have come between the rows and what they leave
        await self.database.documents.drop_remains()
        await self.database.checkpoint()
        await asyncio.to_thread(delete_set_aside, self.database.path)
        return removed

    async def _until_open(self) -> None:
        try:
            async with asyncio.timeout(PURGE_SECONDS):
                while not self.writer.is_open:
                    if reason := self.writer.why_closed():
                        raise StoreUnavailable(reason)
                    await asyncio.sleep(_OPENING_SECONDS)
        except TimeoutError as exc:
            raise StoreUnavailable("the index of conversations is still being opened") from exc

    async def parts(self, path: RelativePath) -> int:
        """Count the parts that the index has of a conversation, once it is open; raises StoreError."""
        if not self.is_wanted:
            return 0
        await self._until_open()
        return await self.database.conversations.parts(path)

    async def lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return lines of a conversation as they are indexed, clean and redacted, by number, and the next one behind
        them; those that say nothing are left out. Raises NotFound, StoreError."""
        await self._until_open()
        if path not in await self.writer.known() or path in self.writer.forgotten:
            raise NotFound(f"there is no conversation {path} in the index")
        rows = self.database.conversations
        texts, following = await rows.lines(path, first, last), await rows.next_line(path, last)
        return texts if following is None else {**texts, **await rows.lines(path, following, following)}

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
            if self._was_held and not self._notes.is_at_work:
                self._was_held = False
                self.embedding_loop.wake()

    def _why_waiting(self) -> str:
        if not self._notes.is_at_work:
            return ""
        self._was_held = True
        return NOTES_FIRST

    def _on_new_file(self) -> None:
        self._opened.set()
        for feeder in self.feeders:
            feeder.demand()
        self.embedding_loop.wake()

    def _on_purge(self) -> None:
        # vectors in memory first: a question that is asked now must not find what was purged
        self.search.forget_vectors()
        self.embedding_loop.break_off()
