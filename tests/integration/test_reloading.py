"""Reloading the configuration, without a daemon: what counts as a change, and what as an error."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.overrides import Overrides
from memoryd.daemon.heartbeats import Notifier
from memoryd.daemon.reloading import Reloading

STRICT = '{ memory: { scope: { default: "deny" } } }'


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the default file, which does not exist yet."""
    monkeypatch.delenv("MEMORYD_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "memoryd" / "config.json5"
    path.parent.mkdir()
    return path


class Applied:
    """Reloads, and records the configurations that were applied."""

    def __init__(self, overrides: Overrides | None = None) -> None:
        self.taken: list[Loaded] = []
        given = overrides or Overrides()
        self.reloading = Reloading(
            load(None, given), read=lambda: load(None, given), apply=self._take, notifier=Notifier(address=None)
        )

    async def _take(self, loaded: Loaded, _changed: Sequence[str]) -> None:
        self.taken.append(loaded)


async def test_missing_file_keeps_the_rules(usual: Path) -> None:
    usual.write_text(STRICT)
    applied = Applied()
    reloading = applied.reloading
    running = asyncio.create_task(reloading.run())
    usual.rename(usual.with_suffix(".bak"))
    gone = await reloading.reload()
    assert (gone["reloaded"], gone["changed"], applied.taken) == (False, [], [])
    assert str(usual) in gone["problems"][0]
    assert reloading.state["problems"] == gone["problems"]
    assert (await reloading.check())["problems"] == gone["problems"]
    usual.with_suffix(".bak").rename(usual)
    assert (await reloading.reload())["reloaded"]
    assert reloading.state["problems"] == []
    running.cancel()


async def test_new_file_is_applied(usual: Path) -> None:
    applied = Applied()
    running = asyncio.create_task(applied.reloading.run())
    assert (await applied.reloading.reload())["reloaded"], "without a file the defaults apply"
    usual.write_text(STRICT)
    assert (await applied.reloading.reload())["changed"] == ["memory.scope.default"]
    assert applied.taken[-1].source == usual
    running.cancel()


async def test_rotated_key_counts_as_change(usual: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("first")
    usual.write_text(f'{{ models: {{ providers: {{ openai: {{ apiKey: {{ file: "{key}" }} }} }} }} }}')
    applied = Applied()
    running = asyncio.create_task(applied.reloading.run())
    assert (await applied.reloading.reload())["changed"] == []
    key.write_text("changed-key")
    outcome = await applied.reloading.reload()
    assert outcome["changed"] == ["models.providers.openai.apiKey"]
    assert "changed-key" not in repr(applied.taken[-1].config)
    key.unlink()
    assert (await applied.reloading.reload())["changed"] == ["models.providers.openai.apiKey"]
    running.cancel()


async def test_flags_and_environment_override_the_file_at_reload(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORYD_LOG_LEVEL", "error")
    usual.write_text("{}")
    applied = Applied(Overrides(workspace=tmp_path / "flagged", all_markdown=True))
    running = asyncio.create_task(applied.reloading.run())
    usual.write_text('{ log: { level: "debug", maxPerMinute: 7 }, agents: { defaults: { workspace: "/elsewhere" } } }')
    outcome = await applied.reloading.reload()
    assert "log.maxPerMinute" in outcome["changed"]
    assert "log.level" not in outcome["changed"]
    found = applied.taken[-1].config
    assert (found.log.level, found.log.max_per_minute) == ("ERROR", 7)
    (agent,) = found.resolved_agents()
    assert agent.workspace == tmp_path / "flagged"
    running.cancel()
