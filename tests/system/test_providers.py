"""The real daemon with an embedding endpoint: outages, changes of provider, fallback, budget and status."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.domain.text.tokens import estimate
from memoryd.replies.search import SearchReply
from memoryd.replies.status import AgentStatus
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon, write_config
from tests.embedding_endpoint import TEXT_REFUSAL, Endpoint
from tests.hasty import HASTY
from tests.system.agents import daemon_of_agents
from tests.system.test_memoryctl import ask as ask_memoryctl
from tests.waiting import eventually

NOTES = 900
KEY = "sk-secret-of-the-test-4711"
DEADLINE_MS = 2000


def remote(endpoint: Endpoint, **more: object) -> dict[str, object]:
    access = {"baseUrl": endpoint.url, "apiKey": KEY, **more}
    return {"provider": "openai", "model": "test-model", "remote": access}


def running(
    home: Path, workspace: Path, search: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> RunningDaemon:
    return RunningDaemon(
        home, write_config(home, workspace, None, search=search), workspace, environment=environment, program=HASTY
    )


def is_embedded(daemon: RunningDaemon) -> bool:
    agent = daemon.agent()
    return agent["passages"] > 0 and agent["embedded"] == agent["passages"] and not agent["pendingFiles"]


def ask(daemon: RunningDaemon, question: str = "GW-4172 lease") -> SearchReply:
    """Ask, and check the deadline whatever the endpoint does."""
    began = time.monotonic()
    with Client(daemon.socket) as client:
        reply = client.search(question, deadline_ms=DEADLINE_MS)
    assert time.monotonic() - began < DEADLINE_MS / 1000 + 0.5
    return reply


def write_notes(workspace: Path, count: int) -> None:
    for number in range(count):
        note = workspace / "memory" / f"note-{number}.md"
        note.write_text(f"# Note {number}\n\nThe machine number {number} stands in room {number % 7}.\n")


def paid_twice(endpoint: Endpoint) -> dict[str, int]:
    """Return the notes, but no questions or probes, that were embedded more than once."""
    counts = Counter(text for text in endpoint.texts() if "\n" in text)
    return {text: count for text, count in counts.items() if count > 1}


def test_f074_endpoint_that_answers_with_zeros_is_not_used(tmp_path: Path, workspace: Path) -> None:
    """Vectors of zeros count as a failure: replies go by words with the reason, and notes stay pending."""
    with Endpoint(tmp_path) as endpoint, running(tmp_path, workspace, remote(endpoint) | {"model": "zeros"}) as daemon:
        eventually(lambda: ask(daemon)["health"]["arms"]["vector"]["state"] == "failed")
        reply = ask(daemon)
        assert (reply["mode"], reply["health"]["complete"]) == ("lexical", False)
        assert "zeros" in str(reply["health"]["arms"]["vector"]["reason"])
        assert reply["results"]
        assert daemon.agent()["pendingEmbeddings"], "notes wait for a working endpoint"


@pytest.mark.torture
def test_endpoint_killed_while_indexing(tmp_path: Path, workspace: Path) -> None:
    write_notes(workspace, NOTES)
    with Endpoint(tmp_path, delay=0.4) as endpoint, running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: len(endpoint.texts()) > 300, step=0.02)
        endpoint.kill()
        answered = len(endpoint.texts())
        assert answered < NOTES
        daemon.client().sync(wait="indexed")
        for number in range(3):
            reply = ask(daemon, f"machine number {number}")
            assert reply["results"], "words still answer"
        eventually(lambda: daemon.agent()["degraded"])
        (workspace / "memory" / "late.md").write_text("# Late\n\nThe heron nests by the sluice.\n")
        daemon.client().sync(wait="indexed")
        assert ask(daemon, "heron sluice")["results"][0]["path"] == "memory/late.md"
        endpoint.start()
        eventually(lambda: is_embedded(daemon))
        assert ask(daemon, "heron sluice")["mode"] == "hybrid"
        eventually(lambda: not daemon.degraded())
        assert len(endpoint.texts()) > answered
        assert not paid_twice(endpoint)


def test_endpoint_killed_between_questions(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    with running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: is_embedded(daemon))
        assert ask(daemon)["mode"] == "hybrid"
        endpoint.kill()
        for number in range(4):
            reply = ask(daemon, f"GW-4172 lease {number}")
            assert reply["mode"] == "lexical"
            assert reply["results"][0]["path"] == "memory/2026-10-06.md"
            assert not reply["health"]["complete"]
            assert reply["health"]["arms"]["vector"].get("reason")
        began = time.monotonic()
        eventually(lambda: str(endpoint.port) in (ask(daemon)["health"]["arms"]["vector"].get("reason") or ""))
        assert time.monotonic() - began < DEADLINE_MS / 1000 * 3, "a known outage is not waited for"
        endpoint.start()
        eventually(lambda: ask(daemon)["mode"] == "hybrid", seconds=90, step=0.5)


def test_hanging_endpoint_costs_its_arm_but_not_the_answer(tmp_path: Path, workspace: Path) -> None:
    with Endpoint(tmp_path) as endpoint, running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: is_embedded(daemon))
        endpoint.kill()
        endpoint.delay = 30
        endpoint.start()
        for _ in range(3):
            reply = ask(daemon)
            assert reply["mode"] == "lexical"
            assert reply["results"]


def test_endpoint_missing_at_start_is_found_later(tmp_path: Path, workspace: Path) -> None:
    endpoint = Endpoint(tmp_path)
    with running(tmp_path, workspace, remote(endpoint)) as daemon:
        daemon.client().sync(wait="indexed")
        assert ask(daemon)["results"]
        eventually(lambda: daemon.agent()["embedder"]["state"] == "failed")
        with endpoint:
            eventually(lambda: is_embedded(daemon))
            assert ask(daemon)["mode"] == "hybrid"


def test_new_model_or_dimensions_embed_again_but_not_new_headers(
    tmp_path: Path, workspace: Path, endpoint: Endpoint
) -> None:
    def embed(search: Mapping[str, object]) -> int:
        before = len([text for text in endpoint.texts() if "\n" in text])
        with running(tmp_path, workspace, search) as daemon:
            daemon.client().sync(wait="indexed")
            assert ask(daemon)["results"], "search works meanwhile"
            eventually(lambda: is_embedded(daemon))
            assert ask(daemon)["mode"] == "hybrid"
        return len([text for text in endpoint.texts() if "\n" in text]) - before

    plain = remote(endpoint)
    first = embed(plain)
    assert first > 0
    assert embed(remote(endpoint, headers={"X-Project": "other"}, apiKey="another-key")) == 0
    last = endpoint.requests()[-1]["headers"]
    assert last["x-project"] == "other"
    assert last["authorization"] == "Bearer another-key"
    assert embed(plain | {"model": "other-model"}) == first
    assert embed(plain | {"outputDimensionality": 32}) == first
    assert embed(plain) == 0, "the first vectors are still there"
    moved = endpoint.url.replace("127.0.0.1", "localhost")
    assert embed(remote(endpoint, baseUrl=moved)) == first


def test_fallback_answers_until_the_provider_returns(
    tmp_path: Path, workspace: Path, starter_model: Path, endpoint: Endpoint
) -> None:
    local = {"modelPath": str(starter_model), "threads": 1}
    with running(tmp_path, workspace, remote(endpoint) | {"fallback": "local", "local": local}) as daemon:
        eventually(lambda: is_embedded(daemon))
        assert daemon.agent()["embedder"]["worker"] is None, "the fallback is not started before it is needed"
        endpoint.kill()

        def is_fallback() -> bool:
            assert ask(daemon)["results"]
            return daemon.agent()["fallback"] is not None

        eventually(is_fallback, seconds=60, step=0.5)
        eventually(lambda: is_embedded(daemon))
        reply: Any = ask(daemon, "who runs the gateway?")
        assert (reply["provider"], reply["mode"]) == ("local", "hybrid")
        assert reply["fallback"]["from"] == "openai"
        assert reply["fallback"]["since"]
        assert str(endpoint.port) in reply["fallback"]["reason"]
        assert any(part["part"] == "provider" for part in daemon.agent()["degraded"])
        sent = len(endpoint.texts())
        endpoint.start()
        eventually(lambda: daemon.agent()["fallback"] is None, seconds=120, step=0.5)
        reply = ask(daemon)
        assert (reply["provider"], reply["fallback"]) == ("openai", None)
        eventually(lambda: is_embedded(daemon))
        assert not [text for text in endpoint.texts()[sent:] if "\n" in text], "the first vectors were kept"


def test_status_shows_rule_destination_and_cost_but_no_secret(
    tmp_path: Path, workspace: Path, endpoint: Endpoint
) -> None:
    search = remote(endpoint, headers={"X-Token": KEY}) | {"sync": {"paused": True}}
    with running(tmp_path, workspace, search) as daemon:
        daemon.client().sync(wait="indexed")
        eventually(lambda: daemon.agent()["pendingEmbeddings"] > 0, step=0.02)
        agent: Any = daemon.agent()
        embedding = agent["embedding"]
        assert embedding["rule"] == "memorySearch.provider names openai"
        assert embedding["paused"]
        assert embedding["remote"]["destination"] == f"127.0.0.1:{endpoint.port}"
        assert embedding["remote"]["outstanding"]["files"] == agent["files"] == 3
        assert embedding["remote"]["outstanding"]["tokens"] > 10
        reply = ask(daemon)
        assert reply["results"]
        sent = "".join(endpoint.texts())
        assert "gateway" not in sent, "paused: no note is sent"
        assert "GW-4172" not in sent, "nor a question, while there are no vectors"
        daemon.client().sync(wait="embedded")
        assert is_embedded(daemon), "embedded on request"
        assert "gateway" in "".join(endpoint.texts())
        embedding = daemon.agent()["embedding"]
        assert embedding["remote"] is not None
        assert embedding["remote"]["outstanding"] == dict.fromkeys(
            ("files", "passages", "tokens", "media", "mediaBytes"), 0
        )
        assert embedding["remote"]["sentToday"] > 10
        assert KEY not in json.dumps(daemon.client().status())
    assert KEY not in daemon.log.read_text()


def test_daily_budget_delays_notes(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    write_notes(workspace, 60)
    with running(tmp_path, workspace, remote(endpoint, tokensPerDay=300)) as daemon:
        daemon.client().sync(wait="indexed")
        eventually(lambda: "tokensPerDay" in str(daemon.degraded()))
        agent = daemon.agent()
        assert 0 < agent["embedded"] < agent["passages"]
        embedding = agent["embedding"]
        assert embedding["remote"] is not None
        spent = embedding["remote"]["sentToday"]
        assert spent <= 300
        assert ask(daemon)["results"]
    embedded = len(endpoint.texts())
    with running(tmp_path, workspace, remote(endpoint, tokensPerDay=300)) as daemon:
        eventually(lambda: "tokensPerDay" in str(daemon.degraded()))
    assert len(endpoint.texts()) <= embedded + 3, "a restart does not reset the budget"


def agents_of(daemon: RunningDaemon) -> dict[str, AgentStatus]:
    with Client(daemon.socket) as client:
        return {agent["id"]: agent for agent in client.status()["agents"]}


def several(home: Path, search: Mapping[str, object], entries: Mapping[str, Mapping[str, object]]) -> RunningDaemon:
    """Return a daemon of several agents, each with its own workspace."""
    for name in entries:
        (home / name / "memory").mkdir(parents=True)
    listed = [{"id": name, "workspace": str(home / name), **entry} for name, entry in entries.items()]
    return daemon_of_agents(home, listed, search=search)


def test_unusable_index_of_one_agent_does_not_affect_others(tmp_path: Path, endpoint: Endpoint) -> None:
    (tmp_path / "a file").write_text("where a folder should be")
    broken = {"memorySearch": {"store": {"path": str(tmp_path / "a file" / "index.sqlite")}}}
    with several(tmp_path, remote(endpoint), {"main": {}, "broken": broken}) as daemon:
        write_notes(tmp_path / "main", 5)
        eventually(lambda: agents_of(daemon)["main"]["embedded"] == 5)
        assert not agents_of(daemon)["main"]["degraded"]
        assert "index" in {part["part"] for part in agents_of(daemon)["broken"]["degraded"]}


def test_daily_budget_is_shared_by_all_workspaces(tmp_path: Path) -> None:
    names = [f"agent{number}" for number in range(4)]
    with Endpoint(tmp_path, delay=0.3) as endpoint:
        daemon = several(tmp_path, remote(endpoint, tokensPerDay=300), {name: {} for name in names})
        for name in names:
            for number in range(60):
                note = tmp_path / name / "memory" / f"{number}.md"
                note.write_text(f"# {name} {number}\n\nThe machine of {name} with number {number} stands here.\n")
        with daemon:
            daemon.client().sync(wait="indexed")
            eventually(
                lambda: all(
                    any("tokensPerDay" in part["reason"] for part in agent["degraded"])
                    for agent in agents_of(daemon).values()
                ),
            )
            sent = sum(estimate(text) for text in endpoint.texts() if "machine" in text)
            assert 200 < sent <= 300
            agent = agents_of(daemon)["agent0"]
            assert agent["embedding"]["remote"] is not None
            assert agent["embedding"]["remote"]["sentToday"] <= 300


def test_unused_vectors_are_limited_at_start_without_the_provider(
    tmp_path: Path, workspace: Path, endpoint: Endpoint
) -> None:
    write_notes(workspace, 20)
    with running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: is_embedded(daemon))
        for note in (workspace / "memory").glob("note-*.md"):
            note.unlink()
        eventually(lambda: daemon.agent()["files"] == 3)
        assert entries_of(daemon) == daemon.agent()["passages"] + 20
    endpoint.kill()
    with running(tmp_path, workspace, remote(endpoint) | {"cache": {"maxEntries": 4}}) as daemon:
        eventually(lambda: entries_of(daemon) == daemon.agent()["passages"] + 4)
    sent = len(endpoint.texts())
    endpoint.start()
    with running(tmp_path, workspace, remote(endpoint) | {"cache": {"enabled": False}}) as daemon:
        eventually(lambda: is_embedded(daemon))
        assert daemon.agent()["cache"]["maxEntries"] == 0
        eventually(lambda: entries_of(daemon) == daemon.agent()["passages"])
        assert not [text for text in endpoint.texts()[sent:] if "\n" in text], "used vectors were kept"


def entries_of(daemon: RunningDaemon) -> int:
    agent: Any = daemon.agent()
    entries: int = agent["cache"]["entries"]
    return entries


def test_nothing_is_sent_without_a_configured_provider(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    config = tmp_path / "config.json5"
    search = {"local": {"modelPath": str(tmp_path / "none.gguf")}, "remote": {"baseUrl": endpoint.url, "apiKey": KEY}}
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(workspace), "memorySearch": search}}}))
    daemon = RunningDaemon(tmp_path, config, workspace, environment={"OPENAI_API_KEY": KEY})
    with daemon:
        daemon.client().sync(wait="indexed")
        assert ask(daemon)["results"]
        agent = daemon.agent()
        assert agent["embedding"]["rule"] == "memorySearch.provider is not set: the local model"
        assert agent["embedding"]["remote"] is None
    assert not endpoint.requests()


def test_auto_uses_the_provider_with_a_key_and_reports_it(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    search = {"provider": "auto", "remote": {"baseUrl": endpoint.url, "apiKey": {"env": "MY_KEY"}}}
    with running(tmp_path, workspace, search, {"MY_KEY": KEY}) as daemon:
        eventually(lambda: is_embedded(daemon))
        rule = daemon.agent()["embedding"]["rule"]
        assert rule.endswith("no model file, but a key for openai in memorySearch.remote.apiKey")
    assert endpoint.requests()[-1]["headers"]["authorization"] == f"Bearer {KEY}"


def test_text_refused_by_the_endpoint_is_found_by_words(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    (workspace / "memory" / "odd.md").write_text("# Odd\n\nAn unspeakable heron stood there.\n")
    write_notes(workspace, 5)
    with running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: daemon.agent()["skipped"] and not daemon.agent()["pendingEmbeddings"])
        agent = daemon.agent()
        assert agent["embedded"] == agent["passages"] - 1
        (skipped,) = agent["skipped"]
        assert skipped["path"] == "memory/odd.md"
        assert skipped["reason"].startswith("a passage in lines 1 to 3 is found by its words only: ")
        assert TEXT_REFUSAL in skipped["reason"]
        assert "unspeakable" not in skipped["reason"]
        assert ask(daemon, "unspeakable")["results"][0]["path"] == "memory/odd.md"


def test_openclaw_secret_reference_is_reported_where_it_is_used(tmp_path: Path, workspace: Path) -> None:
    reference = {"source": "exec", "provider": "vault", "id": "mistral"}
    models = {"providers": {"mistral": {"apiKey": reference}, "anthropic": {"apiKey": "", "baseUrl": 3}}}
    with indexed_daemon(tmp_path, workspace, search={"provider": "mistral"}, models=models) as daemon:
        eventually(lambda: daemon.agent()["embedder"]["state"] == "failed")
        degraded = daemon.degraded()
        assert "models.providers.mistral.apiKey: is a reference of OpenClaw" in degraded["embedder"]
        assert "source exec" in degraded["embedder"]
        assert ask(daemon)["results"], "words still answer"
    without = write_config(tmp_path, workspace, None, search={"provider": "none"}, models=models)
    with RunningDaemon(tmp_path, without, workspace) as daemon:
        assert not daemon.degraded()


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        ({"providers": {"openai": None}}, "entry of openai must be an object"),
        ({"providers": {"openai": "x"}}, "entry of openai must be an object"),
        ({"providers": {"$include": "./providers.json5"}}, "entry of openai must be an object"),
        (
            {"providers": {"openai": {"apiKey": KEY, "baseUrl": "proxy.internal/v1"}}},
            "baseUrl of openai must be an address",
        ),
    ],
)
def test_invalid_provider_entry_disables_only_the_provider(
    tmp_path: Path, workspace: Path, models: Mapping[str, Any], reason: str
) -> None:
    config = write_config(tmp_path, workspace, None, search={"provider": "openai"}, models=models)
    with RunningDaemon(tmp_path, config, workspace, environment={"OPENAI_API_KEY": KEY}) as daemon:
        eventually(lambda: daemon.agent()["embedder"]["state"] == "failed")
        assert reason in str(daemon.agent()["embedder"]["reason"])
        daemon.client().sync(wait="indexed")
        assert ask(daemon)["results"], "words still answer"
        assert KEY not in daemon.log.read_text()


def test_readable_key_and_unencrypted_address_are_reported(tmp_path: Path, workspace: Path) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o666)
    access = {"baseUrl": "http://models.invalid/v1", "apiKey": {"file": str(key)}, "headers": {"X-Team": KEY}}
    config = write_config(tmp_path, workspace, None, search={"provider": "openai", "remote": access})
    config.chmod(0o644)
    expected = [f"chmod 600 {key}", f"chmod 600 {config}", "go to models.invalid unencrypted"]
    with RunningDaemon(tmp_path, config, workspace) as daemon:
        with Client(daemon.socket) as client:
            notices = client.status()["config"]["notices"]
        checks = ask_memoryctl(daemon, ["doctor", "--ask-providers"], Exit.ERROR)["checks"]
        log = daemon.log.read_text()
    opened = [check for check in checks if check["state"] == "open"]
    for phrase in expected:
        assert any(phrase in notice for notice in notices)
        assert any(phrase in f"{check['message']} {check['hint']}" for check in opened)
        assert phrase in log
    assert KEY not in f"{notices} {checks} {log}"


def test_added_path_embeds_nothing_again(tmp_path: Path, workspace: Path, endpoint: Endpoint) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "new.md").write_text("# New\n\nThe heron nests by the sluice.\n")
    (more / "copy.md").write_text((workspace / "MEMORY.md").read_text())
    with running(tmp_path, workspace, remote(endpoint)) as daemon:
        eventually(lambda: is_embedded(daemon))
        files = daemon.agent()["files"]
    sent = len(endpoint.texts())
    with running(tmp_path, workspace, {**remote(endpoint), "extraPaths": [str(more)]}) as daemon:
        eventually(lambda: daemon.agent()["files"] == files + 2 and is_embedded(daemon))
        notes = [text for text in endpoint.texts()[sent:] if "\n" in text or "heron" in text]
        assert len(notes) == 1
        assert "The heron nests by the sluice." in notes[0]
        assert ask(daemon, "heron sluice")["results"][0]["path"].endswith("new.md")
