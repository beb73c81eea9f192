"""Rows 48 and 50 of the fault catalogue for forgetting: refused by the disk, or stopped half-way."""

import time
from pathlib import Path

import pytest

from memoryd.errors import NotNow
from tests.fault.faults import fill_disk, fired, injected, remount
from tests.fault.stage import Stage
from tests.waiting import eventually

LOG = "memory/2026-11-20.md"
NOTE = "# Friday\n\n## Retain\n- W @Ada: the quetzal is in the cellar\n- W @Ada: the boat is green\n"


@pytest.mark.root
def test_f050_refused_forgetting_is_not_done_later(stage: Stage, notes_disk: Path) -> None:
    """After a refused forgetting the line stays, even once the disk is writable and the daemon restarted."""
    note = stage.write(LOG, NOTE)
    stage.start()
    remount(notes_disk, "ro")
    with stage.client as client, pytest.raises(NotNow, match="read-only") as refused:
        client.forget("quetzal", undoable=True)
    assert "not finished" not in str(refused.value)
    assert stage.finds("quetzal")
    remount(notes_disk, "rw")
    stage.daemon.stop()
    stage.daemon.start()
    with stage.client as client:
        # it runs after the start has finished forgettings begun before
        client.forget("the boat is green")
        assert "quetzal" in client.recall("where is the quetzal?")["results"][0]["content"]
    assert note.read_text() == NOTE.replace("- W @Ada: the boat is green\n", "")


def test_f050_interrupted_forgetting_is_finished_and_undoable(stage: Stage, strace: None) -> None:
    """A forgetting stopped half-way by the disk says so, is finished later, and can be undone."""
    note = stage.write(LOG, NOTE)
    stage.start()
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "renameat2:error=EROFS"), stage.client as client:
        with pytest.raises(NotNow, match="not finished") as stopped:
            client.forget("quetzal", undoable=True)
        assert "finished as soon as the disk can be written" in (stopped.value.hint or "")
        assert fired(log)
        assert note.read_text() == NOTE
    with stage.client as client:
        eventually(lambda: "quetzal" not in note.read_text())
        done = next(
            change for change in client.changes()["changes"] if change["by"] == "forget" and change["path"] == LOG
        )
        assert done["undoable"]
        client.undo(done["id"])
    assert note.read_text() == NOTE


@pytest.mark.root
def test_f048_forgetting_on_a_full_disk_fails_soon_with_the_reason(stage: Stage, state_disk: Path) -> None:
    """A forgetting while the index cannot be written fails within seconds and names the full disk."""
    stage.write(LOG, NOTE)
    stage.start()
    filler = fill_disk(state_disk)
    for number in range(60):
        stage.write(f"bank/{number}.md", f"# {number}\n\n" + "many words about birch and alder. " * 200)
    eventually(lambda: "index" in stage.degraded())
    began = time.monotonic()
    with stage.client as client, pytest.raises(NotNow, match="full"):
        client.forget("quetzal")
    assert time.monotonic() - began < 20
    filler.unlink()
    eventually(lambda: "index" not in stage.degraded())
