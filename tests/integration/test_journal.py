"""Writing into a workspace: other bytes stay, concurrent saves are kept, and interrupted changes are known."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.agents.retained.entities import merge, split
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.diffs import Forgotten, Hunk, hunks_between
from memoryd.domain.memories.changes.note_text import undo_in_text
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.errors import Denied, InvalidRequest, NotFound, StoreUnavailable
from memoryd.files.scanner import ScanRules
from memoryd.memory.journal import Journal, NoteChange
from memoryd.memory.note_files import NoteFiles
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeRow, ChangeState, add_change
from memoryd.store.ledger.ledger import Ledger
from memoryd.wire import CHANGES_MAX
from tests.waiting import eventually_async

PATH = RelativePath("memory/2026-11-18.md")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def journal(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor) -> Journal:
    return journal_of(workspace, ledger, executor)


def journal_of(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor, *, is_read_only: bool = False) -> Journal:
    rules = ScanRules(workspace=workspace, is_ignored=lambda path: path.startswith("memory/secret"))
    files = NoteFiles(workspace, lambda: rules)
    changes = ChangeLog(ledger, str(workspace))
    return Journal(files=files, changes=changes, executor=executor, is_read_only=is_read_only)


def adding(line: str) -> Callable[[str | None], str]:
    return lambda text: f"{text or ''}{line}\n"


async def added(journal: Journal, line: str, path: RelativePath = PATH) -> NoteChange:
    return await journal.change(path, adding(line), by=WrittenBy.RETAIN, why="a test")


async def test_note_and_its_folder_are_created(journal: Journal, workspace: Path) -> None:
    change = await added(journal, "- one")
    assert (workspace / PATH).read_bytes() == b"- one\n"
    assert change.is_written
    assert change.id


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\n", b"a\nb\n- x\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n- x\r\n"),
        (b"a\r\nb\nc\r\n", b"a\r\nb\nc\r\n- x\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n- x\n"),
        (b"", b"- x\n"),
    ],
)
async def test_all_other_bytes_stay(journal: Journal, workspace: Path, before: bytes, after: bytes) -> None:
    path = workspace / PATH
    path.parent.mkdir()
    path.write_bytes(before)
    path.chmod(0o640)
    await added(journal, "- x")
    assert path.read_bytes() == after
    assert path.stat().st_mode & 0o777 == 0o640


async def test_invalid_note_paths_and_contents_are_refused(journal: Journal, workspace: Path, tmp_path: Path) -> None:
    (workspace / "memory").mkdir()
    (workspace / "memory" / "wide.md").write_bytes("wide".encode("utf-16"))
    (workspace / "memory" / "own.md").write_text("---\nmemory: false\n---\nmine\n")
    (tmp_path / "elsewhere.md").write_text("else\n")
    (workspace / "memory" / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (workspace / "bank").symlink_to(tmp_path)
    for name in (
        "memory/wide.md",
        "memory/own.md",
        "memory/link.md",
        "bank/world.md",
        "memory/secret.md",
        "memory/deep/er.md",
        "../elsewhere.md",
        "/etc/passwd.md",
        "memory/.hidden.md",
        "memory/note.txt",
        "memory//x.md",
        "memory/a\0.md",
        "SOUL.md",
        "",
    ):
        with pytest.raises(InvalidRequest):
            await added(journal, "- x", RelativePath(name))
    assert (tmp_path / "elsewhere.md").read_text() == "else\n"
    assert not (tmp_path / "world.md").exists()


async def test_missing_workspace_is_not_created(tmp_path: Path, journal: Journal, workspace: Path) -> None:
    workspace.rmdir()
    with pytest.raises(StoreUnavailable):
        await added(journal, "- x")
    assert not workspace.exists()


async def test_read_only_changes_nothing(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor) -> None:
    journal = journal_of(workspace, ledger, executor, is_read_only=True)
    with pytest.raises(Denied):
        await added(journal, "- x")
    assert list(workspace.iterdir()) == []


async def test_read_only_is_reported_before_other_errors(
    workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor
) -> None:
    journal = journal_of(workspace, ledger, executor, is_read_only=True)
    with pytest.raises(Denied):
        await merge(journal, Book(), "Nobody", "Somebody")
    with pytest.raises(Denied):
        await split(journal, Book(), "Nobody")


async def test_concurrent_save_is_kept_and_edited(journal: Journal, workspace: Path) -> None:
    path = workspace / PATH
    path.parent.mkdir()
    path.write_text("a\n")
    saves = iter(["a\nb\n", "a\nb\nc\n"])

    def edit(text: str | None) -> str:
        if saved := next(saves, None):
            path.write_text(saved)
        return adding("- x")(text)

    await journal.change(PATH, edit, by=WrittenBy.RETAIN, why="a test")
    assert path.read_text() == "a\nb\nc\n- x\n"
    rows = await journal.changes.select(ChangeFilter())
    assert [row.state for row in rows] == [ChangeState.DONE]


async def test_concurrent_changes_lose_no_line(journal: Journal, workspace: Path) -> None:
    await asyncio.gather(*(added(journal, f"- {number}") for number in range(30)))
    assert sorted((workspace / PATH).read_text().split()) == sorted(["-", *map(str, range(30))] + ["-"] * 29)


async def test_broken_ledger_costs_only_the_undo(workspace: Path, tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    (tmp_path / "blocked").write_text("no folder")
    ledger = Ledger(tmp_path / "blocked" / "ledger.sqlite", executor)
    change = await added(journal_of(workspace, ledger, executor), "- x")
    assert (workspace / PATH).read_text() == "- x\n"
    assert change.id == 0
    assert "cannot be undone" in change.note
    await ledger.close()


async def test_change_is_undone_and_redone(journal: Journal, workspace: Path) -> None:
    await added(journal, "- one")
    two = await added(journal, "- two")
    await added(journal, "- three")
    ((_, number),) = await journal.undo(two.id)
    assert (workspace / PATH).read_text() == "- one\n- three\n"
    with pytest.raises(InvalidRequest, match="already"):
        await journal.undo(two.id)
    await journal.undo(number)
    assert (workspace / PATH).read_text() == "- one\n- two\n- three\n"
    states = {row.id: row.state for row in await journal.changes.select(ChangeFilter())}
    assert states[two.id] is ChangeState.DONE
    assert states[number] is ChangeState.UNDONE
    await journal.undo(two.id)
    assert (workspace / PATH).read_text() == "- one\n- three\n"


async def test_undo_deletes_file_that_the_change_created(journal: Journal, workspace: Path) -> None:
    one = await added(journal, "- one")
    ((_, number),) = await journal.undo(one.id)
    assert not (workspace / PATH).exists()
    await journal.undo(number)
    assert (workspace / PATH).read_text() == "- one\n"


async def test_undo_refuses_edited_lines(journal: Journal, workspace: Path) -> None:
    one = await added(journal, "- one")
    (workspace / PATH).write_text("- one, and more\n")
    with pytest.raises(InvalidRequest, match="no longer there"):
        await journal.undo(one.id)
    (workspace / PATH).unlink()
    with pytest.raises(InvalidRequest, match="no longer there"):
        await journal.undo(one.id, is_dry_run=True)
    with pytest.raises(NotFound):
        await journal.undo(4711)


async def test_undo_of_a_run_is_atomic(journal: Journal, workspace: Path) -> None:
    for name in ("memory/a.md", "memory/b.md"):
        await journal.change(RelativePath(name), adding("- x"), by=WrittenBy.REFLECT, why="a test", run="r1")
    (workspace / "memory" / "a.md").write_text("- y\n")
    with pytest.raises(InvalidRequest):
        await journal.undo_run("r1")
    assert (workspace / "memory" / "b.md").read_text() == "- x\n"
    (workspace / "memory" / "a.md").write_text("- x\n")
    undone, left = await journal.undo_run("r1")
    assert (len(undone), left) == (2, [])
    assert list((workspace / "memory").iterdir()) == []


@pytest.mark.parametrize("by", [WrittenBy.RETAIN, WrittenBy.IMPORT])
async def test_what_an_undo_takes_back_is_found_beside_the_event_loop(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, by: WrittenBy
) -> None:
    threads = list[threading.Thread]()

    def noting(text: str, path: RelativePath, hunks: Sequence[Hunk]) -> str:
        threads.append(threading.current_thread())
        return undo_in_text(text, path, hunks)

    await journal.change(PATH, adding("- one"), by=by, why="a test", run="r1")
    monkeypatch.setattr("memoryd.memory.journal.undo_in_text", noting)
    await journal.undo_run("r1", is_dry_run=True)

    assert threads
    assert threading.main_thread() not in threads


async def test_undo_of_a_run_covers_more_than_a_page_of_changes(
    journal: Journal, workspace: Path, ledger: Ledger
) -> None:
    await added(journal, "- x")
    [row] = await journal.changes.select(ChangeFilter())
    paths = [RelativePath(f"memory/{number}.md") for number in range(CHANGES_MAX + 1)]
    for path in paths:
        (workspace / path).write_text("- x\n")
    # the rows that so many writes leave
    rows = [replace(row, path=path, run="r1") for path in paths]
    await ledger.write(lambda db: [add_change(db, str(workspace), one) for one in rows])
    undone, _ = await journal.undo_run("r1", is_dry_run=True)
    assert {one.path for one, _ in undone} == set(paths)


async def test_undo_of_an_import_keeps_edited_files(journal: Journal, workspace: Path) -> None:
    for name in ("memory/a.md", "memory/b.md", "memory/c.md"):
        await journal.change(RelativePath(name), adding("- x"), by=WrittenBy.IMPORT, why="a test", run="r1")
    (workspace / "memory" / "a.md").write_text("- y\n")
    (workspace / "memory" / "b.md").unlink()
    for is_dry in (True, False):
        undone, left = await journal.undo_run("r1", is_dry_run=is_dry)
        assert [row.path for row, _ in undone] == ["memory/c.md"]
        assert [one.partition(":")[0] for one in left] == ["memory/a.md stays"]
    assert [one.name for one in (workspace / "memory").iterdir()] == ["a.md"]
    with pytest.raises(InvalidRequest, match="no longer there"):
        await journal.undo_run("r1")
    (workspace / "memory" / "a.md").unlink()
    assert await journal.undo_run("r1") == ([], [])


INTENDED = ChangeRow(
    run="",
    agent="",
    writer="retain",
    why="a test",
    path=PATH,
    at=1.0e9,
    hash_before=sha256(b"before\n").digest(),
    hash_after=sha256(b"after\n").digest(),
    hunks=hunks_between("before\n", "after\n"),
)


@pytest.mark.parametrize("text", ["before\n", "after\n", "a person's\n"])
async def test_interrupted_change_is_resolved_by_hashes(
    journal: Journal, workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor, text: str
) -> None:
    path = workspace / PATH
    path.parent.mkdir()
    path.write_text(text)
    number = await journal.changes.intend(INTENDED)
    again = journal_of(workspace, ledger, executor)
    await again.check_interrupted()
    found = await again.changes.get(number)
    expected = {"before\n": None, "after\n": ChangeState.DONE}.get(text, ChangeState.UNKNOWN)
    assert (found and found.state) == expected
    assert bool(again.trouble) == (expected is ChangeState.UNKNOWN)
    assert await again.changes.unsettled() == []
    await again.check_interrupted()
    assert bool(again.trouble) == (expected is ChangeState.UNKNOWN)
    # an edit counts as a review
    path.write_text(f"{text}and more\n")
    await again.check_interrupted()
    assert not again.trouble


async def test_interrupted_change_of_deleted_note_is_no_trouble(
    journal: Journal, workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor
) -> None:
    number = await journal.changes.intend(INTENDED)
    again = journal_of(workspace, ledger, executor)
    await again.check_interrupted()
    found = await again.changes.get(number)
    assert (found and found.state) is ChangeState.UNKNOWN
    assert not again.trouble


async def test_ledger_trouble_ends_when_it_is_usable(
    workspace: Path, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    ledger = Ledger(tmp_path / "state" / "ledger.sqlite", executor, retry_seconds=0.0)
    journal = journal_of(workspace, ledger, executor)
    ledger.path.parent.mkdir()
    ledger.path.mkdir()
    running = asyncio.ensure_future(journal.run(0.01))
    assert not (await added(journal, "- one")).id
    assert journal.trouble
    ledger.path.rmdir()
    await eventually_async(lambda: not journal.trouble)
    running.cancel()
    await ledger.close()


async def test_forgotten_text_leaves_no_byte_in_the_ledger(journal: Journal, workspace: Path, tmp_path: Path) -> None:
    await added(journal, "- the canary sings")
    other = await added(journal, "- another")
    await added(journal, "- a third")
    assert await journal.changes.purge(Forgotten(lambda text: "canary" in text)) == 1
    state = tmp_path / "state"
    assert not [one for one in state.iterdir() if b"canary" in one.read_bytes()]
    rows = await journal.changes.select(ChangeFilter())
    assert [row.hunks is None for row in rows] == [False, False, True]
    with pytest.raises(InvalidRequest, match="not kept"):
        await journal.undo(rows[-1].id)

    (workspace / PATH).write_text("- another\n- a third\n")
    await journal.undo(other.id)
    assert (workspace / PATH).read_text() == "- a third\n"


async def test_old_changes_are_deleted(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor) -> None:
    journal = journal_of(workspace, ledger, executor)
    await added(journal, "- one")
    later = Journal(
        files=journal.files, changes=journal.changes, executor=executor, clock=lambda: time.time() + 91 * 86_400
    )
    await added(later, "- two")
    assert len(await journal.changes.select(ChangeFilter())) == 1


async def test_batched_notifications_are_sent_at_end_of_block(journal: Journal) -> None:
    calls: list[str] = []
    journal.on_written.append(lambda: calls.append("written"))
    with journal.batched_notifications():
        with journal.batched_notifications():
            await added(journal, "- one")
        await added(journal, "- two")
        assert not calls
    assert calls == ["written"]
    with journal.batched_notifications():
        pass
    with pytest.raises(InvalidRequest):
        await add_one_and_fail(journal)
    assert calls == ["written"] * 2
    await added(journal, "- five")
    assert calls == ["written"] * 3


async def add_one_and_fail(journal: Journal) -> None:
    with journal.batched_notifications():
        await added(journal, "- three")
        await added(journal, "- four", RelativePath("memory/secret.md"))
