"""Rows compared with the current files: real files, and a disk that hangs."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.media import MediaRules, Modality
from memoryd.domain.skips import SkipReason
from memoryd.domain.syncplan import IndexedFile
from memoryd.files.excerpts import ABSENT, SAME, DiskState, FileChecker, FileLocation, PresentFile, no_qmd
from memoryd.files.reading import read_snapshot
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRules
from memoryd.search.file_check import MAX_OVERDUE, FileCheck
from memoryd.store.index.passages import ChunkRow
from tests.media_files import png
from tests.waiting import eventually_async

NOTE = RelativePath("memory/note.md")
TODAY = "the rules of today"
WREN = "# Birds\n\nThe wren sings.\n"


def known_of(workspace: Path, path: str = NOTE) -> IndexedFile:
    return read_snapshot(workspace, path, max_bytes=1 << 20).known


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with one note."""
    (tmp_path / "memory").mkdir()
    (tmp_path / NOTE).write_text(WREN)
    return tmp_path


def rules_of(workspace: Path, **changes: object) -> ScanRules:
    return replace(ScanRules(workspace, is_ignored=lambda _path: False), **changes)


def files_of(rules: ScanRules, elsewhere: Callable[[str], FileLocation | None] = no_qmd) -> FileChecker:
    return FileChecker(rules=lambda: rules, roots=lambda: workspace_roots(rules.workspace, ()), locate_qmd=elsewhere)


def check_file(rules: ScanRules, known: IndexedFile | None, path: str = NOTE) -> PresentFile:
    files = files_of(rules)
    return files.check(RelativePath(path), known, files.begin_check())


def text_of(present: PresentFile) -> str:
    assert present.presence is DiskState.OTHER
    return present.data.decode().rstrip("\n")


def test_old_file_with_same_stat_is_not_read() -> None:
    # a file of this Python is old enough; the wrong hash proves that it was not read
    workspace, path = Path(os.__file__).parent, "os.py"
    known = replace(known_of(workspace, path), digest=b"another")
    assert check_file(rules_of(workspace), known, path) is SAME


def test_recent_file_with_same_stat_is_read(place: Path) -> None:
    known = known_of(place)
    assert check_file(rules_of(place), known) is SAME
    assert text_of(check_file(rules_of(place), replace(known, digest=b"another"))) == WREN.rstrip()


def test_file_with_only_another_stat_is_the_same(place: Path) -> None:
    known = known_of(place)
    (place / NOTE).write_text(WREN)
    (place / NOTE).chmod(0o600)
    assert check_file(rules_of(place), known) is SAME


def test_unknown_file_is_read(place: Path) -> None:
    assert text_of(check_file(rules_of(place), None)) == WREN.rstrip()


def test_private_note_is_absent(place: Path) -> None:
    known = known_of(place)
    assert check_file(rules_of(place, is_ignored=lambda path: path == NOTE), known) is ABSENT
    in_doubt = check_file(rules_of(place, may_hide=lambda path: path == NOTE), known)
    assert (in_doubt.presence, in_doubt.reason) == (DiskState.STALE, SkipReason.IN_DOUBT)
    (place / NOTE).write_text(f"---\nmemory: false\n---\n{WREN}")
    assert check_file(rules_of(place), known) is ABSENT


def test_too_large_note_is_absent(place: Path) -> None:
    known = known_of(place)
    (place / NOTE).write_text(WREN * 100)
    assert check_file(rules_of(place, max_file_bytes=100), known) is ABSENT


def test_deleted_note_is_absent_but_unreachable_note_is_stale(place: Path) -> None:
    known = known_of(place)
    (place / NOTE).unlink()
    assert check_file(rules_of(place), known) is ABSENT
    # the folder is on another disk than before
    moved = replace(known, stat=replace(known.stat, device=known.stat.device + 1))
    assert check_file(rules_of(place), moved).reason == SkipReason.OUT_OF_SIGHT
    (place / "memory").rmdir()
    assert check_file(rules_of(place), known).reason == SkipReason.OUT_OF_SIGHT


def test_note_in_a_deleted_folder_is_absent(place: Path) -> None:
    (place / "memory" / "sub").mkdir()
    (place / "memory" / "sub" / "note.md").write_text(WREN)
    known = known_of(place, "memory/sub/note.md")
    (place / "memory" / "sub" / "note.md").unlink()
    (place / "memory" / "sub").rmdir()
    assert check_file(rules_of(place), known, "memory/sub/note.md") is ABSENT
    (place / "memory" / "sub").write_text("a file now")
    assert check_file(rules_of(place), known, "memory/sub/note.md") is ABSENT


@pytest.mark.parametrize("follows", [True, False])
def test_links_count_only_if_followed(place: Path, follows: bool) -> None:
    rules = rules_of(place, follow_symlinks=follows)
    known = known_of(place)
    (place / NOTE).rename(place / "memory" / "real.md")
    (place / NOTE).symlink_to("real.md")
    assert check_file(rules, known) is (SAME if follows else ABSENT)
    (place / NOTE).unlink()
    (place / NOTE).symlink_to("/etc/passwd")
    assert check_file(rules, known) is ABSENT


@pytest.mark.parametrize("follows", [True, False])
def test_file_behind_a_folder_link_counts_only_if_followed(place: Path, follows: bool) -> None:
    known = known_of(place)
    (place / "memory").rename(place / "elsewhere")
    (place / "memory").symlink_to("elsewhere")
    assert check_file(rules_of(place, follow_symlinks=follows), known) is (SAME if follows else ABSENT)
    outside = place.with_name(f"{place.name}-outside")
    (place / "elsewhere").rename(outside)
    (place / "memory").unlink()
    (place / "memory").symlink_to(outside)
    assert check_file(rules_of(place, follow_symlinks=follows), known) is ABSENT


def test_workspace_may_be_reached_through_a_link(place: Path) -> None:
    known = known_of(place)
    link = place.with_name(f"{place.name}-link")
    link.symlink_to(place)
    assert check_file(rules_of(link), known) is SAME


def test_changed_picture_is_stale(place: Path) -> None:
    path = "memory/picture.png"
    (place / path).write_bytes(png("a wren"))
    rules = rules_of(place, media=MediaRules(frozenset({Modality.IMAGE}), 1 << 20))
    known = known_of(place, path)
    (place / path).write_bytes(png("a wren"))
    assert check_file(rules, known, path) is SAME
    (place / path).write_bytes(png("a wren") + b"more")
    assert check_file(rules, known, path).reason == SkipReason.CHANGED


def test_document_of_qmd_is_located_by_qmd(place: Path) -> None:
    rules, known = rules_of(place), known_of(place)
    path = RelativePath("qmd/notes/note.md")
    files = files_of(rules, elsewhere=lambda asked: FileLocation(place, NOTE) if asked == path else None)
    assert files.check(path, known, files.begin_check()) is SAME
    assert files.check(RelativePath("qmd/other/note.md"), known, files.begin_check()) is ABSENT
    (place / NOTE).unlink()
    assert files.check(path, known, files.begin_check()) is ABSENT
    assert check_file(rules, known, path) is ABSENT


def check_of(rules: ScanRules, executor: ThreadPoolExecutor) -> FileCheck:
    return FileCheck(files=files_of(rules), executor=executor, chunker=TODAY)


def row(known: IndexedFile, text: str, line: int = 1, number: int = 1) -> ChunkRow:
    return ChunkRow(number, NOTE, Source.MEMORY, line, line + text.count("\n") - 1, "Birds", text, 0, known)


async def test_each_row_of_a_file_is_moved_or_lost(place: Path, executor: ThreadPoolExecutor) -> None:
    known = known_of(place)
    (place / NOTE).write_text("above\n# Birds\n\nThe wren sang.\nThe owl too.\n")
    lost, moved = row(known, "The wren sings.\n", 3), row(known, "The owl too.\n", 4, 2)
    unnumbered = replace(lost, id=0)
    checked = await check_of(rules_of(place), executor).check([lost, moved], 30)
    assert [checked.current(one) for one in (lost, moved)] == [None, replace(moved, start_line=5, end_line=5)]
    assert (checked.unmatched, checked.absent) == (frozenset({lost}), frozenset())
    assert checked.pending == {NOTE: SkipReason.CHANGED}
    assert checked.exclusions.holds(lost)
    assert not checked.exclusions.holds(moved)
    checked = await check_of(rules_of(place), executor).check([unnumbered], 30)
    assert checked.exclusions.paths == frozenset({NOTE})


async def test_rows_of_older_rules_are_checked_by_current_rules(place: Path, executor: ThreadPoolExecutor) -> None:
    (place / NOTE).write_text(f"---\nmemory: false\n---\n{WREN}")
    let_in = replace(row(known_of(place), WREN, 4), chunker="rules of another release")
    checked = await check_of(rules_of(place), executor).check([let_in], 30)
    assert checked.absent == frozenset({NOTE})
    assert checked.current(let_in) is None
    (place / NOTE).write_text(WREN)
    public = replace(row(known_of(place), WREN), chunker="rules of another release")
    checked = await check_of(rules_of(place), executor).check([public], 30)
    assert (checked.current(public), checked.pending) == (public, {NOTE: SkipReason.CHANGED})


async def test_rules_changed_during_read_make_the_file_stale(place: Path, executor: ThreadPoolExecutor) -> None:
    known = known_of(place)
    (place / NOTE).write_text(f"above\n{WREN}")
    rules = rules_of(place, is_current=lambda: False)
    one = row(known, WREN)
    checked = await check_of(rules, executor).check([one], 30)
    assert (checked.unmatched, dict(checked.pending)) == (frozenset({one}), {NOTE: SkipReason.IN_DOUBT})


@pytest.mark.parametrize("leaves", [False, True])
async def test_hanging_disk_blocks_few_threads(place: Path, executor: ThreadPoolExecutor, leaves: bool) -> None:
    one = row(known_of(place), WREN)
    hangs, looks = threading.Event(), []

    def rules() -> ScanRules:
        looks.append(threading.get_ident())
        hangs.wait(60)
        return rules_of(place)

    files = FileChecker(rules=rules, roots=list)
    check = FileCheck(files=files, executor=executor, chunker=TODAY)
    for _ in range(MAX_OVERDUE + 3):
        try:
            # the caller times out, or leaves
            async with asyncio.timeout(0.05 if leaves else 60):
                checked = await check.check([one], 60 if leaves else 0.05)
        except TimeoutError:
            assert leaves
        else:
            assert (checked.current(one), checked.pending) == (None, {NOTE: SkipReason.LATE})
    assert len(looks) == MAX_OVERDUE
    hangs.set()

    async def is_told() -> bool:
        return (await check.check([one], 10)).current(one) is one

    await eventually_async(is_told)


async def test_nothing_to_check_needs_no_thread(place: Path, executor: ThreadPoolExecutor) -> None:
    executor.shutdown()
    checked = await check_of(rules_of(place), executor).check([], 1)
    assert not checked.pending
