"""The figures of status: of an index, of conversations, of questions and answers, and of the parts' own counters."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.qa import WorkspaceQa, require_qa
from memoryd.domain.clock import rfc3339
from memoryd.domain.counters import CacheUses, Durations
from memoryd.domain.documents import RelativePath, SkippedFile
from memoryd.domain.sessions.documents import counted, totals
from memoryd.domain.skips import SkipReason
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.index.embedding_loop import EmbeddingLoop
from memoryd.memory.book import MemoryCache
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.models import OutstandingReply
from memoryd.replies.status import ConversationsReply, SkippedReply, TranscriptFolderReply, TranscriptsReply
from memoryd.search.arms import ArmTimes
from memoryd.sessions.workspace_sessions import QaDiskUsage, disk_usage
from memoryd.store.index.conversations import ConversationCounts
from memoryd.store.index.database import Database
from memoryd.store.index.documents import MemoryCounts
from memoryd.store.index.passages import Counts, RejectedPassage
from memoryd.wire import FLAGGED_SHOWN

Result = TypeVar("Result")
SKIPPED_SHOWN = 50


class IndexStats(Struct, frozen=True):
    """The figures of one index."""

    stored: Counts = Counts()
    lacking: int = 0
    """Texts and files without a vector."""
    embedded: int = 0
    """Passages with a vector; several of them may have the same text."""
    outstanding: OutstandingReply | None = None
    """The work that is still to be sent to a provider; None if nothing is sent."""
    flagged: Sequence[tuple[str, str]] = ()
    """Path and flags of the first documents that were altered when read, or are conflict copies."""
    unseen: tuple[SkippedFile, ...] = ()
    """Pictures and sounds that are found only by their names, with the reason."""
    memories: MemoryCounts = MemoryCounts()


class IndexCounter(Struct, kw_only=True, eq=False):
    """Counts one index. A figure that cannot be counted now keeps its last value."""

    database: Database
    embedding_loop: EmbeddingLoop
    embedding: Embedding
    _figures: IndexStats = IndexStats()

    async def take(self) -> IndexStats:
        """Count each figure separately, so that a failing store affects only its own figures."""
        # each in its own transaction, concurrent with the loops that write: the figures may not add up
        last, documents = self._figures, self.database.documents
        self._figures = IndexStats(
            stored=await _or_last(documents.counts(), last.stored),
            lacking=await _or_last(self.embedding_loop.count(), last.lacking),
            embedded=await _or_last(self._count_embedded(), last.embedded),
            outstanding=await _or_last(_outstanding(self.database, self.embedding), last.outstanding),
            flagged=await _or_last(documents.flagged(FLAGGED_SHOWN), last.flagged),
            unseen=await _or_last(self._rejected_files(), last.unseen),
            memories=await _or_last(self.database.memories.counts(), last.memories),
        )
        return self._figures

    async def _count_embedded(self) -> int:
        fingerprint = _fingerprint(self.embedding)
        return await self.database.vectors.count_embedded(fingerprint) if fingerprint else 0

    async def _rejected_files(self) -> tuple[SkippedFile, ...]:
        fingerprint = _fingerprint(self.embedding)
        rejected = await self.database.vectors.rejected(fingerprint) if fingerprint else ()
        return tuple(map(_skipped, rejected))


async def _outstanding(database: Database, embedding: Embedding) -> OutstandingReply | None:
    """Return the part of an index that is still to be sent; None if nothing is sent. Raises StoreError."""
    if not embedding.is_sending_notes:
        return None
    # no space has an empty fingerprint: without an embedder, all passages are still to be sent
    return await database.vectors.pending_cost(_fingerprint(embedding))


def _fingerprint(embedding: Embedding) -> str:
    embedder = embedding.slot.embedder
    return "" if embedder is None else embedder.identity.fingerprint


async def _or_last(count: Awaitable[Result], last: Result) -> Result:
    with contextlib.suppress(StoreError):
        return await count
    return last


def _skipped(refused: RejectedPassage) -> SkippedFile:
    if refused.is_file:
        return SkippedFile(refused.path, SkipReason.NAME_ONLY.format(refused.reason))
    reason = SkipReason.WORDS_ONLY.format(refused.start_line, refused.end_line, refused.reason)
    return SkippedFile(refused.path, reason)


class ConversationCounter(Struct, eq=False):
    """Counts the conversations of one agent. A figure that cannot be counted now keeps its last value."""

    conversations: AgentConversations
    embedding: Embedding
    unfinished: Callable[[], str] = lambda: ""
    """Returns why a conversation is not completely forgotten yet; empty if none is pending."""
    _outstanding: OutstandingReply | None = None
    _counts: ConversationCounts = ConversationCounts()
    _stored: Counts = Counts()
    _unknown: tuple[SkippedFile, ...] = ()

    @property
    def trouble(self) -> str:
        """Why a conversation is not forgotten yet, or the index does not follow; empty if neither is so."""
        return self.unfinished() or self.conversations.trouble or ""

    async def take(self) -> ConversationsReply | None:
        """Count now; return None for an agent without conversations to index."""
        conversations = self.conversations
        if not conversations.is_wanted:
            return None
        with contextlib.suppress(StoreError):
            self._counts = await conversations.database.conversations.counts()
            self._stored = await conversations.database.documents.counts()
            self._outstanding = await _outstanding(conversations.database, self.embedding)
            known = await conversations.writer.known()
            self._unknown = tuple(SkippedFile(path, entry.problem) for path, entry in known.items() if entry.problem)
        failures, feeders = conversations.failures, conversations.feeders
        times = [feeder.last_read_at for feeder in feeders if feeder.last_read_at is not None]
        return ConversationsReply(
            path=str(conversations.database.path),
            bytes=self._stored.bytes,
            conversations=self._counts.conversations,
            parts=self._counts.parts,
            chunks=self._counts.chunks,
            passages=self._stored.passages,
            pendingEmbeddings=await conversations.embedding_loop.count_pending(),
            reading=any(feeder.is_reading for feeder in feeders),
            lastReadAt=rfc3339(max(times, default=None)),
            unreadable=len(failures),
            skipped=skipped_replies(self._skipped(failures)),
            reason=self.trouble or None,
            outstanding=self._outstanding,
            transcripts=self._transcripts(),
        )

    def _skipped(self, failures: dict[RelativePath, str]) -> Iterator[SkippedFile]:
        yield from (SkippedFile(path, why) for path, why in failures.items())
        yield from self._unknown
        seen = self.conversations.seen
        if seen is not None:
            yield from seen.skipped
        yield from self.conversations.partly_read

    def _transcripts(self) -> TranscriptsReply | None:
        seen = self.conversations.seen
        if seen is None:
            return None
        folders = [
            TranscriptFolderReply(path=str(folder.path), files=folder.files, reason=folder.problem or None)
            for folder in seen.folders
        ]
        return TranscriptsReply(
            folders=folders,
            files=seen.files,
            bytes=seen.bytes,
            maxBytes=seen.max_bytes,
            unknown=self._counts.unknown,
            withheld=seen.withheld,
        )


def skipped_replies(skipped: Iterable[SkippedFile]) -> list[SkippedReply]:
    """Return the first skipped files."""
    return [SkippedReply(path=file.path, reason=file.reason) for file in islice(skipped, SKIPPED_SHOWN)]


class Counters(Struct, frozen=True, kw_only=True):
    """The counters of all workspaces together."""

    seconds: Mapping[str, Durations]
    """The durations of searches, by arm."""
    states: Mapping[tuple[str, str], int]
    """The number of searches by arm and by its state."""
    scans: Mapping[str, int]
    """The number of scans of the disk, by reason."""
    caches: Mapping[str, CacheUses]
    vector_bytes: int
    """The bytes of memory of the vectors that questions were compared with."""

    def after(self, earlier: "Counters") -> "Counters":
        """Return these counters plus those of the memories that these replaced."""
        seconds: defaultdict[str, Durations] = defaultdict(Durations)
        for counters in (earlier, self):
            for arm, durations in counters.seconds.items():
                seconds[arm].add_all(durations)
        return Counters(
            seconds=seconds,
            states=Counter(earlier.states) + Counter(self.states),
            scans=Counter(earlier.scans) + Counter(self.scans),
            caches={name: _sum(filter(None, (earlier.caches.get(name), uses))) for name, uses in self.caches.items()},
            vector_bytes=self.vector_bytes,
        )


def sum_counters(
    *,
    indexes: Sequence[WorkspaceIndex],
    sidecars: Iterable[ArmTimes],
    conversations: Sequence[AgentConversations],
    books: Iterable[MemoryCache],
) -> Counters:
    """Return the sums. The arms of conversations have names of their own."""
    seconds: defaultdict[str, Durations] = defaultdict(Durations)
    states: Counter[tuple[str, str]] = Counter()
    arms = [("", times) for times in (*(index.builtin.times for index in indexes), *sidecars)]
    arms += [("conversations ", agent.search.times) for agent in conversations]
    for prefix, times in arms:
        for (arm, state), number in times.states.items():
            states[prefix + arm, state] += number
        for arm, durations in times.seconds.items():
            seconds[prefix + arm].add_all(durations)
    scans: Counter[str] = Counter()
    for index in indexes:
        scans.update(index.indexer.triggers.scans)
    searches = (*(index.builtin for index in indexes), *(agent.search for agent in conversations))
    loops = (*(index.embedding_loop for index in indexes), *(agent.embedding_loop for agent in conversations))
    return Counters(
        seconds=seconds,
        states=states,
        scans=scans,
        caches={
            "memories": _sum(book.uses for book in books),
            "vectors": _sum(loop.uses for loop in loops),
        },
        vector_bytes=sum(search.vector_index.held_bytes for search in searches if search.vector_index is not None),
    )


def _sum(uses: Iterable[CacheUses]) -> CacheUses:
    all_uses = list(uses)
    return CacheUses(sum(use.hits for use in all_uses), sum(use.misses for use in all_uses))


class QaCounter(Struct, frozen=True):
    """Counts the questions and answers of one agent. Without `shared` they are off."""

    agent: str
    shared: WorkspaceQa | None

    async def now(self, *, names_all: bool = False) -> QaStatsReply:
        """Count now. With `names_all`, files whose agent is unknown are named, too.

        Raises Disabled, and NotNow and StoreUnavailable while the files cannot be used.
        """
        shared = require_qa(self.shared)
        await shared.read(lambda store: store.sessions.scan())
        return await asyncio.to_thread(self._stats_reply, shared, names_all)

    async def known(self) -> QaStatsReply | None:
        """Count what is known, even while the files cannot be read; return None if they are off."""
        return None if self.shared is None else await asyncio.to_thread(self._stats_reply, self.shared, False)

    @property
    def problems(self) -> list[str]:
        """The current problems of the files; empty if they are off."""
        return [] if self.shared is None else self.shared.problems(self.agent)

    def _stats_reply(self, shared: WorkspaceQa, names_all: bool) -> QaStatsReply:
        entries = shared.store.sessions.of(self.agent)
        try:
            disk = disk_usage(shared.workspace)
        except OSError:
            # the same error keeps the store from being read, and `problems` reports it
            disk = QaDiskUsage()
        total, usage = totals(counted(entry) for entry in entries), shared.store.archive.usage
        return QaStatsReply(
            sessions=len(entries),
            turns=total.turns,
            answers=total.answers,
            ratio=total.ratio,
            archived=disk.archived,
            bytes=disk.bytes,
            archiveBytes=disk.archive_bytes,
            maxBytes=usage.max_bytes,
            full=usage.is_full,
            pruned=usage.pruned,
            problems=shared.problems(self.agent, names_all=names_all),
        )
