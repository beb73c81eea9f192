"""Citations: `memory/2026-10-18.md#L12-L15` or `session:main-20261018#Q3`, the way an answer points at its lines."""

import re
from dataclasses import dataclass
from enum import StrEnum

from memoryd.domain.conversation_paths import TURN_LINES, holds_turns, is_conversation
from memoryd.domain.media import modality_of

_CITATION = re.compile(
    r"(?s)(?P<path>.+?)(?:#(?P<unit>[LQ])(?P<start>[0-9]{1,9})(?:-(?P=unit)?(?P<end>[0-9]{1,9}))?"
    r"(?:@(?P<mark>[0-9a-f]{8}))?)?\Z"
)
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
    """A document and, unless the whole of it is meant, its lines: 1-based, inclusive.

    What consists of turns is cited by these: `#Q17` for lines 33 and 34. A mark, eight hexadecimal digits behind an
    `@`, says what stood there: the beginning of the id of a memory.
    """

    path: str
    start_line: int | None = None
    end_line: int | None = None
    mark: str = ""

    def __str__(self) -> str:
        place = self.place
        return f"{self.path}#{place}{f'@{self.mark}' if self.mark else ''}" if place else self.path

    @property
    def place(self) -> str:
        """What stands behind the `#`: `L5`, `L5-L9`, `Q17`; empty if the whole document is meant."""
        if self.start_line is None:
            return ""
        first, last = self.start_line, self.end_line or self.start_line
        if not holds_turns(self.path):
            return _range("L", first, last)
        return _range("Q", -(-first // TURN_LINES), -(-last // TURN_LINES))


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit}{first}" if first == last else f"{unit}{first}-{unit}{last}"


def cited(path: str, first: int, last: int) -> Citation:
    """Return the citation of a chunk: its lines, or the whole of a picture or sound, which has none."""
    return Citation(path) if modality_of(path) else Citation(path, first, last)


def parse(text: str) -> Citation:
    """Read `path`, `path#L5`, `path#L5-L9`, or of a session `session:ID#Q3-Q4`, which names the lines of these turns.

    Lines may have a mark behind them: `path#L5@1a2b3c4d`. Raise ValueError for anything else, also for lines that run
    backwards.
    """
    match = _CITATION.match(text)
    if match is None or match["path"].startswith("#L"):
        raise ValueError(f"not a citation: {text!r} (expected path, path#L5, path#L5-L9 or session:ID#Q3)")
    path, unit, start, end = match["path"], match["unit"], match["start"], match["end"]
    # a file name may hold a `#Q3`, that of a session may not
    if start is None or (unit == "Q" and not holds_turns(path)):
        return Citation(text)
    first, last = int(start), int(end or start)
    if first < 1 or last < first:
        raise ValueError(f"not a {'line' if unit == 'L' else 'turn'} range: {_range(unit, first, last)}")
    if unit == "Q":
        first, last = TURN_LINES * (first - 1) + 1, TURN_LINES * last
    return Citation(path, first, last, match["mark"] or "")


def conversation_cited(text: str) -> Citation | None:
    """Return the citation that a text is, if it is one of a conversation."""
    try:
        citation = parse(text)
    except ValueError:
        return None
    return citation if is_conversation(citation.path) else None


def one_line(path: str) -> str:
    """Return a path with its control characters and line breaks written as escapes, fit for one line of text."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), path)


def with_footer(snippet: str, citation: Citation) -> str:
    """Put `Source: path#L5-L9` under a snippet, one blank line between; a path cannot break out of its line."""
    return f"{snippet.rstrip()}\n\nSource: {one_line(str(citation))}"
