"""The transcript folders of one agent: their files, and folders that are missing for a while.

Transcripts are regular files directly in a folder, recognised by name; no symlink is followed.
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
    """A folder whose transcripts are read, and their format; None to recognise it by each file.

    If `is_optional`, a missing folder is not reported.
    """

    path: Path
    format: TranscriptFormat | None = None
    is_optional: bool = False


class SeenFolder(Struct, frozen=True):
    """A folder in the last scan; `problem` is why it could not be listed completely."""

    path: Path
    files: int = 0
    problem: str = ""


class TranscriptFile(Struct, frozen=True):
    """A transcript in a scan: its displayed name, path, status, and configured format, if any."""

    name: str
    path: Path
    stat: FileStat
    format: TranscriptFormat | None = None

    @property
    def state(self) -> str:
        """A text that changes with the file."""
        return state_of(self.stat, self.path.parent)

    def is_unchanged_at(self, stat: FileStat) -> bool:
        """Return whether the file has this status. The device is ignored: on some systems it depends on the query."""
        return replace(stat, device=0) == replace(self.stat, device=0)


class FolderListing(Struct, frozen=True):
    """The result of a scan. Conversations of the folders in `retained` stay, although these could not be listed.

    `troubles` has a text for each folder with a problem.
    """

    folders: Sequence[SeenFolder]
    transcripts: Mapping[RelativePath, TranscriptFile]
    skipped: Sequence[SkippedFile]
    retained: frozenset[Path]
    troubles: Sequence[str]
    twins: Sequence[tuple[RelativePath, Path]]
    """Files with a name that an earlier folder has already; they are not read."""


class AgentTranscripts(Struct, frozen=True):
    """All transcripts of an agent.

    `problem` is why some may be missing; then data made from missing ones must stay. `is_excluded` returns whether the
    transcript of a name is forgotten or not to be remembered, whether it is in `files` or not.
    """

    files: tuple[TranscriptFile, ...] = ()
    problem: str = ""
    is_excluded: Callable[[str], bool] = lambda _name: False
    version: int = 0
    """Version of the withheld conversations; changes with them."""


class ListedTranscripts(Struct, frozen=True):
    """The transcripts of a folder by file name, in order, and similar files that are not read.

    Sessions of timers and dreams are left out, as no person speaks in them.
    """

    files: dict[str, FileStat]
    skipped: tuple[SkippedFile, ...] = ()
    problem: str = ""
    """Why the folder could not be listed completely, so that files may be missing from `files`."""


class TranscriptFolders(Struct, eq=False):
    """The folders of one agent. A missing folder counts as `retained` for `grace` seconds, then as empty.

    `_missing` has the time since when a folder is missing, until it was listed completely again.
    """

    prefix: str
    folders: Sequence[TranscriptFolder]
    grace: float = GRACE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _missing: dict[Path, float] = {}

    def scan(self) -> FolderListing:
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
        for complete in self._missing.keys() - broken.keys():
            self._missing.pop(complete, None)
        retained = frozenset(filter(self._keeps_transcripts, broken))
        troubles = [f"{path}: {why}" for path, why in broken.items() if path not in optional or path.exists()]
        return FolderListing(seen, transcripts, skipped, retained, troubles, twins)

    def _keeps_transcripts(self, folder: Path) -> bool:
        """Return whether conversations of a folder with a problem stay: while it exists, else for the grace period."""
        if folder.is_dir():
            self._missing.pop(folder, None)
            return True
        return self.clock() - self._missing.setdefault(folder, self.clock()) < self.grace


def folder_ids(folders: Sequence[SeenFolder]) -> dict[str, FolderId]:
    """Return the identity of each existing folder, which differs from another folder at the same path."""
    ids = ((str(seen.path), file_identity(seen.path)) for seen in folders)
    return {path: identity for path, identity in ids if identity is not None}


def state_of(stat: FileStat, folder: Path) -> str:
    """Return a text that changes if the file changes or is in another folder.

    It does not include the device, which on some systems depends on the query.
    """
    return f"{stat.inode}:{stat.size}:{stat.mtime_ns}:{stat.ctime_ns} {folder}"


def identity_of(state: str) -> tuple[int, int]:
    """Return the inode and the size in a state."""
    inode, size, *_ = state.split(":", 2)
    return int(inode), int(size)


def folder_of(state: str) -> Path | None:
    """Return the folder in a state; None for the empty state of an unfinished reading."""
    return Path(state.partition(" ")[2]) if state else None


def find_transcripts(folder: Path, *, max_entries: int = MAX_ENTRIES) -> ListedTranscripts:
    """Return the transcripts directly in a folder; its subfolders belong to other projects.

    Blocks, so run it in a thread. Raises nothing: for a missing or unreadable folder it returns a `problem`.
    """
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, max_entries + 1), key=lambda entry: entry.name)
        named = [entry for entry in listed[:max_entries] if is_transcript_name(entry.name)]
        generated = _generated_in(folder) if named else frozenset[str]()
        files, skipped = dict[str, FileStat](), list[SkippedFile]()
        for entry in (entry for entry in named if session_of(entry.name) not in generated):
            if reason := _why_not(entry):
                skipped.append(SkippedFile(RelativePath(printable_name(entry.name)), reason))
            else:
                # it may have been removed since the folder was listed
                with suppress(FileNotFoundError):
                    files[entry.name] = file_stat(entry.stat(follow_symlinks=False))
    except OSError as exc:
        return ListedTranscripts({}, problem=exc.strerror or str(exc))
    problem = f"has more than {max_entries:,} entries" if len(listed) > max_entries else ""
    return ListedTranscripts(files, tuple(skipped), problem)


def _generated_in(folder: Path) -> frozenset[str]:
    """Return the generated sessions by the list in the folder, none if there is no such list."""
    try:
        return _read_generated(folder, file_stat((folder / LIST_NAME).lstat()))
    except OSError:
        return frozenset()


@lru_cache(maxsize=64)
def _read_generated(folder: Path, stat: FileStat) -> frozenset[str]:
    """Return the generated sessions of a list. Cached by status: a list may have megabytes, and each scan needs it."""
    try:
        content = read_snapshot(folder, LIST_NAME, max_bytes=_MAX_LIST_BYTES)
        return generated_sessions(json.loads(content.data))
    except (OSError, NotReadableError, TornReadError, ValueError, RecursionError):
        # sessions of timers are indexed then, which does no harm
        return frozenset()


def _why_not(entry: os.DirEntry[str]) -> str:
    if not is_utf8_name(entry.name) or not entry.name.isprintable():
        return SkipReason.NO_CITATION
    if entry.is_symlink():
        return SkipReason.LINKED_TRANSCRIPT
    return "" if entry.is_file(follow_symlinks=False) else SkipReason.NOT_REGULAR
