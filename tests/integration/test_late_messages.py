"""Messages that arrive before their store is open: senders do not wait, and the order is kept."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from memoryd.agents.workspace import qa
from memoryd.agents.workspace.qa import QUEUE_FULL, STORED_LATER, LateMessages, WorkspaceQa
from memoryd.config.loading.load import load
from memoryd.errors import InvalidRequest
from tests.daemon import write_config


def store_of(folder: Path) -> WorkspaceQa:
    (folder / "notes").mkdir()
    (agent,) = load(write_config(folder, folder / "notes", None)).config.resolved_agents()
    return WorkspaceQa([agent])


async def opened(store: WorkspaceQa) -> list[asyncio.Task[object]]:
    return [asyncio.ensure_future(run()) for _, run in store.loops()]


async def test_messages_are_stored_in_order_once_store_is_open(tmp_path: Path) -> None:
    store, kept = store_of(tmp_path), list[str]()
    late = LateMessages(store)
    assert not await late.wait_until_stored(0.01)

    async def keep(text: str) -> None:
        await store.write(lambda _store: kept.append(text))
        if text == "second":
            raise InvalidRequest("it cannot be kept")

    assert [late.put(partial(keep, text)) for text in ("first", "second", "third")] == [STORED_LATER] * 3
    assert not await late.wait_until_stored(0.01)
    assert kept == []

    loops = [*await opened(store), asyncio.ensure_future(late.run())]
    assert await late.wait_until_stored(60)
    assert kept == ["first", "second", "third"]
    for loop in loops:
        loop.cancel()
    await asyncio.wait(loops)


async def test_number_of_waiting_messages_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qa, "LATE_MAX", 1)
    late = LateMessages(store_of(tmp_path))

    async def keep() -> None:
        raise AssertionError("the store is never opened")

    assert [late.put(keep), late.put(keep)] == [STORED_LATER, QUEUE_FULL]


async def test_nothing_waits_without_a_store() -> None:
    assert await LateMessages(None).wait_until_stored(0.01)
