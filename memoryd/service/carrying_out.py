"""Does the steps of an installation, one after the other."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from memoryd.errors import MemorydError
from memoryd.service.manager_programs import ask_program
from memoryd.service.service_step import ServiceStep, StepKind

PAUSE: Final = 1.0
WriteWhole = Callable[[Path, bytes], object]


def carry_out(
    steps: Iterable[ServiceStep],
    *,
    write: WriteWhole,
    environment: Mapping[str, str],
    tell: Callable[[ServiceStep], None],
) -> list[str]:
    """Do the steps, telling of each that is done; return what those complained of that may fail.

    `write` puts a file in its place whole. Raises MemorydError at the first step that fails and may not: what was
    done before it stays, and doing all of it again goes on from there.
    """
    complaints = []
    for step in steps:
        problem = _problem(step, write, environment)
        if problem and not step.may_fail:
            raise MemorydError(f"{step.what}: {problem}", hint=_hint(step))
        if problem:
            complaints.append(f"{step.what}: {problem}")
        else:
            tell(step)
    return complaints


def _problem(step: ServiceStep, write: WriteWhole, environment: Mapping[str, str]) -> str:
    """Do a step; return why it failed, empty if it did not."""
    try:
        if step.kind is StepKind.RUN:
            return _run(step, environment)
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


def _run(step: ServiceStep, environment: Mapping[str, str]) -> str:
    for number in range(step.tries):
        if number:
            time.sleep(PAUSE)
        answer = ask_program(step.command, environment)
        if answer.is_done:
            return ""
    return answer.reason


def _hint(step: ServiceStep) -> str:
    if step.kind is not StepKind.RUN:
        return "nothing after it was done; mend it and run the command again"
    return "see why: memoryctl service logs; then run the command again"
