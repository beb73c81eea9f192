"""The folders of one agent that hold transcripts: what lies in them at a look, and which are gone for a while."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat, RelativePath, SkippedFile
from memoryd.domain.sessions.transcripts.records import TranscriptFormat
from memoryd.files.scanner import FolderId
from memoryd.sessions.transcripts.transcript_folder import find_transcripts

GRACE_SECONDS: Final = 60.0
TWICE: Final = "another folder of this agent has a transcript of this name"


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder whose transcripts are read, and of which program they are; None: that is seen.

    `is_optional`: it may be missing without anybody being told.
    """

    path: Path
    whose: TranscriptFormat | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class SeenFolder:
    """A folder at the last look; `problem` says why it was not seen whole."""

    path: Path
    files: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FolderTranscript:
    """A transcript in one of the folders, as it was at a look."""

    folder: TranscriptFolder
    file: Path
    stat: FileStat

    @property
    def state(self) -> str:
        """What tells whether it has changed."""
        return state_of(self.stat, self.folder.path)


@dataclass(frozen=True, slots=True)
class FoldersLook:
    """What a look found. Of the folders in `lost` not all was seen; what was read of them stays.

    `troubles` names those that lack something, each with the reason.
    """

    folders: Sequence[SeenFolder]
    transcripts: Mapping[RelativePath, FolderTranscript]
    skipped: Sequence[SkippedFile]
    lost: frozenset[Path]
    troubles: Sequence[str]


class TranscriptFolders:
    """The folders of one agent; one that vanished counts as lost for a `grace`, in seconds, and then as empty."""

    def __init__(
        self,
        prefix: str,
        folders: Sequence[TranscriptFolder],
        *,
        grace: float = GRACE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prefix = prefix
        self._folders = folders
        self._grace = grace
        self._clock = clock
        self._missing: dict[Path, float] = {}

    def look(self) -> FoldersLook:
        """List the transcripts of all folders."""
        found, skipped = dict[RelativePath, FolderTranscript](), list[SkippedFile]()
        seen = [self._listed(folder, found, skipped) for folder in self._folders]
        return FoldersLook(
            seen,
            found,
            skipped,
            frozenset(one.path for one in seen if one.problem and self._keeps(one)),
            [f"{one.path}: {one.problem}" for one in seen if one.problem and not self._may_miss(one)],
        )

    def _listed(
        self, folder: TranscriptFolder, found: dict[RelativePath, FolderTranscript], skipped: list[SkippedFile]
    ) -> SeenFolder:
        listed = find_transcripts(folder.path)
        skipped += listed.skipped
        for name, stat in listed.files.items():
            path = RelativePath(f"{self._prefix}{name}")
            if path in found:
                skipped.append(SkippedFile(path, TWICE))
            else:
                found[path] = FolderTranscript(folder, folder.path / name, stat)
        return SeenFolder(folder.path, len(listed.files), listed.problem)

    def _keeps(self, seen: SeenFolder) -> bool:
        """Tell whether what was read of a folder stays: one that is gone may come back, but not for ever."""
        if seen.path.is_dir():
            self._missing.pop(seen.path, None)
            return True
        return self._clock() - self._missing.setdefault(seen.path, self._clock()) < self._grace

    def _may_miss(self, seen: SeenFolder) -> bool:
        return any(one.path == seen.path and one.is_optional for one in self._folders) and not seen.path.exists()


def folder_ids(folders: Sequence[SeenFolder]) -> Iterator[tuple[str, FolderId]]:
    """Yield the folders that are there, each with what tells it from another under its name."""
    for seen in folders:
        try:
            info = seen.path.stat()
        except OSError:
            continue
        yield str(seen.path), (info.st_dev, info.st_ino)


def state_of(stat: FileStat, folder: Path) -> str:
    """Return what names the state of a file: of the device only the folder's is the same however it is asked."""
    return f"{stat.inode}:{stat.size}:{stat.mtime_ns}:{stat.ctime_ns} {folder}"


def identity_of(state: str) -> tuple[int, int]:
    """Return inode and size of the file in a state."""
    inode, size, *_ = state.split(":", 2)
    return int(inode), int(size)


def folder_of(state: str) -> Path | None:
    """Return the folder that a state was seen in, None where the reading was not finished."""
    return Path(state.partition(" ")[2]) if state else None
