"""Edits of memories by id on real files: unchanged bytes, moved lines, concurrent editors, undo."""

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory, MemorySource, book_of
from memoryd.domain.memories.changes.replacing import MemoryReplacement, plan_replacement, with_missing_parts
from memoryd.domain.memories.edits import AttributeChange, MemoryDraft, parse_statement
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.files.scanner import ScanRules
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.retaining import LineEditing
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger
from tests.fault.editors import SAVES
from tests.sweeps import swept, whole_or

LOG, WORLD = RelativePath("memory/2026-11-18.md"), RelativePath("bank/world.md")
PIN, UNPIN = AttributeChange(is_pinned=True), AttributeChange(is_pinned=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    for folder in ("memory", "bank"):
        (made / folder).mkdir(parents=True)
    return made


def journal_of(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor, *, is_read_only: bool = False) -> Journal:
    rules = ScanRules(workspace=workspace, is_ignored=lambda _path: False)
    made = Journal(
        files=NoteFiles(workspace, lambda: rules),
        changes=ChangeLog(ledger, str(workspace)),
        executor=executor,
        is_read_only=is_read_only,
    )
    made.existed_recently.append(lambda path: (workspace / path).parent.is_dir())
    return made


@pytest.fixture
def journal(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor) -> Journal:
    return journal_of(workspace, ledger, executor)


def memory_saying(workspace: Path, text: str) -> Memory:
    """Return the memory with this text, as the notes state it now."""
    sources = [
        MemorySource(path, one.start_line, one.end_line, one.line, date(2026, 11, 18), None, number)
        for path in (LOG, WORLD)
        if (workspace / path).exists()
        for number, one in enumerate(
            memory_sections(encode_padded((workspace / path).read_text("utf-8-sig")), path).lines
        )
    ]
    return next(one for one in book_of(sources).memories.values() if one.line.text == text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b"# Day\r\n\r\n## Retain\r\n- W: x  \r\n- W @Anna: y\r\n  and more\r\n\r\nprose",
            b"# Day\r\n\r\n## Retain\r\n- W: x  \r\n- W(pin) @Anna: y\r\n  and more\r\n\r\nprose",
        ),
        (b"## Retain\n- W @Anna: y\n  and more", b"## Retain\n- W(pin) @Anna: y\n  and more"),
        (
            b"\xef\xbb\xbf## Retain\r\n- a\r\n- W @Anna: y\n  and more\r\n- b\r\n",
            b"\xef\xbb\xbf## Retain\r\n- a\r\n- W(pin) @Anna: y\n  and more\r\n- b\r\n",
        ),
    ],
)
async def test_all_other_bytes_stay_and_undo_restores_the_line(
    workspace: Path, journal: Journal, before: bytes, after: bytes
) -> None:
    """Line ends of both kinds, a byte order mark, and an unterminated last line stay."""
    (workspace / LOG).write_bytes(before)
    meant = memory_saying(workspace, "y\nand more")
    pinned = await LineEditing(journal).change(meant, PIN)
    assert (workspace / LOG).read_bytes() == after
    assert [one.is_written for one in pinned.changes] == [True]
    again = await LineEditing(journal).change(memory_saying(workspace, "y\nand more"), PIN)
    assert not again.changes
    await journal.undo(pinned.changes[0].id)
    assert (workspace / LOG).read_bytes() == before
    gone = await LineEditing(journal).delete(memory_saying(workspace, "y\nand more"))
    assert b"more" not in (workspace / LOG).read_bytes()
    await journal.undo(gone.changes[0].id)
    # a restored line ends like most others
    assert (workspace / LOG).read_bytes().replace(b"\r\n", b"\n") == before.replace(b"\r\n", b"\n")


async def test_moved_line_is_found_and_missing_line_is_reported(workspace: Path, journal: Journal) -> None:
    (workspace / LOG).write_text("## Retain\n- W: x\n- W: y\n")
    meant = memory_saying(workspace, "y")
    (workspace / LOG).write_text("# Day\n\nprose\n\n## Retain\n- W: new\n- W: y\n- W: x\n")
    await LineEditing(journal).change(meant, AttributeChange(importance=0.3))
    assert (workspace / LOG).read_text() == "# Day\n\nprose\n\n## Retain\n- W: new\n- W(i=0.3): y\n- W: x\n"
    (workspace / LOG).write_text("## Retain\n- W: y, said otherwise\n")
    for act in (LineEditing(journal).change(meant, PIN), LineEditing(journal).delete(meant)):
        with pytest.raises(NotFound, match="no line states the memory"):
            await act
    (workspace / LOG).unlink()
    with pytest.raises(NotFound, match="no line states the memory"):
        await LineEditing(journal).delete(meant)
    assert not (workspace / LOG).exists()


async def test_edit_covers_all_lines_and_undo_of_its_run_all_notes(workspace: Path, journal: Journal) -> None:
    log, page = "## Retain\n- W(pin): x\n- W: z\n", "# World\n\n- W(pin): x\n- z\n"
    (workspace / LOG).write_text(log)
    (workspace / WORLD).write_text(page)
    await LineEditing(journal).change(memory_saying(workspace, "x"), UNPIN)
    assert (workspace / LOG).read_text() == log.replace("(pin)", "")
    assert (workspace / WORLD).read_text() == page.replace("(pin)", "")
    gone = await LineEditing(journal).delete(memory_saying(workspace, "x"))
    assert "x" not in (workspace / LOG).read_text() + (workspace / WORLD).read_text()
    assert len(gone.changes) == 2
    await journal.undo_run(gone.run)
    assert (workspace / WORLD).read_text() == page.replace("(pin)", "")
    assert (workspace / LOG).read_text() == log.replace("(pin)", "")


async def test_nothing_is_written_if_one_note_is_refused(workspace: Path, journal: Journal) -> None:
    (workspace / LOG).write_text("## Retain\n- W: x\n")
    (workspace / WORLD).write_text("# World\n\n- x\n")
    meant = memory_saying(workspace, "x")
    (workspace / "elsewhere.md").write_text("# World\n\n- x\n")
    (workspace / WORLD).unlink()
    (workspace / WORLD).symlink_to(workspace / "elsewhere.md")
    with pytest.raises(InvalidRequest, match="symbolic link"):
        await LineEditing(journal).delete(meant)
    assert (workspace / LOG).read_text() == "## Retain\n- W: x\n"
    assert (workspace / "elsewhere.md").read_text() == "# World\n\n- x\n"


async def test_read_only_memory_keeps_every_byte(workspace: Path, ledger: Ledger, executor: ThreadPoolExecutor) -> None:
    (workspace / LOG).write_text("## Retain\n- W: x\n")
    editing = LineEditing(journal_of(workspace, ledger, executor, is_read_only=True))
    meant = memory_saying(workspace, "x")
    for act in (editing.change(meant, PIN), editing.delete(meant)):
        with pytest.raises(Denied, match="readOnly"):
            await act
    assert (workspace / LOG).read_text() == "## Retain\n- W: x\n"


@swept("name", [*SAVES], 6)
async def test_concurrent_editor_loses_nothing_while_pinning(workspace: Path, journal: Journal, name: str) -> None:
    """A person types at the top while the line is pinned and unpinned."""
    save, chance, path = SAVES[name], random.Random(name), workspace / LOG
    path.write_text("# Day\n\n## Retain\n- W @Peter: x\n  more\n")
    meant = memory_saying(workspace, "x\nmore")
    for number in range(whole_or(4, 8)):
        before = path.read_bytes()
        typed = before.replace(b"# Day", b"# Day" + b" x" * (number + 1), 1)

        def edit(typed: bytes = typed) -> None:
            save(path, typed, lambda: time.sleep(chance.random() / 500))

        change = PIN if number % 2 == 0 else UNPIN
        await asyncio.gather(asyncio.to_thread(edit), LineEditing(journal).change(meant, change))
        # an editor that does not compare overwrites the pin, but typed text is never lost
        assert path.read_bytes().startswith(b"# Day x"), path.read_bytes()
        lines = memory_sections(encode_padded(path.read_text()), LOG).lines
        assert [one.line.text for one in lines] == ["x\nmore"]
        await LineEditing(journal).change(memory_saying(workspace, "x\nmore"), change)
        assert memory_sections(encode_padded(path.read_text()), LOG).lines[0].line.attributes.is_pinned == (
            number % 2 == 0
        )
    assert path.read_text().endswith("\n\n## Retain\n- W @Peter: x\n  more\n")


def plan_of(workspace: Path, text: str, new: str, *, is_in_place: bool = False) -> MemoryReplacement:
    old = memory_saying(workspace, text)
    said = with_missing_parts(parse_statement(MemoryDraft(text=new)), old, is_in_place=is_in_place)
    return plan_replacement(book_of(old.sources), old, said, is_in_place=is_in_place)


@swept("name", [*SAVES], 6)
@pytest.mark.parametrize("is_in_place", [False, True])
async def test_concurrent_editor_loses_nothing_while_replacing(
    workspace: Path, journal: Journal, name: str, is_in_place: bool
) -> None:
    save, chance, path = SAVES[name], random.Random(name), workspace / LOG
    path.write_text("# Day\n\n## Retain\n- W @Peter: drinks 0 cups\n")
    for number in range(whole_or(3, 6)):
        typed = path.read_bytes().replace(b"# Day", b"# Day" + b" x" * (number + 1), 1)

        def edit(typed: bytes = typed) -> None:
            save(path, typed, lambda: time.sleep(chance.random() / 500))

        text, new = f"drinks {number} cups", f"drinks {number + 1} cups"
        old, plan = memory_saying(workspace, text), plan_of(workspace, text, new, is_in_place=is_in_place)
        writing = LineEditing(journal).replace(old, plan, [LOG], LOG)
        await asyncio.gather(asyncio.to_thread(edit), writing, return_exceptions=True)
        assert path.read_bytes().startswith(b"# Day x"), path.read_bytes()
        # an editor that does not compare may have restored the line: then replace it again
        stated = [one.line.text for one in memory_sections(encode_padded(path.read_text()), LOG).lines]
        if new not in stated:
            await LineEditing(journal).replace(old, plan_of(workspace, text, new, is_in_place=is_in_place), [LOG], LOG)
        stated = [one.line.text for one in memory_sections(encode_padded(path.read_text()), LOG).lines]
        assert stated == [new] if is_in_place else stated[-1] == new
        assert len(stated) == len(set(stated))


async def test_refused_note_is_reported_and_new_line_is_written(workspace: Path, journal: Journal) -> None:
    (workspace / WORLD).write_text("- W: tea\n")
    old, plan = memory_saying(workspace, "tea"), plan_of(workspace, "tea", "coffee")
    (workspace / WORLD).rename(workspace / "elsewhere.md")
    (workspace / LOG).write_text("## Retain\n- W: tea\n")
    (workspace / WORLD).symlink_to(workspace / "elsewhere.md")
    both = Memory(old.id, (*old.sources, replace(old.sources[0], path=LOG)))
    done = await LineEditing(journal).replace(both, plan, [WORLD, LOG], LOG)
    assert [str(WORLD) in one for one in done.notes] == [True]
    assert "coffee" in (workspace / LOG).read_text()
    assert (workspace / "elsewhere.md").read_text() == "- W: tea\n"


async def test_missing_line_is_not_replaced(workspace: Path, journal: Journal) -> None:
    (workspace / WORLD).write_text("- W: tea\n")
    old = memory_saying(workspace, "tea")
    plans = [plan_of(workspace, "tea", "coffee", is_in_place=one) for one in (False, True)]
    (workspace / WORLD).write_text("- W: water\n")
    for plan in plans:
        with pytest.raises(NotFound, match="any more"):
            await LineEditing(journal).replace(old, plan, [WORLD], LOG)
    assert not (workspace / LOG).exists()
