"""Checks of doctor for programs that start memoryd: the service manager, agent programs with hooks, and MCP clients.

Settings of these programs are read; commands in them are not run.
"""

import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from memoryd.cli.checks.finding import CheckContext, Finding, Findings, Remedy, check
from memoryd.cli.terminal import count
from memoryd.config.loading.load import Loaded
from memoryd.domain.expressions import expression
from memoryd.domain.settings_text import parse_settings
from memoryd.errors import MemorydError
from memoryd.files.writing import replace_file
from memoryd.hooks.hosts import HOSTS, Host, is_installed
from memoryd.service.installing import ServiceFiles, changed_lines, installation_of
from memoryd.service.managers import ServiceManager, manager_here
from memoryd.service.steps import ServiceState, ServiceStep, carry_out_steps
from memoryd.service.systemd import DROP_IN, MASKED

_INSTALL = "memoryctl service install"
_EXEC = expression(r"^ExecStart=[-@:+!]*(\"(?:[^\"\\]|\\.)*\"|\S+)", re.MULTILINE)


@check(
    "service.units",
    "service",
    advice=(
        "`memoryctl service install` writes the files anew, which `--fix` does too; `loginctl enable-linger` keeps "
        "it running after logout"
    ),
    needs_config=False,
)
def units(examination: CheckContext) -> Findings:
    """Check the state of memoryd in systemd or launchd: installed, enabled, running, its program present, running after
    logout, its files up to date with the configuration."""
    manager = manager_here()
    state = manager.state()
    if state.manager == "none":
        yield Finding("off", f"no service manager: {state.reason}", state.hint)
    elif not state.has_files:
        yield Finding("off", "memoryd is not a service: it does not start by itself", _INSTALL)
    elif state.phase == MASKED:
        # masking is the user's decision
        yield Finding("off", state.reason, state.hint)
    else:
        yield from unit_findings(state)
        status = examination.status
        if status is not None and state.pid is not None and status["pid"] != state.pid:
            message = f"the service runs as pid {state.pid}, and pid {status['pid']} answers"
            yield Finding("look", message, "stop the one that was started by hand")
        if examination.loaded is not None and not state.foreign:
            yield from _outdated_findings(manager, state, examination.loaded)


def unit_findings(state: ServiceState) -> Findings:
    """Yield the findings about an installed service."""
    if state.reason:
        yield Finding("wrong", state.reason, state.hint or "read why: memoryctl service logs")
    for path in state.files:
        if (program := unit_program(path)) and shutil.which(program) is None:
            message = f"{path} starts {program}, which is not there"
            yield Finding("wrong", message, f"{_INSTALL}, from where memoryd is installed now")
    if not state.is_enabled:
        yield Finding("look", "it is installed, and does not start by itself", _INSTALL)
    if not state.is_running and not state.reason:
        hint = "a socket unit starts it at the first request; else: memoryctl service start"
        yield Finding("look", f"it is installed, and does not run ({state.phase})", hint)
    if state.lingers is False:
        yield Finding("look", "it ends when you log out", "keep it: loginctl enable-linger")
    if state.is_running and not state.reason:
        yield Finding("ok", f"{state.manager}: {state.phase}, pid {state.pid}")


def unit_program(path: Path) -> str:
    """Return the program that a systemd unit starts; empty if it names none or cannot be read."""
    try:
        match = _EXEC.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return match[1].strip('"').replace("%%", "%").replace("\\x20", " ") if match else ""


def _outdated_findings(manager: ServiceManager, state: ServiceState, loaded: Loaded) -> Findings:
    is_hardened = any(path.name == DROP_IN.name for path in state.files)
    files = manager.files(installation_of(loaded.config, loaded.source, os.environ, is_hardened=is_hardened))
    if not set(files.written) & set(state.files):
        # the units belong to a package, and memoryctl must not write them
        return
    for path, lines in changed_lines(files).items():
        message = f"{path} does not fit the configuration: {count(len(lines), 'line')} would change"
        yield Finding("look", message, f"{_INSTALL}; --dry-run shows the lines", _rewrite_remedy(manager, state, files))


def _rewrite_remedy(manager: ServiceManager, state: ServiceState, files: ServiceFiles) -> Remedy:
    def act() -> str:
        done: list[ServiceStep] = []
        carry_out_steps(manager.install(files, state), write=replace_file, tell=done.append)
        return "; ".join(f"{step.kind} {step.what}" for step in done)

    return Remedy("write the files of the service anew (memoryctl service install)", act)


CLIENTS = (
    "~/.codeium/windsurf/mcp_config.json",
    "~/.config/Claude/claude_desktop_config.json",
    "~/Library/Application Support/Claude/claude_desktop_config.json",
)
"""Settings files of MCP clients without hooks, which list the servers that they start."""
_KEYS = ("mcpServers", "mcp_servers", "mcp")
_OURS = ("memoryctl", "memoryd")


@check(
    "hooks.programs",
    "hooks",
    advice="install them again: `memoryctl hooks install PROGRAM`; `--fix` does",
    needs_config=False,
)
def programs(_examination: CheckContext) -> Findings:
    """Check whether our hooks in the settings of agent programs run programs that exist."""
    hosts = [host for host in HOSTS.values() if is_installed(host)]
    if not hosts:
        yield Finding("off", "no agent program is here", "memoryctl hooks list shows the supported ones")
    for host in hosts:
        try:
            yield from _hook_findings(host)
        except MemorydError as exc:  # in the settings of this program; the others are still checked
            yield Finding("wrong", str(exc), exc.hint)


def _hook_findings(host: Host) -> Findings:
    # imported here: it loads memoryd.files
    from memoryd.cli.local.hook_settings import commands_in

    install = f"memoryctl hooks install {host.name}"
    path, commands = commands_in(host, None)
    if not commands:
        yield Finding("off", f"not installed for {host.title}", f"{install} lets it ask memoryd")
        return
    missing = {name for command in commands.values() if (name := missing_program(command))}
    for name in sorted(missing):
        yield Finding(
            "wrong", f"{path} runs {name}, which is not there", install, _reinstall_remedy(host, path, commands)
        )
    if absent := [event for event in host.events if event not in commands]:
        yield Finding("look", f"installed in part: {path} lacks {', '.join(absent)}", install)
    elif not missing:
        yield Finding("ok", f"installed in {path}")


@check(
    "hooks.mcp",
    "MCP",
    advice="correct the command in that file: `docs/how-to/mcp.md`",
    needs_config=False,
)
def mcp_servers(_examination: CheckContext) -> Findings:
    """Check whether entries for memoryd in the settings of MCP clients run programs that exist."""
    # imported here, as in _hook_findings
    from memoryd.cli.local.hook_settings import places

    paths = [path for host in HOSTS.values() for path in places(host, None).get("server", ())]
    paths += [Path(name).expanduser() for name in CLIENTS]
    findings = [finding for path in paths if path.is_file() for finding in _server_findings(path)]
    yield from findings or [Finding("off", "no client on this machine names memoryd", "docs/how-to/mcp.md says how to")]


def _server_findings(path: Path) -> Findings:
    """Yield a finding for each entry for memoryd in the settings of a client."""
    # imported here, as in _hook_findings
    from memoryd.cli.local.hook_settings import command_words

    try:
        entries = list(_servers(_read(path)))
    except MemorydError as exc:  # in the settings of this program, as in programs
        yield Finding("wrong", str(exc), exc.hint)
        return
    for words in filter(None, map(command_words, entries)):
        if not any(Path(word).name.startswith(_OURS) for word in words):
            continue
        if name := missing_program(shlex.join(words)):
            hint = f"write the full path there: {shutil.which('memoryctl') or 'that of memoryctl'}"
            yield Finding("wrong", f"{path} runs {name}, which is not there", hint)
        else:
            yield Finding("ok", f"{path} runs {words[0]}")


def missing_program(command: str) -> str:
    """Return the program of a command line if it does not exist, else an empty text."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return "" if words and shutil.which(words[0]) else words[0] if words else command


def _reinstall_remedy(host: Host, path: Path, commands: Mapping[str, str]) -> Remedy:
    def act() -> str:
        # imported here, as in _hook_findings
        from memoryd.cli.local.hook_settings import installation, write

        # a missing program is replaced by this Python; its options stay
        repaired = {
            event: shlex.join([sys.executable, *shlex.split(command)[1:]]) if missing_program(command) else command
            for event, command in commands.items()
        }
        for change in installation(host, None, repaired, {"hooks"}):
            write(change)
        return f"{path} runs {sys.executable}"

    return Remedy(f"name this Python in {path}: {sys.executable}", act)


def _read(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else parse_settings(text, has_comments=True)
    except (OSError, ValueError, RecursionError) as exc:
        raise MemorydError(
            f"{path} cannot be read: {exc}", hint="correct it by hand; memoryd changes nothing there"
        ) from exc


def _servers(settings: object) -> Iterator[Mapping[str, object]]:
    if not isinstance(settings, dict):
        return
    for key in _KEYS:
        servers = settings.get(key)
        for entry in servers.values() if isinstance(servers, dict) else ():
            if isinstance(entry, dict):
                yield entry
