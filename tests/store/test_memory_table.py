"""The table of memories: which chunks state which memory, kept in step with their files."""

from collections.abc import Sequence
from contextlib import closing

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import EntityPage
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.ranking.questions import Question
from memoryd.domain.syncplan import IndexedFile
from memoryd.store.index import words
from memoryd.store.index.database import Database
from memoryd.store.index.documents import MemoryCounts, MemoryLine, Rename, passages_of_hashes, purge_files
from memoryd.store.index.words import CandidateFilter, best_matches
from tests.store.consistency import check_consistency, open_index
from tests.store.rows import put_note, read, stat_of
from tests.store.test_vector_table import SIZE, embed_all, space_of

LOG, OTHER, BANK = (RelativePath(f"{name}.md") for name in ("memory/2025-11-27", "memory/2025-11-28", "bank/world"))
PAGE = RelativePath("bank/entities/peter.md")
GRAZ, TEA = "- W @Peter: lives in Graz", "- O(c=0.9) @Peter: prefers tea"


def log(*lines: str) -> str:
    return "# A day\n\nSome prose about Graz.\n\n## Retain\n\n" + "\n".join(lines) + "\n"


def id_of(text: str) -> str:
    line = parse_line(text)
    assert isinstance(line, RetainedLine)
    return line.id


async def lines_of(database: Database) -> dict[str, list[MemoryLine]]:
    found = await database.memories.files()
    return {one.path: list(found.lines[one.id]) for one in found.versions}


async def count(database: Database) -> MemoryCounts:
    await database.write(check_consistency)
    assert await database.problems() == []
    return await database.memories.counts()


async def test_memory_lines_are_stored_with_their_positions(database: Database) -> None:
    await put_note(database, LOG, log(GRAZ, TEA))
    await put_note(database, BANK, f"{GRAZ}\n")
    await put_note(database, "memory/plain.md", log(GRAZ))
    found = await lines_of(database)
    assert [(one.memory, one.start_line, one.end_line, one.text) for one in found[LOG]] == [
        (id_of(GRAZ), 7, 7, GRAZ),
        (id_of(TEA), 8, 8, TEA),
    ]
    assert [one.start_line for one in found[BANK]] == [1]
    assert found.keys() == {LOG, BANK}
    assert await count(database) == MemoryCounts(memories=2, lines=3, pages=0)


async def test_only_changed_files_are_read(database: Database) -> None:
    await put_note(database, LOG, log(GRAZ))
    await put_note(database, OTHER, log(TEA))
    before = await database.memories.files()
    await put_note(database, OTHER, log(TEA, GRAZ))
    after = await database.memories.files(before.versions)
    assert len(after.versions) == 2
    assert [[one.memory for one in lines] for lines in after.lines.values()] == [[id_of(TEA), id_of(GRAZ)]]


async def test_moved_line_keeps_its_row(database: Database) -> None:
    await put_note(database, LOG, log(GRAZ, TEA))
    before = {one.memory: one.chunk for one in (await lines_of(database))[LOG]}
    await put_note(database, LOG, log("- B: swam", TEA, GRAZ))
    after = {one.memory: one.chunk for one in (await lines_of(database))[LOG]}
    assert {memory: after[memory] for memory in before} == before
    assert (await count(database)).lines == 3


async def test_line_is_a_memory_only_under_its_heading(database: Database) -> None:
    await put_note(database, LOG, f"## Retain\n\n{GRAZ}\n")
    await put_note(database, LOG, f"## Said\n\n{GRAZ}\n")
    assert await count(database) == MemoryCounts()
    await put_note(database, LOG, f"## Retain\n\n{GRAZ}\n")
    assert (await count(database)).lines == 1


async def test_memories_are_removed_with_their_file(database: Database) -> None:
    await put_note(database, LOG, log(GRAZ))
    await put_note(database, OTHER, log(GRAZ))
    await put_note(database, PAGE, "# Peter\n")
    await database.write(lambda db: purge_files(db, [LOG]))
    assert await count(database) == MemoryCounts(memories=1, lines=1, pages=1)
    await database.documents.remove([OTHER, PAGE])
    assert await count(database) == MemoryCounts()


async def test_renamed_log_keeps_its_rows(database: Database) -> None:
    await put_note(database, LOG, log(GRAZ, TEA))
    before = (await lines_of(database))[LOG]
    await database.documents.rename([Rename(LOG, OTHER, IndexedFile(stat_of("x"), 1))])
    assert await lines_of(database) == {OTHER: before}
    await count(database)


async def test_entity_pages_are_listed_with_names_and_aliases(database: Database) -> None:
    await put_note(database, PAGE, "---\naliases: [Pete, 彼得]\n---\n# Peter the Great\n\n- lives in Graz\n")
    await put_note(database, "bank/entities/the-castle.md", "no heading\n")
    await put_note(database, "bank/entities/old/anna.md", "# Anna\n")
    assert (await database.memories.files()).pages == (
        EntityPage(PAGE, "Peter the Great", ("Pete", "彼得")),
        EntityPage("bank/entities/the-castle.md", "the-castle"),
    )
    await put_note(database, PAGE, "# Piet\n")
    assert (await database.memories.files()).pages[0] == EntityPage(PAGE, "Piet")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("DELETE FROM memory_chunks", "1 files without memories"),
        ("UPDATE files SET memories = 2", "1 files without memories"),
        ("UPDATE memory_chunks SET chunk_id = 999", "memories without a chunk"),
        ("UPDATE memory_chunks SET memory = 'another'", "memories that their lines do not state"),
    ],
)
async def test_inconsistency_is_reported(database: Database, damage: str, problem: str) -> None:
    await put_note(database, LOG, log(GRAZ))
    assert await database.problems() == []
    with closing(open_index(database.path)) as other:
        other.execute(damage)
    assert any(problem in one for one in await database.problems())


class TestCandidateFilter:
    async def filled(self, database: Database) -> int:
        """Write prose and memories that contain the same word, with a vector for each."""
        prose = "".join(f"## Part {number}\n\nThe quetzal flew over hill {number}.\n\n" for number in range(200))
        await put_note(database, "memory/prose.md", prose)
        await put_note(database, LOG, log(*(f"- W: the quetzal sat on tree {number}" for number in range(50))))
        space = await space_of(database)
        await embed_all(database, space)
        return space

    async def words(self, database: Database, admitted: CandidateFilter, limit: int = 10) -> list[int]:
        question = Question("quetzal", terms=("quetzal",))
        return list((await read(database, best_matches, question, limit, admitted)).bm25)

    async def test_word_matches_are_filtered_before_the_limit(self, database: Database) -> None:
        await self.filled(database)
        memories = {one.chunk for one in (await lines_of(database))[LOG]}
        only = await self.words(database, CandidateFilter(only_memories=True))
        assert len(only) == 10
        assert set(only) <= memories
        without = await self.words(database, CandidateFilter(without_memories=True))
        assert len(without) == 10
        assert not set(without) & memories
        some = tuple(sorted(memories))[:3]
        assert set(await self.words(database, CandidateFilter(chunks=some))) == set(some)
        assert await self.words(database, CandidateFilter(chunks=())) == []
        neither = CandidateFilter(chunks=some, without_memories=True)
        assert await self.words(database, neither) == []

    async def test_vectors_are_filtered_before_the_limit(self, database: Database) -> None:
        space = await self.filled(database)
        lines = (await lines_of(database))[LOG]
        only = await database.vectors.ids_within(space, CandidateFilter(only_memories=True))
        some = await database.vectors.ids_within(space, CandidateFilter(chunks=(lines[0].chunk, lines[1].chunk)))
        assert only is not None
        assert some is not None
        assert (len(only), len(some)) == (50, 2)
        assert set(some) <= set(only)
        none = await database.vectors.ids_within(space, CandidateFilter(chunks=()))
        assert none is not None
        assert len(none) == 0
        near = await database.read_snapshot(lambda reader: reader.vectors(space, only, SIZE))
        held = {row.chunk for row in await read(database, passages_of_hashes, near.hashes.tolist())}
        assert len(held) == len(near.ids) == 50
        assert held <= {line.chunk for line in lines}

    @pytest.mark.parametrize(
        "admitted",
        [
            CandidateFilter(only_memories=True),
            CandidateFilter(without_memories=True),
            CandidateFilter(chunks=tuple(range(1, 5_000))),
        ],
    )
    async def test_no_table_is_scanned_for_each_candidate(self, database: Database, admitted: CandidateFilter) -> None:
        """Filters are evaluated once or looked up by key; a scan per candidate would be quadratic."""
        clauses, values = words._clauses(admitted)
        statement = words._CHUNKS.format(clauses=clauses)
        plan = await database.read(
            lambda db: [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", (b"", "quetzal", *values, 10))]
        )
        assert not [step for step in plan if "CORRELATED" in step], plan
        assert _scans(plan) <= 1, plan


def _scans(plan: Sequence[str]) -> int:
    return sum(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan)
