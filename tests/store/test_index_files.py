from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.text.words import query_terms
from memoryd.store.database import Database
from memoryd.store.document_rows import (
    Rename,
    remove_files,
    rename_files,
)
from memoryd.store.index_schema import prepare_index
from memoryd.store.word_expressions import any_of
from tests.store.consistency import check_consistency, dump
from tests.store.raw import raw
from tests.store.rows import SETTINGS, note, put, put_note, stat_of
from tests.sweeps import whole_or

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
PATHS = st.sampled_from(["MEMORY.md", "memory/a.md", "memory/b.md"])
TOPICS = st.lists(st.sampled_from(["rent", "boiler", "gatewayHost2", "海边的木屋", "café"]), max_size=5)
EDITS = st.one_of(
    st.tuples(st.just("put"), PATHS, TOPICS),
    st.tuples(st.just("afresh"), PATHS, TOPICS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("remove"), PATHS, st.none()),
)


def new_index() -> apsw.Connection:
    db = apsw.Connection("")
    db.execute("PRAGMA foreign_keys = ON")
    prepare_index(db)
    return db


def found(db: apsw.Connection, question: str) -> set[str]:
    expression = any_of(query_terms(question))
    sql = """
    SELECT f.path FROM chunk_words w LEFT JOIN chunks c ON c.id = w.rowid LEFT JOIN files f ON f.id = c.file_id
    WHERE w.chunk_words MATCH ?
    """
    return {row[0] for row in db.execute(sql, (expression,))}


@settings(max_examples=whole_or(25, 60), deadline=None)
@given(st.lists(EDITS, max_size=12))
def test_any_series_of_edits_gives_what_a_rebuild_gives(edits: list[tuple[str, str, object]]) -> None:
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
            rename_files(db, [Rename(RelativePath(path), new, stat_of(disk[new]), 10**18)])
    rebuilt = new_index()
    for path, text in disk.items():
        put(rebuilt, path, text)
    check_consistency(db)
    assert dump(db) == dump(rebuilt)


async def test_unchanged_chunks_keep_their_rows(database: Database) -> None:
    await put_note(database, A, note("rent", "boiler", "garden"))
    before = await raw(database).read(lambda db: {row[1]: row[0] for row in db.execute("SELECT id, hash FROM chunks")})
    done = await put_note(database, A, note("rent", "attic", "garden"))
    after = await raw(database).read(lambda db: {row[1]: row[0] for row in db.execute("SELECT id, hash FROM chunks")})
    kept = before.keys() & after.keys()
    assert len(kept) == done.kept > 0
    assert all(before[key] == after[key] for key in kept)
    assert done.added == len(after) - done.kept
    assert done.removed == len(before) - done.kept
    await raw(database).write(check_consistency)


async def test_edit_is_found_and_what_it_replaced_is_not(database: Database) -> None:
    await put_note(database, A, note("rent"))
    await put_note(database, A, note("boiler"))
    assert await raw(database).read(lambda db: found(db, "boiler")) == {A}
    assert await raw(database).read(lambda db: found(db, "rent")) == set()


async def test_renamed_note_is_found_by_its_new_name_alone(database: Database) -> None:
    old, new = RelativePath("memory/plumber.md"), RelativePath("memory/electrician.md")
    await put_note(database, old, note("rent"))
    chunks = await raw(database).read(lambda db: list(db.execute("SELECT id FROM chunks ORDER BY id")))
    passages = await raw(database).read(lambda db: list(db.execute("SELECT id FROM passages ORDER BY id")))
    await database.documents.rename([Rename(old, new, stat_of("", 9), 5)])
    assert await raw(database).read(lambda db: list(db.execute("SELECT id FROM chunks ORDER BY id"))) == chunks
    assert await raw(database).read(lambda db: list(db.execute("SELECT id FROM passages ORDER BY id"))) == passages
    assert await raw(database).read(lambda db: found(db, "electrician")) == {new}
    assert await raw(database).read(lambda db: found(db, "plumber")) == set()
    held = await database.documents.known(SETTINGS.fingerprint)
    assert held.keys() == {new}
    assert held[new].stat.inode == 9
    await raw(database).write(check_consistency)


async def test_rename_over_an_indexed_note_replaces_it_whole(database: Database) -> None:
    await put_note(database, A, note("rent"))
    await put_note(database, B, note("boiler"))
    await database.documents.rename([Rename(A, B, stat_of(""), 5)])
    await raw(database).write(check_consistency)
    assert await raw(database).read(lambda db: found(db, "boiler")) == set()
    assert await raw(database).read(lambda db: found(db, "rent")) == {B}


async def test_removed_note_leaves_nothing(database: Database) -> None:
    await put_note(database, A, note("rent"))
    assert await database.documents.remove([A, B]) == 1
    for table in ("files", "chunks", "passages", "chunk_words_docsize"):
        assert await raw(database).read(lambda db, table=table: db.execute(f"SELECT count(*) FROM {table}").get) == 0  # type: ignore[misc]
    assert not await database.documents.is_indexed(A)


async def test_purged_text_is_in_no_page_of_the_files(database: Database, tmp_path: Path) -> None:
    await put_note(database, B, note("rent"))
    await put_note(database, A, "# Secret\n\nThe word is Xylophagous.\n")
    assert await raw(database).read(lambda db: found(db, "xylophagous")) == {A}
    assert await database.documents.remove([], purged=[A]) == 1
    await database.words.drop_deleted()
    await database.checkpoint()
    left = b"".join(path.read_bytes() for path in tmp_path.glob("index.sqlite*")).lower()
    assert b"xylophag" not in left
    assert b"boiler" not in left
    assert b"rent item 3" in left
    await raw(database).write(check_consistency)


async def test_note_cut_by_other_rules_is_stale(database: Database) -> None:
    await put_note(database, A, note("rent"))
    assert not (await database.documents.known(SETTINGS.fingerprint))[A].is_stale
    assert (await database.documents.known("another"))[A].is_stale


async def test_touch_notes_the_stat_alone(database: Database) -> None:
    await put_note(database, A, note("rent"))
    before = await raw(database).read(dump)
    await database.documents.touch(A, stat_of("", 77), 123)
    held = (await database.documents.known(SETTINGS.fingerprint))[A]
    assert (held.stat.inode, held.read_at_ns) == (77, 123)
    assert await raw(database).read(dump) == before


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (FileStat(2**64 - 1, 2**63 + 5, 1, 10**19, -(10**19)), FileStat(2**64 - 1, 2**63 + 5, 1, 2**63 - 1, 1 - 2**63)),
        (FileStat(0, 1, 2**40, -5, 7), FileStat(0, 1, 2**40, -5, 7)),
    ],
)
async def test_numbers_that_a_disk_may_give_can_be_kept(database: Database, written: FileStat, read: FileStat) -> None:
    """Inodes of some file systems use all 64 bits, and a time stamp may lie in the year 2446."""
    await put_note(database, A, "text\n")
    await database.documents.touch(A, written, 123)
    assert (await database.documents.known(SETTINGS.fingerprint))[A].stat == read


@pytest.mark.parametrize("name", ["a'b.md", 'a"b.md', "a\nb.md", "日记 – 1.md", "😀.md", "a\u202eb.md"])
async def test_odd_names_are_kept_as_they_are(database: Database, name: str) -> None:
    path = f"memory/{name}"
    await put_note(database, path, "text\n")
    assert (await database.documents.known(SETTINGS.fingerprint)).keys() == {path}
    await raw(database).write(check_consistency)


async def test_empty_note_is_a_file_without_chunks(database: Database) -> None:
    await put_note(database, A, "")
    assert await database.documents.is_indexed(A)
    assert await raw(database).read(lambda db: db.execute("SELECT count(*) FROM chunks").get) == 0
    await raw(database).write(check_consistency)
