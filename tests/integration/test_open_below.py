"""Opening documents below a folder: no swapped link leads out (rows 141 and 142)."""

import contextlib
import errno
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoryd.errors import NotFound
from memoryd.files import reading
from memoryd.files.excerpts import FileLocation, LineRange, read_lines
from memoryd.files.reading import has_openat2, open_below, walk
from tests.waiting import SECONDS

MARKER = b"kreuzspinne"
"""A text that is only outside the folder."""
READS = 10_000

Opened = Callable[[Path, str], int]


def by_walking(base: Path, relative: str) -> int:
    """Open a file without openat2."""
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return walk(folder, relative.split("/"))
    finally:
        os.close(folder)


@pytest.fixture(params=[open_below, by_walking], ids=["openat2", "walk"])
def opened(request: pytest.FixtureRequest) -> Opened:
    if request.param is open_below and not has_openat2():
        pytest.skip("no openat2 here")
    found: Opened = request.param
    return found


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Return a folder `base` whose `d` is a folder or a link to `outside`, both with a `note.md`."""
    for name, text in {"base/real": "harmless", "outside": MARKER.decode()}.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "note.md").write_text(text)
    (tmp_path / "base" / "d").symlink_to(tmp_path / "base" / "real")
    return tmp_path / "base"


def test_f141_both_ways_of_opening_refuse_links(opened: Opened, trap: Path) -> None:
    """Links, magic links and what is not there cannot be opened, either way; a note can."""
    (trap / "real" / "link.md").symlink_to("note.md")
    (trap / "real" / "magic.md").symlink_to("/proc/self/fd/0")
    for path in ("d/note.md", "real/link.md", "real/magic.md", "real/none.md", "real/note.md/x"):
        with pytest.raises(OSError):
            os.close(opened(trap, path))
    descriptor = opened(trap, "real/note.md")
    assert os.read(descriptor, 100) == b"harmless"
    os.close(descriptor)


@contextlib.contextmanager
def flipping(trap: Path) -> Iterator[None]:
    """Switch `d` between a folder and a link to the outside, as fast as possible."""
    stop = threading.Event()
    door, spare = trap / "d", trap / "spare"

    def flip() -> None:
        while not stop.is_set():
            spare.symlink_to(trap.parent / "outside")
            spare.replace(door)
            door.unlink()
            (trap / "real").rename(door)
            door.rename(trap / "real")

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        yield
    finally:
        stop.set()
        flipper.join()


def following(base: Path, relative: str) -> int:
    """Open as with `followSymlinks`."""
    return open_below(base, relative, follow_symlinks=True)


def test_f142_swapped_folder_leaks_nothing(opened: Opened, trap: Path) -> None:
    """While a folder flips to the outside, only the harmless text is ever read."""
    seen, refused = _read_while_flipping(opened, trap)
    assert seen == {b"harmless"}
    assert refused & {errno.ELOOP, errno.ENOTDIR}


def test_f142_swapped_folder_leaks_nothing_with_followed_links(trap: Path) -> None:
    """The same where links may be followed."""
    seen, refused = _read_while_flipping(following, trap)
    assert seen == {b"harmless"}
    assert refused & {errno.EPERM, errno.ELOOP}


def _read_while_flipping(opened: Opened, trap: Path) -> tuple[set[bytes], set[int | None]]:
    """Return the contents and errors of many reads, until both occurred or the time is over."""
    (trap / "d").unlink()
    seen: set[bytes] = set()
    refused: set[int | None] = set()
    end = time.monotonic() + SECONDS
    with flipping(trap):
        for count in itertools.count():
            try:
                descriptor = opened(trap, "d/note.md")
            except OSError as exc:
                refused.add(exc.errno)
            else:
                seen.add(os.read(descriptor, 100))
                os.close(descriptor)
            has_both = seen and refused - {errno.ENOENT}
            if count > READS and (has_both or time.monotonic() > end):
                break
    return seen, refused


def test_f141_inner_link_is_followed_only_if_allowed(trap: Path) -> None:
    """A link inside opens only where links may be followed, and one to the outside never."""
    descriptor = open_below(trap, "d/note.md", follow_symlinks=True)
    assert os.read(descriptor, 100) == b"harmless"
    os.close(descriptor)
    (trap / "out.md").symlink_to(trap.parent / "outside" / "note.md")
    with pytest.raises(PermissionError):
        open_below(trap, "out.md", follow_symlinks=True)


def test_reading_works_without_openat2(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "has_openat2", lambda: False)
    location = FileLocation(trap, "real/note.md")
    assert read_lines(location, LineRange(), max_bytes=100, follow_symlinks=False).lines.text == "harmless"
    with pytest.raises(NotFound):
        read_lines(FileLocation(trap, "d/note.md"), LineRange(), max_bytes=100, follow_symlinks=False)


def test_private_note_is_not_read_before_it_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"---\nmemory: false\n---\n{MARKER.decode()}\n")
    with pytest.raises(NotFound):
        read_lines(FileLocation(tmp_path, "a.md"), LineRange(), max_bytes=1000, follow_symlinks=False)


def test_large_document_is_read_in_bounded_memory(tmp_path: Path) -> None:
    with (tmp_path / "large.md").open("wb") as file:
        for number in range(60):
            file.write(f"{number} ".encode() + b"z" * (1 << 20) + b"\n")
    script = (
        "import resource, sys; from pathlib import Path;"
        "from memoryd.files.excerpts import FileLocation, LineRange, read_lines;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        f"found = read_lines(FileLocation(Path({str(tmp_path)!r}), 'large.md'), LineRange(59), max_bytes=1 << 30,"
        " follow_symlinks=False);"
        "assert found.lines.text.startswith('58 zz') and found.lines.total == 60, found;"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    grown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert int(grown.stdout) < 16
