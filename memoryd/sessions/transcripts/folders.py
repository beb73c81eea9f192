"""The folders of one agent that hold transcripts: what is in them, and which are missing for a while.

Transcripts are regular files directly in a folder, found by name; no symlink is followed.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import FileStat, RelativePath, SkippedFile, is_utf8_name, printable_name
from memoryd.domain.sessions.transcripts.openclaw import LIST_NAME, generated_sessions
from memoryd.domain.sessions.transcripts.records import TranscriptFormat, is_transcript_name, session_of
from memoryd.domain.skips import SkipReason
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, read_snapshot
from memoryd.files.scanner import FolderId, file_identity

GRACE_SECONDS = 60.0
MAX_ENTRIES = 50_000
_MAX_LIST_BYTES = 64 << 20


class TranscriptFolder(Struct, frozen=True):
    """A folder whose transcripts are read, and of which program they are; None: the files tell.

    `is_optional`: it may be missing without anybody being told.
    """

    path: Path
    format: TranscriptFormat | None = None
    is_optional: bool = False


class SeenFolder(Struct, frozen=True):
    """A folder at the last look; `problem` says why it was not seen whole."""

    path: Path
    files: int = 0
    problem: str = ""


class TranscriptFile(Struct, frozen=True):
    """A transcript at a look: the name it is told by, where it lies, and its format if the configuration says."""

    name: str
    path: Path
    stat: FileStat
    format: TranscriptFormat | None = None

    @property
    def state(self) -> str:
        """What tells whether it has changed."""
        return state_of(self.stat, self.path.parent)

    def is_unchanged_at(self, stat: FileStat) -> bool:
        """Tell whether the file was the same at this stat; its device differs by how some systems are asked."""
        return replace(stat, device=0) == replace(self.stat, device=0)


class FolderListing(Struct, frozen=True):
    """What a look found. What was read of the folders in `lost` stays, though not all of them was seen.

    `troubles` names each folder with a problem, and says which.
    """

    folders: Sequence[SeenFolder]
    transcripts: Mapping[RelativePath, TranscriptFile]
    skipped: Sequence[SkippedFile]
    lost: frozenset[Path]
    troubles: Sequence[str]
    twins: Sequence[tuple[RelativePath, Path]]
    """Files of a name that another folder has first: nothing is read of them."""


class AgentTranscripts(Struct, frozen=True):
    """All transcripts of an agent.

    `problem` says why some may be missing: what was made of them stays then. `is_excluded` tells of a name that its
    transcript is to be forgotten or not to be remembered, be it among `files` or not.
    """

    files: tuple[TranscriptFile, ...] = ()
    problem: str = ""
    is_excluded: Callable[[str], bool] = lambda _name: False
    marks: int = 0
    """Another number whenever it has changed what is to be remembered."""


class FoundTranscripts(Struct, frozen=True):
    """The transcripts of a folder by file name, in order; and what looks like one and is not read.

    Sessions of timers and dreams are left out: nobody spoke in them.
    """

    files: dict[str, FileStat]
    skipped: tuple[SkippedFile, ...] = ()
    problem: str = ""
    """Why the folder could not be looked at whole: what is missing from `files` may be there."""


class TranscriptFolders(Struct, eq=False):
    """The folders of one agent; one that vanished counts as lost for a `grace`, in seconds, and then as empty.

    `_missing` has the time when a folder was first missed; it begins anew once the folder was seen whole.
    """

    prefix: str
    folders: Sequence[TranscriptFolder]
    grace: float = GRACE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _missing: dict[Path, float] = {}

    def look(self) -> FolderListing:
        """List the transcripts of all folders."""
        transcripts, skipped = dict[RelativePath, TranscriptFile](), list[SkippedFile]()
        twins, seen = list[tuple[RelativePath, Path]](), list[SeenFolder]()
        for folder in self.folders:
            listed = find_transcripts(folder.path)
            seen.append(SeenFolder(folder.path, len(listed.files), listed.problem))
            skipped += listed.skipped
            for name, stat in listed.files.items():
                path = RelativePath(f"{self.prefix}{name}")
                if path in transcripts:
                    skipped.append(SkippedFile(path, SkipReason.NAMED_TWICE))
                    twins.append((path, folder.path / name))
                else:
                    transcripts[path] = TranscriptFile(name, folder.path / name, stat, folder.format)
        broken = {folder.path: folder.problem for folder in seen if folder.problem}
        optional = {folder.path for folder in self.folders if folder.is_optional}
        for whole in self._missing.keys() - broken.keys():
            self._missing.pop(whole, None)
        lost = frozenset(filter(self._keeps_transcripts, broken))
        troubles = [f"{path}: {why}" for path, why in broken.items() if path not in optional or path.exists()]
        return FolderListing(seen, transcripts, skipped, lost, troubles, twins)

    def _keeps_transcripts(self, folder: Path) -> bool:
        """Tell whether what was read of a folder with a problem stays: if it is there, else for the grace."""
        if folder.is_dir():
            self._missing.pop(folder, None)
            return True
        return self.clock() - self._missing.setdefault(folder, self.clock()) < self.grace


def folder_ids(folders: Sequence[SeenFolder]) -> dict[str, FolderId]:
    """Return the folders that are there, each with what tells it from another under its name."""
    ids = ((str(seen.path), file_identity(seen.path)) for seen in folders)
    return {path: identity for path, identity in ids if identity is not None}


def state_of(stat: FileStat, folder: Path) -> str:
    """Return a text that differs when a file has changed, or lies in another folder.

    It holds no device: on some systems that depends on how the file is asked for.
    """
    return f"{stat.inode}:{stat.size}:{stat.mtime_ns}:{stat.ctime_ns} {folder}"


def identity_of(state: str) -> tuple[int, int]:
    """Return inode and size of the file in a state."""
    inode, size, *_ = state.split(":", 2)
    return int(inode), int(size)


def folder_of(state: str) -> Path | None:
    """Return the folder that a state was seen in, None where the reading was not finished."""
    return Path(state.partition(" ")[2]) if state else None


def find_transcripts(folder: Path, *, max_entries: int = MAX_ENTRIES) -> FoundTranscripts:
    """Return the transcripts that a folder holds directly; those of folders below are other projects'.

    Blocks, so run it in a thread. Raises nothing: a folder that is gone or closed is a `problem`.
    """
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, max_entries + 1), key=lambda entry: entry.name)
        named = [entry for entry in listed[:max_entries] if is_transcript_name(entry.name)]
        generated = _generated(folder) if named else frozenset[str]()
        files, skipped = dict[str, FileStat](), list[SkippedFile]()
        for entry in (entry for entry in named if session_of(entry.name) not in generated):
            if reason := _why_not(entry):
                skipped.append(SkippedFile(RelativePath(printable_name(entry.name)), reason))
            else:
                # one may be taken away since the folder was read
                with suppress(FileNotFoundError):
                    files[entry.name] = file_stat(entry.stat(follow_symlinks=False))
    except OSError as exc:
        return FoundTranscripts({}, problem=exc.strerror or str(exc))
    problem = f"has more than {max_entries:,} entries" if len(listed) > max_entries else ""
    return FoundTranscripts(files, tuple(skipped), problem)


def _generated(folder: Path) -> frozenset[str]:
    """Return the sessions that the folder's own list says are generated, none where it has no such list."""
    try:
        return _listed_as_generated(folder, file_stat((folder / LIST_NAME).lstat()))
    except OSError:
        return frozenset()


@lru_cache(maxsize=64)
def _listed_as_generated(folder: Path, stat: FileStat) -> frozenset[str]:
    """Read a list in the state that `stat` tells: it may hold megabytes, and each look at a folder asks for it."""
    try:
        content = read_snapshot(folder, LIST_NAME, max_bytes=_MAX_LIST_BYTES)
        return generated_sessions(json.loads(content.data))
    except (OSError, NotReadableError, TornReadError, ValueError, RecursionError):
        # what a timer's session says is indexed then, which does no harm
        return frozenset()


def _why_not(entry: os.DirEntry[str]) -> str:
    if not is_utf8_name(entry.name) or not entry.name.isprintable():
        return SkipReason.NO_CITATION
    if entry.is_symlink():
        return SkipReason.LINKED_TRANSCRIPT
    return "" if entry.is_file(follow_symlinks=False) else SkipReason.NOT_REGULAR
