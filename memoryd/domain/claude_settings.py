"""The hooks of memoryd in the settings of Claude Code: added, removed and found, with all but the hooks byte for byte.

JSON has no comments, so our hooks are known by their command: https://code.claude.com/docs/en/hooks.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from memoryd.domain.expressions import expression

_OURS: Final = expression(r"-m memoryd\.hooks\b|\bmemoryctl['\"]? hooks run\b")
_TIMEOUT_SECONDS: Final = 5
_SPACE: Final = expression(r"[ \t\r\n]*")
_LONE_SURROGATE: Final = expression(r"\\u[dD][89a-fA-F]")
_INDENT: Final = expression(r"\n([ \t]+)\S")
_DECODER: Final = json.JSONDecoder(strict=False)


class _Member(Struct, frozen=True):
    """A member of an object; positions are characters of the text."""

    key: str
    start: int
    value_start: int
    end: int


class _Settings(Struct, frozen=True):
    """A text of settings that can be changed: where its object begins and ends, its members, and its hooks."""

    text: str
    start: int
    end: int
    members: list[_Member]
    hooks: dict[str, list[Any]]


def with_hooks(text: str, commands: Mapping[str, str]) -> str:
    """Return settings whose hooks run these commands, by event; raises ValueError where they cannot be read.

    The same text where they do already. A text that is empty is that of no settings.
    """
    settings = _read(text)
    if our_commands(settings.text) == dict(commands):
        return settings.text
    hooks = _without_ours(settings.hooks)
    for event, command in commands.items():
        handler = {"type": "command", "command": command, "timeout": _TIMEOUT_SECONDS}
        hooks[event] = [*hooks.get(event, ()), {"hooks": [handler]}]
    return _render(settings, hooks)


def without_hooks(text: str) -> str:
    """Return settings without our hooks, and without the lists that were left empty by that; raises ValueError."""
    settings = _read(text)
    return _render(settings, _without_ours(settings.hooks)) if our_commands(settings.text) else settings.text


def our_commands(text: str) -> dict[str, str]:
    """Return the commands that are ours, by event; raises ValueError where the settings cannot be read."""
    return {
        event: str(handler["command"])
        for event, groups in _read(text).hooks.items()
        for group in groups
        for handler in filter(_is_ours, _handlers(group))
    }


def is_nothing(text: str) -> bool:
    """Tell whether settings hold nothing at all."""
    return text.split() in (["{}"], ["{", "}"], [])


def _read(text: str) -> _Settings:
    """Take settings apart; raises ValueError for what has another form."""
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    try:
        whole, end = _DECODER.raw_decode(text, start)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    if not isinstance(whole, dict) or text[end:].strip():
        raise ValueError("it holds no JSON object, or something stands behind it")
    members = list(_members(text, start))
    found = [one for one in members if one.key == "hooks"]
    hooks = whole.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise ValueError("its hooks are not as Claude Code has them")
    if len(found) > 1 or (found and len(list(_members(text, found[0].value_start))) > len(hooks)):
        raise ValueError("it has hooks, or an event of them, twice")
    return _Settings(text, start, end, members, hooks)


def _members(text: str, at: int) -> Iterator[_Member]:
    """Yield the members of the object at this position, which can be read."""
    place = _behind_space(text, at + 1)
    while text[place] != "}":
        start = place
        key, place = _DECODER.raw_decode(text, place)
        value_start = _behind_space(text, _behind_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value_start)
        yield _Member(key, start, value_start, end)
        place = _behind_space(text, end)
        if text[place] == ",":
            place = _behind_space(text, place + 1)


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _handlers(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _is_ours(handler: Any) -> bool:
    return isinstance(handler, dict) and _OURS.search(str(handler.get("command", ""))) is not None


def _without_ours(hooks: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return hooks without ours, and without the groups and events that hold nothing else."""
    left = {event: [kept for group in groups for kept in _others(group)] for event, groups in hooks.items()}
    return {event: groups for event, groups in left.items() if groups or not hooks[event]}


def _others(group: Any) -> list[Any]:
    """Return a group without our handlers; nothing if they were all of it."""
    handlers = _handlers(group)
    others = [one for one in handlers if not _is_ours(one)]
    if len(others) == len(handlers):
        return [group]
    return [{**group, "hooks": others}] if others else []


def _render(settings: _Settings, hooks: Mapping[str, list[Any]]) -> str:
    """Return the text with these hooks in the place of its own, in its indentation; no hooks are no member."""
    text, members = settings.text, settings.members
    at = next((number for number, one in enumerate(members) if one.key == "hooks"), len(members))
    if not hooks:
        if len(members) == 1:
            return text[: settings.start + 1] + text[settings.end - 1 :]
        start, end = (members[at - 1].end, members[at].end) if at else (members[0].start, members[1].start)
        return text[:start] + text[end:]
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = found[1] if (found := _INDENT.search(text)) else "  "
    like = members[at] if settings.hooks else settings
    is_inline = bool(members) and newline not in text[like.start : like.end]
    value = json.dumps(
        hooks,
        ensure_ascii=text.lstrip("\ufeff").isascii() or _LONE_SURROGATE.search(text) is not None,
        indent=None if is_inline else unit,
        separators=(",", ":") if is_inline and '": ' not in text else None,
    ).replace("\n", newline + unit)
    if at < len(members):
        return text[: members[at].value_start] + value + text[members[at].end :]
    inner = " " if is_inline else newline + unit
    if members:
        return f'{text[: members[-1].end]},{inner}"hooks": {value}{text[members[-1].end :]}'
    return f'{text[: settings.start + 1]}{inner}"hooks": {value}{newline}{text[settings.end - 1 :]}'
