"""A scan of some files updates the last scan as a full scan would, or gives up."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.files.ignore import IgnoreFile, IgnoreTimings
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import Scan, ScanRoot, ScanRules, can_rescan, rescan, scan

FILES = ("MEMORY.md", "memory/a.md", "memory/deep/b.md", "memory/deep/private.md", "bank/c.md", "../aside/d.md")


def rules_of(workspace: Path, *, follow_symlinks: bool = False) -> tuple[Sequence[ScanRoot], ScanRules]:
    ruling = IgnoreFile(workspace, exclude=("private.md",), timings=IgnoreTimings(settle=0, grace=0)).read()
    rules = ScanRules(workspace, is_ignored=ruling.is_ignored, max_file_bytes=1000, follow_symlinks=follow_symlinks)
    return workspace_roots(workspace, ["../aside"]), rules


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    workspace = tmp_path / "notes"
    for name in FILES:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    return workspace


def change(target: Path, rnd: random.Random) -> None:
    """Create, write, move away, shrink, fill or delete a file."""
    if target.exists() and rnd.random() < 0.3:
        target.unlink()
    elif target.exists() and rnd.random() < 0.3:
        target.rename(target.with_name(rnd.choice(("x.md", "y.txt", "z.md"))))
    else:
        target.write_text("x" * rnd.choice((0, 10, 500, 5_000)))


def changed_paths(before: Scan, after: Scan) -> set[RelativePath]:
    """Return the paths that events would have named."""
    changed = {path for path, _ in before.files.items() ^ after.files.items()}
    return changed | {one.path for one in (*before.skipped, *after.skipped)} | {RelativePath("memory/a.md")}


@pytest.mark.parametrize("seed", range(20))
def test_rescan_equals_a_full_scan(notes: Path, seed: int) -> None:
    rnd = random.Random(seed)
    roots, rules = rules_of(notes)
    before = scan(roots, rules)
    for _ in range(30):
        for name in rnd.sample(FILES, rnd.randrange(1, 4)):
            change(notes / name, rnd)
        after = scan(roots, rules)
        again = rescan(before, roots, rules, changed_paths(before, after))
        assert again is not None
        assert again.files == after.files
        assert {(one.path, one.reason) for one in again.skipped} == {(one.path, one.reason) for one in after.skipped}
        assert [(one.root, one.state) for one in again.roots] == [(one.root, one.state) for one in after.roots]
        before = again


def _link(notes: Path) -> None:
    (notes / "memory" / "a.md").symlink_to(notes / "bank" / "c.md")


def _folder(notes: Path) -> None:
    (notes / "memory" / "a.md").mkdir()


def _other_folder(notes: Path) -> None:
    (notes / "memory").rename(notes / "elsewhere")
    (notes / "memory").mkdir()
    (notes / "memory" / "a.md").write_text("The quetzal.\n")


def _no_folder(notes: Path) -> None:
    (notes / "memory").rename(notes / "elsewhere")


@pytest.mark.parametrize("happen", [_link, _folder, _other_folder, _no_folder])
def test_change_of_more_than_a_file_needs_a_full_scan(notes: Path, happen: Callable[[Path], None]) -> None:
    roots, rules = rules_of(notes)
    before = scan(roots, rules)
    assert rescan(before, roots, rules, [RelativePath("memory/a.md")]) is not None
    happen(notes)
    assert rescan(before, roots, rules, [RelativePath("memory/a.md")]) is None


def test_links_and_globs_need_a_full_scan(notes: Path) -> None:
    roots, rules = rules_of(notes)
    assert can_rescan(scan(roots, rules), roots, rules)
    assert not can_rescan(scan(roots, rules), *rules_of(notes, follow_symlinks=True))
    globbed = workspace_roots(notes, ["../asi*"])
    assert not can_rescan(scan(globbed, rules), globbed, rules)
    assert not can_rescan(scan(roots, rules), roots[:-1], rules)
