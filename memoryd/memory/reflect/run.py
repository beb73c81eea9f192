"""One run of reflect over a workspace: opinions, pages, proposals, in this order, each from a plan that is a value.

Killed at any instant, it leaves each file as it was or as it is to be, and the next run does the rest: steps and
proposals are known by what they say, and a page that is up to date is not written.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import CORE_FILES, RelativePath
from memoryd.domain.memories.abstracts import copies_across_scopes, near_copies
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.reflect.core import CoreFile
from memoryd.domain.memories.reflect.evidence import DoubtedOpinion, OpinionLabels
from memoryd.domain.memories.reflect.opinions import (
    Label,
    LabelledEvidence,
    OpinionState,
    Step,
    by_opinion,
    opinion_state_of,
    plan_steps,
)
from memoryd.domain.memories.reflect.pages import SharedMemories, pages_of, shared_memories, stated_by
from memoryd.domain.memories.reflect.proposals import ProposedChange, to_propose
from memoryd.errors import MemorydError, TextModelUnavailable
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import Labeller
from memoryd.memory.opinions import OpinionStore
from memoryd.memory.reflect.pages import (
    PageRefusal,
    PageState,
    PageSummaries,
    PageWriter,
    ReflectOptions,
    WrittenPages,
    cited_files,
)
from memoryd.memory.reflect.proposals import ProposalQueue, ground_of, proposal_plan
from memoryd.replies.knowledge import PageRefusalReply, ProposalSummaryReply, ReflectReply
from memoryd.store.ledger.reflect import ReflectRuns

log = structlog.get_logger(__name__)

MAX_ASKED: Final = 20
"""Pairs that a text model is asked about in one run, the oldest first."""
MAX_LEFT: Final = 20
"""Pages that a run left as they were and that are kept for status."""
_LEFT: Final = "left"
MAX_ROUNDS: Final = 3
"""Of writing pages in one run."""
Tell = Callable[[str, int], None]
"""Hears what a run does now, and how much of it there is."""


class OpinionMoves(Struct, frozen=True):
    """The steps of a run, how opinions stand after them, and what only a person can decide."""

    steps: tuple[Step, ...]
    standings: Mapping[MemoryId, OpinionState]
    doubted: tuple[DoubtedOpinion, ...]


async def opinion_moves(book: Book, opinions: OpinionStore, run: str, labeller: Labeller | None) -> OpinionMoves:
    """Plan the steps of all evidence that no step has counted, however old; nothing is recorded. Raises StoreError.

    There is no window: what a run leaves out because of its age no later run would count.
    """
    recorded = await opinions.recorded()
    labels = OpinionLabels(book)
    told = await asyncio.to_thread(lambda: labels.told)
    asked = [] if labeller is None else await _asked(book, labels, recorded, labeller)
    return await asyncio.to_thread(lambda: _moves(book, labels, (*told, *asked), recorded, run))


def _moves(
    book: Book, labels: OpinionLabels, counted: Sequence[LabelledEvidence], recorded: Sequence[Step], run: str
) -> OpinionMoves:
    steps = plan_steps(book, counted, recorded, run=run)
    steps_of = by_opinion((*recorded, *steps))
    beliefs = (memory for memory in book.memories.values() if is_belief(memory.kind))
    standings = {one.id: opinion_state_of(one, steps_of.get(one.id, ())) for one in beliefs}
    return OpinionMoves(steps, standings, labels.doubted)


async def _asked(
    book: Book, labels: OpinionLabels, recorded: Sequence[Step], labeller: Labeller
) -> list[LabelledEvidence]:
    """Return what a text model says of pairs that no line tells of; where it says nothing, nothing is moved."""
    pairs = await asyncio.to_thread(lambda: labels.unlabelled(recorded))
    found: list[LabelledEvidence] = []
    for pair in pairs[:MAX_ASKED]:
        opinion, evidence = book.memories[pair.opinion], book.memories[pair.evidence]
        try:
            label = await labeller.label(opinion.line.text, evidence.line.text)
        except TextModelUnavailable as exc:
            # one that is away is not waited for again and again
            log.info("no labels from the text model", reason=str(exc))
            break
        if label is not None:
            found.append(labels.by_model(pair, Label(label), labeller.identity))
    return found


class _Plan(Struct, frozen=True):
    """What is known before anything is written."""

    shared: SharedMemories
    states: tuple[PageState, ...]
    writer: PageWriter
    moves: OpinionMoves


class Reflecting(Struct, kw_only=True, eq=False):
    """Reflects over one workspace, one run at a time.

    `book` gives all memories as the disk has them now, `known` the paths of all documents.
    """

    book: Callable[[], Awaitable[Book]]
    known: Callable[[], Collection[str]]
    journal: Journal
    opinions: OpinionStore
    queue: ProposalQueue
    runs: ReflectRuns
    tombstones: TombstoneStore
    core_chars: int
    labeller: Labeller | None = None
    summaries: PageSummaries | None = None
    tell: Tell = lambda _what, _count: None
    clock: Callable[[], float] = time.time
    _refusals: tuple[str, ...] = ()

    @property
    def trouble(self) -> str:
        """Which pages the last run left as they were, and why; empty if none, but for those without markers."""
        others = f" (and {len(self._refusals) - 1} more pages)" if len(self._refusals) > 1 else ""
        return f"reflect left {self._refusals[0]}{others}" if self._refusals else ""

    async def run(self, options: ReflectOptions) -> ReflectReply:
        """Reflect, or tell what that would do; a run that goes on is waited for.

        Raises Denied where nothing may be written, NotNow while the index or another run is in the way, StoreError.
        """
        if not options.is_dry:
            self.journal.check_writable()
        async with self.journal.alone():
            return await self._run(options)

    async def _run(self, options: ReflectOptions) -> ReflectReply:
        run, began = uuid4().hex[:12], time.monotonic()
        # first, for what is refused as long as the index does not have all notes is no run
        book = await self.book()
        if not options.is_dry:
            await self.runs.begin(run, options.since, self._now())
        if self.summaries is not None:
            self.summaries.begin()
        self.tell("planning", len(book.memories))
        moves = await opinion_moves(book, self.opinions, run, self.labeller)
        if not options.is_dry and moves.steps:
            await self.opinions.apply(moves.steps)
        book, plan, pages = await self._paged(book, moves, options, run)
        proposals, left_out = await self._proposed(book, plan, options, run)
        refusals = await self._new_refusals(pages.refusals, run)
        result = ReflectReply(
            run=run,
            since=options.since.isoformat(),
            dryRun=options.is_dry,
            memories=len(book.memories),
            steps=len(plan.moves.steps),
            pages=list(pages.written),
            unchanged=pages.unchanged,
            refusals=[PageRefusalReply(path=one.path, why=one.why) for one in refusals],
            proposals=[
                ProposalSummaryReply(id=one.id, kind=one.kind.value, path=one.path, why=one.why) for one in proposals
            ],
            copies=await asyncio.to_thread(near_copies, plan.shared.memories.values()),
            acrossScopes=await asyncio.to_thread(copies_across_scopes, book.memories.values()),
            disagreements=len(plan.shared.disagreements),
            coreLeftOut=left_out,
            tookMs=round((time.monotonic() - began) * 1000, 2),
        )
        if not options.is_dry:
            await self._note(result, pages)
        return result

    async def _paged(
        self, book: Book, moves: OpinionMoves, options: ReflectOptions, run: str
    ) -> tuple[Book, _Plan, WrittenPages]:
        """Write the pages; once more where that has moved lines that they cite, below the markers of the same file."""
        told = WrittenPages((), 0, ())
        for _ in range(MAX_ROUNDS):
            plan = await self._planned(book, moves, options)
            self.tell("pages", len(plan.states))
            pages = await plan.writer.write(plan.states, run, is_dry=options.is_dry)
            told = replace(pages, written=tuple(dict.fromkeys((*told.written, *pages.written))))
            citing = {source.path for memory in book.memories.values() for source in memory.sources}
            if options.is_dry or citing.isdisjoint(pages.written):
                break
            book = await self.book()
        return book, plan, told

    async def _planned(self, book: Book, moves: OpinionMoves, options: ReflectOptions) -> _Plan:
        shared = await asyncio.to_thread(shared_memories, book, moves.standings)
        pages = await asyncio.to_thread(pages_of, book, shared)
        texts = await self._read(page.path for page in pages)
        states = tuple(PageState(page, texts.get(page.path)) for page in pages)
        files = await cited_files(self.journal, states, self.known())
        stated = await asyncio.to_thread(stated_by, shared)
        writer = PageWriter(self.journal, stated, files, options.allows_loss, self.summaries)
        return _Plan(shared, states, writer, moves)

    async def _proposed(
        self, book: Book, plan: _Plan, options: ReflectOptions, run: str
    ) -> tuple[tuple[ProposedChange, ...], int]:
        """Put into the queue what is proposed; return it, and how many facts the core file has no room for."""
        ground = await asyncio.to_thread(ground_of, book, plan.shared, options.since, plan.moves.doubted, self.known())
        texts = await self._read(map(RelativePath, CORE_FILES))
        path = RelativePath(next(iter(texts), CORE_FILES[0]))
        core = CoreFile(path, texts.get(path, ""), self.core_chars)
        self.tell("proposals", len(ground.paths))
        notes = await self._read(RelativePath(path) for path in sorted(ground.paths))
        forgotten = await self.tombstones.all()
        changes, left_out = await asyncio.to_thread(proposal_plan, ground, core, notes, plan.states, forgotten)
        if not options.is_dry:
            await self.queue.refresh(plan.shared)
        chosen = await asyncio.to_thread(to_propose, changes, await self.queue.rows.states())
        if not options.is_dry:
            await self.queue.put(chosen, run)
        return chosen, left_out

    async def _read(self, paths: Iterable[RelativePath]) -> dict[str, str]:
        """Return the texts of notes that are there and may be written."""
        found: dict[str, str] = {}
        for path in paths:
            try:
                text = (await self.journal.read(path)).text
            except MemorydError:
                # who writes it is told why it cannot be
                continue
            if text is not None:
                found[path] = text
        return found

    async def _note(self, result: ReflectReply, pages: WrittenPages) -> None:
        """Note what came of it: counts, and the pages that were left as they were; no text of a memory."""
        # a page without markers is its owner's choice, of which a proposal tells
        told = [one for one in pages.refusals if not one.lacks_markers]
        self._refusals = tuple(f"{one.path} as it was: {one.why}" for one in told)
        counts = {
            "pages": len(result["pages"]),
            "steps": result["steps"],
            "proposals": len(result["proposals"]),
            "refused": sorted(one.path for one in pages.refusals),
            _LEFT: self._refusals[:MAX_LEFT],
        }
        await self.runs.end(result["run"], counts, self._now())

    async def _new_refusals(self, refusals: Iterable[PageRefusal], run: str) -> list[PageRefusal]:
        """Leave out pages without markers of which an earlier run has made a proposal: once is enough."""
        asked = await self.queue.pages_wanting_markers(run)
        return [one for one in refusals if not (one.lacks_markers and one.path in asked)]

    async def remember(self) -> None:
        """Take up what the last run left, as it stands in the ledger; raises StoreError."""
        last = await self.runs.last(self._now())
        left = () if last is None else last.outcome.get(_LEFT, ())
        if isinstance(left, list) and not self._refusals:
            self._refusals = tuple(map(str, left))

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)
