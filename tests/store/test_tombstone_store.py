"""Tombstones survive the loss of the ledger, the mirror or the key."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.errors import StoreUnavailable
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.store.ledger.forgotten import TombstoneRows
from memoryd.store.ledger.ledger import Ledger
from tests.store.rows import files_with

ONE = ("id-1", "The alarm code is 4711")
TWO = ("id-2", "The cellar is damp")


def store(
    ledger: Ledger,
    folder: Path,
    key: str = "ledger.sqlite.forgotten-key",
    others: Sequence[TombstoneStore] = (),
) -> TombstoneStore:
    (folder / "ws").mkdir(exist_ok=True)
    return TombstoneStore(
        rows=TombstoneRows(ledger, str(folder / "ws")),
        workspace=folder / "ws",
        key_file=ledger.path.with_name(key),
        others=others,
    )


async def test_nothing_is_created_before_first_forgetting(ledger: Ledger, tmp_path: Path) -> None:
    assert not (await store(ledger, tmp_path).all()).contains(*ONE)
    assert not ledger.path.parent.exists()
    assert not (tmp_path / "ws" / ".memory").exists()


async def test_begun_forgetting_is_pending_until_finished(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    hashes = await one.begin([ONE])

    assert await one.pending() == hashes
    await one.finish(hashes)
    assert await one.pending() == frozenset()
    assert (await store(ledger, tmp_path).all()).contains(*ONE)


async def test_mirror_replaces_a_lost_ledger(ledger: Ledger, tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))
    await ledger.close()
    ledger.path.unlink()

    again = Ledger(ledger.path, executor)
    assert (await store(again, tmp_path).all()).contains(*ONE)
    await again.close()


async def test_text_is_not_on_disk(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))
    await ledger.close()

    assert files_with(tmp_path, "4711") == []
    assert {path.stat().st_mode & 0o077 for path in tmp_path.rglob("*") if path.is_file()} == {0}


async def test_released_text_is_no_longer_forgotten(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))

    assert await one.release(*ONE)
    assert not (await store(ledger, tmp_path).all()).contains(*ONE)
    assert not await one.release(*ONE)


async def test_unwritable_mirror_is_reported_and_ledger_works(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ws" / ".memory").symlink_to(tmp_path / "elsewhere")

    await one.finish(await one.begin([ONE]))

    assert "link" in one.trouble
    assert not list((tmp_path / "elsewhere").iterdir())
    assert (await one.all()).contains(*ONE)


async def test_invalid_key_is_reported(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.begin([ONE])
    ledger.path.with_name("ledger.sqlite.forgotten-key").write_bytes(b"short")

    with pytest.raises(StoreUnavailable, match="no key of ours"):
        await one.all()


async def test_tombstones_of_other_ledger_are_found_and_released(
    ledger: Ledger, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    former = Ledger(tmp_path / "state" / "index-b-ledger.sqlite", executor)
    theirs = store(former, tmp_path, "index-b-ledger.sqlite.forgotten-key")
    await theirs.finish(await theirs.begin([ONE]))
    both = store(ledger, tmp_path, others=[theirs])
    assert (await both.all()).contains(*ONE)

    await both.finish(await both.begin([TWO]))
    found = await both.all()
    assert found.contains(*ONE)
    assert found.contains(*TWO)
    assert await both.release(*ONE)
    assert not (await both.all()).contains(*ONE)
    assert (await both.all()).contains(*TWO)
    await former.close()
