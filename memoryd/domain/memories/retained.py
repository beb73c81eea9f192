"""The retained line: one bullet that states a memory, read and written.

    - KIND[(key=value, …)] [@Entity …]: text
        further lines of the same memory are indented

What does not read as one is prose, and is never guessed into a memory.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from memoryd.domain.memories.attributes import Attributes, parse_attributes, render_attributes
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.identity import MemoryId, memory_id
from memoryd.domain.memories.kinds import Kind, Network, kind_named, network_of, usual_importance, written_kind
from memoryd.domain.memories.near_misses import NearMiss, nearly, nearly_line

MAX_TEXT: Final = 16_384
"""Signs of what one memory says; more is a note of its own."""
MAX_NAME: Final = 200
"""Signs of the name of an entity."""
MAX_ENTITIES: Final = 64
MAX_ATTRIBUTES: Final = 4096
"""Signs between the brackets behind a kind."""
INDENT: Final = "    "
_MARK: Final = re.compile(r"[ \t]*+[-*+](?=[ \t])")
_KIND: Final = re.compile(r"[A-Za-z_]{1,20}(?![A-Za-z_])")
_HEAD: Final = re.compile(
    r"[@＠]|[(（]\s*+(?:(?:c|i|at|scope|supports|contradicts|supersedes|from|tags)\s*+[=＝]|pin\s*+[,，)）])",
    re.IGNORECASE,
)
"""How a head begins that names no kind."""
_OPENS: Final = re.compile(r"\s*+[(（]")
_CLOSES: Final = re.compile("[)）]")
_ENTITY: Final = re.compile(
    rf"[\s,，、]*+[@＠](?:[\[［](?P<words>[^\[\]［］]{{1,{MAX_NAME}}}+)[\]］]"
    rf"|(?P<name>[^\s@＠:：,，、()（）\[\]［］]{{1,{MAX_NAME}}}+))"
)
_COLON: Final = re.compile(r"\s*+[:：]")
_PLAIN_NAME: Final = re.compile(r"[^\s@＠:：,，、()（）\[\]［］]+\Z")
_NO_NAME: Final = re.compile(r"[\[\]［］]")
_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
_STANDS_APART: Final = re.compile(r"```|~~~|<!--")
"""What, at the beginning of a line, would open code or a comment, and hide what stands behind the memory."""
_RULE_SIGNS: Final = "-*+_=|#>~` \t"


@dataclass(frozen=True, slots=True)
class RetainedLine:
    """What one bullet states.

    The text is kept in the lines it is written in, without blanks around them and without empty ones; a line that
    would open code or a comment goes on behind the one before it. Raise ValueError if nothing is said or more than
    `MAX_TEXT`, or for an entity that no line can name.
    """

    kind: Kind
    text: str
    entities: tuple[str, ...] = ()
    """As written, in order."""
    attributes: Attributes = field(default=Attributes())
    slugs: tuple[EntitySlug, ...] = field(init=False, compare=False, repr=False)
    """Those of its entities, each once, sorted."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _told(self.text))
        object.__setattr__(self, "entities", tuple(" ".join(name.split()) for name in self.entities))
        if not self.text:
            raise ValueError("nothing is said behind the colon")
        if len(self.text) > MAX_TEXT:
            raise ValueError(f"a memory has {MAX_TEXT:,} signs at most; what is longer is prose")
        if len(self.entities) > MAX_ENTITIES:
            raise ValueError(f"a memory is about {MAX_ENTITIES} entities at most")
        for name in self.entities:
            if not name or len(name) > MAX_NAME or _NO_NAME.search(name):
                raise ValueError(f"an entity has a name of at most {MAX_NAME} signs without square brackets")
        # asked for of each memory that a question looks at
        object.__setattr__(self, "slugs", tuple(sorted({slug_of(name) for name in self.entities})))

    @property
    def network(self) -> Network:
        return network_of(self.kind)

    @property
    def importance(self) -> float:
        given = self.attributes.importance
        return usual_importance(self.kind) if given is None else given

    @property
    def id(self) -> MemoryId:
        return memory_id(scope=self.attributes.scope, slugs=self.slugs, at=self.attributes.at, text=self.text)


@dataclass(frozen=True, slots=True)
class LineHead:
    """Where the head of a bullet stands in its text.

    The kind stands from `start` to `end`, which are the same where none is written; `inside` is what stands between
    the brackets behind it, None without brackets, and `outside` the brackets with it. `has_colon`: a head is there.
    """

    start: int
    end: int
    inside: tuple[int, int] | None = None
    outside: tuple[int, int] = (0, 0)
    has_colon: bool = True


def head_of(text: str, *, usual_kind: Kind | None = None) -> LineHead:
    """Return the head of a bullet that states a memory, as `parse_line` reads it."""
    mark = _MARK.match(text)
    body = (text[mark.end() :] if mark else text).lstrip(" \t\u3000")
    start = len(text) - len(body)
    kind = _KIND.match(body)
    named = kind_named(kind[0]) if kind else None
    if kind and named and isinstance(_headed(body, kind.end(), named), RetainedLine):
        return _bracketed(body, start, kind.end())
    if usual_kind is not None and _HEAD.match(body) and isinstance(_headed(body, 0, usual_kind), RetainedLine):
        return _bracketed(body, start, 0)
    return LineHead(start, start, has_colon=False)


def parse_line(text: str, *, usual_kind: Kind | None = None) -> RetainedLine | NearMiss | None:
    """Read one bullet with its indented lines; its mark may be missing. None if it is prose.

    `usual_kind` is what a page gives to bullets that name no kind: then any bullet that says something is a memory.
    What was meant for a memory and is none is a NearMiss, which says what is wrong with it.
    """
    mark = _MARK.match(text)
    body = (text[mark.end() :] if mark else text).lstrip(" \t\u3000")
    kind = _KIND.match(body)
    named = kind_named(kind[0]) if kind else None
    found = _headed(body, kind.end(), named) if kind and named else None
    if found is None and usual_kind is not None:
        return (_headed(body, 0, usual_kind) if _HEAD.match(body) else None) or _unheaded(body, usual_kind)
    return found or nearly_line(body)


def render(line: RetainedLine) -> str:
    """Return the bullet of a memory in its one canonical spelling, without a line end behind it."""
    said = render_attributes(line.attributes)
    head = written_kind(line.kind) + (f"({said})" if said else "")
    names = "".join(f" @{name}" if _PLAIN_NAME.match(name) else f" @[{name}]" for name in line.entities)
    return f"- {head}{names}: " + line.text.replace("\n", f"\n{INDENT}")


def _bracketed(body: str, start: int, at: int) -> LineHead:
    head = body.partition("\n")[0]
    opens = _OPENS.match(head, at)
    closes = _CLOSES.search(head, opens.end(), opens.end() + MAX_ATTRIBUTES) if opens else None
    if opens is None or closes is None:
        return LineHead(start, start + at)
    inside, outside = (opens.end(), closes.start()), (opens.start(), closes.end())
    return LineHead(start, start + at, (start + inside[0], start + inside[1]), (start + outside[0], start + outside[1]))


def _headed(body: str, at: int, kind: Kind) -> RetainedLine | NearMiss | None:
    """Read what follows the kind, which ends at `at`; None if it is not the head of a memory."""
    end = body.find("\n")
    head = body if end < 0 else body[:end]
    attributes: Attributes | ValueError = Attributes()
    if opens := _OPENS.match(head, at):
        closes = _CLOSES.search(head, opens.end(), opens.end() + MAX_ATTRIBUTES)
        if closes is None:
            return None
        attributes, at = _attributes(head[opens.end() : closes.start()]), closes.end()
    entities: list[str] = []
    while found := _ENTITY.match(head, at):
        entities.append(found["words"] or found["name"])
        at = found.end()
    colon = _COLON.match(head, at)
    if colon is None:
        return None
    if isinstance(attributes, ValueError):
        return nearly(body, str(attributes))
    return _line(kind, body[colon.end() :], entities, attributes, body)


def _line(kind: Kind, text: str, entities: list[str], attributes: Attributes, body: str) -> RetainedLine | NearMiss:
    try:
        return RetainedLine(kind, text, tuple(entities), attributes)
    except ValueError as exc:
        return nearly(body, str(exc))


def _attributes(text: str) -> Attributes | ValueError:
    try:
        return parse_attributes(text)
    except ValueError as exc:
        return exc


def _unheaded(body: str, kind: Kind) -> RetainedLine | NearMiss | None:
    """Take all of a bullet for what it says, unless it is a rule, or was meant to have a head."""
    if not body.strip(_RULE_SIGNS + "\r\n"):
        return None
    miss = nearly_line(body)
    return miss if miss and miss.is_meant else _line(kind, body, [], Attributes(), body)


def _told(text: str) -> str:
    lines = [stripped for line in _LINE_ENDS.split(text) if (stripped := line.strip())]
    told: list[str] = []
    for line in lines:
        if told and _STANDS_APART.match(line):
            told[-1] += f" {line}"
        else:
            told.append(line)
    return "\n".join(told)
