"""A long conversation as documents: the parts in which it is indexed, and the Markdown of an exported transcript.

Lines are arithmetic: line n of a conversation is line n of its parts, and an empty line where no one speaks. A part
begins and ends with a spoken line, so that a long silent stretch has no text. Only the last part grows.

An export has `# Session <id>` first, then line n of the transcript as line n + 1, and our mark last, so that places in
one are places in the other by counting alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.memories.times.grammar import only_asks
from memoryd.domain.ranking.snippets import ASKED, exchange, line_table, split_lines, squeezed

PART_CHARS = 16_384
"""A part of so much text is closed: what is written anew when a conversation grows stays small."""
PART_SPOKEN = 100
"""So are so many lines that say something: 50 turns."""
MAX_GAP = 100
"""So many lines that say nothing end a part: what stands behind them begins another."""


class ConversationLine(Struct, frozen=True):
    """What somebody said, in one line: its number in the conversation, from 1, and when, in ns.

    0 is no time: that of the line before holds.
    """

    number: int
    text: str
    at_ns: int = 0


class ConversationPart(Struct, frozen=True):
    """A stretch of a conversation, its lines joined by line ends; `last_ns` is the time of its last message."""

    first_line: int
    text: str
    spoken: int = 1
    last_ns: int = 0

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")

    @property
    def is_closed(self) -> bool:
        """Whether it is large enough; what is said next begins another one."""
        return len(self.text) >= PART_CHARS or self.spoken >= PART_SPOKEN


def grown(part: ConversationPart | None, lines: Iterable[ConversationLine]) -> Sequence[ConversationPart]:
    """Return what these lines make of the last part of a conversation: it, if it has grown, and those behind it.

    Raises ValueError for lines that do not follow in order.
    """
    parts: list[ConversationPart] = []
    for line in lines:
        last = parts[-1] if parts else part
        if last is not None and line.number <= last.last_line:
            raise ValueError(f"line {line.number} stands behind line {last.last_line}")
        last_ns = line.at_ns or (0 if last is None else last.last_ns)
        if last is None or last.is_closed or line.number - last.last_line > MAX_GAP:
            parts.append(ConversationPart(line.number, line.text, last_ns=last_ns))
        else:
            # in place of what it was; the one that was handed in is put first
            text = last.text + "\n" * (line.number - last.last_line) + line.text
            parts[-1:] = [ConversationPart(last.first_line, text, last.spoken + 1, last_ns)]
    return parts


def through_next(lines: Iterable[tuple[int, str]], wanted: range) -> dict[int, str]:
    """Return the lines of a range by number, and the next one behind it, by which one knows that there is more."""
    texts: dict[int, str] = {}
    for number, text in lines:
        if number >= wanted.start:
            texts[number] = text
        if number >= wanted.stop:
            break
    return texts


def answered_share(text: str, weights: Mapping[str, float]) -> float:
    """Return how much of what a part holds of a question was told and not only asked, and answered by nobody: 0 to 1.

    `weights` say how telling each term of the question is.
    """
    said = squeezed(text).text
    lines = split_lines(said)
    is_told = [
        not (line.startswith(ASKED) and exchange(lines, at) == (at, at) and only_asks(line.removeprefix(ASKED)))
        for at, line in enumerate(lines)
    ]
    if all(is_told):
        return 1.0
    all_terms: dict[str, float] = {}
    told_terms: dict[str, float] = {}
    for held, is_shown in zip(line_table(said, weights, ()).weights, is_told, strict=True):
        all_terms |= held
        told_terms |= held if is_shown else {}
    return sum(told_terms.values()) / sum(all_terms.values()) if all_terms else float(any(is_told))


SUFFIX = ".session.md"
"""Alone read by qmd, so that what a stranger puts beside exports is not."""
HEADING = "# Session "
HEADING_LINES = 1
MARK = "<!-- ⁂ -->"
"""What tells our file from a stranger's. It holds no letter, so that no question finds it."""
MARK_LINE = f"{MARK}\n".encode()

_SAFE = expression(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\Z")
_UNSAFE = expression(r"[^A-Za-z0-9_-]+")
_STEM_CHARS, _DIGEST = 80, 16
_SEPARATOR = "~"
"""Stands in no name that is used as it is."""
_HEADING_CHARS = 200


def export_name(transcript: str) -> str:
    """Return the name of the export of a transcript, by the name of its file: safe everywhere, another for another.

    Names that differ in capitals alone, or that qmd or a file system would not take, are told apart by a hash.
    """
    stem = transcript.removesuffix(".jsonl")
    if stem == transcript or not _SAFE.match(stem) or stem != stem.lower():
        slug = _UNSAFE.sub("-", stem).strip("-_")[:_STEM_CHARS].strip("-_").lower()
        digest = sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
        stem = f"{slug}{_SEPARATOR}{digest}"
    return stem + SUFFIX


def heading(transcript: str) -> str:
    """Return the first line of an export, without its end."""
    name = transcript.removesuffix(".jsonl").encode("utf-8", "replace").decode()
    printable = "".join(character if character.isprintable() else "?" for character in name)
    return f"{HEADING}{' '.join(printable.split())[:_HEADING_CHARS]}"


def is_export(first_line: bytes, end: bytes) -> bool:
    """Tell whether a file that begins with this line and ends in these bytes is an export of ours."""
    return first_line.startswith(HEADING.encode()) and end.endswith(b"\n" + MARK_LINE)


def export_lines(spoken: Iterable[tuple[int, str]], *, after: int) -> Iterator[str]:
    """Yield the lines behind the first `after` of a transcript, each with its end, up to the last that is spoken.

    `spoken` has number and text of those that say something, in order.
    """
    number = after
    for at, text in spoken:
        yield "\n" * (at - number - 1)
        yield f"{text}\n"
        number = at
