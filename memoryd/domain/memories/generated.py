"""Generated text in a page: the lines between reflect's markers, rendered and read. The rest belongs to the person.

What is between the markers is never read back as memories.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, unquote

from msgspec import Struct

from memoryd.domain.documents import Citation, RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.kinds import MemoryId, ShortId, short_id
from memoryd.domain.memories.line import RetainedLine, is_of_session
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import front_matter_bytes

BEGIN = "<!-- memoryd:begin -->"
END = "<!-- memoryd:end -->"
SUMMARY = "> Summary by "
"""The beginning of the paragraph that a text model wrote about all entries below."""
_SIGN = b"memoryd:"
_MARKER_OR_FENCE = expression(
    rb"^(?P<indent>[ \t]{0,32}+)(?:<!--[ \t]{0,9}+memoryd:(?P<marker>begin|end)[ \t]{0,9}+-->[ \t\r]*+$"
    rb"|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$)",
    re.MULTILINE,
)
_NOT_A_LINE_END = expression(rb"[^\n]")
_CODE_INDENT = 4

_NOT_CLOSED = f"{BEGIN} is not closed; put {END} behind what was generated, or take it out"
_NOT_OPENED = f"{END} closes nothing; put {BEGIN} before what was generated, or take it out"


class Generated(Struct, frozen=True):
    """The byte ranges of whole lines between the markers, markers included; and those where a marker has no partner,
    with line (1-based) and reason of each: what stands there may be a person's or not."""

    ranges: tuple[tuple[int, int], ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()
    doubts: tuple[tuple[int, str], ...] = ()

    def blanked(self, data: bytes) -> bytes:
        """Return the document with blanks for what was generated; lines and offsets stay."""
        if not self.ranges:
            return data
        pieces, at = [], 0
        for start, end in self.ranges:
            pieces += [data[at:start], _NOT_A_LINE_END.sub(b" ", data[start:end])]
            at = end
        return b"".join([*pieces, data[at:]])


def generated_in(data: bytes, front_matter_end: int) -> Generated:
    """Find what was generated in a document, UTF-8 that ends in `PADDING`.

    A marker is alone on its line, outside of front matter and of a person's fenced code. Fences between markers
    count for nothing there: what a memory quotes cannot hide the end.
    """
    if _SIGN not in data:
        return Generated()
    ranges, doubtful, doubts = [], [], []
    opened, behind = -1, front_matter_end
    size = len(data) - len(PADDING)
    for start, end, is_begin in _markers(data, front_matter_end):
        if opened >= 0 and not is_begin:
            ranges.append((opened, end))
        elif opened >= 0:
            doubtful.append((opened, start))
            doubts.append((opened, _NOT_CLOSED))
        elif not is_begin:
            doubtful.append((behind, end))
            doubts.append((start, _NOT_OPENED))
        opened, behind = start if is_begin else -1, end
    if opened >= 0:
        doubtful.append((opened, size))
        doubts.append((opened, _NOT_CLOSED))
    return Generated(tuple(ranges), tuple(doubtful), tuple(_number_lines(data, doubts)))


def _markers(data: bytes, front: int) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each line that is a marker, and whether it begins what was generated."""
    fence, width, is_open = b"", 0, False
    for match in _MARKER_OR_FENCE.finditer(data, front, len(data) - len(PADDING)):
        indent = len(match["indent"].expandtabs(4))
        if match["marker"]:
            if not fence and indent < _CODE_INDENT:
                is_open = match["marker"] == b"begin"
                yield match.start(), min(match.end() + 1, len(data) - len(PADDING)), is_open
        elif fence:
            closes = match["fence"].startswith(fence) and not match["info"].strip()
            fence = b"" if closes and indent < width + _CODE_INDENT else fence
        elif not is_open and (match["fence"][:1] == b"~" or b"`" not in match["info"]):
            fence, width = match["fence"], indent


def _number_lines(data: bytes, doubts: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    line, at = 1, 0
    for offset, reason in doubts:
        line += data.count(b"\n", at, offset)
        at = offset
        yield line, reason


MAX_ENTRY_CHARS = 500
MAX_SOURCES = 3
"""Citations of one entry; of the others the entry has the number."""
_UNSAFE = expression(r'[\x00-\x20"<>()\\%\x7f]')
_ENTRY = expression(r"\]\((?:\.\./)*([^\s()#]{1,2000})#L[0-9]{1,9}(?:-L[0-9]{1,9})? \"([0-9a-f]{8})\"\)")
_COMMENT = expression(r"<!--|-->")
_COMMENT_AS_TEXT = {"<!--": "&lt;!--", "-->": "--&gt;"}


class PageEntry(Struct, frozen=True):
    """One memory on a page; `label` goes before its text (a date, a confidence), `below` are lines under it."""

    memory: MemoryId
    label: str
    text: str
    sources: tuple[Citation, ...]
    below: tuple["PageEntry", ...] = ()


class PageSection(Struct, frozen=True):
    """Entries below a heading; `left_out` counts those for which there was no room."""

    heading: str
    entries: tuple[PageEntry, ...]
    left_out: int = 0


class GeneratedPage(Struct, frozen=True):
    """The wanted content of a page; `title` heads a new file, and `about` the part between the markers."""

    path: RelativePath
    title: str
    about: str
    sections: tuple[PageSection, ...]

    @property
    def entries(self) -> tuple[PageEntry, ...]:
        """All entries, in order."""
        tops = [entry for section in self.sections for entry in section.entries]
        return tuple(one for top in tops for one in (top, *top.below))


def block_of(page: GeneratedPage, summary: str = "") -> str:
    """Return the text between the markers, with the markers: the same bytes for the same page."""
    parts = [page.about] if page.about else []
    parts += [summary] if summary else []
    for section in page.sections:
        lines = [line for entry in section.entries for line in _entry(entry, page.path)]
        if section.left_out:
            lines.append(f"- … and {section.left_out} more")
        parts.append("\n".join([f"## {section.heading}", "", *lines]))
    return "\n".join([BEGIN, "\n\n".join(parts) or "Nothing is noted.", END])


def with_block(text: str | None, page: GeneratedPage, block: str) -> str:
    """Return the text of a page with a block in place of the one that it has; of a new one for None.

    Raises ValueError, which says what to do, where it has no such place, or where nobody can tell which it is.
    """
    if text is None:
        return f"# {page.title}\n\n{block}\n"
    data = text.encode("utf-8", "surrogatepass")
    start, end = _place(data)
    ending = "\r\n" if b"\r\n" in data[start:end] else "\n"
    # the last marker's own line end stays as it is
    tail = data[start:end][len(data[start:end].rstrip(b"\r\n")) :]
    ours = block.replace("\n", ending).encode("utf-8", "surrogatepass")
    return (data[:start] + ours + tail + data[end:]).decode("utf-8", "surrogatepass")


def block_in(text: str) -> str | None:
    """Return the text between the markers of a page, with the markers; None where it is unclear."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        start, end = _place(data)
    except ValueError:
        return None
    return data[start:end].decode("utf-8", "surrogatepass").replace("\r\n", "\n").rstrip("\n")


def has_no_marker(text: str) -> bool:
    """Tell whether a page never had a place for a block, or lost all of it."""
    found = _read_blocks(text.encode("utf-8", "surrogatepass"))
    return not found.ranges and not found.doubts


def citations_in(block: str) -> list[tuple[ShortId, str]]:
    """Return the memories that the entries of a block name, in order, each with the path of a file that states it."""
    return [(ShortId(memory), unquote(path)) for path, memory in _ENTRY.findall(block)]


def _read_blocks(data: bytes) -> Generated:
    padded = data + PADDING
    return generated_in(padded, front_matter_bytes(padded))


def _place(data: bytes) -> tuple[int, int]:
    found = _read_blocks(data)
    if found.doubts:
        line, reason = found.doubts[0]
        raise ValueError(f"line {line}: {reason}")
    if not found.ranges:
        raise ValueError(f"it has no lines {BEGIN} and {END}; put them where memoryd may write")
    if len(found.ranges) > 1:
        raise ValueError(f"{BEGIN} stands there {len(found.ranges)} times; leave one, with its {END}")
    return found.ranges[0]


def _entry(entry: PageEntry, page: RelativePath, indent: str = "") -> Iterable[str]:
    label = f"{entry.label}: " if entry.label else ""
    links = " ".join(_link(source, entry.memory, page) for source in entry.sources[:MAX_SOURCES])
    more = len(entry.sources) - MAX_SOURCES
    others = f" and {more} more" if more > 0 else ""
    yield f"{indent}- {label}{as_text(entry.text)} {links}{others}"
    for below in entry.below:
        yield from _entry(below, page, f"{indent}  ")


def _link(source: Citation, memory: MemoryId, page: RelativePath) -> str:
    shown = re.sub(r"([\[\]])", r"\\\1", as_text(str(source)))
    above = "../" * page.count("/")
    target = _UNSAFE.sub(lambda sign: quote(sign[0], safe=""), source.path).replace("#", "%23")
    return f'[{shown}]({above}{target}#{source.place} "{short_id(memory)}")'


def as_text(text: str) -> str:
    """Return a text on one line that opens no comment, and closes none; a long one is cut."""
    line = " ".join(text.split())
    if len(line) > MAX_ENTRY_CHARS:
        line = f"{line[:MAX_ENTRY_CHARS].rstrip()} …"
    return _COMMENT.sub(lambda sign: _COMMENT_AS_TEXT[sign[0]], line)


def cut(entries: Sequence[PageEntry], most: int) -> tuple[tuple[PageEntry, ...], int]:
    """Return the first entries, and how many are left out."""
    return tuple(entries[:most]), max(len(entries) - most, 0)


_HAN_SIGN = expression("[\u4e00-\u9fff]")
_SAID_OF = expression(r"(?P<message>.*)(?:\s\(said of: (?P<line>.*)\)|（说的是：(?P<han_line>.*)）)\Z", re.DOTALL)
"""A message that has such words of its own is not kept so."""


def said_of(message: str, line: str) -> str:
    """Return a message with the line that it was said of, as it is kept; of a line that is kept so with its own."""
    line = " ".join((line_said_of(line) or line).split())
    return f"{message}（说的是：{line}）" if _HAN_SIGN.search(message) else f"{message} (said of: {line})"


def line_said_of(text: str) -> str:
    """Return the line of which a kept message was said; empty if it names none."""
    found = _SAID_OF.match(text)
    return "" if found is None else found["line"] or found["han_line"]


def typed_part(text: str) -> str:
    """Return a kept message without the line of which it was said."""
    found = _SAID_OF.match(text)
    return text if found is None else found["message"]


def retells(line: RetainedLine) -> bool:
    """Tell whether memoryd wrote into a line what others say: the end or a summary of a session, or what was said of
    another line."""
    return is_of_session(line) or bool(line_said_of(line.text))
