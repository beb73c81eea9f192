"""Puts another embedding model into the configuration: planned, held against the golden questions, then written."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from memoryd.cli.invocation import Invocation
from memoryd.cli.terminal import note
from memoryd.config.agents import Agent
from memoryd.config.loading.editing import with_value
from memoryd.config.loading.keys import dotted
from memoryd.config.loading.load import load, loaded_of, source_of
from memoryd.config.loading.raw import ConfigText, KeyPath, parse, read, value_at
from memoryd.config.paths import config_file
from memoryd.domain.access import folded_id
from memoryd.errors import DaemonNotRunning, InvalidRequest, MemorydError

MODEL: Final = ("memorySearch", "local", "modelPath")


class ModelSwitch(Struct, frozen=True):
    """What is to be written where, and which agents embed with another model then."""

    path: Path
    text: str
    key: str
    spec: str
    affected: frozenset[str]


def planned_use(spec: str, agent: Agent, *, is_own: bool) -> ModelSwitch:
    """Plan to write the model of an agent: for it alone if `is_own` or if it has one of its own, else for all.

    Raises InvalidRequest where the file cannot take it, or where something else says which model it is.
    """
    source = source_of(None)
    written = read(source) if source else ConfigText()
    if source is not None and source.is_symlink():
        raise InvalidRequest(f"{source} is a link", hint=f"write {dotted(MODEL)}: {spec!r} into what it leads to")
    entry = _entry(written.text, source, agent.id) if source else None
    has_own = entry is not None and value_at(parse(written.text, source or Path()), (*entry, *MODEL)) is not None
    above = entry if entry is not None and (is_own or has_own) else ("agents", "defaults")
    key = (*above, *MODEL)
    path = source or config_file()
    text = with_value(written.text, key, spec)
    before = _models(load(source).config.resolved_agents())
    after = _models(loaded_of(ConfigText(text), path).config.resolved_agents())
    if after[agent.id] != spec:
        raise InvalidRequest(f"agent {agent.id} has its model from another key", hint="memoryctl config show")
    changed = frozenset(name for name, model in after.items() if model != before.get(name))
    return ModelSwitch(path, text, dotted(key), spec, changed)


def _models(agents: list[Agent]) -> Mapping[str, str]:
    return {agent.id: agent.memory_search.local.model_path for agent in agents}


def _entry(text: str, source: Path, agent: str) -> KeyPath | None:
    """Return the place of an agent in the list; None if it is in none."""
    listed = value_at(parse(text, source), ("agents", "list"))
    for number, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict) and folded_id(str(entry.get("id"))) == agent:
            return ("agents", "list", number)
    return None


def refuse_worse(invocation: Invocation, plan: ModelSwitch) -> None:
    """Raise NotNow if a running daemon would answer golden questions worse; without one nothing is asked."""
    from memoryd.cli.local.variant import refuse_regression

    try:
        refuse_regression(invocation, {MODEL[1:]: plan.spec}, plan.affected)
    except DaemonNotRunning:
        note("memoryd is not running: the golden questions, if there are any, were not asked")


def switch(invocation: Invocation, plan: ModelSwitch) -> Path | None:
    """Write the configuration, and have a running daemon take it; return the copy of the file before, if there was one.

    Raises NotNow where somebody else wrote it meanwhile, MemorydError.
    """
    return write_config(invocation, plan.path, plan.text)


def write_config(invocation: Invocation, path: Path, text: str) -> Path | None:
    """Write a text as the configuration, and have a running daemon take it; return and raise as `switch` does."""
    from memoryd.cli.written_file import make, replace_with_backup

    kept = None
    if path.exists():
        kept = replace_with_backup(path, text, datetime.now().astimezone())
    else:
        make(path, text)
    try:
        reply = invocation.memory.reload()
    except DaemonNotRunning:
        return kept
    if reply["problems"]:
        raise MemorydError(f"memoryd did not take the new configuration: {'; '.join(reply['problems'])}")
    return kept
