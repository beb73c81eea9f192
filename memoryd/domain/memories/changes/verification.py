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
    line = citation.start_line or 1
    on_lines = book.sources_on(citation.path, line, citation.end_line or citation.start_line or 2**31)
    # what the mark names comes before others
    first = min(on_lines, key=lambda one: (short_id(one[0].id) != citation.mark, one[1].start_line), default=None)
    memory, now = (first[0], cite(first[1])) if first else (None, None)
    marked = [one for one in book.memories.values() if short_id(one.id) == citation.mark]
    if memory is not None and memory in marked:
        return CitationCheck(CitedState.VERIFIED, now, memory)
    if marked:
        nearest = min(marked[0].sources, key=lambda one: (one.path != citation.path, abs(one.start_line - line)))
        return CitationCheck(CitedState.MOVED, cite(nearest), marked[0])
    if total_lines is None or line > total_lines:
        return CitationCheck(CitedState.GONE)
    state, note = (CitedState.EDITED, MAYBE_GONE) if citation.mark else (CitedState.VERIFIED, NO_MARK)
    return CitationCheck(state, now, memory, note)


def cite(source: MemorySource) -> Citation:
    """Return the citation of a line with its mark."""
    return Citation(source.path, source.start_line, source.end_line, short_id(source.line.id))
