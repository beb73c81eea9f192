"""The places where what is forgotten may stand, as seams: the notes' indexes, and what was said."""

from collections.abc import Sequence
from typing import Final, Protocol

from memoryd.domain.citations import Citation
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.domain.text.words import MAX_PHRASE_WORDS, phrase_words
from memoryd.errors import StoreError
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow

MOST_FOUND: Final = 200
"""Places of one text that are told."""


class SaidPlaces(Protocol):
    """What was said to the agents of a workspace, and what is indexed of it."""

    async def find(self, said: SaidWords) -> tuple[Sequence[str], Sequence[str]]:
        """Return the turns of sessions and the transcripts in which words stand; raises StoreError, NotNow."""
        ...

    async def cut(self, said: SaidWords) -> Sequence[str]:
        """Take the words out of turns and indexes, and return which turns; raises StoreError, Denied, NotNow."""
        ...


class IndexPlaces(Protocol):
    """The indexes of notes: each has all that its files said until the last look."""

    async def follow(self) -> str:
        """Have all of them follow the disk now; return why one cannot, empty if all did."""
        ...

    async def drop_remains(self) -> str:
        """Rewrite what was only marked as deleted, and cut the logs; return why that cannot be, empty if it was."""
        ...

    async def chunks_with(self, said: SaidWords) -> Sequence[ChunkRow]:
        """Return the chunks of the workspace's own index in which the words stand; raises StoreError."""
        ...

    def generated_pages(self) -> Sequence[RelativePath]:
        """Return the documents into which reflect may have written."""
        ...


async def chunks_with(database: Database, said: SaidWords) -> list[ChunkRow]:
    """Return the chunks of an index in which the words stand; raises StoreError."""
    phrase = tuple(phrase_words(said.text)[:MAX_PHRASE_WORDS])
    ids = await database.words.with_phrase(phrase, MOST_FOUND)
    rows = await database.documents.chunks(ids)
    return [row for row in rows.values() if said.stand_in(row.text)]


async def purge_remains(database: Database) -> str:
    """Rewrite what of an index was only marked as deleted, and cut its log; return why that cannot be, or nothing."""
    if not database.is_open:
        return ""
    try:
        await database.documents.drop_remains()
        await database.checkpoint()
    except StoreError as exc:
        return str(exc)
    return ""


def lines_with(row: ChunkRow, said: SaidWords) -> list[Citation]:
    """Return the lines of a chunk in which the words stand; all of it where they run over several."""
    lines = row.text.split("\n")
    found = [row.start_line + at for at, line in enumerate(lines) if said.stand_in(line)]
    if not found:
        return [Citation(row.path, row.start_line, row.end_line)]
    return [Citation(row.path, line, line) for line in found]
