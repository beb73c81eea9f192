"""A real index file for each test."""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.store.index.database import Database


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
