"""Killed at any system call, a memory is written or not, and the ledger knows which after a restart."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.store.ledger.changes import ChangeFilter, ChangeState
from tests.fault.faults import has_strace, most_calls, ran_traced
from tests.store.remembering import BEFORE, CORE, LOG, PAGE, journal_in
from tests.sweeps import some, swept

AFTER = {
    LOG: BEFORE[LOG] + b"- W @Peter: two\r\n",
    CORE: BEFORE[CORE].replace(b"Graz", b"Wien"),
    PAGE: BEFORE[PAGE].replace(b"[ P ]", b"[ P, Pete ]"),
}
CALLS = ["pwrite64", "fdatasync", "renameat2", "fsync", "unlink", "link"]
ACTS = {"retain": LOG, "core": CORE, "new": LOG, "merge": PAGE}


def prepared(folder: Path, what: str) -> Path:
    """Create a workspace and a ledger with one change."""
    for name in ("memory", "bank/entities"):
        (folder / "workspace" / name).mkdir(parents=True)
    for path, data in BEFORE.items():
        (folder / "workspace" / path).write_bytes(data)
    if what == "new":
        (folder / "workspace" / LOG).unlink()
    asyncio.run(_make_change(folder))
    return folder


async def _make_change(folder: Path) -> None:
    async with journal_in(folder) as journal:
        path = RelativePath("memory/other.md")
        await journal.change(path, lambda _text: "- other\n", by=WrittenBy.RETAIN, why="a test")


def run_child(folder: Path, what: str, log: Path, inject: str = "", calls: Sequence[str] = ()) -> int:
    code = "import sys, tests.store.remembering as it; it.run_act(*sys.argv[1:])"
    return ran_traced(code, folder, what, log=log, inject=inject, calls=calls)[0]


async def _check_and_undo(folder: Path, path: RelativePath) -> None:
    """Compare the ledger with the file, and undo the change if it was made."""
    file = folder / "workspace" / path
    async with journal_in(folder) as journal:
        was_made = file.exists() and file.read_bytes() not in (BEFORE[path], b"")
        await journal.check_interrupted()
        assert await journal.changes.unsettled() == []
        rows = await journal.changes.select(ChangeFilter(path=path))
        assert [row.state for row in rows] == [ChangeState.DONE] * was_made
        assert not [one for one in file.parent.iterdir() if one.name.startswith(".memoryd-")]
        for row in rows:
            before = b"" if not row.hash_before else BEFORE[path]
            await journal.undo(row.id)
            assert (file.read_bytes() if file.exists() else b"") == before


@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@swept("call", CALLS, 3)
@pytest.mark.parametrize("what", ACTS)
def test_memory_is_written_or_not_after_kill(tmp_path: Path, what: str, call: str) -> None:
    path = ACTS[what]
    counted = prepared(tmp_path / "counted", what)
    assert run_child(counted, what, tmp_path / "calls", calls=(call,)) == 0
    after = (counted / "workspace" / path).read_bytes()
    assert after == (b"## Retain\n- W @Peter: two\n" if what == "new" else AFTER[path])
    before = None if what == "new" else BEFORE[path]
    killed = 0
    for at in some(range(1, most_calls(tmp_path / "calls", call) + 1), 2):
        folder = prepared(tmp_path / f"{at}", what)
        code = run_child(folder, what, tmp_path / "log", f"{call}:signal=KILL:when={at}")
        file = folder / "workspace" / path
        assert code in (-signal.SIGKILL, 0)
        killed += code != 0
        assert (file.read_bytes() if file.exists() else None) in (before, after), at
        asyncio.run(_check_and_undo(folder, path))
    assert killed or not most_calls(tmp_path / "calls", call)


@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("core", "renameat2:error=ENOSPC"),
        ("retain", "renameat2:error=EROFS"),
        ("core", "fsync:error=EIO"),
        ("new", "link:error=EDQUOT"),
        ("new", "fsync:error=ENOSPC"),
    ],
)
def test_memory_refused_by_disk_is_not_written(tmp_path: Path, what: str, fault: str) -> None:
    path = ACTS[what]
    folder = prepared(tmp_path / "refused", what)
    file = folder / "workspace" / path
    before = file.read_bytes() if file.exists() else None
    assert run_child(folder, what, tmp_path / "log", fault) == 1
    assert (file.read_bytes() if file.exists() else None) == before
    asyncio.run(_check_and_undo(folder, path))
