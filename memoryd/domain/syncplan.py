"""The sync planner: the steps that make the index equal to the disk, from one scan and the content of the index.

The functions are pure. The indexer reads the suspect files and compares their content.
"""

from collections.abc import Mapping, Set

from msgspec import Struct

from memoryd.domain.documents import FileStat, RelativePath, original_of
from memoryd.domain.media import modality_of

RACY_WINDOW_NS = 2_000_000_000
"""A file read this soon after its change may change again within one clock tick (git's racy rule)."""
MASS_FILES = 10
MAX_SETTLES = 5
"""Longest wait for a file that keeps changing, in settle times."""


class IndexedFile(Struct, frozen=True):
    """A file in the index: its stat when it was read, and the time of reading (wall clock, ns)."""

    stat: FileStat
    read_at_ns: int
    digest: bytes = b""
    """SHA-256 of the bytes that were read."""
    is_stale: bool = False
    """Whether it must be read again with an equal stat, because it was chunked by other rules."""

    def is_racy(self, wall_ns: int) -> bool:
        """Return whether, at this time of day, an equal stat does not prove equal content.

        Since the file was read, the clock may have shown the time of its last change again: within the same tick, or
        after it was set back. While that time is in the future, no later change can have it.
        """
        may_repeat = self.read_at_ns < self.stat.ctime_ns + RACY_WINDOW_NS
        return self.read_at_ns > wall_ns or (may_repeat and self.stat.ctime_ns < wall_ns + RACY_WINDOW_NS)


class WaitTimes(Struct, frozen=True):
    """Seconds for which a file or root must be absent before it counts, and for which a changed file must settle."""

    file: float
    root: float
    settle: float = 0.0


class Observation(Struct, frozen=True):
    """One scan: the files on disk, the files whose root or folder could not be read, and the files waited for."""

    disk: Mapping[RelativePath, FileStat]
    unreadable: Set[RelativePath] = frozenset()
    missing_since: Mapping[RelativePath, float] = {}
    now: float = 0.0
    """Monotonic seconds, the clock of `missing_since`."""
    wall_ns: int = 0
    """Time of day, the clock of the file times."""
    trusts_times: bool = True
    """False if the clock was set back since the last scan: then equal times prove nothing."""
    is_requested: bool = False
    """Whether a client waits for an answer: notes are read at once, unless they are still open for writing."""
    unclosed: Set[RelativePath] = frozenset()
    """Files known to be still open for writing."""


class SyncPlan(Struct, frozen=True):
    """Steps, in this order: renames, removals, reads of added and suspect files.

    `missing_since` is for the next observation.
    """

    read: tuple[RelativePath, ...]
    rename: tuple[tuple[RelativePath, RelativePath], ...]
    """Candidates (old, new): the new file is read, and the rename is confirmed if it has the content of the old."""
    remove: tuple[RelativePath, ...]
    missing_since: Mapping[RelativePath, float]
    retry_in: float | None
    """Seconds until a grace period ends; None if no file waits."""
    is_settled: bool
    """Whether no file waits, except under unreadable roots, provided that all rename candidates are confirmed."""

    @property
    def is_empty(self) -> bool:
        return not (self.read or self.rename or self.remove)


class RoundResult(Struct, frozen=True):
    """Result of a round. The next scan is in `retry_in` seconds; None means on the next request."""

    retry_in: float | None
    is_settled: bool
    """Whether index and disk are equal, except under unreadable roots."""


def round_result(
    done: SyncPlan, *, again: bool, has_queue: bool, hold_ends_in: float | None, settle: float
) -> RoundResult:
    """Return the result of a round that carried out the plan `done`.

    `again`: a file changed while it was read, or a rename was not confirmed. `has_queue`: large notes are still to be
    read; their chunking wakes the indexer. `hold_ends_in`: seconds until it is known which files are private; None if
    it is known, or if a person must decide.
    """
    soon = min((at for at in (done.retry_in, hold_ends_in) if at is not None), default=None)
    is_settled = done.is_settled and hold_ends_in is None and not again and not has_queue
    return RoundResult(settle if again else soon, is_settled)


def is_mass_removal(removed: int, left: int) -> bool:
    """Return whether so many files were removed at once that a warning is due: more than half, and at least 10."""
    return removed >= MASS_FILES and removed > left


def plan(observation: Observation, index: Mapping[RelativePath, IndexedFile], grace: WaitTimes) -> SyncPlan:
    """Compare a scan with the index, and return the steps to take.

    A missing file is removed after `grace.file` seconds, or after `grace.root` under an unreadable root. A file that is
    suddenly empty waits like a missing one, since an editor may have just truncated it. A changed file is read after it
    was unchanged for `grace.settle`, since it may be half written. A new note is read at once, since the index has no
    older version of it to lose. A new picture or sound waits, since half of it would be sent to the provider.

    If a client waits for an answer, changed notes are read at once, too. A half-written version does not stay in the
    index: a file read within `RACY_WINDOW_NS` of its change is read again by each later scan, even with an equal stat.
    When the rest is written, its event starts such a scan; otherwise the scan for the next question reads it.
    """
    absent = [path for path in index if path not in observation.disk]
    renames = _renames(observation.disk, index, absent)
    new = {path for _, path in renames}
    suspects = [path for path in observation.disk if path in new or _is_suspect(path, observation, index)]
    waits = {path: _wait_for(path, observation, index, grace) for path in (*absent, *suspects)}
    since = {
        path: observation.missing_since.get(path, observation.now) for path, (_, limit) in waits.items() if limit > 0
    }
    due = {path: min(waits[path][0], at + waits[path][1] - observation.now) for path, at in since.items()}
    waiting = {path: at for path, at in since.items() if due[path] > 0}
    moving = tuple(pair for pair in renames if pair[1] not in waiting)
    moved_from = {old for old, _ in moving}
    return SyncPlan(
        read=tuple(path for path in suspects if path not in waiting and path not in new),
        rename=moving,
        remove=tuple(path for path in absent if path not in waiting),
        missing_since=waiting,
        retry_in=min((due[path] for path in waiting if path not in moved_from), default=None),
        is_settled=all(path in observation.unreadable or path in moved_from for path in waiting),
    )


def _wait_for(
    path: RelativePath, observation: Observation, index: Mapping[RelativePath, IndexedFile], grace: WaitTimes
) -> tuple[float, float]:
    """Return the seconds to wait for an absent or suspect file, from now, and the limit since the wait began."""
    stat, known = observation.disk.get(path), index.get(path)
    if stat is None or (stat.size == 0 and known is not None and known.stat.size > 0):
        limit = grace.root if path in observation.unreadable else grace.file
        return limit, limit
    age = (observation.wall_ns - stat.ctime_ns) / 1e9
    may_be_half = path in observation.unclosed or modality_of(path) is not None
    is_wanted = (known is None or observation.is_requested) and not may_be_half
    if is_wanted or (known is not None and known.stat == stat) or not 0 <= age < grace.settle:
        return 0.0, 0.0
    return grace.settle - age, MAX_SETTLES * grace.settle


def _is_suspect(path: RelativePath, observation: Observation, index: Mapping[RelativePath, IndexedFile]) -> bool:
    known = index.get(path)
    if known is None or known.is_stale or known.stat != observation.disk[path]:
        return True
    # the front matter of the original applies to its conflict copy, too
    original = original_of(path)
    if original != path and original in observation.disk and _is_suspect(original, observation, index):
        return True
    return not observation.trusts_times or known.is_racy(observation.wall_ns)


def _renames(
    disk: Mapping[RelativePath, FileStat], index: Mapping[RelativePath, IndexedFile], absent: list[RelativePath]
) -> list[tuple[RelativePath, RelativePath]]:
    """Pair each absent file with a new file of the same inode, size and mtime (a rename changes only the ctime).

    The pairs are only candidates: inodes are reused, and archives restore times. A note renamed to the name of a
    picture, or a picture to that of a note, is another document.
    """
    vanished = {_content_key(path, index[path].stat): path for path in absent}
    pairs = []
    for path, stat in disk.items():
        if vanished and path not in index and (old := vanished.pop(_content_key(path, stat), None)) is not None:
            pairs.append((old, path))
    return pairs


def _content_key(path: RelativePath, stat: FileStat) -> tuple[bool, int, int, int, int]:
    return modality_of(path) is None, stat.device, stat.inode, stat.size, stat.mtime_ns
