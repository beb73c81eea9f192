from collections.abc import Mapping
from dataclasses import dataclass, field

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
    WaitTimes,
    is_mass_removal,
    plan,
    round_result,
)

GRACE = WaitTimes(file=2, root=60)
OLD = 10**18
NOW = OLD + 60 * 10**9
A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
PICTURE = RelativePath("assets/a.png")


def stat(inode: int = 1, size: int = 10, changed_ns: int = OLD, device: int = 1) -> FileStat:
    return FileStat(device, inode, size, changed_ns, changed_ns)


def known(of: FileStat) -> IndexedFile:
    return IndexedFile(of, of.ctime_ns + RACY_WINDOW_NS + 1)


def look(
    disk: Mapping[RelativePath, FileStat],
    unreadable: frozenset[RelativePath] = frozenset(),
    missing_since: Mapping[RelativePath, float] | None = None,
    now: float = 0.0,
    wall_ns: int = NOW,
) -> Observation:
    return Observation(disk, unreadable, missing_since or {}, now, wall_ns)


def test_equal_disk_and_index_need_nothing() -> None:
    todo = plan(look({A: stat()}), {A: known(stat())}, GRACE)
    assert todo.is_empty
    assert todo.is_settled
    assert todo.retry_in is None


def test_new_and_changed_files_are_read() -> None:
    seen = look({A: stat(size=11), B: stat(inode=2)})
    assert set(plan(seen, {A: known(stat())}, GRACE).read) == {A, B}


def test_any_difference_of_the_stat_is_a_suspicion() -> None:
    before = stat()
    for name in ("device", "inode", "size", "mtime_ns", "ctime_ns"):
        after = replace(before, **{name: getattr(before, name) + 1})
        assert plan(look({A: after}), {A: known(before)}, GRACE).read == (A,)


def test_file_read_just_after_its_change_is_read_again() -> None:
    racy = IndexedFile(stat(), OLD + RACY_WINDOW_NS - 1)
    assert plan(look({A: stat()}), {A: racy}, GRACE).read == (A,)


def test_stale_file_is_read_again() -> None:
    assert plan(look({A: stat()}), {A: replace(known(stat()), is_stale=True)}, GRACE).read == (A,)


def test_vanished_file_is_removed_after_its_grace() -> None:
    index = {A: known(stat())}
    first = plan(look({}, now=100), index, GRACE)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in == 2
    second = plan(look({}, missing_since=first.missing_since, now=102), index, GRACE)
    assert second.remove == (A,)
    assert second.is_settled


def test_vanished_root_keeps_its_files_for_the_longer_grace() -> None:
    index = {A: known(stat())}
    first = plan(look({}, frozenset({A}), now=100), index, GRACE)
    assert first.is_settled
    later = plan(look({}, frozenset({A}), first.missing_since, now=159), index, GRACE)
    assert later.is_empty
    assert plan(look({}, frozenset({A}), later.missing_since, now=160), index, GRACE).remove == (A,)


def test_file_that_came_back_starts_its_grace_anew() -> None:
    index = {A: known(stat())}
    gone = plan(look({}, now=100), index, GRACE)
    back = plan(look({A: stat()}, missing_since=gone.missing_since, now=101), index, GRACE)
    assert not back.missing_since
    assert plan(look({}, missing_since=back.missing_since, now=102), index, GRACE).is_empty


def test_file_that_is_suddenly_empty_waits_like_one_that_vanished() -> None:
    index, seen = {A: known(stat())}, {A: stat(size=0, changed_ns=OLD + 1)}
    first = plan(look(seen, now=100), index, GRACE)
    assert first.is_empty
    assert not first.is_settled
    assert plan(look(seen, missing_since=first.missing_since, now=102), index, GRACE).read == (A,)


def test_changed_file_is_read_when_it_lies_still() -> None:
    grace, index = replace(GRACE, settle=0.2), {A: known(stat())}
    seen = look({A: stat(changed_ns=OLD + 10**9)}, wall_ns=OLD + 10**9 + 50_000_000, now=100)
    first = plan(seen, index, grace)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in is not None
    assert abs(first.retry_in - 0.15) < 1e-6
    assert plan(replace(seen, wall_ns=OLD + 1_200_000_000), index, grace).read == (A,)


def test_file_that_never_lies_still_is_read_after_five_settle_times() -> None:
    grace, index = replace(GRACE, settle=0.2), {A: known(stat())}
    seen = look({A: stat(changed_ns=OLD + 10**9)}, missing_since={A: 99.0}, now=100, wall_ns=OLD + 10**9)
    assert plan(seen, index, grace).read == (A,)


def test_new_file_and_one_of_the_future_are_read_at_once() -> None:
    grace = replace(GRACE, settle=0.2)
    assert plan(look({A: stat()}, wall_ns=OLD), {}, grace).read == (A,)
    assert plan(look({A: stat(changed_ns=OLD + 1)}, wall_ns=OLD), {A: known(stat())}, grace).read == (A,)


def test_new_empty_file_does_not_wait() -> None:
    assert plan(look({A: stat(size=0)}), {}, GRACE).read == (A,)


def test_file_whose_times_the_clock_may_show_again_is_read_again() -> None:
    of = stat(changed_ns=NOW)
    just_read, read_later = IndexedFile(of, NOW + 1), known(of)
    set_back, long_after = NOW - 3_600 * 10**9, NOW + 3_600 * 10**9
    assert plan(look({A: of}, wall_ns=long_after), {A: read_later}, GRACE).is_empty
    assert plan(look({A: of}, wall_ns=set_back), {A: read_later}, GRACE).read == (A,)
    in_the_future = IndexedFile(of, set_back)
    assert plan(look({A: of}, wall_ns=set_back), {A: in_the_future}, GRACE).is_empty
    assert plan(look({A: of}, wall_ns=NOW), {A: in_the_future}, GRACE).read == (A,)
    assert plan(look({A: of}, wall_ns=long_after), {A: just_read}, GRACE).read == (A,)


def test_no_file_is_believed_by_its_times_after_the_clock_was_set_back() -> None:
    seen = replace(look({A: stat(), B: stat(inode=2)}), trusts_times=False)
    assert plan(seen, {A: known(stat()), B: known(stat(inode=2))}, GRACE).read == (A, B)


def test_rename_is_supposed_by_inode_size_and_change_time() -> None:
    todo = plan(look({B: replace(stat(), ctime_ns=OLD + 5)}), {A: known(stat())}, GRACE)
    assert todo.rename == ((A, B),)
    assert not todo.read
    assert not todo.remove
    assert todo.retry_in is None
    assert todo.is_settled


def test_old_path_of_a_supposed_rename_waits_like_any_that_vanished() -> None:
    index, disk = {A: known(stat())}, {B: replace(stat(), ctime_ns=OLD + 5)}
    first = plan(look(disk, now=100), index, GRACE)
    refuted = {**index, B: known(disk[B])}
    second = plan(look(disk, missing_since=first.missing_since, now=101), refuted, GRACE)
    assert second.is_empty
    assert not second.is_settled
    assert second.retry_in == 1
    assert plan(look(disk, missing_since=second.missing_since, now=102), refuted, GRACE).remove == (A,)


def test_rename_with_an_edit_is_read() -> None:
    todo = plan(look({B: stat(size=11)}), {A: known(stat())}, GRACE)
    assert todo.read == (B,)
    assert not todo.rename


def test_new_picture_is_read_when_it_lies_still() -> None:
    grace = replace(GRACE, settle=0.2)
    seen = look({PICTURE: stat()}, wall_ns=OLD + 50_000_000, now=100)
    first = plan(seen, {}, grace)
    assert first.is_empty
    assert not first.is_settled
    assert plan(replace(seen, wall_ns=OLD + 200_000_000), {}, grace).read == (PICTURE,)


def test_note_that_becomes_a_picture_is_another_document() -> None:
    for old, new in ((A, PICTURE), (PICTURE, A)):
        todo = plan(look({new: stat()}), {old: known(stat())}, GRACE)
        assert not todo.rename
        assert todo.read == (new,)


def test_file_moved_over_another_is_no_rename() -> None:
    index = {A: known(stat()), B: known(stat(inode=2))}
    todo = plan(look({B: stat()}), index, GRACE)
    assert todo.read == (B,)
    assert not todo.rename


def test_two_names_of_one_inode_take_over_one_absent_name_once() -> None:
    links = {RelativePath(f"memory/{name}.md"): stat() for name in "bc"}
    todo = plan(look(links), {A: known(stat())}, GRACE)
    assert len(todo.rename) == 1
    assert len(todo.read) == 1


def ended(
    done: Observation, *, again: bool = False, has_queue: bool = False, hold_ends_in: float | None = None
) -> RoundResult:
    todo = plan(done, {A: known(stat())}, GRACE)
    return round_result(todo, again=again, has_queue=has_queue, hold_ends_in=hold_ends_in, settle=0.2)


def test_round_that_did_all_sleeps_until_somebody_asks() -> None:
    assert ended(look({A: stat()})) == RoundResult(None, is_settled=True)


def test_round_is_followed_by_another_when_the_first_wait_ends() -> None:
    assert ended(look({})) == RoundResult(2, is_settled=False)
    assert ended(look({}), hold_ends_in=1) == RoundResult(1, is_settled=False)
    assert ended(look({A: stat()}), hold_ends_in=1) == RoundResult(1, is_settled=False)


def test_what_changed_while_it_was_read_is_read_again_soon() -> None:
    assert ended(look({A: stat()}), again=True) == RoundResult(0.2, is_settled=False)
    assert ended(look({}), again=True, hold_ends_in=1) == RoundResult(0.2, is_settled=False)


def test_large_note_that_is_cut_is_waited_for_and_wakes_the_round_itself() -> None:
    assert ended(look({A: stat()}), has_queue=True) == RoundResult(None, is_settled=False)


def test_what_nobody_can_see_is_not_waited_for() -> None:
    seen = look({}, unreadable=frozenset({A}))
    assert ended(seen) == RoundResult(60, is_settled=True)


@dataclass
class Disk:
    """A toy disk that does what a real one may: it gives inodes anew, lets times be set, and its clock ticks."""

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
    """Whatever happens to the disk, and however rarely it is looked at, the index ends up equal to it."""

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
        """As from an archive: a new file with the times of an old one."""
        self.disk.delete(path)
        self.disk.write(path, text, mtime_ns)

    @rule(old=PATHS, new=PATHS, text=TEXTS)
    def restore_in_place_of(self, old: RelativePath, new: RelativePath, text: str) -> None:
        """One goes, and another comes that looks like it."""
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
        """What is waited for is forgotten, save that the clock was set back, which is seen by the times of reading."""
        self.missing = {}

    @rule(seconds=st.sampled_from([0.0, 3.0]))
    def look(self, seconds: float) -> None:
        self._pass(seconds)
        self._sync()

    @rule()
    def look_while_unmounted(self) -> None:
        held = {path: text for path, text in self.index.items() if path not in self.missing}
        self._sync(disk={}, unreadable=frozenset(self.known))
        assert held.items() <= self.index.items()

    @rule()
    def quiesce(self) -> None:
        """Look as the indexer does: again when a grace period ends, and once more when nothing is racy."""
        for _ in range(4):
            self._pass(GRACE.file)
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
        todo = plan(seen, self.known, GRACE)
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
    believed=st.booleans(),
)
def test_after_all_grace_the_plan_accounts_for_every_difference(
    disk: dict[RelativePath, FileStat], index: dict[RelativePath, FileStat], believed: bool
) -> None:
    held = {path: known(found) for path, found in index.items()}
    long_ago = dict.fromkeys([*index, *disk], 0.0)
    todo = plan(look(disk, missing_since=long_ago, now=1000), held, GRACE)
    after = dict(index)
    for old, new in todo.rename:
        after[new] = after.pop(old) if believed else disk[new]
    for path in todo.remove:
        after.pop(path, None)
    after |= {path: disk[path] for path in todo.read}
    assert after == disk
    assert not todo.missing_since


def test_removal_of_most_files_is_a_mass_removal_and_of_a_handful_is_none() -> None:
    assert is_mass_removal(10, 9)
    assert not is_mass_removal(10, 10)
    assert not is_mass_removal(9, 0)
    assert is_mass_removal(25, 0)
