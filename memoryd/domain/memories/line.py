"""The retained line: one bullet that states a memory, with its attributes in brackets; parsing and rendering.

    - KIND[(key=value, …)] [@Entity …]: text
        further lines of the same memory are indented

such as `- W(c=0.95, at=2025-11-27, pin) @Peter: …`. Text that does not parse is prose; nothing is guessed.
"""

import difflib
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.kinds import (
    TEAM,
    Kind,
    MemoryId,
    Network,
    ShortId,
    default_importance,
    kind_named,
    memory_id,
    network_of,
    written_kind,
)
from memoryd.domain.memories.malformed_lines import MalformedLine, nearly, nearly_line


class Provenance(StrEnum):
    """The source of a memory's statement."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"


BY_PEOPLE = frozenset({None, Provenance.USER})
"""Values of lines that a person said, or wrote by hand."""

MAX_VALUES = 64
"""Most values of one key."""
MAX_TAGS = 1_000
"""Most characters of all tags of a line, so that a written line can be parsed again."""
_SHORT_ID = expression(r"[0-9a-f]{8}\Z")
_SHARE = expression(r"(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?\Z")
_DAY_OR_MONTH = expression(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?\Z")
_WORD = expression(r"[^\s,，()（）=＝\x00-\x1f]{1,200}\Z")
_COMMA = expression("[,，]")
_EQUALS = expression("[=＝]")
_BETWEEN_VALUES = expression(r"[\s;+]+")
NAMING = ("supports", "contradicts", "supersedes", "superseded", "beside")
"""Attributes that reference other memories, by the first eight characters of their ids."""
Word = TypeVar("Word", bound=str)


class Attributes(Struct, frozen=True):
    """The attributes of a retained line; None or empty for missing ones.

    Raises ValueError for invalid values: a number outside of 0 to 1, an invalid date, an invalid id, or a word with a
    blank or a comma.
    """

    confidence: float | None = None
    importance: float | None = None
    at: str = ""
    """Event time as written: `2025-11-27`, `2025-11`, or two of them separated by `..`."""
    scope: str = ""
    supports: tuple[ShortId, ...] = ()
    contradicts: tuple[ShortId, ...] = ()
    supersedes: tuple[ShortId, ...] = ()
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    is_pinned: bool = False
    superseded: tuple[ShortId, ...] = ()
    """The memories that supersede it: the inverse of `supersedes`, for readers of the older line."""
    beside: tuple[ShortId, ...] = ()
    """The memories that it does not contradict, despite appearances: both are valid."""

    def __post_init__(self) -> None:
        for name, share in (("c", self.confidence), ("i", self.importance)):
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"{name} is a number from 0 to 1, as in {name}=0.9")
        if self.at:
            written_span(self.at)
        for name in NAMING:
            rule = f"{name} names memories by the first eight signs of their ids, as 1a2b3c4d"
            _check_each(getattr(self, name), _SHORT_ID, rule)
        _check_each((self.scope,) if self.scope else (), _WORD, "a scope is one word, as agent:main")
        _check_each(self.tags, _WORD, "tags are single words with blanks between")
        if sum(map(len, self.tags)) > MAX_TAGS:
            raise ValueError(f"tags have {MAX_TAGS:,} signs together at most")

    def with_more(self, other: "Attributes") -> "Attributes":
        """Return the union with other attributes: lists are joined, single values of `other` win, either may pin."""
        lists = {key: joined(getattr(self, key), getattr(other, key)) for key in (*NAMING, "tags")}
        return replace(
            self,
            confidence=self.confidence if other.confidence is None else other.confidence,
            importance=self.importance if other.importance is None else other.importance,
            is_pinned=self.is_pinned or other.is_pinned,
            **lists,
        )


def joined(first: Iterable[Word], then: Iterable[Word]) -> tuple[Word, ...]:
    """Return the distinct elements of both."""
    return tuple(dict.fromkeys((*first, *then)))


def parse_attributes(text: str) -> Attributes:
    """Parse the text between the brackets; raise ValueError with the mistake if it is invalid.

    Keys may be in any order and case, values have no quotes. Several ids or tags are separated by blanks, or their key
    is repeated; any other key occurs once.
    """
    values_by_key: dict[str, list[str]] = {}
    for part in _COMMA.split(text):
        if part.strip():
            key, value = _parse_attribute(part)
            values_by_key.setdefault(key, []).append(value)
    twice = [key for key, values in values_by_key.items() if len(values) > 1 and key not in _MANY]
    if twice:
        raise ValueError(f"{twice[0]} occurs twice")
    fields: dict[str, object] = {
        _KEYS[key][0]: _KEYS[key][1](" ".join(values)) for key, values in values_by_key.items()
    }
    return Attributes(**fields)  # type: ignore[arg-type]  # each key has the reader of its field


def render_attributes(attributes: Attributes) -> str:
    """Return the attributes in canonical order, as parsed by `parse_attributes`; empty if there are none."""
    parts = [f"{key}={text}" for key, (name, _) in _KEYS.items() if (text := _format(getattr(attributes, name)))]
    return ", ".join([*parts, *([_PIN] if attributes.is_pinned else [])])


def rewritten_attributes(text: str, before: Attributes, after: Attributes) -> str:
    """Return the text between the brackets with the changed attributes rewritten; the rest is not changed."""
    changed = [key for key, (name, _) in _KEYS.items() if getattr(before, name) != getattr(after, name)]
    values = {key: _format(getattr(after, _KEYS[key][0])) for key in changed}
    changed_parts = {key: f"{key}={value}" if value else "" for key, value in values.items()}
    if _PIN in changed_parts and after.is_pinned:
        changed_parts[_PIN] = _PIN
    parts = _COMMA.split(text) if text.strip() else []
    seams = [*_COMMA.findall(text), ""]
    pieces: list[str] = []
    for part, seam in zip(parts, seams, strict=False):
        key = _EQUALS.split(part, maxsplit=1)[0].strip().lower()
        if key not in changed_parts:
            pieces.append(part + seam)
        elif written := changed_parts[key]:
            # a repeated key gets all of its values at the first place
            changed_parts[key] = ""
            pieces.append(part[: len(part) - len(part.lstrip())] + written + seam)
    rest = "".join(pieces).strip().rstrip(",，").rstrip()
    return ", ".join(filter(None, [rest, *changed_parts.values()]))


def written_span(at: str) -> tuple[date, date]:
    """Return the first and last day of an event time in the form of `at=`; raise ValueError if it is invalid."""
    first, has_end, last = at.partition("..")
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


def _parse_attribute(part: str) -> tuple[str, str]:
    """Return key and value of one attribute; raise ValueError with the probable key if it is invalid."""
    pieces = _EQUALS.split(part, maxsplit=1)
    key = pieces[0].strip().lower()
    if key == _PIN and len(pieces) == 1:
        return _PIN, ""
    if key not in _KEYS or key == _PIN:
        raise ValueError(_suggest(key, _KEYS) if key != _PIN else "pin has no value")
    if len(pieces) == 1 or not pieces[1].strip():
        raise ValueError(f"{key} has no value, as in {key}=…")
    return key, pieces[1].strip()


def _suggest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(word[:40], names, 1, 0.6) or [name for name in names if word[:1] == name[:1]][:1]
    shown = word if len(word) <= 40 else f"{word[:40]}…"
    return f"{shown!r} is none of {', '.join(names)}" + (f"; did you mean {near[0]}?" if near else "")


def _share(text: str) -> float:
    if not _SHARE.match(text):
        raise ValueError(f"{text[:40]!r} is no number from 0 to 1, as 0.9")
    return float(text)


def _ids(text: str) -> tuple[ShortId, ...]:
    return tuple(ShortId(word) for word in _words(text.lower()))


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _BETWEEN_VALUES.split(text)))


def _scope(text: str) -> str:
    if text.partition(":")[0].lower() == TEAM:
        raise ValueError("the scope of a team is that of what is promoted: memoryctl team promote ID")
    return text


def _provenance(text: str) -> Provenance:
    try:
        return Provenance(text.lower())
    except ValueError:
        raise ValueError(_suggest(text.lower(), list(Provenance))) from None


def _check_each(words: tuple[str, ...], pattern: re.Pattern[str], rule: str) -> None:
    if len(words) > MAX_VALUES or not all(map(pattern.match, words)):
        raise ValueError(rule)


def _format(value: object) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return " ".join(value) if isinstance(value, tuple) else str(value)


_PIN = "pin"
_MANY = frozenset({*NAMING, "tags"})
_KEYS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "c": ("confidence", _share),
    "i": ("importance", _share),
    "at": ("at", lambda text: "".join(text.split())),
    "scope": ("scope", _scope),
    **{key: (key, _ids) for key in NAMING},
    "from": ("provenance", _provenance),
    "tags": ("tags", _words),
    _PIN: ("is_pinned", lambda _: True),
}


MAX_TEXT = 16_384
"""Characters of a memory's text; longer text belongs into a note."""
MAX_NAME = 200
"""Characters of an entity's name."""
MAX_ENTITIES = 64
MAX_ATTRIBUTES = 4096
"""Characters between the brackets after a kind."""
INDENT = "    "
_MARK = expression(r"(?:[ \t]*+[-*+](?=[ \t]))?[ \t\u3000]*+")
_KIND = expression(r"[A-Za-z_]{1,20}(?![A-Za-z_])")
_HEAD = caseless(
    r"[@＠]|[(（]\s*+(?:(?:c|i|at|scope|supports|contradicts|superseded|supersedes|beside|from|tags)\s*+[=＝]|pin\s*+[,，)）])"
)
"""The beginning of a head without a kind."""
_OPENS = expression(r"\s*+[(（]")
_CLOSES = expression("[)）]")
_ENTITY = expression(
    rf"[\s,，、]*+[@＠](?:[\[［](?P<words>[^\[\]［］]{{1,{MAX_NAME}}}+)[\]］]"
    rf"|(?P<name>[^\s@＠:：,，、()（）\[\]［］]{{1,{MAX_NAME}}}+))"
)
_COLON = expression(r"\s*+[:：]")
_PLAIN_NAME = expression(r"[^\s@＠:：,，、()（）\[\]［］]+\Z")
_NO_NAME = expression(r"[\[\]［］]")
_LINE_ENDS = expression(r"\r\n|\r|\n")
BLOCK_START = expression(r"```|~~~|<!--")
"""Opens code or a comment at the beginning of a line, and would hide the text after the memory."""
_RULE_CHARS = "-*+_=|#>~` \t"


class RetainedLine(Struct, frozen=True):
    """The statement of one bullet.

    The text consists of lines as written, stripped, without empty ones; a line that would open code or a comment is
    joined with the previous one. Raises ValueError for an empty text, one longer than `MAX_TEXT`, and invalid names of
    entities.
    """

    kind: Kind
    text: str
    entities: tuple[str, ...] = ()
    """As written, in order."""
    attributes: Attributes = Attributes()
    slugs: tuple[EntitySlug, ...] = ()
    """The distinct slugs of its entities, sorted; always computed."""
    id: MemoryId = MemoryId("")
    """The id of the statement; always computed."""

    def __post_init__(self) -> None:
        force_setattr(self, "text", _joined_lines(self.text))
        force_setattr(self, "entities", tuple(" ".join(name.split()) for name in self.entities))
        if not self.text:
            raise ValueError("there is no text after the colon")
        if len(self.text) > MAX_TEXT:
            raise ValueError(f"a memory has {MAX_TEXT:,} signs at most; what is longer is prose")
        if len(self.entities) > MAX_ENTITIES:
            raise ValueError(f"a memory is about {MAX_ENTITIES} entities at most")
        for name in self.entities:
            if not name or len(name) > MAX_NAME or _NO_NAME.search(name):
                raise ValueError(f"an entity has a name of at most {MAX_NAME} signs without square brackets")
        # computed once: needed for each memory that a question examines, and each line of a log that is written
        force_setattr(self, "slugs", tuple(sorted({slug_of(name) for name in self.entities})))
        named = memory_id(scope=self.attributes.scope, slugs=self.slugs, at=self.attributes.at, text=self.text)
        force_setattr(self, "id", named)

    @property
    def network(self) -> Network:
        return network_of(self.kind)

    @property
    def importance(self) -> float:
        importance = self.attributes.importance
        return default_importance(self.kind) if importance is None else importance


OF_SESSION = "session:"
"""The prefix of the tag of memories that are made of a session."""


def is_of_session(line: RetainedLine) -> bool:
    """Return whether a line is the end or a summary of a session, written by memoryd."""
    if line.kind not in (Kind.SESSION, Kind.SUMMARY) or line.attributes.provenance is not Provenance.AGENT:
        return False
    return any(tag.startswith(OF_SESSION) for tag in line.attributes.tags)


class LineHead(Struct, frozen=True):
    """The offsets of a head's parts in the text of a bullet; without a head they are all the same.

    The kind is from `start` to `end`, `inside` is between its brackets, `outside` includes the brackets. `text_start`
    is after the colon. `kind` is None without a head.
    """

    start: int
    end: int
    outside: tuple[int, int]
    text_start: int
    kind: Kind | None = None
    inside: tuple[int, int] | None = None
    entities: tuple[str, ...] = ()


def head_of(text: str, *, default_kind: Kind | None) -> LineHead:
    """Return the head of a bullet, as for `parse_line`."""
    mark = _MARK.match(text)
    start = mark.end() if mark else 0
    written = _KIND.match(text, start)
    if written and (kind := kind_named(written[0])):
        head = _parse_head(text, start, written.end(), kind)
    else:
        head = _parse_head(text, start, start, default_kind) if default_kind and _HEAD.match(text, start) else None
    return head or LineHead(start, start, (start, start), start)


CACHED_LINES = 32_768
"""The lines of a log of two megabytes.

For a longer log the cache is useless, as the last lines evict the first ones.
"""
CACHED_CHARS = 1000
"""Longer lines are rare, and would take much memory."""


def parse_line(text: str, *, default_kind: Kind | None = None) -> RetainedLine | MalformedLine | None:
    """Parse one bullet with its indented lines; its mark may be missing. None if it is prose.

    `default_kind` is the kind of bullets without one on a page: with it any non-empty bullet is a memory. A bullet that
    was intended as a memory, but is invalid, gives a MalformedLine with the reason.
    """
    parse = parsed_line if len(text) <= CACHED_CHARS else parsed_line.__wrapped__
    return parse(text, default_kind)


@lru_cache(CACHED_LINES)
def parsed_line(text: str, default_kind: Kind | None) -> RetainedLine | MalformedLine | None:
    """Parse a line as `parse_line` does, with a cache, because appending to a log parses all of it several times."""
    head = head_of(text, default_kind=default_kind)
    body = text[head.start :]
    if head.kind is not None:
        attributes = text[slice(*head.inside)] if head.inside else ""
        return _line(head.kind, body, text[head.text_start :], head.entities, attributes)
    return nearly_line(body) if default_kind is None else _parse_headless(body, default_kind)


def render(line: RetainedLine) -> str:
    """Return the bullet of a memory in its canonical form, without a final line end."""
    attributes = render_attributes(line.attributes)
    head = written_kind(line.kind) + (f"({attributes})" if attributes else "")
    names = "".join(f" @{name}" if _PLAIN_NAME.match(name) else f" @[{name}]" for name in line.entities)
    return f"- {head}{names}: " + line.text.replace("\n", f"\n{INDENT}")


def _parse_head(text: str, start: int, end: int, kind: Kind) -> LineHead | None:
    """Parse the text after a kind, which is from `start` to `end`; None if it is not the head of a memory."""
    first_line = text.partition("\n")[0]
    inside, outside = None, (end, end)
    if opens := _OPENS.match(first_line, end):
        closes = _CLOSES.search(first_line, opens.end(), opens.end() + MAX_ATTRIBUTES)
        if closes is None:
            return None
        inside, outside = (opens.end(), closes.start()), (opens.start(), closes.end())
    at, entities = outside[1], list[str]()
    while entity := _ENTITY.match(first_line, at):
        entities.append(entity["words"] or entity["name"])
        at = entity.end()
    colon = _COLON.match(first_line, at)
    return LineHead(start, end, outside, colon.end(), kind, inside, tuple(entities)) if colon else None


def _line(
    kind: Kind, body: str, text: str, entities: tuple[str, ...] = (), attributes: str = ""
) -> RetainedLine | MalformedLine:
    try:
        return RetainedLine(kind, text, entities, parse_attributes(attributes))
    except ValueError as exc:
        return nearly(body, str(exc))


def _parse_headless(body: str, kind: Kind) -> RetainedLine | MalformedLine | None:
    """Parse a bullet without a head as text, unless it is a ruler, or was intended to have a head."""
    if not body.strip(_RULE_CHARS + "\r\n"):
        return None
    miss = nearly_line(body)
    return miss if miss and miss.is_intended else _line(kind, body, body)


def _joined_lines(text: str) -> str:
    joined_lines: list[str] = []
    for line in filter(None, map(str.strip, _LINE_ENDS.split(text))):
        if joined_lines and BLOCK_START.match(line):
            joined_lines[-1] += f" {line}"
        else:
            joined_lines.append(line)
    return "\n".join(joined_lines)
