"""The conversations of an index: their parts are documents, and a row stores how far the source was read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath, conversation_path
from memoryd.domain.sessions.conversation_parts import ConversationPart
from memoryd.store.database_file import reads, writes
from memoryd.store.index.documents import FileContent, purge_files, put_files
from memoryd.store.index.vectors import IndexTable


class ConversationRow(Struct, frozen=True):
    """How far a conversation was read.

    `stamp` and `tail` describe its source; `stamp` is empty if there is more to read.

    `problem` is the reason why it cannot be read.
    """

    path: RelativePath
    stamp: str
    tail: str
    chunker: str
    open_part: ConversationPart | None = None
    """The part that grows with the next messages; it is indexed like the others."""
    problem: str = ""


class KnownConversation(NamedTuple):
    """The row of a conversation without its text."""

    stamp: str
    chunker: str
    problem: str


class ConversationCounts(Struct, frozen=True):
    """Numbers of conversations, parts and chunks in the index."""

    conversations: int = 0
    parts: int = 0
    chunks: int = 0
    unknown: int = 0
    """Conversations that could not be read."""


class ConversationExtent(Struct, frozen=True):
    """The end of a conversation in the index: its last line with text, and the time of that in ns."""

    last_line: int
    last_ns: int


_LAST_LINE = 1 << 31
_SELECT_ROW = """
SELECT stamp, tail, chunker, problem, first_line, text, spoken, last_ns FROM conversations
WHERE path = ?
"""
_UPSERT = """
INSERT INTO conversations (path, stamp, tail, chunker, problem, first_line, text, spoken, last_ns)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (path) DO UPDATE SET
    stamp = excluded.stamp, tail = excluded.tail, chunker = excluded.chunker, problem = excluded.problem,
    first_line = excluded.first_line, text = excluded.text, spoken = excluded.spoken, last_ns = excluded.last_ns
"""
# all names with this prefix and an @ sort before the name with an A
_SELECT_PARTS = "SELECT path FROM files WHERE path >= ? || '@' AND path < ? || 'A'"
_SELECT_CHUNKS = """
SELECT c.start_line, c.text, (SELECT group_concat(p.start || '-' || p.stop, ' ' ORDER BY p.start)
                              FROM passages p WHERE p.chunk_id = c.id)
FROM chunks c JOIN files f ON f.id = c.file_id
WHERE f.path = ? AND c.end_line >= ? AND c.start_line <= ? ORDER BY c.ordinal
"""
_COUNTS = """
SELECT (SELECT count(*) FROM conversations WHERE problem = ''), (SELECT count(*) FROM files),
       (SELECT count(*) FROM chunks), (SELECT count(*) FROM conversations WHERE problem <> '')
"""


def put_parts(db: apsw.Connection, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
    """Replace these parts, and store how far the source was read.

    `is_afresh`: other parts are removed, with vectors that only they used.
    """
    put_files(db, parts)
    if is_afresh:
        new_paths = {content.row.path for content in parts}
        purge_files(db, [path for path in part_paths(db, row.path) if path not in new_paths])
    part = row.open_part
    open_part = (None, "", 0, 0) if part is None else (part.first_line, part.text, part.spoken, part.last_ns)
    db.execute(_UPSERT, (row.path, row.stamp, row.tail, row.chunker, row.problem, *open_part))


def part_paths(db: apsw.Connection, path: RelativePath) -> list[RelativePath]:
    """Return the parts of a conversation, in order."""
    parts = [row[0] for row in db.execute(_SELECT_PARTS, (path, path)) if conversation_path(row[0]) == path]
    return sorted(parts, key=_first_line)


def _first_line(part: str) -> int:
    return int(part.rpartition("@")[2])


def _pieces(db: apsw.Connection, path: RelativePath, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Yield, by line number, the text that each chunk with some of these lines has of its own."""
    for part in part_paths(db, path):
        if _first_line(part) > last:
            break
        for start_line, text, spans in db.execute(_SELECT_CHUNKS, (part, first, last)):
            for start, stop in (map(int, span.split("-")) for span in (spans or "").split()):
                number = start_line + text.count("\n", 0, start)
                yield from enumerate(text[start:stop].split("\n"), start=number)


class Conversations(IndexTable):
    """How far each conversation was read; its parts are documents of the same index."""

    @reads
    def known(self, db: apsw.Connection) -> dict[RelativePath, KnownConversation]:
        """Return all conversations that were read."""
        return {
            row[0]: KnownConversation(*row[1:])
            for row in db.execute("SELECT path, stamp, chunker, problem FROM conversations")
        }

    @reads
    def row(self, db: apsw.Connection, path: RelativePath) -> ConversationRow | None:
        """Return how far a conversation was read, None if it was not."""
        row = db.execute(_SELECT_ROW, (path,)).fetchone()
        if row is None:
            return None
        stamp, tail, chunker, problem, first_line, *open_part = row
        part = None if first_line is None else ConversationPart(first_line, *open_part)
        return ConversationRow(path, stamp, tail, chunker, part, problem)

    async def put(self, row: ConversationRow, parts: Sequence[FileContent], *, is_afresh: bool) -> None:
        """Replace these parts, and store how far the source was read: after a kill, both or neither is done.

        `is_afresh`: these are all parts that remain.
        """
        with self._purges.counted() if is_afresh else nullcontext():
            await self._database.write(lambda db: put_parts(db, row, parts, is_afresh=is_afresh))

    @writes
    def distrust(self, db: apsw.Connection) -> None:
        """Mark every conversation as cut by unknown rules: it is read again, and its parts are kept until then."""
        db.execute("UPDATE conversations SET chunker = ''")

    async def purge(self, paths: Sequence[RelativePath]) -> int:
        """Remove conversations with vectors that only they used, like purged files in `Documents.remove`.

        Return the number of parts.
        """

        def step(db: apsw.Connection) -> int:
            removed = sum(purge_files(db, part_paths(db, path)) for path in paths)
            db.executemany("DELETE FROM conversations WHERE path = ?", [(path,) for path in paths])
            return removed

        with self._purges.counted():
            return await self._database.write(step)

    @reads
    def lines(self, db: apsw.Connection, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return the indexed text of these lines, by number; lines without text are left out.

        It is joined from the chunks' own text.
        """
        texts: dict[int, str] = {}
        for at, piece in _pieces(db, path, first, last):
            texts[at] = texts.get(at, "") + piece
        return {at: text for at, text in texts.items() if first <= at <= last and text.strip()}

    @reads
    def next_line(self, db: apsw.Connection, path: RelativePath, after: int) -> int | None:
        """Return the first line after this one that has text, None if there is none."""
        pieces = _pieces(db, path, after + 1, _LAST_LINE)
        return next((at for at, piece in pieces if at > after and piece.strip()), None)

    @reads
    def parts(self, db: apsw.Connection, path: RelativePath) -> int:
        """Count the parts of a conversation."""
        return len(part_paths(db, path))

    @reads
    def extents(self, db: apsw.Connection) -> Mapping[RelativePath, ConversationExtent]:
        """Return the end of each conversation."""
        by_path: dict[RelativePath, ConversationExtent] = {}
        for part, lines, last_ns in db.execute("SELECT path, lines, mtime_ns FROM files"):
            path = conversation_path(part)
            before = by_path.get(path, ConversationExtent(0, 0))
            # line numbers of a part count from the start of its conversation
            by_path[path] = ConversationExtent(max(before.last_line, lines), max(before.last_ns, last_ns))
        return by_path

    @reads
    def counts(self, db: apsw.Connection) -> ConversationCounts:
        """Count conversations, parts and chunks."""
        return ConversationCounts(*db.execute(_COUNTS).get)
