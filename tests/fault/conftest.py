"""Fixtures of the fault suite."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.faults import has_strace, limited, mounted
from tests.fault.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A workspace for which a test starts the daemon."""
    made = Stage(tmp_path)
    yield made
    made.end()


@pytest.fixture
def desk() -> Iterator[Stage]:
    """The same outside the temporary directory, where vim and Emacs save differently."""
    folder = Path(tempfile.mkdtemp(prefix="memoryd-", dir="/var/tmp"))
    made = Stage(folder)
    yield made
    made.end()
    shutil.rmtree(folder)


@pytest.fixture
def notes_disk(stage: Stage) -> Iterator[Path]:
    """The workspace on its own file system."""
    notes = stage.home / "notes"
    stage.workspace.rename(notes)
    stage.workspace.mkdir()
    with mounted(stage.workspace):
        shutil.copytree(notes, stage.workspace, dirs_exist_ok=True)
        yield stage.workspace
        stage.end()


@pytest.fixture
def state_disk(stage: Stage) -> Iterator[Path]:
    """The state directory on its own file system of 3 MB."""
    state = stage.home / "state"
    state.mkdir()
    with mounted(state, "size=3m"):
        yield state
        stage.end()


@pytest.fixture
def strace() -> None:
    """Skip if system calls cannot be traced."""
    if not has_strace():
        pytest.skip("strace is missing or may not trace")


@pytest.fixture
def user_namespace() -> None:
    """Skip if a process cannot have its own kernel limits."""
    if subprocess.run([*limited(max_inotify_watches=9), "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are missing or forbidden")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that need root if we are not root."""
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root"))
