"""The document table: its operations, and the state after a series of edits."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.memories.entries import ChunkEntry, PassageEntry
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.syncplan import IndexedFile
from memoryd.store.index import passages, stems
from memoryd.store.index.database import Database
from memoryd.store.index.documents import Rename, passages_of_hashes, put_files, remove_files, rename_file
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.schema import prepare_index
from memoryd.store.index.stems import ChunkText
from tests.store.consistency import check_consistency, dump
from tests.store.rows import SETTINGS, content, note, notes_with, put, put_note, read, stat_of
from tests.sweeps import whole_or
from tests.waiting import eventually

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
PATHS = st.sampled_from(["MEMORY.md", "memory/a.md", "memory/b.md"])
TOPICS = st.lists(st.sampled_from(["rent", "boiler", "gatewayHost2", "海边的木屋", "café"]), max_size=5)
EDITS = st.one_of(
    st.tuples(st.just("put"), PATHS, TOPICS),
    st.tuples(st.just("afresh"), PATHS, TOPICS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("remove"), PATHS, st.none()),
)


class Failing:
    """Chunks that fail while they are read."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[ChunkEntry]:
        raise ZeroDivisionError


async def chunks_in(database: Database) -> dict[int, ChunkRow]:
    """Return all chunks, by their ids."""
    return await database.documents.chunks(range(1, 1000))


async def rows_of(database: Database, statement: str) -> list[tuple[object, ...]]:
    return await database.read(lambda db: list(db.execute(statement)))


def new_index() -> apsw.Connection:
    db = apsw.Connection("")
    db.execute("PRAGMA foreign_keys = ON")
    prepare_index(db)
    return db


@settings(max_examples=whole_or(6, 60), deadline=None)
@given(st.lists(EDITS, max_size=12))
def test_any_series_of_edits_equals_a_rebuild(edits: list[tuple[str, str, object]]) -> None:
    db, disk = new_index(), dict[str, str]()
    for kind, path, detail in edits:
        if kind in ("put", "afresh"):
            disk[path] = note(*detail)  # type: ignore[misc]  # topics
            put(db, path, disk[path], afresh=kind == "afresh")
        elif kind == "remove":
            disk.pop(path, None)
            remove_files(db, [RelativePath(path)])
        elif path in disk and detail != path:
            disk[str(detail)] = disk.pop(path)
            new = RelativePath(str(detail))
            rename_file(db, Rename(RelativePath(path), new, IndexedFile(stat_of(disk[new]), 10**18)))
    rebuilt = new_index()
    for path, text in disk.items():
        put(rebuilt, path, text)
    check_consistency(db)
    assert dump(db) == dump(rebuilt)


def test_removal_takes_same_statements_for_any_number_of_files() -> None:
    """The word index may be merged between statements, which takes longer than the removal itself."""
    db, statements = new_index(), list[str]()
    paths = [RelativePath(f"memory/{number}.md") for number in range(6)]
    for path in paths:
        put(db, path, note("rent", "boiler"))

    def note_statement(_cursor: apsw.Cursor, statement: str, _values: object) -> bool:
        statements.append(statement)
        return True

    db.exec_trace = note_statement
    assert remove_files(db, paths[:1]) == 1
    of_one, statements[:] = list(statements), []
    assert remove_files(db, [*paths, RelativePath("memory/unknown.md")]) == 5
    assert statements == of_one


class TestDocuments:
    """The operations."""

    async def test_unchanged_chunks_keep_their_rows(self, database: Database) -> None:
        await put_note(database, A, note("rent", "boiler", "garden"))
        before = await database.read(lambda db: {row[1]: row[0] for row in db.execute("SELECT id, hash FROM chunks")})
        done = await put_note(database, A, note("rent", "attic", "garden"))
        after = await database.read(lambda db: {row[1]: row[0] for row in db.execute("SELECT id, hash FROM chunks")})
        kept = before.keys() & after.keys()
        assert len(kept) == done.unchanged > 0
        assert all(before[key] == after[key] for key in kept)
        assert done.added == len(after) - done.unchanged
        assert done.removed == len(before) - done.unchanged
        await database.write(check_consistency)

    async def test_chunk_ids_are_never_reused(self, database: Database) -> None:
        given: set[int] = set()
        for topic in ("rent", "boiler", "attic"):
            # each round frees the highest ids, by an edit and by a removal
            await put_note(database, A, note(topic))
            await put_note(database, B, note(topic, "garden"))
            now = (await chunks_in(database)).keys()
            assert not now & given
            given |= now
            await database.documents.remove([A, B])

    async def test_edit_replaces_old_text_in_search(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, A, note("boiler"))
        assert await notes_with(database, "boiler") == {A}
        assert await notes_with(database, "rent") == set()

    async def test_renamed_note_is_found_by_new_name_only(self, database: Database) -> None:
        old, new = RelativePath("memory/plumber.md"), RelativePath("memory/electrician.md")
        await put_note(database, old, note("rent"))
        chunks = await chunks_in(database)
        passages = await rows_of(database, "SELECT id FROM passages ORDER BY id")
        await database.documents.rename([Rename(old, new, IndexedFile(stat_of("", 9), 5))])
        assert (await chunks_in(database)).keys() == chunks.keys()
        assert await rows_of(database, "SELECT id FROM passages ORDER BY id") == passages
        assert await notes_with(database, "electrician") == {new}
        assert await notes_with(database, "plumber") == set()
        held = await database.documents.known(SETTINGS.fingerprint)
        assert held.keys() == {new}
        assert held[new].stat.inode == 9
        await database.write(check_consistency)

    async def test_rename_onto_indexed_note_replaces_it(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, B, note("boiler"))
        await database.documents.rename([Rename(A, B, IndexedFile(stat_of(""), 5))])
        await database.write(check_consistency)
        assert await notes_with(database, "boiler") == set()
        assert await notes_with(database, "rent") == {B}

    async def test_removed_note_leaves_no_rows(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        assert await database.documents.remove([A, B]) == 1
        left = [f"SELECT count(*) FROM {table}" for table in ("files", "chunks", "passages", "chunk_words_docsize")]
        for statement in left:
            assert await rows_of(database, statement) == [(0,)], statement
        assert not await database.documents.is_indexed(A)

    async def test_purged_text_is_in_no_file(self, database: Database, tmp_path: Path) -> None:
        await put_note(database, B, note("rent"))
        await put_note(database, A, "# Secret\n\nThe word is Xylophagous.\n")
        assert await notes_with(database, "xylophagous") == {A}
        assert await database.documents.remove([], purged=[A]) == 1
        await database.words.drop_deleted()
        await database.checkpoint()
        left = b"".join(path.read_bytes() for path in tmp_path.glob("index.sqlite*")).lower()
        assert b"xylophag" not in left
        assert b"boiler" not in left
        assert b"rent item 3" in left
        await database.write(check_consistency)

    async def test_note_of_another_chunker_is_stale(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        assert not (await database.documents.known(SETTINGS.fingerprint))[A].is_stale
        assert (await database.documents.known("another"))[A].is_stale

    async def test_touch_changes_only_the_stat(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        before = await database.read(dump)
        await database.documents.touch(A, IndexedFile(stat_of("", 77), 123))
        held = (await database.documents.known(SETTINGS.fingerprint))[A]
        assert (held.stat.inode, held.read_at_ns) == (77, 123)
        assert await database.read(dump) == before

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            (
                FileStat(2**64 - 1, 2**63 + 5, 1, 10**19, -(10**19)),
                FileStat(2**64 - 1, 2**63 + 5, 1, 2**63 - 1, 1 - 2**63),
            ),
            (FileStat(0, 1, 2**40, -5, 7), FileStat(0, 1, 2**40, -5, 7)),
        ],
    )
    async def test_extreme_stat_values_can_be_stored(
        self, database: Database, written: FileStat, read: FileStat
    ) -> None:
        """Inodes of some file systems use all 64 bits, and a time stamp may lie in the year 2446."""
        await put_note(database, A, "text\n")
        await database.documents.touch(A, IndexedFile(written, 123))
        assert (await database.documents.known(SETTINGS.fingerprint))[A].stat == read

    @pytest.mark.parametrize("name", ["a'b.md", 'a"b.md', "a\nb.md", "日记 – 1.md", "😀.md", "a\u202eb.md"])
    async def test_odd_names_are_stored_unchanged(self, database: Database, name: str) -> None:
        path = f"memory/{name}"
        await put_note(database, path, "text\n")
        assert (await database.documents.known(SETTINGS.fingerprint)).keys() == {path}
        await database.write(check_consistency)

    async def test_empty_note_is_a_file_without_chunks(self, database: Database) -> None:
        await put_note(database, A, "")
        assert await database.documents.is_indexed(A)
        assert (await database.documents.counts()).chunks == 0
        await database.write(check_consistency)

    async def test_chunks_are_read_back_with_their_document(self, database: Database) -> None:
        await put_note(database, A, note("rent", "boiler"))
        held = await chunks_in(database)
        assert {row.path for row in held.values()} == {A}
        assert {row.heading for row in held.values()} == {"rent", "boiler"}
        assert all(row.id == number and row.start_line <= row.end_line for number, row in held.items())
        assert all(row.mtime_ns == stat_of("").mtime_ns for row in held.values())

    async def test_put_of_several_files_is_atomic(self, database: Database) -> None:
        with pytest.raises(ZeroDivisionError):
            await database.documents.put([content(A, note("rent")), replace(content(B, ""), chunks=Failing())])
        assert await database.documents.known(SETTINGS.fingerprint) == {}
        await database.write(check_consistency)

    async def test_put_afresh_replaces_unchanged_chunks(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        before = await chunks_in(database)
        (done,) = await database.documents.put([content(A, note("rent"), is_afresh=True)])
        assert (done.unchanged, done.added) == (0, len(before))
        assert [row.text for row in (await chunks_in(database)).values()] == [row.text for row in before.values()]

    async def test_flagged_files_have_flags_or_are_conflict_copies(self, database: Database) -> None:
        flagged, copy = content(A, "text\n"), content("memory/b.sync-conflict-1.md", "text\n")
        flagged = replace(flagged, row=replace(flagged.row, flags="not UTF-8"))
        await database.documents.put([flagged, copy, content(B, "text\n")])
        listed = dict(await database.documents.flagged(10))
        assert listed.keys() == {A, copy.row.path}
        assert listed[A] == "not UTF-8"
        assert len(await database.documents.flagged(1)) == 1

    async def test_filters_match_files(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, "bank/c.md", note("boiler"))
        (matching,) = await database.documents.matching(Filters(paths=["bank/"]))
        everything = await database.documents.matching(Filters())
        assert matching in everything
        assert len(everything) == 2

    async def test_passages_are_found_by_hash_in_all_notes(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, B, note("rent"))
        entries = {passage for entry in content(A, note("rent")).chunks for passage in entry.passages}
        found = await read(database, passages_of_hashes, [*(entry.hash for entry in entries), b"unknown"])
        rows = await chunks_in(database)
        assert {(rows[row.chunk].path, PassageEntry(row.start, row.stop, row.hash)) for row in found} == {
            (path, entry) for path in (A, B) for entry in entries
        }

    async def test_counts_cover_all_rows(self, database: Database) -> None:
        assert await database.documents.counts() == replace(await database.documents.counts(), files=0, chunks=0)
        await put_note(database, A, note("rent", "boiler"))
        held = await database.documents.counts()
        assert (held.files, held.chunks, held.vectors) == (1, len(await chunks_in(database)), 0)
        assert held.passages >= held.chunks
        assert held.bytes > 0


async def test_cancelled_removal_of_large_note_is_rolled_back(database: Database) -> None:
    await put_note(database, A, note(*(f"topic{number}" for number in range(50))))
    begins = asyncio.Event()
    loop = asyncio.get_running_loop()

    def install_halt(writer: apsw.Connection) -> None:
        def halt(*_nothing: object) -> None:
            if not begins.is_set():
                loop.call_soon_threadsafe(begins.set)
                # without an interrupt the removal continues
                with suppress(AssertionError):
                    eventually(lambda: writer.is_interrupted)

        writer.create_scalar_function("halt", halt, 0)
        writer.execute("CREATE TEMP TRIGGER halting BEFORE DELETE ON main.chunks BEGIN SELECT halt(); END")

    await database.write(install_halt)
    removal = asyncio.create_task(database.documents.remove([A]))
    await begins.wait()
    removal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await removal
    assert await database.documents.is_indexed(A)
    # rolled back as a whole, and the connection still works
    await database.write(lambda writer: writer.execute("DROP TRIGGER temp.halting"))
    await database.write(check_consistency)
    assert await database.documents.remove([A]) == 1


def test_words_of_many_files_make_one_segment() -> None:
    """FTS5 later merges every segment it wrote."""
    files = [content(f"memory/{number}.md", f"Some words of number {number}.\n") for number in range(20)]
    with closing(apsw.Connection("")) as db:
        prepare_index(db)
        for written, is_afresh in enumerate((False, True), start=1):
            with db:
                put_files(db, [replace(file, is_afresh=is_afresh) for file in files])
            assert db.execute("SELECT count(DISTINCT segid) FROM chunk_words_idx").get == written


def test_large_note_is_indexed_in_batches_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []

    def insert_words(db: apsw.Connection, chunks: Sequence[ChunkText]) -> None:
        batches.append(len(chunks))
        stems.insert_words(db, chunks)

    monkeypatch.setattr(passages, "insert_words", insert_words)
    with closing(apsw.Connection("")) as db:
        prepare_index(db)
        indexed = put(db, "memory/a.md", "".join(f"## {number}\n\n{'Some words. ' * 20}\n" for number in range(700)))
        assert sum(batches) == indexed.added > 512
        assert max(batches) == 256
        check_consistency(db)
