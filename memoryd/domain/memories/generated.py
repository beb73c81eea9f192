"""Generated text in a page: rendering and reading of the block between reflect's markers. The rest is the person's.

Text between the markers is never read as memories.
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
from memoryd.domain.text.sanitizing import blanked

BEGIN = "<!-- memoryd:begin -->"
END = "<!-- memoryd:end -->"
SUMMARY = "> Summary by "
"""The beginning of the paragraph in which a text model summarises all entries."""
_SIGN = b"memoryd:"
_MARKER_OR_FENCE = expression(
    rb"^(?P<indent>[ \t]{0,32}+)(?:<!--[ \t]{0,9}+memoryd:(?P<marker>begin|end)[ \t]{0,9}+-->[ \t\r]*+$"
    rb"|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$)",
    re.MULTILINE,
)
_CODE_INDENT = 4

_NOT_CLOSED = f"{BEGIN} is not closed; put {END} after the generated text, or remove it"
_NOT_OPENED = f"{END} closes nothing; put {BEGIN} before the generated text, or remove it"


class Generated(Struct, frozen=True):
    """Byte ranges of complete lines: generated blocks with their markers, and doubtful ranges with an unpaired marker.

    `doubts` has the line (1-based) and the reason of each doubtful range, whose text may be a person's.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()
    doubts: tuple[tuple[int, str], ...] = ()

    def blanked(self, data: bytes) -> bytes:
        """Return the document with its generated blocks blanked; lines and offsets do not move."""
        return blanked(data, self.ranges)


def generated_in(data: bytes, front_matter_end: int) -> Generated:
    """Return the generated blocks of a document, UTF-8 that ends in `PADDING`.

    A marker is alone on its line, outside of front matter and of fenced code. Fences between markers are ignored, so
    that a quotation in a memory cannot hide the end marker.
    """
    if _SIGN not in data:
        return Generated()
    ranges, doubtful, doubts = [], [], []
    opened, after = -1, front_matter_end
    size = len(data) - len(PADDING)
    for start, end, is_begin in _markers(data, front_matter_end):
        if opened >= 0 and not is_begin:
            ranges.append((opened, end))
        elif opened >= 0:
            doubtful.append((opened, start))
            doubts.append((opened, _NOT_CLOSED))
        elif not is_begin:
            doubtful.append((after, end))
            doubts.append((start, _NOT_OPENED))
        opened, after = start if is_begin else -1, end
    if opened >= 0:
        doubtful.append((opened, size))
        doubts.append((opened, _NOT_CLOSED))
    return Generated(tuple(ranges), tuple(doubtful), tuple(_number_lines(data, doubts)))


def _markers(data: bytes, front: int) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each marker line, and whether it begins a block."""
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
"""Most citations in one entry; the others are only counted."""
_UNSAFE = expression(r'[\x00-\x20"<>()\\%\x7f]')
_ENTRY = expression(r"\]\((?:\.\./)*([^\s()#]{1,2000})#L[0-9]{1,9}(?:-L[0-9]{1,9})? \"([0-9a-f]{8})\"\)")
_COMMENT = expression(r"<!--|-->")
_COMMENT_AS_TEXT = {"<!--": "&lt;!--", "-->": "--&gt;"}


class PageEntry(Struct, frozen=True):
    """One memory on a page; `label` precedes its text (a date, a confidence), `below` are subordinate lines."""

    memory: MemoryId
    label: str
    text: str
    sources: tuple[Citation, ...]
    below: tuple["PageEntry", ...] = ()


class PageSection(Struct, frozen=True):
    """Entries below a heading; `left_out` is the number of entries that were omitted."""

    heading: str
    entries: tuple[PageEntry, ...]
    left_out: int = 0


class GeneratedPage(Struct, frozen=True):
    """The intended content of a page; `title` heads a new file, `about` is the first paragraph of the block."""

    path: RelativePath
    title: str
    about: str
    sections: tuple[PageSection, ...]

    @property
    def entries(self) -> tuple[PageEntry, ...]:
        """All entries, in order."""
        tops = [entry for section in self.sections for entry in section.entries]
        return tuple(entry for top in tops for entry in (top, *top.below))


def block_of(page: GeneratedPage, summary: str = "") -> str:
    """Return the block with its markers: the same bytes for the same page."""
    parts = [page.about] if page.about else []
    parts += [summary] if summary else []
    for section in page.sections:
        lines = [line for entry in section.entries for line in _entry(entry, page.path)]
        if section.left_out:
            lines.append(f"- … and {section.left_out} more")
        parts.append("\n".join([f"## {section.heading}", "", *lines]))
    return "\n".join([BEGIN, "\n\n".join(parts) or "Nothing is noted.", END])


def with_block(text: str | None, page: GeneratedPage, block: str) -> str:
    """Return a page with its block replaced; a new page if `text` is None.

    Raises ValueError, which says what to do, if the page has no place for a block, or several.
    """
    if text is None:
        return f"# {page.title}\n\n{block}\n"
    data = text.encode("utf-8", "surrogatepass")
    start, end = _place(data)
    ending = "\r\n" if b"\r\n" in data[start:end] else "\n"
    # the line end of the last marker is not changed
    tail = data[start:end][len(data[start:end].rstrip(b"\r\n")) :]
    ours = block.replace("\n", ending).encode("utf-8", "surrogatepass")
    return (data[:start] + ours + tail + data[end:]).decode("utf-8", "surrogatepass")


def block_in(text: str) -> str | None:
    """Return the block of a page with its markers; None if it is missing or ambiguous."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        start, end = _place(data)
    except ValueError:
        return None
    return data[start:end].decode("utf-8", "surrogatepass").replace("\r\n", "\n").rstrip("\n")


def has_no_marker(text: str) -> bool:
    """Return whether a page has no marker at all."""
    blocks = _read_blocks(text.encode("utf-8", "surrogatepass"))
    return not blocks.ranges and not blocks.doubts


def citations_in(block: str) -> list[tuple[ShortId, str]]:
    """Return the memories that the entries of a block cite, in order, each with the path of a file that states it."""
    return [(ShortId(memory), unquote(path)) for path, memory in _ENTRY.findall(block)]


def cited_paths(page: GeneratedPage) -> Iterator[str]:
    """Yield the files that the entries of a page cite. A link in the text of an entry cites nothing."""
    waiting = [entry for section in page.sections for entry in section.entries]
    while waiting:
        entry = waiting.pop()
        yield from (source.path for source in entry.sources[:MAX_SOURCES])
        waiting += entry.below


def _read_blocks(data: bytes) -> Generated:
    padded = data + PADDING
    return generated_in(padded, front_matter_bytes(padded))


def _place(data: bytes) -> tuple[int, int]:
    blocks = _read_blocks(data)
    if blocks.doubts:
        line, reason = blocks.doubts[0]
        raise ValueError(f"line {line}: {reason}")
    if not blocks.ranges:
        raise ValueError(f"it has no lines {BEGIN} and {END}; put them where memoryd may write")
    if len(blocks.ranges) > 1:
        raise ValueError(f"it has {len(blocks.ranges)} lines {BEGIN}; leave one, with its {END}")
    return blocks.ranges[0]


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
    """Return a text as one line that neither opens nor closes a comment; a long text is truncated."""
    line = " ".join(text.split())
    if len(line) > MAX_ENTRY_CHARS:
        line = f"{line[:MAX_ENTRY_CHARS].rstrip()} …"
    return _COMMENT.sub(lambda sign: _COMMENT_AS_TEXT[sign[0]], line)


def cut(entries: Sequence[PageEntry], most: int) -> tuple[tuple[PageEntry, ...], int]:
    """Return at most `most` entries, and the number of omitted ones."""
    return tuple(entries[:most]), max(len(entries) - most, 0)


_HAN_SIGN = expression("[\u4e00-\u9fff]")
_MESSAGE_ABOUT = expression(r"(?P<message>.*)(?:\s\(said of: (?P<line>.*)\)|（说的是：(?P<han_line>.*)）)\Z", re.DOTALL)
"""A message about a line, as stored. A message that itself ends in such words is not stored in this form."""


def message_about(message: str, line: str) -> str:
    """Return a message together with the line that it is about, as stored; a nested message is replaced by its line."""
    line = " ".join((subject_line(line) or line).split())
    return f"{message}（说的是：{line}）" if _HAN_SIGN.search(message) else f"{message} (said of: {line})"


def subject_line(text: str) -> str:
    """Return the line that a stored message is about; empty if there is none."""
    match = _MESSAGE_ABOUT.match(text)
    return "" if match is None else match["line"] or match["han_line"]


def message_alone(text: str) -> str:
    """Return a stored message without the line that it is about."""
    match = _MESSAGE_ABOUT.match(text)
    return text if match is None else match["message"]


def restates(line: RetainedLine) -> bool:
    """Return whether memoryd wrote a line that only restates others.

    That is the end or a summary of a session, or a message about another line.
    """
    return is_of_session(line) or bool(subject_line(line.text))
