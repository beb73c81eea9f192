"""Conversations for tests, written straight into an index."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, Source, part_path, turns_path
from memoryd.domain.memories.entries import chunk_entries
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent
from tests.store.rows import SETTINGS, row_of

SAID = datetime(2026, 10, 18, 12, tzinfo=UTC)


def part(path: RelativePath, text: str, *, first_line: int = 1, said: datetime = SAID) -> FileContent:
    """Return a part of a conversation that begins on a given line."""
    row = row_of(part_path(path, first_line), text)
    known = replace(row.known, stat=replace(row.known.stat, mtime_ns=int(said.timestamp()) * 10**9))
    chunks = chunk_entries(text, SETTINGS)
    offset = first_line - 1
    shifted = tuple(
        replace(chunk, start_line=chunk.start_line + offset, end_line=chunk.end_line + offset) for chunk in chunks
    )
    return FileContent(replace(row, source=Source.SESSIONS, known=known), shifted)


async def put_part(
    database: Database, path: RelativePath, text: str, *, first_line: int = 1, said: datetime = SAID
) -> None:
    """Store one part of a conversation."""
    await database.documents.put([part(path, text, first_line=first_line, said=said)])


async def put_turns(
    database: Database, session: str, turns: Sequence[tuple[str, str]], *, said: datetime = SAID
) -> RelativePath:
    """Store a session of questions and answers; return its path."""
    path = turns_path(session)
    lines = [
        line for question, answer in turns for line in (f"User: {question}", f"Assistant: {answer}" * bool(answer))
    ]
    await put_part(database, path, "\n".join(lines) + "\n", said=said)
    return path
