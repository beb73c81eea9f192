"""The files of an export: one file, a folder, or a zip archive as it was handed out, which is read in place; and those
of JSON as lists of entries, each decoded by itself, so that a damaged one costs no other.

What a folder or an archive holds is not trusted: no link is followed, each read is bounded, and so are all together.
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
"""What is unpacked of one archive: exports of years have less, and a bomb ends here."""
MEMBERS_MAX = 200_000
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
"""What `zipfile` raises for damaged and encrypted members, and methods that it does not know."""


class UnreadableExportError(Exception):
    """A file cannot be read, and why."""


class ExportedFile(Struct, frozen=True):
    """A file of an export by its path there, with `/` between parts."""

    name: str
    opened: Callable[[], IO[bytes]]
    left: list[int]
    """How many bytes may still be read of all of them: one number that they share."""

    def read(self, limit: int) -> bytes:
        """Return the file, or one byte more than `limit` of a longer one.

        Raises UnreadableExportError, and InvalidRequest where all that was read is too much.
        """
        try:
            with self.opened() as file:
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
def opened_members(path: Path) -> Iterator[list[ExportedFile]]:
    """Open what lies at a path; the files are in the order of their names. Raises InvalidRequest."""
    left = [TOTAL_BYTES_MAX]
    with ExitStack() as stack:
        try:
            if path.is_dir():
                found = [ExportedFile(name, partial(_open_plain, path / name), left) for name in _files_below(path)]
            elif zipfile.is_zipfile(file := stack.enter_context(_open_plain(path.resolve()))):
                archive = stack.enter_context(zipfile.ZipFile(file))
                infos = [one for one in archive.infolist() if not one.is_dir()]
                found = [ExportedFile(one.filename, partial(archive.open, one), left) for one in infos]
            else:
                found = [ExportedFile(path.name, partial(_open_plain, path), left)]
        except OSError as exc:
            raise InvalidRequest(f"{path} cannot be read: {exc.strerror or exc}") from exc
        except DAMAGED as exc:
            raise InvalidRequest(f"{path} is a damaged archive: {exc}") from exc
        if len(found) > MEMBERS_MAX:
            raise InvalidRequest(f"{path} holds more than {MEMBERS_MAX:,} files", hint="give a part of it")
        yield sorted(found, key=lambda one: one.name)


def _files_below(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, and as `name/` the folders that are links; raises OSError of the folder itself.

    What lies in a hidden folder is left out.
    """
    next(folder.iterdir(), None)
    for where, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".")]
        links = [f"{one}/" for one in folders if (Path(where) / one).is_symlink()]
        at = Path(where).relative_to(folder).as_posix()
        yield from (name if at == "." else f"{at}/{name}" for name in (*names, *links))


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
_SHOWN = expression(r"[^ \t\r\n,:]")
"""What stands between two values is none of it; one that is missing or too many costs no entry."""
_SKIMMED = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Finds where a value ends."""
Object = dict[str, Any]


def named(files: Iterable[ExportedFile], beginning: str = "") -> Iterator[ExportedFile]:
    """Yield the JSON files whose names begin so."""
    for file in files:
        name = file.name.rpartition("/")[2].lower()
        if name.endswith(".json") and name.startswith(beginning):
            yield file


def json_entries(
    files: Iterable[ExportedFile], lines: Callable[[str, Object], Iterable[ImportLine]], *keys: str
) -> Iterator[ImportLine]:
    """Yield the `lines` of the entries of JSON files, each by its place, and what cannot be read as one that says why.

    `lines` may raise ValueError for what is no entry of its kind. A file is a list, or an object that has lists at
    these keys; without keys an object is the one entry.
    """
    for file in files:
        try:
            data = file.read(FILE_BYTES_MAX).removeprefix(_BOM)
            if len(data) > FILE_BYTES_MAX:
                raise UnreadableExportError(f"it is larger than {FILE_BYTES_MAX >> 20} MB")
            # one sign for each byte: what stands between entries is ASCII, and each is decoded by itself
            for number, (place, raw) in enumerate(_listed(data.decode("latin-1"), keys)):
                if number == ENTRIES_MAX:
                    raise UnreadableExportError(f"it has more than {ENTRIES_MAX:,} entries: those behind are left out")
                yield from _entry(f"{file.name}, {place}", raw.encode("latin-1"), lines)
        except UnreadableExportError as exc:
            yield ImportLine(trouble=str(exc), where=file.name)
        except _DAMAGED as exc:
            yield ImportLine(trouble=f"it is no JSON, from there on: {exc}", where=file.name)


def _listed(text: str, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    at = _next_value(text, 0)
    if text.startswith("[", at):
        at = yield from _items(text, at, "entry")
    elif not keys or not text.startswith("{", at):
        yield "entry 1", text
        return
    else:
        at = _next_value(text, at + 1)
        while not text.startswith("}", at):
            key, at = _SKIMMED.raw_decode(text, at)
            at = _next_value(text, at)
            if key in keys and text.startswith("[", at):
                at = yield from _items(text, at, key)
            else:
                _, at = _SKIMMED.raw_decode(text, at)
            at = _next_value(text, at)
        at += 1
    if _next_value(text, at) != len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _items(text: str, at: int, name: str) -> Generator[tuple[str, str], None, int]:
    """Yield the values of a list, and return where it ends."""
    at, number = _next_value(text, at + 1), 0
    while not text.startswith("]", at):
        begin, number = at, number + 1
        _, at = _SKIMMED.raw_decode(text, begin)
        yield f"{name} {number}", text[begin:at]
        at = _next_value(text, at)
    return at + 1


def _next_value(text: str, at: int) -> int:
    """Return where the next value begins, or what holds these ends."""
    found = _SHOWN.search(text, at)
    return found.start() if found else len(text)


def _entry(where: str, raw: bytes, lines: Callable[[str, Object], Iterable[ImportLine]]) -> Iterable[ImportLine]:
    try:
        return list(lines(where, _decoded(raw)))
    except _DAMAGED as exc:
        return [ImportLine(trouble=f"it is no such entry: {exc}", where=where)]


def _decoded(raw: bytes) -> Object:
    try:
        return msgspec.json.decode(raw, type=Object)
    except msgspec.DecodeError:
        # half a character, and a number that is none, are what programs write all the same
        value = json.loads(raw, strict=False, parse_constant=str)
        return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), type=Object)


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def object_of(value: object) -> Object:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first_of(one: Mapping[str, Any], *keys: str) -> Any:
    """Return what stands at the first of these keys that says something."""
    return next((one[key] for key in keys if one.get(key) not in (None, "", [])), None)
