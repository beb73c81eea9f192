"""A real index file and a real ledger for each test."""

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.store.index.database import Database
from memoryd.store.ledger.ledger import Ledger


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(6) as pool:
        yield pool


@pytest.fixture
async def database(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Database]:
    opened = Database(path=tmp_path / "index.sqlite", executor=executor)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def ledger(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Ledger]:
    opened = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
    yield opened
    await opened.close()


@pytest.fixture
async def make(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Callable[..., Ledger]]:
    """Return a function that opens ledgers, by default all over the same file."""
    opened: list[Ledger] = []

    def open_ledger(path: Path | None = None, **settings: object) -> Ledger:
        settings = {"retry_seconds": 0.0, **settings}
        opened.append(Ledger(path or tmp_path / "ledger.sqlite", executor, **settings))  # type: ignore[arg-type]
        return opened[-1]

    yield open_ledger
    for ledger in opened:
        await ledger.close()
