"""`sync` with the real qmd as the backend: what was on disk before the call is found after it, what was deleted is not.

Refreshing by itself is turned off here, so that nothing but the call can have brought a note.
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
    """For tests that each change notes with a word of their own."""
    home = tmp_path_factory.mktemp("synced")
    memory = write_workspace(home / "workspace") / "memory"
    (memory / "charter.md").write_text("The charter of 2026.\n")
    for folder in (memory, memory / "a", memory / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "barge.md").write_text(f"The barge of {folder.name}.\n")
    with with_qmd(home, memory.parent, update=NEVER) as running:
        wait_for_qmd(running)
        yield running


def synced(daemon: RunningDaemon, wait: Literal["indexed", "embedded"] = "indexed") -> bool:
    return bool(daemon.client().sync(wait=wait, timeout_ms=60_000)["complete"])


def test_note_is_found_as_soon_as_it_is_synced(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "ocelot.md"
    before = qmd_of(daemon)["lastUpdateAt"]
    for turn in range(10):
        note.write_text(f"# Ocelot\n\nThe lease of the ocelot is number{turn}.\n")
        assert synced(daemon)
        assert paths(found(daemon, f"number{turn}")) == ["memory/ocelot.md"]
        both = found(daemon, "lease")
        assert (both["backend"], set(paths(both))) == ("qmd", {"memory/ocelot.md", "memory/2026-10-06.md"})
        assert not turn or paths(found(daemon, f"number{turn - 1}")) == []
    note.rename(daemon.workspace / "memory" / "margay.md")
    assert synced(daemon)
    assert set(paths(found(daemon, "lease"))) == {"memory/margay.md", "memory/2026-10-06.md"}
    assert qmd_of(daemon)["lastUpdateAt"] == before


def test_folder_moved_in_with_old_times_is_found(daemon: RunningDaemon) -> None:
    outside = daemon.home / "archive"
    outside.mkdir()
    (outside / "old.md").write_text("# Old\n\nThe charter of 1998.\n")
    outside.rename(daemon.workspace / "memory" / "archive")
    assert synced(daemon)
    reply = found(daemon, "charter")
    assert (reply["backend"], set(paths(reply))) == ("qmd", {"memory/archive/old.md", "memory/charter.md"})


def test_deleted_note_is_not_returned(daemon: RunningDaemon) -> None:
    memory = daemon.workspace / "memory"
    assert len(paths(found(daemon, "barge"))) == 3
    (memory / "barge.md").unlink()
    shutil.rmtree(memory / "a")
    assert synced(daemon)
    reply = found(daemon, "barge")
    assert (reply["backend"], paths(reply)) == ("qmd", ["memory/b/barge.md"])


def test_files_that_only_qmd_indexes_are_waited_for(tmp_path: Path, workspace: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    with with_qmd(tmp_path, workspace, update=NEVER, paths=[{"path": str(docs), "name": "docs"}]) as daemon:
        wait_for_qmd(daemon)
        (docs / "guide.md").write_text("The zebra protocol wants two keys.\n")
        assert synced(daemon)
        reply = found(daemon, "zebra")
        assert (reply["backend"], paths(reply)) == ("qmd", ["qmd/docs/guide.md"])
        (docs / "guide.md").write_text("The okapi protocol wants three keys.\n")
        assert synced(daemon)
        assert paths(found(daemon, "okapi")) == ["qmd/docs/guide.md"]
        (docs / "guide.md").unlink()
        assert synced(daemon)
        assert paths(found(daemon, "okapi")) == []


def test_notes_that_qmd_is_not_given_are_not_added(tmp_path: Path, workspace: Path) -> None:
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


def test_meaning_is_searched_with_a_local_model_whose_vectors_are_waited_for(
    tmp_path: Path, workspace: Path, starter_model: Path
) -> None:
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
        assert synced(daemon, "embedded")
        assert daemon.agent()["embedded"] == agent["passages"]
        wait_for_qmd(daemon)
        (workspace / "memory" / "boat.md").write_text("# Boat\n\nThe dinghy leaks at the stern and wants caulking.\n")
        assert synced(daemon, "embedded")
        reply = found(daemon, "repairing a small vessel that takes on water")
        assert (reply["backend"], reply["mode"], paths(reply)[0]) == ("qmd", "vector", "memory/boat.md")


def test_sync_says_soon_that_qmd_cannot_follow(tmp_path: Path, workspace: Path) -> None:
    docs = [{"path": str(tmp_path), "name": "docs"}]
    with with_qmd(tmp_path, workspace, command="/nowhere/qmd", paths=docs) as daemon:
        assert soon(lambda: not synced(daemon))


def test_sync_says_soon_that_there_is_no_model(tmp_path: Path, workspace: Path) -> None:
    standin = StandIn(tmp_path / "standin")
    with with_qmd(tmp_path, workspace, command=str(standin.program), searchMode="vsearch") as daemon:
        eventually(lambda: "no embedding model" in str(daemon.agent()["fallback"]))
        assert synced(daemon)
        assert soon(lambda: not synced(daemon, "embedded"))


def soon(condition: Callable[[], bool]) -> bool:
    """Tell whether this holds well before the time of a sync is up."""
    start = time.monotonic()
    return condition() and time.monotonic() - start < 10
