"""The paths of configuration, state, models and socket; daemon and clients compute the same paths.

They follow the XDG base directory specification: a relative value of an `XDG_*` variable is ignored.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from memoryd.wire import SOCKET_NAME, SUN_PATH_MAX

LOCK_NAME = "memoryd.lock"
OPENCLAW_STATE = ".openclaw"
"""Folder name below the home folder."""
SOCKET_PATH_MAX = 103 if sys.platform == "darwin" else SUN_PATH_MAX
SLUG_MAX = 32
HASH_DIGITS = 8


def config_file() -> Path:
    """Return the path of the configuration: `$MEMORYD_CONFIG`, else in the user's configuration folder."""
    return _from_environment("MEMORYD_CONFIG") or _xdg("XDG_CONFIG_HOME", ".config") / "memoryd" / "config.json5"


def state_dir() -> Path:
    """Return the folder of indexes and ledgers: `$MEMORYD_STATE_DIR`, else in the user's state folder."""
    return _from_environment("MEMORYD_STATE_DIR") or _xdg("XDG_STATE_HOME", ".local/state") / "memoryd"


def lock_file() -> Path:
    """Return the path of the lock that the daemon of this user holds."""
    return state_dir() / LOCK_NAME


def move_command(path: Path) -> str:
    """Return the shell command that moves away a file at the path of one of memoryd's folders."""
    return f"mv {shlex.quote(str(path))} {shlex.quote(f'{path}.old')}"


def cache_dir() -> Path:
    """Return the folder for files that can be downloaded or computed again."""
    return _xdg("XDG_CACHE_HOME", ".cache") / "memoryd"


def models_dir() -> Path:
    """Return the default folder of downloaded models; `local.modelCacheDir` may name another folder."""
    return cache_dir() / "models"


def calibration_dir() -> Path:
    """Return the folder with each embedding model's vectors of unrelated texts, the noise of its similarities."""
    return cache_dir() / "strangers"


def socket_path() -> Path:
    """Return the path of the socket: `$MEMORYD_SOCKET`, else in the runtime folder, else in the state folder.

    A path longer than the system allows (107 bytes on Linux, 103 on macOS) is replaced by the first short path that
    fits: `<hash of the long path>.sock` in the runtime folder, in `/run/user/<uid>` or in the home folder. If none
    fits, the last of them is returned, and binding it fails with the system's message.
    """
    wanted = _wanted_socket()
    if _fits(wanted):
        return wanted
    name = f"{_digest(wanted)}.sock"
    candidates = [folder / name for folder in _short_folders()]
    return next((path for path in candidates if _fits(path)), candidates[-1])


def workspace_state_dir(workspace: Path) -> Path:
    """Return the folder of a workspace's index; its name is a readable name and a hash of the real path.

    Two spellings of one folder (a symlink, `..`, a trailing slash) give the same answer.
    """
    return state_dir_of_real_path(Path(os.path.realpath(workspace)))


def state_dir_of_real_path(real: Path) -> Path:
    """Return the folder of a workspace's index by the real path of the workspace, which may not exist any more."""
    slug = re.sub(r"[^a-z0-9]+", "-", real.name.lower()).strip("-")[:SLUG_MAX].rstrip("-")
    return state_dir() / "workspaces" / f"{slug or 'workspace'}-{_digest(real)}"


def openclaw_dir() -> Path:
    """Return OpenClaw's state folder: `$OPENCLAW_STATE_DIR`, else `~/.openclaw`."""
    return _from_environment("OPENCLAW_STATE_DIR") or Path.home() / OPENCLAW_STATE


def openclaw_sessions(agent_id: str) -> Path:
    """Return the folder of OpenClaw's transcripts of an agent."""
    return openclaw_dir() / "agents" / agent_id / "sessions"


def qmd_home(agent_id: str) -> Path:
    """Return the folder of qmd's configuration and index for an agent."""
    return state_dir() / "agents" / agent_id / "qmd"


def qmd_variables(home: Path) -> dict[str, str]:
    """Return the environment variables that make qmd use the configuration and the index in this folder."""
    return {"XDG_CONFIG_HOME": str(home / "xdg-config"), "XDG_CACHE_HOME": str(home / "xdg-cache")}


def spending_file() -> Path:
    """Return the path of the file that counts the tokens sent to providers today."""
    return state_dir() / "spending.json"


def text_calls_file() -> Path:
    """Return the path of the file that counts today's calls of a text model's endpoint."""
    return state_dir() / "text-calls.json"


def batch_jobs_dir() -> Path:
    """Return the folder with the unfinished jobs of providers' batch interfaces."""
    return state_dir() / "batches"


def http_token_file() -> Path:
    """Return the default path of the loopback port's token; `http.tokenFile` may name another file."""
    return state_dir() / "http-token"


def team_dir(name: str) -> Path:
    """Return the folder with memoryd's files of a team."""
    return state_dir() / "teams" / name


def probe_dir() -> Path:
    """Return the folder in which the watcher writes a file now and then, to check that events still arrive."""
    return state_dir() / "probe"


def expand(text: str, base: Path) -> Path:
    """Return the path with `~` and `~user` expanded, relative to `base` if it is relative.

    `..` and symlinks stay, for the file system to follow.
    """
    # os.path.expanduser keeps the name of an unknown user; Path.expanduser raises
    return base / os.path.expanduser(text)  # noqa: PTH111


def from_here(text: str) -> Path:
    """Return the absolute path for a path that a person typed, relative to the working folder."""
    path = expand(text, Path())
    # the working folder is only read if needed: it may have been deleted
    return path if path.is_absolute() else Path.cwd() / path


def _from_environment(name: str) -> Path | None:
    text = os.environ.get(name)
    return from_here(text) if text else None


def _xdg(name: str, default: str) -> Path:
    return _xdg_value(name) or Path.home() / default


def _xdg_value(name: str) -> Path | None:
    folder = Path(os.environ.get(name, ""))
    return folder if folder.is_absolute() else None


def _wanted_socket() -> Path:
    if (path := _from_environment("MEMORYD_SOCKET")) is not None:
        return path
    runtime = _xdg_value("XDG_RUNTIME_DIR")
    return (runtime / "memoryd" if runtime else state_dir() / "run") / SOCKET_NAME


def _short_folders() -> Iterator[Path]:
    runtime = _xdg_value("XDG_RUNTIME_DIR")
    if runtime is not None:
        yield runtime / "memoryd"
    user = Path("/run/user") / str(os.getuid())
    if user.is_dir():
        yield user / "memoryd"
    yield Path.home() / ".memoryd"


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= SOCKET_PATH_MAX


def _digest(path: Path) -> str:
    # here: importing hashlib loads OpenSSL, and few calls need it
    from hashlib import sha256

    return sha256(os.fsencode(path)).hexdigest()[:HASH_DIGITS]
