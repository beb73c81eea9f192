"""What a retained line says about itself, in brackets behind its kind: `(c=0.95, at=2025-11-27, pin)`."""

import difflib
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from memoryd.domain.memories.identity import ShortId


class Provenance(StrEnum):
    """Who said what a memory states."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"


BY_PEOPLE: Final = frozenset({None, Provenance.USER})
"""Of what a person says, or wrote by hand."""

MAX_VALUES: Final = 64
"""Of one key."""
MAX_TAGS: Final = 1_000
"""Signs of all tags of a line, so that what is written stays within what is read."""
_SHORT_ID: Final = re.compile(r"[0-9a-f]{8}\Z")
_SHARE: Final = re.compile(r"(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?\Z")
_DAY_OR_MONTH: Final = re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?\Z")
_WORD: Final = re.compile(r"[^\s,，()（）=＝\x00-\x1f]{1,200}\Z")
_COMMA: Final = re.compile("[,，]")
_EQUALS: Final = re.compile("[=＝]")
_BETWEEN_VALUES: Final = re.compile(r"[\s;+]+")
_RANGE: Final = ".."


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of a retained line; None and empty for what it does not say.

    Raise ValueError for what no line can say: a share outside of 0 to 1, a date that no calendar has, an id that is
    none, a word with a blank or a comma in it.
    """

    confidence: float | None = None
    importance: float | None = None
    at: str = ""
    """Event time as written: `2025-11-27`, `2025-11`, or two of them with `..` between."""
    scope: str = ""
    supports: tuple[ShortId, ...] = ()
    contradicts: tuple[ShortId, ...] = ()
    supersedes: tuple[ShortId, ...] = ()
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    is_pinned: bool = False

    def __post_init__(self) -> None:
        for name, share in (("c", self.confidence), ("i", self.importance)):
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"{name} is a number from 0 to 1, as in {name}=0.9")
        if self.at:
            written_span(self.at)
        for name, ids in (
            ("supports", self.supports),
            ("contradicts", self.contradicts),
            ("supersedes", self.supersedes),
        ):
            _check_each(ids, _SHORT_ID, f"{name} names memories by the first eight signs of their ids, as 1a2b3c4d")
        _check_each((self.scope,) if self.scope else (), _WORD, "a scope is one word, as agent:main")
        _check_each(self.tags, _WORD, "tags are single words with blanks between")
        if sum(map(len, self.tags)) > MAX_TAGS:
            raise ValueError(f"tags have {MAX_TAGS:,} signs together at most")


def parse_attributes(text: str) -> Attributes:
    """Read what stands between the brackets; raise ValueError, which says what is wrong, for what is not understood.

    Keys stand in any order and case, values without quotes. Several ids or tags have blanks between, or their key
    stands several times; any other key stands once.
    """
    said: dict[str, list[str]] = {}
    for part in _COMMA.split(text):
        if part.strip():
            key, value = _parsed(part)
            said.setdefault(key, []).append(value)
    many = {"supports", "contradicts", "supersedes", "tags"}
    twice = [key for key, values in said.items() if len(values) > 1 and key not in many]
    if twice:
        raise ValueError(f"{twice[0]} stands twice")
    fields: dict[str, object] = {_KEYS[key][0]: _KEYS[key][1](" ".join(values)) for key, values in said.items()}
    return Attributes(**fields)  # type: ignore[arg-type]  # each key has the reader of its field


def render_attributes(attributes: Attributes) -> str:
    """Return the attributes as `parse_attributes` reads them, in one order; empty if there are none."""
    parts = [f"{key}={text}" for key, (name, _) in _KEYS.items() if (text := _written(getattr(attributes, name)))]
    return ", ".join(
        [*(part for part in parts if not part.startswith(_PIN)), *([_PIN] if attributes.is_pinned else [])]
    )


def reweighed(text: str, *, importance: float | None = None, is_pinned: bool | None = None) -> str:
    """Return what stands between the brackets with another importance or pin, None: as it is; the rest as written."""
    parts = _COMMA.split(text) if text.strip() else []
    seams = [*_COMMA.findall(text), ""]
    given = {"i": None if importance is None else f"i={_written(float(importance))}", _PIN: _PIN if is_pinned else None}
    if importance is None:
        del given["i"]
    if is_pinned is None:
        del given[_PIN]
    kept: list[str] = []
    for part, seam in zip(parts, seams, strict=False):
        key = _EQUALS.split(part, maxsplit=1)[0].strip().lower()
        if key not in given:
            kept.append(part + seam)
        elif (said := given.pop(key)) is not None:
            kept.append(part[: len(part) - len(part.lstrip())] + said + seam)
    left = "".join(kept).strip().rstrip(",，").rstrip()
    return ", ".join(filter(None, [left, *filter(None, given.values())]))


def written_span(at: str) -> tuple[date, date]:
    """Return the first and last day of an event time as `at=` has it; raise ValueError if it is none."""
    first, has_end, last = at.partition(_RANGE)
    days = _days(first), _days(last if has_end else first)
    if days[1][1] < days[0][0]:
        raise ValueError(f"at={at} ends before it begins")
    return days[0][0], max(days[0][1], days[1][1]) if has_end else days[0][1]


def _days(text: str) -> tuple[date, date]:
    match = _DAY_OR_MONTH.match(text)
    try:
        if match is None:
            raise ValueError
        year, month, day = int(match["year"]), int(match["month"]), match["day"]
        if day is not None:
            return (date(year, month, int(day)),) * 2
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    except ValueError:
        raise ValueError("at is a day, a month or two days: 2025-11-27, 2025-11, 2025-11-27..2025-12-01") from None


def _parsed(part: str) -> tuple[str, str]:
    """Return key and value of one attribute; raise ValueError with the key that may be meant."""
    pieces = _EQUALS.split(part, maxsplit=1)
    key = pieces[0].strip().lower()
    if key == _PIN and len(pieces) == 1:
        return _PIN, ""
    if key not in _KEYS or key == _PIN:
        raise ValueError(_meant(key, _KEYS) if key != _PIN else "pin stands alone, without a value")
    if len(pieces) == 1 or not pieces[1].strip():
        raise ValueError(f"{key} has no value, as in {key}=…")
    return key, pieces[1].strip()


def _meant(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(word[:40], names, 1, 0.6) or [name for name in names if word[:1] == name[:1]][:1]
    shown = word if len(word) <= 40 else f"{word[:40]}…"
    return f"{shown!r} is none of {', '.join(names)}" + (f"; did you mean {near[0]}?" if near else "")


def _share(text: str) -> float:
    if not _SHARE.match(text):
        raise ValueError(f"{text[:40]!r} is no number from 0 to 1, as 0.9")
    return float(text)


def _at(text: str) -> str:
    return "".join(text.split())


def _ids(text: str) -> tuple[ShortId, ...]:
    return tuple(ShortId(word) for word in _words(text.lower()))


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _BETWEEN_VALUES.split(text)))


def _provenance(text: str) -> Provenance:
    try:
        return Provenance(text.lower())
    except ValueError:
        raise ValueError(_meant(text.lower(), list(Provenance))) from None


def _check_each(words: tuple[str, ...], pattern: re.Pattern[str], rule: str) -> None:
    if len(words) > MAX_VALUES or not all(map(pattern.match, words)):
        raise ValueError(rule)


def _written(value: object) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return " ".join(value) if isinstance(value, tuple) else str(value)


_PIN: Final = "pin"
_KEYS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "c": ("confidence", _share),
    "i": ("importance", _share),
    "at": ("at", _at),
    "scope": ("scope", str),
    "supports": ("supports", _ids),
    "contradicts": ("contradicts", _ids),
    "supersedes": ("supersedes", _ids),
    "from": ("provenance", _provenance),
    "tags": ("tags", _words),
    _PIN: ("is_pinned", lambda _: True),
}
