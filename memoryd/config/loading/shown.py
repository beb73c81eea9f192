"""What of the configuration is shown: all of it, one key with what stands in it, or what holds for one agent."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from memoryd.config.loading.decoding import ConfigText, parse, read
from memoryd.config.loading.effective import Origins, Setting, below, settings, settings_of
from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.overrides import from_environment
from memoryd.config.loading.places import places
from memoryd.errors import UnknownAgent


class NoSuchKeyError(KeyError):
    """The configuration has no such key; `hint` names what was probably meant."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


def shown_settings(agent: str | None, key: str) -> tuple[Path | None, list[Setting]]:
    """Return the file and the settings of a key, else all. Raises ConfigError, UnknownAgent, NoSuchKeyError."""
    loaded = load()
    written = read(loaded.source) if loaded.source is not None else ConfigText()
    raw = parse(written.text, loaded.source) if loaded.source is not None else {}
    origins = Origins(raw, places(written.text), from_environment(os.environ)[0])
    found = settings(loaded.config, origins) if agent is None else _of_agent(loaded, agent, origins)
    chosen = below(key, found) if key else found
    if not chosen:
        raise NoSuchKeyError(f"there is no key {key}", hint=_meant(key, [one.key for one in found]))
    return loaded.source, chosen


def _of_agent(loaded: Loaded, name: str, origins: Origins) -> list[Setting]:
    agents = loaded.config.resolved_agents()
    for number, agent in enumerate(agents):
        if agent.id == name:
            return settings_of(agent, number if loaded.config.agents.list else None, origins)
    raise UnknownAgent(f"no agent {name!r} is configured", hint=f"there is: {', '.join(one.id for one in agents)}")


def _meant(key: str, known: Sequence[str]) -> str:
    """Return the sentence that names a key of that last name, else one that is much like it."""
    name = key.rpartition(".")[2].lower()
    near = [one for one in known if one.rpartition(".")[2].lower() == name]
    near = near[:3] or difflib.get_close_matches(key, known, n=3, cutoff=0.6)
    return f"perhaps: {', '.join(near)}" if near else "all of them: memoryctl config show --all"
