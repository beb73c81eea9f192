"""Reading the JSON5 file: one syntax problem with its line, or the raw values."""

import json
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import json5

from memoryd.config.loading.places import places
from memoryd.config.loading.raw import Raw
from memoryd.errors import ConfigError

CONFIG_BYTES_MAX: Final = 1024 * 1024
POSITION: Final = re.compile(r"<string>:(?P<line>\d+) (?P<what>.*) at column (?P<column>\d+)", re.DOTALL)
WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
TYPOGRAPHIC_QUOTES: Final = "“”„‟‘’‚‛«»"


@dataclass(frozen=True, slots=True)
class ConfigText:
    """A file as it is written: its text, and what its owner should know about it as a file."""

    text: str = ""
    notices: list[str] = field(default_factory=list)


def read(path: Path) -> ConfigText:
    """Read the file; raises ConfigError if it is missing, no regular file, over 1 MiB or not UTF-8."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError([f"{path}: is not a file"])
        with path.open("rb") as stream:
            content = stream.read(CONFIG_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise ConfigError([f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"]) from error
    if len(content) > CONFIG_BYTES_MAX:
        raise ConfigError([f"{path}: is larger than 1 MiB, which no configuration of memoryd is"])
    return ConfigText(_decoded(content, path), _notices(path, status.st_mode))


def parse(text: str, path: Path) -> Raw:
    """Parse JSON5 text; `path` is only named in problems.

    Raises ConfigError with `path:line:column: what` if it is empty, not JSON5 or no object.
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
        raise ConfigError([f"{path}: must hold one object {{ … }}"])
    return raw


def _decode(text: str) -> object:
    """Try plain JSON first: it is a part of JSON5, and the standard library decodes it hundreds of times faster."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError:
        return json5.loads(text, object_pairs_hook=_without_repeats)


def _without_repeats(pairs: Iterable[tuple[str, Any]]) -> Raw:
    result: Raw = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key `{key}` stands twice in one object")
        result[key] = value
    return result


def _repeated(text: str, path: Path) -> list[str]:
    """Tell of every key that stands twice, with the places of both."""
    found = places(text)
    return [
        f"{path}:{place.line}:{place.column}: the key `{location[-1]}` stands twice in one object, "
        f"in line {found.of_keys[location].line} before"
        for location, place in found.repeated
    ]


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{path}:{line}: is not UTF-8"]) from error


def _syntax_problems(message: str, text: str, path: Path) -> list[str]:
    found = POSITION.search(message)
    if found is None:
        return _repeated(text, path) or [f"{path}: {message}"]
    what = found["what"][:1].lower() + found["what"][1:]
    hint = "; use straight quotes" if any(quote in what for quote in TYPOGRAPHIC_QUOTES) else ""
    return [f"{path}:{found['line']}:{found['column']}: {what}{hint}"]


def _notices(path: Path, mode: int) -> list[str]:
    if mode & WRITABLE_BY_OTHERS:
        return [f"{path} can be changed by other users: chmod go-w {path}"]
    return []
