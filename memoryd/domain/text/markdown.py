"""The context of text in a Markdown file: its front matter, and the headings above any place.

For headings, the front matter counts as part of the text after it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from memoryd.domain.text.lines import PADDING, tabulate
from memoryd.domain.text.structure import Structure, analyse

if TYPE_CHECKING:
    from yaml import Node, SafeLoader, ScalarNode

FRONT_MATTER_CHARS = 16 * 1024
"""A front matter block that is not closed within this many characters is ordinary text."""

PATH_CHARS = 240
TITLE_CHARS = 96
_SEPARATOR = " > "
_FENCE_BYTES = 256
_NON_BLANK_LINE = b">\n"
"""Neither blank nor a possible title, whatever follows."""

_MAX_DEPTH = 16
_MAX_BRACKETS = 256
"""Most brackets in a block: the YAML scanner takes time quadratic in their number."""

_BOM = "\ufeff"
_OPENINGS = (b"---", b"\xef\xbb\xbf---")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class FrontMatter(Struct, frozen=True):
    """The keys of the YAML block at the start of a file, and the offset of the first character after it."""

    values: dict[str, object]
    end: int


@cache
def _plain_loader() -> "type[SafeLoader]":
    """Return a YAML loader that refuses anchors, aliases, tags and deep nesting, which bounds its output."""
    import yaml  # here: a memory without front matter does not need it

    class PlainLoader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: "Node | None", index: object) -> "Node | None":
            event = self.peek_event()  # type: ignore[no-untyped-call]  # no types in the stubs
            if getattr(event, "anchor", None) or getattr(event, "tag", None) or self.depth > _MAX_DEPTH:
                raise yaml.YAMLError("anchors, aliases, tags and deep nesting are refused")
            self.depth += 1
            try:
                return super().compose_node(parent, index)  # type: ignore[arg-type]  # the stubs lack None
            finally:
                self.depth -= 1

    PlainLoader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
    return PlainLoader


def _timestamp(loader: "SafeLoader", node: "ScalarNode") -> object:
    """Return a node as a date, or as text if the date is invalid: one mistake must not discard the other keys."""
    try:
        return loader.construct_yaml_timestamp(node)
    except (ValueError, OverflowError):
        return node.value


def front_matter(text: str) -> FrontMatter:
    """Read the `---` … `---` block at the very start of a text; never raises.

    Without such a block `values` is empty and `end` is 0. A block that is no YAML mapping, or uses anchors,
    aliases, tags or deep nesting, gives only its top-level `key: true` and `key: false` lines: a mistake elsewhere
    must not undo `memory: false`.
    """
    begin, end = _block(text[: FRONT_MATTER_CHARS + len(_BOM)])
    return FrontMatter(_parse(text[begin:end]) if end else {}, end)


def _block(head: str) -> tuple[int, int]:
    """Return the offsets after the opening line and after the closing line; (0, 0) if there is no block."""
    lines = head.split("\n")
    if lines[0].removeprefix(_BOM).rstrip() != "---" or len(lines) < 2 or not lines[1].strip():
        return 0, 0
    begin = offset = len(lines[0]) + 1
    for line in lines[1:]:
        offset += len(line) + 1
        if line.rstrip() in ("---", "..."):
            return begin, min(offset, len(head))
    return 0, 0


def _parse(block: str) -> dict[str, object]:
    body = block.rstrip()[:-3]
    values: object = None
    if body.count("[") + body.count("{") <= _MAX_BRACKETS:
        loader = _plain_loader()
        from yaml import YAMLError, load

        with suppress(YAMLError, ValueError, OverflowError, RecursionError):
            values = load(body, loader)
    if isinstance(values, dict):
        return {str(key): value for key, value in values.items()}
    pairs = (line.partition(":") for line in body.split("\n") if line[:1].isalpha())
    stripped = ((key.strip(), value.strip().lower()) for key, _, value in pairs)
    return {key: _TRUTH[value] for key, value in stripped if value in _TRUTH}


class Headings:
    """The heading tree of one document, whose front matter ends at byte `front_matter_end`."""

    def __init__(self, structure: Structure, front_matter_end: int = 0) -> None:
        lines, headings = structure.lines, np.flatnonzero(structure.levels)
        behind = int(np.searchsorted(lines.starts, front_matter_end))
        self._first_line = next(iter(lines.starts[behind : behind + 1].tolist()), None)
        self._front_matter_end = front_matter_end
        self._structure = structure
        self._titles = lines.text[headings]
        self._starts: list[int] = lines.starts[headings].tolist()
        self._paths: dict[int, str] = {}
        self._levels = structure.levels[headings].tolist()
        self._parents = _parents(self._levels)

    def path(self, offset: int) -> str:
        """Join the titles of the headings that enclose a byte offset with " > ", outermost first.

        A heading's own line belongs to it. Long titles are cut to 96 characters; outer titles are left out
        where the path would be longer than 240.
        """
        if self._first_line is not None and (not offset or offset < self._front_matter_end):
            offset = self._first_line
        innermost = bisect_right(self._starts, offset) - 1
        if innermost not in self._paths:
            # cached: looked up for every part set apart
            self._paths[innermost] = self._joined_titles(innermost)
        return self._paths[innermost]

    def _joined_titles(self, innermost: int) -> str:
        titles: list[str] = []
        room = PATH_CHARS
        for at in self._enclosing(innermost):
            title = self._title(int(self._titles[at]))
            room -= len(title) + len(_SEPARATOR)
            if room < 0:
                break
            titles.append(title)
        return _SEPARATOR.join(reversed([title for title in titles if title]))

    def path_includes(self, start: int, stop: int) -> bool:
        """Return whether only headings are between two byte offsets, all of them in the path at `stop`."""
        first, last = np.searchsorted(self._structure.lines.starts, (start, stop)).tolist()
        if not self._structure.levels[first:last].all():
            return False
        path = self.path(stop).split(_SEPARATOR)
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, stop)
        titles = [self._title(int(self._titles[at])) for at in range(first, last)]
        return all(not title or (title in path and len(title) < TITLE_CHARS) for title in titles)

    def lines_above(self, offset: int) -> bytes:
        """Return lines that give the text from a byte offset on its context; prepended, it parses as in its document.

        These are the enclosing headings, except one that begins at the offset, then the line that opened the fence
        around it, or a line that preserves whether a blank line precedes it. The offset is after the front matter.
        """
        table, lines = self._structure, self._structure.lines
        headings = []
        for at in self._enclosing(bisect_left(self._starts, offset) - 1):
            line = self._line(int(self._titles[at]))
            headings.append(line if line.startswith(b"#") else b"#" * self._levels[at] + b" " + line)
        above = b"".join(line + b"\n" for line in reversed(headings))
        row = int(np.searchsorted(lines.starts, offset)) - 1
        if row < 0:
            return above + b"\n"
        if table.fences[row] >= 0:
            opening = int(lines.starts[table.fences[row]])
            return above + lines.data[opening : opening + _FENCE_BYTES].split(b"\n", 1)[0] + b"\n"
        is_after_blank = b"\n" in lines.data[int(lines.text[row]) : offset].rstrip(b" \t\r").removesuffix(b"\n")
        return above + (b"\n" if is_after_blank else _NON_BLANK_LINE)

    def _enclosing(self, at: int) -> Iterator[int]:
        """Yield a heading and the headings that enclose it, innermost first."""
        while at >= 0:
            yield at
            at = self._parents[at]

    def _line(self, begin: int) -> bytes:
        return self._structure.lines.data[begin : begin + 8 * TITLE_CHARS].split(b"\n", 1)[0]

    def _title(self, begin: int) -> str:
        title = self._line(begin).decode("utf-8", "replace").strip()
        if title.startswith("#"):
            title = title.lstrip("#").strip()
            bare = title.rstrip("#")
            title = bare.rstrip() if not bare or bare[-1] in " \t" else title
        return " ".join(title.split())[:TITLE_CHARS].rstrip()


def _parents(levels: list[int]) -> list[int]:
    """Return for each heading the nearest earlier one of a higher level; -1 if there is none."""
    latest = [-1] * 7
    parents = []
    for index, level in enumerate(levels):
        parents.append(max(latest[:level]))
        latest[level] = index
        latest[level + 1 :] = [-1] * (6 - level)
    return parents


def headings_of(data: bytes) -> Headings:
    """Return the headings of a document, UTF-8 that ends in `PADDING`."""
    end = front_matter_bytes(data)
    return Headings(analyse(tabulate(data), end), end)


def front_matter_bytes(data: bytes) -> int:
    """Return the end of the front matter of a document, UTF-8 that ends in `PADDING`; 0 if it has none."""
    if not data.startswith(_OPENINGS):
        return 0
    # a character has at most four bytes, and must not be split
    end = min(4 * FRONT_MATTER_CHARS + 4, len(data) - len(PADDING))
    while data[end] & 0xC0 == 0x80:
        end -= 1
    head = data[:end].decode("utf-8", "surrogatepass")
    return len(head[: front_matter(head).end].encode("utf-8", "surrogatepass"))
