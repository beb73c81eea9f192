"""Privacy rules of the real daemon: whatever `.memoryignore` is, it answers, tells what is wrong, ends when told."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

HANG = "*a*a*a*a*a*a*a*a*a*a*b\n"
SECRET = "quetzalcoatlus"


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path) -> Iterator[RunningDaemon]:
    """A daemon that is not started yet; it is told to stop at the end, and must."""
    config = write_config(tmp_path, workspace, None, search={"sync": {"settleMs": 20, "deleteGraceMs": 100}})
    daemon = RunningDaemon(tmp_path, config, workspace)
    yield daemon
    assert daemon.stop() == 0


def test_pattern_that_backtracks_hangs_neither_the_start_nor_the_end(daemon: RunningDaemon) -> None:
    (daemon.workspace / "memory" / f"{'a' * 200}.md").write_text(f"The {SECRET}.\n")
    (daemon.workspace / ".memoryignore").write_text(HANG)
    daemon.start()
    daemon.client().sync(wait="indexed")
    assert daemon.client().search(SECRET)["results"]
    assert daemon.degraded() == {}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _unclear(path: Path) -> None:
    path.write_text("drafts/\n[diary\n")


@pytest.mark.parametrize("harm", [_pipe, _device, _unclear])
def test_rules_that_cannot_be_read_are_told_and_nothing_new_is_found(
    daemon: RunningDaemon, harm: Callable[[Path], None]
) -> None:
    daemon.start()
    daemon.client().sync(wait="indexed")
    rules = daemon.workspace / ".memoryignore"
    harm(rules)
    (daemon.workspace / "memory" / "diary.md").write_text(f"The {SECRET}.\n")
    reached = daemon.client().sync(wait="indexed")
    assert (reached["complete"], reached["pendingFiles"]) == (False, 1)
    assert ".memoryignore" in str(reached["reason"])
    assert ".memoryignore" in daemon.degraded()["privacy"]
    told = daemon.client().search(SECRET)
    assert (told["results"], told["health"]["complete"]) == ([], False)
    assert "held back" in str(told["reason"])
    assert daemon.client().search("GW-4172")["results"]
    rules.unlink()
    daemon.client().sync(wait="indexed")
    assert daemon.degraded() == {}
    assert daemon.client().search(SECRET)["results"]


def test_rules_that_are_gone_hold_and_are_told(daemon: RunningDaemon) -> None:
    rules = daemon.workspace / ".memoryignore"
    rules.write_text("diary.md\n")
    (daemon.workspace / "memory" / "diary.md").write_text(f"The {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    daemon.stop()
    rules.unlink()
    (daemon.workspace / "memory" / "new.md").write_text("The axolotl.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    assert ".memoryignore is gone" in daemon.degraded()["privacy"]
    assert not daemon.client().search(SECRET)["results"]
    assert daemon.client().search("axolotl")["results"]
    rules.write_text("")
    daemon.client().sync(wait="indexed")
    assert daemon.degraded() == {}
    assert daemon.client().search(SECRET)["results"]


def test_note_is_private_from_the_moment_it_says_so(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "diary.md"
    note.write_text(f"The {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    assert daemon.client().get("memory/diary.md")["lines"]
    note.write_text(f"---\n\nmemory: 'no' # for now\n---\nThe {SECRET}.\n")
    with pytest.raises(Exception, match="document"):
        daemon.client().get("memory/diary.md")
    daemon.client().sync(wait="indexed")
    assert not daemon.client().search(SECRET)["results"]


def test_what_was_set_aside_is_deleted_when_the_rebuild_stands(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "diary.md"
    note.write_text(f"The {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    daemon.stop()
    (index,) = daemon.state.rglob("index.sqlite")
    held = bytearray(index.read_bytes())
    held[:16] = bytes(16)
    index.write_bytes(held)
    note.write_text(f"---\nmemory: false\n---\nThe {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    eventually(lambda: SECRET.encode() not in b"".join(it.read_bytes() for it in daemon.state.rglob("*.sqlite*")))
    assert not list(daemon.state.rglob("*.corrupt-*"))


@pytest.mark.parametrize("outer", ["", "inner"])
def test_rules_of_a_workspace_hold_for_whoever_lists_its_folders(tmp_path: Path, workspace: Path, outer: str) -> None:
    inner = workspace / "inner"
    (inner / "memory" / "private").mkdir(parents=True)
    (inner / "memory" / "private" / "q.md").write_text(f"The {SECRET}.\n")
    (inner / "memory" / "open.md").write_text("The pterodactyl.\n")
    (inner / ".memoryignore").write_text("private/\n")
    lister = workspace / "inner" / "memory" / "deep" if outer else workspace
    lister.mkdir(exist_ok=True)
    listed = [{"id": "a", "workspace": str(lister), "memorySearch": {"extraPaths": [".." if outer else "."]}}]
    config = write_config(tmp_path, inner, None)
    agents = {
        "defaults": {"memorySearch": {"provider": "none"}},
        "list": [*listed, {"id": "b", "workspace": str(inner)}],
    }
    config.write_text(json.dumps({"agents": agents}))
    daemon = RunningDaemon(tmp_path, config, lister)
    daemon.start()
    try:
        client = daemon.client()
        client.sync(wait="indexed", agent="a")
        assert client.search("pterodactyl", agent="a")["results"]
        assert not client.search(SECRET, agent="a")["results"]
    finally:
        assert daemon.stop() == 0
