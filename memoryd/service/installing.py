"""The content of an installed service, from configuration and environment, and its differences from the files on disk.

The service gets variables with paths, and never a key.
"""

import difflib
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from memoryd.config.loading.overrides import HUB_VARIABLE, OFFLINE, PROXY_VARIABLES
from memoryd.config.root import Config
from memoryd.domain.embedding import PROVIDERS
from memoryd.service.needs import ServiceNeeds, has_packaged_model, needs_of

PATH_VARIABLES = (
    "MEMORYD_CONFIG",
    "MEMORYD_STATE_DIR",
    "MEMORYD_SOCKET",
    "MEMORYD_WORKSPACE",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "OPENCLAW_STATE_DIR",
    "HF_HUB_CACHE",
    "HF_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)
"""Variables that name a folder or a file."""
ADDRESS_VARIABLES = (HUB_VARIABLE, *PROXY_VARIABLES)
"""Variables with an address; an address with a password must not be written into a unit."""
KEY_VARIABLES = tuple(name for row in PROVIDERS.values() for name in row.key_variables)
"""Variables with a key; the daemon may read them, but they must not be written into a unit."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders that service managers search for programs by default."""
PROGRAM = "memoryd"
TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run")


class Installation(Struct, frozen=True, kw_only=True):
    """The input of the unit files."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    """The variables of the daemon."""
    folders: tuple[str, ...]
    """Folders of programs that the manager does not search by default."""
    needs: ServiceNeeds
    is_hardened: bool
    notes: tuple[str, ...] = ()
    """Notes for the owner."""


class ServiceFiles(Struct, frozen=True, kw_only=True):
    """The files of an installation, not yet written."""

    written: Mapping[Path, str]
    """Path → content."""
    unwanted: tuple[Path, ...] = ()
    """Existing files of memoryd that are not part of this installation."""
    folders: tuple[Path, ...] = ()
    """Folders that must exist before the daemon starts."""


def installation_of(
    config: Config, source: Path | None, environment: Mapping[str, str], *, is_hardened: bool
) -> Installation:
    """Return the installation for this machine; a valid `config` never makes it raise."""
    command, carried = daemon_command(), carried_environment(environment)
    programs = _programs(config, environment.get("PATH", os.defpath))
    carried_paths = [Path(carried[name]) for name in PATH_VARIABLES if name in carried]
    needs = needs_of(config, source, also=[*program_paths(command[0]), *programs, *carried_paths])
    folders = dict.fromkeys(str(program.parent) for program in programs)
    return Installation(
        command=command,
        environment=carried,
        folders=tuple(folder for folder in folders if folder not in SYSTEM_FOLDERS),
        needs=needs,
        is_hardened=is_hardened,
        notes=tuple(_notes(command, carried, needs, environment, is_hardened=is_hardened)),
    )


def changed_lines(files: ServiceFiles) -> dict[Path, list[str]]:
    """Return path → diff lines (`-` removed, `+` added) for each file that differs from its content on disk."""
    wanted = {**files.written, **dict.fromkeys(files.unwanted, "")}
    changes = {path: _difference(path, text) for path, text in wanted.items()}
    return {path: lines for path, lines in changes.items() if lines}


def _difference(path: Path, after: str) -> list[str]:
    try:
        before = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        before = ""
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
    if reason := why_temporary(command[0]):
        yield (
            f"{reason}: the service ends with it; "
            "install memoryd for good: by pipx, by `uv tool`, or in a virtual environment that stays"
        )
    if carried:
        yield f"the service gets {', '.join(carried)}, as set here"
    for name in filter(environment.get, KEY_VARIABLES):
        yield (
            f"{name} is set here and the service does not see it: keys do not belong into unit files; "
            'name a file in the configuration: { file: "/absolute/path" }'
        )
    for name in ADDRESS_VARIABLES:
        if "@" in environment.get(name, ""):
            yield f"{name} holds a password, and the service does not see it; a drop-in of yours may name it"
    for folder in needs.workspaces:
        if not folder.exists():
            advice = "; once it does, run `memoryctl service restart`" if is_hardened else ""
            yield f"the workspace {folder} does not exist yet{advice}"


def carried_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for the service, with absolute paths; an empty variable counts as unset."""
    paths = {name: _absolute(name, environment[name]) for name in PATH_VARIABLES if environment.get(name)}
    addresses = [name for name in ADDRESS_VARIABLES if "@" not in environment.get(name, "")]
    others = {name: environment.get(name, "") for name in ("MEMORYD_LOG_LEVEL", *OFFLINE, *addresses)}
    return {name: value for name, value in {**paths, **others}.items() if value}


def _absolute(name: str, value: str) -> str:
    """Return the path that the daemon would use if started here; empty for a relative XDG path, which XDG ignores."""
    path = Path(value)
    if name.startswith("XDG_") and not path.is_absolute():
        return ""
    return str(Path.cwd() / os.path.expanduser(path))  # noqa: PTH111


def _programs(config: Config, search_path: str) -> list[Path]:
    """Return the paths of the programs that the daemon starts: qmd and its runtime, uv for packaged models, and git."""
    names = [config.memory.qmd.command, "node", "bun"] if config.memory.backend == "qmd" else []
    if any(map(has_packaged_model, config.resolved_agents())):
        names.append("uv")
    if config.team.is_joined and not config.team.is_on_server:
        names.append("git")
    paths = (shutil.which(os.path.expanduser(name), path=search_path) for name in names)  # noqa: PTH111
    return [Path(path) for path in dict.fromkeys(paths) if path and Path(path).is_absolute()]


def daemon_command(executable: str = sys.executable) -> tuple[str, ...]:
    """Return the absolute command that starts the daemon with this interpreter.

    A link to the script in `~/.local/bin`, as pipx and uv create, is preferred to the script itself: it stays valid
    when the installation moves. Without a script the interpreter runs the module.
    """
    script = next(_scripts(executable), None)
    if script is None:
        return (executable, "-m", "memoryd.daemon.main")
    link = Path.home() / ".local" / "bin" / PROGRAM
    is_linked = link.is_symlink() and os.path.realpath(link) == os.path.realpath(script)
    return (str(link if is_linked else script),)


def program_paths(command: str) -> tuple[Path, ...]:
    """Return the paths of the daemon's program, its interpreter and everything that it imports."""
    package = Path(__file__).parents[1]
    return (Path(command), Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix), package)


def why_temporary(command: str) -> str:
    """Return why a program may be deleted later; empty if there is no reason."""
    path = Path(command)
    if not os.access(path, os.X_OK):
        return f"{path} is gone"
    real = Path(os.path.realpath(path))
    for folder in {*TEMPORARY_FOLDERS, tempfile.gettempdir()}:
        if real.is_relative_to(folder):
            return f"{path} lies in {folder}, which is emptied"
    if ".cache" in real.parts and {"uv", "pipx"}.intersection(real.parts):
        return f"{path} lies in a cache, as `uvx` and `pipx run` leave it"
    return ""


def _scripts(executable: str) -> Iterator[Path]:
    """Yield the daemon's scripts: beside the interpreter, in the scripts folder, beside the running program."""
    folders = [Path(executable).parent, Path(sysconfig.get_path("scripts"))]
    if Path(sys.argv[0]).is_absolute():
        folders.append(Path(sys.argv[0]).parent)
    for folder in folders:
        if os.access(folder / PROGRAM, os.X_OK) and (folder / PROGRAM).is_file():
            yield folder / PROGRAM
