"""When the indexer scans: hints and demands, and the changes that file events reported since the last scan."""

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
from memoryd.retry import happens

NEVER = float("inf")


class Demand(Struct, frozen=True):
    """How the next look at the disk is to be taken: `is_forced` reads and cuts every file anew."""

    is_forced: bool
    trusts_times: bool
    """False when the clock was set back: no file is believed to be unchanged by its times."""
    is_asked: bool = False
    """Whether a question waits for the small notes that changed."""
    is_partial: bool = False
    """Whether it is enough to look at the files that events named."""


class ScanTriggers:
    """Hints, which wait for the end of a debounce, and demands, each with a ticket, which do not wait.

    A question demands, too. It is answered earlier: as soon as the first part of the round is done.

    All of it happens in one event loop, so nothing runs between two lines here unless one of them awaits.
    """

    def __init__(self, debounce: Debounce) -> None:
        self.ticket = 0
        """The last demand that the present round answers."""
        self.is_asked = False
        """Whether a question waits for the present round."""
        self.has_failed = False
        """Whether the last round could not do what was demanded."""
        self.unseen = Unseen()
        self.looks: Counter[str] = Counter()
        """How often the disk was looked at since the start, by what for."""
        self._looked_for = 0
        """The last demand that a look was taken for."""
        self._debounce = debounce
        self._wake = asyncio.Event()
        self._asked = 1
        self._served = 0
        self._answered = 0
        self._is_forced = False
        self._trusts_times = True
        self._has_question = False
        self._needs_all = True
        self._progress = asyncio.Condition()

    @property
    def next(self) -> Demand:
        """How the next look is to be taken, as of now."""
        is_partial = self._has_question and not self._needs_all and not self.unseen.changes.is_vague
        return Demand(self._is_forced, self._trusts_times, self._has_question, is_partial)

    def hint(self) -> None:
        """Note that something may have changed; a scan follows after the debounce."""
        self._debounce.hint(time.monotonic())
        self._wake.set()

    def hear(self, events: FileEvents) -> None:
        """Note what file events tell; a scan follows after the debounce, or with the next question."""
        self.unseen.hear(events)
        self.hint()

    def demand(self, *, is_forced: bool = False) -> int:
        """Ask for a look now and return its ticket; a forced one reads and cuts every file anew."""
        self._asked += 1
        self._needs_all = True
        self._is_forced = self._is_forced or is_forced
        self._wake.set()
        return self._asked

    def ask(self, *, is_watched: bool = False) -> int:
        """Ask for a look for a question and return its ticket: all who ask before it begins share one.

        `is_watched` says that all changes were told by events.
        """
        self._needs_all = self._needs_all or not is_watched
        if not self._has_question:
            self._has_question = True
            self._asked += 1
            self._wake.set()
        return self._asked

    def distrust_times(self) -> None:
        """Say that the clock was set back: a look follows that believes no file to be unchanged by its times."""
        self._trusts_times = False
        self.demand()

    def wake(self) -> None:
        """Have whoever sleeps look around."""
        self._wake.set()

    def begin(self) -> None:
        """Begin a round. What is asked from here on is for the next one: this one may have looked already."""
        self.ticket = self._asked
        self.has_failed = False

    def take(self) -> Demand:
        """Return how to look, once.

        It is taken before the look: of a clock that is set back while the disk is listed, the next look is to know.
        """
        taken = self.next
        self.looks[self._why()] += 1
        self._looked_for = self.ticket
        if not taken.is_partial:
            # a look at some files leaves the hints to one at all of them, for which nobody waits
            self._debounce.clear()
        self._is_forced, self._trusts_times, self._has_question, self._needs_all = False, True, False, False
        self.is_asked = taken.is_asked
        return taken

    def _why(self) -> str:
        """Say what the next look is for: of several reasons the one that asks for most."""
        if not self.looks:
            return "start"
        if self._is_forced:
            return "reindex"
        if not self._trusts_times:
            return "clock"
        if self._has_question:
            return "question"
        if self.ticket > self._looked_for:
            return "asked"
        return "timer" if self._debounce.due is None else "event"

    def give_back(self, taken: Demand) -> None:
        """Let the next look be as a demand asked that could not be met; a question does not wait for it."""
        self.has_failed = True
        self._needs_all = True
        self.unseen.give_back()
        self._is_forced = self._is_forced or taken.is_forced
        self._trusts_times = self._trusts_times and taken.trusts_times

    def is_due(self, ticket: int) -> bool:
        """Tell whether somebody asked after this ticket, or a debounce has ended."""
        return self._asked > ticket or (self._debounce.due or NEVER) <= time.monotonic()

    def has_news(self) -> bool:
        """Tell whether somebody asks, beyond what this round answers.

        When a debounce has ended, the files that events named are asked for, too, so that they are looked at without
        all others; these follow when the indexer has time for the hints themselves.
        """
        is_named = self.unseen.is_waiting and not self.unseen.changes.is_vague
        if is_named and (self._debounce.due or NEVER) <= time.monotonic():
            self.ask(is_watched=True)
        return self._asked > self.ticket

    def turn_to_newcomers(self) -> int:
        """Return the ticket of the last demand, and take the hints for heard."""
        self._debounce.clear()
        return self._asked

    async def serve(self) -> None:
        """Tell those whose demands the round has answered."""
        async with self._progress:
            self._served = self.ticket
            self._progress.notify_all()

    async def served(self, ticket: int) -> None:
        """Wait until a demand has been answered."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._served >= ticket)

    async def answer(self) -> None:
        """Tell the questions that this round has done what they wait for."""
        async with self._progress:
            self._answered = self.ticket
            self._progress.notify_all()

    def has_answered(self, ticket: int) -> bool:
        """Tell whether a question may look."""
        return self._answered >= ticket

    async def answered(self, ticket: int) -> None:
        """Wait until a question may look."""
        async with self._progress:
            await self._progress.wait_for(lambda: self.has_answered(ticket))

    async def wait(self, until: float, *, unless: Callable[[], bool]) -> None:
        """Sleep until a demand, the end of a debounce, that moment (monotonic), or until `unless` holds."""
        while self._asked <= self.ticket and not unless():
            due = min(until, self._debounce.due or NEVER)
            if due <= time.monotonic():
                return
            await self._sleep_until(due)

    async def wait_for_hints(self) -> None:
        """Sleep until something happens, or a debounce ends."""
        await self._sleep_until(self._debounce.due or NEVER)

    async def wait_for_wake(self) -> None:
        """Sleep until something happens."""
        await self._sleep_until(NEVER)

    async def _sleep_until(self, due: float) -> None:
        # whoever calls has just looked at all there is, and nothing ran since: no wake-up is lost by clearing
        self._wake.clear()
        await happens(self._wake.wait(), None if due == NEVER else max(due - time.monotonic(), 0))


class DiskSnapshot(Struct, frozen=True):
    """What was on disk, and by which rules it was looked at."""

    roots: Sequence[ScanRoot]
    rules: ScanRules
    seen: Scan
    remote: str
    """Why scans alone tell what changes there; empty if events do."""
    only: Set[RelativePath] | None = None
    """Which files were looked at; the others are as the look before found them. None: all were."""


class Changes(Struct, frozen=True):
    """What may have changed in one workspace."""

    names: Set[RelativePath] = frozenset()
    """Documents, or what would be one."""
    is_vague: bool = False
    """Whether anything else may have changed, too."""

    def __bool__(self) -> bool:
        return bool(self.names) or self.is_vague

    def __or__(self, newer: "Changes") -> "Changes":
        return Changes(self.names | newer.names, self.is_vague or newer.is_vague)


NOTHING = Changes()
ANY_CHANGE = Changes(is_vague=True)


class Unseen:
    """Collects changes until a look is taken; they count until a plan has taken them over.

    `begin` before the look, `end` after its plan, or `give_back` if there is none.
    """

    def __init__(self) -> None:
        self._told = NOTHING
        self._looked_at = NOTHING
        self._unclosed: Set[RelativePath] = frozenset()
        self._look: DiskSnapshot | None = None

    @property
    def changes(self) -> Changes:
        """All that no plan knows of."""
        return self._looked_at | self._told

    @property
    def is_waiting(self) -> bool:
        """Whether something was told that no look was begun for."""
        return bool(self._told)

    @property
    def unclosed(self) -> Set[RelativePath]:
        """Documents that somebody writes to still, as far as is known: they may be half saved."""
        return self._unclosed

    def note_snapshot(self, look: DiskSnapshot) -> None:
        """Take where documents are by the last look."""
        self._look = look

    def hear(self, events: FileEvents) -> None:
        """Take what events tell; what can be no document counts for nothing."""
        if events.is_lossy or self._look is None:
            # that a file was closed may be among what was lost; then it counts as saved when it lay still
            self._told, self._unclosed = self._told | ANY_CHANGE, frozenset()
        else:
            self._told |= _changes(events, self._look)
            self._unclosed = (self._unclosed - _documents(events.closed, self._look)) | _documents(
                events.unclosed, self._look
            )

    def begin(self) -> Changes:
        """Begin a look; return what it is to answer. What is told from here on is for the next one."""
        self._looked_at, self._told = self._looked_at | self._told, NOTHING
        return self._looked_at

    def end(self) -> None:
        """Note that a plan knows of all that was looked at."""
        self._looked_at = NOTHING

    def give_back(self) -> None:
        """Note that there is no plan: the next look is to answer the same."""
        self._looked_at, self._told = NOTHING, self._looked_at | self._told


def _changes(events: FileEvents, look: DiskSnapshot) -> Changes:
    is_vague = any(_may_hold_documents(path, look) for path in events.folders)
    is_vague = is_vague or any(_decides_on_documents(path, look) for path in events.files)
    return Changes(_documents(events.files, look), is_vague)


def _documents(paths: Iterable[str], look: DiskSnapshot) -> Set[RelativePath]:
    return {look.rules.name(path) for path in paths if _is_document(path, look)}


def _is_document(path: str, look: DiskSnapshot) -> bool:
    """Tell whether a file is or was one by its name, in a folder that is listed or as a root itself."""
    folder, _, name = path.rpartition(os.sep)
    if is_hidden(name) or not is_utf8_name(name) or not look.rules.may_be_document(name):
        return False
    return folder in look.seen.folders or any(path == str(root.path) for root in look.roots)


def _decides_on_documents(path: str, look: DiskSnapshot) -> bool:
    """Tell whether something that is no document decides what is one: the rules of privacy, a link, a new match."""
    if _is_document(path, look):
        return False
    folder, _, name = path.rpartition(os.sep)
    if name == IGNORE_FILE:
        return True
    if is_hidden(name):
        return False
    is_listed = folder in look.seen.folders
    if is_listed and look.rules.follow_symlinks and not look.rules.may_be_document(name):
        return True
    return not is_listed and _may_be_root(path, look)


def _may_hold_documents(path: str, look: DiskSnapshot) -> bool:
    """Tell whether a folder is listed or may be from now on, or is one that a root stands in."""
    if path in look.seen.folders or path in look.seen.above:
        return True
    folder, _, name = path.rpartition(os.sep)
    return (folder in look.seen.folders and not is_hidden(name)) or _may_be_root(path, look)


def _may_be_root(path: str, look: DiskSnapshot) -> bool:
    """Tell whether something is a root, holds one, or may match the glob of one."""
    if any(root.pattern and path.startswith(f"{root.stands_in}{os.sep}") for root in look.roots):
        return True
    return any(f"{root.path}{os.sep}".startswith(f"{path}{os.sep}") for root in look.roots)
