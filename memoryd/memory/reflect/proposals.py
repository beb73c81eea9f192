"""The proposals of a workspace: made by a run, listed, accepted and rejected; an accepted one is written as any change.

What a run proposes, and which notes must be read for that, is a plan: no note is read or written for it here.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, newest_first
from memoryd.domain.memories.changes.diffs import applied, carried, is_applied
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.generated import GeneratedPage, has_no_marker
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.reflect.core import CoreFile, core_changes
from memoryd.domain.memories.reflect.evidence import DoubtedOpinion
from memoryd.domain.memories.reflect.pages import SharedMemories
from memoryd.domain.memories.reflect.proposals import (
    WITHDRAWN,
    Proposal,
    ProposalId,
    ProposalKind,
    ProposalState,
    ProposedChange,
    Recurrence,
    contradiction_change,
    has_retain,
    inferred_lines,
    markers_change,
    observation_change,
    recurrences,
    recurring_names,
    retain_change,
    source_of,
    still_rests,
)
from memoryd.domain.memories.sections import is_daily_log
from memoryd.domain.ranking.filters import date_in_name
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow
from memoryd.memory.journal import Journal
from memoryd.search.ranking import commonness
from memoryd.store.ledger.reflect import ProposalRows

SHORTEST = 4
"""Signs of an id that may name a proposal."""

MemoriesForAll = Callable[[], Awaitable[SharedMemories]]
"""Gives what may be told to all, as the disk has it now; raises NotNow, StoreError."""


class DecidedProposal(Struct, frozen=True):
    """A proposal after a person decided it. `change` is the number by which it can be undone, 0 if there is none."""

    proposal: Proposal
    change: int = 0
    note: str = ""


class _OutdatedError(Exception):
    """The file no longer says where the lines go."""


class ProposalQueue(Struct, frozen=True):
    """The queue of one workspace. Verbs raise StoreError; those that write Denied where nothing may be written."""

    rows: ProposalRows
    journal: Journal
    load_shared: MemoriesForAll
    clock: Callable[[], float] = time.time

    async def all(self, state: ProposalState | None = None) -> list[Proposal]:
        """Return the proposals in a state, or all, the oldest first, without what no longer rests on anything."""
        # while notes are still read, what the last run knew is the best there is
        with contextlib.suppress(NotNow):
            await self.withdraw()
        return await self.rows.all(state)

    async def shown(self, name: str) -> Proposal:
        """Return the proposal of an id or of its beginning as it stands now; raises as `found` does."""
        with contextlib.suppress(NotNow):
            await self.withdraw()
        return await self.found(name)

    async def withdraw(self, shared: SharedMemories | None = None) -> None:
        """Take out of the queue what rests on memories that are gone, superseded, or not for all any more.

        Raises NotNow while the index does not have all notes.
        """
        if not (waiting := await self.rows.all(ProposalState.OPEN)):
            return
        shared = shared or await self.load_shared()
        outdated = [one.id for one in waiting if not still_rests(one.change, shared)]
        await self.rows.withdraw(outdated, WITHDRAWN, self._now())

    async def found(self, name: str) -> Proposal:
        """Return the proposal of an id or of its beginning; raises NotFound, InvalidRequest where it is of several."""
        prefix = name.strip().lower()
        matches = await self.rows.beginning(prefix) if len(prefix) >= SHORTEST else []
        if not matches:
            raise NotFound(f"there is no proposal {name!r}", hint="memoryctl proposals list names all that are open")
        if len(matches) > 1:
            raise InvalidRequest(f"{name!r} is the beginning of several ids", hint="give more of it")
        return matches[0]

    async def accept(self, name: str) -> DecidedProposal:
        """Write what a proposal says, if it is clear where its lines go; else it is outdated.

        Raises InvalidRequest then, and for one that was decided before; NotFound, NotNow while the index does not have
        all notes, and what `Journal.change` does.
        """
        self.journal.check_writable()
        await self._open(name)
        await self.withdraw()
        proposal = await self._open(name)
        change, before = proposal.change, ""

        def edit(text: str | None) -> str | None:
            nonlocal before
            before = text or ""
            return _apply(text, change.diff)

        try:
            # the file first: after a kill in between, the next one finds it written, and says so
            written = await self.journal.change(
                change.path,
                edit,
                by=WrittenBy.PROPOSAL,
                why=change.why,
                run=proposal.id,
            )
        except _OutdatedError as exc:
            await self.rows.move(proposal.id, ProposalState.OPEN, ProposalState.OUTDATED, self._now())
            raise InvalidRequest(
                f"{change.path} has changed, and it is no longer clear where these lines go",
                hint="edit it yourself, or let memoryctl reflect look again",
            ) from exc
        await self.rows.move(proposal.id, ProposalState.OPEN, ProposalState.ACCEPTED, self._now())
        await self._carry(proposal, before, written.text)
        return DecidedProposal(await self.found(proposal.id), written.id, written.note)

    async def reject(self, name: str) -> DecidedProposal:
        """Take a proposal out of the queue for good; raises as `accept` does."""
        self.journal.check_writable()
        proposal = await self._open(name)
        await self.rows.move(proposal.id, ProposalState.OPEN, ProposalState.REJECTED, self._now())
        return DecidedProposal(await self.found(proposal.id))

    async def reopen(self, accepted: str) -> None:
        """Put an accepted proposal into the queue again: its change was taken back."""
        await self.rows.move(ProposalId(accepted), ProposalState.ACCEPTED, ProposalState.OPEN, self._now())

    async def pages_wanting_markers(self, but: str) -> frozenset[str]:
        """Return the pages for which a run before this one has proposed markers that are not accepted."""
        states = (ProposalState.OPEN, ProposalState.REJECTED)
        return frozenset(
            one.change.path
            for one in await self.rows.all()
            if one.change.kind is ProposalKind.MARKERS and one.state in states and one.run != but
        )

    async def refresh(self, shared: SharedMemories) -> None:
        """Look whether the open ones still rest on what holds, can still be applied, or were written already."""
        await self.withdraw(shared)
        for proposal in await self.rows.all(ProposalState.OPEN):
            state = await self._state(proposal.change)
            if state is not ProposalState.OPEN:
                await self.rows.move(proposal.id, ProposalState.OPEN, state, self._now())

    async def _carry(self, accepted: Proposal, before: str, after: str) -> None:
        """Make the others of the file ones of what it is now, so that what was accepted is not in their way."""
        for other in await self.rows.all(ProposalState.OPEN):
            if other.change.path == accepted.change.path:
                diff = carried(before, after, other.change.diff)
                if diff and diff != other.change.diff:
                    await self.rows.refresh(other.id, diff)

    async def _open(self, name: str) -> Proposal:
        proposal = await self.found(name)
        if proposal.state is not ProposalState.OPEN:
            raise InvalidRequest(f"the proposal {proposal.id} is {proposal.state}", hint="only open ones are decided")
        return proposal

    async def _state(self, change: ProposedChange) -> ProposalState:
        try:
            text = (await self.journal.read(change.path)).text
            made = await asyncio.to_thread(_apply, text, change.diff)
        except (_OutdatedError, InvalidRequest):
            # it says something else now, or it may not be written any more: its owner made it private
            return ProposalState.OUTDATED
        except MemorydError:
            # it cannot be read today
            return ProposalState.OPEN
        return ProposalState.ACCEPTED if made is None else ProposalState.OPEN

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)


def _apply(text: str | None, diff: str) -> str | None:
    """Return a text with a diff applied, None where it was before; raises _OutdatedError."""
    if text is not None and is_applied(text, diff):
        return None
    made = applied(text or "", diff)
    if made is None:
        raise _OutdatedError
    return made


MAX_LOGS = 400
"""Logs of one run for which lines may be inferred, the newest first."""
COMMON_WORD = 0.02
"""Share of usual texts that hold a word which does not say what recurred."""

Notes = Mapping[str, str]
"""The texts of notes by path; what could not be read is none of them."""


class ProposalGround(Struct, frozen=True):
    """What proposals are made of: all memories, those for everybody, and the first day that is looked at."""

    book: Book
    shared: SharedMemories
    since: date
    doubted: tuple[DoubtedOpinion, ...]
    recurred: tuple[Recurrence, ...]
    logs: tuple[RelativePath, ...]
    """Those of the window that hold no memory."""

    @property
    def paths(self) -> frozenset[str]:
        """The notes that are to be read."""
        memories = self.book.memories
        doubted = (source_of(memories[one.evidence], one.day).path for one in self.doubted)
        recurred = (one.memories[-1].sources[-1].path for one in self.recurred)
        return frozenset((*doubted, *recurred, *self.logs))


def ground_of(
    book: Book, shared: SharedMemories, since: date, doubted: Iterable[DoubtedOpinion], known: Collection[str]
) -> ProposalGround:
    """Find what may be proposed; `known` are all documents of the workspace."""
    # what is for one agent alone is not proposed: another person may review it
    shown = [one for one in doubted if one.evidence in shared.memories and one.opinion in shared.memories]
    stating = {source.path for memory in book.memories.values() for source in memory.sources}
    logs = [path for path in known if path not in stating and _is_of_window(path, since)]
    recurred = recurrences(shared.memories.values(), since, lambda word: commonness(word) > COMMON_WORD)
    return ProposalGround(
        book=book,
        shared=shared,
        since=since,
        doubted=tuple(shown),
        recurred=recurred,
        logs=tuple(RelativePath(path) for path in sorted(logs, reverse=True)[:MAX_LOGS]),
    )


def proposal_plan(
    ground: ProposalGround,
    core: CoreFile,
    notes: Notes,
    pages: Sequence[tuple[GeneratedPage, str | None]],
    forgotten: Tombstones,
) -> tuple[list[ProposedChange], int]:
    """Return what is proposed, for the core file first, and for how many facts that has no room."""
    changes, left_out = core_changes(core, ground.shared, ground.since)
    others = (
        *_contradictions(ground, notes),
        *_retain_changes(ground, notes, forgotten),
        *_observations(ground, notes),
        *(
            markers_change(page.path, text)
            for page, text in pages
            if text is not None and page.sections and has_no_marker(text)
        ),
    )
    return [*changes, *filter(None, others)], left_out


def _contradictions(ground: ProposalGround, notes: Notes) -> Iterator[ProposedChange | None]:
    for one in ground.doubted:
        opinion, evidence = ground.book.memories[one.opinion], ground.book.memories[one.evidence]
        if (text := notes.get(source_of(evidence, one.day).path)) is not None:
            yield contradiction_change(opinion, evidence, one.day, text)


def _observations(ground: ProposalGround, notes: Notes) -> Iterator[ProposedChange | None]:
    for found in ground.recurred:
        text = notes.get(found.memories[-1].sources[-1].path)
        if text is not None and found.line.id not in ground.book.memories:
            yield observation_change(found, text)


def _retain_changes(ground: ProposalGround, notes: Notes, forgotten: Tombstones) -> Iterator[ProposedChange | None]:
    texts = {path: notes[path] for path in ground.logs if path in notes and not has_retain(notes[path])}
    names = _Names(ground.book, recurring_names(texts.values()))
    for path, text in sorted(texts.items()):
        lines = inferred_lines(text, names.of, ground.book.memories, lambda line: forgotten.hold(line.id, line.text))
        yield retain_change(path, lines, text)


class _Names:
    """Finds the entities that a sentence names: those of the book, and words that recur as names."""

    def __init__(self, book: Book, recurring: Collection[str]) -> None:
        self._book = book
        self._recurring = recurring
        self._spelled: dict[EntitySlug, str] = {slug: page.name for slug, page in book.pages.items()}
        for memory in newest_first(book.memories.values()):
            for name in memory.line.entities:
                self._spelled.setdefault(slug_of(name), name)

    def of(self, sentence: str) -> tuple[str, ...]:
        slugs = self._book.entities_in(sentence)
        found = [self._spelled.get(slug, str(slug)) for slug in slugs]
        others = [word.strip(".,;:!?()“”\"'’") for word in sentence.split()]
        taken = {slug_of(name) for name in found}
        found += [word for word in others if word in self._recurring and slug_of(word) not in taken]
        return tuple(dict.fromkeys(found))


def _is_of_window(path: str, since: date) -> bool:
    day = date_in_name(path) if is_daily_log(path) else None
    return day is not None and day >= since
