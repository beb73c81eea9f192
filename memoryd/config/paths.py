"""Where the configuration, the state, the models and the socket lie; daemon and clients compute the same.

Follows the XDG base directory specification: a relative value of an `XDG_*` variable is ignored.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from memoryd.wire import SOCKET_NAME, SUN_PATH_MAX

CONFIG_NAME = "config.json5"
LOCK_NAME = "memoryd.lock"
OPENCLAW_STATE = ".openclaw"
"""Below the home folder."""
SOCKET_PATH_MAX = 103 if sys.platform == "darwin" else SUN_PATH_MAX
SLUG_MAX = 32
HASH_DIGITS = 8


def config_file() -> Path:
    """Tell where the configuration is looked for: `$MEMORYD_CONFIG`, else the user's configuration folder."""
    return _from_environment("MEMORYD_CONFIG") or _xdg("XDG_CONFIG_HOME", ".config") / "memoryd" / CONFIG_NAME


def state_dir() -> Path:
    """Tell where indexes and ledgers lie: `$MEMORYD_STATE_DIR`, else the user's state folder."""
    return _from_environment("MEMORYD_STATE_DIR") or _xdg("XDG_STATE_HOME", ".local/state") / "memoryd"


def lock_file() -> Path:
    """Tell where the lock lies that the daemon of this user holds."""
    return state_dir() / LOCK_NAME


def moved_away(path: Path) -> str:
    """Return the command that moves out of the way what stands where a folder of ours should be."""
    return f"mv {shlex.quote(str(path))} {shlex.quote(f'{path}.old')}"


def cache_dir() -> Path:
    """Tell where things lie that can be fetched again."""
    return _xdg("XDG_CACHE_HOME", ".cache") / "memoryd"


def models_dir() -> Path:
    """Tell where downloaded models lie unless `local.modelCacheDir` names another folder."""
    return cache_dir() / "models"


def strangers_dir() -> Path:
    """Tell where it lies what each model makes of notes that answer nothing."""
    return cache_dir() / "strangers"


def socket_path() -> Path:
    """Tell where the daemon listens: `$MEMORYD_SOCKET`, else the runtime folder, else the state folder.

    A path longer than the system allows (107 bytes on Linux, 103 on macOS) is replaced by the first short
    one that fits: `<hash of the long path>.sock` in the runtime folder, in `/run/user/<uid>` or in the home
    folder. Where none fits, the last of them is returned and binding it fails with the system's message.
    """
    wanted = _wanted_socket()
    if _fits(wanted):
        return wanted
    name = f"{_digest(wanted)}.sock"
    candidates = [folder / name for folder in _short_folders()]
    return next((path for path in candidates if _fits(path)), candidates[-1])


def workspace_state_dir(workspace: Path) -> Path:
    """Tell where the index of a workspace lies: a readable name and a hash of the real path.

    Two spellings of one folder (a symlink, `..`, a trailing slash) give the same answer.
    """
    return state_dir_named(Path(os.path.realpath(workspace)))


def state_dir_named(real: Path) -> Path:
    """Tell where that of a workspace with this real path lies, or lay while it was one."""
    slug = re.sub(r"[^a-z0-9]+", "-", real.name.lower()).strip("-")[:SLUG_MAX].rstrip("-")
    return state_dir() / "workspaces" / f"{slug or 'workspace'}-{_digest(real)}"


def openclaw_dir() -> Path:
    """Tell where OpenClaw keeps what it has: `$OPENCLAW_STATE_DIR`, else `~/.openclaw`."""
    return _from_environment("OPENCLAW_STATE_DIR") or Path.home() / OPENCLAW_STATE


def openclaw_sessions(agent_id: str) -> Path:
    """Tell where OpenClaw keeps the transcripts of an agent."""
    return openclaw_dir() / "agents" / agent_id / "sessions"


def qmd_home(agent_id: str) -> Path:
    """Tell where the configuration and the index that qmd has for an agent lie."""
    return state_dir() / "agents" / agent_id / "qmd"


def qmd_variables(home: Path) -> dict[str, str]:
    """Return the environment variables that point a qmd at the configuration and the index in this folder."""
    return {"XDG_CONFIG_HOME": str(home / "xdg-config"), "XDG_CACHE_HOME": str(home / "xdg-cache")}


def spending_file() -> Path:
    """Tell where the tokens lie that providers were sent today."""
    return state_dir() / "spending.json"


def text_calls_file() -> Path:
    """Tell where it stands how many questions an endpoint for text was sent today."""
    return state_dir() / "text-calls.json"


def batch_jobs_dir() -> Path:
    """Tell where the jobs lie that a batch interface of a provider works on."""
    return state_dir() / "batches"


def http_token_file() -> Path:
    """Tell where the token of the loopback port lies unless `http.tokenFile` names another file."""
    return state_dir() / "http-token"


def replaced_dir() -> Path:
    """Tell where it lies what a restore replaced."""
    return state_dir() / "replaced"


def team_dir(name: str) -> Path:
    """Tell where it lies what is kept of the memory of a team."""
    return state_dir() / "teams" / name


def probe_dir() -> Path:
    """Tell where the watcher leaves a file now and then, to see whether events still come."""
    return state_dir() / "probe"


def expand(text: str, base: Path) -> Path:
    """Turn `~`, `~user` and paths relative to `base` into an absolute path.

    `..` and symlinks stay as they are, for the file system to follow.
    """
    # os.path leaves the name of an unknown user as it is, where Path.expanduser raises
    return base / os.path.expanduser(text)  # noqa: PTH111


def from_here(text: str) -> Path:
    """Turn a path that somebody typed, such as in a variable, into an absolute one."""
    path = expand(text, Path())
    # the working folder is asked for only where it matters: it may be gone by now
    return path if path.is_absolute() else Path.cwd() / path


def _from_environment(name: str) -> Path | None:
    text = os.environ.get(name)
    return from_here(text) if text else None


def _xdg(name: str, default: str) -> Path:
    folder = _xdg_value(name)
    return folder if folder is not None else Path.home() / default


def _xdg_value(name: str) -> Path | None:
    folder = Path(os.environ.get(name, ""))
    return folder if folder.is_absolute() else None


def _wanted_socket() -> Path:
    named = _from_environment("MEMORYD_SOCKET")
    if named is not None:
        return named
    runtime = _xdg_value("XDG_RUNTIME_DIR")
    return runtime / "memoryd" / SOCKET_NAME if runtime is not None else state_dir() / "run" / SOCKET_NAME


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
    # here: it loads OpenSSL, for paths that hardly anybody has
    from hashlib import sha256

    return sha256(os.fsencode(path)).hexdigest()[:HASH_DIGITS]
