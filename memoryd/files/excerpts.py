"""Reading lines of a document back: streamed, with bounds, and only what may be read."""

import codecs
import os
import stat as stat_module
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from memoryd.domain.documents import RelativePath
from memoryd.domain.text.sanitizing import Flag, path_flags, text_flags
from memoryd.errors import NotFound, NotNow
from memoryd.files.beneath import open_beneath
from memoryd.files.octets import encoding_of, file_stat
from memoryd.files.private import HEAD_CHARS, is_private
from memoryd.files.roots import base_of
from memoryd.files.scan_rules import ScanRoot
from memoryd.files.window import Page, Window

DEFAULT_LINES = 120
MAX_CHARS = 12_000
QMD_PREFIX = "qmd/"
_PIECE_BYTES = 256 * 1024
_TRIES = 3
_GONE = "it is gone, or cannot be read; search says what there is"


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where a document lies: the trusted folder, and the path below it."""

    base: Path
    relative: str


@dataclass(frozen=True, slots=True)
class LineRange:
    """Which lines to read; all numbers count from 1."""

    first: int = 1
    count: int = DEFAULT_LINES
    column: int = 1


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a document, the hash of all its bytes, and what is odd about it."""

    lines: Page
    sha256: str
    flags: tuple[Flag, ...]


def indexed_name(path: str, workspace: Path) -> RelativePath:
    """Return the name under which the index would hold `path`; absolute paths and `./` are understood.

    Decides nothing: what this names must be found in the index.
    """
    if not path.startswith("/") or "\0" in path:
        return RelativePath(path.removeprefix("./"))
    inside = path.removeprefix(f"{workspace}/")
    return RelativePath(os.path.relpath(path, os.path.realpath(workspace)) if inside == path else inside)


def location_of(path: RelativePath, workspace: Path, roots: Sequence[ScanRoot]) -> FileLocation:
    """Return where an indexed document lies."""
    return FileLocation(*base_of(path, Path(os.path.realpath(workspace)), roots))


def read_lines(location: FileLocation, wanted: LineRange, *, max_bytes: int, follow_symlinks: bool) -> Excerpt:
    """Read lines with their ends, 12,000 characters at most, in memory that does not depend on the file's size.

    Raises NotFound when the document is gone, cannot be opened safely, is larger than `max_bytes` or is marked
    private; NotNow while somebody is writing it.
    """
    for _ in range(_TRIES):
        try:
            excerpt = _read_once(location, wanted, max_bytes, follow_symlinks)
        except OSError as exc:
            raise NotFound(f"no document {location.relative!r}", hint=_GONE) from exc
        if excerpt is not None:
            return excerpt
    raise NotNow(f"{location.relative!r} is being written", hint="ask again in a moment")


def without(excerpt: Excerpt, asked: LineRange, hidden: Set[int]) -> Excerpt:
    """Return an excerpt that began as it was asked for, with nothing on the lines of these numbers (from 1)."""
    if not hidden:
        return excerpt
    lines = excerpt.lines.text.split("\n")
    shown = ["" if asked.first + at in hidden else line for at, line in enumerate(lines)]
    return replace(excerpt, lines=replace(excerpt.lines, text="\n".join(shown)))


def _read_once(location: FileLocation, wanted: LineRange, max_bytes: int, follow_symlinks: bool) -> Excerpt | None:
    """Return None if the file changed meanwhile."""
    descriptor = open_beneath(location.base, location.relative, follow_symlinks=follow_symlinks)
    try:
        before = os.fstat(descriptor)
        if not stat_module.S_ISREG(before.st_mode) or before.st_size > max_bytes:
            raise NotFound(f"no document {location.relative!r}", hint="it is no regular file, or too large")
        window = Window(first=wanted.first, count=wanted.count, column=wanted.column, max_chars=MAX_CHARS)
        digest = _stream(descriptor, window, before.st_size)
        if file_stat(os.fstat(descriptor)) != file_stat(before):
            return None
    finally:
        os.close(descriptor)
    lines = window.lines()
    linked = (Flag.HARD_LINK,) if before.st_nlink > 1 else ()
    return Excerpt(lines, digest, (*text_flags(lines.text), *path_flags(location.relative), *linked))


def _stream(descriptor: int, window: Window, size: int) -> str:
    """Feed the text to the window and return the hash of the bytes; raises NotFound for a private note."""
    digest, head = sha256(), ""
    decoder: codecs.IncrementalDecoder | None = None
    for piece in _pieces(descriptor, size):
        digest.update(piece)
        decoder = decoder or codecs.getincrementaldecoder(encoding_of(piece))("replace")
        text = decoder.decode(piece)
        head += text[: HEAD_CHARS - len(head)]
        window.feed(text)
    window.feed(decoder.decode(b"", final=True) if decoder else "")
    # the index may not know yet that the note was made private
    if is_private(head):
        raise NotFound("no such document", hint=_GONE)
    return digest.hexdigest()


def _pieces(descriptor: int, size: int) -> Iterator[bytes]:
    """Read no more than the file had when it was opened, so that an endless writer is noticed."""
    while size > 0 and (piece := os.read(descriptor, min(_PIECE_BYTES, size))):
        size -= len(piece)
        yield piece
