"""Several agents on one workspace: each finds what its own settings let it find, at once, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.errors import NotFound
from tests.daemon import RunningDaemon
from tests.waiting import eventually

EVENTS_ONLY = {"watchDebounceMs": 30, "settleMs": 20, "reconcileSeconds": 3600, "onSearch": False}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """`a` has a private folder besides, `b` only the notes, `c` the notes without the core file."""
    workspace = tmp_path / "workspace"
    for folder in (workspace / "memory", tmp_path / "private"):
        folder.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The gateway runs on alder.\n")
    (workspace / "memory" / "first.md").write_text("The gateway was restarted.\n")
    (tmp_path / "private" / "diary.md").write_text("The gateway and the kreuzspinne.\n")
    search = {"provider": "none", "sync": EVENTS_ONLY}
    listed = [
        {"id": "a", "memorySearch": {"extraPaths": ["../private"]}},
        {"id": "b"},
        {"id": "c", "memorySearch": {"exclude": ["MEMORY.md"], "query": {"maxResults": 1}}},
    ]
    config = tmp_path / "config.json5"
    agents = {"defaults": {"workspace": str(workspace), "memorySearch": search}, "list": listed}
    config.write_text(json.dumps({"agents": agents}))
    with RunningDaemon(tmp_path, config, workspace) as running:
        running.client().sync()
        yield running


def paths(client: Client, agent: str, query: str = "gateway") -> set[str]:
    return {hit["path"] for hit in client.search(query, agent=agent, max_results=20)["results"]}


def test_f145_agent_finds_and_reads_what_its_own_settings_index(daemon: RunningDaemon) -> None:
    """Each agent finds and reads what its settings index, and what they do not is not found."""
    client = daemon.client()
    assert paths(client, "a") == {"MEMORY.md", "memory/first.md", "../private/diary.md"}
    assert paths(client, "b") == {"MEMORY.md", "memory/first.md"}
    assert paths(client, "c") == {"memory/first.md"}
    assert client.get("../private/diary.md", agent="a")["text"]
    for agent, path in (("b", "../private/diary.md"), ("c", "../private/diary.md"), ("c", "MEMORY.md")):
        with pytest.raises(NotFound):
            client.get(path, agent=agent)


def test_every_agent_hears_of_a_change(daemon: RunningDaemon) -> None:
    client = daemon.client()
    eventually(lambda: all(agent["watcher"]["ok"] for agent in client.status()["agents"]))
    (daemon.workspace / "memory" / "new.md").write_text("The hearthstone is slate.\n")
    eventually(lambda: all(paths(client, agent, "hearthstone") == {"memory/new.md"} for agent in "abc"))


@pytest.mark.parametrize(("forgets", "imports"), [("a", "c"), ("c", "a")])
def test_what_one_agent_forgot_none_of_the_workspace_brings_back(
    daemon: RunningDaemon, forgets: str, imports: str
) -> None:
    with daemon.client() as client:
        assert daemon.agent(2)["database"] != daemon.agent()["database"]
        client.retain("W @Home: the door code is 4711", agent="a")
        client.sync()
        client.forget("the door code is 4711", agent=forgets)
        reply = client.import_memories([{"text": "the door code is 4711"}], run="a" * 32, agent=imports)
    assert not any("4711" in path.read_text() for path in daemon.workspace.rglob("*.md"))
    assert "forgotten" in json.dumps(reply)


def test_mark_of_an_agent_outlasts_that_it_gets_an_index_and_a_ledger_of_its_own(tmp_path: Path) -> None:
    key, config = "agent:b:telegram:direct:one", tmp_path / "config.json5"
    (tmp_path / "workspace" / "memory").mkdir(parents=True)

    def started(*others: str, **own: object) -> RunningDaemon:
        defaults = {"workspace": str(tmp_path / "workspace"), "memorySearch": {"provider": "none"}}
        listed = [*({"id": one} for one in others), {"id": "b", "memorySearch": own}]
        config.write_text(json.dumps({"agents": {"defaults": defaults, "list": listed}}))
        return RunningDaemon(tmp_path, config, tmp_path / "workspace")

    with started("a") as daemon, daemon.client() as client:
        client.remember_session(session_key=key, agent="b")
    with started("a", chunking={"tokens": 200}) as daemon, daemon.client() as client:
        first, second = (agent["database"]["path"] for agent in client.status()["agents"])
        assert first != second
        for said, session_key in (("My locker number is 4417.", key), ("I live in Linz.", f"{key}-more")):
            client.turn(said, session_key=session_key, agent="b")
        eventually(lambda: is_said(tmp_path, b"Linz"))
        assert not is_said(tmp_path, b"4417")
        client.remember_session(session_key=f"{key}-more", agent="b")
    # alone now, it has the ledger that was shared
    with started(chunking={"tokens": 200}) as daemon, daemon.client() as client:
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


def test_session_is_forgotten_in_the_ledger_that_an_agent_had_before_too(tmp_path: Path) -> None:
    config = tmp_path / "config.json5"
    (tmp_path / "workspace" / "memory").mkdir(parents=True)

    def started(**own: object) -> RunningDaemon:
        defaults = {"workspace": str(tmp_path / "workspace"), "memorySearch": {"provider": "none"}}
        listed = [{"id": "a"}, {"id": "b", "memorySearch": own}]
        config.write_text(json.dumps({"agents": {"defaults": defaults, "list": listed}}))
        return RunningDaemon(tmp_path, config, tmp_path / "workspace")

    def holding() -> list[Path]:
        return [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]

    with started() as daemon, daemon.client() as client:
        client.add_turn("And who knows of it?", "hm, zanzibar", session="boat", significance=0.0, agent="b")
        assert holding()
    with started(chunking={"tokens": 200}) as daemon, daemon.client() as client:
        assert client.forget_session("boat", dry_run=True, agent="b")["heldAnswers"] == 1
        assert client.forget_session("boat", agent="b")["heldAnswers"] == 1
        assert not holding()


def is_said(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in folder.rglob("*.md"))
