"""Fixtures of the suites that run parts of the daemon in one process."""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.store.ledger.ledger import Ledger
from tests.integration.qmd_standin import LEASE, StandIn
from tests.waiting import eventually_async


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    """Threads as the daemon has them."""
    with ThreadPoolExecutor(6) as made:
        yield made


@pytest.fixture
async def ledger(tmp_path: Path, executor: ThreadPoolExecutor) -> AsyncIterator[Ledger]:
    made = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
    yield made
    await made.close()


@pytest.fixture
async def standin(tmp_path: Path) -> AsyncIterator[StandIn]:
    """A program that behaves on demand; nothing that it started may outlive the test."""
    program = StandIn(tmp_path / "standin")
    program.behave(results=[LEASE])
    yield program
    await eventually_async(lambda: not program.alive())
