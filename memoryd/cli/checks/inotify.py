"""The part of `memoryctl doctor` about file events of Linux: whether the kernel's limits fit the folders."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan

PART: Final = "file events"
_WATCHES: Final = "max_user_watches"
_INSTANCES: Final = "max_user_instances"
ROOM: Final = 0.8
"""Other programs of the user share the limit: an editor may take thousands."""


def watches(examination: Examination) -> Iterator[Finding]:
    """Compare the limit of watches with the folders that have to be watched."""
    limit = _limit(examination.proc, _WATCHES)
    if limit is None:
        yield Finding(PART, "off", f"{sys.platform} has no such limit")
        return
    needed = _folders(examination)
    found = f"{count(needed, 'folder')} to watch, of {limit:,} that the system allows"
    if needed > limit:
        yield Finding(PART, "wrong", found, _sysctl(_WATCHES, max(524_288, 2 * needed)))
    elif needed > ROOM * limit:
        yield Finding(PART, "look", found, _sysctl(_WATCHES, max(524_288, 2 * needed)))
    else:
        yield Finding(PART, "ok", found)


def instances(examination: Examination) -> Iterator[Finding]:
    """Compare the limit of instances with those that processes of the same user have open."""
    limit = _limit(examination.proc, _INSTANCES)
    if limit is None:
        return
    used = _instances_in_use(examination.proc)
    found = f"{count(used, 'instance')} in use, of {limit:,} that the system allows"
    if used >= limit:
        yield Finding(PART, "wrong", found, _sysctl(_INSTANCES, 2 * limit))
    elif used > ROOM * limit:
        yield Finding(PART, "look", found, _sysctl(_INSTANCES, 2 * limit))
    else:
        yield Finding(PART, "ok", found)


def _limit(proc: Path, name: str) -> int | None:
    try:
        return int((proc / "sys/fs/inotify" / name).read_text())
    except (OSError, ValueError):
        return None


def _folders(examination: Examination) -> int:
    folders: set[str] = set()
    for agent in examination.config.resolved_agents():
        if agent.memory_search.sync.watch:
            roots, rules = roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)
            seen = scan(roots, rules)
            folders |= {*seen.folders, *seen.above}
    return len(folders)


def _instances_in_use(proc: Path) -> int:
    return sum(_instances_of(process) for process in proc.iterdir() if process.name.isdecimal())


def _instances_of(process: Path) -> int:
    try:
        if process.stat().st_uid != os.geteuid():
            return 0
        return sum(_leads_to(one) == "anon_inode:inotify" for one in (process / "fd").iterdir())
    except OSError:
        # it ended, or does not let itself be looked at
        return 0


def _leads_to(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _sysctl(name: str, value: int) -> str:
    line = f"fs.inotify.{name}={value}"
    return f"sudo sysctl -w {line}; to keep it: echo {line} | sudo tee -a /etc/sysctl.d/60-memoryd.conf"


LOOKS: Looks = {"inotify.watches": watches, "inotify.instances": instances}
