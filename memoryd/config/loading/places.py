"""Where in the text of the file each key stands, for people and their editors: parsing itself keeps no places."""

import contextlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import json5

from memoryd.config.loading.key_names import dotted
from memoryd.config.loading.raw import KeyPath

TOKEN: Final = re.compile(
    r"(?P<skipped>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>[^\s{}\[\]:,\"'/]+)",
    re.DOTALL,
)
"""Whatever is none of these is passed over: places are found as far as the text can be followed."""
DEPTH_MAX: Final = 100
"""No key stands deeper, and what does is refused: a place takes as long to name as it is deep."""
KEY: Final = re.compile(r"[A-Za-z_$][\w$-]*(?:\.[\w$*-]+|\[\d+\])*")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Line and column, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """Where keys and items of lists stand, and those that one object has twice, each where it is repeated."""

    of_keys: Mapping[KeyPath, Place] = field(default_factory=dict)
    repeated: tuple[tuple[KeyPath, Place], ...] = ()

    def near(self, location: KeyPath) -> Place | None:
        """Return the place of a key, else of what it would stand in; None outside of all that is written."""
        while location:
            if location in self.of_keys:
                return self.of_keys[location]
            location = location[:-1]
        return None

    def of_sentence(self, sentence: str) -> Place | None:
        """Return the place of the key that a problem or a notice begins with."""
        named = KEY.match(sentence)
        if named is None:
            return None
        by_name = {dotted(location): place for location, place in self.of_keys.items()}
        name = named[0]
        while name:
            if name in by_name:
                return by_name[name]
            name = name[: max(name.rfind("."), name.rfind("["), 0)]
        return None


def places(text: str) -> KeyPlaces:
    """Find the places in JSON5 text; of text that is none, those up to where it goes wrong, or nearly so."""
    found: dict[KeyPath, Place] = {}
    repeated: list[tuple[KeyPath, Place]] = []
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|[\n\r]", text))]
    for location, offset in _offsets(text):
        line = bisect_right(starts, offset)
        place = Place(line, offset - starts[line - 1] + 1)
        if location in found:
            repeated.append((location, place))
        found.setdefault(location, place)
    return KeyPlaces(found, tuple(repeated))


@dataclass(slots=True)
class _Open:
    """An object or a list that is being read: where it stands, and the key or the number of what comes next."""

    location: KeyPath
    next: str | int | None

    def entered(self) -> KeyPath:
        return self.location if self.next is None else (*self.location, self.next)


def _offsets(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Yield each key and each item of a list with its offset."""
    around: list[_Open] = []
    for token in TOKEN.finditer(text):
        written = token[0]
        inner = around[-1] if around else None
        if written in ("}", "]"):
            if not around:
                return
            around.pop()
        elif written == "," and inner is not None:
            inner.next = inner.next + 1 if isinstance(inner.next, int) else None
        elif token.lastgroup == "skipped" or written in (":", ","):
            continue
        else:
            if inner is not None and (named := _begun(inner, token)) is not None:
                yield named, token.start()
            if written in ("{", "["):
                if len(around) == DEPTH_MAX:
                    return
                around.append(_Open(inner.entered() if inner else (), 0 if written == "[" else None))


def _begun(inner: _Open, token: re.Match[str]) -> KeyPath | None:
    """Return the location that begins with a token: a key, or an item; None for the value of a key."""
    if isinstance(inner.next, int):
        return inner.entered()
    if inner.next is None and token.lastgroup in ("text", "word"):
        inner.next = _name(token)
        return inner.entered()
    return None


def _name(token: re.Match[str]) -> str:
    written = token[0]
    if token.lastgroup == "word":
        return written
    for decode in (json.loads, json5.loads) if "\\" in written else ():
        with contextlib.suppress(ValueError):
            return str(decode(written))
    return written[1:-1]
