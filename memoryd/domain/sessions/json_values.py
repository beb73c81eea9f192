"""Read and check values of a JSON document that any program may have written; errors name the place."""

import json
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import NoReturn

from memoryd.domain.expressions import expression
from memoryd.domain.sessions.turns import EARLIEST, LATEST

MAX_COUNT = 999_999_999
"""Largest count of turns or answers: it fits an address of a turn, and the integers of other programs."""
_MAX_DEPTH = 64
"""Deepest nesting of unknown keys: they are written back, and readers have their own limits."""
_SURROGATE = expression("[\ud800-\udfff]")


class DamagedDocumentError(Exception):
    """The document has our format, or should have, and cannot be read; the message says where and why."""


class ForeignDocumentError(Exception):
    """The document belongs to another program or a later version; it must not be changed."""


def loads(data: bytes) -> object:
    """Parse a JSON document. Raises DamagedDocumentError."""
    try:
        # utf-8-sig: some editors write a byte order mark first
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as exc:
        raise DamagedDocumentError(f"no JSON: {exc}") from exc


def dumps(value: object) -> str:
    """Return a value as one line of readable JSON. Lone surrogates are escaped, as UTF-8 cannot encode them."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def as_object(value: object, where: str) -> Mapping[str, object]:
    """Return a JSON object. Like all `as_*` functions, raise DamagedDocumentError that names the place."""
    if not isinstance(value, dict):
        raise DamagedDocumentError(f"{where} is no object")
    return value


def as_list(value: object, where: str) -> list[object]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise DamagedDocumentError(f"{where} is no array")
    return value


def as_text(value: object, where: str) -> str:
    """Return a JSON string. Lone surrogates become `?`, as in messages: they can be neither stored nor sent.

    Programs that cut texts by UTF-16 units produce them.
    """
    if not isinstance(value, str):
        raise DamagedDocumentError(f"{where} is no string")
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def as_count(value: object, where: str) -> int:
    """Return an integer from 0 to `MAX_COUNT`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
        raise DamagedDocumentError(f"{where} is no count")
    return value


def as_seq(value: object, where: str) -> int:
    """Return the number of a turn, from 1 to `MAX_COUNT`."""
    if not (seq := as_count(value, where)):
        raise DamagedDocumentError(f"{where} is 0, and turns count from 1")
    return seq


def as_share(value: object, where: str) -> float:
    """Return a number from 0 to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise DamagedDocumentError(f"{where} is no number from 0 to 1")
    return float(value)


def as_time(value: object, where: str) -> datetime:
    """Return an RFC 3339 time from 1970 to 2262; a time without an offset is in UTC."""
    try:
        time = datetime.fromisoformat(as_text(value, where))
    except ValueError as exc:
        raise DamagedDocumentError(f"{where} is no time") from exc
    instant = time if time.tzinfo else time.replace(tzinfo=UTC)
    if not EARLIEST <= instant < LATEST:
        raise DamagedDocumentError(f"{where} is no time from {EARLIEST.year} to {LATEST.year}")
    return instant


def others(value: Mapping[str, object], known: Container[str]) -> Mapping[str, object]:
    """Return the items with unknown keys. Raises DamagedDocumentError if they are nested too deeply."""
    unknown = {key: item for key, item in value.items() if key not in known}
    _check_depth(unknown, _MAX_DEPTH)
    return unknown


def _check_depth(value: object, left: int) -> None:
    if isinstance(value, dict | list):
        if not left:
            raise DamagedDocumentError(f"a key of others is nested deeper than {_MAX_DEPTH}")
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, left - 1)


def _finite(text: str) -> float:
    # infinity could not be written back as JSON
    return number if isfinite(number := float(text)) else _refuse(text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
