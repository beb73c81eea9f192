"""The index of one agent's conversations, separate from the index of notes: its sources, its loops and its search.

Each agent has an index file of its own, even on a shared workspace. Conversations are optional: a failure here affects
conversations and never notes.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

from memoryd.agents.events import NamedLoop
from memoryd.agents.workspace.index import DaemonResources
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
from memoryd.retry import wait_within
from memoryd.search.builtin import BuiltinSearch
from memoryd.sessions.conversation_index import ConversationFeeder, ConversationWriter, FeedSettings, SimilarTurnSearch
from memoryd.sessions.conversation_source import QaConversations
from memoryd.sessions.transcripts.conversations import SeenTranscripts, TranscriptConversations
from memoryd.sessions.withheld import SourceWithoutWithheld, WithheldConversations
from memoryd.store.index.database import Database
from memoryd.store.index.schema import delete_set_aside, discard

GATE_SECONDS = 0.5
"""Seconds between two checks whether the embedder is still busy with notes."""
PURGE_SECONDS = 20.0
"""Seconds that a removal waits for an index that is being opened."""
_OPENING_SECONDS = 0.05
OPEN_SECONDS = 10.0
"""Seconds that indexing of turns waits for the first scan of the session files."""


class AgentConversations:
    """The conversation index of one agent, wired together. Run its parts only through `loops`.

    Notes come first: the passages of notes, which `notes` embeds, and the files of notes that are still to be read.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        embedding: Embedding,
        notes: EmbeddingLoop,
        pending_files: Callable[[], int],
        resources: DaemonResources,
    ) -> None:
        settings = agent.memory_search
        self.agent = agent.id
        self._notes = notes
        self._is_blocked_by_notes = False
        self._opened = asyncio.Event()
        self.database = Database(path=agent.conversations_path, executor=resources.executor)
        self.keeper = Keeper(
            database=self.database,
            is_private=self.database.path.is_relative_to(state_dir()),
            on_new=self._on_new_file,
            is_rebuilt=lambda: all(feeder.is_up_to_date for feeder in self.feeders),
        )
        spaces = Spaces(self.database)
        self.writer = ConversationWriter(
            database=self.database,
            chunks=index_settings(settings).chunks,
            on_commit=lambda: self.embedding_loop.wake(),
            on_purge=self._on_purge,
            trouble=lambda: self.keeper.trouble,
        )
        self.embedding_loop = self._embedding_loop(embedding, spaces, settings, resources.lookup)
        self.search = BuiltinSearch(
            database=self.database,
            spaces=spaces,
            slot=embedding.slot,
            settings=search_settings(settings, resources.limits.max_vector_bytes),
            withdrawn=self.writer.forgotten,
        )
        self.near_turns = SimilarTurnSearch(
            database=self.database, vector_arm=self.search.vector_arm, withdrawn=self.writer.forgotten
        )
        ledger_before = resources.ledgers.before(agent)
        self.withheld = WithheldConversations(
            agent.id,
            resources.ledgers.of(agent),
            # a mark that was made in the previous ledger is recorded nowhere else
            previous=None if ledger_before is None else WithheldConversations(agent.id, ledger_before),
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watcher = resources.watcher
        self._qa = resources.qas.get(agent.id)
        self._transcripts: TranscriptConversations | None = None
        self._feeders: dict[str, ConversationFeeder] = {}
        self._make_feeders(agent, resources.executor, lambda: bool(pending_files()))

    def _make_feeders(self, agent: Agent, executor: Executor, is_busy: Callable[[], bool]) -> None:
        settings = agent.memory_search
        new_feeder = partial(ConversationFeeder, writer=self.writer, executor=executor, is_busy=is_busy)
        if self._qa is not None:
            turns = QaConversations(self._qa.store.sessions, agent.id)
            self._feeders["qa"] = new_feeder(
                source=SourceWithoutWithheld(turns, self.withheld), settings=FeedSettings()
            )
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
            self._feeders["transcripts"] = new_feeder(
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
                # clients that follow the vectors of notes would take these events for those of notes
                publish=lambda _event, _data: None,
                on_removed=lambda: self.search.forget_vectors(),
                hold=self._why_waiting,
                obstacle=embedding.obstacle,
            ),
        )

    @property
    def feeders(self) -> list[ConversationFeeder]:
        """The readers that feed conversations into the index."""
        return list(self._feeders.values())

    @property
    def seen(self) -> SeenTranscripts | None:
        """The result of the last scan of the transcripts; None if transcripts are not indexed."""
        return None if self._transcripts is None else self._transcripts.seen

    @property
    def partly_read(self) -> Sequence[SkippedFile]:
        """The transcripts with lines that were left out because of their size."""
        return () if self._transcripts is None else self._transcripts.partly_read()

    def _watch(self) -> None:
        """Watch the folders of transcripts that exist now."""
        if self._watcher is not None and self._transcripts is not None:
            hint = self._feeders["transcripts"].hint
            self._watcher.watch(str(self.database.path), self._transcripts.seen.ids, lambda _events: hint())

    @property
    def is_wanted(self) -> bool:
        """Whether any source of conversations is configured; if not, there is no index file and nothing to search."""
        return bool(self.feeders)

    @property
    def trouble(self) -> str | None:
        """Why the index does not follow the conversations; None if it does."""
        return self.keeper.trouble or next((feeder.trouble for feeder in self.feeders if feeder.trouble), None)

    def loops(self) -> list[NamedLoop]:
        """Return the named background loops. Each of them may fail without stopping the daemon."""
        name = f"conversations {self.agent}"
        withheld: NamedLoop = (f"{name} withheld", self.withheld.run)
        if not self.is_wanted:
            return [withheld, (f"{name} leftovers", self._discard)]
        return [
            withheld,
            (f"{name} keeper", self.keeper.run),
            (f"{name} leftovers", self._drop_leftovers),
            *((f"{name} {source}", partial(self._feed, source)) for source in self._feeders),
            (f"{name} embedding", self.embedding_loop.run),
            (f"{name} gate", self._run_gate),
        ]

    async def _feed(self, source: str) -> None:
        """Feed from one source until cancelled. Turns begin once the session files were scanned."""
        self._loop = asyncio.get_running_loop()
        # nothing may be read until the withheld conversations are known; if they cannot be loaded, the loop reports it
        with contextlib.suppress(StoreError):
            await self.withheld.load()
        if source == "qa" and self._qa is not None:
            await wait_within(self._qa.until_open(), OPEN_SECONDS)
        await self._feeders[source].run()

    def _note_turns(self) -> None:
        """Report a change of the question-and-answer store to its feeder, from any thread."""
        # before the loop runs no report is needed: the loop begins with a full scan
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                # a closed loop raises: the next start sees what changed
                self._loop.call_soon_threadsafe(self._feeders["qa"].hint)

    def demand(self) -> list[int]:
        """Request a scan of all sources now; return the tickets that `wait_for_scan` takes."""
        return [feeder.demand() for feeder in self.feeders]

    async def wait_for_scan(self, tickets: Sequence[int]) -> str:
        """Wait until what existed at that demand is indexed; return why that fails, or an empty text."""
        waits = [feeder.wait_for_scan(ticket) for feeder, ticket in zip(self.feeders, tickets, strict=True)]
        return "; ".join(filter(None, await asyncio.gather(*waits)))

    async def catch_up(self, seconds: float) -> bool:
        """Read known changes within `seconds`; return whether all were read."""
        return all(await asyncio.gather(*(feeder.catch_up(seconds) for feeder in self.feeders)))

    @property
    def failures(self) -> dict[RelativePath, str]:
        """The conversations that could not be read or indexed at the last attempt, with the reasons."""
        return {path: why for feeder in self.feeders for path, why in feeder.failures.items()}

    async def sync(self) -> str:
        """Read all changes now and wait for it; return why that fails, or an empty text."""
        return await self.wait_for_scan(self.demand())

    async def read_anew(self) -> None:
        """Request that every conversation is read from its beginning, in the background."""
        with contextlib.suppress(StoreError):
            # an index that cannot be written is either made anew or cannot be repaired here
            await self.writer.invalidate()
        self.demand()

    async def forget(self, path: RelativePath) -> int:
        """Remove a conversation with its vectors and words from the index; return how many parts it had.

        It comes back if its source still has it, so delete or withhold it there first. Raises StoreError; even then the
        conversation is no longer returned.
        """
        return await self.writer.forget(path)

    async def purge(self, path: RelativePath) -> int:
        """Remove a conversation and the remains of an interrupted removal; return how many parts it had.

        Works as `forget`, but waits until the index file is open. Raises StoreError, OSError.
        """
        if not self.is_wanted:
            # an index of a time when conversations were indexed; it is no longer searched
            await self._discard()
            return 0
        await self._until_open()
        removed = await self.forget(path)
        # also if it had no parts: a kill may have come after the deletion of the rows and before that of their remains
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
        """Return how many parts the index has of a conversation, once the index is open. Raises StoreError."""
        if not self.is_wanted:
            return 0
        await self._until_open()
        return await self.database.conversations.parts(path)

    async def lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return indexed lines of a conversation, clean and redacted, by number.

        The next line behind them is included. Lines without text are left out. Raises NotFound, StoreError.
        """
        await self._until_open()
        if path not in await self.writer.known() or path in self.writer.forgotten:
            raise NotFound(f"there is no conversation {path} in the index")
        rows = self.database.conversations
        texts, following = await rows.lines(path, first, last), await rows.next_line(path, last)
        return texts if following is None else {**texts, **await rows.lines(path, following, following)}

    async def _drop_leftovers(self) -> None:
        """Remove the conversations of sources that have since been switched off, then return."""
        await self._opened.wait()
        prefixes = tuple(feeder.source.prefix for feeder in self.feeders)
        await self.writer.purge([path for path in await self.writer.known() if not path.startswith(prefixes)])

    async def _discard(self) -> None:
        """Delete the index file, if it is ours, of an agent without conversations to index."""
        await asyncio.to_thread(discard, self.database.path)

    async def _run_gate(self) -> None:
        """Wake the embedding loop when the passages of notes that it waits for are embedded."""
        while True:
            await asyncio.sleep(GATE_SECONDS)
            if self._is_blocked_by_notes and not self._notes.is_at_work:
                self._is_blocked_by_notes = False
                self.embedding_loop.wake()

    def _why_waiting(self) -> str:
        if not self._notes.is_at_work:
            return ""
        self._is_blocked_by_notes = True
        return "the passages of notes come first"

    def _on_new_file(self) -> None:
        self._opened.set()
        for feeder in self.feeders:
            feeder.demand()
        self.embedding_loop.wake()

    def _on_purge(self) -> None:
        # vectors in memory first: a concurrent question must not find what was purged
        self.search.forget_vectors()
        self.embedding_loop.cancel_batch()
