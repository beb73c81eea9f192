"""Fixtures of the suites that run parts of the daemon in one process."""

import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.store.ledger.ledger import Ledger
from tests.integration.contract_server import Contract, serving
from tests.integration.indexing import Stage, staged
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
    """A stand-in for qmd; none of its processes may outlive the test."""
    program = StandIn(tmp_path / "standin")
    program.behave(results=[LEASE])
    yield program
    await eventually_async(lambda: not program.alive())


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Contract]:
    """A server with the API's replies, at the address that the environment names."""
    monkeypatch.delenv("MEMORYD_AGENT_ID", raising=False)
    with serving(tmp_path / "memoryd.sock") as running:
        monkeypatch.setenv("MEMORYD_SOCKET", os.fspath(running.socket))
        yield running


@pytest.fixture
async def stage(tmp_path: Path, workspace: Path) -> AsyncIterator[Stage]:
    async with staged(workspace, tmp_path / "state") as running:
        yield running
