"""One run of reflect over a workspace: first opinions, then pages, then proposals, each planned before it is written.

A kill at any time leaves each file in its old or its new state, and the next run does the rest: steps and proposals are
identified by their content, and a page that is up to date is not written. In a page, only the text between its markers
is replaced. A configured text model adds a paragraph of prose.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from uuid import uuid4

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import CORE_FILES, RelativePath
from memoryd.domain.memories.abstracts import copies_across_scopes, near_copies
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.generated import (
    SUMMARY,
    GeneratedPage,
    as_text,
    block_in,
    block_of,
    citations_in,
    cited_paths,
    has_no_marker,
    with_block,
)
from memoryd.domain.memories.kinds import MemoryId, ShortId, WrittenBy, is_belief, short_id
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
from memoryd.domain.memories.reflect.pages import (
    CitedFact,
    CitedFiles,
    SharedMemories,
    pages_of,
    shared_memories,
    source_paths,
    why_refused,
)
from memoryd.domain.memories.reflect.proposals import ProposedChange, select_proposals
from memoryd.errors import InvalidRequest, MemorydError, RequestError, TextModelUnavailable
from memoryd.memory.book import OpinionStore
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import MemoryModel
from memoryd.memory.reflect.proposals import ProposalGround, ProposalQueue, ground_of, proposal_plan
from memoryd.replies.knowledge import PageRefusalReply, ProposalSummaryReply, ReflectReply
from memoryd.store.ledger.reflect import ReflectRuns

log = structlog.get_logger(__name__)

MAX_SUMMARIES = 20
"""Limit of one run: a local model takes seconds for each summary."""
MIN_FACTS = 3
WHY = "reflect brought the page up to date"


class ReflectOptions(Struct, frozen=True, kw_only=True):
    """Options of a run. `since` is the first day that is used for observations and proposals.

    Pages are made of all memories, and evidence counts once, of any age.

    `is_dry`: nothing is written. `allows_loss`: pages may lose entries, because their memories were deleted on purpose.
    """

    since: date
    is_dry: bool = False
    allows_loss: bool = False


class PageRefusal(Struct, frozen=True):
    """A page that was not changed, and why."""

    path: str
    why: str
    lacks_markers: bool = False


def without_summary(block: str) -> str:
    """Return a block without the paragraph that a text model wrote."""
    lines = block.split("\n")
    at = next((at for at, line in enumerate(lines) if line.startswith(SUMMARY)), None)
    return block if at is None else "\n".join([*lines[:at], *lines[at + 2 :]])


PageState = tuple[GeneratedPage, str | None]
"""A planned page, and the text in its file; None if there is no file."""


class WrittenPages(Struct, frozen=True):
    """Result of writing pages; `unchanged` counts the pages that were up to date."""

    written: tuple[str, ...]
    unchanged: int
    refusals: tuple[PageRefusal, ...]


class PageWriter(Struct, frozen=True):
    """Writes pages through the journal of a workspace; in a dry run it only returns what it would write.

    Before that a page is compared with `stated` and `files`, so that no entry is lost. `allows_loss`: the owner allowed
    loss. A page is not written if it cites a file that is no longer indexed: it may have become private.
    """

    journal: Journal
    is_indexed: Callable[[str], bool]
    stated: Mapping[ShortId, frozenset[str]]
    files: CitedFiles
    allows_loss: bool
    summary_of: Callable[[GeneratedPage], Awaitable[str]]

    async def write(self, states: Sequence[PageState], run: str, *, is_dry: bool) -> WrittenPages:
        """Write pages that differ. A page that cannot be written is left unchanged and reported."""
        written: list[str] = []
        refusals: list[PageRefusal] = []
        unchanged = 0
        for page, text in states:
            try:
                has_changed = await self._write(page, text, run, is_dry=is_dry)
            except (ValueError, RequestError) as exc:
                lacks_markers = text is not None and has_no_marker(text)
                refusals.append(PageRefusal(page.path, str(exc), lacks_markers))
            else:
                unchanged += not has_changed
                written += [page.path] * has_changed
        return WrittenPages(tuple(written), unchanged, tuple(refusals))

    async def _write(self, page: GeneratedPage, text: str | None, run: str, *, is_dry: bool) -> bool:
        # in a thread: a page with many entries would block the event loop
        new_text = await asyncio.to_thread(self._new_text, page, text, "")
        if new_text is None:
            return False
        summary = "" if is_dry else await self.summary_of(page)
        if is_dry:
            return True
        change = await self.journal.change(
            page.path, lambda now: self._new_text(page, now, summary), by=WrittenBy.REFLECT, why=WHY, run=run
        )
        return change.is_written

    def _new_text(self, page: GeneratedPage, text: str | None, summary: str) -> str | None:
        """Return the new text of a page, None if it is up to date; raises ValueError."""
        block = block_of(page)
        if gone := next((path for path in cited_paths(page) if not self.is_indexed(path)), ""):
            raise ValueError(f"it would cite {gone}, which is no longer indexed")
        if text is None:
            return with_block(None, page, block_of(page, summary)) if page.sections else None
        current = block_in(text)
        with_block(text, page, block)
        if current is not None and without_summary(current) == block:
            # a summary of the same facts is kept, so that a second run changes nothing
            return None
        why = "" if current is None or self.allows_loss else why_refused(current, page, self.stated, self.files)
        if why:
            raise ValueError(f"{why}; if that is meant to be: memoryctl reflect --allow-loss")
        return with_block(text, page, block_of(page, summary))


async def cited_files(journal: Journal, states: Collection[PageState], known: Collection[str]) -> CitedFiles:
    """Find files that blocks cite and the index does not have: missing ones, and private ones."""
    texts = [text for _, text in states if text is not None]
    blocks = await asyncio.to_thread(lambda: [citations_in(block_in(text) or "") for text in texts])
    cited = {path for block in blocks for _, path in block}
    missing: set[str] = set()
    private: set[str] = set()
    for path in sorted(cited.difference(known)):
        try:
            is_private = (await journal.read(RelativePath(path))).text is not None
        except InvalidRequest:
            # the file exists, and may not be read any longer
            is_private = True
        except MemorydError:
            is_private = False
        (private if is_private else missing).add(path)
    return CitedFiles(frozenset(missing), frozenset(private))


MAX_LABELLED = 20
"""Maximum number of pairs that a text model labels in one run, the oldest first."""
MAX_LEFT = 20
"""Maximum number of unchanged pages, with reasons, stored for status."""
_LEFT = "left"
MAX_ROUNDS = 3
"""Maximum number of rounds of writing pages in one run."""
ReportProgress = Callable[[str, int], None]
"""Called with the current step of a run and its number of items."""


class OpinionMoves(Struct, frozen=True):
    """The steps of a run, the states of opinions after them, and the contradictions that only a person can decide."""

    steps: tuple[Step, ...]
    states: Mapping[MemoryId, OpinionState]
    doubted: tuple[DoubtedOpinion, ...]


async def opinion_moves(book: Book, opinions: OpinionStore, run: str, model: MemoryModel | None) -> OpinionMoves:
    """Plan steps for all evidence that no step has counted, of any age; nothing is recorded. Raises StoreError.

    There is no age limit: evidence left out by this run would never be counted.
    """
    recorded = await opinions.steps.all()
    labels = OpinionLabels(book)
    stated = await asyncio.to_thread(lambda: labels.stated)
    by_model = [] if model is None else await _labels_of_model(book, labels, recorded, model)

    def plan() -> OpinionMoves:
        steps = plan_steps(book, (*stated, *by_model), recorded, run=run)
        steps_of = by_opinion((*recorded, *steps))
        beliefs = (memory for memory in book.memories.values() if is_belief(memory.kind))
        states = {memory.id: opinion_state_of(memory, steps_of.get(memory.id, ())) for memory in beliefs}
        return OpinionMoves(steps, states, labels.contradictions)

    return await asyncio.to_thread(plan)


async def _labels_of_model(
    book: Book, labels: OpinionLabels, recorded: Sequence[Step], model: MemoryModel
) -> list[LabelledEvidence]:
    """Return the labels of a text model for pairs that no line labels; without an answer there is no label."""
    pairs = await asyncio.to_thread(lambda: labels.unlabelled(recorded))
    labelled: list[LabelledEvidence] = []
    for pair in pairs[:MAX_LABELLED]:
        opinion, evidence = book.memories[pair.opinion], book.memories[pair.evidence]
        try:
            label = await model.label(opinion.text, evidence.text)
        except TextModelUnavailable as exc:
            # do not wait again for a model that cannot be reached
            log.info("no labels from the text model", reason=str(exc))
            break
        if label is not None:
            labelled.append(labels.by_model(pair, Label(label), model.identity))
    return labelled


class Reflecting(Struct, kw_only=True, eq=False):
    """Reflects over one workspace, one run at a time.

    `book` returns all memories as on disk now, `known` the paths of all documents. `is_indexed` may be called in a
    thread.
    """

    book: Callable[[], Awaitable[Book]]
    known: Callable[[], Collection[str]]
    is_indexed: Callable[[str], bool]
    journal: Journal
    opinions: OpinionStore
    queue: ProposalQueue
    runs: ReflectRuns
    tombstones: TombstoneStore
    core_chars: int
    model: MemoryModel | None = None
    tell: ReportProgress = lambda _what, _count: None
    clock: Callable[[], float] = time.time
    _refusals: tuple[str, ...] = ()
    _summaries_left: int = 0

    @property
    def trouble(self) -> str:
        """Pages that the last run left unchanged, and why; empty if none. Pages without markers are not reported."""
        others = f" (and {len(self._refusals) - 1} more pages)" if len(self._refusals) > 1 else ""
        return f"reflect left {self._refusals[0]}{others}" if self._refusals else ""

    async def run(self, options: ReflectOptions) -> ReflectReply:
        """Reflect, or with `is_dry` return what would be done. Waits for a running reflect or forgetting.

        Raises Denied if the memory is read-only, NotNow while the index is incomplete or another run is in the way,
        StoreError.
        """
        if not options.is_dry:
            self.journal.check_writable()
        async with self.journal.alone():
            return await self._run(options)

    async def _run(self, options: ReflectOptions) -> ReflectReply:
        run, began = uuid4().hex[:12], time.monotonic()
        # first: a call that is refused because the index is incomplete does not count as a run
        book = await self.book()
        if not options.is_dry:
            await self.runs.begin(run, options.since, self._now())
        self._summaries_left = MAX_SUMMARIES
        self.tell("planning", len(book.memories))
        moves = await opinion_moves(book, self.opinions, run, self.model)
        if not options.is_dry and moves.steps:
            await self.opinions.apply(moves.steps)
        book, shared, states, pages = await self._write_pages(book, moves, options, run)
        ground = await asyncio.to_thread(ground_of, book, shared, options.since, moves.doubted, self.known())
        proposals, left_out = await self._propose(ground, states, options, run)
        # a page without markers is reported once: not if an earlier run proposed markers for it
        proposed = await self.queue.pages_wanting_markers(run)
        refusals = [page for page in pages.refusals if not (page.lacks_markers and page.path in proposed)]
        result = ReflectReply(
            run=run,
            since=options.since.isoformat(),
            dryRun=options.is_dry,
            memories=len(book.memories),
            steps=len(moves.steps),
            pages=list(pages.written),
            unchanged=pages.unchanged,
            refusals=[PageRefusalReply(path=refusal.path, why=refusal.why) for refusal in refusals],
            proposals=[
                ProposalSummaryReply(id=proposal.id, kind=proposal.kind.value, path=proposal.path, why=proposal.why)
                for proposal in proposals
            ],
            copies=await asyncio.to_thread(near_copies, shared.memories.values()),
            acrossScopes=await asyncio.to_thread(copies_across_scopes, book.memories.values()),
            disagreements=len(shared.disagreements),
            coreLeftOut=left_out,
            tookMs=round((time.monotonic() - began) * 1000, 2),
        )
        if not options.is_dry:
            await self._note(result, pages)
        return result

    async def _write_pages(
        self, book: Book, moves: OpinionMoves, options: ReflectOptions, run: str
    ) -> tuple[Book, SharedMemories, Sequence[PageState], WrittenPages]:
        """Write the pages; repeat if that moved cited lines below the markers of the same file."""
        written: dict[str, None] = {}
        for _ in range(MAX_ROUNDS):
            shared = await asyncio.to_thread(shared_memories, book, moves.states)
            pages = await asyncio.to_thread(pages_of, book, shared)
            texts = await self._read(page.path for page in pages)
            states = [(page, texts.get(page.path)) for page in pages]
            files = await cited_files(self.journal, states, self.known())
            stated = await asyncio.to_thread(source_paths, shared)
            self.tell("pages", len(states))
            writer = PageWriter(self.journal, self.is_indexed, stated, files, options.allows_loss, self._summary)
            done = await writer.write(states, run, is_dry=options.is_dry)
            written |= dict.fromkeys(done.written)
            citing = {source.path for memory in book.memories.values() for source in memory.sources}
            if options.is_dry or citing.isdisjoint(done.written):
                break
            book = await self.book()
        return book, shared, states, replace(done, written=tuple(written))

    async def _summary(self, page: GeneratedPage) -> str:
        """Return the paragraph of a page by the model, empty if there is none. A run writes at most `MAX_SUMMARIES`.

        After a refused answer it continues; once the model cannot be reached, the run writes no more summaries.
        """
        entries = [entry for section in page.sections for entry in section.entries]
        if self.model is None or self._summaries_left <= 0 or len(entries) < MIN_FACTS:
            return ""
        self._summaries_left -= 1
        facts = [CitedFact(short_id(entry.memory), as_text(entry.text)) for entry in entries]
        try:
            summary = await self.model.summary(facts)
        except TextModelUnavailable as exc:
            # do not wait again for a model that cannot be reached
            log.info("no summaries from the text model", reason=str(exc))
            self._summaries_left = 0
            return ""
        return "" if summary is None else f"{SUMMARY}{as_text(summary.model)}: {' '.join(summary.text.split())}"

    async def _propose(
        self, ground: ProposalGround, states: Sequence[PageState], options: ReflectOptions, run: str
    ) -> tuple[tuple[ProposedChange, ...], int]:
        """Queue the proposals; return them, and the number of facts for which the core file has no room."""
        texts = await self._read(map(RelativePath, CORE_FILES))
        path = RelativePath(next(iter(texts), CORE_FILES[0]))
        core = CoreFile(path, texts.get(path, ""), self.core_chars)
        self.tell("proposals", len(ground.paths))
        notes = await self._read(RelativePath(path) for path in sorted(ground.paths))
        forgotten = await self.tombstones.all()
        changes, left_out = await asyncio.to_thread(proposal_plan, ground, core, notes, states, forgotten)
        if not options.is_dry:
            await self.queue.refresh(ground.shared)
        chosen = await asyncio.to_thread(select_proposals, changes, await self.queue.rows.states())
        if not options.is_dry:
            await self.queue.rows.put(chosen, run, self._now())
        return chosen, left_out

    async def _read(self, paths: Iterable[RelativePath]) -> dict[str, str]:
        """Return the texts of existing notes that may be written."""
        texts: dict[str, str] = {}
        for path in paths:
            try:
                text = (await self.journal.read(path)).text
            except MemorydError:
                # writing it will report why it cannot be read
                continue
            if text is not None:
                texts[path] = text
        return texts

    async def _note(self, result: ReflectReply, pages: WrittenPages) -> None:
        """Note the result: counts, and the pages that were left unchanged; no text of a memory."""
        # a page without markers is its owner's choice, and a proposal reports it
        reported = [refusal for refusal in pages.refusals if not refusal.lacks_markers]
        self._refusals = tuple(f"{refusal.path} as it was: {refusal.why}" for refusal in reported)
        counts = {
            "pages": len(result["pages"]),
            "steps": result["steps"],
            "proposals": len(result["proposals"]),
            "refused": sorted(refusal.path for refusal in pages.refusals),
            _LEFT: self._refusals[:MAX_LEFT],
        }
        await self.runs.end(result["run"], counts, self._now())

    async def remember(self) -> None:
        """Load the unchanged pages of the last run from the ledger; raises StoreError."""
        last = await self.runs.last(self._now())
        left = () if last is None else last[1].get(_LEFT, ())
        if isinstance(left, list) and not self._refusals:
            self._refusals = tuple(map(str, left))

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)
