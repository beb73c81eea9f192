"""What the ledger has of a forgotten memory goes in every table, and what could be undone for a day goes after it."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.forgotten_hunks import Forgotten
from memoryd.domain.memories.hunks import hunks_between
from memoryd.domain.memories.identity import MemoryId
from memoryd.store.change_log import ChangeFilter, ChangeLog, ChangeRow, ChangeState
from memoryd.store.forgotten_rows import ForgottenRows
from memoryd.store.ledger import Ledger

WORKSPACE = "/ws"
CANARY = "zanzibar-canary"
NOTE = RelativePath("memory/2025-11-27.md")


@pytest.fixture
async def ledger(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Ledger]:
    made = Ledger(tmp_path / "state" / "ledger.sqlite", executor, clock=lambda: 1000.0)
    yield made
    await made.close()


async def note_change(ledger: Ledger, writer: str, at: float) -> int:
    log = ChangeLog(ledger, WORKSPACE)
    row = ChangeRow(
        run="",
        agent="",
        writer=writer,
        why="",
        path=NOTE,
        at=at,
        hash_before=b"a",
        hash_after=b"b",
        hunks=hunks_between(f"{CANARY}\n", "\n"),
    )
    number = await log.intend(row)
    await log.settle(number, ChangeState.DONE)
    return number


def holding(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


async def test_no_byte_of_the_text_is_left(ledger: Ledger, tmp_path: Path) -> None:
    await note_change(ledger, "retain", 1.0)
    await ledger.hold("main", "s1", 1, f"I know: {CANARY}")
    assert holding(tmp_path)

    purged = await ForgottenRows(ledger, WORKSPACE).purge(frozenset(), Forgotten(lambda text: CANARY in text))

    assert (purged.changes, purged.held_answers) == (1, 1)
    assert holding(tmp_path) == []
    assert len(await ChangeLog(ledger, WORKSPACE).some(ChangeFilter())) == 1


async def test_other_rows_stay(ledger: Ledger) -> None:
    await note_change(ledger, "retain", 1.0)
    await ledger.hold("main", "s1", 1, "another answer")

    purged = await ForgottenRows(ledger, WORKSPACE).purge({MemoryId("id-1")}, Forgotten(lambda _text: False))

    assert purged.changes == purged.held_answers == purged.steps == 0
    assert await ledger.held("main", "s1", 1) == "another answer"


async def test_lines_that_could_be_undone_for_a_day_go_after_it(ledger: Ledger, tmp_path: Path) -> None:
    await note_change(ledger, "forget", 100.0)
    rows = ForgottenRows(ledger, WORKSPACE)

    assert await rows.expire(50.0) == 0
    assert holding(tmp_path)
    assert await rows.expire(101.0) == 1
    assert holding(tmp_path) == []


async def test_nothing_is_made_where_nothing_was(ledger: Ledger) -> None:
    rows = ForgottenRows(ledger, WORKSPACE)

    assert await rows.expire(1e12) == 0
    assert await rows.named() == frozenset()
    assert not ledger.path.exists()
