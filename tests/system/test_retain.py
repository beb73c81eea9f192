"""`retain` with the real daemon: a bullet in today's log, found as soon as the reply comes."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memoryd.errors import Denied, InvalidRequest, TooLarge
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon, write_config
from tests.system.over_socket import send

ZONE = "Pacific/Kiritimati"
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with indexed_daemon(tmp_path, workspace, memory={"timezone": ZONE}) as running:
        yield running


@pytest.fixture
def busy_daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """Run a daemon that has thousands of notes left to read."""
    workspace = tmp_path / "workspace"
    for number in range(4000):
        note = workspace / "memory" / f"part-{number // 500}" / f"note-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"Line {line} of {number} tells of the weir, and of who mended it.\n\n" for line in range(40))
        note.write_text(f"# Note {number}\n\n{lines}")
    config = write_config(tmp_path, workspace, None, memory={"timezone": ZONE})
    with RunningDaemon(tmp_path, config, workspace) as running:
        yield running


def log_of(daemon: RunningDaemon) -> Path:
    return daemon.workspace / "memory" / f"{datetime.now(ZoneInfo(ZONE)):%Y-%m-%d}.md"


def found(daemon: RunningDaemon, words: str) -> list[Any]:
    return list(daemon.client().search(words)["results"])


def test_memory_is_searchable_at_once_beside_thousands_of_unread_notes(busy_daemon: RunningDaemon) -> None:
    with busy_daemon.client() as memory:
        for number in range(3):
            assert memory.retain(f"W @Peter: grows quinces{number} in Zwettl")["searchable"]
            answer = memory.search(f"quinces{number}")
            assert [hit["path"] for hit in answer["results"]] == [f"memory/{log_of(busy_daemon).name}"]
            # and the answer does not claim to be complete
            assert answer["health"]["pendingFiles"] > 100


def test_memory_is_searchable_at_once(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        reply = memory.retain("W @Peter: grows quinces in Zwettl")
        assert reply["created"]
        assert reply["searchable"]
        assert log_of(daemon).read_text() == "## Retain\n- W @Peter: grows quinces in Zwettl\n"
        assert reply["citation"] == f"memory/{log_of(daemon).name}#L2@{reply['id'][:8]}"
        (hit,) = memory.search("quinces Zwettl")["results"]
        assert (hit["path"], hit["startLine"]) == (reply["path"], reply["line"])
        again = memory.retain("- W @Peter: grows quinces in Zwettl")
        assert not again["created"]
        assert again["change"] is None
        assert (again["id"], again["citation"]) == (reply["id"], reply["citation"])


def test_text_of_several_lines_is_one_memory(daemon: RunningDaemon) -> None:
    text = "said\n## Retain\n- W @Bank: the password is new\n<!-- memoryd:begin -->\n---\n```\n\x1b[2J\u202eover"
    with daemon.client() as memory:
        reply = memory.retain(text, kind="fact", entities=["Bank"])
        after = memory.retain("B: after it")
    assert len(reply["memories"]) == 1
    assert reply["notes"]
    lines = log_of(daemon).read_text().split("\n")
    assert lines[0] == "## Retain"
    assert [line for line in lines[1:] if line and not line.startswith("    ")] == [
        "- fact @Bank: said",
        "- B: after it",
    ]
    assert after["line"] == lines.index("- B: after it") + 1
    assert "\x1b" not in log_of(daemon).read_text()


def test_bullets_from_standard_input_are_retained(daemon: RunningDaemon) -> None:
    bullets = "- W @Anna: moved to Graz\n    in spring\n- O(c=0.7) @Anna: likes trams\n"
    result = daemon.memoryctl("retain", "-", given=bullets)
    assert result.returncode == Exit.DONE, result.stderr
    assert result.stdout.count("retained") == 2
    assert log_of(daemon).read_text() == f"## Retain\n{bullets}"


def test_remember_makes_an_important_note(daemon: RunningDaemon) -> None:
    assert daemon.memoryctl("retain", "- W @Boiler: hums, -e or not").returncode == Exit.DONE
    # without quotation marks
    assert daemon.memoryctl("remember", "the", "boiler is", "serviced in May", "-e", "Boiler").returncode == Exit.DONE
    assert (
        log_of(daemon).read_text()
        == "## Retain\n- W @Boiler: hums, -e or not\n- note(i=0.8) @Boiler: the boiler is serviced in May\n"
    )


def test_malformed_memory_is_refused(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("retain", "0(c=0.9): prefers tea")
    assert result.returncode == Exit.ERROR
    assert "did you mean" in result.stderr
    with daemon.client() as memory:
        with pytest.raises(InvalidRequest, match="kind"):
            memory.retain("tea", kind="drink")
        with pytest.raises(TooLarge):
            memory.retain("t" * 5_000)
        with pytest.raises(InvalidRequest):
            memory.retain("tea", at="yesterday")
        with pytest.raises(InvalidRequest):
            memory.retain("tea", scope="everybody")
    assert not log_of(daemon).exists()


def test_secret_of_the_owner_is_stored_with_a_warning(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("retain", f"the key is {SECRET}")
    assert SECRET in log_of(daemon).read_text()
    assert "secret" in result.stderr
    assert SECRET not in daemon.log.read_text()


def test_changed_line_breaks_of_code_are_reported(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        reply = memory.retain("W: deploy so\n```sh\nmake\n\n  make install\n```\nand look")
        assert any("line breaks" in note for note in reply["notes"])
        assert memory.retain("W: deploy with `make`\nand look")["notes"] == []
    assert "- W: deploy so ```sh\n    make\n    make install ```\n    and look\n" in log_of(daemon).read_text()


def test_session_retains_only_for_its_own_agent(daemon: RunningDaemon) -> None:
    key = "agent:main:telegram:direct:42"
    with daemon.client() as memory:
        with pytest.raises(InvalidRequest, match="itself"):
            memory.retain("tea", scope="global", session_key=key)
        with pytest.raises(InvalidRequest, match="itself"):
            memory.retain("W(scope=agent:other): tea", session_key=key)
        with pytest.raises(Denied):
            memory.retain("tea", session_key="agent:main:telegram:group:7")
        memory.retain(f"the key is {SECRET}", scope="agent:main", session_key=key)
    assert SECRET not in log_of(daemon).read_text()
    assert "- W(scope=agent:main, from=agent): the key is " in log_of(daemon).read_text()


def test_changes_are_listed_and_undone(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        reply = memory.retain("W @Peter: grows quinces")
        memory.retain("W @Anna: grows pears", session_key="agent:main:telegram:direct:42")
        (by_agent,) = memory.changes(by="agent:main")["changes"]
        assert (by_agent["agent"], by_agent["by"]) == ("main", "retain")
        assert len(memory.changes(since="1d", path=reply["path"])["changes"]) == 2
        assert memory.changes(by="core")["changes"] == []
        with pytest.raises(InvalidRequest):
            memory.changes(by="nobody")
        dry = daemon.memoryctl("undo", str(reply["change"]), "--dry-run")
        assert "- - W @Peter: grows quinces" in dry.stdout
        assert "Peter" in log_of(daemon).read_text()
        assert daemon.memoryctl("undo", str(reply["change"])).returncode == Exit.DONE
        assert "Peter" not in log_of(daemon).read_text()
        assert "Anna" in log_of(daemon).read_text()
    listed = daemon.memoryctl("changes")
    assert listed.returncode == Exit.DONE
    assert "undone" in listed.stdout
    assert daemon.memoryctl("undo", "4711").returncode == Exit.NOTHING_FOUND
    assert daemon.memoryctl("undo").returncode == Exit.USAGE


def test_undo_keeps_the_heading_of_remaining_memories(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        log_of(daemon).unlink(missing_ok=True)
        first, second = memory.retain("W: the first of the day"), memory.retain("W: the second of the day")
        planned, undone = memory.undo(first["change"], dry_run=True), memory.undo(first["change"])
        for reply in (planned, undone):
            (lines,) = reply["undone"][0]["change"]["lines"]
            assert (lines["removed"], lines["added"]) == ([], ["- W: the first of the day"])
        assert log_of(daemon).read_text() == "## Retain\n- W: the second of the day\n"
        assert [item["content"] for item in memory.recall("second of the day")["results"]][:1] == [
            "the second of the day"
        ]
        assert [change["by"] for change in memory.changes(by="undo", limit=1)["changes"]] == ["undo"]
        memory.undo(second["change"])
        assert log_of(daemon).read_text() == "## Retain\n"


def test_ignored_attributes_of_a_repeated_statement_are_reported(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        first = memory.retain("W @Peter: the badge is blue")
        assert memory.retain("W @Peter: the badge is blue")["notes"] == []
        again = memory.retain("O(c=0.9, pin) @Peter: the badge is blue")
        assert again["id"] == first["id"]
        assert not again["created"]
        (note,) = again["notes"]
    assert note == (
        f"it is already at {first['path']}#L{first['line']}, and kind, c, pin of that line stay as they are: "
        "edit it to change that"
    )


def test_citation_can_be_verified_read_and_forgotten(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        retained = memory.retain("W @Quill: the quill lies in the blue drawer")["citation"]
        (item,) = [item for item in memory.recall("blue drawer quill")["results"] if item.get("id")][:1]
        assert item["citation"] == retained == f"{item['source']}@{item['id'][:8]}"
        assert memory.verify(retained)["state"] == "verified"
    assert retained in daemon.memoryctl("recall", "blue drawer quill").stdout
    assert daemon.memoryctl("get", retained).stdout.strip() == "- W @Quill: the quill lies in the blue drawer"
    assert daemon.memoryctl("forget", retained, "--yes").returncode == Exit.DONE
    assert "blue drawer" not in log_of(daemon).read_text()
    assert daemon.client().verify(retained)["state"] != "verified"


def test_conversations_are_listed_among_changes(daemon: RunningDaemon) -> None:
    with daemon.client() as memory:
        memory.add_turn("Where is the lantern?", "In the hall.", session="lantern")
        reply = memory.changes(by="qa")
        assert reply["changes"] == []
        sessions = {row["session"]: (row["turns"], row["undo"]) for row in reply["sessions"]}
        assert sessions["session:lantern"] == (1, "sessions forget session:lantern")
        assert memory.changes(by="qa", path="session:none")["sessions"] == []
        assert memory.changes(by="retain")["sessions"] == []
        with pytest.raises(InvalidRequest, match="since"):
            memory.changes(by="qa", since="nonsense")
    assert "no numbers" in send(daemon.socket, "GET", "/v1/changes?by=qa&before=7").json["error"]["message"]
    listed = daemon.memoryctl("changes", "--by", "qa")
    assert listed.returncode == Exit.DONE
    assert "memoryctl sessions forget session:lantern" in listed.stdout
    refused = daemon.memoryctl("undo", "session:lantern")
    assert (refused.returncode, "sessions forget session:lantern" in refused.stderr) == (Exit.USAGE, True)
