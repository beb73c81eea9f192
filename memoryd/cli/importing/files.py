"""The files of an export: one file, a folder, or a zip archive, which is read in place.

JSON files are split into entries that are decoded one by one, so that a damaged entry does not affect the others. The
content is not trusted: links are not followed, and the bytes of each read and of all reads together are limited.
"""

import errno
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from memoryd.cli.importing.lines import ImportLine
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest

TOTAL_BYTES_MAX = 4 * 2**30
"""Bytes unpacked of one archive at most: exports of many years have less, and a zip bomb ends here."""
MEMBERS_MAX = 200_000
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
"""Errors of `zipfile` for damaged and encrypted members, and for unknown compression methods."""


class UnreadableExportError(Exception):
    """A file cannot be read; the message says why."""


class ExportedFile(Struct, frozen=True):
    """A file of an export; `name` is its path there, with `/` between parts."""

    name: str
    opener: Callable[[], IO[bytes]]
    left: list[int]
    """The bytes that may still be read of all files together: a single number that they share."""

    def read(self, limit: int) -> bytes:
        """Return the content, at most `limit` bytes and one more, so that the caller sees that a file is longer.

        Raises UnreadableExportError, and InvalidRequest if the total of all reads is too large.
        """
        try:
            with self.opener() as file:
                data = file.read(limit + 1)
        except OSError as exc:
            raise UnreadableExportError(f"it cannot be read: {exc.strerror or exc}") from exc
        except DAMAGED as exc:
            raise UnreadableExportError(f"it is damaged or encrypted: {exc}") from exc
        self.left[0] -= len(data)
        if self.left[0] < 0:
            raise InvalidRequest("it holds more than 4 GB, unpacked", hint="give a folder with a part of it")
        return data


@contextmanager
def open_members(path: Path) -> Iterator[list[ExportedFile]]:
    """Yield the files of a file, a folder or a zip archive, sorted by name. Raises InvalidRequest."""
    left = [TOTAL_BYTES_MAX]
    with ExitStack() as stack:
        try:
            if path.is_dir():
                files = [ExportedFile(name, partial(_open_plain, path / name), left) for name in _files_below(path)]
            elif zipfile.is_zipfile(file := stack.enter_context(_open_plain(path.resolve()))):
                archive = stack.enter_context(zipfile.ZipFile(file))
                members = [member for member in archive.infolist() if not member.is_dir()]
                files = [ExportedFile(member.filename, partial(archive.open, member), left) for member in members]
            else:
                files = [ExportedFile(path.name, partial(_open_plain, path), left)]
        except OSError as exc:
            raise InvalidRequest(f"{path} cannot be read: {exc.strerror or exc}") from exc
        except DAMAGED as exc:
            raise InvalidRequest(f"{path} is a damaged archive: {exc}") from exc
        if len(files) > MEMBERS_MAX:
            raise InvalidRequest(f"{path} holds more than {MEMBERS_MAX:,} files", hint="give a part of it")
        yield sorted(files, key=lambda file: file.name)


def _files_below(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, and folders that are links as `name/`; hidden folders are left out.

    Raises OSError if the folder itself cannot be listed.
    """
    next(folder.iterdir(), None)
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [f"{name}/" for name in folders if (Path(parent) / name).is_symlink()]
        relative = Path(parent).relative_to(folder).as_posix()
        yield from (name if relative == "." else f"{relative}/{name}" for name in (*names, *links))


def _open_plain(path: Path) -> IO[bytes]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as exc:
        if exc.errno == errno.ELOOP:
            raise OSError(f"{path} is a link") from exc
        raise
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file")
    return file


FILE_BYTES_MAX = 512 * 2**20
ENTRIES_MAX = 200_000
_BOM = b"\xef\xbb\xbf"
_DAMAGED = (ValueError, RecursionError)
_VALUE = expression(r"[^ \t\r\n,:]")
"""The beginning of a value or a bracket. Missing and additional separators are ignored, so that they cost no entry."""
_SKIMMER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""A lenient decoder that finds the end of a value."""
Object = dict[str, Any]


def named(files: Iterable[ExportedFile], beginning: str = "") -> Iterator[ExportedFile]:
    """Yield the JSON files whose names begin with `beginning`, in any case."""
    for file in files:
        name = file.name.rpartition("/")[2].lower()
        if name.endswith(".json") and name.startswith(beginning):
            yield file


def json_entries(
    files: Iterable[ExportedFile], lines: Callable[[str, Object], Iterable[ImportLine]], *keys: str
) -> Iterator[ImportLine]:
    """Yield `lines(place, entry)` for each entry of JSON files, and a line with the trouble for unreadable ones.

    A file is a list of entries, or an object with lists of entries at `keys`; without keys an object is a single entry.
    `lines` may raise ValueError if an entry is not of its kind.
    """
    for file in files:
        try:
            data = file.read(FILE_BYTES_MAX).removeprefix(_BOM)
            if len(data) > FILE_BYTES_MAX:
                raise UnreadableExportError(f"it is larger than {FILE_BYTES_MAX >> 20} MB")
            # Latin-1 has a character for each byte: brackets and separators are ASCII, and entries are decoded later
            for number, (place, raw) in enumerate(_split(data.decode("latin-1"), keys)):
                if number == ENTRIES_MAX:
                    raise UnreadableExportError(f"it has more than {ENTRIES_MAX:,} entries: the rest is left out")
                yield from _entry(f"{file.name}, {place}", raw.encode("latin-1"), lines)
        except UnreadableExportError as exc:
            yield ImportLine(trouble=str(exc), where=file.name)
        except _DAMAGED as exc:
            yield ImportLine(trouble=f"it is no JSON, from there on: {exc}", where=file.name)


def _split(text: str, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield place and text of each entry; raise ValueError if the text is not JSON."""
    at = _next_value(text, 0)
    if text.startswith("[", at):
        at = yield from _items(text, at, "entry")
    elif not keys or not text.startswith("{", at):
        yield "entry 1", text
        return
    else:
        at = _next_value(text, at + 1)
        while not text.startswith("}", at):
            key, at = _SKIMMER.raw_decode(text, at)
            at = _next_value(text, at)
            if key in keys and text.startswith("[", at):
                at = yield from _items(text, at, key)
            else:
                _, at = _SKIMMER.raw_decode(text, at)
            at = _next_value(text, at)
        at += 1
    if _next_value(text, at) != len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _items(text: str, at: int, name: str) -> Generator[tuple[str, str], None, int]:
    """Yield place and text of each value of the list that begins at `at`, and return where it ends."""
    at, number = _next_value(text, at + 1), 0
    while not text.startswith("]", at):
        begin, number = at, number + 1
        _, at = _SKIMMER.raw_decode(text, begin)
        yield f"{name} {number}", text[begin:at]
        at = _next_value(text, at)
    return at + 1


def _next_value(text: str, at: int) -> int:
    """Return where the next value or closing bracket begins, or the end of the text."""
    match = _VALUE.search(text, at)
    return match.start() if match else len(text)


def _entry(where: str, raw: bytes, lines: Callable[[str, Object], Iterable[ImportLine]]) -> Iterable[ImportLine]:
    try:
        return list(lines(where, _decode(raw)))
    except _DAMAGED as exc:
        return [ImportLine(trouble=f"it is no such entry: {exc}", where=where)]


def _decode(raw: bytes) -> Object:
    try:
        return msgspec.json.decode(raw, type=Object)
    except msgspec.DecodeError:
        # some programs write half of a surrogate pair, or NaN
        value = json.loads(raw, strict=False, parse_constant=str)
        return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), type=Object)


def list_of(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def object_of(value: object) -> Object:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def first_of(row: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of these keys that is not null or empty, None if there is none."""
    return next((row[key] for key in keys if row.get(key) not in (None, "", [])), None)
