"""Cache of all memories of a workspace. Files are read again only when they changed.

Agents that share a workspace may share a log. Lines that a caller may not see are neither searched, returned nor
counted. This module also returns opinions with their state and evidence, and records the opinion steps of a reflect
run.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from datetime import date
from typing import NamedTuple

import structlog
from msgspec import Struct

from memoryd.domain.counters import CacheUses
from memoryd.domain.documents import person_of
from memoryd.domain.memories.book import Book, EntityPage, Memory, MemorySource, changed_book
from memoryd.domain.memories.kinds import MemoryId, Visibility, is_belief
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.recall_filters import invisible_memories
from memoryd.domain.memories.reflect.opinions import OpinionState, Step, by_opinion, opinion_state_of
from memoryd.domain.memories.sections import line_in
from memoryd.domain.memories.times.parsing import event_span
from memoryd.domain.text.note_status import current_flags
from memoryd.errors import StoreError
from memoryd.index.threads import in_thread, with_pauses
from memoryd.memory.note_files import LineDays, RecordDays
from memoryd.replies.recall import EvidenceReply
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileVersion, MemoryFiles
from memoryd.store.ledger.reflect import OpinionSteps

log = structlog.get_logger(__name__)

FileSources = Mapping[FileVersion, tuple[MemorySource, ...]]
_ASKERS_MAX = 16
"""Maximum number of cached visibilities; each is an agent in a channel."""
HIDDEN_SECONDS = 0.5
"""Seconds for which a search waits for memories that were just written."""


class _BookVersion(NamedTuple):
    """Version of the book: equal versions mean an equal book."""

    epoch: int = -1
    writes: int = -1
    withdrawn: Set[str] = frozenset()
    today: date = date.min
    """The owner's day; it decides which notes are stale."""


class _Snapshot(Struct, frozen=True):
    """A book with the files and pages it was built from, without withdrawn ones."""

    book: Book = Book()
    files: Mapping[int, tuple[MemorySource, ...]] = {}
    """Sources by file id."""
    pages: tuple[EntityPage, ...] = ()


class MemoryCache:
    """Provider of the book of one workspace, shared by all its agents.

    `withdrawn` returns the paths of documents that no one may see.
    """

    def __init__(
        self, *, database: Database, days: RecordDays, withdrawn: Callable[[], Set[str]], executor: Executor
    ) -> None:
        self._database = database
        self._days = days
        self._withdrawn = withdrawn
        self._executor = executor
        self.hidden = HiddenChunks(database)
        self._visible = self._visible_of = Book()
        self._lock = asyncio.Lock()
        self._reading: asyncio.Future[tuple[FileSources, _Snapshot]] | None = None
        self._has_news = asyncio.Event()
        self._has_news.set()
        self._version = _BookVersion()
        self._files: FileSources = {}
        self._snapshot = _Snapshot()
        self.uses = CacheUses()
        self.prepares: list[Callable[[Book], Awaitable[object]]] = []
        """Work that the first question would wait for. It is done once, with the first book that has memories."""

    async def current(self) -> Book:
        """Return all memories that the index holds now, in the order of their ids.

        Memories that were forgotten and reappeared with a note are left out. A call costs next to nothing if nothing
        was written since the last one. Raises StoreError.
        """
        return self._visible_book(await self.complete())

    def _visible_book(self, full: Book) -> Book:
        if full is not self._visible_of:
            sources = [
                source
                for key in self.hidden.reappeared
                if key in full.memories
                for source in full.memories[key].sources
            ]
            visible = changed_book(full, sources, (), full.pages.values()).following(self._visible) if sources else full
            self.hidden.forget(frozenset(source.chunk for source in sources))
            self._visible, self._visible_of = visible, full
        return self._visible

    def forget(self, reappeared: Set[MemoryId]) -> None:
        """Hide these memories, instead of the earlier set: they are forgotten, and reappeared with a note."""
        if reappeared != self.hidden.reappeared:
            self.hidden.reappeared, self._visible_of = frozenset(reappeared), Book()

    async def complete(self) -> Book:
        """Return all memories that the index holds now, including forgotten ones, for code that removes them.

        If the caller times out, the read continues and the next caller gets its result: a large read that was restarted
        each time would never finish. Raises StoreError.
        """
        async with self._lock:
            if self._reading is not None:
                await asyncio.wait([self._reading])
            # taken before the index is read: a write during the read is picked up by the next call
            version = _BookVersion(
                self._database.epoch, self._database.writes, frozenset(self._withdrawn()), self._days.today
            )
            self.uses.note(is_hit=version == self._version)
            if version != self._version:
                await self._read(version)
            return self._snapshot.book

    async def hidden_chunks(self, visibility: Visibility) -> frozenset[int]:
        """Return the chunks that a caller may not see, or none if the index fails, which every search reports itself.

        While many new memories are being read, the set of the book before is returned: returned hits are checked again
        anyway.
        """
        try:
            try:
                async with asyncio.timeout(HIDDEN_SECONDS):
                    book = await self.current()
            except TimeoutError:
                book = self._visible_book(self._snapshot.book)
            return (await self.hidden.of(book, visibility)).chunks
        except StoreError:
            return frozenset()

    def note_change(self) -> None:
        """Note that notes changed."""
        self._has_news.set()

    demand = note_change
    """Also called if notes became private or were forgotten, so that no text of them stays in memory."""

    async def run(self) -> None:
        """Follow the notes until cancelled: keep the book ready for questions, and record the first day of lines."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            try:
                await self._prepare(await self.current())
            except StoreError as exc:
                # a question reports the error itself; the next change, or the opening of the index, triggers a new read
                log.debug("the book of memories cannot be made", reason=str(exc))

    async def _read(self, version: _BookVersion) -> None:
        # row ids of another database file mean nothing here; a file without a settled day may have one now
        is_same_file = version.epoch == self._version.epoch
        previous = self._files if is_same_file else {}
        known: FileSources = {
            file: sources
            for file, sources in previous.items()
            if self._days.are_final(file.id)
            and all(source.status_flags == current_flags(file.flags, version.today) for source in sources[:1])
        }
        before = {file.id: sources for file, sources in previous.items()}
        rows = await self._database.memories.files(known.keys())
        days = await self._days.of(rows)
        snapshot = self._snapshot if is_same_file else _Snapshot()

        def read(versions: Sequence[FileVersion]) -> tuple[FileSources, _Snapshot]:
            files = {
                file: known[file]
                if file in known
                else tuple(with_pauses(_sources_of(file, rows, before, days, version.today)))
                for file in versions
            }
            return files, _next_snapshot(snapshot, files, rows.pages, version.withdrawn)

        own = [file for file in rows.versions if not person_of(file.path)]
        if not previous and 0 < len(own) < len(rows.versions):
            # the workspace's own notes can answer while the notes that others share are read
            known, snapshot = await in_thread(self._executor, lambda: read(own))
            self._files, self._snapshot, self._version = known, snapshot, _BookVersion(version.epoch)
            await self._prepare(self._visible_book(snapshot.book))
        self._reading = asyncio.get_running_loop().run_in_executor(self._executor, read, rows.versions)
        self._reading.add_done_callback(lambda done: self._store_result(version, done))
        await asyncio.shield(self._reading)

    async def _prepare(self, book: Book) -> None:
        while book.memories and self.prepares:
            await self.prepares.pop()(book)

    def _store_result(self, version: _BookVersion, done: "asyncio.Future[tuple[FileSources, _Snapshot]]") -> None:
        self._reading = None
        if not done.cancelled() and done.exception() is None:
            (self._files, self._snapshot), self._version = done.result(), version


def _next_snapshot(
    before: _Snapshot, files: FileSources, pages: tuple[EntityPage, ...], withdrawn: Set[str]
) -> _Snapshot:
    """Return the snapshot without withdrawn files and pages; its book is the one before if nothing changed."""
    visible = {file.id: sources for file, sources in files.items() if file.path not in withdrawn}
    visible_pages = tuple(page for page in pages if page.path not in withdrawn)
    removed = tuple(_changed_sources(before.files, visible))
    added = tuple(_changed_sources(visible, before.files))
    if not removed and not added and visible_pages == before.pages:
        return _Snapshot(before.book, visible, visible_pages)
    return _Snapshot(changed_book(before.book, removed, added, visible_pages), visible, visible_pages)


def _changed_sources(
    files: Mapping[int, tuple[MemorySource, ...]], others: Mapping[int, tuple[MemorySource, ...]]
) -> Iterator[MemorySource]:
    """Yield the sources in `files` that `others` lacks or has with a different value."""
    for file, sources in files.items():
        other_sources = others.get(file, ())
        if sources is not other_sources:
            by_chunk = {source.chunk: source for source in other_sources}
            yield from (source for source in sources if by_chunk.get(source.chunk) != source)


def _sources_of(
    file: FileVersion, rows: MemoryFiles, before: Mapping[int, tuple[MemorySource, ...]], days: LineDays, today: date
) -> Iterator[MemorySource]:
    """Yield the sources of a file; a line that was in it `before` keeps the values parsed from its text."""
    known, standing = {source.chunk: source for source in before.get(file.id, ())}, current_flags(file.flags, today)
    for row in rows.lines[file.id]:
        line = line_in(row.text, file.path)
        # if this version parses a line differently, its chunker has a new name and the indexer cuts the line anew
        if isinstance(line, RetainedLine):
            day, previous = days(file, row.memory), known.get(row.chunk)
            if previous is not None and (previous.line, previous.day) != (line, day):
                previous = None  # the id of a deleted chunk can be reused
            source = MemorySource(
                path=file.path,
                start_line=row.start_line,
                end_line=row.end_line,
                line=line if previous is None else previous.line,
                day=day,
                event=event_span(line, day) if previous is None else previous.event,
                chunk=row.chunk,
                status_flags=standing,
            )
            yield previous if previous is not None and source == previous else source


class Hidden(Struct, frozen=True):
    """What a caller may not see: memories with their chunks, and all other chunks with a scope."""

    memories: frozenset[MemoryId] = frozenset()
    chunks: frozenset[int] = frozenset()


class HiddenChunks:
    """Computes what is hidden in one workspace; results are cached until something is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: tuple[int, int] = (-1, -1)
        self._book: Book | None = None
        self._known: dict[Visibility, Hidden] = {}
        self._forgotten: frozenset[int] = frozenset()
        self.reappeared: frozenset[MemoryId] = frozenset()
        """Memories that were forgotten, and reappeared with a note."""

    def forget(self, chunks: frozenset[int]) -> None:
        """Hide these chunks, which are of no memory of a book, from everyone, instead of the earlier set."""
        if chunks != self._forgotten:
            self._forgotten, self._known = chunks, {}

    async def of(self, book: Book, visibility: Visibility) -> Hidden:
        """Return what is hidden from a caller; raises StoreError."""
        version = (self._database.epoch, self._database.writes)
        if book is not self._book or version != self._version or len(self._known) > _ASKERS_MAX:
            self._book, self._version, self._known = book, version, {}
        known = self._known
        if visibility not in known:
            # stored in the table of the moment at which the lookup began
            known[visibility] = await self._hidden(book, visibility)
        return known[visibility]

    async def _hidden(self, book: Book, visibility: Visibility) -> Hidden:
        memories, forgotten = invisible_memories(book, visibility), self._forgotten
        chunks = (source.chunk for key in memories for source in book.memories[key].sources)
        scoped = await self._database.memories.scoped()
        hidden = (chunk for chunk, scope in scoped.items() if not visibility.admits(scope))
        return Hidden(memories, forgotten.union(chunks, hidden))


class OpinionWithEvidence(Struct, frozen=True):
    """An opinion with its confidence, 0 to 1, and the evidence: first the lines for it, then those against it.

    Both are in the order in which they counted.
    """

    memory: Memory
    state: OpinionState
    evidence: tuple[EvidenceReply, ...]

    @property
    def confidence(self) -> float:
        return self.state.confidence

    @property
    def is_explicit(self) -> bool:
        """Whether a line gives the confidence or evidence changed it. If not, it is the default of a new opinion."""
        is_written = any(source.line.attributes.confidence is not None for source in self.memory.sources)
        return is_written or self.state.confidence != self.state.base.confidence


class OpinionStore(Struct, frozen=True):
    """Reads and records the steps of opinions. Methods raise StoreError, and `apply` also Denied.

    Each takes the caller's book, so that one answer describes one moment. Scopes are applied by the caller: evidence
    counts only if everyone an opinion reaches may see it (`kinds.covers`).
    """

    steps: OpinionSteps
    clock: Callable[[], float] = time.time

    async def of(self, book: Book, opinions: Collection[MemoryId]) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return the state of these opinions; ids that are no opinion, or are in no line, are left out."""
        chosen = [memory for key in dict.fromkeys(opinions) if (memory := book.memories.get(key)) is not None]
        beliefs = [memory.id for memory in chosen if is_belief(memory.kind)]
        return _with_evidence(book, chosen, await self.steps.of(beliefs) if beliefs else [])

    async def all(self, book: Book) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return the state of all opinions of a book."""
        return _with_evidence(book, book.memories.values(), await self.steps.all())

    async def apply(self, steps: Sequence[Step]) -> int:
        """Record the steps of a run, all or none. Return how many were new."""
        return await self.steps.add(steps, self.clock())


def _with_evidence(
    book: Book, memories: Iterable[Memory], steps: Sequence[Step]
) -> Mapping[MemoryId, OpinionWithEvidence]:
    steps_of, opinions = by_opinion(steps), dict[MemoryId, OpinionWithEvidence]()
    for memory in memories:
        if is_belief(memory.kind):
            state = opinion_state_of(memory, steps_of.get(memory.id, []))
            evidence = tuple(evidence_of(book, step) for step in (*state.supporting, *state.opposing))
            opinions[memory.id] = OpinionWithEvidence(memory, state, evidence)
    return opinions


def evidence_of(book: Book, step: Step) -> EvidenceReply:
    """Return the evidence of a step, with the lines that state it now: those of the step's day if there are any."""
    memory = book.memories.get(step.evidence)
    sources = () if memory is None else memory.sources
    of_day = [source for source in sources if source.day == step.day] or sources
    return EvidenceReply(
        id=step.evidence,
        sources=[str(source.citation) for source in of_day],
        timestamp=step.day.isoformat(),
        label=step.label.value,
    )
