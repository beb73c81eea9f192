"""Capture by the real daemon: a turn becomes a memory, once and without delaying its answer, and can be undone."""

import json
from collections.abc import Iterator

import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon
from tests.waiting import eventually

KEY = "agent:main:telegram:direct:lena"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    folder = tmp_path_factory.mktemp("capture")
    workspace = folder / "workspace"
    workspace.mkdir()
    with indexed_daemon(folder, workspace) as running:
        yield running


def logs_of(daemon: RunningDaemon) -> str:
    return "".join(file.read_text("utf-8") for file in (daemon.workspace / "memory").glob("*.md"))


def test_dry_run_gives_reasons_and_writes_nothing(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("capture", "--dry-run", "My name is Lena Hofer. And I like tea, right?")
    plan = json.loads(daemon.memoryctl("capture", "--dry-run", "--json", "-", given="我对花生过敏。").stdout)

    assert result.returncode == Exit.DONE
    assert "would keep (entity, form 'my name is'" in result.stdout
    assert "it is a question" in result.stdout
    assert [item["form"] for item in plan["kept"]] == ["我对…过敏"]
    assert "Lena Hofer" not in logs_of(daemon)


def test_exit_code_reports_that_nothing_is_captured(daemon: RunningDaemon) -> None:
    assert daemon.memoryctl("capture", "What is the weather?").returncode == Exit.NOTHING_FOUND


def test_turn_is_captured_once_and_can_be_undone(daemon: RunningDaemon) -> None:
    for _ in range(2):
        daemon.client().turn("I am allergic to walnuts.", role="user", session_key=KEY)
    eventually(lambda: "I am allergic to walnuts." in logs_of(daemon))
    assert logs_of(daemon).count("I am allergic to walnuts.") == 1

    (change,) = json.loads(daemon.memoryctl("changes", "--by", "capture", "--json").stdout)["changes"]
    assert daemon.memoryctl("undo", str(change["id"])).returncode == Exit.DONE
    assert "walnuts" not in logs_of(daemon)


def test_owner_captures_for_real(daemon: RunningDaemon) -> None:
    reply = daemon.client().capture("I work at the city library.")

    assert reply["change"]
    assert reply["citations"]
    assert "fact(from=user): I work at the city library." in logs_of(daemon)


def recall(daemon: RunningDaemon, question: str) -> list[tuple[str, bool]]:
    """Return the recalled texts, and whether each is superseded."""
    reply = daemon.client().recall(question, k=5)
    return [(item["content"], bool(item.get("supersededBy"))) for item in reply["results"] if item["is"] != "entity"]


def test_correction_supersedes_until_undone(daemon: RunningDaemon) -> None:
    old, new = (
        "The office printer is a Brother HL-2350.",
        "The office printer isn't a Brother HL-2350, it's an HP M209.",
    )
    daemon.client().retain(old, entities=["Printer"])
    result = daemon.memoryctl("capture", "--dry-run", new)
    assert "supersedes" in result.stdout
    assert repr(old) in result.stdout

    daemon.client().turn(new, role="user", session_key=KEY)
    eventually(lambda: recall(daemon, "which printer is in the office?")[:1] == [(new, False)])
    assert (old, True) in recall(daemon, "which printer is in the office?")
    assert "@Printer: The office printer isn't" in logs_of(daemon)

    change = json.loads(daemon.memoryctl("changes", "--by", "capture", "--json").stdout)["changes"][0]
    assert daemon.memoryctl("undo", str(change["id"])).returncode == Exit.DONE
    eventually(lambda: recall(daemon, "which printer is in the office?")[:1] == [(old, False)])


def test_correction_of_an_answer_keeps_its_other_facts(daemon: RunningDaemon) -> None:
    daemon.client().retain("晨会在上午九点，会议室是梧桐。", entities=["晨会"])
    daemon.client().turn("晨会几点？", role="user", session_key=KEY)
    daemon.client().turn("晨会在上午九点，在梧桐。", role="assistant", session_key=KEY)
    daemon.client().turn("不对，现在是上午十点。", role="user", session_key=KEY)

    eventually(lambda: recall(daemon, "晨会几点？")[:1] == [("晨会在上午十点，会议室是梧桐。", False)])
