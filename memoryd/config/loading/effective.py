"""The values in effect, key by key, with the origin of each. Of a secret it shows only that there is one."""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.loading.foreign import place_in
from memoryd.config.loading.keys import dotted, is_secret, may_show_secret
from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.overrides import Overrides, from_environment
from memoryd.config.loading.raw import (
    ConfigText,
    KeyPath,
    KeyPlaces,
    Place,
    Raw,
    of_agent,
    parse,
    places,
    read,
    value_at,
)
from memoryd.config.root import Config
from memoryd.config.section import Section
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, UnknownAgent

USER_INFO = expression(r"(?<=://)[^/@\s]*@")
"""Name and password in an address."""
QUERY = expression(r"(?<=\?)[^#\s]+")
"""What follows the question mark of an address: keys stand there, too."""
DOWNLOAD = ("memorySearch", "local", "download")
SHARED = ("agents", "defaults")
EMBEDDER: Mapping[KeyPath, tuple[KeyPath, ...]] = {
    ("provider",): (("remote", "url"), ("local", "model_dir")),
    ("model",): (("remote", "model"),),
    ("queryInstruction",): (("remote", "query_instruction"),),
    ("remote", "baseUrl"): (("remote", "url"),),
    ("local", "modelPath"): (("local", "model_dir"),),
}
"""Keys of `memorySearch` that `memory.embedder` may decide."""


class Origin(StrEnum):
    """Where a value came from; `derived` is what follows from others, such as where an index lies."""

    FILE = "file"
    ENVIRONMENT = "environment"
    DEFAULT = "default"
    DERIVED = "derived"


class Setting(Struct, frozen=True):
    """One key with the value that holds."""

    location: KeyPath
    value: object
    origin: Origin = Origin.DEFAULT
    place: Place | None = None
    variable: str = ""
    """Of the environment; empty unless it is one that decides."""
    written: object = None
    """What the file says where that is another thing: a relative path, a number out of its range."""

    @property
    def key(self) -> str:
        """The key as people write it."""
        return dotted(self.location)


class Origins(Struct, frozen=True):
    """What each value is held against: the file as it is written, and what wins over it."""

    raw: Raw
    places: KeyPlaces
    overrides: Overrides

    def of(self, shown: KeyPath, value: object, *written_at: KeyPath) -> Setting:
        """Return the setting of a value that may be written at these places, the first of which wins."""
        for known in written_at:
            if variable := self._variable(known, value):
                return Setting(shown, value, Origin.ENVIRONMENT, variable=variable)
            if (location := place_in(self.raw, known)) in self.places.of_keys:
                place, written = self.places.of_keys[location], value_at(self.raw, location)
                plain = _without_credentials(written)
                is_other = isinstance(plain, str | int | float) and plain != value and _may_be_shown(known)
                return Setting(shown, value, Origin.FILE, place, written=plain if is_other else None)
        return Setting(shown, value)

    def _variable(self, location: KeyPath, value: object) -> str:
        """Return the variable that decides about a key, which loading has written over what the file says."""
        over = self.overrides
        if over.workspace is not None and location == (*SHARED, "workspace"):
            return "MEMORYD_WORKSPACE"
        if over.log_level is not None and location == ("log", "level"):
            return "MEMORYD_LOG_LEVEL"
        is_download = of_agent(location) == DOWNLOAD
        return "MEMORYD_OFFLINE" if over.offline and is_download and value is False else ""


def settings(config: Config, origins: Origins) -> list[Setting]:
    """Return all keys in the order of the reference; of agents in the list only what is said of them."""
    explicit = _dump(config, is_whole=False)
    return [
        origins.of(location, value, location)
        for location, value in _leaves(_dump(config, is_whole=True), ())
        if location[:2] != ("agents", "list") or len(location) < 3 or value_at(explicit, location) is not None
    ]


def settings_of(agent: Agent, position: int | None, origins: Origins) -> list[Setting]:
    """Return what holds for one agent, named as in its entry; `position` in the list, None if none is listed."""
    own: KeyPath = ("agents", "list", position) if position is not None else ("agents", "list")
    values: Raw = {
        "id": agent.id,
        "name": agent.name,
        "workspace": str(agent.workspace),
        "sockets": [_dump(socket, is_whole=True) for socket in agent.sockets],
        "memory": _dump(agent.turns, is_whole=True),
        "memorySearch": _dump(agent.memory_search, is_whole=True),
    }
    found = ((location[len(own) :], value) for location, value in _leaves(values, own))
    rows = [origins.of(at, value, *_written_at(agent, own, at, origins.overrides)) for at, value in found]
    paths = {"index": agent.index_path, "ledger": agent.ledger_path, "conversations": agent.conversations_path}
    return [*rows, *(Setting((name,), str(path), Origin.DERIVED) for name, path in paths.items())]


def below(key: str, rows: Iterable[Setting]) -> list[Setting]:
    """Return the settings of a key and of the keys below it."""
    return [row for row in rows if row.key == key or row.key.startswith((f"{key}.", f"{key}["))]


def _written_at(agent: Agent, own: KeyPath, at: KeyPath, overrides: Overrides) -> list[KeyPath]:
    """Return where a value of an agent may be written: in its entry, among the defaults, or as RsClaw has it."""
    if at == ("workspace",) and agent.is_default and overrides.workspace is not None:
        return [(*SHARED, *at)]
    named = [(*own, *at), (*SHARED, *at)]
    if at[:1] == ("memorySearch",):
        named += [(*SHARED, "memory", "embedder", *rest) for rest in EMBEDDER.get(at[1:], ())]
    return named


def _dump(section: Section, *, is_whole: bool) -> Raw:
    dumped: Raw = section.model_dump(mode="json", exclude_unset=not is_whole)
    return dumped


def _leaves(value: object, location: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Walk down to single values; a list of texts is one, and so is an object that names a secret."""
    if isinstance(value, dict) and value and not is_secret(Config, location):
        for key, inner in value.items():
            yield from _leaves(inner, (*location, str(key)))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _leaves(item, (*location, number))
    else:
        yield location, _without_credentials(value)


def _may_be_shown(location: KeyPath) -> bool:
    """Tell whether what the file says itself may be shown, as it was not masked on the way."""
    return not may_show_secret(Config, location) and location[:1] != ("models",)


def _without_credentials(value: object) -> object:
    """Hide who logs in at an address, and how; in lists as well."""
    if isinstance(value, list):
        return list(map(_without_credentials, value))
    if not isinstance(value, str) or "://" not in value:
        return value
    return QUERY.sub("***", USER_INFO.sub("***@", value))


def shown_settings(agent: str | None, key: str) -> tuple[Path | None, list[Setting]]:
    """Return the file and the settings of a key, else all.

    Raises ConfigError, UnknownAgent, and InvalidRequest for a key that there is not.
    """
    loaded = load()
    written = read(loaded.source) if loaded.source is not None else ConfigText()
    raw = parse(written.text, loaded.source) if loaded.source is not None else {}
    origins = Origins(raw, places(written.text), from_environment(os.environ)[0])
    rows = settings(loaded.config, origins) if agent is None else _agent_settings(loaded, agent, origins)
    chosen = below(key, rows) if key else rows
    if not chosen:
        raise InvalidRequest(f"there is no key {key}", hint=_similar_keys(key, [row.key for row in rows]))
    return loaded.source, chosen


def _agent_settings(loaded: Loaded, name: str, origins: Origins) -> list[Setting]:
    agents = loaded.config.resolved_agents()
    for number, agent in enumerate(agents):
        if agent.id == name:
            return settings_of(agent, number if loaded.config.agents.list else None, origins)
    raise UnknownAgent(f"no agent {name!r} is configured", hint=f"there is: {', '.join(agent.id for agent in agents)}")


def _similar_keys(key: str, known: Sequence[str]) -> str:
    """Return the sentence that names a key of that last name, else one that is much like it."""
    name = key.rpartition(".")[2].lower()
    similar = [other for other in known if other.rpartition(".")[2].lower() == name]
    similar = similar[:3] or difflib.get_close_matches(key, known, n=3, cutoff=0.6)
    return f"perhaps: {', '.join(similar)}" if similar else "all of them: memoryctl config show --all"
