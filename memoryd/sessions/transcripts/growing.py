"""How much transcripts have grown since they were read, without reading them: sizes, and counts of new lines."""

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.taking_turns import Growth, tells_compaction
from memoryd.files.reading import open_beneath

BLOCK_BYTES: Final = 256 << 10
MOST_BYTES: Final = 4 << 20
"""Looked at in one look; more than that has grown enough by any sensible rule."""


@dataclass(slots=True)
class _Seen:
    stat: FileStat
    changed_at: float
    begun: int
    """Where the lines are counted from: what was read before."""
    counted: int
    lines: int = 0
    is_compacted: bool = False


class GrowingFiles:
    """Remembers of each file when it changed last, by a clock that never jumps, and how many lines were counted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[Path, _Seen] = {}

    def growth(self, file: Path, stat: FileStat, read_bytes: int) -> Growth:
        """Return what came to a file, now with this `stat`, behind its first `read_bytes`. Blocks."""
        now = self._clock()
        seen = self._seen.get(file)
        if seen is None or seen.begun != read_bytes or stat.size < seen.counted:
            changed_at = now if seen is None or seen.stat != stat else seen.changed_at
            seen = self._seen[file] = _Seen(stat, changed_at, read_bytes, read_bytes)
        if seen.stat != stat:
            seen.stat, seen.changed_at = stat, now
        self._count(file, seen)
        return Growth(max(0, stat.size - read_bytes), seen.lines, now - seen.changed_at, seen.is_compacted)

    def keep(self, files: Collection[Path]) -> None:
        """Forget all but these."""
        self._seen = {file: seen for file, seen in self._seen.items() if file in files}

    def _count(self, file: Path, seen: _Seen) -> None:
        end = min(seen.stat.size, seen.counted + MOST_BYTES)
        if seen.counted >= end:
            return
        try:
            descriptor = open_beneath(file.parent, file.name)
        except OSError:
            return
        try:
            while seen.counted < end and (block := os.pread(descriptor, BLOCK_BYTES, seen.counted)):
                seen.lines += block.count(b"\n")
                seen.is_compacted |= tells_compaction(block)
                seen.counted += len(block)
        finally:
            os.close(descriptor)
