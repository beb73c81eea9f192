"""`GET /v1/files/…` of the real daemon: ranges, limits, and only indexed files."""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

from memoryd.client import Client
from memoryd.errors import NotFound, NotNow
from memoryd.wire import ErrorCode
from tests.daemon import RunningDaemon
from tests.system.over_socket import send
from tests.waiting import eventually

LINES = [f"line {number}\n" for number in range(1, 301)]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("daemon")
    real, shared = home / "real", home / "shared"
    (real / "memory" / "deep").mkdir(parents=True)
    shared.mkdir()
    workspace = home / "workspace"
    workspace.symlink_to(real, target_is_directory=True)
    (real / "MEMORY.md").write_text("one\ntwo\nthree")
    (real / "memory" / "lines.md").write_text("".join(LINES))
    (real / "memory" / "crlf.md").write_bytes(b"one\r\ntwo\r\n")
    (real / "memory" / "wide.md").write_text("x" * 50_000 + "\nsecond\n")
    (real / "memory" / "deep" / "c# 日记 100%.md").write_text("odd name\n")
    (real / "memory" / "private.md").write_text("---\nmemory: false\n---\nsecret\n")
    (real / "memory" / "plain.txt").write_text("secret\n")
    (real / "memory" / "swapped.md").write_text("honest\n")
    (real / "secret.md").write_text("secret\n")
    (home / "outside.md").write_text("secret\n")
    (real / "memory" / "link.md").symlink_to(home / "outside.md")
    (shared / "team.md").write_text("team note\n")
    (real / "sessions" / "main").mkdir(parents=True)
    (real / "sessions" / "main" / "plan.md").write_text("a plan\n")
    agents = {
        "defaults": {
            "workspace": str(workspace),
            "memorySearch": {"provider": "none", "extraPaths": [str(shared), "sessions"], "sync": {"watch": False}},
        }
    }
    config = home / "config.json5"
    config.write_text(json.dumps({"agents": agents}))
    with RunningDaemon(home, config, workspace) as running:
        running.client().sync()
        yield running


@pytest.fixture
def client(daemon: RunningDaemon) -> Iterator[Client]:
    with Client(daemon.socket) as client:
        yield client


def test_whole_small_file_is_read(client: Client, daemon: RunningDaemon) -> None:
    reply = client.get("MEMORY.md")
    assert reply["text"] == "one\ntwo\nthree"
    assert (reply["from"], reply["lines"], reply["totalLines"]) == (1, 3, 3)
    assert reply["sha256"] == sha256(b"one\ntwo\nthree").hexdigest()
    assert not reply["truncated"]
    assert reply["nextFrom"] is None


def test_pages_add_up_to_the_whole_file(client: Client) -> None:
    pages, start = [], 1
    while start:
        reply = client.get("memory/lines.md", start=start)
        assert reply["lines"] <= 120
        pages.append(reply["text"])
        start = reply["nextFrom"] or 0
    assert "".join(pages) == "".join(LINES)
    assert len(pages) == 3


@pytest.mark.parametrize(
    ("start", "lines", "expected"), [(1, 1, LINES[:1]), (300, 5, LINES[299:]), (10, 3, LINES[9:12])]
)
def test_range_returns_its_lines(client: Client, start: int, lines: int, expected: list[str]) -> None:
    assert client.get("memory/lines.md", start=start, lines=lines)["text"] == "".join(expected)


def test_range_after_the_end_is_empty(client: Client) -> None:
    reply = client.get("memory/lines.md", start=1000)
    assert (reply["text"], reply["lines"], reply["totalLines"], reply["nextFrom"]) == ("", 0, 300, None)


def test_line_longer_than_a_reply_is_truncated(client: Client) -> None:
    reply = client.get("memory/wide.md")
    assert len(reply["text"]) == 12_000
    assert reply["truncated"]
    assert reply["totalLines"] == 2


def test_line_ends_are_unchanged(client: Client) -> None:
    assert client.get("memory/crlf.md")["text"] == "one\r\ntwo\r\n"


def test_unusual_names_and_extra_paths_are_readable(client: Client) -> None:
    assert client.get("memory/deep/c# 日记 100%.md")["text"] == "odd name\n"
    found = client.search("team note")["results"][0]["path"]
    assert found.startswith("../")
    assert client.get(found)["text"] == "team note\n"


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "secret.md",
        "../outside.md",
        "memory/../secret.md",
        "memory/../MEMORY.md",
        "memory//lines.md",
        "memory/plain.txt",
        "memory/private.md",
        "memory/link.md",
        "memory",
        "memory/",
        "memory/none.md",
        "/etc/passwd",
        "..%2f..%2fetc/passwd",
        "memory\\lines.md",
        "memory/lines.md\0.txt",
        "memory/lines.md/",
        "MEMORY.MD",
        "~/outside.md",
        "file:///etc/passwd",
        "a" * 5000,
    ],
    ids=lambda path: str(path)[:30],
)
def test_unindexed_path_cannot_be_read(daemon: RunningDaemon, path: str) -> None:
    for target in (quote(path, safe=""), quote(path)):
        answer = send(daemon.socket, "GET", f"/v1/files/{target}")
        assert answer.status in (400, 404)
        assert answer.error in (ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST)
        assert "secret\n" not in str(answer.json)


@pytest.mark.parametrize(
    "path",
    ["session:main-20261018", "session:main-20261018#Q17", "sessions/main/0d9f.jsonl", "sessions/main/a.jsonl#L3"],
)
def test_missing_conversation_is_not_found(client: Client, path: str) -> None:
    with pytest.raises(NotFound):
        client.get(path)


def test_citation_returns_its_lines(client: Client) -> None:
    read = client.get("MEMORY.md#L2-L3")
    assert (read["path"], read["from"], read["lines"]) == ("MEMORY.md", 2, 2)
    assert read["text"] == "two\nthree"
    assert client.get("MEMORY.md#L1@1a2b3c4d")["text"] == "one\n"
    with pytest.raises(NotFound):
        client.get("memory/none.md#L1")


def test_note_in_a_folder_called_sessions_is_read(client: Client) -> None:
    assert client.get("sessions/main/plan.md")["text"] == "a plan\n"


def test_note_replaced_by_a_link_or_pipe_is_not_followed(daemon: RunningDaemon, client: Client) -> None:
    note = daemon.home / "real" / "memory" / "swapped.md"
    assert client.get("memory/swapped.md")["text"] == "honest\n"
    note.unlink()
    note.symlink_to(daemon.home / "outside.md")
    with pytest.raises(NotFound):
        client.get("memory/swapped.md")
    note.unlink()
    os.mkfifo(note)
    with pytest.raises(NotFound):
        client.get("memory/swapped.md")
    note.unlink()
    with pytest.raises(NotFound):
        client.get("memory/swapped.md")


def test_new_ignore_rule_hides_a_note_at_once(daemon: RunningDaemon, client: Client) -> None:
    """The rule applies from the first request after it was saved, without a scan in between."""
    rules = daemon.workspace / ".memoryignore"
    assert client.get("memory/crlf.md")["lines"] == 2
    rules.write_text("memory/crlf*\n")
    with pytest.raises((NotFound, NotNow)):
        client.get("memory/crlf.md")
    eventually(lambda: _is_absent(client, "memory/crlf.md"))
    assert client.get("memory/lines.md")["lines"]
    rules.write_text("")


def _is_absent(client: Client, path: str) -> bool:
    try:
        client.get(path)
    except NotFound:
        return True
    except NotNow:
        return False
    raise AssertionError("a note that a rule hides was returned")


def test_reading_leaves_no_descriptor_open(daemon: RunningDaemon, client: Client) -> None:
    folder = Path(f"/proc/{daemon.pid}/fd")
    client.get("MEMORY.md")
    before = len(list(folder.iterdir()))
    note = daemon.home / "real" / "memory" / "lines.md"
    aside = note.with_name("aside.txt")
    note.rename(aside)
    note.mkdir()
    try:
        for _ in range(20):
            with pytest.raises(NotFound):
                client.get("memory/lines.md")
    finally:
        note.rmdir()
        aside.rename(note)
    assert len(list(folder.iterdir())) <= before + 2
