"""A conversation is stored as one row per part, and search shows it as one document."""

from datetime import timedelta

from memoryd.domain.documents import RelativePath, Source, transcript_path
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question
from memoryd.store.index.database import Database
from memoryd.store.index.documents import chunk_paths
from memoryd.store.index.words import CandidateFilter, best_matches
from tests.store.conversations import SAID, put_part
from tests.store.rows import put_note, read

LOG = transcript_path("main", "0d9f.jsonl")
OTHER = transcript_path("main", "0d9f.jsonl.reset")
ALL = CandidateFilter()


async def filled(database: Database) -> None:
    await put_part(database, LOG, "User: where is the quetzal\n")
    await put_part(database, LOG, "User: the quetzal again\n", first_line=120, said=SAID + timedelta(days=2))
    await put_part(database, OTHER, "User: a quetzal elsewhere\n")


async def found(database: Database, word: str, admitted: CandidateFilter = ALL) -> list[tuple[str, int]]:
    matches = await read(database, best_matches, Question(word, terms=(word,)), 10, admitted)
    rows = await database.documents.chunks(list(matches.bm25))
    assert set((await read(database, chunk_paths, list(rows))).values()) == {row.path for row in rows.values()}
    return sorted((row.path, row.start_line) for row in rows.values() if row.source is Source.SESSIONS)


async def test_parts_have_path_and_lines_of_their_conversation(database: Database) -> None:
    await filled(database)
    assert await found(database, "quetzal") == [(LOG, 1), (LOG, 120), (OTHER, 1)]


async def test_number_of_a_part_is_not_searchable(database: Database) -> None:
    await filled(database)
    assert await found(database, "120") == []


async def test_excluding_a_conversation_excludes_all_its_parts(database: Database) -> None:
    await filled(database)
    assert await found(database, "quetzal", CandidateFilter(without_document=LOG)) == [(OTHER, 1)]
    assert await found(
        database, "quetzal", CandidateFilter(without_document=RelativePath("sessions/main/0d9f.json"))
    ) == [
        (LOG, 1),
        (LOG, 120),
        (OTHER, 1),
    ]


async def test_filters_match_conversation_path_and_last_message_time(database: Database) -> None:
    await filled(database)
    await put_note(database, "memory/2026-10-18.md", "a quetzal\n")
    assert len(await database.documents.matching(Filters(paths=("sessions/main/*.jsonl",)))) == 2
    assert len(await database.documents.matching(Filters(paths=(LOG,)))) == 2
    later = await database.documents.matching(Filters(since=SAID + timedelta(days=1)))
    assert len(later) == 1
    assert len(await database.documents.matching(Filters(sources=("sessions",), until=SAID))) == 2
