"""The real qmd that `make qmd` installs, for the tests that run it."""

import os
from pathlib import Path

import pytest

from memoryd.config.paths import cache_dir

PROGRAM = Path(os.environ.get("MEMORYD_TEST_QMD") or cache_dir() / "qmd-2.8.3") / "node_modules" / ".bin" / "qmd"
"""In the cache of the person who runs the tests, read before each test hides it."""


def real_qmd() -> str:
    """Return the path of the program; skips the test where it could not be installed."""
    if not PROGRAM.exists():
        pytest.skip(f"there is no qmd at {PROGRAM}: `make qmd` installs it where npm can be had")
    return str(PROGRAM)
