"""Reading a document's bytes whole and safely: beneath its root, through no symlink, never a half-saved state."""

import codecs
import os
import stat as stat_module
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memoryd.domain.documents import FileStat

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TornReadError(Exception):
    """The file changed while it was read; read it again later."""


class NotReadableError(Exception):
    """The file is there and is nothing we read; the text says why."""


@dataclass(frozen=True, slots=True)
class Content:
    """A document as it was on disk at one instant."""

    text: str
    sha256: bytes
    stat: FileStat
    read_at_ns: int
    flags: str


def read_document(base: Path, relative: str, *, max_bytes: int, follow_symlinks: bool = False) -> Content:
    """Read `base/relative`.

    Raises FileNotFoundError when it is gone, TornReadError when it changed meanwhile, NotReadableError for what is no
    regular file or too large, OSError when the disk or the permissions stand in the way.
    """
    descriptor = open_beneath(base, relative, follow_symlinks=follow_symlinks)
    try:
        before = os.fstat(descriptor)
        if not stat_module.S_ISREG(before.st_mode):
            raise NotReadableError("not a regular file")
        data = _read_all(descriptor, max_bytes)
        read_at_ns = time.time_ns()
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if _file_stat(before) != _file_stat(after) or len(data) != after.st_size:
        raise TornReadError(relative)
    text, flags = decode(data)
    return Content(text, sha256(data).digest(), _file_stat(after), read_at_ns, flags)


def open_beneath(base: Path, relative: str, *, follow_symlinks: bool = False) -> int:
    """Open a file below `base` component by component, so that no symlink, `..` or later swap leads out of it.

    Returns a descriptor to be closed by the caller. Raises OSError (ELOOP for a symlink on the way).
    """
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or "\0" in relative:
        raise FileNotFoundError(relative)
    if follow_symlinks:
        return _open_resolved(base, parts)
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _OPEN_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _OPEN_FILE, dir_fd=folder)
    finally:
        os.close(folder)


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and a note on how it was decoded, empty for plain UTF-8. Never fails."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding), "" if encoding == "utf-8" else encoding
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), f"not valid {encoding}"


def _open_resolved(base: Path, parts: list[str]) -> int:
    target = base.joinpath(*parts).resolve()
    if not target.is_relative_to(base.resolve()):
        raise PermissionError(f"{'/'.join(parts)} leads out of its root")
    return os.open(target, _OPEN_FILE)


def _read_all(descriptor: int, max_bytes: int) -> bytes:
    pieces, total = [], 0
    while piece := os.read(descriptor, 1 << 20):
        total += len(piece)
        if total > max_bytes:
            raise NotReadableError(f"larger than limits.maxFileBytes ({max_bytes} bytes)")
        pieces.append(piece)
    return b"".join(pieces)


def _file_stat(info: os.stat_result) -> FileStat:
    return FileStat(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
