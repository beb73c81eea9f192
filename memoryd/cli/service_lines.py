"""What a person is shown of the service: its steps, how it stands, and what is left of it."""

import getpass
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memoryd.cli.terminal import harmless_line, styled
from memoryd.config.paths import cache_dir, config_file, state_dir
from memoryd.service.steps import KEPT, ServiceState, ServiceStep, StepKind
from memoryd.service.systemd import DROP_IN, unit_folder

SHOWN: int = 6
"""Lines of a difference that are shown."""


def step_lines(step: ServiceStep) -> Iterator[str]:
    """Yield a step, and the text that it would write."""
    yield f"{step.kind:<7} {harmless_line(step.what)}  ({step.why})"
    if step.kind is StepKind.WRITE:
        yield from (f"        {harmless_line(line)}".rstrip() for line in step.text.expandtabs(4).splitlines())


def step_row(step: ServiceStep) -> dict[str, object]:
    """Return a step as JSON has it."""
    row: dict[str, object] = {"kind": str(step.kind), "what": step.what, "why": step.why}
    if step.kind is StepKind.WRITE:
        row["text"] = step.text
    return row


def state_row(state: ServiceState) -> dict[str, object]:
    """Return how the service stands as JSON has it."""
    return {
        "manager": state.manager,
        "isInstalled": state.is_installed,
        "isEnabled": state.is_enabled,
        "isRunning": state.is_running,
        "pid": state.pid,
        "phase": state.phase,
        "lingers": state.lingers,
        "files": [str(path) for path in state.files],
        "foreign": [str(path) for path in state.foreign],
        "reason": state.reason,
        "hint": state.hint,
    }


def state_lines(state: ServiceState) -> Iterator[str]:
    """Yield how the service stands."""
    colour, word = ("green", "running") if state.is_running else ("red", "not running")
    if not state.is_installed:
        colour, word = "yellow", "not installed"
    pid = f", process {state.pid}" if state.pid else ""
    yield f"memoryd is {styled(word, colour=colour)}{pid}"
    if state.is_installed and state.manager == "none":
        yield "  its files are there, and nobody reads them now; to remove them: memoryctl service uninstall"
        yield from (f"  {path}" for path in state.files)
    elif state.is_installed:
        yield f"  {state.manager}: {state.phase or 'unknown'}, {'' if state.is_enabled else 'not '}started at login"
        yield from (f"  {path}{' (not ours)' if path in state.foreign else ''}" for path in state.files)
    elif state.manager != "none":
        yield "  install it: memoryctl service install"
    if state.reason:
        yield f"  {harmless_line(state.reason)}"
        yield f"  {state.hint}"


def difference_notes(changes: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield which files are older than the configuration, and in what."""
    for path, lines in changes.items():
        said = [line for line in lines if not line[1:].startswith("#")]
        more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
        yield (
            f"{path} does not fit the configuration, the environment or this version any more "
            f"({'; '.join(said[:SHOWN])}{more}): memoryctl service install"
        )


def linger_note(state: ServiceState) -> Iterator[str]:
    """Yield that it ends at logout, with the command that changes that."""
    if state.manager == "systemd" and not state.lingers:
        yield (
            "it stops when you log out and does not start before you log in; to change that: "
            f"loginctl enable-linger {shlex.quote(_user())}"
        )


def left_lines(kept: Iterable[Path] = ()) -> Iterator[str]:
    """Yield what an uninstall leaves, and how to remove it; `kept` is what an installation with force has kept."""
    drop_ins = (unit_folder(os.environ) / DROP_IN).parent
    places = {"indexes and history": state_dir(), "models": cache_dir(), "the configuration": config_file()}
    places["drop-ins that are not of memoryctl"] = drop_ins
    there = {what: path for what, path in places.items() if path.exists()}
    yield "left as they are: your notes" + ("" if not there else ", and")
    yield from (f"  {path}  ({what})" for what, path in there.items())
    if there:
        yield f"to remove these too, for good: rm -r {shlex.join(map(str, there.values()))}"
    for copy in kept:
        was = str(copy).partition(KEPT)[0]
        yield f"what stood there before `install --force` lies in {harmless_line(str(copy))}; to have it back:"
        yield f"  {harmless_line(shlex.join(['mv', str(copy), was]))}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(Path.home().name)
