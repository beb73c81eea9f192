"""File events as the watcher takes them, whatever tells of them: the seam between it and its two sources."""

import asyncio
from collections.abc import Callable, Collection, Set
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileEvents:
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
