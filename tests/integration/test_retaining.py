"""Retaining while others write: editors with different ways to save, other programs of ours, changing days."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import repeat
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded
from memoryd.errors import InvalidRequest
from memoryd.files.scanner import ScanRules
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.retaining import Retaining
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger
from tests.fault.editors import SAVES
from tests.sweeps import swept, whole_or

DAY = date(2026, 11, 18)
LOG = RelativePath("memory/2026-11-18.md")


@pytest.fixture
async def ledgers(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[list[Ledger]]:
    made = [Ledger(tmp_path / name / "ledger.sqlite", executor) for name in ("one", "other")]
    yield made
    for ledger in made:
        await ledger.close()


def retaining(folder: Path, ledger: Ledger, executor: ThreadPoolExecutor, *given: date) -> Retaining:
    days = iter(given) if given else repeat(DAY)
    rules = ScanRules(workspace=folder, is_ignored=lambda _path: False)
    files = NoteFiles(folder, lambda: rules)
    journal = Journal(files=files, changes=ChangeLog(ledger, str(folder)), executor=executor)
    journal.existed_recently.append(lambda path: path == LOG)
    return Retaining(journal, lambda: next(days))


def fact(text: str) -> RetainedLine:
    return RetainedLine(Kind.WORLD, text)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    (made / "memory").mkdir(parents=True)
    return made


def stated(workspace: Path) -> list[str]:
    return [one.line.text for one in memory_sections(encode_padded((workspace / LOG).read_text()), LOG).lines]


async def test_two_programs_lose_no_line(workspace: Path, ledgers: list[Ledger], executor: ThreadPoolExecutor) -> None:
    both = [retaining(workspace, ledger, executor) for ledger in ledgers]
    wanted = [f"fact {number}" for number in range(40)]
    await asyncio.gather(*(both[number % 2].retain([fact(text)]) for number, text in enumerate(wanted)))
    assert sorted(stated(workspace)) == sorted(wanted)


@swept("name", [*SAVES], 6)
async def test_concurrent_editor_loses_nothing(
    workspace: Path, ledgers: list[Ledger], executor: ThreadPoolExecutor, name: str
) -> None:
    """The person types at the top; each save is based on the file as loaded a moment ago."""
    one, save, chance = retaining(workspace, ledgers[0], executor), SAVES[name], random.Random(name)
    path = workspace / LOG
    path.write_text("# Wednesday\n\n## Retain\n")
    rounds = whole_or(5, 12)
    for number in range(rounds):
        before = path.read_bytes()
        typed = before.replace(b"# Wednesday", b"# Wednesday" + b" x" * (number + 1), 1)

        def edit(typed: bytes = typed) -> None:
            save(path, typed, lambda: time.sleep(chance.random() / 500))

        await asyncio.gather(asyncio.to_thread(edit), one.retain([fact(f"fact {number}")]))
        now = path.read_bytes()
        # an editor that does not compare overwrites our line, but we never overwrite typed text
        assert now.startswith(b"# Wednesday x"), now[:40]
        # a save begun before ours may lack the line; retained again, it is there
        await one.retain([fact(f"fact {number}")])
    assert [text for text in stated(workspace) if stated(workspace).count(text) > 1] == []
    assert f"fact {rounds - 1}" in stated(workspace)


async def test_memory_of_another_day_is_another_source(
    workspace: Path, ledgers: list[Ledger], executor: ThreadPoolExecutor
) -> None:
    days = (date(2026, 11, 18), date(2026, 11, 19), date(2026, 11, 17))
    one = retaining(workspace, ledgers[0], executor, *days)
    found = [await one.retain([fact("tea")]) for _ in range(3)]
    # on another day, also with the clock set back, it is one more source of the same memory
    assert [each.path for each in found] == [f"memory/2026-11-{day}.md" for day in (18, 19, 17)]
    assert len({each.placed[0].line.id for each in found}) == 1
    assert all(each.added == (True,) for each in found)


@pytest.mark.sweep
async def test_line_is_added_to_a_log_of_megabytes(
    workspace: Path, ledgers: list[Ledger], executor: ThreadPoolExecutor
) -> None:
    # the same size in fewer lines takes a tenth of the time
    count, more = whole_or(11_000, 110_000), " again" * whole_or(70, 0)
    lines = "".join(f"- W: fact number {number} of many that were stated{more}\n" for number in range(count))
    text = f"# Wednesday\n\n## Retain\n{lines}\n## Other\nx\n"
    (workspace / LOG).write_text(text)
    assert len(text) > 5_000_000
    found = await retaining(workspace, ledgers[0], executor).retain([fact("one more")])
    assert found.placed[0].start_line == count + 4
    assert (workspace / LOG).read_text() == text.replace("\n\n## Other", "\n- W: one more\n\n## Other")


async def test_log_with_open_fence_is_unchanged(
    workspace: Path, ledgers: list[Ledger], executor: ThreadPoolExecutor
) -> None:
    # a heading at the top would turn the bullets below into memories
    text = "- W: a plain bullet\n```\nopen\n"
    (workspace / LOG).write_text(text)
    with pytest.raises(InvalidRequest, match="not closed"):
        await retaining(workspace, ledgers[0], executor).retain([fact("tea")])
    assert (workspace / LOG).read_text() == text
