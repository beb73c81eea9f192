"""The installed `memoryctl qa` with the real daemon."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config, write_workspace

ADVICE = "You should first open `gateway.json` and set the port, because the default depends on the proxy."


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run one daemon for all commands; each test has its own sessions."""
    home = tmp_path_factory.mktemp("qa")
    workspace = write_workspace(home / "workspace")
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as running:
        yield running


def qa(daemon: RunningDaemon, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return daemon.memoryctl("qa", *arguments, given=given)


def qa_json(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> Any:
    result = qa(daemon, *arguments, "--json")
    assert result.returncode == expected, result.stderr + result.stdout
    return json.loads(result.stdout)


def test_turns_are_added_and_shown(daemon: RunningDaemon) -> None:
    words = ("which port", "does it use?", "--answer", ADVICE, "--significance", "1", "--topic", "port")
    result = qa(daemon, "add", *words, "--session", "ports")
    assert (result.returncode, result.stdout) == (Exit.DONE, "session:ports#Q1\n"), result.stderr
    assert qa(daemon, "add", "-", "--session", "ports", given="and the proxy?\n").stdout == "session:ports#Q2\n"
    answer = ("--answer", "-", "--significance", "0")
    result = qa(daemon, "add", "thanks", *answer, "--session", "ports", given="Glad to help.")
    assert "not kept (significance 0.0)" in result.stderr
    assert "qa mark session:ports#Q3" in result.stderr
    shown = qa(daemon, "show", "ports")
    assert shown.returncode == Exit.DONE
    assert "  Q: which port does it use?\n" in shown.stdout
    assert shown.stdout.count("session:ports#Q") == 3
    assert [turn["seq"] for turn in qa_json(daemon, "show", "session:ports#Q2-Q9")["sequence"]] == [2, 3]
    found = qa_json(daemon, "show", "ports", "--seq", "-2", "--grep", "PROXY")
    assert [turn["seq"] for turn in found["sequence"]] == [1, 2]
    assert "3 turns" in qa(daemon, "show").stdout
    assert "ports" in [session["session"] for session in qa_json(daemon, "show", "--limit", "200")["sessions"]]


def test_context_gives_its_reason_on_stderr(daemon: RunningDaemon) -> None:
    for question in ("where is the quetzal?", "is the quetzal blue?"):
        assert qa(daemon, "add", question, "--key", "agent:main:telegram:direct:42").returncode == Exit.DONE
    result = qa(daemon, "context", "the quetzal?", "-n", "1")
    assert result.returncode == Exit.DONE
    assert result.stdout.count("Q: ") == 1
    assert "matches" in result.stderr
    assert len(qa_json(daemon, "context", "--key", "agent:main:telegram:direct:42")["sequence"]) == 2
    nothing = qa_json(daemon, "context", "--key", "agent:main:telegram:direct:43", expected=Exit.NOTHING_FOUND)
    assert nothing["sequence"] == []


def test_answer_is_marked_dropped_and_restored(daemon: RunningDaemon) -> None:
    assert (
        qa(daemon, "add", "name?", "--answer", "Ada", "--significance", "0", "--session", "marks").returncode
        == Exit.DONE
    )
    assert "A: Ada" in qa(daemon, "mark", "session:marks#Q1").stdout
    assert qa_json(daemon, "mark", "session:marks#Q1", "--drop")["a"] is None
    assert qa_json(daemon, "mark", "session:marks#Q1", "--answer", "Ada L.")["a"] == "Ada L."
    assert qa(daemon, "add", "and then?", "--session", "marks").returncode == Exit.DONE
    gone = qa(daemon, "mark", "session:marks#Q2")
    assert gone.returncode == Exit.NOTHING_FOUND
    assert "7 days" in gone.stderr
    assert "--answer" in gone.stderr


def test_topics_and_stats(daemon: RunningDaemon) -> None:
    assert qa(daemon, "add", "x?", "--session", "topical", "--topic", "lamp_oil").returncode == Exit.DONE
    assert "lamp_oil" in qa(daemon, "topics", "--limit", "200").stdout
    assert {"topic": "lamp_oil", "turns": 1, "citations": ["session:topical#Q1"]} in qa_json(
        daemon, "topics", "--limit", "200"
    )["topics"]
    assert qa_json(daemon, "stats")["turns"] >= 1
    assert qa(daemon, "stats").stdout.startswith("sessions  ")


def test_missing_session_or_turn_exits_with_3(daemon: RunningDaemon) -> None:
    for arguments in (("show", "nobody"), ("mark", "session:nobody#Q1")):
        result = qa(daemon, *arguments)
        assert (result.returncode, result.stdout) == (Exit.NOTHING_FOUND, "")
        assert "nobody" in result.stderr
    assert qa_json(daemon, "show", "nobody", expected=Exit.NOTHING_FOUND)["error"]["code"] == "not_found"
    assert qa(daemon, "add", "x?", "--session", "short").returncode == Exit.DONE
    assert qa(daemon, "show", "short", "--seq", "5-").returncode == Exit.NOTHING_FOUND


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "which port?"),
        ("add", "--session", "x"),
        ("add", "-", "--answer", "-", "--session", "x"),
        ("add", "x", "--session", "x", "--significance", "2"),
        ("show", "--seq", "3"),
        ("show", "x", "--seq", "9-3"),
        ("show", "session:x#Q3", "--seq", "3"),
        ("show", "session:x#Q9-Q3"),
        ("mark", "x"),
        ("mark", "session:x#Q1", "--drop", "--answer", "y"),
        ("context", "-n", "0"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_an_error(daemon: RunningDaemon, arguments: tuple[str, ...]) -> None:
    result = qa(daemon, *arguments)
    assert (result.returncode, result.stdout) == (Exit.USAGE, "")
    assert "Error" in result.stderr


def test_answer_cannot_control_the_terminal(daemon: RunningDaemon) -> None:
    added = ("add", "colour?", "--answer", "\x1b[2J\x1b]0;pwned\x07red", "--session", "esc", "--significance", "1")
    assert qa(daemon, *added).returncode == Exit.DONE
    shown = qa(daemon, "show", "esc")
    assert "red" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_invalid_timestamp_is_refused(daemon: RunningDaemon) -> None:
    result = qa(daemon, "add", "x?", "--session", "late", "--timestamp", "9999-01-01")
    assert result.returncode == Exit.ERROR
    assert "timestamp" in result.stderr
