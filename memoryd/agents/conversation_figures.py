"""What there is to tell of an agent's conversations: what is read, what is not and why, and how much is indexed."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from memoryd.agents.conversations import AgentConversations
from memoryd.agents.figures import UnsentWork, unsent_work
from memoryd.domain.documents import RelativePath, SkippedFile
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.search.arms import ArmTimes
from memoryd.sessions.transcripts.conversations import SeenTranscripts
from memoryd.store.index.conversations import ConversationCounts
from memoryd.store.index.passages import Counts

SKIPPED_SHOWN: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFigures:
    """What was counted in the index of one agent's conversations, and what its sources held at the last look."""

    path: Path
    transcripts: SeenTranscripts | None
    """None: none are read, since nobody asked for them."""
    counts: ConversationCounts
    stored: Counts
    pending_passages: int
    unreadable: int
    skipped: tuple[SkippedFile, ...]
    is_reading: bool
    last_read_at: datetime | None
    reason: str | None
    unsent: UnsentWork | None
    """What of it is still to be sent to a provider; None if nothing is sent anywhere."""


class ConversationCensus:
    """Counts the conversations of one agent; what cannot be counted now stays as it was counted last."""

    def __init__(
        self, conversations: AgentConversations, embedding: Embedding, *, owed: Callable[[], str] = lambda: ""
    ) -> None:
        self._conversations = conversations
        self._owed = owed
        """Asked what of forgetting is not finished."""
        self._embedding = embedding
        self._unsent: UnsentWork | None = None
        self._counts = ConversationCounts()
        self._stored = Counts(0, 0, 0, 0, 0)
        self._unknown: tuple[SkippedFile, ...] = ()

    @property
    def trouble(self) -> str:
        """Why the index does not follow the conversations, or the forgetting of one; empty if it does."""
        return self._owed() or self._conversations.trouble or ""

    @property
    def times(self) -> ArmTimes:
        """How long the arms over the conversations took."""
        return self._conversations.search.times

    async def take(self) -> ConversationFigures | None:
        """Count now; None for an agent whose conversations nobody keeps."""
        these = self._conversations
        if not these.is_wanted:
            return None
        with contextlib.suppress(StoreError):
            self._counts = await these.database.conversations.counts()
            self._stored = await these.database.documents.counts()
            self._unsent = await unsent_work(these.database, self._embedding)
            known = await these.writer.known()
            self._unknown = tuple(SkippedFile(path, one.problem) for path, one in known.items() if one.problem)
        failures = these.failures
        times = [feeder.last_read_at for feeder in these.feeders if feeder.last_read_at is not None]
        return ConversationFigures(
            path=these.database.path,
            transcripts=these.feeds.seen,
            counts=self._counts,
            stored=self._stored,
            pending_passages=await these.lane.owed(),
            unreadable=len(failures),
            skipped=tuple(self._skipped(failures))[:SKIPPED_SHOWN],
            is_reading=any(feeder.is_reading for feeder in these.feeders),
            last_read_at=max(times, default=None),
            reason=self.trouble or None,
            unsent=self._unsent,
        )

    def _skipped(self, failures: dict[RelativePath, str]) -> Iterator[SkippedFile]:
        yield from (SkippedFile(path, why) for path, why in failures.items())
        yield from self._unknown
        seen = self._conversations.feeds.seen
        if seen is not None:
            yield from seen.skipped
        yield from self._conversations.feeds.partly_read
