"""The text of a note apart from its bytes, so that an edit leaves every other byte, and one change of it undone.

A change is only undone where that costs no memory that the change did not write.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Hunk, MovedOnError, lines_of, matched, places_of, taken_back
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import PlacedLine, holds_memories, memory_sections
from memoryd.domain.text.lines import padded

_MARK = "\ufeff"
_WIDE = "\r"


class NoteText(Struct, frozen=True):
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


EMPTY = NoteText()


def read_note(data: bytes) -> NoteText:
    """Return the text of a file; raises ValueError that says why it is none."""
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
    wide = [2 * sum(before.is_wide) > len(before.is_wide)] * len(lines)
    old = new = 0
    for begin, after, count in [*matched(before.lines, lines), (len(before.lines), len(lines), 0)]:
        # as many lines as before stand where others stood: each keeps the end of the one that it replaces
        first = old if begin - old == after - new else begin
        known = before.is_wide[first : begin + count]
        wide[after - (begin - first) : after - (begin - first) + len(known)] = known
        old, new = begin + count, after + count
    return ["\r\n" if one else "\n" for one in wide[: len(lines) - 1]]


def undone_text(text: str, path: RelativePath, hunks: Sequence[Hunk]) -> str:
    """Return a note without what a change wrote, and with what it took out.

    Raises MovedOnError where that does not stand unmistakably, or where other lines would not state any more what they
    state now.
    """
    after = taken_back(text, hunks)
    if not holds_memories(path):
        return after
    places = places_of(text, hunks)
    rows, others, heads = text.split("\n"), Counter[RetainedLine](), Counter[str]()
    for one in memory_sections(padded(text), path).lines:
        if not any(_touches(one, *at) for at in places):
            others[one.line] += 1
            heads[rows[one.start_line - 1]] += 1
        elif not any(begin < one.start_line <= end for begin, end in places):
            # the change wrote only lines below its first: without them it says less, and is still there
            head = rows[one.start_line - 1]
            heads[head] += isinstance(parse_line(head.strip()), RetainedLine)
    stated, rows = memory_sections(padded(after), path).lines, after.split("\n")
    lost = max(
        (others - Counter(one.line for one in stated)).total(),
        (heads - Counter(rows[one.start_line - 1] for one in stated)).total(),
    )
    if lost:
        raise MovedOnError(
            f"without it {lost} {'memory that came' if lost == 1 else 'memories that came'} from elsewhere would "
            "not be read as such any more"
        )
    return after


def _touches(one: PlacedLine, begin: int, end: int) -> bool:
    """Tell whether a memory has lines from `begin` to before `end`, from 0; on both sides if they are none."""
    first, last = one.start_line - 1, one.end_line
    return first < end and begin < last if begin < end else first < begin <= last
