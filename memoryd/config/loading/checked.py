"""A file as a start would take it: everything that is wrong or worth knowing, each with its place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.config.loading.decoding import read
from memoryd.config.loading.load import Loaded, load, source_of
from memoryd.config.loading.places import KEY, KeyPlaces, Place, places
from memoryd.errors import ConfigError

NOWHERE: Final = Place(0, 0)
POSITION: Final = re.compile(r":(?P<line>\d+)(?::(?P<column>\d+))?: (?P<what>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence about a file; `key` is empty, and `place` None, where it is about none."""

    message: str
    key: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What is to be said of a file; `loaded` is None if memoryd would refuse it."""

    source: Path | None
    loaded: Loaded | None
    problems: tuple[Remark, ...]
    notices: tuple[Remark, ...]


def checked(path: Path | None = None) -> Checked:
    """Look at `path`, else at the file that a start would read; the environment counts as it does there."""
    source = source_of(path)
    found = _places(source)
    try:
        loaded = load(path)
    except ConfigError as error:
        problems, notices = _remarks(error.problems, source, found), _remarks(error.notices, source, found)
        return Checked(source, None, problems, notices)
    return Checked(source, loaded, (), _remarks(loaded.notices, source, found))


def _places(source: Path | None) -> KeyPlaces:
    """Return none of a file that cannot be read: loading says why."""
    try:
        return places(read(source).text) if source is not None else KeyPlaces()
    except ConfigError:
        return KeyPlaces()


def _remarks(sentences: Iterable[str], source: Path | None, found: KeyPlaces) -> tuple[Remark, ...]:
    """Return them in the order of the file; what stands in no line of it comes last."""
    remarks = [_remark(sentence, source, found) for sentence in sentences]
    return tuple(sorted(remarks, key=lambda one: (one.place is None, one.place or NOWHERE)))


def _remark(sentence: str, source: Path | None, found: KeyPlaces) -> Remark:
    """Take a sentence apart: `FILE:line:column: what`, `FILE: what`, or `section.key: what`."""
    named = sentence.removeprefix(str(source)) if source is not None else sentence
    if named != sentence:
        position = POSITION.match(named)
        if position is None:
            return Remark(named.removeprefix(":").strip())
        return Remark(position["what"], place=Place(int(position["line"]), int(position["column"] or 1)))
    place = found.of_sentence(sentence)
    key = KEY.match(sentence) if place is not None else None
    return Remark(sentence, key[0] if key else "", place)
