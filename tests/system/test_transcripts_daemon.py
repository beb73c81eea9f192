"""Transcripts and turns through the real daemon: read at the right time, completely, and only for their agent."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon
from tests.integration.test_transcript_conversations import HEAD, add, spoken, write
from tests.store.consistency import Dump, check_consistency, dump, open_index
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

BOTH = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
QUIET = {"watchDebounceMs": 30, "reconcileSeconds": 3600, "onSearch": False}
NEVER = {"deltaBytes": 10**9, "deltaMessages": 10**6, "idleSeconds": 86_400}
KEY = "agent:main:main"

Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    def run(
        search: Mapping[str, object],
        *,
        agents: Sequence[Mapping[str, object]] = ({"id": "main"},),
        folders: Sequence[Mapping[str, object]] = (),
    ) -> RunningDaemon:
        workspace = tmp_path / "workspace"
        (workspace / "memory").mkdir(parents=True, exist_ok=True)
        (workspace / "MEMORY.md").write_text("The gateway runs on alder.\n")
        search = {**search, "sync": {**QUIET, **dict(search.get("sync", {}))}}  # type: ignore[call-overload]
        memory = {"sessions": {"folders": list(folders)}}
        options = {"environment": {"OPENCLAW_STATE_DIR": str(tmp_path / "openclaw")}}
        return start(daemon_of_agents(tmp_path, agents, workspace, search=search, options=options, memory=memory))

    return run


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return the folder with OpenClaw's transcripts of the agent."""
    folder = tmp_path / "openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    return folder


def found(client: Client, question: str, agent: str | None = None) -> set[str]:
    return {hit["citation"] for hit in client.search(question, sources=["sessions"], agent=agent)["results"]}


def test_transcripts_are_read_only_with_both_keys(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    for search in ({"sources": ["memory", "sessions"]}, {"experimental": {"sessionMemory": True}}):
        daemon = launch(search)
        daemon.client().sync()
        assert not found(daemon.client(), "quetzal")
        status = daemon.client().status()
        sessions = status["agents"][0]["sessions"]
        assert sessions is not None
        assert sessions["transcripts"] is None
        assert any("experimental.sessionMemory" in notice for notice in status["config"]["notices"])
        daemon.stop()
    daemon = launch(BOTH)
    assert daemon.client().sync()["complete"]
    assert found(daemon.client(), "quetzal") == {"sessions/main/0d9f.jsonl#L2"}
    assert daemon.client().status()["config"]["notices"] == []


def test_sync_reads_to_the_end_and_status_reports_transcripts(launch: Launch, own: Path) -> None:
    daemon = launch({**BOTH, "sync": {"sessions": NEVER}})
    client = daemon.client()
    client.sync()
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    (own / "1a2b.jsonl").write_text('{"speaker": "me", "words": "toucan"}\n' * 70)
    reply = client.sync()
    assert reply["complete"]
    assert found(client, "quetzal") == {"sessions/main/0d9f.jsonl#L2"}
    sessions = client.status()["agents"][0]["sessions"]
    assert sessions is not None
    assert (sessions["conversations"], sessions["parts"], sessions["chunks"], sessions["reason"]) == (1, 1, 1, None)
    assert sessions["path"].endswith("conversations-main.sqlite")
    transcripts = sessions["transcripts"]
    assert transcripts is not None
    assert transcripts["folders"] == [{"path": str(own), "files": 2, "reason": None}]
    assert (transcripts["files"], transcripts["unknown"]) == (2, 1)
    assert transcripts["bytes"] == sum(file.stat().st_size for file in own.iterdir())
    assert transcripts["maxBytes"] == 2 * 1024**3
    assert [row["path"] for row in sessions["skipped"]] == ["sessions/main/1a2b.jsonl"]


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ({"deltaBytes": 500}, spoken("And the toucan? " * 50)),
        ({"deltaMessages": 2}, spoken("And the toucan?") + spoken("And why?")),
        ({}, json.dumps({"type": "compaction", "summary": "x"}) + "\n" + spoken("And the toucan?")),
    ],
    ids=["bytes", "messages", "compaction"],
)
def test_transcript_is_read_when_enough_has_arrived(
    launch: Launch, own: Path, rule: Mapping[str, object], line: str
) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    daemon = launch({**BOTH, "sync": {"sessions": {**NEVER, **rule}}})
    daemon.client().sync()
    add(own / "0d9f.jsonl", line)
    eventually(lambda: found(daemon.client(), "toucan"))


def test_idle_transcript_is_read_to_its_end(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    daemon = launch({**BOTH, "sync": {"sessions": {**NEVER, "idleSeconds": 0.5}}})
    daemon.client().sync()
    add(own / "0d9f.jsonl", spoken("And the toucan?"))
    eventually(lambda: found(daemon.client(), "toucan"))


def test_compaction_forces_no_reading_if_disabled(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    rule = {**NEVER, "deltaMessages": 4, "postCompactionForce": False}
    daemon = launch({**BOTH, "sync": {"reconcileSeconds": 0.2, "sessions": rule}})
    client = daemon.client()
    client.sync()
    before = daemon.agent()["sessions"]
    add(own / "0d9f.jsonl", json.dumps({"type": "compaction", "summary": "x"}) + "\n", spoken("And the toucan?"))
    # another transcript that is due shows that the folder was scanned
    write(own / "1a2b.jsonl", [spoken("And the heron?")] * 4)
    eventually(lambda: found(client, "heron"))
    assert before is not None
    assert not found(client, "toucan")
    add(own / "0d9f.jsonl", spoken("And why?"), spoken("And how?"))
    eventually(lambda: found(client, "toucan"))


def test_session_start_reads_the_last_transcript(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    daemon = launch({**BOTH, "sync": {"sessions": NEVER}})
    daemon.client().sync()
    add(own / "0d9f.jsonl", spoken("And the toucan?"))
    assert daemon.client().start_session(KEY)["syncScheduled"]
    eventually(lambda: found(daemon.client(), "toucan"))


def test_deleted_transcript_leaves_answers_and_index(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzalcoatlus nest?")])
    daemon = launch({**BOTH, "sync": {"sessions": NEVER}})
    client = daemon.client()
    client.sync()
    assert found(client, "quetzalcoatlus")
    (own / "0d9f.jsonl").unlink()
    eventually(lambda: not found(client, "quetzalcoatlus"))
    client.sync()
    assert all(b"quetzalcoatlus" not in file.read_bytes() for file in _indexes(daemon))


def test_agents_have_separate_indexes_of_their_own_transcripts(launch: Launch, tmp_path: Path, own: Path) -> None:
    other = tmp_path / "project"
    other.mkdir()
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    write(other / "1a2b.jsonl", [spoken("Where does the heron nest?")])
    daemon = launch(BOTH, agents=[{"id": "main"}, {"id": "helper"}], folders=[{"path": "project", "agent": "helper"}])
    client = daemon.client()
    client.sync()
    assert found(client, "quetzal heron", "main") == {"sessions/main/0d9f.jsonl#L2"}
    assert found(client, "quetzal heron", "helper") == {"sessions/helper/1a2b.jsonl#L2"}
    files = {file.name: file.read_bytes() for file in _indexes(daemon)}
    assert {name for name in files if name.endswith(".sqlite")} == {
        "conversations-main.sqlite",
        "conversations-helper.sqlite",
    }
    assert not any(b"heron" in data for name, data in files.items() if "main" in name)
    assert not any(b"quetzal" in data for name, data in files.items() if "helper" in name)


def test_turn_is_found_soon_after_it_was_stored(launch: Launch) -> None:
    client = launch({}).client()
    added = client.add_turn("Where does the quetzal nest?", session_key=KEY)
    eventually(lambda: found(client, "quetzal") == {f"session:{added['session']}#Q1"})


@pytest.mark.torture
def test_killed_reading_of_a_large_transcript_equals_a_rebuild(launch: Launch, own: Path) -> None:
    noise = json.dumps({"type": "custom", "data": "x" * 20_000}) + "\n"

    def say(numbers: range) -> None:
        with (own / "0d9f.jsonl").open("a") as stream:
            for number in numbers:
                stream.write(spoken(f"question {number} about the quetzal", number=number) + noise)

    (own / "0d9f.jsonl").write_text(HEAD)
    say(range(1000))
    daemon = launch(BOTH)
    tails = {""}
    for more in range(1000, 1300, 100):
        eventually(lambda: _tail(daemon) not in tails)
        daemon.kill()
        tails.add(_tail(daemon))
        # so that more is left to read after a late kill
        say(range(more, more + 100))
        daemon.start()
    assert len(tails) == 4
    daemon.client().sync()
    daemon.stop()
    stepwise = _dump(daemon)
    for file in _indexes(daemon):
        file.unlink()
    daemon.start()
    assert daemon.client().sync()["complete"]
    daemon.stop()
    assert _dump(daemon) == stepwise
    assert len(stepwise) > 20


def test_folder_of_an_unknown_agent_or_of_two_is_refused(launch: Launch, tmp_path: Path, own: Path) -> None:
    folders = [
        {"path": "a", "agent": "nobody"},
        {"path": "b", "agent": "main"},
        {"path": str(tmp_path / "x" / ".." / "b"), "agent": "helper"},
        {"path": str(own), "agent": "helper"},
    ]
    with pytest.raises(AssertionError) as error:
        launch(BOTH, agents=[{"id": "main"}, {"id": "helper"}], folders=folders)
    assert "memory.sessions.folders[0].agent: there is no agent nobody" in str(error.value)
    assert "memory.sessions.folders[2].path: is given to agent main, too" in str(error.value)
    assert "memory.sessions.folders[3].path: is given to agent main, too" in str(error.value)


def test_damaged_conversation_index_is_rebuilt(launch: Launch, own: Path) -> None:
    write(own / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    daemon = launch(BOTH)
    daemon.client().sync()
    (index,) = [file for file in _indexes(daemon) if file.suffix == ".sqlite"]
    daemon.kill()
    index.write_bytes(os.urandom(4096))
    daemon.start()
    client = daemon.client()
    assert client.search("gateway")["results"]
    eventually(lambda: found(client, "quetzal"))


def _indexes(daemon: RunningDaemon) -> list[Path]:
    return list(daemon.state.rglob("conversations-*.sqlite*"))


def _tail(daemon: RunningDaemon) -> str:
    """Return how far the transcript was read, or nothing before the first step; read-only, so as not to interfere."""
    index = next((file for file in _indexes(daemon) if file.suffix == ".sqlite"), None)
    if index is None:
        return ""
    connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5000)
    try:
        return "".join(row[0] for row in connection.execute("SELECT tail FROM conversations"))
    except (apsw.SQLError, apsw.IOError):
        # the tables do not exist yet, or the write-ahead log was restarted
        return ""
    finally:
        connection.close()


def _dump(daemon: RunningDaemon) -> Dump:
    (index,) = _indexes(daemon)
    with closing(open_index(Path(shutil.copy(index, daemon.home / "copy.sqlite")))) as copied:
        with copied:
            check_consistency(copied)
        return dump(copied)
