"""What is the same for every manager: the state of the service, and the steps of an installation.

Steps can be shown before they are done, one after the other. The manager's programs are run as a user would run them.
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
"""How long a program may take: a restart waits for the daemon to stop, and to be ready."""
TRY_PAUSE_SECONDS = 1.0
TEMPLATE_FOLDERS = (Path(__file__).parent, Path(__file__).parents[2])
MARK = "memoryctl service install"
"""Is in the first lines of every file that we wrote."""
_UNFIT = expression("[\x00-\x1f\x7f\ud800-\udfff]")


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


def run_program(
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, seconds: float = PROGRAM_SECONDS
) -> ManagerAnswer:
    """Run a program to its end, with LC_ALL=C and without a terminal; never raises."""
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
    """Those of them that we did not write."""
    is_enabled: bool = False
    """Whether it starts with the session."""
    is_running: bool = False
    pid: int | None = None
    phase: str = ""
    """The manager's own words, such as `active (running)`."""
    lingers: bool | None = None
    """Whether it goes on when its user logs out; None where that is no question."""

    @property
    def has_files(self) -> bool:
        """Whether there are unit files of memoryd's name, be they ours or not."""
        return bool(self.files)


class ServiceStep(Struct, frozen=True):
    """One step: makes a folder, writes a file whole, copies a file, removes a path, or runs a program."""

    kind: Literal["folder", "write", "keep", "remove", "run"]
    why: str
    path: Path = Path()
    """The file or folder that it is about."""
    text: str = ""
    """What is written."""
    target: Path = Path()
    """Where the copy is kept."""
    command: tuple[str, ...] = ()
    """The program that it runs, with its arguments."""
    may_fail: bool = False
    """Whether the rest is done all the same."""
    tries: int = 1
    """How often it is tried, a second apart, before it has failed."""

    @property
    def what(self) -> str:
        """The step in one line."""
        if self.kind == "run":
            return shlex.join(self.command)
        return f"{self.path} as {self.target}" if self.kind == "keep" else str(self.path)


def carry_out(steps: Iterable[ServiceStep], *, write: WriteFile, tell: Callable[[ServiceStep], None]) -> list[str]:
    """Do the steps, telling of each that is done; return the complaints of steps that may fail.

    `write` puts a file in its place whole. Raises MemorydError at the first step that fails and may not: what was
    done before it stays, and doing all of it again goes on from there.
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
    """Do a step; return why its program failed, empty if it did not. Raises OSError."""
    path = step.path
    match step.kind:
        case "folder":
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        case "write":
            write(path, step.text.encode())
        case "keep" if path.is_symlink():
            # the link itself, which may lead nowhere
            step.target.symlink_to(path.readlink())
        case "keep":
            write(step.target, path.read_bytes())
        case "remove" if path.is_dir() and not path.is_symlink():
            path.rmdir()
        case "remove":
            path.unlink(missing_ok=True)
        case "run":
            return _run(step)
    return ""


def _run(step: ServiceStep) -> str:
    answer = run_program(step.command)
    for _ in range(1, step.tries):
        if answer.is_done:
            break
        time.sleep(TRY_PAUSE_SECONDS)
        answer = run_program(step.command)
    return "" if answer.is_done else answer.reason


def unit_template(name: str) -> str:
    """Return a file such as `systemd/memoryd.service`; raises FileNotFoundError."""
    for place in TEMPLATE_FOLDERS:
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)


def file_steps(
    files: ServiceFiles, changed: Collection[Path], state: ServiceState, *, is_forced: bool
) -> Iterator[ServiceStep]:
    """Yield what brings the files to the disk; raises NotPermitted for one that we did not write unless forced."""
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
        yield ServiceStep("keep", "somebody else wrote it", path, target=_unused(path))
    for path in changed:
        if path in files.written:
            why = "it differs" if os.path.lexists(path) else "it is new"
            yield ServiceStep("write", why, path, files.written[path])
        else:
            yield ServiceStep("remove", "it is not wanted any more", path)


def removal_steps(paths: Iterable[Path]) -> Iterator[ServiceStep]:
    """Yield what removes files of ours."""
    for path in paths:
        yield ServiceStep("remove", "the installer wrote it", path)


def run_step(why: str, *command: str, may_fail: bool = False, tries: int = 1) -> ServiceStep:
    """Return a step that runs a program."""
    return ServiceStep("run", why, command=command, may_fail=may_fail, tries=tries)


def unit_text(text: str) -> str:
    """Return text that a line of a unit can hold; raises InvalidRequest for line breaks and what is no UTF-8."""
    # a lone half of a surrogate pair is a byte of a path that is no UTF-8
    if _UNFIT.search(text):
        raise InvalidRequest(
            f"a service cannot be told of {text!r}: it has a line break, a control character or "
            "bytes that are no UTF-8",
            hint="give the folder another name",
        )
    return text


def is_ours(path: Path) -> bool:
    """Tell whether we wrote a file; one that cannot be read counts as not ours."""
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
    return [kept for path in paths for kept in sorted(path.parent.glob(f"{path.name}{BACKUP_SUFFIX}*"))]


def _unused(path: Path) -> Path:
    """Return a name beside a file that nothing has yet; no manager reads files that end so."""
    names = (path.with_name(f"{path.name}{BACKUP_SUFFIX}{number or ''}") for number in range(1000))
    return next(name for name in names if not os.path.lexists(name))
