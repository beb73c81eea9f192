"""The life cycle, transactions and readers of an index file."""

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

from memoryd.domain.documents import RelativePath
from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.index.database import Database, IndexReader
from memoryd.store.index.documents import known_files
from memoryd.store.index.schema import FLOAT_VERSION, FileKind, prepare_index, recognise
from memoryd.store.opening import READERS
from tests.store.consistency import check_consistency
from tests.store.rows import SETTINGS, note, put, put_note
from tests.waiting import SECONDS, eventually_async

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def put_and_fail(db: apsw.Connection) -> None:
    put(db, "memory/b.md", note("boiler"))
    raise ValueError("on purpose")


async def files_in(database: Database) -> set[str]:
    return set(await database.documents.known(SETTINGS.fingerprint))


async def test_failed_write_is_rolled_back(database: Database) -> None:
    await put_note(database, "memory/a.md", note("rent"))
    with pytest.raises(ValueError, match="on purpose"):
        await database.write(put_and_fail)
    assert await files_in(database) == {"memory/a.md"}
    await put_note(database, "memory/c.md", note("attic"))
    await database.write(check_consistency)


async def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises((apsw.Error, StoreUnavailable)):
        await database.read(lambda db: put(db, "memory/a.md", note("rent")))
    assert await files_in(database) == set()


async def test_snapshot_does_not_see_later_commits(database: Database) -> None:
    await put_note(database, "memory/a.md", note("rent"))
    loop, anything = asyncio.get_running_loop(), range(1, 100)

    def count_twice(reader: IndexReader) -> tuple[int, int]:
        before = len(reader.paths(anything))
        asyncio.run_coroutine_threadsafe(put_note(database, "memory/b.md", note("boiler")), loop).result(SECONDS)
        return before, len(reader.paths(anything))

    before, after = await database.read_snapshot(count_twice)
    assert before == after
    assert len(await database.read_snapshot(lambda reader: reader.paths(anything))) > after


async def test_interrupted_read_leaves_no_open_snapshot(database: Database) -> None:
    def break_off(db: apsw.Connection) -> None:
        db.execute("BEGIN; SELECT count(*) FROM chunks").fetchall()
        raise apsw.InterruptError("interrupted")

    await put_note(database, "memory/a.md", note("rent"))
    for _ in range(READERS):
        with pytest.raises(StoreUnavailable, match="interrupted"):
            await database.read(break_off)
    await put_note(database, "memory/b.md", note("boiler"))
    assert await files_in(database) == {"memory/a.md", "memory/b.md"}


async def test_readers_do_not_see_uncommitted_files(database: Database) -> None:
    halfway, goes_on = threading.Event(), threading.Event()

    def slow_put(db: apsw.Connection) -> None:
        put(db, "memory/a.md", note("rent"))
        halfway.set()
        assert goes_on.wait(60)
        put(db, "memory/b.md", note("boiler"))

    async with asyncio.TaskGroup() as group:
        writing = group.create_task(database.write(slow_put))
        await asyncio.to_thread(halfway.wait, 10)
        assert await asyncio.gather(*(files_in(database) for _ in range(READERS))) == [set()] * READERS
        goes_on.set()
        await writing
    assert await files_in(database) == {"memory/a.md", "memory/b.md"}


async def test_cancelled_read_stops_its_query(database: Database) -> None:
    for _ in range(2 * READERS):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await database.read(lambda db: db.execute(ENDLESS).get)
    assert await files_in(database) == set()


@pytest.mark.parametrize("verb", ["read", "write"])
async def test_repeatedly_cancelled_step_is_still_awaited(database: Database, verb: str) -> None:
    """A deadline and a disconnect may both cancel; without waiting, two steps would share one connection."""
    begins, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def step(_db: apsw.Connection) -> None:
        begins.set()
        goes_on.wait(10)
        ended.set()

    asking = asyncio.ensure_future(getattr(database, verb)(step))
    await asyncio.to_thread(begins.wait, 10)
    for _ in range(3):
        asking.cancel()
        await asyncio.wait([asking], timeout=0.02)
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert ended.is_set()
    assert await files_in(database) == set()


async def test_f051_no_foreign_write_within_our_transaction(database: Database) -> None:
    """A foreign writer is refused between what our transaction read and what it writes."""
    other = apsw.Connection(str(database.path))
    refused = []

    def count_and_write(db: apsw.Connection) -> None:
        before = len(known_files(db, SETTINGS.fingerprint))
        with pytest.raises(apsw.BusyError) as told:
            other.execute("BEGIN IMMEDIATE")
        refused.append(told.value)
        put(db, f"memory/{before}.md", note("rent"))

    for _ in range(3):
        await database.write(count_and_write)
        other.execute("BEGIN IMMEDIATE; COMMIT").fetchall()
    other.close()
    assert len(refused) == 3
    assert await files_in(database) == {"memory/0.md", "memory/1.md", "memory/2.md"}


async def test_close_stops_running_reads(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    database = Database(path=tmp_path / "index.sqlite", executor=executor)
    await database.open()
    asking = threading.Event()

    def ask(db: apsw.Connection) -> object:
        asking.set()
        return db.execute(ENDLESS).get

    async with asyncio.TaskGroup() as group:
        question = group.create_task(_fail_on_close(database, ask))
        await asyncio.to_thread(asking.wait, 10)
        async with asyncio.timeout(60):
            await database.close()
        await question
    with pytest.raises(StoreUnavailable):
        await files_in(database)
    with pytest.raises(StoreUnavailable):
        await put_note(database, "memory/a.md", "")


async def test_cancelled_close_leaves_database_open(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    database = Database(path=tmp_path / "index.sqlite", executor=executor)
    await database.open()
    asking, goes_on = threading.Event(), threading.Event()

    def hold(_db: apsw.Connection) -> bool:
        asking.set()
        return goes_on.wait(60)

    async with asyncio.TaskGroup() as group:
        question = group.create_task(database.read(hold))
        await asyncio.to_thread(asking.wait, 60)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await database.close()
        goes_on.set()
        assert await question
    async with asyncio.timeout(60):
        await put_note(database, "memory/a.md", "")
        assert await asyncio.gather(*(files_in(database) for _ in range(READERS))) == [{"memory/a.md"}] * READERS
        await database.close()
        await database.open()
        assert await files_in(database) == {"memory/a.md"}
        await database.close()


async def _fail_on_close(database: Database, ask: object) -> None:
    with pytest.raises(StoreUnavailable):
        await database.read(ask)  # type: ignore[arg-type]  # a function of the connection


async def test_foreign_lock_delays_writes_but_not_reads(database: Database) -> None:
    other = apsw.Connection(str(database.path))
    other.execute("BEGIN IMMEDIATE")
    assert await files_in(database) == set()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(put_note(database, "memory/a.md", "text\n"))
        assert await files_in(database) == set()
        other.execute("ROLLBACK")
        await waiting
    other.close()
    assert await files_in(database) == {"memory/a.md"}


async def _open_and_ask(database: Database) -> None:
    await database.open()
    await files_in(database)


def test_file_kind_is_recognised_by_header(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    assert recognise(path) is FileKind.ABSENT
    path.touch()
    assert recognise(path) is FileKind.ABSENT
    path.write_bytes(b"not a database")
    assert recognise(path) is FileKind.DAMAGED
    path.unlink()
    db = apsw.Connection(str(path))
    prepare_index(db)
    db.close()
    assert recognise(path) is FileKind.OURS
    db = apsw.Connection(str(path))
    db.pragma("user_version", FLOAT_VERSION)
    db.close()
    assert recognise(path) is FileKind.EARLIER
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()
    assert recognise(path) is FileKind.OTHER_VERSION
    path.unlink()
    path.mkdir()
    assert recognise(path) is FileKind.DAMAGED


async def test_new_index_is_recognised_before_first_checkpoint(database: Database, tmp_path: Path) -> None:
    # copied by another process, because closing the file in this one would drop SQLite's locks
    copying = await asyncio.create_subprocess_exec("cp", database.path, tmp_path / "after-a-crash")
    assert await copying.wait() == 0
    assert recognise(tmp_path / "after-a-crash") is FileKind.OURS
    assert await database.read(lambda db: db.pragma("journal_mode")) == "wal"


def test_foreign_database_is_recognised_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs (value TEXT); INSERT INTO theirs VALUES ('precious')")
    db.close()
    before = sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns
    assert recognise(path) is FileKind.FOREIGN
    assert (sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.sqlite"]


async def test_writes_do_not_block_the_event_loop(database: Database) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def slow(db: apsw.Connection) -> bool:
        put(db, "memory/a.md", note("rent"))
        begun.set()
        return may_end.wait(SECONDS)

    async with asyncio.TaskGroup() as group:
        writing = group.create_task(database.write(slow))
        # only an event loop that is not blocked can let the write end
        await eventually_async(begun.is_set)
        assert not writing.done()
        may_end.set()
    assert writing.result()


class TestDatabase:
    """The life cycle."""

    async def test_reads_beyond_the_pool_size_wait(self, database: Database) -> None:
        await put_note(database, "memory/a.md", note("rent"))
        found = await asyncio.gather(*(files_in(database) for _ in range(8 * READERS)))
        assert found == [{"memory/a.md"}] * 8 * READERS

    async def test_cancelled_write_is_atomic(self, database: Database) -> None:
        for number in range(20):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.001 * (number % 4)):
                    await put_note(database, f"memory/{number}.md", note("rent", "attic"))
        await database.write(check_consistency)
        assert await files_in(database) <= {f"memory/{number}.md" for number in range(20)}

    async def test_close_leaves_no_log(self, tmp_path: Path, executor: ThreadPoolExecutor) -> None:
        database = Database(path=tmp_path / "index.sqlite", executor=executor)
        await database.open()
        await put_note(database, "memory/a.md", note("rent"))
        await database.close()
        assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite"]
        await database.open()
        assert await files_in(database) == {"memory/a.md"}
        await database.close()

    async def test_broken_page_is_reported_as_damage(self, tmp_path: Path, executor: ThreadPoolExecutor) -> None:
        path = tmp_path / "index.sqlite"
        database = Database(path=path, executor=executor)
        await database.open()
        for number in range(40):
            await put_note(database, f"memory/{number}.md", note("rent", "attic"))
        await database.close()
        content = bytearray(path.read_bytes())
        content[4096:] = b"\xa5" * (len(content) - 4096)
        path.write_bytes(content)
        with pytest.raises(DamagedDatabase):
            await _open_and_ask(database)
        await database.close()

    async def test_read_waits_while_file_is_reopened(self, database: Database) -> None:
        async with database.reopening():
            asking = asyncio.create_task(database.read(lambda db: db.execute("SELECT 1").get))
            await asyncio.sleep(0)
            assert not asking.done()
            await database.open()
        assert await asking == 1

    async def test_epoch_counts_openings_and_writes_counts_transactions(self, database: Database) -> None:
        epoch, writes = database.epoch, database.writes
        await put_note(database, "memory/a.md", note("rent"))
        assert await files_in(database) == {"memory/a.md"}
        assert (database.epoch, database.writes) == (epoch, writes + 1)
        async with database.reopening():
            assert not database.is_open
            await database.open()
        assert database.is_open
        assert (database.epoch, database.writes) == (epoch + 1, writes + 1)

    async def test_read_only_index_answers_and_says_why_it_refuses_writes(self, database: Database) -> None:
        await put_note(database, "memory/a.md", note("rent"))
        async with database.reopening():
            await database.open_to_read(why="the disk is read-only")
        assert await files_in(database) == {"memory/a.md"}
        with pytest.raises(StoreUnavailable, match="cannot be written: the disk is read-only"):
            database.require_writable()
        with pytest.raises(StoreUnavailable, match="cannot be written: the disk is read-only"):
            await put_note(database, "memory/b.md", note("boiler"))
        async with database.reopening():
            await database.open()
        database.require_writable()
        await put_note(database, "memory/b.md", note("boiler"))
        assert await files_in(database) == {"memory/a.md", "memory/b.md"}

    async def test_read_fails_when_file_is_not_reopened(self, database: Database) -> None:
        async with database.reopening():
            asking = asyncio.create_task(files_in(database))
            await asyncio.sleep(0)
            assert not asking.done()
        with pytest.raises(StoreUnavailable, match="the index is not open"):
            await asking

    async def test_replaced_file_is_noticed(self, database: Database) -> None:
        assert not database.is_replaced()
        database.path.rename(database.path.with_name("moved.sqlite"))
        assert database.is_replaced()
        database.path.write_bytes(b"another")
        assert database.is_replaced()
        await database.close()
        assert not database.is_replaced()

    async def test_sound_file_has_no_problems(self, database: Database) -> None:
        await put_note(database, "memory/a.md", note("rent"))
        assert await database.problems() == []
        assert (database.damage, database.trouble) == (None, None)


async def test_reader_with_cached_word_structure_finds_no_damage(database: Database) -> None:
    for number in range(12):
        await put_note(database, f"memory/{number}.md", note(f"boiler {number}"))
    ask = "SELECT count(*) FROM chunk_words WHERE chunk_words MATCH 'boiler'"
    # each reader has now cached the structure of the word index
    counts = await asyncio.gather(*(database.read(lambda db: db.execute(ask).get) for _ in range(4 * READERS)))
    assert len(set(counts)) == 1
    gone = [RelativePath(f"memory/{number}.md") for number in range(6)]
    await database.documents.remove(gone, purged=gone)
    await database.words.drop_deleted()
    assert [await database.problems() for _ in range(2 * READERS)] == [[]] * 2 * READERS


async def test_small_transaction_frees_cache_of_a_large_one(database: Database) -> None:
    def fill(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE trial (value BLOB)")
        db.executemany("INSERT INTO trial VALUES (randomblob(6000))", [()] * 1_500)

    def held(db: apsw.Connection) -> int:
        return db.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]

    await database.write(fill)
    assert await database.write(held) > 8 * 2**20
    assert await database.write(held) < 2**20
