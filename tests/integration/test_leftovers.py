"""The check for leftover processes at the end of the suite works."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.leftovers import described, processes_of
from tests.waiting import eventually


@pytest.mark.parametrize("trace", ["working directory", "home"])
def test_f087_leftover_process_is_seen_until_it_ends(tmp_path: Path, trace: str) -> None:
    """A process that a test left is seen by its folder or home until it ends."""
    folder = tmp_path / "of the test"
    folder.mkdir()
    at: Path = folder if trace == "working directory" else Path("/")
    home: Mapping[str, str] = {"HOME": str(folder)} if trace == "home" else {}
    with subprocess.Popen(["sleep", "600"], cwd=at, env={**os.environ, **home}, start_new_session=True) as process:
        try:
            eventually(lambda: [one.pid for one in processes_of(folder)] == [process.pid])
            eventually(lambda: described(processes_of(folder)) == f"{process.pid} sleep 600")
        finally:
            process.kill()
    assert processes_of(folder) == []
