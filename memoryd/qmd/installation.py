"""The qmd of one agent as it can be run: the program once it is found, and its folder."""

import os
import shutil
from datetime import timedelta

from memoryd.errors import SidecarError
from memoryd.qmd.command import CompletedCommand, run_command
from memoryd.qmd.home import QmdHome
from memoryd.qmd.program import Program, find_program
from memoryd.sidecar.process import ChildSpec

BUSY_SECONDS = 10.0
"""How long a command that writes waits for another writer."""
NICENESS = "10"
GRACE = timedelta(seconds=2)
_INDEX = ("--index", "index")
"""The default index by name, so that no `.qmd` folder above the working directory takes its place."""


class QmdInstallation:
    """Runs commands against one home; `resolve` comes first."""

    def __init__(self, *, command: str, home: QmdHome, query_seconds: float) -> None:
        self.home = home
        self.program: Program | None = None
        self._command = command
        self._query_seconds = query_seconds

    async def resolve(self) -> Program:
        """Find the program, once; raises SidecarError with the reason and what to do."""
        if self.program is None:
            self.program = await find_program(self._command, os.environ)
        return self.program

    def forget(self) -> None:
        """Look for the program anew next time: it may have been replaced."""
        self.program = None

    async def run(self, *arguments: str, seconds: float, is_background: bool = True) -> CompletedCommand:
        """Run one command to its end; what runs in the background yields the processor. Raises SidecarError."""
        found = shutil.which("nice") if is_background else None
        nice = (found, "-n", NICENESS) if found else ()
        wait = BUSY_SECONDS if is_background else self._query_seconds / 2
        return await run_command(
            (*nice, *self._base(), *arguments),
            environment=self.home.environment(os.environ, busy_seconds=wait),
            directory=self.home.directory,
            seconds=seconds,
            grace=GRACE,
        )

    def server_spec(self) -> ChildSpec:
        """Return how the long-lived server is run; raises SidecarError if no program is known."""
        return ChildSpec(
            command=(*self._base(), "mcp"),
            environment=self.home.environment(os.environ, busy_seconds=self._query_seconds / 2),
            directory=self.home.directory,
            grace=GRACE,
        )

    def _base(self) -> tuple[str, ...]:
        if self.program is None:
            raise SidecarError("qmd has not been found yet")
        return (*self.program.command, *_INDEX)
