"""Where the command `memoryd` of this installation lies, and whether it will still lie there tomorrow."""

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAME: Final = "memoryd"
FLEETING: Final = ("/tmp", "/var/tmp", "/dev/shm", "/run")


def daemon_command(executable: str = sys.executable) -> tuple[str, ...]:
    """Return the absolute command that starts the daemon with this interpreter.

    A link in `~/.local/bin` that leads to ours is taken before it, as pipx and uv make one: it outlives a folder that
    moves. Without any script the interpreter runs the module.
    """
    found = next(_scripts(executable), None)
    if found is None:
        return (executable, "-m", "memoryd.daemon.main")
    link = Path.home() / ".local" / "bin" / NAME
    return (str(link if link.is_symlink() and _is_same(link, found) else found),)


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
    for folder in {*FLEETING, tempfile.gettempdir()}:
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
        if os.access(folder / NAME, os.X_OK) and (folder / NAME).is_file():
            yield folder / NAME


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
