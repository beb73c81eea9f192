"""Entities under the real daemon: listed, shown, merged, split and undone, without changing other bytes of a page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents, socket_of, with_socket
from tests.system.test_opinions_command import write_logs

PAGE = "\ufeff---\r\n# whose\r\ntitle: Peter # he\r\naliases: [ P ]\r\n---\r\n# Peter\r\n\r\nA friend.".encode()
LINES = [
    ("01-01", "W @Peter: lives in Graz"),
    ("01-02", "O(c=0.8) @Pete: prefers tea"),
    ("01-03", "W @[Room 101]: is warm"),
    ("01-04", "W @[Room 102]: is cold"),
    ("01-05", "W(scope=agent:beta) @Zinnober: is secret"),
    ("01-05", "W(scope=agent:beta) @Pete: has a secret"),
    ("01-06", "W @Anna: called"),
]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    write_logs(workspace, LINES)
    (workspace / "MEMORY.md").write_text("# Memory\n")
    (workspace / "bank" / "entities").mkdir(parents=True)
    (workspace / "bank" / "entities" / "peter.md").write_bytes(PAGE)
    agents = [{**with_socket(tmp_path, "alpha"), "default": True}, {"id": "beta"}]
    with daemon_of_agents(tmp_path, agents, workspace) as running:
        running.client().sync()
        yield running


def entities(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> Any:
    result = daemon.memoryctl("entities", *arguments, "--json")
    assert result.returncode == expected, result.stderr + result.stdout
    return json.loads(result.stdout)


def page(daemon: RunningDaemon, name: str = "peter") -> Path:
    return daemon.workspace / "bank" / "entities" / f"{name}.md"


def test_links_count_only_visible_memories(daemon: RunningDaemon) -> None:
    write_logs(
        daemon.workspace, [("02-01", "W @P @Anna: met"), ("02-02", "W(scope=agent:beta) @Peter @Anna @Zoe: met")]
    )
    client = daemon.client()
    client.sync()
    for agent, links in (
        ("alpha", [("anna", "peter", 1)]),
        ("beta", [("anna", "peter", 2), ("anna", "zoe", 1), ("peter", "zoe", 1)]),
    ):
        found = client.call("GET", f"/entities/peter/links?agent={agent}")
        assert [(link["one"], link["other"], link["memories"]) for link in found["links"]] == links, agent
        assert [entity["name"] for entity in found["entities"]] == ["Peter", "Anna", "Zoe"][: found["total"] + 1]
    (only,) = client.call("GET", "/entities/peter/links?agent=beta&limit=1")["links"]
    assert only["other"] == "peter"


def test_entities_are_paged_and_searched_by_any_name(daemon: RunningDaemon) -> None:
    client = daemon.client()
    first = client.call("GET", "/entities?limit=2&agent=beta")
    rest = client.call("GET", f"/entities?agent=beta&after={first['next']}")
    assert [entity["slug"] for entity in (*first["entities"], *rest["entities"])] == [
        entity["slug"] for entity in client.entities(agent="beta")["entities"]
    ]
    assert (first["total"], rest["next"]) == (rest["total"], None)
    named = client.call("GET", "/entities?query=oom+10&agent=alpha")
    assert [entity["name"] for entity in named["entities"]] == ["Room 101", "Room 102"]
    assert client.call("GET", "/entities?query=zinn&agent=alpha")["total"] == 0


def test_merge_show_split_and_undo(daemon: RunningDaemon) -> None:
    logs = {path: path.read_bytes() for path in (daemon.workspace / "memory").iterdir()}
    assert {entity["name"] for entity in entities(daemon, "list")["entities"]} >= {
        "Peter",
        "Pete",
        "Room 101",
        "Room 102",
    }
    dry = daemon.memoryctl("entities", "merge", "Pete", "into", "Peter", "--dry-run")
    assert "+aliases: [ P, Pete ]" in dry.stdout
    assert page(daemon).read_bytes() == PAGE
    merged = entities(daemon, "merge", "Pete", "INTO", "peter")
    assert merged["written"]
    assert page(daemon).read_bytes() == PAGE.replace(b"[ P ]", b"[ P, Pete ]")
    assert entities(daemon, "merge", "pete", "Peter")["written"] is False
    shown = entities(daemon, "show", "Pete")
    assert (shown["name"], shown["aliases"], shown["page"]) == ("Peter", ["P", "Pete"], "bank/entities/peter.md")
    assert [memory["content"] for memory in shown["memories"]] == ["prefers tea", "lives in Graz"]
    assert (shown["memoryCount"], shown["opinionCount"]) == (2, 1)
    assert (shown["firstSeen"], shown["lastSeen"]) == ("2026-01-01", "2026-01-02")
    assert shown["opinions"][0]["confidence"] == 0.8
    assert "Pete" not in {entity["name"] for entity in entities(daemon, "list")["entities"]}
    text = daemon.memoryctl("entities", "show", "peter").stdout
    assert "Peter  2 memories  2026-01-01 to 2026-01-02  also P, Pete" in text
    assert "0.80  @Pete: prefers tea" in text
    assert entities(daemon, "split", "PETE")["written"]
    assert page(daemon).read_bytes() == PAGE
    assert [memory["content"] for memory in entities(daemon, "show", "Peter")["memories"]] == ["lives in Graz"]
    again = entities(daemon, "merge", "Pete", "Peter")
    result = daemon.memoryctl("undo", str(again["change"]))
    assert result.returncode == Exit.DONE, result.stderr
    assert page(daemon).read_bytes() == PAGE
    assert {path: path.read_bytes() for path in logs} == logs


def test_page_is_created_by_merge_and_removed_by_split(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("entities", "merge", "Annie", "into", "anna")
    assert result.stdout == "Annie is an alias of Anna\n", result.stderr
    assert page(daemon, "anna").read_text() == "---\naliases:\n  - Annie\n---\n# Anna\n"
    assert entities(daemon, "show", "annie")["name"] == "Anna"
    assert entities(daemon, "split", "Annie")["change"]
    assert not page(daemon, "anna").exists()
    listed = daemon.memoryctl("changes").stdout
    assert "an alias was added" in listed
    assert "an alias was taken out" in listed


def test_invalid_merge_is_refused_and_writes_nothing(daemon: RunningDaemon) -> None:
    with daemon.client() as client:
        for name, into in (("Peter", "Peter"), ("Room 101", "P"), ("Pete", "Nobody"), ("P", "Anna")):
            with pytest.raises(InvalidRequest):
                client.merge_entity(name, into)
        with pytest.raises(NotFound):
            client.split_entity("Room 101")
        with pytest.raises(NotFound):
            client.entity("nobody/../x")
        page(daemon).write_bytes(b"---\naliases: {a: b}\n---\n# Peter\n")
        client.sync()
        with pytest.raises(InvalidRequest, match="by hand"):
            client.merge_entity("Pete", "Peter")
        page(daemon).write_bytes(b"# Peter Smith\n")
        client.sync()
        with pytest.raises(InvalidRequest, match="page of 'Peter Smith'"):
            client.merge_entity("Pete", "Peter")
        assert page(daemon).read_bytes() == b"# Peter Smith\n"
    assert daemon.memoryctl("entities", "merge", "a", "b", "c", "d").returncode == Exit.USAGE
    assert {path.name for path in page(daemon).parent.iterdir()} == {"peter.md"}


def test_agent_sees_no_entity_of_another_and_merges_none(daemon: RunningDaemon, tmp_path: Path) -> None:
    with Client(socket_of(tmp_path, "alpha")) as alpha:
        key = "agent:alpha:telegram:direct:42"
        assert "Zinnober" not in str(alpha.entities(session_key=key))
        assert "secret" not in str(alpha.entity("Pete", session_key=key))
        with pytest.raises(NotFound):
            alpha.entity("Zinnober", session_key=key)
        with pytest.raises(Denied):
            alpha.merge_entity("Pete", "Peter")
        with pytest.raises(Denied):
            alpha.split_entity("P")
