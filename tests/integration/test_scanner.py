"""The scanner on real folders: what it lists, skips and reports."""

import os
import time
from pathlib import Path

import pytest

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.syncplan import RACY_WINDOW_NS, IndexedFile
from memoryd.files.ignore import IGNORE_FILE, IgnoreFile, IgnoreTimings, RealPaths
from memoryd.files.roots import base_of, unseen_files, workspace_roots
from memoryd.files.scanner import RootReport, RootState, Scan, ScanRoot, ScanRules, scan


def scan_workspace(
    workspace: Path, *, extra: tuple[str, ...] = (), exclude: tuple[str, ...] = (), depth: int = 64
) -> Scan:
    ruling = IgnoreFile(workspace, exclude=exclude, timings=IgnoreTimings(settle=0, grace=0)).read()
    rules = ScanRules(workspace=workspace, is_ignored=ruling.is_ignored, max_depth=depth)
    return scan(workspace_roots(workspace, extra), rules)


def scan_following_links(workspace: Path) -> Scan:
    ruling = IgnoreFile(workspace, timings=IgnoreTimings(settle=0, grace=0), follow_symlinks=True).read()
    return scan(
        workspace_roots(workspace, []), ScanRules(workspace, is_ignored=ruling.is_ignored, follow_symlinks=True)
    )


def states(seen: Scan) -> dict[str, RootState]:
    return {report.root.path.name: report.state for report in seen.roots}


def reasons(seen: Scan) -> dict[str, str]:
    return {it.path: it.reason for it in seen.skipped}


def make(workspace: Path, *names: str) -> None:
    for name in names:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("text\n")


def test_only_notes_in_known_places_are_listed(tmp_path: Path) -> None:
    make(
        tmp_path,
        *("MEMORY.md", "SOUL.md", "README.md", "notes/a.md", "memory/a.md", "memory/deep/b.MD", "bank/c.md"),
        *("memory/.hidden.md", "memory/.git/x.md", "memory/a.txt", "memory/a.md~", "memory/#a.md#", "memory/4913"),
    )
    expected = {"MEMORY.md", "SOUL.md", "memory/a.md", "memory/deep/b.MD", "bank/c.md"}
    assert scan_workspace(tmp_path).files.keys() == expected


def test_workspace_below_folders_that_watchers_ignore_is_listed(tmp_path: Path) -> None:
    workspace = tmp_path / ".venv" / "node_modules" / ".git" / "ws"
    make(workspace, "memory/a.md")
    assert scan_workspace(workspace).files.keys() == {"memory/a.md"}


def test_states_of_roots_are_reported(tmp_path: Path) -> None:
    make(tmp_path, "memory/a.md")
    (tmp_path / "bank").symlink_to(tmp_path / "memory", target_is_directory=True)
    found = states(scan_workspace(tmp_path))
    assert found["memory"] is RootState.OK
    assert found["bank"] is RootState.REFUSED
    assert found["MEMORY.md"] is RootState.MISSING


def test_missing_workspace_gives_an_empty_scan(tmp_path: Path) -> None:
    seen = scan_workspace(tmp_path / "none")
    assert not seen.files
    assert seen.workspace_device is None


def test_both_spellings_of_the_core_file_are_listed(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md", "memory.md")
    assert scan_workspace(tmp_path).files.keys() == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("MEMORY.md", {"SOUL.md", "memory/a.md", "memory/drafts/b.md", "bank/c.md"}),
        ("drafts/", {"MEMORY.md", "SOUL.md", "memory/a.md", "bank/c.md"}),
        ("memory/", {"MEMORY.md", "SOUL.md", "bank/c.md"}),
        ("*.md", set()),
        ("/bank", {"MEMORY.md", "SOUL.md", "memory/a.md", "memory/drafts/b.md"}),
    ],
)
def test_patterns_apply_to_all_roots(tmp_path: Path, pattern: str, left: set[str]) -> None:
    make(tmp_path, "MEMORY.md", "SOUL.md", "memory/a.md", "memory/drafts/b.md", "bank/c.md")
    assert scan_workspace(tmp_path, exclude=(pattern,)).files.keys() == left
    (tmp_path / ".memoryignore").write_text(f"{pattern}\n")
    assert scan_workspace(tmp_path).files.keys() == left


def test_too_deep_tree_is_reported(tmp_path: Path) -> None:
    make(tmp_path, "memory/" + "d/" * 8 + "deep.md", "memory/d/d/near.md")
    seen = scan_workspace(tmp_path, depth=5)
    assert seen.files.keys() == {"memory/d/d/near.md"}
    assert any("5 folders deep" in reason for reason in reasons(seen).values())


def test_odd_names_are_listed_or_reported(tmp_path: Path) -> None:
    make(tmp_path, "memory/a\nb.md", "memory/😀.md", "memory/-rf.md", f"memory/{'n' * 252}.md", "memory/e\u0301.md")
    os.close(os.open(os.fsencode(tmp_path) + b"/memory/\xff.md", os.O_CREAT | os.O_WRONLY))
    (tmp_path / "memory" / "folder.md").mkdir()
    seen = scan_workspace(tmp_path)
    assert len(seen.files) == 5
    assert reasons(seen) == {"memory/\\xff.md": "its name is not UTF-8"}


def test_overlapping_extra_roots_list_a_note_once(tmp_path: Path) -> None:
    make(tmp_path, "memory/a.md", "memory/deep/b.md")
    seen = scan_workspace(tmp_path, extra=("memory/deep", "memory", str(tmp_path / "memory" / "a.md")))
    assert seen.files.keys() == {"memory/a.md", "memory/deep/b.md"}


def test_every_listed_note_is_below_its_root(tmp_path: Path) -> None:
    workspace, shared = tmp_path / "ws", tmp_path / "shared"
    make(workspace, "memory/a.md", "MEMORY.md")
    make(shared, "deep/b.md")
    (tmp_path / "one.md").write_text("text\n")
    extra = (str(shared), str(tmp_path / "one.md"))
    seen = scan_workspace(workspace, extra=extra)
    assert len(seen.files) == 4
    for path in seen.files:
        base, relative = base_of(path, workspace, workspace_roots(workspace, extra))
        assert (base / relative).is_file()
        assert ".." not in relative


def test_listed_folders_are_those_to_watch(tmp_path: Path) -> None:
    make(tmp_path, "memory/deep/b.md", "memory/.git/x.md")
    assert set(scan_workspace(tmp_path).folders) == {str(tmp_path / "memory"), str(tmp_path / "memory" / "deep")}


@pytest.mark.parametrize("state", [RootState.MISSING, RootState.UNREADABLE])
def test_unlisted_workspace_keeps_its_notes(tmp_path: Path, state: RootState) -> None:
    device = tmp_path.stat().st_dev
    known = {RelativePath("note.md"): IndexedFile(FileStat(device, 1, 2, 3, 4), 5, b"")}
    seen = Scan(roots=[RootReport(ScanRoot(tmp_path), state, 0)], workspace_device=device)
    assert unseen_files(seen, known, ScanRules(tmp_path, is_ignored=lambda _: False)) == {"note.md"}


def test_rules_apply_to_a_folder_through_a_link(tmp_path: Path) -> None:
    workspace = tmp_path / "home" / "ws"
    make(workspace, "notes/private/a.md", "notes/b.md")
    (tmp_path / "link").symlink_to(tmp_path / "home", target_is_directory=True)
    (workspace / ".memoryignore").write_text("/notes/private/\n")
    seen = scan_workspace(workspace, extra=(str(tmp_path / "link" / "ws" / "notes"),))
    assert seen.files.keys() == {"../../link/ws/notes/b.md"}


@pytest.mark.parametrize("target", ["notes/private/a.md", "notes/private"])
def test_followed_link_to_what_a_rule_hides_is_hidden(tmp_path: Path, target: str) -> None:
    make(tmp_path, "notes/private/a.md", "notes/b.md", "memory/c.md")
    (tmp_path / "memory" / "open.md").symlink_to(tmp_path / "notes" / "b.md")
    (tmp_path / "memory" / ("link" if target.endswith("private") else "link.md")).symlink_to(tmp_path / target)
    (tmp_path / ".memoryignore").write_text("/notes/private/\n")
    assert scan_following_links(tmp_path).files.keys() == {"memory/c.md", "memory/open.md"}


def test_files_with_memories_have_their_own_size_limit(tmp_path: Path) -> None:
    names = ("memory/2026-11-18.md", "bank/world.md", "bank/entities/Peter.md", "memory/server.md")
    make(tmp_path, *names)
    for name in names:
        os.truncate(tmp_path / name, (8 << 20) + 1)
    seen = scan_workspace(tmp_path)
    assert seen.files.keys() == {"memory/server.md"}
    assert set(reasons(seen)) == set(names[:3])
    assert set(reasons(seen).values()) == {"larger than the limit of daily logs and pages of the bank (8388608 bytes)"}


@pytest.mark.parametrize("follows", [False, True])
def test_changed_rules_with_same_size_and_time_are_read(tmp_path: Path, follows: bool) -> None:
    file, other = tmp_path / IGNORE_FILE, tmp_path / "other"
    ignore = IgnoreFile(tmp_path, timings=IgnoreTimings(settle=0, grace=0), follow_symlinks=follows)
    file.write_text("a.md\n")
    before = file.stat()
    # after this time an equal stat proves that nothing changed
    time.sleep(1.1 * RACY_WINDOW_NS / 1e9)
    ruling = ignore.read()
    assert (ignore.read().is_ignored("a.md"), ruling.is_current()) == (True, True)
    file.write_text("b.md\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not ruling.is_current()
    assert [ignore.read().is_ignored(name) for name in ("a.md", "b.md")] == [False, True]
    other.write_text("c.md\n")
    file.unlink()
    file.symlink_to(other)
    assert ignore.read().is_ignored("c.md") is follows


def test_real_paths_resolve_links(tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    make(workspace, "memory/deep/a.md", "bank/b.md")
    (workspace / "memory" / "linked").symlink_to(workspace / "bank")
    paths = RealPaths(workspace, follow_symlinks=False)
    folders = ("", "memory/deep", "memory/missing", "memory/linked", "memory/linked/below", "memory/../bank")
    assert [paths.is_direct(folder) for folder in folders] == [True, True, True, False, False, False]
    real = os.path.realpath(workspace)
    assert [paths.of(f"{folder}/x.md") for folder in folders[1:]] == [
        f"{real}/{folder}/x.md" for folder in ("memory/deep", "memory/missing", "bank", "bank/below", "bank")
    ]
