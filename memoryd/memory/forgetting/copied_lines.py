"""What no line states any more, and still stands in the lines that changes keep so that they can be undone."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, MemorySource, book_of
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import holds_memories, memory_sections
from memoryd.domain.text.lines import padded
from memoryd.store.ledger.changes import ChangeRow

NOWHERE: Final = 0
"""The line of a source that stands in no note."""
_ANY_LOG: Final = RelativePath("memory/2000-01-01.md")


def copied(rows: Iterable[ChangeRow]) -> Book:
    """Return the memories that the kept lines of changes state; their sources are on no line of a note."""
    return book_of(
        MemorySource(row.path, NOWHERE, NOWHERE, line, datetime.fromtimestamp(row.at, UTC).date(), None, row.id)
        for row in rows
        for line in _stated(row)
    )


def _stated(row: ChangeRow) -> Iterator[RetainedLine]:
    path = row.path if holds_memories(row.path) else _ANY_LOG
    for hunk in row.hunks or ():
        for lines in (hunk.removed, hunk.added):
            text = "\n".join(("## Retain", *hunk.above, "## Retain", *lines, *hunk.below, ""))
            yield from (one.line for one in memory_sections(padded(text), path).lines)
