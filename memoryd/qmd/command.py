"""One run of a qmd command, from start to reaping, with a time limit and a cap on what it may print."""

import asyncio
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from memoryd.errors import SidecarError
from memoryd.sidecar.process import Child, ChildSpec

STDOUT_BYTES = 8 * 1024 * 1024
"""A qmd that prints more is killed."""


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """What a command ended with; `code` is minus the signal that killed it."""

    code: int
    stdout: str
    stderr: str

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        return f"killed by {signal.Signals(-self.code).name}" if self.code < 0 else f"exit status {self.code}"


async def run_command(
    command: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    seconds: float,
    directory: Path = Path("/"),
    grace: timedelta = timedelta(seconds=2),
) -> CompletedCommand:
    """Run a command to its end, at most `seconds`; nothing of its process group is left behind.

    Raises SidecarError if it cannot be started, does not end in time, or prints too much.
    """
    child = Child(
        ChildSpec(command=command, environment=environment, directory=directory, grace=grace, stdout_limit=STDOUT_BYTES)
    )
    try:
        async with asyncio.timeout(seconds):
            await child.start()
            code = await child.wait()
    except TimeoutError as exc:
        raise SidecarError(f"{_said(command)} did not end within {seconds:g} s") from exc
    finally:
        await child.stop()
    if child.has_overflowed:
        raise SidecarError(f"{_said(command)} printed more than {STDOUT_BYTES} bytes")
    return CompletedCommand(code, child.stdout.decode(errors="replace"), child.stderr)


def _said(command: tuple[str, ...]) -> str:
    """Name a command as a person would type it: the last plain word says what it does."""
    words = [word for word in command[1:4] if word.isalpha()]
    return " ".join(["qmd", *words[:1]]) if words else Path(command[0]).name
