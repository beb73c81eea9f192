"""Fixtures of the suites that run the whole daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedding_endpoint import Endpoint


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """An endpoint that embeds, up and running."""
    with Endpoint(tmp_path) as running:
        yield running
