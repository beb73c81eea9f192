"""Take values out of a JSON document that anybody may have written, and name the place of what is wrong."""

import json
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import NoReturn

from memoryd.domain.expressions import expression
from memoryd.domain.sessions.turns import EARLIEST, LATEST

MAX_COUNT = 999_999_999
"""So far counts of turns and of what they have go: what an address can name, and a third program can hold."""
_MAX_DEPTH = 64
"""Depth to which keys of others may be nested: they are written back, and readers have bounds of their own."""
_HALF = expression("[\ud800-\udfff]")


class DamagedDocumentError(Exception):
    """The document is ours by its form, or should be, and cannot be read; the text says where and why."""


class ForeignDocumentError(Exception):
    """The document is another program's, or of a later version; it is left as it is."""


def loads(data: bytes) -> object:
    """Return what a document holds; raises DamagedDocumentError."""
    try:
        # a byte order mark is what some editors put first
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as exc:
        raise DamagedDocumentError(f"no JSON: {exc}") from exc


def dumps(value: object) -> str:
    """Return a value on one line, as people can read it; halves of characters are escaped, as no file holds them."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HALF.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def as_object(value: object, where: str) -> Mapping[str, object]:
    """Return a JSON object; this and its kin raise DamagedDocumentError with the place."""
    if not isinstance(value, dict):
        raise DamagedDocumentError(f"{where} is no object")
    return value


def as_list(value: object, where: str) -> list[object]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise DamagedDocumentError(f"{where} is no array")
    return value


def as_text(value: object, where: str) -> str:
    """Return a JSON string; halves of characters become `?`, as in what is said to us: no file and no answer has them.

    Programs that cut texts by UTF-16 leave them.
    """
    if not isinstance(value, str):
        raise DamagedDocumentError(f"{where} is no string")
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def as_count(value: object, where: str) -> int:
    """Return a whole number from 0 to `MAX_COUNT`."""
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
    """Return an instant, RFC 3339, from 1970 to 2262; without an offset it is in UTC."""
    try:
        time = datetime.fromisoformat(as_text(value, where))
    except ValueError as exc:
        raise DamagedDocumentError(f"{where} is no time") from exc
    instant = time if time.tzinfo else time.replace(tzinfo=UTC)
    if not EARLIEST <= instant < LATEST:
        raise DamagedDocumentError(f"{where} is no time from {EARLIEST.year} to {LATEST.year}")
    return instant


def others(value: Mapping[str, object], known: Container[str]) -> Mapping[str, object]:
    """Return the keys of an object that are not ours; raises DamagedDocumentError where they are nested too deeply."""
    found = {key: one for key, one in value.items() if key not in known}
    _check_depth(found, _MAX_DEPTH)
    return found


def _check_depth(value: object, left: int) -> None:
    if isinstance(value, dict | list):
        if not left:
            raise DamagedDocumentError(f"a key of others is nested deeper than {_MAX_DEPTH}")
        for one in value.values() if isinstance(value, dict) else value:
            _check_depth(one, left - 1)


def _finite(text: str) -> float:
    # what is read as infinite could not be written again
    return number if isfinite(number := float(text)) else _refuse(text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
