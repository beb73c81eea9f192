"""memoryctl config and http: check a configuration, show the values in effect, and manage the token of the port.

Both work without a daemon. The values in effect are shown key by key, with the origin of each; secrets are masked.
"""

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import click
from msgspec import Struct

from memoryd.cli.invocation import Invocation, argument, flag, with_invocation
from memoryd.cli.terminal import count, harmless_line, style, to_json
from memoryd.config.agents import Agent
from memoryd.config.loading.foreign import location_in_file
from memoryd.config.loading.keys import dotted, is_secret, may_show_secret
from memoryd.config.loading.load import ConfigCheck, Loaded, Remark, check_config, load
from memoryd.config.loading.overrides import Overrides, read_environment
from memoryd.config.loading.raw import (
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
from memoryd.config.paths import config_file
from memoryd.config.root import Config, json_schema
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, UnknownAgent
from memoryd.files.token_file import TokenFile
from memoryd.wire import Exit

USER_INFO = expression(r"(?<=://)[^/@\s]*@")
"""User name and password in an address."""
QUERY = expression(r"(?<=\?)[^#\s]+")
"""Query of an address, which may contain keys."""
DOWNLOAD = ("memorySearch", "local", "download")
SHARED = ("agents", "defaults")
EMBEDDER: Mapping[KeyPath, tuple[KeyPath, ...]] = {
    ("provider",): (("remote", "url"), ("local", "model_dir")),
    ("model",): (("remote", "model"),),
    ("queryInstruction",): (("remote", "query_instruction"),),
    ("remote", "baseUrl"): (("remote", "url"),),
    ("local", "modelPath"): (("local", "model_dir"),),
}
"""Keys of `memorySearch` → keys of `memory.embedder` that may set them."""


class Origin(StrEnum):
    """The origin of a value; `derived` values follow from others, such as the path of an index."""

    FILE = "file"
    ENVIRONMENT = "environment"
    DEFAULT = "default"
    DERIVED = "derived"


class Setting(Struct, frozen=True):
    """One key with its value in effect."""

    location: KeyPath
    value: object
    origin: Origin = Origin.DEFAULT
    place: Place | None = None
    variable: str = ""
    """The environment variable that sets the value; empty if there is none."""
    written: object = None
    """The value in the file if it differs: a relative path, a number out of its range."""

    @property
    def key(self) -> str:
        """The key in dotted form."""
        return dotted(self.location)


class Origins(Struct, frozen=True):
    """The sources of values: the content of the file, the places of its keys, and the overrides."""

    raw: Raw
    places: KeyPlaces
    overrides: Overrides

    def of(self, shown: KeyPath, value: object, *written_at: KeyPath) -> Setting:
        """Return the setting of a value that the file may have at these locations; the first one in the file wins."""
        for candidate in written_at:
            if variable := self._variable(candidate, value):
                return Setting(shown, value, Origin.ENVIRONMENT, variable=variable)
            if (location := location_in_file(self.raw, candidate)) in self.places.of_keys:
                written = _without_credentials(value_at(self.raw, location))
                # `models` is masked only in the loaded configuration
                is_public = not may_show_secret(Config, candidate) and candidate[:1] != ("models",)
                is_other = isinstance(written, str | int | float) and written != value and is_public
                place = self.places.of_keys[location]
                return Setting(shown, value, Origin.FILE, place, written=written if is_other else None)
        return Setting(shown, value)

    def _variable(self, location: KeyPath, value: object) -> str:
        """Return the environment variable that set a key over the file; empty if none did."""
        over = self.overrides
        if over.workspace is not None and location == (*SHARED, "workspace"):
            return "MEMORYD_WORKSPACE"
        if over.log_level is not None and location == ("log", "level"):
            return "MEMORYD_LOG_LEVEL"
        is_download = of_agent(location) == DOWNLOAD
        return "MEMORYD_OFFLINE" if over.offline and is_download and value is False else ""


@click.group("config")
def config_command() -> None:
    """Check the configuration, show the values in effect, or print its schema (works without memoryd)."""


@config_command.command("check")
@argument(
    "file",
    required=False,
    type=click.Path(path_type=Path),
    help="The file to check (else $MEMORYD_CONFIG, else ~/.config/memoryd/config.json5).",
)
@with_invocation
def check(invocation: Invocation, file: Path | None) -> Exit:
    """Report all problems and notices of a file, before memoryd starts with it.

    Exit code 0: memoryd would take it; 1: memoryd would refuse it.
    """
    result = check_config(file)
    reply: dict[str, object] = {
        "file": str(result.source) if result.source else None,
        "ok": result.loaded is not None,
        "problems": list(map(_remark_json, result.problems)),
        "notices": list(map(_remark_json, result.notices)),
    }
    invocation.show(reply, _check_lines(result))
    return Exit.DONE if result.loaded is not None else Exit.ERROR


@config_command.command("show")
@argument(
    "key",
    required=False,
    help="A key such as memory.qa or log.level, with the keys below it; with --agent as in its entry: "
    "memorySearch.provider.",
)
@flag("--all", "shows_defaults", help="Include keys that are not set and have their defaults.")
@with_invocation
def show(invocation: Invocation, key: str | None, shows_defaults: bool) -> Exit:
    """Show the values in effect, and where each came from: a line of the file, a variable, or the default.

    With --agent: the values for that agent, including the defaults of all agents. Secrets are never shown.
    """
    source, rows = shown_settings(invocation.agent, key or "")
    explicit = [row for row in rows if row.origin is not Origin.DEFAULT]
    chosen = rows if shows_defaults or key else explicit
    reply = {
        "file": str(source) if source else None,
        "agent": invocation.agent,
        "values": list(map(_setting_json, chosen)),
    }
    hidden = len(rows) - len(explicit)
    rest = () if shows_defaults or key else (f"{count(hidden, 'key')} more as by default: --all",)
    where = (f"the file is {source}" if source else f"there is no file {config_file()}: the defaults hold",)
    invocation.show(reply, _setting_lines(chosen), (*where, *rest))
    return Exit.DONE


@config_command.command("schema")
@with_invocation
def schema(_invocation: Invocation) -> Exit:
    """Print the JSON Schema of the file; an editor that knows it completes keys and marks what is wrong."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return Exit.DONE


def _check_lines(result: ConfigCheck) -> Iterator[str]:
    where = str(result.source) if result.source else ""
    for kind, colour, remarks in (("error", "red", result.problems), ("notice", "yellow", result.notices)):
        for remark in remarks:
            place = f"{where}:{remark.place.line}:{remark.place.column}" if remark.place else where
            # a remark without a file is about the environment
            start = f"{harmless_line(place)}: " if place else ""
            yield f"{start}{style(kind, colour=colour)}: {harmless_line(remark.message)}"
    if result.loaded is None:
        yield f"{count(len(result.problems), 'problem')}: memoryd would not start, nor take it at a reload"
        return
    if result.source is None:
        yield f"there is no file {harmless_line(str(config_file()))}: the defaults hold"
    agents = ", ".join(
        f"agent {agent.id} on {agent.workspace}{'' if agent.workspace.is_dir() else ' (no such folder)'}"
        for agent in result.loaded.config.resolved_agents()
    )
    yield f"{style('ok', colour='green')}: memoryd would take it, with {harmless_line(agents)}"


def _setting_lines(rows: Iterable[Setting]) -> Iterator[str]:
    for row in rows:
        origin = f"line {row.place.line}" if row.place else f"${row.variable}" if row.variable else str(row.origin)
        written = f", which says {to_json(row.written, indent=None)}" if row.written is not None else ""
        comment = style(f"  // {origin}{written}", dim=True)
        yield f"{harmless_line(row.key)}: {to_json(row.value, indent=None)}{comment}"


def _remark_json(remark: Remark) -> dict[str, object]:
    place = remark.place
    return {
        "message": remark.message,
        "key": remark.key or None,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def _setting_json(row: Setting) -> dict[str, object]:
    return {
        "key": row.key,
        "value": row.value,
        "origin": str(row.origin),
        "line": row.place.line if row.place else None,
        "variable": row.variable or None,
        "written": row.written,
    }


def settings(config: Config, origins: Origins) -> list[Setting]:
    """Return all keys in the order of the reference; for agents in the list only keys that are set."""
    explicit = config.model_dump(mode="json", exclude_unset=True)
    return [
        origins.of(location, value, location)
        for location, value in _leaves(config.model_dump(mode="json"), ())
        if location[:2] != ("agents", "list") or len(location) < 3 or value_at(explicit, location) is not None
    ]


def settings_of(agent: Agent, position: int | None, origins: Origins) -> list[Setting]:
    """Return the settings of one agent, with keys as in its entry.

    `position` is its position in `agents.list`; None if the list is empty.
    """
    own: KeyPath = ("agents", "list", position) if position is not None else ("agents", "list")
    values: Raw = {
        "id": agent.id,
        "name": agent.name,
        "workspace": str(agent.workspace),
        "sockets": [socket.model_dump(mode="json") for socket in agent.sockets],
        "memory": agent.turns.model_dump(mode="json"),
        "memorySearch": agent.memory_search.model_dump(mode="json"),
    }
    leaves = ((location[len(own) :], value) for location, value in _leaves(values, own))
    rows = [origins.of(at, value, *_written_at(agent, own, at, origins.overrides)) for at, value in leaves]
    paths = {"index": agent.index_path, "ledger": agent.ledger_path, "conversations": agent.conversations_path}
    return [*rows, *(Setting((name,), str(path), Origin.DERIVED) for name, path in paths.items())]


def below(key: str, rows: Iterable[Setting]) -> list[Setting]:
    """Return the settings of a key and of the keys below it."""
    return [row for row in rows if row.key == key or row.key.startswith((f"{key}.", f"{key}["))]


def _written_at(agent: Agent, own: KeyPath, at: KeyPath, overrides: Overrides) -> list[KeyPath]:
    """Return the locations where the file may set a value of an agent: its entry, the defaults, and RsClaw's keys."""
    if at == ("workspace",) and agent.is_default and overrides.workspace is not None:
        return [(*SHARED, *at)]
    locations = [(*own, *at), (*SHARED, *at)]
    if at[:1] == ("memorySearch",):
        locations += [(*SHARED, "memory", "embedder", *rest) for rest in EMBEDDER.get(at[1:], ())]
    return locations


def _leaves(value: object, location: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Yield single values with their locations; a list of texts, and a reference to a secret, are single values."""
    if isinstance(value, dict) and value and not is_secret(Config, location):
        for key, inner in value.items():
            yield from _leaves(inner, (*location, str(key)))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _leaves(item, (*location, number))
    else:
        yield location, _without_credentials(value)


def _without_credentials(value: object) -> object:
    """Mask user, password and query in an address, also in a list of addresses; other values are unchanged."""
    if isinstance(value, list):
        return list(map(_without_credentials, value))
    if not isinstance(value, str) or "://" not in value:
        return value
    return QUERY.sub("***", USER_INFO.sub("***@", value))


def shown_settings(agent: str | None, key: str) -> tuple[Path | None, list[Setting]]:
    """Return the file, and the settings of a key, or all settings if `key` is empty.

    Raises ConfigError, UnknownAgent, and InvalidRequest for an unknown key.
    """
    loaded = load()
    text = read(loaded.source) if loaded.source is not None else ""
    raw = parse(text, loaded.source) if loaded.source is not None else {}
    origins = Origins(raw, places(text), read_environment(os.environ)[0])
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
    """Return a hint with keys that have the same last part, else with similar keys."""
    name = key.rpartition(".")[2].lower()
    similar = [other for other in known if other.rpartition(".")[2].lower() == name]
    similar = similar[:3] or difflib.get_close_matches(key, known, n=3, cutoff=0.6)
    return f"perhaps: {', '.join(similar)}" if similar else "all of them: memoryctl config show --all"


@click.group("http")
def http_command() -> None:
    """Look after the port on loopback (http.enabled)."""


@http_command.command("token")
@flag("--rotate", "is_rotating", help="Make a new token; the old one is invalid at once.")
@with_invocation
def token(invocation: Invocation, is_rotating: bool) -> Exit:
    """Print the token and its file; the token is made if there is none.

    Works without a daemon. A program with the token may ask as you.
    """
    file = TokenFile(load().config.http.token_path())
    secret = file.rotate() if is_rotating else file.ensure()
    return invocation.show({"tokenFile": str(file.path), "token": secret}, [str(file.path), secret])
