"""What an installed service consists of, by the configuration and the environment, and how it differs from the disk.

The service is told where things lie, never a key.
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
PLAIN_VARIABLES = ("MEMORYD_LOG_LEVEL", *OFFLINE)
ADDRESS_VARIABLES = (HUB_VARIABLE, *PROXY_VARIABLES)
"""Variables with an address; one with a password must not stand in a unit."""
KEY_VARIABLES = tuple(name for row in PROVIDERS.values() for name in row.key_variables)
"""Variables with a key, which the daemon may read and a unit must not hold."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where a service manager looks for programs anyway."""
PROGRAM = "memoryd"
FLEETING_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run")


class Installation(Struct, frozen=True, kw_only=True):
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


class ServiceFiles(Struct, frozen=True, kw_only=True):
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
    programs = _programs(config, environment.get("PATH", os.defpath))
    carried_places = [Path(carried[name]) for name in PATH_VARIABLES if name in carried]
    needs = needs_of(config, source, also=[*program_places(command[0]), *programs, *carried_places])
    folders = dict.fromkeys(str(one.parent) for one in programs)
    return Installation(
        command=command,
        environment=carried,
        folders=tuple(folder for folder in folders if folder not in SYSTEM_FOLDERS),
        needs=needs,
        is_hardened=is_hardened,
        notes=tuple(_notes(command, carried, needs, environment, is_hardened=is_hardened)),
    )


def changed_lines(files: ServiceFiles) -> dict[Path, list[str]]:
    """Return of each file that is not on the disk as it should be the lines that differ: `-` goes, `+` comes."""
    wanted = {**files.written, **dict.fromkeys(files.unwanted, "")}
    found = {path: _difference(path, text) for path, text in wanted.items()}
    return {path: lines for path, lines in found.items() if lines}


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
    if reason := why_fleeting(command[0]):
        good = "by pipx, by `uv tool`, or in a virtual environment that stays"
        yield f"{reason}: the service ends with it; install memoryd for good: {good}"
    if carried:
        yield f"the service is told of {', '.join(carried)}, as set here"
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
            then = "; once it does, run `memoryctl service restart`" if is_hardened else ""
            yield f"the workspace {folder} does not exist yet{then}"


def carried_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the service is given, paths absolute; an empty one counts as unset."""
    places = {name: _absolute(name, environment[name]) for name in PATH_VARIABLES if environment.get(name)}
    addresses = [name for name in ADDRESS_VARIABLES if "@" not in environment.get(name, "")]
    words = {name: environment.get(name, "") for name in (*PLAIN_VARIABLES, *addresses)}
    return {name: value for name, value in {**places, **words}.items() if value}


def _absolute(name: str, value: str) -> str:
    """Return the path that the daemon would make of a value here; XDG's relative ones are ignored, by its rules."""
    path = Path(value)
    if name.startswith("XDG_") and not path.is_absolute():
        return ""
    return str(Path.cwd() / os.path.expanduser(path))  # noqa: PTH111


def _programs(config: Config, search_path: str) -> list[Path]:
    """Find the programs that the daemon starts: qmd and what runs it, uv, which fetches packaged models, and git."""
    names = [config.memory.qmd.command, "node", "bun"] if config.memory.backend == "qmd" else []
    if any(map(has_packaged_model, config.resolved_agents())):
        names.append("uv")
    if config.team.is_joined and not config.team.is_on_server:
        names.append("git")
    found = (shutil.which(os.path.expanduser(name), path=search_path) for name in names)  # noqa: PTH111
    return [Path(one) for one in dict.fromkeys(found) if one and Path(one).is_absolute()]


def daemon_command(executable: str = sys.executable) -> tuple[str, ...]:
    """Return the absolute command that starts the daemon with this interpreter.

    A link in `~/.local/bin` that leads to ours is taken before it, as pipx and uv make one: it outlives a folder that
    moves. Without any script the interpreter runs the module.
    """
    found = next(_scripts(executable), None)
    if found is None:
        return (executable, "-m", "memoryd.daemon.main")
    link = Path.home() / ".local" / "bin" / PROGRAM
    leads_to_it = link.is_symlink() and os.path.realpath(link) == os.path.realpath(found)
    return (str(link if leads_to_it else found),)


def program_places(command: str) -> tuple[Path, ...]:
    """Return where the program of the daemon lies, its interpreter and all that it imports."""
    package = Path(__file__).parents[1]
    return (Path(command), Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix), package)


def why_fleeting(command: str) -> str:
    """Say why a program may be gone one day; empty if nothing speaks for it."""
    path = Path(command)
    if not os.access(path, os.X_OK):
        return f"{path} is gone"
    real = Path(os.path.realpath(path))
    for folder in {*FLEETING_FOLDERS, tempfile.gettempdir()}:
        if real.is_relative_to(folder):
            return f"{path} lies in {folder}, which is emptied"
    parts = real.parts
    if ".cache" in parts and {"uv", "pipx"} & set(parts):
        return f"{path} lies in a cache, as `uvx` and `pipx run` leave it"
    return ""


def _scripts(executable: str) -> Iterator[Path]:
    """Yield commands of this installation: beside the interpreter, where scripts go, beside what runs now."""
    folders = [Path(executable).parent, Path(sysconfig.get_path("scripts"))]
    if Path(sys.argv[0]).is_absolute():
        folders.append(Path(sys.argv[0]).parent)
    for folder in folders:
        if os.access(folder / PROGRAM, os.X_OK) and (folder / PROGRAM).is_file():
            yield folder / PROGRAM
