"""Fixtures of the suites that run the whole daemon."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon
from tests.embedding_endpoint import Endpoint


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """An endpoint that embeds, up and running."""
    with Endpoint(tmp_path) as running:
        yield running


@pytest.fixture
def start() -> Iterator[Callable[[RunningDaemon], RunningDaemon]]:
    """Start a daemon that stops at the end."""
    with ExitStack() as running:
        yield running.enter_context
