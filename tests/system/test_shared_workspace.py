"""Several agents on one workspace: each finds exactly what its own settings index."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.errors import NotFound
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

EVENTS_ONLY = {"watchDebounceMs": 30, "settleMs": 20, "reconcileSeconds": 3600, "onSearch": False}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """Run `a` with a private folder, `b` with only the notes, and `c` with the notes except the core file."""
    workspace = tmp_path / "workspace"
    for folder in (workspace / "memory", tmp_path / "private"):
        folder.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The gateway runs on alder.\n")
    (workspace / "memory" / "first.md").write_text("The gateway was restarted.\n")
    (tmp_path / "private" / "diary.md").write_text("The gateway and the kreuzspinne.\n")
    listed: list[dict[str, object]] = [
        {"id": "a", "memorySearch": {"extraPaths": ["../private"]}},
        {"id": "b"},
        {"id": "c", "memorySearch": {"exclude": ["MEMORY.md"], "query": {"maxResults": 1}}},
    ]
    with daemon_of_agents(tmp_path, listed, workspace, search={"sync": EVENTS_ONLY}) as running:
        running.client().sync()
        yield running


def paths(client: Client, agent: str, query: str = "gateway") -> set[str]:
    return {hit["path"] for hit in client.search(query, agent=agent, max_results=20)["results"]}


def test_f145_agent_finds_and_reads_only_what_its_settings_index(daemon: RunningDaemon) -> None:
    """Each agent finds and reads what its settings index, and nothing else."""
    client = daemon.client()
    assert paths(client, "a") == {"MEMORY.md", "memory/first.md", "../private/diary.md"}
    assert paths(client, "b") == {"MEMORY.md", "memory/first.md"}
    assert paths(client, "c") == {"memory/first.md"}
    assert client.get("../private/diary.md", agent="a")["text"]
    for agent, path in (("b", "../private/diary.md"), ("c", "../private/diary.md"), ("c", "MEMORY.md")):
        with pytest.raises(NotFound):
            client.get(path, agent=agent)


def test_every_agent_follows_a_change(daemon: RunningDaemon) -> None:
    client = daemon.client()
    eventually(lambda: all(agent["watcher"]["ok"] for agent in client.status()["agents"]))
    (daemon.workspace / "memory" / "new.md").write_text("The hearthstone is slate.\n")
    eventually(lambda: all(paths(client, agent, "hearthstone") == {"memory/new.md"} for agent in "abc"))


@pytest.mark.parametrize(("forgets", "imports"), [("a", "c"), ("c", "a")])
def test_forgotten_memory_is_not_imported_by_another_agent(daemon: RunningDaemon, forgets: str, imports: str) -> None:
    with daemon.client() as client:
        assert daemon.agent(2)["database"] != daemon.agent()["database"]
        client.retain("W @Home: the door code is 4711", agent="a")
        client.sync()
        client.forget("the door code is 4711", agent=forgets)
        reply = client.import_memories([{"text": "the door code is 4711"}], run="a" * 32, agent=imports)
    assert not any("4711" in path.read_text() for path in daemon.workspace.rglob("*.md"))
    assert "forgotten" in json.dumps(reply)


def daemon_of(home: Path, *others: str, **own: object) -> RunningDaemon:
    """Return a daemon of some agents and of `b`, which has an index of its own if it has settings of its own."""
    (home / "workspace" / "memory").mkdir(parents=True, exist_ok=True)
    agents: list[dict[str, object]] = [{"id": other} for other in others]
    return daemon_of_agents(home, [*agents, {"id": "b", "memorySearch": own}], home / "workspace")


def test_mark_of_an_agent_survives_a_separate_index_and_ledger(tmp_path: Path) -> None:
    key = "agent:b:telegram:direct:one"
    with daemon_of(tmp_path, "a") as daemon, daemon.client() as client:
        client.remember_session(session_key=key, agent="b")
    with daemon_of(tmp_path, "a", chunking={"tokens": 200}) as daemon, daemon.client() as client:
        first, second = (agent["database"]["path"] for agent in client.status()["agents"])
        assert first != second
        for said, session_key in (("My locker number is 4417.", key), ("I live in Linz.", f"{key}-more")):
            client.turn(said, session_key=session_key, agent="b")
        eventually(lambda: is_said(tmp_path, b"Linz"))
        assert not is_said(tmp_path, b"4417")
        client.remember_session(session_key=f"{key}-more", agent="b")
    # as the only agent, it uses the ledger that was shared
    with daemon_of(tmp_path, chunking={"tokens": 200}) as daemon, daemon.client() as client:
        assert daemon.agent()["database"]["path"] == first
        for said, session_key in (
            ("My locker number is 4417.", key),
            ("My bicycle is a Brompton.", f"{key}-more"),
            ("I live in Wels.", f"{key}-other"),
        ):
            client.turn(said, session_key=session_key, agent="b")
        eventually(lambda: is_said(tmp_path, b"Wels"))
        assert not is_said(tmp_path, b"4417")
        assert not is_said(tmp_path, b"Brompton")


def test_session_is_forgotten_also_in_the_former_ledger_of_its_agent(tmp_path: Path) -> None:
    def files_with_word() -> list[Path]:
        return [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]

    with daemon_of(tmp_path, "a") as daemon, daemon.client() as client:
        client.add_turn("And who knows of it?", "hm, zanzibar", session="boat", significance=0.0, agent="b")
        assert files_with_word()
    with daemon_of(tmp_path, "a", chunking={"tokens": 200}) as daemon, daemon.client() as client:
        assert client.forget_session("boat", dry_run=True, agent="b")["heldAnswers"] == 1
        assert client.forget_session("boat", agent="b")["heldAnswers"] == 1
        assert not files_with_word()


def is_said(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in folder.rglob("*.md"))
