"""Forgetting a memory clears it from every ledger table; diffs that could be undone for a day are cleared later."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Forgotten, Hunk, hunks_between
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.reflect.proposals import ProposalKind, ProposedChange
from memoryd.store.ledger.changes import BLANK_HASH, ChangeFilter, ChangeLog, ChangeRow, ChangeState
from memoryd.store.ledger.forgotten import ForgottenRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.reflect import ProposalRows
from tests.store.rows import files_with

WORKSPACE = "/ws"
CANARY = "zanzibar-canary"
NOTE = RelativePath("memory/2025-11-27.md")
ANOTHER = RelativePath("memory/2025-11-28.md")
LINES = hunks_between(f"{CANARY}\n", "\n")
HARMLESS = hunks_between("alder\n", "birch\n")
OLD, WITH, WITHOUT, NEW = (sign * 32 for sign in (b"o", b"w", b"x", b"n"))


async def note_change(
    ledger: Ledger,
    writer: str,
    at: float,
    *,
    before: bytes = b"a" * 32,
    after: bytes = b"b" * 32,
    hunks: tuple[Hunk, ...] | None = LINES,
    path: RelativePath = NOTE,
    is_settled: bool = True,
    undoes: int = 0,
) -> int:
    log = ChangeLog(ledger, WORKSPACE)
    row = ChangeRow(
        run="",
        agent="",
        writer=writer,
        why="",
        path=path,
        at=at,
        hash_before=before,
        hash_after=after,
        hunks=hunks,
        undoes=undoes,
    )
    number = await log.intend(row)
    if is_settled:
        await log.record_state(number, ChangeState.DONE)
    return number


async def hashes(ledger: Ledger) -> dict[int, tuple[bytes, bytes]]:
    log = ChangeLog(ledger, WORKSPACE)
    rows = [*await log.select(ChangeFilter()), *await log.unsettled()]
    return {row.id: (row.hash_before, row.hash_after) for row in rows}


async def test_purge_leaves_no_byte_of_the_text(ledger: Ledger, tmp_path: Path) -> None:
    await note_change(ledger, "retain", 1.0)
    await ledger.store_answer("main", "s1", 1, f"I know: {CANARY}")
    assert files_with(tmp_path, CANARY)

    purged = await ForgottenRows(ledger, WORKSPACE).purge(frozenset(), Forgotten(lambda text: CANARY in text))

    assert (purged.changes, purged.held_answers) == (1, 1)
    assert files_with(tmp_path, CANARY) == []
    assert len(await ChangeLog(ledger, WORKSPACE).select(ChangeFilter())) == 1


async def test_purge_covers_other_ledgers_of_the_workspace(
    ledger: Ledger, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    other = Ledger(tmp_path / "index-b-ledger.sqlite", executor)
    await other.store_answer("b", "s1", 1, f"I know: {CANARY}")
    rows = ForgottenRows(ledger, WORKSPACE, [ForgottenRows(other, WORKSPACE)])
    purged = await rows.purge(frozenset(), Forgotten(lambda text: CANARY in text))
    assert purged.held_answers == 1
    assert files_with(tmp_path, CANARY) == []
    await other.close()


async def test_purge_deletes_unreadable_hunks(ledger: Ledger, tmp_path: Path) -> None:
    await note_change(ledger, "retain", 1.0)
    with closing(apsw.Connection(str(ledger.path))) as database:
        database.execute("UPDATE changes SET hunks = ?", (f"{{{CANARY}",))
    assert [row.hunks for row in await ChangeLog(ledger, WORKSPACE).select(ChangeFilter())] == [None]
    await ForgottenRows(ledger, WORKSPACE).purge(frozenset(), Forgotten(lambda _text: False))
    assert files_with(tmp_path, CANARY) == []


async def test_purge_keeps_other_rows(ledger: Ledger) -> None:
    await note_change(ledger, "retain", 1.0)
    await ledger.store_answer("main", "s1", 1, "another answer")

    purged = await ForgottenRows(ledger, WORKSPACE).purge({MemoryId("id-1")}, Forgotten(lambda _text: False))

    assert purged.changes == purged.held_answers == purged.steps == 0
    assert await ledger.pending_answer("main", "s1", 1) == "another answer"


async def test_undoable_hunks_expire(ledger: Ledger, tmp_path: Path) -> None:
    await note_change(ledger, "forget", 100.0)
    rows = ForgottenRows(ledger, WORKSPACE)

    assert await rows.expire(50.0) == 0
    assert files_with(tmp_path, CANARY)
    assert await rows.expire(101.0) == 1
    assert files_with(tmp_path, CANARY) == []


async def test_blank_drops_rows_of_deleted_pages_unless_recreated(ledger: Ledger) -> None:
    pages = [RelativePath(f"bank/entities/{name}.md") for name in ("gone", "again", "kept")]
    for at, path in enumerate(pages):
        await note_change(ledger, "reflect", 1.0 + at, before=b"", hunks=HARMLESS, path=path)
    for path in pages[:2]:
        await note_change(ledger, "forget", 5.0, after=b"", hunks=None, path=path)
    await note_change(ledger, "reflect", 6.0, before=b"", hunks=HARMLESS, path=pages[1])

    await ForgottenRows(ledger, WORKSPACE).blank()

    left = {row.path for row in await ChangeLog(ledger, WORKSPACE).select(ChangeFilter())}
    assert left == {pages[1], pages[2]}


async def test_expiry_creates_no_ledger(ledger: Ledger) -> None:
    rows = ForgottenRows(ledger, WORKSPACE)

    assert await rows.expire(1e12) == 0
    assert await rows.named() == frozenset()
    assert not ledger.path.exists()


async def test_each_undo_of_an_undo_toggles_all_earlier_ones(ledger: Ledger) -> None:
    number, log, expected = 0, ChangeLog(ledger, WORKSPACE), list[bool]()
    for at in range(5):
        number = await note_change(ledger, "undo", at, undoes=number)
        expected = [*(not one for one in expected[:-1]), *[False] * bool(expected), True]
        rows = reversed(await log.select(ChangeFilter()))
        assert [row.state is ChangeState.DONE for row in rows] == expected, f"after {number} changes"


async def test_purge_deletes_proposals_based_on_forgotten_memory(ledger: Ledger, tmp_path: Path) -> None:
    gone, kept = MemoryId("a" * 64), MemoryId("b" * 64)
    at, queue, rows = (
        datetime(2026, 3, 1, tzinfo=UTC),
        ProposalRows(ledger, WORKSPACE),
        ForgottenRows(ledger, WORKSPACE),
    )
    stays = ProposedChange(ProposalKind.CORE_IN, NOTE, "why", "", (kept,))
    changes = [stays, ProposedChange(ProposalKind.CORE_IN, ANOTHER, "why", "", (kept, gone))]
    await queue.put(changes, "run", at)
    await queue.withdraw([changes[1].id], "outdated", at)
    assert await rows.named() == {gone, kept}

    purged = await rows.purge({gone}, Forgotten(lambda _text: False))

    assert purged.proposals == 1
    assert [one.change for one in await queue.all()] == [stays]
    assert await rows.named() == {kept}
    assert files_with(tmp_path, gone) == []


async def test_blank_clears_hashes_of_file_before_forgetting(ledger: Ledger, tmp_path: Path) -> None:
    made = await note_change(ledger, "retain", 1.0, before=b"", after=OLD, hunks=HARMLESS)
    retained = await note_change(ledger, "retain", 2.0, before=OLD, after=WITH, hunks=HARMLESS)
    other = await note_change(ledger, "retain", 3.0, before=OLD, after=WITH, hunks=HARMLESS, path=ANOTHER)
    forgot = await note_change(ledger, "forget", 4.0, before=WITH, after=WITHOUT, hunks=None)
    later = await note_change(ledger, "retain", 5.0, before=WITHOUT, after=NEW, hunks=HARMLESS)
    rows = ForgottenRows(ledger, WORKSPACE)

    await rows.blank()

    # an empty hash reveals nothing, and tells an undo that the change created the file
    expected = {
        made: (b"", BLANK_HASH),
        retained: (BLANK_HASH, BLANK_HASH),
        other: (OLD, WITH),
        forgot: (BLANK_HASH, WITHOUT),
        later: (WITHOUT, NEW),
    }
    assert await hashes(ledger) == expected
    left = [row.id for row in await ChangeLog(ledger, WORKSPACE).select(ChangeFilter()) if row.hunks == HARMLESS]
    assert sorted(left) == [made, retained, other, later]
    await ChangeLog(ledger, WORKSPACE).drop(other)
    await rows.purge(frozenset(), Forgotten(lambda _text: False))
    assert files_with(tmp_path, WITH.decode()) == []


async def test_hashes_stay_while_forgetting_is_unsettled(ledger: Ledger) -> None:
    retained = await note_change(ledger, "retain", 1.0, before=OLD, after=WITH, hunks=HARMLESS)
    forgot = await note_change(ledger, "forget", 2.0, before=WITH, after=WITHOUT, hunks=None, is_settled=False)
    rows, log = ForgottenRows(ledger, WORKSPACE), ChangeLog(ledger, WORKSPACE)

    await rows.blank()
    assert await hashes(ledger) == {retained: (OLD, WITH), forgot: (WITH, WITHOUT)}

    await log.record_state(forgot, ChangeState.UNKNOWN)
    assert await rows.expire(0.0) == 0
    assert await hashes(ledger) == {retained: (BLANK_HASH, BLANK_HASH), forgot: (BLANK_HASH, WITHOUT)}


async def test_hashes_are_cleared_when_undoable_forgetting_expires(ledger: Ledger) -> None:
    retained = await note_change(ledger, "retain", 1.0, before=OLD, after=WITH, hunks=HARMLESS)
    forgot = await note_change(ledger, "forget", 100.0, before=WITH, after=WITHOUT)
    rows = ForgottenRows(ledger, WORKSPACE)

    await rows.expire(50.0)
    assert await hashes(ledger) == {retained: (OLD, WITH), forgot: (WITH, WITHOUT)}

    await rows.expire(101.0)
    assert await hashes(ledger) == {retained: (BLANK_HASH, BLANK_HASH), forgot: (BLANK_HASH, WITHOUT)}


async def test_purge_clears_hashes_of_file_edited_by_hand(ledger: Ledger) -> None:
    retained = await note_change(ledger, "retain", 1.0, before=OLD, after=WITH)
    later = await note_change(ledger, "retain", 2.0, before=WITH, after=NEW, hunks=HARMLESS)
    other = await note_change(ledger, "retain", 3.0, before=OLD, after=NEW, hunks=HARMLESS, path=ANOTHER)

    await ForgottenRows(ledger, WORKSPACE).purge(frozenset(), Forgotten(lambda text: CANARY in text))

    gone = (BLANK_HASH, BLANK_HASH)
    assert await hashes(ledger) == {retained: gone, later: gone, other: (OLD, NEW)}
