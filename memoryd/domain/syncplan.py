"""The sync planner: what to do so that the index equals the disk, from one scan and what the index holds.

Pure: the plan is a value. Reading the suspects, and what their content says, is the indexer's part.
"""

from collections.abc import Mapping, Set

from msgspec import Struct

from memoryd.domain.documents import FileStat, RelativePath, original_of
from memoryd.domain.media import modality_of

RACY_WINDOW_NS = 2_000_000_000
"""A file read this soon after its change may change again within one clock tick (git's racy rule)."""
MASS_FILES = 10
MAX_SETTLES = 5
"""How many settle times a file that keeps changing is waited for."""


class Known(Struct, frozen=True):
    """A file as the index has it: the stat at the time it was read, and when that was (wall clock, ns)."""

    stat: FileStat
    read_at_ns: int
    digest: bytes = b""
    """SHA-256 of the bytes that were read."""
    is_stale: bool = False
    """Whether it must be read again whatever its stat says (it was cut by other rules)."""

    def is_racy(self, wall_ns: int) -> bool:
        """Tell whether, at this time of day, an equal stat does not prove equal content.

        The clock may have shown the time of the last change again since the file was read: within the same tick, or
        after it was set back. As long as that time lies ahead, no later change can have it.
        """
        may_repeat = self.read_at_ns < self.stat.ctime_ns + RACY_WINDOW_NS
        return self.read_at_ns > wall_ns or (may_repeat and self.stat.ctime_ns < wall_ns + RACY_WINDOW_NS)


class Grace(Struct, frozen=True):
    """How long, in seconds, an absence must last before it counts, and how long a changed file must lie still."""

    file: float
    root: float
    settle: float = 0.0


class Observation(Struct, frozen=True):
    """One scan: the files seen, the files whose root or folder could not be read, and what was waited for before."""

    disk: Mapping[RelativePath, FileStat]
    unreadable: Set[RelativePath] = frozenset()
    missing_since: Mapping[RelativePath, float] = {}
    now: float = 0.0
    """Monotonic seconds, the clock of `missing_since`."""
    wall_ns: int = 0
    """The time of day, the clock of the files."""
    trusts_times: bool = True
    """False when the clock was set back since the last scan: equal times prove nothing."""
    is_asked: bool = False
    """Whether somebody waits for an answer: notes are read as they are, unless somebody writes to them still."""
    unclosed: Set[RelativePath] = frozenset()
    """Files that somebody writes to still, as far as is known."""


class SyncPlan(Struct, frozen=True):
    """What to do, in this order: renames, removals, reads of added and suspect files.

    `missing_since` belongs into the next observation.
    """

    read: tuple[RelativePath, ...]
    rename: tuple[tuple[RelativePath, RelativePath], ...]
    """Candidates (old, new): the new one is read, and is the old one renamed only if it holds the same."""
    remove: tuple[RelativePath, ...]
    missing_since: Mapping[RelativePath, float]
    retry_in: float | None
    """Seconds until a grace period ends, None when nothing waits."""
    is_settled: bool
    """Whether nothing waits but what lies under a root that cannot be read, if every rename is one."""

    @property
    def is_empty(self) -> bool:
        return not (self.read or self.rename or self.remove)


class RoundResult(Struct, frozen=True):
    """How a round ended. `retry_in` seconds the disk is to be looked at again; None: when somebody asks."""

    retry_in: float | None
    is_settled: bool
    """Whether index and disk are equal, save for what lies under a root that cannot be read."""


def outcome(done: SyncPlan, *, again: bool, has_queue: bool, hold_ends_in: float | None, settle: float) -> RoundResult:
    """Say how a round ended whose plan was `done`.

    `again`: a file changed while it was read, or is no renamed one after all. `has_queue`: large notes are still to be
    read; their cutting wakes the indexer. `hold_ends_in`: seconds until it is known what is private, None if it is, or
    if that takes a person.
    """
    soon = min((at for at in (done.retry_in, hold_ends_in) if at is not None), default=None)
    is_settled = done.is_settled and hold_ends_in is None and not again and not has_queue
    return RoundResult(settle if again else soon, is_settled)


def is_mass_removal(removed: int, left: int) -> bool:
    """Tell whether so many files went at once that their owner should be told: more than half, and not a handful."""
    return removed >= MASS_FILES and removed > left


def plan(seen: Observation, index: Mapping[RelativePath, Known], grace: Grace) -> SyncPlan:
    """Compare a scan with the index.

    A file that vanished is removed after `grace.file` seconds, one under an unreadable root after `grace.root`;
    one that is suddenly empty waits like one that vanished, since an editor may have just truncated it. A changed one
    is read when it lay still for `grace.settle`: it may be half written. A new note has nothing to lose and is read; a
    new picture or sound would be sent in halves.

    When somebody asks, changed notes are read at once, too. What is half written then is no version to stay: a file
    that was read within `RACY_WINDOW_NS` of its change is read again by each later scan, whatever its stat says, and
    the rest of it, when it is written, sets off such a scan by its event, or is met by the one of the next question.
    """
    absent = [path for path in index if path not in seen.disk]
    renames = _renames(seen.disk, index, absent)
    new = {path for _, path in renames}
    suspects = [path for path in seen.disk if path in new or _is_suspect(path, seen, index)]
    waits = {path: _wait_for(path, seen, index, grace) for path in (*absent, *suspects)}
    since = {path: seen.missing_since.get(path, seen.now) for path, (_, limit) in waits.items() if limit > 0}
    due = {path: min(waits[path][0], at + waits[path][1] - seen.now) for path, at in since.items()}
    waiting = {path: at for path, at in since.items() if due[path] > 0}
    moving = tuple(pair for pair in renames if pair[1] not in waiting)
    moved_from = {old for old, _ in moving}
    return SyncPlan(
        read=tuple(path for path in suspects if path not in waiting and path not in new),
        rename=moving,
        remove=tuple(path for path in absent if path not in waiting),
        missing_since=waiting,
        retry_in=min((due[path] for path in waiting if path not in moved_from), default=None),
        is_settled=all(path in seen.unreadable or path in moved_from for path in waiting),
    )


def _wait_for(
    path: RelativePath, seen: Observation, index: Mapping[RelativePath, Known], grace: Grace
) -> tuple[float, float]:
    """Return how many seconds to wait for an absent or suspect file from now, and at most since the wait began."""
    stat, known = seen.disk.get(path), index.get(path)
    if stat is None or (stat.size == 0 and known is not None and known.stat.size > 0):
        limit = grace.root if path in seen.unreadable else grace.file
        return limit, limit
    age = (seen.wall_ns - stat.ctime_ns) / 1e9
    may_be_half = path in seen.unclosed or modality_of(path) is not None
    is_wanted = (known is None or seen.is_asked) and not may_be_half
    if is_wanted or (known is not None and known.stat == stat) or not 0 <= age < grace.settle:
        return 0.0, 0.0
    return grace.settle - age, MAX_SETTLES * grace.settle


def _is_suspect(path: RelativePath, seen: Observation, index: Mapping[RelativePath, Known]) -> bool:
    known = index.get(path)
    if known is None or known.is_stale or known.stat != seen.disk[path]:
        return True
    # what its original says of itself holds for the copy of a conflict, too
    original = original_of(path)
    if original != path and original in seen.disk and _is_suspect(original, seen, index):
        return True
    return not seen.trusts_times or known.is_racy(seen.wall_ns)


def _renames(
    disk: Mapping[RelativePath, FileStat], index: Mapping[RelativePath, Known], absent: list[RelativePath]
) -> list[tuple[RelativePath, RelativePath]]:
    """Pair each absent file with a new one of the same inode, size and mtime (a rename changes only the ctime).

    That proves nothing: inodes are given anew, and archives restore times. A note that becomes a picture by its name,
    or the other way round, is another document.
    """
    vanished = {_content_key(path, index[path].stat): path for path in absent}
    pairs = []
    for path, stat in disk.items():
        if vanished and path not in index and (old := vanished.pop(_content_key(path, stat), None)) is not None:
            pairs.append((old, path))
    return pairs


def _content_key(path: RelativePath, stat: FileStat) -> tuple[bool, int, int, int, int]:
    return modality_of(path) is None, stat.device, stat.inode, stat.size, stat.mtime_ns
