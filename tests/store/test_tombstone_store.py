"""What is forgotten stays known as hashes, whichever of ledger, mirror and key is lost."""

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.errors import StoreUnavailable
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.store.ledger.forgotten import TombstoneRows
from memoryd.store.ledger.ledger import Ledger

ONE = ("id-1", "The alarm code is 4711")
TWO = ("id-2", "The cellar is damp")


@pytest.fixture
async def ledger(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Ledger]:
    (tmp_path / "ws").mkdir()
    made = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
    yield made
    await made.close()


def store(
    ledger: Ledger,
    folder: Path,
    key: str = "ledger.sqlite.forgotten-key",
    others: Sequence[TombstoneStore] = (),
) -> TombstoneStore:
    return TombstoneStore(
        rows=TombstoneRows(ledger, str(folder / "ws")),
        workspace=folder / "ws",
        key_file=ledger.path.with_name(key),
        others=others,
    )


async def test_nothing_is_made_before_something_is_forgotten(ledger: Ledger, tmp_path: Path) -> None:
    assert not (await store(ledger, tmp_path).all()).contains(*ONE)
    assert not ledger.path.parent.exists()
    assert not (tmp_path / "ws" / ".memory").exists()


async def test_what_is_begun_is_pending_until_it_is_finished(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    hashes = await one.begin([ONE])

    assert await one.pending() == hashes
    await one.finish(hashes)
    assert await one.pending() == frozenset()
    assert (await store(ledger, tmp_path).all()).contains(*ONE)


async def test_the_mirror_knows_it_when_the_ledger_is_lost(
    ledger: Ledger, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))
    await ledger.close()
    ledger.path.unlink()

    again = Ledger(ledger.path, executor)
    assert (await store(again, tmp_path).all()).contains(*ONE)
    await again.close()


async def test_nothing_of_the_text_is_on_disk(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))
    await ledger.close()

    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"4711" in path.read_bytes()]
    assert {path.stat().st_mode & 0o077 for path in tmp_path.rglob("*") if path.is_file()} == {0}


async def test_what_is_released_may_be_remembered(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.finish(await one.begin([ONE]))

    assert await one.release(*ONE)
    assert not (await store(ledger, tmp_path).all()).contains(*ONE)
    assert not await one.release(*ONE)


async def test_a_mirror_that_cannot_be_written_costs_the_mirror_alone(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ws" / ".memory").symlink_to(tmp_path / "elsewhere")
    one = store(ledger, tmp_path)

    await one.finish(await one.begin([ONE]))

    assert "link" in one.trouble
    assert not list((tmp_path / "elsewhere").iterdir())
    assert (await one.all()).contains(*ONE)


async def test_a_key_that_is_none_is_told(ledger: Ledger, tmp_path: Path) -> None:
    one = store(ledger, tmp_path)
    await one.begin([ONE])
    ledger.path.with_name("ledger.sqlite.forgotten-key").write_bytes(b"short")

    with pytest.raises(StoreUnavailable, match="no key of ours"):
        await one.all()


async def test_what_another_ledger_of_the_workspace_holds_is_known_and_let_go(
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
