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
from memoryd.agents.workspace.qa import WorkspaceQa, enabled
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

FLAGGED_SHOWN = 50
Result = TypeVar("Result")
SKIPPED_SHOWN = 50


class IndexStats(Struct, frozen=True):
    """What was counted in one index."""

    held: Counts = Counts()
    lacking: int = 0
    """Texts and files without a vector."""
    embedded: int = 0
    """Passages with one, of which several may have the same text."""
    outstanding: OutstandingReply | None = None
    """What is still to be sent to a provider; None if nothing is sent anywhere."""
    flagged: Sequence[tuple[str, str]] = ()
    """Path and flags of the first documents that were not read as they are, or are copies of a conflict."""
    unseen: tuple[SkippedFile, ...] = ()
    """Pictures and sounds that are found by their names only, and why."""
    memories: MemoryCounts = MemoryCounts()


class IndexCounter(Struct, kw_only=True, eq=False):
    """Counts one index; what cannot be counted now stays as it was counted last."""

    database: Database
    embedding_loop: EmbeddingLoop
    embedding: Embedding
    _figures: IndexStats = IndexStats()

    async def take(self) -> IndexStats:
        """Count now; each figure by itself, so that a store in trouble costs only what it cannot tell."""
        # each in a transaction of its own, beside the loops that write: the figures need not add up
        last, documents = self._figures, self.database.documents
        self._figures = IndexStats(
            held=await _or_last(documents.counts(), last.held),
            lacking=await _or_last(self.embedding_loop.count(), last.lacking),
            embedded=await _or_last(self._embedded(), last.embedded),
            outstanding=await _or_last(_outstanding(self.database, self.embedding), last.outstanding),
            flagged=await _or_last(documents.flagged(FLAGGED_SHOWN), last.flagged),
            unseen=await _or_last(self._unseen(), last.unseen),
            memories=await _or_last(self.database.memories.counts(), last.memories),
        )
        return self._figures

    async def _embedded(self) -> int:
        fingerprint = _fingerprint(self.embedding)
        return await self.database.vectors.count_embedded(fingerprint) if fingerprint else 0

    async def _unseen(self) -> tuple[SkippedFile, ...]:
        fingerprint = _fingerprint(self.embedding)
        rejected = await self.database.vectors.rejected(fingerprint) if fingerprint else ()
        return tuple(map(_skipped, rejected))


async def _outstanding(database: Database, embedding: Embedding) -> OutstandingReply | None:
    """Count what of an index is still to be sent; None if nothing is sent anywhere. Raises StoreError."""
    if not embedding.sends:
        return None
    # no space has an empty fingerprint: before there is an embedder, all passages are still to be sent
    return await database.vectors.pending_cost(_fingerprint(embedding))


def _fingerprint(embedding: Embedding) -> str:
    embedder = embedding.slot.embedder
    return "" if embedder is None else embedder.identity.fingerprint


async def _or_last(asked: Awaitable[Result], last: Result) -> Result:
    with contextlib.suppress(StoreError):
        return await asked
    return last


def _skipped(refused: RejectedPassage) -> SkippedFile:
    if refused.is_file:
        return SkippedFile(refused.path, SkipReason.NAME_ONLY.format(refused.reason))
    reason = SkipReason.WORDS_ONLY.format(refused.start_line, refused.end_line, refused.reason)
    return SkippedFile(refused.path, reason)


class ConversationCounter(Struct, eq=False):
    """Counts the conversations of one agent; what cannot be counted now stays as it was counted last."""

    conversations: AgentConversations
    embedding: Embedding
    owed: Callable[[], str] = lambda: ""
    """Asked what of forgetting is not finished."""
    _outstanding: OutstandingReply | None = None
    _counts: ConversationCounts = ConversationCounts()
    _stored: Counts = Counts()
    _unknown: tuple[SkippedFile, ...] = ()

    @property
    def trouble(self) -> str:
        """Why the index does not follow the conversations, or the forgetting of one; empty if it does."""
        return self.owed() or self.conversations.trouble or ""

    async def take(self) -> ConversationsReply | None:
        """Count now; None for an agent whose conversations nobody keeps."""
        these = self.conversations
        if not these.is_wanted:
            return None
        with contextlib.suppress(StoreError):
            self._counts = await these.database.conversations.counts()
            self._stored = await these.database.documents.counts()
            self._outstanding = await _outstanding(these.database, self.embedding)
            known = await these.writer.known()
            self._unknown = tuple(SkippedFile(path, one.problem) for path, one in known.items() if one.problem)
        failures = these.failures
        times = [feeder.last_read_at for feeder in these.feeders if feeder.last_read_at is not None]
        return ConversationsReply(
            path=str(these.database.path),
            bytes=self._stored.bytes,
            conversations=self._counts.conversations,
            parts=self._counts.parts,
            chunks=self._counts.chunks,
            passages=self._stored.passages,
            pendingEmbeddings=await these.embedding_loop.owed(),
            reading=any(feeder.is_reading for feeder in these.feeders),
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
            TranscriptFolderReply(path=str(one.path), files=one.files, reason=one.problem or None)
            for one in seen.folders
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
    """Return the first of what is skipped."""
    return [SkippedReply(path=one.path, reason=one.reason) for one in islice(skipped, SKIPPED_SHOWN)]


class Counters(Struct, frozen=True, kw_only=True):
    """Counts over all workspaces together."""

    seconds: Mapping[str, Durations]
    """How long arms took, by arm."""
    states: Mapping[tuple[str, str], int]
    """How often an arm took part, by arm and how."""
    looks: Mapping[str, int]
    """How often the disk was looked at, by what for."""
    caches: Mapping[str, CacheUses]
    vector_bytes: int
    """What the vectors take that questions were compared with."""

    def after(self, earlier: "Counters") -> "Counters":
        """Return these counts with those of memories that these took the place of."""
        seconds: defaultdict[str, Durations] = defaultdict(Durations)
        for counters in (earlier, self):
            for arm, durations in counters.seconds.items():
                seconds[arm].join(durations)
        return Counters(
            seconds=seconds,
            states=Counter(earlier.states) + Counter(self.states),
            looks=Counter(earlier.looks) + Counter(self.looks),
            caches={name: _sum(filter(None, (earlier.caches.get(name), uses))) for name, uses in self.caches.items()},
            vector_bytes=self.vector_bytes,
        )


def measured(
    *,
    indexes: Sequence[WorkspaceIndex],
    sidecars: Iterable[ArmTimes],
    conversations: Sequence[AgentConversations],
    books: Iterable[MemoryCache],
) -> Counters:
    """Return the sums; arms over conversations have names of their own."""
    seconds: defaultdict[str, Durations] = defaultdict(Durations)
    states: Counter[tuple[str, str]] = Counter()
    named = [("", times) for times in (*(index.builtin.times for index in indexes), *sidecars)]
    named += [("conversations ", one.search.times) for one in conversations]
    for over, times in named:
        for (arm, state), number in times.states.items():
            states[over + arm, state] += number
        for arm, durations in times.seconds.items():
            seconds[over + arm].join(durations)
    looks: Counter[str] = Counter()
    for index in indexes:
        looks.update(index.indexer.triggers.looks)
    searches = (*(index.builtin for index in indexes), *(one.search for one in conversations))
    loops = [*(index.embedding_loop for index in indexes), *(one.embedding_loop for one in conversations)]
    held = (one.vector_index for one in searches)
    return Counters(
        seconds=seconds,
        states=states,
        looks=looks,
        caches={
            "memories": _sum(one.uses for one in books),
            "vectors": _sum(one.uses for one in loops),
        },
        vector_bytes=sum(one.held_bytes for one in held if one is not None),
    )


def _sum(uses: Iterable[CacheUses]) -> CacheUses:
    all_uses = list(uses)
    return CacheUses(sum(one.hits for one in all_uses), sum(one.misses for one in all_uses))


class QaCounter(Struct, frozen=True):
    """Counts the questions and answers of one agent; without `shared` they are off."""

    agent: str
    shared: WorkspaceQa | None

    async def now(self, *, names_all: bool = False) -> QaStatsReply:
        """Count what there is; with `names_all` files are named though nobody knows whose they are.

        Raises Disabled, and NotNow and StoreUnavailable while the files cannot be used.
        """
        shared = enabled(self.shared)
        await shared.read(lambda store: store.sessions.look())
        return await asyncio.to_thread(self._stats_reply, shared, names_all)

    async def known(self) -> QaStatsReply | None:
        """Count what is known, also while the files cannot be read; None where they are off."""
        return None if self.shared is None else await asyncio.to_thread(self._stats_reply, self.shared, False)

    @property
    def problems(self) -> list[str]:
        """What is wrong with the files now; nothing where they are off."""
        return [] if self.shared is None else self.shared.problems(self.agent)

    def _stats_reply(self, shared: WorkspaceQa, names_all: bool) -> QaStatsReply:
        entries = shared.store.sessions.of(self.agent)
        try:
            measured = disk_usage(shared.workspace)
        except OSError:
            # the same keeps the store from being read, and `problems` tells of that
            measured = QaDiskUsage()
        whole, usage = totals(counted(entry) for entry in entries), shared.store.archive.usage
        return QaStatsReply(
            sessions=len(entries),
            turns=whole.turns,
            answers=whole.answers,
            ratio=whole.ratio,
            archived=measured.archived,
            bytes=measured.bytes,
            archiveBytes=measured.archive_bytes,
            maxBytes=usage.max_bytes,
            full=usage.is_full,
            pruned=usage.pruned,
            problems=shared.problems(self.agent, names_all=names_all),
        )
