"""Fixtures of the suites that run parts of the daemon in one process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.qmd_standin import LEASE, StandIn
from tests.waiting import eventually_async


@pytest.fixture
async def standin(tmp_path: Path) -> AsyncIterator[StandIn]:
    """A program that behaves on demand; nothing that it started may outlive the test."""
    program = StandIn(tmp_path / "standin")
    program.behave(results=[LEASE])
    yield program
    await eventually_async(lambda: not program.alive())
