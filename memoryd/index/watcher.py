"""The watcher: one watchfiles instance for all workspaces, trusted for nothing but speed.

It watches exactly the folders that the last scans listed, none recursively, so that no symlink or foreign tree
adds watches; a new folder shows as an event in its parent, whose scan then adds it. A folder that was replaced is
watched anew with that scan: it is another inode, or its going and coming were events. A cookie file in a folder of
our own proves from time to time that events still flow. watchfiles hides queue overflow: scans on a timer cover that.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import structlog
import watchfiles

from memoryd.files.scanner import FolderId

log = structlog.get_logger(__name__)

Hint = Callable[[], None]
MAX_FOLDERS = 8_000
COOKIE = "cookie"
FIRST_RETRY_SECONDS = 1.0
"""Doubles with each failure up to `retry_seconds`."""


class FileWatcher:
    """Turns file events into hints for the workspace they belong to.

    `run` loops until cancelled; `watch` says what to watch and may be called at any time.
    """

    def __init__(
        self, *, probe: Path, step_ms: int = 50, retry_seconds: float = 60.0, cookie_seconds: float = 2.0
    ) -> None:
        self.is_ok = False
        self.reason: str | None = None
        self._probe = probe
        self._step_ms = step_ms
        self._retry_seconds = retry_seconds
        self._cookie_seconds = cookie_seconds
        self._folders: dict[str, tuple[Mapping[str, FolderId], Hint]] = {}
        self._replaced: set[str] = set()
        """The owners of whose folders one went or came: its inode may be given anew, and tells nothing."""
        self._failures = 0
        self._rearm = asyncio.Event()
        self._cookie_seen = asyncio.Event()

    def watch(self, owner: str, folders: Mapping[str, FolderId], hint: Hint) -> None:
        """Watch these folders for `owner`; events call `hint`. Nothing is done if they are watched already."""
        if owner not in self._folders or self._folders[owner][0] != folders or owner in self._replaced:
            self._replaced.discard(owner)
            self._folders[owner] = (folders, hint)
            self._rearm.set()

    async def run(self) -> None:
        """Watch until cancelled; on failure say so, hint at everybody, and try again after a while."""
        while True:
            # before the folders are read: those that are named from here on are watched at once, or arm it anew
            self._rearm.clear()
            if (failure := await self._watched_until_failure()) is not None:
                await self._fail(failure)

    async def run_probe(self, every_seconds: float = 30.0) -> None:
        """Prove from time to time that events flow; if they do not, arm anew and let everybody look."""
        while True:
            await asyncio.sleep(every_seconds)
            if self.is_ok and not await self._is_alive():
                log.warning("file events have stopped, arming anew")
                # not ok from here on: scans are all there is until the first round of events comes
                self.is_ok, self.reason = False, "events had stopped"
                self._rearm.set()
                self._hint_all()

    async def _is_alive(self) -> bool:
        """Write a cookie and tell whether its event comes within the time allowed."""
        # before the cookie is written: its event may come before the next line runs
        self._cookie_seen.clear()
        cookie = self._probe / COOKIE
        try:
            await asyncio.to_thread(cookie.write_text, str(time.time_ns()))
            async with asyncio.timeout(self._cookie_seconds):
                await self._cookie_seen.wait()
        except (TimeoutError, OSError):
            return False
        return True

    async def _watched_until_failure(self) -> str | None:
        try:
            await self._watch_once()
        except* (OSError, RuntimeError) as failures:
            # watchfiles wraps its own in a group, as when a name that is not UTF-8 is touched
            failure = _innermost(failures)
        else:
            return None
        return failure

    async def _watch_once(self) -> None:
        folders = {folder for wanted, _ in self._folders.values() for folder in wanted}
        if len(folders) > MAX_FOLDERS:
            raise OSError(f"{len(folders)} folders are more than the {MAX_FOLDERS} that are watched")
        await asyncio.to_thread(self._probe.mkdir, parents=True, exist_ok=True)
        # one that goes between this look and the arming fails the arming, which is tried again
        present = await asyncio.to_thread(lambda: [folder for folder in folders if Path(folder).is_dir()])
        events = watchfiles.awatch(
            *present,
            self._probe,
            watch_filter=None,
            recursive=False,
            step=self._step_ms,
            debounce=4 * self._step_ms,
            rust_timeout=1_000,
            # without it nothing tells that all is armed before the first event comes
            yield_on_timeout=True,
            stop_event=self._rearm,
        )
        is_armed = False
        async with contextlib.aclosing(events):
            async for changes in events:
                if not is_armed:
                    # What changed while nothing was armed had no event: everybody looks once more.
                    is_armed, self.is_ok, self.reason, self._failures = True, True, None, 0
                    self._hint_all()
                self._on_changes(changes)

    def _on_changes(self, changes: Iterable[tuple[watchfiles.Change, str]]) -> None:
        came_or_went = {path for change, path in changes if change is not watchfiles.Change.modified}
        self._replaced |= {
            owner for owner, (wanted, _) in self._folders.items() if not wanted.keys().isdisjoint(came_or_went)
        }
        paths = {path for _, path in changes}
        parents = {str(Path(path).parent) for path in paths} | paths
        if str(self._probe) in parents:
            self._cookie_seen.set()
        # a hint more costs a scan, one less a stale note until the next timed scan: whoever may be meant is told
        for wanted, hint in self._folders.values():
            if not wanted.keys().isdisjoint(parents):
                hint()

    def _hint_all(self) -> None:
        for _, hint in self._folders.values():
            hint()

    async def _fail(self, reason: str) -> None:
        if self.is_ok or self.reason != reason:
            log.warning("file events are off, scanning instead", reason=reason)
        self.is_ok, self.reason = False, reason
        # what changed since the last event, or while the arming failed, nobody was told of
        self._hint_all()
        delay = min(self._retry_seconds, FIRST_RETRY_SECONDS * 2.0 ** min(self._failures, 32))
        self._failures += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                # other folders may be ones that can be watched
                await self._rearm.wait()


def _innermost(failures: BaseExceptionGroup) -> str:
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return str(failure)
