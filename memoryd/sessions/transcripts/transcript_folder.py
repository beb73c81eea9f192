"""Find the transcripts of one folder: regular files directly in it, by name; no symlink is followed."""

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat, RelativePath, SkippedFile, is_utf8_name, printable_name
from memoryd.domain.sessions.transcripts.transcript_names import is_transcript_name
from memoryd.files.octets import file_stat

MAX_ENTRIES: Final = 50_000


@dataclass(frozen=True, slots=True)
class FoundTranscripts:
    """The transcripts of a folder by file name, in order; and what looks like one and is not read."""

    files: dict[str, FileStat]
    skipped: tuple[SkippedFile, ...] = ()
    problem: str = ""
    """Why the folder could not be looked at whole: what is missing from `files` may be there."""


def find_transcripts(folder: Path, *, max_entries: int = MAX_ENTRIES) -> FoundTranscripts:
    """Return the transcripts that a folder holds directly; those of folders below are other projects'.

    Blocks, so run it in a thread. Raises nothing: a folder that is gone or closed is a `problem`.
    """
    files, skipped = dict[str, FileStat](), []
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, max_entries + 1), key=lambda entry: entry.name)
        for entry in filter(lambda entry: is_transcript_name(entry.name), listed[:max_entries]):
            reason = _why_not(entry)
            if reason:
                skipped.append(SkippedFile(RelativePath(printable_name(entry.name)), reason))
            elif (stat := _stat(entry)) is not None:
                files[entry.name] = stat
    except OSError as exc:
        return FoundTranscripts(files, tuple(skipped), exc.strerror or str(exc))
    problem = f"has more than {max_entries:,} entries" if len(listed) > max_entries else ""
    return FoundTranscripts(files, tuple(skipped), problem)


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
