"""Take what is forgotten out of the text of a note: lines that state it, and what reflect made of them."""

from collections.abc import Collection, Iterator, Sequence, Set
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.attributes import Provenance
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.retained import RetainedLine
from memoryd.domain.memories.said_words import SaidWords
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.memories.traces import Traces
from memoryd.domain.text.lines import padded

ENTITY_PAGES: Final = "bank/entities/"
OF_SESSION: Final = "session:"
"""What the tag begins with that memories made of a session have."""
_ANY_LOG: Final = RelativePath("memory/2000-01-01.md")
_ANY_HEAD: Final = "## Retain\n"
ByteRange = tuple[int, int]
"""Bytes of a document, end exclusive."""


def without_memories(text: str, path: RelativePath, memories: Set[MemoryId], traces: Traces) -> str | None:
    """Return a note without the lines that state these memories, None if it has none of them.

    Of what reflect wrote between its markers the lines with traces of them go, with what is indented below them.
    """
    data = padded(text)
    sections = memory_sections(data, path)
    stated = [(one.start, one.end) for one in sections.lines if one.line.id in memories]
    made = [span for place in sections.generated for span in _generated(data, place, traces)]
    return _without(data, [*stated, *made], len(text.encode("utf-8", "surrogatepass")))


def without_lines(text: str, first: int, lines: Sequence[str]) -> str | None:
    """Return a note without these lines, which began on line `first` (from 1); None if they are not found.

    Somebody may have edited above them: then they are taken out where they stand once, and only there.
    """
    now = text.split("\n")
    count = len(lines)
    places = [at for at in range(len(now) - count + 1) if count and now[at : at + count] == list(lines)]
    at = first - 1 if first - 1 in places else places[0] if len(places) == 1 else None
    return None if at is None else "\n".join([*now[:at], *now[at + count :]])


def without_words(text: str, said: Collection[SaidWords]) -> str | None:
    """Return a note with `[forgotten]` where the words stood, None if they stand nowhere in it."""
    cut = text
    for words in said:
        cut = words.cut_from(cut)
    return cut if cut != text else None


def telling_sessions(book: Book, said: Collection[SaidWords]) -> list[Memory]:
    """Return the memories that were made of sessions, their ends and summaries, in which the words stand."""
    return [
        memory
        for memory in book.memories.values()
        if is_of_session(memory.line) and any(words.stand_in(memory.line.text) for words in said)
    ]


def without_words_of(text: str, path: RelativePath, ids: Set[MemoryId], said: Collection[SaidWords]) -> str | None:
    """Return a note with `[forgotten]` where the words stood in lines of these memories, None if they do in none."""
    data = padded(text)
    size = len(text.encode("utf-8", "surrogatepass"))
    spans = [(one.start, min(one.end, size)) for one in memory_sections(data, path).lines if one.line.id in ids]
    pieces, at = list[bytes](), 0
    for start, end in sorted(spans):
        line = data[start:end].decode("utf-8", "surrogatepass")
        cut = without_words(line, said)
        pieces += [data[at:start], (line if cut is None else cut).encode("utf-8", "surrogatepass")]
        at = end
    left = b"".join([*pieces, data[at:size]]).decode("utf-8", "surrogatepass")
    return left if left != text else None


def told_without(said: Collection[SaidWords], line: str) -> str:
    """Return the end or a summary of a session with `[forgotten]` where the words stood, any other line as it is."""
    if not any(words.stand_in(line) for words in said):
        return line
    placed = memory_sections(padded(f"{_ANY_HEAD}{line}\n"), _ANY_LOG).lines
    if not any(is_of_session(one.line) for one in placed):
        return line
    return without_words(line, said) or line


def is_of_session(line: RetainedLine) -> bool:
    """Tell whether a line is the end or a summary of a session, which memoryd wrote itself."""
    attributes = line.attributes
    is_made = attributes.provenance is Provenance.AGENT and any(tag.startswith(OF_SESSION) for tag in attributes.tags)
    return is_made and line.kind in (Kind.SESSION, Kind.SUMMARY)


def without_page(text: str, path: RelativePath) -> str:
    """Return nothing for the page of an entity that has no entry any more and no word of a person, else the text.

    The name of an entity, of which nothing is remembered, would stay as its heading.
    """
    data = padded(text)
    generated = memory_sections(data, path).generated
    if not path.startswith(ENTITY_PAGES) or not generated or any(b"](" in data[start:end] for start, end in generated):
        return text
    rest, at = [], 0
    for start, end in generated:
        rest.append(data[at:start])
        at = end
    lines = b"".join([*rest, data[at:]]).decode("utf-8", "surrogatepass").split("\n")
    said = [line for line in lines if line.strip()]
    return "" if len(said) <= 1 and all(line.startswith("# ") for line in said) else text


def _generated(data: bytes, place: ByteRange, traces: Traces) -> Iterator[ByteRange]:
    """Yield the lines between markers that have traces, and those that are indented below such a one."""
    at, end = place
    below = -1
    while at < end:
        stop = min(data.index(b"\n", at) + 1, end)
        line = data[at:stop].decode("utf-8", "surrogatepass")
        depth = len(line) - len(line.lstrip(" \t"))
        if line.strip() not in (BEGIN, END):
            if traces.are_named_in(line) or any(words.stand_in(line) for words in traces.said):
                below = depth
                yield at, stop
            elif 0 <= below < depth and line.strip():
                yield at, stop
            else:
                below = -1
        at = stop


def _without(data: bytes, spans: Sequence[ByteRange], size: int) -> str | None:
    if not spans:
        return None
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces.append(data[at:start])
        at = end
    return b"".join([*pieces, data[at:size]]).decode("utf-8", "surrogatepass")
