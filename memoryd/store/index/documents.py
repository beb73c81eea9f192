"""The documents of an index, each written as a unit, and its memories: retained lines, and entity pages."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, NamedTuple, Protocol

import apsw
from msgspec import Struct

from memoryd.domain.documents import CONFLICT_MARK, RelativePath, Source, conversation_path
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.entries import MEDIA_CHUNKER, ChunkEntry
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.note_status import without_status
from memoryd.domain.text.sanitizing import path_flags
from memoryd.store.connection import hex_array, in_snapshot, json_array
from memoryd.store.database_file import Table, file_stat_of, reads, stored_stat, writes
from memoryd.store.index.passages import ChunkRow, Counts, FreshChunks, PassageRow
from memoryd.store.index.schema import drop_deleted_words
from memoryd.store.index.stems import ChunkText, insert_words
from memoryd.store.index.vectors import IndexTable, drop_unused


class FileRow(Struct, frozen=True):
    """A document as it was read: path, stat, digest, and how it was cut."""

    path: RelativePath
    source: Source
    known: IndexedFile
    lines: int
    chunker: str
    flags: str = ""


class Indexed(Struct, frozen=True):
    """Result of a commit: number of chunks that were unchanged, added and removed."""

    unchanged: int
    added: int
    removed: int


class Entries(Protocol):
    """The chunks of a document in order; they may be stored outside memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[ChunkEntry]: ...


class FileContent(Struct, frozen=True):
    """The new content of a document in the index. `is_afresh`: all chunks are replaced, even equal ones."""

    row: FileRow
    chunks: Entries
    is_afresh: bool = False
    page: EntityPage | None = None


class Rename(Struct, frozen=True):
    """A new path for an indexed file, and its state; a stale file must be cut again.

    Its memories, and its entity page, are kept; if the new path requires other ones, the file is stale.
    """

    old: RelativePath
    new: RelativePath
    known: IndexedFile


_UPSERT_FILE = """
INSERT INTO files
    (path, source, device, inode, size, mtime_ns, ctime_ns, read_at_ns, sha256, lines, chunks, memories, chunker, flags)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
ON CONFLICT (path) DO UPDATE SET
    source = excluded.source, device = excluded.device, inode = excluded.inode, size = excluded.size,
    mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, read_at_ns = excluded.read_at_ns,
    sha256 = excluded.sha256, lines = excluded.lines, chunks = excluded.chunks, chunker = excluded.chunker,
    flags = excluded.flags
"""
_SELECT_KNOWN = """
SELECT path, device, inode, size, mtime_ns, ctime_ns, read_at_ns, sha256, chunker NOT IN (?, ?) FROM files
"""
_SELECT_FLAGGED = """
SELECT path, flags FROM files
WHERE flags <> '' OR path LIKE '%' || ? || '%' ORDER BY path
"""
_UPDATE_STAT = """
UPDATE files SET device = ?, inode = ?, size = ?, mtime_ns = ?, ctime_ns = ?, read_at_ns = ? WHERE path = ?
"""
_SELECT_PENDING = """
SELECT c.hash, m.memory, coalesce(s.scope, ''), c.id, c.ordinal, c.start_line, c.end_line
FROM chunks c LEFT JOIN memory_chunks m ON m.chunk_id = c.id LEFT JOIN scoped_chunks s ON s.chunk_id = c.id
WHERE c.file_id = ? ORDER BY c.ordinal
"""
_DELETE_WORDS = "DELETE FROM chunk_words WHERE rowid IN (SELECT value FROM json_each(?))"
# the spaces are listed so that the (space_id, hash) index is used
_NOTE_LAST_USE = """
UPDATE vectors SET used_at = unixepoch('subsec') WHERE space_id IN (SELECT id FROM spaces)
AND hash IN (SELECT hash FROM passages WHERE chunk_id IN (SELECT value FROM json_each(?)))
"""
_CHUNKS_OF_FILES = """
SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.path IN (SELECT value FROM json_each(?))
"""
_SELECT_HASHES = """
SELECT DISTINCT p.hash FROM passages p JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id
WHERE f.path IN (SELECT value FROM json_each(?))
"""
_DELETE_UNUSED = """
DELETE FROM {table} WHERE space_id IN (SELECT id FROM spaces) AND hash IN (SELECT unhex(value) FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.hash = {table}.hash)
"""
_SELECT_ROWS = """
SELECT c.id, f.path, f.source, c.start_line, c.end_line, c.heading, c.text,
       f.device, f.inode, f.size, f.mtime_ns, f.ctime_ns, f.read_at_ns, f.sha256, f.chunker, f.flags
FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))
"""
_SELECT_PATHS = """
SELECT c.id, f.path FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))
"""
_SELECT_PASSAGES = """
SELECT chunk_id, hash, start, stop FROM passages WHERE hash IN (SELECT unhex(value) FROM json_each(?))
"""
_COUNTS = """
SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks), (SELECT count(*) FROM passages),
       (SELECT count(*) FROM vectors), (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
"""


def known_files(db: apsw.Connection, chunker: str) -> dict[RelativePath, IndexedFile]:
    """Return every indexed file with its state; files cut by another chunker are stale."""
    rows = db.execute(_SELECT_KNOWN, (chunker, MEDIA_CHUNKER))
    return {row[0]: IndexedFile(file_stat_of(*row[1:6]), row[6], row[7], bool(row[8])) for row in rows}


def put_files(db: apsw.Connection, files: Sequence[FileContent]) -> list[Indexed]:
    """Replace the chunks of these files, each given once. A chunk with an unchanged hash keeps its row and words.

    Except if its memory or scope changed: these depend on its place, too, not only on its text.
    """
    fresh = FreshChunks(db)
    done = [_put_file(db, file, fresh) for file in files]
    fresh.write()
    return done


def _put_file(db: apsw.Connection, file: FileContent, fresh: FreshChunks) -> Indexed:
    row, chunks = file.row, file.chunks
    if file.is_afresh:
        remove_files(db, [row.path])
    read = (*stored_stat(row.known.stat), row.known.read_at_ns, row.known.digest)
    values = (row.path, row.source, *read, row.lines, len(chunks), row.chunker, row.flags)
    # not RETURNING: SQLite creates a temporary table for it, which takes as long as writing the file's chunks
    known: int | None = db.execute("SELECT id FROM files WHERE path = ?", (row.path,)).get
    db.execute(_UPSERT_FILE, values)
    file_id = db.last_insert_rowid() if known is None else known
    old: dict[tuple[bytes, str | None, str], list[tuple[int, ...]]] = {}
    for chunk_hash, memory, scope, *place in () if known is None else db.execute(_SELECT_PENDING, (file_id,)):
        old.setdefault((chunk_hash, memory, scope), []).append(tuple(place))
    unchanged = added = memories = 0
    for ordinal, entry in enumerate(chunks):
        memories += bool(entry.memory)
        if same := old.get((entry.hash, entry.memory, entry.scope)):
            chunk_id, *place = same.pop(0)
            # the row contains the text: rewriting unmoved chunks would cost as much as the note is large
            if place != [ordinal, entry.start_line, entry.end_line]:
                db.execute(
                    "UPDATE chunks SET ordinal = ?, start_line = ?, end_line = ? WHERE id = ?",
                    (ordinal, entry.start_line, entry.end_line, chunk_id),
                )
            unchanged += 1
        else:
            fresh.add(row.path, file_id, ordinal, entry)
            added += 1
    removed = [chunk_id for rows in old.values() for chunk_id, *_ in rows]
    _delete_chunks(db, removed)
    db.execute("UPDATE files SET memories = ?1 WHERE id = ?2 AND memories <> ?1", (memories, file_id))
    db.execute("DELETE FROM entity_pages WHERE file_id = ?", (file_id,))
    if file.page is not None:
        names = json.dumps(file.page.aliases, ensure_ascii=False)
        db.execute(
            "INSERT INTO entity_pages (file_id, name, aliases) VALUES (?, ?, ?)", (file_id, file.page.name, names)
        )
    return Indexed(unchanged, added, len(removed))


def rename_file(db: apsw.Connection, rename: Rename) -> None:
    """Change the path of an indexed file; chunks, passages and vectors are kept."""
    new, known = rename.new, rename.known
    remove_files(db, [new])
    # a file to be cut again gets an unknown chunker, so that it stays stale after a crash
    db.execute(
        "UPDATE files SET path = ?, chunker = iif(?, '', chunker) WHERE path = ?",
        (new, known.is_stale, rename.old),
    )
    _touch(db, new, known)
    # the word index of a chunk includes its path
    chunks = [
        ChunkText(number, heading, text, new)
        for number, heading, text in db.execute(
            "SELECT c.id, c.heading, c.text FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.path = ?", (new,)
        )
    ]
    db.execute(_DELETE_WORDS, (json_array([chunk.id for chunk in chunks]),))
    insert_words(db, chunks)


def _touch(db: apsw.Connection, path: RelativePath, known: IndexedFile) -> None:
    db.execute(_UPDATE_STAT, (*stored_stat(known.stat), known.read_at_ns, path))


def purge_files(db: apsw.Connection, paths: Sequence[RelativePath]) -> int:
    """Remove files as `remove_files` does, with vectors that only they used; return the number of files.

    Their words are only marked as deleted until `drop_deleted_words`, which must follow, once for many files.
    """
    names = json_array(paths)
    hashes = hex_array(row[0] for row in db.execute(_SELECT_HASHES, (names,)))
    removed = remove_files(db, paths)
    for table in ("vectors", "rejected"):
        db.execute(_DELETE_UNUSED.format(table=table), (hashes,))
    return removed


def remove_files(db: apsw.Connection, paths: Iterable[RelativePath]) -> int:
    """Remove files and all that depends on them, except vectors; return the number of files."""
    names = json_array(paths)
    _delete_chunks(db, [row[0] for row in db.execute(_CHUNKS_OF_FILES, (names,))])
    db.execute("DELETE FROM files WHERE path IN (SELECT value FROM json_each(?))", (names,))
    return db.changes()


def _delete_chunks(db: apsw.Connection, chunk_ids: Sequence[int]) -> None:
    if not chunk_ids:
        return
    # all at once: between statements the word index flushes, and merges segments that lost a tenth
    ids = json_array(chunk_ids)
    for statement in (_DELETE_WORDS, _NOTE_LAST_USE, "DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))"):
        db.execute(statement, (ids,))


def _chunk_row(row: Sequence[Any]) -> ChunkRow:
    number, path, source, start, end, heading, text, *stat, read_at_ns, sha256, chunker, flags = row
    known = IndexedFile(file_stat_of(*stat), read_at_ns, sha256)
    mtime_ns = known.stat.mtime_ns
    return ChunkRow(
        number, conversation_path(path), Source(source), start, end, heading, text, mtime_ns, known, chunker, flags
    )


def chunk_rows(db: apsw.Connection, ids: Iterable[int]) -> dict[int, ChunkRow]:
    """Return the existing chunks with these ids, each with its document, from one snapshot."""
    rows = db.execute(_SELECT_ROWS, (json_array(ids),))
    return {row[0]: _chunk_row(row) for row in rows}


def chunk_paths(db: apsw.Connection, ids: Iterable[int]) -> dict[int, RelativePath]:
    """Return the documents of the existing chunks with these ids, as paths to show."""
    return {chunk: conversation_path(path) for chunk, path in db.execute(_SELECT_PATHS, (json_array(ids),))}


def passages_of_hashes(db: apsw.Connection, hashes: Iterable[bytes]) -> list[PassageRow]:
    """Return all passages with one of the hashes."""
    keys = hex_array(hashes)
    return [PassageRow._make(row) for row in db.execute(_SELECT_PASSAGES, (keys,))]


class Documents(IndexTable):
    """Files and the chunks they are cut into.

    A write of a complete file is rolled back if its caller is cancelled, because it may take minutes.
    """

    @reads
    def known(self, db: apsw.Connection, chunker: str) -> dict[RelativePath, IndexedFile]:
        """Return every indexed file with its state; files cut by another chunker are stale."""
        return known_files(db, chunker)

    @reads
    def is_indexed(self, db: apsw.Connection, path: str) -> bool:
        """Return whether the index has exactly this path."""
        return bool(db.execute("SELECT EXISTS (SELECT 1 FROM files WHERE path = ?)", (path,)).get)

    @reads
    def flagged(self, db: apsw.Connection, limit: int) -> list[tuple[str, str]]:
        """Return path and flags of the first files that were read with changes, or are conflict copies."""
        rows = db.execute(_SELECT_FLAGGED, (CONFLICT_MARK,))
        named = (
            (path, ", ".join(dict.fromkeys(filter(None, (without_status(flags), *path_flags(path))))))
            for path, flags in rows
        )
        return list(islice((file for file in named if file[1]), limit))

    @reads
    def matching(self, db: apsw.Connection, filters: Filters) -> list[int]:
        """Return the ids of the files that the filters admit."""
        rows = db.execute("SELECT id, path, source, mtime_ns FROM files")
        return [row[0] for row in rows if filters.admits(conversation_path(row[1]), row[2], row[3])]

    @reads
    def chunks(self, db: apsw.Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the existing chunks with these ids, each with its document, from one snapshot."""
        return chunk_rows(db, ids)

    @reads
    def counts(self, db: apsw.Connection) -> Counts:
        """Count files, chunks, passages, vectors and the bytes of the database file."""
        return Counts(*db.execute(_COUNTS).get)

    async def put(self, files: Sequence[FileContent]) -> list[Indexed]:
        """Replace the chunks of these files, all or none; one call takes a third of the time of many calls."""
        return await self._database.write(lambda db: put_files(db, files), is_interruptible=True)

    @writes
    def touch(self, db: apsw.Connection, path: RelativePath, known: IndexedFile) -> None:
        """Record the new stat of a file whose content is unchanged."""
        _touch(db, path, known)

    @writes
    def rename(self, db: apsw.Connection, renames: Sequence[Rename]) -> None:
        """Change the paths of indexed files, in this order; chunks, passages and vectors are kept."""
        for rename in renames:
            rename_file(db, rename)

    async def remove(self, removed: Sequence[RelativePath], *, purged: Sequence[RelativePath] = ()) -> int:
        """Remove files and all that depends on them, except vectors; return the number of files.

        For `purged` files, vectors that only they used are removed, too. Their words are only marked as deleted until
        `drop_remains`, which must follow, once for many files.
        """
        with self._purges.counted() if purged else nullcontext():
            return await self._database.write(
                lambda db: purge_files(db, purged) + remove_files(db, removed), is_interruptible=True
            )

    async def drop_remains(self) -> None:
        """Erase what purged files left: words marked as deleted, and vectors and rejections that no passage uses.

        This includes vectors that `purge_files` does not find, because they may be of an earlier version of a file that
        is private now.
        """

        def step(db: apsw.Connection) -> None:
            drop_deleted_words(db)
            drop_unused(db)

        with self._purges.counted():
            await self._database.write(step, is_interruptible=True)


class FileVersion(NamedTuple):
    """One state of an indexed file: equal states have equal chunks."""

    id: int
    path: RelativePath
    sha256: bytes
    chunker: str
    read_at_ns: int
    mtime_ns: int
    flags: str


class MemoryLine(NamedTuple):
    """A retained line in the index: `text` is an exact slice of its file, lines from 1, both inclusive."""

    chunk: int
    memory: MemoryId
    start_line: int
    end_line: int
    text: str


class MemoryFiles(Struct, frozen=True):
    """All files that state memories or are entity pages, from one snapshot, with the lines of some of them."""

    versions: tuple[FileVersion, ...]
    lines: Mapping[int, tuple[MemoryLine, ...]]
    """By id of the requested files, in line order."""
    pages: tuple[EntityPage, ...]
    """All pages, in path order."""


class MemoryCounts(Struct, frozen=True):
    """Numbers of memories, of lines that state them, and of entities with a page."""

    memories: int = 0
    lines: int = 0
    pages: int = 0


_VERSIONS = "SELECT id, path, sha256, chunker, read_at_ns, mtime_ns, flags FROM files WHERE memories > 0 ORDER BY id"
_LINES = """
SELECT c.id, m.memory, c.start_line, c.end_line, c.text
FROM chunks c JOIN memory_chunks m ON m.chunk_id = c.id WHERE c.file_id = ? ORDER BY c.ordinal
"""
_PAGES = "SELECT f.path, p.name, p.aliases FROM entity_pages p JOIN files f ON f.id = p.file_id ORDER BY f.path"
_COUNT_MEMORIES = """
SELECT (SELECT count(DISTINCT memory) FROM memory_chunks), (SELECT count(*) FROM memory_chunks),
       (SELECT count(*) FROM entity_pages)
"""


class MemoryTable(Table):
    """Documents that state memories, their lines, and entity pages."""

    @reads
    def files(self, db: apsw.Connection, known: Collection[FileVersion] = ()) -> MemoryFiles:
        """Return all files that state memories, with the lines of those whose version is not in `known`."""
        # one snapshot: otherwise lines of another version could be returned for this one
        with in_snapshot(db):
            versions = tuple(FileVersion._make(row) for row in db.execute(_VERSIONS))
            fresh = (version.id for version in versions if version not in known)
            lines = {file: tuple(MemoryLine._make(row) for row in db.execute(_LINES, (file,))) for file in fresh}
            pages = tuple(EntityPage(path, name, tuple(json.loads(names))) for path, name, names in db.execute(_PAGES))
        return MemoryFiles(versions, lines, pages)

    @reads
    def scoped(self, db: apsw.Connection) -> Mapping[int, str]:
        """Return the chunks that have a scope and state no memory, with the scope."""
        return dict(db.execute("SELECT chunk_id, scope FROM scoped_chunks"))

    @reads
    def counts(self, db: apsw.Connection) -> MemoryCounts:
        """Count memories, the lines that state them, and entity pages."""
        return MemoryCounts(*db.execute(_COUNT_MEMORIES).get)
