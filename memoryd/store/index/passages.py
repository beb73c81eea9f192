"""Rows of chunks and of passages, and of those passages that have no vector yet, or were refused one."""

from typing import NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.memories.entries import ChunkEntry
from memoryd.domain.syncplan import Known
from memoryd.domain.text.languages import language_of
from memoryd.store.connection import insert_rows
from memoryd.store.index.stems import ChunkText, insert_words


class ChunkRow(Struct, frozen=True):
    """A chunk with the document it is cut from."""

    id: int
    path: RelativePath
    """As it is told: that of the conversation where it is of a part of one."""
    source: Source
    start_line: int
    end_line: int
    heading: str
    """All headings that it stands under, as `Travel > Lisbon`, its own included."""
    text: str
    mtime_ns: int = 0
    """When its document was changed."""
    known: Known | None = None
    """What its document was when this was read of it; None: nobody kept that."""
    chunker: str | None = None
    """By which rules that was cut, and found to be public; None: by those of today."""
    flags: str = ""
    """The marks of its document: how it was read, and whether it says that it holds."""


class PassageRow(NamedTuple):
    """A passage of a chunk: a span of its text in characters, `stop` excluded, and the hash of what stands there."""

    chunk: int
    hash: bytes
    start: int
    stop: int


class Counts(Struct, frozen=True):
    """How much the index holds."""

    files: int = 0
    chunks: int = 0
    passages: int = 0
    vectors: int = 0
    bytes: int = 0


class PendingFile(Struct, frozen=True):
    """A picture or sound as the index has it: where it lies, and the SHA-256 and number of its bytes."""

    path: RelativePath
    sha256: bytes
    size: int


class PendingPassage(Struct, frozen=True):
    """A text without a vector in a space, named by its hash; or a whole `file`, of which the text says the name."""

    hash: bytes
    title: str
    text: str
    file: PendingFile | None = None

    @property
    def language(self) -> str:
        """As `language_of` has it; of a file nobody knows."""
        return "" if self.file else language_of(self.text)


class RejectedPassage(Struct, frozen=True):
    """A passage that gets no vector: the lines of its chunk, or a whole picture or sound, and why."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str


# no number a second time: SQLite would give the highest one anew once its row is gone
_LAST_CHUNK = "SELECT max((SELECT ifnull(max(id), 0) FROM chunks), (SELECT id FROM last_chunk))"
_INSERT_CHUNKS = "INSERT INTO chunks (id, file_id, ordinal, start_line, end_line, heading, text, hash)"
_INSERT_PASSAGES = "INSERT INTO passages (chunk_id, start, stop, hash)"
_INSERT_MEMORIES = "INSERT INTO memory_chunks (chunk_id, memory)"
_INSERT_SCOPES = "INSERT INTO scoped_chunks (chunk_id, scope)"
_CHUNKS_AT_ONCE = 256
"""So many are held until they are written; a large note has many times as many."""


class FreshChunks:
    """The chunks that a transaction adds; the last ones are in the index once `write` was called."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._last: int = db.execute(_LAST_CHUNK).get
        self._held: list[tuple[int, RelativePath, int, int, ChunkEntry]] = []

    def add(self, path: RelativePath, file: int, ordinal: int, entry: ChunkEntry) -> None:
        """Add the chunk of this number in its document, whose row is there."""
        self._last += 1
        self._held.append((self._last, path, file, ordinal, entry))
        if len(self._held) == _CHUNKS_AT_ONCE:
            self.write()

    def write(self) -> None:
        """Write what is held, the words last: FTS5 writes out what it has, and merges, where others go or are read."""
        db, held = self._db, [(chunk, entry) for chunk, _, _, _, entry in self._held]
        rows = [
            (chunk, file, ordinal, one.start_line, one.end_line, one.heading, one.text, one.hash)
            for chunk, _, file, ordinal, one in self._held
        ]
        insert_rows(db, _INSERT_CHUNKS, rows)
        spans = [(chunk, one.start, one.stop, one.hash) for chunk, entry in held for one in entry.passages]
        insert_rows(db, _INSERT_PASSAGES, spans)
        insert_rows(db, _INSERT_MEMORIES, [(chunk, entry.memory) for chunk, entry in held if entry.memory])
        insert_rows(db, _INSERT_SCOPES, [(chunk, entry.scope) for chunk, entry in held if entry.scope])
        insert_words(db, [ChunkText(chunk, one.heading, one.text, path) for chunk, path, _, _, one in self._held])
        self._held.clear()
