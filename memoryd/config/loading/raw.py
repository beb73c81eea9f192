"""The JSON5 file before validation: nested dicts and lists, and the place of each key in the text.

A syntax problem is reported with its line. memoryd does not read files of `$include`, OpenClaw's way to split a
configuration; it rejects an include rather than ignore its keys. Edits of the text keep the rest, also comments.
"""

import contextlib
import json
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from memoryd.config.loading.keys import dotted
from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.settings_text import TOKEN, remove_value, set_value
from memoryd.errors import ConfigError, InvalidRequest

Raw = dict[str, object]

KeyPath = tuple[int | str, ...]
"""Keys and list indexes from the root down."""


def value_at(raw: object, location: KeyPath) -> object:
    """Return the value at `location`; None if there is none."""
    for part in location:
        match raw, part:
            case dict(), str() if part in raw:
                raw = raw[part]
            case list(), int() if part < len(raw):
                raw = raw[part]
            case _:
                return None
    return raw


def object_at(raw: object, location: KeyPath) -> Raw:
    """Return the object at `location`; a new empty dict, detached from `raw`, if there is none."""
    value = value_at(raw, location)
    return value if isinstance(value, dict) else {}


def agents_in(raw: Raw) -> Iterator[tuple[KeyPath, Raw]]:
    """Yield `agents.defaults` and each entry of `agents.list` that is an object, with their locations."""
    entries = value_at(raw, ("agents", "list"))
    numbers = range(len(entries) if isinstance(entries, list) else 0)
    for location in (("agents", "defaults"), *(("agents", "list", number) for number in numbers)):
        if isinstance(agent := value_at(raw, location), dict):
            yield location, agent


def values_in(value: object, location: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield a value and all values nested in it, each with its location."""
    yield location, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield from values_in(below, (*location, key))


def texts_in(raw: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield every string in `raw`, with its location."""
    return ((location, value) for location, value in values_in(raw) if isinstance(value, str))


def of_agent(location: KeyPath) -> KeyPath:
    """Return the location relative to `agents.defaults` or `agents.list[n]`; empty if it is in neither."""
    match location:
        case ("agents", "defaults", *below) | ("agents", "list", int(), *below):
            return tuple(below)
    return ()


CONFIG_BYTES_MAX = 1024 * 1024
POSITION = expression(r"<string>:(?P<line>\d+) (?P<what>.*) at column (?P<column>\d+)", re.DOTALL)
_ONE_OBJECT = 'must hold one object of JSON5, such as { agents: { defaults: { workspace: "~/notes" } } }'
TYPOGRAPHIC_QUOTES = "“”„‟‘’‚‛«»"


def read(path: Path) -> str:
    """Return the text of the file. Raises ConfigError if it is missing, not a regular file, over 1 MiB or not UTF-8."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError([f"{path}: is not a file"])
        with path.open("rb") as stream:
            content = stream.read(CONFIG_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise ConfigError([f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"]) from error
    if len(content) > CONFIG_BYTES_MAX:
        raise ConfigError([f"{path}: is larger than 1 MiB, which no configuration of memoryd is"])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{path}:{line}: is not UTF-8"]) from error


def parse(text: str, path: Path) -> Raw:
    """Parse JSON5 text; `path` is used in problem texts only.

    Raises ConfigError with `path:line:column: what` if the text is empty, not JSON5 or not an object.
    """
    if not text.strip():
        raise ConfigError([f"{path}: is empty; write {{}} to use the defaults, or remove the file"])
    try:
        raw = _decode(text)
    except RecursionError as error:
        raise ConfigError([f"{path}: is nested too deeply"]) from error
    except ValueError as error:
        raise ConfigError(_syntax_problems(str(error), text, path)) from error
    if not isinstance(raw, dict):
        raise ConfigError([f"{path}: {_ONE_OBJECT}"])
    return raw


def _decode(text: str) -> object:
    """Decode as JSON, else as JSON5: the JSON decoder of the standard library is hundreds of times faster."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError:
        import json5  # here: most files are plain JSON

        return json5.loads(text, object_pairs_hook=_without_repeats)


def _without_repeats(pairs: Iterable[tuple[str, Any]]) -> Raw:
    result: Raw = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key `{key}` appears twice in one object")
        result[key] = value
    return result


def _syntax_problems(message: str, text: str, path: Path) -> list[str]:
    position = POSITION.search(message)
    if position is None:
        keys = places(text)
        repeated = [
            f"{path}:{place.line}:{place.column}: the key `{location[-1]}` appears twice in one object, "
            f"in line {keys.of_keys[location].line} before"
            for location, place in keys.repeated
        ]
        return repeated or [f"{path}: {message}"]
    what = position["what"][:1].lower() + position["what"][1:]
    hint = "; use straight quotes" if any(quote in what for quote in TYPOGRAPHIC_QUOTES) else ""
    if next((token[0] for token in TOKEN.finditer(text) if token.lastgroup != "skipped"), "{") != "{":
        hint = f"; the file {_ONE_OBJECT}"  # it may be YAML
    return [f"{path}:{position['line']}:{position['column']}: {what}{hint}"]


INCLUDE = "$include"


def includes(ours: Raw) -> list[str]:
    """Return a problem for each place in memoryd's sections that includes another file.

    That file may have an `exclude` or a `scope`: without it memoryd would read and show more than its owner intends.
    """
    return [
        f"{dotted((*location, INCLUDE))}: memoryd reads no included file; "
        "put the keys that it holds for memoryd into this one"
        for location, value in values_in(ours)
        if isinstance(value, dict) and INCLUDE in value
    ]


DEPTH_MAX = 100
"""Deepest nesting that is scanned for places: no valid key is deeper, and the cost of a place grows with its depth."""
KEY = expression(r"[A-Za-z_$][\w$-]*(?:\.[\w$*-]+|\[\d+\])*")


class Place(Struct, frozen=True, order=True):
    """Line and column, both from 1."""

    line: int
    column: int


class KeyPlaces(Struct, frozen=True):
    """The places of keys and list items; `repeated` has the second occurrence of each duplicate key of an object."""

    of_keys: Mapping[KeyPath, Place] = {}
    repeated: tuple[tuple[KeyPath, Place], ...] = ()

    def near(self, location: KeyPath) -> Place | None:
        """Return the place of a key, else of the nearest enclosing object; None if there is none."""
        while location:
            if location in self.of_keys:
                return self.of_keys[location]
            location = location[:-1]
        return None

    def of_sentence(self, sentence: str) -> Place | None:
        """Return the place of the key at the start of a problem or notice; None if it starts with no known key."""
        key = KEY.match(sentence)
        by_name = {dotted(location): place for location, place in self.of_keys.items()} if key else {}
        name = key[0] if key else ""
        while name:
            if name in by_name:
                return by_name[name]
            name = name[: max(name.rfind("."), name.rfind("["), 0)]
        return None


def places(text: str) -> KeyPlaces:
    """Return the places in JSON5 text; with a syntax error, about those before the error."""
    of_keys: dict[KeyPath, Place] = {}
    repeated: list[tuple[KeyPath, Place]] = []
    # offsets of the starts of lines
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|[\n\r]", text))]
    for location, offset in _offsets(text):
        line = bisect_right(starts, offset)
        place = Place(line, offset - starts[line - 1] + 1)
        if location in of_keys:
            repeated.append((location, place))
        of_keys.setdefault(location, place)
    return KeyPlaces(of_keys, tuple(repeated))


def _offsets(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Yield each key and each list item with its offset."""
    # for each enclosing object or list: its current key or index; None if a key comes next
    around: list[str | int | None] = []
    for token in TOKEN.finditer(text):
        written, inner = token[0], around[-1] if around else ""
        if written in ("}", "]"):
            if not around:
                return
            around.pop()
        elif written == "," and around:
            around[-1] = inner + 1 if isinstance(inner, int) else None
        elif token.lastgroup != "skipped" and written not in (":", ","):
            is_key = inner is None and token.lastgroup in ("text", "word")
            if is_key:
                around[-1] = _name(token)
            if is_key or isinstance(inner, int):
                yield tuple(part for part in around if part is not None), token.start()
            if written in ("{", "["):
                if len(around) == DEPTH_MAX:
                    return
                around.append(0 if written == "[" else None)


def _name(token: TextMatch) -> str:
    written = token[0]
    if token.lastgroup == "word":
        return written
    if "\\" in written:
        with contextlib.suppress(ValueError):
            return str(_decode(written))
    return written[1:-1]


def with_value(text: str, key: KeyPath, value: str) -> str:
    """Return JSON5 text with `value` set at `key`; missing sections are created.

    Raises InvalidRequest if that is impossible, such as in a missing list.
    """
    with contextlib.suppress(ValueError, ConfigError):
        edited = set_value(text, list(map(str, key)), value, is_json5=True)
        if value_at(parse(edited, Path("configuration")), key) == value:
            return edited
    name = ".".join(map(str, key))
    raise InvalidRequest(f"{name} cannot be written into the configuration", hint=f"write {json.dumps(value)} there")


def without_key(text: str, key: str) -> str:
    """Return JSON5 text without a top-level section and its content. Raises InvalidRequest if that is impossible."""
    with contextlib.suppress(ValueError, ConfigError):
        edited = remove_value(text, [key], has_comments=True)
        remaining = {name: value for name, value in parse(text, Path("configuration")).items() if name != key}
        if parse(edited, Path("configuration")) == remaining:
            return edited
    raise InvalidRequest(f"{key} cannot be taken out of the configuration", hint="delete it there")
