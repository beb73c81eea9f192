"""The collections of an agent's qmd, by its configuration."""

from pathlib import Path

import pytest

from memoryd.config.agents import Agent
from memoryd.config.root import Config
from memoryd.files.scanner import ScanRoot
from memoryd.qmd.collections import collections_of, further_paths

WORKSPACE = Path("/nowhere/notes")


def agent_with(qmd: dict[str, object], *, extra: list[object] | None = None) -> Agent:
    search = {"qmd": {"extraCollections": extra or []}}
    config = Config.model_validate(
        {
            "memory": {"backend": "qmd", "qmd": qmd},
            "agents": {"defaults": {"workspace": str(WORKSPACE), "memorySearch": search}},
        }
    )
    return config.resolved_agents()[0]


def test_memory_of_the_workspace_is_one_collection() -> None:
    (only,) = collections_of(agent_with({}), WORKSPACE, list)
    assert (only.name, only.root, only.is_default) == ("memory-root-main", str(WORKSPACE), True)
    assert only.holds("MEMORY.md")
    assert only.holds("memory/2026/10.md")
    assert not only.holds("README.md")
    assert not only.holds("src/notes.md")


def test_further_paths_are_added_to_the_memory_or_replace_it() -> None:
    paths: list[object] = [{"path": "docs", "name": "Team Docs", "pattern": "**/*.txt"}, {"path": "/else/where"}]
    beside = collections_of(agent_with({"paths": paths}), WORKSPACE, list)
    assert [(collection.name, collection.root) for collection in beside] == [
        ("memory-root-main", "/nowhere/notes"),
        ("team-docs", "/nowhere/notes/docs"),
        ("custom-1-main", "/else/where"),
    ]
    assert [collection.is_default for collection in beside] == [True, False, False]
    alone = collections_of(agent_with({"paths": paths, "includeDefaultMemory": False}), WORKSPACE, list)
    assert alone == beside[1:]


def test_collections_of_the_search_are_further_paths_too() -> None:
    agent = agent_with({"paths": [{"path": "a"}]}, extra=[{"path": "b"}])
    assert [further.path for further in further_paths(agent)] == ["a", "b"]


@pytest.mark.parametrize("name", ["docs", "DOCS"])
def test_roots_are_not_listed_without_the_default_memory(name: str) -> None:
    def fails() -> list[ScanRoot]:
        raise AssertionError("a glob may be slow")

    agent = agent_with({"includeDefaultMemory": False, "paths": [{"path": "x", "name": name}]})
    assert [collection.name for collection in collections_of(agent, WORKSPACE, fails)] == ["docs"]
