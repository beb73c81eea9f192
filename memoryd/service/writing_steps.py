"""Steps over files that every manager has alike."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from memoryd.errors import NotPermitted
from memoryd.service.installing import ServiceFiles
from memoryd.service.service_state import ServiceState
from memoryd.service.service_step import ServiceStep, StepKind

KEPT: Final = ".before-memoryd"
"""How the copy of a file of somebody else ends."""


def file_steps(
    files: ServiceFiles, changed: Mapping[Path, list[str]], state: ServiceState, *, is_forced: bool
) -> Iterator[ServiceStep]:
    """Yield what brings the files to the disk; raises NotPermitted for one of somebody else unless forced."""
    in_the_way = [path for path in changed if path in state.foreign]
    if in_the_way and not is_forced:
        raise NotPermitted(
            f"not written by memoryctl: {', '.join(map(_told, in_the_way))}",
            hint="look at it; `memoryctl service install --force` replaces it and keeps a copy",
        )
    parents = (path.parent for path in files.written)
    for folder in dict.fromkeys((*parents, *files.folders)):
        if not folder.is_dir():
            yield ServiceStep(kind=StepKind.FOLDER, why="it is not there yet", path=folder)
    for path in in_the_way:
        yield ServiceStep(kind=StepKind.KEEP, why="somebody else wrote it", path=path, target=_unused(path))
    for path in changed:
        if path in files.written:
            why = "it differs" if os.path.lexists(path) else "it is new"
            yield ServiceStep(kind=StepKind.WRITE, why=why, path=path, text=files.written[path])
        else:
            yield ServiceStep(kind=StepKind.REMOVE, why="it is not wanted any more", path=path)


def removal_steps(paths: Iterable[Path]) -> Iterator[ServiceStep]:
    """Yield what removes files of ours."""
    for path in paths:
        yield ServiceStep(kind=StepKind.REMOVE, why="the installer wrote it", path=path)


def run_step(why: str, *command: str, may_fail: bool = False, tries: int = 1) -> ServiceStep:
    """Return a step that runs a program."""
    return ServiceStep(kind=StepKind.RUN, why=why, command=command, may_fail=may_fail, tries=tries)


def kept_copies(paths: Iterable[Path]) -> list[Path]:
    """Return what an installation with force has kept of others' files beside ours."""
    return [kept for path in paths for kept in sorted(path.parent.glob(f"{path.name}{KEPT}*"))]


def _told(path: Path) -> str:
    return f"{path} (a link to {path.readlink()})" if path.is_symlink() else str(path)


def _unused(path: Path) -> Path:
    """Return a name beside a file that nothing has yet; no manager reads files that end so."""
    names = (path.with_name(f"{path.name}{KEPT}{number or ''}") for number in range(1000))
    return next(name for name in names if not os.path.lexists(name))
