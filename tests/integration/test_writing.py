"""Replacing files: atomically, and never over concurrent changes."""

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


@pytest.fixture
def can_exchange(path: Path) -> None:
    """Skip the test where the disk cannot exchange files."""
    pair = [path.with_name(name) for name in ("one", "other")]
    for file in pair:
        file.write_bytes(file.name.encode())
    works = exchange(*pair)
    assert pair[0].read_bytes() == (b"other" if works else b"one")
    for file in pair:
        file.unlink()
    if not works:
        pytest.skip("this disk cannot exchange files")


def before_exchange(monkeypatch: pytest.MonkeyPatch, *changes: Callable[[Path], object]) -> None:
    """Apply one change to the target before each exchange of files."""
    left = list(changes)

    def change_and_exchange(one: Path, other: Path) -> bool:
        if left:
            left.pop(0)(other)
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", change_and_exchange)


def test_file_is_written_private(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"new", is_durable=True)
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert names(path) == [path.name]


def test_failed_write_leaves_old_file_and_no_draft(path: Path) -> None:
    path.mkdir()
    with pytest.raises(OSError):
        replace_file(path, b"new")
    assert names(path) == [path.name]


def test_replaced_file_keeps_its_mode(path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"new", expected=seen(path))
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o640
    assert names(path) == [path.name]


def renamed_over(path: Path, data: bytes) -> None:
    draft = path.with_name("draft")
    draft.write_bytes(data)
    draft.replace(path)


def saved(path: Path) -> None:
    renamed_over(path, OTHER)


def rewritten(path: Path) -> None:
    path.write_bytes(OTHER)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(OTHER)


CHANGES: list[Callable[[Path], None]] = [saved, rewritten, appended, Path.unlink, lambda path: path.chmod(0o600)]


@pytest.mark.parametrize("change", CHANGES)
def test_file_changed_since_read_is_not_replaced(path: Path, change: Callable[[Path], None]) -> None:
    path.write_bytes(b"old")
    path.chmod(0o644)
    expected = seen(path)
    change(path)
    left = path.read_bytes() if path.exists() else None
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert (path.read_bytes() if path.exists() else None) == left
    assert names(path) == ([] if left is None else [path.name])


def test_absent_file_is_created_once(path: Path) -> None:
    replace_file(path, b"first", expected="absent")
    assert mode(path) == 0o600
    with pytest.raises(FileChangedError):
        replace_file(path, b"second", expected="absent")
    assert path.read_bytes() == b"first"
    assert names(path) == [path.name]


def test_link_to_the_read_file_is_not_replaced(path: Path) -> None:
    real = path.with_name("real.md")
    real.write_bytes(b"old")
    expected = seen(real)
    path.symlink_to(real)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.is_symlink()


@pytest.mark.usefixtures("can_exchange")
@pytest.mark.parametrize("change", [saved, rewritten, appended])
def test_save_after_the_comparison_is_kept(
    path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"old")
    expected = seen(path)
    before_exchange(monkeypatch, change)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert path.read_bytes().endswith(OTHER)
    assert names(path) == [path.name]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not tell who has a file open")
@pytest.mark.parametrize("act", ["replace", "remove"])
def test_file_open_for_writing_is_not_changed(path: Path, act: str) -> None:
    path.write_bytes(b"old")
    with path.open("wb", buffering=0) as editor:
        # emptied and not written yet: the editor's text is nowhere else
        expected = seen(path)
        with pytest.raises(FileChangedError, match="is open in a program"):
            replace_file(path, b"new", expected=expected) if act == "replace" else remove_file(path, expected)
        editor.write(OTHER)
    assert path.read_bytes() == OTHER
    assert names(path) == [path.name]


@pytest.mark.usefixtures("can_exchange")
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not tell who has a file open")
def test_file_opened_after_the_comparison_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"")
    expected = seen(path)
    editors: list[FileIO] = []
    # the stat does not change
    before_exchange(monkeypatch, lambda path: editors.append(FileIO(path, "r+")))
    with pytest.raises(FileChangedError, match="is open in a program"):
        replace_file(path, b"new", expected=expected)
    editors[0].write(OTHER)
    editors[0].close()
    assert path.read_bytes() == OTHER
    assert names(path) == [path.name]


@pytest.mark.usefixtures("can_exchange")
@pytest.mark.parametrize(
    ("second", "left"),
    [
        (lambda path: renamed_over(path, b"second"), b"second"),
        (lambda path: path.write_bytes(b"second"), b"second"),
        (Path.unlink, None),
    ],
    ids=["renamed over", "in place", "removed"],
)
def test_last_of_two_saves_during_the_exchange_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, second: Callable[[Path], object], left: bytes | None
) -> None:
    path.write_bytes(b"old")
    expected = seen(path)
    before_exchange(monkeypatch, lambda path: renamed_over(path, b"first"), second)
    with pytest.raises(FileChangedError):
        replace_file(path, b"new", expected=expected)
    assert (path.read_bytes() if path.exists() else None) == left
    assert names(path) == ([] if left is None else [path.name])


def test_without_exchange_the_stat_is_compared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "exchange", lambda _one, _other: False)
    path.write_bytes(b"old")
    expected = seen(path)
    replace_file(path, b"new", expected=expected)
    with pytest.raises(FileChangedError):
        replace_file(path, b"newer", expected=expected)
    assert path.read_bytes() == b"new"


def test_concurrent_writers_lose_no_line(path: Path) -> None:
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


@pytest.mark.usefixtures("can_exchange")
def test_concurrent_writer_loses_no_save_of_an_editor(path: Path) -> None:
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
def test_stat_of_the_written_file_is_returned(path: Path, expects: str) -> None:
    if expects == "old":
        path.write_bytes(b"old")
    expected = {"anything": None, "absent": "absent", "old": seen(path) if expects == "old" else None}[expects]
    assert replace_file(path, b"new", expected=expected) == seen(path)  # type: ignore[arg-type]


def test_file_changed_since_read_is_not_removed(path: Path) -> None:
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
