"""Proposals of a workspace: made by reflect, then listed, accepted or rejected.

Accepting one writes it like any change.

`proposal_plan` decides what to propose, and `ProposalGround` which notes must be read for it; neither reads or writes
notes.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, newest_first
from memoryd.domain.memories.changes.diffs import apply_diff, is_applied, rebase_diff
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
    is_still_supported,
    markers_change,
    observation_change,
    recurrences,
    recurring_names,
    retain_change,
    source_of,
)
from memoryd.domain.memories.sections import is_daily_log
from memoryd.domain.ranking.filters import date_in_name
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow
from memoryd.memory.journal import Journal
from memoryd.search.ranking import commonness
from memoryd.store.ledger.reflect import ProposalRows

_MIN_PREFIX = 4
"""Minimum length of an id prefix that identifies a proposal."""

MemoriesForAll = Callable[[], Awaitable[SharedMemories]]
"""Returns the memories that everyone may see, as on disk now; raises NotNow, StoreError."""


class DecidedProposal(Struct, frozen=True):
    """A proposal after a person decided it. `change` is the number of the change to undo, 0 if there is none."""

    proposal: Proposal
    change: int = 0
    note: str = ""


class _OutdatedError(Exception):
    """The file no longer has the place for the lines."""


class ProposalQueue(Struct, frozen=True):
    """The queue of one workspace. Methods raise StoreError; those that write also Denied if the memory is read-only."""

    rows: ProposalRows
    journal: Journal
    load_shared: MemoriesForAll
    clock: Callable[[], float] = time.time

    async def all(self, state: ProposalState | None = None) -> list[Proposal]:
        """Return the proposals in a state, or all, the oldest first; withdraw outdated ones before."""
        # while notes are still being read, use what the last run knew
        with contextlib.suppress(NotNow):
            await self.withdraw()
        return await self.rows.all(state)

    async def current(self, name: str) -> Proposal:
        """Return the current proposal with this id or id prefix; raises as `get` does."""
        with contextlib.suppress(NotNow):
            await self.withdraw()
        return await self.get(name)

    async def withdraw(self, shared: SharedMemories | None = None) -> None:
        """Withdraw proposals that rest on memories that were deleted, superseded, or hidden from someone.

        Raises NotNow while the index does not have all notes.
        """
        if not (pending := await self.rows.all(ProposalState.OPEN)):
            return
        shared = shared or await self.load_shared()
        outdated = [proposal.id for proposal in pending if not is_still_supported(proposal.change, shared)]
        await self.rows.withdraw(outdated, WITHDRAWN, self._now())

    async def get(self, name: str) -> Proposal:
        """Return the proposal with this id or id prefix; raises NotFound, InvalidRequest if it matches several."""
        prefix = name.strip().lower()
        matches = await self.rows.beginning(prefix) if len(prefix) >= _MIN_PREFIX else []
        if not matches:
            raise NotFound(f"there is no proposal {name!r}", hint="memoryctl proposals list names all that are open")
        if len(matches) > 1:
            raise InvalidRequest(f"{name!r} is the beginning of several ids", hint="give more of it")
        return matches[0]

    async def accept(self, name: str) -> DecidedProposal:
        """Write the lines of a proposal if their place in the file is clear; else mark it as outdated.

        Raises InvalidRequest then, and if it was decided before; NotFound, NotNow while the index does not have all
        notes, and what `Journal.change` does.
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
            # the file first: after a kill in between, the next run finds the lines written, and marks it accepted
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
        return DecidedProposal(await self.get(proposal.id), written.id, written.note)

    async def reject(self, name: str) -> DecidedProposal:
        """Remove a proposal from the queue for good; raises as `accept` does."""
        self.journal.check_writable()
        proposal = await self._open(name)
        await self.rows.move(proposal.id, ProposalState.OPEN, ProposalState.REJECTED, self._now())
        return DecidedProposal(await self.get(proposal.id))

    async def reopen(self, accepted: str) -> None:
        """Put an accepted proposal into the queue again, because its change was undone."""
        await self.rows.move(ProposalId(accepted), ProposalState.ACCEPTED, ProposalState.OPEN, self._now())

    async def pages_wanting_markers(self, run: str) -> frozenset[str]:
        """Return the pages for which an earlier run proposed markers that are not accepted."""
        states = (ProposalState.OPEN, ProposalState.REJECTED)
        return frozenset(
            proposal.change.path
            for proposal in await self.rows.all()
            if proposal.change.kind is ProposalKind.MARKERS and proposal.state in states and proposal.run != run
        )

    async def refresh(self, shared: SharedMemories) -> None:
        """Check whether open proposals still rest on current memories, still apply, or were written already."""
        await self.withdraw(shared)
        for proposal in await self.rows.all(ProposalState.OPEN):
            state = await self._state(proposal.change)
            if state is not ProposalState.OPEN:
                await self.rows.move(proposal.id, ProposalState.OPEN, state, self._now())

    async def _carry(self, accepted: Proposal, before: str, after: str) -> None:
        """Update other proposals of the same file to its new text, so that they still apply."""
        for other in await self.rows.all(ProposalState.OPEN):
            if other.change.path == accepted.change.path:
                diff = rebase_diff(before, after, other.change.diff)
                if diff and diff != other.change.diff:
                    await self.rows.refresh(other.id, diff)

    async def _open(self, name: str) -> Proposal:
        proposal = await self.get(name)
        if proposal.state is not ProposalState.OPEN:
            raise InvalidRequest(f"the proposal {proposal.id} is {proposal.state}", hint="only open ones are decided")
        return proposal

    async def _state(self, change: ProposedChange) -> ProposalState:
        try:
            text = (await self.journal.read(change.path)).text
            made = await asyncio.to_thread(_apply, text, change.diff)
        except (_OutdatedError, InvalidRequest):
            # the text changed, or the note may no longer be written because its owner made it private
            return ProposalState.OUTDATED
        except MemorydError:
            # it cannot be read now
            return ProposalState.OPEN
        return ProposalState.ACCEPTED if made is None else ProposalState.OPEN

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)


def _apply(text: str | None, diff: str) -> str | None:
    """Return a text with a diff applied, None if it is applied already; raises _OutdatedError."""
    if text is not None and is_applied(text, diff):
        return None
    made = apply_diff(text or "", diff)
    if made is None:
        raise _OutdatedError
    return made


MAX_LOGS = 400
"""Maximum number of logs per run in which lines are inferred, the newest first."""
COMMON_WORD = 0.02
"""Share of ordinary texts that contain a word; a more common word does not describe what recurred."""

Notes = Mapping[str, str]
"""The texts of notes by path, without those that could not be read."""


class ProposalGround(Struct, frozen=True):
    """The basis of proposals: all memories, those visible to everyone, and the first day to use."""

    book: Book
    shared: SharedMemories
    since: date
    doubted: tuple[DoubtedOpinion, ...]
    recurred: tuple[Recurrence, ...]
    logs: tuple[RelativePath, ...]
    """Logs since the first day that state no memory."""

    @property
    def paths(self) -> frozenset[str]:
        """The notes that must be read."""
        memories = self.book.memories
        doubted = (source_of(memories[item.evidence], item.day).path for item in self.doubted)
        recurred = (item.memories[-1].sources[-1].path for item in self.recurred)
        return frozenset((*doubted, *recurred, *self.logs))


def ground_of(
    book: Book, shared: SharedMemories, since: date, doubted: Iterable[DoubtedOpinion], known: Collection[str]
) -> ProposalGround:
    """Return what may be proposed; `known` are all documents of the workspace."""
    # memories of a single agent are not proposed: another person may review the proposals
    visible = [item for item in doubted if item.evidence in shared.memories and item.opinion in shared.memories]
    stating = {source.path for memory in book.memories.values() for source in memory.sources}
    logs = [path for path in known if path not in stating and _is_of_window(path, since)]
    recurred = recurrences(shared.memories.values(), since, lambda word: commonness(word) > COMMON_WORD)
    return ProposalGround(
        book=book,
        shared=shared,
        since=since,
        doubted=tuple(visible),
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
    """Return the proposals, those for the core file first, and how many facts the core file has no room for."""
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
    for item in ground.doubted:
        opinion, evidence = ground.book.memories[item.opinion], ground.book.memories[item.evidence]
        if (text := notes.get(source_of(evidence, item.day).path)) is not None:
            yield contradiction_change(opinion, evidence, item.day, text)


def _observations(ground: ProposalGround, notes: Notes) -> Iterator[ProposedChange | None]:
    for recurrence in ground.recurred:
        text = notes.get(recurrence.memories[-1].sources[-1].path)
        if text is not None and recurrence.line.id not in ground.book.memories:
            yield observation_change(recurrence, text)


def _retain_changes(ground: ProposalGround, notes: Notes, forgotten: Tombstones) -> Iterator[ProposedChange | None]:
    texts = {path: notes[path] for path in ground.logs if path in notes and not has_retain(notes[path])}
    names = _EntityNames(ground.book, recurring_names(texts.values()))
    for path, text in sorted(texts.items()):
        lines = inferred_lines(
            text, names.of, ground.book.memories, lambda line: forgotten.contains(line.id, line.text)
        )
        yield retain_change(path, lines, text)


class _EntityNames:
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
        names = [self._spelled.get(slug, str(slug)) for slug in slugs]
        words = [word.strip(".,;:!?()“”\"'’") for word in sentence.split()]
        known = {slug_of(name) for name in names}
        names += [word for word in words if word in self._recurring and slug_of(word) not in known]
        return tuple(dict.fromkeys(names))


def _is_of_window(path: str, since: date) -> bool:
    day = date_in_name(path) if is_daily_log(path) else None
    return day is not None and day >= since
