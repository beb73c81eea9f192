"""Which source of file events a system has."""

import sys

from memoryd.index.file_events import EventSource
from memoryd.index.watchfiles_events import WatchfilesEvents


def event_source(*, step_seconds: float = 0.05) -> EventSource:
    """Return the source of this system."""
    if sys.platform == "linux":
        # here and not above: the library behind it is installed on Linux alone
        from memoryd.index.inotify_events import InotifyEvents

        return InotifyEvents(step_seconds=step_seconds)
    return WatchfilesEvents(step_seconds=step_seconds)
