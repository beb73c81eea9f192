"""The watcher: one source of file events for all workspaces, used only for speed; scans ensure correctness.

It watches exactly the folders that the last scans listed, none recursively, so that no symlink or foreign tree
adds watches. A new folder causes an event in its parent, and the scan after that adds it. A folder that was replaced is
watched again after that scan: its inode is different, or its removal and return were events. A cookie file in a folder
of our own is written from time to time to check that events still arrive.
"""

import asyncio
import time
from collections.abc import Collection, Mapping
from pathlib import Path

import structlog

from memoryd.domain.clock import Pulse
from memoryd.files.scanner import FolderId
from memoryd.index.file_events import ANYTHING, EventSource, FileEvents, OnEvents, event_source
from memoryd.retry import wait_within

log = structlog.get_logger(__name__)

MAX_FOLDERS = 8_000
COOKIE = "cookie"
FIRST_RETRY_SECONDS = 1.0
"""The first pause after a failure; doubles with each failure up to `retry_seconds`."""


class FileWatcher:
    """Turns file events into hints for the workspace they belong to.

    `run` loops until cancelled; `watch` sets the folders of a workspace and may be called at any time.
    """

    def __init__(
        self,
        *,
        probe: Path,
        source: EventSource | None = None,
        retry_seconds: float = 60.0,
        cookie_seconds: float = 2.0,
    ) -> None:
        self.is_ok = False
        self.reason: str | None = None
        self.pulse = Pulse()
        """Working while some wanted folders are not watched yet."""
        self.probe_pulse = Pulse()
        """Working while the probe runs; beats after each check, whatever its result."""
        self._probe = probe
        self._source = source or event_source()
        self._retry_seconds = retry_seconds
        self._cookie_seconds = cookie_seconds
        self._folders: dict[str, tuple[Mapping[str, FolderId], OnEvents]] = {}
        self._replaced: set[str] = set()
        """Owners with a folder that was removed or created: inodes are reused, so they do not identify it."""
        self._failures = 0
        self._is_armed = False
        """Whether all wanted folders are watched."""
        self._rearm = asyncio.Event()
        self._cookie_seen = asyncio.Event()

    def watch(self, owner: str, folders: Mapping[str, FolderId], hint: OnEvents) -> None:
        """Watch these folders for `owner`; events call `hint`. Do nothing if they are watched already."""
        if owner not in self._folders or self._folders[owner][0] != folders or owner in self._replaced:
            self._replaced.discard(owner)
            self._folders[owner] = (folders, hint)
            self._is_armed = False
            self._want_arming()

    def report_events(self, owner: str) -> bool:
        """Report all events until now as hints; return whether they cover all changes in the owner's folders."""
        self._source.drain()
        is_watched = owner in self._folders and owner not in self._replaced
        return is_watched and self.is_ok and self._is_armed and self._source.is_exact

    async def run(self) -> None:
        """Watch until cancelled; after a failure, log it, hint at all workspaces, and retry after a pause."""
        try:
            while True:
                # before the folders are read: folders set from here on are included, or cause another arming
                self._rearm.clear()
                self._begin_arming()
                if not self.is_ok:
                    # do not reuse a source that failed or stopped
                    self._source.close()
                try:
                    await self._follow()
                except OSError as exc:
                    await self._fail(exc.strerror or str(exc))
        finally:
            self._end_arming()
            self._source.close()

    async def run_probe(self, every_seconds: float = 30.0) -> None:
        """Check from time to time that events arrive; if not, arm again and hint at all workspaces."""
        with self.probe_pulse.work():
            while True:
                await asyncio.sleep(every_seconds)
                await self._prove()
                self.probe_pulse.beat()

    async def _prove(self) -> None:
        if self.is_ok and not await self._is_alive():
            log.warning("file events have stopped, arming anew")
            # until it is armed again, only scans detect changes
            self.is_ok, self.reason = False, "events had stopped"
            self._is_armed = False
            self._want_arming()
            self._hint_all()

    def _want_arming(self) -> None:
        self._begin_arming()
        self._rearm.set()

    def _begin_arming(self) -> None:
        if not self.pulse.tasks:
            self.pulse.begin()

    def _end_arming(self) -> None:
        if self.pulse.tasks:
            self.pulse.end()

    async def _is_alive(self) -> bool:
        """Write a cookie file and return whether its event arrives within `cookie_seconds`."""
        # clear before the write: the event may arrive before the next line runs
        self._cookie_seen.clear()
        cookie = self._probe / COOKIE
        try:
            await asyncio.to_thread(cookie.write_text, str(time.time_ns()))
            async with asyncio.timeout(self._cookie_seconds):
                await self._cookie_seen.wait()
        except (TimeoutError, OSError):
            return False
        return True

    async def _follow(self) -> None:
        """Watch the wanted folders until they change; raises OSError."""
        folders = {folder for wanted, _ in self._folders.values() for folder in wanted}
        if len(folders) > MAX_FOLDERS:
            raise OSError(f"{len(folders)} folders are more than the {MAX_FOLDERS} that are watched")
        await asyncio.to_thread(self._probe.mkdir, parents=True, exist_ok=True)
        await self._source.follow(
            [*folders, str(self._probe)], until=self._rearm, on_armed=self._on_armed, on_events=self._on_events
        )

    def _on_armed(self, added: Collection[str]) -> None:
        # the wanted folders may have changed since the arming began; then it begins again at once
        self._is_armed = not self._rearm.is_set()
        if self._is_armed:
            self._end_arming()
        self.is_ok, self.reason, self._failures = True, None, 0
        # changes before the arming had no event: the workspaces of newly watched folders must scan once more
        for wanted, hint in self._folders.values():
            if not wanted.keys().isdisjoint(added):
                hint(ANYTHING)

    def _on_events(self, events: FileEvents) -> None:
        if events.is_lossy:
            # the lost events may include the end of a watch
            self._replaced |= self._folders.keys()
            self._hint_all()
            return
        self._replaced |= {
            owner for owner, (wanted, _) in self._folders.items() if not wanted.keys().isdisjoint(events.folders)
        }
        places = {str(Path(path).parent) for path in events.files | events.folders} | events.folders
        if str(self._probe) in places:
            self._cookie_seen.set()
        if str(self._probe) in events.folders:
            # the probe folder may have been deleted, and its watch with it
            self._want_arming()
        # hint if in doubt: a needless hint costs a scan, a missing one leaves a stale note until the next timed scan
        for wanted, hint in self._folders.values():
            if not wanted.keys().isdisjoint(places):
                hint(events)

    def _hint_all(self) -> None:
        for _, hint in self._folders.values():
            hint(ANYTHING)

    async def _fail(self, reason: str) -> None:
        if self.is_ok or self.reason != reason:
            log.warning("file events are off, scanning instead", reason=reason)
        self.is_ok, self.reason = False, reason
        # the failure is logged; nothing is being armed until the retry
        self._end_arming()
        # changes since the last event, or during the failed arming, were not reported
        self._hint_all()
        delay = min(self._retry_seconds, FIRST_RETRY_SECONDS * 2.0 ** min(self._failures, 32))
        self._failures += 1
        # retry at once with other folders, which may be watchable
        await wait_within(self._rearm.wait(), delay)
