"""The usage of memories in a real ledger: stored exactly, separate per workspace, and forgettable."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.tiers import Tier, TierBasis, Usage
from memoryd.errors import Denied
from memoryd.memory.touches import tier_changes
from memoryd.store.connection import PAGE_BYTES
from memoryd.store.ledger.changes import ChangeFilter, ChangeLog, ChangeState
from memoryd.store.ledger.database import LEDGER
from memoryd.store.ledger.forgotten import ForgottenRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.usage import UsageRows
from memoryd.store.migrations import History, new_database

TEA, COFFEE = MemoryId("tea"), MemoryId("coffee")
USED = Usage(3, 0.1 + 0.2, Tier.PERIPHERAL, TierBasis(1.0 / 3, 0.6, False))
PINNED = Usage(0, None, Tier.CORE, TierBasis(2.0, 0.5, True))


async def test_usage_is_read_back_unchanged(ledger: Ledger) -> None:
    rows = UsageRows(ledger, "/ws")
    assert await rows.all() == {}
    await rows.put({})
    assert not ledger.path.exists(), "empty usage creates no file"
    await rows.put({TEA: USED, COFFEE: PINNED})
    assert await rows.all() == {TEA: USED, COFFEE: PINNED}
    later = Usage(4, 9.0, Tier.WORKING, TierBasis(9.0, 0.7, True))
    await rows.put({TEA: later, MemoryId("never judged"): Usage(1, 2.0)})
    assert await rows.all() == {TEA: later, COFFEE: PINNED}
    assert await UsageRows(ledger, "/other").all() == {}


async def test_usage_of_unstated_memory_expires(ledger: Ledger) -> None:
    rows = UsageRows(ledger, "/ws")
    await rows.put({TEA: USED, COFFEE: PINNED})
    assert await rows.note_stated({COFFEE}, 100.0, 50.0) == frozenset()
    assert await rows.note_stated({COFFEE}, 150.0, 50.0) == frozenset()
    assert await rows.note_stated({COFFEE, TEA}, 151.0, 50.0) == frozenset(), "it came back in time"
    assert await rows.note_stated({COFFEE}, 152.0, 50.0) == frozenset()
    assert await rows.note_stated({COFFEE}, 203.0, 50.0) == {TEA}
    assert await rows.all() == {COFFEE: PINNED}


async def test_clock_set_back_does_not_change_expiry(ledger: Ledger) -> None:
    rows = UsageRows(ledger, "/ws")
    await rows.put({TEA: USED})
    assert await rows.note_stated((), 1e9, 50.0) == frozenset()
    assert await rows.note_stated((), 100.0, 50.0) == frozenset()
    assert await rows.note_stated((), 151.0, 50.0) == {TEA}


async def test_dropped_usage_leaves_no_byte(ledger: Ledger) -> None:
    rows = UsageRows(ledger, "/ws")
    await rows.put({MemoryId("4b1d-the-tea"): USED, COFFEE: PINNED})
    assert await rows.drop([MemoryId("4b1d-the-tea")]) == 1
    assert await rows.drop([]) == 0
    assert await rows.all() == {COFFEE: PINNED}
    assert not any(b"4b1d-the-tea" in one.read_bytes() for one in ledger.path.parent.iterdir())


async def test_forgetting_memory_deletes_its_usage(ledger: Ledger) -> None:
    rows, forgotten = UsageRows(ledger, "/ws"), ForgottenRows(ledger, "/ws")
    await rows.put({TEA: USED, COFFEE: PINNED})
    assert await forgotten.named() == {TEA, COFFEE}
    await forgotten.purge(frozenset({TEA}), Forgotten(lambda _text: False))
    assert await rows.all() == {COFFEE: PINNED}


async def test_read_only_ledger_refuses_usage(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(tmp_path / "ledger.sqlite", executor, is_read_only=True)
        rows = UsageRows(ledger, "/ws")
        assert await rows.all() == {}
        with pytest.raises(Denied):
            await rows.put({TEA: USED})
        await ledger.close()
    assert list(tmp_path.iterdir()) == []


async def test_unknown_tier_is_refused(ledger: Ledger) -> None:
    await UsageRows(ledger, "/ws").put({TEA: USED})
    await ledger.close()
    with apsw.Connection(str(ledger.path)) as db, pytest.raises(apsw.ConstraintError):
        db.execute("UPDATE usage SET tier = 'best'")


async def test_usage_of_older_version_is_unearned_until_updated(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    first = next(at for at, sql in enumerate(LEDGER.migrations) if "is_earned" in sql)
    old = History("the ledger", LEDGER.application, LEDGER.migrations[:first])
    path.write_bytes(new_database(old, page_bytes=PAGE_BYTES))
    with apsw.Connection(str(path)) as db:
        db.execute("INSERT INTO usage VALUES ('/ws', 'tea', 20, 9.0, 'core', 9.0, 0.6, 0, NULL)")
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(path, executor)
        rows = UsageRows(ledger, "/ws")
        assert await rows.all() == {TEA: Usage(20, 9.0, Tier.CORE, TierBasis(9.0, 0.6, False), is_earned=False)}
        await rows.put({TEA: USED})
        assert await rows.all() == {TEA: USED}
        await ledger.close()


async def test_change_of_tier_is_logged_with_usage(ledger: Ledger) -> None:
    rows, changes = UsageRows(ledger, "/ws"), ChangeLog(ledger, "/ws")
    await rows.put({}, tier_changes({}, 9.0))
    assert not ledger.path.exists()
    await rows.put({TEA: USED}, tier_changes({TEA: (USED, PINNED)}, 9.0))
    (row,) = await changes.select(ChangeFilter())
    assert (row.writer, row.path, row.state) == ("tiers", "", ChangeState.DONE)
    assert await changes.unsettled() == []
