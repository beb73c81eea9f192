"""Turns of transcripts are stored in the workspace only if its owner configures it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryd.domain.sessions.making_turns import transcript_session
from memoryd.errors import NotFound
from tests.daemon import RunningDaemon, write_config
from tests.system.files import contents
from tests.transcripts_written import answered, append, asked
from tests.waiting import eventually

SESSION = transcript_session("main", "s1.jsonl")
OTHER = transcript_session("main", "s2.jsonl")
SECRET = "sk-" + "aB3dE6gH9jK2" * 4


def daemon_over(home: Path, workspace: Path, *, read_only: bool = False, **qa: object) -> RunningDaemon:
    """Return a daemon whose agent has a transcript of two turns, the second of them unfinished."""
    (home / "said").mkdir(exist_ok=True)
    path = home / "said" / "s1.jsonl"
    if not path.exists():
        now = datetime.now(UTC)
        path.write_bytes(asked(f"Is {SECRET} the key?", now) + answered("Yes.", now) + asked("And now?", now))
    memory = {"qa": qa, "sessions": {"folders": [{"path": str(home / "said"), "agent": "main"}]}, "readOnly": read_only}
    return RunningDaemon(home, write_config(home, workspace, None, memory=memory), workspace)


def questions(workspace: Path) -> list[str]:
    file = workspace / "memory" / "sessions" / f"{SESSION}.json"
    return [turn["q"] for turn in json.loads(file.read_text())["qa_sequence"]] if file.exists() else []


def kept_answer(daemon: RunningDaemon) -> str | None:
    with daemon.client() as client:
        try:
            return client.qa_mark(f"session:{SESSION}#Q1")["a"]
        except NotFound:
            return None


def test_turns_are_taken_once_despite_restarts_and_kills(tmp_path: Path, workspace: Path) -> None:
    with daemon_over(tmp_path, workspace, fromTranscripts=True) as daemon:
        eventually(lambda: len(questions(workspace)) == 1)
        assert SECRET not in json.dumps(questions(workspace))
        # not significant, so held for a week
        eventually(lambda: kept_answer(daemon) == "Yes.")
        daemon.kill()
    append(tmp_path / "said" / "s1.jsonl", asked("Then?", datetime.now(UTC)))
    with daemon_over(tmp_path, workspace, fromTranscripts=True):
        eventually(lambda: len(questions(workspace)) == 2)
    with daemon_over(tmp_path, workspace, fromTranscripts=True) as daemon:
        assert [session["session"] for session in daemon.client().qa_sessions()["sessions"]] == [SESSION]
        append(tmp_path / "said" / "s1.jsonl", asked("Last?", datetime.now(UTC)))
        eventually(lambda: len(questions(workspace)) == 3)
    assert questions(workspace)[1:] == ["And now?", "Then?"]


@pytest.mark.parametrize("settings", [{}, {"fromTranscripts": True, "enabled": False}, {"fromTranscripts": True}])
def test_workspace_is_unchanged_without_the_key_or_with_read_only(
    tmp_path: Path, workspace: Path, settings: dict[str, object]
) -> None:
    before = contents(workspace)
    is_read_only = settings == {"fromTranscripts": True}
    with daemon_over(tmp_path, workspace, read_only=is_read_only, **settings) as daemon:
        daemon.client().sync(wait="indexed")
        # as long as another daemon needs that does take turns
        other = tmp_path / "other"
        (other / "workspace").mkdir(parents=True)
        with daemon_over(other, other / "workspace", fromTranscripts=True):
            eventually(lambda: len(questions(other / "workspace")) == 1)
    assert contents(workspace) == before


def test_forgotten_session_is_not_taken_from_its_transcript_again(tmp_path: Path, workspace: Path) -> None:
    with daemon_over(tmp_path, workspace, fromTranscripts=True) as daemon:
        eventually(lambda: len(questions(workspace)) == 1)
        gone = daemon.client().forget_session(f"session:{SESSION}")
        assert (gone["id"], gone["turns"]) == ("sessions/main/s1.jsonl", 1), "the transcript is forgotten"
        assert questions(workspace) == []
    append(tmp_path / "said" / "s1.jsonl", asked("Then?", datetime.now(UTC)))
    (tmp_path / "said" / "s2.jsonl").write_bytes(asked("Other?", datetime.now(UTC)) + asked("More?", datetime.now(UTC)))
    with daemon_over(tmp_path, workspace, fromTranscripts=True):
        # read after the first one
        eventually(lambda: (workspace / "memory" / "sessions" / f"{OTHER}.json").exists())
    assert questions(workspace) == []


def test_transcript_and_its_turns_are_found_once(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "said").mkdir()
    now = datetime.now(UTC)
    said = asked("Where does the quokka sleep?", now) + answered("Under the fig.", now) + asked("Why?", now)
    (tmp_path / "said" / "s1.jsonl").write_bytes(said)
    memory = {
        "qa": {"fromTranscripts": True},
        "sessions": {"folders": [{"path": str(tmp_path / "said"), "agent": "main"}]},
    }
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    config = write_config(tmp_path, workspace, None, memory=memory, search=search)
    with RunningDaemon(tmp_path, config, workspace) as daemon, daemon.client() as client:
        eventually(lambda: len(questions(workspace)) == 1)
        client.sync()
        listed = {session["id"]: session["reason"] for session in client.sessions()["sessions"]}
        assert listed == {f"session:{SESSION}": None, "sessions/main/s1.jsonl": None}
        found = client.search("quokka sleep", sources=["sessions"])["results"]
        assert len(found) == 1
        assert found[0]["path"] in listed
