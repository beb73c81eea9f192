"""Decides when the indexer scans: hints, demands, and the changes reported by file events since the last scan."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set

from msgspec import Struct

from memoryd.domain.clock import Debounce
from memoryd.domain.documents import RelativePath, is_hidden, is_utf8_name
from memoryd.files.ignore import IGNORE_FILE
from memoryd.files.scanner import Scan, ScanRoot, ScanRules
from memoryd.index.file_events import FileEvents
from memoryd.retry import wait_within

NEVER = float("inf")


class Demand(Struct, frozen=True):
    """How the next scan is to be done; `is_forced`: read and cut every file again."""

    is_forced: bool
    trusts_times: bool
    """False if the clock was set back: equal times then do not prove a file unchanged."""
    is_asked: bool = False
    """Whether a query waits for the small changed notes."""
    is_partial: bool = False
    """Whether it suffices to scan the files named by events."""


class ScanTriggers:
    """Hints, which wait for the end of a debounce, and demands, which do not wait and have ticket numbers.

    A query is a demand that is answered earlier: as soon as the first part of the round is done.

    All methods run in one event loop, so nothing runs between two lines here except at an await.
    """

    def __init__(self, debounce: Debounce) -> None:
        self.ticket = 0
        """Ticket of the last demand that the current round answers."""
        self.is_asked = False
        """Whether a query waits for the current round."""
        self.has_failed = False
        """Whether the last round failed."""
        self.unseen = Unseen()
        self.scans: Counter[str] = Counter()
        """Number of scans since the start, by reason."""
        self._scanned_ticket = 0
        """Ticket of the last demand that a scan was made for."""
        self._debounce = debounce
        self._wake = asyncio.Event()
        self._last_ticket = 1
        self._served = 0
        """Ticket of the last demand whose round is complete."""
        self._answered = 0
        """Ticket of the last demand that queries no longer wait for."""
        self._is_forced = False
        self._trusts_times = True
        self._has_query = False
        self._needs_all = True
        self._progress = asyncio.Condition()

    @property
    def next(self) -> Demand:
        """How the next scan is to be done, as of now."""
        is_partial = self._has_query and not self._needs_all and not self.unseen.changes.is_vague
        return Demand(self._is_forced, self._trusts_times, self._has_query, is_partial)

    def hint(self) -> None:
        """Report that something may have changed; a scan follows after the debounce."""
        self._debounce.hint(time.monotonic())
        self._wake.set()

    def take_events(self, events: FileEvents) -> None:
        """Take file events; a scan follows after the debounce, or with the next query."""
        self.unseen.hear(events)
        self.hint()

    def demand(self, *, is_forced: bool = False) -> int:
        """Demand a scan now and return its ticket; a forced scan reads and cuts every file again."""
        self._last_ticket += 1
        self._needs_all = True
        self._is_forced = self._is_forced or is_forced
        self._wake.set()
        return self._last_ticket

    def ask(self, *, is_watched: bool = False) -> int:
        """Demand a scan for a query and return its ticket; all queries before the scan begins share one ticket.

        `is_watched`: events have reported all changes.
        """
        self._needs_all = self._needs_all or not is_watched
        if not self._has_query:
            self._has_query = True
            self._last_ticket += 1
            self._wake.set()
        return self._last_ticket

    def distrust_times(self) -> None:
        """Report that the clock was set back: a scan follows that does not trust the times of files."""
        self._trusts_times = False
        self.demand()

    def wake(self) -> None:
        """Wake the sleeping indexer."""
        self._wake.set()

    def begin(self) -> None:
        """Begin a round. Demands from here on are for the next round, since this one may have scanned already."""
        self.ticket = self._last_ticket
        self.has_failed = False

    def take(self) -> Demand:
        """Return how to scan, and reset the demand.

        Called before the scan: if the clock is set back during it, the next scan must know that.
        """
        demand = self.next
        self.scans[self._why()] += 1
        self._scanned_ticket = self.ticket
        if not demand.is_partial:
            # a scan of some files keeps the hints for a later scan of all files
            self._debounce.clear()
        self._is_forced, self._trusts_times, self._has_query, self._needs_all = False, True, False, False
        self.is_asked = demand.is_asked
        return demand

    def _why(self) -> str:
        """Return the reason of the next scan; of several, the one that demands most."""
        if not self.scans:
            return "start"
        if self._is_forced:
            return "reindex"
        if not self._trusts_times:
            return "clock"
        if self._has_query:
            return "question"
        if self.ticket > self._scanned_ticket:
            return "asked"
        return "timer" if self._debounce.due is None else "event"

    def give_back(self, demand: Demand) -> None:
        """Give the demand of a failed round to the next scan; queries do not wait for it."""
        self.has_failed = True
        self._needs_all = True
        self.unseen.give_back()
        self._is_forced = self._is_forced or demand.is_forced
        self._trusts_times = self._trusts_times and demand.trusts_times

    def is_due(self, ticket: int) -> bool:
        """Return whether there is a demand after this ticket, or a debounce has ended."""
        return self._last_ticket > ticket or (self._debounce.due or NEVER) <= time.monotonic()

    def has_news(self) -> bool:
        """Return whether there is a demand that this round does not answer.

        If a debounce has ended, first demand a scan of the files named by events, so that these are scanned without all
        others; the full scan for the hints follows when the indexer has time.
        """
        is_named = self.unseen.is_waiting and not self.unseen.changes.is_vague
        if is_named and (self._debounce.due or NEVER) <= time.monotonic():
            self.ask(is_watched=True)
        return self._last_ticket > self.ticket

    def clear_hints(self) -> int:
        """Clear the hints, and return the ticket of the last demand."""
        self._debounce.clear()
        return self._last_ticket

    async def serve(self) -> None:
        """Wake the callers of `served` whose demands this round has met."""
        async with self._progress:
            self._served = self.ticket
            self._progress.notify_all()

    async def served(self, ticket: int) -> None:
        """Wait until the demand with this ticket has been met."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._served >= ticket)

    async def answer(self) -> None:
        """Wake the queries: this round has read the files that they wait for."""
        async with self._progress:
            self._answered = self.ticket
            self._progress.notify_all()

    def has_answered(self, ticket: int) -> bool:
        """Return whether the query with this ticket may go on."""
        return self._answered >= ticket

    async def answered(self, ticket: int) -> None:
        """Wait until the query with this ticket may go on."""
        async with self._progress:
            await self._progress.wait_for(lambda: self.has_answered(ticket))

    async def wait(self, until: float, *, unless: Callable[[], bool]) -> None:
        """Sleep until a demand, the end of a debounce, the time `until` (monotonic), or until `unless` returns True."""
        while self._last_ticket <= self.ticket and not unless():
            due = min(until, self._debounce.due or NEVER)
            if due <= time.monotonic():
                return
            await self._sleep_until(due)

    async def wait_for_hints(self) -> None:
        """Sleep until a wake-up, or the end of a debounce."""
        await self._sleep_until(self._debounce.due or NEVER)

    async def wait_for_wake(self) -> None:
        """Sleep until a wake-up."""
        await self._sleep_until(NEVER)

    async def _sleep_until(self, due: float) -> None:
        # the caller has just checked its conditions, and nothing ran since: clearing loses no wake-up
        self._wake.clear()
        await wait_within(self._wake.wait(), None if due == NEVER else max(due - time.monotonic(), 0))


class DiskSnapshot(Struct, frozen=True):
    """The result of a scan, and the roots and rules that it used."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    seen: Scan
    remote: str
    """Why only scans detect all changes; empty if events do."""
    only: Set[RelativePath] | None = None
    """The scanned files; the others are as in the snapshot before. None: all were scanned."""


class Changes(Struct, frozen=True):
    """Possible changes in one workspace."""

    names: Set[RelativePath] = frozenset()
    """Names of documents, existing or not."""
    is_vague: bool = False
    """Whether any other file may have changed, too."""

    def __bool__(self) -> bool:
        return bool(self.names) or self.is_vague

    def __or__(self, newer: "Changes") -> "Changes":
        return Changes(self.names | newer.names, self.is_vague or newer.is_vague)


NOTHING = Changes()
ANY_CHANGE = Changes(is_vague=True)


class Unseen(Struct, eq=False):
    """Collects reported changes until a plan covers them.

    Call `begin` before a scan, `end` after its plan, or `give_back` if there is no plan.
    """

    _reported: Changes = NOTHING
    """Changes reported since the last scan began."""
    _in_scan: Changes = NOTHING
    """Changes that the current scan covers, until its plan."""
    unclosed: Set[RelativePath] = frozenset()
    """Documents still open for writing, as far as events show: they may be half saved."""
    _snapshot: DiskSnapshot | None = None

    @property
    def changes(self) -> Changes:
        """All changes that no plan covers."""
        return self._in_scan | self._reported

    @property
    def is_waiting(self) -> bool:
        """Whether changes were reported since the last scan began."""
        return bool(self._reported)

    def note_snapshot(self, snapshot: DiskSnapshot) -> None:
        """Take the last snapshot, which shows the places of documents."""
        self._snapshot = snapshot

    def hear(self, events: FileEvents) -> None:
        """Take file events; ignore files that cannot be documents."""
        if events.is_lossy or self._snapshot is None:
            # the lost events may include the closing of a file; then it counts as saved once it has settled
            self._reported, self.unclosed = self._reported | ANY_CHANGE, frozenset()
        else:
            self._reported |= _changes(events, self._snapshot)
            closed, unclosed = (_documents(paths, self._snapshot) for paths in (events.closed, events.unclosed))
            self.unclosed = (self.unclosed - closed) | unclosed

    def begin(self) -> None:
        """Begin a scan. Changes reported from here on are for the next one."""
        self._in_scan, self._reported = self.changes, NOTHING

    def end(self) -> None:
        """Record that a plan covers the changes of the current scan."""
        self._in_scan = NOTHING

    def give_back(self) -> None:
        """Record that there is no plan: the next scan must cover the same changes."""
        self._in_scan, self._reported = NOTHING, self.changes


def _changes(events: FileEvents, snapshot: DiskSnapshot) -> Changes:
    is_vague = any(_may_hold_documents(path, snapshot) for path in events.folders)
    is_vague = is_vague or any(_decides_on_documents(path, snapshot) for path in events.files)
    return Changes(_documents(events.files, snapshot), is_vague)


def _documents(paths: Iterable[str], snapshot: DiskSnapshot) -> Set[RelativePath]:
    return {snapshot.rules.name(path) for path in paths if _is_document(path, snapshot)}


def _is_document(path: str, snapshot: DiskSnapshot) -> bool:
    """Return whether a path has the name of a document, and is in a listed folder or itself a root."""
    folder, _, name = path.rpartition(os.sep)
    if is_hidden(name) or not is_utf8_name(name) or not snapshot.rules.may_be_document(name):
        return False
    return folder in snapshot.seen.folders or any(path == str(root.path) for root in snapshot.roots)


def _decides_on_documents(path: str, snapshot: DiskSnapshot) -> bool:
    """Return whether a path other than a document affects which files are documents: rules file, link, glob match."""
    if _is_document(path, snapshot):
        return False
    folder, _, name = path.rpartition(os.sep)
    if name == IGNORE_FILE:
        return True
    if is_hidden(name):
        return False
    is_listed = folder in snapshot.seen.folders
    if is_listed and snapshot.rules.follow_symlinks and not snapshot.rules.may_be_document(name):
        return True
    return not is_listed and _may_be_root(path, snapshot)


def _may_hold_documents(path: str, snapshot: DiskSnapshot) -> bool:
    """Return whether a folder is listed, may be listed from now on, or contains a root."""
    if path in snapshot.seen.folders or path in snapshot.seen.above:
        return True
    folder, _, name = path.rpartition(os.sep)
    return (folder in snapshot.seen.folders and not is_hidden(name)) or _may_be_root(path, snapshot)


def _may_be_root(path: str, snapshot: DiskSnapshot) -> bool:
    """Return whether a path is a root, contains one, or may match the glob of one."""
    if any(root.pattern and path.startswith(f"{root.parent}{os.sep}") for root in snapshot.roots):
        return True
    return any(f"{root.path}{os.sep}".startswith(f"{path}{os.sep}") for root in snapshot.roots)
