"""Forgetting of memories everywhere, in an order that a kill cannot leave half done.

First the keyed hashes are noted as pending: from then on the next start finishes the work. Everything derived from the
lines is removed before the lines of the notes, because the lines show what to look for. Then the indexes follow, and
are rewritten so that no deleted text remains in their files. Last the hashes are noted as done.

Text derived from a note that became private is removed in the same way.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from functools import partial

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.changes.forgetting import (
    citations_of_files,
    drop_empty_page,
    files_cited,
    restating_memories,
    with_other_lines,
    without_files,
    without_memories,
    without_words_of,
)
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.entities import ENTITY_PAGES
from memoryd.domain.memories.kinds import MemoryId, WrittenBy
from memoryd.domain.syncplan import IndexedFile
from memoryd.errors import MemorydError, RequestError, StoreUnavailable
from memoryd.memory.forgetting.planning import (
    ForgetReport,
    ForgettingPlanner,
    IndexPlaces,
    MemoryForgettingPlan,
    drop_remembered_texts,
    plan_of,
)
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal, NoteChange, RevokeShared
from memoryd.memory.retaining import StatementHashes
from memoryd.memory.usage import UsageCache
from memoryd.store.ledger.forgotten import ForgottenRows

log = structlog.get_logger(__name__)

UNDOABLE_SECONDS = 24 * 3600.0
RETRY_SECONDS = 15.0
UNFINISHED = "the forgetting of a memory is not finished: {}"
LATER = "it has begun, and is finished as soon as the disk can be written; status says so until then"
NOTHING = Forgotten(lambda _text: False)
WHY = "a memory was forgotten"
"""The reason of the change; it does not say which memory it was."""
WHY_PRIVATE = "a note became private"
LEFT_OF_PRIVATE = "what was made of a private note is withheld, and not taken out yet: {}"


class PrivateTraces(Struct, kw_only=True, eq=False):
    """Removes text derived from private notes from pages and stored changes; until then it is withheld."""

    journal: Journal
    rows: ForgottenRows
    indexes: IndexPlaces
    known: Callable[[], Set[RelativePath]]
    """Returns the indexed notes: none of them is private."""
    removed: Callable[[], Mapping[RelativePath, IndexedFile]]
    """Returns the notes that left the index since the start, as they were."""
    withhold: Callable[[Set[RelativePath]], None]
    """Replaces the set of documents that may not be shown."""
    withdraw_proposals: Callable[[], Awaitable[None]]
    trouble: str = ""
    """Why some text is still in place; empty if none is."""
    _has_news: asyncio.Event = field(default_factory=asyncio.Event)
    _withheld: frozenset[RelativePath] = frozenset()
    _count: int = 0
    """Number of known notes at the last change."""

    def __post_init__(self) -> None:
        # a kill may have interrupted the last run
        self.demand()

    def note_change(self) -> None:
        """Note that notes changed: withheld pages may be shown again, and a missing note may have become private."""
        before, self._count = self._count, len(self.known())
        if self._withheld or self._count < before:
            self._has_news.set()

    def demand(self) -> None:
        """Note that notes became private."""
        self._has_news.set()

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Run at the start and after each change until cancelled; failures are retried."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            try:
                self.trouble = await self._take_out()
            except (MemorydError, OSError) as exc:
                self.trouble = LEFT_OF_PRIVATE.format(exc) if self._withheld else ""
                await asyncio.sleep(retry_seconds)
                self._has_news.set()

    async def _take_out(self) -> str:
        """Remove the text, and return why some of it stays."""
        late = await self.indexes.follow()
        journal, known = self.journal, self.known()
        # a page that reflect had begun to write is written after that; a later one cites no note that left the index
        await journal.check_interrupted()
        cited = {path: await self._cited_files(path) for path in self.indexes.generated_pages()}
        unknown = sorted((await journal.changes.paths()).union(*cited.values()) - known)
        missing = {path: known_file for path, known_file in self.removed().items() if path in unknown}
        private = await asyncio.to_thread(
            lambda: journal.files.out_of_sight(missing).union(filter(journal.files.is_private, unknown))
        )
        self._withhold({path for path, files in cited.items() if not files.isdisjoint(private)})
        if late:
            raise StoreUnavailable(late)
        if not private:
            return ""
        traces, latest = citations_of_files(private), await journal.changes.latest()
        await journal.changes.purge(traces, private)
        await self.withdraw_proposals()
        refused = await self._rewrite(private) if self._withheld else ""
        # what others changed meanwhile is stored with the lines around it
        await journal.changes.purge(traces, private, beside=latest)
        return refused

    async def _rewrite(self, private: Set[RelativePath]) -> str:
        """Remove the text from the withheld pages; a page that cannot be written stays withheld."""
        written, refused = set[RelativePath](), ""
        for path in sorted(self._withheld):
            try:
                await _edit(self.journal, path, partial(_without_private, path, private), WHY_PRIVATE)
                written.add(path)
            except RequestError as exc:
                refused = LEFT_OF_PRIVATE.format(exc)
        if written:
            await self.rows.blank()
            if why := await self.indexes.follow() or await self.indexes.drop_remains():
                raise StoreUnavailable(why)
            await self.rows.drop_pages(frozenset(self.indexes.generated_pages()))
            drop_remembered_texts()
            self._withhold(self._withheld - written)
        return refused

    async def _cited_files(self, path: RelativePath) -> frozenset[RelativePath]:
        try:
            text = (await self.journal.read(path, is_shown=True)).text
        except RequestError:
            return frozenset()
        return await asyncio.to_thread(files_cited, text or "")

    def _withhold(self, pages: Set[RelativePath]) -> None:
        self._withheld = frozenset(pages)
        self.withhold(self._withheld)


async def _edit(
    journal: Journal,
    path: RelativePath,
    edit: Callable[[str], str | None],
    why: str = WHY,
    *,
    keeps_lines: bool = False,
) -> NoteChange:
    return await journal.change(
        path,
        lambda text: None if text is None else edit(text),
        by=WrittenBy.FORGET,
        why=why,
        keeps_lines=keeps_lines,
        # an empty note is kept, because it belongs to a person
        delete=path.startswith(ENTITY_PAGES),
    )


def _without_private(path: RelativePath, private: Set[RelativePath], text: str) -> str | None:
    return drop_empty_page(without_files(text, path, private), path)


class MemoryForgetting(Struct, kw_only=True, eq=False):
    """Forgets memories of one workspace, one operation at a time."""

    planner: ForgettingPlanner
    tombstones: TombstoneStore
    rows: ForgottenRows
    usage: UsageCache
    stated: StatementHashes
    private: PrivateTraces
    revoke: RevokeShared | None = None
    """Revokes what a team has of the memories; None: nothing is shared."""
    clock: Callable[[], float] = time.time
    _trouble: str = ""
    _undoable: set[bytes] = set()
    """Hashes of unfinished operations that can be undone. A kill loses them, and the lines are then deleted for good.
    """

    @property
    def trouble(self) -> str:
        """Why an operation is not finished, or not noted everywhere; empty if all is."""
        return self._trouble or self.private.trouble or self.tombstones.trouble

    async def would_forget(self, name: str) -> ForgetReport:
        """Return what would be deleted; raises NotFound, Denied, StoreError, NotNow."""
        self.planner.journal.check_writable()
        plan = await self.planner.plan(name)
        shared = await self._revoke(plan, is_dry_run=True)
        return ForgetReport(plan=plan, stays=[*shared, *await self.planner.stays(plan)])

    async def forget(self, name: str, *, is_undoable: bool = False) -> ForgetReport:
        """Forget what is named, after a running reflect has ended; raises NotFound, Denied, StoreError, NotNow.

        With `is_undoable` the ledger stores the lines for 24 hours; no answer uses them. If the disk has no room for
        the notes, nothing is begun.
        """
        self.planner.journal.check_writable()
        async with self.planner.journal.alone():
            plan = await self.planner.plan(name)
            await self.planner.journal.check_room({RelativePath(citation.path) for citation in plan.citations})
            hashes = await self.tombstones.begin((memory.id, memory.text) for memory in plan.memories)
            if is_undoable:
                self._undoable |= hashes
            try:
                # from here on the tombstones are in effect
                await self.stated.drop(memory.text for memory in plan.memories)
                shared = await self._revoke(plan, is_dry_run=False)
                report = await self._take_out(plan, keeps_lines=is_undoable)
                unfinished = await self._follow_up(plan)
                # it may have been recalled until now
                await self.usage.drop([memory.id for memory in plan.memories])
            except (MemorydError, OSError) as exc:
                self._trouble = UNFINISHED.format(exc)
                raise StoreUnavailable(self._trouble, hint=LATER) from exc
            if not unfinished:
                await self._finish_hashes(hashes)
        log.info("memories were forgotten", memories=len(plan.memories), finished=not unfinished)
        stays = [*shared, *await self.planner.stays(plan)]
        return replace(report, is_forgotten=not unfinished, unfinished=unfinished, stays=stays)

    async def finish(self) -> None:
        """Finish operations that a kill or an error of the disk interrupted; raises what `forget` does."""
        if not await self.tombstones.pending():
            return
        async with self.planner.journal.alone():
            # read again: the operation may have finished, with its lines stored for undo
            pending = await self.tombstones.pending()
            await self.planner.indexes.follow()
            for hashes in (pending & self._undoable, pending - self._undoable):
                if hashes:
                    await self._finish(hashes, is_undoable=hashes <= self._undoable)

    async def _finish(self, hashes: Set[bytes], *, is_undoable: bool) -> None:
        stones = Tombstones((await self.tombstones.all()).key, frozenset(hashes))
        known = (await self.planner.book.complete()).own.memories
        if not is_undoable:
            # lines deleted before are in copies only; copies that an undo needs stay
            known = {**(await self.planner.copies()).memories, **known}
        plan = plan_of([memory for memory in known.values() if stones.contains_id(memory.id)])
        # the lines are deleted last: they show what is not dropped yet
        await self.stated.drop(memory.text for memory in plan.memories)
        await self._revoke(plan, is_dry_run=False)
        await self._take_out(plan, keeps_lines=is_undoable)
        # also memories that no line states any longer: rows may still name them
        named = frozenset(memory for memory in await self.rows.named() if stones.contains_id(memory))
        await self.rows.purge(named, NOTHING)
        unfinished = await self._follow_up(plan)
        await self.usage.drop(named)
        if unfinished:
            raise StoreUnavailable(unfinished[0])
        await self._finish_hashes(hashes)

    async def take_out_again(self, memories: Mapping[MemoryId, str], fresh: Set[MemoryId]) -> None:
        """Remove memories (id and text, empty if unknown) that another machine forgot, or that reappeared.

        Those that are not `fresh` are removed only if a note states them; raises what `forget` does.
        """
        async with self.planner.journal.alone():
            # follow first: what is being forgotten here, perhaps undoable, is in no note by then
            if why := await self.planner.indexes.follow():
                raise StoreUnavailable(why)
            stated = (await self.planner.book.complete()).own.memories
            due = [(memory, text) for memory, text in memories.items() if memory in fresh or memory in stated]
            if due:
                await self.tombstones.begin(due, is_published=False)
        await self.finish()

    async def _finish_hashes(self, hashes: Set[bytes]) -> None:
        await self.tombstones.finish(hashes)
        self._undoable -= hashes

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Finish interrupted operations, and purge lines whose undo period is over; retry until cancelled."""
        while True:
            try:
                await self.finish()
                await self.rows.expire(self.clock() - UNDOABLE_SECONDS)
            except (MemorydError, OSError) as exc:
                self._trouble = UNFINISHED.format(exc)
            else:
                self._trouble = ""
            await asyncio.sleep(retry_seconds)

    async def _revoke(self, plan: MemoryForgettingPlan, *, is_dry_run: bool) -> Sequence[str]:
        """Revoke shared copies while the notes still show what was meant; return messages to show."""
        lines = [source.line for memory in plan.memories for source in memory.sources]
        paths = {citation.path for citation in plan.citations}
        return () if self.revoke is None else await self.revoke(lines, paths, is_dry_run=is_dry_run)

    async def _take_out(self, plan: MemoryForgettingPlan, *, keeps_lines: bool) -> ForgetReport:
        """Remove it from turns, the ledger, pages and, last, the notes."""
        ids = frozenset(memory.id for memory in plan.memories)
        turns = [turn for words in plan.words for turn in await self.planner.conversations.cut(words)]
        changes = self.planner.journal.changes
        latest = await changes.latest()
        purged = await self.rows.purge(ids, plan.forgotten)
        made = [
            await _edit(self.planner.journal, path, partial(_without_made, path, plan))
            for path in (self.planner.indexes.generated_pages() if plan.memories else ())
        ]
        # before the lines are deleted, because they show what to look for
        made += await self._cut_from_retelling(plan)
        stated = [
            await _edit(self.planner.journal, path, partial(_without_stated, path, plan), keeps_lines=keeps_lines)
            for path in sorted({RelativePath(citation.path) for citation in plan.citations})
        ]
        # what was stated meanwhile is stored with the lines around it
        await changes.purge(plan.forgotten, beside=latest)
        # only now, because the hashes show how far an edit came
        await self.rows.blank()
        written = [change for change in (*made, *stated) if change.is_written]
        return ForgetReport(
            plan=plan,
            files=len({change.path for change in written}),
            changes=tuple(change.id for change in stated if change.is_written and change.id and keeps_lines),
            turns=tuple(dict.fromkeys(turns)),
            purged=purged,
        )

    async def _cut_from_retelling(self, plan: MemoryForgettingPlan) -> list[NoteChange]:
        """Cut the words from memories that retell them, as memoryd wrote them."""
        forgotten = {memory.id for memory in plan.memories}
        book = (await self.planner.book.complete()).own
        retelling = [memory for memory in restating_memories(book, plan.retold) if memory.id not in forgotten]
        ids = frozenset(memory.id for memory in retelling)
        edit = partial(without_words_of, ids=ids, matchers=plan.retold)
        paths = sorted({RelativePath(source.path) for memory in retelling for source in memory.sources})
        return [await _edit(self.planner.journal, path, partial(edit, path=path)) for path in paths]

    async def _follow_up(self, plan: MemoryForgettingPlan) -> tuple[str, ...]:
        """Make the indexes follow and rewrite themselves; return what is left to do."""
        late = await self.planner.indexes.follow()
        await self.rows.drop_pages(frozenset(self.planner.indexes.generated_pages()))
        book = (await self.planner.book.complete()).own
        # the book no longer has it from here on
        drop_remembered_texts()
        left = sum(memory.id in book.memories for memory in plan.memories)
        again = f"{left} of the memories were written again in the meantime" if left else ""
        return tuple(filter(None, (late, await self.planner.indexes.drop_remains(), again)))


def _without_made(path: RelativePath, plan: MemoryForgettingPlan, text: str) -> str | None:
    return drop_empty_page(without_memories(text, path, frozenset(), plan.traces), path)


def _without_stated(path: RelativePath, plan: MemoryForgettingPlan, text: str) -> str | None:
    if plan.place is not None:
        return with_other_lines(text, plan.place.start_line or 1, plan.lines)
    return without_memories(text, path, frozenset(memory.id for memory in plan.memories), plan.traces)
