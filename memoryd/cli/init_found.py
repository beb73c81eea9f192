"""What `memoryctl init` may find: a folder with notes, and a configuration of OpenClaw."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memoryd.cli.terminal import count
from memoryd.config.agents import Agent
from memoryd.config.loading.load import Checked

_PROGRAMS = {"openclaw": "OpenClaw's workspace", "claude": "Claude Code's memory of a project", "folder": "a folder"}


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """`files` are those that an agent program's layout has, `outside` the other Markdown files below the folder."""

    path: Path
    kind: Literal["openclaw", "claude", "folder"]
    files: int = 0
    outside: int = 0
    is_more: bool = False
    """Whether counting those outside stopped before the end."""
    is_there: bool = True

    @property
    def told(self) -> str:
        """What it is, for somebody who is to choose."""
        return f"{self.path} ({_PROGRAMS[self.kind]}, {self.all_files})"

    @property
    def all_files(self) -> str:
        """How many Markdown files there are, in words."""
        more = "more than " if self.is_more else ""
        return f"{more}{count(self.files + self.outside, 'Markdown file')}"

    @property
    def question(self) -> str:
        """What to ask about the files outside of the layout; empty if there is nothing to ask."""
        if not self.outside:
            return ""
        if not self.files:
            return f"{self.all_files} in {self.path}: index all of them?"
        others = f"{'more than ' if self.is_more else ''}{count(self.outside, 'more Markdown file')}"
        return f"{count(self.files, 'note')} in MEMORY.md, memory/ and bank/ of {self.path}, and {others}: index all?"

    @property
    def is_whole_by_default(self) -> bool:
        """Whether all is taken if nobody objects: where no agent program has its layout, all are notes."""
        return not self.files


@dataclass(frozen=True, slots=True)
class OpenClawFile:
    """A configuration of OpenClaw, and what memoryd makes of it."""

    path: Path
    check: Checked

    @property
    def agents(self) -> list[Agent]:
        """The agents that result from it; none if memoryd would refuse it."""
        return self.check.loaded.config.resolved_agents() if self.check.loaded else []
