"""Safe reads of complete files: below their root, through no symlink, never a half-saved state.

On Linux one call opens a path below a folder: `openat2(2)` with RESOLVE_BENEATH. Elsewhere, and where a sandbox forbids
that call, the path is opened component by component.
"""

import codecs
import contextlib
import ctypes
import errno
import functools
import json
import os
import stat as stat_module
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from memoryd.domain.documents import FileStat
from memoryd.domain.skips import SkipReason
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.lines import PADDING

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BLOCK = 1 << 20
HARD_LINK = "has another name (hard link)"


class TornReadError(Exception):
    """The file changed while it was read; try again later."""


class NotReadableError(Exception):
    """The file exists but is of no kind that we read; the message says why."""


class FileSnapshot(Struct, frozen=True):
    """All bytes of a file at one instant."""

    padded: bytes
    """The bytes and `PADDING`, so that cutting a large note into chunks needs no copy."""
    sha256: bytes
    stat: FileStat
    read_at_ns: int
    is_linked: bool
    """Whether the file has more than one name (hard links)."""

    @property
    def data(self) -> bytes:
        """A copy of the bytes without the padding."""
        return self.padded[: -len(PADDING)]

    @property
    def known(self) -> IndexedFile:
        """The values that `is_unchanged` compares later."""
        return IndexedFile(self.stat, self.read_at_ns, self.sha256)


def flags_of(content: FileSnapshot, decoding: str) -> str:
    """Return the flags of a file as text, empty if there are none; `decoding` is the note that `utf8_of` returns."""
    return ", ".join(filter(None, (decoding, HARD_LINK if content.is_linked else "")))


def read_snapshot(base: Path, relative: str, *, max_bytes: int, follow_symlinks: bool = False) -> FileSnapshot:
    """Read `base/relative`.

    Raises FileNotFoundError if it is missing, TornReadError if it changed during the read, NotReadableError if it is
    no regular file or too large, OSError for errors of the disk or of permissions.
    """
    descriptor = open_below(base, relative, follow_symlinks=follow_symlinks)
    try:
        before = os.fstat(descriptor)
        if not stat_module.S_ISREG(before.st_mode):
            raise NotReadableError(SkipReason.NOT_REGULAR)
        pieces = _read_all(descriptor, max_bytes)
        read_at_ns = time.time_ns()
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if file_stat(before) != file_stat(after) or sum(map(len, pieces)) != after.st_size:
        raise TornReadError(relative)
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    padded = b"".join([*pieces, PADDING])
    return FileSnapshot(padded, digest.digest(), file_stat(after), read_at_ns, after.st_nlink > 1)


TRIES = 50


def read_stable(base: Path, relative: str, *, max_bytes: int) -> FileSnapshot:
    """Read a file that our own writers may replace at any time; retry after a torn read, `TRIES` reads in all.

    Raises what `read_snapshot` does.
    """
    for _ in range(TRIES - 1):
        with contextlib.suppress(TornReadError):
            return read_snapshot(base, relative, max_bytes=max_bytes)
    return read_snapshot(base, relative, max_bytes=max_bytes)


def read_head(base: Path, relative: str, count: int, *, follow_symlinks: bool = False) -> str:
    """Read the first `count` bytes of `base/relative` as text; raises OSError if it is missing or cannot be read."""
    descriptor = open_below(base, relative, follow_symlinks=follow_symlinks)
    try:
        head = os.read(descriptor, count)
    finally:
        os.close(descriptor)
    return codecs.getincrementaldecoder(encoding_of(head))("replace").decode(head)


def read_beginning(path: Path, count: int, flags: int = 0) -> tuple[os.stat_result, bytes]:
    """Return the stat and the first bytes of a file, no bytes unless it is a regular file; raises OSError."""
    # O_NONBLOCK: opening a pipe would else wait for a writer
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        info = os.fstat(descriptor)
        return info, os.read(descriptor, count) if stat_module.S_ISREG(info.st_mode) else b""
    finally:
        os.close(descriptor)


def encoding_of(head: bytes) -> str:
    """Return the encoding given by a byte order mark; UTF-8 if there is none."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and a note on how it was decoded, empty for plain UTF-8. Never fails."""
    encoding = encoding_of(data)
    try:
        return data.decode(encoding), "" if encoding == "utf-8" else encoding
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), f"not valid {encoding}"


def utf8_of(content: FileSnapshot) -> tuple[bytes, str]:
    """Return what `decode` does, but the text as UTF-8 bytes that end in `PADDING`; makes no large string."""
    encoding = encoding_of(content.padded)
    try:
        for _ in _decoded(content, encoding, "strict"):
            pass
    except UnicodeDecodeError:
        return _joined(_decoded(content, encoding, "replace")), f"not valid {encoding}"
    if encoding == "utf-8":
        return content.padded, ""
    return _joined(_decoded(content, encoding, "strict")), encoding


def _decoded(content: FileSnapshot, encoding: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    size = len(content.padded) - len(PADDING)
    for base in range(0, size, _BLOCK):
        end = min(base + _BLOCK, size)
        yield decoder.decode(content.padded[base:end], end == size)


def _joined(texts: Iterable[str]) -> bytes:
    return b"".join([*(text.encode("utf-8", "surrogatepass") for text in texts), PADDING])


def _read_all(descriptor: int, max_bytes: int) -> list[bytes]:
    pieces, total = [], 0
    while piece := os.read(descriptor, 1 << 20):
        total += len(piece)
        if total > max_bytes:
            raise NotReadableError(SkipReason.TOO_LARGE.format("maxFileBytes", max_bytes))
        pieces.append(piece)
    return pieces


def file_stat(info: os.stat_result) -> FileStat:
    """Return the fields of a stat that a scan compares."""
    return FileStat(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def is_unchanged(known: IndexedFile, info: os.stat_result, wall_ns: int) -> bool:
    """Return whether a stat made at `wall_ns` proves that the content is what was read before."""
    # The device is not compared: on an overlay file system a file may have another device number than its folder.
    then = known.stat
    return (
        info.st_ino == then.inode
        and info.st_size == then.size
        and info.st_mtime_ns == then.mtime_ns
        and info.st_ctime_ns == then.ctime_ns
        and not known.is_racy(wall_ns)
    )


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, read up to 1 MiB; empty if it is missing, unreadable or no JSON object."""
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(1 << 20))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""Open a file for reading without following a symlink, or waiting at a pipe for a writer."""
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OPEN_FILE = READ_FLAGS | os.O_NOCTTY
_OPEN_FOLDER = FOLDER_FLAGS | os.O_NOFOLLOW

_SYS_OPENAT2 = 437
"""The same on every architecture that Python runs on: Linux shares call numbers from 424 on."""
_NO_MAGICLINKS, _NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_RETRIES = 8


class _OpenHow(ctypes.Structure):
    """`struct open_how` of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_below(base: Path, relative: str, *, follow_symlinks: bool = False) -> int:
    """Open a file below `base` for reading, so that no symlink, `..` or later swap leads out of it.

    With `follow_symlinks` a link may lead elsewhere below `base`. Returns a descriptor that the caller closes.
    Raises OSError: ELOOP for a symlink in the path, PermissionError for a followed link that leads out of `base`.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or "\0" in relative:
        raise FileNotFoundError(relative)
    if follow_symlinks:
        base, parts = _resolved(base, parts)
    folder = os.open(base, FOLDER_FLAGS)
    try:
        return _openat2(folder, "/".join(parts)) if has_openat2() else walk(folder, parts)
    finally:
        os.close(folder)


def walk(folder: int, parts: Sequence[str]) -> int:
    """Open a file below an open folder component by component; `folder` stays open."""
    inner = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, _OPEN_FOLDER, dir_fd=inner)
            os.close(inner)
            inner = below
        return os.open(parts[-1], _OPEN_FILE, dir_fd=inner)
    finally:
        os.close(inner)


@functools.cache
def has_openat2() -> bool:
    """Return whether this kernel has `openat2` and allows it."""
    if not sys.platform.startswith("linux"):
        return False
    root = os.open("/", FOLDER_FLAGS)
    try:
        os.close(_openat2(root, "."))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def _openat2(folder: int, relative: str) -> int:
    how = _OpenHow(_OPEN_FILE, 0, _RESOLVE_BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS)
    path = os.fsencode(relative)
    for _ in range(_RETRIES):
        descriptor: int = _syscall()(_SYS_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if descriptor >= 0:
            return descriptor
        # EAGAIN: a folder was renamed during the call
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code), relative)


@functools.cache
def _syscall() -> "ctypes._FuncPointer":
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    return function


def _resolved(base: Path, parts: Sequence[str]) -> tuple[Path, list[str]]:
    """Resolve all links now. The result has none, so that a link swapped in before the open causes an error."""
    real = base.resolve()
    target = base.joinpath(*parts).resolve()
    if not target.is_relative_to(real):
        raise PermissionError(errno.EPERM, "leads out of its root", "/".join(parts))
    return real, list(target.relative_to(real).parts)
