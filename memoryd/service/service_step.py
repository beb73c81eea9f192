"""What installing consists of: steps that can be shown before they are done."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStep:
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
