"""Files of JSON in an export: lists of entries, each decoded by itself, so that a damaged one costs no other."""

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from memoryd.cli.importing.lines import ImportLine
from memoryd.cli.importing.members import ExportedFile, UnreadableExportError
from memoryd.domain.expressions import expression

FILE_BYTES_MAX = 512 * 2**20
ENTRIES_MAX = 200_000
_BOM = b"\xef\xbb\xbf"
_DAMAGED = (ValueError, RecursionError)
_SHOWN = expression(r"[^ \t\r\n]")
_SKIMMED = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Finds where a value ends."""
Shape = TypeVar("Shape")
Object = dict[str, Any]


def named(files: Iterable[ExportedFile], beginning: str = "") -> Iterator[ExportedFile]:
    """Yield the JSON files whose names begin so."""
    for file in files:
        name = file.name.rpartition("/")[2].lower()
        if name.endswith(".json") and name.startswith(beginning):
            yield file


def json_entries(
    files: Iterable[ExportedFile], shape: type[Shape], *keys: str
) -> Iterator[tuple[str, Shape] | ImportLine]:
    """Yield the entries of JSON files with their places, and what cannot be read as the line that says why.

    A file is a list, or an object that has lists at these keys; without keys an object is the one entry.
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
                yield _entry(f"{file.name}, {place}", raw.encode("latin-1"), shape)
        except UnreadableExportError as exc:
            yield ImportLine(0, trouble=str(exc), where=file.name)
        except _DAMAGED as exc:
            yield ImportLine(0, trouble=f"it is no JSON, from there on: {exc}", where=file.name)


def _listed(text: str, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    at = _next_shown(text, 0)
    if text.startswith("[", at):
        at = yield from _items(text, at, "entry")
    elif not keys or not text.startswith("{", at):
        yield "entry 1", text
        return
    else:
        at = _next_shown(text, at + 1)
        while not text.startswith("}", at):
            key, at = _SKIMMED.raw_decode(text, at)
            at = _behind(":", text, at)
            if key in keys and text.startswith("[", at):
                at = yield from _items(text, at, key)
            else:
                _, at = _SKIMMED.raw_decode(text, at)
            at = _behind(",", text, at, end="}")
        at += 1
    if _next_shown(text, at) != len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _items(text: str, at: int, name: str) -> Generator[tuple[str, str], None, int]:
    """Yield the values of a list, and return where it ends."""
    at, number = _next_shown(text, at + 1), 0
    while not text.startswith("]", at):
        begin, number = at, number + 1
        _, at = _SKIMMED.raw_decode(text, begin)
        yield f"{name} {number}", text[begin:at]
        at = _behind(",", text, at, end="]")
    return at + 1


def _behind(mark: str, text: str, at: int, *, end: str = "") -> int:
    """Return where the next value begins, behind a mark, or where the `end` stands."""
    at = _next_shown(text, at)
    if text.startswith(mark, at):
        return _next_shown(text, at + 1)
    if not end or not text.startswith(end, at):
        raise json.JSONDecodeError(f"Expecting {mark!r}", text, at)
    return at


def _next_shown(text: str, at: int) -> int:
    found = _SHOWN.search(text, at)
    return found.start() if found else len(text)


def _entry(where: str, raw: bytes, shape: type[Shape]) -> tuple[str, Shape] | ImportLine:
    try:
        return where, _decoded(raw, shape)
    except _DAMAGED as exc:
        return ImportLine(0, trouble=f"it is no such entry: {exc}", where=where)


def _decoded(raw: bytes, shape: type[Shape]) -> Shape:
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # half a character, and a number that is none, are what programs write all the same
        value = json.loads(raw, strict=False, parse_constant=str)
        return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), type=shape)


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def object_of(value: object) -> Object:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first_of(one: Mapping[str, Any], *keys: str) -> Any:
    """Return what stands at the first of these keys that says something."""
    return next((one[key] for key in keys if one.get(key) not in (None, "", [])), None)
