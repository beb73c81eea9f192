"""The programs of a service manager, asked as a user would ask them."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

SECONDS: Final = 120.0
"""How long one of them may take: a restart waits for the daemon to stop, and to be ready."""


@dataclass(frozen=True, slots=True)
class ManagerAnswer:
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
    command: Sequence[str], environment: Mapping[str, str] | None = None, *, seconds: float = SECONDS
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
