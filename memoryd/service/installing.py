"""What an installed service consists of, by the configuration and the environment, and how it differs from the disk."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.root import Config
from memoryd.service.carried_environment import (
    carried_environment,
    carried_places,
    programs_run,
    search_path,
    unheld_keys,
    unheld_proxies,
)
from memoryd.service.service_needs import ServiceNeeds, needs_of
from memoryd.service.service_program import daemon_command, program_places, why_fleeting


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """All that unit files are made of."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    """What the daemon is told, by name."""
    folders: tuple[str, ...]
    """Folders of programs that the manager would not look into."""
    needs: ServiceNeeds
    is_hardened: bool
    notes: tuple[str, ...] = ()
    """What its owner should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFiles:
    """The files of an installation; pure text until they are written."""

    written: Mapping[Path, str]
    unwanted: tuple[Path, ...] = ()
    """Files of ours that this installation does not have."""
    folders: tuple[Path, ...] = ()
    """Folders that must be there before the daemon starts."""


def installation_of(
    config: Config, source: Path | None, environment: Mapping[str, str], *, is_hardened: bool
) -> Installation:
    """Look at what is to be installed here; raises nothing that `Config` has not raised."""
    command, carried = daemon_command(), carried_environment(environment)
    programs = programs_run(config, environment)
    needs = needs_of(config, source, also=[*program_places(command[0]), *programs, *carried_places(carried)])
    return Installation(
        command=command,
        environment=carried,
        folders=search_path(programs),
        needs=needs,
        is_hardened=is_hardened,
        notes=tuple(_notes(command, carried, needs, environment, is_hardened=is_hardened)),
    )


def changed_lines(files: ServiceFiles) -> dict[Path, list[str]]:
    """Return of each file that is not on the disk as it should be the lines that differ: `-` goes, `+` comes."""
    found = {path: _difference(_on_disk(path), text) for path, text in files.written.items()}
    found |= {path: _difference(_on_disk(path), "") for path in files.unwanted}
    return {path: lines for path, lines in found.items() if lines}


def _on_disk(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _difference(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _notes(
    command: tuple[str, ...],
    carried: Mapping[str, str],
    needs: ServiceNeeds,
    environment: Mapping[str, str],
    *,
    is_hardened: bool,
) -> Iterator[str]:
    if reason := why_fleeting(command[0]):
        good = "by pipx, by `uv tool`, or in a virtual environment that stays"
        yield f"{reason}: the service ends with it; install memoryd for good: {good}"
    if carried:
        yield f"the service is told of {', '.join(carried)}, as set here"
    for name in unheld_keys(environment):
        yield (
            f"{name} is set here and the service does not see it: keys do not belong into unit files; "
            'name a file in the configuration: { file: "/absolute/path" }'
        )
    for name in unheld_proxies(environment):
        yield f"{name} holds a password, and the service does not see it; a drop-in of yours may name a proxy"
    for folder in needs.workspaces:
        if not folder.exists():
            then = "; once it does, run `memoryctl service restart`" if is_hardened else ""
            yield f"the workspace {folder} does not exist yet{then}"
