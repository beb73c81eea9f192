"""Citations: `memory/2026-10-18.md#L12-L15`, the way an answer points at its lines."""

import re
from dataclasses import dataclass

_CITATION = re.compile(r"(?s)(?P<path>.+?)(?:#L(?P<start>[0-9]{1,9})(?:-L?(?P<end>[0-9]{1,9}))?)?\Z")


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
