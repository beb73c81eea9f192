"""File events for the watcher: the interface, and its two implementations.

On Linux the source is inotify, read in the event loop, and on demand at any time. The kernel queues an event within the
call that makes the change (inotify(7)), so reading the queue returns all changes made so far. A single queue lives as
long as the source, so no event is lost while the watched folders change.

Elsewhere the source is watchfiles, which polls, so its events are late. It does not report an overflow of its queue;
timed scans make up for that.
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
    """Changes, as absolute paths; a name that is not UTF-8 contains surrogates, as usual in Python."""

    files: Set[str] = frozenset()
    """Entries other than folders that were changed, created, moved or deleted."""
    folders: Set[str] = frozenset()
    """The same for watched folders and folders in them; their contents may have changed in any way."""
    unclosed: Set[str] = frozenset()
    """The files written to and not closed since; perhaps half saved."""
    closed: Set[str] = frozenset()
    """The files whose writing has ended."""
    is_lossy: bool = False
    """Whether events were lost, so that anything may have changed."""


ANYTHING = FileEvents(is_lossy=True)
OnArmed = Callable[[Collection[str]], None]
OnEvents = Callable[[FileEvents], None]


class EventSource(Protocol):
    """Reports changes in folders, not recursively."""

    is_exact: bool
    """Whether `drain` reports all changes made before the call."""

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: OnArmed,
        on_events: OnEvents,
    ) -> None:
        """Report events in these folders until `until` is set; missing folders are skipped.

        `on_armed` is called once, with the folders that were not watched before. May be called again with other
        folders; an exact source loses no event in between. Raises OSError with the reason if there can be no events.
        """
        ...

    def drain(self) -> None:
        """Report the changes made until now, if the source is exact."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...


def event_source() -> EventSource:
    """Return the event source for this operating system."""
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
"""Excludes events caused by reading, so that our own scans and reads cause none."""
CLOSED = flags.CLOSE_WRITE | flags.MOVED_FROM | flags.MOVED_TO | flags.DELETE
"""Events that end the writing of a file."""
_MISSING = (errno.ENOENT, errno.ENOTDIR)
LIMITS = {
    errno.ENOSPC: "no watches are left (fs.inotify.max_user_watches)",
    errno.EMFILE: "no event queue is left (fs.inotify.max_user_instances), or no file descriptor",
}

Watches = Mapping[int, tuple[str, ...]]
"""The paths of each watch; a folder that is mounted in two places has a single watch."""


class InotifyEvents:
    """An event source that reads the inotify queue at most once every `step_seconds`, and whenever it is drained."""

    is_exact = True

    def __init__(self, *, step_seconds: float = 0.05) -> None:
        self._step_seconds = step_seconds
        self._inotify: INotify | None = None
        self._watches: Watches = {}
        self._on_events: OnEvents = lambda _events: None

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: OnArmed,
        on_events: OnEvents,
    ) -> None:
        """Report events in these folders, see `EventSource`."""
        self._on_events = on_events
        try:
            await self._arm(folders, on_armed)
            await self._read_until(until)
        except OSError as exc:
            # a part of the watches is of no use
            self.close()
            raise OSError(exc.errno, LIMITS.get(exc.errno or 0) or os.strerror(exc.errno or 0)) from exc

    def drain(self) -> None:
        """Report the changes made until now. Does not block; takes some 2 µs if there are none."""
        # read in the event loop only, so that all events are reported in order
        if self._inotify is not None and (events := self._inotify.read(timeout=0)):
            self._on_events(read_events(events, self._watches))

    def close(self) -> None:
        """Close the queue, and with it all watches."""
        if self._inotify is not None:
            self._inotify.close()
        self._inotify, self._watches = None, {}

    async def _arm(self, folders: Collection[str], on_armed: OnArmed) -> None:
        queue: INotify = self._inotify
        if queue is None:
            queue = self._inotify = await asyncio.to_thread(lambda: INotify(nonblocking=True))
        before = self._watches
        # `drain` may be called while the thread adds watches. It drops events of watches that are not in the table yet;
        # that loses nothing, since `on_armed` names their folders as newly watched.
        after = await asyncio.to_thread(_watched, queue, folders)
        self._watches = after
        for watch in before.keys() - after.keys():
            # the kernel may have removed the watch with its folder
            with contextlib.suppress(OSError):
                queue.rm_watch(watch)
        known = {(watch, path) for watch, paths in before.items() for path in paths}
        on_armed({path for watch, paths in after.items() for path in paths if (watch, path) not in known})

    async def _read_until(self, until: asyncio.Event) -> None:
        """Read whenever there are events, with a pause after each read: a storm of events costs 20 reads a second."""
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
    """Add watches for these folders, also for those watched already; blocks for some microseconds a folder."""
    watches: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
    for folder in folders:
        try:
            watches[queue.add_watch(folder, MASK)] += (folder,)
        except OSError as exc:
            # it is missing: an event of its parent reports that, and its return
            if exc.errno not in _MISSING:
                raise
    return dict(watches)


def read_events(events: Iterable[Event], watches: Watches) -> FileEvents:
    """Return the changes in these inotify events, ignoring unknown watches; raises nothing."""
    files, folders, unclosed, closed = set[str](), set[str](), set[str](), set[str]()
    for watch, mask, _, name in events:
        if mask & flags.Q_OVERFLOW:
            return ANYTHING
        for folder in watches.get(watch, ()):
            path = os.path.join(folder, name) if name else folder  # noqa: PTH118  (names need not be UTF-8)
            if mask & flags.ISDIR or not name:
                # an event without a name is about the watched folder itself, as when it is deleted
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
    """An event source over watchfiles; collects events for `step_seconds`, or up to four times that while more come."""

    is_exact = False

    def __init__(self, *, step_seconds: float = 0.05) -> None:
        self._step_ms = int(step_seconds * 1000)

    async def follow(
        self,
        folders: Collection[str],
        *,
        until: asyncio.Event,
        on_armed: OnArmed,
        on_events: OnEvents,
    ) -> None:
        """Report events in these folders, see `EventSource`."""
        # imported here: it takes as long as numpy with its imports, and is not used on Linux
        import watchfiles

        try:
            # a folder deleted between this check and the arming makes the arming fail; the caller tries again
            present = await asyncio.to_thread(lambda: [folder for folder in folders if Path(folder).is_dir()])
            events = watchfiles.awatch(
                *present,
                watch_filter=None,
                recursive=False,
                step=self._step_ms,
                debounce=4 * self._step_ms,
                rust_timeout=1_000,
                # without it there would be no sign that watching has begun until the first event
                yield_on_timeout=True,
                stop_event=until,
            )
            is_armed = False
            async with contextlib.aclosing(events):
                async for changes in events:
                    if not is_armed:
                        is_armed = True
                        # all watches are new
                        on_armed(folders)
                    # a created or deleted path may be a folder, and a changed path a watched folder
                    paths = {path for _, path in changes}
                    on_events(FileEvents(files=paths - {*folders}, folders=paths & {*folders}))
        except* (OSError, RuntimeError) as failures:
            # watchfiles wraps its own errors in a group, for example when a name that is not UTF-8 is touched
            failure: BaseException = failures
            while isinstance(failure, BaseExceptionGroup):
                failure = failure.exceptions[0]
            reason = str(failure)
        else:
            return
        raise OSError(reason)

    def drain(self) -> None:
        """Do nothing: the latest changes are not known yet."""

    def close(self) -> None:
        """Do nothing: the watches end with `follow`."""
