"""memoryctl config and http: what a file says, what is wrong with it, what holds, and the token of the port.

Both work without a daemon.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from memoryd.cli.invocation import Invocation, argument, flag, verb
from memoryd.cli.terminal import count, encoded, harmless_line, styled
from memoryd.config.loading.effective import Origin, Setting, shown_settings
from memoryd.config.loading.load import Checked, Remark, checked, load
from memoryd.config.paths import config_file
from memoryd.config.root import json_schema
from memoryd.files.token_file import TokenFile
from memoryd.wire import Exit


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
