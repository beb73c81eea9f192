"""The loop that keeps the conversation index of one agent equal to one source, in the background and in small steps.

A long conversation is read in turns with others, and put aside for a new scan when something may have changed. Each
step is one transaction, which also says where the next one begins: a kill at any time costs that step alone. All
sources of an agent write through one `ConversationWriter`, one at a time.

Also which turns are near a message in meaning, by the vectors that the index has anyway. A message is embedded once
while recall asks for it, too, so that only the comparison comes on top. A passage of the index is a few turns, each of
which is as near as it; what comes no nearer than strangers do is not near at all.
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
from memoryd.domain.documents import TURN_LINES, RelativePath, SessionId, holds_turns, session_of
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.ranking.calibration import vector_floor
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import PassageMatch, VectorMatches, standout
from memoryd.domain.ranking.questions import parse_question
from memoryd.domain.sessions.conversation_parts import grown
from memoryd.domain.sessions.making_turns import ReadingOrder, Renaming
from memoryd.domain.sessions.sequences import NOTHING_SIMILAR, SimilarTurns
from memoryd.domain.skips import SkipReason
from memoryd.errors import MemorydError, StoreError
from memoryd.index.committing import Withdrawn
from memoryd.index.threads import in_thread
from memoryd.retry import happens
from memoryd.search.arms import VectorArm, guarded
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
"""So long is read between two looks, whatever happens meanwhile."""
POLL_SHARE = 10.0
"""And so many times as long as a look takes."""
POLL_SECONDS = 1.0
"""How often a waiting caller checks whether a look is possible at all."""


class ConversationWriter:
    """Writes to one index, and remembers what it holds; all of it raises StoreError.

    `on_commit` is called when something was written, `on_purge` when texts were removed.
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
        """Held while a step is read and written, and while something is forgotten."""
        self.chunks = chunks
        self.forgotten = Withdrawn()
        """Conversations that no answer may name, though the index still has them."""
        self._database = database
        self._trouble = trouble
        """What its keeper says of the file."""
        self._on_commit, self._on_purge = on_commit, on_purge
        self._known: dict[RelativePath, KnownConversation] = {}
        self._epoch: int | None = None
        """Of the file that this is known of."""
        self._owes_purge = False

    @property
    def chunker(self) -> str:
        return self.chunks.fingerprint

    @property
    def is_open(self) -> bool:
        return self._database.is_open

    def why_closed(self) -> str:
        """Return why the file cannot be used; empty while it can, or is being opened."""
        return "" if self._database.is_open else self._trouble() or ""

    async def known(self) -> Mapping[RelativePath, KnownConversation]:
        """Return what the index holds."""
        if self._epoch != self._database.epoch:
            epoch = self._database.epoch
            self._known = await self._database.conversations.known()
            self._epoch = epoch
        return dict(self._known)

    async def distrust(self) -> None:
        """Have everything be read anew, whatever its source says has changed."""
        async with self.lock:
            await self._database.conversations.distrust()
            self._epoch = None

    async def row(self, path: RelativePath) -> ConversationRow | None:
        """Return how far a conversation was read, by the rules of today; None: it is to be read anew."""
        row = await self._database.conversations.row(path)
        return row if row is not None and row.chunker == self.chunker else None

    async def put(self, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
        """Keep what was read of a conversation."""
        await self._database.conversations.put(row, parts, is_afresh=is_afresh)
        self._known[row.path] = KnownConversation(row.stamp, row.chunker, row.problem)
        if parts or is_afresh:
            self._on_commit()

    async def purge(self, paths: Sequence[RelativePath]) -> None:
        """Remove conversations that are gone from their source."""
        async with self.lock:
            await self.erase(paths)
            await self.drop_remains()

    async def forget(self, path: RelativePath) -> int:
        """Remove a conversation, at once for all answers; return how many parts it had."""
        # no answer names it, even if the index cannot be written now
        self.forgotten.add([path])
        async with self.lock:
            removed = await self.erase([path])
            await self.drop_remains()
        return removed

    async def erase(self, paths: Sequence[RelativePath]) -> int:
        """Remove conversations; return how many parts they had. The caller holds the lock."""
        if not paths:
            return 0
        removed = await self._database.conversations.purge(paths)
        for path in paths:
            self._known.pop(path, None)
        self.forgotten.release(paths)
        self._owes_purge = self._owes_purge or bool(removed)
        if removed:
            self._on_purge()
        return removed

    async def drop_remains(self) -> None:
        """Rewrite the keyword index without what was purged, once for all of it, and cut the log that had it."""
        if self._owes_purge:
            await self._database.documents.drop_remains()
            self._on_purge()
            # after the rewriting, which the log holds too; if it fails, all of it is still owed
            await self._database.checkpoint()
            self._owes_purge = False


class FeedSettings(Struct, frozen=True):
    """When a source is looked at: so many seconds after a hint, and at the latest after `reconcile`; 0: never."""

    debounce: float = 0.25
    hold: float = 2.0
    reconcile: float = 30.0
    retry: float = 1.0


class ConversationFeeder:
    """Reads one source into the index of one agent. `is_busy` says that others have more urgent work: each step waits.

    It waits for 2 s at most, so that notes which cannot be indexed do not hold conversations up for good.
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
        """Why the source is not followed; empty if it is."""
        self.failures: dict[RelativePath, str] = {}
        """Conversations that could not be read at the last try, and why."""
        self.last_read_at: datetime | None = None
        self.is_reading = False
        self._again_in: float | None = None
        self.looks = 0
        """How often the source was looked at."""
        self._writer = writer
        self._executor = executor
        self._settings = settings
        self._is_busy = is_busy
        self._on_look = on_look
        self._debounce = Debounce(settings.debounce, settings.hold)
        self._asked = self._demanded = 1
        """The last ticket of all, and of a demand. The start is a demand: changes from before it are read at once."""
        self._served = self._failed = 0
        self._renaming = Renaming()
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()

    @property
    def is_settled(self) -> bool:
        """Whether all that was there when somebody last asked is in the index."""
        return self._served >= self._asked

    def hint(self) -> None:
        """Say that something may have changed: looked at after the debounce."""
        self._debounce.hint(asyncio.get_running_loop().time())
        self._wake.set()

    def demand(self) -> int:
        """Ask for a look now, at all that changed; return the ticket that `settled` takes."""
        self._demanded = self._ask()
        return self._demanded

    async def catch_up(self, seconds: float) -> bool:
        """Have what hints told of looked at and read within these seconds; return whether it was.

        What a rule of the source puts off is not due. Without time nothing is looked at.
        """
        has_news = self.is_reading or self._debounce.due is not None
        if seconds <= 0:
            return self.is_settled and not has_news
        # the look that is being taken may have passed by what the question wants to find
        ticket = self._ask() if has_news else self._asked
        await happens(self.settled(ticket), seconds)
        return self._served >= ticket

    def _ask(self) -> int:
        self._asked += 1
        self._wake.set()
        return self._asked

    async def settled(self, ticket: int) -> str:
        """Wait until all that a look after this demand found was read; return why that cannot be, empty if it was."""
        async with self._progress:
            while self._served < ticket:
                if reason := self._writer.why_closed() or (self.trouble if self._failed >= ticket else ""):
                    return reason
                # the file may be given up without a word to the loop
                await happens(self._progress.wait(), POLL_SECONDS)
        # what could not be looked at is no work that is left to do: status tells of it
        return ""

    async def run(self) -> None:
        """Follow the source until cancelled."""
        while True:
            ticket, is_forced = self._asked, self._demanded > self._served
            self._debounce.clear()
            self._wake.clear()
            try:
                self.is_reading = True
                if not await self._read_due(ticket, is_forced=is_forced):
                    continue
            except (MemorydError, OSError) as exc:
                # a file that is being opened yet is no trouble
                if self._writer.is_open or self._writer.why_closed():
                    self._note(str(exc))
                    await self._answer(failed=ticket)
                await happens(self._wake.wait(), self._settings.retry)
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
        """Wait for a demand, for the end of the debounce, or for the next look that comes by itself."""
        now = asyncio.get_running_loop().time
        looked_at = now()
        again_at = math.inf if self._again_in is None else looked_at + self._again_in
        while self._asked <= self._served:
            at = min(self._due_at(looked_at), again_at)
            if at <= now():
                return
            await happens(self._wake.wait(), None if at == math.inf else at - now())
            self._wake.clear()

    def _due_at(self, looked_at: float) -> float:
        """Return when the source is looked at again: for its hints, or because the last look is long ago."""
        reconcile = looked_at + self._settings.reconcile if self._settings.reconcile else math.inf
        return reconcile if self._debounce.due is None else min(reconcile, self._debounce.due)

    async def _read_due(self, ticket: int, *, is_forced: bool) -> bool:
        """Look at the source and read what is due; return False if another look is, before all of it was read."""
        now = asyncio.get_running_loop().time
        began = now()
        known = await self._writer.known()
        read = {
            path: row.stamp if row.chunker == self._writer.chunker else ""
            for path, row in known.items()
            if path.startswith(self.source.prefix)
        }
        look = await in_thread(self._executor, lambda: self.source.look(read, is_forced=is_forced))
        self._note(look.trouble)
        self.failures = {path: why for path, why in self.failures.items() if path in look.present}
        self.looks += 1
        self._on_look()
        self._again_in = look.again_in
        # a look that takes long is not to take all the time
        until = now() + max(MIN_SECONDS, POLL_SHARE * (now() - began))
        order = ReadingOrder(path for path in look.due if read.get(path) != "")
        order.begun.extend(path for path in look.due if read.get(path) == "")
        self._renaming.note([path for path in read if path not in look.present], order.fresh)
        while (path := order.next()) is not None:
            if not await self._read(path):
                order.begun.append(path)
            await self._give_way()
            if now() >= until and (self._asked > ticket or self._due_at(began) <= now()):
                break
        # what is new first: a conversation under another name keeps its vectors so
        await self._writer.purge(self._renaming.settled({*order.fresh, *order.begun}))
        return order.is_empty

    async def _read(self, path: RelativePath) -> bool:
        """Read some more of one conversation; one that fails does not stop the others.

        Return whether there is nothing more to be done for it now.
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
        """Read some more and keep it; return whether that was the end, or it cannot be read now."""
        # held from the reading to the writing: what is forgotten meanwhile must not come back
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
                await self._keep(path, before, step)
        if step is not None and not step.stamp:
            return False
        self.failures.pop(path, None)
        self.last_read_at = datetime.now(UTC)
        return True

    async def _keep(self, path: RelativePath, before: ConversationRow | None, step: ReadStep) -> None:
        is_afresh = before is None or step.is_afresh
        last = None if before is None or step.is_afresh else before.open_part
        parts = grown(last, step.lines)
        contents = await in_thread(self._executor, lambda: cut(path, parts, self._writer.chunks))
        row = ConversationRow(
            path, step.stamp, step.tail, self._writer.chunker, parts[-1] if parts else last, step.problem
        )
        await self._writer.put(row, contents, is_afresh=is_afresh)

    async def _give_way(self) -> None:
        """Let others run, and wait while notes are to be read: they come first."""
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
"""So many of the nearest chunks are looked at: those of a few sessions."""


class SimilarTurnSearch(Struct, frozen=True, kw_only=True):
    """Asks one conversation index; `withdrawn` are the conversations that no answer may name."""

    database: Database
    vector_arm: VectorArm
    withdrawn: Container[str]

    async def near(self, message: str, now: datetime, seconds: float) -> SimilarTurns:
        """Return the turns near a message; none where there are no vectors, or they do not come in time."""
        if not self.database.is_open:
            return NOTHING_SIMILAR
        _, found = await guarded(lambda: self._search(message, now), time.monotonic() + seconds)
        return found or NOTHING_SIMILAR

    async def _search(self, message: str, now: datetime) -> tuple[Arm, SimilarTurns]:
        question = parse_question(message, Filters(), now)
        arm, asked = await self.vector_arm.embedded(question)
        if asked is None:
            return arm, NOTHING_SIMILAR
        arm, matches = await self.vector_arm.matches(asked, question, CHUNKS, CandidateFilter())
        passages_above = _passages_above_noise(matches)
        rows = await self.database.documents.chunks(list(passages_above))
        visible = [row for row in rows.values() if holds_turns(row.path) and row.path not in self.withdrawn]
        return arm, _turns(visible, passages_above, matches)


def _passages_above_noise(matches: VectorMatches) -> Mapping[int, list[PassageMatch]]:
    """Return the passages that rise above what the best stranger reaches, by chunk."""
    floor = vector_floor(matches.compared, knows_a_word=True)
    passages_above = {
        chunk: [one for one in passages if matches.noise.deviations(one.cosine) >= floor]
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
