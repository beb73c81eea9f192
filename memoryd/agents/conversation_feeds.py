"""What brings conversations into the index of one agent: its questions and answers, and its transcripts."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.agents.loops import NamedLoop
from memoryd.agents.part_settings import feed_settings, indexed_folders
from memoryd.agents.workspace_index import Surroundings
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.config.agents import Agent
from memoryd.domain.documents import SkippedFile
from memoryd.errors import StoreError
from memoryd.sessions.conversation_index import ConversationFeeder, ConversationWriter, FeedSettings
from memoryd.sessions.conversation_source import QaConversations
from memoryd.sessions.excluded import RememberedSource, WithheldConversations
from memoryd.sessions.transcripts.conversations import SeenTranscripts, TranscriptConversations

OPEN_SECONDS: Final = 10.0
"""So long the files of sessions may take to be looked at before anybody is told."""


@dataclass(frozen=True, slots=True)
class ConversationIndexing:
    """What feeds have in common: where what was said goes, what of it is withheld, and when others come first."""

    writer: ConversationWriter
    withheld: WithheldConversations
    around: Surroundings
    is_busy: Callable[[], bool]


class QaFeed:
    """Feeds the questions and answers of one agent."""

    def __init__(self, agent: str, shared: WorkspaceQa, indexing: ConversationIndexing) -> None:
        self._shared = shared
        self._withheld = indexing.withheld
        self._loop: asyncio.AbstractEventLoop | None = None
        self.feeder = ConversationFeeder(
            source=RememberedSource(QaConversations(shared.store.sessions, agent), indexing.withheld),
            writer=indexing.writer,
            executor=indexing.around.executor,
            settings=FeedSettings(),
            is_busy=indexing.is_busy,
        )
        shared.store.sessions.subscribe(self._note_turns)

    async def run(self) -> None:
        """Feed until cancelled, once the files of sessions were looked at."""
        self._loop = asyncio.get_running_loop()
        await _know_withheld(self._withheld)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(OPEN_SECONDS):
                await self._shared.until_open()
        await self.feeder.run()

    def _note_turns(self) -> None:
        """Take the news, from any thread, that the question-and-answer store changed."""
        # before the loop runs nothing need be told: it begins with a look at everything
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self.feeder.hint)
            except RuntimeError:
                # the loop is closed; the next start sees what changed
                return


class TranscriptFeed:
    """Feeds the transcripts of one agent, and follows the events of their folders."""

    def __init__(self, agent: Agent, indexing: ConversationIndexing, *, watched_as: str) -> None:
        settings = agent.memory_search
        self.transcripts = TranscriptConversations(
            agent.id,
            indexed_folders(agent),
            rule=settings.sync.sessions.rule(),
            withholding=indexing.withheld,
            grace=settings.sync.root_grace_seconds,
            max_bytes=agent.memory.sessions.max_bytes,
        )
        self._withheld = indexing.withheld
        self._watcher = indexing.around.watcher
        self._watched_as = watched_as
        self.feeder = ConversationFeeder(
            source=RememberedSource(self.transcripts, indexing.withheld),
            writer=indexing.writer,
            executor=indexing.around.executor,
            settings=feed_settings(settings),
            is_busy=indexing.is_busy,
            on_look=self._watch,
        )

    async def run(self) -> None:
        """Feed until cancelled."""
        await _know_withheld(self._withheld)
        await self.feeder.run()

    def _watch(self) -> None:
        """Follow the events of the folders that are there now."""
        if self._watcher is not None:
            self._watcher.watch(self._watched_as, self.transcripts.seen.ids, lambda _events: self.feeder.hint())


class ConversationFeeds:
    """The feeds of one agent; None what it does not want."""

    def __init__(self, agent: Agent, indexing: ConversationIndexing, *, watched_as: str) -> None:
        shared = indexing.around.qas.get(agent.id)
        self.qa = None if shared is None else QaFeed(agent.id, shared, indexing)
        wants_transcripts = bool(indexed_folders(agent))
        self.transcripts = TranscriptFeed(agent, indexing, watched_as=watched_as) if wants_transcripts else None

    @property
    def feeders(self) -> list[ConversationFeeder]:
        """What reads conversations into the index."""
        return [feed.feeder for feed in (self.qa, self.transcripts) if feed is not None]

    @property
    def seen(self) -> SeenTranscripts | None:
        """What the last look at the transcripts found; None where they are not wanted."""
        return None if self.transcripts is None else self.transcripts.transcripts.seen

    @property
    def partly_read(self) -> Sequence[SkippedFile]:
        """The transcripts of which lines were left out for their size."""
        return () if self.transcripts is None else self.transcripts.transcripts.partly_read()

    def loops(self, name: str) -> list[NamedLoop]:
        """Name the loops, each after `name`."""
        named = (("qa", self.qa), ("transcripts", self.transcripts))
        return [(f"{name} {what}", feed.run) for what, feed in named if feed is not None]


async def _know_withheld(withheld: WithheldConversations) -> None:
    # until that is known nothing may be read; where it cannot be known, the loop says so
    with contextlib.suppress(StoreError):
        await withheld.load()
