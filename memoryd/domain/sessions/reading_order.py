"""In which order conversations are read: each a step, and long ones by turns with all others, so that nobody waits."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from memoryd.domain.documents import RelativePath

_FRESH: Final = 4
"""After so many steps of conversations that nobody has begun to read comes one of those that were begun."""


class ReadingOrder:
    """Those that nobody has begun to read, as urgent as they stand, and those that were `begun`, by turns."""

    def __init__(self, fresh: Iterable[RelativePath]) -> None:
        self.fresh = deque(fresh)
        self.begun = deque[RelativePath]()
        self._in_a_row = 0

    @property
    def is_empty(self) -> bool:
        """Whether all has been read."""
        return not self.fresh and not self.begun

    def next(self) -> RelativePath | None:
        """Take the one that is read next; None if there is none. Who reads it puts it among those begun, or not."""
        if self.fresh and (self._in_a_row < _FRESH or not self.begun):
            self._in_a_row += 1
            return self.fresh.popleft()
        self._in_a_row = 0
        return self.begun.popleft() if self.begun else None


class Renaming:
    """Conversations that are gone, each until what was new when that was seen is read: it may be the same, renamed."""

    def __init__(self) -> None:
        self._awaited: dict[RelativePath, frozenset[RelativePath]] = {}

    def note(self, gone: Iterable[RelativePath], fresh: Iterable[RelativePath]) -> None:
        """Note those that are gone now, and what nobody has begun to read."""
        awaited = frozenset(fresh)
        self._awaited = {path: self._awaited.get(path, awaited) for path in gone}

    def settled(self, unread: Collection[RelativePath]) -> Sequence[RelativePath]:
        """Return those that are gone for good, where of these conversations more is to be read."""
        return [path for path, awaited in self._awaited.items() if awaited.isdisjoint(unread)]
