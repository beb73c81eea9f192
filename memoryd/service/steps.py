"""The steps of an installation: shown before they are done, then done one after the other; and the service's state.

Here is what is the same for every manager. Its programs are asked as a user would ask them.
"""

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.errors import InvalidRequest, MemorydError, NotPermitted
from memoryd.service.installing import ServiceFiles

PROGRAM_SECONDS: Final = 120.0
"""How long a program may take: a restart waits for the daemon to stop, and to be ready."""
ManagerName = Literal["systemd", "launchd", "none"]
TRY_PAUSE_SECONDS: Final = 1.0
WriteWhole = Callable[[Path, bytes], object]
TEMPLATE_FOLDERS: Final = (Path(__file__).parent, Path(__file__).parents[2])
MARK: Final = "memoryctl service install"
"""Stands in the first lines of every file that we wrote."""
_CONTROLS: Final = expression("[\x00-\x1f\x7f]")
KEPT: Final = ".before-memoryd"
"""How the copy of a file of somebody else ends."""


class ManagerAnswer(Struct, frozen=True):
    """What a program said, and whether it succeeded; a program that is missing or hangs has failed too."""

    is_done: bool
    output: str
    error: str

    @property
    def reason(self) -> str:
        """The last line of what it complained of."""
        lines = [line for line in (*self.output.splitlines(), *self.error.splitlines()) if line.strip()]
        return lines[-1].strip() if lines else "it failed without a word"

    @property
    def properties(self) -> dict[str, str]:
        """What `NAME=VALUE` lines say."""
        pairs = (line.split("=", 1) for line in self.output.splitlines() if "=" in line)
        return {name.strip(): value.strip() for name, value in pairs}


def ask_program(
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, seconds: float = PROGRAM_SECONDS
) -> ManagerAnswer:
    """Run a program to its end, in the language C and without a terminal; never raises."""
    given = {**(os.environ if environment is None else environment), "LC_ALL": "C"}
    try:
        done = subprocess.run(
            list(command), env=given, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return ManagerAnswer(False, "", f"{command[0]} did not end within {seconds:.0f} seconds")
    except OSError as exc:
        return ManagerAnswer(False, "", f"cannot run {command[0]}: {exc.strerror}")
    output, error = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return ManagerAnswer(done.returncode == 0, output, error)


class ServiceState(Struct, frozen=True, rename="camel"):
    """What the manager says of memoryd; None where it cannot be told."""

    manager: ManagerName
    reason: str = ""
    """Why there is no manager, or what the manager says is wrong; empty if nothing is."""
    hint: str = ""
    """What to do about it, in one sentence."""
    files: tuple[Path, ...] = ()
    """The unit files that are there."""
    foreign: tuple[Path, ...] = ()
    """Those of them that somebody else wrote."""
    is_enabled: bool = False
    """Whether it starts with the session."""
    is_running: bool = False
    pid: int | None = None
    phase: str = ""
    """The manager's own words, such as `active (running)`."""
    lingers: bool | None = None
    """Whether it goes on when its user logs out; None where that is no question."""

    @property
    def is_installed(self) -> bool:
        return bool(self.files)


class StepKind(StrEnum):
    """What a step does."""

    FOLDER = "folder"
    """Makes a folder, mode 0700."""
    WRITE = "write"
    """Writes a file whole."""
    KEEP = "keep"
    """Copies a file of somebody else, so that nothing of it is lost."""
    REMOVE = "remove"
    """Removes a file, or a folder if nothing else is in it."""
    RUN = "run"
    """Runs a program of the manager."""


class ServiceStep(Struct, frozen=True, kw_only=True):
    """One step: of files the path, of programs the command."""

    kind: StepKind
    why: str
    path: Path | None = None
    command: tuple[str, ...] = ()
    text: str = ""
    """What is written."""
    target: Path | None = None
    """Where the copy is kept."""
    may_fail: bool = False
    """Whether the rest is done all the same."""
    tries: int = 1
    """How often it is tried, a second apart, before it has failed."""

    @property
    def what(self) -> str:
        """The step in one line."""
        if self.kind is StepKind.RUN:
            return shlex.join(self.command)
        return f"{self.path} as {self.target}" if self.kind is StepKind.KEEP else str(self.path)


def carry_out(steps: Iterable[ServiceStep], *, write: WriteWhole, tell: Callable[[ServiceStep], None]) -> list[str]:
    """Do the steps, telling of each that is done; return what those complained of that may fail.

    `write` puts a file in its place whole. Raises MemorydError at the first step that fails and may not: what was
    done before it stays, and doing all of it again goes on from there.
    """
    complaints = []
    for step in steps:
        problem = _problem(step, write)
        if problem and not step.may_fail:
            is_run = step.kind is StepKind.RUN
            hint = "see why: memoryctl service logs; then run the command again"
            hint = hint if is_run else "nothing after it was done; mend it and run the command again"
            raise MemorydError(f"{step.what}: {problem}", hint=hint)
        if problem:
            complaints.append(f"{step.what}: {problem}")
        else:
            tell(step)
    return complaints


def _problem(step: ServiceStep, write: WriteWhole) -> str:
    """Do a step; return why it failed, empty if it did not."""
    try:
        if step.kind is StepKind.RUN:
            return _run(step)
        _change(step, write)
    except OSError as exc:
        return exc.strerror or str(exc)
    return ""


def _change(step: ServiceStep, write: WriteWhole) -> None:
    assert step.path is not None
    match step.kind:
        case StepKind.FOLDER:
            step.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        case StepKind.WRITE:
            write(step.path, step.text.encode())
        case StepKind.KEEP:
            assert step.target is not None
            _keep(step.path, step.target, write)
        case _ if step.path.is_dir() and not step.path.is_symlink():
            step.path.rmdir()
        case _:
            step.path.unlink(missing_ok=True)


def _keep(path: Path, target: Path, write: WriteWhole) -> None:
    """Copy a file; of a link the link itself, which may lead nowhere."""
    if path.is_symlink():
        target.symlink_to(path.readlink())
    else:
        write(target, path.read_bytes())


def _run(step: ServiceStep) -> str:
    for number in range(step.tries):
        if number:
            time.sleep(TRY_PAUSE_SECONDS)
        answer = ask_program(step.command)
        if answer.is_done:
            return ""
    return answer.reason


def unit_template(name: str) -> str:
    """Return a file such as `systemd/memoryd.service`; raises FileNotFoundError."""
    for place in TEMPLATE_FOLDERS:
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)


def file_steps(
    files: ServiceFiles, changed: Mapping[Path, list[str]], state: ServiceState, *, is_forced: bool
) -> Iterator[ServiceStep]:
    """Yield what brings the files to the disk; raises NotPermitted for one of somebody else unless forced."""
    in_the_way = [path for path in changed if path in state.foreign]
    if in_the_way and not is_forced:
        raise NotPermitted(
            f"not written by memoryctl: {', '.join(map(_path_with_target, in_the_way))}",
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


def held(text: str) -> str:
    """Return text that a line of a unit can hold; raises InvalidRequest for line breaks and what is no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        is_fit = False
    else:
        is_fit = not _CONTROLS.search(text)
    if not is_fit:
        raise InvalidRequest(
            f"a service cannot be told of {text!r}: it has a line break, a control character or "
            "bytes that are no UTF-8",
            hint="give the folder another name",
        )
    return text


def is_ours(path: Path) -> bool:
    """Tell whether we wrote a file; one that cannot be read is somebody else's."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1000)
    except OSError:
        return False


def state_of_files(manager: ManagerName, places: Iterable[Path]) -> ServiceState:
    """Return which files of an installation are there, and whose they are; nothing else is known yet."""
    files = tuple(filter(os.path.lexists, places))
    return ServiceState(manager, files=files, foreign=tuple(path for path in files if not is_ours(path)))


def backup_copies(paths: Iterable[Path]) -> list[Path]:
    """Return what an installation with force has kept of others' files beside ours."""
    return [kept for path in paths for kept in sorted(path.parent.glob(f"{path.name}{KEPT}*"))]


def _path_with_target(path: Path) -> str:
    return f"{path} (a link to {path.readlink()})" if path.is_symlink() else str(path)


def _unused(path: Path) -> Path:
    """Return a name beside a file that nothing has yet; no manager reads files that end so."""
    names = (path.with_name(f"{path.name}{KEPT}{number or ''}") for number in range(1000))
    return next(name for name in names if not os.path.lexists(name))
