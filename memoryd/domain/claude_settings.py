"""The hooks of memoryd in the settings of Claude Code: added, removed and found in the text, with all else unchanged.

JSON has no comments, so our hooks are known by their command: https://code.claude.com/docs/en/hooks.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from memoryd.domain.expressions import expression

_OURS: Final = expression(r"-m memoryd\.hooks\b|\bmemoryctl['\"]? hooks run\b")
_TIMEOUT_SECONDS: Final = 5
_EMPTY: Final = "{}\n"


class JsonItem(Struct, frozen=True):
    """A member of an object, or an element of an array, whose `key` is empty; positions are characters of the text."""

    key: str
    start: int
    value_start: int
    end: int


def with_hooks(text: str, commands: Mapping[str, str]) -> str:
    """Return settings whose hooks run these commands, by event; raises ValueError where they cannot be read.

    The same text where they do already. A text that is empty is that of no settings.
    """
    text = _checked(text)
    if our_commands(text) == dict(commands):
        return text
    text = without_hooks(text)
    for event, command in commands.items():
        text = _with_hook(text, event, command)
    return text


def without_hooks(text: str) -> str:
    """Return settings without our hooks, and without the lists that were left empty by that; raises ValueError."""
    text = _checked(text)
    while (place := next(_ours(text), None)) is not None:
        text = _without(text, place)
    return text


def our_commands(text: str) -> dict[str, str]:
    """Return the commands that are ours, by event; raises ValueError where the settings cannot be read."""
    text = _checked(text)
    found = {}
    for event, group, handler in _ours(text):
        found[event.key] = str(value_at(text, items(text, _list_of(text, group))[handler].value_start)["command"])
    return found


def is_nothing(text: str) -> bool:
    """Tell whether settings hold nothing at all."""
    return text.split() in (["{}"], ["{", "}"], [])


def _checked(text: str) -> str:
    """Return settings as they can be changed; raises ValueError for what has another form."""
    text = text if text.strip("\ufeff \t\r\n") else _EMPTY
    try:
        whole = value_at(text, _root(text))
        rest = text[_document_end(text) :].strip()
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    if not isinstance(whole, dict) or rest:
        raise ValueError("it holds no JSON object" if not rest else "something stands behind the JSON object")
    names = [one.key for one in items(text, _root(text))]
    if names.count("hooks") > 1:
        raise ValueError("it has hooks twice")
    hooks = whole.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise ValueError("its hooks are not as Claude Code has them")
    if hooks and len(items(text, _hooks(text))) != len(hooks):
        raise ValueError("its hooks name an event twice")
    return text


def _document_end(text: str) -> int:
    found = items(text, _root(text))
    place = found[-1].end if found else _root(text) + 1
    return text.index("}", place) + 1


def _with_hook(text: str, event: str, command: str) -> str:
    group = {"hooks": [{"type": "command", "command": command, "timeout": _TIMEOUT_SECONDS}]}
    if (hooks := _hooks(text)) < 0:
        return inserted(text, _root(text), {event: [group]}, "hooks")
    place = next((one.value_start for one in items(text, hooks) if one.key == event), None)
    return inserted(text, hooks, [group], event) if place is None else inserted(text, place, group)


def _ours(text: str) -> Iterator[tuple[JsonItem, JsonItem, int]]:
    """Yield our handlers: the event, the group it stands in, and its number there."""
    if (hooks := _hooks(text)) < 0:
        return
    for event in items(text, hooks):
        for group in items(text, event.value_start):
            handlers = _handlers(value_at(text, group.value_start))
            for number, handler in enumerate(handlers):
                if isinstance(handler, dict) and _OURS.search(str(handler.get("command", ""))):
                    yield event, group, number


def _without(text: str, place: tuple[JsonItem, JsonItem, int]) -> str:
    """Return the text without a handler, and without what holds nothing else: its group, its event, all hooks."""
    event, group, number = place
    hooks, handlers = _hooks(text), _list_of(text, group)
    if len(items(text, handlers)) > 1:
        return removed(text, handlers, number)
    groups = items(text, event.value_start)
    if len(groups) > 1:
        return removed(text, event.value_start, groups.index(group))
    events = items(text, hooks)
    if len(events) > 1:
        return removed(text, hooks, events.index(event))
    members = items(text, _root(text))
    return removed(text, _root(text), [one.key for one in members].index("hooks"))


def _list_of(text: str, group: JsonItem) -> int:
    return next(one.value_start for one in items(text, group.value_start) if one.key == "hooks")


def _handlers(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _hooks(text: str) -> int:
    return next((one.value_start for one in items(text, _root(text)) if one.key == "hooks"), -1)


def _root(text: str) -> int:
    return len(text) - len(text.lstrip("\ufeff \t\r\n"))


_SPACE: Final = expression(r"[ \t\r\n]*")
_INDENT: Final = expression(r"\n([ \t]+)\S")
_DECODER: Final = json.JSONDecoder(strict=False)


def items(text: str, at: int) -> list[JsonItem]:
    """Return what an object or array at this position holds; raises ValueError where there is none."""
    return list(_items(text, at))


def value_at(text: str, at: int) -> Any:
    """Return the value at this position; raises ValueError."""
    return _DECODER.raw_decode(text, at)[0]


def inserted(text: str, at: int, value: object, key: str = "") -> str:
    """Return the text with one more item, the last, in the object or array at this position."""
    found = items(text, at)
    unit = indent[1] if (indent := _INDENT.search(text)) else "  "
    end = _element_end(text, at)
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
        return text[: at + 1] + text[_element_end(text, at) - 1 :]
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


def _element_end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
