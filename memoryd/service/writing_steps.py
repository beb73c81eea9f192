"""Steps over files that every manager has alike."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memoryd.errors import NotPermitted
from memoryd.service.installing import ServiceFiles
from memoryd.service.service_state import ServiceState
from memoryd.service.service_step import ServiceStep, StepKind


def file_steps(
    files: ServiceFiles, changed: Mapping[Path, list[str]], state: ServiceState, *, is_forced: bool
) -> Iterator[ServiceStep]:
    """Yield what brings the files to the disk; raises NotPermitted for one of somebody else unless forced."""
    in_the_way = [path for path in changed if path in state.foreign]
    if in_the_way and not is_forced:
        raise NotPermitted(
            f"not written by memoryctl: {', '.join(map(str, in_the_way))}",
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
            why = "it differs" if path.exists() else "it is new"
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


def _unused(path: Path) -> Path:
    """Return a name beside a file that nothing has yet; no manager reads files that end so."""
    names = (path.with_name(f"{path.name}.before-memoryd{number or ''}") for number in range(1000))
    return next(name for name in names if not name.exists())
