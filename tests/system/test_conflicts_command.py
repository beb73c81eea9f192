"""`memoryctl conflicts`: shows both versions with their diff, keeps one or both, and is undone as one run."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.errors import InvalidRequest, NotFound
from tests.daemon import RunningDaemon, indexed_daemon
from tests.waiting import eventually

COPY = "memory/plan.sync-conflict-20261103-080000-ABCDEFG.md"
ORIGINAL_TEXT = "# Plan\n\nSow beans in May.\nWater at night.\n"
COPY_TEXT = "# Plan\n\nSow beans in April.\nWater at night.\nMulch the beds.\n"
MARKED = "# Day\n\n<<<<<<< HEAD\nThe ferry leaves at nine.\n=======\nThe ferry leaves at ten.\n>>>>>>> laptop\n"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "plan.md").write_text(ORIGINAL_TEXT)
    (workspace / COPY).write_text(COPY_TEXT)
    (workspace / "memory" / "2026-11-02.md").write_text(MARKED)
    (workspace / "MEMORY.md").write_text("# Core\n")
    (workspace / "MEMORY (conflicted copy 2026-11-03 080000).md").write_text("# Core\n\nTea, not coffee.\n")
    for folder in (workspace, workspace / "memory"):
        # private, so in no list
        (folder / "MEMORY (conflicted copy 2026-11-03 090000).md").write_text("---\nmemory: false\n---\n# Core\n")
    with indexed_daemon(tmp_path, workspace) as running:
        yield running


def text_of(daemon: RunningDaemon, path: str) -> str | None:
    at = daemon.workspace / path
    return at.read_text() if at.exists() else None


def test_every_output_marks_a_copy(daemon: RunningDaemon) -> None:
    found = daemon.memoryctl("search", "mulch the beds").stdout
    assert f"{COPY}#L" in found
    assert "conflict-copy" in next(line for line in found.splitlines() if COPY in line)
    assert "conflict-copy" in daemon.memoryctl("recall", "mulch the beds").stdout
    assert "conflict-copy" in daemon.memoryctl("get", COPY).stderr
    assert daemon.memoryctl("get", "memory/plan.md").stderr == ""


def test_new_merge_conflict_of_git_is_listed_at_once(daemon: RunningDaemon) -> None:
    paths = ["MEMORY.md", "memory/2026-11-04.md", "memory/gitted.md"]
    for path in paths:
        (daemon.workspace / path).write_text(MARKED)
    conflicts = daemon.memoryctl("conflicts").stdout
    doctor = daemon.memoryctl("doctor", "--section", "notes").stdout
    for path in paths:
        assert path in conflicts
        assert f"{path} has both versions between the marks of git" in doctor
    # no agent sees the other side as its core
    bundle = str(daemon.client().recall("when does the ferry leave", format="bundle")["bundle"])
    assert "# Day\n\nThe ferry leaves at nine.\n" in bundle
    assert "<<<<" not in bundle.partition("memory/gitted.md")[0]


def test_conflicts_are_listed_with_both_versions(daemon: RunningDaemon) -> None:
    reply = daemon.client().conflicts()
    assert [(conflict["path"], conflict["original"]) for conflict in reply["conflicts"]] == [
        ("MEMORY (conflicted copy 2026-11-03 080000).md", "MEMORY.md"),
        ("memory/2026-11-02.md", "memory/2026-11-02.md"),
        (COPY, "memory/plan.md"),
    ]
    assert reply["total"] == 3
    shown = daemon.memoryctl("conflicts").stdout
    assert f"{COPY}  copy of memory/plan.md" in shown
    assert "-Sow beans in May." in shown
    assert "+Sow beans in April." in shown
    assert "-The ferry leaves at nine." in shown
    assert "+The ferry leaves at ten." in shown
    eventually(lambda: "conflicts 3 notes" in " ".join(daemon.memoryctl("status").stdout.split()))
    assert "memoryctl conflicts" in daemon.memoryctl("status").stdout
    doctor = json.loads(daemon.memoryctl("doctor", "--section", "notes", "--json").stdout)
    messages = [check["message"] for check in doctor["checks"] if check["check"] == "notes.conflicts"]
    assert any("plan.sync-conflict" in message and "memory/plan.md" in message for message in messages)
    assert any("MEMORY (conflicted" in message for message in messages)
    assert any("marks of git" in message for message in messages)
    assert not any("090000" in message for message in messages)


def test_doctor_names_likely_copies_of_icloud_or_onedrive(daemon: RunningDaemon) -> None:
    same = "Keys: with Ada.\nGas: off in winter.\nRoof: 2019.\nBoat: pier 4.\n"
    notes = {
        "cabin.md": same,
        "cabin 2.md": f"{same}Stove: swept.\n",
        "cabin-old-laptop.md": same,
        "cabin-trip.md": "Rain.",
    }
    for name, text in notes.items():
        (daemon.workspace / "memory" / name).write_text(text)
    doctor = json.loads(daemon.memoryctl("doctor", "--section", "notes", "--json").stdout)
    messages = [check["message"] for check in doctor["checks"] if "iCloud" in check["message"]]
    assert ["cabin 2" in messages[0], "cabin-old-laptop" in messages[1], len(messages)] == [True, True, 2]
    for name in notes:
        (daemon.workspace / "memory" / name).unlink()


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("original", ORIGINAL_TEXT),
        ("copy", COPY_TEXT),
        ("both", "# Plan\n\nSow beans in April.\nSow beans in May.\nWater at night.\nMulch the beds.\n"),
    ],
)
def test_conflict_is_settled_and_undone(daemon: RunningDaemon, keep: str, expected: str) -> None:
    client = daemon.client()
    reply = client.settle_conflict(COPY, keep)
    assert text_of(daemon, "memory/plan.md") == expected
    assert text_of(daemon, COPY) is None
    assert COPY not in [conflict["path"] for conflict in client.conflicts()["conflicts"]]
    assert bool(client.search("April")["results"]) is (keep != "original")
    client.undo(run=reply["run"])
    assert text_of(daemon, "memory/plan.md") == ORIGINAL_TEXT
    assert text_of(daemon, COPY) == COPY_TEXT


def test_merge_markers_and_copies_of_the_core_are_settled(daemon: RunningDaemon) -> None:
    done = daemon.memoryctl("conflicts", "keep", "memory/2026-11-02.md", "copy")
    assert "memory/2026-11-02.md: copy kept" in done.stdout
    assert text_of(daemon, "memory/2026-11-02.md") == "# Day\n\nThe ferry leaves at ten.\n"
    copy = "MEMORY (conflicted copy 2026-11-03 080000).md"
    daemon.memoryctl("conflicts", "keep", copy, "copy")
    assert text_of(daemon, "MEMORY.md") == "# Core\n\nTea, not coffee.\n"
    assert text_of(daemon, copy) is None


def test_nothing_is_settled_without_conflict_or_original(daemon: RunningDaemon) -> None:
    client = daemon.client()
    with pytest.raises(InvalidRequest, match="no copy of a conflict"):
        client.settle_conflict("memory/plan.md", "copy")
    with pytest.raises(NotFound):
        client.settle_conflict("memory/gone (conflicted copy 2026-11-03).md", "copy")
    (daemon.workspace / "memory" / "plan.md").unlink()
    client.sync()
    with pytest.raises(InvalidRequest, match="no original"):
        client.settle_conflict(COPY, "original")
    assert text_of(daemon, COPY) == COPY_TEXT
    client.settle_conflict(COPY, "both")
    assert text_of(daemon, "memory/plan.md") == COPY_TEXT


def test_hit_between_merge_markers_is_flagged(daemon: RunningDaemon) -> None:
    (hit,) = daemon.client().search("ferry leaves")["results"]
    assert hit["flags"] == ["conflict-copy"]
