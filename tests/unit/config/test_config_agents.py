"""Agents are resolved from `agents.defaults` and `agents.list`."""

from pathlib import Path
from typing import Any

import pytest

from memoryd.config.agents import Agent
from memoryd.config.loading.consistency import contradictions
from memoryd.config.loading.load import load
from memoryd.config.paths import workspace_state_dir
from memoryd.config.root import Config
from memoryd.domain.access import read_key


def agents_of(agents: dict[str, Any]) -> list[Agent]:
    return Config.model_validate({"agents": agents}, by_alias=True, by_name=False).resolved_agents()


def problems_of(agents: dict[str, Any]) -> list[str]:
    return contradictions(Config.model_validate({"agents": agents}))


def test_without_a_list_there_is_one_agent_main() -> None:
    (agent,) = Config().resolved_agents()
    assert (agent.id, agent.name, agent.is_default) == ("main", "main", True)
    assert agent.index_path == workspace_state_dir(agent.workspace) / "index.sqlite"


def test_values_of_an_agent_override_defaults_field_by_field() -> None:
    defaults = {"memorySearch": {"query": {"maxResults": 9, "minScore": 0.2}, "cache": {"enabled": False}}}
    own = {"id": "a", "memorySearch": {"query": {"minScore": 0.5, "hybrid": {"mmr": {"enabled": True}}}}}
    first, second = agents_of({"defaults": defaults, "list": [own, {"id": "b"}]})
    assert (first.memory_search.query.max_results, first.memory_search.query.min_score) == (9, 0.5)
    assert first.memory_search.query.hybrid.mmr.enabled
    assert not first.memory_search.cache.enabled
    assert (second.memory_search.query.max_results, second.memory_search.query.min_score) == (9, 0.2)


def test_own_value_equal_to_the_built_in_default_overrides_too() -> None:
    defaults = {"memorySearch": {"query": {"maxResults": 9}}}
    (agent,) = agents_of({"defaults": defaults, "list": [{"id": "a", "memorySearch": {"query": {"maxResults": 6}}}]})
    assert agent.memory_search.query.max_results == 6


def test_additive_lists_are_merged_without_repeats() -> None:
    defaults = {"memorySearch": {"extraPaths": ["x", "y"], "exclude": ["private/"], "sources": ["memory"]}}
    own = {"extraPaths": ["y", "z"], "exclude": ["*.tmp.md"], "sources": ["sessions"]}
    (agent,) = agents_of({"defaults": defaults, "list": [{"id": "a", "memorySearch": own}]})
    assert agent.memory_search.extra_paths == ("x", "y", "z")
    assert agent.memory_search.exclude == ("private/", "*.tmp.md")
    assert agent.memory_search.sources == ("sessions",)


@pytest.mark.parametrize(
    ("vector", "text", "expected"), [(70, 30, (0.7, 0.3)), (1, 1, (0.5, 0.5)), (0, 0, (0.7, 0.3)), (0, 2, (0, 1))]
)
def test_weights_are_normalised_to_sum_to_one(vector: float, text: float, expected: tuple[float, float]) -> None:
    weights = {"memorySearch": {"query": {"hybrid": {"vectorWeight": vector, "textWeight": text}}}}
    hybrid = agents_of({"defaults": weights})[0].memory_search.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx(expected)


def test_single_weight_is_normalised_with_the_default_of_the_other() -> None:
    own = {"memorySearch": {"query": {"hybrid": {"vectorWeight": 2.1}}}}
    hybrid = agents_of({"list": [{"id": "a", **own}]})[0].memory_search.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx((0.75, 0.25))


@pytest.mark.parametrize(
    ("hybrid", "expected"),
    [
        ({"fusion": "weighted"}, (0.7, 0.3)),
        ({"fusion": "weighted", "vectorWeight": 0.9}, (0.75, 0.25)),
        ({"fusion": "weighted", "vectorWeight": 0.3, "textWeight": 0.7}, (0.3, 0.7)),
        ({"fusion": "relative"}, (0.3, 0.7)),
        ({}, (0.3, 0.7)),
    ],
)
def test_missing_weights_are_those_of_the_fusion(hybrid: dict[str, object], expected: tuple[float, float]) -> None:
    section = {"memorySearch": {"query": {"hybrid": hybrid}}}
    for raw in ({"defaults": section}, {"list": [{"id": "a", **section}]}):
        found = agents_of(raw)[0].memory_search.query.hybrid
        assert (found.vector_weight, found.text_weight) == pytest.approx(expected)


def test_workspaces_names_and_default() -> None:
    agents = agents_of(
        {
            "defaults": {"workspace": "/w"},
            "list": [{"id": "Main", "name": "M"}, {"id": "b", "workspace": "/b", "default": True}],
        }
    )
    assert [(agent.id, agent.name, agent.workspace, agent.is_default) for agent in agents] == [
        ("main", "M", Path("/w"), False),
        ("b", "b", Path("/b"), True),
    ]


def test_store_path_expands_agent_id_and_is_relative_to_the_workspace() -> None:
    store = {"store": {"path": ".memory/{agentId}.sqlite"}}
    first, second = agents_of(
        {"defaults": {"workspace": "/w", "memorySearch": store}, "list": [{"id": "a"}, {"id": "b"}]}
    )
    assert first.index_path == Path("/w/.memory/a.sqlite")
    assert second.index_path == Path("/w/.memory/b.sqlite")


def test_index_is_never_the_file_of_openclaw() -> None:
    """A shared configuration may name OpenClaw's index, and both programs may run."""
    theirs = {"store": {"path": "~/.openclaw/memory/{agentId}.sqlite"}}
    (agent,) = agents_of({"defaults": {"memorySearch": theirs}, "list": [{"id": "a"}]})
    assert agent.index_path == Path.home() / ".openclaw/memory/a.memoryd.sqlite"
    inside = {"store": {"path": ".memory/index.sqlite"}}
    (agent,) = agents_of({"defaults": {"memorySearch": inside}, "list": [{"id": "a"}]})
    assert agent.index_path == Path.home() / ".openclaw/workspace/.memory/index.sqlite"


@pytest.mark.parametrize(
    ("own", "is_shared"),
    [
        ({"query": {"maxResults": 3, "minScore": 0.2}}, True),
        ({"enabled": False}, True),
        ({"qmd": {"extraCollections": [{"path": "/x"}]}}, True),
        ({"extraPaths": ["../private"]}, False),
        ({"exclude": ["MEMORY.md"]}, False),
        ({"followSymlinks": True}, False),
        ({"chunking": {"tokens": 200}}, False),
        ({"provider": "none"}, False),
        ({"remote": {"apiKey": "another"}}, False),
        ({"query": {"hybrid": {"mmr": {"enabled": True}}}}, False),
    ],
    ids=str,
)
def test_agents_with_other_index_settings_have_an_index_each(own: dict[str, object], is_shared: bool) -> None:
    for store in ({}, {"memorySearch": {"store": {"path": "/x/index.sqlite"}}}):
        listed = [{"id": "a"}, {"id": "b", "memorySearch": own}, {"id": "c"}]
        first, second, third = agents_of({"defaults": {"workspace": "/w", **store}, "list": listed})
        assert (first.index_path.name, first.index_path) == ("index.sqlite", third.index_path)
        assert second.index_path == first.index_path.with_name("index.sqlite" if is_shared else "index-b.sqlite")


def test_two_agents_on_one_workspace_share_one_index() -> None:
    listed = {"defaults": {"workspace": "/w"}, "list": [{"id": "a"}, {"id": "b"}]}
    first, second = agents_of(listed)
    assert first.index_path == second.index_path
    assert problems_of(listed) == []


def test_repeated_id_is_a_problem_in_any_case() -> None:
    assert problems_of({"list": [{"id": "a"}, {"id": "b"}, {"id": "A"}]}) == ["agents.list[2].id: a is used before"]


def test_one_index_for_two_workspaces_is_a_problem() -> None:
    listed = [{"id": "a", "workspace": "/a"}, {"id": "b", "workspace": "/b"}]
    store = {"memorySearch": {"store": {"path": "/x/index.sqlite"}}}
    assert problems_of({"defaults": store, "list": listed}) == [
        "agents.list[1].memorySearch.store.path: is also the index of agent a, which has another workspace; "
        "put {agentId} into the path"
    ]


def test_index_in_the_place_of_a_ledger_is_a_problem() -> None:
    listed = [
        {"id": "a", "memorySearch": {"store": {"path": "/x/index.sqlite"}}},
        {"id": "b", "memorySearch": {"store": {"path": "/x/ledger.sqlite"}}},
    ]
    assert problems_of({"list": listed}) == [
        "agents.list[1].memorySearch.store.path: /x/ledger.sqlite is the place of a ledger; name another file"
    ]


@pytest.mark.parametrize(
    ("index", "ledger"),
    [
        (None, "ledger.sqlite"),
        (".memory/index.sqlite", "ledger.sqlite"),
        (".memory/notes.sqlite", "notes-ledger.sqlite"),
        (".memory/{agentId}.db", "a-ledger.sqlite"),
    ],
)
def test_ledger_is_beside_the_index(index: str | None, ledger: str) -> None:
    listed = [{"id": "a", "memorySearch": {"store": {"path": index}}}]
    (agent,) = agents_of({"list": listed})
    assert agent.ledger_path == agent.index_path.with_name(ledger)


def test_agent_with_its_own_index_has_its_own_ledger() -> None:
    listed = [{"id": "a"}, {"id": "b", "memorySearch": {"exclude": ["MEMORY.md"]}}, {"id": "c"}]
    first, second, third = agents_of({"list": listed})
    assert first.ledger_path == third.ledger_path
    assert second.ledger_path.name == "index-b-ledger.sqlite"


@pytest.mark.parametrize(
    ("search", "has_own_index"),
    [
        ({"local": {"threads": 2, "gpuLayers": 3, "idleUnloadMinutes": 0, "download": False}}, False),
        ({"sync": {"watch": False, "onSearch": False}}, False),
        ({"query": {"freshMs": 0}}, False),
        ({"sync": {"paused": True}}, True),
        ({"local": {"contextSize": 256}}, True),
        ({"query": {"hybrid": {"enabled": False}}}, True),
    ],
)
def test_only_index_settings_give_an_agent_its_own_index(search: dict[str, object], has_own_index: bool) -> None:
    _, second = agents_of({"list": [{"id": "a"}, {"id": "b", "memorySearch": search}]})
    assert second.has_own_index is has_own_index


def test_existing_ledger_of_an_agent_stays_its_own(tmp_path: Path) -> None:
    given = {"defaults": {"workspace": str(tmp_path / "ws"), "memorySearch": {"store": {"path": "../index.sqlite"}}}}
    first, second = agents_of({**given, "list": [{"id": "a"}, {"id": "b"}]})
    assert first.ledger_path == second.ledger_path
    (tmp_path / "ws").mkdir()
    (tmp_path / "index-b-ledger.sqlite").touch()
    first, second = agents_of({**given, "list": [{"id": "a"}, {"id": "b"}]})
    assert first.index_path == second.index_path
    assert (first.ledger_path.name, second.ledger_path.name) == ("ledger.sqlite", "index-b-ledger.sqlite")


def test_overlap_stays_below_tokens_after_merging() -> None:
    own = {"id": "a", "memorySearch": {"chunking": {"tokens": 64}}}
    assert problems_of({"list": [own]}) == []
    assert agents_of({"list": [own]})[0].memory_search.chunking.overlap == 12


CAN_SEE = {"provider": "gemini", "model": "gemini-embedding-2-preview", "multimodal": {"enabled": True}}


@pytest.mark.parametrize("provider", ["gemini", "auto"])
@pytest.mark.parametrize("model", ["gemini-embedding-2-preview", "models/gemini-embedding-2-preview"])
def test_multimodal_with_a_model_that_can_see_is_fine(provider: str, model: str) -> None:
    assert problems_of({"defaults": {"memorySearch": CAN_SEE | {"provider": provider, "model": model}}}) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"fallback": "openai"}, 'fallback: must be "none" while multimodal.enabled is true'),
        ({"provider": "none"}, 'provider: must be "gemini" while multimodal.enabled is true, not "none"'),
        ({"provider": "openai"}, 'provider: must be "gemini" while multimodal.enabled is true, not "openai"'),
        (
            {"model": "gemini-embedding-001"},
            'model: must be "gemini-embedding-2-preview" while multimodal.enabled is true, not "gemini-embedding-001"',
        ),
    ],
)
def test_multimodal_reports_conflicting_settings(change: dict[str, object], problem: str) -> None:
    assert problems_of({"defaults": {"memorySearch": CAN_SEE | change}}) == [f"agents.defaults.memorySearch.{problem}"]


def test_multimodal_alone_lacks_provider_and_model() -> None:
    assert problems_of({"list": [{"id": "a", "memorySearch": {"multimodal": {"enabled": True}}}]}) == [
        'agents.list[0].memorySearch.provider: must be "gemini" while multimodal.enabled is true, not "local"',
        'agents.list[0].memorySearch.model: must be "gemini-embedding-2-preview" while multimodal.enabled is true, '
        "and is not set",
    ]


def test_sockets_have_distinct_paths_outside_every_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYD_SOCKET", str(tmp_path / "owner.sock"))
    places = ["one.sock", "one.sock", "owner.sock", "work/memory/two.sock"]
    sockets = [{"path": str(tmp_path / place)} for place in places]
    assert problems_of({"list": [{"id": "a", "workspace": str(tmp_path / "work"), "sockets": sockets}]}) == [
        "agents.list[0].sockets[1].path: is used before, or is the owner's socket",
        "agents.list[0].sockets[2].path: is used before, or is the owner's socket",
        "agents.list[0].sockets[3].path: must not lie in a workspace",
    ]


def test_fixed_session_key_of_a_socket_is_valid_and_of_its_agent() -> None:
    socket = {"path": "/run/x/a.sock", "sessionKey": "agent:b:main"}
    assert problems_of({"list": [{"id": "a", "workspace": "/a", "sockets": [socket]}]}) == [
        "agents.list[0].sockets[0].sessionKey: is of agent b, not of a"
    ]
    with pytest.raises(ValueError, match="session key"):
        agents_of({"list": [{"id": "a", "sockets": [{"path": "/run/x/a.sock", "sessionKey": "agent:a:subagent:x"}]}]})


def test_socket_path_is_relative_to_the_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json5"
    path.write_text('{ agents: { list: [{ id: "a", workspace: "notes", sockets: [{ path: "run/a.sock" }] }] } }')
    assert load(path).config.resolved_agents()[0].sockets[0].path == str(tmp_path / "run/a.sock")


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({}, [False]),
        ({"scope": {"requireSessionKey": True}}, [False]),
        ({"scope": {"default": "allow", "rules": []}}, [True]),
        ({"backend": "qmd"}, [False]),
        ({"backend": "qmd", "qmd": {"scope": {"default": "allow"}}}, [True]),
        ({"backend": "builtin", "qmd": {"scope": {"default": "allow"}}}, [False]),
        ({"backend": "qmd", "scope": {"default": "allow"}, "qmd": {"scope": {"default": "deny"}}}, [True, False]),
        ({"backend": "qmd", "scope": {"requireSessionKey": True}, "qmd": {"scope": {"default": "allow"}}}, [True]),
    ],
)
def test_scope_rules_of_memory_and_qmd_apply_where_given(memory: dict[str, Any], expected: list[bool]) -> None:
    rules = Config.model_validate({"memory": memory}).memory.access_rules()
    assert [each.allows(read_key("agent:main:discord:group:7")) for each in rules.lists] == expected
    assert rules.requires_key == memory.get("scope", {}).get("requireSessionKey", False)
