"""Rows and documents for store tests, without files."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw

from memoryd.domain.documents import FileStat, RelativePath, Source
from memoryd.domain.memories.entity_edits import entity_page_of
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.domain.ranking.questions import Question
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.words import query_terms
from memoryd.store.index.database import Database
from memoryd.store.index.documents import FileContent, FileRow, Indexed, put_files
from memoryd.store.index.words import CandidateFilter, best_matches
from memoryd.store.pool import Returned

SETTINGS = ChunkSettings(tokens=60, overlap=15)


def stat_of(text: str, inode: int = 1) -> FileStat:
    return FileStat(1, inode, len(text.encode()), 10**18, 10**18)


def row_of(path: str, text: str) -> FileRow:
    lines = text.count("\n") + (text != "" and not text.endswith("\n"))
    digest = sha256(text.encode()).digest()
    return FileRow(
        RelativePath(path), Source.MEMORY, IndexedFile(stat_of(text), 10**18, digest), lines, SETTINGS.fingerprint
    )


def content(path: str, text: str, *, is_afresh: bool = False) -> FileContent:
    name = RelativePath(path)
    chunks, page = chunk_entries(text, SETTINGS, name), entity_page_of(encode_padded(text), name)
    return FileContent(row_of(path, text), chunks, is_afresh, page)


def put(db: apsw.Connection, path: str, text: str, *, afresh: bool = False) -> Indexed:
    (indexed,) = put_files(db, [content(path, text, is_afresh=afresh)])
    return indexed


async def put_note(database: Database, path: str, text: str) -> Indexed:
    (indexed,) = await database.documents.put([content(path, text)])
    return indexed


async def read(database: Database, function: Callable[..., Returned], *arguments: Any, **named: Any) -> Returned:
    """Run a function on a reader's connection and return its result."""
    return await database.read(lambda db: function(db, *arguments, **named))


async def notes_with(database: Database, question: str) -> set[str]:
    """Return the notes that contain a word of the question; check that each match still has its chunk."""
    asked = Question(question, terms=tuple(query_terms(question)))
    chunks = (await read(database, best_matches, asked, 1000, CandidateFilter())).bm25.keys()
    rows = await database.documents.chunks(list(chunks))
    assert rows.keys() == chunks
    return {row.path for row in rows.values()}


def note(*topics: str) -> str:
    """Return a note with one section per topic, each long enough for chunks of its own."""
    return "".join(
        f"## {topic}\n\n" + "".join(f"- {topic} item {number} costs {number}0 crowns.\n" for number in range(8)) + "\n"
        for topic in topics
    )


def bytes_in(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, by their relative paths."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def files_with(folder: Path, text: str) -> list[str]:
    """Return the relative paths of the files below a folder that contain a text."""
    return sorted(path for path, data in bytes_in(folder).items() if text.encode() in data)
