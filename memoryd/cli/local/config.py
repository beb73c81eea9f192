"""memoryctl config and http: what a file says, what is wrong with it, what holds, and the token of the port.

Both work without a daemon. The values in effect are shown key by key, with the origin of each; of a secret only that
there is one.
"""

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import click
from msgspec import Struct

from memoryd.cli.invocation import Invocation, argument, flag, verb
from memoryd.cli.terminal import count, encoded, harmless_line, styled
from memoryd.config.agents import Agent
from memoryd.config.loading.foreign import place_in
from memoryd.config.loading.keys import dotted, is_secret, may_show_secret
from memoryd.config.loading.load import Checked, Loaded, Remark, checked, load
from memoryd.config.loading.overrides import Overrides, from_environment
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
from memoryd.config.section import Section
from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, UnknownAgent
from memoryd.files.token_file import TokenFile
from memoryd.wire import Exit

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


@click.group("config")
def config_command() -> None:
    """Check the configuration, show what holds, or write its schema for an editor (works without memoryd)."""


@config_command.command("check")
@argument(
    "file",
    required=False,
    type=click.Path(path_type=Path),
    help="The file to check (else $MEMORYD_CONFIG, else ~/.config/memoryd/config.json5).",
)
@verb
def check(invocation: Invocation, file: Path | None) -> Exit:
    """Tell everything that is wrong with a file, and what is worth knowing, before memoryd starts with it.

    Exit code 0: memoryd would take it; 1: memoryd would refuse it.
    """
    found = checked(file)
    reply: dict[str, object] = {
        "file": str(found.source) if found.source else None,
        "ok": found.loaded is not None,
        "problems": [_remark_json(one) for one in found.problems],
        "notices": [_remark_json(one) for one in found.notices],
    }
    invocation.show(reply, _check_lines(found))
    return Exit.DONE if found.loaded is not None else Exit.ERROR


@config_command.command("show")
@argument(
    "key",
    required=False,
    help="A key such as memory.qa or log.level, with what stands in it; with --agent as in its entry: "
    "memorySearch.provider.",
)
@flag("--all", "is_whole", help="Also what nobody said, which is as by default.")
@verb
def show(invocation: Invocation, key: str | None, is_whole: bool) -> Exit:
    """Show the values that hold, and where each came from: a line of the file, a variable, or the default.

    With --agent: what holds for that agent, the defaults of all agents counted in. Secrets are never shown.
    """
    source, found = shown_settings(invocation.agent, key or "")
    default = [one for one in found if one.origin is Origin.DEFAULT]
    chosen = found if is_whole or key else [one for one in found if one.origin is not Origin.DEFAULT]
    reply = {
        "file": str(source) if source else None,
        "agent": invocation.agent,
        "values": [_setting_json(one) for one in chosen],
    }
    rest = () if is_whole or key else (f"{count(len(default), 'key')} more as by default: --all",)
    where = (f"the file is {source}" if source else f"there is no file {config_file()}: the defaults hold",)
    invocation.show(reply, _setting_lines(chosen), (*where, *rest))
    return Exit.DONE


@config_command.command("schema")
@verb
def schema(_invocation: Invocation) -> Exit:
    """Print the JSON Schema of the file; an editor that knows it completes keys and marks what is wrong."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return Exit.DONE


def _check_lines(found: Checked) -> Iterator[str]:
    where = str(found.source) if found.source else ""
    for kind, colour, remarks in (("error", "red", found.problems), ("notice", "yellow", found.notices)):
        for one in remarks:
            place = f"{where}:{one.place.line}:{one.place.column}" if one.place else where
            # a remark without a file is about the environment
            start = f"{harmless_line(place)}: " if place else ""
            yield f"{start}{styled(kind, colour=colour)}: {harmless_line(one.message)}"
    if found.loaded is None:
        yield f"{count(len(found.problems), 'problem')}: memoryd would not start, nor take it at a reload"
        return
    if found.source is None:
        yield f"there is no file {harmless_line(str(config_file()))}: the defaults hold"
    agents = ", ".join(f"agent {agent.id} on {agent.workspace}" for agent in found.loaded.config.resolved_agents())
    yield f"{styled('ok', colour='green')}: memoryd would take it, with {harmless_line(agents)}"


def _setting_lines(found: Iterable[Setting]) -> Iterator[str]:
    for one in found:
        written = f", which says {encoded(one.written, indent=None)}" if one.written is not None else ""
        origin = styled(f"  // {_origin(one)}{written}", dim=True)
        yield f"{harmless_line(one.key)}: {encoded(one.value, indent=None)}{origin}"


def _origin(one: Setting) -> str:
    if one.place is not None:
        return f"line {one.place.line}"
    return f"${one.variable}" if one.variable else str(one.origin)


def _remark_json(one: Remark) -> dict[str, object]:
    place = one.place
    return {
        "message": one.message,
        "key": one.key or None,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def _setting_json(one: Setting) -> dict[str, object]:
    return {
        "key": one.key,
        "value": one.value,
        "origin": str(one.origin),
        "line": one.place.line if one.place else None,
        "variable": one.variable or None,
        "written": one.written,
    }


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
    text = read(loaded.source) if loaded.source is not None else ""
    raw = parse(text, loaded.source) if loaded.source is not None else {}
    origins = Origins(raw, places(text), from_environment(os.environ)[0])
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


@click.group("http")
def http_command() -> None:
    """Look after the port on loopback (http.enabled)."""


@http_command.command("token")
@flag("--rotate", "is_rotating", help="Make a new token; the one before holds no more, at once.")
@verb
def token(invocation: Invocation, is_rotating: bool) -> Exit:
    """Print the token and the file that holds it; it is made if there is none.

    Works without a daemon. Whoever has the token may ask as you.
    """
    file = TokenFile(load().config.http.token_path())
    secret = file.rotate() if is_rotating else file.ensure()
    return invocation.show({"tokenFile": str(file.path), "token": secret}, [str(file.path), secret])
