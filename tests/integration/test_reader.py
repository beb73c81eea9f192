"""Reading a whole note: never half-written, never outside its root, never blocking."""

import os
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from memoryd.files.reading import NotReadableError, TornReadError, decode, read_snapshot


def read(base: Path, name: str = "a.md", max_bytes: int = 1 << 20) -> str:
    return decode(read_snapshot(base, name, max_bytes=max_bytes).data)[0]


def test_content_has_hash_and_stat(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("one\ntwo\n")
    content = read_snapshot(tmp_path, "a.md", max_bytes=100)
    assert decode(content.data) == ("one\ntwo\n", "")
    assert content.sha256 == sha256(b"one\ntwo\n").digest()
    assert (content.stat.inode, content.stat.size) == (path.stat().st_ino, 8)
    assert not content.is_linked


def test_missing_note_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path)


@pytest.mark.parametrize("name", ["../a.md", "x/../../a.md", "..", "", "/", ".", "a\0.md"])
def test_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.md").write_text("secret")
    (tmp_path / "inner").mkdir()
    with pytest.raises(OSError):
        read(tmp_path / "inner", name)


def test_links_are_not_followed(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (base / "a.md").symlink_to(tmp_path / "secret.md")
    (base / "folder").symlink_to(tmp_path, target_is_directory=True)
    for name in ("a.md", "folder/secret.md"):
        with pytest.raises(OSError):
            read(base, name)


def test_pipe_and_folder_are_refused_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    for name in ("pipe.md", "folder.md"):
        with pytest.raises((NotReadableError, OSError)):
            read(tmp_path, name)


def test_size_limit_applies(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 100)
    assert len(read(tmp_path, max_bytes=100)) == 100
    with pytest.raises(NotReadableError, match="maxFileBytes"):
        read(tmp_path, max_bytes=99)


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.md").write_text("text")
    (tmp_path / "deep" / "link.md").symlink_to("er/a.md")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        read(tmp_path, "deep/er/a.md")
        for name in ("deep/link.md", "deep/none.md", "deep/none/a.md", "deep/er"):
            with pytest.raises((NotReadableError, OSError)):
                read(tmp_path, name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_torn_content_is_never_returned(tmp_path: Path) -> None:
    """A writer replaces the text in place; a read returns one whole version or fails."""
    # within one page, because longer writes happen in steps; pauses between them are covered by the settle time
    path, versions = tmp_path / "a.md", [letter * 4_000 for letter in "ab"]
    path.write_text(versions[0])
    is_over = threading.Event()

    def write() -> None:
        turn = 0
        while not is_over.is_set():
            turn += 1
            path.write_text(versions[turn % 2])

    writer = threading.Thread(target=write)
    writer.start()
    outcomes = set()
    try:
        for _ in range(300):
            try:
                text = read(tmp_path)
            except TornReadError:
                outcomes.add("torn")
            else:
                assert text in ("", *versions)
                outcomes.add("whole")
    finally:
        is_over.set()
        writer.join()
    assert outcomes


@pytest.mark.parametrize(
    ("data", "text", "is_flagged"),
    [
        (b"plain", "plain", False),
        ("é海".encode(), "é海", False),
        (b"\xef\xbb\xbfmark", "mark", True),
        ("wide".encode("utf-16"), "wide", True),
        (b"\xfe\xff\x00w", "w", True),
        (b"caf\xe9", "caf\ufffd", True),
        (b"\xff\xfea", "\ufffd", True),
        (b"", "", False),
    ],
)
def test_every_encoding_is_decoded(data: bytes, text: str, is_flagged: bool) -> None:
    decoded, flags = decode(data)
    assert decoded == text
    assert bool(flags) == is_flagged
