"""Find the transcripts of one folder: regular files directly in it, by name; no symlink is followed."""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat, RelativePath, SkippedFile, is_utf8_name, printable_name
from memoryd.domain.sessions.transcripts.openclaw import LIST_NAME, generated_sessions
from memoryd.domain.sessions.transcripts.records import is_transcript_name, session_of
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, read_octets

MAX_ENTRIES: Final = 50_000
_MAX_LIST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class FoundTranscripts:
    """The transcripts of a folder by file name, in order; and what looks like one and is not read."""

    files: dict[str, FileStat]
    skipped: tuple[SkippedFile, ...] = ()
    generated: int = 0
    """Transcripts that are left out, as their sessions are of timers and dreams: nobody spoke in them."""
    problem: str = ""
    """Why the folder could not be looked at whole: what is missing from `files` may be there."""


def find_transcripts(folder: Path, *, max_entries: int = MAX_ENTRIES) -> FoundTranscripts:
    """Return the transcripts that a folder holds directly; those of folders below are other projects'.

    Blocks, so run it in a thread. Raises nothing: a folder that is gone or closed is a `problem`.
    """
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, max_entries + 1), key=lambda entry: entry.name)
        named = [entry for entry in listed[:max_entries] if is_transcript_name(entry.name)]
        generated = _generated(folder) if named else frozenset[str]()
        wanted = [entry for entry in named if session_of(entry.name) not in generated]
        skipped = [_skipped(entry, reason) for entry in wanted if (reason := _why_not(entry))]
        stats = {entry.name: _stat(entry) for entry in wanted if not _why_not(entry)}
    except OSError as exc:
        return FoundTranscripts({}, problem=exc.strerror or str(exc))
    files = {name: stat for name, stat in stats.items() if stat is not None}
    problem = f"has more than {max_entries:,} entries" if len(listed) > max_entries else ""
    return FoundTranscripts(files, tuple(skipped), len(named) - len(wanted), problem)


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
        octets = read_octets(folder, LIST_NAME, max_bytes=_MAX_LIST_BYTES)
        return generated_sessions(json.loads(octets.data))
    except (OSError, NotReadableError, TornReadError, ValueError, RecursionError):
        # what a timer's session says is indexed then, which harms nobody
        return frozenset()


def _skipped(entry: os.DirEntry[str], reason: str) -> SkippedFile:
    return SkippedFile(RelativePath(printable_name(entry.name)), reason)


def _why_not(entry: os.DirEntry[str]) -> str:
    if not is_utf8_name(entry.name) or not entry.name.isprintable():
        return "its name cannot be cited"
    if entry.is_symlink():
        return "a symlink"
    return "" if entry.is_file(follow_symlinks=False) else "not a regular file"


def _stat(entry: os.DirEntry[str]) -> FileStat | None:
    try:
        return file_stat(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        # taken away since the folder was read
        return None
