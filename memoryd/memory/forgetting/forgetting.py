"""Take memories out of everything, in an order in which a kill leaves nothing half forgotten.

First the keyed hashes are noted as pending: from then on the next start finishes. The lines go from the notes after
all that was made of them, for by them it is known what was meant; then the indexes follow, and are rewritten without
what they only marked as deleted. Last the hashes are noted as done.

What was made of a note that became private goes by the same ways.
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
    citing,
    files_cited,
    retelling_memories,
    with_other_lines,
    without_files,
    without_memories,
    without_page,
    without_words_of,
)
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.entities import ENTITY_PAGES
from memoryd.domain.memories.kinds import MemoryId, WrittenBy
from memoryd.domain.syncplan import Known
from memoryd.errors import MemorydError, RequestError, StoreUnavailable
from memoryd.memory.forgetting.planning import (
    ForgetReport,
    ForgettingPlanner,
    IndexPlaces,
    MemoryForgettingPlan,
    drop_remembered_texts,
    of_memories,
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
LATER = "it has begun, and is finished as soon as the disk takes it; status tells until then"
NOTHING = Forgotten(lambda _text: False)
WHY = "a memory was forgotten"
"""Of the change; no text says which memory it was."""
WHY_PRIVATE = "a note became private"
LEFT_OF_PRIVATE = "what was made of a private note is withheld, and not taken out yet: {}"


class PrivateTraces(Struct, kw_only=True, eq=False):
    """Takes out of pages and of kept changes what was made of notes that are private now; until then it is withheld."""

    journal: Journal
    rows: ForgottenRows
    indexes: IndexPlaces
    known: Callable[[], Set[RelativePath]]
    """The notes that are indexed: none of them is private."""
    removed: Callable[[], Mapping[RelativePath, Known]]
    """Those that have left the index since the start, as they were."""
    withhold: Callable[[Set[RelativePath]], None]
    """Takes the documents that may not be shown, in place of those before."""
    withdraw_proposals: Callable[[], Awaitable[None]]
    trouble: str = ""
    """Why something of that is still in place; empty if nothing is."""
    _has_news: asyncio.Event = field(default_factory=asyncio.Event)
    _withheld: frozenset[RelativePath] = frozenset()
    _count: int = 0
    """How many notes were known."""

    def __post_init__(self) -> None:
        # before this start a kill may have come in between
        self.demand()

    def note_change(self) -> None:
        """Note that notes changed: withheld pages may be shown again, and a missing note may have become private."""
        before, self._count = self._count, len(self.known())
        if self._withheld or self._count < before:
            self._has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private."""
        self._has_news.set()

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Do so at the start and at each news until cancelled; what cannot be done now is tried again."""
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
        """Take it out, and return why some of it stays."""
        late = await self.indexes.follow()
        journal, known = self.journal, self.known()
        cited = {path: await self._cited_files(path) for path in self.indexes.generated_pages()}
        unknown = sorted((await journal.changes.paths()).union(*cited.values()) - known)
        gone = {path: was for path, was in self.removed().items() if path in unknown}
        private = await asyncio.to_thread(
            lambda: journal.files.out_of_sight(gone).union(filter(journal.files.is_private, unknown))
        )
        self._withhold({path for path, files in cited.items() if not files.isdisjoint(private)})
        if late:
            raise StoreUnavailable(late)
        if not private:
            return ""
        await journal.changes.purge(citing(private), private)
        await self.withdraw_proposals()
        return await self._rewrite(private) if self._withheld else ""

    async def _rewrite(self, private: Set[RelativePath]) -> str:
        """Take it out of the pages that are withheld; one that cannot be written stays withheld."""
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
        # a note that is left empty is a person's all the same
        delete=path.startswith(ENTITY_PAGES),
    )


def _without_private(path: RelativePath, private: Set[RelativePath], text: str) -> str | None:
    return without_page(without_files(text, path, private), path)


class MemoryForgetting(Struct, kw_only=True, eq=False):
    """Forgets memories of one workspace, one act at a time."""

    planner: ForgettingPlanner
    tombstones: TombstoneStore
    rows: ForgottenRows
    usage: UsageCache
    stated: StatementHashes
    private: PrivateTraces
    revoke: RevokeShared | None = None
    """Takes back what of the memories is shared with a team; None: nothing is."""
    clock: Callable[[], float] = time.time
    _trouble: str = ""
    _undoable: set[bytes] = set()
    """Hashes of what was begun and is to be undoable; a kill loses that, and the lines go for good."""

    @property
    def trouble(self) -> str:
        """Why what was begun is not finished, or not noted everywhere; empty if it is."""
        return self._trouble or self.private.trouble or self.tombstones.trouble

    async def would_forget(self, name: str) -> ForgetReport:
        """Say what would go; raises NotFound, StoreError, NotNow."""
        plan = await self.planner.plan(name)
        shared = await self._revoke(plan, is_dry_run=True)
        return ForgetReport(plan=plan, stays=[*shared, *await self.planner.stays(plan)])

    async def forget(self, name: str, *, is_undoable: bool = False) -> ForgetReport:
        """Forget what is named, when a run of reflect has ended; raises NotFound, Denied, StoreError, NotNow.

        With `is_undoable` the ledger holds the lines for 24 hours, out of every answer. Where the disk does not take
        the notes, nothing is begun.
        """
        self.planner.journal.check_writable()
        async with self.planner.journal.alone():
            plan = await self.planner.plan(name)
            await self.planner.journal.check_room({RelativePath(one.path) for one in plan.citations})
            hashes = await self.tombstones.begin((one.id, one.text) for one in plan.memories)
            if is_undoable:
                self._undoable |= hashes
            try:
                # from here on the tombstones know of it
                await self.stated.drop(one.text for one in plan.memories)
                shared = await self._revoke(plan, is_dry_run=False)
                report = await self._take_out(plan, keeps_lines=is_undoable)
                unfinished = await self._follow_up(plan)
                # it may have been recalled until now
                await self.usage.drop([one.id for one in plan.memories])
            except (MemorydError, OSError) as exc:
                self._trouble = UNFINISHED.format(exc)
                raise StoreUnavailable(self._trouble, hint=LATER) from exc
            if not unfinished:
                await self._finished(hashes)
        log.info("memories were forgotten", memories=len(plan.memories), finished=not unfinished)
        stays = [*shared, *await self.planner.stays(plan)]
        return replace(report, is_forgotten=not unfinished, unfinished=unfinished, stays=stays)

    async def finish(self) -> None:
        """End what a kill, or the disk, cut short; raises what `forget` does."""
        if not await self.tombstones.pending():
            return
        async with self.planner.journal.alone():
            # once more: what was being forgotten may be done, and its lines kept for an undo
            pending = await self.tombstones.pending()
            await self.planner.indexes.follow()
            for hashes in (pending & self._undoable, pending - self._undoable):
                if hashes:
                    await self._finish(hashes, is_undoable=hashes <= self._undoable)

    async def _finish(self, hashes: Set[bytes], *, is_undoable: bool) -> None:
        stones = Tombstones((await self.tombstones.all()).key, frozenset(hashes))
        known = (await self.planner.book.whole()).own.memories
        if not is_undoable:
            # what was deleted before is in copies alone; and those by which it is undone stay
            known = {**(await self.planner.copies()).memories, **known}
        plan = of_memories([one for one in known.values() if stones.hold_id(one.id)])
        # the lines go last: what is not dropped yet, they tell
        await self.stated.drop(one.text for one in plan.memories)
        await self._revoke(plan, is_dry_run=False)
        await self._take_out(plan, keeps_lines=is_undoable)
        # also what no line states any more: rows may name it still
        named = frozenset(one for one in await self.rows.named() if stones.hold_id(one))
        await self.rows.purge(named, NOTHING)
        unfinished = await self._follow_up(plan)
        await self.usage.drop(named)
        if unfinished:
            raise StoreUnavailable(unfinished[0])
        await self._finished(hashes)

    async def take_out_again(self, memories: Mapping[MemoryId, str], fresh: Set[MemoryId]) -> None:
        """Take memories (id and text, if one is known) out that were forgotten on another machine, or came back since.

        Those that are not `fresh` go where a note states them; raises what `forget` does.
        """
        async with self.planner.journal.alone():
            # what is just being forgotten here, perhaps so that it can be undone, is gone now
            if why := await self.planner.indexes.follow():
                raise StoreUnavailable(why)
            standing = (await self.planner.book.whole()).own.memories
            due = [(one, text) for one, text in memories.items() if one in fresh or one in standing]
            if due:
                await self.tombstones.begin(due, tells=False)
        await self.finish()

    async def _finished(self, hashes: Set[bytes]) -> None:
        await self.tombstones.finish(hashes)
        self._undoable -= hashes

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """End what was cut short, and purge what could be undone for a day, as soon as that can be done."""
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
        """Take back what a team has of it, while the notes still say what was meant; return what is to be said."""
        lines = [source.line for memory in plan.memories for source in memory.sources]
        paths = {one.path for one in plan.citations}
        return () if self.revoke is None else await self.revoke(lines, paths, is_dry_run=is_dry_run)

    async def _take_out(self, plan: MemoryForgettingPlan, *, keeps_lines: bool) -> ForgetReport:
        """Take it out of turns, of the ledger, of pages and, last, of the notes."""
        ids = frozenset(memory.id for memory in plan.memories)
        turns = [turn for words in plan.said for turn in await self.planner.said.cut(words)]
        purged = await self.rows.purge(ids, plan.gone)
        made = [
            await _edit(self.planner.journal, path, partial(_without_made, path, plan))
            for path in (self.planner.indexes.generated_pages() if plan.memories else ())
        ]
        # before the lines go: by them it is known what was meant
        made += await self._cut_from_retelling(plan)
        stated = [
            await _edit(self.planner.journal, path, partial(_without_stated, path, plan), keeps_lines=keeps_lines)
            for path in sorted({RelativePath(citation.path) for citation in plan.citations})
        ]
        # only now: by them it is known how far an edit came
        await self.rows.blank()
        written = [one for one in (*made, *stated) if one.is_written]
        return ForgetReport(
            plan=plan,
            files=len({one.path for one in written}),
            changes=tuple(one.id for one in stated if one.is_written and one.id and keeps_lines),
            turns=tuple(dict.fromkeys(turns)),
            purged=purged,
        )

    async def _cut_from_retelling(self, plan: MemoryForgettingPlan) -> list[NoteChange]:
        """Take the words out of memories that say them again, as memoryd wrote them."""
        gone = {memory.id for memory in plan.memories}
        telling = [
            one for one in retelling_memories((await self.planner.book.whole()).own, plan.retold) if one.id not in gone
        ]
        ids = frozenset(one.id for one in telling)
        edit = partial(without_words_of, ids=ids, matchers=plan.retold)
        paths = sorted({RelativePath(source.path) for one in telling for source in one.sources})
        return [await _edit(self.planner.journal, path, partial(edit, path=path)) for path in paths]

    async def _follow_up(self, plan: MemoryForgettingPlan) -> tuple[str, ...]:
        """Have the indexes follow and rewrite themselves; return what is left to be done."""
        late = await self.planner.indexes.follow()
        await self.rows.drop_pages(frozenset(self.planner.indexes.generated_pages()))
        book = (await self.planner.book.whole()).own
        # the memories no longer hold it from here on
        drop_remembered_texts()
        left = sum(memory.id in book.memories for memory in plan.memories)
        again = f"{left} of the memories were written again meanwhile" if left else ""
        return tuple(filter(None, (late, await self.planner.indexes.drop_remains(), again)))


def _without_made(path: RelativePath, plan: MemoryForgettingPlan, text: str) -> str | None:
    return without_page(without_memories(text, path, frozenset(), plan.traces), path)


def _without_stated(path: RelativePath, plan: MemoryForgettingPlan, text: str) -> str | None:
    if plan.place is not None:
        return with_other_lines(text, plan.place.start_line or 1, plan.lines)
    return without_memories(text, path, frozenset(memory.id for memory in plan.memories), plan.traces)
