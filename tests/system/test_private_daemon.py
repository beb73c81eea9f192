"""Privacy rules of the real daemon: whatever `.memoryignore` is, it answers, reports problems, and stops when asked."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

HANG = "*a*a*a*a*a*a*a*a*a*a*b\n"
SECRET = "quetzalcoatlus"


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path) -> Iterator[RunningDaemon]:
    """Return a daemon that is not started yet; it must stop in order at the end."""
    config = write_config(tmp_path, workspace, None, search={"sync": {"settleMs": 20, "deleteGraceMs": 100}})
    daemon = RunningDaemon(tmp_path, config, workspace)
    yield daemon
    assert daemon.stop() == 0


def test_backtracking_pattern_blocks_neither_start_nor_stop(daemon: RunningDaemon) -> None:
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
def test_unreadable_rules_are_reported_and_hide_new_notes(daemon: RunningDaemon, harm: Callable[[Path], None]) -> None:
    daemon.start()
    daemon.client().sync(wait="indexed")
    rules = daemon.workspace / ".memoryignore"
    harm(rules)
    (daemon.workspace / "memory" / "diary.md").write_text(f"The {SECRET}.\n")
    reached = daemon.client().sync(wait="indexed")
    assert (reached["complete"], reached["pendingFiles"]) == (False, 1)
    assert ".memoryignore" in str(reached["reason"])
    assert ".memoryignore" in daemon.degraded()["privacy"]
    reply = daemon.client().search(SECRET)
    assert (reply["results"], reply["health"]["complete"]) == ([], False)
    assert "held back" in str(reply["reason"])
    assert daemon.client().search("GW-4172")["results"]
    rules.unlink()
    daemon.client().sync(wait="indexed")
    assert daemon.degraded() == {}
    assert daemon.client().search(SECRET)["results"]


def test_deleted_rules_stay_in_force_and_are_reported(daemon: RunningDaemon) -> None:
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


def test_set_aside_index_is_deleted_after_the_rebuild(daemon: RunningDaemon) -> None:
    note = daemon.workspace / "memory" / "diary.md"
    note.write_text(f"The {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    daemon.stop()
    (index,) = daemon.state.rglob("index.sqlite")
    content = bytearray(index.read_bytes())
    content[:16] = bytes(16)
    index.write_bytes(content)
    note.write_text(f"---\nmemory: false\n---\nThe {SECRET}.\n")
    daemon.start()
    daemon.client().sync(wait="indexed")
    eventually(lambda: SECRET.encode() not in b"".join(path.read_bytes() for path in daemon.state.rglob("*.sqlite*")))
    assert not list(daemon.state.rglob("*.corrupt-*"))


@pytest.mark.parametrize("outer", ["", "inner"])
def test_rules_of_a_workspace_apply_to_others_that_list_its_folders(
    tmp_path: Path, workspace: Path, outer: str
) -> None:
    inner = workspace / "inner"
    (inner / "memory" / "private").mkdir(parents=True)
    (inner / "memory" / "private" / "q.md").write_text(f"The {SECRET}.\n")
    (inner / "memory" / "open.md").write_text("The pterodactyl.\n")
    (inner / ".memoryignore").write_text("private/\n")
    lister = workspace / "inner" / "memory" / "deep" if outer else workspace
    lister.mkdir(exist_ok=True)
    listed: list[dict[str, object]] = [{"id": "a", "memorySearch": {"extraPaths": [".." if outer else "."]}}]
    daemon = daemon_of_agents(tmp_path, [*listed, {"id": "b", "workspace": str(inner)}], lister)
    daemon.start()
    try:
        client = daemon.client()
        client.sync(wait="indexed", agent="a")
        assert client.search("pterodactyl", agent="a")["results"]
        assert not client.search(SECRET, agent="a")["results"]
    finally:
        assert daemon.stop() == 0
