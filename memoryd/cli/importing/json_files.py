"""Files of JSON in an export: lists of entries, each decoded by itself, so that a damaged one costs no other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from memoryd.cli.importing.lines import ImportLine
from memoryd.cli.importing.members import ExportedFile, UnreadableExportError

FILE_BYTES_MAX: Final = 512 * 2**20
_BOM: Final = b"\xef\xbb\xbf"
DAMAGED_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def json_files(members: Sequence[ExportedFile], *beginnings: str) -> Iterator[tuple[str, Any]]:
    """Yield the JSON files whose names begin so, with what they hold: an ImportLine where that cannot be read."""
    for member in members:
        name = member.name.rpartition("/")[2].lower()
        if name.endswith(".json") and name.startswith(beginnings):
            yield member.name, decoded(member)


def decoded(member: ExportedFile) -> Any:
    """Return the lists and values of a file without a look into these, or the line that says why it cannot be read."""
    try:
        data = member.read(FILE_BYTES_MAX)
        if len(data) > FILE_BYTES_MAX:
            raise UnreadableExportError(f"it is larger than {FILE_BYTES_MAX >> 20} MB")
        return msgspec.json.decode(data.removeprefix(_BOM), type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except UnreadableExportError as exc:
        return ImportLine(0, trouble=str(exc), where=member.name)
    except DAMAGED_JSON as exc:
        return ImportLine(0, trouble=f"it is no JSON: {exc}", where=member.name)


def listed(found: tuple[str, Any], *keys: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a JSON file with their places: of a list, or of an object those at the first of the keys.

    Without keys an object is the one entry.
    """
    name, value = found
    if isinstance(value, ImportLine):
        yield name, value
        return
    if isinstance(value, dict) and keys:
        value = next((value[key] for key in keys if key in value), msgspec.Raw(b"[]"))
        try:
            value = msgspec.json.decode(value, type=list[msgspec.Raw])
        except DAMAGED_JSON as exc:
            value = []
            yield name, ImportLine(0, trouble=f"it is no list: {exc}", where=name)
    for number, one in enumerate([value] if isinstance(value, dict) else value, start=1):
        where = f"{name}, entry {number}"
        try:
            yield where, _whole(one)
        except DAMAGED_JSON as exc:
            yield where, ImportLine(0, trouble=f"it is no JSON: {exc}", where=where)


def _whole(one: msgspec.Raw | dict[str, msgspec.Raw]) -> Any:
    return (
        {key: msgspec.json.decode(raw) for key, raw in one.items()}
        if isinstance(one, dict)
        else msgspec.json.decode(one)
    )


def objects(found: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]] | ImportLine]:
    """Yield entries with their places, and what is no entry as the line that says so."""
    for where, one in found:
        if isinstance(one, ImportLine):
            yield one
        elif isinstance(one, dict):
            yield where, one
        else:
            yield ImportLine(0, trouble="it is no object", where=where)


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def object_of(value: object) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first_of(one: Mapping[str, Any], *keys: str) -> Any:
    """Return what stands at the first of these keys that says something."""
    return next((one[key] for key in keys if one.get(key) not in (None, "", [])), None)
