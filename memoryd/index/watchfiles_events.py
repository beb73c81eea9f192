"""File events where there is no inotify: watchfiles, which polls what the system tells it, and is late by that.

It hides the overflow of its queue: scans on a timer cover that.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

import watchfiles

from memoryd.index.file_events import FileEvents


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
        try:
            await self._follow(folders, until, on_armed, on_events)
        except* (OSError, RuntimeError) as failures:
            # watchfiles wraps its own in a group, as when a name that is not UTF-8 is touched
            reason = _innermost(failures)
        else:
            return
        raise OSError(reason)

    async def _follow(
        self,
        folders: Collection[str],
        until: asyncio.Event,
        on_armed: Callable[[Collection[str]], None],
        on_events: Callable[[FileEvents], None],
    ) -> None:
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

    def drain(self) -> None:
        """Do nothing: what happened a moment ago is not known yet."""

    def close(self) -> None:
        """Do nothing: the watches end with `follow`."""


def _innermost(failures: BaseExceptionGroup) -> str:
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return str(failure)
