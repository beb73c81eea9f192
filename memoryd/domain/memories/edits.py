"""Edits of the memories in a note: add lines to a daily log, change attributes, remove lines; all else keeps its bytes.

A line is found by the id of what it states, wherever it is now. The result of each edit is read back: only a text that
states just what it stated before, but for the memory in question, is an answer. So no open fence and no marker can
swallow a line.

Attributes behind a text instead of its kind, as in `- W @NAS: Device A is fnOS supersedes=1a2b3c4d`, are read if they
name memories by their ids, which was never meant for text, and somebody can be told. What else reads as an attribute
may be either, and is refused; what is none, as in `(c=299792458)` or `(from=Paris)`, is text.
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
from memoryd.domain.text.lines import padded, spliced
from memoryd.domain.text.markdown import front_matter_bytes

HEADING = "## Retain"


class NoPlaceError(Exception):
    """Whatever is added would not be read as a memory, or would change what others say."""


class RetainedText(Struct, frozen=True):
    """A log with its memories; `placed` are those that were asked for, `added` the ids of the new ones."""

    text: str
    placed: tuple[PlacedLine, ...]
    added: frozenset[MemoryId]


def retained_in(text: str, path: RelativePath, wanted: Sequence[RetainedLine]) -> RetainedText:
    """Add the memories that a log does not state already; raise NoPlaceError."""
    before = memory_sections(padded(text), path)
    known = {one.line.id for one in before.lines}
    fresh = list({line.id: line for line in wanted if line.id not in known}.values())
    if not fresh:
        return RetainedText(text, _find_lines(before, wanted), frozenset())
    bullets = "\n".join(map(render, fresh)).split("\n")
    for tried in _candidate_texts(text, before, bullets):
        after = memory_sections(padded(tried), path)
        if _states_besides(before, fresh, after) and _other_content(before) == _other_content(after):
            return RetainedText(tried, _find_lines(after, wanted), frozenset(line.id for line in fresh))
    if not text:
        raise NoPlaceError("a line of it looks like a memory of its own, and would not be read as it is meant")
    # where they have no place of their own the note is not why
    retained_in("", path, fresh)
    raise NoPlaceError(f"no place for a memory in {path}: a fence or a marker in it is not closed")


def _candidate_texts(text: str, before: MemorySections, bullets: Sequence[str]) -> Iterator[str]:
    """Yield the text with the bullets in each place that may do, the best first."""
    lines = text.split("\n")
    sections = retain_sections(padded(text))
    for heading, last in reversed(sections):
        within = [one.end_line for one in before.lines if heading < one.end_line <= last]
        for place in dict.fromkeys((last, *within[-1:], heading)):
            yield _insert(lines, place, bullets)
    # the last line is empty where the text ends in a line break
    end = len(lines) - (lines[-1] == "")
    yield _insert(lines, end, [*_gap(lines, end), HEADING, *bullets])
    front = front_matter_bytes(padded(text))
    top = text.encode("utf-8", "surrogatepass")[:front].count(b"\n")
    yield _insert(lines, top, [*_gap(lines, top), HEADING, *bullets, ""])


def _insert(lines: Sequence[str], place: int, added: Sequence[str]) -> str:
    return "\n".join((*lines[:place], *added, *lines[place:]))


def _gap(lines: Sequence[str], place: int) -> list[str]:
    return [""] if place and lines[place - 1].strip() else []


def _states_besides(before: MemorySections, fresh: Sequence[RetainedLine], after: MemorySections) -> bool:
    """Tell whether a text states what it stated before, in that order, with the new memories in a row among it."""
    old, new = [one.line for one in before.lines], [one.line for one in after.lines]
    at = next((at for at, (was, now) in enumerate(zip(old, new, strict=False)) if was != now), len(old))
    return new == [*old[:at], *fresh, *old[at:]]


def _other_content(sections: MemorySections) -> tuple[list[str], list[int]]:
    """Return what else a note holds that must stay what it is: what was meant for memories, and what was generated."""
    # a line that only looks like a memory may be within the new one, too
    misses = [one.reason for one in sections.misses if one.is_meant]
    return misses, [end - start for start, end in sections.generated]


def _find_lines(sections: MemorySections, wanted: Sequence[RetainedLine]) -> tuple[PlacedLine, ...]:
    """Return the lines of the wanted memories: the last of several."""
    places = {one.line.id: one for one in sections.lines}
    return tuple(places[line.id] for line in wanted)


_UNREADABLE = "the line that states it in {} would be read as another one: edit it yourself"


class AttributeChange(Struct, frozen=True, kw_only=True):
    """What is to become of a line: whether it is pinned, and its importance, 0 to 1; None leaves it as it is.

    `superseded` is added to what it says supersedes it. What is `dropped` goes from there, and from what it supersedes
    itself. `renamed` gives memories that it names, in any way, the beginnings of other ids.
    """

    is_pinned: bool | None = None
    importance: float | None = None
    superseded: tuple[ShortId, ...] = ()
    dropped: frozenset[ShortId] = frozenset()
    renamed: tuple[tuple[ShortId, ShortId], ...] = ()

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line as it is to be."""
        attributes_now, names = line.attributes, dict(self.renamed)
        ids: dict[str, list[ShortId]] = {key: list(getattr(attributes_now, key)) for key in NAMING}
        for key in ("supersedes", "superseded"):
            ids[key] = [one for one in ids[key] if one not in self.dropped]
        ids["superseded"] += self.superseded
        attributes = replace(
            attributes_now,
            is_pinned=attributes_now.is_pinned if self.is_pinned is None else self.is_pinned,
            importance=attributes_now.importance if self.importance is None else self.importance,
            **{key: tuple(dict.fromkeys(names.get(one, one) for one in each)) for key, each in ids.items()},
        )
        return replace(line, attributes=attributes)


def stating(text: str, path: RelativePath, memory: MemoryId) -> tuple[PlacedLine, ...]:
    """Return the lines of a note that state a memory."""
    return tuple(one for one in memory_sections(padded(text), path).lines if one.line.id == memory)


LineEdit = Callable[[RetainedLine], RetainedLine | None]
"""What a line is to state, None: it goes."""


def with_memory(text: str, path: RelativePath, memory: MemoryId, wanted: LineEdit) -> str | None:
    """Return a note whose lines that state a memory state what is wanted of them; None if no line states it.

    Raise NoPlaceError as `with_lines` does.
    """
    if not stating(text, path, memory):
        return None
    return with_lines(text, path, lambda line: wanted(line) if line.id == memory else line)


def with_lines(text: str, path: RelativePath, wanted: LineEdit) -> str:
    """Return a note each line of which states what is wanted of it, in its place, or goes.

    Of a line with other attributes the kind and its brackets are written anew, of one with another text that text,
    and all of it only where that does not do. Raise NoPlaceError where it would not be read as it is meant.
    """
    data = padded(text)
    before = memory_sections(data, path)
    after = [wanted(one.line) for one in before.lines]
    edits = [(one, line) for one, line in zip(before.lines, after, strict=True) if line != one.line]
    if not edits:
        return text
    for as_written in (True, False):
        made = spliced(
            text,
            (
                (one.start, one.end, _rewrite(data, one, line, PAGES.get(path), as_written=as_written))
                for one, line in edits
            ),
        )
        read = memory_sections(padded(made), path)
        is_as_meant = [one.line for one in read.lines] == [line for line in after if line is not None]
        if is_as_meant and _other_content(read) == _other_content(before):
            return made
    raise NoPlaceError(_UNREADABLE.format(path))


def _rewrite(
    data: bytes, placed: PlacedLine, new: RetainedLine | None, default: Kind | None, *, as_written: bool
) -> str:
    """Return the bullet of a line as it is to be; what need not be another stays as it is written."""
    if new is None:
        return ""
    old, bullet = placed.line, data[placed.start : placed.end].decode("utf-8", "surrogatepass")
    head = head_of(bullet, default_kind=default)
    if (old.kind, old.entities) != (new.kind, new.entities) or not (as_written or old.text == new.text):
        end = bullet[len(bullet.rstrip("\n")) :]
        return bullet[: head.start] + _indent(bullet, render(new)[len("- ") :]) + end
    if old.text != new.text:
        end = bullet[len(bullet.rstrip("\n")) :]
        at = head.text_start
        blank = "" if head.kind is None or bullet[at - 1] == "：" else " "
        bullet = bullet[:at] + blank + _indent(bullet, new.text.replace("\n", f"\n{INDENT}")) + end
    if old.attributes == new.attributes:
        return bullet
    return _replace_head(bullet, head, new.kind, old.attributes, new.attributes)


def _indent(bullet: str, text: str) -> str:
    """Return a text with all lines but the first indented as the bullet is."""
    return text.replace("\n", "\n" + bullet[: len(bullet) - len(bullet.lstrip(" \t"))])


def _replace_head(text: str, head: LineHead, kind: Kind, before: Attributes, after: Attributes) -> str:
    """Return a bullet with other attributes behind its kind, which is written where it was not and must be."""
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
"""What is stated there is for that channel alone, unless it says otherwise."""
_BULLET = expression(r"[-*+][ \t]")
_SCOPE = expression(r"agent:(?P<agent>[a-z0-9][a-z0-9_-]{0,63})(?::(?P<channel>[^\s,，()（）=＝]{1,100}))?\Z")


class MemoryDraft(Struct, frozen=True, kw_only=True):
    """What is to be retained: a bullet, or plain text, and what is said about it beside.

    `kind` is for text that names none; what the text says of itself already must not be said otherwise beside it.
    """

    text: str
    kind: Kind | None = None
    default_kind: Kind = Kind.WORLD
    """Of text that is no bullet, where no kind is given."""
    importance: float | None = None
    default_importance: float | None = None
    """Of a memory that names none; None: by its kind."""
    scope: str = ""
    entities: tuple[str, ...] = ()
    at: str = ""
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    is_pinned: bool = False


class Stater(Struct, frozen=True):
    """Who states: the owner, or what an agent does in one of its channels."""

    agent: str
    channel: str | None = None
    is_owner: bool = True

    @property
    def own_scopes(self) -> tuple[str, ...]:
        """The scopes that a session may name: its agent's, and that of its own channel."""
        whole = f"agent:{self.agent}"
        return (whole, f"{whole}:{self.channel}") if self.channel else (whole,)


def parse_statement(said: MemoryDraft) -> RetainedLine:
    """Return the line of a statement; raise ValueError, which says what is wrong and what may be meant."""
    line = parse_line(said.text)
    if isinstance(line, MalformedLine):
        if line.is_meant or said.kind is None:
            raise ValueError(f"this is nearly a memory, but not quite: {line.reason}")
        line = None
    is_plain = line is None
    if line is None:
        line = parse_line(said.text, default_kind=said.kind or said.default_kind)
    if not isinstance(line, RetainedLine):
        raise ValueError(line.reason if line else "nothing is said: no sign of it can be seen")
    if not is_plain and said.kind not in (None, line.kind):
        raise ValueError(f"the text says {line.kind.value}, and beside it {said.kind.value if said.kind else ''}")
    return replace(line, entities=_all_entities(line, said.entities), attributes=_attributes(line.attributes, said))


def not_taken(wanted: RetainedLine, standing: RetainedLine) -> tuple[str, ...]:
    """Return what of a statement the line that states the same already does not say: its kind, or keys of attributes.

    Who said it first does not matter.
    """
    wanted_attributes, present = wanted.attributes, standing.attributes
    lacking = {
        "kind": wanted.kind is not standing.kind,
        "c": wanted_attributes.confidence not in (None, present.confidence),
        "i": wanted_attributes.importance not in (None, present.importance),
        "pin": wanted_attributes.is_pinned and not present.is_pinned,
    }
    lacking |= {
        key: not set(getattr(wanted_attributes, key)) <= set(getattr(present, key)) for key in (*NAMING, "tags")
    }
    return tuple(key for key, is_lacking in lacking.items() if is_lacking)


def each_statement(text: str) -> list[str]:
    """Return the bullets of a text, each with the lines below it; the whole text where it does not begin with one."""
    pieces: list[list[str]] = []
    for line in text.strip("\n").split("\n"):
        if _BULLET.match(line):
            pieces.append([line])
        elif pieces:
            pieces[-1].append(line)
        elif line.strip():
            return [text]
    return ["\n".join(piece) for piece in pieces] or [text]


def admitted_scope(scope: str, stater: Stater) -> str:
    """Return the scope of a memory that somebody states; raise ValueError for one that is none, or not theirs.

    What a channel says to itself alone, such as a cron job, is for that channel where nothing else is said.
    """
    if not scope:
        is_apart = not stater.is_owner and stater.channel in OWN_CHANNELS
        return f"agent:{stater.agent}:{stater.channel}" if is_apart else ""
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


def _attributes(own: Attributes, said: MemoryDraft) -> Attributes:
    for name in ("importance", "at", "scope"):
        stated, beside = getattr(own, name), getattr(said, name)
        # an importance of 0 is stated, too
        if stated not in (None, "") and beside not in (None, "") and stated != beside:
            raise ValueError(f"the text says {name}={stated}, and beside it {name} is {beside}")
    importance = own.importance if said.importance is None else said.importance
    return replace(
        own,
        importance=said.default_importance if importance is None else importance,
        at=own.at or said.at,
        scope=own.scope or said.scope,
        provenance=own.provenance or said.provenance,
        tags=joined(own.tags, said.tags),
        is_pinned=own.is_pinned or said.is_pinned,
    )


_LOOKED = 400
"""Signs at the end of a text in which attributes are looked for."""
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
RULE = "attributes stand behind the kind, as in W({})"


class Stray(Struct, frozen=True):
    """Attributes as written behind a text, which ends at `start` without them; `fault` says what is wrong with them."""

    start: int
    written: str
    attributes: Attributes = Attributes()
    fault: str = ""

    @property
    def rule(self) -> str:
        """Where they would be read."""
        return RULE.format(_separate(self.written))

    @property
    def names_memories(self) -> bool:
        """Whether they name memories by their ids and say nothing else."""
        named = {key: getattr(self.attributes, key) for key in NAMING}
        return any(named.values()) and self.attributes == Attributes(**named)


def stray_of(text: str) -> Stray | None:
    """Return the attributes behind a text, None if there are none."""
    looked = max(0, len(text) - _LOOKED)
    found = next(filter(None, (one.search(text, looked) for one in (_BRACKETS, _BARE, _TYPED))), None)
    if found is None:
        return None
    written = found["written"].strip()
    try:
        return Stray(found.start(), written, parse_attributes(_separate(written)))
    except ValueError as exc:
        return Stray(found.start(), written, fault=str(exc)) if _NAMES.search(written) else None


def with_stray_read(line: RetainedLine) -> tuple[RetainedLine, str]:
    """Return a line with the ids behind its text read as attributes, and what is to be said of that, empty if nothing.

    Raises ValueError for other attributes there, for ids that are none, and where no text is left.
    """
    stray = stray_of(line.text)
    if stray is None:
        return line, ""
    if not stray.names_memories:
        raise ValueError(
            f"{stray.written!r} stands behind the text, where nothing is read: {stray.fault or stray.rule}"
        )
    text = line.text[: stray.start].rstrip(" \t\n,，;；")
    read = replace(line, text=text, attributes=line.attributes.with_more(stray.attributes))
    return read, f"{stray.written} was read, though it stands behind the text: {stray.rule}"


def strays_in(sections: MemorySections) -> list[MalformedLine]:
    """Return the memories of a note with attributes behind their text, and what is wrong with them."""
    found = ((one, stray_of(one.line.text)) for one in sections.lines)
    return [
        MalformedLine(
            " ".join(one.line.text.split())[:SHOWN],
            f"{stray.written!r} is read as text: {stray.rule}",
            line=one.start_line,
        )
        for one, stray in found
        if stray is not None
    ]


def _separate(written: str) -> str:
    return _BETWEEN.sub(", ", written)
