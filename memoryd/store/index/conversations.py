"""The conversations of an index: their parts are documents, and one row says how far the source was read."""

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
    """How far a conversation was read: `stamp` and `tail` are what its source says, the first empty if there is more.

    `problem` says why nothing of it is read.
    """

    path: RelativePath
    stamp: str
    tail: str
    chunker: str
    open_part: ConversationPart | None = None
    """The one that grows with what is said next; it is indexed as the others are."""
    problem: str = ""


class KnownConversation(NamedTuple):
    """What the index says of a conversation without a look at what was said."""

    stamp: str
    chunker: str
    problem: str


class ConversationCounts(Struct, frozen=True):
    """How many conversations the index holds, in how many parts and chunks."""

    conversations: int = 0
    parts: int = 0
    chunks: int = 0
    unknown: int = 0
    """Those of which nothing is read."""


class ConversationExtent(Struct, frozen=True):
    """How far a conversation goes in the index: its last line that says something, and when that was said, in ns."""

    last_line: int
    last_ns: int


_LAST_LINE = 1 << 31
_SELECT_EXTENTS = "SELECT path, lines, mtime_ns FROM files"
_SELECT_KNOWN = "SELECT path, stamp, chunker, problem FROM conversations"
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
# of all names that begin so, one character more is the last
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
    """Make the index hold these parts, and note how far the source was read.

    `is_afresh`: parts that are not among these go, with the vectors that only they used.
    """
    put_files(db, parts)
    if is_afresh:
        kept = {content.row.path for content in parts}
        purge_files(db, [path for path in part_paths(db, row.path) if path not in kept])
    part = row.open_part
    grows = (None, "", 0, 0) if part is None else (part.first_line, part.text, part.spoken, part.last_ns)
    db.execute(_UPSERT, (row.path, row.stamp, row.tail, row.chunker, row.problem, *grows))


def part_paths(db: apsw.Connection, path: RelativePath) -> list[RelativePath]:
    """Return the parts of a conversation, in its order."""
    found = [row[0] for row in db.execute(_SELECT_PARTS, (path, path)) if conversation_path(row[0]) == path]
    return sorted(found, key=_first_line)


def _first_line(part: str) -> int:
    return int(part.rpartition("@")[2])


def _pieces(db: apsw.Connection, path: RelativePath, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Yield what each chunk that has some of these lines holds for itself, by line and its number."""
    for part in part_paths(db, path):
        if _first_line(part) > last:
            break
        for start_line, text, spans in db.execute(_SELECT_CHUNKS, (part, first, last)):
            for start, stop in (map(int, span.split("-")) for span in (spans or "").split()):
                number = start_line + text.count("\n", 0, start)
                yield from enumerate(text[start:stop].split("\n"), start=number)


class Conversations(IndexTable):
    """What was read of each conversation; its parts are documents of the same index."""

    @reads
    def known(self, db: apsw.Connection) -> dict[RelativePath, KnownConversation]:
        """Return every conversation that was read."""
        return {row[0]: KnownConversation(*row[1:]) for row in db.execute(_SELECT_KNOWN)}

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
        """Make the index hold these parts and note how far the source was read: after a kill, both or neither.

        `is_afresh`: they are all that is left of it.
        """
        with self._purges.counted() if is_afresh else nullcontext():
            await self._database.write(lambda db: put_parts(db, row, parts, is_afresh=is_afresh))

    @writes
    def distrust(self, db: apsw.Connection) -> None:
        """Have every conversation count as cut by nobody's rules: it is read anew, and what is held stays so long."""
        db.execute("UPDATE conversations SET chunker = ''")

    async def purge(self, paths: Sequence[RelativePath]) -> int:
        """Drop conversations with the vectors that only they used, as `Documents.remove` does what is purged.

        Return how many parts there were.
        """

        def step(db: apsw.Connection) -> int:
            removed = sum(purge_files(db, part_paths(db, path)) for path in paths)
            db.executemany("DELETE FROM conversations WHERE path = ?", [(path,) for path in paths])
            return removed

        with self._purges.counted():
            return await self._database.write(step)

    @reads
    def lines(self, db: apsw.Connection, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what the index holds of these lines, by number; those that say nothing are left out.

        They are put together from what each chunk has for itself.
        """
        texts: dict[int, str] = {}
        for at, piece in _pieces(db, path, first, last):
            texts[at] = texts.get(at, "") + piece
        return {at: text for at, text in texts.items() if first <= at <= last and text.strip()}

    @reads
    def next_line(self, db: apsw.Connection, path: RelativePath, after: int) -> int | None:
        """Return the first line behind another that says something, None if there is none."""
        pieces = _pieces(db, path, after + 1, _LAST_LINE)
        return next((at for at, piece in pieces if at > after and piece.strip()), None)

    @reads
    def parts(self, db: apsw.Connection, path: RelativePath) -> int:
        """Count the parts of a conversation."""
        return len(part_paths(db, path))

    @reads
    def extents(self, db: apsw.Connection) -> Mapping[RelativePath, ConversationExtent]:
        """Return how far each conversation goes."""
        found: dict[RelativePath, ConversationExtent] = {}
        for part, lines, last_ns in db.execute(_SELECT_EXTENTS):
            path = conversation_path(part)
            before = found.get(path, ConversationExtent(0, 0))
            # the lines of a part are counted from the first of its conversation
            found[path] = ConversationExtent(max(before.last_line, lines), max(before.last_ns, last_ns))
        return found

    @reads
    def counts(self, db: apsw.Connection) -> ConversationCounts:
        """Count conversations, parts and chunks."""
        return ConversationCounts(*db.execute(_COUNTS).get)
