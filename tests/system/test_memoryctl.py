"""The installed memoryctl with the real daemon."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon, write_config, write_workspace
from tests.waiting import eventually

NOTE = "# Boiler\n\nThe boiler was serviced by Quentin Aldebaran.\nHe left the invoice in the blue folder.\n"


def ask(daemon: RunningDaemon, arguments: Sequence[str], expected: Exit = Exit.DONE) -> Any:
    done = daemon.memoryctl(*arguments, "--json")
    assert done.returncode == expected, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    """Run one daemon with the real model for all commands."""
    home = tmp_path_factory.mktemp("memoryctl")
    workspace = write_workspace(home / "workspace")
    with indexed_daemon(home, workspace, starter_model) as running:
        yield running


@pytest.fixture
def note(daemon: RunningDaemon) -> Path:
    path = daemon.workspace / "memory" / "boiler.md"
    path.write_text(NOTE)
    assert daemon.client().sync()["complete"]
    return path


def test_saved_note_is_found_and_cited_after_a_sync(daemon: RunningDaemon, note: Path) -> None:
    done = daemon.memoryctl("search", "Aldebaran", "-k", "1")
    assert done.returncode == Exit.DONE, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("1. memory/boiler.md#L")
    assert any("Quentin Aldebaran" in line for line in rest)
    assert "\x1b" not in done.stdout


def test_citation_of_a_hit_gives_its_lines(daemon: RunningDaemon, note: Path) -> None:
    hit = ask(daemon, ["search", "Aldebaran", "-k", "1"])["results"][0]
    cited = daemon.memoryctl("get", f"{hit['path']}#L{hit['startLine']}-L{hit['endLine']}")
    lines = NOTE.splitlines(keepends=True)
    cited_lines = lines[hit["startLine"] - 1 : hit["endLine"]]
    assert cited.stdout == "".join(cited_lines)
    assert daemon.memoryctl("get", "memory/boiler.md").stdout == NOTE
    assert daemon.memoryctl("get", "memory/boiler.md", "--from", "3", "--lines", "1").stdout == lines[2]


def test_deleted_note_is_no_longer_found(daemon: RunningDaemon, note: Path) -> None:
    note.unlink()
    with Client(daemon.socket) as client:

        def is_gone() -> bool:
            client.sync()
            return all(hit["path"] != "memory/boiler.md" for hit in client.search("Aldebaran")["results"])

        eventually(is_gone)
    assert ask(daemon, ["get", "memory/boiler.md"], Exit.NOTHING_FOUND)["error"]["code"] == "not_found"


def test_unknown_word_finds_nothing_with_a_reason(daemon: RunningDaemon) -> None:
    arguments = ["search", "zzyzxqwv", "--min-score", "0.99"]
    done = daemon.memoryctl(*arguments)
    assert done.returncode == Exit.NOTHING_FOUND
    assert done.stdout == ""
    assert done.stderr.startswith("note: nothing found: ")
    assert ask(daemon, arguments, Exit.NOTHING_FOUND)["reason"]


def test_files_outside_the_memory_cannot_be_read(daemon: RunningDaemon) -> None:
    for path in ("/etc/passwd", "../../etc/passwd", "memory/../../secret.md"):
        done = daemon.memoryctl("get", path)
        assert done.returncode in (Exit.NOTHING_FOUND, Exit.ERROR), path
        assert done.stdout == ""
        assert "Traceback" not in done.stderr


def test_status_shows_the_agent_and_its_index(daemon: RunningDaemon, note: Path) -> None:
    status = ask(daemon, ["status"])
    agent = status["agents"][0]
    assert status["pid"] != os.getpid()
    assert Path(agent["workspace"]).resolve() == daemon.workspace.resolve()
    assert agent["files"] >= 1
    shown = daemon.memoryctl("status", "--verbose")
    assert shown.returncode == Exit.DONE, shown.stderr
    for text in (status["version"], f"pid {status['pid']}", f"agent {agent['id']}", "watcher", "looked", "database"):
        assert text in shown.stdout
    agents = ask(daemon, ["status", "--agent", agent["id"]])["agents"]
    assert [entry["id"] for entry in agents] == [agent["id"]]


def test_reindex_waits_until_everything_is_found_again(daemon: RunningDaemon, note: Path) -> None:
    generation = ask(daemon, ["sync"])["generation"]
    pending = ask(daemon, ["reindex", "--force"])
    assert pending["pendingFiles"] == 0
    assert pending["generation"] >= generation
    assert ask(daemon, ["search", "Aldebaran"])["results"][0]["path"] == "memory/boiler.md"


def test_sync_until_embedded(daemon: RunningDaemon, note: Path) -> None:
    done = daemon.memoryctl("sync", "--wait", "embedded", "--timeout", "60")
    assert done.returncode == Exit.DONE, done.stdout + done.stderr
    assert done.stdout == "indexed and embedded\n"
    agent = ask(daemon, ["status"])["agents"][0]
    assert agent["embedded"] == agent["passages"] > 0


def test_paraphrase_finds_the_note_after_embedding(daemon: RunningDaemon, note: Path) -> None:
    assert ask(daemon, ["sync", "--wait", "embedded", "--timeout", "60"])["complete"]
    done = daemon.memoryctl("search", "who repaired the heating?", "-k", "1", "--strict")
    assert done.returncode == Exit.DONE, done.stderr
    assert done.stdout.startswith("1. memory/boiler.md#L")


def test_unknown_agent_is_an_error(daemon: RunningDaemon) -> None:
    for command in (["search", "x"], ["get", "MEMORY.md"], ["sync"], ["reindex"], ["status"]):
        done = daemon.memoryctl(*command, MEMORYD_AGENT_ID="nobody-of-that-name")
        assert done.returncode == Exit.ERROR, command
        assert done.stderr.startswith("memoryctl: ")


def test_failure_of_all_arms_is_an_error(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    search = {"store": {"path": str(tmp_path / "file" / "index.sqlite")}}
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, None, search=search), workspace) as daemon:
        done = daemon.memoryctl("search", "gateway")
        assert done.returncode == Exit.ERROR
        assert "no answer: no arm of the search could answer" in done.stderr
        assert ask(daemon, ["search", "gateway"], Exit.ERROR)["mode"] == "none"


def test_question_without_words_finds_nothing(daemon: RunningDaemon) -> None:
    done = daemon.memoryctl("search", "???")
    assert done.returncode == Exit.NOTHING_FOUND, done.stderr


def test_lines_after_the_end_are_reported_missing(daemon: RunningDaemon, note: Path) -> None:
    done = daemon.memoryctl("get", "memory/boiler.md#L900")
    assert (done.returncode, done.stdout) == (Exit.NOTHING_FOUND, "")
    assert done.stderr == "note: there is no line 900, the document has 4 lines\n"


def test_version_shows_client_and_daemon(daemon: RunningDaemon) -> None:
    versions = ask(daemon, ["version"])
    assert versions["client"] == versions["daemon"]


def test_invalid_value_is_named(daemon: RunningDaemon) -> None:
    done = daemon.memoryctl("search", "x", "--since", "the day before never")
    assert done.returncode == Exit.ERROR
    assert "the day before never" in done.stderr


def test_agent_name_ignores_case_and_blanks(daemon: RunningDaemon, note: Path) -> None:
    for written in ("main", "MAIN", " Main "):
        assert [agent["id"] for agent in ask(daemon, ["status", "--agent", written])["agents"]] == ["main"]
        for words in (["search", "Aldebaran"], ["get", "MEMORY.md"], ["sync"]):
            assert daemon.memoryctl(*words, "--agent", written).returncode == Exit.DONE
        for without_daemon in (["models", "list"], ["index", "--dry-run"], ["qmd", "env"]):
            done = daemon.memoryctl("--agent", written, *without_daemon)
            assert done.returncode == Exit.DONE, done.stderr
        assert daemon.memoryctl("status", MEMORYD_AGENT_ID=written).returncode == Exit.DONE
    assert daemon.memoryctl("status", "--agent", "other").returncode == Exit.ERROR
