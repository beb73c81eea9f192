"""Reading a document's bytes whole and safely: beneath its root, through no symlink, never a half-saved state."""

import codecs
import os
import stat as stat_module
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from memoryd.domain.documents import FileStat
from memoryd.domain.media import HEAD_BYTES, Media, checked, label
from memoryd.index.beneath import open_beneath

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
HARD_LINK = "has another name (hard link)"


class TornReadError(Exception):
    """The file changed while it was read; read it again later."""


class NotReadableError(Exception):
    """The file is there and is nothing we read; the text says why."""


@dataclass(frozen=True, slots=True)
class Octets:
    """All bytes of a file at one instant."""

    data: bytes
    sha256: bytes
    stat: FileStat
    read_at_ns: int
    is_linked: bool
    """Whether the file has another name, too."""


@dataclass(frozen=True, slots=True)
class Content:
    """A document as it was on disk at one instant."""

    text: str
    sha256: bytes
    stat: FileStat
    read_at_ns: int
    flags: str


def read_document(base: Path, relative: str, *, max_bytes: int, follow_symlinks: bool = False) -> Content:
    """Read `base/relative` as text; raises what `read_octets` does."""
    octets = read_octets(base, relative, max_bytes=max_bytes, follow_symlinks=follow_symlinks)
    return content_of(octets, *decode(octets.data))


def content_of(octets: Octets, text: str, flags: str) -> Content:
    """Return what is kept of a file that was read; `text` stands for its bytes, and `flags` says how it was got."""
    flags = ", ".join(filter(None, (flags, HARD_LINK if octets.is_linked else "")))
    return Content(text, octets.sha256, octets.stat, octets.read_at_ns, flags)


def media_content(path: str, octets: Octets) -> tuple[Content, Media | None]:
    """Return what is kept of a picture or sound, and what its bytes are: None if not what its name says."""
    media = checked(path, octets.data[:HEAD_BYTES])
    return content_of(octets, label(path), media.mime if media else ""), media


def read_octets(base: Path, relative: str, *, max_bytes: int, follow_symlinks: bool = False) -> Octets:
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
    if file_stat(before) != file_stat(after) or len(data) != after.st_size:
        raise TornReadError(relative)
    return Octets(data, sha256(data).digest(), file_stat(after), read_at_ns, after.st_nlink > 1)


def encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes of a file announce; UTF-8 if they announce none."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and a note on how it was decoded, empty for plain UTF-8. Never fails."""
    encoding = encoding_of(data)
    try:
        return data.decode(encoding), "" if encoding == "utf-8" else encoding
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), f"not valid {encoding}"


def _read_all(descriptor: int, max_bytes: int) -> bytes:
    pieces, total = [], 0
    while piece := os.read(descriptor, 1 << 20):
        total += len(piece)
        if total > max_bytes:
            raise NotReadableError(f"larger than maxFileBytes ({max_bytes} bytes)")
        pieces.append(piece)
    return b"".join(pieces)


def file_stat(info: os.stat_result) -> FileStat:
    """Return what a scan compares of a file."""
    return FileStat(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
