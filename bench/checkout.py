"""A checkout of memoryd, this one or an older one, run as its users run it: its programs, with its own interpreter."""

import math
import os
import resource
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click

from tests.daemon import RunningDaemon, write_config

ROOT = Path(__file__).parents[1]


class BadCheckout(click.ClickException):
    """A folder that memoryd cannot be run from; the text says why."""


@dataclass(frozen=True)
class Checkout:
    """A folder with the sources of memoryd; its own `.venv` runs them where it has one."""

    folder: Path

    @cached_property
    def python(self) -> str:
        """The interpreter that runs it."""
        own = self.folder / ".venv" / "bin" / "python"
        return str(own) if own.exists() else sys.executable

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """What makes its sources the ones that are imported, and two runs the same."""
        return {"PYTHONPATH": str(self.folder), "PYTHONHASHSEED": "0", "MEMORYD_LOG_LEVEL": "INFO"}

    def program(self, name: str) -> tuple[str, ...]:
        """Return what its interpreter is given to run a program as an installation would; raises BadCheckout."""
        try:
            scripts = tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
            module, function = scripts[name].split(":")
        except (OSError, ValueError, KeyError) as exc:
            raise BadCheckout(f"{self.folder} is no checkout of memoryd: {exc!r}") from exc
        # without the folder where this runs: it holds another memoryd
        return "-P", "-c", f"import sys; sys.argv[0] = {name!r}; from {module} import {function} as run; run()"

    def compile(self) -> None:
        """Compile its modules, and see that it is these that are imported; raises BadCheckout."""
        package = self.folder / "memoryd"
        run = [self.python, "-P", "-c", "import memoryd; print(memoryd.__file__)"]
        environment = {**os.environ, **self.environment}
        found = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        if found.stdout.strip() != str(package / "__init__.py"):
            raise BadCheckout(f"{self.folder} is not what {self.python} imports: {found.stdout or found.stderr}")
        subprocess.run([self.python, "-m", "compileall", "-q", package], check=True)

    def daemon(self, home: Path) -> RunningDaemon:
        """Return a daemon that is not started, over an empty workspace, by words alone."""
        workspace = home / "workspace"
        (workspace / "memory").mkdir(parents=True)
        config = write_config(home, workspace, None)
        program = self.program("memoryd")
        return RunningDaemon(home, config, workspace, environment=self.environment, program=program, python=self.python)

    def run(self, daemon: RunningDaemon, *arguments: str) -> float:
        """Run memoryctl beside a daemon; return the seconds of processor time that it took.

        Not a number where this checkout has no such command.
        """
        before = _children_seconds()
        command = [self.python, *self.program("memoryctl"), *arguments]
        done = subprocess.run(command, env=daemon.env, capture_output=True, text=True, check=False)
        if "No such command" in done.stderr:
            return math.nan
        if done.returncode:
            raise click.ClickException(f"memoryctl {arguments[0]} of {self.folder} failed: {done.stderr}")
        return _children_seconds() - before


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
