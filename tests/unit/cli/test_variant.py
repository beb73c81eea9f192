"""The configuration of a variant has one agent, without team and machines."""

import json
from pathlib import Path
from typing import cast

import pytest

from memoryd.cli.local.variant import _config
from memoryd.config.loading.load import load
from memoryd.replies.status import AgentStatus

TEAM = {"remote": "git@host.example:acme/memory.git", "name": "acme", "person": "ada", "share": ["memory/**"]}


@pytest.mark.parametrize("agent", ["main", "work"])
def test_variant_joins_no_team(tmp_path: Path, agent: str) -> None:
    source = tmp_path / "config.json"
    listed = [{"id": name, "workspace": str(tmp_path / name)} for name in ("main", "work")]
    machines = {"secret": "x" * 40}
    given = {"agents": {"list": listed}, "team": {**TEAM, "agent": "main"}, "memory": {"machines": machines}}
    source.write_text(json.dumps(given))
    status = cast(AgentStatus, {"id": agent, "workspace": str(tmp_path / agent), "roots": []})
    variant = tmp_path / "variant.json"
    variant.write_text(_config(source, status, {}, tmp_path / "index.sqlite"))
    config = load(variant).config
    assert not config.team.is_joined
    assert config.memory.machines.secret is None
    assert [(found.id, found.team) for found in config.resolved_agents()] == [(agent, None)]
