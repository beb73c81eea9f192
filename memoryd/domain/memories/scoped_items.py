"""What in a document is under a scope: the items whose head names one, with all that Markdown counts to them.

A line that was meant to have a scope has it, in whatever form of list it stands; where the scope cannot be read the
item is for the owner alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.memories.kinds import Kind, kind_named
from memoryd.domain.memories.near_misses import NearMiss
from memoryd.domain.memories.retained import RetainedLine, parse_line
from memoryd.domain.text.lines import PADDING

UNREAD: Final = "?"
"""The scope of what was meant to have one that cannot be read: it reaches nobody but the owner."""
_SIGN: Final = b"scope"
_HEAD_LINES: Final = 3
"""So many lines are looked at for the end of a head whose bracket is open."""
_HEAD_CHARS: Final = 4_096
_HEAD_WORDS: Final = 2
"""So many words, a kind and one more, stand before the bracket of a head; more are a sentence."""
_TAB: Final = 4
_LEAD: Final = re.compile(rb"[ \t>]*+")
_MARK: Final = re.compile(rb"(?:[-*+]|\d{1,9}[.)])[ \t]")
_BLOCK: Final = re.compile(rb"[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~|<!--|[-*_]{3,}+[ \t\r]*+$")
"""How a line begins that cannot go on with the paragraph above it, but for a quotation."""
_TOKEN: Final = re.compile(
    r"(?P<entity>[@＠](?:[\[［][^\[\]［］]{0,200}+[\]］]|[^\s@＠:：,，()（）\[\]［］]{1,200}+))"
    r"|(?P<open>[(（\[{【])|(?P<close>[)）\]}】])"
    r"|(?P<scope>\bscopes?[\"'`*]{0,3}\s{0,8}[=:＝：][\s\"'`]{0,8}(?P<agent>agent)?)"
    r"|(?P<word>\w+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ScopedSpan:
    """Whole lines under a scope: lines 1-based and inclusive, bytes from `start` to before `end`.

    `is_head`: they begin with what names the scope.
    """

    first_line: int
    last_line: int
    start: int
    end: int
    scope: str
    is_head: bool


@dataclass(frozen=True, slots=True)
class _Item:
    indent: int
    scope: str


def scoped_spans(
    data: bytes, *, usual: Kind | None = None, generated: Sequence[tuple[int, int]] = ()
) -> tuple[ScopedSpan, ...]:
    """Return what is under a scope in a document, UTF-8 that ends in `PADDING`, in order.

    `usual` is the kind that its page gives to bullets; what was `generated` (bytes) is under none. Of an item within
    another the inner scope holds, if it can be read.
    """
    if _SIGN not in data.lower():
        return ()
    size = len(data) - len(PADDING)
    spans = _Spans(data[:size].split(b"\n"), usual, generated).found()
    return tuple(replace(span, end=min(span.end, size)) for span in spans)


class _Spans:
    """Goes over the lines of one document."""

    def __init__(self, lines: list[bytes], usual: Kind | None, generated: Sequence[tuple[int, int]]) -> None:
        self._lines, self._usual = lines, usual
        self._ranges = iter((*generated, (1 << 62, 1 << 62)))
        self._range = next(self._ranges)
        self._open: list[_Item] = []

    def found(self) -> Iterator[ScopedSpan]:
        """Yield the spans; blank lines between the lines of one are its own."""
        span: ScopedSpan | None = None
        offset, is_behind_text = 0, False
        for at, line in enumerate(self._lines):
            start, offset = offset, offset + len(line) + 1
            if self._is_generated(start):
                self._open, is_behind_text = [], False
            elif not line.strip():
                is_behind_text = False
                continue
            is_head = not self._is_generated(start) and self._enter(at, is_behind_text=is_behind_text)
            is_behind_text = bool(line.strip())
            scope = self._open[-1].scope if self._open else None
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

    def _enter(self, at: int, *, is_behind_text: bool) -> bool:
        """Leave the items that a line does not belong to, and enter the one that it begins, if that has a scope."""
        line = self._lines[at]
        text = _text_at(line)
        indent = len(line[:text].expandtabs(_TAB))
        is_lazy = is_behind_text and bool(self._open) and not _begins_block(line, self._lines[at - 1])
        while self._open and not is_lazy and indent <= self._open[-1].indent:
            self._open.pop()
        scope = self._scope(at, text)
        if scope is not None:
            self._open.append(_Item(indent, scope))
        return scope is not None

    def _scope(self, at: int, text: int) -> str | None:
        """Return the scope that a line names in its head, None if it names none."""
        head = b"\n".join([self._lines[at][text:], *self._going_on(at)])
        if _SIGN not in head.lower() or head.startswith(b"#"):
            return None
        mark = _MARK.match(head)
        first = self._lines[at][text:].decode("utf-8", "surrogatepass")
        if mark and head[:1] in b"-*+":
            read = parse_line(first)
            if self._usual is not None and not isinstance(read, RetainedLine):
                usual = parse_line(first, usual_kind=self._usual)
                read = usual if isinstance(usual, RetainedLine) and usual.attributes.scope else read
            if isinstance(read, RetainedLine):
                return read.attributes.scope or None
            if isinstance(read, NearMiss) and _SIGN.decode() in first[:_HEAD_CHARS].lower():
                return UNREAD
        body = head[mark.end() :] if mark else head
        said = body[: 4 * _HEAD_CHARS].decode("utf-8", "replace")
        return UNREAD if _names_scope(said, is_item=mark is not None) else None

    def _going_on(self, at: int) -> Iterator[bytes]:
        """Yield the next lines that may be of the same head."""
        for behind in range(at + 1, min(at + _HEAD_LINES, len(self._lines))):
            line = self._lines[behind]
            if not line.strip() or _begins_block(line, self._lines[behind - 1]):
                return
            yield line


def _text_at(line: bytes) -> int:
    """Return where the text of a line begins, behind blanks and marks of quotation."""
    lead = _LEAD.match(line)
    return lead.end() if lead else 0


def _begins_block(line: bytes, above: bytes) -> bool:
    """Tell whether a line does not go on with the paragraph above it."""
    text = _text_at(line)
    return _BLOCK.match(line, text) is not None or (b">" in line[:text] and b">" not in above[: _text_at(above)])


def _names_scope(head: str, *, is_item: bool) -> bool:
    """Tell whether a head names a scope in brackets; one of an agent does anywhere in the first line of an item.

    What is no item has one behind a kind, or one of an agent behind one word: `f(scope=1)` is of a program.
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
