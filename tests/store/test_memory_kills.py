"""Killed at whatever system call, a memory is written or it is not; and the ledger knows which, after a restart."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import pytest

from memoryd.agents.retained.core import AgentCore, CoreRights
from memoryd.agents.retained.entities import merge
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of
from memoryd.domain.memories.kinds import Kind, WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.files.scanner import ScanRules
from memoryd.memory.journal import Journal, Undoing
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.retaining import Retaining
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeState
from memoryd.store.ledger.ledger import Ledger
from tests.fault.faults import has_strace, most_calls, strace_prefix
from tests.sweeps import some

ROOT = Path(__file__).parents[2]
DAY = date(2026, 11, 18)
LOG, CORE = RelativePath("memory/2026-11-18.md"), RelativePath("MEMORY.md")
PAGE = RelativePath("bank/entities/peter.md")
BEFORE = {
    LOG: b"# Wednesday\r\n\r\n## Retain\r\n- W: one\r\n",
    CORE: b"# Memory\n\nPeter lives in Graz.\n",
    PAGE: b"---\naliases: [ P ] # his\n---\n# Peter\n\nA friend.\n",
}
AFTER = {
    LOG: BEFORE[LOG] + b"- W @Peter: two\r\n",
    CORE: BEFORE[CORE].replace(b"Graz", b"Wien"),
    PAGE: BEFORE[PAGE].replace(b"[ P ]", b"[ P, Pete ]"),
}
CALLS = ["pwrite64", "fdatasync", "fsync", "renameat2", "unlink", "link"]
ACTS = {"retain": LOG, "core": CORE, "new": LOG, "merge": PAGE}


@asynccontextmanager
async def journal_in(folder: Path) -> AsyncIterator[Journal]:
    workspace = folder / "workspace"
    rules = ScanRules(workspace=workspace, is_ignored=lambda _path: False)
    with ThreadPoolExecutor(2) as executor:
        ledger = Ledger(folder / "state" / "ledger.sqlite", executor)
        try:
            files = NoteFiles(workspace, lambda: rules)
            yield Journal(files=files, changes=ChangeLog(ledger, str(workspace)), executor=executor)
        finally:
            await ledger.close()


async def act(folder: Path, what: str) -> None:
    async with journal_in(folder) as journal:
        if what == "core":
            await AgentCore(journal=journal, max_chars=12_000, rights=CoreRights(0.95)).replace("Graz", "Wien")
        elif what == "merge":
            await merge(journal, _book(), "Pete", "Peter")
        else:
            await Retaining(journal, lambda: DAY).retain([RetainedLine(Kind.WORLD, "two", ("Peter",))])


def _book() -> Book:
    line = RetainedLine(Kind.WORLD, "lives in Graz", ("Pete",))
    return book_of([MemorySource(LOG, 4, 4, line, DAY, None, 1)], [EntityPage(PAGE, "Peter", ("P",))])


def run_act(folder: Path, what: str) -> None:
    """Do it in this process, which may be killed."""
    asyncio.run(act(folder, what))


def prepared(folder: Path, what: str) -> Path:
    """Make a workspace, and a ledger with a change in it."""
    for name in ("memory", "bank/entities"):
        (folder / "workspace" / name).mkdir(parents=True)
    for path, data in BEFORE.items():
        (folder / "workspace" / path).write_bytes(data)
    if what == "new":
        (folder / "workspace" / LOG).unlink()
    asyncio.run(_touched(folder))
    return folder


async def _touched(folder: Path) -> None:
    async with journal_in(folder) as journal:
        path = RelativePath("memory/other.md")
        await journal.change(path, lambda _text: "- other\n", by=WrittenBy.RETAIN, why="a test")


def run_child(folder: Path, what: str, prefix: tuple[str, ...]) -> int:
    code = "import pathlib, sys; from tests.store.test_memory_kills import run_act as it;"
    code += "it(pathlib.Path(sys.argv[1]), sys.argv[2])"
    command = [*prefix, sys.executable, "-c", code, str(folder), what]
    return subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, check=False
    ).returncode


def points(total: int) -> Iterator[int]:
    yield from some(range(1, total + 1), 3)


async def _settled(folder: Path, path: RelativePath) -> None:
    """Hold the ledger against the file, and take the change back if it was made."""
    file = folder / "workspace" / path
    async with journal_in(folder) as journal:
        was_made = file.exists() and file.read_bytes() not in (BEFORE[path], b"")
        await journal.settle()
        assert await journal.changes.unsettled() == []
        rows = await journal.changes.some(ChangeFilter(path=path))
        assert [row.state for row in rows] == [ChangeState.DONE] * was_made
        assert not [one for one in file.parent.iterdir() if one.name.startswith(".memoryd-")]
        for row in rows:
            before = b"" if not row.hash_before else BEFORE[path]
            await Undoing(journal).undo(row.id)
            assert (file.read_bytes() if file.exists() else b"") == before


@pytest.mark.sweep
@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("what", ACTS)
def test_killed_at_a_system_call_a_memory_is_written_or_not(tmp_path: Path, what: str, call: str) -> None:
    path = ACTS[what]
    counted = prepared(tmp_path / "counted", what)
    assert run_child(counted, what, strace_prefix(tmp_path / "calls", calls=(call,))) == 0
    after = (counted / "workspace" / path).read_bytes()
    assert after == (b"## Retain\n- W @Peter: two\n" if what == "new" else AFTER[path])
    before = None if what == "new" else BEFORE[path]
    killed = 0
    for at in points(most_calls(tmp_path / "calls", call)):
        folder = prepared(tmp_path / f"{at}", what)
        code = run_child(folder, what, strace_prefix(tmp_path / "log", f"{call}:signal=KILL:when={at}"))
        file = folder / "workspace" / path
        assert code in (-signal.SIGKILL, 0)
        killed += code != 0
        assert (file.read_bytes() if file.exists() else None) in (before, after), at
        asyncio.run(_settled(folder, path))
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
def test_what_the_disk_refuses_is_not_written(tmp_path: Path, what: str, fault: str) -> None:
    path = ACTS[what]
    folder = prepared(tmp_path / "refused", what)
    file = folder / "workspace" / path
    before = file.read_bytes() if file.exists() else None
    assert run_child(folder, what, strace_prefix(tmp_path / "log", fault)) == 1
    assert (file.read_bytes() if file.exists() else None) == before
    asyncio.run(_settled(folder, path))
