"""The part of `memoryctl doctor` about rights: what others can read of ours, and where we may not write."""

import os
import stat
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks, Remedy
from memoryd.cli.checks.lock import lock_path
from memoryd.config.paths import cache_dir, state_dir
from memoryd.store.index.schema import APPLICATION_ID
from memoryd.store.ledger.file import LEDGER
from memoryd.store.opening import read_header

PART: Final = "permissions"
_OTHERS: Final = 0o077


def ours(examination: Examination) -> Iterator[Finding]:
    """Look at what is ours alone: the state folder, and indexes and ledgers that lie elsewhere."""
    state = state_dir()
    open_to_others = [path for path in (state, *_elsewhere(examination, state)) if _is_open(path)]
    for path in open_to_others:
        hint = f"chmod go-rwx {path}"
        message = f"{path} is open to others (mode {stat.S_IMODE(path.stat().st_mode):04o})"
        is_ours = path != state or _is_state_of_ours(state)
        yield Finding(PART, "open", message, hint, Remedy(hint, partial(_close, path)) if is_ours else None)
    if not open_to_others and state.exists():
        yield Finding(PART, "ok", f"{state} is yours alone")


def workspace(examination: Examination) -> Iterator[Finding]:
    """Tell whether others reach the notes, through all folders above them."""
    for path in dict.fromkeys(agent.workspace for agent in examination.config.resolved_agents()):
        if path.is_dir() and may_be_listed(path.stat().st_mode, _modes_above(path)):
            message = f"other users of this machine can read the notes in {path}"
            yield Finding(PART, "open", message, f"unless they are meant to: chmod go-rwx {path}")


def writable(examination: Examination) -> Iterator[Finding]:
    """Tell where we cannot write though memoryd has to."""
    config = examination.config
    wanted = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in config.resolved_agents():
        wanted.setdefault(agent.index_path.parent, "folder of the index")
        if not agent.memory.read_only:
            wanted.setdefault(agent.workspace, "workspace")
    for path, what in wanted.items():
        there = next((one for one in (path, *path.parents) if one.exists()), path)
        if not os.access(there, os.W_OK | os.X_OK):
            whose = "" if there.stat().st_uid == os.geteuid() else f": it belongs to uid {there.stat().st_uid}"
            hint = f"give it back to yourself, for example: sudo chown -R {os.geteuid()} {there}" if whose else ""
            yield Finding(
                PART, "wrong", f"the {what} {there} may not be written{whose}", hint or f"chmod u+rwx {there}"
            )


def may_be_listed(mode: int, above: Iterable[int]) -> bool:
    """Tell whether somebody who is neither owner nor of the group lists a folder, by its mode and those above it."""
    listing = stat.S_IROTH | stat.S_IXOTH
    return mode & listing == listing and all(one & stat.S_IXOTH for one in above)


def _elsewhere(examination: Examination, state: Path) -> Iterator[Path]:
    """Yield files of ours outside of the state folder that others get to."""
    for agent in examination.config.resolved_agents() if examination.loaded else ():
        for path in (agent.index_path, agent.ledger_path, agent.conversations_path):
            if (
                _is_database_of_ours(path)
                and not path.is_relative_to(state)
                and all(one & stat.S_IXOTH for one in _modes_above(path))
            ):
                yield path


def _is_state_of_ours(state: Path) -> bool:
    """Tell whether a folder was made for us: one that others share, such as /tmp, is closed by no remedy."""
    is_shared = bool(state.stat().st_mode & stat.S_ISVTX)
    return not is_shared and (lock_path().exists() or (state / "workspaces").is_dir())


def _is_database_of_ours(path: Path) -> bool:
    """Tell whether a file bears our mark; a key may name one of somebody else by mistake."""
    try:
        header = read_header(path)
    except (OSError, ValueError):
        return False
    return header is not None and header.application in (APPLICATION_ID, LEDGER.application)


def _modes_above(path: Path) -> list[int]:
    return [above.stat().st_mode for above in path.resolve().parents]


def _is_open(path: Path) -> bool:
    """Tell whether a file or folder of ours gives others any right; what goes meanwhile does not."""
    try:
        found = path.lstat()
    except OSError:
        return False
    is_ours = found.st_uid == os.geteuid() and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode))
    return is_ours and bool(stat.S_IMODE(found.st_mode) & _OTHERS)


def _close(path: Path) -> str:
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)
    return f"{path} is yours alone"


LOOKS: Looks = {
    "permissions.ours": ours,
    "permissions.workspace": workspace,
    "permissions.writable": writable,
}
