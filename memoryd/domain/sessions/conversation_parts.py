"""A long conversation as documents: the parts in which it is indexed, and the Markdown of an exported transcript.

Line numbers are preserved: line n of a conversation is line n of its parts, and is empty if no one speaks in it. A part
begins and ends with a spoken line, so a long silent stretch takes no text. Only the last part grows.

An export has `# Session <id>` as its first line, line n of the transcript as line n + 1, and a marker as its last line.
A line number in the export is therefore the line number in the transcript plus 1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.memories.times.grammar import only_asks
from memoryd.domain.ranking.snippets import QUESTION_PREFIX, exchange_lines, line_table, remove_blank_lines, split_lines

PART_CHARS = 16_384
"""Characters at which a part is closed. This bounds what is rewritten when a conversation grows."""
PART_SPOKEN = 100
"""Spoken lines at which a part is closed: 50 turns."""
MAX_GAP = 100
"""Most lines between two spoken lines of a part; after a longer gap the next spoken line begins a new part."""


class ConversationLine(Struct, frozen=True):
    """A spoken line: its number in the conversation, from 1, its text and its time in ns.

    A time of 0 is unknown; the time of the previous line applies.
    """

    number: int
    text: str
    at_ns: int = 0


class ConversationPart(Struct, frozen=True):
    """A stretch of a conversation: its lines joined by newlines, and the time of its last message in ns."""

    first_line: int
    text: str
    spoken: int = 1
    last_ns: int = 0

    @property
    def last_line(self) -> int:
        return self.first_line + self.text.count("\n")

    @property
    def is_closed(self) -> bool:
        """Whether the part is full, so that the next spoken line begins a new part."""
        return len(self.text) >= PART_CHARS or self.spoken >= PART_SPOKEN


def appended_parts(part: ConversationPart | None, lines: Iterable[ConversationLine]) -> Sequence[ConversationPart]:
    """Append lines to the last part of a conversation. Return that part, if it has grown, and the parts after it.

    Raises ValueError if the line numbers do not increase.
    """
    parts: list[ConversationPart] = []
    for line in lines:
        last = parts[-1] if parts else part
        if last is not None and line.number <= last.last_line:
            raise ValueError(f"line {line.number} comes after line {last.last_line}")
        last_ns = line.at_ns or (0 if last is None else last.last_ns)
        if last is None or last.is_closed or line.number - last.last_line > MAX_GAP:
            parts.append(ConversationPart(line.number, line.text, last_ns=last_ns))
        else:
            # replaces the last part; the part that was passed in becomes the first of the list
            text = last.text + "\n" * (line.number - last.last_line) + line.text
            parts[-1:] = [ConversationPart(last.first_line, text, last.spoken + 1, last_ns)]
    return parts


def through_next(lines: Iterable[tuple[int, str]], wanted: range) -> dict[int, str]:
    """Return the lines of a range by number, plus the next line after it, which shows that there are more lines."""
    texts: dict[int, str] = {}
    for number, text in lines:
        if number >= wanted.start:
            texts[number] = text
        if number >= wanted.stop:
            break
    return texts


def answered_share(text: str, weights: Mapping[str, float]) -> float:
    """Return the share, 0 to 1, of a question's terms in a part that occur outside of unanswered questions.

    `weights` has the weight of each term of the question.
    """
    squeezed_text = remove_blank_lines(text).text
    lines = split_lines(squeezed_text)
    is_statement = [
        not (
            line.startswith(QUESTION_PREFIX)
            and exchange_lines(lines, at) == (at, at)
            and only_asks(line.removeprefix(QUESTION_PREFIX))
        )
        for at, line in enumerate(lines)
    ]
    if all(is_statement):
        return 1.0
    all_terms: dict[str, float] = {}
    stated_terms: dict[str, float] = {}
    for terms, is_stated in zip(line_table(squeezed_text, weights, ()).weights, is_statement, strict=True):
        all_terms |= terms
        stated_terms |= terms if is_stated else {}
    return sum(stated_terms.values()) / sum(all_terms.values()) if all_terms else float(any(is_statement))


SUFFIX = ".session.md"
"""Suffix of exports. qmd reads only these files, so files that others put beside the exports are ignored."""
HEADING = "# Session "
HEADING_LINES = 1
MARK = "<!-- ⁂ -->"
"""Last line of an export, by which our files are recognised. It has no letters, so no search finds it."""
MARK_LINE = f"{MARK}\n".encode()

_SAFE = expression(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\Z")
_UNSAFE = expression(r"[^A-Za-z0-9_-]+")
_STEM_CHARS, _DIGEST = 80, 16
_SEPARATOR = "~"
"""Separates the slug from the hash. It does not occur in names that are used unchanged."""
_HEADING_CHARS = 200


def export_name(transcript: str) -> str:
    """Return the file name of the export of a transcript: safe on every file system, and unique for each transcript.

    A name with capitals, or one that qmd or a file system would not accept, gets a hash, so that names stay distinct.
    """
    stem = transcript.removesuffix(".jsonl")
    if stem == transcript or not _SAFE.match(stem) or stem != stem.lower():
        slug = _UNSAFE.sub("-", stem).strip("-_")[:_STEM_CHARS].strip("-_").lower()
        digest = sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
        stem = f"{slug}{_SEPARATOR}{digest}"
    return stem + SUFFIX


def heading(transcript: str) -> str:
    """Return the first line of an export, without the newline."""
    name = transcript.removesuffix(".jsonl").encode("utf-8", "replace").decode()
    printable = "".join(character if character.isprintable() else "?" for character in name)
    return f"{HEADING}{' '.join(printable.split())[:_HEADING_CHARS]}"


def is_export(first_line: bytes, end: bytes) -> bool:
    """Return whether a file with this first line and these last bytes is one of our exports."""
    return first_line.startswith(HEADING.encode()) and end.endswith(b"\n" + MARK_LINE)


def export_lines(spoken: Iterable[tuple[int, str]], *, after: int) -> Iterator[str]:
    """Yield the text of the lines after line `after` of a transcript, with newlines, up to the last spoken line.

    `spoken` has the number and text of each spoken line, in order.
    """
    number = after
    for at, text in spoken:
        yield "\n" * (at - number - 1)
        yield f"{text}\n"
        number = at
