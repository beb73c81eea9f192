"""Rows of chunks and passages, and of passages without a vector: pending or rejected ones."""

from typing import NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.memories.entries import ChunkEntry
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.languages import language_of
from memoryd.store.connection import insert_rows
from memoryd.store.index.stems import ChunkText, insert_words


class ChunkRow(Struct, frozen=True):
    """A chunk with its document."""

    id: int
    path: RelativePath
    """The path to show: for a part of a conversation, that of the conversation."""
    source: Source
    start_line: int
    end_line: int
    heading: str
    """All headings above it, as `Travel > Lisbon`, including its own."""
    text: str
    mtime_ns: int = 0
    """When its document was modified."""
    known: IndexedFile | None = None
    """The state of its document when the chunk was read; None if it is not stored."""
    chunker: str | None = None
    """The rules by which its document was cut, and found to be public; None: the current ones."""
    flags: str = ""
    """The flags of its document: how it was read, and whether it says it is still valid."""


class PassageRow(NamedTuple):
    """A passage of a chunk: a span of its text in characters, `stop` excluded, and the hash of the span."""

    chunk: int
    hash: bytes
    start: int
    stop: int


class Counts(Struct, frozen=True):
    """Sizes of the index."""

    files: int = 0
    chunks: int = 0
    passages: int = 0
    vectors: int = 0
    bytes: int = 0


class PendingFile(Struct, frozen=True):
    """An indexed picture or sound: its path, and the SHA-256 and size of its bytes."""

    path: RelativePath
    sha256: bytes
    size: int


class PendingPassage(Struct, frozen=True):
    """A text without a vector in a space, identified by its hash; or a complete `file`, whose name is the text."""

    hash: bytes
    title: str
    text: str
    file: PendingFile | None = None

    @property
    def language(self) -> str:
        """The language according to `language_of`; empty for a file."""
        return "" if self.file else language_of(self.text)


class RejectedPassage(Struct, frozen=True):
    """A passage that gets no vector, and why: the lines of its chunk, or a complete picture or sound."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str


# ids are never reused: SQLite alone would reuse the highest id once its row is deleted
_LAST_CHUNK = "SELECT max((SELECT ifnull(max(id), 0) FROM chunks), (SELECT id FROM last_chunk))"
_CHUNKS_PER_WRITE = 256
"""Number of chunks buffered before they are written; a large note has many times as many."""


class FreshChunks:
    """Writes the chunks that a transaction adds; call `write` at the end for the last ones."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._last: int = db.execute(_LAST_CHUNK).get
        self._buffered: list[tuple[int, RelativePath, int, int, ChunkEntry]] = []

    def add(self, path: RelativePath, file: int, ordinal: int, entry: ChunkEntry) -> None:
        """Add a chunk with its ordinal in its document, whose row must exist."""
        self._last += 1
        self._buffered.append((self._last, path, file, ordinal, entry))
        if len(self._buffered) == _CHUNKS_PER_WRITE:
            self.write()

    def write(self) -> None:
        """Write the buffered chunks, words last: FTS5 flushes and merges when it deletes or is read in between."""
        db, chunks = self._db, [(chunk, entry) for chunk, _, _, _, entry in self._buffered]
        rows = [
            (chunk, file, ordinal, entry.start_line, entry.end_line, entry.heading, entry.text, entry.hash)
            for chunk, _, file, ordinal, entry in self._buffered
        ]
        insert_rows(db, "INSERT INTO chunks (id, file_id, ordinal, start_line, end_line, heading, text, hash)", rows)
        passages = [(chunk, span.start, span.stop, span.hash) for chunk, entry in chunks for span in entry.passages]
        insert_rows(db, "INSERT INTO passages (chunk_id, start, stop, hash)", passages)
        insert_rows(
            db,
            "INSERT INTO memory_chunks (chunk_id, memory)",
            [(chunk, entry.memory) for chunk, entry in chunks if entry.memory],
        )
        insert_rows(
            db,
            "INSERT INTO scoped_chunks (chunk_id, scope)",
            [(chunk, entry.scope) for chunk, entry in chunks if entry.scope],
        )
        texts = [ChunkText(chunk, entry.heading, entry.text, path) for chunk, path, _, _, entry in self._buffered]
        insert_words(db, texts)
        self._buffered.clear()
