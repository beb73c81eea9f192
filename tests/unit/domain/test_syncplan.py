from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.syncplan import (
    RACY_WINDOW_NS,
    IndexedFile,
    Observation,
    RoundResult,
    SyncPlan,
    WaitTimes,
    is_mass_removal,
    plan,
    round_result,
)

WAITS = WaitTimes(file=2, root=60)
SETTLING = replace(WAITS, settle=0.2)
OLD = 10**18
NOW = OLD + 60 * 10**9
A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
PICTURE = RelativePath("assets/a.png")


def stat(inode: int = 1, size: int = 10, changed_ns: int = OLD, device: int = 1) -> FileStat:
    return FileStat(device, inode, size, changed_ns, changed_ns)


def indexed(seen: FileStat) -> IndexedFile:
    return IndexedFile(seen, seen.ctime_ns + RACY_WINDOW_NS + 1)


def scan(
    disk: Mapping[RelativePath, FileStat],
    unreadable: frozenset[RelativePath] = frozenset(),
    missing_since: Mapping[RelativePath, float] | None = None,
    now: float = 0.0,
    wall_ns: int = NOW,
) -> Observation:
    return Observation(disk, unreadable, missing_since or {}, now, wall_ns)


INDEX = {A: indexed(stat())}


def planned(
    disk: Mapping[RelativePath, FileStat],
    index: Mapping[RelativePath, IndexedFile] = INDEX,
    waits: WaitTimes = WAITS,
    **observed: Any,
) -> SyncPlan:
    return plan(scan(disk, **observed), index, waits)


def test_unchanged_disk_needs_nothing() -> None:
    todo = planned({A: stat()})
    assert todo.is_empty
    assert todo.is_settled
    assert todo.retry_in is None


def test_new_and_changed_files_are_read() -> None:
    seen = scan({A: stat(size=11), B: stat(inode=2)})
    assert set(plan(seen, INDEX, WAITS).read) == {A, B}


def test_file_is_read_if_any_stat_field_differs() -> None:
    before = stat()
    for name in ("device", "inode", "size", "mtime_ns", "ctime_ns"):
        after = replace(before, **{name: getattr(before, name) + 1})
        assert planned({A: after}, {A: indexed(before)}).read == (A,)


def test_file_indexed_within_racy_window_is_read_again() -> None:
    racy = IndexedFile(stat(), OLD + RACY_WINDOW_NS - 1)
    assert planned({A: stat()}, {A: racy}).read == (A,)


def test_stale_file_is_read_again() -> None:
    assert planned({A: stat()}, {A: replace(indexed(stat()), is_stale=True)}).read == (A,)


def test_missing_file_is_removed_after_waiting() -> None:
    first = planned({}, now=100)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in == 2
    second = planned({}, missing_since=first.missing_since, now=102)
    assert second.remove == (A,)
    assert second.is_settled


def test_unreadable_root_keeps_its_files_longer() -> None:
    first = planned({}, unreadable=frozenset({A}), now=100)
    assert first.is_settled
    later = planned({}, unreadable=frozenset({A}), missing_since=first.missing_since, now=159)
    assert later.is_empty
    assert planned({}, unreadable=frozenset({A}), missing_since=later.missing_since, now=160).remove == (A,)


def test_returned_file_restarts_its_wait() -> None:
    gone = planned({}, now=100)
    back = planned({A: stat()}, missing_since=gone.missing_since, now=101)
    assert not back.missing_since
    assert planned({}, missing_since=back.missing_since, now=102).is_empty


def test_file_that_became_empty_waits_like_a_missing_one() -> None:
    seen = {A: stat(size=0, changed_ns=OLD + 1)}
    first = planned(seen, now=100)
    assert first.is_empty
    assert not first.is_settled
    assert planned(seen, missing_since=first.missing_since, now=102).read == (A,)


def test_changed_file_is_read_after_settle_time() -> None:
    seen = scan({A: stat(changed_ns=OLD + 10**9)}, wall_ns=OLD + 10**9 + 50_000_000, now=100)
    first = plan(seen, INDEX, SETTLING)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in is not None
    assert abs(first.retry_in - 0.15) < 1e-6
    assert plan(replace(seen, wall_ns=OLD + 1_200_000_000), INDEX, SETTLING).read == (A,)


def test_constantly_changing_file_is_read_after_five_settle_times() -> None:
    seen = scan({A: stat(changed_ns=OLD + 10**9)}, missing_since={A: 99.0}, now=100, wall_ns=OLD + 10**9)
    assert plan(seen, INDEX, SETTLING).read == (A,)


def test_new_file_and_future_file_are_read_at_once() -> None:
    assert planned({A: stat()}, {}, waits=SETTLING, wall_ns=OLD).read == (A,)
    assert planned({A: stat(changed_ns=OLD + 1)}, waits=SETTLING, wall_ns=OLD).read == (A,)


def test_new_empty_file_does_not_wait() -> None:
    assert planned({A: stat(size=0)}, {}).read == (A,)


def test_file_with_time_after_the_clock_is_read_again() -> None:
    seen = stat(changed_ns=NOW)
    just_read, read_later = IndexedFile(seen, NOW + 1), indexed(seen)
    set_back, long_after = NOW - 3_600 * 10**9, NOW + 3_600 * 10**9
    assert planned({A: seen}, {A: read_later}, wall_ns=long_after).is_empty
    assert planned({A: seen}, {A: read_later}, wall_ns=set_back).read == (A,)
    in_the_future = IndexedFile(seen, set_back)
    assert planned({A: seen}, {A: in_the_future}, wall_ns=set_back).is_empty
    assert planned({A: seen}, {A: in_the_future}, wall_ns=NOW).read == (A,)
    assert planned({A: seen}, {A: just_read}, wall_ns=long_after).read == (A,)


def test_all_files_are_read_when_times_are_not_trusted() -> None:
    seen = replace(scan({A: stat(), B: stat(inode=2)}), trusts_times=False)
    assert plan(seen, {A: indexed(stat()), B: indexed(stat(inode=2))}, WAITS).read == (A, B)


def test_rename_is_detected_by_inode_size_and_mtime() -> None:
    todo = planned({B: replace(stat(), ctime_ns=OLD + 5)})
    assert todo.rename == ((A, B),)
    assert not todo.read
    assert not todo.remove
    assert todo.retry_in is None
    assert todo.is_settled


def test_old_path_of_refuted_rename_waits_like_a_missing_file() -> None:
    disk = {B: replace(stat(), ctime_ns=OLD + 5)}
    first = planned(disk, now=100)
    refuted = {**INDEX, B: indexed(disk[B])}
    second = planned(disk, refuted, missing_since=first.missing_since, now=101)
    assert second.is_empty
    assert not second.is_settled
    assert second.retry_in == 1
    assert planned(disk, refuted, missing_since=second.missing_since, now=102).remove == (A,)


def test_renamed_and_edited_file_is_read() -> None:
    todo = planned({B: stat(size=11)})
    assert todo.read == (B,)
    assert not todo.rename


def test_new_picture_is_read_after_settle_time() -> None:
    seen = scan({PICTURE: stat()}, wall_ns=OLD + 50_000_000, now=100)
    first = plan(seen, {}, SETTLING)
    assert first.is_empty
    assert not first.is_settled
    assert plan(replace(seen, wall_ns=OLD + 200_000_000), {}, SETTLING).read == (PICTURE,)


def test_note_renamed_to_picture_is_a_new_document() -> None:
    for old, new in ((A, PICTURE), (PICTURE, A)):
        todo = planned({new: stat()}, {old: indexed(stat())})
        assert not todo.rename
        assert todo.read == (new,)


def test_file_moved_over_another_is_read() -> None:
    index = {A: indexed(stat()), B: indexed(stat(inode=2))}
    todo = planned({B: stat()}, index)
    assert todo.read == (B,)
    assert not todo.rename


def test_only_one_of_two_hard_links_is_a_rename() -> None:
    links = {RelativePath(f"memory/{name}.md"): stat() for name in "bc"}
    todo = planned(links)
    assert len(todo.rename) == 1
    assert len(todo.read) == 1


def finished_round(
    seen: Observation, *, again: bool = False, has_queue: bool = False, hold_ends_in: float | None = None
) -> RoundResult:
    todo = plan(seen, INDEX, WAITS)
    return round_result(todo, again=again, has_queue=has_queue, hold_ends_in=hold_ends_in, settle=0.2)


def test_complete_round_sleeps_until_a_request() -> None:
    assert finished_round(scan({A: stat()})) == RoundResult(None, is_settled=True)


def test_next_round_starts_when_first_wait_ends() -> None:
    assert finished_round(scan({})) == RoundResult(2, is_settled=False)
    assert finished_round(scan({}), hold_ends_in=1) == RoundResult(1, is_settled=False)
    assert finished_round(scan({A: stat()}), hold_ends_in=1) == RoundResult(1, is_settled=False)


def test_file_changed_during_reading_is_read_again_soon() -> None:
    assert finished_round(scan({A: stat()}), again=True) == RoundResult(0.2, is_settled=False)
    assert finished_round(scan({}), again=True, hold_ends_in=1) == RoundResult(0.2, is_settled=False)


def test_queued_note_keeps_round_unsettled_without_a_timer() -> None:
    assert finished_round(scan({A: stat()}), has_queue=True) == RoundResult(None, is_settled=False)


def test_unreadable_file_does_not_keep_round_unsettled() -> None:
    seen = scan({}, unreadable=frozenset({A}))
    assert finished_round(seen) == RoundResult(60, is_settled=True)


@dataclass
class Disk:
    """A simulated disk with reused inodes, settable times and a clock."""

    files: dict[RelativePath, FileStat] = field(default_factory=dict)
    content: dict[RelativePath, str] = field(default_factory=dict)
    clock: int = OLD

    def write(self, path: RelativePath, text: str, mtime_ns: int | None = None) -> None:
        inode = self.files[path].inode if path in self.files else self._free_inode()
        self.files[path] = FileStat(1, inode, len(text), self.clock if mtime_ns is None else mtime_ns, self.clock)
        self.content[path] = text

    def move(self, old: RelativePath, new: RelativePath) -> None:
        self.files[new] = replace(self.files.pop(old), ctime_ns=self.clock)
        self.content[new] = self.content.pop(old)

    def delete(self, path: RelativePath) -> None:
        self.files.pop(path, None)
        self.content.pop(path, None)

    def _free_inode(self) -> int:
        used = {stat.inode for stat in self.files.values()}
        return next(inode for inode in range(1, len(used) + 2) if inode not in used)


PATHS = st.sampled_from([RelativePath(f"memory/{name}") for name in ("a.md", "b.md", "c.md", "d.md", "e.png", "f.png")])
TEXTS = st.sampled_from(["", "x", "y", "z", "some more"])
TIMES = st.sampled_from([OLD - 10**9, OLD, OLD + 10**9])
TICK_NS = 4_000_000


class PlanFollowsDisk(RuleBasedStateMachine):
    """After any changes and any number of scans, the index ends up equal to the disk."""

    @initialize()
    def begin(self) -> None:
        self.disk = Disk()
        self.known: dict[RelativePath, IndexedFile] = {}
        self.index: dict[RelativePath, str] = {}
        self.missing: dict[RelativePath, float] = {}
        self.now = 0.0
        self.was_set_back = False

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: RelativePath, text: str) -> None:
        self.disk.write(path, text)

    @rule(path=PATHS, text=TEXTS, mtime_ns=TIMES)
    def restore(self, path: RelativePath, text: str, mtime_ns: int) -> None:
        """Restore from an archive: a new file with the times of an old one."""
        self.disk.delete(path)
        self.disk.write(path, text, mtime_ns)

    @rule(old=PATHS, new=PATHS, text=TEXTS)
    def restore_in_place_of(self, old: RelativePath, new: RelativePath, text: str) -> None:
        """Replace a file by another that looks like it."""
        if old in self.disk.files and old != new:
            before = self.disk.files[old]
            self.disk.delete(old)
            self.disk.delete(new)
            self.disk.write(new, text, before.mtime_ns)

    @rule(path=PATHS)
    def delete(self, path: RelativePath) -> None:
        self.disk.delete(path)

    @rule(old=PATHS, new=PATHS)
    def move(self, old: RelativePath, new: RelativePath) -> None:
        if old in self.disk.files and old != new:
            self.disk.move(old, new)

    @rule(seconds=st.sampled_from([0.004, 0.1, 1.0, 3.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self._pass(seconds)

    @rule(seconds=st.sampled_from([0.1, 1.0, 3.0, 30.0]))
    def set_clock_back(self, seconds: float) -> None:
        self.disk.clock -= int(seconds * 1e9)
        self.was_set_back = True

    @rule()
    def start_again(self) -> None:
        """Restart: forget all waits; that the clock was set back is known from the times of reading."""
        self.missing = {}

    @rule(seconds=st.sampled_from([0.0, 3.0]))
    def look(self, seconds: float) -> None:
        self._pass(seconds)
        self._sync()

    @rule()
    def look_while_unmounted(self) -> None:
        known = {path: text for path, text in self.index.items() if path not in self.missing}
        self._sync(disk={}, unreadable=frozenset(self.known))
        assert known.items() <= self.index.items()

    @rule()
    def quiesce(self) -> None:
        """Scan like the indexer: again when a wait ends, and once more when nothing is racy."""
        for _ in range(4):
            self._pass(WAITS.file)
            self._sync()
        assert self.index == self.disk.content

    @invariant()
    def index_and_stats_name_the_same_files(self) -> None:
        if hasattr(self, "index"):
            assert self.index.keys() == self.known.keys()

    def _pass(self, seconds: float) -> None:
        self.now += seconds
        self.disk.clock += max(int(seconds * 1e9), TICK_NS)

    def _sync(
        self,
        disk: dict[RelativePath, FileStat] | None = None,
        unreadable: frozenset[RelativePath] = frozenset(),
    ) -> None:
        files = dict(self.disk.files if disk is None else disk)
        seen = Observation(files, unreadable, self.missing, self.now, self.disk.clock, not self.was_set_back)
        todo = plan(seen, self.known, WAITS)
        self.was_set_back = self.was_set_back and disk is not None
        assert not set(todo.remove) & files.keys()
        assert not {new for _, new in todo.rename} & {*todo.read}
        self.missing = dict(todo.missing_since)
        for old, new in todo.rename:
            if self.index[old] == self.disk.content[new]:
                del self.index[old], self.known[old]
            self._read(new)
        for path in todo.remove:
            if path in self.index:
                del self.index[path], self.known[path]
        for path in todo.read:
            self._read(path)

    def _read(self, path: RelativePath) -> None:
        self.known[path] = IndexedFile(self.disk.files[path], self.disk.clock)
        self.index[path] = self.disk.content[path]


TestPlanFollowsDisk = PlanFollowsDisk.TestCase


@given(
    disk=st.dictionaries(PATHS, st.builds(stat, inode=st.integers(1, 4), size=st.integers(0, 2)), max_size=6),
    index=st.dictionaries(PATHS, st.builds(stat, inode=st.integers(1, 4), size=st.integers(0, 2)), max_size=6),
    confirms_renames=st.booleans(),
)
def test_plan_after_all_waits_covers_every_difference(
    disk: dict[RelativePath, FileStat], index: dict[RelativePath, FileStat], confirms_renames: bool
) -> None:
    known = {path: indexed(found) for path, found in index.items()}
    long_ago = dict.fromkeys([*index, *disk], 0.0)
    todo = plan(scan(disk, missing_since=long_ago, now=1000), known, WAITS)
    after = dict(index)
    for old, new in todo.rename:
        after[new] = after.pop(old) if confirms_renames else disk[new]
    for path in todo.remove:
        after.pop(path, None)
    after |= {path: disk[path] for path in todo.read}
    assert after == disk
    assert not todo.missing_since


def test_mass_removal_is_removal_of_most_files() -> None:
    assert is_mass_removal(10, 9)
    assert not is_mass_removal(10, 10)
    assert not is_mass_removal(9, 0)
    assert is_mass_removal(25, 0)
