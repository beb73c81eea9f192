"""The loop that keeps the conversation index of one agent equal to one source, in the background and in small steps.

Long conversations are read alternately with others, and reading is interrupted for a new scan when something may have
changed. Each step is one transaction, which also stores where the next step begins: a kill loses only one step. All
sources of an agent write through the same `ConversationWriter`, one at a time.

The module also finds turns similar in meaning to a message, by the vectors of the index. Recall embeds the same
message, so only the comparison is extra work. A passage of the index covers a few turns, which all get its similarity.
A passage that is no nearer than unrelated text is not similar.
"""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime

import structlog
from msgspec import Struct

from memoryd.domain.clock import Debounce
from memoryd.domain.documents import TURN_LINES, RelativePath, SessionId, is_turns_path, session_of
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.ranking.calibration import vector_floor
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import PassageMatch, VectorMatches, standout
from memoryd.domain.ranking.questions import parse_question
from memoryd.domain.sessions.conversation_parts import appended_parts
from memoryd.domain.sessions.making_turns import ReadingOrder, Renaming
from memoryd.domain.sessions.sequences import NOTHING_SIMILAR, SimilarTurns
from memoryd.domain.skips import SkipReason
from memoryd.errors import MemorydError, StoreError
from memoryd.index.committing import Withdrawn
from memoryd.index.threads import in_thread
from memoryd.retry import wait_within
from memoryd.search.arms import VectorArm, run_arm
from memoryd.search.protocol import Arm
from memoryd.sessions.conversation_source import ConversationSource, ReadStep, cut
from memoryd.store.index.conversations import ConversationRow, KnownConversation
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

log = structlog.get_logger(__name__)

BUSY_SECONDS = 0.05
BUSY_POLLS = 40
MIN_SECONDS = 0.5
"""Shortest time of reading between two scans."""
POLL_SHARE = 10.0
"""Time of reading between two scans as a multiple of the duration of a scan, if that is longer."""
POLL_SECONDS = 1.0
"""Interval at which a waiting caller checks whether a scan is still possible."""


class ConversationWriter:
    """Writes to one index, and caches which conversations it has. All methods raise StoreError.

    `on_commit` is called after a write, `on_purge` after texts were removed.
    """

    def __init__(
        self,
        *,
        database: Database,
        chunks: ChunkSettings,
        on_commit: Callable[[], None],
        on_purge: Callable[[], None],
        trouble: Callable[[], str | None],
    ) -> None:
        self.lock = asyncio.Lock()
        """Locked while a step is read and written, and while something is forgotten."""
        self.chunks = chunks
        self.forgotten = Withdrawn()
        """Conversations that must not appear in answers, although they are still in the index."""
        self._database = database
        self._trouble = trouble
        """Returns why the database cannot be opened."""
        self._on_commit, self._on_purge = on_commit, on_purge
        self._known: dict[RelativePath, KnownConversation] = {}
        self._epoch: int | None = None
        """Epoch of the database to which `_known` belongs."""
        self._is_purge_pending = False

    @property
    def chunker(self) -> str:
        return self.chunks.fingerprint

    @property
    def is_open(self) -> bool:
        return self._database.is_open

    def why_closed(self) -> str:
        """Return why the database cannot be used; empty if it can, or if it is being opened."""
        return "" if self._database.is_open else self._trouble() or ""

    async def known(self) -> Mapping[RelativePath, KnownConversation]:
        """Return the state of each conversation in the index."""
        if self._epoch != self._database.epoch:
            epoch = self._database.epoch
            self._known = await self._database.conversations.known()
            self._epoch = epoch
        return dict(self._known)

    async def invalidate(self) -> None:
        """Mark all conversations to be read again, even if their source reports no change."""
        async with self.lock:
            await self._database.conversations.distrust()
            self._epoch = None

    async def row(self, path: RelativePath) -> ConversationRow | None:
        """Return how far a conversation was read; None if it is new, or must be read again as the chunker changed."""
        row = await self._database.conversations.row(path)
        return row if row is not None and row.chunker == self.chunker else None

    async def put(self, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
        """Store a step of a conversation; with `is_afresh` it replaces everything stored before."""
        await self._database.conversations.put(row, parts, is_afresh=is_afresh)
        self._known[row.path] = KnownConversation(row.stamp, row.chunker, row.problem)
        if parts or is_afresh:
            self._on_commit()

    async def purge(self, paths: Sequence[RelativePath]) -> None:
        """Remove conversations that their source no longer has."""
        async with self.lock:
            await self.erase(paths)
            await self.drop_remains()

    async def forget(self, path: RelativePath) -> int:
        """Remove a conversation and hide it from answers at once. Return the number of its parts."""
        # first, so that no answer has it even if the index cannot be written now
        self.forgotten.add([path])
        async with self.lock:
            removed = await self.erase([path])
            await self.drop_remains()
        return removed

    async def erase(self, paths: Sequence[RelativePath]) -> int:
        """Remove conversations and return the number of their parts. The caller must have locked `lock`."""
        if not paths:
            return 0
        removed = await self._database.conversations.purge(paths)
        for path in paths:
            self._known.pop(path, None)
        self.forgotten.release(paths)
        self._is_purge_pending = self._is_purge_pending or bool(removed)
        if removed:
            self._on_purge()
        return removed

    async def drop_remains(self) -> None:
        """Rewrite the keyword index without the purged texts, once for all of them, and truncate the log with them."""
        if self._is_purge_pending:
            await self._database.documents.drop_remains()
            self._on_purge()
            # after the rewrite, which is in the log too; if this fails, the purge is still pending
            await self._database.checkpoint()
            self._is_purge_pending = False


class FeedSettings(Struct, frozen=True):
    """When a source is scanned: `debounce` to `hold` seconds after hints, and every `reconcile` seconds (0: never).

    `retry` is the delay in seconds after a failure.
    """

    debounce: float = 0.25
    hold: float = 2.0
    reconcile: float = 30.0
    retry: float = 1.0


class ConversationFeeder:
    """Reads one source into the index of one agent. Each step waits while `is_busy` reports more urgent work.

    It waits at most 2 s, so that notes which cannot be indexed do not block conversations forever.
    """

    def __init__(
        self,
        *,
        source: ConversationSource,
        writer: ConversationWriter,
        executor: Executor,
        settings: FeedSettings,
        is_busy: Callable[[], bool] = lambda: False,
        on_look: Callable[[], None] = lambda: None,
    ) -> None:
        self.source = source
        self.trouble = ""
        """Why the source cannot be followed; empty if it can."""
        self.failures: dict[RelativePath, str] = {}
        """Conversations that could not be read at the last attempt, with the reason."""
        self.last_read_at: datetime | None = None
        self.is_reading = False
        self._again_in: float | None = None
        self.scans = 0
        """Number of scans of the source."""
        self._writer = writer
        self._executor = executor
        self._settings = settings
        self._is_busy = is_busy
        self._on_look = on_look
        self._debounce = Debounce(settings.debounce, settings.hold)
        self._requested = self._demanded = 1
        """The last ticket, and the last ticket of a demand. The start is a demand, to read earlier changes at once."""
        self._served = self._failed = 0
        self._renaming = Renaming()
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything that the source had at the last request is in the index."""
        return self._served >= self._requested

    def hint(self) -> None:
        """Report that something may have changed; the source is scanned after the debounce."""
        self._debounce.hint(asyncio.get_running_loop().time())
        self._wake.set()

    def demand(self) -> int:
        """Request a scan now that reads all changes. Return a ticket for `wait_for_scan`."""
        self._demanded = self._request()
        return self._demanded

    async def catch_up(self, seconds: float) -> bool:
        """Wait up to `seconds` until hinted changes are scanned and read. Return whether they were.

        Conversations that a rule of the source postpones do not count. With 0 seconds nothing is scanned.
        """
        has_news = self.is_reading or self._debounce.due is not None
        if seconds <= 0:
            return self.is_up_to_date and not has_news
        # request a new scan: the current one may have passed the conversation in question already
        ticket = self._request() if has_news else self._requested
        await wait_within(self.wait_for_scan(ticket), seconds)
        return self._served >= ticket

    def _request(self) -> int:
        self._requested += 1
        self._wake.set()
        return self._requested

    async def wait_for_scan(self, ticket: int) -> str:
        """Wait until everything found by a scan after this demand is read.

        Return why it cannot be read, empty if it is.
        """
        async with self._progress:
            while self._served < ticket:
                if reason := self._writer.why_closed() or (self.trouble if self._failed >= ticket else ""):
                    return reason
                # poll: the database may be given up without notifying this condition
                await wait_within(self._progress.wait(), POLL_SECONDS)
        # parts of the source that could not be scanned are reported by status; they are no pending work
        return ""

    async def run(self) -> None:
        """Follow the source until cancelled."""
        while True:
            ticket, is_forced = self._requested, self._demanded > self._served
            self._debounce.clear()
            self._wake.clear()
            try:
                self.is_reading = True
                if not await self._read_due(ticket, is_forced=is_forced):
                    continue
            except (MemorydError, OSError) as exc:
                # a database that is still being opened is no trouble
                if self._writer.is_open or self._writer.why_closed():
                    self._note(str(exc))
                    await self._answer(failed=ticket)
                await wait_within(self._wake.wait(), self._settings.retry)
                continue
            finally:
                self.is_reading = False
            await self._answer(answered=ticket)
            await self._until_due()

    async def _answer(self, *, answered: int = 0, failed: int = 0) -> None:
        async with self._progress:
            self._served, self._failed = max(self._served, answered), max(self._failed, failed)
            self._progress.notify_all()

    async def _until_due(self) -> None:
        """Wait for a demand, for the end of the debounce, or for the time of the next regular scan."""
        now = asyncio.get_running_loop().time
        scanned_at = now()
        again_at = math.inf if self._again_in is None else scanned_at + self._again_in
        while self._requested <= self._served:
            at = min(self._due_at(scanned_at), again_at)
            if at <= now():
                return
            await wait_within(self._wake.wait(), None if at == math.inf else at - now())
            self._wake.clear()

    def _due_at(self, scanned_at: float) -> float:
        """Return the time of the next scan: because of hints, or `reconcile` seconds after the last scan."""
        reconcile = scanned_at + self._settings.reconcile if self._settings.reconcile else math.inf
        return reconcile if self._debounce.due is None else min(reconcile, self._debounce.due)

    async def _read_due(self, ticket: int, *, is_forced: bool) -> bool:
        """Scan the source and read all due conversations. Return False if another scan is due before all are read."""
        now = asyncio.get_running_loop().time
        began = now()
        known = await self._writer.known()
        read = {
            path: row.stamp if row.chunker == self._writer.chunker else ""
            for path, row in known.items()
            if path.startswith(self.source.prefix)
        }
        listing = await in_thread(self._executor, lambda: self.source.scan(read, is_forced=is_forced))
        self._note(listing.trouble)
        self.failures = {path: why for path, why in self.failures.items() if path in listing.present}
        self.scans += 1
        self._on_look()
        self._again_in = listing.again_in
        # slow scans must not take all the time
        until = now() + max(MIN_SECONDS, POLL_SHARE * (now() - began))
        order = ReadingOrder(path for path in listing.due if read.get(path) != "")
        order.begun.extend(path for path in listing.due if read.get(path) == "")
        self._renaming.note([path for path in read if path not in listing.present], order.fresh)
        while (path := order.next()) is not None:
            if not await self._read(path):
                order.begun.append(path)
            await self._give_way()
            if now() >= until and (self._requested > ticket or self._due_at(began) <= now()):
                break
        # purge after new conversations are read: a renamed conversation keeps its vectors that way
        await self._writer.purge(self._renaming.deleted_conversations({*order.fresh, *order.begun}))
        return order.is_empty

    async def _read(self, path: RelativePath) -> bool:
        """Read a step of one conversation. A failure does not stop the other conversations.

        Return whether nothing more is to be done for it now.
        """
        try:
            return await self._step(path)
        except StoreError:
            raise
        except Exception as exc:
            if path not in self.failures:
                log.error("a conversation cannot be indexed", path=path, exc_info=exc)
            self.failures[path] = SkipReason.NOT_INDEXABLE.format(type(exc).__name__)
        return True

    async def _step(self, path: RelativePath) -> bool:
        """Read and store a step. Return True at the end of the conversation, or if it cannot be read now."""
        # locked from reading to writing, so that a conversation forgotten in between does not come back
        async with self._writer.lock:
            before = await self._writer.row(path)
            tail = "" if before is None else before.tail
            try:
                step = await in_thread(self._executor, lambda: self.source.read_on(path, tail))
            except (MemorydError, OSError) as exc:
                self.failures[path] = str(exc)
                return True
            if step is None:
                await self._writer.erase([path])
            else:
                await self._store(path, before, step)
        if step is not None and not step.stamp:
            return False
        self.failures.pop(path, None)
        self.last_read_at = datetime.now(UTC)
        return True

    async def _store(self, path: RelativePath, before: ConversationRow | None, step: ReadStep) -> None:
        is_afresh = before is None or step.is_afresh
        last = None if before is None or step.is_afresh else before.open_part
        parts = appended_parts(last, step.lines)
        contents = await in_thread(self._executor, lambda: cut(path, parts, self._writer.chunks))
        row = ConversationRow(
            path, step.stamp, step.tail, self._writer.chunker, parts[-1] if parts else last, step.problem
        )
        await self._writer.put(row, contents, is_afresh=is_afresh)

    async def _give_way(self) -> None:
        """Let other tasks run, and wait while notes are being read, which have priority."""
        await asyncio.sleep(0)
        for _ in range(BUSY_POLLS):
            if not self._is_busy():
                break
            await asyncio.sleep(BUSY_SECONDS)

    def _note(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            log.warning("conversations are not followed", source=self.source.prefix, reason=trouble)
        self.trouble = trouble


CHUNKS = 24
"""The number of nearest chunks that are compared; they cover a few sessions."""


class SimilarTurnSearch(Struct, frozen=True, kw_only=True):
    """Searches one conversation index; `withdrawn` are the conversations that must not appear in answers."""

    database: Database
    vector_arm: VectorArm
    withdrawn: Container[str]

    async def near(self, message: str, now: datetime, seconds: float) -> SimilarTurns:
        """Return the turns similar to a message; none if there are no vectors, or not within `seconds`."""
        if not self.database.is_open:
            return NOTHING_SIMILAR
        _, turns = await run_arm(lambda: self._search(message, now), time.monotonic() + seconds)
        return turns or NOTHING_SIMILAR

    async def _search(self, message: str, now: datetime) -> tuple[Arm, SimilarTurns]:
        question = parse_question(message, Filters(), now)
        arm, embedded = await self.vector_arm.embed(question)
        if embedded is None:
            return arm, NOTHING_SIMILAR
        arm, matches = await self.vector_arm.matches(embedded, question, CHUNKS, CandidateFilter())
        passages_above = _passages_above_noise(matches)
        rows = await self.database.documents.chunks(list(passages_above))
        visible = [row for row in rows.values() if is_turns_path(row.path) and row.path not in self.withdrawn]
        return arm, _turns(visible, passages_above, matches)


def _passages_above_noise(matches: VectorMatches) -> Mapping[int, list[PassageMatch]]:
    """Return, by chunk, the passages with a similarity above that of the best unrelated text."""
    floor = vector_floor(matches.compared, knows_a_word=True)
    passages_above = {
        chunk: [passage for passage in passages if matches.noise.deviations(passage.cosine) >= floor]
        for chunk, passages in matches.passages.items()
    }
    return {chunk: passages for chunk, passages in passages_above.items() if passages}


def _turns(
    rows: list[ChunkRow], passages_above: Mapping[int, list[PassageMatch]], matches: VectorMatches
) -> SimilarTurns:
    near: defaultdict[SessionId, dict[int, float]] = defaultdict(dict)
    for row in rows:
        turns = near[session_of(row.path)]
        for passage in passages_above[row.id]:
            rise = standout(passage.cosine, matches.noise)
            first = row.start_line + row.text.count("\n", 0, passage.start)
            last = first + row.text[passage.start : passage.stop].rstrip("\n").count("\n")
            for seq in range(-(-first // TURN_LINES), -(-last // TURN_LINES) + 1):
                turns[seq] = max(rise, turns.get(seq, 0.0))
    return near
