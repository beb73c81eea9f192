"""The sections of a document: the places of memories, lines under a scope, and generated blocks.

A daily log has memories under a `Retain` heading of level 2 or deeper, until the next heading of the same or a higher
level; `bank/world.md`, `experience.md` and `opinions.md` in all of their text. Front matter, fenced code and generated
blocks have none.

A scope covers the item whose head names it, with everything that Markdown counts to that item, in any form of list.
If a scope cannot be parsed, the item is visible to the owner alone.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import IMPORTED, RelativePath, is_conflict_copy, original_of, owner_path, person_of
from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.generated import Generated, generated_in
from memoryd.domain.memories.kinds import TEAM, Kind, kind_named
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line
from memoryd.domain.memories.malformed_lines import SHOWN, MalformedLine
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.lines import PADDING, tabulate
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.sanitizing import without_other_side
from memoryd.domain.text.structure import analyse

UNREAD = "?"
"""The scope of text whose scope cannot be parsed: only the owner may see it."""
_SIGN = b"scope"
_HEAD_LINES = 3
"""Most lines in which the end of a head with an open bracket is searched."""
_HEAD_CHARS = 4_096
_HEAD_WORDS = 2
"""Most words before the bracket of a head, a kind and one more; with more words it is a sentence."""
_TAB = 4
_LEAD = expression(rb"[ \t>]*+")
_MARK = expression(rb"(?:[-*+]|\d{1,9}[.)])[ \t]")
_BLOCK = expression(rb"[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~|<!--|[-*_]{3,}+[ \t\r]*+$")
"""Beginnings of a line that cannot continue the paragraph above it; quotations are handled separately."""
_TOKEN = caseless(
    r"(?P<entity>[@＠](?:[\[［][^\[\]［］]{0,200}+[\]］]|[^\s@＠:：,，()（）\[\]［］]{1,200}+))"
    r"|(?P<open>[(（\[{【])|(?P<close>[)）\]}】])"
    r"|(?P<scope>\bscopes?[\"'`*]{0,3}\s{0,8}[=:＝：][\s\"'`]{0,8}(?P<agent>agent)?)|(?P<word>\w+)"
)


class ScopedSpan(Struct, frozen=True):
    """Complete lines under a scope: lines 1-based and inclusive, bytes from `start` to before `end`.

    `is_head`: they begin with the head that names the scope.
    """

    first_line: int
    last_line: int
    start: int
    end: int
    scope: str
    is_head: bool


def scoped_spans(
    data: bytes, *, default: Kind | None = None, generated: Sequence[tuple[int, int]] = ()
) -> tuple[ScopedSpan, ...]:
    """Return the scoped spans of a document, UTF-8 that ends in `PADDING`, in order.

    `default` is the kind of bullets without one on its page; `generated` blocks (bytes) have no scope. The scope of a
    nested item takes precedence, if it can be parsed.
    """
    if _SIGN not in data.lower():
        return ()
    size = len(data) - len(PADDING)
    spans = _Spans(data[:size].split(b"\n"), default, generated).read()
    return tuple(replace(span, end=min(span.end, size)) for span in spans)


class _Spans:
    """Finds the scoped spans in the lines of one document."""

    def __init__(self, lines: list[bytes], default: Kind | None, generated: Sequence[tuple[int, int]]) -> None:
        self._lines, self._default = lines, default
        self._ranges = iter((*generated, (1 << 62, 1 << 62)))
        self._range = next(self._ranges)
        self._open = list[tuple[int, str]]()
        """The open items around the current line, each with its indentation and its scope."""

    def read(self) -> Iterator[ScopedSpan]:
        """Yield the spans; blank lines between the lines of a span belong to it."""
        span: ScopedSpan | None = None
        offset, follows_text = 0, False
        for at, line in enumerate(self._lines):
            start, offset = offset, offset + len(line) + 1
            if self._is_generated(start):
                self._open, follows_text = [], False
            elif not line.strip():
                follows_text = False
                continue
            is_head = not self._is_generated(start) and self._enter(at, follows_text=follows_text)
            follows_text = bool(line.strip())
            scope = self._open[-1][1] if self._open else None
            if span and not is_head and span.scope == scope:
                span = ScopedSpan(span.first_line, at + 1, span.start, offset, span.scope, span.is_head)
                continue
            if span:
                yield span
            span = None if scope is None else ScopedSpan(at + 1, at + 1, start, offset, scope, is_head)
        if span:
            yield span

    def _is_generated(self, start: int) -> bool:
        while start >= self._range[1]:
            self._range = next(self._ranges)
        return start >= self._range[0]

    def _enter(self, at: int, *, follows_text: bool) -> bool:
        """Close the items that a line does not belong to, and open the one that it begins, if that has a scope."""
        line = self._lines[at]
        text = _text_at(line)
        indent = len(line[:text].expandtabs(_TAB))
        is_lazy = follows_text and bool(self._open) and not _begins_block(line, self._lines[at - 1])
        while self._open and not is_lazy and indent <= self._open[-1][0]:
            self._open.pop()
        scope = self._scope(at, text)
        if scope is not None:
            self._open.append((indent, scope))
        return scope is not None

    def _scope(self, at: int, text: int) -> str | None:
        """Return the scope in the head that a line begins, None if it has none."""
        head = b"\n".join([self._lines[at][text:], *self._continuation(at)])
        if _SIGN not in head.lower() or head.startswith(b"#"):
            return None
        mark = _MARK.match(head)
        first = self._lines[at][text:].decode("utf-8", "surrogatepass")
        if mark and head[:1] in b"-*+":
            parsed = parse_line(first)
            if self._default is not None and not isinstance(parsed, RetainedLine):
                default = parse_line(first, default_kind=self._default)
                parsed = default if isinstance(default, RetainedLine) and default.attributes.scope else parsed
            if isinstance(parsed, RetainedLine):
                return parsed.attributes.scope or None
            if isinstance(parsed, MalformedLine) and _SIGN.decode() in first[:_HEAD_CHARS].lower():
                return UNREAD
        body = head[mark.end() :] if mark else head
        text_of_head = body[: 4 * _HEAD_CHARS].decode("utf-8", "replace")
        return UNREAD if _names_scope(text_of_head, is_item=mark is not None) else None

    def _continuation(self, at: int) -> Iterator[bytes]:
        """Yield the next lines that may belong to the same head."""
        for following in range(at + 1, min(at + _HEAD_LINES, len(self._lines))):
            line = self._lines[following]
            if not line.strip() or _begins_block(line, self._lines[following - 1]):
                return
            yield line


def _text_at(line: bytes) -> int:
    """Return where the text of a line begins, after blanks and quotation marks."""
    lead = _LEAD.match(line)
    return lead.end() if lead else 0


def _begins_block(line: bytes, above: bytes) -> bool:
    """Return whether a line does not continue the paragraph above it."""
    text = _text_at(line)
    return _BLOCK.match(line, text) is not None or (b">" in line[:text] and b">" not in above[: _text_at(above)])


def _names_scope(head: str, *, is_item: bool) -> bool:
    """Return whether a head names a scope in brackets; for an agent anywhere in the first line of an item.

    Outside of items, it must follow a kind, or for an agent at most one word: `f(scope=1)` is code.
    """
    depth = words = 0
    is_kind = False
    end = head.find("\n") if "\n" in head else len(head)
    for token in _TOKEN.finditer(head, 0, min(len(head), _HEAD_CHARS)):
        if token.start() > end and not depth:
            return False
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(0, depth - 1)
        elif token["scope"] and depth:
            has_room = words <= (_HEAD_WORDS if is_item else 1)
            if (has_room and (is_item or is_kind)) or (token["agent"] and (has_room or is_item)):
                return True
        elif token["word"] and not depth:
            words += 1
            is_kind = words == 1 and kind_named(token["word"]) is not None
    return False


PAGES: Mapping[str, Kind] = {
    "bank/world.md": Kind.WORLD,
    "bank/experience.md": Kind.EXPERIENCE,
    "bank/opinions.md": Kind.OPINION,
}
"""Pages whose bullets are memories, and the kind of bullets without one."""
LARGEST_PAGE = 8 * 2**20
"""Most bytes of a document with memories: it is read at once, and its lines become objects."""
RETAIN = b"retain"
_LONGEST_TITLE = 80
_LOGS = "memory/"
_BANK = "bank/"
_BULLET = expression(rb"[-*+][ \t]")
_UNMARKED = expression(rb"[-*+]?[WBOSwbos][ \t]{0,4}(?:[(:]|\xef\xbc[\x88\x9a]|@[^ \t\r\n])")
"""A line without the mark of a bullet, or the blank after it."""
_HEADED = expression(rb"[-*+][ \t]{1,4}+[WBOS](?:[(:]|[ \t]@|\xef\xbc[\x88\x9a])")
"""An indented bullet that was intended as a memory; words such as `Note:` may be in any list."""
_WITHIN = "it belongs to the memory above; begin it at the margin to make it one of its own"
_NO_MARK = "a memory is a bullet: begin the line with - and a blank"
_SCOPED = "it is under a scope that it does not name, so it is for the owner alone; name it behind its kind"
_LEVEL = 2
_MAX_ALIASES, _MAX_ALIAS = 64, 200


class PlacedLine(Struct, frozen=True):
    """A memory with its place: lines 1-based and inclusive, bytes from `start` to before `end`, complete lines."""

    start_line: int
    end_line: int
    start: int
    end: int
    line: RetainedLine


class MemorySections(Struct, frozen=True):
    """The memories of a document, malformed ones, generated blocks, and scoped spans, each in order.

    The blocks are byte ranges of complete lines, with their markers. Scoped spans are of memories or other text.
    """

    lines: tuple[PlacedLine, ...] = ()
    misses: tuple[MalformedLine, ...] = ()
    generated: tuple[tuple[int, int], ...] = ()
    scoped: tuple[ScopedSpan, ...] = ()


def is_daily_log(path: str) -> bool:
    """Return whether a document is a daily log: its name under `memory/` begins with a date."""
    home = owner_path(path)
    return home.startswith(_LOGS) and not home.startswith(IMPORTED) and date_in_name(path) is not None


def holds_memories(path: str) -> bool:
    """Return whether a document may have memories, by its path."""
    return path in PAGES or is_daily_log(path)


def is_of_memories(path: str) -> bool:
    """Return whether a document may have memories or generated blocks, by its path."""
    return holds_memories(path) or path.startswith(_BANK)


def memory_sections(data: bytes, path: RelativePath) -> MemorySections:
    """Parse the memories of a document, UTF-8 that ends in `PADDING`.

    Other bytes do not matter. An unpaired marker does not make text generated, but no line between it and the next
    marker, or the end of the document, is parsed as a memory, which is reported in `misses`.
    """
    if not is_of_memories(path):
        return MemorySections()
    front = front_matter_bytes(data)
    generated = generated_in(data, front)
    if person_of(path):
        bullets = _Reader(data, front, generated).read()
        shared = [replace(placed, line=as_shared(placed.line)) for placed in bullets if isinstance(placed, PlacedLine)]
        return MemorySections(tuple(shared), generated=generated.ranges)
    scoped = scoped_spans(data, default=PAGES.get(original_of(path)), generated=generated.ranges)
    if not holds_memories(path):
        return MemorySections(generated=generated.ranges, misses=tuple(_doubts(generated)), scoped=scoped)
    heads = frozenset(span.first_line for span in scoped if span.is_head)
    items = [_in_scope(item, scoped) for item in _Reader(data, front, generated, PAGES.get(path), heads).read()]
    lines = tuple(item for item in items if isinstance(item, PlacedLine))
    misses = [*_doubts(generated), *(item for item in items if isinstance(item, MalformedLine))]
    return MemorySections(lines, tuple(sorted(misses, key=lambda miss: miss.line)), generated.ranges, scoped)


def line_in(text: str, path: str) -> RetainedLine | MalformedLine | None:
    """Parse a bullet of a document with its indented lines: with the default kind and the scope of its path.

    A pin in a copy of a conflict is ignored until the conflict is settled.
    """
    line = parse_line(text, default_kind=PAGES.get(path))
    if not isinstance(line, RetainedLine):
        return line
    if line.attributes.is_pinned and is_conflict_copy(path):
        return replace(line, attributes=replace(line.attributes, is_pinned=False))
    return as_shared(line) if person_of(path) else line


def as_shared(line: RetainedLine) -> RetainedLine:
    """Return a line in the notes of a team: with the team's scope whatever scope it names, and not pinned here.

    Its provenance is `import`, so that it does not outrank local statements, and is not included in every session.
    """
    return replace(line, attributes=replace(line.attributes, scope=TEAM, is_pinned=False, provenance=Provenance.IMPORT))


def retain_sections(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return heading line and last text line of each Retain section, 1-based, for data as in `memory_sections`."""
    front = front_matter_bytes(data)
    return tuple(_Reader(data, front, generated_in(data, front)).places())


def aliases_of(values: Mapping[str, object]) -> tuple[str, ...]:
    """Return the `aliases` in the front matter of an entity page: one name or a list of them, at most 64."""
    value = values.get("aliases")
    items = value if isinstance(value, list) else [value]
    names = (
        " ".join(str(item).split()) for item in items if isinstance(item, str | int) and not isinstance(item, bool)
    )
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= _MAX_ALIAS))[:_MAX_ALIASES]


def is_retain(heading: bytes) -> bool:
    """Return whether a heading reads `Retain`: in any case, with or without emphasis or a colon."""
    return heading[:_LONGEST_TITLE].strip(b"#*_: \t\r").lower() == RETAIN


def _in_scope(item: PlacedLine | MalformedLine, scoped: Sequence[ScopedSpan]) -> PlacedLine | MalformedLine:
    """Return a memory, or a malformed line if it is under another scope than its own."""
    if isinstance(item, MalformedLine) or not scoped:
        return item
    at = bisect_right(scoped, item.start, key=lambda span: span.start) - 1
    if at < 0 or item.start >= scoped[at].end or scoped[at].scope == item.line.attributes.scope:
        return item
    shown = item.line.text[:SHOWN].split("\n", 1)[0]
    return MalformedLine(shown, _SCOPED, is_intended=True, line=item.start_line)


def _doubts(generated: Generated) -> Iterator[MalformedLine]:
    for line, reason in generated.doubts:
        yield MalformedLine("", reason, is_intended=True, line=line)


class _Reader:
    """Finds the memories in one document, UTF-8 that ends in `PADDING`; its front matter ends at byte `front`.

    `default` is the kind of bullets without one. `heads` are the lines (from 1) that begin a scoped item, so that no
    memory above continues there.
    """

    def __init__(
        self,
        data: bytes,
        front: int,
        generated: Generated,
        default: Kind | None = None,
        heads: frozenset[int] = frozenset(),
    ) -> None:
        lines = tabulate(without_other_side(generated.blanked(data)))
        self._lines, self._default, self._heads = lines, default, heads
        # plain lists: every line is accessed, and one array element takes ten times as long as one of a list
        self._text_starts: list[int] = lines.text.tolist()
        self._ends: list[int] = lines.ends().tolist()
        self._numbers: list[int] = (lines.numbers + 1).tolist()
        self._structure = analyse(lines, front)
        self._doubtful = generated.doubtful

    def read(self) -> Iterator[PlacedLine | MalformedLine]:
        """Yield the memories and malformed lines of the sections, in order."""
        first = last = depth = -1
        indents: list[int] = self._lines.indents.tolist()
        for row in self._rows():
            indent, is_bullet = indents[row], self._is_bullet(row)
            follows = row == last + 1 and self._numbers[row] == self._numbers[last] + 1
            begins_scope = self._numbers[row] in self._heads
            if first >= 0 and follows and not begins_scope and indent >= depth + (2 if is_bullet else 1):
                last = row
                continue
            if first >= 0:
                yield from self._read(first, last)
            first, last, depth = (row, row, indent) if is_bullet and self._is_memory(row) else (-1, -1, -1)
            if first < 0:
                yield from self._misses(row, is_bullet)
        if first >= 0:
            yield from self._read(first, last)

    def _rows(self) -> list[int]:
        """Return the rows of the line table where bullets may be memories."""
        table = self._structure
        open_to = np.zeros(len(table.lines.starts), np.bool_)
        if self._default is not None:
            open_to[:] = True
        else:
            for start, end in self._sections():
                open_to[start:end] = True
        open_to &= ~table.code & (table.levels == 0)
        for start, end in np.searchsorted(table.lines.starts, self._doubtful).tolist():
            open_to[start:end] = False
        return np.flatnonzero(open_to).tolist()

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the first and last text line of each Retain section, 1-based."""
        for start, end in self._sections():
            yield self._numbers[start], self._numbers[end - 1]

    def _sections(self) -> Iterator[tuple[int, int]]:
        """Yield the rows of each Retain section: after its heading, up to the next heading that is not below it."""
        began, level = -1, 0
        for row in np.flatnonzero(self._structure.levels).tolist():
            depth = int(self._structure.levels[row])
            if began >= 0 and depth <= level:
                yield began, row
                began = -1
            if began < 0 and depth >= _LEVEL and is_retain(self._lines.line(row)):
                began, level = row, depth
        if began >= 0:
            yield began, len(self._lines.starts)

    def _is_bullet(self, row: int) -> bool:
        return _BULLET.match(self._lines.data, self._text_starts[row]) is not None

    def _is_memory(self, row: int) -> bool:
        """Return whether a bullet's first line is intended as a memory, so that lines indented below belong to it."""
        parsed = parse_line(self._text(row, row), default_kind=self._default)
        return isinstance(parsed, RetainedLine) or (parsed is not None and parsed.is_intended)

    def _misses(self, row: int, is_bullet: bool) -> Iterator[MalformedLine]:
        """Yield what is wrong with a line that states no memory."""
        miss = None
        if is_bullet:
            miss = parse_line(self._text(row, row), default_kind=self._default)
        elif self._default is None and _UNMARKED.match(self._lines.data, self._text_starts[row]):
            miss = MalformedLine(self._text(row, row)[:SHOWN].rstrip(), _NO_MARK)
        if isinstance(miss, MalformedLine):
            yield replace(miss, line=self._numbers[row])

    def _read(self, first: int, last: int) -> Iterator[PlacedLine | MalformedLine]:
        parsed = parse_line(self._text(first, last), default_kind=self._default)
        line = self._numbers[first]
        if isinstance(parsed, RetainedLine):
            start = int(self._lines.starts[first])
            yield PlacedLine(line, self._numbers[last], start, self._ends[last], parsed)
            yield from self._inner_heads(range(first + 1, last + 1))
        elif parsed is not None:
            yield replace(parsed, line=line)

    def _inner_heads(self, rows: range) -> Iterator[MalformedLine]:
        """Yield the bullets within a memory that have a head of their own."""
        for row in rows:
            if self._is_bullet(row) and _HEADED.match(self._lines.data, self._text_starts[row]):
                shown = self._text(row, row)[:SHOWN].rstrip()
                yield MalformedLine(shown, _WITHIN, line=self._numbers[row])

    def _text(self, first: int, last: int) -> str:
        return self._lines.data[self._text_starts[first] : self._ends[last]].decode("utf-8", "surrogatepass")
