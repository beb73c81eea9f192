"""Which lines of a configuration name a folder, and the text with another folder in its stead."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import json5

from memoryd.config.loading.decoding import parse
from memoryd.config.loading.key_names import dotted
from memoryd.config.loading.places import places
from memoryd.config.loading.raw import texts_in
from memoryd.config.paths import expand

_TOKEN: Final = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FolderNaming:
    """A line that names a folder, or what lies in it, and what it would say instead."""

    key: str
    line: int
    said: str
    instead: str


def namings(text: str, file: Path, old: Path, new: Path) -> list[FolderNaming]:
    """Return what of a configuration names a folder (a real path) that becomes another one; raises ConfigError."""
    lines = places(text)
    found = []
    for location, said in texts_in(parse(text, file)):
        if (instead := _instead(said, file.absolute().parent, old, new)) is not None:
            place = lines.near(location)
            found.append(FolderNaming(dotted(location), place.line if place else 0, said, instead))
    return found


def renamed(text: str, changes: list[FolderNaming]) -> str:
    """Return the text with other folders in the stead of those; comments and all else stay."""
    by_said = {one.said: one.instead for one in changes}

    def changed(found: re.Match[str]) -> str:
        token = found[0]
        said = "" if token.startswith("/") else str(json5.loads(token))
        return json.dumps(by_said[said], ensure_ascii=False) if said in by_said else token

    return _TOKEN.sub(changed, text)


def _instead(said: str, base: Path, old: Path, new: Path) -> str | None:
    if "/" not in said and said not in (".", "..") and not said.startswith("~"):
        return None
    real = Path(os.path.realpath(expand(said, base)))
    if "\0" in said or not real.is_relative_to(old):
        return None
    path = new / real.relative_to(old)
    is_short = said.startswith("~") and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home())}" if is_short else str(path)
