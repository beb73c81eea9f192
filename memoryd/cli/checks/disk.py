"""The part of `memoryctl doctor` about disks: room for bytes, and for files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count, size
from memoryd.config.paths import cache_dir, state_dir

FULL_BYTES: Final = 16 * 2**20
"""Less than this, and an index cannot be brought up to date."""
TIGHT_BYTES: Final = 512 * 2**20
TIGHT_FILES: Final = 1000
_HINT: Final = "make room there; memoryctl models list shows models that can be fetched again"


def space(examination: Examination) -> Iterator[Finding]:
    """Look at each disk once, by what of ours lies on it."""
    config = examination.config
    places = {state_dir(): "state folder", cache_dir(): "cache"}
    for agent in config.resolved_agents():
        places.setdefault(agent.index_path.parent, "index")
        places.setdefault(agent.workspace, "workspace")
    seen: dict[int, str] = {}
    for path, what in places.items():
        there = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
        device = there.stat().st_dev
        if device not in seen:
            seen[device] = what
            yield space_finding(f"{what} {there}", os.statvfs(there))


def space_finding(where: str, found: os.statvfs_result) -> Finding:
    """Judge a disk; a file system that counts no inodes says 0 of 0."""
    free, files = found.f_bavail * found.f_frsize, found.f_favail
    if free < FULL_BYTES:
        return Finding("disk", "wrong", f"the disk of the {where} is full: {size(free)} free", _HINT)
    if found.f_files and not files:
        return Finding("disk", "wrong", f"the disk of the {where} takes no more files: no inode is free", _HINT)
    if free < TIGHT_BYTES:
        return Finding("disk", "look", f"{size(free)} free on the disk of the {where}", _HINT)
    if found.f_files and files < TIGHT_FILES:
        return Finding("disk", "look", f"room for {count(files, 'file')} on the disk of the {where}", _HINT)
    return Finding("disk", "ok", f"{size(free)} free on the disk of the {where}")


LOOKS: Looks = {"disk.space": space}
