"""An OpenClaw configuration with every documented memory key starts the real daemon unchanged."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import json5
import pytest

from memoryd.config.loading.load import load
from memoryd.errors import ConfigError, Disabled
from tests.daemon import RunningDaemon
from tests.unit.config.test_config_example import keys_in

FILE = Path(__file__).parents[1] / "data" / "config" / "openclaw.json5"
SEARCH = "agents.defaults.memorySearch."
QMD = (
    *("command", "searchMode", "searchTool", "rerank", "includeDefaultMemory", "paths.path", "paths.name"),
    *("paths.pattern", "mcporter.enabled", "mcporter.serverName", "mcporter.startDaemon", "sessions.enabled"),
    *("sessions.exportDir", "sessions.retentionDays", "update.interval", "update.debounceMs", "update.onBoot"),
    *("update.startup", "update.startupDelayMs", "update.waitForBootSync", "update.embedInterval"),
    *("update.commandTimeoutMs", "update.updateTimeoutMs", "update.embedTimeoutMs", "limits.maxResults"),
    *("limits.maxSnippetChars", "limits.maxInjectedChars", "limits.timeoutMs", "scope.default", "scope.rules.action"),
    *("scope.rules.match.chatType", "scope.rules.match.channel", "scope.rules.match.keyPrefix"),
    "scope.rules.match.rawKeyPrefix",
)
MEMORY_SEARCH = (
    *("enabled", "sources", "extraPaths", "qmd.extraCollections.path", "qmd.extraCollections.name"),
    *("qmd.extraCollections.pattern", "multimodal.enabled", "multimodal.modalities", "multimodal.maxFileBytes"),
    *("provider", "model", "fallback", "inputType", "queryInputType", "documentInputType", "outputDimensionality"),
    *("remote.baseUrl", "remote.apiKey", "remote.headers", "remote.nonBatchConcurrency", "remote.batch.enabled"),
    *("remote.batch.wait", "remote.batch.concurrency", "remote.batch.pollIntervalMs", "remote.batch.timeoutMinutes"),
    *("local.modelPath", "local.modelCacheDir", "local.contextSize", "store.driver", "store.path"),
    *("store.vector.enabled", "store.vector.extensionPath", "store.fts.tokenizer", "chunking.tokens"),
    *("chunking.overlap", "sync.onSessionStart", "sync.onSearch", "sync.watch", "sync.watchDebounceMs"),
    *("sync.intervalMinutes", "sync.embeddingBatchTimeoutSeconds", "sync.sessions.deltaBytes"),
    *("sync.sessions.deltaMessages", "sync.sessions.postCompactionForce", "query.maxResults", "query.minScore"),
    *("query.hybrid.enabled", "query.hybrid.vectorWeight", "query.hybrid.textWeight"),
    *("query.hybrid.candidateMultiplier", "query.hybrid.mmr.enabled", "query.hybrid.mmr.lambda"),
    *("query.hybrid.temporalDecay.enabled", "query.hybrid.temporalDecay.halfLifeDays", "cache.enabled"),
    *("cache.maxEntries", "experimental.sessionMemory"),
)
DOCUMENTED = {
    *("memory.backend", "memory.citations", "agents.defaults.workspace", "models.providers.*.apiKey"),
    *(f"memory.qmd.{key}" for key in QMD),
    *(f"{SEARCH}{key}" for key in MEMORY_SEARCH),
}
"""The keys that the documentation of OpenClaw 2026.7 names."""
WITHOUT_EFFECT = {
    *("memory.qmd.searchTool", "memory.qmd.mcporter", f"{SEARCH}store.fts.tokenizer"),
    f"{SEARCH}store.vector.extensionPath",
    *(f"{SEARCH}query.hybrid", "agents.list[0].memorySearch.query.hybrid"),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Run the daemon with the file in a home as OpenClaw leaves it, with an index of OpenClaw."""
    home = tmp_path_factory.mktemp("gateway")
    state = home / "home" / ".openclaw"
    workspace = state / "workspace"
    for folder in (workspace / "memory", state / "workspace-ops", state / "memory", state / "team-notes"):
        folder.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe gateway runs on alder.\n")
    (workspace / "house-rules.md").write_text("# Rules\n\nShoes off at the door.\n")
    (state / "team-notes" / "team.md").write_text("# Team\n\nStandup is at ten.\n")
    with sqlite3.connect(state / "memory" / "main.sqlite") as theirs:
        theirs.execute("CREATE TABLE memory_index_meta (key TEXT PRIMARY KEY, value TEXT)")
    theirs.close()
    running = RunningDaemon(home, FILE, workspace, environment={"OPENAI_API_KEY": "sk-none"})
    with running:
        running.client().sync()
        yield running


def test_file_has_every_documented_key() -> None:
    keys = set(keys_in(json5.loads(FILE.read_text(encoding="utf-8"))))
    assert DOCUMENTED - keys == set()
    assert len(DOCUMENTED) == 95


def test_notes_are_found_by_words(daemon: RunningDaemon) -> None:
    client = daemon.client()
    for question, path in (
        ("where does the gateway run", "MEMORY.md"),
        ("shoes at the door", "house-rules.md"),
        ("when is the standup", "../team-notes/team.md"),
    ):
        reply = client.search(question)
        assert reply["results"][0]["path"] == path
        assert reply["results"][0]["snippet"].endswith(f"Source: {reply['results'][0].get('citation')}")
        assert client.get(path)["text"].startswith("# ")
    assert reply["fallback"] is not None, "the configured qmd does not exist"
    assert reply["backend"] == "builtin"


def test_every_value_reaches_its_agent(daemon: RunningDaemon) -> None:
    main, ops = load(FILE).config.resolved_agents()
    assert (main.id, main.is_default, ops.memory_search.enabled) == ("main", True, False)
    assert main.memory_search.extra_paths == ("../team-notes", "~/team/handbook.md", "house-rules.md")
    query = main.memory_search.query
    assert (query.max_results, query.min_score, query.hybrid.mmr.enabled) == (3, 0.35, False)
    assert (query.hybrid.vector_weight, query.hybrid.text_weight) == (0.7, 0.3)
    assert (ops.memory_search.query.hybrid.vector_weight, ops.memory_search.query.max_results) == (0.7, 6)
    assert [collection.path for collection in main.memory_search.qmd.extra_collections] == ["~/archive", "~/mine"]
    assert main.memory_search.sync.interval_minutes == 5
    assert main.memory.qmd.update.embed_interval.total_seconds() == 3600
    assert main.memory.qmd.limits.max_snippet_chars == 600
    with pytest.raises(Disabled):
        daemon.client().search("gateway", agent="ops")


def test_keys_without_effect_are_reported_and_no_others(daemon: RunningDaemon) -> None:
    notices = daemon.client().status()["config"]["notices"]
    (foreign,) = (notice for notice in notices if notice.startswith("ignored, not memoryd's: "))
    for section in ("gateway", "channels", "plugins", "agents.defaults.compaction", "agents.list[0].identity"):
        assert section in foreign
    reported = {notice.split(" has no effect")[0] for notice in notices if notice != foreign}
    reported = {notice for notice in reported if "holds a key" not in notice}
    other = {notice for notice in reported if "where OpenClaw adds" in notice}
    assert {notice.partition(" ")[0] for notice in other} == {
        "agents.defaults.memorySearch.query.hybrid",
        "agents.list[0].memorySearch.query.hybrid",
    }
    assert reported - other == WITHOUT_EFFECT


def test_index_of_openclaw_is_not_touched(daemon: RunningDaemon) -> None:
    folder = daemon.home / "home" / ".openclaw" / "memory"
    with sqlite3.connect(folder / "main.sqlite") as theirs:
        assert theirs.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [
            ("memory_index_meta",)
        ]
    theirs.close()
    assert daemon.agent()["database"]["path"] == str(folder / "main.memoryd.sqlite")
    assert {path.name for path in daemon.workspace.iterdir()} == {"MEMORY.md", "house-rules.md", "memory"}


def test_current_file_of_openclaw_starts_the_daemon(tmp_path: Path) -> None:
    workspace, wiki = tmp_path / "workspace", tmp_path / "wiki"
    for folder in (workspace / "memory", wiki):
        folder.mkdir(parents=True)
    (wiki / "boiler.md").write_text("The boiler is serviced in May.\n")
    search = {
        "provider": "bedrock",
        "fallback": "github-copilot",
        "model": "amazon.titan-embed-text-v2:0",
        "rememberAcrossConversations": True,
        "extraPaths": [{"path": str(wiki), "pattern": "**/*.md"}],
    }
    config = tmp_path / "openclaw.json"
    config.write_text(json5.dumps({"agents": {"defaults": {"workspace": str(workspace), "memorySearch": search}}}))
    with RunningDaemon(tmp_path, config, workspace) as daemon:
        daemon.client().sync(wait="indexed")
        assert daemon.client().search("boiler")["results"]
        logged = daemon.log.read_text()
    assert all(name in logged for name in ("bedrock", "github-copilot", "rememberAcrossConversations"))


def test_unknown_keys_and_providers_do_not_stop_the_daemon(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "boiler.md").write_text("The boiler is serviced in May.\n")
    search = {
        "provider": "cohere",
        "fallback": "somebody-new",
        "sparkle": True,
        "remote": {"retries": 3},
        "query": {"hybrid": {"graph": {"enabled": True}}},
        "store": {"sharding": 2},
        "sources": ["wiki", "memory"],
    }
    memory = {
        "backend": "honcho",
        "wiki": {"enabled": True},
        "qmd": {"limits": {"maxWords": 5}, "update": {"onWake": True}},
    }
    config = tmp_path / "openclaw.json"
    defaults = {"workspace": str(workspace), "memorySearch": search}
    config.write_text(json5.dumps({"memory": memory, "agents": {"defaults": defaults}}))
    with RunningDaemon(tmp_path, config, workspace) as daemon:
        daemon.client().sync(wait="indexed")
        assert daemon.client().search("boiler")["results"]
        logged = daemon.log.read_text()
    keys = ("sparkle", "remote.retries", "query.hybrid.graph", "store.sharding")
    lost = (*(f"{SEARCH}{key}" for key in keys), "memory.wiki", "qmd.limits.maxWords", "qmd.update.onWake")
    assert all(f"{key} has no effect: memoryd has no such key" in logged for key in lost)
    assert 'cannot ask \\"cohere\\"' in logged or 'cannot ask "cohere"' in logged
    assert all(name in logged for name in ("somebody-new", "honcho", f"{SEARCH}sources"))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("extraPath", "did you mean `extraPaths`?"),
        ("ignore", "unknown key"),
        ("privateFolders", "unknown key"),
        ("maxResults", "did you mean `query.maxResults`?"),
    ],
)
def test_typo_and_unknown_privacy_rule_stay_errors(tmp_path: Path, key: str, message: str) -> None:
    config = tmp_path / "openclaw.json"
    config.write_text(json5.dumps({"agents": {"defaults": {"memorySearch": {key: ["memory/private"]}}}}))
    with pytest.raises(ConfigError, match="unknown key") as caught:
        load(config)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("memory", "search"), [({"backend": "bultin"}, {}), ({"backend": 7}, {}), ({}, {"sources": ["memories"]})]
)
def test_value_similar_to_a_known_one_stays_an_error(tmp_path: Path, memory: object, search: object) -> None:
    config = tmp_path / "openclaw.json"
    config.write_text(json5.dumps({"memory": memory, "agents": {"defaults": {"memorySearch": search}}}))
    with pytest.raises(ConfigError):
        load(config)


def test_sessions_key_without_the_source_is_reported(tmp_path: Path) -> None:
    config = tmp_path / "openclaw.json"
    search = {"sources": ["memory"]}
    memory = {"qmd": {"sessions": {"enabled": True}}}
    config.write_text(json5.dumps({"memory": memory, "agents": {"defaults": {"memorySearch": search}}}))
    assert any("memory.qmd.sessions.enabled has no effect" in notice for notice in load(config).notices)


def test_sessions_key_makes_sessions_searchable(tmp_path: Path) -> None:
    workspace, sessions = tmp_path / "workspace", tmp_path / "home" / ".openclaw" / "agents" / "main" / "sessions"
    (workspace / "memory").mkdir(parents=True)
    sessions.mkdir(parents=True)
    said = [("user", "Where is the quetzal painting?"), ("assistant", "The quetzal painting hangs in the attic.")]
    lines = [{"type": "message", "message": {"role": role, "content": text}} for role, text in said]
    (sessions / "0d9f.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    config = tmp_path / "openclaw.json"
    defaults = {"workspace": str(workspace), "memorySearch": {"provider": "none"}}
    memory = {"qmd": {"sessions": {"enabled": True}}}
    config.write_text(json5.dumps({"memory": memory, "agents": {"defaults": defaults}}))
    with RunningDaemon(tmp_path, config, workspace) as daemon:
        client = daemon.client()
        client.sync_sessions()
        (hit,) = client.search("quetzal painting attic")["results"]
        assert hit["path"] == "sessions/main/0d9f.jsonl"
        opened = client.get(str(hit["citation"]))
        assert "The quetzal painting hangs in the attic." in opened["text"]
        assert (opened["path"], opened["from"]) == (hit["path"], hit["startLine"])
