"""Newer forms load_with OpenClaw's keys do not stop the daemon; what memoryd cannot use gives a notice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoryd.config.loading.load import Loaded, load
from memoryd.config.providers import ProviderSection
from memoryd.domain.embedding import PROVIDERS
from memoryd.embed.remote.settings import entry_of
from memoryd.errors import ConfigError

OLLAMA = {"api": "ollama", "baseUrl": "http://gpu-box.local:11435", "apiKey": "local", "models": [{"id": "qwen3"}]}
Load = Callable[..., Loaded]


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.setenv("HOME", str(tmp_path))

    def load_with(search: dict[str, Any], **sections: Any) -> Loaded:
        path = tmp_path / "openclaw.json"
        agents = {"defaults": {"memorySearch": search}, **sections.pop("agents", {})}
        path.write_text(json.dumps({"agents": agents, **sections}))
        path.chmod(0o600)
        return load(path)

    return load_with


def search_of(found: Loaded) -> Any:
    return found.config.resolved_agents()[0].memory_search


def entry(found: Loaded, provider: str) -> ProviderSection:
    return entry_of(found.config.models, provider)


@pytest.mark.parametrize("name", ["bedrock", "github-copilot", "deepinfra", "lmstudio", "openai-compatible"])
def test_unsupported_provider_means_no_vectors_and_a_notice(loaded: Load, name: str) -> None:
    found = loaded({"provider": name, "fallback": name, "model": "titan"})
    assert (search_of(found).provider, search_of(found).fallback) == ("none", "none")
    problem = [notice for notice in found.notices if name in notice]
    assert "agents.defaults.memorySearch.provider" in problem[0]
    assert "by words alone" in problem[0]
    assert "agents.defaults.memorySearch.fallback" in problem[1]


def test_openai_compatible_is_read_as_openai_without_a_notice(loaded: Load) -> None:
    remote = {"baseUrl": "https://api.example.com/v1/", "apiKey": "its-own"}
    found = loaded({"provider": "openai-compatible", "remote": remote})
    assert search_of(found).provider == "openai"
    assert found.notices == []


@pytest.mark.parametrize(
    ("api", "known"), [("ollama", "ollama"), ("openai-completions", "openai"), ("google-generative-ai", "gemini")]
)
def test_custom_provider_uses_its_entry_by_its_api(loaded: Load, api: str, known: str) -> None:
    search = {"provider": "gpu", "model": "qwen3"}
    found = loaded(search, models={"providers": {"gpu": OLLAMA | {"api": api}}}, agents={"list": [{"id": "a"}]})
    assert search_of(found).provider == known
    assert (entry(found, known).base_url, entry(found, known).api_key) != (None, None)
    assert entry(found, known).base_url == OLLAMA["baseUrl"]
    assert f"agents.defaults.memorySearch.provider: models.providers.gpu is asked as {known} is" in found.notices
    assert not any(notice.startswith("ignored") for notice in found.notices)
    both = {"list": [{"id": "a", "memorySearch": search}, {"id": "b"}]}
    again = loaded(search, models={"providers": {"gpu": OLLAMA | {"api": api}}}, agents=both)
    assert {agent.memory_search.provider for agent in again.config.resolved_agents()} == {known}


@pytest.mark.parametrize(
    "sections",
    [
        {"models": {"providers": {"gpu": OLLAMA, "ollama": {"baseUrl": "http://127.0.0.1:11434"}}}},
        {"models": {"providers": {"gpu": OLLAMA}}, "agents": {"list": [{"id": "a"}, {"id": "b", "memorySearch": {}}]}},
        {"models": {"providers": {"gpu": {"api": "ollama"}}}},
        {"models": {"providers": {"gpu": OLLAMA | {"api": "anthropic-messages"}}}},
        {
            "models": {"providers": {"gpu": OLLAMA | {"api": "openai-completions"}}},
            "memory": {"llm": {"provider": "openai", "model": "m"}},
        },
    ],
)
def test_entry_of_another_provider_is_never_used(loaded: Load, sections: dict[str, Any]) -> None:
    sections = json.loads(json.dumps(sections))
    for agent in sections.get("agents", {}).get("list", [])[1:]:
        agent["memorySearch"]["provider"] = "ollama"
    found = loaded({"provider": "gpu"}, **sections)
    assert search_of(found).provider == "none"
    assert all(entry(found, name).base_url != OLLAMA["baseUrl"] for name in PROVIDERS)


@pytest.mark.parametrize(
    "search",
    [
        {"provider": ["gpu"]},
        {"provider": "gpu", "fallback": {}},
        {"provider": "opnai"},
        {"extraPaths": [{"pattern": "*.md"}]},
        {"extraPaths": {"path": "x"}},
        {"rememberAcrossConversations": "yes", "provider": 1},
    ],
)
def test_unreadable_values_stay_errors(loaded: Load, search: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        loaded(search, models={"providers": {"gpu": {"api": ["ollama"], "baseUrl": 7}}})


def test_newer_keys_are_read_or_noticed(loaded: Load) -> None:
    paths = ["../docs", {"path": "~/wiki/", "pattern": "**/*.md"}, {"path": "/srv/notes", "name": "team"}]
    found = loaded({"extraPaths": paths, "rememberAcrossConversations": True})
    assert search_of(found).extra_paths == ("../docs", "~/wiki/**/*.md", "/srv/notes")
    (notice,) = found.notices
    assert notice.startswith("agents.defaults.memorySearch.rememberAcrossConversations has no effect")
    assert loaded({"rememberAcrossConversations": False}).notices == []


def test_newest_layout_is_read_like_the_previous_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "openclaw.json"
    search = {"provider": "ollama", "query": {"maxResults": 9}}
    own = {"name": "Work", "workspace": "~/work", "memory": {"search": {"provider": "none"}}, "tts": {}}
    file = {"memory": {"citations": "on", "search": search}, "agents": {"entries": {"main": {}, "work": own}}}
    path.write_text(json.dumps(file))
    path.chmod(0o600)
    found = load(path)
    main, work = found.config.resolved_agents()
    assert (main.id, main.memory_search.provider, main.memory_search.query.max_results) == ("main", "ollama", 9)
    assert (work.id, work.memory_search.provider, work.memory_search.query.max_results) == ("work", "none", 9)
    assert found.notices == ["ignored, not memoryd's: agents.list[1].tts"]
    for entries, problem in (({"$include": "x.json5"}, "entries"), ({"work": None}, r"agents.list\[0\]")):
        path.write_text(json.dumps({"agents": {"entries": entries}}))
        with pytest.raises(ConfigError, match=problem):
            load(path)
    file["agents"] = {"defaults": {"memorySearch": {}}, "list": [], "entries": {}}
    path.write_text(json.dumps(file))
    with pytest.raises(ConfigError, match=r"agents\.list says the same") as refused:
        load(path)
    assert "memory.search: agents.defaults.memorySearch says the same" in str(refused.value)
