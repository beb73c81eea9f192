"""A forgotten transcript stays where it is, but nothing made from it does: rows, vectors, turns and answers."""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound, NotNow
from memoryd.store.ledger.database import aside as set_aside
from tests.daemon import PROGRAM, RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint
from tests.hasty import HASTY
from tests.sweeps import swept, whole_or
from tests.system.files import contents
from tests.system.test_sessions_forgotten import files_with, run_cli
from tests.waiting import eventually

CANARY = "zanzibarcanary"
LONG = whole_or(3_000, 20_000)
"""Turns of a transcript that takes a while to read."""
Launch = Callable[..., RunningDaemon]


def record(role: str, text: str) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "timestamp": "2026-11-18T10:00:00Z", "message": message}) + "\n"


def write(folder: Path, name: str, word: str, turns: int = 2) -> Path:
    """Write a transcript of OpenClaw with this number of turns about a word."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "session", "id": f"{name}-{word}", "timestamp": "2026-11-18T10:00:00Z"}) + "\n"]
    for number in range(turns):
        lines += [record("user", f"Where is the {word} number {number}?"), record("assistant", f"The {word} is here.")]
    path = folder / name
    path.write_text("".join(lines))
    # old enough to count as idle
    os.utime(path, (1_790_000_000, 1_790_000_000))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "transcripts"


@pytest.fixture
def launch(tmp_path: Path, workspace: Path, folder: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def run(
        *,
        remote: Mapping[str, object] | None = None,
        bound: int = 1 << 30,
        program: Sequence[str] = PROGRAM,
        **memory: object,
    ) -> RunningDaemon:
        folder.mkdir(exist_ok=True)
        memory["sessions"] = {"folders": [{"path": str(folder), "agent": "main"}], "maxBytes": bound}
        search = {
            "query": {"freshMs": 0},
            "sources": ["memory", "sessions"],
            "experimental": {"sessionMemory": True},
            "sync": {"sessions": {"deltaBytes": 1, "deltaMessages": 1}, "paused": remote is not None},
            **(remote or {}),
        }
        config = write_config(tmp_path, workspace, None, search=search, memory=memory)
        daemon = start(RunningDaemon(tmp_path, config, workspace, program=program))
        daemon.client().sync()
        daemon.client().sync_sessions()
        return daemon

    return run


def found(daemon: RunningDaemon, word: str = CANARY) -> list[str]:
    return sorted(hit["path"] for hit in daemon.client().search(word, sources=["sessions"])["results"])


def test_forgotten_transcript_is_not_read_again_under_any_name(launch: Launch, folder: Path) -> None:
    file, other = write(folder, "a.jsonl", CANARY), write(folder, "b.jsonl", "boilerhouse")
    copy = folder / "copy.jsonl"
    copy.write_bytes(file.read_bytes() + record("user", f"and the {CANARY}?").encode())
    daemon = launch()
    client = daemon.client()
    assert set(found(daemon)) == {"sessions/main/a.jsonl", "sessions/main/copy.jsonl"}
    gone = client.forget_session("a.jsonl")
    assert gone["rows"] == 2
    assert any(str(file) in sentence for sentence in gone["stays"])
    assert file.exists()
    for _ in range(2):
        assert files_with(daemon) == []
        assert found(daemon) == []
        assert found(daemon, "boilerhouse") == ["sessions/main/b.jsonl"]
        file.rename(folder / "c.jsonl")
        with other.open("a") as grown:
            grown.write(record("user", "and the boilerhouse?"))
        daemon.client().sync_sessions()
        assert files_with(daemon) == []
        daemon.stop()
        (folder / "c.jsonl").rename(file)
        daemon.start()
        daemon.client().sync_sessions()
    listed = {session["id"]: session for session in daemon.client().sessions()["sessions"]}
    assert (listed["sessions/main/a.jsonl"]["remembered"], listed["sessions/main/a.jsonl"]["reason"]) == (
        False,
        "forgotten",
    )
    assert listed["sessions/main/b.jsonl"]["indexed"]


def test_forgotten_transcript_can_be_remembered_again(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch()
    daemon.client().forget_session("sessions/main/a.jsonl")
    assert found(daemon) == []
    daemon.client().remember_session("a.jsonl", remember=True)
    daemon.client().sync_sessions()
    assert found(daemon) == ["sessions/main/a.jsonl"]


def test_withheld_transcript_loses_its_rows_and_is_read_again_later(launch: Launch, folder: Path) -> None:
    file = write(folder, "a.jsonl", CANARY)
    daemon = launch()
    reply = daemon.client().remember_session("a.jsonl", remember=False)
    assert (reply["remembered"], reply["rows"]) == (False, 1)
    with file.open("a") as grown:
        grown.write(record("user", f"and the other {CANARY}?"))
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    assert found(daemon) == []
    daemon.client().remember_session("a.jsonl", remember=True)
    daemon.client().sync_sessions()
    assert found(daemon) == ["sessions/main/a.jsonl"]


@pytest.mark.parametrize("by_turns", [False, True])
def test_turns_taken_from_a_forgotten_transcript_go_too(launch: Launch, folder: Path, by_turns: bool) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch(qa={"fromTranscripts": True, "significance": 0})
    eventually(lambda: any(session["turns"] == 2 for session in daemon.client().sessions()["sessions"]))
    (session,) = [row for row in daemon.client().sessions()["sessions"] if row["kind"] == "qa"]
    # only forgetting the transcript keeps its turns from being taken again
    gone = daemon.client().forget_session(session["id"] if by_turns else "a.jsonl")
    assert (gone["id"], gone["turns"]) == ("sessions/main/a.jsonl", session["turns"])
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    assert [session["id"] for session in daemon.client().sessions()["sessions"]] == ["sessions/main/a.jsonl"]
    daemon.stop()
    daemon.start()
    daemon.client().sync_sessions()
    assert files_with(daemon) == []


def test_read_only_memory_forgets_the_rows_of_a_transcript(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch(readOnly=True)
    before = contents(daemon.workspace)
    assert daemon.client().forget_session("a.jsonl")["rows"] == 1
    assert files_with(daemon) == []
    assert contents(daemon.workspace) == before


def test_transcript_without_messages_is_forgotten_alone(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    (folder / "x.jsonl").write_text("{")
    daemon = launch()
    for dry in (True, False):
        receipt = daemon.client().forget_session("sessions/main/x.jsonl", dry_run=dry)
        assert (receipt["rows"], receipt["conversations"]) == (0, ["sessions/main/x.jsonl"])
    write(folder, "b.jsonl", "boilerhouse")
    daemon.client().sync_sessions()
    assert found(daemon) == ["sessions/main/a.jsonl"]
    assert found(daemon, "boilerhouse") == ["sessions/main/b.jsonl"]


def test_fork_stays_and_copies_are_forgotten_by_name(launch: Launch, folder: Path) -> None:
    file = write(folder, "a.jsonl", CANARY, turns=60)
    begun = file.read_text()
    file.write_text(begun + record("user", "and the quetzal?") + record("assistant", "here"))
    (folder / "fork.jsonl").write_text(begun + record("user", "and the boilerhouse?") + record("assistant", "there"))
    (folder / "longer.jsonl").write_text(file.read_text() + record("user", "and more?"))
    (folder / "shorter.jsonl").write_text(begun)
    for path in folder.iterdir():
        os.utime(path, (1_790_000_000, 1_790_000_000))
    daemon = launch(qa={"fromTranscripts": True, "significance": 0})
    eventually(lambda: sum(session["kind"] == "qa" for session in daemon.client().sessions()["sessions"]) == 4)
    before = daemon.client().forget_session("a.jsonl", dry_run=True)

    def is_settled() -> bool:
        # turns are taken and indexed in the background
        nonlocal before
        daemon.client().sync_sessions()
        known, before = before, daemon.client().forget_session("a.jsonl", dry_run=True)
        return known == before and all(session["indexed"] for session in daemon.client().sessions()["sessions"])

    eventually(is_settled)
    would = before
    gone = daemon.client().forget_session("a.jsonl")
    beside = ("files", "heldAnswers", "rows")
    assert {**would, "forgotten": True, **{name: gone[name] for name in beside}} == gone  # type: ignore[literal-required]
    # the indexer may already have deleted rows of a missing file
    assert gone["rows"] <= would["rows"] > 0
    names = ("a", "longer", "shorter")
    assert gone["conversations"][:3] == [f"sessions/main/{name}.jsonl" for name in names]
    assert [path.split("-")[1] for path in gone["conversations"][3:]] == list(names)
    assert any("sessions/main/fork.jsonl" in sentence for sentence in gone["stays"])
    daemon.client().sync_sessions()
    assert set(found(daemon, "quetzal")) == set()
    [stays] = found(daemon, "boilerhouse")
    assert "fork" in stays
    (taken,) = [session["id"] for session in daemon.client().sessions()["sessions"] if session["kind"] == "qa"]
    assert taken.startswith("session:transcript-fork-")
    reasons = {session["id"]: session["reason"] for session in daemon.client().sessions()["sessions"]}
    assert [reasons[f"sessions/main/{name}.jsonl"] for name in names] == ["forgotten"] * 3


def test_turns_go_later_if_memory_is_read_only(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch(qa={"fromTranscripts": True, "significance": 0})
    eventually(lambda: any(session["turns"] == 2 for session in daemon.client().sessions()["sessions"]))
    (session,) = [row["id"] for row in daemon.client().sessions()["sessions"] if row["kind"] == "qa"]
    daemon.stop()
    daemon = launch(readOnly=True, qa={"significance": 0})
    assert found(daemon)
    with pytest.raises(Denied):
        daemon.client().forget_session(session)
    with pytest.raises(Denied):
        daemon.client().remember_session("a.jsonl", remember=False)
    assert found(daemon)
    gone = daemon.client().forget_session("a.jsonl")
    assert not gone["forgotten"]
    assert "memory.readOnly" in gone["unfinished"][0]
    assert session in gone["unfinished"][0]
    daemon.client().sync_sessions()
    assert found(daemon) == []
    left = files_with(daemon)
    assert str(daemon.workspace / f"memory/sessions/{session.removeprefix('session:')}.json") in left
    assert all(path.startswith(f"{daemon.workspace}/") for path in left)
    daemon.stop()
    daemon = launch(qa={"significance": 0})
    eventually(lambda: files_with(daemon) == [])


def test_turns_are_taken_again_when_the_transcript_is_remembered(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch(program=HASTY, qa={"fromTranscripts": True, "significance": 0})
    client = daemon.client()

    def taken() -> list[int | None]:
        return [session["turns"] for session in client.sessions()["sessions"] if session["kind"] == "qa"]

    eventually(lambda: taken() == [2])
    client.forget_session("a.jsonl")
    assert taken() == []
    client.remember_session("a.jsonl", remember=True)
    eventually(lambda: taken() == [2])


def test_copy_of_a_forgotten_transcript_is_forgotten(launch: Launch, folder: Path) -> None:
    file = write(folder, "a.jsonl", CANARY)
    daemon = launch()
    daemon.client().forget_session("a.jsonl")
    (folder / "copy.jsonl").write_text(file.read_text() + record("user", "and more?"))
    daemon.client().sync_sessions()
    reasons = {session["id"]: session["reason"] for session in daemon.client().sessions()["sessions"]}
    assert reasons["sessions/main/copy.jsonl"] == "forgotten"
    with pytest.raises(InvalidRequest) as refused:
        daemon.client().remember_session("copy.jsonl", remember=True)
    assert "sessions/main/a.jsonl" in refused.value.hint
    daemon.client().remember_session("a.jsonl", remember=True)
    daemon.client().remember_session("copy.jsonl", remember=True)
    daemon.client().sync_sessions()
    assert set(found(daemon)) == {"sessions/main/a.jsonl", "sessions/main/copy.jsonl"}


@pytest.mark.sweep
def test_transcript_is_forgotten_while_it_is_read(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY, turns=LONG)
    daemon = launch()
    file = write(folder, "long.jsonl", f"{CANARY} beside the quetzal", turns=LONG)
    daemon.client().sync_sessions(wait=False)
    # whatever step of the reading this interrupts
    eventually(lambda: found(daemon, "quetzal"))
    for name in ("long.jsonl", "a.jsonl"):
        daemon.client().forget_session(name)
    assert files_with(daemon) == []
    daemon.client().sync_sessions()
    assert files_with(daemon) == []
    assert file.exists()


def has_mark(daemon: RunningDaemon) -> bool:
    with contextlib.closing(sqlite3.connect(next(daemon.state.rglob("ledger.sqlite")))) as db:
        return bool(db.execute("SELECT count(*) FROM withheld").fetchone()[0])


@swept("when", ["noted", "at once", "gone from answers"], 1)
def test_killed_forgetting_of_a_transcript_is_completed(launch: Launch, folder: Path, when: str) -> None:
    write(folder, "a.jsonl", CANARY, turns=3_000)
    write(folder, "b.jsonl", "boilerhouse")
    daemon = launch()
    # creates the ledger, without marks
    daemon.client().remember_session("b.jsonl", remember=False)
    daemon.client().remember_session("b.jsonl", remember=True)

    def forget() -> None:
        with Client(daemon.socket) as client, contextlib.suppress(MemorydError):
            client.forget_session("a.jsonl")

    forgetting = threading.Thread(target=forget)
    forgetting.start()
    eventually(lambda: when == "at once" or (has_mark(daemon) if when == "noted" else not found(daemon)), step=0.001)
    daemon.kill()
    forgetting.join()
    daemon.start()
    if when == "at once" and not has_mark(daemon):
        daemon.client().forget_session("a.jsonl")
    eventually(lambda: not files_with(daemon))
    daemon.client().sync_sessions()
    eventually(lambda: found(daemon, "boilerhouse") == ["sessions/main/b.jsonl"])
    assert files_with(daemon) == []


def test_cited_lines_are_shown_while_the_file_has_them(launch: Launch, folder: Path) -> None:
    file = write(folder, "a.jsonl", "boilerhouse")
    daemon = launch()
    reply = daemon.client().session_lines("sessions/main/a.jsonl#L3", context=1)
    assert [(line["line"], line["cited"]) for line in reply["lines"]] == [(2, False), (3, True), (4, False)]
    assert reply["lines"][1]["text"] == "Assistant: The boilerhouse is here."
    with pytest.raises(NotFound):
        daemon.client().session_lines("sessions/main/a.jsonl#L1")
    file.write_text(file.read_text().replace("is here", "is gone"))
    with pytest.raises(NotFound):
        daemon.client().session_lines("sessions/main/a.jsonl#L3")


def test_dry_run_counts_transcripts_before_a_provider_gets_them(
    launch: Launch, folder: Path, endpoint: Endpoint
) -> None:
    file = write(folder, "a.jsonl", CANARY, turns=40)
    remote = {"provider": "openai", "model": "test-model", "remote": {"baseUrl": endpoint.url, "apiKey": "sk-4711"}}
    daemon = launch(remote=remote)
    agent = daemon.agent()
    assert agent["sessions"] is not None
    outstanding = agent["sessions"]["outstanding"]
    assert outstanding is not None
    assert outstanding["passages"] >= 1
    output = run_cli(daemon, "index", "--dry-run")
    assert "1 transcript of" in output
    assert f"about {outstanding['tokens']:,} tokens" in output
    host = endpoint.url.removeprefix("http://").partition("/")[0]
    assert output.count(host) >= 2
    assert f"remote.destination {host}" in " ".join(run_cli(daemon, "status", "--verbose").split())
    daemon.stop()
    (prospect,) = json.loads(run_cli(daemon, "index", "--dry-run", "--json").partition("note:")[0])["agents"]
    assert prospect["conversations"]["files"] == 1
    assert prospect["conversations"]["bytes"] == file.stat().st_size
    assert not any(CANARY in json.dumps(request) for request in endpoint.requests())


def test_transcripts_beyond_the_limit_leave_the_index_and_are_named(launch: Launch, folder: Path) -> None:
    old, new = write(folder, "old.jsonl", CANARY, turns=150), write(folder, "new.jsonl", "boilerhouse", turns=250)
    os.utime(old, (1_780_000_000, 1_780_000_000))
    bound = new.stat().st_size + 10_000
    daemon = launch(bound=bound)
    assert set(found(daemon, "boilerhouse")) == {"sessions/main/new.jsonl"}
    assert found(daemon) == []
    sessions = daemon.agent()["sessions"]
    assert sessions is not None
    (skipped,) = sessions["skipped"]
    assert skipped["path"] == "sessions/main/old.jsonl"
    assert "memory.sessions.maxBytes" in skipped["reason"]
    assert sessions["transcripts"] is not None
    assert sessions["transcripts"]["maxBytes"] == bound
    listed = {session["id"]: session["reason"] for session in daemon.client().sessions()["sessions"]}
    assert listed == {"sessions/main/old.jsonl": skipped["reason"], "sessions/main/new.jsonl": None}
    new.unlink()
    daemon.client().sync_sessions()
    assert set(found(daemon)) == {"sessions/main/old.jsonl"}


def damage(daemon: RunningDaemon, table: str) -> Path:
    """Stop the daemon, and overwrite the root page of a table of its ledger."""
    daemon.stop()
    path = next(daemon.state.rglob("ledger.sqlite"))
    with contextlib.closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * 8192)
        file.write(b"\xa5" * 8192)
    return path


def test_forgotten_transcript_stays_out_after_ledger_damage(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    write(folder, "b.jsonl", "boilerhouse")
    daemon = launch()
    daemon.client().forget_session("a.jsonl")
    daemon.client().remember_session(session_key="agent:main:main", remember=False)
    path = damage(daemon, "held_answers")
    for _ in range(2):
        daemon.start()
        daemon.client().sync_sessions()
        assert found(daemon, "boilerhouse") == ["sessions/main/b.jsonl"]
        assert found(daemon) == []
        assert files_with(daemon) == []
        turn = daemon.client().add_turn("Which port?", "18790.", session_key="agent:main:main")
        assert not turn["remembered"]
        assert len(set_aside(path)) == 1
        daemon.stop()
        # a new index reads everything again
        for index in daemon.state.rglob("conversations-*"):
            index.unlink()


def test_damaged_marks_stop_all_reading_until_the_owner_acts(launch: Launch, folder: Path) -> None:
    write(folder, "a.jsonl", CANARY)
    daemon = launch()
    daemon.client().forget_session("a.jsonl")
    path = damage(daemon, "withheld")
    for index in daemon.state.rglob("conversations-*"):
        index.unlink()
    write(folder, "b.jsonl", "boilerhouse")
    for _ in range(2):
        daemon.start()
        with contextlib.suppress(MemorydError):
            daemon.client().sync_sessions()
        (aside,) = set_aside(path)
        assert files_with(daemon) == []
        assert found(daemon, "boilerhouse") == []
        with pytest.raises(NotNow, match="delete it or move it away"):
            daemon.client().add_turn("Which port?", "18790.", session_key="agent:main:main")
        assert daemon.client().add_turn("Which port?", "18790.", session="ports")["remembered"]
        degraded = daemon.degraded()
        assert str(aside) in degraded["ledger"]
        assert "delete it or move it away" in degraded["ledger"]
        daemon.stop()
    aside.unlink()
    daemon.start()
    daemon.client().sync_sessions()
    # the owner accepted that the marks are lost
    assert found(daemon, "boilerhouse") == ["sessions/main/b.jsonl"]
    assert found(daemon) == ["sessions/main/a.jsonl"]
