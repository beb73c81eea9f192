"""`sync` with the real qmd: after the call, what was on disk before is found, and what was deleted is not.

Automatic updates are off here, so only the call can have indexed a note.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.daemon import RunningDaemon, write_workspace
from tests.integration.qmd_standin import StandIn
from tests.system.qmd_daemon import found, paths, qmd_of, wait_for_qmd, with_qmd
from tests.waiting import eventually

NEVER = {"interval": "0s", "debounceMs": 3_600_000, "embedInterval": "0s"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run a daemon for tests that each use a different word."""
    home = tmp_path_factory.mktemp("synced")
    memory = write_workspace(home / "workspace") / "memory"
    (memory / "charter.md").write_text("The charter of 2026.\n")
    for folder in (memory, memory / "a", memory / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "barge.md").write_text(f"The barge of {folder.name}.\n")
    with with_qmd(home, memory.parent, update=NEVER) as running:
        wait_for_qmd(running)
        yield running


def sync(daemon: RunningDaemon, wait: Literal["indexed", "embedded"] = "indexed") -> bool:
    return bool(daemon.client().sync(wait=wait, timeout_ms=60_000)["complete"])


def test_note_is_found_after_sync(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "ocelot.md"
    before = qmd_of(daemon)["lastUpdateAt"]
    for turn in range(10):
        note.write_text(f"# Ocelot\n\nThe lease of the ocelot is number{turn}.\n")
        assert sync(daemon)
        assert paths(found(daemon, f"number{turn}")) == ["memory/ocelot.md"]
        both = found(daemon, "lease")
        assert (both["backend"], set(paths(both))) == ("qmd", {"memory/ocelot.md", "memory/2026-10-06.md"})
        assert not turn or paths(found(daemon, f"number{turn - 1}")) == []
    note.rename(daemon.workspace / "memory" / "margay.md")
    assert sync(daemon)
    assert set(paths(found(daemon, "lease"))) == {"memory/margay.md", "memory/2026-10-06.md"}
    assert qmd_of(daemon)["lastUpdateAt"] == before


def test_folder_moved_in_with_old_times_is_found(daemon: RunningDaemon) -> None:
    outside = daemon.home / "archive"
    outside.mkdir()
    (outside / "old.md").write_text("# Old\n\nThe charter of 1998.\n")
    outside.rename(daemon.workspace / "memory" / "archive")
    assert sync(daemon)
    reply = found(daemon, "charter")
    assert (reply["backend"], set(paths(reply))) == ("qmd", {"memory/archive/old.md", "memory/charter.md"})


def test_deleted_note_is_not_returned(daemon: RunningDaemon) -> None:
    memory = daemon.workspace / "memory"
    assert len(paths(found(daemon, "barge"))) == 3
    (memory / "barge.md").unlink()
    shutil.rmtree(memory / "a")
    assert sync(daemon)
    reply = found(daemon, "barge")
    assert (reply["backend"], paths(reply)) == ("qmd", ["memory/b/barge.md"])


def test_sync_waits_for_files_that_only_qmd_indexes(tmp_path: Path, workspace: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    with with_qmd(tmp_path, workspace, update=NEVER, paths=[{"path": str(docs), "name": "docs"}]) as daemon:
        wait_for_qmd(daemon)
        (docs / "guide.md").write_text("The zebra protocol wants two keys.\n")
        assert sync(daemon)
        reply = found(daemon, "zebra")
        assert (reply["backend"], paths(reply)) == ("qmd", ["qmd/docs/guide.md"])
        (docs / "guide.md").write_text("The okapi protocol wants three keys.\n")
        assert sync(daemon)
        assert paths(found(daemon, "okapi")) == ["qmd/docs/guide.md"]
        (docs / "guide.md").unlink()
        assert sync(daemon)
        assert paths(found(daemon, "okapi")) == []


def test_notes_outside_the_collections_are_not_added(tmp_path: Path, workspace: Path) -> None:
    (workspace / "bank").mkdir()
    (workspace / "bank" / "lease.md").write_text("The lease of the bank.\n")
    only_bank = [{"path": "bank", "name": "bank"}]
    with with_qmd(tmp_path, workspace, update=NEVER, includeDefaultMemory=False, paths=only_bank) as daemon:
        wait_for_qmd(daemon)
        (workspace / "memory" / "new.md").write_text("The lease of the ocelot.\n")
        (workspace / "bank" / "new.md").write_text("The lease of the margay.\n")
        assert daemon.client().sync(wait="none")
        eventually(lambda: "bank/new.md" in paths(found(daemon, "lease")))
        reply = found(daemon, "lease")
        assert (reply["backend"], set(paths(reply))) == ("qmd", {"bank/lease.md", "bank/new.md"})


def test_sync_waits_for_vectors_of_a_local_model(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    with with_qmd(tmp_path, workspace, starter_model, update=NEVER, searchMode="vsearch") as daemon:
        wait_for_qmd(daemon)
        eventually(lambda: qmd_of(daemon)["vectors"])
        eventually(lambda: found(daemon, "bread for the people next door")["backend"] == "qmd")
        reply = found(daemon, "bread for the people next door")
        assert paths(reply)[0] == "memory/2026-10-06.md"
        assert (reply["mode"], reply["provider"], reply["model"]) == ("vector", "qmd", starter_model.stem)
        agent = daemon.agent()
        assert agent["embedded"] == 0
        assert agent["pendingEmbeddings"] == 0
        assert sync(daemon, "embedded")
        assert daemon.agent()["embedded"] == agent["passages"]
        wait_for_qmd(daemon)
        (workspace / "memory" / "boat.md").write_text("# Boat\n\nThe dinghy leaks at the stern and wants caulking.\n")
        assert sync(daemon, "embedded")
        reply = found(daemon, "repairing a small vessel that takes on water")
        assert (reply["backend"], reply["mode"], paths(reply)[0]) == ("qmd", "vector", "memory/boat.md")


def test_sync_fails_soon_without_qmd(tmp_path: Path, workspace: Path) -> None:
    docs = [{"path": str(tmp_path), "name": "docs"}]
    with with_qmd(tmp_path, workspace, command="/nowhere/qmd", paths=docs) as daemon:
        assert is_soon(lambda: not sync(daemon))


def test_sync_fails_soon_without_a_model(tmp_path: Path, workspace: Path) -> None:
    standin = StandIn(tmp_path / "standin")
    with with_qmd(tmp_path, workspace, command=str(standin.program), searchMode="vsearch") as daemon:
        eventually(lambda: "no embedding model" in str(daemon.agent()["fallback"]))
        assert sync(daemon)
        assert is_soon(lambda: not sync(daemon, "embedded"))


def is_soon(condition: Callable[[], bool]) -> bool:
    """Tell whether a condition holds well before the timeout of a sync."""
    start = time.monotonic()
    return condition() and time.monotonic() - start < 10
