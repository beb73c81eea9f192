"""One round of the indexer: what it reads under, and reading by it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.memories.sections import holds_memories, is_daily_log
from memoryd.domain.syncplan import Known, SyncPlan
from memoryd.files.scanner import Scan
from memoryd.index.reading import LARGE_BYTES, Reader, Reading, ReadStatus
from memoryd.index.yielding import with_pauses

READ_AHEAD_FILES, READ_AHEAD_BYTES = 128, LARGE_BYTES
"""How much is read, cut and committed in one go."""
ASKED_BYTES, ASKED_BATCH_BYTES = 2**20, 2**17
"""How much a question waits for, and how much of it is committed in one go, so that what is done in time counts."""
_BANK = "bank/"


@dataclass(frozen=True, slots=True)
class Round:
    """What one round reads under: the scan, and what is held of each file, of a renamed one under its new name."""

    seen: Scan
    reader: Reader
    held: Mapping[RelativePath, Known]
    came_from: Mapping[RelativePath, RelativePath]
    """The old path of each file that may be a renamed one."""
    is_forced: bool

    def is_large(self, path: RelativePath) -> bool:
        """Tell whether a file is to be cut aside."""
        return self.seen.files[path].size > LARGE_BYTES and modality_of(path) is None

    def is_move(self, reading: Reading) -> bool:
        """Tell whether a file that may be a renamed one holds what the old one held."""
        if reading.path not in self.came_from or reading.status not in (ReadStatus.SAME, ReadStatus.CHANGED):
            return False
        return reading.read_stamp.sha256 == self.held[reading.path].digest

    def soon_and_later(self, paths: Sequence[RelativePath]) -> tuple[list[RelativePath], list[RelativePath]]:
        """Part what a question waits for, the smallest files up to `ASKED_BYTES` together, from the others."""
        by_size = sorted(paths, key=lambda path: self.seen.files[path].size)
        until = list(accumulate(self.seen.files[path].size for path in by_size))
        soon = by_size[: bisect_right(until, ASKED_BYTES)]
        among_soon = set(soon)
        return soon, [path for path in paths if path not in among_soon]

    def batches(self, paths: Sequence[RelativePath], most_bytes: int) -> Iterator[list[RelativePath]]:
        """Yield the paths in runs of few enough files and bytes; a large file goes alone."""
        batch: list[RelativePath] = []
        size = 0
        for path in paths:
            size += self.seen.files[path].size
            if batch and (len(batch) >= READ_AHEAD_FILES or size > most_bytes):
                yield batch
                batch, size = [], self.seen.files[path].size
            batch.append(path)
        if batch:
            yield batch


def round_of(
    todo: SyncPlan, seen: Scan, reader: Reader, known: Mapping[RelativePath, Known], *, is_forced: bool
) -> Round:
    """Return the round that works off a plan."""
    # under rules that nobody knows, the new name may be private; the old one goes when its grace has passed
    came_from = {new: old for old, new in todo.rename} if reader.rules.hold is None else {}
    renamed = {
        new: replace(known[old], is_stale=known[old].is_stale or _says_something_else(old, new))
        for new, old in came_from.items()
    }
    return Round(seen, reader, {**known, **renamed}, came_from, is_forced)


def _says_something_else(old: RelativePath, new: RelativePath) -> bool:
    """Tell whether the same bytes are cut in another way under a new name.

    The text of a picture or sound is its name, and whether a bullet is a memory, or a page one of an entity, is told
    by the path, too. From one log to another all lines stay what they are.
    """
    if is_daily_log(old) and is_daily_log(new):
        return False
    return modality_of(new) is not None or any(holds_memories(path) or path.startswith(_BANK) for path in (old, new))


def read_under_the_rules(work: Round, batch: Sequence[RelativePath]) -> list[Reading]:
    """Read files; if the privacy rules changed before that was done, nothing may follow from it."""
    readings = [work.reader.read(path, work.held.get(path)) for path in with_pauses(batch)]
    # asked last: rules that change from here on are seen by the next look, which a change of their file brings about
    if not batch or work.reader.rules.is_current():
        return readings
    return [replace(reading, status=ReadStatus.AGAIN) for reading in readings]


def may_follow(reading: Reading, work: Round) -> bool:
    """Tell whether what was read a while ago may be done still; what is to be kept may have become private."""
    reader = work.reader
    return reader.is_still_public(reading.path) if reading.status is ReadStatus.CHANGED else reader.rules.is_current()
