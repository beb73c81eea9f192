"""The common parts of all managers: the state of the service, and the steps of an installation.

Steps can be shown before they are carried out in order. The manager's programs are run as a user would run them.
"""

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.settings_text import BACKUP_SUFFIX
from memoryd.errors import InvalidRequest, MemorydError, NotPermitted
from memoryd.service.installing import ServiceFiles

ManagerName = Literal["systemd", "launchd", "none"]
WriteFile = Callable[[Path, bytes], object]
PROGRAM_SECONDS = 120.0
"""Time limit of a program: a restart waits until the daemon has stopped and is ready again."""
TRY_PAUSE_SECONDS = 1.0
TEMPLATE_FOLDERS = (Path(__file__).parent, Path(__file__).parents[2])
MARK = "memoryctl service install"
"""Text in the first lines of every file that memoryd writes."""
_UNFIT = expression("[\x00-\x1f\x7f\ud800-\udfff]")


class ManagerAnswer(Struct, frozen=True):
    """The output of a program, and whether it succeeded; a missing or hanging program counts as failed."""

    is_success: bool
    output: str
    error: str

    @property
    def reason(self) -> str:
        """The last line of its output."""
        lines = [line for line in (*self.output.splitlines(), *self.error.splitlines()) if line.strip()]
        return lines[-1].strip() if lines else "it failed without a word"

    @property
    def properties(self) -> dict[str, str]:
        """The `NAME=VALUE` lines of the output as a dict."""
        pairs = (line.split("=", 1) for line in self.output.splitlines() if "=" in line)
        return {name.strip(): value.strip() for name, value in pairs}


def run_program(
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, seconds: float = PROGRAM_SECONDS
) -> ManagerAnswer:
    """Run a program to its end, with LC_ALL=C and without a terminal; never raises."""
    variables = {**(os.environ if environment is None else environment), "LC_ALL": "C"}
    try:
        done = subprocess.run(
            list(command), env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return ManagerAnswer(False, "", f"{command[0]} did not end within {seconds:.0f} seconds")
    except OSError as exc:
        return ManagerAnswer(False, "", f"cannot run {command[0]}: {exc.strerror}")
    output, error = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return ManagerAnswer(done.returncode == 0, output, error)


class ServiceState(Struct, frozen=True, rename="camel"):
    """The state of the service as the manager reports it; None where it is unknown."""

    manager: ManagerName
    reason: str = ""
    """Why there is no manager, or the problem that the manager reports; empty if there is none."""
    hint: str = ""
    """What to do about the problem, in one sentence."""
    files: tuple[Path, ...] = ()
    """The unit files that exist."""
    foreign: tuple[Path, ...] = ()
    """The files in `files` that memoryd did not write."""
    is_enabled: bool = False
    """Whether the service starts with the session."""
    is_running: bool = False
    pid: int | None = None
    phase: str = ""
    """The manager's own words, such as `active (running)`."""
    lingers: bool | None = None
    """Whether the service goes on when its user logs out; None if unknown or not applicable."""

    @property
    def has_files(self) -> bool:
        """True if there are unit files with memoryd's name, also if memoryd did not write them."""
        return bool(self.files)


class ServiceStep(Struct, frozen=True):
    """One step: creates a folder, writes a file atomically, copies a file, removes a path, or runs a program."""

    kind: Literal["folder", "write", "keep", "remove", "run"]
    why: str
    path: Path = Path()
    """The file or folder of the step."""
    text: str = ""
    """The text to write."""
    target: Path = Path()
    """The path of the copy."""
    command: tuple[str, ...] = ()
    """The program to run, with its arguments."""
    may_fail: bool = False
    """True if the following steps are carried out even if this step fails."""
    tries: int = 1
    """How often the program is run, with pauses of a second, before the step has failed."""

    @property
    def what(self) -> str:
        """The step in one line."""
        if self.kind == "run":
            return shlex.join(self.command)
        return f"{self.path} as {self.target}" if self.kind == "keep" else str(self.path)


def carry_out_steps(
    steps: Iterable[ServiceStep], *, write: WriteFile, tell: Callable[[ServiceStep], None]
) -> list[str]:
    """Carry out the steps and call `tell` after each; return the problems of failed steps that may fail.

    `write` writes a file atomically. Raises MemorydError at the first failed step that must not fail: the earlier
    steps are not undone, and the same command run again continues from there.
    """
    complaints = []
    for step in steps:
        try:
            problem = _do(step, write)
        except OSError as exc:
            problem = exc.strerror or str(exc)
        if not problem:
            tell(step)
        elif step.may_fail:
            complaints.append(f"{step.what}: {problem}")
        else:
            is_program = step.kind == "run"
            first = "see why: memoryctl service logs; then" if is_program else "nothing after it was done; mend it and"
            raise MemorydError(f"{step.what}: {problem}", hint=f"{first} run the command again")
    return complaints


def _do(step: ServiceStep, write: WriteFile) -> str:
    """Carry out one step; return why its program failed, empty if it succeeded. Raises OSError."""
    path = step.path
    match step.kind:
        case "folder":
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        case "write":
            write(path, step.text.encode())
        case "keep" if path.is_symlink():
            # copy the link itself: its target may not exist
            step.target.symlink_to(path.readlink())
        case "keep":
            write(step.target, path.read_bytes())
        case "remove" if path.is_dir() and not path.is_symlink():
            path.rmdir()
        case "remove":
            path.unlink(missing_ok=True)
        case "run":
            answer = run_program(step.command)
            for _ in range(1, step.tries):
                if answer.is_success:
                    break
                time.sleep(TRY_PAUSE_SECONDS)
                answer = run_program(step.command)
            return "" if answer.is_success else answer.reason
    return ""


def unit_template(name: str) -> str:
    """Return the text of a template such as `systemd/memoryd.service`; raises FileNotFoundError."""
    for place in TEMPLATE_FOLDERS:
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)


def file_steps(
    files: ServiceFiles, changed: Collection[Path], state: ServiceState, *, is_forced: bool
) -> Iterator[ServiceStep]:
    """Yield the steps that write the files; raises NotPermitted for a file that memoryd did not write unless forced."""
    in_the_way = [path for path in changed if path in state.foreign]
    if in_the_way and not is_forced:
        paths = (f"{path} (a link to {path.readlink()})" if path.is_symlink() else str(path) for path in in_the_way)
        raise NotPermitted(
            f"not written by memoryctl: {', '.join(paths)}",
            hint="look at it; `memoryctl service install --force` replaces it and keeps a copy",
        )
    parents = (path.parent for path in files.written)
    for folder in dict.fromkeys((*parents, *files.folders)):
        if not folder.is_dir():
            yield ServiceStep("folder", "it is not there yet", folder)
    for path in in_the_way:
        yield ServiceStep("keep", "it was not written by memoryctl", path, target=_unused(path))
    for path in changed:
        if path in files.written:
            why = "it differs" if os.path.lexists(path) else "it is new"
            yield ServiceStep("write", why, path, files.written[path])
        else:
            yield ServiceStep("remove", "it is not wanted any more", path)


def removal_steps(paths: Iterable[Path]) -> Iterator[ServiceStep]:
    """Yield the steps that remove the installer's files."""
    for path in paths:
        yield ServiceStep("remove", "the installer wrote it", path)


def run_step(why: str, *command: str, may_fail: bool = False, tries: int = 1) -> ServiceStep:
    """Return a step that runs a program."""
    return ServiceStep("run", why, command=command, may_fail=may_fail, tries=tries)


def unit_text(text: str) -> str:
    """Return the text unchanged; raises InvalidRequest for control characters and non-UTF-8 bytes."""
    # a lone surrogate is a byte of a path that is not UTF-8
    if _UNFIT.search(text):
        raise InvalidRequest(
            f"a service cannot be told of {text!r}: it has a line break, a control character or "
            "bytes that are no UTF-8",
            hint="give the folder another name",
        )
    return text


def is_ours(path: Path) -> bool:
    """Return whether memoryd wrote a file; False for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1000)
    except OSError:
        return False


def state_of_files(manager: ManagerName, places: Iterable[Path]) -> ServiceState:
    """Return a state with the existing files of an installation, and which of them memoryd did not write."""
    files = tuple(filter(os.path.lexists, places))
    return ServiceState(manager, files=files, foreign=tuple(path for path in files if not is_ours(path)))


def backup_copies(paths: Iterable[Path]) -> list[Path]:
    """Return the copies of foreign files that a forced installation made."""
    return [copy for path in paths for copy in sorted(path.parent.glob(f"{path.name}{BACKUP_SUFFIX}*"))]


def _unused(path: Path) -> Path:
    """Return an unused path for the copy of a file; managers ignore files with this suffix."""
    names = (path.with_name(f"{path.name}{BACKUP_SUFFIX}{number or ''}") for number in range(1000))
    return next(name for name in names if not os.path.lexists(name))
