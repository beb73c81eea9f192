"""Replacing files: whole or not at all, and never over what somebody else wrote meanwhile."""

import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path

import pytest

from memoryd.domain.documents import FileStat
from memoryd.files import writing
from memoryd.files.reading import TornReadError, read_snapshot
from memoryd.files.writing import FileChangedError, exchange, remove_file, replace_file

OTHER = b"by an editor\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "note.md"


def seen(path: Path) -> FileStat:
    return read_snapshot(path.parent, path.name, max_bytes=1 << 20).stat


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(path: Path) -> list[str]:
    return [one.name for one in path.parent.iterdir()]


def test_file_is_written_for_its_owner_alone(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"new", is_durable=True)
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert names(path) == [path.name]


def test_what_cannot_be_written_leaves_the_old_file_and_no_draft(path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError):
        replace_file(path, b"new")
    assert names(path) == [path.name]


def test_file_that_was_read_is_replaced_and_keeps_its_mode(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"new", expected=seen(path))
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o640
    assert names(path) == [path.name]


def saved(path: Path) -> None:
    draft = path.with_name("draft")
    draft.write_bytes(OTHER)
    draft.replace(path)


def rewritten(path: Path) -> None:
    path.write_bytes(OTHER)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(OTHER)


CHANGES: list[Callable[[Path], None]] = [saved, rewritten, appended, Path.unlink, lambda path: path.chmod(0o600)]


@pytest.mark.parametrize("change", CHANGES)
def test_file_that_changed_since_it_was_read_is_not_replaced(path: Path, change: Callable[[Path], None]) -> None:
    path.write_bytes(b"old")
    path.chmod(0o644)
    expected = seen(path)
    change(path)
    left = path.read_bytes() if path.exists() else None
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert (path.read_bytes() if path.exists() else None) == left
    assert names(path) == ([] if left is None else [path.name])


def test_file_that_was_absent_is_made_once(path: Path) -> None:
    replace_file(path, b"first", expected="absent")
    assert mode(path) == 0o600
    with pytest.raises(FileChangedError):
        replace_file(path, b"second", expected="absent")
    assert path.read_bytes() == b"first"
    assert names(path) == [path.name]


def test_link_is_not_what_was_read_behind_it(path: Path) -> None:
    real = path.with_name("real.md")
    real.write_bytes(b"old")
    expected = seen(real)
    path.symlink_to(real)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.is_symlink()


@pytest.mark.parametrize("change", [saved, rewritten, appended])
def test_editor_that_saves_after_the_comparison_loses_nothing(
    path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"old")
    expected = seen(path)
    calls: list[Path] = []

    def late(one: Path, other: Path) -> bool:
        if not calls:
            change(other)
        calls.append(other)
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.read_bytes().endswith(OTHER)
    assert names(path) == [path.name]


@pytest.mark.skipif(sys.platform == "darwin", reason="nobody tells there who has a file open")
@pytest.mark.parametrize("act", ["replace", "remove"])
def test_file_that_somebody_is_about_to_write_into_is_left_to_them(path: Path, act: str) -> None:
    path.write_bytes(b"old")
    with path.open("wb", buffering=0) as editor:
        # emptied, and not written yet: what it is about to write has no other place
        expected = seen(path)
        with pytest.raises(FileChangedError, match="is open in a program"):
            replace_file(path, b"new", expected=expected) if act == "replace" else remove_file(path, expected)
        editor.write(OTHER)
    assert path.read_bytes() == OTHER
    assert names(path) == [path.name]


@pytest.mark.skipif(sys.platform == "darwin", reason="nobody tells there who has a file open")
def test_file_that_is_opened_after_the_comparison_is_left_to_who_writes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"")
    expected = seen(path)
    editors: list[FileIO] = []

    def late(one: Path, other: Path) -> bool:
        if not editors:
            # nothing of it shows in its stat
            editors.append(FileIO(other, "r+"))
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(FileChangedError, match="is open in a program"):
        replace_file(path, b"new", expected=expected)
    editors[0].write(OTHER)
    editors[0].close()
    assert path.read_bytes() == OTHER
    assert names(path) == [path.name]


def test_editor_that_saves_twice_keeps_the_later_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"old")
    expected = seen(path)
    saves = [b"first", b"second"]

    def late(one: Path, other: Path) -> bool:
        if saves:
            draft = path.with_name("draft")
            draft.write_bytes(saves.pop(0))
            draft.replace(path)
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.read_bytes() == b"second"
    assert names(path) == [path.name]


def test_editor_that_saves_twice_the_second_time_in_place_keeps_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"old")
    expected = seen(path)
    changes: list[Callable[[], object]] = [
        lambda: _renamed_over(path, b"first"),
        lambda: path.write_bytes(b"the second"),
    ]

    def late(one: Path, other: Path) -> bool:
        if changes:
            changes.pop(0)()
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.read_bytes() == b"the second"


def test_file_that_an_editor_saves_and_then_removes_stays_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"old")
    expected = seen(path)
    changes: list[Callable[[], object]] = [lambda: _renamed_over(path, b"first"), path.unlink]

    def late(one: Path, other: Path) -> bool:
        if changes:
            changes.pop(0)()
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", late)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert names(path) == []


def _renamed_over(path: Path, data: bytes) -> None:
    draft = path.with_name("draft")
    draft.write_bytes(data)
    draft.replace(path)


def exchange_works(path: Path) -> bool:
    pair = [path.with_name(name) for name in ("one", "other")]
    for one in pair:
        one.write_bytes(one.name.encode())
    works = exchange(*pair)
    assert pair[0].read_bytes() == (b"other" if works else b"one")
    for one in pair:
        one.unlink()
    return works


def test_disk_that_cannot_exchange_compares_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "exchange", lambda _one, _other: False)
    path.write_bytes(b"old")
    expected = seen(path)
    replace_file(path, b"new", expected=expected)
    with pytest.raises(FileChangedError):
        replace_file(path, b"newer", expected=expected)
    assert path.read_bytes() == b"new"


def test_of_many_writers_none_loses_what_another_wrote(path: Path) -> None:
    path.write_bytes(b"")

    def add_lines(writer: int) -> None:
        for number in range(20):
            while not added(path, b"%d %d\n" % (writer, number)):
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_lines, range(4)))
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"{writer} {number}" for writer in range(4) for number in range(20))


def added(path: Path, line: bytes) -> bool:
    try:
        content = read_snapshot(path.parent, path.name, max_bytes=1 << 20)
        replace_file(path, content.data + line, expected=content.stat)
    except (FileChangedError, TornReadError):
        return False
    return True


def test_no_save_of_an_editor_is_lost_to_a_writer(path: Path) -> None:
    if not exchange_works(path):
        pytest.skip("this disk cannot exchange files")
    path.write_bytes(b"")
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            added(path, b"ours\n")

    with ThreadPoolExecutor(1) as pool:
        writing_on = pool.submit(write)
        try:
            for number in range(200):
                draft = path.with_name("draft")
                draft.write_bytes(b"".join(b"%d\n" % saved for saved in range(number + 1)))
                draft.replace(path)
        finally:
            is_over.set()
        writing_on.result()
    theirs = [line for line in path.read_text().splitlines() if line != "ours"]
    assert theirs == [str(number) for number in range(200)]


@pytest.mark.parametrize("expects", ["anything", "absent", "old"])
def test_stat_of_what_was_written_is_returned(path: Path, expects: str) -> None:
    if expects == "old":
        path.write_bytes(b"old")
    expected = {"anything": None, "absent": "absent", "old": seen(path) if expects == "old" else None}[expects]
    assert replace_file(path, b"new", expected=expected) == seen(path)  # type: ignore[arg-type]


def test_file_is_removed_only_as_it_was_read(path: Path) -> None:
    path.write_bytes(b"old")
    before = seen(path)
    path.write_bytes(OTHER)
    with pytest.raises(FileChangedError):
        remove_file(path, before)
    assert path.read_bytes() == OTHER
    remove_file(path, seen(path))
    with pytest.raises(FileChangedError):
        remove_file(path, before)
    assert names(path) == []
