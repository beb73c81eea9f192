"""Whether what a citation points at still stands there: by the mark of a memory, or by the lines alone."""

from enum import StrEnum

from msgspec import Struct

from memoryd.domain.citations import Citation
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.kinds import short_id


class CitedState(StrEnum):
    """What became of cited lines."""

    VERIFIED = "verified"
    """They say what they said; without a mark, there are such lines."""
    MOVED = "moved"
    """The memory stands elsewhere."""
    EDITED = "edited"
    """Another memory, or none, stands on these lines, and the one that was cited nowhere."""
    GONE = "gone"
    """There are no such lines."""


class CitationCheck(Struct, frozen=True):
    """What became of a citation; `now` is where the memory stands, or what stands on the lines."""

    state: CitedState
    now: Citation | None = None
    memory: Memory | None = None
    note: str = ""


MAYBE_GONE = "what was cited stands nowhere: it was edited, or taken out and something else moved up"
NO_MARK = "the citation has no mark, so that nothing says what stood there"


def verified(book: Book, citation: Citation, total_lines: int | None) -> CitationCheck:
    """Hold a citation against the memories of now; `total_lines` are those of its document, None if it is gone."""
    on_line = _on_lines(book, citation)
    if not citation.mark:
        if total_lines is None or (citation.start_line or 1) > total_lines:
            return CitationCheck(CitedState.GONE)
        return CitationCheck(CitedState.VERIFIED, cite(on_line[1]) if on_line else None, _first(on_line), NO_MARK)
    meant = [memory for memory in book.memories.values() if short_id(memory.id) == citation.mark]
    if on_line is not None and on_line[0] in meant:
        return CitationCheck(CitedState.VERIFIED, cite(on_line[1]), on_line[0])
    if meant:
        line = citation.start_line or 1
        nearest = min(meant[0].sources, key=lambda one: (one.path != citation.path, abs(one.start_line - line)))
        return CitationCheck(CitedState.MOVED, cite(nearest), meant[0])
    if total_lines is None or (citation.start_line or 1) > total_lines:
        return CitationCheck(CitedState.GONE)
    return CitationCheck(CitedState.EDITED, cite(on_line[1]) if on_line else None, _first(on_line), MAYBE_GONE)


def cite(source: MemorySource) -> Citation:
    """Return the citation of a line with its mark."""
    return Citation(source.path, source.start_line, source.end_line, short_id(source.line.id))


def _first(found: tuple[Memory, MemorySource] | None) -> Memory | None:
    return None if found is None else found[0]


def _on_lines(book: Book, citation: Citation) -> tuple[Memory, MemorySource] | None:
    """Return what stands on the lines, that which is marked before others."""
    first, last = citation.start_line or 1, citation.end_line or citation.start_line or 2**31
    found = [
        (memory, source)
        for memory in book.memories.values()
        for source in memory.sources
        if source.path == citation.path and source.start_line <= last and source.end_line >= first
    ]
    return min(found, key=lambda one: (short_id(one[0].id) != citation.mark, one[1].start_line), default=None)
