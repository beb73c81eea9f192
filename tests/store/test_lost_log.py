"""After a kill at any system call, the log is lost, cut or flipped, or another program opens the file."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memoryd.errors import DamagedDatabase
from memoryd.store.index.database import Database
from tests.fault.faults import flip_byte, has_strace, most_calls, ran_traced
from tests.store.children import FILES, ROUNDS, path_of, text_of
from tests.store.consistency import check_consistency
from tests.store.rows import put_note
from tests.sweeps import some
from tests.warm.programs import ran

ROOT = Path(__file__).parents[2]


def run(path: Path, log: Path | None = None, inject: str = "", calls: str = "", *paths: Path) -> tuple[int, int]:
    """Run the child, traced if a log is given; return its exit code and its last reported commit, -1 if none."""
    code = "import sys, tests.store.children as it; it.work(sys.argv[1])"
    if log is not None:
        ended, told = ran_traced(code, path, log=log, inject=inject, calls=(calls,) if calls else (), paths=paths)
    else:
        done = ran([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=ROOT, check=False)
        ended, told = done.returncode, done.stdout
    return ended, max(map(int, told.split()), default=-1)


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def leave(_path: Path) -> None:
    """Change nothing."""


def remove(path: Path) -> None:
    log_of(path).unlink(missing_ok=True)


def cut(path: Path) -> None:
    if log_of(path).exists():
        os.truncate(log_of(path), log_of(path).stat().st_size * 2 // 3)


def flip(path: Path) -> None:
    if log_of(path).exists() and (size := log_of(path).stat().st_size):
        flip_byte(log_of(path), size // 2)


def look_in(path: Path) -> None:
    """Open the file as any other program would, which checkpoints and removes the log."""
    if path.stat().st_size:
        connection = sqlite3.connect(path)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.close()


DAMAGES: tuple[Callable[[Path], None], ...] = (leave, remove, cut, flip, look_in)


async def state_of(path: Path, executor: ThreadPoolExecutor) -> int | None:
    """Return the number of the last commit in the file, -1 if there is none, None if it is refused as damaged."""
    database = Database(path=path, executor=executor)
    try:
        await database.open()
    except DamagedDatabase:
        return None
    try:
        await database.write(check_consistency)
        return await database.read(_state)
    finally:
        await database.close()


def _state(db: apsw.Connection) -> int:
    """Return the number of the last commit after checking that the file has exactly what it left."""
    sql = "SELECT f.path, c.text FROM files f JOIN chunks c ON c.file_id = f.id WHERE c.ordinal = 0"
    numbers = {path: int(text.split()[2]) for path, text in db.execute(sql)}
    last = max(numbers.values(), default=-1)
    assert numbers == {path_of(number): number for number in range(max(0, last - FILES + 1), last + 1)}
    return last


@pytest.mark.sweep
@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize(("call", "times"), [("pwrite64", 8), ("ftruncate", 4)])
async def test_f055_file_with_harmed_log_is_committed_state_or_refused(
    tmp_path: Path, executor: ThreadPoolExecutor, call: str, times: int
) -> None:
    """With its log harmed after a kill, the file is a committed state or refused."""
    run(_made(tmp_path / "counted"), tmp_path / "calls", calls=call)
    total = most_calls(tmp_path / "calls", call)
    assert total > times
    for at in some(sorted(random.Random(call).sample(range(total // 8, total + 1), times)), times // 4):
        origin = _made(tmp_path / f"{at}")
        code, committed = run(origin, tmp_path / "log", f"{call}:signal=KILL:when={at}")
        assert code == -signal.SIGKILL
        states = {damage: await state_of(_damaged_copy(origin, damage), executor) for damage in DAMAGES}
        # one commit after the last reported one may exist
        assert states[leave] in (committed, committed + 1), at
        assert states[look_in] in (None, committed, committed + 1), at
        assert all(state is None or state <= committed + 1 for state in states.values()), at


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder / "index.sqlite"


def _damaged_copy(origin: Path, damage: Callable[[Path], None]) -> Path:
    copy = origin.parent.with_name(f"{origin.parent.name}-{damage.__name__}")
    shutil.copytree(origin.parent, copy)
    damage(copy / origin.name)
    return copy / origin.name


@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize("before_last", [1, 3, 6])
async def test_f055_log_lost_during_checkpoint_is_noticed(
    tmp_path: Path, executor: ThreadPoolExecutor, before_last: int
) -> None:
    """Killed during a checkpoint, the file is whole with its log and refused without it."""
    counted, origin = _made(tmp_path / "counted"), _made(tmp_path / "origin")
    run(counted, tmp_path / "calls", "", "pwrite64", counted)
    # the last page of the last checkpoint is the header with its even seal
    at = most_calls(tmp_path / "calls", "pwrite64") - before_last
    code, committed = run(origin, tmp_path / "log", f"pwrite64:signal=KILL:when={at}", "", origin)
    assert code == -signal.SIGKILL
    assert await state_of(_damaged_copy(origin, leave), executor) == committed
    if before_last > 1:
        for damage in (remove, cut, flip):
            assert await state_of(_damaged_copy(origin, damage), executor) is None, damage


async def test_f055_log_removed_after_checkpoint_loses_only_its_commits(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    """Without its log the file is as the last checkpoint left it."""
    path = _made(tmp_path / "origin")
    assert run(path)[1] == ROUNDS - 1
    assert await state_of(_damaged_copy(path, remove), executor) == ROUNDS - 1 - ROUNDS % 9


async def test_f055_older_file_with_newer_log_is_refused(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    """An older copy of the file beside a younger log is refused."""
    path = _made(tmp_path / "origin")
    database = Database(path=path, executor=executor)
    await database.open()
    await put_note(database, path_of(0), text_of(0))
    await database.close()
    older = path.read_bytes()
    assert run(path)[1] == ROUNDS - 1
    assert await state_of(_damaged_copy(path, leave), executor) == ROUNDS - 1
    path.write_bytes(older)
    assert await state_of(path, executor) is None
