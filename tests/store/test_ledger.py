"""The ledger as its callers see it: what it stores, its limits of time and size, and what remains on disk."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import hunks_between
from memoryd.errors import Denied
from memoryd.store.ledger.changes import HUNK_CHARS_MAX, MAX_ROWS, MAX_TOTAL_BYTES, ChangeRow, ChangeState, add_change
from memoryd.store.ledger.conversations import HoldingLimits
from memoryd.store.ledger.database import empty_ledger
from memoryd.store.ledger.ledger import Ledger
from tests.fakes import FakeClock
from tests.store.rows import bytes_in, files_with
from tests.waiting import eventually_async

DAY = 86_400.0
SECRET = "the honey stands behind the third door"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000.0)


@pytest.fixture
async def ledger(tmp_path: Path, executor: ThreadPoolExecutor, clock: FakeClock) -> AsyncIterator[Ledger]:
    made = Ledger(tmp_path / "state" / "ledger.sqlite", executor, clock=clock)
    yield made
    await made.close()


async def test_answer_is_held_per_agent_session_and_turn(ledger: Ledger) -> None:
    assert await ledger.store_answer("main", "s1", 17, SECRET)
    assert await ledger.pending_answer("main", "s1", 17) == SECRET
    for other in (("other", "s1", 17), ("main", "s2", 17), ("main", "s1", 18)):
        assert await ledger.pending_answer(*other) is None
    assert await ledger.store_answer("main", "s1", 17, "another answer")
    assert await ledger.pending_answer("main", "s1", 17) == "another answer"
    assert await ledger.drop("main", "s1", 17)
    assert await ledger.pending_answer("main", "s1", 17) is None
    assert not await ledger.drop("main", "s1", 17)


async def test_no_file_is_created_before_first_answer(ledger: Ledger) -> None:
    assert await ledger.pending_answer("main", "s1", 1) is None
    assert await ledger.forget_session("main", "s1") == 0
    assert await ledger.sweep() == 0
    assert (await ledger.count("main"))["bytes"] == 0
    assert not ledger.path.parent.exists()


async def test_expired_answer_is_hidden_and_then_swept(ledger: Ledger, clock: FakeClock, tmp_path: Path) -> None:
    await ledger.store_answer("main", "s1", 1, SECRET)
    clock.advance(7 * DAY - 1)
    assert await ledger.pending_answer("main", "s1", 1) == SECRET
    clock.advance(1)
    assert await ledger.pending_answer("main", "s1", 1) is None
    assert (await ledger.count("main"))["heldAnswers"] == 0
    assert await ledger.sweep() == 1
    assert files_with(tmp_path / "state", SECRET) == []


async def test_forgotten_session_leaves_no_byte_on_disk(ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    for seq in range(1, 40):
        await ledger.store_answer("main", "s1", seq, f"{SECRET} {seq} " * 200)
        await ledger.store_answer("main", "s2", seq, f"kept {seq}")
        await ledger.store_answer("other", "s1", seq, f"another agent's {seq}")
    assert files_with(folder, SECRET)
    assert await ledger.forget_session("main", "s1") == 39
    assert files_with(folder, SECRET) == []
    assert await ledger.pending_answer("main", "s2", 39) == "kept 39"
    assert await ledger.pending_answer("other", "s1", 39) == "another agent's 39"


async def test_sweep_erases_replaced_and_dropped_answers(ledger: Ledger, tmp_path: Path) -> None:
    await ledger.store_answer("main", "s1", 1, SECRET)
    await ledger.store_answer("main", "s1", 1, "short")
    await ledger.store_answer("main", "s1", 2, SECRET * 3000)
    await ledger.drop("main", "s1", 2)
    await ledger.sweep()
    assert files_with(tmp_path / "state", SECRET) == []


async def test_expiry_counts_from_given_time_but_not_from_the_future(ledger: Ledger, clock: FakeClock) -> None:
    now = datetime.fromtimestamp(clock.now, UTC)
    assert await ledger.store_answer("main", "s1", 1, "old", now - timedelta(days=6))
    assert not await ledger.store_answer("main", "s1", 2, "too old", now - timedelta(days=7))
    assert await ledger.store_answer("main", "s1", 3, "from the future", now + timedelta(days=400))
    clock.advance(DAY)
    assert await ledger.pending_answer("main", "s1", 1) is None
    assert await ledger.pending_answer("main", "s1", 2) is None
    clock.advance(6 * DAY)
    assert await ledger.pending_answer("main", "s1", 3) is None


async def test_clock_set_back_does_not_extend_retention(ledger: Ledger, clock: FakeClock) -> None:
    clock.advance(1000 * DAY)
    await ledger.store_answer("main", "s1", 1, "answer")
    clock.advance(-1000 * DAY)
    assert await ledger.pending_answer("main", "s1", 1) == "answer"
    await ledger.sweep()
    clock.advance(7 * DAY - 1)
    assert await ledger.pending_answer("main", "s1", 1) == "answer"
    clock.advance(1)
    assert await ledger.pending_answer("main", "s1", 1) is None


async def test_limits_evict_oldest_answers_of_same_agent(
    tmp_path: Path, executor: ThreadPoolExecutor, clock: FakeClock
) -> None:
    limits = HoldingLimits(answers=3, total_bytes=1000, answer_bytes=400)
    ledger = Ledger(tmp_path / "ledger.sqlite", executor, clock=clock, limits=limits)
    await ledger.store_answer("other", "s", 1, "another agent's")
    for seq in range(1, 6):
        clock.advance(1)
        await ledger.store_answer("main", "s", seq, "x")
    assert [await ledger.pending_answer("main", "s", seq) for seq in range(1, 6)] == [None, None, "x", "x", "x"]
    clock.advance(1)
    # 399 bytes in 133 characters
    await ledger.store_answer("main", "s", 6, "蜜" * 133)
    await ledger.store_answer("main", "s", 7, "y" * 400)
    await ledger.store_answer("main", "s", 8, "z" * 400)
    assert [await ledger.pending_answer("main", "s", seq) is not None for seq in range(5, 9)] == [
        False,
        False,
        True,
        True,
    ]
    assert (await ledger.count("main"))["heldBytes"] == 800
    assert await ledger.pending_answer("other", "s", 1) == "another agent's"
    await ledger.close()


async def test_clock_set_back_does_not_evict_new_answers(
    tmp_path: Path, executor: ThreadPoolExecutor, clock: FakeClock
) -> None:
    limits = HoldingLimits(answers=2)
    ledger = Ledger(tmp_path / "ledger.sqlite", executor, clock=clock, limits=limits)
    for seq in (1, 2):
        await ledger.store_answer("main", "s", seq, "x")
    clock.advance(-30 * DAY)
    await ledger.store_answer("main", "s", 3, "x")
    assert [await ledger.pending_answer("main", "s", seq) for seq in (1, 2, 3)] == [None, "x", "x"]
    await ledger.close()


async def test_too_long_answer_is_refused_and_counted(
    tmp_path: Path, executor: ThreadPoolExecutor, clock: FakeClock
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite", executor, clock=clock, limits=HoldingLimits(answer_bytes=10))
    assert not await ledger.store_answer("main", "s", 1, "x" * 11)
    assert not await ledger.store_answer("main", "s", 1, "蜜" * 4)
    assert await ledger.store_answer("main", "s", 1, "x" * 10)
    found = await ledger.count("main")
    assert (found["heldAnswers"], found["heldBytes"], found["refusedAnswers"]) == (1, 10, 2)
    await ledger.close()


@pytest.mark.parametrize(
    "text", ["", "a\0b", "lone \ud800 surrogate", "line\n\r\u2028end", "'; DROP TABLE held_answers"]
)
async def test_any_text_is_read_back(ledger: Ledger, text: str) -> None:
    await ledger.store_answer("main", "s", 1, text)
    assert await ledger.pending_answer("main", "s", 1) == text.encode("utf-8", "replace").decode()


async def test_read_only_ledger_refuses_writes_and_answers(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    before = Ledger(tmp_path / "ledger.sqlite", executor)
    await before.store_answer("main", "s", 1, "answer")
    await before.close()
    contents = bytes_in(tmp_path)
    ledger = Ledger(tmp_path / "ledger.sqlite", executor, is_read_only=True)
    for verb in (
        ledger.store_answer("main", "s", 2, "x"),
        ledger.drop("main", "s", 1),
        ledger.forget_session("main", "s"),
    ):
        with pytest.raises(Denied, match=r"memory\.readOnly"):
            await verb
    assert await ledger.pending_answer("main", "s", 1) == "answer"
    assert await ledger.sweep() == 0
    assert (await ledger.count("main"))["heldAnswers"] == 1
    await ledger.close()
    assert bytes_in(tmp_path) == contents


async def test_held_answers_survive_restarts(tmp_path: Path, executor: ThreadPoolExecutor, clock: FakeClock) -> None:
    for seq in range(1, 4):
        ledger = Ledger(tmp_path / "ledger.sqlite", executor, clock=clock)
        await ledger.store_answer("main", "s", seq, f"answer {seq}")
        assert [await ledger.pending_answer("main", "s", n) for n in range(1, seq + 1)] == [
            f"answer {n}" for n in range(1, seq + 1)
        ]
        await ledger.close()
    assert ledger.trouble is None


async def test_loop_sweeps_at_start_and_periodically(ledger: Ledger, clock: FakeClock, tmp_path: Path) -> None:
    await ledger.store_answer("main", "s1", 1, SECRET)
    clock.advance(8 * DAY)
    loop = asyncio.ensure_future(ledger.run(seconds=0.01))
    await eventually_async(lambda: not files_with(tmp_path / "state", SECRET))
    clock.advance(1)
    await ledger.store_answer("main", "s1", 2, SECRET)
    assert files_with(tmp_path / "state", SECRET)
    clock.advance(8 * DAY)
    await eventually_async(lambda: not files_with(tmp_path / "state", SECRET))
    loop.cancel()


async def test_concurrent_calls_are_all_served(ledger: Ledger) -> None:
    await asyncio.gather(*(ledger.store_answer("main", f"s{n % 7}", n, f"answer {n}") for n in range(60)))
    found = await asyncio.gather(*(ledger.pending_answer("main", f"s{n % 7}", n) for n in range(60)))
    assert found == [f"answer {n}" for n in range(60)]
    assert (await ledger.count("main"))["heldAnswers"] == 60


@pytest.fixture
def database() -> Iterator[apsw.Connection]:
    """The tables of a ledger, in memory."""
    made = apsw.Connection(":memory:")
    made.deserialize("main", empty_ledger())
    yield made
    made.close()


def changed(db: apsw.Connection, workspace: str, times: int, text: str = "alder") -> None:
    row = ChangeRow(
        run="",
        agent="",
        writer="retain",
        why="",
        path=RelativePath("memory/2026-11-01.md"),
        at=1_800_000_000.0,
        state=ChangeState.DONE,
        hash_before=b"b" * 32,
        hash_after=b"a" * 32,
        hunks=hunks_between(f"{text}\n", "birch\n"),
    )
    for _ in range(times):
        add_change(db, workspace, row)


def test_cost_of_a_change_is_independent_of_their_number(database: apsw.Connection) -> None:
    steps = [0]

    def count() -> bool:
        steps[0] += 1
        return False

    def cost() -> int:
        steps[0] = 0
        changed(database, "/ws", 1)
        return steps[0]

    changed(database, "/ws", 10)
    database.set_progress_handler(count, 10)
    few = cost()
    database.set_progress_handler(None)
    changed(database, "/ws", 1_000)
    database.set_progress_handler(count, 10)
    # pruning runs at every 64th change, so at most one of three pays for it
    assert sorted(cost() for _ in range(3))[1] <= few + 5


def test_changes_are_bounded_per_workspace(database: apsw.Connection) -> None:
    changed(database, "/other", 5)
    changed(database, "/ws", 1)
    columns = database.execute("SELECT group_concat(name) FROM pragma_table_info('changes') WHERE name <> 'id'").get
    database.execute(
        "WITH RECURSIVE time (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM time WHERE number < ?)"
        f"INSERT INTO changes ({columns}) SELECT {columns} FROM changes, time WHERE workspace = '/ws'",
        (MAX_ROWS + 100,),
    )
    changed(database, "/ws", 99)
    others, ours = database.execute("SELECT count(*) FROM changes GROUP BY workspace ORDER BY workspace").fetchall()
    assert others == (5,)
    assert MAX_ROWS <= int(str(ours[0])) < MAX_ROWS + 64
    assert database.execute("SELECT max(id) FROM changes").get == MAX_ROWS + 205


def test_hunks_of_oldest_changes_are_dropped_beyond_the_limit(database: apsw.Connection) -> None:
    changed(database, "/other", 1)
    changed(database, "/ws", 80, text="x" * (HUNK_CHARS_MAX - 100))
    total, last, kept = database.execute(
        "SELECT sum(octet_length(hunks)), min(id) FILTER (WHERE hunks IS NOT NULL), count(hunks) FROM changes"
        " WHERE workspace = '/ws'"
    ).get
    assert MAX_TOTAL_BYTES - HUNK_CHARS_MAX < total <= MAX_TOTAL_BYTES
    assert last == 81 - kept + 1
    assert database.execute("SELECT count(hunks) FROM changes WHERE workspace = '/other'").get == 1
