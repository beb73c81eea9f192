"""Files of JSON in an export: lists of entries, each decoded by itself, so that a damaged one costs no other."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from memoryd.cli.importing.lines import ImportLine
from memoryd.cli.importing.members import ExportedFile, UnreadableExportError

FILE_BYTES_MAX: Final = 512 * 2**20
_BOM: Final = b"\xef\xbb\xbf"
_DAMAGED: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
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
            for place, raw in _listed(data, keys):
                yield _entry(f"{file.name}, {place}", raw, shape)
        except UnreadableExportError as exc:
            yield ImportLine(0, trouble=str(exc), where=file.name)
        except _DAMAGED as exc:
            yield ImportLine(0, trouble=f"it is no JSON: {exc}", where=file.name)


def _listed(data: bytes, keys: tuple[str, ...]) -> Iterator[tuple[str, msgspec.Raw]]:
    value = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    if isinstance(value, dict) and keys:
        lists = {key: msgspec.json.decode(value[key], type=list[msgspec.Raw]) for key in keys if key in value}
    else:
        lists = {"entry": [msgspec.Raw(data)] if isinstance(value, dict) else value}
    for name, rows in lists.items():
        yield from ((f"{name} {number}", row) for number, row in enumerate(rows, start=1))


def _entry(where: str, raw: msgspec.Raw, shape: type[Shape]) -> tuple[str, Shape] | ImportLine:
    try:
        return where, msgspec.json.decode(raw, type=shape)
    except _DAMAGED as exc:
        return ImportLine(0, trouble=f"it is no such entry: {exc}", where=where)


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def object_of(value: object) -> Object:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first_of(one: Mapping[str, Any], *keys: str) -> Any:
    """Return what stands at the first of these keys that says something."""
    return next((one[key] for key in keys if one.get(key) not in (None, "", [])), None)
