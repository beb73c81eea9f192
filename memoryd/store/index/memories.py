"""The memories of an index: retained lines, and the pages of entities."""

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.kinds import MemoryId
from memoryd.store.connection import at_one_moment
from memoryd.store.database_file import Table, reads


class FileVersion(NamedTuple):
    """One state of an indexed file: while it is equal, the index holds the same chunks of it."""

    id: int
    path: RelativePath
    sha256: bytes
    chunker: str
    read_at_ns: int
    mtime_ns: int
    flags: str


class MemoryLine(NamedTuple):
    """A retained line as the index holds it: `text` is an exact slice of its file, lines from 1, both inclusive."""

    chunk: int
    memory: MemoryId
    start_line: int
    end_line: int
    text: str


class MemoryFiles(Struct, frozen=True):
    """All files that state memories or are pages of entities, as of one moment, and what some of them say."""

    versions: tuple[FileVersion, ...]
    lines: Mapping[int, tuple[MemoryLine, ...]]
    """By the ids of those files that were asked for, in the order of their lines."""
    pages: tuple[EntityPage, ...]
    """All there are, in the order of their paths."""


class MemoryCounts(Struct, frozen=True):
    """How many memories the index holds, by how many lines they are stated, and how many entities have a page."""

    memories: int = 0
    lines: int = 0
    pages: int = 0


_SCOPED = "SELECT chunk_id, scope FROM scoped_chunks"
_COUNT_OF_FILE = "UPDATE files SET memories = ?1 WHERE id = ?2 AND memories <> ?1"
_DROP_PAGE = "DELETE FROM entity_pages WHERE file_id = ?"
_PUT_PAGE = "INSERT INTO entity_pages (file_id, name, aliases) VALUES (?, ?, ?)"
_VERSIONS = "SELECT id, path, sha256, chunker, read_at_ns, mtime_ns, flags FROM files WHERE memories > 0 ORDER BY id"
_LINES = """
SELECT c.id, m.memory, c.start_line, c.end_line, c.text
FROM chunks c JOIN memory_chunks m ON m.chunk_id = c.id WHERE c.file_id = ? ORDER BY c.ordinal
"""
_PAGES = "SELECT f.path, p.name, p.aliases FROM entity_pages p JOIN files f ON f.id = p.file_id ORDER BY f.path"
_COUNTS = """
SELECT (SELECT count(DISTINCT memory) FROM memory_chunks), (SELECT count(*) FROM memory_chunks),
       (SELECT count(*) FROM entity_pages)
"""


def put_memories(db: apsw.Connection, file: int, memories: int, page: EntityPage | None) -> None:
    """Note how many chunks of a file state a memory, and whose page it is."""
    db.execute(_COUNT_OF_FILE, (memories, file))
    db.execute(_DROP_PAGE, (file,))
    if page is not None:
        db.execute(_PUT_PAGE, (file, page.name, json.dumps(page.aliases, ensure_ascii=False)))


class MemoryTable(Table):
    """Which documents state memories, by which lines, and which are pages of entities."""

    @reads
    def files(self, db: apsw.Connection, known: Collection[FileVersion] = ()) -> MemoryFiles:
        """Return all files that state memories, with the lines of those whose version is not among the `known`."""
        # one moment of the index: lines of another version would be told of this one
        with at_one_moment(db):
            versions = tuple(FileVersion._make(row) for row in db.execute(_VERSIONS))
            fresh = (one.id for one in versions if one not in known)
            lines = {file: tuple(MemoryLine._make(row) for row in db.execute(_LINES, (file,))) for file in fresh}
            pages = tuple(EntityPage(path, name, tuple(json.loads(names))) for path, name, names in db.execute(_PAGES))
        return MemoryFiles(versions, lines, pages)

    @reads
    def scoped(self, db: apsw.Connection) -> Mapping[int, str]:
        """Return the chunks that stand under a scope and state no memory, with it."""
        return dict(db.execute(_SCOPED))

    @reads
    def counts(self, db: apsw.Connection) -> MemoryCounts:
        """Count memories, the lines that state them, and pages of entities."""
        return MemoryCounts(*db.execute(_COUNTS).get)
