"""Read and write the text of a note with its other bytes unchanged, and undo one change of it.

A change is only undone if that costs no memory that the change did not write.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import (
    Hunk,
    UncertainPlaceError,
    equal_runs,
    hunk_places,
    lines_of,
    revert_hunks,
)
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import PlacedLine, holds_memories, memory_sections
from memoryd.domain.text.lines import encode_padded

_MARK = "\ufeff"
_WIDE = "\r"


class NoteText(Struct, frozen=True):
    """The lines of a note without their line ends.

    `is_wide`: for each line but the last, whether it ends in CR LF; `has_mark`: the file starts with a byte order mark.
    """

    lines: tuple[str, ...] = ("",)
    is_wide: tuple[bool, ...] = ()
    has_mark: bool = False

    @property
    def text(self) -> str:
        """The text with LF as the line end."""
        return "\n".join(self.lines)


EMPTY = NoteText()


def read_note(data: bytes) -> NoteText:
    """Return the text of a file; raise ValueError with the reason if it is not text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ValueError("is no UTF-8 text: save it as UTF-8 first") from exc
    if "\0" in text:
        raise ValueError("holds a NUL byte, which no text has: take it out first")
    has_mark = text.startswith(_MARK)
    *ended, last = text.removeprefix(_MARK).split("\n")
    lines = [line.removesuffix(_WIDE) for line in ended]
    return NoteText((*lines, last), tuple(line.endswith(_WIDE) for line in ended), has_mark)


def encode_note(before: NoteText, text: str) -> bytes:
    """Return the bytes of a note with a new text.

    Unchanged and changed lines keep their line end; new lines end as most others do. Raises ValueError for a text that
    UTF-8 cannot encode.
    """
    lines = lines_of(text)
    ends = _ends(before, lines)
    content = "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
    return ((_MARK if before.has_mark else "") + content).encode("utf-8")


def _ends(before: NoteText, lines: Sequence[str]) -> list[str]:
    """Return the line ends of all lines but the last."""
    wide = [2 * sum(before.is_wide) > len(before.is_wide)] * len(lines)
    old = new = 0
    for begin, after, count in [*equal_runs(before.lines, lines), (len(before.lines), len(lines), 0)]:
        # if as many lines replace others, each gets the line end of the line it replaces
        first = old if begin - old == after - new else begin
        known = before.is_wide[first : begin + count]
        wide[after - (begin - first) : after - (begin - first) + len(known)] = known
        old, new = begin + count, after + count
    return ["\r\n" if is_wide_line else "\n" for is_wide_line in wide[: len(lines) - 1]]


def undo_in_text(text: str, path: RelativePath, hunks: Sequence[Hunk]) -> str:
    """Return a note without the lines that a change added, and with those it removed.

    Raises MovedOnError if their place is not certain, or if other lines would no longer state the same memories.
    """
    after = revert_hunks(text, hunks)
    if not holds_memories(path):
        return after
    places = hunk_places(text, hunks)
    rows, others, heads = text.split("\n"), Counter[RetainedLine](), Counter[str]()
    for placed in memory_sections(encode_padded(text), path).lines:
        if not any(_overlaps(placed, *at) for at in places):
            others[placed.line] += 1
            heads[rows[placed.start_line - 1]] += 1
        elif not any(begin < placed.start_line <= end for begin, end in places):
            # the change wrote only lines below the first: without them the memory says less, but remains
            head = rows[placed.start_line - 1]
            heads[head] += isinstance(parse_line(head.strip()), RetainedLine)
    stated, rows = memory_sections(encode_padded(after), path).lines, after.split("\n")
    missing = max(
        (others - Counter(placed.line for placed in stated)).total(),
        (heads - Counter(rows[placed.start_line - 1] for placed in stated)).total(),
    )
    if missing:
        raise UncertainPlaceError(
            f"without it {missing} {'memory that came' if missing == 1 else 'memories that came'} from elsewhere would "
            "not be read as such any more"
        )
    return after


def _overlaps(placed: PlacedLine, begin: int, end: int) -> bool:
    """Return whether a memory overlaps lines `begin` to before `end` (from 0), or spans that place if they are none."""
    first, last = placed.start_line - 1, placed.end_line
    return first < end and begin < last if begin < end else first < begin <= last
