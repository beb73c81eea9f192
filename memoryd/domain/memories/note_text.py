"""The text of a note apart from how its file writes it, so that an edit leaves every other byte as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.hunks import lines_of, matched

_MARK: Final = "\ufeff"
_WIDE: Final = "\r"


@dataclass(frozen=True, slots=True)
class NoteText:
    """The lines of a note without their ends.

    `is_wide` says of each line but the last whether it ends in CR LF; `has_mark`: a byte order mark stands before all.
    """

    lines: tuple[str, ...] = ("",)
    is_wide: tuple[bool, ...] = ()
    has_mark: bool = False

    @property
    def text(self) -> str:
        """The text with a plain end to every line."""
        return "\n".join(self.lines)

    @property
    def is_mostly_wide(self) -> bool:
        return 2 * sum(self.is_wide) > len(self.is_wide)


EMPTY: Final = NoteText()


def read_note(data: bytes) -> NoteText:
    """Return the text of a file; raises ValueError for what is no UTF-8."""
    text = data.decode("utf-8")
    if "\0" in text:
        raise ValueError("it holds a byte that no text has")
    has_mark = text.startswith(_MARK)
    *ended, last = text.removeprefix(_MARK).split("\n")
    lines = [line.removesuffix(_WIDE) for line in ended]
    return NoteText((*lines, last), tuple(line.endswith(_WIDE) for line in ended), has_mark)


def written_note(before: NoteText, text: str) -> bytes:
    """Return the bytes of a note that is to have this text.

    A line that stays keeps its end, and so does one that is changed; a new one ends as most others do. Raises
    ValueError for what UTF-8 cannot write.
    """
    lines = lines_of(text)
    ends = _ends(before, lines)
    whole = "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
    return ((_MARK if before.has_mark else "") + whole).encode("utf-8")


def _ends(before: NoteText, lines: Sequence[str]) -> list[str]:
    """Return how the lines end, all but the last."""
    wide = [before.is_mostly_wide] * len(lines)
    old = new = 0
    for begin, after, count in [*matched(before.lines, lines), (len(before.lines), len(lines), 0)]:
        # as many lines as before stand where others stood: each keeps the end of the one that it replaces
        first = old if begin - old == after - new else begin
        known = before.is_wide[first : begin + count]
        wide[after - (begin - first) : after - (begin - first) + len(known)] = known
        old, new = begin + count, after + count
    return ["\r\n" if one else "\n" for one in wide[: len(lines) - 1]]
