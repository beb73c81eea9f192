from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.media import modality_of
from memoryd.domain.syncplan import RACY_WINDOW_NS, Grace, Known, Observation, plan

GRACE = Grace(file=2, root=60)
OLD = 10**18
A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
PICTURE = RelativePath("assets/a.png")


def stat(inode: int = 1, size: int = 10, changed_ns: int = OLD, device: int = 1) -> FileStat:
    return FileStat(device, inode, size, changed_ns, changed_ns)


def known(of: FileStat) -> Known:
    return Known(of, of.ctime_ns + RACY_WINDOW_NS + 1)


def test_equal_disk_and_index_need_nothing() -> None:
    todo = plan(Observation({A: stat()}), {A: known(stat())}, GRACE)
    assert todo.is_empty
    assert todo.is_settled
    assert todo.retry_in is None


def test_new_and_changed_files_are_read() -> None:
    seen = Observation({A: stat(size=11), B: stat(inode=2)})
    assert set(plan(seen, {A: known(stat())}, GRACE).read) == {A, B}


def test_any_difference_of_the_stat_is_a_suspicion() -> None:
    before = stat()
    for name in ("device", "inode", "size", "mtime_ns", "ctime_ns"):
        after = replace(before, **{name: getattr(before, name) + 1})
        assert plan(Observation({A: after}), {A: known(before)}, GRACE).read == (A,)


def test_file_read_just_after_its_change_is_read_again() -> None:
    racy = Known(stat(), OLD + RACY_WINDOW_NS - 1)
    assert plan(Observation({A: stat()}), {A: racy}, GRACE).read == (A,)


def test_stale_file_is_read_again() -> None:
    assert plan(Observation({A: stat()}), {A: replace(known(stat()), is_stale=True)}, GRACE).read == (A,)


def test_vanished_file_is_removed_after_its_grace() -> None:
    index = {A: known(stat())}
    first = plan(Observation({}, now=100), index, GRACE)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in == 2
    second = plan(Observation({}, missing_since=first.missing_since, now=102), index, GRACE)
    assert second.remove == (A,)
    assert second.is_settled


def test_vanished_root_keeps_its_files_for_the_longer_grace() -> None:
    index = {A: known(stat())}
    first = plan(Observation({}, frozenset({A}), now=100), index, GRACE)
    assert first.is_settled
    later = plan(Observation({}, frozenset({A}), first.missing_since, now=159), index, GRACE)
    assert later.is_empty
    assert plan(Observation({}, frozenset({A}), later.missing_since, now=160), index, GRACE).remove == (A,)


def test_file_that_came_back_starts_its_grace_anew() -> None:
    index = {A: known(stat())}
    gone = plan(Observation({}, now=100), index, GRACE)
    back = plan(Observation({A: stat()}, missing_since=gone.missing_since, now=101), index, GRACE)
    assert not back.missing_since
    assert plan(Observation({}, missing_since=back.missing_since, now=102), index, GRACE).is_empty


def test_file_that_is_suddenly_empty_waits_like_one_that_vanished() -> None:
    index, seen = {A: known(stat())}, {A: stat(size=0, changed_ns=OLD + 1)}
    first = plan(Observation(seen, now=100), index, GRACE)
    assert first.is_empty
    assert not first.is_settled
    assert plan(Observation(seen, missing_since=first.missing_since, now=102), index, GRACE).read == (A,)


def test_changed_file_is_read_when_it_lies_still() -> None:
    grace, index = replace(GRACE, settle=0.2), {A: known(stat())}
    seen = Observation({A: stat(changed_ns=OLD + 10**9)}, wall_ns=OLD + 10**9 + 50_000_000, now=100)
    first = plan(seen, index, grace)
    assert first.is_empty
    assert not first.is_settled
    assert first.retry_in is not None
    assert abs(first.retry_in - 0.15) < 1e-6
    assert plan(replace(seen, wall_ns=OLD + 1_200_000_000), index, grace).read == (A,)


def test_file_that_never_lies_still_is_read_after_five_settle_times() -> None:
    grace, index = replace(GRACE, settle=0.2), {A: known(stat())}
    seen = Observation({A: stat(changed_ns=OLD + 10**9)}, missing_since={A: 99.0}, now=100, wall_ns=OLD + 10**9)
    assert plan(seen, index, grace).read == (A,)


def test_new_file_and_one_of_the_future_are_read_at_once() -> None:
    grace = replace(GRACE, settle=0.2)
    assert plan(Observation({A: stat()}, wall_ns=OLD), {}, grace).read == (A,)
    assert plan(Observation({A: stat(changed_ns=OLD + 1)}, wall_ns=OLD), {A: known(stat())}, grace).read == (A,)


def test_new_empty_file_does_not_wait() -> None:
    assert plan(Observation({A: stat(size=0)}), {}, GRACE).read == (A,)


def test_rename_is_recognised_by_inode_size_and_change_time() -> None:
    todo = plan(Observation({B: replace(stat(), ctime_ns=OLD + 5)}), {A: known(stat())}, GRACE)
    assert todo.rename == ((A, B),)
    assert not todo.read
    assert not todo.remove
    assert todo.is_settled


def test_rename_with_an_edit_is_read() -> None:
    todo = plan(Observation({B: stat(size=11)}), {A: known(stat())}, GRACE)
    assert todo.read == (B,)
    assert not todo.rename


def test_renamed_file_that_is_racy_or_stale_is_read_too() -> None:
    for doubtful in (Known(stat(), OLD + 1), replace(known(stat()), is_stale=True)):
        todo = plan(Observation({B: stat()}), {A: doubtful}, GRACE)
        assert todo.rename == ((A, B),)
        assert todo.read == (B,)
        assert todo.is_settled


def test_new_picture_is_read_when_it_lies_still() -> None:
    grace = replace(GRACE, settle=0.2)
    seen = Observation({PICTURE: stat()}, wall_ns=OLD + 50_000_000, now=100)
    first = plan(seen, {}, grace)
    assert first.is_empty
    assert not first.is_settled
    assert plan(replace(seen, wall_ns=OLD + 200_000_000), {}, grace).read == (PICTURE,)


def test_renamed_picture_is_read_too_since_its_text_is_its_name() -> None:
    other = RelativePath("assets/b.png")
    todo = plan(Observation({other: stat()}), {PICTURE: known(stat())}, GRACE)
    assert todo.rename == ((PICTURE, other),)
    assert todo.read == (other,)


def test_note_that_becomes_a_picture_is_another_document() -> None:
    for old, new in ((A, PICTURE), (PICTURE, A)):
        todo = plan(Observation({new: stat()}), {old: known(stat())}, GRACE)
        assert not todo.rename
        assert todo.read == (new,)


def test_file_moved_over_another_is_no_rename() -> None:
    index = {A: known(stat()), B: known(stat(inode=2))}
    todo = plan(Observation({B: stat()}), index, GRACE)
    assert todo.read == (B,)
    assert not todo.rename


def test_two_names_of_one_inode_take_over_one_absent_name_once() -> None:
    links = {RelativePath(f"memory/{name}.md"): stat() for name in "bc"}
    todo = plan(Observation(links), {A: known(stat())}, GRACE)
    assert len(todo.rename) == 1
    assert len(todo.read) == 1


@dataclass
class Disk:
    """A toy disk where every change of content is a change of the stat, as on a real one."""

    files: dict[RelativePath, FileStat] = field(default_factory=dict)
    content: dict[tuple[int, int], str] = field(default_factory=dict)
    clock: int = OLD
    inodes: int = 0

    def write(self, path: RelativePath, text: str) -> None:
        self.clock += 1
        inode = self.files[path].inode if path in self.files else self._new_inode()
        self.files[path] = FileStat(1, inode, len(text), self.clock, self.clock)
        self.content[inode, self.clock] = text

    def move(self, old: RelativePath, new: RelativePath) -> None:
        self.clock += 1
        moved = self.files.pop(old)
        self.files[new] = replace(moved, ctime_ns=self.clock)

    def read(self, path: RelativePath) -> str:
        return self.content[self.files[path].inode, self.files[path].mtime_ns]

    def _new_inode(self) -> int:
        self.inodes += 1
        return self.inodes


PATHS = st.sampled_from([RelativePath(f"memory/{name}") for name in ("a.md", "b.md", "c.md", "d.md", "e.png", "f.png")])
TEXTS = st.sampled_from(["", "x", "yy", "zz", "some more"])


class PlanFollowsDisk(RuleBasedStateMachine):
    """Whatever happens to the disk, and however rarely it is looked at, the index ends up equal to it."""

    @initialize()
    def begin(self) -> None:
        self.disk = Disk()
        self.known: dict[RelativePath, Known] = {}
        self.index: dict[RelativePath, str] = {}
        self.missing: dict[RelativePath, float] = {}
        self.now = 0.0
        self.is_unmounted = False

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: RelativePath, text: str) -> None:
        self.disk.write(path, text)

    @rule(path=PATHS)
    def delete(self, path: RelativePath) -> None:
        self.disk.files.pop(path, None)

    @rule(old=PATHS, new=PATHS)
    def move(self, old: RelativePath, new: RelativePath) -> None:
        if old in self.disk.files and old != new:
            self.disk.move(old, new)

    @rule(seconds=st.sampled_from([0.1, 1.0, 3.0, 30.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.disk.clock += int(seconds * 1e9)

    @rule()
    def look(self) -> None:
        self._sync()

    @rule()
    def look_while_unmounted(self) -> None:
        held = {path: text for path, text in self.index.items() if path not in self.missing}
        self._sync(disk={}, unreadable=frozenset(self.known))
        assert held.items() <= self.index.items()

    @rule()
    def quiesce(self) -> None:
        """Look as the indexer does: again when a grace period ends, and once more when nothing is racy."""
        for _ in range(3):
            self.now += GRACE.file
            self.disk.clock += int(GRACE.file * 1e9)
            self._sync()
        assert self.index == {path: self.disk.read(path) for path in self.disk.files}

    @invariant()
    def index_and_stats_name_the_same_files(self) -> None:
        if hasattr(self, "index"):
            assert self.index.keys() == self.known.keys()

    def _sync(
        self,
        disk: dict[RelativePath, FileStat] | None = None,
        unreadable: frozenset[RelativePath] = frozenset(),
    ) -> None:
        files = dict(self.disk.files if disk is None else disk)
        todo = plan(Observation(files, unreadable, self.missing, self.now), self.known, GRACE)
        assert all(self.known[old].is_racy or modality_of(new) for old, new in todo.rename if new in todo.read)
        assert not set(todo.remove) & files.keys()
        self.missing = dict(todo.missing_since)
        for old, new in todo.rename:
            self.known[new] = Known(files[new], self.disk.clock)
            self.index[new] = self.index.pop(old)
            del self.known[old]
        for path in todo.remove:
            del self.index[path], self.known[path]
        for path in todo.read:
            self.known[path] = Known(files[path], self.disk.clock)
            self.index[path] = self.disk.read(path)


TestPlanFollowsDisk = PlanFollowsDisk.TestCase


@given(
    disk=st.dictionaries(PATHS, st.builds(stat, inode=st.integers(1, 4), size=st.integers(0, 2)), max_size=6),
    index=st.dictionaries(PATHS, st.builds(stat, inode=st.integers(1, 4), size=st.integers(0, 2)), max_size=6),
)
def test_after_all_grace_the_plan_accounts_for_every_difference(
    disk: dict[RelativePath, FileStat], index: dict[RelativePath, FileStat]
) -> None:
    held = {path: known(found) for path, found in index.items()}
    long_ago = dict.fromkeys([*index, *disk], 0.0)
    todo = plan(Observation(disk, missing_since=long_ago, now=1000), held, GRACE)
    after = dict(index)
    for old, new in todo.rename:
        after[new] = after.pop(old)
    for path in todo.remove:
        del after[path]
    after |= {path: disk[path] for path in todo.read}
    assert after == disk
    assert not todo.missing_since
