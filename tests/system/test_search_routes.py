"""`POST /v1/search` of the real daemon with the real model: cited hits, filters, deadlines and reindexing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.errors import Disabled
from memoryd.replies.search import HitReply, SearchReply
from tests.daemon import RunningDaemon, write_config
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

NOTES = {
    "MEMORY.md": "# Memory\n\n- The gateway runs on the Mac Studio called alder.\n",
    "memory/2026-10-06.md": "# Tuesday\n\nError GW-4172: a second process holds the lease.\n\n"
    "Baked a sourdough loaf for the neighbours.\n",
    "memory/2026-10-18.md": "# 星期日\n\n今天和文一起去海边的木屋，修好了屋顶的排水沟。\n",
    "memory/2026-11-02-trip.md": "# Trip\n\nThe gateway was slow from the train.\n",
    "bank/wen.md": "# Wen\n\nWen repairs wooden chairs and dislikes the gateway.\n",
    "bank/long.md": "# Long\n\n" + "".join(f"- Entry {number} about rope and tar.\n" for number in range(200)),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    """Run one daemon for all questions, which change nothing."""
    home = tmp_path_factory.mktemp("daemon")
    workspace = home / "workspace"
    for name, text in NOTES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    with RunningDaemon(home, write_config(home, workspace, starter_model), workspace) as running:
        assert running.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        yield running


@pytest.fixture
def client(daemon: RunningDaemon) -> Iterator[Client]:
    with Client(daemon.socket) as client:
        yield client


def paths(reply: SearchReply) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def assert_cites_the_file(hit: HitReply) -> None:
    lines = NOTES[hit["path"]].splitlines()
    assert 1 <= hit["startLine"] <= hit["endLine"] <= len(lines)
    text = hit["snippet"].partition("\n\nSource: ")[0]
    first, last = hit["snippetStartLine"], hit["snippetEndLine"]
    assert hit["startLine"] <= first <= last <= hit["endLine"]
    assert text in "\n".join(lines[first - 1 : last])


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("GW-4172", "memory/2026-10-06.md"),
        ("who made bread for people next door", "memory/2026-10-06.md"),
        ("海边的木屋", "memory/2026-10-18.md"),
        ("which computer hosts the gateway", "MEMORY.md"),
    ],
)
def test_right_note_ranks_first_and_every_hit_cites_its_lines(client: Client, question: str, path: str) -> None:
    reply = client.search(question)
    assert paths(reply)[0] == path
    for hit in reply["results"]:
        assert_cites_the_file(hit)
    assert reply["mode"] == "hybrid"
    assert reply["health"]["complete"]
    assert reply["verdict"] != "none"
    assert reply["provider"] == "local"
    scores = [hit["score"] for hit in reply["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_paths_filter_the_answer(client: Client) -> None:
    assert set(paths(client.search("gateway", paths=["bank"]))) <= {"bank/wen.md", "bank/long.md"}
    assert paths(client.search("gateway", paths=["memory/2026-11-*"])) == ["memory/2026-11-02-trip.md"]
    assert paths(client.search("gateway", paths=["MEMORY.md", "bank/wen.md"])).count("memory/2026-11-02-trip.md") == 0


def test_dates_filter_the_answer(client: Client) -> None:
    only = client.search("gateway lease loaf", since="2026-10-06", until="2026-10-06", paths=["memory"])
    assert set(paths(only)) == {"memory/2026-10-06.md"}
    assert set(paths(client.search("gateway", since="2026-11-01", paths=["memory"]))) == {"memory/2026-11-02-trip.md"}


def test_tiny_deadline_still_answers(client: Client) -> None:
    reply = client.search("which computer hosts the gateway", deadline_ms=1)
    assert reply["results"] or reply["reason"]
    assert set(reply["health"]["arms"]) == {"lexical", "vector"}


def test_word_is_found_in_any_case_and_with_accents(client: Client) -> None:
    for question in ("SOURDOUGH", "Söurdough", "sourdough loaves"):
        assert paths(client.search(question))[0] == "memory/2026-10-06.md"


def test_saved_note_is_found_by_words_first_and_by_meaning_soon(daemon: RunningDaemon, client: Client) -> None:
    note = daemon.workspace / "memory" / "ferry.md"
    note.write_text("# Harbour\n\nThe ferry to the island leaves at noon.\n")
    try:
        client.sync(wait="indexed")
        assert paths(client.search("ferry"))[0] == "memory/ferry.md"
        assert client.sync(wait="embedded")["complete"]
        assert paths(client.search("when does the boat depart"))[0] == "memory/ferry.md"
    finally:
        note.unlink()
        eventually(lambda: client.sync()["complete"] and "memory/ferry.md" not in paths(client.search("ferry")))


def test_reindex_does_not_change_answers(client: Client) -> None:
    def answer() -> list[tuple[str, float | None, float | None, str]]:
        hits = client.search("GW-4172", max_results=3)["results"]
        return [(str(hit["citation"]), hit["vectorScore"], hit["textScore"], hit["snippet"]) for hit in hits]

    before = answer()
    client.reindex(force=True)
    assert client.sync(wait="embedded")["complete"]
    assert answer() == before
    client.reindex(embeddings=True)
    assert client.sync(wait="embedded", timeout_ms=90_000)["complete"]
    assert answer() == before


def test_words_only_search_is_complete_when_configured(tmp_path: Path, workspace: Path) -> None:
    config = write_config(tmp_path, workspace, None)
    with RunningDaemon(tmp_path, config, workspace) as running, Client(running.socket) as client:
        client.sync()
        reply = client.search("GW-4172")
        assert reply["mode"] == "lexical"
        assert reply["provider"] == "none"
        assert reply["model"] is None
        assert reply["health"]["complete"]
        assert not client.sync(wait="embedded")["complete"], "without a provider"
        assert client.status()["agents"][0]["degraded"] == []


def test_disabled_agent_beside_an_enabled_one(tmp_path: Path, workspace: Path) -> None:
    agents: list[dict[str, object]] = [
        {"id": "off", "default": False, "memorySearch": {"enabled": False, "provider": "openai"}},
        {"id": "on"},
    ]
    with daemon_of_agents(tmp_path, agents, workspace) as running, Client(running.socket) as client:
        client.sync()
        assert client.search("GW-4172", agent="on")["results"]
        assert {agent["id"]: agent["embedding"]["provider"] for agent in client.status()["agents"]} == {
            "on": "none",
            "off": "none",
        }
        # nobody embeds, now or later, so nothing is pending
        for agent in ("on", None):
            with pytest.raises(Disabled):
                client.reindex(embeddings=True, agent=agent)
        client.reindex(force=True)
        for ask in (
            lambda: client.search("GW-4172", agent="off"),
            lambda: client.get("MEMORY.md", agent="off"),
            lambda: client.recall("GW-4172", agent="off"),
            lambda: client.start_session("agent:off:main"),
        ):
            with pytest.raises(Disabled):
                ask()
