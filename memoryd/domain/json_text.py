"""Change a JSON text in place: what is not changed keeps its bytes, its order and its indentation."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object, or an element of an array, whose `key` is empty; positions are characters of the text."""

    key: str
    start: int
    value_start: int
    end: int


def items(text: str, at: int) -> list[JsonItem]:
    """Return what an object or array at this position holds; raises ValueError where there is none."""
    return list(_items(text, at))


def value_at(text: str, at: int) -> Any:
    """Return the value at this position; raises ValueError."""
    return _DECODER.raw_decode(text, at)[0]


def inserted(text: str, at: int, value: object, key: str = "") -> str:
    """Return the text with one more item, the last, in the object or array at this position."""
    found = items(text, at)
    unit, end = _unit(text), _end(text, at)
    newline = "\r\n" if "\r\n" in text else "\n"
    is_inline = bool(found) and newline not in text[at:end]
    inner = "" if is_inline else newline + _indent_of(text, at) + unit
    written = json.dumps(value, ensure_ascii=False, indent=None if is_inline else unit)
    written = written.replace("\n", newline if is_inline else inner)
    named = f"{json.dumps(key, ensure_ascii=False)}: {written}" if key else written
    if found:
        behind = found[-1].end
        return f"{text[:behind]},{inner or ' '}{named}{text[behind:]}"
    return f"{text[: at + 1]}{inner}{named}{newline}{_indent_of(text, at)}{text[end - 1 :]}"


def removed(text: str, at: int, number: int) -> str:
    """Return the text without an item of the object or array at this position, and the comma that it had."""
    found = items(text, at)
    if len(found) == 1:
        return text[: at + 1] + text[_end(text, at) - 1 :]
    if number:
        return text[: found[number - 1].end] + text[found[number].end :]
    return text[: found[0].start] + text[found[1].start :]


def _items(text: str, at: int) -> Iterator[JsonItem]:
    closing = {"{": "}", "[": "]"}.get(text[at : at + 1])
    if closing is None:
        raise ValueError("neither an object nor an array")
    place = _behind_space(text, at + 1)
    while text[place : place + 1] != closing:
        start, key = place, ""
        if closing == "}":
            key, place = _DECODER.raw_decode(text, place)
            place = _behind_space(text, _behind_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, place)
        yield JsonItem(key, start, place, end)
        place = _behind_space(text, end)
        if text[place : place + 1] == ",":
            place = _behind_space(text, place + 1)


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
