"""File events for the watcher: the seam, and its two sources.

On Linux that is inotify, read in the event loop, and at any moment on demand. The kernel queues an event within the
call that makes the change (inotify(7)), so reading the queue gives all changes made until then. One queue lives as long
as the source: folders come and go, and no event is lost meanwhile.

Elsewhere it is watchfiles, which polls, and is late by that. It hides the overflow of its queue: scans on a timer cover
that.
"""

import asyncio
import contextlib
import errno
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from pathlib import Path
from typing import Protocol

from inotify_simple import Event, INotify, flags
from msgspec import Struct


class FileEvents(Struct, frozen=True):
    """What happened, by absolute paths; a name that is not UTF-8 has surrogates in it, as Python gives it."""

    files: Set[str] = frozenset()
    """Entries that changed, came or went and are no folders."""
    folders: Set[str] = frozenset()
    """Folders that changed, came or went, watched ones or what lies in them: of what is below, nothing is said."""
    unclosed: Set[str] = frozenset()
    """Those of the files that were written to and not closed since: perhaps half saved."""
    closed: Set[str] = frozenset()
    """Those that nobody writes to any more."""
    is_lossy: bool = False
    """Whether events were lost, so that anything may have changed."""


ANYTHING = FileEvents(is_lossy=True)


class EventSource(Protocol):
    """Tells what happens in folders, none of them recursively."""

    is_exact: bool
    """Whether `drain` tells of all that happened before it is called."""

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: Callable[[Collection[str]], None],
        on_events: Callable[[FileEvents], None],
    ) -> None:
        """Tell of events in these folders until the event is set; one that is gone is left out.

        `on_armed` is called once, with those folders of whose past nothing was told. Called again, it goes on with
        other folders, and with an exact source no event is lost in between. Raises OSError, whose text says why, when
        events cannot be had.
        """
        ...

    def drain(self) -> None:
        """Tell now what happened until now, if that can be known."""
        ...

    def close(self) -> None:
        """Watch nothing any more."""
        ...


def event_source() -> EventSource:
    """Return the source of this system."""
    return InotifyEvents() if sys.platform == "linux" else WatchfilesEvents()


MASK = (
    flags.ATTRIB
    | flags.MODIFY
    | flags.CLOSE_WRITE
    | flags.MOVED_FROM
    | flags.MOVED_TO
    | flags.CREATE
    | flags.DELETE
    | flags.DELETE_SELF
    | flags.MOVE_SELF
    | flags.ONLYDIR
)
"""Nothing that reading sets off: our own looks are no events."""
CLOSED = flags.CLOSE_WRITE | flags.MOVED_FROM | flags.MOVED_TO | flags.DELETE
"""What ends the writing of a name."""
GONE = (errno.ENOENT, errno.ENOTDIR)
LIMITS = {
    errno.ENOSPC: "no watches are left (fs.inotify.max_user_watches)",
    errno.EMFILE: "no event queue is left (fs.inotify.max_user_instances), or no file descriptor",
}

Watches = Mapping[int, tuple[str, ...]]
"""The paths of each watch: a folder that is mounted in two places has one watch."""


class InotifyEvents:
    """Reads the queue `step_seconds` after the last time at the earliest, unless somebody drains it."""

    is_exact = True

    def __init__(self, *, step_seconds: float = 0.05) -> None:
        self._step_seconds = step_seconds
        self._inotify: INotify | None = None
        self._watches: Watches = {}
        self._on_events: Callable[[FileEvents], None] = lambda _events: None

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: Callable[[Collection[str]], None],
        on_events: Callable[[FileEvents], None],
    ) -> None:
        """Tell of events in these folders, as `EventSource` says."""
        self._on_events = on_events
        try:
            await self._arm(folders, on_armed)
            await self._read_until(until)
        except OSError as exc:
            # the watches that are there are of no use beside those that are missing
            self.close()
            raise OSError(exc.errno, LIMITS.get(exc.errno or 0) or os.strerror(exc.errno or 0)) from exc

    def drain(self) -> None:
        """Tell what happened until now. Does not block; some 2 µs if that is nothing."""
        # read by the loop alone, so that nobody takes events from here that are told later
        if self._inotify is not None and (events := self._inotify.read(timeout=0)):
            self._on_events(read_events(events, self._watches))

    def close(self) -> None:
        """Close the queue, and with it all watches."""
        if self._inotify is not None:
            self._inotify.close()
        self._inotify, self._watches = None, {}

    async def _arm(self, folders: Collection[str], on_armed: Callable[[Collection[str]], None]) -> None:
        queue: INotify = self._inotify
        if queue is None:
            queue = self._inotify = await asyncio.to_thread(lambda: INotify(nonblocking=True))
        before = self._watches
        # While the thread adds watches, somebody may drain: an event of a watch that is not in the table yet is
        # dropped, and lost is nothing, for its folder is among those of whose past nothing was told.
        after = await asyncio.to_thread(_watched, queue, folders)
        self._watches = after
        for watch in before.keys() - after.keys():
            # the kernel may have ended it, with its folder
            with contextlib.suppress(OSError):
                queue.rm_watch(watch)
        known = {(watch, path) for watch, paths in before.items() for path in paths}
        on_armed({path for watch, paths in after.items() for path in paths if (watch, path) not in known})

    async def _read_until(self, until: asyncio.Event) -> None:
        """Read whenever there is something, with a pause after it: a storm of events costs 20 readings a second."""
        loop, queue = asyncio.get_running_loop(), self._inotify
        if queue is None:
            return
        descriptor, failures = queue.fileno(), list[OSError]()
        again: asyncio.TimerHandle | None = None

        def on_readable() -> None:
            nonlocal again
            loop.remove_reader(descriptor)
            again = loop.call_later(self._step_seconds, loop.add_reader, descriptor, on_readable)
            try:
                self.drain()
            except OSError as exc:
                failures.append(exc)
                until.set()

        loop.add_reader(descriptor, on_readable)
        try:
            await until.wait()
        finally:
            if again is not None:
                again.cancel()
            loop.remove_reader(descriptor)
        if failures:
            raise failures[0]


def _watched(queue: INotify, folders: Collection[str]) -> Watches:
    """Watch these folders, those that are watched already too; blocks for some microseconds a folder."""
    watches: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
    for folder in folders:
        try:
            watches[queue.add_watch(folder, MASK)] += (folder,)
        except OSError as exc:
            # it went: the folder that it was in tells of that, and of the one that may come
            if exc.errno not in GONE:
                raise
    return dict(watches)


def read_events(events: Iterable[Event], watches: Watches) -> FileEvents:
    """Return what these events say, of watches that are known; raises nothing."""
    files, folders, unclosed, closed = set[str](), set[str](), set[str](), set[str]()
    for watch, mask, _, name in events:
        if mask & flags.Q_OVERFLOW:
            return ANYTHING
        for folder in watches.get(watch, ()):
            path = os.path.join(folder, name) if name else folder  # noqa: PTH118  (names need not be UTF-8)
            if mask & flags.ISDIR or not name:
                # without a name it is the watched folder itself, as when its watch ends with it
                folders.add(path)
                continue
            files.add(path)
            if mask & flags.MODIFY:
                unclosed.add(path)
            elif mask & CLOSED:
                unclosed.discard(path)
                closed.add(path)
    return FileEvents(files, folders, unclosed, closed - unclosed)


class WatchfilesEvents:
    """Hands on what was told in `step_seconds`, and up to four times as long while there is more."""

    is_exact = False

    def __init__(self, *, step_seconds: float = 0.05) -> None:
        self._step_ms = int(step_seconds * 1000)

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: Callable[[Collection[str]], None],
        on_events: Callable[[FileEvents], None],
    ) -> None:
        """Tell of events in these folders, as `EventSource` says."""
        # here: with what it imports it takes as long as numpy, and Linux has no use for it
        import watchfiles

        try:
            # one that goes between this look and the arming fails the arming, which is tried again
            present = await asyncio.to_thread(lambda: [folder for folder in folders if Path(folder).is_dir()])
            events = watchfiles.awatch(
                *present,
                watch_filter=None,
                recursive=False,
                step=self._step_ms,
                debounce=4 * self._step_ms,
                rust_timeout=1_000,
                # without it nothing tells that all is armed before the first event comes
                yield_on_timeout=True,
                stop_event=until,
            )
            is_armed = False
            async with contextlib.aclosing(events):
                async for changes in events:
                    if not is_armed:
                        is_armed = True
                        # it is a new watch for each of them
                        on_armed(folders)
                    # a path that came or went may be a folder, and one that changed may be a watched one
                    paths = {path for _, path in changes}
                    on_events(FileEvents(files=paths - {*folders}, folders=paths & {*folders}))
        except* (OSError, RuntimeError) as failures:
            # watchfiles wraps its own in a group, as when a name that is not UTF-8 is touched
            failure: BaseException = failures
            while isinstance(failure, BaseExceptionGroup):
                failure = failure.exceptions[0]
            reason = str(failure)
        else:
            return
        raise OSError(reason)

    def drain(self) -> None:
        """Do nothing: what happened a moment ago is not known yet."""

    def close(self) -> None:
        """Do nothing: the watches end with `follow`."""
