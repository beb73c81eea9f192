"""Passages that are to be embedded next. No clock and no store: times come from whoever calls."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memoryd.store.index.passages import PendingPassage


class _Held(NamedTuple):
    until: float
    reason: str


class PendingQueue:
    """Texts and then files, in the order in which the store gave them, and files that must wait for a while."""

    def __init__(self, *, file_bytes: int, files_at_once: int) -> None:
        self._file_bytes = file_bytes
        self._files_at_once = files_at_once
        self._waiting: deque[PendingPassage] = deque()
        self._held: dict[bytes, _Held] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def begins_with_file(self) -> bool:
        """Whether the next one is a picture or sound, whose bytes are read anew for each try."""
        return bool(self._waiting) and self._waiting[0].file is not None

    @property
    def why_held(self) -> str | None:
        """Why the first of the files waits that do."""
        return next((held.reason for held in self._held.values()), None)

    @property
    def has_held(self) -> bool:
        return bool(self._held)

    def fill(self, passages: Iterable[PendingPassage]) -> None:
        """Take these in place of all that waits."""
        self._waiting = deque(passages)

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()

    def take(self, size: int) -> list[PendingPassage]:
        """Take texts, or, when none are left, files of few enough bytes to be held in memory at once."""
        batch: list[PendingPassage] = []
        room = self._file_bytes
        while self._waiting and len(batch) < size:
            file = self._waiting[0].file
            if batch and file is not None and (batch[0].file is None or file.size > room):
                break
            if file is not None:
                room, size = room - file.size, self._files_at_once
            batch.append(self._waiting.popleft())
        return batch

    def put_back(self, passages: Sequence[PendingPassage]) -> None:
        """Have these come first again, in this order."""
        self._waiting.extendleft(reversed(passages))

    def hold(self, key: bytes, reason: str, until: float) -> None:
        """Have a file wait that was taken; the next look at the store is to leave it out."""
        self._held[key] = _Held(until, reason)

    def held(self, now: float) -> tuple[bytes, ...]:
        """Return the files that must still wait, and forget the others."""
        self._held = {key: held for key, held in self._held.items() if held.until > now}
        return tuple(self._held)

    def hold_ends_in(self, now: float) -> float | None:
        """Return in how many seconds a file is to be tried again, None if no file waits."""
        return max(0.01, min(held.until for held in self._held.values()) - now) if self._held else None
