"""Agents on one folder share a store of questions and answers; problems name files only to who may know them."""

import json
from pathlib import Path

from memoryd.agents.workspace.qa import workspace_qas
from memoryd.config.agents import Agent
from memoryd.config.root import Config


def agents_of(*listed: dict[str, object], **memory: object) -> list[Agent]:
    return Config.model_validate({"agents": {"list": list(listed)}, "memory": memory}).resolved_agents()


def test_agents_on_one_folder_share_a_store_despite_separate_indexes(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    agents = agents_of(
        {"id": "a", "workspace": str(tmp_path / "notes")},
        {"id": "b", "workspace": str(tmp_path / "notes"), "memorySearch": {"exclude": ["x.md"]}},
        {"id": "c", "workspace": str(tmp_path / "link")},
        {"id": "d", "workspace": str(tmp_path / "others")},
    )
    assert agents[0].index_path != agents[1].index_path
    qas = workspace_qas(agents)
    assert qas["a"] is qas["b"] is qas["c"]
    assert qas["d"] is not qas["a"]
    assert len({loop for qa in set(qas.values()) for loop, _ in qa.loops()}) == 4


def test_read_only_store_has_no_upkeep_and_disabled_qa_has_no_store(tmp_path: Path) -> None:
    reading = workspace_qas(agents_of({"id": "a", "workspace": str(tmp_path)}, readOnly=True))["a"]
    assert [name for name, _ in reading.loops()] == ["qa a"]
    assert workspace_qas(agents_of({"id": "a", "workspace": str(tmp_path)}, qa={"enabled": False})) == {}


def test_problem_names_the_file_only_to_its_own_agent(tmp_path: Path) -> None:
    (tmp_path / "memory/sessions").mkdir(parents=True)
    (tmp_path / "memory/sessions/broken.json").write_text("{")
    own = json.dumps({"session_id": "own", "created": "2026-11-22T12:00:00Z", "agent": "a", "qa_sequence": []})
    (tmp_path / "memory/sessions/own.json").write_text(own)
    qa = workspace_qas(agents_of({"id": "a", "workspace": str(tmp_path)}, {"id": "b", "workspace": str(tmp_path)}))["a"]
    qa.store.sessions.open()
    (tmp_path / "memory/sessions/own.json").write_text("[")
    qa.store.sessions.scan()
    own, others = qa.problems("a")
    assert own.partition(":")[0] == "memory/sessions/own.json"
    assert others.startswith("1 file of")
    assert qa.problems("b") == [others]
    assert len(qa.problems("b", names_all=True)) == 1
    (tmp_path / "memory/sessions/odd.json").write_text("[")
    qa.store.sessions.scan()
    assert [problem[:7] for problem in qa.problems("b")] == ["2 files"]
