"""Keys about transcripts: their folders, who reads them, and notices about keys without effect."""

import json
from pathlib import Path
from typing import Any

import pytest

from memoryd.agents.search import export_settings
from memoryd.agents.workspace.settings import indexed_folders, transcript_folders
from memoryd.config.loading.load import Loaded, load
from memoryd.config.paths import openclaw_sessions, qmd_home
from memoryd.errors import ConfigError

ENABLED = {"enabled": True}


def loaded(folder: Path, **memory: Any) -> Loaded:
    path = folder / "config.json5"
    path.write_text(json.dumps({"memory": memory, "agents": {"list": [{"id": "main"}, {"id": "other"}]}}))
    return load(path)


def notices(folder: Path, **memory: Any) -> str:
    return "\n".join(loaded(folder, **memory).notices)


def test_each_agent_has_its_own_export_folder(tmp_path: Path) -> None:
    sessions = {"enabled": True, "exportDir": "said", "retentionDays": 30}
    agents = loaded(tmp_path, backend="qmd", qmd={"sessions": sessions}).config.resolved_agents()
    settings = [export_settings(agent, agents) for agent in agents]
    assert [export.folder for export in settings] == [tmp_path / "said" / "main", tmp_path / "said" / "other"]
    assert {export.retention_days for export in settings} == {30}
    agents = loaded(tmp_path, backend="qmd", qmd={"sessions": ENABLED}).config.resolved_agents()
    assert [export_settings(agent, agents).folder for agent in agents] == [
        qmd_home(agent.id) / "sessions" for agent in agents
    ]
    assert len({export_settings(agent, agents).record for agent in agents}) == 2


@pytest.mark.parametrize(
    ("memory", "exports", "takes"),
    [
        ({}, False, False),
        ({"backend": "qmd", "qmd": {"sessions": ENABLED}}, True, False),
        ({"qa": {"fromTranscripts": True}}, False, True),
        ({"qa": {"fromTranscripts": True}, "readOnly": True}, False, False),
        ({"qa": {"fromTranscripts": True, "enabled": False}}, False, False),
    ],
)
def test_each_use_of_transcripts_has_its_own_key(
    tmp_path: Path, memory: dict[str, Any], exports: bool, takes: bool
) -> None:
    config = loaded(tmp_path, **memory).config
    for agent in config.resolved_agents():
        assert (agent.exports_transcripts, agent.takes_turns, agent.reads_transcripts) == (exports, takes, False)
        assert indexed_folders(agent) == [], "neither needs the index"
        assert [folder.path for folder in transcript_folders(agent)] == [openclaw_sessions(agent.id)]


def test_only_keys_without_effect_are_noticed(tmp_path: Path) -> None:
    folders = {"folders": [{"path": "said", "agent": "main"}]}
    assert "memory.sessions.folders has no effect" in notices(tmp_path, sessions=folders)
    assert "folders" not in notices(tmp_path, sessions=folders, qa={"fromTranscripts": True})
    assert "folders" not in notices(tmp_path, sessions=folders, backend="qmd", qmd={"sessions": ENABLED})
    assert "no effect with memory.readOnly" in notices(tmp_path, readOnly=True, qa={"fromTranscripts": True})
    disabled = {"fromTranscripts": True, "enabled": False}
    assert "no effect without memory.qa.enabled" in notices(tmp_path, qa=disabled)
    assert "no effect yet" not in notices(tmp_path, backend="qmd", qmd={"sessions": ENABLED})


@pytest.mark.parametrize("sessions", [{"retentionDays": 0}, {"exportDir": ""}, {"enabled": "yes"}, {"enable": True}])
def test_invalid_export_settings_are_refused(tmp_path: Path, sessions: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        loaded(tmp_path, qmd={"sessions": sessions})


@pytest.mark.parametrize(
    ("search", "reads"),
    [
        ({}, True),
        ({"provider": "none"}, True),
        ({"sources": ["memory"]}, False),
        ({"provider": "openai", "remote": {"apiKey": "sk-x"}}, False),
        ({"fallback": "openai", "remote": {"apiKey": "sk-x"}}, False),
    ],
)
def test_qmd_sessions_key_makes_sessions_indexed_if_local(tmp_path: Path, search: dict[str, Any], reads: bool) -> None:
    path = tmp_path / "config.json5"
    agents = {"defaults": {"memorySearch": search}, "list": [{"id": "main"}, {"id": "other"}]}
    path.write_text(json.dumps({"memory": {"qmd": {"sessions": ENABLED}}, "agents": agents}))
    found = load(path)
    for agent in found.config.resolved_agents():
        assert (agent.reads_transcripts, agent.exports_transcripts) == (reads, False)
        assert agent.default_sources == (("memory", "sessions") if reads else ("memory",))
    is_sent = "remote" in search
    assert ("a provider elsewhere would get them" in " ".join(found.notices)) is is_sent
