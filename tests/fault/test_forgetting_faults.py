"""Rows 48 and 50 of the fault catalogue, of forgetting: what the disk refused, and what it stopped half-way."""

import time
from pathlib import Path

import pytest

from memoryd.errors import NotNow
from tests.fault.faults import fired, injected, remount
from tests.fault.stage import Stage
from tests.waiting import eventually

LOG = "memory/2026-11-20.md"
NOTE = "# Friday\n\n## Retain\n- W @Ada: the quetzal is in the cellar\n- W @Ada: the boat is green\n"


@pytest.mark.root
def test_f050_what_a_read_only_disk_refused_to_forget_is_not_forgotten_later(stage: Stage, notes_disk: Path) -> None:
    """A forgetting that was refused is not owed: with the disk writable, and after a start, the line stands."""
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
        # done after what a start finishes of a forgetting that was begun
        client.forget("the boat is green")
        assert "quetzal" in client.recall("where is the quetzal?")["results"][0]["content"]
    assert note.read_text() == NOTE.replace("- W @Ada: the boat is green\n", "")


def test_f050_what_is_finished_later_can_be_undone_as_was_wanted(stage: Stage, strace: None) -> None:
    """A forgetting that the disk stops half-way says that it is finished later; then it is, and can be undone."""
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
        done = next(one for one in client.changes()["changes"] if one["by"] == "forget" and one["path"] == LOG)
        assert done["undoable"]
        client.undo(done["id"])
    assert note.read_text() == NOTE


@pytest.mark.root
def test_f048_forgetting_on_a_full_disk_names_it_soon(stage: Stage, state_disk: Path) -> None:
    """Who forgets while the index cannot be written is told that its disk is full, within some seconds."""
    stage.write(LOG, NOTE)
    stage.start()
    filler = state_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        size = 65_536
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    for number in range(60):
        stage.write(f"bank/{number}.md", f"# {number}\n\n" + "many words about birch and alder. " * 200)
    eventually(lambda: "index" in stage.degraded())
    began = time.monotonic()
    with stage.client as client, pytest.raises(NotNow, match="full"):
        client.forget("quetzal")
    assert time.monotonic() - began < 20
    filler.unlink()
    eventually(lambda: "index" not in stage.degraded())
