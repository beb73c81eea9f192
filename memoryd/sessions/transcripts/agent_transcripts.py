"""The transcripts of one agent as exports and turns are made of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.records import TranscriptFormat


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript: the name it is told by, where it lies, and its format if the configuration says."""

    name: str
    path: Path
    stat: FileStat
    whose: TranscriptFormat | None = None

    def is_as(self, stat: FileStat) -> bool:
        """Tell whether the file was the same at this stat; its device differs by how some systems are asked."""
        return replace(stat, device=0) == replace(self.stat, device=0)


@dataclass(frozen=True, slots=True)
class AgentTranscripts:
    """All transcripts of an agent.

    `problem` says why some may be missing: what was made of them stays then. `is_withheld` tells of a name that its
    transcript is to be forgotten or not to be remembered, be it among `files` or not.
    """

    files: tuple[TranscriptFile, ...] = ()
    problem: str = ""
    is_withheld: Callable[[str], bool] = lambda _name: False
    marks: int = 0
    """Another number whenever it has changed what is to be remembered."""
