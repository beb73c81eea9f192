"""Faults of the ledger file: it is never deleted, costs its callers at most an error, and is replaced if damaged."""

import asyncio
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.errors import ForeignDatabase, StoreError, StoreUnavailable
from memoryd.store.index.database import Database
from memoryd.store.ledger.database import LEDGER, MAX_SET_ASIDE, aside, copies
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.migrations import History
from memoryd.store.opening import log_of, read_header
from tests.fakes import FakeClock
from tests.fault.faults import has_strace, most_calls, mounted, ran_traced, remount
from tests.store.children import SECRET
from tests.store.rows import bytes_in, files_with
from tests.sweeps import some

ROOT = Path(__file__).parents[2]
DAY = 86_400.0
Make = Callable[..., Ledger]


def newer(sql: str = "CREATE TABLE more (a INTEGER) STRICT") -> History:
    migrations = (*LEDGER.migrations, sql)
    return History(LEDGER.name, LEDGER.application, migrations)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o277, 0o777])
async def test_files_are_private_under_any_umask(tmp_path: Path, make: Make, mask: int) -> None:
    before = os.umask(mask)
    try:
        first = make(history=LEDGER)
        await first.store_answer("main", "s", 1, SECRET)
        open_now = {path.name: mode(path) for path in tmp_path.iterdir()}
        await first.close()
        await make(history=newer()).store_answer("main", "s", 2, "x")
    finally:
        os.umask(before)
    assert open_now == {f"ledger.sqlite{suffix}": 0o600 for suffix in ("", "-wal", "-shm")}
    after = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert set(after.values()) == {0o600}
    assert len(after) == 4


async def test_readable_ledger_is_made_private(tmp_path: Path, make: Make) -> None:
    first = make()
    await first.store_answer("main", "s", 1, SECRET)
    await first.close()
    (tmp_path / "ledger.sqlite").chmod(0o644)
    ledger = make()
    assert await ledger.pending_answer("main", "s", 1) == SECRET
    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}


def write_index(path: Path) -> None:
    async def write() -> None:
        with ThreadPoolExecutor(4) as pool:
            index = Database(path=path, executor=pool)
            await index.open()
            await index.close()

    asyncio.run(write())


def write_strangers(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()


def link_to_strangers(path: Path) -> None:
    write_strangers(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def write_text(path: Path) -> None:
    path.write_text("My diary, which nobody may touch.\n" * 100)


@pytest.mark.parametrize("write", [write_index, write_strangers, link_to_strangers, link_to_nothing, write_text])
async def test_foreign_file_is_refused_and_unchanged(tmp_path: Path, make: Make, write: Callable[[Path], None]) -> None:
    path = tmp_path / "ledger.sqlite"
    # in a thread, because the index is made in an event loop of its own
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write, path).result()
    before = bytes_in(tmp_path)
    ledger = make(is_private=False)
    for _ in range(2):
        with pytest.raises(ForeignDatabase):
            await ledger.store_answer("main", "s", 1, SECRET)
    with pytest.raises(ForeignDatabase):
        await ledger.sweep()
    assert ledger.trouble
    assert str(path) in ledger.trouble
    assert bytes_in(tmp_path) == before
    # once it is moved away, a ledger is created
    path.rename(tmp_path / "moved")
    await ledger.store_answer("main", "s", 1, SECRET)
    assert ledger.trouble is None


@pytest.mark.parametrize("write", [Path.mkdir, os.mkfifo])
async def test_folder_or_pipe_is_refused(tmp_path: Path, make: Make, write: Callable[[Path], None]) -> None:
    write(tmp_path / "ledger.sqlite")
    with pytest.raises(StoreUnavailable):
        await make().store_answer("main", "s", 1, SECRET)
    assert not (tmp_path / "ledger.sqlite").is_file()


async def test_index_in_private_folder_is_refused(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "ledger.sqlite"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write_index, path).result()
    before = bytes_in(tmp_path)
    with pytest.raises(ForeignDatabase, match="another database"):
        await make(is_private=True).store_answer("main", "s", 1, SECRET)
    assert bytes_in(tmp_path) == before


async def test_newer_ledger_is_refused_and_unchanged(tmp_path: Path, make: Make) -> None:
    first = make(history=newer())
    await first.store_answer("main", "s", 1, SECRET)
    await first.close()
    before = bytes_in(tmp_path)
    ledger = make()
    with pytest.raises(ForeignDatabase, match="of a newer memoryd"):
        await ledger.pending_answer("main", "s", 1)
    assert "of a newer memoryd" in (ledger.trouble or "")
    assert bytes_in(tmp_path) == before
    assert await make(history=newer()).pending_answer("main", "s", 1) == SECRET


async def test_copy_before_migration_expires_or_is_forgotten(tmp_path: Path, make: Make) -> None:
    path, clock = tmp_path / "ledger.sqlite", FakeClock(1_800_000_000.0)
    for number, forgets in enumerate((False, True)):
        folder = tmp_path / str(number)
        old = make(folder / path.name, clock=clock)
        await old.store_answer("main", "s", 1, SECRET)
        await old.close()
        ledger = make(folder / path.name, history=newer(), clock=clock)
        assert await ledger.pending_answer("main", "s", 1) == SECRET
        (copy,) = copies(folder / path.name)
        assert SECRET.encode() in copy.read_bytes()
        os.utime(copy, (clock.now, clock.now))
        if forgets:
            await ledger.forget_session("main", "s")
        else:
            clock.advance(7 * DAY)
            await ledger.sweep()
            assert copy.exists(), "a week is not over"
            clock.advance(1)
            await ledger.sweep()
        assert files_with(folder, SECRET) == []
        assert copies(folder / path.name) == []


async def test_only_last_copy_is_kept(tmp_path: Path, make: Make) -> None:
    old = make()
    await old.store_answer("main", "s", 1, SECRET)
    await old.close()
    for number in range(2):
        more = tuple(f"CREATE TABLE t{n} (a INTEGER)" for n in range(number + 1))
        ledger = make(history=History(LEDGER.name, LEDGER.application, (*LEDGER.migrations, *more)))
        assert await ledger.pending_answer("main", "s", 1) == SECRET
        await ledger.close()
    assert [copy.name for copy in copies(tmp_path / "ledger.sqlite")] == [f"ledger.sqlite.before-{LEDGER.version + 2}"]


async def test_failed_migration_leaves_ledger_unchanged(tmp_path: Path, make: Make) -> None:
    old = make()
    await old.store_answer("main", "s", 1, SECRET)
    await old.close()
    broken = make(history=newer("CREATE TABLE more (a); DELETE FROM held_answers; nonsense"))
    with pytest.raises(StoreUnavailable, match="cannot be brought to version"):
        await broken.pending_answer("main", "s", 1)
    assert aside(tmp_path / "ledger.sqlite") == []
    assert await make().pending_answer("main", "s", 1) == SECRET


def damage_all_but_the_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:] = os.urandom(len(data) - 100)
    path.write_bytes(data)


def damage_a_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192:16384] = os.urandom(8192)
    path.write_bytes(data)


def damage_the_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:16] = os.urandom(16)
    path.write_bytes(data)


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 8192)


def drop_a_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE held_answers")
    connection.close()


HARMS = [damage_all_but_the_header, damage_a_page, damage_the_header, cut_off, drop_a_table]


@pytest.mark.parametrize("harm", HARMS)
async def test_damaged_ledger_is_set_aside_and_replaced(
    tmp_path: Path, make: Make, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "ledger.sqlite"
    first = make()
    await first.store_answer("main", "s", 1, SECRET)
    await first.close()
    harm(path)
    before = path.read_bytes()
    ledger = make()
    await ledger.store_answer("main", "s", 2, "new")
    assert await ledger.pending_answer("main", "s", 2) == "new"
    assert await ledger.pending_answer("main", "s", 1) is None
    (kept,) = ledger.set_aside
    assert kept.read_bytes() == before
    assert mode(kept) == 0o600
    assert str(kept) in (ledger.trouble or "")
    # the trouble is reported until the damaged file is removed
    kept.unlink()
    await ledger.sweep()
    assert ledger.trouble is None


async def test_damage_while_open_loses_no_later_answers(tmp_path: Path, make: Make) -> None:
    path, ledger = tmp_path / "ledger.sqlite", make()
    for seq in range(1, 400):
        await ledger.store_answer("main", "s", seq, f"{SECRET} {seq} " * 20)
    await ledger.sweep()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(path.stat().st_size - 8192))
    # the call that finds the damage replaces the ledger and retries
    assert [await ledger.pending_answer("main", "s", seq) for seq in (7, 150, 399)] == [None, None, None]
    await ledger.store_answer("main", "s", 400, "new")
    assert await ledger.pending_answer("main", "s", 400) == "new"
    assert len(aside(path)) == 1


async def test_number_of_ledgers_set_aside_is_bounded(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "ledger.sqlite"
    for number in range(MAX_SET_ASIDE):
        ledger = make()
        await ledger.store_answer("main", "s", number, f"{SECRET} {number}")
        await ledger.close()
        damage_the_header(path)
    last = make()
    await last.store_answer("main", "s", 1, "x")
    assert len(last.set_aside) == MAX_SET_ASIDE
    await last.close()
    damage_the_header(path)
    before, refused = bytes_in(tmp_path), make()
    with pytest.raises(StoreUnavailable, match="damaged ledgers lie in"):
        await refused.store_answer("main", "s", 1, "x")
    assert bytes_in(tmp_path) == before
    aside(path)[0].unlink()
    await refused.store_answer("main", "s", 1, "x")
    assert await refused.pending_answer("main", "s", 1) == "x"


async def test_ledger_removed_while_open_is_recreated(tmp_path: Path, make: Make) -> None:
    ledger = make()
    await ledger.store_answer("main", "s", 1, SECRET)
    (tmp_path / "ledger.sqlite").unlink()
    assert await ledger.pending_answer("main", "s", 1) is None
    await ledger.store_answer("main", "s", 2, "new")
    await ledger.close()
    again = make()
    assert await again.pending_answer("main", "s", 1) is None, "its log must not restore it"
    assert await again.pending_answer("main", "s", 2) == "new"
    assert again.trouble is None


async def test_backup_restored_while_open_is_used(tmp_path: Path, make: Make) -> None:
    path, backup, ledger = tmp_path / "ledger.sqlite", tmp_path / "backup", make()
    await ledger.store_answer("main", "s", 1, "from the backup")
    await ledger.close()
    shutil.copy(path, backup)
    for seq in range(2, 30):
        await ledger.store_answer("main", "s", seq, SECRET)
    backup.replace(path)
    assert await ledger.pending_answer("main", "s", 1) == "from the backup"
    assert await ledger.pending_answer("main", "s", 2) is None
    await ledger.store_answer("main", "s", 3, "new")
    await ledger.close()
    again = make()
    assert [await again.pending_answer("main", "s", seq) for seq in (1, 2, 3)] == ["from the backup", None, "new"]
    assert again.trouble is None


async def test_log_of_a_removed_ledger_is_not_applied_to_new_one(tmp_path: Path, make: Make) -> None:
    path, elsewhere = tmp_path / "ledger.sqlite", tmp_path / "elsewhere"
    first = make()
    await first.store_answer("main", "s", 1, SECRET)
    elsewhere.write_bytes(log_of(path).read_bytes())
    await first.close()
    path.unlink()
    elsewhere.rename(log_of(path))
    ledger = make()
    await ledger.store_answer("main", "s", 2, "new")
    assert await ledger.pending_answer("main", "s", 1) is None
    assert await ledger.pending_answer("main", "s", 2) == "new"
    assert ledger.trouble is None


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


async def test_ledger_locked_by_another_process_recovers(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with the usual wait for locks this test would time out
    monkeypatch.setattr("memoryd.store.connection.BUSY_TIMEOUT_MS", 3_600_000)
    monkeypatch.setattr("memoryd.store.pool.BUSY_TIMEOUT_MS", 3_600_000)
    path, ledger = tmp_path / "ledger.sqlite", make()
    await ledger.store_answer("main", "s", 1, SECRET)
    command = [sys.executable, "-c", LOCK, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(StoreUnavailable, match="the ledger cannot be used now"):
            await ledger.store_answer("main", "s", 2, "new")
        assert "locked" in (ledger.trouble or "")
        several = await asyncio.gather(
            *(ledger.store_answer("main", "s", seq, "new") for seq in range(3, 30)), return_exceptions=True
        )
        assert {type(one) for one in several} == {StoreUnavailable}
        with pytest.raises(StoreUnavailable):
            await ledger.sweep()
        assert await ledger.pending_answer("main", "s", 1) == SECRET, "reading needs no lock"
        other.communicate()
    await ledger.store_answer("main", "s", 2, "new")
    assert await ledger.pending_answer("main", "s", 2) == "new"
    assert ledger.trouble is None


@pytest.mark.root
async def test_full_disk_is_reported_and_earlier_answers_stay(tmp_path: Path, make: Make) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "size=600k"):
        ledger, held = make(disk / "ledger.sqlite"), 0
        with pytest.raises(StoreUnavailable, match="full"):  # noqa: PT012  # any of them may find the disk full
            for held in range(1000):
                await ledger.store_answer("main", "s", held, SECRET * 100)
        assert held > 5
        assert "full" in (ledger.trouble or "")
        assert await ledger.pending_answer("main", "s", held - 1) == SECRET * 100
        assert await ledger.pending_answer("main", "s", held) is None
        await ledger.close()
    again = make(tmp_path / "nothing" / "ledger.sqlite")
    assert await again.pending_answer("main", "s", 1) is None


@pytest.mark.root
async def test_read_only_disk_is_reported_until_writable(tmp_path: Path, make: Make) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk):
        first = make(disk / "ledger.sqlite")
        await first.store_answer("main", "s", 1, SECRET)
        await first.close()
        remount(disk, "ro")
        ledger = make(disk / "ledger.sqlite")
        for verb in (ledger.store_answer("main", "s", 2, "x"), ledger.sweep(), ledger.forget_session("main", "s")):
            with pytest.raises(StoreError):
                await verb
        assert ledger.trouble
        with pytest.raises(StoreError):
            await make(disk / "more" / "ledger.sqlite").store_answer("main", "s", 1, "x")
        remount(disk, "rw")
        await ledger.store_answer("main", "s", 2, "x")
        assert await ledger.pending_answer("main", "s", 1) == SECRET
        assert ledger.trouble is None
        await ledger.close()


async def test_read_only_ledger_that_needs_writing_is_not_read(tmp_path: Path, make: Make) -> None:
    path, elsewhere = tmp_path / "own" / "ledger.sqlite", tmp_path / "elsewhere"
    first = make(path)
    await first.store_answer("main", "s", 1, SECRET)
    shutil.copytree(path.parent, elsewhere)
    await first.close()
    before = bytes_in(path.parent), bytes_in(elsewhere)
    with pytest.raises(StoreUnavailable, match="to bring it up to date"):
        await make(path, history=newer(), is_read_only=True).pending_answer("main", "s", 1)
    with pytest.raises(StoreUnavailable, match="not closed in order"):
        await make(elsewhere / path.name, is_read_only=True).pending_answer("main", "s", 1)
    assert (bytes_in(path.parent), bytes_in(elsewhere)) == before
    damage_all_but_the_header(path)
    damaged = bytes_in(path.parent)
    with pytest.raises(StoreError):
        await make(path, is_read_only=True).pending_answer("main", "s", 1)
    assert bytes_in(path.parent) == damaged, "it is not set aside"


def run_child(path: Path, log: Path, inject: str = "", calls: Sequence[str] = ()) -> tuple[int, bytes]:
    """Create a ledger in a child; count only the calls on the ledger, its log and its folder."""
    code = "import sys, tests.store.children as it; it.hold_and_die(sys.argv[1])"
    return ran_traced(code, path, log=log, inject=inject, calls=calls, paths=(path, log_of(path), path.parent))


@pytest.mark.sweep
@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize("call", ["pwrite64", "fsync", "fdatasync", "link", "unlink"])
async def test_kill_during_creation_leaves_whole_ledger_or_none(tmp_path: Path, make: Make, call: str) -> None:
    (tmp_path / "counted").mkdir()
    counted = tmp_path / "counted" / "ledger.sqlite"
    assert run_child(counted, tmp_path / "calls", calls=(call,))[1] == b"held"
    total = most_calls(tmp_path / "calls", call)
    assert total
    for at in some(range(1, total + 1), 2):
        path = tmp_path / str(at) / "ledger.sqlite"
        path.parent.mkdir()
        code, printed = run_child(path, tmp_path / "log", f"{call}:signal=KILL:when={at}")
        assert code == -signal.SIGKILL
        header = read_header(path) if path.exists() else None
        assert header is None or (header.application, header.version) == (LEDGER.application, LEDGER.version)
        # in a shared folder, where a file that is not clearly ours would be refused for good
        ledger = make(path, is_private=False)
        found = await ledger.pending_answer("main", "s", 1)
        assert found == SECRET if printed else found in (None, SECRET)
        await ledger.store_answer("main", "s", 2, "new")
        assert await ledger.pending_answer("main", "s", 2) == "new"
        assert ledger.trouble is None
    assert run_child(counted, tmp_path / "again", calls=(call,))[1] == b"held"
