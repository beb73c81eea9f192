"""`reference/configuration.md`: every key with its type, default and meaning, from the models."""

import json
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Union

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memoryd.config.loading.foreign import RETIRED, WITHOUT_EFFECT
from memoryd.config.root import EFFECTS, Config
from memoryd.config.section import Effect, docstrings
from tests.docs.tables import table

SHORT: Final = {"agents.defaults.memorySearch.": "memorySearch."}
AS_THE_DEFAULTS: Final = "agents.list[].memorySearch."
"""Described once, in `HEAD`."""
HEAD: Final = """# Configuration

One JSON5 file, `~/.config/memoryd/config.json5` or `$MEMORYD_CONFIG`; see [configure](../how-to/configure.md).
`memorySearch.…` means `agents.defaults.memorySearch.…`; each of these keys can also be set for one agent, in
`agents.list[].memorySearch`. 0 turns an interval off; "–" means unset.
"""
IDLE_KEYS: Final = """
## Without effect

These keys are accepted, so that an existing file loads, but have no effect; the daemon says so if one is set.
"""
AT_A_RELOAD: Final = """
## What a reload does

`memoryctl reload` reads the file again. A change takes effect at once, after an exchange or after a restart. In an
exchange the agents are closed and opened again over the same files; calls wait, and models stay loaded.
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key with its full path, with `[]` after a list and `*` for any name."""

    path: str
    field: FieldInfo
    default: object
    meaning: str


def page() -> str:
    """Return the page."""
    sections: dict[str, list[Key]] = {}
    for key in keys(Config, Config().model_dump(mode="json", by_alias=True)):
        if not key.path.startswith(AS_THE_DEFAULTS):
            sections.setdefault(_section(key.path), []).append(key)
    parts = [
        f"\n## {name}\n\n{table(('key', 'default', 'meaning'), map(_row, rows))}" for name, rows in sections.items()
    ]
    idle = [(f"`{name}`", why) for name, why in sorted({**WITHOUT_EFFECT, **RETIRED}.items())]
    effects = [(_effect(effect), _all_of(effect)) for effect in Effect]
    reloads = [AT_A_RELOAD, "\n", table(("takes effect", "keys"), effects)]
    return "".join([HEAD, *parts, *reloads, IDLE_KEYS, "\n", table(("key", "why"), idle)])


def _effect(effect: Effect) -> str:
    return {Effect.AT_ONCE: "at once", Effect.EXCHANGE: "after an exchange", Effect.RESTART: "after a restart"}[effect]


def _all_of(effect: Effect) -> str:
    names = [name.replace("agents.list.", "agents.list[].") for name, its in EFFECTS.items() if its is effect]
    return ", ".join(f"`{name}`" for name in names)


def keys(model: type[BaseModel], defaults: object, prefix: str = "") -> Iterator[Key]:
    """Yield the keys of a section in order; `defaults` is the section as JSON, or None if absent."""
    known = defaults if isinstance(defaults, Mapping) else {}
    meanings = docstrings(model)
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        default = known.get(field.alias or name, _declared(field))
        inner, mark = _section_in(field.annotation)
        if inner is None:
            yield Key(path, field, default, meanings[name])
        else:
            if mark:
                yield Key(path, field, default, meanings[name])
            yield from keys(inner, None if mark else default, f"{path}{mark}.")


def _declared(field: FieldInfo) -> object:
    return None if field.is_required() else field.get_default(call_default_factory=True)


def _section_in(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """Return the section in a type, and its mark in a path: `[]` in a list, `.*` in a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType, typing.Annotated):
        found = map(_section_in, arguments)
        return next((section for section in found if section[0]), (None, ""))
    if origin in (tuple, list):
        return _section_in(arguments[0])[0], "[]"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _section_in(arguments[1])[0], ".*"
    return None, ""


def _section(path: str) -> str:
    for long, short in SHORT.items():
        path = path.replace(long, short)
    head, *rest = path.split(".")
    if head in ("memory", "memorySearch") and len(rest) > 1:
        return f"{head}.{rest[0]}"
    if head == "agents":
        return "agents"
    return head


def _row(key: Key) -> tuple[str, str, str]:
    path = key.path
    for long, short in SHORT.items():
        path = path.replace(long, short)
    meaning = [key.meaning, _allowed(key.field)]
    return f"`{path}`", _written(key.default), " ".join(filter(None, meaning))


def _allowed(field: FieldInfo) -> str:
    """Return the allowed values, if the type restricts them."""
    if choices := _choices(field.annotation):
        return f"({', '.join(f'`{choice}`' for choice in choices)})"
    low, high = _bound(field, "ge", "gt"), _bound(field, "le", "lt")
    if low and high:
        return f"({low.removeprefix('at least ')} to {high.removeprefix('at most ')})"
    return f"({low or high})" if low or high else ""


def _bound(field: FieldInfo, closed: str, opened: str) -> str:
    """Return one bound of a number in words; empty if there is none."""
    for limit in field.metadata:
        if (value := getattr(limit, closed, None)) is not None:
            return f"at {'least' if closed == 'ge' else 'most'} {value}"
        if (value := getattr(limit, opened, None)) is not None:
            return f"{'more' if opened == 'gt' else 'less'} than {value}"
    return ""


def _choices(annotation: Any) -> list[str]:
    if typing.get_origin(annotation) is Literal:
        return [str(choice) for choice in typing.get_args(annotation)]
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return [choice for kind in typing.get_args(annotation) for choice in _choices(kind)]
    return []


def _written(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value if isinstance(value, str) else json.dumps(_given(value))}`"


def _given(value: object) -> object:
    """Return a value without its unset parts."""
    if isinstance(value, Mapping):
        return {name: _given(below) for name, below in value.items() if below is not None}
    return [_given(below) for below in value] if isinstance(value, list | tuple) else value
