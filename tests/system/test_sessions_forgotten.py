"""Conversations are forgotten, or not remembered, by the real daemon: no byte of them remains in our files."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from memoryd.client import Client
from memoryd.errors import InvalidRequest, NotFound
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.integration.pseudo_terminal import on_terminal
from tests.sweeps import swept
from tests.system.files import contents
from tests.waiting import eventually

CANARY = "zanzibarcanary"
KEY = "agent:main:main"
SESSION = "main-secret"
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, workspace: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def run(**memory: object) -> RunningDaemon:
        sockets = [{"path": str(tmp_path / "run" / "main.sock")}]
        config = write_config(tmp_path, workspace, None, search={"query": {"freshMs": 0}}, memory=memory)
        content = json.loads(config.read_text())
        content["agents"]["list"] = [{"id": "main", "sockets": sockets}]
        config.write_text(json.dumps(content))
        daemon = start(RunningDaemon(tmp_path, config, workspace, program=HASTY))
        daemon.client().sync()
        return daemon

    return run


def content(path: Path) -> bytes:
    """Return the bytes of a file, or none if it was deleted meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def files_with(daemon: RunningDaemon, word: str = CANARY) -> list[str]:
    """Return the files of the workspace, state, cache and log that contain a word in any case."""
    folders = [daemon.workspace, daemon.home / "state", daemon.home / "cache"]
    files = [daemon.log, *(path for folder in folders for path in folder.rglob("*") if path.is_file())]
    return sorted(str(path) for path in files if word.encode() in content(path).lower())


def say(daemon: RunningDaemon, session: str = SESSION, word: str = CANARY) -> None:
    client = daemon.client()
    client.add_turn(f"Where is the {word} kept?", f"The {word} is in the cellar.", session=session, significance=1.0)
    client.add_turn(f"And who knows of the {word}?", f"hm, {word}", session=session, significance=0.0)


def found(daemon: RunningDaemon, word: str = CANARY) -> list[str]:
    return [hit["path"] for hit in daemon.client().search(word, sources=["sessions"])["results"]]


def run_cli(daemon: RunningDaemon, *words: str, code: int = 0) -> str:
    done = daemon.memoryctl(*words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_forgotten_session_leaves_no_byte(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    say(daemon)
    say(daemon, "other", "boilerhouse")
    assert client.sync_sessions()["complete"]
    eventually(lambda: found(daemon))
    assert len(files_with(daemon)) >= 3
    would = client.forget_session(SESSION, dry_run=True)
    assert (would["turns"], would["answers"], would["rows"], would["heldAnswers"]) == (2, 1, 1, 1)
    assert not would["forgotten"]
    assert found(daemon)
    gone = client.forget_session(SESSION)
    assert {**would, "forgotten": True, "files": gone["files"]} == gone
    assert files_with(daemon) == []
    assert files_with(daemon, word=SESSION) == []
    assert found(daemon) == []
    assert found(daemon, "boilerhouse")
    assert [session["id"] for session in client.sessions()["sessions"]] == ["session:other"]
    with pytest.raises(NotFound):
        client.forget_session(SESSION)
    daemon.stop()
    daemon.start()
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    assert found(daemon, "boilerhouse")


def test_log_above_debug_has_no_word_of_a_conversation(launch: Launch) -> None:
    daemon = launch()
    daemon.stop()
    daemon.env["MEMORYD_LOG_LEVEL"] = "INFO"
    daemon.start()
    say(daemon)
    daemon.client().sync_sessions()
    found(daemon)
    daemon.client().session_lines(f"session:{SESSION}#Q1")
    daemon.client().remember_session(SESSION, remember=False)
    daemon.client().forget_session(SESSION)
    assert CANARY not in daemon.log.read_text()


@swept("step", [*range(5)], 2)
def test_interrupted_forgetting_is_completed_at_the_next_start(launch: Launch, step: int) -> None:
    """The daemon was killed while forgetting; each step leaves something else of the session."""
    daemon = launch()
    say(daemon)
    say(daemon, "other", "boilerhouse")
    daemon.client().sync_sessions()
    eventually((daemon.workspace / "memory/qa-index.json").exists)
    daemon.stop()
    state = daemon.home / "state"
    ledger = next(state.rglob("ledger.sqlite"))
    sessions = daemon.workspace / "memory/sessions"
    with sqlite3.connect(ledger) as db:
        db.execute(
            "INSERT INTO withheld (agent, kind, name, is_forgotten, head_bytes, head_hash, since) "
            "VALUES ('main', 'pending', ?, 1, 0, x'', unixepoch() + 1)",
            (f"session:{SESSION}",),
        )
    if step >= 1:
        (sessions / f"{SESSION}.json").rename(daemon.workspace / "memory/qa-index.json.damaged-01234567")
    if step >= 2:
        (daemon.workspace / "memory/qa-index.json").unlink()
    if step >= 3:
        (daemon.workspace / "memory/qa-index.json.damaged-01234567").unlink()
    if step >= 4:
        with sqlite3.connect(ledger) as db:
            db.execute("DELETE FROM held_answers")
    daemon.start()
    eventually(lambda: not files_with(daemon))
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    assert found(daemon, "boilerhouse")
    eventually(lambda: files_with(daemon, word=SESSION) == [])


def test_forgetting_is_previewed_and_only_for_the_owner(launch: Launch) -> None:
    daemon = launch()
    say(daemon)
    output = run_cli(daemon, "sessions", "forget", SESSION, "--dry-run")
    assert "would be forgotten" in output
    assert "backups" in output
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.home / "run/main.sock"), verify=False)) as agent:
        for body in ({"session": SESSION, "sessionKey": KEY}, {"session": SESSION, "dryRun": True}):
            reply = agent.post("http://memoryd/v1/sessions/forget", json=body)
            assert reply.json()["error"]["code"] == "denied"
    assert files_with(daemon)
    output = run_cli(daemon, "sessions", "forget", SESSION, "--yes")
    assert "2 turns" in output
    assert files_with(daemon) == []
    run_cli(daemon, "sessions", "forget", SESSION, "--yes", code=3)


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_forgetting_needs_yes_without_a_terminal(launch: Launch, option: tuple[str, ...]) -> None:
    daemon = launch()
    say(daemon)
    assert "--yes" in run_cli(daemon, "sessions", "forget", SESSION, *option, code=2)
    assert daemon.client().sessions()["total"] == 1
    run_cli(daemon, "sessions", "forget", SESSION, *option, "--dry-run")
    run_cli(daemon, "sessions", "forget", SESSION, *option, "--yes")
    assert daemon.client().sessions()["total"] == 0


@pytest.mark.parametrize(("typed", "code"), [("n\n", 130), ("y\n", 0)])
def test_forgetting_is_confirmed_on_a_terminal(launch: Launch, typed: str, code: int) -> None:
    daemon = launch()
    say(daemon)
    done, seen = on_terminal("sessions", "forget", SESSION, typed=typed, **daemon.env)
    assert done == code
    assert "would be forgotten" in seen
    assert "Forget it?" in seen
    assert bool(files_with(daemon)) is (code != 0)


def test_unfinished_forgetting_is_reported(launch: Launch) -> None:
    daemon = launch()
    say(daemon)
    daemon.stop()
    with sqlite3.connect(next(daemon.state.rglob("ledger.sqlite"))) as db:
        db.execute(
            "INSERT INTO withheld (agent, kind, name, is_forgotten, head_bytes, head_hash, since) "
            "VALUES ('main', 'pending', ?, 1, 0, x'', unixepoch() + 1)",
            (f"session:{SESSION}",),
        )
    daemon = launch(readOnly=True)
    eventually(
        lambda: any(
            "not finished" in part["reason"] and "readOnly" in part["reason"] for part in daemon.agent()["degraded"]
        )
    )
    assert found(daemon) == []


@pytest.mark.parametrize("is_known", [True, False])
def test_damaged_session_is_forgotten(launch: Launch, is_known: bool) -> None:
    daemon = launch()
    say(daemon)
    daemon.client().sync_sessions()
    eventually(lambda: found(daemon))
    if not is_known:
        daemon.stop()
    file = daemon.workspace / "memory/sessions" / f"{SESSION}.json"
    file.write_text(f'{{"session_id": "{CANARY}')
    if not is_known:
        daemon.start()
    eventually(lambda: daemon.client().qa_stats()["problems"])
    for dry in (True, False):
        receipt = daemon.client().forget_session(SESSION, dry_run=dry)
        assert receipt["files"] >= 1
        assert f"session:{SESSION} cannot be read" in receipt["remarks"][0]
    assert not file.exists()
    assert files_with(daemon) == []
    assert found(daemon) == []
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    with pytest.raises(NotFound):
        daemon.client().forget_session(SESSION)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_forgetting_without_the_workspace_is_completed_when_it_returns(launch: Launch, is_restarted: bool) -> None:
    daemon = launch()
    say(daemon)
    say(daemon, "other", "boilerhouse")
    daemon.client().sync_sessions()
    eventually(lambda: found(daemon))
    away = daemon.workspace.with_name("away")
    if is_restarted:
        daemon.stop()
    daemon.workspace.rename(away)
    if is_restarted:
        daemon.start()
    else:
        assert f"session:{SESSION}" in [session["id"] for session in daemon.client().sessions()["sessions"]]
    gone = daemon.client().forget_session(SESSION)
    assert not gone["forgotten"]
    assert str(daemon.workspace) in gone["unfinished"][0]
    assert found(daemon) == []
    context = daemon.client().qa_context(f"Where is the {CANARY} kept?")
    assert CANARY not in json.dumps(context["sequence"])
    assert not daemon.workspace.exists()
    away.rename(daemon.workspace)
    eventually(lambda: files_with(daemon) == [])
    assert (daemon.workspace / "memory/sessions/other.json").exists()


def test_git_is_named_as_out_of_reach(launch: Launch) -> None:
    daemon = launch()
    (daemon.workspace / ".git").mkdir()
    say(daemon)
    assert any("git" in sentence for sentence in daemon.client().forget_session(SESSION)["stays"])


def test_key_can_be_withheld_on_read_only_memory(launch: Launch) -> None:
    daemon = launch(readOnly=True)
    before = contents(daemon.workspace)
    daemon.client().remember_session(session_key=KEY, remember=False)
    assert contents(daemon.workspace) == before


def test_withheld_session_stores_nothing_and_is_not_found(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    say(daemon, word="boilerhouse")
    client.sync_sessions()
    assert found(daemon, "boilerhouse")
    assert client.remember_session(SESSION, remember=False)["remembered"] is False
    assert found(daemon, "boilerhouse") == []
    added = client.add_turn(f"What of {CANARY}?", session=SESSION)
    assert (added["remembered"], added["seq"]) == (False, None)
    client.sync_sessions()
    assert files_with(daemon) == []
    for context in (client.qa_context("Where is the boilerhouse kept?"), client.qa_context("x", session=SESSION)):
        assert (context["session"], context["sequence"]) == (None, [])
    assert client.qa_context()["sequence"] == []
    assert client.qa_topics()["topics"] == []
    for call in (
        lambda: client.qa_mark(f"session:{SESSION}#Q2", answer="The boilerhouse."),
        lambda: client.qa_session(SESSION),
        lambda: client.session_lines(f"session:{SESSION}#Q1"),
    ):
        with pytest.raises(NotFound, match="do not remember"):
            call()
    assert "The boilerhouse." not in (daemon.workspace / f"memory/sessions/{SESSION}.json").read_text()
    (session,) = client.sessions()["sessions"]
    assert (session["remembered"], session["indexed"]) == (False, False)
    assert "do not remember" in str(session["reason"])
    assert client.remember_session(SESSION, remember=True)["remembered"] is True
    assert client.qa_context("Where is the boilerhouse kept?")["session"] == SESSION
    client.sync_sessions()
    assert found(daemon, "boilerhouse")
    assert client.add_turn("And now?", session=SESSION)["remembered"] is True


def test_withheld_session_is_not_continued(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    client.add_turn("Where is the boilerhouse?", "In the cellar.", session_key=KEY, significance=1.0)
    assert len(client.start_session(KEY)["sequence"]) == 1
    client.remember_session(session_key=KEY, remember=False)
    begun = client.start_session(KEY)
    assert (begun["context"], begun["sequence"]) == ("", [])
    daemon.stop()
    daemon.start()
    assert daemon.client().start_session(KEY)["sequence"] == []
    assert daemon.client().qa_context("Where is the boilerhouse?")["sequence"] == []
    daemon.client().remember_session(session_key=KEY, remember=True)
    assert len(daemon.client().start_session(KEY)["sequence"]) == 1


def test_key_is_withheld_before_its_session_exists_and_after_a_restart(launch: Launch) -> None:
    daemon = launch()
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.home / "run/main.sock"), verify=False)) as agent:
        url, body = "http://memoryd/v1/sessions/remember", {"sessionKey": KEY, "remember": False}
        assert agent.post(url, json=body).json()["remembered"] is False
        assert agent.post(url, json={**body, "remember": True}).json()["error"]["code"] == "denied"
    for _ in range(2):
        added = daemon.client().add_turn(f"What of {CANARY}?", session_key=KEY)
        assert (added["remembered"], added["session"]) == (False, None)
        assert daemon.client().sessions()["withheldKeys"] == 1
        assert files_with(daemon) == []
        daemon.stop()
        daemon.start()
    daemon.client().remember_session(session_key=f" {KEY.upper()}", remember=True)
    assert daemon.client().add_turn("And now?", session_key=KEY)["remembered"] is True


def test_session_is_started_as_withheld(launch: Launch) -> None:
    daemon = launch()
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.home / "run/main.sock"), verify=False)) as agent:
        url, body = "http://memoryd/v1/sessions/start", {"sessionKey": KEY, "remember": False}
        assert agent.post(url, json=body).is_success
        assert agent.post(url, json={**body, "remember": True}).json()["error"]["code"] == "denied"
    assert daemon.client().add_turn(f"What of {CANARY}?", session_key=KEY)["remembered"] is False
    output = run_cli(daemon, "qa", "add", f"and {CANARY}?", "--session-key", KEY)
    assert "not to be remembered" in output
    assert files_with(daemon) == []
    daemon.client().start_session(KEY, remember=True)
    assert daemon.client().add_turn("And now?", session_key=KEY)["remembered"] is True


def test_agent_withholds_only_its_own_session(launch: Launch) -> None:
    daemon = launch()
    daemon.client().add_turn("Mine?", session_key=KEY)
    daemon.client().add_turn("Another's?", session_key="agent:main:cron:7")
    mine, other = (
        next(row["id"] for row in daemon.client().sessions()["sessions"] if row["key"] == key)
        for key in (KEY, "agent:main:cron:7")
    )
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.home / "run/main.sock"), verify=False)) as agent:
        for session, expected in ((mine, None), (other, "denied"), ("session:nowhere", "not_found")):
            body = {"sessionKey": KEY, "session": session, "remember": False}
            reply = agent.post("http://memoryd/v1/sessions/remember", json=body).json()
            assert reply.get("error", {}).get("code") == expected


def test_lines_of_a_session_are_shown_with_context(launch: Launch) -> None:
    daemon = launch()
    for number in range(1, 5):
        daemon.client().add_turn(f"Question {number}?", f"Answer {number}.", session="s", significance=1.0)
    reply = daemon.client().session_lines("session:s#Q2-Q3", context=1)
    assert reply["citation"] == "session:s#Q2-Q3"
    assert [(line["line"], line["text"], line["cited"]) for line in reply["lines"]] == [
        (2, "Assistant: Answer 1.", False),
        (3, "User: Question 2?", True),
        (4, "Assistant: Answer 2.", True),
        (5, "User: Question 3?", True),
        (6, "Assistant: Answer 3.", True),
        (7, "User: Question 4?", False),
    ]
    assert "Answer 4." in run_cli(daemon, "sessions", "show", "session:s")
    assert "Answer 4." in run_cli(daemon, "sessions", "show", "s")
    assert "cut short" not in run_cli(daemon, "sessions", "show", "session:s#L3-L4")
    assert "none has this name" in run_cli(daemon, "sessions", "show", "nowhere", code=1)
    for citation in ("session:s#Q9", "session:nowhere#Q1", "sessions/main/a.jsonl#L1", "sessions/other/a.jsonl#L1"):
        with pytest.raises(NotFound):
            daemon.client().session_lines(citation)
    for citation in ("MEMORY.md#L1", "session:s#L3-L1", "session:s#L0", "session:s#Q0", "sessions/main/a.jsonl#L0"):
        with pytest.raises(InvalidRequest):
            daemon.client().session_lines(citation)


def is_full(client: Client) -> bool:
    qa = client.status()["agents"][0]["qa"]
    return qa is not None and qa["full"]


def test_size_limit_of_conversations_is_kept_and_reported(launch: Launch) -> None:
    daemon = launch(qa={"maxBytes": 65_536, "significance": 0})
    client = daemon.client()
    for number in range(8):
        client.add_turn(f"Question {number}?", "boilerhouse " * 1_000, session=f"s{number}", significance=1.0)
    eventually(lambda: is_full(client))
    added = client.add_turn("And the last one?", "a short answer", session="s0", significance=1.0)
    assert (added["kept"], added["remembered"]) == (False, True)
    output = run_cli(daemon, "status", "--verbose")
    assert "questions alone are kept" in output
    assert "maxBytes 65.5 kB" in " ".join(output.split())
    for number in range(1, 8):
        client.forget_session(f"s{number}")
    eventually(lambda: not is_full(client))
    assert client.add_turn("And now?", "a short answer", session="s0", significance=1.0)["kept"] is True


def test_unknown_name_is_refused_and_citation_names_its_session(launch: Launch) -> None:
    daemon = launch()
    say(daemon)
    for name in ("nothing", "../../etc/passwd", "memory/2026-10-06.md"):
        with pytest.raises(NotFound):
            daemon.client().forget_session(name)
    assert daemon.client().forget_session(f"session:{SESSION}#Q1", dry_run=True)["id"] == f"session:{SESSION}"


def test_set_aside_index_is_deleted_with_the_forgotten_session(launch: Launch) -> None:
    daemon = launch()
    say(daemon)
    daemon.client().sync_sessions()
    daemon.stop()
    index = next(daemon.state.rglob("conversations-main.sqlite"))
    shutil.copy(index, index.with_name(f"{index.name}.corrupt-2026"))
    daemon.start()
    assert any("corrupt" in name for name in files_with(daemon))
    daemon.client().forget_session(SESSION)
    assert files_with(daemon) == []
