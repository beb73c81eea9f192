"""Edits of the memories in a note: add lines to a log, change attributes, remove lines; other bytes do not change.

A line is located by the id of its statement, wherever it is. The result of each edit is parsed again and only accepted
if it states exactly the same memories, except the edited one. So no open fence and no marker can swallow a line.

Attributes after a text instead of its kind, as in `- W @NAS: Device A is fnOS supersedes=1a2b3c4d`, are accepted with a
notice if they name memories by their ids, which cannot be ordinary text. Other attributes there are ambiguous, and
refused; anything that is not a valid attribute, as in `(c=299792458)` or `(from=Paris)`, is text.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import GLOBAL, Kind, MemoryId, ShortId, written_kind
from memoryd.domain.memories.line import (
    INDENT,
    NAMING,
    Attributes,
    LineHead,
    Provenance,
    RetainedLine,
    head_of,
    joined,
    parse_attributes,
    parse_line,
    render,
    rewritten_attributes,
)
from memoryd.domain.memories.malformed_lines import SHOWN, MalformedLine
from memoryd.domain.memories.sections import PAGES, MemorySections, PlacedLine, memory_sections, retain_sections
from memoryd.domain.text.lines import encode_padded, splice
from memoryd.domain.text.markdown import front_matter_bytes

HEADING = "## Retain"


class NoPlaceError(Exception):
    """An added line would not be parsed as a memory, or would change what other lines state."""


class RetainedText(Struct, frozen=True):
    """A log after adding memories; `placed` are the requested lines, `added` the ids of the new memories."""

    text: str
    placed: tuple[PlacedLine, ...]
    added: frozenset[MemoryId]


def add_memories(text: str, path: RelativePath, wanted: Sequence[RetainedLine]) -> RetainedText:
    """Add the memories that a log does not state already; raise NoPlaceError if there is no place for them."""
    before = memory_sections(encode_padded(text), path)
    known = {placed.line.id for placed in before.lines}
    new = list({line.id: line for line in wanted if line.id not in known}.values())
    if not new:
        return RetainedText(text, _find_lines(before, wanted), frozenset())
    bullets = "\n".join(map(render, new)).split("\n")
    for candidate in _candidate_texts(text, before, bullets):
        after = memory_sections(encode_padded(candidate), path)
        if _states_besides(before, new, after) and _other_content(before) == _other_content(after):
            return RetainedText(candidate, _find_lines(after, wanted), frozenset(line.id for line in new))
    if not text:
        raise NoPlaceError("a line of it looks like a memory of its own, and would not be read as intended")
    # fails as well if the lines themselves are the reason
    add_memories("", path, new)
    raise NoPlaceError(f"no place for a memory in {path}: a fence or a marker in it is not closed")


def _candidate_texts(text: str, before: MemorySections, bullets: Sequence[str]) -> Iterator[str]:
    """Yield the text with the bullets at each possible place, the best first."""
    lines = text.split("\n")
    sections = retain_sections(encode_padded(text))
    for heading, last in reversed(sections):
        within = [placed.end_line for placed in before.lines if heading < placed.end_line <= last]
        for place in dict.fromkeys((last, *within[-1:], heading)):
            yield _insert(lines, place, bullets)
    # the last line is empty if the text ends with a line break
    end = len(lines) - (lines[-1] == "")
    yield _insert(lines, end, [*_gap(lines, end), HEADING, *bullets])
    front = front_matter_bytes(encode_padded(text))
    top = text.encode("utf-8", "surrogatepass")[:front].count(b"\n")
    yield _insert(lines, top, [*_gap(lines, top), HEADING, *bullets, ""])


def _insert(lines: Sequence[str], place: int, added: Sequence[str]) -> str:
    return "\n".join((*lines[:place], *added, *lines[place:]))


def _gap(lines: Sequence[str], place: int) -> list[str]:
    return [""] if place and lines[place - 1].strip() else []


def _states_besides(before: MemorySections, added: Sequence[RetainedLine], after: MemorySections) -> bool:
    """Return whether a text states the same memories as before, in the same order, plus the new ones in a row."""
    old, new = [placed.line for placed in before.lines], [placed.line for placed in after.lines]
    at = next((at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), len(old))
    return new == [*old[:at], *added, *old[at:]]


def _other_content(sections: MemorySections) -> tuple[list[str], list[int]]:
    """Return what else must not change in a note: malformed memories, and the sizes of generated blocks."""
    # a line that only looks like a memory may be part of the new text
    misses = [miss.reason for miss in sections.misses if miss.is_intended]
    return misses, [end - start for start, end in sections.generated]


def _find_lines(sections: MemorySections, wanted: Sequence[RetainedLine]) -> tuple[PlacedLine, ...]:
    """Return the placed lines of the requested memories, the last one if there are several."""
    places = {placed.line.id: placed for placed in sections.lines}
    return tuple(places[line.id] for line in wanted)


class AttributeChange(Struct, frozen=True, kw_only=True):
    """A change of a line's attributes: whether it is pinned, and its importance, 0 to 1; None means no change.

    `superseded` is added to the ids that supersede the line. `dropped` ids are removed from there, and from those that
    it supersedes. `renamed` replaces ids in all of its relations.
    """

    is_pinned: bool | None = None
    importance: float | None = None
    superseded: tuple[ShortId, ...] = ()
    dropped: frozenset[ShortId] = frozenset()
    renamed: tuple[tuple[ShortId, ShortId], ...] = ()

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return the line with the change applied."""
        current, names = line.attributes, dict(self.renamed)
        ids: dict[str, list[ShortId]] = {key: list(getattr(current, key)) for key in NAMING}
        for key in ("supersedes", "superseded"):
            ids[key] = [short for short in ids[key] if short not in self.dropped]
        ids["superseded"] += self.superseded
        attributes = replace(
            current,
            is_pinned=current.is_pinned if self.is_pinned is None else self.is_pinned,
            importance=current.importance if self.importance is None else self.importance,
            **{key: tuple(dict.fromkeys(names.get(short, short) for short in shorts)) for key, shorts in ids.items()},
        )
        return replace(line, attributes=attributes)


def lines_of_memory(text: str, path: RelativePath, memory: MemoryId) -> tuple[PlacedLine, ...]:
    """Return the lines of a note that state a memory."""
    return tuple(placed for placed in memory_sections(encode_padded(text), path).lines if placed.line.id == memory)


LineEdit = Callable[[RetainedLine], RetainedLine | None]
"""Returns the new statement of a line, or None to remove it."""


def with_memory(text: str, path: RelativePath, memory: MemoryId, wanted: LineEdit) -> str | None:
    """Return a note with the lines of a memory edited; None if no line states it.

    Raises NoPlaceError as `with_lines` does.
    """
    if not lines_of_memory(text, path, memory):
        return None
    return with_lines(text, path, lambda line: wanted(line) if line.id == memory else line)


def with_lines(text: str, path: RelativePath, wanted: LineEdit) -> str:
    """Return a note with each memory line edited in its place, or removed.

    If only the attributes or the text change, only these are rewritten; the full line is rewritten if that is not
    sufficient. Raises NoPlaceError if the result would be parsed differently.
    """
    data = encode_padded(text)
    before = memory_sections(data, path)
    after = [wanted(placed.line) for placed in before.lines]
    edits = [(placed, line) for placed, line in zip(before.lines, after, strict=True) if line != placed.line]
    if not edits:
        return text
    for as_written in (True, False):
        edited = splice(
            text,
            (
                (placed.start, placed.end, _rewrite(data, placed, line, PAGES.get(path), as_written=as_written))
                for placed, line in edits
            ),
        )
        result = memory_sections(encode_padded(edited), path)
        is_as_intended = [placed.line for placed in result.lines] == [line for line in after if line is not None]
        if is_as_intended and _other_content(result) == _other_content(before):
            return edited
    raise NoPlaceError(f"the line that states it in {path} would be read as another one: edit it yourself")


def _rewrite(
    data: bytes, placed: PlacedLine, new: RetainedLine | None, default: Kind | None, *, as_written: bool
) -> str:
    """Return the new bullet of a line; with `as_written`, unchanged parts are not rewritten."""
    if new is None:
        return ""
    old, bullet = placed.line, data[placed.start : placed.end].decode("utf-8", "surrogatepass")
    head, end = head_of(bullet, default_kind=default), bullet[len(bullet.rstrip("\n")) :]
    if (old.kind, old.entities) != (new.kind, new.entities) or not (as_written or old.text == new.text):
        return bullet[: head.start] + _indent(bullet, render(new)[len("- ") :]) + end
    if old.text != new.text:
        at = head.text_start
        blank = "" if head.kind is None or bullet[at - 1] == "：" else " "
        bullet = bullet[:at] + blank + _indent(bullet, new.text.replace("\n", f"\n{INDENT}")) + end
    if old.attributes == new.attributes:
        return bullet
    return _replace_head(bullet, head, new.kind, old.attributes, new.attributes)


def _indent(bullet: str, text: str) -> str:
    """Return a text with all lines but the first indented like the bullet."""
    return text.replace("\n", "\n" + bullet[: len(bullet) - len(bullet.lstrip(" \t"))])


def _replace_head(text: str, head: LineHead, kind: Kind, before: Attributes, after: Attributes) -> str:
    """Return a bullet with other attributes after its kind, which is added if it is needed for them."""
    named = text[head.start : head.end]
    opens, closes = head.inside or (head.end, head.end)
    inner = rewritten_attributes(text[opens:closes], before, after)
    if inner and head.inside:
        return text[:opens] + inner + text[closes:]
    start, end = head.outside
    brackets = f"({inner})" if inner else ""
    rest = text[end:]
    if head.kind is None:
        rest = f": {rest}"
    elif not named and not rest.startswith((":", "：", " ")):
        rest = f" {rest}"
    return text[: head.start] + (named or written_kind(kind)) + text[head.end : start] + brackets + rest


REMEMBERED_IMPORTANCE = 0.8
OWN_CHANNELS = frozenset({"cron", "heartbeat", "system"})
"""Channels whose statements have the scope of the channel by default."""
_BULLET = expression(r"[-*+][ \t]")
_SCOPE = expression(r"agent:(?P<agent>[a-z0-9][a-z0-9_-]{0,63})(?::(?P<channel>[^\s,，()（）=＝]{1,100}))?\Z")


class MemoryDraft(Struct, frozen=True, kw_only=True):
    """A memory to retain: a bullet, or plain text, and separate properties.

    `kind` is for text that has none; properties in the text must not differ from the separate ones.
    """

    text: str
    kind: Kind | None = None
    default_kind: Kind = Kind.WORLD
    """The kind of text that is no bullet, if `kind` is None."""
    importance: float | None = None
    default_importance: float | None = None
    """The importance of a memory that has none; None means that of its kind."""
    scope: str = ""
    entities: tuple[str, ...] = ()
    at: str = ""
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    is_pinned: bool = False


class StatementSource(Struct, frozen=True):
    """The source of a statement: the owner, or an agent in one of its channels."""

    agent: str
    channel: str | None = None
    is_owner: bool = True

    @property
    def own_scopes(self) -> tuple[str, ...]:
        """The scopes that a session may use: its agent's, and that of its own channel."""
        agent_scope = f"agent:{self.agent}"
        return (agent_scope, f"{agent_scope}:{self.channel}") if self.channel else (agent_scope,)


def parse_statement(draft: MemoryDraft) -> RetainedLine:
    """Return the line of a draft; raise ValueError with what is wrong and what may be intended."""
    line = parse_line(draft.text)
    if isinstance(line, MalformedLine):
        if line.is_intended or draft.kind is None:
            raise ValueError(f"this is nearly a memory, but not quite: {line.reason}")
        line = None
    is_plain = line is None
    if line is None:
        line = parse_line(draft.text, default_kind=draft.kind or draft.default_kind)
    if not isinstance(line, RetainedLine):
        raise ValueError(line.reason if line else "the text has no visible character")
    if not is_plain and draft.kind not in (None, line.kind):
        raise ValueError(f"the text says {line.kind.value}, and beside it {draft.kind.value if draft.kind else ''}")
    return replace(line, entities=_all_entities(line, draft.entities), attributes=_attributes(line.attributes, draft))


def missing_properties(wanted: RetainedLine, existing: RetainedLine) -> tuple[str, ...]:
    """Return what an existing line of the same statement lacks of a new one: its kind, or keys of attributes.

    The provenance does not matter.
    """
    wanted_attributes, current = wanted.attributes, existing.attributes
    lacking = {
        "kind": wanted.kind is not existing.kind,
        "c": wanted_attributes.confidence not in (None, current.confidence),
        "i": wanted_attributes.importance not in (None, current.importance),
        "pin": wanted_attributes.is_pinned and not current.is_pinned,
    }
    lacking |= {
        key: not set(getattr(wanted_attributes, key)) <= set(getattr(current, key)) for key in (*NAMING, "tags")
    }
    return tuple(key for key, is_lacking in lacking.items() if is_lacking)


def split_statements(text: str) -> list[str]:
    """Return the bullets of a text with their continuation lines, or all of it if it does not begin with a bullet."""
    pieces: list[list[str]] = []
    for line in text.strip("\n").split("\n"):
        if _BULLET.match(line):
            pieces.append([line])
        elif pieces:
            pieces[-1].append(line)
        elif line.strip():
            return [text]
    return ["\n".join(piece) for piece in pieces] or [text]


def admitted_scope(scope: str, stater: StatementSource) -> str:
    """Return the scope of a statement; raise ValueError if it is invalid, or not allowed for its source.

    Without a scope, statements in a machine's channel, such as a cron job, are for that channel alone.
    """
    if not scope:
        is_own_channel = not stater.is_owner and stater.channel in OWN_CHANNELS
        return f"agent:{stater.agent}:{stater.channel}" if is_own_channel else ""
    named = _SCOPE.match(scope)
    if scope != GLOBAL and named is None:
        raise ValueError(f"{scope[:80]!r} is no scope: give agent:ID, agent:ID:CHANNEL or global")
    if not stater.is_owner and scope not in stater.own_scopes:
        raise ValueError(f"a session retains for itself alone: no scope, {' or '.join(stater.own_scopes)}")
    return scope


def _all_entities(line: RetainedLine, names: Sequence[str]) -> tuple[str, ...]:
    named = {slug_of(name): name for name in reversed([*line.entities, *(name.removeprefix("@") for name in names)])}
    beside = [name for name in reversed(named.values()) if slug_of(name) not in line.slugs]
    return (*line.entities, *beside)


def _attributes(own: Attributes, draft: MemoryDraft) -> Attributes:
    for name in ("importance", "at", "scope"):
        stated, beside = getattr(own, name), getattr(draft, name)
        # an importance of 0 counts as stated
        if stated not in (None, "") and beside not in (None, "") and stated != beside:
            raise ValueError(f"the text says {name}={stated}, and beside it {name} is {beside}")
    importance = own.importance if draft.importance is None else draft.importance
    return replace(
        own,
        importance=draft.default_importance if importance is None else importance,
        at=own.at or draft.at,
        scope=own.scope or draft.scope,
        provenance=own.provenance or draft.provenance,
        tags=joined(own.tags, draft.tags),
        is_pinned=own.is_pinned or draft.is_pinned,
    )


_TAIL_CHARS = 400
"""Characters at the end of a text in which attributes are searched."""
_NAMING_KEY = rf"(?:{'|'.join(NAMING)})\s*+[=＝]"
_KEY = rf"(?:{'|'.join(NAMING)}|scope|at|from|tags|c|i)\s*+[=＝]"
_BRACKETS = caseless(rf"[(（](?P<written>(?:pin\s*+[,，]\s*+)?{_KEY}[^()（）]{{1,300}})[)）][.。]?\s*\Z")
_VALUES = r"\s*+[^\s,，.。=＝()（）]{1,64}(?:[\s,，;+]+[0-9a-f]{8}(?![^\s,，.。]))*"
_BARE = caseless(
    rf"(?<![^\s,，;；.。!！?？])(?P<written>{_NAMING_KEY}{_VALUES}(?:[\s,，;；]+{_NAMING_KEY}{_VALUES})*)[.。]?\s*\Z"
)
_TYPED = caseless(
    r"(?<![^\s,，;；.。!！?？])(?P<written>scope\s*+[=＝]\s*+(?:global|agent:[a-z0-9][\w:-]{0,163})"
    r"|[ci]\s*+[=＝]\s*+0?\.\d{1,20}|from\s*+[=＝]\s*+(?:user|agent|tool|import)"
    r"|at\s*+[=＝]\s*+\d{4}-\d{2}(?:-\d{2})?(?:\.\.\d{4}-\d{2}(?:-\d{2})?)?)\s*\Z"
)
_NAMES = caseless(_NAMING_KEY)
_BETWEEN = caseless(rf"(?<![\s,，])\s+(?={_KEY})")
RULE = "attributes belong after the kind, as in W({})"


class TrailingAttributes(Struct, frozen=True):
    """Attributes written after a text, which ends at `start`; `fault` is the error if they cannot be parsed."""

    start: int
    written: str
    attributes: Attributes = Attributes()
    fault: str = ""

    @property
    def rule(self) -> str:
        """How to write them in the right place."""
        return RULE.format(_separate(self.written))

    @property
    def names_memories(self) -> bool:
        """Whether they consist only of ids of memories."""
        named = {key: getattr(self.attributes, key) for key in NAMING}
        return any(named.values()) and self.attributes == Attributes(**named)


def stray_of(text: str) -> TrailingAttributes | None:
    """Return the attributes after a text, None if there are none."""
    tail = max(0, len(text) - _TAIL_CHARS)
    match = next(filter(None, (pattern.search(text, tail) for pattern in (_BRACKETS, _BARE, _TYPED))), None)
    if match is None:
        return None
    written = match["written"].strip()
    try:
        return TrailingAttributes(match.start(), written, parse_attributes(_separate(written)))
    except ValueError as exc:
        return TrailingAttributes(match.start(), written, fault=str(exc)) if _NAMES.search(written) else None


def with_stray_parsed(line: RetainedLine) -> tuple[RetainedLine, str]:
    """Return a line with the ids after its text parsed as attributes, and a notice about it, empty if there are none.

    Raises ValueError for other attributes there, for invalid ids, and if no text would be left.
    """
    stray = stray_of(line.text)
    if stray is None:
        return line, ""
    if not stray.names_memories:
        raise ValueError(
            f"{stray.written!r} is after the text, where attributes are not read: {stray.fault or stray.rule}"
        )
    text = line.text[: stray.start].rstrip(" \t\n,，;；")
    read = replace(line, text=text, attributes=line.attributes.with_more(stray.attributes))
    return read, f"{stray.written} was read, although it is after the text: {stray.rule}"


def strays_in(sections: MemorySections) -> list[MalformedLine]:
    """Return the lines of a note with attributes after their text, and what is wrong with them."""
    strays = ((placed, stray_of(placed.line.text)) for placed in sections.lines)
    return [
        MalformedLine(
            " ".join(placed.line.text.split())[:SHOWN],
            f"{stray.written!r} is read as text: {stray.rule}",
            line=placed.start_line,
        )
        for placed, stray in strays
        if stray is not None
    ]


def _separate(written: str) -> str:
    return _BETWEEN.sub(", ", written)
