"""Counting the Markdown files of a workspace that are not indexed."""

import os
from pathlib import Path

from memoryd.domain.documents import OutsideCount
from memoryd.files.ignore import IgnoreFile, IgnoreTimings
from memoryd.files.roots import count_outside, workspace_roots
from memoryd.files.scanner import ScanRules, scan


def counted(workspace: Path, *extra: str, max_files: int = 1000, max_entries: int = 20_000) -> OutsideCount:
    now = IgnoreTimings(settle=0, grace=0)
    ruling = IgnoreFile(workspace, exclude=["left-out/"], timings=now).read()
    index = workspace / "index"
    rules = ScanRules(workspace=workspace, is_ignored=ruling.is_ignored, hold=ruling.hold, excluded_folder=index)
    seen = scan(workspace_roots(workspace, extra), rules)
    return count_outside(seen, rules, max_files=max_files, max_entries=max_entries)


def write(workspace: Path, *names: str, text: str = "# Note\n\ntext\n") -> None:
    for name in names:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)


def test_indexed_files_are_not_outside(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "SOUL.md", "memory/deep/a.md", "bank/b.md")
    assert counted(tmp_path) == OutsideCount()
    write(tmp_path, "plain.md", "projects/one.md", "projects/deep/two.md")
    assert counted(tmp_path) == OutsideCount(3)
    assert counted(tmp_path, "projects") == OutsideCount(1)
    assert counted(tmp_path, "projects/*.md") == OutsideCount(2)
    assert counted(tmp_path, ".") == OutsideCount()
    copy = "MEMORY.sync-conflict-20261103-080000-ABCDEFG.md"
    write(tmp_path, copy, copy.replace("MEMORY", "plain"))
    assert counted(tmp_path) == OutsideCount(5, copies=(copy,))
    assert counted(tmp_path, ".") == OutsideCount()


def test_hidden_ignored_private_and_foreign_files_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / ".memoryignore").write_text("secret*.md\n")
    write(tmp_path, ".git/a.md", ".a.md", "left-out/a.md", "secret-1.md", "index/a.md", "a.txt", "a.md~", "#a.md#")
    write(tmp_path, "private.md", text="---\nmemory: false\n---\n# Private\n")
    (tmp_path / "linked.md").symlink_to("/etc/hostname")
    (tmp_path / "folder").symlink_to("/usr/share")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert counted(tmp_path) == OutsideCount()
    write(tmp_path, "folder.md/one.md")
    assert counted(tmp_path) == OutsideCount(1)
    (tmp_path / ".memoryignore").write_bytes(b"\xff\xfe\xff")
    assert counted(tmp_path) == OutsideCount(), "it is unknown what is private"


def test_count_is_bounded(tmp_path: Path) -> None:
    write(tmp_path, *(f"notes/{number}.md" for number in range(30)))
    assert counted(tmp_path, max_files=30) == OutsideCount(30)
    assert counted(tmp_path, max_files=10) == OutsideCount(10, is_more=True)
    assert counted(tmp_path, max_entries=20) == OutsideCount(19, is_more=True)
    assert str(OutsideCount(10, is_more=True)) == "more than 10 Markdown files"
    assert str(OutsideCount(1)) == "1 Markdown file"


def test_missing_workspace_has_nothing_outside(tmp_path: Path) -> None:
    assert counted(tmp_path / "gone") == OutsideCount()
