"""The folder of exported transcripts on disk, and the record of how far each was exported.

Files in that folder that memoryd did not write are never read or changed.
"""

import contextlib
import os
import stat as stat_module
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.conversation_parts import MARK_LINE, SUFFIX, heading, is_export
from memoryd.files.reading import file_stat
from memoryd.files.writing import remove_drafts, replace_file, streamed_file

_HEAD_BYTES: Final = 1024
_BLOCK_BYTES: Final = 1 << 20


class ExportFiles(Struct, frozen=True):
    """Exports below one folder, by name. Its methods wait for the disk and raise OSError where it stands in the way."""

    folder: Path

    def prepare(self) -> None:
        """Make the folder, open to its owner alone, and clear away what a kill left half written."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        remove_drafts(self.folder)

    def ours(self) -> dict[str, FileStat]:
        """Return what is ours in the folder, by name and by mark."""
        return {name: stat for name, stat in self._listed() if self.is_ours(name)}

    def stat(self, name: str) -> FileStat | None:
        """Return what tells whether an export is the one that was written, None if there is none of that name."""
        try:
            return file_stat((self.folder / name).lstat())
        except OSError:
            return None

    def is_ours(self, name: str) -> bool:
        """Tell whether a file is an export: a regular one with our heading and our mark."""
        try:
            descriptor = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat_module.S_ISREG(found.st_mode):
                return False
            first = file.readline(_HEAD_BYTES)
            file.seek(max(0, found.st_size - len(MARK_LINE) - 1))
            return is_export(first, file.read())

    def write(self, name: str, transcript: str, lines: Iterable[str], *, at_ns: Callable[[], int]) -> FileStat:
        """Put an export in its place; `at_ns` tells at the end when it was said last.

        Raises FileChangedError if a stranger's file is there.
        """
        return self._write(name, [f"{heading(transcript)}\n".encode()], lines, at_ns)

    def append(self, name: str, _transcript: str, lines: Iterable[str], *, at_ns: Callable[[], int]) -> FileStat:
        """Put an export with more lines in the place of the one that is there."""
        return self._write(name, self._without_mark(name), lines, at_ns)

    def remove(self, name: str) -> bool:
        """Delete a file that is ours; return whether it was."""
        if not self.is_ours(name):
            return False
        (self.folder / name).unlink(missing_ok=True)
        return True

    def discard_folder(self) -> None:
        """Delete the folder if nothing is in it."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def _write(self, name: str, head: Iterable[bytes], lines: Iterable[str], at_ns: Callable[[], int]) -> FileStat:
        path = self.folder / name
        with streamed_file(path, replaces=self.is_ours(name)) as file:
            for block in head:
                file.write(block)
            for line in lines:
                file.write(line.encode("utf-8", "replace"))
            file.write(MARK_LINE)
            file.flush()
            # when it was said last, for whoever sorts or filters by the times of files
            os.utime(file.fileno(), ns=(at_ns(), at_ns()))
        return file_stat(path.lstat())

    def _without_mark(self, name: str) -> Iterator[bytes]:
        with (self.folder / name).open("rb") as file:
            left = os.fstat(file.fileno()).st_size - len(MARK_LINE)
            while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
                left -= len(block)
                yield block

    def _listed(self) -> Iterator[tuple[str, FileStat]]:
        try:
            entries = os.scandir(self.folder)
        except FileNotFoundError:
            return
        with entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    with contextlib.suppress(FileNotFoundError):
                        yield entry.name, file_stat(entry.stat(follow_symlinks=False))


class Exported(Struct, frozen=True, rename={"last_ns": "last", "is_more": "more"}):
    """How far a transcript was read; its export holds its lines up to `lines`, the last one that says something."""

    transcript: str
    tail: str = ""
    """As `written_tail` gives it."""
    lines: int = 0
    last_ns: int = 0
    """When its last message was said."""
    written: tuple[int, int, int] | None = None
    """Inode, size and time of the export; None while there is none: nothing was said, or all of it is too old."""
    is_more: bool = False
    """Whether there was more to read."""

    def is_intact(self, stat: FileStat | None) -> bool:
        """Tell whether an export is the one that was written."""
        return self.written is not None and stat is not None and identity(stat) == self.written


class ExportRecord(Struct, frozen=True):
    """The exports of an agent, by the names of their files, and their folder; empty where none were ever made."""

    folder: str = ""
    exports: dict[str, Exported] = field(default_factory=dict)


def identity(stat: FileStat) -> tuple[int, int, int]:
    """Return what tells one state of an export from another."""
    return stat.inode, stat.size, stat.mtime_ns


def load_record(path: Path) -> ExportRecord:
    """Return what is remembered; nothing if the file is not there or damaged.

    It can be lost: everything is exported again then, and the marks tell ours.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ExportRecord)
    except (OSError, ValueError):
        return ExportRecord()


def save_record(path: Path, record: ExportRecord) -> None:
    """Write the record whole; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(record))
