"""RsClaw's `agents.defaults.memory.embedder` is read like the keys of `memorySearch`, which override it."""

import json
from pathlib import Path

import pytest

from memoryd.config.agents import Agent
from memoryd.config.loading.load import Loaded, load

URL = "http://embedder.internal:5555/v1/embeddings"


def loaded(folder: Path, embedder: object, search: object = None, **others: object) -> Loaded:
    path = folder / "config.json5"
    memory = {"embedder": embedder, **others}
    path.write_text(json.dumps({"agents": {"defaults": {"memory": memory, "memorySearch": search or {}}}}))
    return load(path)


def agent(folder: Path, embedder: object, search: object = None) -> Agent:
    return loaded(folder, embedder, search).config.resolved_agents()[0]


def test_remote_embedder_is_openai_compatible(tmp_path: Path) -> None:
    found = agent(tmp_path, {"remote": {"url": URL, "model": "Qwen3-Embedding-0.6B", "query_instruction": "检索:"}})
    search = found.memory_search
    assert found.provider_named_by == "agents.defaults.memory.embedder.remote.url"
    assert (search.provider, search.remote.base_url) == ("openai", "http://embedder.internal:5555/v1")
    assert (search.model, search.query_instruction) == ("Qwen3-Embedding-0.6B", "检索:")


def test_model_folder_is_local_and_relative_to_the_file(tmp_path: Path) -> None:
    found = agent(tmp_path, {"local": {"model_dir": "models/bge"}})
    assert found.memory_search.provider == "local"
    assert found.memory_search.local.model_path == str(tmp_path / "models/bge")


def test_memory_search_overrides_the_embedder(tmp_path: Path) -> None:
    embedder = {"remote": {"url": URL, "model": "theirs"}}
    found = agent(tmp_path, embedder, {"provider": "ollama", "model": "ours"})
    assert found.provider_named_by == "memorySearch.provider"
    assert (found.memory_search.provider, found.memory_search.model) == ("ollama", "ours")
    assert found.memory_search.remote.base_url is None, "an address belongs to one provider"


def test_empty_embedder_names_no_provider(tmp_path: Path) -> None:
    found = agent(tmp_path, {})
    assert (found.provider_named_by, found.memory_search.provider) == ("", "local")


def test_other_keys_of_rsclaw_are_ignored_with_a_notice(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"remote": {"url": URL, "timeout": 3}}, extractor="flash")
    assert found.notices[:1] == [
        "ignored, not memoryd's: agents.defaults.memory.extractor, agents.defaults.memory.embedder.remote.timeout"
    ]


@pytest.mark.parametrize("url", ["embedder.internal", 7])
def test_problem_names_the_key_of_the_address(tmp_path: Path, url: object) -> None:
    with pytest.raises(Exception, match=r"agents\.defaults\.memory\.embedder\.remote\.url: must be"):
        loaded(tmp_path, {"remote": {"url": url}})
