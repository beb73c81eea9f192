"""Rows 45 to 68 of the fault catalogue: the index file. The number is in each name."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from memoryd.client import Client
from memoryd.domain.documents import FileStat, RelativePath, Source
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.domain.syncplan import IndexedFile
from memoryd.errors import DaemonNotRunning, MemorydError, NotNow
from memoryd.store.connection import checksum_vfs
from memoryd.store.index.documents import FileContent, FileRow, put_files
from memoryd.store.index.schema import FileKind, check_words, prepare_index, problems, recognise
from memoryd.wire import Exit
from tests.fault import check
from tests.fault.faults import (
    FaultyDaemon,
    change,
    fill_disk,
    fired,
    flip_byte,
    injected,
    most_calls,
    mounted,
    remount,
    spawned_traced,
)
from tests.fault.model import document
from tests.fault.stage import SCAN_ONLY, Stage
from tests.package_trees import SOURCES
from tests.sweeps import some, swept, whole_or
from tests.waiting import SECONDS, eventually
from tests.warm.programs import ran


def fill(stage: Stage, files: int, seed: int = 1) -> None:
    """Write documents of a few paragraphs."""
    rnd = random.Random(seed)
    for number in range(files):
        stage.write(f"bank/{number}.md", document(rnd, 3))


def wal_of(index: Path) -> Path:
    return index.with_name(f"{index.name}-wal")


@pytest.mark.sweep
def test_f045_index_is_sound_after_a_kill_at_any_time(stage: Stage) -> None:
    """After each kill the index is sound, and in the end it equals a rebuild."""
    rnd = random.Random(45)
    stage.start()
    for round_number in range(whole_or(1, 8)):
        fill(stage, 30, seed=round_number)
        time.sleep(rnd.uniform(0, 0.3))
        stage.daemon.kill()
        check.check_inside(check.index_of(stage.daemon))
        stage.daemon.start()
    stage.converges(rebuilt=check.rebuilt_by_daemon)


SWEPT = {"pwrite64": 5, "fdatasync": 3, "ftruncate": 3, "unlink": 2, "openat": 2}
"""How many points of each call are swept."""


@swept("call", [*SWEPT], 2)
def test_f046_f122_index_is_sound_after_a_kill_at_a_system_call(stage: Stage, strace: None, call: str) -> None:
    """After kills at chosen writes, syncs and renames the index is sound, and in the end it equals a rebuild."""
    fill(stage, 25)
    stage.prepare()
    total = _count_calls(stage, call)
    assert total, f"a start and a stop make no {call}"
    for step in some(range(SWEPT[call]), 1):
        at = max(1, total * (2 * step + 1) // (2 * SWEPT[call]))
        shutil.rmtree(stage.daemon.state / "workspaces", ignore_errors=True)
        # the distribution of calls over threads varies
        while not _killed_at(stage, call, at):
            assert at > 1, f"no {call} was reached"
            at //= 2
        stage.daemon.start()
        stage.sync()
        check.check_inside(check.index_of(stage.daemon))
        stage.daemon.stop()
    stage.daemon.start()
    stage.converges()


def _count_calls(stage: Stage, call: str) -> int:
    """Return how often the busiest thread makes a call: strace counts `when` per thread."""
    log = stage.home / "count.log"
    with spawned_traced(stage.daemon, log, calls=(call,)):
        _end_when_indexed(stage.daemon)
    return most_calls(log, call)


def _killed_at(stage: Stage, call: str, at: int) -> bool:
    with spawned_traced(stage.daemon, stage.home / f"{call}-{at}.log", f"{call}:signal=KILL:when={at}"):
        return _end_when_indexed(stage.daemon) == -signal.SIGKILL


def _end_when_indexed(daemon: FaultyDaemon) -> int:
    """Wait until everything is indexed or the daemon dies, then stop it; return the exit code."""
    while daemon.is_running():
        try:
            with Client(daemon.socket, timeout=20) as client:
                client.sync(wait="indexed")
            os.kill(daemon.pid, signal.SIGTERM)
            break
        except (DaemonNotRunning, NotNow, ProcessLookupError):
            time.sleep(0.02)
    return daemon.reap()


@swept(
    "inject", ["pwrite64:error=ENOSPC", "pwrite64:error=EIO", "fdatasync:error=EIO", "pwrite64:retval=100:when=3"], 2
)
def test_f047_failing_writes_do_not_stop_answers(stage: Stage, strace: None, inject: str) -> None:
    """While writes fail, searches are answered and status names the index; later all is indexed."""
    stage.start()
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, inject, paths=_index_files(stage)):
        fill(stage, 40)
        (stage.memory / "first.md").unlink()
        eventually(lambda: fired(log))
        assert stage.finds("alder")
        if "retval" not in inject:
            eventually(lambda: "index" in stage.degraded())
        assert stage.finds("alder")
    eventually(lambda: "index" not in stage.degraded())
    stage.converges()


def _index_files(stage: Stage) -> tuple[Path, ...]:
    index = check.index_of(stage.daemon)
    return index, wal_of(index)


@pytest.mark.root
def test_f048_full_disk_delays_only_the_index(stage: Stage, state_disk: Path) -> None:
    """On a full disk searches are answered and status names the index; with room it converges."""
    stage.start()
    filler = fill_disk(state_disk)
    fill(stage, 60)
    eventually(lambda: "index" in stage.degraded())
    assert stage.finds("alder")
    with stage.client as client:
        assert not client.sync(timeout_ms=300)["complete"]
    remount(state_disk, "size=32m")
    eventually(lambda: "index" not in stage.degraded())
    stage.converges()
    filler.unlink()


def _is_read(client: Client, path: str) -> bool:
    try:
        return bool(client.get(path)["lines"])
    except MemorydError:
        return False


@pytest.mark.root
def test_f048_note_made_private_on_a_full_disk_is_hidden(stage: Stage, state_disk: Path) -> None:
    """On a full disk a note that becomes private is neither found nor read, and purged when there is room."""
    note = stage.write("memory/diary.md", "in the garden: quetzal")
    stage.start()
    stage.eventually_finds("quetzal")
    filler = fill_disk(state_disk)
    note.write_text(f"---\nmemory: false\n---\n{note.read_text()}")
    stage.write(".memoryignore", "MEMORY.md\n")
    eventually(lambda: not stage.finds("quetzal"))
    with stage.client as client:
        assert all(hit["path"] != "memory/diary.md" for hit in client.search("in the garden")["results"])
        eventually(lambda: not _is_read(client, "MEMORY.md"))
    filler.unlink()
    stage.converges()


@pytest.mark.root
def test_f048_sync_on_a_full_disk_says_why_it_is_incomplete(stage: Stage, state_disk: Path) -> None:
    """A sync on a full disk returns the reason, which status then shows, too."""
    stage.start()
    fill_disk(state_disk)
    fill(stage, 60)
    with stage.client as client:
        reply = client.sync(timeout_ms=5000)
    assert not reply["complete"]
    assert "index" in stage.degraded()
    assert "full" in (reply.get("reason") or "")
    (stage.home / "mem0.json").write_text('[{"memory": "likes sorrel"}]')
    words = ["import", "--from", "mem0", "--dry-run", str(stage.home / "mem0.json")]
    # within the time of one call
    done = stage.daemon.memoryctl(*words)
    assert "1 memory would be added" in done.stdout
    assert "memories that exist here may not be recognised" in done.stderr


@pytest.mark.root
def test_f049_full_disk_at_the_start_does_not_stop_answers(stage: Stage, state_disk: Path) -> None:
    """After a start on a full disk the old note is found, and the new one when there is room."""
    stage.start()
    stage.daemon.kill()
    filler = fill_disk(state_disk)
    stage.daemon.start()
    assert stage.finds("alder")
    stage.write("memory/new.md", "no room for it: willow")
    eventually(lambda: "index" in stage.degraded())
    assert stage.finds("alder")
    filler.unlink()
    stage.eventually_finds("willow")
    eventually(lambda: not stage.degraded())
    stage.converges()


@pytest.fixture
def index_disk(stage: Stage) -> Iterator[Path]:
    """The folder of the indexes on its own disk, within the usual state directory."""
    folder = stage.home / "state" / "memoryd" / "workspaces"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    with mounted(folder, "size=16m,nr_inodes=40,mode=700"):
        yield folder
        stage.end()


def _use_up_inodes(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for number in range(1000):
            (folder / f"filler{number}").touch()


@pytest.mark.root
def test_f048_missing_inodes_do_not_stop_answers(stage: Stage, index_disk: Path) -> None:
    """Without a free inode searches are answered, also after a restart; with inodes the index converges."""
    stage.start()
    _use_up_inodes(index_disk)
    stage.write("memory/new.md", "in spite of that: willow")
    stage.sync()
    (stage.memory / "first.md").unlink()
    stage.sync()
    assert stage.finds("willow")
    assert not stage.finds("birch")
    stage.daemon.stop()
    # the removed log freed an inode
    _use_up_inodes(index_disk)
    stage.daemon.start()
    assert stage.finds("willow")
    stage.write("memory/later.md", "not yet: larch")
    eventually(lambda: "index" in stage.degraded())
    for filler in index_disk.glob("filler*"):
        filler.unlink()
    stage.eventually_finds("larch")
    eventually(lambda: not stage.degraded())
    stage.converges()


@pytest.mark.root
@swept("end", ["stopped", "killed"], 1)
def test_f050_index_on_a_read_only_disk_answers(stage: Stage, index_disk: Path, end: str) -> None:
    """After a start on a read-only disk the index answers and status says so; later it is written."""
    stage.start()
    stage.write("memory/new.md", "written before: willow")
    stage.sync()
    stage.daemon.stop() if end == "stopped" else stage.daemon.kill()
    remount(index_disk, "ro")
    stage.daemon.start()
    assert stage.finds("willow")
    stage.write("memory/later.md", "not yet: larch")
    eventually(lambda: "only read" in stage.degraded().get("index", ""))
    assert stage.finds("alder")
    assert not stage.finds("larch")
    remount(index_disk, "rw")
    stage.eventually_finds("larch")
    eventually(lambda: not stage.degraded())
    stage.converges()


def _lose_table(index: Path) -> None:
    change(index, "PRAGMA foreign_keys = OFF; DROP TABLE files")


@pytest.mark.root
@swept("harm", ["rubbish", "lost table"], 1)
def test_f050_damaged_index_on_a_read_only_disk_is_reported(stage: Stage, index_disk: Path, harm: str) -> None:
    """A damaged index on a read-only disk is reported; once it can be written, it is rebuilt."""
    stage.start()
    stage.daemon.stop()
    (_rubbish if harm == "rubbish" else _lose_table)(check.index_of(stage.daemon))
    remount(index_disk, "ro")
    stage.daemon.start()
    eventually(lambda: "index" in stage.degraded())
    assert not stage.finds("alder")
    remount(index_disk, "rw")
    stage.eventually_finds("alder")
    eventually(lambda: not stage.degraded())
    stage.converges()


@pytest.mark.root
def test_f050_read_only_state_ends_with_a_reason_and_exit_code(stage: Stage, state_disk: Path) -> None:
    """With a read-only state folder the start ends with a reason, no traceback, and exit code 73."""
    stage.start()
    stage.daemon.stop()
    stage.daemon.log.unlink()
    remount(state_disk, "ro")
    process = stage.daemon.spawn()
    try:
        assert process.wait(SECONDS) == Exit.CANNOT_CREATE
    finally:
        remount(state_disk, "rw")
    log_text = stage.daemon.log.read_text()
    assert "Traceback" not in log_text
    assert "Read-only file system" in log_text


def test_f050_disk_that_becomes_read_only_does_not_stop_answers(stage: Stage, strace: None) -> None:
    """When writes begin to fail as read-only, old notes are found; afterwards the new one is."""
    stage.start()
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "pwrite64:error=EROFS", paths=_index_files(stage)):
        stage.write("memory/new.md", "unwritten: willow")
        eventually(lambda: fired(log) and "index" in stage.degraded())
        assert stage.finds("alder")
        assert not stage.finds("willow")
    stage.eventually_finds("willow")
    eventually(lambda: not stage.degraded())
    stage.converges()


def test_f051_every_transaction_takes_the_write_lock_at_once() -> None:
    """Every BEGIN in the sources of the store is BEGIN IMMEDIATE."""
    sources = [text for module, text in SOURCES.items() if module.startswith("store/")]
    begins = [match for text in sources for match in re.findall(r'"BEGIN[^"]*"', text)]
    assert begins
    assert set(begins) == {'"BEGIN IMMEDIATE"'}


def test_f052_foreign_lock_delays_writes_and_no_answer(stage: Stage) -> None:
    """Under a foreign lock a search answers and status says locked; without it the new note is found."""
    stage.start()
    other = apsw.Connection(str(check.index_of(stage.daemon)))
    # the daemon may still be writing after its start
    other.set_busy_timeout(10_000)
    other.execute("BEGIN EXCLUSIVE")
    stage.write("memory/new.md", "held up: willow")
    # the lock is longer than the timeout of a write, which is then retried
    eventually(lambda: stage.finds("alder") and "locked" in stage.degraded().get("index", ""))
    assert not stage.finds("willow")
    other.execute("ROLLBACK")
    other.close()
    stage.eventually_finds("willow")
    stage.converges()


def test_f053_log_held_by_a_reader_shrinks_when_it_ends(stage: Stage) -> None:
    """The log grows while a reader uses it, and shrinks when the reader has ended."""
    stage.start(SCAN_ONLY)
    index = check.index_of(stage.daemon)
    reader = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN; SELECT count(*) FROM files").fetchall()
    for seed in range(6):
        fill(stage, 60, seed)
        stage.sync()
    held = wal_of(index).stat().st_size
    reader.execute("ROLLBACK")
    reader.close()
    seeds = iter(range(6, 100))

    def shrinks() -> bool:
        fill(stage, 60, next(seeds))
        stage.sync()
        return wal_of(index).stat().st_size < min(held, 8 * 2**20)

    # a reader at that moment delays it again
    eventually(shrinks)
    stage.converges()


@swept("loss", ["folder", "file", "replaced", "whole state"], 2)
def test_f054_index_deleted_under_a_running_daemon_is_rebuilt(stage: Stage, loss: str) -> None:
    """A deleted or replaced index is rebuilt, with old and new notes."""
    stage.start()
    index = check.index_of(stage.daemon)
    match loss:
        case "folder":
            shutil.rmtree(index.parent)
        case "file":
            index.unlink()
        case "replaced":
            other = index.with_name("other")
            other.write_bytes(b"no database at all" * 1000)
            other.replace(index)
        case _:
            shutil.rmtree(index.parent.parent)
    stage.write("memory/new.md", "after the loss: willow")
    eventually(lambda: recognise(index) is FileKind.OURS and stage.finds("willow") and stage.finds("alder"))
    stage.converges()


@swept("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")], 1)
def test_f055_index_without_its_log_is_repaired_at_the_start(stage: Stage, suffixes: tuple[str, ...]) -> None:
    """After a start without its log, the index equals a rebuild."""
    stage.start()
    fill(stage, 30)
    stage.sync()
    stage.daemon.kill()
    index = check.index_of(stage.daemon)
    for suffix in suffixes:
        index.with_name(index.name + suffix).unlink()
    stage.daemon.start()
    stage.converges()


@swept("harm", ["removed", "cut", "flipped"], 1)
def test_f055_log_lost_during_a_checkpoint_is_noticed(stage: Stage, strace: None, harm: str) -> None:
    """After a kill during a checkpoint and the loss of its log, the index equals a rebuild.

    A partly checkpointed file is invalid without its log, but may look sound.
    """
    for at in some((2, 3), 1):
        fill(stage, 40)
        stage.write("memory/gone.md", "its removal is followed by a checkpoint")
        stage.start(SCAN_ONLY)
        for number in range(8, 40):
            (stage.workspace / "bank" / f"{number}.md").unlink()
        stage.sync()
        index = check.index_of(stage.daemon)
        with injected(stage.daemon.pid, stage.home / "log", f"pwrite64:signal=KILL:when={at}", paths=(index,)):
            fill(stage, 8, seed=at + 1)
            with contextlib.suppress(DaemonNotRunning, NotNow):
                stage.sync()
                (stage.memory / "gone.md").unlink()
                stage.sync()
        assert stage.daemon.reap() == -signal.SIGKILL
        _harm_log(wal_of(index), harm)
        stage.daemon.start()
        stage.converges()
        stage.daemon.stop()


def _harm_log(log: Path, harm: str) -> None:
    match harm:
        case "removed":
            log.unlink()
        case "cut":
            os.truncate(log, log.stat().st_size // 2)
        case _:
            flip_byte(log, log.stat().st_size // 2)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A workspace and its index, damaged by each test in turn."""
    stage = Stage(tmp_path_factory.mktemp("kept"))
    fill(stage, 20)
    stage.start()
    yield stage
    stage.end()


@pytest.fixture
def stopped(kept: Stage) -> Stage:
    """The index of a stopped daemon, with an empty log."""
    if not kept.daemon.is_running():
        kept.daemon.start()
    kept.converges()
    kept.daemon.stop()
    kept.daemon.log.write_bytes(b"")
    return kept


def _zero(index: Path) -> None:
    os.truncate(index, 0)


def _cut(index: Path) -> None:
    os.truncate(index, index.stat().st_size * 2 // 3)


def _rubbish(index: Path) -> None:
    index.write_bytes(random.Random(1).randbytes(50_000))


def _folder(index: Path) -> None:
    index.unlink()
    index.mkdir()
    (index / "something").write_text("in the way")


def _pipe(index: Path) -> None:
    index.unlink()
    os.mkfifo(index)


def _name(index: Path) -> None:
    flip_byte(index, 70)


def _header(index: Path) -> None:
    for at in range(16, 40):
        flip_byte(index, at)


def _page(index: Path) -> None:
    with index.open("r+b") as file:
        file.seek(index.stat().st_size // 2)
        file.write(bytes(8_192))


def _text(index: Path) -> None:
    flip_byte(index, index.read_bytes().rindex(b"alder"), 0x01)


HARMS: tuple[Callable[[Path], None], ...] = (*(_zero, _cut, _rubbish, _folder, _pipe, _name, _header, _page, _text),)


@swept("harm", [*HARMS], 3)
def test_f056_damaged_index_is_set_aside_and_rebuilt(stopped: Stage, harm: Callable[[Path], None]) -> None:
    """After each kind of damage the notes are found, the index equals a rebuild, and the old file is deleted."""
    index = check.index_of(stopped.daemon)
    harm(index)
    stopped.daemon.start()
    eventually(lambda: stopped.finds("alder"))
    # damage that no search reads is found by the check after the start
    eventually(lambda: _is_whole(index), step=0.2)
    stopped.converges()
    eventually(lambda: not _set_aside(stopped))


def _is_whole(index: Path) -> bool:
    with contextlib.suppress(check.ViolationError, apsw.Error, OSError):
        check.check_inside(index)
        return True
    return False


@pytest.mark.sweep
def test_f056_flipped_byte_is_found_or_harmless(tmp_path: Path) -> None:
    """A flipped byte is found, or the content of the index is unchanged."""
    rnd = random.Random(56)
    path = tmp_path / "index.sqlite"
    _write_index(path, rnd)
    whole = path.read_bytes()
    expected = check.dump(path)
    found = 0
    for _ in range(flips := whole_or(20, 150)):
        damaged = bytearray(whole)
        at = rnd.randrange(len(damaged))
        damaged[at] ^= 1 << rnd.randrange(8)
        path.write_bytes(damaged)
        try:
            sound = _is_sound(path)
        except (apsw.Error, UnicodeDecodeError):
            sound = False
        found += not sound
        assert not sound or check.dump(path) == expected, f"byte {at}"
    assert found > flips * 2 // 3


def _write_index(path: Path, rnd: random.Random) -> None:
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    connection.reserve_bytes("main", 8)
    prepare_index(connection)
    with connection:
        for number in range(30):
            text = document(rnd, 4).decode()
            settings = ChunkSettings(400, 80)
            row = FileRow(
                RelativePath(f"memory/{number}.md"),
                Source.MEMORY,
                IndexedFile(FileStat(1, number, len(text), 1, 1), 1, bytes(32)),
                text.count("\n"),
                settings.fingerprint,
            )
            put_files(connection, [FileContent(row, chunk_entries(text, settings))])
    connection.close()


def _is_sound(path: Path) -> bool:
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    try:
        found = problems(connection)
        check_words(connection)
    finally:
        connection.close()
    return not found


@swept("table", ["chunk_words_data", "chunk_words_docsize"], 1)
def test_f057_damaged_word_tables_are_rebuilt(stopped: Stage, table: str) -> None:
    """Damaged word tables are noticed, and the index equals a rebuild afterwards."""
    change(check.index_of(stopped.daemon), _SPOIL[table])
    stopped.daemon.start()
    eventually(lambda: _was_damaged(stopped))
    stopped.converges()


def _was_damaged(stage: Stage) -> bool:
    return "the index was damaged and is being rebuilt" in stage.daemon.log.read_text()


def _set_aside(stage: Stage) -> list[Path]:
    return list(check.index_of(stage.daemon).parent.glob("*.corrupt-*"))


_SPOIL = {
    "chunk_words_data": "UPDATE chunk_words_data SET block = x'00' WHERE id > 10",
    "chunk_words_docsize": "DELETE FROM chunk_words_docsize WHERE id % 3 = 0",
}


@swept("table", ["chunks", "passages", "chunk_words", "files"], 1)
def test_f058_missing_rows_are_restored(stopped: Stage, table: str) -> None:
    """Missing rows are noticed, and the index equals a rebuild afterwards."""
    change(check.index_of(stopped.daemon), f"DELETE FROM {table} WHERE rowid % 3 = 0")
    stopped.daemon.start()
    eventually(lambda: table == "files" or _was_damaged(stopped))
    stopped.converges()


MISSING = ("TABLE files", "TABLE passages", "TABLE spaces", "TABLE chunk_words", "INDEX passages_by_chunk")


@swept("missing", [*MISSING], 1)
def test_f058_missing_table_is_repaired(stopped: Stage, missing: str) -> None:
    """Without a table, or an index of it, the index equals a rebuild after the start."""
    change(check.index_of(stopped.daemon), f"PRAGMA foreign_keys = OFF; DROP {missing}")
    stopped.daemon.start()
    stopped.converges()


def test_f058_table_lost_while_in_use_is_repaired(stage: Stage) -> None:
    """With a table lost while in use, the next note is found and the index equals a rebuild."""
    fill(stage, 20)
    stage.start()
    _lose_table(check.index_of(stage.daemon))
    stage.write("memory/new.md", "after the loss: willow")
    stage.eventually_finds("willow")
    stage.converges()


@swept("version", [0, 99], 1)
def test_f059_index_of_another_version_is_rebuilt(stopped: Stage, version: int) -> None:
    """An older or newer index is rebuilt at the start, which logs it, and the old file is deleted."""
    change(check.index_of(stopped.daemon), f"PRAGMA user_version = {version}")
    stopped.daemon.start()
    stopped.converges()
    assert "what lay there is set aside" in stopped.daemon.log.read_text()
    eventually(lambda: not _set_aside(stopped))


def test_f059_database_that_is_not_ours_is_left_alone(stage: Stage) -> None:
    """The daemon refuses a foreign database with a reason and leaves its bytes alone."""
    foreign = stage.home / "diary.sqlite"
    connection = apsw.Connection(str(foreign))
    connection.execute("CREATE TABLE diary (text)")
    connection.close()
    before = foreign.read_bytes()
    stage.prepare(search={"store": {"path": str(foreign)}})
    process = stage.daemon.spawn()
    assert process.wait(SECONDS) not in (0, None)
    assert foreign.read_bytes() == before
    assert "is not an index of memoryd" in stage.daemon.log.read_text()
    assert "Traceback" not in stage.daemon.log.read_text()


def test_f062_only_listed_modules_open_the_index_file() -> None:
    """Only the modules that open an index read its file directly, and doctor, in its own process."""
    users = [module for module, text in SOURCES.items() if re.search(r"\brecognise\(", text)]
    assert users == ["index/keeper.py", "store/examining.py", "store/index/schema.py"]
    examiners = [
        module for module, text in SOURCES.items() if re.search(r"store\.examining import .*(IndexFile|ledger)", text)
    ]
    assert examiners
    assert [module for module in examiners if not module.startswith("cli/checks/")] == []


def test_f062_locks_on_the_index_outlast_all_work(stage: Stage) -> None:
    """A working daemon keeps all its locks on the index during every call."""
    stage.start()
    index = check.index_of(stage.daemon)
    held = _locks(stage, index)
    assert held, "the daemon holds no lock that could be lost"
    fill(stage, 10)
    stage.sync()
    with stage.client as client:
        client.reindex(force=True)
        client.search("alder", explain=True)
        client.status()
    looked = ran(
        [sys.executable, "-c", "from memoryd.cli.main import main; main()", "doctor", "--json"],
        env=stage.daemon.env,
        capture_output=True,
        check=False,
    )
    assert json.loads(looked.stdout)["checks"], looked.stderr
    stage.sync()
    assert _locks(stage, index) == held


def _locks(stage: Stage, path: Path) -> list[str]:
    """Return the locks of the daemon on a file, by kind and bytes."""
    lines = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    ours = (line for line in lines if line[-4] == str(stage.daemon.pid))
    return sorted(" ".join((*line[1:4], *line[-2:])) for line in ours if line[-3].endswith(f":{path.stat().st_ino}"))


def test_f063_sqlite_is_newer_than_its_log_reset_bug() -> None:
    """The SQLite in use is a version without the bug."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    assert version >= (3, 51, 3)
    assert version[:2] != (3, 52)


@pytest.mark.sweep
def test_f067_index_does_not_grow_with_rewrites(stage: Stage) -> None:
    """After many rewrites of all notes the index is at most twice as large, and the log is small."""
    stage.start(SCAN_ONLY)
    fill(stage, 40)
    stage.sync()
    fresh = stage.status()["database"]["bytes"]
    for seed in range(2, whole_or(4, 22)):
        fill(stage, 40, seed)
        stage.sync()
    assert stage.status()["database"]["bytes"] < 2 * fresh + 2**20
    assert wal_of(check.index_of(stage.daemon)).stat().st_size < 16 * 2**20
    stage.converges()
