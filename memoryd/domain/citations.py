"""Citations: `memory/2026-10-18.md#L12-L15`, the way an answer points at its lines."""

import re
from dataclasses import dataclass
from enum import StrEnum

from memoryd.domain.media import modality_of

_CITATION = re.compile(r"(?s)(?P<path>.+?)(?:#L(?P<start>[0-9]{1,9})(?:-L?(?P<end>[0-9]{1,9}))?)?\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class CitationMode(StrEnum):
    """Whether answers cite in their text: always, never, or in direct chats only."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"

    def cites(self, *, is_direct: bool) -> bool:
        """Resolve `auto`: a group is not shown where somebody keeps notes."""
        return self is CitationMode.ON or (self is CitationMode.AUTO and is_direct)


@dataclass(frozen=True, slots=True)
class Citation:
    """A document and, unless the whole of it is meant, its lines: 1-based, inclusive."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    def __str__(self) -> str:
        if self.start_line is None:
            return self.path
        if self.end_line in (None, self.start_line):
            return f"{self.path}#L{self.start_line}"
        return f"{self.path}#L{self.start_line}-L{self.end_line}"


def cited(path: str, first: int, last: int) -> Citation:
    """Return the citation of a chunk: its lines, or the whole of a picture or sound, which has none."""
    return Citation(path) if modality_of(path) else Citation(path, first, last)


def parse(text: str) -> Citation:
    """Read `path`, `path#L5` or `path#L5-L9`; raise ValueError for anything else or for lines that run backwards."""
    match = _CITATION.match(text)
    if match is None or match["path"].startswith("#L"):
        raise ValueError(f"not a citation: {text!r} (expected path, path#L5 or path#L5-L9)")
    start, end = match["start"], match["end"]
    if start is None:
        return Citation(match["path"])
    first, last = int(start), int(end or start)
    if first < 1 or last < first:
        raise ValueError(f"not a line range: L{first}-L{last}")
    return Citation(match["path"], first, last)


def one_line(path: str) -> str:
    """Return a path with its control characters and line breaks written as escapes, fit for one line of text."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), path)


def with_footer(snippet: str, citation: Citation) -> str:
    """Put `Source: path#L5-L9` under a snippet, one blank line between; a path cannot break out of its line."""
    return f"{snippet.rstrip()}\n\nSource: {one_line(str(citation))}"
