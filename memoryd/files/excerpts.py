"""Reading lines of a document: streamed, in bounded memory, and only from documents that may be read.

Also checks whether an indexed document is still the same on disk, has changed, is absent, or cannot be judged now.
"""

import codecs
import errno
import os
import stat as stat_module
import time
from collections.abc import Callable, Iterator, Sequence, Set
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, is_outside
from memoryd.domain.media import modality_of
from memoryd.domain.skips import SkipReason
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.note_status import status_marks
from memoryd.domain.text.sanitizing import Flag, path_flags, text_flags
from memoryd.errors import NotFound, NotNow
from memoryd.files.ignore import HEAD_CHARS, RealPaths, is_private, why_private
from memoryd.files.reading import (
    FileSnapshot,
    NotReadableError,
    TornReadError,
    encoding_of,
    file_stat,
    is_unchanged,
    open_below,
    read_snapshot,
    utf8_of,
)
from memoryd.files.roots import base_of
from memoryd.files.scanner import ScanRoot, ScanRules


class Page(Struct, frozen=True):
    """The requested lines, as many as fit in one reply.

    `count` is the number of lines that the text touches, `total` that of the document. `next_first` is the line after
    them, None at the end of the document. `next_column` is set if the last line was too long for one reply: the column
    at which its rest begins.
    """

    text: str
    count: int
    total: int
    next_first: int | None
    next_column: int | None


class Window:
    """Collects `count` lines, starting at character `column` of line `first`; all numbers count from 1.

    Never keeps more than `max_chars` characters and one piece of the text in memory.
    """

    def __init__(self, *, first: int, count: int, column: int, max_chars: int) -> None:
        self._first = first
        self._column = column
        self._max_chars = max_chars
        self._to_pass = first - 1
        self._to_skip = column - 1
        self._remaining = count
        self._text = ""
        self._ends = 0
        self._last = ""

    def feed(self, piece: str) -> None:
        """Take the next piece of the text."""
        if not piece:
            return
        ends = piece.count("\n")
        self._ends += ends
        self._last = piece[-1]
        if self._to_pass > ends:
            self._to_pass -= ends
            return
        at = 0
        while self._to_pass:
            at = piece.index("\n", at) + 1
            self._to_pass -= 1
        self._keep(piece, self._skip(piece, at))

    def lines(self) -> Page:
        """Return the collected lines; call it after the last piece."""
        total = self._ends + (self._last not in ("", "\n"))
        text, next_column = self._fit()
        count = text.count("\n") + (text[-1:] not in ("", "\n"))
        after = self._first + count
        following = after if count and after <= total else None
        return Page(text, count, total, following, next_column)

    def _skip(self, piece: str, at: int) -> int:
        """Skip the characters before the column, but stop at the end of their line; return the new position."""
        if not self._to_skip:
            return at
        end = piece.find("\n", at, at + self._to_skip)
        stop = min(at + self._to_skip, len(piece)) if end < 0 else end
        self._to_skip = 0 if end >= 0 else self._to_skip - (stop - at)
        return stop

    def _keep(self, piece: str, at: int) -> None:
        room = self._max_chars + 1 - len(self._text)
        while self._remaining and at < len(piece) and room > 0:
            end = piece.find("\n", at, at + room)
            part = piece[at : end + 1] if end >= 0 else piece[at : at + room]
            self._remaining -= end >= 0
            self._text += part
            at += len(part)
            room -= len(part)

    def _fit(self) -> tuple[str, int | None]:
        """Cut the text to the limit: at the end of a line if there is one, else within the line.

        Returns the text, and the column at which a line that was cut goes on.
        """
        if len(self._text) <= self._max_chars:
            return self._text, None
        end = self._text.rfind("\n", 0, self._max_chars) + 1
        if end:
            return self._text[:end], None
        return self._text[: self._max_chars], self._column + self._max_chars


DEFAULT_LINES = 120
MAX_CHARS = 12_000
QMD_PREFIX = "qmd/"
_PIECE_BYTES = 256 * 1024
_TRIES = 3
_MISSING = "it is gone, or cannot be read; search says what there is"


class FileLocation(Struct, frozen=True):
    """The location of a document: a trusted folder, and the path below it."""

    base: Path
    relative: str


class LineRange(Struct, frozen=True):
    """Which lines to read; all numbers count from 1."""

    first: int = 1
    count: int = DEFAULT_LINES
    column: int = 1


class Excerpt(Struct, frozen=True):
    """Lines of a document, the SHA-256 of all its bytes, and flags for anything suspicious in text, path or links."""

    lines: Page
    sha256: str
    flags: tuple[Flag, ...]
    marks: str = ""
    """The document's own statements about its validity, from its front matter; mostly empty."""


def indexed_name(path: str, workspace: Path) -> RelativePath:
    """Return the name under which the index would list `path`; accepts absolute paths and a leading `./`.

    This is no permission to read: the caller must look the name up in the index.
    """
    if not path.startswith("/") or "\0" in path:
        return RelativePath(path.removeprefix("./"))
    inside = path.removeprefix(f"{workspace}/")
    return RelativePath(os.path.relpath(path, os.path.realpath(workspace)) if inside == path else inside)


def location_of(path: RelativePath, workspace: Path, roots: Sequence[ScanRoot]) -> FileLocation:
    """Return the location of an indexed document."""
    return FileLocation(*base_of(path, Path(os.path.realpath(workspace)), roots))


def read_lines(location: FileLocation, requested: LineRange, *, max_bytes: int, follow_symlinks: bool) -> Excerpt:
    """Read lines with their line ends, `MAX_CHARS` characters at most, in memory independent of the file's size.

    Raises NotFound if the document is missing, cannot be opened safely, is larger than `max_bytes` or is marked
    private; NotNow if it changed during each of three attempts.
    """
    for _ in range(_TRIES):
        try:
            excerpt = _read_once(location, requested, max_bytes, follow_symlinks)
        except OSError as exc:
            raise NotFound(f"no document {location.relative!r}", hint=_MISSING) from exc
        if excerpt is not None:
            return excerpt
    raise NotNow(f"{location.relative!r} is being written", hint="ask again in a moment")


def hide_lines(excerpt: Excerpt, requested: LineRange, hidden: Set[int]) -> Excerpt:
    """Return the excerpt with the lines of these numbers (from 1) emptied; `requested` is what it was read with."""
    if not hidden:
        return excerpt
    lines = excerpt.lines.text.split("\n")
    shown = ["" if requested.first + at in hidden else line for at, line in enumerate(lines)]
    return replace(excerpt, lines=replace(excerpt.lines, text="\n".join(shown)))


def _read_once(location: FileLocation, requested: LineRange, max_bytes: int, follow_symlinks: bool) -> Excerpt | None:
    """Return the excerpt; None if the file changed while it was read."""
    descriptor = open_below(location.base, location.relative, follow_symlinks=follow_symlinks)
    try:
        before = os.fstat(descriptor)
        if not stat_module.S_ISREG(before.st_mode) or before.st_size > max_bytes:
            raise NotFound(f"no document {location.relative!r}", hint="it is no regular file, or too large")
        window = Window(first=requested.first, count=requested.count, column=requested.column, max_chars=MAX_CHARS)
        digest, head = _stream(descriptor, window, before.st_size)
        if file_stat(os.fstat(descriptor)) != file_stat(before):
            return None
    finally:
        os.close(descriptor)
    lines = window.lines()
    linked = (Flag.HARD_LINK,) if before.st_nlink > 1 else ()
    return Excerpt(
        lines,
        digest,
        (*text_flags(lines.text), *path_flags(location.relative), *linked),
        status_marks(encode_padded(head)),
    )


def _stream(descriptor: int, window: Window, size: int) -> tuple[str, str]:
    """Feed the text to the window; return the SHA-256 of the bytes and the first `HEAD_CHARS` characters.

    Raises NotFound for a private note.
    """
    digest, head = sha256(), ""
    decoder: codecs.IncrementalDecoder | None = None
    for piece in _pieces(descriptor, size):
        digest.update(piece)
        decoder = decoder or codecs.getincrementaldecoder(encoding_of(piece))("replace")
        text = decoder.decode(piece)
        head += text[: HEAD_CHARS - len(head)]
        window.feed(text)
    window.feed(decoder.decode(b"", final=True) if decoder else "")
    # the note may have become private since it was indexed
    if is_private(head):
        raise NotFound("no such document", hint=_MISSING)
    return digest.hexdigest(), head


def _pieces(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield the file's bytes, at most `size`: its size when opened, so that a file that keeps growing ends too."""
    while size > 0 and (piece := os.read(descriptor, min(_PIECE_BYTES, size))):
        size -= len(piece)
        yield piece


_LEADS_AWAY = (errno.ELOOP, errno.EXDEV, errno.EPERM, errno.ENXIO)
"""Errors of opening a path that has a symlink or something other than a file on it."""
MAX_SEEN = 1_000


class DiskState(StrEnum):
    """How a document on disk compares with what was indexed of it."""

    SAME = "same"
    """The content is the same."""
    OTHER = "other"
    """The content is different, and may be shown."""
    ABSENT = "absent"
    """There is no such document: the file is missing or private, or is no document."""
    STALE = "owed"
    """Unknown until the document is indexed again, or becomes readable."""


class PresentFile(Struct, frozen=True):
    """The state of a document on disk.

    `data` is the new text of a note whose content is different, as UTF-8 that ends in `PADDING`. `reason` is set for
    `STALE`.
    """

    presence: DiskState
    data: bytes = b""
    reason: str = ""


SAME, ABSENT = PresentFile(DiskState.SAME), PresentFile(DiskState.ABSENT)


class Moment(Struct, frozen=True):
    """What all checks of one answer share: the rules, and the real paths of folders, each resolved once."""

    rules: ScanRules
    real_paths: RealPaths


def no_qmd(_path: str) -> None:
    """Return None for every path below `qmd/`: without qmd no such document may be shown."""


class FileChecker(Struct, kw_only=True):
    """Compares the indexed documents of one workspace with the files on disk, under the current `rules`.

    `locate_qmd` returns the location of a document of qmd, whose path begins with `qmd/`; None if it may not be shown.
    """

    rules: Callable[[], ScanRules]
    roots: Callable[[], Sequence[ScanRoot]]
    locate_qmd: Callable[[str], FileLocation | None] = no_qmd
    _seen: dict[str, IndexedFile] = {}
    """Stats of files that were read again and had not changed, so that the next check needs no read."""

    def begin_check(self) -> Moment:
        """Return what the checks of one answer share; blocks, since it reads the rules."""
        rules = self.rules()
        return Moment(rules, RealPaths(rules.workspace, follow_symlinks=rules.follow_symlinks))

    def check(self, path: RelativePath, known: IndexedFile | None, moment: Moment) -> PresentFile:
        """Compare a document with what was `known` of it when it was indexed. Blocks; raises no OSError.

        Costs a single stat if that proves the document unchanged.
        """
        rules = moment.rules
        if path.startswith(QMD_PREFIX):
            # `locate_qmd` has applied the rules already
            location = self.locate_qmd(path)
            return ABSENT if location is None else self._compare(path, known, location, rules)
        # A scan does not follow links, so a path with a link on it is no document, even if it leads to the same file.
        # Paths outside the workspace are not checked: the folders above their root may be links
        if not is_outside(path):
            paths = moment.real_paths
            if not rules.follow_symlinks:
                is_inside = paths.is_direct(path.rpartition("/")[0])
            else:
                is_inside = paths.of(path).startswith(f"{paths.workspace}/")
            if not is_inside:
                return ABSENT
        return rule_state(rules, path) or self._compare(path, known, None, rules)

    def _compare(
        self, path: RelativePath, known: IndexedFile | None, location: FileLocation | None, rules: ScanRules
    ) -> PresentFile:
        full = rules.place(path) if location is None else f"{location.base}/{location.relative}"
        try:
            info = os.stat(full, follow_symlinks=rules.follow_symlinks)  # noqa: PTH116  half the price
            if not stat_module.S_ISREG(info.st_mode):
                return ABSENT
            if known is not None and self._is_proven(path, known, info):
                return SAME
            # not earlier: listing the roots may have to match globs
            place = location or FileLocation(*base_of(path, rules.workspace, self.roots() if is_outside(path) else ()))
            limit, _ = rules.limit(path)
            content = read_snapshot(place.base, place.relative, max_bytes=limit, follow_symlinks=rules.follow_symlinks)
        except (FileNotFoundError, NotADirectoryError):
            if location is not None or self._is_deleted(full, known, rules):
                return ABSENT
            return _stale_file(SkipReason.OUT_OF_SIGHT)
        except NotReadableError:
            return ABSENT
        except TornReadError:
            return _stale_file(SkipReason.CHANGED)
        except OSError as exc:
            why = SkipReason.UNREADABLE_NOW.format(os.strerror(exc.errno or 0).lower())
            return ABSENT if exc.errno in _LEADS_AWAY else _stale_file(why)
        return self._judge(path, known, content)

    def _judge(self, path: RelativePath, known: IndexedFile | None, content: FileSnapshot) -> PresentFile:
        if known is not None and content.sha256 == known.digest:
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[path] = content.known
            return SAME
        if modality_of(path) is not None:
            return _stale_file(SkipReason.CHANGED)
        data, _ = utf8_of(content)
        return ABSENT if why_private(data) else PresentFile(DiskState.OTHER, data)

    def _is_proven(self, path: RelativePath, known: IndexedFile, info: os.stat_result) -> bool:
        """Return whether a stat proves that the content is what was read of it, when indexed or in a later check."""
        wall_ns, seen = time.time_ns(), self._seen.get(path)
        return is_unchanged(known, info, wall_ns) or (
            seen is not None and seen.digest == known.digest and is_unchanged(seen, info, wall_ns)
        )

    def _is_deleted(self, full: str, known: IndexedFile | None, rules: ScanRules) -> bool:
        """Return whether a missing file was deleted, rather than its root or its disk being away."""
        folder = os.path.dirname(full)  # noqa: PTH120  text is enough
        try:
            info = os.stat(folder)  # noqa: PTH116
        except FileNotFoundError:
            roots = [root.path for root in self.roots() if Path(full).is_relative_to(root.path)]
            return rules.workspace.is_dir() and all(root.exists() for root in roots) and bool(roots)
        except OSError:
            return False
        return known is None or info.st_dev == known.stat.device


def rule_state(rules: ScanRules, path: RelativePath) -> PresentFile | None:
    """Return the state that the rules give a document: absent or undecided; None if they allow it to be shown."""
    if rules.is_ignored(path):
        return ABSENT
    return _stale_file(SkipReason.IN_DOUBT) if rules.may_hide(path) else None


def _stale_file(reason: str) -> PresentFile:
    return PresentFile(DiskState.STALE, reason=reason)
