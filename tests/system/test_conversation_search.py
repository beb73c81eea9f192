"""Search in conversations by the real daemon: found when asked for, cited by line, and separate from notes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.domain.documents import parse
from memoryd.replies.search import SearchReply
from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.integration.qmd_standin import LEASE, StandIn
from tests.system.qmd_daemon import wait_for_qmd, with_qmd
from tests.waiting import eventually

KEY = "agent:main:telegram:direct:anna"
TURNS = (
    ("What about the roof?", "The roof is fine, because the tiles were replaced in May."),
    ("Who repaired the boiler?", "Tom repaired the boiler on Tuesday: first drain it, then replace the valve."),
    ("海边的锅炉怎么样？", "锅炉坏了，因为阀门漏水。先放水，然后换阀门。"),
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("conversations")
    workspace = write_workspace(home / "workspace")
    (workspace / "memory" / "boiler.md").write_text("# Boiler\n\nThe boiler was bought in 2019.\n")
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as running:
        client = running.client()
        for question, answer in TURNS:
            client.add_turn(question, answer, session_key=KEY, significance=0.9)
        client.sync()
        eventually(lambda: search_sessions(client, "锅炉").get("results"))
        yield running


@pytest.fixture
def client(daemon: RunningDaemon) -> Iterator[Client]:
    with daemon.client() as client:
        yield client


def search_sessions(client: Client, question: str, *sources: str, explain: bool = False) -> SearchReply:
    return client.search(question, sources=list(sources or ("sessions",)), explain=explain, max_results=10)


@pytest.mark.parametrize(
    ("question", "seq"), [("who repaired the boiler", 2), ("the tiles of the roof", 1), ("锅炉为什么坏了", 3)]
)
def test_turn_is_found_and_cited(client: Client, question: str, seq: int) -> None:
    hit = search_sessions(client, question)["results"][0]
    assert hit["source"] == "sessions"
    assert hit["citation"].endswith(f"#Q{seq}")
    cited = parse(hit["citation"])
    session = client.qa_session(cited.path.removeprefix("session:"), seq=str(seq))
    (turn,) = session["sequence"]
    assert turn["citation"] == hit["citation"]
    assert turn["q"] in hit["snippet"]
    assert (cited.start_line, cited.end_line) == (2 * seq - 1, 2 * seq)
    assert hit["focus"] == {"startLine": 2 * seq - 1, "endLine": 2 * seq}


def test_conversations_are_not_searched_by_default(client: Client) -> None:
    reply = client.search("who repaired the boiler")
    assert {hit["path"] for hit in reply["results"]} == {"memory/boiler.md"}
    assert "conversations" not in reply["health"]["arms"]
    assert {hit["source"] for hit in client.search("source:sessions boiler")["results"]} == {"sessions"}


def test_notes_and_conversations_are_found_and_explained(client: Client) -> None:
    reply = search_sessions(client, "who repaired the boiler", "memory", "sessions", explain=True)
    assert [hit["source"] for hit in reply["results"]][:2] == ["sessions", "memory"]
    assert reply["health"]["arms"]["conversations"] == {"state": "ok", "reason": None}
    assert reply["explain"]["question"]["sources"] == ["memory", "sessions"]
    notes, talks = reply["explain"]["floors"], reply["explain"]["conversationFloors"]
    assert notes is not None
    assert talks is not None
    assert notes["weights"].keys() == talks["weights"].keys() == {"repaired", "boiler"}
    assert all("by words" in hit["explain"]["because"] for hit in reply["results"][:2])


def test_empty_answer_gives_a_reason_for_each_source(client: Client) -> None:
    reason = search_sessions(client, "quetzal", "memory", "sessions")["reason"] or ""
    assert reason.startswith("nothing in the notes matches; nothing in the conversations matches")
    assert "sessionMemory" in reason
    assert "notes" not in (search_sessions(client, "quetzal")["reason"] or "")


def test_command_searches_the_given_sources(daemon: RunningDaemon) -> None:
    result = daemon.memoryctl("search", "who repaired the boiler", "--sources", "sessions", "--json")
    (hit,) = json.loads(result.stdout)["results"]
    shown = daemon.memoryctl("search", "who", "repaired", "the", "boiler", "--source", "sessions")
    assert f"1. {hit['citation']}" in shown.stdout
    opened = daemon.memoryctl("get", hit["citation"])
    assert opened.stdout.startswith("User: Who repaired the boiler?\nAssistant: Tom repaired the boiler on Tuesday")
    assert opened.stdout.count("\n") == 2
    with daemon.client() as client:
        assert client.get(hit["citation"])["text"] == opened.stdout


def configured(home: Path, sources: list[str], **search: object) -> Path:
    workspace = write_workspace(home / "workspace")
    return write_config(home, workspace, None, search={"sources": sources, **search})


def test_configured_sources_are_searched(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, configured(tmp_path, ["sessions"]), tmp_path / "workspace") as running:
        client = running.client()
        client.add_turn("Which machine is called alder?", session_key=KEY)
        eventually(lambda: client.search("alder")["results"])
        reply = client.search("alder gateway")
        assert {hit["source"] for hit in reply["results"]} == {"sessions"}
        assert {hit["source"] for hit in client.search("alder", sources=["memory"])["results"]} == {"memory"}
        assert {hit["source"] for hit in client.search("source:memory alder")["results"]} == {"memory"}
        client.close()


def test_disabled_conversations_name_the_setting(tmp_path: Path) -> None:
    config = configured(tmp_path, ["memory", "sessions"])
    settings = json.loads(config.read_text())
    config.write_text(json.dumps({**settings, "memory": {"qa": {"enabled": False}}}))
    with RunningDaemon(tmp_path, config, tmp_path / "workspace") as running:
        client = running.client()
        client.sync()
        reply = client.search("alder")
        assert [hit["path"] for hit in reply["results"]] == ["MEMORY.md"]
        assert reply["health"]["arms"]["conversations"]["state"] == "off"
        assert reply["health"]["complete"]
        assert "memory.qa.enabled" in (search_sessions(client, "alder")["reason"] or "")
        client.close()


def transcript(*messages: tuple[str, str]) -> str:
    """Return lines of Claude Code: messages, each followed by tool results, which are not indexed."""
    records: list[object] = []
    for role, text in messages:
        records.append({"type": role, "message": {"role": role, "content": text}, "timestamp": "2026-11-01T10:00:00Z"})
        result = {"type": "tool_result", "tool_use_id": "t", "content": "wombat"}
        records += [{"type": "user", "message": {"role": "user", "content": [result]}}] * 3
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_transcript_lines_are_found_and_cited(tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    talk = [("user", "Where does the heron stand?"), ("assistant", "It stands at the weir."), ("user", "And the owl?")]
    (folder / "0d9f.jsonl").write_text(transcript(*talk))
    config = configured(tmp_path, ["memory", "sessions"], experimental={"sessionMemory": True})
    folder_config = {"path": str(folder), "agent": "main", "format": "claude-code"}
    config.write_text(
        json.dumps({**json.loads(config.read_text()), "memory": {"sessions": {"folders": [folder_config]}}})
    )
    with RunningDaemon(tmp_path, config, tmp_path / "workspace") as running:
        client = running.client()
        eventually(lambda: client.search("heron")["results"])
        (hit,) = client.search("where does the heron stand")["results"]
        assert (hit["path"], hit["source"]) == ("sessions/main/0d9f.jsonl", "sessions")
        assert hit["citation"] == "sessions/main/0d9f.jsonl#L1-L5"
        assert hit["snippet"].startswith("User: Where does the heron stand?\nAssistant: It stands at the weir.\n")
        assert hit["snippetLines"] == [1, 5, 9]
        (owl,) = client.search("owl", paths=["sessions/main/*.jsonl"])["results"]
        assert owl["citation"] == "sessions/main/0d9f.jsonl#L9"
        assert not [miss for miss in client.search("wombat")["results"] if miss["verdict"] != "none"]
        assert not client.search("heron", since="2026-11-02", sources=["sessions"])["results"]
        assert client.search("heron", since="2026-11-01", sources=["sessions"])["results"]
        client.close()


def test_conversation_is_found_by_meaning(tmp_path: Path, starter_model: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace")
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, starter_model), workspace) as running:
        client = running.client()
        client.add_turn("How do I make the puppy stop barking at night?", session_key=KEY)
        client.add_turn("Which screws hold the shelf?", session_key=f"{KEY}:2")
        client.sync(wait="embedded")
        # the turn has no word of the question
        question = "calm a noisy young dog after dark"
        eventually(lambda: _has_meaning(search_sessions(client, question, "memory", "sessions")))
        reply = search_sessions(client, question, "memory", "sessions", explain=True)
        assert reply["mode"] == "hybrid"
        assert reply["results"][0]["source"] == "sessions"
        assert "puppy" in reply["results"][0]["snippet"]
        assert {hit["source"] for hit in reply["results"]} == {"memory", "sessions"}
        client.close()


def test_turn_continues_a_conversation_found_by_meaning(tmp_path: Path, starter_model: Path) -> None:
    workspace = write_workspace(tmp_path / "workspace")
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, starter_model), workspace) as running:
        client = running.client()
        dog = client.add_turn("How do I make the puppy stop barking at night?", session_key=KEY)
        client.add_turn("Which screws hold the shelf?", session_key=f"{KEY}:2")
        client.sync(wait="embedded")
        # the turn has no word of the question
        question = "calm a noisy young dog after dark"

        def recalled_questions() -> set[str]:
            context = client.qa_context(message=question, session_key=f"{KEY}:3")
            return {turn["q"] for turn in context["sequence"]}

        eventually(lambda: recalled_questions() == {"How do I make the puppy stop barking at night?"})
        reply = client.turn(question, session_key=f"{KEY}:3")
        assert f"{dog['session']}" in reply["context"]
        assert "barking" in reply["context"]
        assert client.turn("what is 17 times 23?", session_key=f"{KEY}:4")["context"] == ""
        client.close()


def _has_meaning(reply: SearchReply) -> bool:
    hits = [hit for hit in reply["results"] if hit["source"] == "sessions"]
    state = reply["health"]["arms"]["conversations"]["state"]
    return state == "ok" and len(hits) == 2 and all(hit["vectorScore"] is not None for hit in hits)


def test_conversations_are_merged_with_hits_of_qmd(tmp_path: Path, workspace: Path) -> None:
    standin = StandIn(tmp_path / "standin")
    standin.behave(results=[LEASE])
    limits = {"maxInjectedChars": 400, "maxSnippetChars": 300}
    with with_qmd(tmp_path, workspace, command=str(standin.program), limits=limits) as running:
        wait_for_qmd(running)
        client = running.client()
        client.add_turn("Which process held the lease GW-4172?", "The backup job.", session_key=KEY, significance=0.9)
        eventually(lambda: search_sessions(client, "lease")["results"])
        reply = search_sessions(client, "lease GW-4172", "memory", "sessions", explain=True)
        assert reply["backend"] == "qmd"
        assert {hit["source"] for hit in reply["results"]} == {"memory", "sessions"}
        assert all(hit["verdict"] == "answerable" for hit in reply["results"][:2])
        assert sum(len(hit["snippet"]) for hit in reply["results"]) <= 400
        assert reply["explain"]["floors"] is None
        assert reply["explain"]["conversationFloors"] is not None
        assert reply["health"]["arms"]["conversations"]["state"] == "ok"
        alone = search_sessions(client, "lease GW-4172")
        assert (alone["backend"], [hit["source"] for hit in alone["results"]]) == ("builtin", ["sessions"])
        client.close()
