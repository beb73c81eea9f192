"""The files of a team as they are indexed: a folder for each person, made of the repository and of nothing else.

It can be deleted at any time and is made again. It is written file by file, so that a reader sees each as it was or as
it is.
"""

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from memoryd.domain.memories.sharing import MAX_MEMORIES
from memoryd.errors import SidecarError
from memoryd.files.writing import replace_file
from memoryd.team.attribution import ShownFile, ShownFiles

CROWDED = "{} shares more than {:,} memories: the newest are shown, and logs of the days before are not: {:,}"
UNWRITTEN = "{!r}: it cannot be written here: {}"
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""No fault of the one file that could not be written."""

FileMark = tuple[int, int, int, int]
"""Inode, size, and the nanoseconds of both times; nobody sets the last one back."""


class TeamView:
    """Keeps one folder equal to what is shown; all of it blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unwritten: tuple[str, ...] = ()
        """What was not written the last time, such as a name that is too long for the disk, and why."""
        self.files: Mapping[str, int] = {}
        """How many files of each person are shown."""
        self._known: dict[str, tuple[bytes, FileMark]] = {}
        """Of each file its bytes, and by what it is known that they are still those."""

    def write(self, shown: ShownFiles) -> bool:
        """Write what is other than before, remove what is shown no more, and return whether anything was.

        Raises SidecarError.
        """
        files, crowded = _without_crowds(list(shown.files.values()))
        self.files = Counter(one.place.person for one in files)
        wanted = {f"{one.place.person}/{one.place.shown}": one.data for one in files}
        try:
            self._make(self.folder)
            marks, is_other = self._remove_others(wanted)
            unwritten, known = list[str](), self._known
            self._known = {}
            for path, data in wanted.items():
                mark = marks.get(path)
                if mark is not None and known.get(path) == (data, mark):
                    self._known[path] = data, mark
                    continue
                try:
                    is_other |= self._write_one(self.folder / path, data)
                    self._known[path] = data, _mark(os.lstat(self.folder / path))
                except (OSError, ValueError) as exc:
                    if getattr(exc, "errno", 0) in _OF_THE_DISK:
                        raise
                    why = exc.strerror if isinstance(exc, OSError) else exc
                    unwritten.append(UNWRITTEN.format(path.encode("utf-8", "replace").decode(), why))
            self.unwritten = (*crowded, *unwritten)
        except OSError as exc:
            raise SidecarError(f"the notes of the team cannot be written: {exc}") from exc
        return is_other

    def _write_one(self, path: Path, data: bytes) -> bool:
        try:
            if path.read_bytes() == data:
                return False
        except (FileNotFoundError, NotADirectoryError):
            for folder in reversed(path.relative_to(self.folder).parents):
                self._make(self.folder / folder)
        replace_file(path, data)
        return True

    def _make(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _remove_others(self, wanted: Mapping[str, bytes]) -> tuple[dict[str, FileMark], bool]:
        """Remove files that are not wanted, what stands in the place of a wanted folder, and empty folders.

        Return what is left, and whether anything was removed.
        """
        marks, folders, is_other = dict[str, FileMark](), [""], False
        for prefix in folders:
            with os.scandir(self.folder / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    elif path in wanted and not entry.is_symlink():
                        marks[path] = _mark(entry.stat(follow_symlinks=False))
                    else:
                        Path(entry.path).unlink(missing_ok=True)
                        is_other = True
        for prefix in reversed(folders[1:]):
            # one that holds something stays
            with contextlib.suppress(OSError):
                (self.folder / prefix).rmdir()
        return marks, is_other


def _mark(stat: os.stat_result) -> FileMark:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _without_crowds(files: Sequence[ShownFile]) -> tuple[list[ShownFile], list[str]]:
    """Return files without the oldest logs of who shares more memories than anybody may, and a sentence of each."""
    memories, left_out = Counter[str](), Counter[str]()
    shown = [one for one in files if not one.place.is_log]
    for one in sorted((one for one in files if one.place.is_log), key=lambda one: one.place.shown, reverse=True):
        memories[one.place.person] += one.data.count(b"\n- ")
        if memories[one.place.person] > MAX_MEMORIES:
            left_out[one.place.person] += 1
        else:
            shown.append(one)
    return shown, [CROWDED.format(person, MAX_MEMORIES, logs) for person, logs in sorted(left_out.items())]
